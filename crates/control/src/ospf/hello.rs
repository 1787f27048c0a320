//! Interfaces come and go, and neighbours are found by Hellos (RFC 2328, 9.3 to 9.5, 10.3 and 10.5).

use super::interface::{InterfaceEvent, InterfaceName, InterfaceState, NetworkType, VirtualLink};
use super::neighbor::{Neighbor, NeighborEvent, NeighborState};
use super::{Event, Ospf};
use crate::machine::State;
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::ospf::{Body, Hello};

/// A neighbour: its interface, and its name there.
pub(super) type At = (InterfaceName, Ipv4Addr);

impl Ospf {
    /// An interface can be used from now on.
    pub(super) fn raise(&mut self, now: Time, by: InterfaceName) {
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        let event = match (interface.config.network, interface.config.priority) {
            (NetworkType::PointToPoint, _) => InterfaceEvent::UpPointToPoint,
            (NetworkType::Broadcast, 0) => InterfaceEvent::UpIneligible,
            (NetworkType::Broadcast, _) => InterfaceEvent::UpEligible,
        };
        let Some(next) = interface.state.next(event) else { return };
        interface.state = next;
        let wait = Span::from_secs(interface.config.dead_s.into());
        interface.wait_due = (next == InterfaceState::Waiting).then_some(now + wait);
        interface.hello_due = (!interface.config.passive).then_some(now);
        (self.is_stale, self.is_reach_other) = (true, true);
        self.say_hello(now, by);
    }

    /// An interface can't be used any more.
    pub(super) fn lower(&mut self, now: Time, by: InterfaceName) {
        let Some(interface) = self.interfaces.get(&by) else { return };
        for name in interface.neighbors.keys().copied().collect::<Vec<_>>() {
            self.step(now, (by, name), NeighborEvent::Gone);
        }
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        let Some(next) = interface.state.next(InterfaceEvent::Down) else { return };
        interface.state = next;
        (interface.designated, interface.backup) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
        (interface.hello_due, interface.wait_due, interface.ack_due) = (None, None, None);
        (interface.is_election_due, self.is_stale) = (false, true);
        interface.flooding.clear();
        interface.acks.clear();
        self.is_reach_other = true;
    }

    /// Does what is due for an interface and its neighbours.
    pub(super) fn interface_due(&mut self, now: Time, by: InterfaceName) {
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        if !is_due(interface.due()) {
            return;
        }
        if is_due(interface.wait_due) {
            interface.wait_due = None;
            (interface.is_election_due, self.has_elections) = (true, true);
        }
        let is_key_due = is_due(interface.keys.due);
        let (hello, ack) = (is_due(interface.hello_due), is_due(interface.ack_due));
        let due = interface.neighbors.iter().filter(|(_, neighbor)| neighbor.due() <= now);
        for name in due.map(|(name, _)| *name).collect::<Vec<_>>() {
            self.neighbor_due(now, (by, name));
        }
        if is_key_due {
            self.follow_keys(now, by);
        }
        if ack {
            self.send_acks(now, by);
        }
        if hello {
            self.say_hello(now, by);
        }
    }

    fn neighbor_due(&mut self, now: Time, at: At) {
        let Some(neighbor) = self.neighbor(at) else { return };
        if neighbor.expires <= now {
            return self.step(now, at, NeighborEvent::Gone);
        }
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        let (dd, request) = (is_due(neighbor.dd_due), is_due(neighbor.request_due));
        let retransmit = is_due(neighbor.retransmit_due);
        if dd {
            self.description_due(now, at);
        }
        if request {
            self.send_requests(now, at);
        }
        if retransmit {
            self.retransmit(now, at);
        }
    }

    pub(super) fn neighbor(&mut self, (by, name): At) -> Option<&mut Neighbor> {
        self.interfaces.get_mut(&by)?.neighbors.get_mut(&name)
    }

    /// Sends a Hello (RFC 2328, 9.5).
    fn say_hello(&mut self, now: Time, by: InterfaceName) {
        let Some(interface) = self.interfaces.get_mut(&by).filter(|one| one.hello_due.is_some()) else {
            return;
        };
        let config = &interface.config;
        interface.hello_due = Some(now + Span::from_secs(config.hello_s.into()));
        let heard = interface.neighbors.values().filter(|one| one.state != NeighborState::Down);
        let hello = Hello {
            mask: interface.mask(),
            hello_s: config.hello_s,
            options: self.config.area(self.config.area_by(config)).options(),
            priority: config.priority,
            dead_s: config.dead_s,
            designated: interface.designated,
            backup: interface.backup,
            neighbors: heard.map(|neighbor| neighbor.router_id).collect(),
        };
        let dst = interface.everybody();
        self.say(now, by, dst, &Body::Hello(hello));
    }

