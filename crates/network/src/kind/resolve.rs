//! From the names of kinds in a description to nodes of those kinds.

use super::placeholder::Placeholder;
use super::{Node, NodeKind};
use crate::description::{Description, NodeSpec};
use crate::problem::BuildProblem;
use base::diagnostic::Diagnostic;
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
pub fn resolve(description: &mut Description, kinds: &[NodeKind]) -> Result<Vec<Resolved>, Diagnostic> {
    let mut nodes = Vec::with_capacity(description.nodes.len());
    for spec in &mut description.nodes {
        let node = node_of(spec, kinds).map_err(|error| error.at(spec.name.as_str()).at("nodes"))?;
        spec.facts = Some(node.node.facts());
        nodes.push(node);
    }
    Ok(nodes)
}

/// The node of a description, by its kind. Paths begin at the node.
fn node_of(spec: &NodeSpec, kinds: &[NodeKind]) -> Result<Resolved, Diagnostic> {
    let Some(kind) = kinds.iter().find(|kind| kind.name == spec.kind) else {
        return match &spec.facts {
            Some(facts) => Ok(Resolved { node: Box::new(Placeholder(facts.clone())), linked: false }),
            None => {
                let mut known: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                known.sort_unstable();
                let unknown = BuildProblem::UnknownKind { kind: spec.kind.clone(), known: known.join(", ") };
                Err(Diagnostic::new(unknown).at("kind").on_key())
            }
        };
    };
    let node = (kind.read)(spec.own.clone())?;
    if spec.facts.as_ref().is_some_and(|given| *given != node.facts()) {
        return Err(Diagnostic::new(BuildProblem::OtherFacts { kind: spec.kind.clone() })
            .at("facts")
            .on_key());
    }
    Ok(Resolved { node, linked: true })
}

/// Writes the facts of every node into a description, for processes that do not have all of `kinds`.
pub fn write_facts(description: &mut Value, kinds: &[NodeKind]) -> Result<(), Diagnostic> {
    let unread =
        |error: serde_json::Error| Diagnostic::new(BuildProblem::OwnPart { error: error.to_string() });
    let nodes = description.get_mut("nodes").and_then(Value::as_array_mut);
    for value in nodes.into_iter().flatten() {
        let spec = NodeSpec::deserialize(&*value).map_err(unread)?;
        let node = node_of(&spec, kinds).map_err(|error| error.at(spec.name.as_str()).at("nodes"))?;
        let facts = serde_json::to_value(node.node.facts()).map_err(unread)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("facts".into(), facts);
        }
    }
    Ok(())
}
