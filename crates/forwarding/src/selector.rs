//! Selectors: which of several LSPs that carry the same packets this node takes them of (protection 1+1).
//!
//! Each of the LSPs has an entry in the incoming label map, and the entries name one selector. What it takes is one
//! field, so that a change is one write whatever the number of entries, and no packet finds both or none.

use base::Label;
use base::plane::{SelectorId, TableError};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
struct Selector {
    id: SelectorId,
    /// Entries that name it.
    uses: u32,
    /// The label of which packets are taken.
    label: Option<Label>,
}

/// The selectors of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {
    selectors: Vec<Selector>,
    free: Vec<u32>,
    by_id: BTreeMap<SelectorId, u32>,
}

impl Selectors {
    /// Makes a selector, or has it take the packets of another label.
    pub(crate) fn set(&mut self, id: SelectorId, label: Option<Label>) {
        let place = self.by_id.get(&id).copied().unwrap_or_else(|| {
            let place = self.free.pop().unwrap_or_else(|| {
                self.selectors.push(Selector::default());
                (self.selectors.len() - 1) as u32
            });
            self.by_id.insert(id, place);
            place
        });
        if let Some(selector) = self.selectors.get_mut(place as usize) {
            (selector.id, selector.label) = (id, label);
        }
    }

    pub(crate) fn remove(&mut self, id: SelectorId) -> Result<(), TableError> {
        let place = *self.by_id.get(&id).ok_or(TableError::NoSelector)?;
        if self.selectors.get(place as usize).is_some_and(|selector| selector.uses > 0) {
            return Err(TableError::InUse);
        }
        self.by_id.remove(&id);
        self.free.push(place);
        Ok(())
    }

    pub(crate) fn has(&self, id: SelectorId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// The selector for one more entry; nothing if there is no such selector.
    pub(crate) fn acquire(&mut self, id: SelectorId) -> Option<u32> {
        let place = *self.by_id.get(&id)?;
        self.selectors.get_mut(place as usize)?.uses += 1;
        Some(place)
    }

    pub(crate) fn release(&mut self, place: u32) {
        if let Some(selector) = self.selectors.get_mut(place as usize) {
            selector.uses = selector.uses.saturating_sub(1);
        }
    }

    pub(crate) fn id(&self, place: u32) -> Option<SelectorId> {
        self.selectors.get(place as usize).map(|selector| selector.id)
    }

    /// Does the selector at `place` take packets with this label?
    pub(crate) fn takes(&self, place: u32, label: Label) -> bool {
        self.selectors.get(place as usize).is_some_and(|selector| selector.label == Some(label))
    }

    /// Selectors in order of their numbers, with the labels that they take packets of.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SelectorId, Option<Label>)> {
        self.by_id.iter().filter_map(|(id, place)| Some((*id, self.selectors.get(*place as usize)?.label)))
    }
}