    /// Takes a Hello (RFC 2328, 10.5).
    pub(super) fn on_hello(&mut self, now: Time, at: At, src: Ipv4Addr, router_id: Ipv4Addr, hello: &Hello) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let config = &interface.config;
        let is_broadcast = config.network == NetworkType::Broadcast;
        let why = if is_broadcast && hello.mask != interface.mask() {
            Some(format!("its mask is {}, and here it is {}", hello.mask, interface.mask()))
        } else if hello.hello_s != config.hello_s {
            let (there, here) = (hello.hello_s, config.hello_s);
            Some(format!("its hello interval is {there} s, and here it is {here} s"))
        } else if hello.dead_s != config.dead_s {
            let (there, here) = (hello.dead_s, config.dead_s);
            Some(format!("its dead interval is {there} s, and here it is {here} s"))
        } else {
            self.config.area(self.config.area_by(config)).disagrees(hello.options)
        };
        if let Some(why) = why {
            return self.refuse(at.0, src, why);
        }
        let dead = Span::from_secs(config.dead_s.into());
        // RFC 2328, 10.5: of a virtual neighbour the address is not that of its packets.
        let src = if at.0.is_virtual() { interface.peer } else { src };
        let neighbor = interface.neighbors.entry(at.1).or_insert_with(|| Neighbor::new(router_id, src, now));
        neighbor.expires = now + dead;
        self.is_watch_due |= neighbor.address != src;
        // Packets go to its address: next hops are others.
        self.is_stale |= neighbor.address != src;
        self.is_reach_other |= neighbor.address != src;
        (neighbor.address, neighbor.router_id) = (src, router_id);
        let before = (neighbor.priority, neighbor.designated == src, neighbor.backup == src);
        (neighbor.priority, neighbor.designated, neighbor.backup) =
            (hello.priority, hello.designated, hello.backup);
        let after = (hello.priority, hello.designated == src, hello.backup == src);
        self.step(now, at, NeighborEvent::Hello);
        let hears = hello.neighbors.contains(&self.router_id);
        if !hears {
            return self.step(now, at, NeighborEvent::OneWay);
        }
        self.heard(now, at);
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        if interface.state == InterfaceState::Waiting {
            // RFC 2328, 9.2: BackupSeen. The neighbour is the backup, or is the designated router and has none.
            if after.2 || (after.1 && hello.backup.is_unspecified()) {
                interface.wait_due = None;
                (interface.is_election_due, self.has_elections) = (true, true);
            }
        } else if is_broadcast && before != after {
            (interface.is_election_due, self.has_elections) = (true, true);
        }
    }

    /// The neighbour hears this router (event 2-WayReceived of RFC 2328, 10.3).
    pub(super) fn heard(&mut self, now: Time, (by, name): At) {
        let Some(interface) = self.interfaces.get(&by) else { return };
        let Some(neighbor) = interface.neighbors.get(&name) else { return };
        if neighbor.state == NeighborState::Init {
            let adjacent = interface.is_adjacent_to(neighbor);
            let event = if adjacent { NeighborEvent::HeardAdjacent } else { NeighborEvent::Heard };
            self.step(now, (by, name), event);
        }
    }

    /// Something happens to a neighbour: its state machine takes a step, and what belongs to the new state is done.
    pub(super) fn step(&mut self, now: Time, at: At, event: NeighborEvent) {
        let (by, name) = at;
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        let Some(neighbor) = interface.neighbors.get_mut(&name) else { return };
        let before = neighbor.state;
        let Some(next) = before.next(event).filter(|next| *next != before) else { return };
        (neighbor.state, neighbor.since) = (next, now);
        let router_id = neighbor.router_id;
        let number = if next.is_flooded() { None } else { neighbor.clear() };
        if next.is_flooded() && neighbor.number.is_none() && !before.is_flooded() {
            neighbor.number = self.unacknowledged.take_number();
        }
        self.is_watch_due |= before.is_two_way() != next.is_two_way();
        if before.is_two_way() != next.is_two_way() && interface.state != InterfaceState::Waiting {
            // RFC 2328, 9.2: NeighborChange.
            interface.is_election_due |= interface.config.network == NetworkType::Broadcast;
            self.has_elections |= interface.is_election_due;
        }
        if let Some(number) = number {
            self.release_number(number);
        }
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        match next {
            NeighborState::Down => {
                interface.neighbors.remove(&name);
            }
            NeighborState::ExStart => self.begin_exchange(now, at),
            NeighborState::Exchange => self.summarise(now, at),
            _ => {}
        }
        // A neighbour that was none when paths were computed is a next hop now.
        self.is_reach_other |= before != NeighborState::Full && next == NeighborState::Full;
        if (before == NeighborState::Full) != (next == NeighborState::Full) {
            self.is_stale = true;
            self.event(match (by, next) {
                (InterfaceName::Port(port), NeighborState::Full) => Event::OspfAdjacent { router_id, port },
                (InterfaceName::Port(port), _) => {
                    Event::OspfAdjacencyLost { router_id, port, state: next.word() }
                }
                (InterfaceName::Virtual(VirtualLink { area, .. }), NeighborState::Full) => {
                    Event::OspfVirtualAdjacent { router_id, area }
                }
                (InterfaceName::Virtual(VirtualLink { area, .. }), _) => {
                    Event::OspfVirtualAdjacencyLost { router_id, area, state: next.word() }
                }
            });
        }
    }

    /// Elects the designated router of a network, and has adjacencies follow (RFC 2328, 9.4).
    pub(super) fn elect(&mut self, now: Time, by: InterfaceName) {
        let router_id = self.router_id;
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        interface.is_election_due = false;
        let before = (interface.designated, interface.backup);
        let (designated, backup) = interface.elect(router_id);
        let event = match interface.address {
            own if own == designated => InterfaceEvent::ElectedDr,
            own if own == backup => InterfaceEvent::ElectedBackup,
            _ => InterfaceEvent::ElectedOther,
        };
        let Some(next) = interface.state.next(event) else { return };
        (interface.state, interface.designated, interface.backup) = (next, designated, backup);
        if before == (designated, backup) {
            return;
        }
        self.is_stale = true;
        let Some(interface) = self.interfaces.get(&by) else { return };
        let known = interface.neighbors.iter().filter(|(_, neighbor)| neighbor.state.is_two_way());
        let wanted = |wanted| if wanted { NeighborEvent::Wanted } else { NeighborEvent::Unwanted };
        let events: Vec<_> =
            known.map(|(name, one)| (*name, wanted(interface.is_adjacent_to(one)))).collect();
        for (name, event) in events {
            self.step(now, (by, name), event);
        }
    }
}
