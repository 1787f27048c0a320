//! From what a description says of nodes to nodes of their kinds.

use super::placeholder::Placeholder;
use super::{Facts, Node, NodeKind};
use crate::description::NodeSpec;
use crate::spec::NodeWritten;
use base::describe::{Name, Value};
use base::diagnostic::{At, Diagnostic};

/// A node of a description, and whether its kind is one of this program's.
pub struct Resolved {
    /// The node.
    pub node: Box<dyn Node>,
    /// May it be a device of this process, as far as its kind goes?
    pub linked: bool,
}

/// Reads every node by its kind, and makes the network's list of nodes.
pub fn resolve(
    written: &[(Name, NodeWritten)],
    kinds: &[NodeKind],
) -> Result<(Vec<NodeSpec>, Vec<Resolved>), Diagnostic> {
    let (mut entries, mut nodes) = (Vec::with_capacity(written.len()), Vec::with_capacity(written.len()));
    for (name, written) in written {
        let resolved = node_of(written, kinds).at(&**name).at("nodes")?;
        let mut entry = NodeSpec::new(name, &written.kind, resolved.node.facts());
        resolved.node.enter(&mut entry).at(&**name).at("nodes")?;
        entries.push(entry);
        nodes.push(resolved);
    }
    Ok((entries, nodes))
}

fn node_of(written: &NodeWritten, kinds: &[NodeKind]) -> Result<Resolved, Diagnostic> {
    match kinds.iter().find(|kind| kind.name == &*written.kind) {
        Some(kind) => Ok(Resolved { node: (kind.read)(&written.fields)?, linked: true }),
        None => {
            let facts = written.facts.clone().unwrap_or(Facts::unknown());
            let node = Placeholder { facts, described: written.fields.clone() };
            Ok(Resolved { node: Box::new(node), linked: false })
        }
    }
}

/// Writes the facts of every node into a description, for processes that do not have all of `kinds`.
pub fn write_facts(description: &mut Value, kinds: &[NodeKind]) -> Result<(), Diagnostic> {
    let Value::Map(entries) = description else { return Ok(()) };
    let nodes = entries.iter_mut().find(|entry| entry.0 == "nodes").map(|entry| &mut entry.1);
    let Some(Value::Map(nodes)) = nodes else { return Ok(()) };
    for (name, value) in nodes {
        let written = crate::spec::read_known(value, kinds).at(name.as_str()).at("nodes")?;
        let facts = node_of(&written, kinds).at(name.as_str()).at("nodes")?.node.facts();
        let facts = serde_json::to_value(facts).and_then(serde_json::from_value);
        value.set("facts", facts.unwrap_or_default());
    }
    Ok(())
}
