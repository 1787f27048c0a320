//! The bus: routers joined by links with a delay, messages lost by script, tables kept and acknowledged.

use crate::protocol::{self, Change, IpArrival, LspMessage, Output, Over};
use crate::rsvp::Event;
use crate::rsvp::command::{Command, ReservationStyle, RouteHop, TunnelId, TunnelSpec, WhenDown};
use crate::rsvp::{Config, Interface, Rsvp};
use crate::services::{Attached, CellLabels, InterfaceId, Labels, Route, Source};
use base::flow::FlowFilter;
use base::plane::{
    Ack, CircuitTo, Fec, GroupId, Member, NextHop, Nhlfe, Prefix, ReplicationId, SelectorId, TableError,
    TableOp,
};
use base::{Label, PhbSet, PortId, Rate, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::{Message, MessageType, Packet};

pub(super) const MS: u64 = 1_000_000_000;

/// The router id of a node.
pub(super) const fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 255, 0, node as u8 + 1)
}

/// Strict hops to the router ids of nodes.
pub(super) fn hops(nodes: &[usize]) -> Vec<RouteHop> {
    nodes.iter().map(|&node| RouteHop { prefix: Prefix::host(id(node)), loose: false }).collect()
}

/// A tunnel to the last node of its first route.
pub(super) fn spec(tunnel_id: u16, to: usize, routes: &[&[usize]], mbps: u64) -> TunnelSpec {
    TunnelSpec {
        name: format!("t{tunnel_id}"),
        tunnel_id,
        to: id(to),
        routes: routes.iter().map(|route| hops(route)).collect(),
        path: None,
        bandwidth: Rate::from_mbps(mbps),
        setup_priority: 7,
        holding_priority: 7,
        style: ReservationStyle::SharedExplicit,
        record_route: false,
        record_labels: false,
        protection: None,
        bypass: None,
        carries: vec![Prefix::new(Ipv4Addr::new(172, 16, tunnel_id as u8, 0), 24)],
        autoroute: false,
        carries6: Vec::new(),
        classed: Vec::new(),
        diffserv: None,
        filters: Vec::new(),
        when_down: WhenDown::Route,
        watch: None,
        retry_limit: Some(0),
        retry_first: Span::from_ms(100),
        retry_max: Span::from_secs(10),
    }
}

#[derive(Clone, Debug)]
enum What {
    Message { node: usize, arrival: IpArrival, bytes: Vec<u8> },
    Ack { node: usize, ack: Ack },
    Command { node: usize, command: Command },
}

/// A node's tables as its driver keeps them.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub ilm: BTreeMap<u32, Nhlfe>,
    pub ftn: BTreeMap<Prefix, Nhlfe>,
    pub flows: BTreeMap<u64, (FlowFilter, Nhlfe)>,
    pub classed: BTreeMap<(Prefix, u64), (PhbSet, Nhlfe)>,
    pub groups: BTreeMap<GroupId, Box<[Member]>>,
    pub lists: BTreeMap<ReplicationId, Box<[Nhlfe]>>,
    pub selectors: BTreeMap<SelectorId, Option<Label>>,
    pub circuits: BTreeMap<(PortId, u32), CircuitTo>,
    /// Ports that take no packets, though they are up.
    pub distrusted: BTreeSet<PortId>,
    pub full: bool,
    /// It has no room for DiffServ contexts.
    pub no_context: bool,
}

/// A link between two ports.
#[derive(Clone, Copy, Debug)]
struct Wire {
    ends: [(usize, PortId); 2],
    up: bool,
}

/// A message that was put on the bus.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub from: usize,
    pub message: Message,
}

pub(super) type Script = Box<dyn FnMut(usize, &Message) -> bool>;

/// Routers on a bus.
pub(super) struct Net {
    pub now: Time,
    pub nodes: Vec<Rsvp>,
    pub tables: Vec<Tables>,
    pub events: Vec<(usize, Event)>,
    pub log: Vec<Sent>,
    wires: Vec<Wire>,
    queue: BTreeMap<(Time, u64), What>,
    order: u64,
    /// Says of each message (with its sender) whether it is lost.
    pub lose: Option<Script>,
    pub delay: Span,
    pub ack_delay: Span,
    /// All messages come from the routers themselves.
    pub honest: bool,
    /// Table writes of each node, by the operations in its batches.
    pub writes: Vec<usize>,
}

