//! What users write of measuring: flows of test packets. The whole file, with the kinds of nodes that only the tester
//! has.
//!
//! - here: reading a whole network file, and its schema
//! - [`file`]: what a file means by what it leaves out
//! - [`draft`]: a network that is described piece by piece, by calls
//! - [`flow`]: a flow; [`arrivals`]: when its packets are due; [`sizes`]: how long they are; [`ends`]: between which
//!   links
//! - [`measuring`]: phases, and how delays are measured; [`programme`]: what emulated edge routers do

pub mod arrivals;
pub mod draft;
pub mod ends;
mod file;
pub mod flow;
pub mod measuring;
pub mod problem;
pub mod programme;
pub mod sizes;

use crate::kind::{FILE_KINDS, KINDS};
use base::describe::{Describe, DescribeProblem, Schema, Schemas, Value};
use base::diagnostic::{At, Diagnostic};
use ends::resolve;
use flow::FlowSpec;
use measuring::MeasuringSpec;
use network::spec::reference::{Endpoint, Names};
use network::spec::{self, ReadNetwork};
use std::collections::BTreeSet;

/// A network that was read, with its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkFile {
    /// Nodes, links and LSPs.
    pub network: ReadNetwork,
    /// Flows of test packets.
    pub flows: Vec<FlowSpec>,
    /// Phases, and how delays are measured.
    pub measuring: MeasuringSpec,
}

impl NetworkFile {
    /// Reads what somebody wrote into a file, sees that every name in it leads somewhere, and writes into it what a
    /// file means by what it leaves out.
    pub fn read(value: &Value) -> Result<NetworkFile, Diagnostic> {
        let mut file = NetworkFile::of(ReadNetwork::read(value, FILE_KINDS)?)?;
        let mut seen = BTreeSet::new();
        for (index, flow) in file.flows.iter().enumerate() {
            if let Some(name) = &flow.name {
                name.check().at("name").at(index).at("flows")?;
            }
            if !seen.insert(flow.name()) {
                let twice = Diagnostic::new(DescribeProblem::Twice { name: flow.name() });
                return Err(twice.at("name").at(index).at("flows"));
            }
        }
        file.check_hosts()?;
        file.fill();
        Ok(file)
    }

    /// Reads what a program wrote: nothing is left out in it, and the facts of nodes may stand beside them.
    pub fn read_part(value: &Value) -> Result<NetworkFile, Diagnostic> {
        NetworkFile::of(ReadNetwork::read_part(value, KINDS)?)
    }

    fn of(mut network: ReadNetwork) -> Result<NetworkFile, Diagnostic> {
        let written = core::mem::take(&mut network.spec.flows);
        let mut flows: Vec<FlowSpec> = Vec::read(&Value::List(written)).at("flows")?;
        let measuring = match network.spec.measuring.take() {
            Some(written) => MeasuringSpec::read(&written).at("measuring")?,
            None => MeasuringSpec::default(),
        };
        let names = Names::new(network.nodes.iter().map(|node| node.0.clone()));
        let ends: Vec<[Endpoint; 2]> = network.spec.links.iter().map(|link| link.endpoints.clone()).collect();
        let lsps: BTreeSet<&str> = network.spec.lsps.iter().map(|lsp| &*lsp.name).collect();
        for (index, flow) in flows.iter_mut().enumerate() {
            resolve(flow, &names, &ends, &lsps).at(index).at("flows")?;
            for (key, end) in [("from", &flow.from), ("to", &flow.to)] {
                if &*network.nodes[end.index()].1.kind == "external" {
                    let nobody = problem::FlowProblem::NobodyMeasures { node: end.name.to_string() };
                    return Err(Diagnostic::new(nobody).at(key).at(index).at("flows"));
                }
            }
        }
        for (name, node) in &network.nodes {
            let Some(Value::List(steps)) = node.fields.get("programme") else { continue };
            for (index, step) in steps.iter().enumerate() {
                let given = step.get("lsps").and_then(Value::as_text).unwrap_or_default();
                if !lsps.contains(given) {
                    let hint = base::describe::near(given, lsps.iter().copied());
                    let unknown = problem::FlowProblem::UnknownLsp { name: given.into(), hint };
                    let error =
                        Diagnostic::new(unknown).at("lsps").at(index).at("programme").at(&**name).at("nodes");
                    return Err(if network.has_topology { error.at("topology") } else { error });
                }
            }
        }
        Ok(NetworkFile { network, flows, measuring })
    }

    /// All of it with defaults filled in.
    pub fn write(&self) -> Value {
        let mut value = self.network.write();
        value.set("flows", self.flows.write());
        value.set("measuring", self.measuring.write());
        value
    }
}

/// Everything that a network file may say.
pub fn schemas() -> Schemas {
    let mut known = Schemas::default();
    spec::schema(&mut known, KINDS);
    let (flow, measuring) = (FlowSpec::schema(&mut known), MeasuringSpec::schema(&mut known));
    known.amend("NetworkSpec", |field| match field.key {
        "flows" => field.schema = Schema::List(Box::new(flow.clone()), 0),
        "measuring" => field.schema = measuring.clone(),
        _ => {}
    });
    known
}

#[cfg(test)]
mod tests;
