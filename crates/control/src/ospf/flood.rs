//! New instances are spread, acknowledged, and sent again until they are (RFC 2328, 13).

use super::content::Content;
use super::database::{Instance, Scope};
use super::hello::At;
use super::interface::{InterfaceName, InterfaceState, NetworkType};
use super::neighbor::NeighborEvent;
use super::unacknowledged::Unacknowledged;
use super::{ACK_DELAY, MIN_LS_ARRIVAL, Ospf};
use base::Time;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::ospf::{
    ALL_D_ROUTERS, ALL_SPF_ROUTERS, Body, HEADER_LEN, LSA_HEADER_LEN, Lsa, LsaHeader, LsaKey, LsaKind, Lsas,
    MAX_AGE, MAX_SEQUENCE, Newer, newer,
};

/// Bytes of the headers of IP and of OSPF.
pub(super) const IP_AND_HEADER: usize = 20 + HEADER_LEN;
/// Bytes of an update in front of the instances.
const UPDATE_LEN: usize = 4;

/// When an instance was last sent back to a neighbour that had an older one, within the last second.
#[derive(Debug, Default)]
pub(super) struct Corrected(BTreeMap<(Scope, LsaKey), Time>);

impl Corrected {
    /// May it be sent back now (RFC 2328, 13 (8): once in MinLSArrival)? Then that is noted.
    fn is_due(&mut self, now: Time, scope: Scope, key: LsaKey) -> bool {
        let is_recent = |at: Time| now < at + MIN_LS_ARRIVAL;
        if self.0.len() >= 1_000 {
            self.0.retain(|_, at| is_recent(*at));
        }
        let is_due = !self.0.get(&(scope, key)).is_some_and(|at| is_recent(*at));
        if is_due {
            self.0.insert((scope, key), now);
        }
        is_due
    }
}

/// How many of these instances one packet takes. One that is too long by itself goes alone: IP cuts it.
fn fitting<'a>(instances: impl Iterator<Item = &'a Instance>, room: usize) -> usize {
    let mut len = 0;
    let fits = |instance: &&Instance| {
        len += instance.byte_len();
        len <= room
    };
    instances.take_while(fits).count().max(1)
}

impl Ospf {
    /// Takes an update (RFC 2328, 13).
    pub(super) fn on_update(&mut self, now: Time, at: At, lsas: Lsas<'_>) {
        let mut acks = Vec::new();
        for bytes in lsas {
            if !self.neighbor(at).is_some_and(|neighbor| neighbor.state.is_flooded()) {
                break;
            }
            if let Err(event) = self.take_instance(now, at, bytes, &mut acks) {
                self.step(now, at, event);
                break;
            }
        }
        self.after_requests(now, at);
        self.send_direct_acks(now, at, acks);
    }

