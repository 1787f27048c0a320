//! Flows: from a rate between two nodes to sources, streams and sinks.

use super::flow_ports::port;
use super::flow_spec::{Family, FlowSpec};
use super::losses::Owner;
use super::place::OfFlow;
use super::{Flow, Testbed};
use crate::checks::{Expected, Taken};
use crate::packet::{Ports, Shape};
use crate::probe::StreamSpec;
use crate::problem::TrafficProblem;
use crate::sink::{Wire, Wires};
use crate::source::Source;
use crate::together::Of;
use base::diagnostic::{At, Diagnostic};
use base::frame::Framing;
use base::{Dscp, PortId, Rate, Serialiser, StreamId, Streams, Time};
use core::net::IpAddr;
use network::NetworkError;
use network::addressing;
use network::kind::Tests;
use network::tunnels::TunnelKey;

/// Time to live of test packets: real networks have paths of more than 64 hops.
const TTL: u8 = 255;
/// The longest frame that a source makes whatever its links take: what is beyond them is refused on the way.
const SIZE_USUAL: u32 = 9_018;
/// Of so many flows the delay is kept over time, for each by itself.
const FOLLOWED_MAX: usize = 64;
/// Ethernet header and frame check sequence.
const ETHERNET: u32 = 18;

impl Testbed {
    /// Adds a flow; over a group of LSPs, a stream for each.
    pub fn add_flow(&mut self, spec: FlowSpec) -> Result<usize, NetworkError> {
        let flow = self.flows.len();
        let of = |error: Diagnostic| error.of_flow(flow, &spec);
        self.check_flow(&spec).map_err(of)?;
        let src_port = port(spec.src_port, "src_port").map_err(of)?;
        let dst_port = port(spec.dst_port, "dst_port").map_err(of)?;
        let first_stream = self.streams.len() as u32;
        let dscp = Dscp::new(spec.dscp).unwrap_or_default();
        let [from_link, to_link] = self.links_between([spec.from, spec.to], [spec.from_link, spec.to_link]);
        self.check_family(&spec, [from_link, to_link]).map_err(of)?;
        let destinations: Vec<IpAddr> = match spec.over.and_then(|group| self.lsps().get(group)) {
            Some(group) => {
                let address = |index: u32| match spec.family {
                    Family::Ipv4 => IpAddr::V4(addressing::test_address(index)),
                    Family::Ipv6 => addressing::test_address6(index).into(),
                };
                (0..group.spec.count).map(|index| address(group.first + index)).collect()
            }
            None => vec![self.address_of(&spec, to_link)],
        };
        let count = destinations.len() as u32;
        if first_stream + count > wire::measurement::MAX_STREAM {
            let most = wire::measurement::MAX_STREAM;
            return Err(of(TrafficProblem::TooManyStreams { most }.into()).into());
        }
        let src = self.source_ports.take(spec.from, src_port);
        let ports = Ports { src, dst: dst_port.unwrap_or(wire::measurement::PORT) };
        let streams = || (first_stream..).map(StreamId).zip(destinations.iter().copied());
        let wires =
            Wires { source: self.wire_of(spec.from, from_link), sink: self.wire_of(spec.to, to_link) };
        let (source, size) = self.source_of(&spec, from_link);
        let lsps = spec.over.and_then(|group| self.lsps().get(group));
        let taken = lsps.map(|group| group.tunnels.iter().map(|&id| TunnelKey::from(id)).collect());
        let taken: Vec<TunnelKey> = taken.unwrap_or_default();
        let from = self.loopback(spec.from);
        let labelled = self.facts(spec.from).tests == Tests::Labelled;
        for ((stream, dst), index) in streams().zip(0..) {
            let expected = Expected {
                dst,
                size: spec.size_range().filter(|(least, most)| least == most).map(|(size, _)| size),
                ttl: TTL,
                hops: spec.hops,
                tc: labelled.then_some(dscp.value() >> 3),
                lsp: taken.get::<usize>(index).map(|&tunnel| Taken::new(from, tunnel)),
            };
            for node in spec.receivers() {
                let sink = if node == spec.to { wires.sink.clone() } else { self.wire_of(node, None) };
                let wires = Wires { sink, ..wires.clone() };
                self.expect((node, &spec), stream, ports, &wires, expected.clone());
            }
        }
        self.streams.extend((0..count).map(|_| flow as u32));
        (0..count).for_each(|turn| self.owners.add(Owner { ports, flow: flow as u32, turn, turns: count }));
        let now = self.now();
        let make = |(stream, dst)| StreamSpec { stream, dst, ports, dscp, ttl: TTL, size };
        let place = self.generator(spec.from).map_or(0, |generator| generator.sources().len());
        if let Some(instrument) = self.instrument_mut(spec.from) {
            instrument.add_source(now, source, streams().map(make).collect());
        }
        if spec.is_random() {
            self.random_flows.insert(spec.name.clone());
        }
        self.flows.push(Flow { spec, first_stream, source: place, ports, links: [from_link, to_link] });
        Ok(flow)
    }

