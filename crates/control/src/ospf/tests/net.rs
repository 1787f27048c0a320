//! Routers that speak OSPF on links without anything below: packets arrive a millisecond later, or are lost.

use super::super::areas::{AreaConfig, BACKBONE};
use super::super::database::{Instance, Scope};
use super::super::interface::{InterfaceConfig, NetworkType, VirtualLink};
use super::super::neighbor::NeighborState;
use super::super::outside::{Imported, Redistribution};
use super::super::{Config, Event, IP_PROTOCOL, Ospf};
use crate::owner::Owner;
use crate::protocol::{Arrival, Change, Context, IpArrival, Message, Output, Over, Protocol};
use crate::services::{
    Engineering, Interface, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces, Services, Source,
};
use base::plane::{IpPrefix, NextHop, Prefix};
use base::{Label, PortId, Rate, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::{Lsa, LsaKey};

/// A router id: 10.0.0.N.
pub(super) fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8)
}

/// A link: its members, and how each treats it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub members: Vec<(usize, InterfaceConfig)>,
    pub mtu: u32,
}

impl Link {
    pub(super) fn between(a: usize, b: usize, cost: u16) -> Link {
        let config = InterfaceConfig { cost, ..InterfaceConfig::default() };
        Link { members: vec![(a, config.clone()), (b, config)], mtu: 1500 }
    }

    /// The same in an area.
    pub(super) fn inside(mut self, area: Ipv4Addr) -> Link {
        self.members.iter_mut().for_each(|member| member.1.area = Some(area));
        self
    }

    /// A broadcast network with the priority of each member.
    pub(super) fn network(members: &[(usize, u8)]) -> Link {
        let config = |priority| InterfaceConfig {
            network: NetworkType::Broadcast,
            priority,
            ..InterfaceConfig::default()
        };
        Link {
            members: members.iter().map(|(node, priority)| (*node, config(*priority))).collect(),
            mtu: 1500,
        }
    }
}

struct Node {
    ospf: Ospf,
    services: Box<Services>,
    /// The link and the place there of each port.
    ports: Vec<(usize, usize)>,
}

pub(super) struct Net {
    pub now: Time,
    nodes: Vec<Node>,
    links: Vec<Link>,
    under_way: BTreeMap<(Time, u64), (usize, IpArrival, Vec<u8>)>,
    sent: u64,
    /// Links that lose everything.
    pub cut: BTreeSet<usize>,
    /// Of so many packets one is lost; zero for none.
    pub lossy: u64,
    pub events: Vec<(usize, Event)>,
    /// Every packet that was sent: when, by which router, to which address.
    pub packets: Vec<(Time, usize, Ipv4Addr, Vec<u8>)>,
}

/// The address of a place on a link: 192.168.LINK.PLACE + 1.
pub(super) fn on(link: usize, place: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, link as u8, place as u8 + 1)
}

impl Net {
    pub(super) fn new(count: usize, links: Vec<Link>) -> Net {
        Net::of_areas(count, links, &BTreeMap::new())
    }

    /// The same where areas are treated in some way. A router's own address is in the area of its first link.
    pub(super) fn of_areas(count: usize, links: Vec<Link>, areas: &BTreeMap<Ipv4Addr, AreaConfig>) -> Net {
        let nodes = (0..count).map(|node| Net::node(node, &links, areas)).collect();
        Net {
            now: Time::ZERO,
            nodes,
            links,
            under_way: BTreeMap::new(),
            sent: 0,
            cut: BTreeSet::new(),
            lossy: 0,
            events: Vec::new(),
            packets: Vec::new(),
        }
    }

    fn node(node: usize, links: &[Link], areas: &BTreeMap<Ipv4Addr, AreaConfig>) -> Node {
        let (mut ports, mut known, mut configs) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (link, described) in links.iter().enumerate() {
            for (place, (_, config)) in described.members.iter().enumerate().filter(|(_, m)| m.0 == node) {
                let port = PortId(ports.len() as u16);
                let address = InterfaceAddress { address: IpAddr::V4(on(link, place)), prefix_len: 24 };
                known.push(Interface {
                    kind: InterfaceKind::Port(port),
                    addresses: vec![address],
                    link_local: None,
                    neighbor: None,
                    neighbor_id: None,
                    mtu: described.mtu,
                    cost: 1,
                    reservable: Some(Rate(8000)),
                    up: true,
                });
                configs.insert(port, config.clone());
                ports.push((link, place));
            }
        }
        let interfaces = Interfaces::new(format!("r{node}"), id(node), known);
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let area = configs.values().next().and_then(|first: &InterfaceConfig| first.area);
        let (area, areas) = (area.unwrap_or(BACKBONE), areas.clone());
        let config = Config { area, areas, interfaces: configs, ..Config::default() };
        Node { ospf: Ospf::new(id(node), config), services: Box::new(services), ports }
    }

