//! Flows over TCP: programs at two hosts.

use super::Testbed;
use super::flow_spec::Family;
use crate::problem::TrafficProblem;
use crate::programs::Client;
use crate::programs::settings::{Program, Work};
use crate::spec::tcp::TcpOptions;
use crate::station::Station;
use base::diagnostic::{At, Diagnostic, Step};
use base::{Dscp, NodeId, PortId, Span, Streams, Time};
use core::net::{IpAddr, SocketAddr};
use network::NetworkError;
use node::sessions::Options;
use wire::{ipv4, ipv6, tcp};

/// The first port that a server waits at, unless it is told one.
const FIRST_PORT: u16 = 5_001;

/// A flow over TCP as it is to be built.
#[derive(Clone, Debug)]
pub struct TcpSpec {
    /// Its name.
    pub name: String,
    /// The hosts at which it begins and ends.
    pub ends: [usize; 2],
    /// The links by which it leaves the one and comes to the other; those of the shortest path if absent.
    pub links: [Option<usize>; 2],
    /// What programs do.
    pub work: Work,
    /// Bytes that a program writes at a time, in bulk.
    pub message: u32,
    /// How many connections there are.
    pub connections: u32,
    /// Which IP its packets are of.
    pub family: Family,
    /// Code point of its packets.
    pub dscp: Dscp,
    /// The port that the server waits at; one of its own if absent.
    pub port: Option<u16>,
    /// When connections are begun.
    pub start: Time,
    /// When nothing more is written.
    pub stop: Option<Time>,
    /// How TCP behaves at both ends, where that is not what the hosts say.
    pub options: TcpOptions,
    /// Width of the bins in which it is watched.
    pub bin: Span,
}

/// A flow over TCP as it was built.
#[derive(Clone, Debug)]
pub(super) struct TcpFlow {
    pub(super) spec: TcpSpec,
    /// The port that the server waits at.
    pub(super) port: u16,
}

impl Testbed {
    /// Adds a flow over TCP.
    pub fn add_tcp(&mut self, spec: TcpSpec) -> Result<usize, NetworkError> {
        let flow = self.tcp.len();
        let of =
            |error: Diagnostic| error.at(Step::Called(flow, format!("tcp flow '{}'", spec.name))).at("tcp");
        self.check_tcp(&spec).map_err(of)?;
        let links = self.links_between(spec.ends, spec.links);
        let to = self.tcp_address(&spec, links[1]).map_err(of)?;
        let from =
            self.tcp_address(&TcpSpec { ends: [spec.ends[1], spec.ends[0]], ..spec.clone() }, links[0]);
        from.map_err(of)?;
        let options = self.tcp_options(&spec);
        self.check_mss(&spec, links).map_err(of)?;
        let port = self.server_port(&spec).map_err(of)?;
        let (now, streams) = (self.now(), Streams::new(self.description().seed));
        let program = |options: Options| Program {
            flow: flow as u32,
            work: spec.work,
            message: spec.message,
            start: spec.start,
            stop: spec.stop,
            options,
            bin: spec.bin,
        };
        let by = links[0].and_then(|link| self.links()[link].port_at(spec.ends[0])).unwrap_or(PortId(0));
        let names = spec.ends.map(|node| self.node_name(node).to_string());
        if let Some(station) = self.station_mut(spec.ends[1]) {
            station.add_server(&names[1], streams, port, program(options[1]));
        }
        let connections = spec.connections;
        let client = Client { program: program(options[0]), by, to: SocketAddr::new(to, port), connections };
        if let Some(station) = self.station_mut(spec.ends[0]) {
            station.add_client(now, &names[0], streams, client);
        }
        self.tcp.push(TcpFlow { spec, port });
        Ok(flow)
    }

    fn station_mut(&mut self, node: usize) -> Option<&mut Station> {
        self.network.world_mut().device_mut(NodeId(node as u32))
    }

    /// How TCP behaves at each end: as the flow says, and where it says nothing as the host does.
    fn tcp_options(&self, spec: &TcpSpec) -> [Options; 2] {
        spec.ends.map(|node| {
            let own = self.station(node).map(Station::tcp).unwrap_or_default();
            spec.options.or(&own).lowered(spec.dscp)
        })
    }

