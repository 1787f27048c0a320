//! A network with instruments in it: sources and sinks at its edges, at its hosts, and beside its routers.
//!
//! Crate `network` builds the network, as it does for a process that measures nothing. A [`Testbed`] owns it, has it
//! built with the tester's kinds of nodes and with probes beside routers, and adds flows. What can be done with a
//! network can be done with it too.

mod advice;
mod agenda;
mod checked;
mod class_series;
mod demands;
mod edges;
mod emission;
mod flow_ports;
mod flow_spec;
mod flows;
mod groups;
mod harms;
mod loops;
mod loss_periods;
mod losses;
mod openflow;
mod outages;
mod packets;
mod place;
mod processes;
mod receivers;
mod schedule;
mod tcp;
mod tcp_tables;
mod traffic;

pub use agenda::agenda;
pub use flow_spec::{
    ArrivalSpec, EmpiricalSpec, ExponentialSpec, Family, FlowSpec, OnOffSpec, PeriodKind, PeriodSpec,
    RateCounts, SizeSpec, TraceSpec, UniformSpec,
};
pub use processes::for_processes;
pub use tcp::TcpSpec;

use crate::edge::Edge;
use crate::generator::Generator;
use crate::instrument::{Instrument, instrument, instrument_mut};
use crate::kind::KINDS;
use crate::packet::Ports;
use crate::probe::Probe;
use crate::sink::Sink;
use crate::spec::measuring::MeasuringSpec;
use crate::spec::{self, NetworkFile};
use crate::station::Station;
use base::describe::Describe;
use base::diagnostic::{At, Diagnostic, Step};
use base::table::{Row, Table, TableDecl};
use base::{Device, NodeId, StreamId};
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use engine::external;
use flow_ports::SourcePorts;
use losses::Owners;
use network::beside::BesideConfig;
use network::{
    Build, Network, NetworkError, Open, Part, Placement, Recorded, ReplaySummary, Scope, TableEntry,
};
use schedule::Schedule;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::sync::Arc;

/// A flow as it was built.
#[derive(Clone, Debug)]
struct Flow {
    spec: FlowSpec,
    first_stream: u32,
    /// The place of its source among those of the instrument where it begins.
    source: usize,
    /// UDP ports of all its streams.
    ports: Ports,
    /// The links by which it leaves a host and comes to one.
    links: [Option<usize>; 2],
}

/// Traced packets of a group of LSPs.
#[derive(Clone, Copy, Debug, Default)]
struct Traced {
    /// How many there were.
    all: u64,
    /// How many crossed other links than those of the LSP's route.
    wrong: u64,
}

/// A network with instruments.
pub struct Testbed {
    network: Network,
    measuring: MeasuringSpec,
    flows: Vec<Flow>,
    /// Flows over TCP.
    tcp: Vec<tcp::TcpFlow>,
    schedule: Schedule,
    source_ports: SourcePorts,
    /// Names of the flows that draw random numbers.
    random_flows: BTreeSet<String>,
    /// Flow of each stream.
    streams: Vec<u32>,
    /// By group of LSPs.
    traced: BTreeMap<usize, Traced>,
    passed: BTreeMap<u32, loops::Passed>,
    demands: demands::Demands,
    /// Links and nodes that fail, as events say it.
    harms: Vec<harms::Harm>,
    /// Whose test packets are.
    owners: Arc<Owners>,
    streams_asked: AtomicU64,
    /// A packet has come to a sink that does not expect it.
    has_astray: Arc<AtomicBool>,
}

impl Deref for Testbed {
    type Target = Network;
    fn deref(&self) -> &Network {
        &self.network
    }
}

impl DerefMut for Testbed {
    fn deref_mut(&mut self) -> &mut Network {
        &mut self.network
    }
}

fn probe(config: BesideConfig) -> Box<dyn Device> {
    Box::new(Probe::new(config))
}

impl Testbed {
    /// Builds a network in virtual time, with its flows.
    pub fn new(file: &NetworkFile) -> Result<Testbed, NetworkError> {
        Testbed::build(file, Build::default())
    }

    /// Builds the part of a network that a placement puts in this process, to be run by the clock.
    pub fn placed(file: &NetworkFile, placement: Placement) -> Result<Testbed, NetworkError> {
        Testbed::placed_with(file, placement, &mut |spec| external::open(spec))
    }

