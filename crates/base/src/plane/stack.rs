//! The labels that an entry pushes.

use crate::label::Label;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Up to four labels, the last of them outermost.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Label>", into = "Vec<Label>")]
pub struct LabelStack {
    labels: [Label; LabelStack::MAX],
    len: u8,
}

impl LabelStack {
    /// The deepest stack that one entry can push.
    pub const MAX: usize = 4;
    /// A stack that pushes nothing.
    pub const EMPTY: LabelStack = LabelStack { labels: [Label::EXPLICIT_NULL; LabelStack::MAX], len: 0 };

    /// A stack of this label alone.
    pub const fn one(label: Label) -> LabelStack {
        let mut stack = LabelStack::EMPTY;
        stack.labels[0] = label;
        stack.len = 1;
        stack
    }
    /// The labels given, the last of them outermost; nothing if there are too many.
    pub fn new(labels: &[Label]) -> Option<LabelStack> {
        let mut stack = LabelStack::EMPTY;
        stack.labels.get_mut(..labels.len())?.copy_from_slice(labels);
        stack.len = labels.len() as u8;
        Some(stack)
    }
    /// The labels, the last of them outermost.
    #[inline]
    pub fn as_slice(&self) -> &[Label] {
        &self.labels[..usize::from(self.len).min(LabelStack::MAX)]
    }
}

impl From<LabelStack> for Vec<Label> {
    fn from(stack: LabelStack) -> Vec<Label> {
        stack.as_slice().to_vec()
    }
}
impl TryFrom<Vec<Label>> for LabelStack {
    type Error = String;
    fn try_from(labels: Vec<Label>) -> Result<LabelStack, String> {
        LabelStack::new(&labels)
            .ok_or_else(|| format!("{} labels in one entry: at most {}", labels.len(), LabelStack::MAX))
    }
}
impl fmt::Debug for LabelStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|l| l.value())).finish()
    }
}
