//! Flows: from a rate between two nodes to sources, streams and sinks.

use super::addressing;
use super::description::{ArrivalSpec, FlowSpec, NodeKind};
use super::error::{NetworkError, input};
use super::{Flow, Network};
use crate::edge::EdgeStream;
use crate::pacer::Pacer;
use crate::packet::Shape;
use crate::probe::StreamSpec;
use crate::source::Arrivals;
use base::{Dscp, Serialiser, Span, StreamId, Streams, Time};
use core::net::Ipv4Addr;

/// Time to live of test packets: real networks have paths of more than 64 hops.
const TTL: u8 = 255;
/// The longest frame that a source makes.
const SIZE_MAX: u32 = 9_018;

impl Network {
    /// Adds a flow; over a group of LSPs, a stream for each.
    pub fn add_flow(&mut self, spec: FlowSpec) -> Result<usize, NetworkError> {
        self.check_flow(&spec)?;
        let flow = self.flows.len();
        let first_stream = self.streams.len() as u32;
        let dscp = Dscp::new(spec.dscp).unwrap_or_default();
        let destinations: Vec<Ipv4Addr> = match spec.over.and_then(|group| self.lsps.get(group)) {
            Some(group) => (0..group.spec.count).map(|i| addressing::test_address(group.first + i)).collect(),
            None if self.description.nodes[spec.to].kind == NodeKind::Host => vec![self.loopback(spec.to)],
            None => vec![addressing::probe(spec.to)],
        };
        let count = destinations.len() as u32;
        if first_stream + count > wire::measurement::MAX_STREAM {
            return input(format!(
                "flow '{}': more than {} streams",
                spec.name,
                wire::measurement::MAX_STREAM
            ));
        }
        let streams = || (first_stream..).map(StreamId).zip(destinations.iter().copied());
        let phases = self.description.phases.clone();
        let (stop, trace, size) = (spec.stop.unwrap_or(Time::MAX), spec.trace, spec.size);
        let start = spec.start.max(self.now());
        let arrivals = self.arrivals(&spec, flow, start);
        let out = self.wire_of(spec.from);
        for (stream, _) in streams() {
            self.expect(spec.to, stream, out.clone());
        }
        self.streams.extend((0..count).map(|_| flow as u32));
        if let Some(edge) = self.edge_mut(spec.from) {
            let make = |(stream, dst)| EdgeStream { stream, dst, dscp, ttl: TTL, size };
            edge.add_source(arrivals, stop, phases, trace, streams().map(make).collect());
        } else {
            let now = self.now();
            let specs =
                streams().map(|(stream, dst)| StreamSpec { stream, dst, dscp, ttl: TTL, size }).collect();
            if let Some(station) = self.station_mut(spec.from) {
                station.add_source(now, arrivals, stop, phases, trace, specs);
            } else if let Some(probe) = self.probe_mut(spec.from) {
                probe.add_source(now, arrivals, stop, phases, trace, specs);
            }
        }
        self.flows.push(Flow { spec, first_stream });
        Ok(flow)
    }

    /// Is a host a real one, beyond an interface of a router that is here?
    fn is_beyond(&self, host: usize) -> bool {
        let mut routers = self.ports_of(host).map(|(link, side)| link.ends()[1 - side]);
        !self.is_local(host) && routers.any(|router| self.is_local(router))
    }

    fn expect(&mut self, node: usize, stream: StreamId, out: Serialiser) {
        if let Some(edge) = self.edge_mut(node) {
            edge.sink_mut().expect(stream, out);
        } else if let Some(station) = self.station_mut(node) {
            station.sink_mut().expect(stream, out);
        } else if let Some(probe) = self.probe_mut(node) {
            probe.sink_mut().expect(stream, out);
        }
    }

    /// The wire of the port that the sources of a node send by.
    fn wire_of(&self, node: usize) -> Serialiser {
        let own = matches!(self.description.nodes[node].kind, NodeKind::Edge | NodeKind::Host);
        let link = self.ports_of(node).next().filter(|_| own);
        Serialiser::new(link.map_or(base::Rate(0), |(link, _)| link.spec.rate), 0)
    }

    fn arrivals(&self, spec: &FlowSpec, flow: usize, start: Time) -> Arrivals {
        let bits = u64::from(spec.size) * 8;
        match spec.arrivals {
            ArrivalSpec::Constant => Arrivals::Constant(Pacer::new(start, bits, spec.rate.0)),
            ArrivalSpec::Poisson => {
                let random =
                    Streams::new(self.description.seed).stream(&format!("flow/{}/{flow}", spec.name));
                let mean = Span::from_secs_f64(bits as f64 / spec.rate.0.max(1) as f64);
                Arrivals::Poisson { next: start, mean, random: Box::new(random) }
            }
        }
    }

    fn check_flow(&self, spec: &FlowSpec) -> Result<(), NetworkError> {
        let what = format!("flow '{}'", spec.name);
        self.check_node(spec.from, &what)?;
        self.check_node(spec.to, &what)?;
        for end in [spec.from, spec.to] {
            let why = match self.description.nodes[end].kind {
                NodeKind::Peer => "a raw port, not a router",
                NodeKind::External => "external: nobody measures there",
                NodeKind::Host if self.is_beyond(end) => {
                    "a real host: send from it and to it with its own tools"
                }
                NodeKind::Router | NodeKind::Edge | NodeKind::Host => continue,
            };
            return input(format!("{what}: '{}' is {why}", self.node_name(end)));
        }
        let labels = usize::from(self.description.nodes[spec.from].kind == NodeKind::Edge);
        let least = Shape::size_min(labels);
        if !(least..=SIZE_MAX).contains(&spec.size) {
            return input(format!(
                "{what}: size={}: a test packet has {least} to {SIZE_MAX} bytes here",
                spec.size
            ));
        }
        if spec.dscp > 63 {
            return input(format!("{what}: dscp={}: 0 to 63", spec.dscp));
        }
        if spec.rate.0 == 0 {
            return input(format!("{what}: rate=0: a flow has a rate"));
        }
        match spec.over.map(|group| self.lsps.get(group)) {
            Some(None) => return input(format!("{what}: there is no LSP group {}", spec.over.unwrap_or(0))),
            Some(Some(group)) if (group.spec.from, group.spec.to) != (spec.from, spec.to) => {
                let (from, to) = (self.node_name(group.spec.from), self.node_name(group.spec.to));
                return input(format!("{what}: its LSP goes from '{from}' to '{to}'"));
            }
            Some(Some(_)) if self.description.nodes[spec.from].kind == NodeKind::Host => {
                return input(format!(
                    "{what}: a host sends over no LSP: say with 'carries' what the LSP takes"
                ));
            }
            None if labels == 1 => return input(format!("{what}: an edge sends over LSPs only")),
            _ => {}
        }
        Ok(())
    }
}
