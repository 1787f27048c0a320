//! CBT, core-based trees (RFC 2189) whose routers hand out labels along the tree.
//!
//! A router with hosts that want a group, and any router that such a one asks, joins towards the group's core. The tree
//! is the same for all senders: packets go from wherever they enter it to all the rest. The published study says that
//! an LSP follows the tree, and not how labels are handed out; here a join says with which label packets are to come
//! down to the sender, and its acknowledgement with which they are to go up. So a router needs no label of a link's
//! other end before that end has its entry.
//!
//! Not there: senders that are no members (RFC 2189, 5), designated routers (joins on shared segments take the first
//! answer), and bootstrap messages: cores are configured.
//!
//! - [`section`](CbtSpec): the settings that users write
//! - `tree`: the tree of a group at this router, with its state machine
//! - `join`, `keep`: getting on a tree and off it; noticing that a parent is gone
//! - `write`: the tables
//! - `shown`: its table

mod join;
mod keep;
mod section;
mod shown;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub use section::{CbtGroupSpec, CbtSpec};
pub use tree::{TreeEvent, TreeState};

use crate::machine::{Chart, State};
use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::{Beyond, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, GroupKey};
use base::{Label, PortId, ProtocolId, ProtocolValue, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, VecDeque};
use tree::{Limb, Tree};
use wire::cbt::{self, Repr};

/// The state machines of core-based trees.
pub const CHARTS: &[Chart] = &[TreeState::CHART];

/// A router on core-based trees.
#[derive(Debug)]
pub struct Cbt {
    spec: CbtSpec,
    router_id: Ipv4Addr,
    trees: BTreeMap<Ipv4Addr, Tree>,
    /// Messages that wait for what they announce to be in force, by transaction.
    announced: BTreeMap<u64, Vec<Message>>,
    /// Labels that are free when their entries have gone, by transaction.
    leaving: BTreeMap<u64, Vec<Label>>,
    transaction: u64,
    /// When children ask for their parents next.
    echo: Time,
    malformed: u64,
    outputs: VecDeque<Output>,
}

impl Cbt {
    /// The name of core-based trees among protocols.
    pub const ID: ProtocolId = ProtocolId::new("cbt");

    /// Core-based trees among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Cbt::ID,
        kind_name: Cbt::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<CbtSpec>(
            "CBT, core-based trees: label-switched, one for each group.",
        )),
    };

    fn new(spec: CbtSpec, services: &Services) -> Cbt {
        let trees = spec.groups.iter().map(|known| (known.group, Tree::new(known.core))).collect();
        Cbt {
            router_id: services.interfaces.router_id,
            echo: Time::ZERO + spec.echo_interval,
            spec,
            trees,
            announced: BTreeMap::new(),
            leaving: BTreeMap::new(),
            transaction: 0,
            malformed: 0,
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        cbt::name(kind).unwrap_or(UNKNOWN_KIND)
    }

    /// A message to the routers beyond a port (RFC 2189, 4.2.1): to their group, TTL 1.
    fn message(&self, services: &Services, port: PortId, repr: &Repr) -> Option<Message> {
        let (src, _) = services.interfaces.of_port(port)?.ipv4()?;
        let (dst, over) = (cbt::ALL_ROUTERS, Over::Ip(cbt::PROTOCOL));
        Some(Message { port, next: None, src, dst, over, ttl: 1, router_alert: false, bytes: repr.emit() })
    }

    fn say(&mut self, services: &Services, port: PortId, repr: &Repr) {
        let message = self.message(services, port, repr);
        self.outputs.extend(message.map(Output::Message));
    }

    /// Goes on by the state machine. Did anything happen?
    fn step(&mut self, group: Ipv4Addr, event: TreeEvent) -> bool {
        let Some(tree) = self.trees.get_mut(&group) else { return false };
        let next = tree.state.next(event);
        tree.state = next.unwrap_or(tree.state);
        next.is_some()
    }

    /// Is an address one of this router's own?
    fn is_own(&self, services: &Services, address: Ipv4Addr) -> bool {
        let own = |own: IpAddr| own == IpAddr::V4(address);
        address == self.router_id
            || services.interfaces.iter().any(|(_, i)| i.addresses.iter().any(|a| own(a.address)))
    }

    /// A limb to a neighbour, with a label for what comes from it if labels are handed out.
    fn limb(&self, context: &mut Context<'_>, port: PortId, address: Ipv4Addr) -> Limb {
        let labels = &mut context.services.labels;
        let space = crate::services::LabelSpace::Platform;
        let mine = self.spec.labels.then(|| labels.allocate(space, Cbt::ID)).flatten();
        Limb { port, address, mine, theirs: None }
    }

    fn hear(&mut self, now: Time, context: &mut Context<'_>, from: (PortId, Ipv4Addr), repr: Repr) {
        match repr {
            Repr::JoinRequest { group, core, origin, label } => {
                self.handle_join(now, context, from, (group, core, origin), label);
            }
            Repr::JoinAck { group, label, .. } => self.handle_join_ack(now, context, from, group, label),
            Repr::QuitNotification { group, .. } => self.handle_quit(now, context, from.0, group),
            Repr::EchoRequest { .. } => self.handle_echo(context, from.0),
            Repr::EchoReply { groups, .. } => self.handle_echo_reply(now, from.0, &groups),
            Repr::FlushTree { groups } => self.handle_flush(now, context, from.0, &groups),
        }
    }
}

impl Protocol for Cbt {
    fn id(&self) -> ProtocolId {
        Cbt::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::IpProtocol(cbt::PROTOCOL), Listen::Group(cbt::ALL_ROUTERS)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Groups, Topic::Routes, Topic::Avoided]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.first().map_or(0, |first| cbt::kind_of(*first))
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Cbt::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.trees.values().filter(|tree| tree.state != TreeState::Off).count()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        match Repr::parse(bytes) {
            Ok(repr) if ip.ttl == 1 => self.hear(now, context, (ip.port, ip.src), repr),
            _ => self.malformed += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        self.keep(now, context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, context: &mut Context<'_>, ack: &Ack) {
        // The plane below the protocol has put its place into the transaction.
        let number = ack.transaction.0 & (u64::MAX >> 8);
        for label in self.leaving.remove(&number).unwrap_or_default() {
            let space = crate::services::LabelSpace::Platform;
            context.services.labels.release(space, Cbt::ID, label);
        }
        let messages = self.announced.remove(&number).unwrap_or_default();
        self.outputs.extend(messages.into_iter().map(Output::Message));
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Group(GroupKey { group: IpAddr::V4(group), .. }) => self.look(now, context, group),
            Change::Interface { port: Some(port), up, .. } => self.port_changed(now, context, port, up),
            Change::Avoided { port } => {
                let up = !context.services.avoided.is(port);
                self.port_changed(now, context, port, up);
            }
            Change::Route(_) => self.routes_changed(now, context),
            Change::Restart => *self = Cbt::new(self.spec.clone(), context.services),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.next()
    }
}

/// Can routers be beyond a port, to be joined with?
fn leads_to_routers(services: &Services, port: PortId) -> bool {
    let attached = services.interfaces.attached(port);
    attached.is_none_or(|attached| matches!(attached.beyond, Beyond::Router | Beyond::Segment))
}