impl Net {
    /// `count` routers and links between pairs of them, each with 1 Gbit/s reservable.
    pub(super) fn new(count: usize, links: &[(usize, usize)]) -> Net {
        Net::with(count, links, |_, _| {})
    }

    pub(super) fn with(count: usize, links: &[(usize, usize)], adapt: impl Fn(usize, &mut Config)) -> Net {
        let mut interfaces: Vec<Vec<Interface>> = vec![Vec::new(); count];
        let mut wires = Vec::new();
        for (n, &(a, b)) in links.iter().enumerate() {
            let address = |end: u8| Ipv4Addr::new(10, 0, n as u8, end);
            let ports = [PortId(interfaces[a].len() as u16), PortId(interfaces[b].len() as u16)];
            for (node, other, port, end) in [(a, b, ports[0], 1), (b, a, ports[1], 2)] {
                interfaces[node].push(Interface {
                    port,
                    address: address(end),
                    neighbor: Some(address(3 - end)),
                    neighbor_id: Some(id(other)),
                    ..Interface::default()
                });
            }
            wires.push(Wire { ends: [(a, ports[0]), (b, ports[1])], up: true });
        }
        let node = |(n, interfaces): (usize, Vec<Interface>)| {
            let mut config = Config {
                name: format!("n{n}"),
                router_id: id(n),
                interfaces,
                streams: Streams::new(7),
                ..Config::default()
            };
            adapt(n, &mut config);
            let mut rsvp = Rsvp::new(config);
            rsvp.services.labels = Labels::new(Label::FIRST_UNRESERVED, Label::MAX);
            rsvp
        };
        Net {
            now: Time::ZERO,
            nodes: interfaces.into_iter().enumerate().map(node).collect(),
            tables: vec![Tables::default(); count],
            events: Vec::new(),
            log: Vec::new(),
            wires,
            queue: BTreeMap::new(),
            order: 0,
            lose: None,
            delay: Span::from_ms(1),
            ack_delay: Span::from_us(10),
            honest: true,
            writes: vec![0; count],
        }
    }

    fn push(&mut self, at: Time, what: What) {
        self.order += 1;
        self.queue.insert((at, self.order), what);
    }

    /// Gives a command now.
    pub(super) fn command(&mut self, node: usize, command: Command) {
        self.nodes[node].handle_command(self.now, &command);
        self.drain(node);
    }

    /// Tells a node of a change around it.
    pub(super) fn change(&mut self, node: usize, change: Change) {
        if change == Change::Restart {
            self.nodes[node].services.restart();
        }
        self.nodes[node].handle_change(self.now, &change);
        self.drain(node);
    }

    /// Leaves a node labels from `first` to `last` alone.
    pub(super) fn labels(&mut self, node: usize, first: u32, last: u32) {
        self.nodes[node].services.labels = Labels::new(Label::truncate(first), Label::truncate(last));
    }

    /// Says that labels are channels of the links of a node's ports, where something is said.
    pub(super) fn cells(&mut self, node: usize, ports: impl IntoIterator<Item = Option<CellLabels>>) {
        let attached = ports.into_iter().map(|cells| Attached { cells, ..Attached::default() });
        let known = self.nodes[node].services.interfaces.clone();
        self.nodes[node].services.interfaces = known.with_attached(attached);
    }

    /// Gives a node a route, or takes it away.
    pub(super) fn route(&mut self, node: usize, prefix: Prefix, next_hop: Option<NextHop>) {
        let rib = &mut self.nodes[node].services.rib;
        match next_hop {
            Some(next_hop) => rib.set(prefix, Route::fixed(next_hop)),
            None => drop(rib.remove(prefix, Source::Static)),
        }
    }

    /// Sets a tunnel up.
    pub(super) fn tunnel(&mut self, node: usize, spec: TunnelSpec) -> TunnelId {
        let id = TunnelId { to: spec.to, id: spec.tunnel_id };
        self.command(node, Command::TunnelSet(spec.into()));
        id
    }