    /// Lets phases begin at these times, for flows that are added from now on: what was sent before belongs to no run.
    pub fn set_phases(&mut self, phases: Vec<Time>) {
        self.measuring.phases = phases;
        for node in 0..self.description().nodes.len() {
            let phases = self.measuring.phases.clone();
            if let Some(instrument) = self.instrument_mut(node) {
                instrument.sink_mut().set_phases(phases);
            }
        }
    }

    /// The address that a flow goes to which takes no LSP of its own.
    pub(super) fn address_of(&self, spec: &FlowSpec, to_link: Option<usize>) -> IpAddr {
        if let Some(group) = spec.group {
            return group;
        }
        let Some(link) = to_link.map(|link| &self.links()[link]) else {
            return match spec.family {
                Family::Ipv4 => addressing::probe(spec.to).into(),
                Family::Ipv6 => addressing::probe6(spec.to).into(),
            };
        };
        let side = link.side(spec.to);
        match link.spec.ipv6.filter(|_| spec.family == Family::Ipv6) {
            Some(ends) => ends[side].address.into(),
            None => link.addresses[side].into(),
        }
    }

    /// Refuses a flow of IPv6 where an end has no address for it.
    fn check_family(&self, spec: &FlowSpec, links: [Option<usize>; 2]) -> Result<(), Diagnostic> {
        if spec.family == Family::Ipv4 {
            return Ok(());
        }
        for (end, link) in [spec.from, spec.to].into_iter().zip(links) {
            let problem = match link.map(|link| &self.links()[link]) {
                None if self.has_ipv6(end) => continue,
                None => TrafficProblem::Ipv6End { node: self.node_name(end).into() },
                Some(link) if link.spec.ipv6.is_none() => {
                    let [a, b] = link.ends().map(|node| self.node_name(node).to_string());
                    TrafficProblem::Ipv6Link { a, b }
                }
                Some(_) => continue,
            };
            return Err(Diagnostic::new(problem).at("family").on_key());
        }
        Ok(())
    }

    /// What sends a flow's packets, and how long they are if they are all alike.
    fn source_of(&self, spec: &FlowSpec, from_link: Option<usize>) -> (Source, u32) {
        let streams = Streams::new(self.description().seed);
        let arrivals = spec.arrivals(streams, spec.start.max(self.now()), self.labels_of(spec));
        let (stop, phases) = (spec.stop.unwrap_or(Time::MAX), self.measuring.phases.clone());
        let port = from_link.and_then(|link| self.links()[link].port_at(spec.from)).unwrap_or(PortId(0));
        let source = Source::new(arrivals, stop, phases, spec.trace);
        let source = source.with_sizes(spec.sizes(streams)).by(port).keeping(spec.log);
        let source = source.binned(self.measuring.loss_bin, self.network.moments());
        // By the clock on the wall neighbours answer when they do: no flow loses what it would send before that.
        let source = source.held(self.is_live() && self.facts(spec.from).host.is_some());
        (source, spec.size_range().map_or(0, |range| range.0))
    }