    /// The address that a flow goes to.
    fn tcp_address(&self, spec: &TcpSpec, link: Option<usize>) -> Result<IpAddr, Diagnostic> {
        let node = spec.ends[1];
        let unreached = || TrafficProblem::NoHost { node: self.node_name(node).into() };
        let link = &self.links()[link.ok_or_else(unreached)?];
        let side = link.side(node);
        match (spec.family, link.spec.ipv6) {
            (Family::Ipv4, _) => Ok(link.addresses[side].into()),
            (Family::Ipv6, Some(ends)) => Ok(ends[side].address.into()),
            (Family::Ipv6, None) => {
                let [a, b] = link.ends().map(|node| self.node_name(node).to_string());
                Err(Diagnostic::new(TrafficProblem::Ipv6Link { a, b }).at("family").on_key())
            }
        }
    }

    /// The port that a server waits at: the one that it is told, or the next that no program has there.
    fn server_port(&self, spec: &TcpSpec) -> Result<u16, Diagnostic> {
        let used =
            |port: u16| self.tcp.iter().any(|flow| flow.port == port && flow.spec.ends[1] == spec.ends[1]);
        if let Some(port) = spec.port {
            let node = self.node_name(spec.ends[1]).to_string();
            let taken = || Diagnostic::new(TrafficProblem::PortTaken { port, node }).at("port").on_key();
            return if used(port) { Err(taken()) } else { Ok(port) };
        }
        let free = (FIRST_PORT..=u16::MAX).find(|port| !used(*port));
        free.ok_or_else(|| TrafficProblem::NoPortLeft { node: self.node_name(spec.ends[1]).into() }.into())
    }

    /// Refuses a flow that can't be. Paths begin at the flow.
    fn check_tcp(&self, spec: &TcpSpec) -> Result<(), Diagnostic> {
        let on = |key: &str, problem: TrafficProblem| Err(Diagnostic::new(problem).at(key).on_key());
        for (key, end) in ["from", "to"].into_iter().zip(spec.ends) {
            self.check_node(end).at(key)?;
            let node = || self.node_name(end).to_string();
            if self.facts(end).host.is_none() {
                return on(key, TrafficProblem::TcpAtNoHost { node: node() });
            }
            if self.is_real_host(end) {
                let why = "a real host: send from it and to it with its own tools".into();
                return on(key, TrafficProblem::NoInstrument { node: node(), why });
            }
        }
        if spec.ends[0] == spec.ends[1] {
            return on("to", TrafficProblem::TcpToItself { node: self.node_name(spec.ends[0]).into() });
        }
        for (name, node, link) in
            [("from_link", spec.ends[0], spec.links[0]), ("to_link", spec.ends[1], spec.links[1])]
        {
            let Some(link) = link else { continue };
            if !self.graph().links_of(node).any(|own| own == link) {
                let away = TrafficProblem::NotAtLink { node: self.node_name(node).into(), link };
                return Err(away.into()).at(name);
            }
        }
        self.check_times(spec.start, spec.stop)
    }

    /// Refuses segments that no packet of a link holds.
    fn check_mss(&self, spec: &TcpSpec, links: [Option<usize>; 2]) -> Result<(), Diagnostic> {
        let Some(mss) = spec.options.mss else { return Ok(()) };
        let header = match spec.family {
            Family::Ipv4 => ipv4::MIN_HEADER_LEN,
            Family::Ipv6 => ipv6::HEADER_LEN,
        };
        let headers = (header + tcp::HEADER_LEN) as u32;
        for (node, link) in spec.ends.into_iter().zip(links) {
            let port = link.and_then(|link| self.links()[link].port_at(node)).unwrap_or(PortId(0));
            let Some(mtu) = self.host_config(node).port(port).map(|port| port.mtu) else { continue };
            if u32::from(mss) + headers > mtu {
                let (node, most) = (self.node_name(node).to_string(), mtu.saturating_sub(headers));
                let above = TrafficProblem::MssAboveMtu { mss, node, mtu, most };
                return Err(Diagnostic::new(above).at("mss").on_key());
            }
        }
        Ok(())
    }
}