    /// Takes an instance of an update: steps 1 to 8 of RFC 2328, 13.
    fn take_instance(
        &mut self,
        now: Time,
        at: At,
        bytes: &[u8],
        acks: &mut Vec<LsaHeader>,
    ) -> Result<(), NeighborEvent> {
        let Ok(header) = LsaHeader::parse(bytes) else { return Ok(()) };
        let area = self.area_at(at.0);
        let scope = Scope::of(header.key.kind, area);
        let known = self.databases.get(scope, &header.key).cloned();
        // What somebody has read before needs no look at its checksum.
        let own = known.as_ref().map(Instance::content).filter(|content| content.is_of(bytes)).cloned();
        let read = own.or_else(|| Content::known(bytes));
        if read.is_none() && !Lsa::is_intact(bytes) {
            return Ok(());
        }
        if !self.config.takes(area, header.key.kind) {
            // One of the link alone goes no further, and would be sent again until it is acknowledged.
            if self.config.is_opaque() && header.key.kind == LsaKind::OPAQUE_LINK {
                acks.push(header);
            }
            return Ok(());
        }
        if header.age >= MAX_AGE
            && known.is_none()
            && !self.neighbors(scope).any(|neighbor| neighbor.state.is_exchanging())
        {
            acks.push(header);
            return Ok(());
        }
        let order = known.as_ref().map_or(Newer::First, |known| newer(&header, &known.header_at(now)));
        if order == Newer::First {
            let is_soon = |known: &Instance| known.is_flooded && now < known.installed + MIN_LS_ARRIVAL;
            if known.as_ref().is_some_and(is_soon) {
                return Ok(());
            }
            // What is not as its type says can't be used, and would be flooded for ever.
            let Some(content) = read.or_else(|| Content::read(bytes)) else { return Ok(()) };
            let instance = Instance::new(content, header.age, now, true);
            let is_back = self.install(now, scope, instance, Some(at));
            self.acknowledge_later(now, at, header, is_back);
            self.hear_of_oneself(now, scope, &header);
            return Ok(());
        }
        let neighbor = self.neighbor(at).ok_or(NeighborEvent::Gone)?;
        if neighbor.requests.contains_key(&header.key) {
            return Err(NeighborEvent::Mismatch);
        }
        if order == Newer::Neither {
            let own = self.databases.of_mut(scope).get_mut(&header.key);
            let Some(neighbor) = self.interfaces.get_mut(&at.0).and_then(|one| one.neighbors.get_mut(&at.1))
            else {
                return Err(NeighborEvent::Gone);
            };
            // What it was sent comes back: that acknowledges it.
            if let Some(instance) = own.filter(|instance| Unacknowledged::is_waiting(neighbor, instance)) {
                self.unacknowledged.done(neighbor, instance);
                let Some(interface) = self.interfaces.get(&at.0) else { return Ok(()) };
                let is_from_designated = interface.neighbors.get(&at.1).map(|neighbor| neighbor.address)
                    == Some(interface.designated);
                if interface.state == InterfaceState::Backup && is_from_designated {
                    self.delay_ack(now, at.0, header);
                }
            } else {
                acks.push(header);
            }
            return Ok(());
        }
        // The neighbour has an older one.
        if let Some(known) = known {
            let is_wrapping = known.age(now) >= MAX_AGE && known.header().sequence == MAX_SEQUENCE;
            if !is_wrapping
                && now >= known.installed + MIN_LS_ARRIVAL
                && self.corrected.is_due(now, scope, header.key)
            {
                self.send_instances(now, at.0, Some(at.1), &[known]);
            }
        }
        Ok(())
    }

    /// Neighbours that hear of what is flooded so far.
    fn neighbors(&self, scope: Scope) -> impl Iterator<Item = &super::neighbor::Neighbor> {
        let eligible = self.interfaces.values().filter(move |one| self.config.is_eligible(one, scope));
        eligible.flat_map(|interface| interface.neighbors.values())
    }

    /// Puts an instance into the database and floods it. Is it flooded back by the interface that it came from?
    pub(super) fn install(&mut self, now: Time, scope: Scope, instance: Instance, from: Option<At>) -> bool {
        let key = instance.key();
        let known = self.databases.of_mut(scope).install(instance.clone());
        known.iter().for_each(|known| self.unacknowledged.forget(known));
        if self.unacknowledged.is_crowded() {
            let config = &self.config;
            for interface in self.interfaces.values_mut().filter(|one| config.is_eligible(one, scope)) {
                interface.neighbors.values_mut().for_each(|neighbor| {
                    neighbor.unacknowledged.remove(&key);
                });
            }
        }
        // RFC 2328, 13.2: a new instance that says the same has no new paths computed.
        let is_news = known.as_ref().is_none_or(|known| {
            let is_old = |instance: &Instance| instance.age(now) >= MAX_AGE;
            let is_other = || {
                known.body() != instance.body()
                    || known.content().header().options != instance.content().header().options
            };
            is_old(known) != is_old(&instance)
                || (!Arc::ptr_eq(known.content(), instance.content()) && is_other())
        });
        if is_news {
            known.iter().for_each(|known| self.note(now, scope, key, known.body()));
            self.note(now, scope, key, instance.body());
        }
        self.flood(now, scope, &instance, from)
    }

