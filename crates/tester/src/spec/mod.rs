//! What users write of measuring: flows of test packets. The whole file, with the kinds of nodes that only the tester
//! has.
//!
//! - here: reading a whole network file, and its schema
//! - [`file`]: what a file means by what it leaves out
//! - [`draft`]: a network that is described piece by piece, by calls
//! - [`flow`]: a flow; [`arrivals`]: when its packets are due; [`sizes`]: how long they are; [`ends`]: between which
//!   links
//! - [`tcp`]: programs at two hosts that talk over TCP
//! - [`host_profile`]: how the TCP of a host behaves
//! - [`event`]: what is done to the network while it runs
//! - [`demands`]: many flows at once, from a matrix of rates
//! - [`measuring`]: phases, and how delays are measured; [`programme`]: what emulated edge routers do

pub mod arrivals;
pub mod demands;
pub mod draft;
pub mod ends;
pub mod event;
mod event_order;
mod file;
pub mod flow;
pub mod host_profile;
pub mod measuring;
pub mod problem;
pub mod programme;
pub mod sizes;
pub mod tcp;

use crate::kind::{FILE_KINDS, KINDS};
use base::describe::{Describe, DescribeProblem, Schema, Schemas, Value};
use base::diagnostic::{At, Diagnostic};
use demands::DemandsSpec;
use ends::resolve;
use event::EventSpec;
use flow::FlowSpec;
use measuring::MeasuringSpec;
use network::spec::reference::{Endpoint, Names};
use network::spec::{self, ReadNetwork};
use std::collections::BTreeSet;
use tcp::TcpSpec;

/// A network that was read, with its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkFile {
    /// Nodes, links and LSPs.
    pub network: ReadNetwork,
    /// Flows of test packets.
    pub flows: Vec<FlowSpec>,
    /// Flows over TCP.
    pub tcp: Vec<TcpSpec>,
    /// What is done to it while it runs.
    pub events: Vec<EventSpec>,
    /// Flows by a matrix of rates, behind those.
    pub demands: Option<DemandsSpec>,
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
        let mut seen = BTreeSet::new();
        for (index, flow) in file.tcp.iter().enumerate() {
            if let Some(name) = &flow.name {
                name.check().at("name").at(index).at("tcp")?;
            }
            if !seen.insert(flow.name()) {
                let twice = Diagnostic::new(DescribeProblem::Twice { name: flow.name() });
                return Err(twice.at("name").at(index).at("tcp"));
            }
        }
        file.check_hosts()?;
        file.check_order()?;
        file.check_events()?;
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
        let written = core::mem::take(&mut network.spec.tcp);
        let mut tcp: Vec<TcpSpec> = Vec::read(&Value::List(written)).at("tcp")?;
        let written = core::mem::take(&mut network.spec.events);
        let mut events: Vec<EventSpec> = Vec::read(&Value::List(written)).at("events")?;
        let measuring = match network.spec.measuring.take() {
            Some(written) => MeasuringSpec::read(&written).at("measuring")?,
            None => MeasuringSpec::default(),
        };
        let demands = network.spec.demands.take();
        let mut demands = demands.map(|written| DemandsSpec::read(&written)).transpose().at("demands")?;
        let names = Names::new(network.nodes.iter().map(|node| node.0.clone()));
        if let Some(demands) = &mut demands {
            demands.resolve(&names).at("demands")?;
        }
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
        for (index, flow) in tcp.iter_mut().enumerate() {
            flow.resolve(&names, &ends).at(index).at("tcp")?;
        }
        let called: Vec<String> = flows.iter().map(FlowSpec::name).collect();
        let known = |name: &str| known_flow(name, &called, demands.as_ref(), &names);
        for (index, event) in events.iter_mut().enumerate() {
            let found = event.resolve(&names, &ends, &lsps, &known);
            found.and_then(|()| event.check_node(&network.nodes)).at(index).at("events")?;
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
        Ok(NetworkFile { network, flows, tcp, events, demands, measuring })
    }

    /// All of it with defaults filled in.
    pub fn write(&self) -> Value {
        let mut value = self.network.write();
        value.set("flows", self.flows.write());
        match &mut value {
            Value::Map(entries) if self.tcp.is_empty() => entries.retain(|entry| entry.0 != "tcp"),
            value => value.set("tcp", self.tcp.write()),
        }
        match &mut value {
            Value::Map(entries) if self.events.is_empty() => entries.retain(|entry| entry.0 != "events"),
            value => value.set("events", self.events.write()),
        }
        if let Some(demands) = &self.demands {
            value.set("demands", demands.write());
        }
        value.set("measuring", self.measuring.write());
        value
    }
}

/// Is there a flow of this name, or are some of the demands called so? If not, which one may have been meant.
fn known_flow(
    name: &str,
    flows: &[String],
    demands: Option<&DemandsSpec>,
    nodes: &Names,
) -> Result<(), String> {
    if flows.iter().any(|flow| flow == name) || demands.is_some_and(|demands| demands.has(name, nodes)) {
        return Ok(());
    }
    let mut known: Vec<&str> = flows.iter().map(String::as_str).collect();
    if let Some(demands) = demands {
        known.push(demands::ALL);
        known.extend(demands.classes.iter().map(|(class, _)| &**class));
    }
    Err(base::describe::near(name, known))
}

/// Everything that a network file may say.
pub fn schemas() -> Schemas {
    let mut known = Schemas::default();
    spec::schema(&mut known, KINDS);
    let (flow, measuring) = (FlowSpec::schema(&mut known), MeasuringSpec::schema(&mut known));
    let (event, tcp) = (EventSpec::schema(&mut known), TcpSpec::schema(&mut known));
    let demands = DemandsSpec::schema(&mut known);
    known.amend("NetworkSpec", |field| match field.key {
        "flows" => field.schema = Schema::List(Box::new(flow.clone()), 0),
        "tcp" => field.schema = Schema::List(Box::new(tcp.clone()), 0),
        "events" => field.schema = Schema::List(Box::new(event.clone()), 0),
        "measuring" => field.schema = measuring.clone(),
        "demands" => field.schema = demands.clone(),
        _ => {}
    });
    known
}

#[cfg(test)]
mod tests;