    /// The same with ports that `open` makes.
    pub fn placed_with(
        file: &NetworkFile,
        placement: Placement,
        open: &mut Open<'_>,
    ) -> Result<Testbed, NetworkError> {
        let (clock, begin) = placement.clock();
        let build = Build { placement: Some(&placement), begin, ..Build::default() };
        let mut testbed = Testbed::build(file, build)?;
        testbed.network.attach(placement, clock, open)?;
        Ok(testbed)
    }

    /// A network of which nothing is in this process: all is checked, and addresses, ports and routes are planned as in
    /// every process of it, but there is no device that could run. Unlike in virtual time there may be external nodes
    /// in it.
    pub fn planned(file: &NetworkFile) -> Result<Testbed, NetworkError> {
        let nowhere = Placement { local: Some(Vec::new()), ..Placement::default() };
        let planned = Testbed::build(file, Build { placement: Some(&nowhere), ..Build::default() })?;
        planned.network.check_media_outside()?;
        Ok(planned)
    }

    /// The network of a recording's file, with the router in the state that it had at the end, whose tables can be
    /// looked at. It has no interfaces, and nothing runs.
    pub fn replayed(file: impl BufRead) -> Result<(Testbed, ReplaySummary), NetworkError> {
        let Recorded { description, placement, recording } = Recorded::read(file)?;
        let build = Build { placement: placement.as_ref(), ..Build::default() };
        let file = NetworkFile::read_part(&description)?;
        let mut testbed = Testbed::build(&file, build)?;
        let summary = testbed.network.bring_up(&recording)?;
        Ok((testbed, summary))
    }

    fn build(file: &NetworkFile, build: Build<'_>) -> Result<Testbed, NetworkError> {
        let is_real = build.placement.is_some();
        let network = Network::build(&file.network, KINDS, Build { beside: probe, ..build })?;
        let mut testbed = Testbed {
            network,
            measuring: file.measuring.clone(),
            flows: Vec::new(),
            tcp: Vec::new(),
            schedule: Schedule::default(),
            source_ports: SourcePorts::default(),
            random_flows: BTreeSet::new(),
            streams: Vec::new(),
            traced: BTreeMap::new(),
            passed: BTreeMap::new(),
            demands: demands::Demands::default(),
            harms: Vec::new(),
            owners: Arc::default(),
            streams_asked: AtomicU64::new(0),
            has_astray: Arc::default(),
        };
        testbed.check_openflow_testers(is_real)?;
        testbed.keep_losses();
        testbed.set_sinks();
        for (index, flow) in file.flows.iter().enumerate() {
            let flow = testbed
                .lowered(flow)
                .at(Step::Called(index, format!("flow '{}'", flow.name())))
                .at("flows")?;
            testbed.add_flow(flow)?;
        }
        for (index, flow) in file.tcp.iter().enumerate() {
            let lowered = flow.lowered(&testbed.description().ends);
            let lowered = lowered.at(Step::Called(index, format!("tcp flow '{}'", flow.name()))).at("tcp")?;
            testbed.add_tcp(lowered)?;
        }
        if let Some(demands) = &file.demands {
            testbed.add_demands(demands, &file.network)?;
        }
        testbed.check_flows(&file.events)?;
        testbed.harms = harms::of(&file.events);
        file.check_events()?;
        testbed.add_events(&file.events);
        Ok(testbed)
    }

    /// A flow as users write it, for this network.
    pub fn read_flow(&self, value: &base::describe::Value) -> Result<FlowSpec, Diagnostic> {
        let mut flow = spec::flow::FlowSpec::read(value)?;
        let description = self.description();
        spec::ends::resolve(&mut flow, &description.names, &description.ends, &self.network)?;
        self.lowered(&flow)
    }

    /// A flow over TCP as users write it, for this network.
    pub fn read_tcp(&self, value: &base::describe::Value) -> Result<TcpSpec, Diagnostic> {
        let mut flow = spec::tcp::TcpSpec::read(value)?;
        let description = self.description();
        flow.resolve(&description.names, &description.ends)?;
        flow.lowered(&description.ends)
    }

    fn lowered(&self, flow: &spec::flow::FlowSpec) -> Result<FlowSpec, Diagnostic> {
        flow.lowered(&self.description().ends, |name| self.network.find_lsp(name))
    }

    /// Gives every instrument a sink that measures as the description says.
    fn set_sinks(&mut self) {
        for node in 0..self.description().nodes.len() {
            let mut sink = self.measuring.sink();
            sink.share(&self.has_astray);
            if let Some(instrument) = self.instrument_mut(node) {
                *instrument.sink_mut() = sink;
            }
        }
    }