    /// Floods an instance (RFC 2328, 13.3).
    pub(super) fn flood(&mut self, now: Time, scope: Scope, instance: &Instance, from: Option<At>) -> bool {
        let header = instance.header();
        let mut is_back = false;
        let mut waiting = 0;
        for interface in self.interfaces.values_mut() {
            let by = interface.name;
            if !self.config.is_eligible(interface, scope) {
                continue;
            }
            let mut is_added = false;
            let retransmit = interface.config.retransmit;
            for (name, neighbor) in &mut interface.neighbors {
                // RFC 5250, 3.1: opaque ones are for those that take them.
                if !neighbor.state.is_flooded() || !neighbor.takes(header.key.kind) {
                    continue;
                }
                if let Some(wanted) = neighbor.requests.get(&header.key) {
                    match newer(&header, wanted) {
                        Newer::Second => continue,
                        Newer::Neither => {
                            neighbor.requests.remove(&header.key);
                            self.answered.push((by, *name));
                            continue;
                        }
                        Newer::First => {
                            neighbor.requests.remove(&header.key);
                            self.answered.push((by, *name));
                        }
                    }
                }
                if from == Some((by, *name)) {
                    continue;
                }
                match neighbor.number {
                    Some(number) => waiting |= 1 << number,
                    None => drop(neighbor.unacknowledged.insert(header.key)),
                }
                neighbor.retransmit_due.get_or_insert(now + retransmit);
                is_added = true;
            }
            if !is_added {
                continue;
            }
            if let Some((_, name)) = from.filter(|(came_by, _)| *came_by == by) {
                // The designated router and its backup have told everybody, or will.
                let sender = interface.neighbors.get(&name).map(|neighbor| neighbor.address);
                let is_told = sender == Some(interface.designated) || sender == Some(interface.backup);
                if is_told || interface.state == InterfaceState::Backup {
                    continue;
                }
                is_back = true;
            }
            interface.flooding.push(instance.clone());
            self.has_floods = true;
        }
        if waiting != 0
            && let Some(instance) = self.databases.of_mut(scope).get_mut(&header.key)
        {
            self.unacknowledged.add(instance, waiting);
        }
        is_back
    }

    /// Sends what was flooded since the last time.
    pub(super) fn flush_floods(&mut self, now: Time) {
        if !core::mem::take(&mut self.has_floods) {
            return;
        }
        for place in 0..self.interfaces.len() {
            let by = self.interfaces.name_at(place);
            let Some(interface) = self.interfaces.get_mut(&by) else { continue };
            if interface.flooding.is_empty() {
                continue;
            }
            let mut instances = core::mem::take(&mut interface.flooding);
            // Of several instances of one advertisement the last counts.
            if instances.len() > 1 {
                let mut seen = std::collections::BTreeSet::new();
                instances.reverse();
                instances.retain(|instance| seen.insert(instance.key()));
                instances.reverse();
            }
            self.send_instances(now, by, None, &instances);
        }
    }

    /// Where what is for all adjacent neighbours goes (RFC 2328, 13.3, step 5).
    fn group(&self, by: InterfaceName) -> Ipv4Addr {
        match self.interfaces.get(&by) {
            Some(one) if one.config.network == NetworkType::Broadcast && !one.is_designated() => {
                ALL_D_ROUTERS
            }
            Some(one) => one.everybody(),
            None => ALL_SPF_ROUTERS,
        }
    }

    /// Sends instances in as few updates as the interface takes, to a neighbour or to all.
    pub(super) fn send_instances(
        &mut self,
        now: Time,
        by: InterfaceName,
        to: Option<Ipv4Addr>,
        instances: &[Instance],
    ) {
        let Some(interface) = self.interfaces.get(&by) else { return };
        let room = interface.room() - UPDATE_LEN;
        let delay = interface.config.transmit_delay_s;
        let neighbor = to.and_then(|name| interface.neighbors.get(&name));
        let dst = neighbor.map_or_else(|| self.group(by), |neighbor| interface.unicast(neighbor));
        let mut rest = instances;
        while !rest.is_empty() {
            let (now_sent, later) = rest.split_at(fitting(rest.iter(), room));
            let lsas = now_sent.iter().map(|one| (one.content().bytes(), one.age_sent(now, delay)));
            let packet = Body::update(self.router_id, self.area_at(by), lsas);
            self.send(now, by, dst, packet);
            rest = later;
        }
    }

    /// Sends again what a neighbour has not acknowledged: one packet (RFC 2328, 13.6).
    pub(super) fn retransmit(&mut self, now: Time, at: At) {
        let Some(interface) = self.interfaces.get(&at.0) else { return };
        let (room, due) = (interface.room() - UPDATE_LEN, now + interface.config.retransmit);
        let Some(neighbor) = interface.neighbors.get(&at.1) else { return };
        let all = self.to_send_again(interface, neighbor);
        let count = fitting(all.iter().copied(), room).min(all.len());
        let again: Vec<Instance> = all[..count].iter().copied().cloned().collect();
        if let Some(neighbor) = self.neighbor(at) {
            neighbor.retransmit_due = (!again.is_empty()).then_some(due);
        }
        self.send_instances(now, at.0, Some(at.1), &again);
    }