    /// Takes the link between two nodes down or up; both ends learn it at once.
    pub(super) fn link(&mut self, a: usize, b: usize, up: bool) {
        let found =
            self.wires.iter().position(|w| w.ends.map(|e| e.0) == [a, b] || w.ends.map(|e| e.0) == [b, a]);
        let wire = &mut self.wires[found.expect("a link")];
        wire.up = up;
        for (node, port) in wire.ends {
            self.change(node, Change::Interface { interface: InterfaceId::of(port), port: Some(port), up });
        }
    }

    /// Hands bytes to a node as if its neighbour on a port had sent them.
    pub(super) fn inject(&mut self, node: usize, port: PortId, src: Ipv4Addr, packet: &Packet) {
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).expect("a message that can be written");
        self.inject_bytes(node, port, src, packet.send_ttl, &bytes);
    }

    /// As [`Net::inject`], whatever the bytes.
    pub(super) fn inject_bytes(&mut self, node: usize, port: PortId, src: Ipv4Addr, ttl: u8, bytes: &[u8]) {
        let arrival = IpArrival { over: Over::Ip(46), port, src, dst: id(node), ttl, router_alert: false };
        self.nodes[node].handle_message(self.now, &arrival, bytes);
        self.drain(node);
    }

    fn drain(&mut self, node: usize) {
        self.nodes[node].assert_states();
        while let Some(output) = self.nodes[node].poll_output() {
            match output {
                Output::Message(message) => {
                    let protocol::Message { port, next, src, dst, ttl, router_alert, bytes, .. } = message;
                    let packet = Packet::parse(&bytes).expect("what is sent can be read");
                    assert_eq!(packet.send_ttl, ttl, "Send_TTL is the IP TTL");
                    let lost = self.lose.as_mut().is_some_and(|lose| lose(node, &packet.message));
                    match packet.message {
                        Message::Bundle(bundle) => {
                            let each =
                                bundle.packets.into_iter().map(|p| Sent { from: node, message: p.message });
                            self.log.extend(each);
                        }
                        message => self.log.push(Sent { from: node, message }),
                    }
                    let wire = self.wires.iter().find(|w| w.ends.contains(&(node, port))).expect("a link");
                    let [a, b] = wire.ends;
                    let (to, to_port) = if a == (node, port) { b } else { a };
                    let address = self.nodes[to].config().interfaces[to_port.index()].address;
                    let is_far = !router_alert && dst != address;
                    if is_far && self.honest {
                        if let Some((to, port)) = self.routed(node, port, dst).filter(|_| !lost) {
                            let arrival = IpArrival { over: Over::Ip(46), port, src, dst, ttl, router_alert };
                            self.push(self.now + self.delay, What::Message { node: to, arrival, bytes });
                        }
                        continue;
                    }
                    // Answers to what was made up go where it said that it came from.
                    if self.honest {
                        assert_eq!(next, Some(address), "the frame goes to the neighbour");
                        assert!(router_alert || dst == address, "hop by hop is addressed to the neighbour");
                    } else if next != Some(address) {
                        continue;
                    }
                    if wire.up && !lost {
                        let arrival =
                            IpArrival { over: Over::Ip(46), port: to_port, src, dst, ttl, router_alert };
                        let what = What::Message { node: to, arrival, bytes };
                        self.push(self.now + self.delay, what);
                    }
                }
                Output::Lsp(message) => {
                    let LspMessage { port, stack, src, dst, ttl, router_alert, bytes, .. } = *message;
                    let (IpAddr::V4(src), IpAddr::V4(dst)) = (src, dst) else {
                        panic!("RSVP-TE speaks over IPv4")
                    };
                    let packet = Packet::parse(&bytes).expect("what is sent can be read");
                    self.log.push(Sent { from: node, message: packet.message });
                    let labels = stack.iter().rev().map(|word| Label::truncate(word >> 12)).collect();
                    if let Some((to, port)) = self.labelled(node, port, labels) {
                        let arrival =
                            IpArrival { over: Over::Ip(46), port, src, dst, ttl: ttl - 1, router_alert };
                        self.push(self.now + self.delay, What::Message { node: to, arrival, bytes });
                    }
                }
                Output::Tables(batch) => {
                    let mut ack = Ack { transaction: batch.transaction, failed: Vec::new() };
                    self.writes[node] += batch.ops.len();
                    for (index, op) in batch.ops.iter().enumerate() {
                        if let Err(error) = self.tables[node].apply(op) {
                            let is_gone = matches!(op, TableOp::CircuitRemove { .. });
                            assert!(!is_gone, "node {node} takes out what is not there: {op:?}");
                            ack.failed.push((index as u32, error));
                        }
                    }
                    self.push(self.now + self.ack_delay, What::Ack { node, ack });
                }
                Output::Message6(_) | Output::Llc(_) | Output::Inquire(_) | Output::Session(..) => {
                    panic!("RSVP-TE speaks over IPv4")
                }
                Output::Event(event) => {
                    self.events.push((node, event.of::<Event>().expect("an event of RSVP-TE").clone()));
                }
            }
        }
    }

    /// Runs for a while.
    pub(super) fn run(&mut self, ms: u64) {
        let until = Time(self.now.0 + ms * MS);
        let (mut idle, mut steps) = ((self.now, 0), 0);
        loop {
            // Time has to go on.
            idle = if idle.0 == self.now { (idle.0, idle.1 + 1) } else { (self.now, 0) };
            assert!(idle.1 < 100_000, "a standstill at {:?}", self.now);
            steps += 1;
            assert!(steps < 1_000_000, "no end of messages: {:?}", self.log.last());
            let queued = self.queue.keys().next().map(|key| key.0);
            let timer =
                self.nodes.iter().enumerate().filter_map(|(n, node)| Some((node.poll_timeout()?, n))).min();
            match (queued, timer) {
                (Some(at), timer) if at <= until && timer.is_none_or(|timer| at <= timer.0) => {
                    self.now = self.now.max(at);
                    if let Some((_, what)) = self.queue.pop_first() {
                        self.carry_out(what);
                    }
                }
                (_, Some((at, node))) if at <= until => {
                    self.now = self.now.max(at);
                    self.nodes[node].handle_timeout(self.now);
                    self.drain(node);
                }
                _ => break,
            }
        }
        self.now = until;
    }

    fn carry_out(&mut self, what: What) {
        match what {
            What::Message { node, arrival, bytes } => {
                let port = arrival.port;
                let up = self.wires.iter().any(|wire| wire.up && wire.ends.contains(&(node, port)));
                if up {
                    self.nodes[node].handle_message(self.now, &arrival, &bytes);
                    self.drain(node);
                }
            }
            What::Ack { node, ack } => {
                self.nodes[node].handle_ack(self.now, &ack);
                self.drain(node);
            }
            What::Command { node, command } => self.command(node, command),
        }
    }

    /// Gives a command later.
    pub(super) fn command_at(&mut self, ms: u64, node: usize, command: Command) {
        self.push(Time(ms * MS), What::Command { node, command });
    }

    /// The nodes that a packet to what tunnel `tunnel_id` carries passes, from `node`; nothing if it takes no tunnel
    /// or is lost on the way.
    pub(super) fn trace(&self, node: usize, tunnel_id: u16) -> Option<Vec<usize>> {
        let prefix = Prefix::new(Ipv4Addr::new(172, 16, tunnel_id as u8, 0), 24);
        let mut nhlfe = *self.tables[node].ftn.get(&prefix)?;
        let (mut path, mut node, mut labels) = (vec![node], node, Vec::new());
        loop {
            if nhlfe.next_hop == NextHop::Local && !labels.is_empty() {
                // The label of a bypass ends here, and what is below it is looked at.
            } else {
                let Some(port) = self.leaves(node, &nhlfe, &mut labels) else {
                    return (nhlfe.next_hop == NextHop::Local).then_some(path);
                };
                node = self.far(node, port)?.0;
                path.push(node);
            }
            assert!(path.len() < 32, "a forwarding loop: {path:?}");
            let Some(label) = labels.pop() else { return Some(path) };
            if label == Label::EXPLICIT_NULL {
                return Some(path);
            }
            nhlfe = *self.tables[node].ilm.get(&label.value())?;
        }
    }

    /// How often a packet to a prefix comes out at each node, and how many copies of it are lost on the way.
    pub(super) fn copies(&self, node: usize, prefix: Prefix) -> (BTreeMap<usize, usize>, usize) {
        let (mut out, mut lost) = (BTreeMap::new(), 0);
        let Some(&first) = self.tables[node].ftn.get(&prefix) else { return (out, 1) };
        let mut waiting = vec![(node, first, Vec::<Label>::new(), 64)];
        while let Some((node, nhlfe, mut labels, ttl)) = waiting.pop() {
            assert!(ttl > 0, "a forwarding loop");
            match nhlfe.next_hop {
                NextHop::Replicate(list) => {
                    let branches = self.tables[node].lists.get(&list).expect("a list");
                    waiting.extend(branches.iter().map(|branch| (node, *branch, labels.clone(), ttl)));
                }
                NextHop::Local => match labels.pop() {
                    // What comes out of a bypass goes on by the label below.
                    Some(label) => match self.tables[node].taken(label) {
                        Some(next) => waiting.push((node, next, labels, ttl - 1)),
                        None => lost += 1,
                    },
                    None => *out.entry(node).or_default() += 1,
                },
                NextHop::Discard => {}
                NextHop::Standby(group) if self.stands_by(node, group) => {}
                _ => {
                    let to = self.leaves(node, &nhlfe, &mut labels).and_then(|port| self.far(node, port));
                    let next = to.and_then(|(to, _)| {
                        let label = labels.pop()?;
                        Some((to, self.tables[to].taken(label)?))
                    });
                    match next {
                        Some((to, next)) => waiting.push((to, next, labels, ttl - 1)),
                        None => lost += 1,
                    }
                }
            }
        }
        (out, lost)
    }

    /// Can the port that a group protects be used?
    fn stands_by(&self, node: usize, group: GroupId) -> bool {
        let tables = &self.tables[node];
        let port = tables.groups.get(&group).expect("a group")[0].leg.port;
        self.far(node, port).is_some() && !tables.distrusted.contains(&port)
    }

    /// The other end of the link of a port, if that is up.
    fn far(&self, node: usize, port: PortId) -> Option<(usize, PortId)> {
        let wire = self.wires.iter().find(|w| w.up && w.ends.contains(&(node, port)))?;
        wire.ends.iter().find(|end| **end != (node, port)).copied()
    }

    /// The port by which a packet leaves by an entry, which puts labels on it; nothing if it stays.
    fn leaves(&self, node: usize, nhlfe: &Nhlfe, labels: &mut Vec<Label>) -> Option<PortId> {
        labels.extend_from_slice(nhlfe.push.as_slice());
        match nhlfe.next_hop {
            NextHop::Via { port, .. } => Some(port),
            NextHop::Group(group) | NextHop::Standby(group) => {
                let tables = &self.tables[node];
                let [member] = &**tables.groups.get(&group).expect("a group") else { panic!("one member") };
                let usable =
                    |port: &PortId| self.far(node, *port).is_some() && !tables.distrusted.contains(port);
                if usable(&member.leg.port) {
                    labels.extend_from_slice(member.leg.labels.as_slice());
                    return Some(member.leg.port);
                }
                let backup = member.backup.filter(|backup| usable(&backup.leg.port))?;
                match backup.swap {
                    Some(Label::IMPLICIT_NULL) => drop(labels.pop()),
                    Some(label) => *labels.last_mut().expect("a label of the entry") = label,
                    None => {}
                }
                labels.extend_from_slice(backup.leg.labels.as_slice());
                Some(backup.leg.port)
            }
            _ => None,
        }
    }

    /// Where a packet comes out that a node sends by a port with these labels, the last outermost.
    fn labelled(&self, node: usize, port: PortId, mut labels: Vec<Label>) -> Option<(usize, PortId)> {
        let (mut node, mut arrived) = self.far(node, port)?;
        while let Some(label) = labels.pop() {
            let nhlfe = *self.tables[node].ilm.get(&label.value())?;
            if let Some(port) = self.leaves(node, &nhlfe, &mut labels) {
                (node, arrived) = self.far(node, port)?;
            }
        }
        Some((node, arrived))
    }

    /// Where a packet for a node further away comes to it, by the routes of those in between.
    fn routed(&self, node: usize, port: PortId, dst: Ipv4Addr) -> Option<(usize, PortId)> {
        let (mut node, mut arrived) = self.far(node, port)?;
        for _ in 0..32 {
            let config = self.nodes[node].config();
            if config.router_id == dst || config.interfaces.iter().any(|i| i.address == dst) {
                return Some((node, arrived));
            }
            let rib = &self.nodes[node].services.rib;
            let Some((_, NextHop::Via { port, .. })) = rib.first_hop(dst) else { return None };
            (node, arrived) = self.far(node, port)?;
        }
        None
    }

    /// Gives every node the shortest routes to all addresses of all others.
    pub(super) fn route_all(&mut self) {
        let count = self.nodes.len();
        for from in 0..count {
            let mut first: Vec<Option<NextHop>> = vec![None; count];
            let mut queue = vec![from];
            let mut at = 0;
            while let Some(&node) = queue.get(at) {
                at += 1;
                for port in self.nodes[node].config().interfaces.iter().map(|i| i.port).collect::<Vec<_>>() {
                    let Some((to, to_port)) = self.far(node, port) else { continue };
                    if to == from || first[to].is_some() {
                        continue;
                    }
                    let gateway = self.nodes[to].config().interfaces[to_port.index()].address.into();
                    first[to] = if node == from { Some(NextHop::Via { port, gateway }) } else { first[node] };
                    queue.push(to);
                }
            }
            for (to, next_hop) in (0..count).zip(first).filter(|(_, next_hop)| next_hop.is_some()) {
                let config = self.nodes[to].config();
                let all: Vec<Ipv4Addr> =
                    config.interfaces.iter().map(|i| i.address).chain([config.router_id]).collect();
                all.into_iter().for_each(|address| self.route(from, Prefix::host(address), next_hop));
            }
        }
    }

    /// How many messages of a type a node has sent.
    pub(super) fn sent(&self, node: usize, kind: MessageType) -> usize {
        self.log.iter().filter(|sent| sent.from == node && sent.message.message_type() == kind).count()
    }

    /// Bandwidth that a node has reserved on all its links, in Mbit/s.
    pub(super) fn reserved(&self, node: usize) -> u64 {
        self.nodes[node].links().map(|link| link.reserved.iter().map(|r| r.0).sum::<u64>()).sum::<u64>()
            / 1_000_000
    }

    /// Errors that the head end of tunnels at `node` was told of: node, code, value.
    pub(super) fn errors(&self, node: usize) -> Vec<(Ipv4Addr, u8, u16)> {
        let error = |(at, event): &(usize, Event)| match event {
            Event::LspError { node: by, code, value, .. } if *at == node => Some((*by, *code, *value)),
            _ => None,
        };
        self.events.iter().filter_map(error).collect()
    }

    /// Nothing may be left anywhere.
    pub(super) fn assert_clean(&self) {
        for (n, node) in self.nodes.iter().enumerate() {
            assert!(node.audit().is_empty(), "node {n}: {:?}", node.audit());
            assert!(
                self.tables[n].ilm.is_empty()
                    && self.tables[n].ftn.is_empty()
                    && self.tables[n].groups.is_empty()
                    && self.tables[n].lists.is_empty()
                    && self.tables[n].selectors.is_empty()
                    && self.tables[n].circuits.is_empty()
                    && self.tables[n].flows.is_empty()
                    && self.tables[n].classed.is_empty(),
                "node {n}: {:?}",
                self.tables[n]
            );
        }
    }
}

