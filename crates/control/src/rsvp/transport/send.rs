//! The way down: which MESSAGE_ID a message gets, what is kept of it, and what incoming state stands for.

use super::super::faults::Fault;
use super::codec;
use super::message_id::{Advertised, NONE, Named, Standing};
use super::retransmit;
use super::state::Transport;
use super::summary::ACK_BYTES;
use super::types::{Delivery, Envelope, Handle, Neighbor, ReceivedId};
use base::Time;
use wire::rsvp::{Message, MessageId};

/// What becomes of a message that is sent.
struct Plan {
    message_id: Option<MessageId>,
    /// Keep a copy until it is acknowledged.
    keep: Option<Option<Handle>>,
}

impl Plan {
    const PLAIN: Plan = Plan { message_id: None, keep: None };
}

impl Transport {
    /// The bytes of a message to a router that is no neighbour: without identifiers, acknowledgements and signature.
    pub fn plain(&mut self, ttl: u8, message: &Message) -> Option<Vec<u8>> {
        let bytes = codec::emit(0, ttl, message);
        match bytes {
            Some(_) => self.counters.messages_sent += 1,
            None => self.counters.unsendable += 1,
        }
        bytes
    }

    /// Sends a message to a neighbour. MESSAGE_ID, acknowledgements and INTEGRITY of `message` are overwritten.
    pub fn send(
        &mut self,
        now: Time,
        to: Neighbor,
        envelope: Envelope,
        message: &mut Message,
        delivery: Delivery,
    ) {
        self.now = now;
        let peer = if self.tracks() { self.peer(to) } else { None };
        let plan = match peer {
            Some(peer) => {
                self.peers[peer as usize].used = now;
                self.greet(peer);
                self.plan(peer, delivery)
            }
            None => Plan::PLAIN,
        };
        if let Some(common) = message.common_mut() {
            common.message_id = plan.message_id;
            common.acks.clear();
            common.integrity = None;
        }
        let flags = self.flags();
        let Some(mut bytes) = codec::emit_into(self.spare.take(), flags, envelope.ttl, message) else {
            self.unsendable(&plan);
            return;
        };
        let Some(peer) = peer else {
            self.push(to, envelope, bytes);
            return;
        };
        if let (Some(handle), Some(message_id)) = (plan.keep, plan.message_id) {
            self.keep(peer, message_id.id, handle, envelope, &bytes);
        }
        // RFC 2961, 4.6: acknowledgements ride on messages that are addressed to the neighbour itself.
        if !self.bundles(peer) && envelope.dst == to.address && self.peers[peer as usize].acks.len() > 0 {
            let room = self.room(to.port).saturating_sub(bytes.len());
            let acks = self.peers[peer as usize].acks.take(room / ACK_BYTES);
            self.count_acks(&acks);
            if let Some(common) = message.common_mut() {
                common.acks = acks;
                if let Some(longer) = codec::emit(self.flags(), envelope.ttl, message) {
                    bytes = longer;
                }
            }
        }
        self.transmit(peer, envelope, bytes);
        self.rearm(peer);
    }

    /// Which MESSAGE_ID a message gets, and whether a copy is kept.
    fn plan(&mut self, peer: u32, delivery: Delivery) -> Plan {
        // Without refresh reduction there are no identifiers.
        let Some(reduction) = &self.reduction else { return Plan::PLAIN };
        // What leaves by a port that is down is lost: nothing is gained by keeping it.
        let down = self.down.contains(&self.peers[peer as usize].neighbor.port);
        let capable = self.peers[peer as usize].is_capable() && !down;
        let full = self.peers[peer as usize].schedule.len() >= reduction.config.outstanding_max;
        match delivery {
            Delivery::Plain => Plan::PLAIN,
            Delivery::Reliable if !capable => Plan::PLAIN,
            Delivery::Reliable if full => {
                self.counters.outstanding_full += 1;
                Plan::PLAIN
            }
            Delivery::Reliable => {
                let id = self.own.assign(Named::Copy(NONE));
                Plan { message_id: Some(self.message_id(id, true)), keep: Some(None) }
            }
            Delivery::Trigger(handle) | Delivery::Refresh(handle) if !capable => {
                self.forget(handle);
                Plan::PLAIN
            }
            Delivery::Refresh(handle) => {
                let known = self.own.states.get(handle.0).copied();
                match known.filter(|state| state.peer == peer && !self.own.is_old(state.id)) {
                    Some(state) => self.plan_refresh(peer, handle, state),
                    None => self.plan_trigger(peer, handle, full),
                }
            }
            Delivery::Trigger(handle) => self.plan_trigger(peer, handle, full),
        }
    }

    /// RFC 2961, 4.5: a trigger message has an identifier greater than all before it, and takes the place of what was
    /// sent for the same state.
    fn plan_trigger(&mut self, peer: u32, handle: Handle, full: bool) -> Plan {
        self.forget(handle);
        let id = self.own.assign(Named::State(handle));
        let session = self.peers[peer as usize].session;
        let state = Advertised { peer, id, session, slot: NONE, standing: Standing::Unknown };
        self.own.states.set(handle.0, state);
        if full {
            self.counters.outstanding_full += 1;
        }
        Plan { message_id: Some(self.message_id(id, true)), keep: (!full).then_some(Some(handle)) }
    }

