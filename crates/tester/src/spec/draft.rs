//! A network that is described piece by piece, with its flows.

use super::demands::DemandsSpec;
use super::ends::resolve;
use super::event::EventSpec;
use super::flow::FlowSpec;
use super::measuring::MeasuringSpec;
use super::tcp::TcpSpec;
use super::{NetworkFile, known_flow};
use crate::kind::KINDS;
use base::describe::{Describe, Value};
use base::diagnostic::{At, Diagnostic};
use network::spec::draft::Draft as NetworkDraft;

/// A network as far as it has been described, with its flows.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Nodes, links and LSPs.
    pub network: NetworkDraft,
    /// Flows of test packets.
    pub flows: Vec<FlowSpec>,
    /// Flows over TCP.
    pub tcp: Vec<TcpSpec>,
    /// What is done to the network while it runs.
    pub events: Vec<EventSpec>,
    /// Flows by a matrix of rates.
    pub demands: Option<DemandsSpec>,
    /// Phases, and how delays are measured.
    pub measuring: MeasuringSpec,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft::of(NetworkFile::default())
    }
}

impl Draft {
    /// What was read, to be added to.
    pub fn of(file: NetworkFile) -> Draft {
        let NetworkFile { network, flows, tcp, events, demands, measuring } = file;
        Draft { network: NetworkDraft::of(network, KINDS), flows, tcp, events, demands, measuring }
    }

    /// All of it so far.
    pub fn file(&self) -> NetworkFile {
        let network = self.network.network().clone();
        let (flows, events, demands) = (self.flows.clone(), self.events.clone(), self.demands.clone());
        let (tcp, measuring) = (self.tcp.clone(), self.measuring.clone());
        NetworkFile { network, flows, tcp, events, demands, measuring }
    }

    /// Adds a flow.
    pub fn add_flow(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.flows.len();
        let flow = self.flow(value).at(place).at("flows")?;
        self.flows.push(flow);
        Ok(())
    }

    /// Adds a flow over TCP.
    pub fn add_tcp(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.tcp.len();
        let read = TcpSpec::read(value).and_then(|mut flow| {
            flow.resolve(self.network.names(), self.network.ends())?;
            Ok(flow)
        });
        self.tcp.push(read.at(place).at("tcp")?);
        Ok(())
    }

    /// Adds an event.
    pub fn add_event(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.events.len();
        let event = self.event(value).at(place).at("events")?;
        self.events.push(event);
        Ok(())
    }

    fn event(&self, value: &Value) -> Result<EventSpec, Diagnostic> {
        let mut event = EventSpec::read(value)?;
        let flows: Vec<String> = self.flows.iter().map(FlowSpec::name).collect();
        let network = &self.network;
        let demands = self.demands.as_ref();
        let known = |name: &str| known_flow(name, &flows, demands, network.names());
        event.resolve(network.names(), network.ends(), network, &known)?;
        event.check_node(&network.network().nodes)?;
        Ok(event)
    }

    /// Describes a flow anew.
    pub fn set_flow(&mut self, place: usize, value: &Value) -> Result<(), Diagnostic> {
        let flow = self.flow(value).at(place).at("flows")?;
        if let Some(old) = self.flows.get_mut(place) {
            *old = flow;
        }
        Ok(())
    }

    /// Says which demands there are, and that there are none if nothing is given.
    pub fn set_demands(&mut self, value: Option<&Value>) -> Result<(), Diagnostic> {
        let mut demands = value.map(DemandsSpec::read).transpose().at("demands")?;
        if let Some(demands) = &mut demands {
            demands.resolve(self.network.names()).at("demands")?;
        }
        self.demands = demands;
        Ok(())
    }

    fn flow(&self, value: &Value) -> Result<FlowSpec, Diagnostic> {
        let mut flow = FlowSpec::read(value)?;
        resolve(&mut flow, self.network.names(), self.network.ends(), &self.network)?;
        Ok(flow)
    }
}