    /// A new instance was taken: Table 19 of RFC 2328, 13.5.
    fn acknowledge_later(&mut self, now: Time, at: At, header: LsaHeader, is_back: bool) {
        let Some(interface) = self.interfaces.get(&at.0) else { return };
        let sender = interface.neighbors.get(&at.1).map(|neighbor| neighbor.address);
        let is_silent = interface.state == InterfaceState::Backup && sender != Some(interface.designated);
        if !is_back && !is_silent {
            self.delay_ack(now, at.0, header);
        }
    }

    fn delay_ack(&mut self, now: Time, by: InterfaceName, header: LsaHeader) {
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        interface.acks.push(header);
        let least = ACK_DELAY.0.min(interface.config.retransmit.0 / 2);
        interface.ack_due.get_or_insert(now + base::Span(least));
    }

    /// Sends the acknowledgements that have waited.
    pub(super) fn send_acks(&mut self, now: Time, by: InterfaceName) {
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        interface.ack_due = None;
        let (acks, most) = (core::mem::take(&mut interface.acks), interface.room() / LSA_HEADER_LEN);
        let dst = self.group(by);
        for headers in acks.chunks(most) {
            self.say(now, by, dst, &Body::Ack { headers: headers.to_vec() });
        }
    }

    fn send_direct_acks(&mut self, now: Time, at: At, acks: Vec<LsaHeader>) {
        let Some(interface) = self.interfaces.get(&at.0).filter(|_| !acks.is_empty()) else { return };
        let most = interface.room() / LSA_HEADER_LEN;
        for headers in acks.chunks(most) {
            let packet = Body::Ack { headers: headers.to_vec() }.packet(self.router_id, self.area_at(at.0));
            self.send_to(now, at, packet);
        }
    }

    /// Takes acknowledgements (RFC 2328, 13.7).
    pub(super) fn on_ack(&mut self, at: At, headers: &[LsaHeader]) {
        let area = self.area_at(at.0);
        let Some(interface) = self.interfaces.get_mut(&at.0) else { return };
        let Some(neighbor) = interface.neighbors.get_mut(&at.1) else { return };
        if !neighbor.state.is_flooded() {
            return;
        }
        for header in headers {
            let scope = Scope::of(header.key.kind, area);
            let Some(sent) = self.databases.known_mut(scope, &header.key) else { continue };
            let known = sent.content().header();
            // The same instance: ages play no part, for that which was sent has aged.
            if (known.sequence, known.checksum) == (header.sequence, header.checksum)
                && sent.is_old() == (header.age >= MAX_AGE)
            {
                self.unacknowledged.done(neighbor, sent);
            }
        }
        if self.unacknowledged.count(neighbor) == 0 {
            neighbor.retransmit_due = None;
        }
    }

    /// Takes out instances that are too old when everybody knows (RFC 2328, 14).
    pub(super) fn sweep(&mut self, now: Time) {
        if !self.databases.has_old() {
            return;
        }
        let mut is_any = false;
        for scope in self.databases.scopes() {
            let Some(database) = self.databases.of(scope).filter(|one| one.old().next().is_some()) else {
                continue;
            };
            if self.neighbors(scope).any(|one| one.state.is_exchanging()) {
                continue;
            }
            is_any = true;
            let is_waiting = |instance: &Instance| {
                self.neighbors(scope).any(|neighbor| Unacknowledged::is_waiting(neighbor, instance))
            };
            let is_known = |key: &&LsaKey| !database.get(key).is_some_and(is_waiting);
            for key in database.old().filter(is_known).copied().collect::<Vec<_>>() {
                self.databases.of_mut(scope).remove(&key);
                // What this router has to say begins again with the first sequence number (RFC 2328, 12.1.6).
                if self.own.contains_key(&(scope, key)) {
                    self.schedule(now, (scope, key));
                }
            }
        }
        if !is_any {
            return;
        }
        self.originate_due(now);
        self.flush_floods(now);
    }
}
