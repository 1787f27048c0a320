//! From the names of kinds in a description to nodes of those kinds.

use super::placeholder::Placeholder;
use super::{Node, NodeKind};
use crate::description::{Description, NodeSpec};
use crate::error::{NetworkError, input};
use serde::Deserialize;
use serde_json::Value;

/// A node of a description, and whether its kind is one of this program's.
pub struct Resolved {
    /// The node.
    pub node: Box<dyn Node>,
    /// May it be a device of this process, as far as its kind goes?
    pub linked: bool,
}

/// Reads every node by its kind, and writes its facts beside it.
pub fn resolve(description: &mut Description, kinds: &[NodeKind]) -> Result<Vec<Resolved>, NetworkError> {
    let mut nodes = Vec::with_capacity(description.nodes.len());
    for spec in &mut description.nodes {
        let node = node_of(spec, kinds)?;
        spec.facts = Some(node.node.facts());
        nodes.push(node);
    }
    Ok(nodes)
}

fn node_of(spec: &NodeSpec, kinds: &[NodeKind]) -> Result<Resolved, NetworkError> {
    let name = &spec.name;
    let Some(kind) = kinds.iter().find(|kind| kind.name == spec.kind) else {
        return match &spec.facts {
            Some(facts) => Ok(Resolved { node: Box::new(Placeholder(facts.clone())), linked: false }),
            None => {
                let mut known: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                known.sort_unstable();
                input(format!("node '{name}': kind '{}': one of {}", spec.kind, known.join(", ")))
            }
        };
    };
    let node = match (kind.read)(spec.own.clone()) {
        Ok(node) => node,
        Err(error) => return input(format!("node '{name}': {error}")),
    };
    if spec.facts.as_ref().is_some_and(|given| *given != node.facts()) {
        return input(format!(
            "node '{name}': its 'facts' are not those of a node of kind '{}': leave them out",
            spec.kind
        ));
    }
    Ok(Resolved { node, linked: true })
}

/// Writes the facts of every node into a description, for processes that do not have all of `kinds`.
pub fn write_facts(description: &mut Value, kinds: &[NodeKind]) -> Result<(), NetworkError> {
    let nodes = description.get_mut("nodes").and_then(Value::as_array_mut);
    for value in nodes.into_iter().flatten() {
        let spec = NodeSpec::deserialize(&*value).map_err(|error| NetworkError::Input(error.to_string()))?;
        let facts = node_of(&spec, kinds)?.node.facts();
        let facts = serde_json::to_value(facts).map_err(|error| NetworkError::Input(error.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("facts".into(), facts);
        }
    }
    Ok(())
}
