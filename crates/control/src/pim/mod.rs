//! PIM, as far as trees of named senders need it (RFC 7761, 4.8): source-specific multicast.
//!
//! A router with hosts that want the packets of a sender to a group joins the neighbour towards that sender, and so
//! does any router that is joined. What hosts want is known by the service of groups, the way by the routing table. On
//! a link with several routers one speaks for the hosts, Prunes wait for others to override them, and an election
//! settles who forwards.
//!
//! Not there: trees for all senders with their rendezvous points, registers and bootstrap messages, which routers of
//! source-specific trees alone need not know (4.8.2), and IPv6.
//!
//! - [`section`](PimSpec): the settings that users write, `pim: true` or a mapping
//! - `link`: who speaks PIM on a link, and the designated router; `hello`: saying and hearing so
//! - `tree`: a tree and what follows from its state; `machines`: its state machines
//! - `join`: what neighbours join and prune; `assert`, `metric`: who forwards onto a link
//! - `settle`: what a change leads to: elections, joins of this router's own, tables
//! - `outbox`: Joins and Prunes on their way out
//! - `discard`: messages that are not used, by reason
//! - `shown`: the tables

mod assert;
mod discard;
mod hello;
mod join;
mod link;
mod machines;
mod metric;
mod outbox;
mod section;
mod settle;
mod shown;
#[cfg(test)]
mod tests;
mod tree;

pub use machines::{
    AssertEvent, AssertState, DownstreamEvent, DownstreamState, UpstreamEvent, UpstreamState,
};
pub use section::PimSpec;

use crate::machine::{Chart, State};
use crate::protocol::{
    Arrival, Change, Context, IpArrival, Known, Listen, Message, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::{Beyond, Interface, Interfaces, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, GroupKey, IpPrefix};
use base::random::Stream;
use base::{PortId, ProtocolId, ProtocolType, ProtocolValue, Time};
use core::net::{IpAddr, Ipv4Addr};
use discard::{Discard, Discards};
use link::Link;
use outbox::Outbox;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tree::{Around, Tree, TreeId};
use wire::pim::{self, Repr};

/// The state machines of PIM.
pub const CHARTS: &[Chart] = &[UpstreamState::CHART, DownstreamState::CHART, AssertState::CHART];

/// Bytes of an IPv4 header.
const IPV4: usize = 20;

/// What PIM tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Another router on a link speaks PIM.
    PimNeighborUp {
        /// The port of the link.
        port: PortId,
        /// The address of its Hellos.
        neighbor: Ipv4Addr,
    },
    /// It was not heard in time, has said that it goes, or the link is down.
    PimNeighborDown {
        /// The port of the link.
        port: PortId,
        /// The address of its Hellos.
        neighbor: Ipv4Addr,
    },
    /// Another router than before speaks for the hosts of a link.
    PimDesignated {
        /// The port of the link.
        port: PortId,
        /// The address of the designated router.
        router: Ipv4Addr,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Pim::ID;
}

/// A router's PIM.
#[derive(Debug)]
pub struct Pim {
    spec: PimSpec,
    links: BTreeMap<PortId, Link>,
    trees: BTreeMap<TreeId, Tree>,
    /// When something of a tree is due.
    due: BTreeSet<(Time, TreeId)>,
    outbox: Outbox,
    discards: Discards,
    random: Stream,
    begun: bool,
    outputs: VecDeque<Output>,
}

impl Pim {
    /// The name of PIM among protocols.
    pub const ID: ProtocolId = ProtocolId::new("pim");

    /// PIM among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Pim::ID,
        kind_name: Pim::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<PimSpec>("PIM for groups with named senders (SSM).")),
    };

    fn new(spec: PimSpec, services: &Services, random: Stream) -> Pim {
        let links = links_of(&services.interfaces);
        Pim {
            spec,
            links,
            trees: BTreeMap::new(),
            due: BTreeSet::new(),
            outbox: Outbox::default(),
            discards: Discards::default(),
            random,
            begun: false,
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        pim::name(kind).unwrap_or(UNKNOWN_KIND)
    }

    /// What the state of interfaces follows from.
    fn around(&self) -> Around<'_> {
        Around { spec: &self.spec, links: &self.links }
    }

    fn tell(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }

    /// Sends a message to the routers of a link (RFC 7761, 4.9: TTL 1).
    fn send(&mut self, port: PortId, repr: &Repr) {
        let Some(link) = self.links.get(&port).filter(|link| link.up) else { return };
        let (src, dst, over) = (link.own, pim::ALL_ROUTERS, Over::Ip(pim::PROTOCOL));
        let message =
            Message { port, next: None, src, dst, over, ttl: 1, router_alert: false, bytes: repr.emit() };
        self.outputs.push_back(Output::Message(message));
    }

    /// Sends a message that neighbours take from those alone whom they know.
    fn send_known(&mut self, port: PortId, repr: &Repr) {
        // RFC 7761, 4.3.1: nobody takes it who has not heard a Hello.
        let unsaid = |link: &&Link| !link.said || link.triggered.is_some();
        if self.links.get(&port).filter(unsaid).is_some() {
            self.say_hello(port);
        }
        self.send(port, repr);
    }

    /// Sends the Joins and Prunes that have come together.
    fn flush(&mut self, context: &Context<'_>) {
        let interfaces = &context.services.interfaces;
        let room = |port: PortId| {
            let mtu = interfaces.of_port(port).map_or(0, |interface| interface.mtu);
            (mtu as usize).saturating_sub(IPV4)
        };
        let (links, spec) = (&self.links, &self.spec);
        let holdtime_s =
            |port: PortId| links.get(&port).map_or(spec.join_holdtime_s(), |link| link.join_holdtime_s(spec));
        for (port, message) in self.outbox.take(holdtime_s, room) {
            self.send_known(port, &Repr::JoinPrune(message));
        }
    }

    fn hear(&mut self, now: Time, context: &mut Context<'_>, ip: &IpArrival, bytes: &[u8]) {
        let repr = match Repr::parse(bytes) {
            Ok(repr) => repr,
            Err(error) => return self.discards.count(Discard::of(&error)),
        };
        let Some(link) = self.links.get(&ip.port) else { return };
        let is_known = link.neighbors.contains_key(&ip.src);
        if matches!(repr, Repr::Other { .. }) {
            return self.discards.count(Discard::NotSpoken);
        }
        if ip.dst != pim::ALL_ROUTERS {
            return self.discards.count(Discard::Destination);
        }
        if ip.src == link.own || link.addresses.contains(&ip.src) {
            return self.discards.count(Discard::OwnAddress);
        }
        match repr {
            Repr::Hello(hello) => self.handle_hello(now, context, (ip.port, ip.src), &hello),
            // RFC 7761, 4.5 and 4.6: nothing is taken from a router that has not sent a Hello.
            _ if !is_known => self.discards.count(Discard::NotNeighbor),
            Repr::JoinPrune(message) => self.handle_join_prune(now, context, (ip.port, ip.src), &message),
            Repr::Assert(assert) => self.handle_assert(now, context, (ip.port, ip.src), &assert),
            Repr::Other { .. } => {}
        }
    }

    /// Other ports than before want packets.
    fn wanted(&mut self, now: Time, context: &mut Context<'_>, key: GroupKey) {
        if let GroupKey { group: IpAddr::V4(group), source: Some(IpAddr::V4(source)) } = key
            && self.spec.takes(group)
        {
            self.settle(now, context, TreeId { group, source });
        }
    }

    fn handle_interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        let Some(link) = self.links.get_mut(&port) else { return };
        let gone: Vec<Ipv4Addr> = link.neighbors.keys().copied().collect();
        if up {
            link.begin(now, &mut self.random)
        } else {
            link.lose()
        }
        for neighbor in gone {
            self.tell(Event::PimNeighborDown { port, neighbor });
        }
        for tree in self.trees.values_mut() {
            // What is beyond a link is known no more when it has gone.
            tree.legs.remove(&port);
        }
        self.link_changed(port);
        self.settle_all(now, context);
    }

    /// Looks at the interfaces as they are at the beginning.
    fn begin(&mut self, now: Time, context: &mut Context<'_>) {
        let interfaces = &context.services.interfaces;
        for (port, link) in &mut self.links {
            if interfaces.of_port(*port).is_some_and(|interface| interface.up) {
                link.begin(now, &mut self.random);
                link.dr = Some(link.own);
            }
        }
        let keys: Vec<GroupKey> = context.services.multicast.all_wanted().map(|(key, ..)| key).collect();
        keys.into_iter().for_each(|key| self.wanted(now, context, key));
    }
}

