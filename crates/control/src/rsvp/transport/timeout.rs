//! Time, ports and restarts.

use super::super::faults::Fault;
use super::codec;
use super::message_id::{NONE, Named, Standing};
use super::retransmit::Copy;
use super::state::{TTL, Transport};
use super::table::Search;
use super::types::{Envelope, Handle, Incoming, Neighbor};
use base::{PortId, Time};
use wire::rsvp::{Common, Message, MessageIdList, Srefresh};

/// Slots looked at, and states reported, in one step of reporting what a neighbour has lost.
const RESYNC_SLOTS: u32 = 4096;
const RESYNC_STATES: u32 = 256;

impl Transport {
    /// When [`Transport::handle_timeout`] is to be called: never too late, sometimes before anything is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.wheel.next()
    }

    /// Time has passed. What the LSP layer is to know is appended to `out`.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Incoming>) {
        self.now = now;
        while let Some((_, peer)) = self.wheel.pop(now) {
            self.peers[peer as usize].timer = None;
            self.expire(peer, out);
            self.rearm(peer);
        }
    }

    /// Sees to it that the neighbour's timer expires no later than it must. One that is early is left alone: it costs
    /// less to find nothing due than to move it with every message.
    pub(super) fn rearm(&mut self, peer: u32) {
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return self.counters.faults.note(Fault::NoNeighbor);
        };
        match (entry.next(&self.copies), entry.timer) {
            (Some(at), Some((timer, _))) if timer <= at => {}
            (Some(at), timer) => {
                if let Some((_, timer)) = timer {
                    self.wheel.cancel(timer);
                }
                entry.timer = Some((at, self.wheel.schedule(at, peer)));
            }
            (None, Some((_, timer))) => {
                self.wheel.cancel(timer);
                entry.timer = None;
            }
            (None, None) => {}
        }
    }

    fn expire(&mut self, peer: u32, out: &mut Vec<Incoming>) {
        let index = peer as usize;
        let now = self.now;
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if let (Some(config), Some(session)) = (&self.hello, &mut self.peers[index].hello)
            && session.next() <= self.now
        {
            let (request, change) =
                session.expire(self.now, config, &mut self.random, &mut self.counters.faults);
            self.note_change(peer, change, out);
            if let Some(request) = request {
                self.send_hello(peer, request);
                self.note_silence(peer, out);
            }
        }
        self.retransmit(peer, out);
        let entry = &self.peers[index];
        let (acks, bundle, summary) =
            (due(entry.acks.next()), due(entry.buffer.next()), due(entry.summaries.next()));
        if summary {
            self.summarise(peer);
        }
        if acks {
            self.flush_acks(peer);
        }
        if bundle {
            self.flush_bundle(peer);
        }
        if let Some((from, at)) = self.peers[index].resync
            && at <= self.now
        {
            self.resync(peer, from, out);
        }
    }

    /// Sends again what was not acknowledged in time, and gives up what was sent often enough (RFC 2961, 6.3).
    fn retransmit(&mut self, peer: u32, out: &mut Vec<Incoming>) {
        let index = peer as usize;
        while let Some(slot) = self.peers[index].schedule.due(&self.copies, self.now) {
            let Some(reduction) = &self.reduction else {
                return self.counters.faults.note(Fault::Incomplete);
            };
            let schedule = &mut self.peers[index].schedule;
            if schedule.may_repeat(&self.copies, slot) {
                let (now, faults) = (self.now, &mut self.counters.faults);
                schedule.again(&mut self.copies, slot, now, &reduction.intervals, faults);
                if let Some(copy) = self.copies.get(slot) {
                    self.counters.retransmitted += 1;
                    self.transmit(peer, copy.envelope, copy.bytes.to_vec());
                }
                continue;
            }
            let Some(copy) = schedule.remove(&mut self.copies, slot, &mut self.counters.faults) else {
                return self.counters.faults.note(Fault::NoCopy);
            };
            self.counters.given_up += 1;
            match copy.handle {
                Some(handle) => {
                    if let Some(state) = self.own.states.get_mut(handle.0) {
                        (state.slot, state.standing) = (NONE, Standing::GivenUp);
                    }
                }
                None => self.own.release(copy.id),
            }
            out.push(Incoming::Lost { neighbor: self.peers[index].neighbor, handle: copy.handle });
        }
    }

    /// Sends one Srefresh message (RFC 2961, 5.3).
    fn summarise(&mut self, peer: u32) {
        let Some(reduction) = &self.reduction else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        let index = peer as usize;
        let neighbor = self.peers[index].neighbor;
        let (full, spacing) = (self.summary_max(neighbor.port), reduction.config.summary_spacing);
        let mut summaries = core::mem::take(&mut self.peers[index].summaries);
        // What was changed, forgotten or refused since it was put there is not refreshed.
        let ids = summaries.take(self.now, full, spacing, |id| match self.own.named(id) {
            Some(Named::State(handle)) => {
                let state = self.own.states.get(handle.0);
                state.is_some_and(|state| state.peer == peer && self.peers[index].holds(state))
            }
            _ => false,
        });
        self.peers[index].summaries = summaries;
        if ids.is_empty() {
            return;
        }
        self.counters.summaries_sent += 1;
        self.counters.summary_ids_sent += ids.len() as u64;
        let lists = vec![MessageIdList::List { flags: 0, epoch: self.own.epoch, ids }];
        let message = Message::Srefresh(Srefresh { common: Common::default(), lists });
        if let Some(bytes) = codec::emit(self.flags(), TTL, &message) {
            let envelope = self.hop_by_hop(peer, TTL);
            self.transmit(peer, envelope, bytes);
        }
    }

    /// Reports to the LSP layer which states a restarted neighbour has lost, some at a time.
    fn resync(&mut self, peer: u32, from: u32, out: &mut Vec<Incoming>) {
        let Some(reduction) = &self.reduction else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        let index = peer as usize;
        let again = self.now + reduction.config.summary_spacing;
        let (mut at, mut steps, mut told) = (from, RESYNC_SLOTS, 0);
        self.peers[index].resync = loop {
            match self.own.states.next_from(at, &mut steps) {
                Search::End => break None,
                Search::Pause(next) => break Some((next, again)),
                Search::Found(_) if told == RESYNC_STATES => break Some((at, again)),
                Search::Found(key) => {
                    let lost = self.own.states.get(key).filter(|state| {
                        state.peer == peer && state.slot == NONE && !self.peers[index].holds(state)
                    });
                    if lost.is_some() {
                        told += 1;
                        out.push(Incoming::SendFull(Handle(key)));
                    }
                    match key.checked_add(1) {
                        Some(next) => at = next,
                        None => break None,
                    }
                }
            }
        };
    }

    /// Stops to retransmit to a neighbour, and returns what was to be.
    pub(super) fn drop_copies(&mut self, peer: u32) -> Vec<Copy> {
        let mut dropped = Vec::new();
        while let Some(slot) = self.peers[peer as usize].schedule.any() {
            let schedule = &mut self.peers[peer as usize].schedule;
            let Some(copy) = schedule.remove(&mut self.copies, slot, &mut self.counters.faults) else {
                self.counters.faults.note(Fault::NoCopy);
                break;
            };
            match copy.handle {
                Some(handle) => {
                    if let Some(state) = self.own.states.get_mut(handle.0) {
                        state.slot = NONE;
                    }
                }
                None => self.own.release(copy.id),
            }
            dropped.push(copy);
        }
        dropped
    }

    /// The port can't be used: what waits for its neighbours is dropped, and they are taken not to hold our state any
    /// more. What they advertised stays bound: if they come back in the same epoch, they may refresh it.
    pub fn port_down(&mut self, now: Time, port: PortId) {
        self.now = now;
        if !self.down.contains(&port) {
            self.down.push(port);
        }
        for peer in 0..self.peers.len() as u32 {
            let index = peer as usize;
            if self.peers[index].neighbor.port != port || self.peers[index].is_vacant {
                continue;
            }
            self.drop_copies(peer);
            let entry = &mut self.peers[index];
            entry.session += 1;
            entry.acks.clear();
            entry.summaries.clear();
            entry.buffer = Default::default();
            entry.resync = None;
            entry.hello = None;
            self.rearm(peer);
        }
    }

    /// The port can be used again: Hellos go to the neighbours that are known on it.
    pub fn port_up(&mut self, now: Time, port: PortId) {
        self.now = now;
        self.down.retain(|down| *down != port);
        for peer in 0..self.peers.len() as u32 {
            let entry = &mut self.peers[peer as usize];
            if entry.neighbor.port == port && !entry.is_vacant {
                entry.used = now;
                self.greet(peer);
                self.rearm(peer);
            }
        }
    }

    /// The node restarts: all is forgotten but the configuration and the counters. There is a new epoch (RFC 2961,
    /// 4.5) and there are new instances (RFC 3209, 5.2); sequence numbers of INTEGRITY go on (RFC 2747, 3).
    pub fn restart(&mut self, now: Time) {
        self.now = now;
        self.own.restart(&mut self.random);
        self.bindings.clear();
        self.copies = Default::default();
        self.keyring.restart();
        self.instance = None;
        self.forget_neighbors();
    }

    /// The IP header of a message from us to a node that need not be a known neighbour.
    pub(super) fn own_envelope(&self, to: Neighbor, ttl: u8) -> Envelope {
        Envelope { src: self.address(to.port), dst: to.address, ttl, router_alert: false }
    }
}