    /// The instrument at a node, or beside the router there; nothing if it is not here.
    fn instrument(&self, node: usize) -> Option<&dyn Instrument> {
        let world = self.network.world();
        let beside = || instrument(world, self.network.beside(node)?.0);
        instrument(world, NodeId(node as u32)).or_else(beside)
    }

    fn instrument_mut(&mut self, node: usize) -> Option<&mut dyn Instrument> {
        let own = NodeId(node as u32);
        let at = match instrument(self.network.world(), own) {
            Some(_) => own,
            None => self.network.beside(node)?.0,
        };
        instrument_mut(self.network.world_mut(), at)
    }

    /// The sources at a node: its own, or those of the probe beside a router.
    pub fn generator(&self, node: usize) -> Option<&Generator> {
        Some(self.instrument(node)?.generator())
    }
    /// The sink at a node: its own, or that of the probe beside a router.
    pub fn sink(&self, node: usize) -> Option<&Sink> {
        Some(self.instrument(node)?.sink())
    }
    /// Lets the sink at a node keep an entry for every packet.
    pub fn keep_log(&mut self, node: usize) {
        if let Some(instrument) = self.instrument_mut(node) {
            instrument.sink_mut().keep_log();
        }
    }

    /// The emulated edge at a node.
    pub fn edge(&self, node: usize) -> Option<&Edge> {
        self.network.world().device(NodeId(node as u32))
    }
    /// The simulated host at a node.
    pub fn station(&self, node: usize) -> Option<&Station> {
        self.network.world().device(NodeId(node as u32))
    }
    /// The probe beside a router.
    pub fn probe(&self, node: usize) -> Option<&Probe> {
        self.network.world().device(self.network.beside(node)?.0)
    }
    fn probe_mut(&mut self, node: usize) -> Option<&mut Probe> {
        let id = self.network.beside(node)?.0;
        self.network.world_mut().device_mut(id)
    }

    fn flow_of(&self, stream: StreamId) -> Option<&Flow> {
        self.flows.get(*self.streams.get(stream.index())? as usize)
    }

    /// The flow of a stream that is no demand.
    fn single_flow(&self, stream: StreamId) -> Option<&Flow> {
        let flow = *self.streams.get(stream.index())? as usize;
        self.flows.get(flow).filter(|_| !self.demands.has(flow))
    }

    /// A table by name, of what was measured or of the network: of one node where it needs one, else of all.
    pub fn table(&mut self, name: &str, node: Option<usize>) -> Result<Table, NetworkError> {
        let Some(entry) = TABLES.iter().find(|entry| entry.decl.name == name) else {
            return self.network.table(name, node);
        };
        if let Some(node) = node {
            self.network.check_table(name, node, false)?;
        }
        (entry.make)(self, node)
    }

    /// Those rows of a table that are asked for, of one flow or of one group of LSPs; all of a table that has no such
    /// parts.
    pub fn part(&mut self, name: &str, part: &Part) -> Result<Table, NetworkError> {
        let made = PARTS.iter().find(|(decl, _)| decl.name == name).zip(part.of);
        match made {
            Some(((_, make), flow)) => Ok(make(self, Some(flow))),
            None if TABLES.iter().any(|entry| entry.decl.name == name) => self.table(name, None),
            None => self.network.part(name, part),
        }
    }

    /// How many streams were looked at for tables so far: questions about one flow do not ask the others.
    pub fn streams_asked(&self) -> u64 {
        self.streams_asked.load(Ordering::Relaxed)
    }

    fn ask_stream(&self) {
        self.streams_asked.fetch_add(1, Ordering::Relaxed);
    }

    /// The flows by their places: all, or the one that is asked for.
    fn asked_flows(&self, only: Option<usize>) -> impl Iterator<Item = (usize, &Flow)> {
        let places = only.map_or(0..self.flows.len(), |flow| flow..flow + 1);
        places.filter_map(|place| Some((place, self.flows.get(place)?)))
    }

    /// The same as the control socket gives it: an object of columns, times in picoseconds.
    pub fn table_json(&mut self, name: &str, node: Option<usize>) -> Result<Value, NetworkError> {
        network::tables::json(&self.table(name, node)?)
    }
}

/// How those rows of a table are made that are of one flow.
type MakePart = fn(&Testbed, Option<usize>) -> Table;

