//! Databases are described to each other, and what is missing is asked for (RFC 2328, 10.6 to 10.9).

use super::Ospf;
use super::database::{Instance, Scope};
use super::flood::IP_AND_HEADER;
use super::hello::At;
use super::interface::{Interface, NetworkType};
use super::neighbor::{Neighbor, NeighborEvent, NeighborState};
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::ospf::{
    ALL_SPF_ROUTERS, Body, Description, LSA_HEADER_LEN, LsaKey, LsaKind, MAX_AGE, Newer, newer, options,
};

/// Bytes of a description in front of the headers.
const DESCRIPTION_LEN: usize = 8;
/// Bytes of an entry of a request.
const REQUEST_LEN: usize = 12;

impl Interface {
    /// How many bytes of a packet's body it takes.
    pub(super) fn room(&self) -> usize {
        let room = usize::from(self.mtu).saturating_sub(IP_AND_HEADER + self.config.auth.trailer_len());
        room.max(LSA_HEADER_LEN + DESCRIPTION_LEN)
    }

    /// Where packets for all neighbours go: to the group, or by a virtual link to its other end (RFC 2328, 8.1 and
    /// 9.5).
    pub(super) fn everybody(&self) -> Ipv4Addr {
        if self.name.is_virtual() { self.peer } else { ALL_SPF_ROUTERS }
    }

    /// Where packets for one neighbour go: on links between two to all there are (RFC 2328, 8.1).
    pub(super) fn unicast(&self, neighbor: &Neighbor) -> Ipv4Addr {
        match self.config.network {
            NetworkType::PointToPoint => self.everybody(),
            NetworkType::Broadcast => neighbor.address,
        }
    }
}

impl Ospf {
    /// The first description of an exchange: this router wants to be the master (RFC 2328, 10.8).
    pub(super) fn begin_exchange(&mut self, now: Time, at: At) {
        let Some(neighbor) = self.neighbor(at) else { return };
        neighbor.dd_sequence = neighbor.dd_sequence.wrapping_add(1);
        neighbor.is_master = true;
        self.describe(now, at, Description::INIT | Description::MORE | Description::MASTER, 0);
    }