    /// Labels on each packet as it is sent. Below that of an LSP packets of IPv6 have one that says so (RFC 4798, 3).
    fn labels_of(&self, spec: &FlowSpec) -> u32 {
        let labelled = self.facts(spec.from).tests == Tests::Labelled;
        u32::from(labelled) * (1 + u32::from(spec.family == Family::Ipv6))
    }

    /// Lets the sink at a node expect a stream of the flow that is being added.
    fn expect(
        &mut self,
        (node, spec): (usize, &FlowSpec),
        stream: StreamId,
        ports: Ports,
        wires: &Wires,
        expected: Expected,
    ) {
        let keep = spec.log;
        let flow = self.flows.len();
        let class = self.class_of(flow, spec);
        let of = if class.is_demand() { Of::Class(class.number()) } else { Of::Flow(flow as u32) };
        let is_followed = flow < FOLLOWED_MAX && !class.is_demand();
        let Some(instrument) = self.instrument_mut(node) else { return };
        let sink = instrument.sink_mut();
        sink.expect(stream, (of, class.number()), ports, wires.clone(), expected, keep);
        if is_followed {
            sink.follow(flow as u32);
        }
    }

    /// The links by which a flow leaves a host and comes to one: what it says, else those of the shortest path.
    pub(super) fn links_between(
        &self,
        [from, to]: [usize; 2],
        said: [Option<usize>; 2],
    ) -> [Option<usize>; 2] {
        let ends = [(from, said[0]), (to, said[1])];
        let hosts = ends.map(|(node, _)| self.facts(node).host.is_some());
        let choice = |(node, given): (usize, Option<usize>)| {
            given.is_none() && from != to && self.graph().links_of(node).count() > 1
        };
        let chooses = ends.into_iter().zip(hosts).any(|(end, host)| host && choice(end));
        let path = if chooses { self.graph().search(from).links_to(to) } else { None };
        let path = path.unwrap_or_default();
        let found = [path.first().copied(), path.last().copied()];
        let of = |side: usize| {
            let (node, given) = ends[side];
            hosts[side]
                .then(|| given.or(found[side]).or_else(|| self.graph().links_of(node).next()))
                .flatten()
        };
        [of(0), of(1)]
    }

    /// The wire of the port by which a node sends and takes test packets: that of a host's link, of an edge's only one,
    /// or one without a rate to a tester beside a router.
    fn wire_of(&self, node: usize, link: Option<usize>) -> Wire {
        let edge = self.facts(node).tests == Tests::Labelled;
        let own = link.or_else(|| self.graph().links_of(node).next().filter(|_| edge));
        let own = own.map(|link| &self.links()[link].spec);
        let serialiser = Serialiser::new(own.map_or(Rate(0), |link| link.rate), 0);
        Wire { serialiser, framing: own.map_or(Framing::ETHERNET, |link| link.medium.framing) }
    }