/// Tables that can be asked of one flow.
static PARTS: &[(&TableDecl, MakePart)] = &[
    (flow_ports::FlowRow::DECL, flow_ports::table),
    (traffic::StreamRow::DECL, traffic::streams),
    (traffic::DelayRow::DECL, traffic::delays),
    (traffic::FlowSeriesRow::DECL, traffic::flow_series),
    (packets::PacketRow::DECL, packets::table),
    (losses::LossRow::DECL, losses::losses),
    (tcp_tables::TcpFlowRow::DECL, tcp_tables::flows),
    (tcp_tables::TcpSeriesRow::DECL, tcp_tables::series),
];

/// The tables of what was measured; those of the network are in `network::TABLES`.
pub static TABLES: &[TableEntry<Testbed>] = &[
    TableEntry::new::<edges::TransitionRow>(Scope::Network, |testbed, _| Ok(edges::lsp_log(testbed))),
    TableEntry::new::<edges::StepRow>(Scope::Network, |testbed, _| Ok(edges::steps(testbed))),
    TableEntry::new::<flow_ports::FlowRow>(Scope::Network, |testbed, _| Ok(flow_ports::table(testbed, None))),
    TableEntry::new::<traffic::StreamRow>(Scope::Network, |testbed, _| Ok(traffic::streams(testbed, None))),
    TableEntry::new::<receivers::ReceiverRow>(Scope::Network, |testbed, _| Ok(receivers::table(testbed))),
    TableEntry::new::<checked::CheckRow>(Scope::Network, |testbed, _| Ok(checked::table(testbed))),
    TableEntry::new::<traffic::DelayRow>(Scope::Network, |testbed, _| Ok(traffic::delays(testbed, None))),
    TableEntry::new::<traffic::SeriesRow>(Scope::Network, |testbed, _| Ok(traffic::series(testbed))),
    TableEntry::new::<traffic::FlowSeriesRow>(Scope::Network, |testbed, _| {
        Ok(traffic::flow_series(testbed, None))
    }),
    TableEntry::new::<class_series::ClassSeriesRow>(Scope::Network, |testbed, _| {
        Ok(class_series::table(testbed))
    }),
    TableEntry::new::<tcp_tables::TcpFlowRow>(Scope::Network, |testbed, _| {
        Ok(tcp_tables::flows(testbed, None))
    }),
    TableEntry::new::<tcp_tables::TcpSeriesRow>(Scope::Network, |testbed, _| {
        Ok(tcp_tables::series(testbed, None))
    }),
    TableEntry::new::<losses::LossRow>(Scope::Network, |testbed, _| Ok(losses::losses(testbed, None))),
    TableEntry::new::<losses::AccountRow>(Scope::Network, |testbed, _| Ok(losses::accounts(testbed))),
    TableEntry::new::<losses::TimeRow>(Scope::Network, |testbed, _| Ok(losses::times(testbed))),
    TableEntry::new::<openflow::OpenFlowTestRow>(Scope::Network, |testbed, _| Ok(openflow::tests(testbed))),
    TableEntry::new::<openflow::OpenFlowRoundRow>(Scope::Network, |testbed, _| Ok(openflow::rounds(testbed))),
    TableEntry::new::<outages::OutageRow>(Scope::Network, |testbed, _| Ok(outages::table(testbed))),
    TableEntry::new::<loss_periods::LossPeriodRow<'_>>(Scope::Network, |testbed, _| {
        Ok(loss_periods::table(testbed))
    }),
    TableEntry::new::<demands::DemandRow>(Scope::Network, |testbed, _| Ok(demands::demands(testbed))),
    TableEntry::new::<demands::DemandClassRow>(Scope::Network, |testbed, _| Ok(demands::classes(testbed))),
    TableEntry::new::<packets::PacketRow>(Scope::Network, |testbed, _| Ok(packets::table(testbed, None))),
    TableEntry::new::<traffic::RouteRow>(Scope::Network, |testbed, _| {
        traffic::check_routes(testbed);
        Ok(traffic::routes(testbed))
    }),
    TableEntry::new::<loops::LoopRow>(Scope::Network, |testbed, _| {
        traffic::check_routes(testbed);
        Ok(loops::table(testbed))
    }),
    TableEntry::new::<traffic::SinkRow>(Scope::Network, |testbed, _| Ok(traffic::sinks(testbed))),
];