    /// RFC 2961, 4.5: a refresh message has the identifier that first advertised the state. It asks for an
    /// acknowledgement as long as none came, and is retransmitted if nothing else is.
    fn plan_refresh(&mut self, peer: u32, handle: Handle, state: Advertised) -> Plan {
        if self.peers[peer as usize].holds(&state) {
            return Plan { message_id: Some(self.message_id(state.id, false)), keep: None };
        }
        let message_id = Some(self.message_id(state.id, true));
        let repeat = state.slot == NONE && state.standing != Standing::GivenUp;
        if let Some(state) = self.own.states.get_mut(handle.0)
            && state.standing == Standing::Acknowledged
        {
            state.standing = Standing::Unknown;
        }
        Plan { message_id, keep: repeat.then_some(Some(handle)) }
    }

    const fn message_id(&self, id: u32, ack: bool) -> MessageId {
        let flags = if ack { MessageId::ACK_DESIRED } else { 0 };
        MessageId { flags, epoch: self.own.epoch, id }
    }

    /// A message that can't be emitted leaves nothing behind.
    fn unsendable(&mut self, plan: &Plan) {
        self.counters.unsendable += 1;
        match (plan.keep, plan.message_id) {
            (Some(Some(handle)), _) => self.forget(handle),
            (Some(None), Some(message_id)) => self.own.release(message_id.id),
            _ => {}
        }
    }

    fn keep(&mut self, peer: u32, id: u32, handle: Option<Handle>, envelope: Envelope, bytes: &[u8]) {
        let Some(&interval) = self.reduction.as_ref().and_then(|reduction| reduction.intervals.first())
        else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        let message = retransmit::Message { peer, id, handle, envelope, bytes: bytes.into() };
        let schedule = &mut self.peers[peer as usize].schedule;
        let slot = schedule.add(&mut self.copies, message, self.now + interval, &mut self.counters.faults);
        match handle {
            Some(handle) => {
                if let Some(state) = self.own.states.get_mut(handle.0) {
                    state.slot = slot;
                }
            }
            None => self.own.rename(id, Named::Copy(slot)),
        }
    }

    /// Can a summary refresh take the place of a refresh message to this neighbour (RFC 2961, 5.3)? If so, it will;
    /// if not, the message is to be sent in full.
    pub fn refresh(&mut self, now: Time, to: Neighbor, handle: Handle) -> bool {
        self.now = now;
        // Without refresh reduction, and of what was not advertised under an identifier, there is no summary.
        let Some(reduction) = &self.reduction else { return false };
        let Some(&state) = self.own.states.get(handle.0) else { return false };
        let delay = reduction.config.summary_delay;
        let full = self.summary_max(to.port);
        let old = self.own.is_old(state.id);
        let Some(peer) = self.peers.get_mut(state.peer as usize) else {
            self.counters.faults.note(Fault::NoNeighbor);
            return false;
        };
        if peer.neighbor != to || !peer.is_capable() || !peer.holds(&state) || old {
            return false;
        }
        peer.summaries.push(now, state.id, full, delay);
        self.rearm(state.peer);
        true
    }

    /// The outgoing state is gone: it is neither retransmitted nor refreshed any more.
    pub fn forget(&mut self, handle: Handle) {
        if let Some(state) = self.own.states.take(handle.0) {
            self.own.release(state.id);
            self.drop_copy(state.peer, state.slot);
            self.rearm(state.peer);
        }
    }

    /// A PathErr or ResvErr shows that the neighbour received what was sent for `handle` (RFC 2961, 4.5).
    pub fn acknowledge(&mut self, handle: Handle) {
        // What was sent without an identifier awaits no acknowledgement.
        let Some(state) = self.own.states.get_mut(handle.0) else { return };
        let Some(peer) = self.peers.get(state.peer as usize) else {
            return self.counters.faults.note(Fault::NoNeighbor);
        };
        let slot = core::mem::replace(&mut state.slot, NONE);
        (state.standing, state.session) = (Standing::Acknowledged, peer.session);
        let peer = state.peer;
        self.drop_copy(peer, slot);
        self.rearm(peer);
    }

    pub(super) fn drop_copy(&mut self, peer: u32, slot: u32) {
        if let Some(peer) = self.peers.get_mut(peer as usize) {
            peer.schedule.remove(&mut self.copies, slot, &mut self.counters.faults);
        }
    }

    /// The identifier of a received message stands for `handle` from now on, so that the neighbour can refresh it. A
    /// message that sets several states is bound to each of them.
    pub fn bind(&mut self, id: ReceivedId, handle: Handle) {
        if let Some(replaced) = self.bindings.bind(id, handle) {
            self.bury(id.peer, id.generation, replaced);
        }
    }

    /// Is a message with `id` older than the one that set the state of `handle` (RFC 2961, 4.5)? Then it is to be
    /// dropped.
    pub fn out_of_order(&self, id: ReceivedId, handle: Handle) -> bool {
        self.bindings.out_of_order(id, handle)
    }

    /// The incoming state is gone, and the neighbour does not know (it timed out, say): a summary refresh is answered
    /// by a NACK, a full refresh is a message like any other.
    pub fn unbind(&mut self, handle: Handle) {
        self.bindings.unbind(handle);
    }

    /// The incoming state is gone because the neighbour said so: late copies of what it sent before are dropped.
    pub fn retire(&mut self, handle: Handle) {
        if let Some(ReceivedId { peer, generation, id }) = self.bindings.unbind(handle) {
            self.bury(peer, generation, id);
        }
    }

    /// The next of the incoming states that the same message set, in a ring: alone, a state is beside itself.
    pub fn beside(&self, handle: Handle) -> Handle {
        self.bindings.beside(handle)
    }

    fn bury(&mut self, peer: u32, generation: u32, id: u32) {
        if let Some(peer) = self.peers.get_mut(peer as usize)
            && peer.generation == generation
            && let Some((_, history)) = &mut peer.epoch
        {
            history.bury(id);
        }
    }
}