impl Tables {
    /// The entry of a label. One with a selector is as if it was written for what the selector does with the label.
    fn taken(&self, label: Label) -> Option<Nhlfe> {
        let nhlfe = *self.ilm.get(&label.value())?;
        let NextHop::Selected(selector) = nhlfe.next_hop else { return Some(nhlfe) };
        let is_taken = *self.selectors.get(&selector).expect("a selector") == Some(label);
        let next_hop = if is_taken { NextHop::Local } else { NextHop::Discard };
        Some(Nhlfe { next_hop, ..nhlfe })
    }

    fn apply(&mut self, op: &TableOp) -> Result<(), TableError> {
        match *op {
            TableOp::IlmSet { label, .. } if label.is_reserved() => Err(TableError::ReservedLabel),
            TableOp::IlmSet { .. } | TableOp::FtnSet { .. } if self.full => Err(TableError::Full),
            TableOp::IlmSet { .. } if self.no_context => Err(TableError::NoContext),
            TableOp::IlmSet { label, nhlfe } => {
                self.ilm.insert(label.value(), nhlfe);
                Ok(())
            }
            TableOp::IlmRemove { label } => {
                self.ilm.remove(&label.value()).map(|_| ()).ok_or(TableError::NoEntry)
            }
            TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe } => {
                self.ftn.insert(prefix, nhlfe);
                Ok(())
            }
            TableOp::FtnRemove { fec: Fec::Prefix(prefix) } => {
                self.ftn.remove(&prefix).map(|_| ()).ok_or(TableError::NoEntry)
            }
            TableOp::FtnSet { fec: Fec::ClassPrefix { prefix, classes, order }, nhlfe } => {
                self.classed.insert((prefix, order), (classes, nhlfe));
                Ok(())
            }
            TableOp::FtnRemove { fec: Fec::ClassPrefix { prefix, order, .. } } => {
                self.classed.remove(&(prefix, order)).map(|_| ()).ok_or(TableError::NoEntry)
            }
            TableOp::FtnSet { fec: Fec::Flow { order, filter }, nhlfe } => {
                self.flows.insert(order, (filter, nhlfe));
                Ok(())
            }
            TableOp::FtnRemove { fec: Fec::Flow { order, .. } } => {
                self.flows.remove(&order).map(|_| ()).ok_or(TableError::NoEntry)
            }
            TableOp::GroupSet { group, ref members } => {
                self.groups.insert(group, members.clone());
                Ok(())
            }
            TableOp::GroupRemove { group } => {
                let named = self.ilm.values().chain(self.ftn.values());
                assert!(
                    named.into_iter().all(|n| n.next_hop != NextHop::Group(group)),
                    "{group:?} is in use"
                );
                self.groups.remove(&group).map(|_| ()).ok_or(TableError::NoGroup)
            }
            TableOp::ReplicationSet { .. } if self.full => Err(TableError::Full),
            TableOp::ReplicationSet { list, ref branches } => {
                self.lists.insert(list, branches.clone());
                Ok(())
            }
            TableOp::ReplicationRemove { list } => {
                let mut named = self.ilm.values().chain(self.ftn.values());
                assert!(named.all(|n| n.next_hop != NextHop::Replicate(list)), "{list:?} is in use");
                self.lists.remove(&list).map(|_| ()).ok_or(TableError::NoGroup)
            }
            TableOp::CircuitSet { port, label, to } => {
                self.circuits.insert((port, label.value()), to);
                Ok(())
            }
            TableOp::CircuitRemove { port, label } => {
                self.circuits.remove(&(port, label.value())).map(|_| ()).ok_or(TableError::NoEntry)
            }
            TableOp::PortTrust { port, trusted } => {
                let _ = if trusted { self.distrusted.remove(&port) } else { self.distrusted.insert(port) };
                Ok(())
            }
            TableOp::SelectorSet { selector, label } => {
                self.selectors.insert(selector, label);
                Ok(())
            }
            TableOp::SelectorRemove { selector } => {
                let mut named = self.ilm.values();
                assert!(named.all(|n| n.next_hop != NextHop::Selected(selector)), "{selector:?} is in use");
                self.selectors.remove(&selector).map(|_| ()).ok_or(TableError::NoSelector)
            }
            _ => panic!("RSVP-TE writes labels only: {op:?}"),
        }
    }
}