/// The links on which the router speaks PIM, none of which is up yet: all that have an address, but for those to
/// instruments.
fn links_of(interfaces: &Interfaces) -> BTreeMap<PortId, Link> {
    let link = |(port, interface): (PortId, &Interface)| {
        let beyond = interfaces.attached(port).map_or(Beyond::Router, |attached| attached.beyond);
        let (own, _) = interface.ipv4().filter(|_| beyond != Beyond::Instrument)?;
        let others = interface.addresses.iter().filter_map(|one| match one.address {
            IpAddr::V4(address) => Some(address).filter(|address| *address != own),
            IpAddr::V6(_) => None,
        });
        Some((port, Link::new(own, others.collect(), beyond == Beyond::Router)))
    };
    interfaces.ports().filter_map(link).collect()
}

impl Protocol for Pim {
    fn id(&self) -> ProtocolId {
        Pim::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::IpProtocol(pim::PROTOCOL), Listen::Group(pim::ALL_ROUTERS)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Groups, Topic::Routes]
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.links.contains_key(&port)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.first().map_or(0, |first| pim::kind_of(*first))
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Pim::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.trees.len()
    }

    fn complaints(&self, _: Time) -> Vec<String> {
        self.lacking()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        self.hear(now, context, ip, bytes);
        self.flush(context);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !core::mem::replace(&mut self.begun, true) {
            self.begin(now, context);
        }
        self.keep_links(now, context);
        while let Some((time, id)) = self.due.first().copied().filter(|(time, _)| *time <= now) {
            self.due.remove(&(time, id));
            self.expire(now, id);
            self.settle(now, context, id);
        }
        self.flush(context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Restart => {
                *self = Pim::new(self.spec.clone(), context.services, self.random.clone());
            }
            // Before the first timeout nothing has begun: it looks at everything as it is then.
            _ if !self.begun => {}
            Change::Group(key) => self.wanted(now, context, key),
            Change::WrongInterface { key, port } => self.handle_data(now, context, key, port),
            Change::Interface { port: Some(port), up, .. } => self.handle_interface(now, context, port, up),
            Change::Route(IpPrefix::V4(prefix)) => {
                let moves = |(id, tree): &(&TreeId, &Tree)| tree.is_through || prefix.contains(id.source);
                let those: Vec<TreeId> = self.trees.iter().filter(moves).map(|(id, _)| *id).collect();
                those.into_iter().for_each(|id| self.settle(now, context, id));
            }
            _ => {}
        }
        self.flush(context);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        if !self.begun {
            return Some(Time::ZERO);
        }
        let links = self.links.values().filter_map(Link::next);
        links.chain(self.due.first().map(|(time, _)| *time)).min()
    }
}