    /// Refuses a flow that can't be. Paths begin at the flow.
    fn check_flow(&self, spec: &FlowSpec) -> Result<(), Diagnostic> {
        for (key, end) in [("from", spec.from), ("to", spec.to)] {
            self.check_node(end).at(key)?;
        }
        let on = |key: &str, problem: TrafficProblem| Err(Diagnostic::new(problem).at(key).on_key());
        for (key, end) in [("from", spec.from), ("to", spec.to)] {
            let facts = self.facts(end);
            let why = if facts.foreign {
                format!("{}: nobody measures there", facts.called)
            } else if facts.tests == Tests::Nowhere {
                format!("{}, not a router", facts.called)
            } else if facts.host.is_some() && self.is_real_host(end) {
                "a real host: send from it and to it with its own tools".into()
            } else {
                continue;
            };
            return on(key, TrafficProblem::NoInstrument { node: self.node_name(end).into(), why });
        }
        self.check_flow_group(spec)?;
        self.check_flow_links(spec)?;
        self.check_times(spec.start, spec.stop)?;
        self.check_flow_packets(spec)?;
        if spec.is_random() && self.random_flows.contains(&spec.name) {
            return on("name", TrafficProblem::RandomTwice {});
        }
        match spec.over.map(|group| self.lsps().get(group)) {
            Some(None) => return on("over", TrafficProblem::NoGroup { group: spec.over.unwrap_or(0) }),
            Some(Some(group)) if (group.spec.from, group.spec.to) != (spec.from, spec.to) => {
                let [from, to] =
                    [group.spec.from, group.spec.to].map(|node| self.node_name(node).to_string());
                return on("over", TrafficProblem::OtherEnds { from, to });
            }
            Some(Some(_)) if self.facts(spec.from).host.is_some() => {
                return on("over", TrafficProblem::HostOverLsp {});
            }
            None if self.facts(spec.from).tests == Tests::Labelled => {
                return Err(TrafficProblem::EdgeWithoutLsp {}.into());
            }
            _ => {}
        }
        Ok(())
    }

    fn check_flow_links(&self, spec: &FlowSpec) -> Result<(), Diagnostic> {
        for (name, node, link) in
            [("from_link", spec.from, spec.from_link), ("to_link", spec.to, spec.to_link)]
        {
            let Some(link) = link else { continue };
            if self.facts(node).host.is_none() {
                return Err(TrafficProblem::NoHost { node: self.node_name(node).into() }.into()).at(name);
            }
            if !self.graph().links_of(node).any(|own| own == link) {
                let away = TrafficProblem::NotAtLink { node: self.node_name(node).into(), link };
                return Err(away.into()).at(name);
            }
        }
        let two = spec.from_link.is_some() && spec.to_link.is_some() && spec.from_link != spec.to_link;
        if spec.from == spec.to && self.facts(spec.from).host.is_some() && !two {
            return Err(TrafficProblem::WhichLinks { node: self.node_name(spec.from).into() }.into());
        }
        Ok(())
    }

    /// In virtual time a flow may not be over before it is added; by the clock on the wall that is nobody's mistake.
    pub(super) fn check_times(&self, start: Time, stop: Option<Time>) -> Result<(), Diagnostic> {
        let Some(stop) = stop else { return Ok(()) };
        let s = |time: Time| format!("{} s", time.0 as f64 / base::time::PS_PER_S as f64);
        if stop <= start {
            let first = TrafficProblem::StopsFirst { stop: s(stop), start: s(start) };
            return Err(Diagnostic::new(first).at("stop").on_key());
        }
        let now = self.now();
        if stop <= now && !self.is_live() {
            let over = TrafficProblem::Over { stop: s(stop), now: s(now) };
            return Err(Diagnostic::new(over).at("stop").on_key());
        }
        Ok(())
    }

    fn check_flow_packets(&self, spec: &FlowSpec) -> Result<(), Diagnostic> {
        let labels = self.labels_of(spec);
        spec.check_emission(labels)?;
        let least = match spec.family {
            Family::Ipv4 => Shape::size_min(labels as usize),
            Family::Ipv6 => Shape::size_min6(labels as usize),
        };
        let taken = self.ports_of(spec.from).map(|(link, _)| link.spec.mtu.saturating_add(ETHERNET)).max();
        let most = taken.unwrap_or(0).clamp(SIZE_USUAL, Shape::SIZE_MAX);
        if let Some((min, max)) = spec.size_range() {
            let bad = if min < least { Some(min) } else { Some(max).filter(|max| *max > most) };
            if let Some(size) = bad {
                let unmade = TrafficProblem::Size { size, least, most };
                return Err(Diagnostic::new(unmade).at("size").on_key());
            }
        }
        if spec.dscp > 63 {
            return Err(Diagnostic::new(TrafficProblem::Dscp { dscp: spec.dscp }).at("dscp").on_key());
        }
        Ok(())
    }
}