    /// What is in the database is to be described; what is too old is flooded instead (RFC 2328, 10.3).
    pub(super) fn summarise(&mut self, now: Time, at: At) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let scopes = self.config.scopes_of(interface);
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        let databases = scopes.into_iter().filter_map(|scope| self.databases.of(scope));
        let mut old = Vec::new();
        for instance in databases.flat_map(super::database::Database::iter) {
            let key = instance.key();
            if !neighbor.takes(key.kind) {
                continue;
            }
            if instance.age(now) >= MAX_AGE {
                old.push((Scope::of(key.kind, self.config.area_by(&interface.config)), key));
                neighbor.retransmit_due.get_or_insert(now + interface.config.retransmit);
            } else {
                neighbor.summary.push_back(instance.header_at(now));
            }
        }
        for (scope, key) in old {
            match (neighbor.number, self.databases.of_mut(scope).get_mut(&key)) {
                (Some(number), Some(instance)) => self.unacknowledged.add(instance, 1 << number),
                _ => drop(neighbor.unacknowledged.insert(key)),
            }
        }
    }

    /// Sends a description with so many headers at most, and these flags besides those that follow.
    fn describe(&mut self, now: Time, at: At, flags: u8, headers: usize) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        // RFC 2328, 10.8: nothing is said of what the links on the way of a virtual one take.
        let mtu = if at.0.is_virtual() { 0 } else { interface.mtu };
        let (retransmit, dead) =
            (interface.config.retransmit, Span::from_secs(interface.config.dead_s.into()));
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        let headers = neighbor.summary.drain(..headers.min(neighbor.summary.len())).collect();
        let is_more = !neighbor.summary.is_empty() || flags & Description::INIT != 0;
        let bit = |is: bool, bit| if is { bit } else { 0 };
        let flags = flags | bit(is_more, Description::MORE) | bit(neighbor.is_master, Description::MASTER);
        let sequence = neighbor.dd_sequence;
        let area = self.config.area_by(&interface.config);
        // RFC 5250, 3.1: here, and in no other packet.
        let opaque = if self.config.is_opaque() { options::O } else { 0 };
        let options = self.config.area(area).options() | opaque;
        let body = Body::Description(Description { mtu, options, flags, sequence, headers });
        let Ok(packet) = body.packet(self.router_id, area) else { return };
        neighbor.dd_sent = Some((packet.clone(), is_more));
        neighbor.dd_due = Some(now + if neighbor.is_master { retransmit } else { dead });
        self.send_to(now, at, Ok(packet));
    }

    /// Sends a packet to a neighbour.
    pub(super) fn send_to(&mut self, now: Time, at: At, packet: Result<Vec<u8>, wire::Error>) {
        let Some(interface) = self.interfaces.get(&at.0) else { return };
        let Some(neighbor) = interface.neighbors.get(&at.1) else { return };
        let dst = interface.unicast(neighbor);
        self.send(now, at.0, dst, packet);
    }

    /// The next description, as full as it may be.
    fn describe_next(&mut self, now: Time, at: At) {
        let Some(interface) = self.interfaces.get(&at.0) else { return };
        let headers = (interface.room() - DESCRIPTION_LEN) / LSA_HEADER_LEN;
        self.describe(now, at, 0, headers);
    }

    /// No answer of the neighbour's has come in time: the last description is sent again. A master that has said
    /// nothing for as long as a slave has to be ready to say its last once more (RFC 2328, 10.8) thinks that the
    /// exchange is over, or has forgotten it: then it begins anew.
    pub(super) fn description_due(&mut self, now: Time, at: At) {
        match self.neighbor(at) {
            Some(neighbor) if neighbor.is_master => self.repeat_description(now, at),
            Some(_) => self.step(now, at, NeighborEvent::Mismatch),
            None => {}
        }
    }

    /// Sends the last description again.
    fn repeat_description(&mut self, now: Time, at: At) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let retransmit = interface.config.retransmit;
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        if neighbor.is_master {
            neighbor.dd_due = Some(now + retransmit);
        }
        if let Some((packet, _)) = neighbor.dd_sent.clone() {
            self.send_to(now, at, Ok(packet));
        }
    }

    /// Takes a description (RFC 2328, 10.6).
    pub(super) fn on_description(&mut self, now: Time, at: At, description: Description) {
        let own_id = self.router_id;
        let Some(interface) = self.interfaces.get(&at.0) else { return };
        let Some(neighbor) = interface.neighbors.get(&at.1) else { return };
        if description.mtu > interface.mtu && !at.0.is_virtual() {
            let (there, here) = (description.mtu, interface.mtu);
            let why = format!("it sends packets of up to {there} bytes (MTU), and here {here} is the most");
            let address = neighbor.address;
            return self.refuse(at.0, address, why);
        }
        if neighbor.state == NeighborState::Init {
            self.heard(now, at);
        }
        let Some(neighbor) = self.neighbor(at) else { return };
        let Description { mtu, options, flags, sequence, .. } = description;
        neighbor.mtu = mtu;
        let has = |flag: u8| flags & flag != 0;
        let is_same = neighbor.dd_received == Some((flags, options, sequence));
        if neighbor.state == NeighborState::ExStart {
            neighbor.is_opaque = options & options::O != 0;
        }
        match neighbor.state {
            NeighborState::Down | NeighborState::Init | NeighborState::TwoWay => {}
            NeighborState::ExStart => {
                let all = Description::INIT | Description::MORE | Description::MASTER;
                let is_slave =
                    flags & all == all && description.headers.is_empty() && neighbor.router_id > own_id;
                let is_master = !has(Description::INIT | Description::MASTER)
                    && sequence == neighbor.dd_sequence
                    && neighbor.router_id < own_id;
                if is_slave {
                    (neighbor.is_master, neighbor.dd_sequence) = (false, sequence);
                } else if !is_master {
                    return;
                }
                neighbor.dd_due = None;
                self.step(now, at, NeighborEvent::Negotiated);
                self.take_description(now, at, &description);
            }
            NeighborState::Exchange if is_same => {
                if !neighbor.is_master {
                    self.repeat_description(now, at);
                }
            }
            NeighborState::Exchange => {
                let expected = neighbor.dd_sequence.wrapping_add(u32::from(!neighbor.is_master));
                let is_next = has(Description::MASTER) != neighbor.is_master
                    && !has(Description::INIT)
                    && neighbor.dd_received.is_none_or(|(_, before, _)| before == options)
                    && sequence == expected;
                if is_next {
                    self.take_description(now, at, &description);
                } else {
                    self.step(now, at, NeighborEvent::Mismatch);
                }
            }
            NeighborState::Loading | NeighborState::Full => {
                if !is_same {
                    self.step(now, at, NeighborEvent::Mismatch);
                } else if !neighbor.is_master {
                    self.repeat_description(now, at);
                }
            }
        }
    }

    /// Takes the next description of an exchange, and answers (RFC 2328, 10.6 and 10.8).
    fn take_description(&mut self, now: Time, at: At, description: &Description) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        neighbor.dd_received = Some((description.flags, description.options, description.sequence));
        let area = self.config.area_by(&interface.config);
        let takes_externals = self.config.takes(area, LsaKind::EXTERNAL);
        // RFC 2328, 10.6: what is of no known type, and routes from outside in an area that takes none.
        let is_wrong = |kind: LsaKind| !kind.is_known() || (kind == LsaKind::EXTERNAL && !takes_externals);
        if description.headers.iter().any(|header| is_wrong(header.key.kind)) {
            return self.step(now, at, NeighborEvent::Mismatch);
        }
        for header in description.headers.iter().filter(|header| self.config.takes(area, header.key.kind)) {
            let scope = Scope::of(header.key.kind, area);
            let known = self.databases.get(scope, &header.key).map(|instance| instance.header_at(now));
            if known.is_none_or(|known| newer(header, &known) == Newer::First) {
                neighbor.requests.insert(header.key, *header);
            }
        }
        let is_more = description.flags & Description::MORE != 0;
        let was_more = neighbor.dd_sent.as_ref().is_none_or(|(_, more)| *more);
        let is_over = if neighbor.is_master {
            neighbor.dd_sequence = neighbor.dd_sequence.wrapping_add(1);
            if was_more || is_more {
                self.describe_next(now, at);
            }
            !was_more && !is_more
        } else {
            neighbor.dd_sequence = description.sequence;
            self.describe_next(now, at);
            let sent_more =
                self.neighbor(at).and_then(|neighbor| neighbor.dd_sent.as_ref().map(|sent| sent.1));
            !is_more && sent_more == Some(false)
        };
        let Some(neighbor) = self.neighbor(at) else { return };
        if is_over {
            neighbor.dd_due = None;
            let is_missing = !neighbor.requests.is_empty();
            self.step(now, at, if is_missing { NeighborEvent::Described } else { NeighborEvent::Loaded });
        }
        if self.neighbor(at).is_some_and(|neighbor| neighbor.asked.is_empty()) {
            self.send_requests(now, at);
        }
    }

    /// Asks for what is missing, as much as one packet takes (RFC 2328, 10.9).
    pub(super) fn send_requests(&mut self, now: Time, at: At) {
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let (most, retransmit) = (interface.room() / REQUEST_LEN, interface.config.retransmit);
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        neighbor.asked = neighbor.requests.keys().take(most).copied().collect();
        if neighbor.asked.is_empty() {
            neighbor.request_due = None;
            return;
        }
        neighbor.request_due = Some(now + retransmit);
        let body = Body::Request { wanted: neighbor.asked.clone() };
        let packet = body.packet(self.router_id, self.area_at(at.0));
        self.send_to(now, at, packet);
    }

    /// Something that was asked for may have come: goes on, or is done (RFC 2328, 10.9).
    pub(super) fn after_requests(&mut self, now: Time, at: At) {
        let Some(neighbor) = self.neighbor(at).filter(|neighbor| neighbor.state.is_exchanging()) else {
            return;
        };
        let Neighbor { asked, requests, .. } = neighbor;
        asked.retain(|key| requests.contains_key(key));
        if !asked.is_empty() {
            return;
        }
        neighbor.request_due = None;
        if !neighbor.requests.is_empty() {
            self.send_requests(now, at);
        } else if neighbor.state == NeighborState::Loading {
            self.step(now, at, NeighborEvent::Loaded);
        }
    }

    /// Sends what a neighbour asks for (RFC 2328, 10.7).
    pub(super) fn on_request(&mut self, now: Time, at: At, wanted: &[LsaKey]) {
        if !self.neighbor(at).is_some_and(|neighbor| neighbor.state.is_flooded()) {
            return;
        }
        let area = self.area_at(at.0);
        let known = |key: &LsaKey| self.databases.get(Scope::of(key.kind, area), key).cloned();
        let found: Option<Vec<Instance>> = wanted.iter().map(known).collect();
        match found {
            Some(instances) => self.send_instances(now, at.0, Some(at.1), &instances),
            // RFC 2328, 10.7: BadLSReq.
            None => self.step(now, at, NeighborEvent::Mismatch),
        }
    }
}