    fn with(&mut self, node: usize, what: impl FnOnce(&mut Ospf, Time, &mut Context<'_>)) {
        let Node { ospf, services, .. } = &mut self.nodes[node];
        let mut context = Context { services, owner: Owner(1) };
        what(ospf, self.now, &mut context);
        self.drain(node);
    }

    /// Puts what a router sends on its link.
    fn drain(&mut self, node: usize) {
        while let Some(output) = self.nodes[node].ospf.poll_output() {
            let message = match output {
                Output::Message(message) => message,
                Output::Event(event) => {
                    self.events.extend(event.of::<Event>().map(|event| (node, event.clone())));
                    continue;
                }
                other => panic!("{other:?}"),
            };
            if !message.dst.is_multicast() && message.next.is_none() {
                self.carry(node, &message);
                continue;
            }
            let (link, from) = self.nodes[node].ports[usize::from(message.port.0)];
            assert_eq!((message.ttl, message.over), (1, Over::Ip(IP_PROTOCOL)), "RFC 2328, 8.1");
            self.packets.push((self.now, node, message.dst, message.bytes.clone()));
            for (place, (to, _)) in self.links[link].members.clone().into_iter().enumerate() {
                let is_for = message.dst.is_multicast() || message.dst == on(link, place);
                self.sent += 1;
                let mixed = self.sent.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let is_lost = self.lossy > 0 && mixed.is_multiple_of(self.lossy);
                if place == from || !is_for || self.cut.contains(&link) || is_lost {
                    continue;
                }
                let port = self.nodes[to].ports.iter().position(|at| *at == (link, place)).expect("a port");
                let arrival = IpArrival {
                    port: PortId(port as u16),
                    src: message.src,
                    dst: message.dst,
                    ttl: 1,
                    router_alert: false,
                    over: Over::Ip(IP_PROTOCOL),
                };
                let at = (self.now + Span::from_ms(1), self.sent);
                self.under_way.insert(at, (to, arrival, message.bytes.clone()));
            }
        }
    }

    /// Brings a packet of a virtual link to the router with its address, by the routing tables: a millisecond a link.
    fn carry(&mut self, node: usize, message: &Message) {
        assert!(message.ttl > 1, "RFC 2328, A.1: such packets pass routers");
        self.packets.push((self.now, node, message.dst, message.bytes.clone()));
        let mut way = vec![node];
        loop {
            let here = *way.last().expect("a router");
            let place_of = |link: usize, to: Ipv4Addr| {
                (0..self.links[link].members.len()).find(|place| on(link, *place) == to)
            };
            let mut ports = self.nodes[here].ports.iter();
            if let Some(port) = ports.position(|(link, place)| on(*link, *place) == message.dst) {
                let arrival = IpArrival {
                    port: PortId(port as u16),
                    src: message.src,
                    dst: message.dst,
                    ttl: 2,
                    router_alert: false,
                    over: Over::Ip(IP_PROTOCOL),
                };
                self.sent += 1;
                let at = (self.now + Span::from_ms(way.len() as i64 - 1), self.sent);
                self.under_way.insert(at, (here, arrival, message.bytes.clone()));
                return;
            }
            let own = self.nodes[here].ports.iter().find(|(link, _)| place_of(*link, message.dst).is_some());
            let next = match (own, self.nodes[here].services.rib.first_hop(message.dst)) {
                (Some((link, _)), _) => Some((*link, message.dst)),
                (None, Some((_, NextHop::Via { port, gateway: IpAddr::V4(gateway) }))) => {
                    Some((self.nodes[here].ports[usize::from(port.0)].0, gateway))
                }
                _ => None,
            };
            let Some((link, gateway)) = next.filter(|(link, _)| !self.cut.contains(link)) else { return };
            let Some(place) = place_of(link, gateway) else { return };
            way.push(self.links[link].members[place].0);
            if way.len() > 20 {
                return;
            }
        }
    }

    pub(super) fn run(&mut self, seconds: u64) {
        let end = self.now + Span::from_secs(seconds as i64);
        let mut calls = (Time::ZERO, 0);
        loop {
            let due = self.nodes.iter().enumerate();
            let due = due.filter_map(|(node, one)| Some((one.ospf.poll_timeout()?, node))).min();
            let arrival = self.under_way.first_key_value().map(|(at, _)| at.0);
            let next = due.map_or(Time::MAX, |due| due.0).min(arrival.unwrap_or(Time::MAX));
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            calls = if calls.0 == self.now { (self.now, calls.1 + 1) } else { (self.now, 0) };
            assert!(calls.1 < 10_000, "nothing comes of what is due at {:?}", self.now);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, (node, arrival, bytes)) = self.under_way.pop_first().expect("a packet");
                self.with(node, |ospf, now, context| {
                    ospf.handle_message(now, context, &Arrival::Ip(arrival), &bytes);
                });
            } else if let Some((_, node)) = due {
                self.with(node, |ospf, now, context| ospf.handle_timeout(now, context));
            }
        }
        self.now = end;
    }

    pub(super) fn ospf(&self, node: usize) -> &Ospf {
        &self.nodes[node].ospf
    }

    /// What a router has in the backbone, or of what is outside.
    pub(super) fn known(&self, node: usize, key: &LsaKey) -> Option<&Instance> {
        self.ospf(node).databases().get(Scope::of(key.kind, BACKBONE), key)
    }

    /// A packet of somebody on a link.
    pub(super) fn inject(&mut self, node: usize, src: Ipv4Addr, dst: Ipv4Addr, bytes: &[u8]) {
        let (port, over) = (PortId(0), Over::Ip(IP_PROTOCOL));
        let arrival = Arrival::Ip(IpArrival { port, src, dst, ttl: 1, router_alert: false, over });
        self.with(node, |ospf, now, context| ospf.handle_message(now, context, &arrival, bytes));
    }

    /// Puts an advertisement into a router's database, and has it compute its routes.
    pub(super) fn know(&mut self, node: usize, lsa: &Lsa) {
        let bytes = lsa.write().expect("bytes");
        self.with(node, |ospf, now, context| {
            let scope = Scope::of(lsa.key.kind, BACKBONE);
            ospf.install(now, scope, Instance::read(&bytes, now, false).expect("an instance"), None);
            ospf.compute(now, context);
        });
    }

    /// A router announces its static routes, from the beginning.
    pub(super) fn redistribute(&mut self, node: usize, is_type2: bool, metric: u32) {
        let said = Redistribution { from: Imported::Static, rules: [].into(), metric, is_type2, tag: 7 };
        self.nodes[node].ospf.config.redistribute = vec![said];
    }

    /// A router has a static route by its first port, or none any more.
    pub(super) fn set_static(&mut self, node: usize, prefix: Prefix, is_there: bool) {
        self.with(node, |ospf, now, context| {
            let hop = NextHop::Via { port: PortId(0), gateway: on(0, 100).into() };
            let rib = &mut context.services.rib;
            match is_there {
                true => rib.set(prefix, crate::services::Route::fixed(hop)),
                false => drop(rib.remove(prefix, Source::Static)),
            }
            ospf.handle_change(now, context, &Change::Route(IpPrefix::V4(prefix)));
        });
    }

    /// A router knows of traffic engineering, from the beginning. A kilobyte a second may be reserved on its links.
    pub(super) fn engineer(&mut self, node: usize) {
        let Node { ospf, services, .. } = &mut self.nodes[node];
        ospf.config.te = true;
        services.bandwidth.watch();
    }

    /// What a router's node knows of traffic engineering.
    pub(super) fn engineering(&mut self, node: usize) -> &mut Engineering {
        &mut self.nodes[node].services.engineering
    }

    /// So much is left on a port of a router, and perhaps something was refused there.
    pub(super) fn reserve(&mut self, node: usize, port: PortId, left: [Rate; 8], is_refused: bool) {
        self.with(node, |ospf, now, context| {
            context.services.bandwidth.set(port, left);
            ospf.handle_change(now, context, &Change::Bandwidth { port, is_refused });
        });
    }

    /// Two routers are the ends of a virtual link through an area, before anything runs.
    pub(super) fn join(&mut self, ends: [usize; 2], area: Ipv4Addr, config: &InterfaceConfig) {
        for [node, other] in [ends, [ends[1], ends[0]]] {
            let link = VirtualLink { area, router: id(other) };
            self.nodes[node].ospf.config.virtual_links.insert(link, config.clone());
        }
    }

    /// What one router says of a virtual link, before anything runs.
    pub(super) fn say_of(&mut self, node: usize, link: VirtualLink, config: InterfaceConfig) {
        self.nodes[node].ospf.config.virtual_links.insert(link, config);
    }

    /// How one router treats an area, before anything runs.
    pub(super) fn treat(&mut self, node: usize, area: Ipv4Addr, config: AreaConfig) {
        let ospf = &mut self.nodes[node].ospf;
        ospf.config.areas.insert(area, config);
    }

    pub(super) fn restart(&mut self, node: usize) {
        self.with(node, |ospf, now, context| ospf.handle_change(now, context, &Change::Restart));
    }

    /// A link can be used, or can't: its ports are told.
    pub(super) fn set_up(&mut self, link: usize, up: bool) {
        for node in 0..self.nodes.len() {
            for place in 0..self.nodes[node].ports.len() {
                if self.nodes[node].ports[place].0 == link {
                    let port = PortId(place as u16);
                    let interface = InterfaceId::of(port);
                    self.with(node, |ospf, now, context| {
                        context.services.interfaces.set_up(interface, up);
                        let change = Change::Interface { interface, port: Some(port), up };
                        ospf.handle_change(now, context, &change);
                    });
                }
            }
        }
    }

    /// States of neighbours, in the order of routers, ports and names.
    pub(super) fn states(&self) -> Vec<(usize, Ipv4Addr, NeighborState)> {
        let of = |(node, one): (usize, &Node)| {
            let all = one.ospf.interfaces().flat_map(|interface| interface.neighbors.values());
            all.map(|known| (node, known.router_id, known.state)).collect::<Vec<_>>()
        };
        self.nodes.iter().enumerate().flat_map(of).collect()
    }

    pub(super) fn full(&self) -> usize {
        self.states().iter().filter(|state| state.2 == NeighborState::Full).count()
    }

    /// The database of a router without ages.
    pub(super) fn contents(&self, node: usize) -> Vec<Vec<u8>> {
        self.nodes[node]
            .ospf
            .databases()
            .iter()
            .map(|(_, instance)| instance.content().bytes()[2..].to_vec())
            .collect()
    }

    /// Metric and next hops of a router's route by OSPF.
    pub(super) fn route(&self, node: usize, prefix: Prefix) -> Option<(u32, Vec<NextHop>)> {
        let all = self.nodes[node].services.rib.iter();
        let mut own =
            all.filter(|(to, route, _)| *to == prefix && route.source == Source::Protocol(Ospf::ID));
        let (_, route, hops) = own.next()?;
        Some((route.metric, hops?.to_vec()))
    }

    /// Where packets to an address go: the routers on their way, and that of the address at the end if they arrive.
    pub(super) fn walk(&self, from: usize, to: Ipv4Addr) -> Vec<usize> {
        let mut way = vec![from];
        while let Some(&here) = way.last().filter(|here| id(**here) != to && way.len() <= self.nodes.len()) {
            let hop = self.nodes[here].services.rib.first_hop(to).map(|(_, hop)| hop);
            let Some(NextHop::Via { port, gateway }) = hop else { break };
            let (link, _) = self.nodes[here].ports[usize::from(port.0)];
            let place = (0..self.links[link].members.len()).find(|place| gateway == on(link, *place));
            way.extend(place.map(|place| self.links[link].members[place].0));
            if place.is_none() {
                break;
            }
        }
        way
    }

    /// All databases are the same, and every router has a route to every other one of which the cost is right.
    pub(super) fn assert_converged(&self, reachable: &[usize]) {
        for &node in reachable {
            assert!(self.contents(node) == self.contents(reachable[0]), "databases of {reachable:?} differ");
            for &to in reachable.iter().filter(|to| **to != node) {
                assert!(self.route(node, Prefix::host(id(to))).is_some(), "{node} has no route to {to}");
            }
        }
    }
}

/// By a port to the router at a place of a link.
pub(super) fn via(port: u16, link: usize, place: usize) -> NextHop {
    NextHop::Via { port: PortId(port), gateway: on(link, place).into() }
}
