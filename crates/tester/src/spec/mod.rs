//! What users write of measuring: flows of test packets. The whole file, with the kinds of nodes that only the tester has.
//!
//! - here: reading a whole network file, and its schema
//! - [`flow`]: a flow; [`arrivals`]: when its packets are due; [`sizes`]: how long they are

pub mod arrivals;
pub mod flow;
pub mod problem;
pub mod sizes;

use crate::kind::KINDS;
use base::describe::{Describe, DescribeProblem, Schema, Schemas, Value};
use base::diagnostic::{At, Diagnostic};
use flow::FlowSpec;
use network::spec::reference::Names;
use network::spec::{self, ReadNetwork};
use std::collections::BTreeSet;

/// A network file that was read, with its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// Nodes, links and LSPs.
    pub network: ReadNetwork,
    /// Flows of test packets.
    pub flows: Vec<FlowSpec>,
}

impl NetworkFile {
    /// Reads it, and sees that every name in it leads somewhere.
    pub fn read(value: &Value) -> Result<NetworkFile, Diagnostic> {
        let network = ReadNetwork::read(value, KINDS)?;
        let mut flows = Vec::read(&Value::List(network.spec.flows.clone())).at("flows")?;
        resolve(&mut flows, &network)?;
        Ok(NetworkFile { network, flows })
    }

    /// All of it with defaults filled in.
    pub fn write(&self) -> Value {
        let mut value = self.network.write();
        value.set("flows", self.flows.write());
        value
    }
}

/// Finds the nodes and LSPs that flows name; a flow without a name is called FROM-TO.
fn resolve(flows: &mut [FlowSpec], network: &ReadNetwork) -> Result<(), Diagnostic> {
    let names = Names::new(network.nodes.iter().map(|node| node.0.clone()));
    let lsps: Vec<&str> = network.spec.lsps.iter().map(|lsp| &*lsp.name).collect();
    let mut seen = BTreeSet::new();
    for (index, flow) in flows.iter_mut().enumerate() {
        let place = |error: Diagnostic| error.at(index).at("flows");
        flow.from.resolve(&names).at("from").map_err(place)?;
        flow.to.resolve(&names).at("to").map_err(place)?;
        for (key, end) in [("from", &flow.from), ("to", &flow.to)] {
            if network.nodes[end.index()].1.kind == "external" {
                let nobody = problem::FlowProblem::NobodyMeasures { node: end.name.to_string() };
                return Err(place(Diagnostic::new(nobody).at(key)));
            }
        }
        if let Some(over) = flow.over.as_ref().filter(|over| !lsps.contains(&&***over)) {
            let hint = base::describe::near(over, &lsps);
            let unknown = problem::FlowProblem::UnknownLsp { name: over.to_string(), hint };
            return Err(place(Diagnostic::new(unknown).at("over")));
        }
        if !seen.insert(flow.name()) {
            return Err(place(Diagnostic::new(DescribeProblem::Twice { name: flow.name() }).at("name")));
        }
    }
    Ok(())
}

/// Everything that a network file may say.
pub fn schemas() -> Schemas {
    let mut known = Schemas::default();
    spec::schema(&mut known, KINDS);
    let flow = FlowSpec::schema(&mut known);
    known.amend("NetworkSpec", |field| {
        if field.key == "flows" {
            field.schema = Schema::List(Box::new(flow.clone()), 0);
        }
    });
    known
}

#[cfg(test)]
mod tests;
