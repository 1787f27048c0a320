//! A tree of disciplines at an egress port.

use super::QueueSpec;
use crate::conditioner::ConditionerSpec;
use crate::queue::accounting::Accounting;
use crate::queue::problem::QueueProblem;
use base::describe::{Describe, Named, NamedOr, Record, RecordSchema, Schema, Schemas, Value};
use base::diagnostic::{At, Diagnostic};

/// A conditioner, or the name under which a file of a network has one.
pub type NamedConditioner = NamedOr<ConditionerSpec>;

base::record! {
    /// A discipline with what packets count for in it, and a conditioner in front of it if there is one. The fields of
    /// the discipline may stand beside these two instead of under `root`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TreeSpec {
        /// What packets count for.
        pub accounting: Accounting = Accounting::default();
        /// Meters and markers in front of the queues, or in a file of a network the name of such.
        pub conditioner: Option<NamedConditioner>, absent "there is none";
        /// The discipline that the port asks.
        pub root: QueueSpec;
    }
    read by hand;
}

/// Keys of a tree beside those of its discipline.
const OUTER: [&str; 2] = ["accounting", "conditioner"];

impl Describe for TreeSpec {
    fn read(value: &Value) -> Result<TreeSpec, Diagnostic> {
        let Value::Map(entries) = value else { return TreeSpec::read_record(value, "") };
        if value.get("root").is_some() {
            return TreeSpec::read_record(value, "");
        }
        let (outer, inner): (Vec<_>, Vec<_>) =
            entries.iter().cloned().partition(|(key, _)| OUTER.contains(&key.as_str()));
        let outer = Value::Map(outer);
        let accounting = outer.get("accounting").map(Accounting::read).transpose().at("accounting")?;
        let conditioner = outer.get("conditioner").map(Option::read).transpose().at("conditioner")?;
        let root = QueueSpec::read(&Value::Map(inner))?;
        Ok(TreeSpec { accounting: accounting.unwrap_or_default(), conditioner: conditioner.flatten(), root })
    }

    /// The fields of the discipline first, with those of the tree behind them.
    fn write(&self) -> Value {
        let mut written = self.root.write();
        written.set("accounting", self.accounting.write());
        if let Some(conditioner) = &self.conditioner {
            written.set("conditioner", conditioner.write());
        }
        written
    }

    fn schema(known: &mut Schemas) -> Schema {
        known.named("Tree", |known| {
            let record = TreeSpec::record_schema(known);
            Named::Record(RecordSchema { flat: Some("root"), ..record })
        })
    }
}

impl From<QueueSpec> for TreeSpec {
    fn from(root: QueueSpec) -> TreeSpec {
        TreeSpec { accounting: Accounting::default(), conditioner: None, root }
    }
}

impl TreeSpec {
    /// The conditioner in front of it, once names are looked up.
    pub fn conditioner(&self) -> Option<&ConditionerSpec> {
        match &self.conditioner {
            Some(NamedConditioner::Inline(spec)) => Some(spec),
            _ => None,
        }
    }

    /// Refuses what only a file of a network can resolve.
    pub(in crate::queue) fn resolved(&self) -> Result<(), Diagnostic> {
        match &self.conditioner {
            Some(NamedConditioner::Named(name)) => {
                let problem = QueueProblem::NamedConditioner { name: name.to_string() };
                Err(Diagnostic::new(problem).at("conditioner"))
            }
            _ => Ok(()),
        }
    }

    /// Puts ports in the place of names of neighbours, wherever a match asks by which port a packet came. `find` looks
    /// a name up.
    pub fn resolve_inputs(&mut self, find: &mut super::super::inputs::Find<'_>) -> Result<(), Diagnostic> {
        if let Some(NamedConditioner::Inline(spec)) = &mut self.conditioner {
            spec.resolve_inputs(find).at("conditioner")?;
        }
        self.root.resolve_inputs(find)
    }
}

base::described!(TreeSpec);
