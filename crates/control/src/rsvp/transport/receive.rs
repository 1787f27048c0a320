//! The way up: from bytes to typed messages and events.

use super::super::states::{ReductionEvent, ReductionState};
use super::codec;
use super::counters::Malformed;
use super::integrity::Judgement;
use super::message_id::{History, NONE, Named, Standing};
use super::state::{TTL, Transport};
use super::types::{Arrival, Incoming, Neighbor, ReceivedId};
use crate::protocol::IpArrival;
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::rsvp::{
    Challenge, Common, Error, HelloMessage, Integrity, IntegrityChallenge, IntegrityResponse, Message,
    MessageId, MessageIdAck, MessageIdList, Packet, Reason, class, error_code,
};

/// Can it be the address of a neighbour?
fn is_of_host(address: Ipv4Addr) -> bool {
    !(address.is_multicast() || address.is_broadcast() || address.is_unspecified() || address.is_loopback())
}

impl Transport {
    /// An RSVP message came in an IP packet. What the LSP layer is to know is appended to `out`.
    pub fn receive(&mut self, now: Time, ip: &IpArrival, bytes: &[u8], out: &mut Vec<Incoming>) {
        self.now = now;
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += bytes.len() as u64;
        if !codec::is_bundle(bytes) {
            return self.receive_one(ip, bytes, 0, out);
        }
        self.counters.bundles_received += 1;
        let messages = match codec::sub_messages(bytes) {
            Ok(messages) => messages,
            Err(error) => return self.malformed(ip, 0, Malformed::Bundle, Some(error), out),
        };
        // RFC 2961, 3.4: each sub-message is processed as if it had been received by itself.
        let hops = codec::send_ttl(bytes).saturating_sub(ip.ttl);
        let mut empty = true;
        for (offset, message) in messages {
            empty = false;
            match message {
                // RFC 2961, 3.2: no Bundle in a Bundle.
                Ok(message) if codec::is_bundle(message) => {
                    self.malformed(ip, offset, Malformed::Bundle, None, out);
                }
                Ok(message) => {
                    let ttl = codec::send_ttl(message).saturating_sub(hops);
                    self.receive_one(&IpArrival { ttl, ..*ip }, message, offset, out);
                }
                Err(error) => self.malformed(ip, offset, Malformed::Bundle, Some(error), out),
            }
        }
        if empty {
            self.malformed(ip, 0, Malformed::Bundle, None, out);
        }
    }

    /// Discards a message that begins at byte `begins` of what came in. What the wire layer found is counted from
    /// there.
    pub(super) fn malformed(
        &mut self,
        ip: &IpArrival,
        begins: usize,
        reason: Malformed,
        error: Option<Error>,
        out: &mut Vec<Incoming>,
    ) {
        self.counters.malformed[reason as usize] += 1;
        let error = error.map(|error| error.within(begins));
        out.push(Incoming::Malformed { ip: *ip, begins, reason, error });
    }

    /// A message by itself, or one of a Bundle that begins at byte `offset` of it.
    fn receive_one(&mut self, ip: &IpArrival, bytes: &[u8], offset: usize, out: &mut Vec<Incoming>) {
        self.counters.messages_received += 1;
        let (flags, send_ttl, message) = match Packet::parse_boxed(bytes) {
            Ok(read) => read,
            Err(error) => return self.malformed(ip, offset, Malformed::Parse, Some(error), out),
        };
        let from = Neighbor { port: ip.port, address: codec::hop(&message).unwrap_or(ip.src) };
        // Whoever is asked by a group answers as another neighbour, so that neither is believed.
        if !is_of_host(from.address) {
            let reason = Reason::Invalid("an RSVP_HOP that is no address of a host");
            let error = Error { offset: 0, object: Some((class::RSVP_HOP, 1)), reason };
            return self.malformed(ip, offset, Malformed::Parse, Some(error), out);
        }
        if self.signs
            && let Err(reason) = self.authenticate(from, &message, bytes)
        {
            return self.malformed(ip, offset, reason, None, out);
        }
        let arrival = Arrival { ip: *ip, from, send_ttl, id: None };
        if self.tracks() {
            self.receive_tracked(arrival, flags, message, out);
            return;
        }
        match *message {
            Message::IntegrityChallenge(challenge) => self.answer(from, challenge.challenge),
            Message::Hello(HelloMessage { hello, .. }) => self.receive_greeting(&arrival, hello, out),
            _ if codec::is_control(&message) => {}
            _ => out.push(Incoming::Message(arrival, message)),
        }
    }

    /// Checks INTEGRITY, where the port has keys (RFC 2747, 4.2).
    fn authenticate(&mut self, from: Neighbor, message: &Message, bytes: &[u8]) -> Result<(), Malformed> {
        // RFC 2747, 4.3: a challenge is not signed.
        if self.keyring.port(from.port).is_none() || matches!(message, Message::IntegrityChallenge(_)) {
            return Ok(());
        }
        let integrity = message.common().and_then(|common| common.integrity);
        let integrity = integrity.ok_or(Malformed::IntegrityMissing)?;
        let key = self.keyring.key(self.now, from.port, integrity.key_id).ok_or(Malformed::KeyUnknown)?;
        if !codec::verify(bytes, &key.secret) {
            return Err(Malformed::Digest);
        }
        let judgement = match message {
            Message::IntegrityResponse(response) => {
                self.keyring.respond(from.port, from.address, &integrity, &response.challenge)
            }
            _ => self.keyring.judge(self.now, from.port, from.address, &integrity, &mut self.random),
        };
        match judgement {
            Judgement::Accept => Ok(()),
            Judgement::Reject(reason, challenge) => {
                if let Some(challenge) = challenge {
                    self.challenge(from, challenge);
                }
                Err(reason)
            }
        }
    }

    fn challenge(&mut self, to: Neighbor, challenge: Challenge) {
        self.counters.challenges_sent += 1;
        self.counters.messages_sent += 1;
        let message =
            Message::IntegrityChallenge(IntegrityChallenge { common: Common::default(), challenge });
        if let Some(bytes) = codec::emit(self.flags(), TTL, &message) {
            let envelope = self.own_envelope(to, TTL);
            self.datagram(to, envelope, bytes);
        }
    }

    /// Answers an Integrity Challenge under the key that it names (RFC 2747, 4.3).
    fn answer(&mut self, to: Neighbor, challenge: Challenge) {
        self.counters.challenges_received += 1;
        if !self.keyring.port(to.port).is_some_and(|keys| keys.handshake) {
            return;
        }
        if let Some(peer) = self.find(to) {
            self.flush_bundle(peer);
        }
        let key_id = challenge.key_id;
        // The neighbour may name a key that is not valid here.
        let Some((integrity, key)) = self.keyring.sign(self.now, to.port, Some(key_id)) else { return };
        let flags = if self.reduction.is_some() { Packet::REFRESH_REDUCTION_CAPABLE } else { 0 };
        let common = Common { integrity: Some(Integrity::new(key_id, 0)), ..Common::default() };
        let message = Message::IntegrityResponse(IntegrityResponse { common, challenge });
        let bytes =
            codec::emit(flags, TTL, &message).and_then(|bytes| codec::sign(&bytes, integrity, &key.secret));
        if let Some(bytes) = bytes {
            self.counters.messages_sent += 1;
            let envelope = self.own_envelope(to, TTL);
            self.datagram(to, envelope, bytes);
        }
    }

    fn receive_tracked(
        &mut self,
        arrival: Arrival,
        flags: u8,
        message: Box<Message>,
        out: &mut Vec<Incoming>,
    ) {
        let from = arrival.from;
        let capable = flags & Packet::REFRESH_REDUCTION_CAPABLE != 0;
        let message_id = message.common().and_then(|common| common.message_id);
        let greeting = matches!(*message, Message::Hello(_)) && self.hello.is_some();
        // A ResvConf comes from its far end, which is no neighbour.
        let near = !matches!(*message, Message::ResvConf(_));
        let reduces = self.reduction.is_some() && near && (capable || message_id.is_some());
        let peer = if greeting || reduces { self.peer(from) } else { self.find(from) };
        let Some(peer) = peer else {
            match *message {
                Message::IntegrityChallenge(challenge) => self.answer(from, challenge.challenge),
                Message::Hello(HelloMessage { hello, .. }) => {
                    self.receive_greeting(&arrival, hello, out);
                }
                _ if codec::is_control(&message) => {}
                _ => out.push(Incoming::Message(arrival, message)),
            }
            return;
        };
        self.peers[peer as usize].used = self.now;
        if self.reduction.is_some() {
            self.note_capability(peer, capable);
        }
        for &ack in message.common().map_or(&[][..], |common| &common.acks) {
            self.receive_ack(peer, ack, out);
        }
        let id = message_id.filter(|_| self.reduction.is_some()).map(|id| self.receive_id(peer, id));
        match *message {
            Message::Ack(_) | Message::IntegrityResponse(_) | Message::Bundle(_) => {}
            Message::IntegrityChallenge(challenge) => self.answer(from, challenge.challenge),
            Message::Hello(HelloMessage { hello, .. }) => self.receive_hello(peer, &arrival, hello, out),
            Message::Srefresh(summary) => {
                self.counters.summaries_received += 1;
                for list in &summary.lists {
                    self.receive_summary(peer, list, out);
                }
            }
            _ => {
                self.note_refusal(peer, &message);
                if let Some((id, _)) = id {
                    self.peers[peer as usize].tombstones.note(id.id, &message);
                }
                match id.map(|(id, repeated)| (id, self.repeats(id, repeated, &message))) {
                    Some((_, Repeat::Refresh(handle))) => {
                        self.counters.repeats += 1;
                        out.push(Incoming::Refreshed(handle));
                    }
                    Some((_, Repeat::Drop)) => self.counters.duplicates += 1,
                    Some((id, Repeat::No)) => {
                        out.push(Incoming::Message(Arrival { id: Some(id), ..arrival }, message));
                    }
                    None => out.push(Incoming::Message(arrival, message)),
                }
            }
        }
        self.rearm(peer);
    }

    /// RFC 2961, 2: the bit of every message is looked at; without it there are no more Bundles and summaries.
    fn note_capability(&mut self, peer: u32, capable: bool) {
        let assumed = self.reduction.as_ref().is_some_and(|r| r.config.assume_capable);
        let event = if capable || assumed { ReductionEvent::Offered } else { ReductionEvent::NotOffered };
        let entry = &mut self.peers[peer as usize];
        let before = entry.reduction;
        self.counters.faults.step(&mut entry.reduction, event);
        // To one that refuses MESSAGE_ID nothing is kept or gathered any more, but for what was before.
        if event == ReductionEvent::NotOffered && before != ReductionState::Plain {
            self.flush_bundle(peer);
            self.drop_copies(peer);
            self.peers[peer as usize].summaries.clear();
        }
    }

    /// RFC 2961, 4.8: a neighbour that does not know MESSAGE_ID answers it with an error, and gets again without it
    /// what it has refused.
    fn note_refusal(&mut self, peer: u32, message: &Message) {
        if let Message::PathErr(wire::rsvp::PathErr { error_spec, .. })
        | Message::ResvErr(wire::rsvp::ResvErr { error_spec, .. }) = message
            && error_spec.code == error_code::UNKNOWN_CLASS
            && error_spec.value.to_be_bytes()[0] == class::MESSAGE_ID
        {
            self.flush_bundle(peer);
            self.counters.faults.step(&mut self.peers[peer as usize].reduction, ReductionEvent::Refused);
            for copy in self.drop_copies(peer) {
                if let Some(bytes) = codec::without_id(&copy.bytes) {
                    self.transmit(peer, copy.envelope, bytes);
                }
            }
        }
    }

    /// A MESSAGE_ID came. Also says whether its like came before.
    fn receive_id(&mut self, peer: u32, id: MessageId) -> (ReceivedId, bool) {
        let delay = self.reduction.as_ref().map_or(Span::ZERO, |r| r.config.ack_delay);
        let entry = &mut self.peers[peer as usize];
        if entry.epoch.as_ref().is_none_or(|(epoch, _)| *epoch != id.epoch) {
            let known = entry.epoch.replace((id.epoch, History::new(id.id))).is_some();
            if known {
                // RFC 2961, 4.5: the neighbour restarted. Its identifiers are void, and so is what it acknowledged.
                entry.generation += 1;
                entry.session += 1;
                entry.tombstones.clear();
                self.counters.epoch_changes += 1;
                if self.own.states.len() > 0 && entry.resync.is_none() {
                    entry.resync = Some((0, self.now));
                }
            }
        }
        let repeated = entry.epoch.as_mut().is_some_and(|(_, history)| history.receive(id.id));
        let received = ReceivedId { peer, generation: entry.generation, id: id.id };
        // RFC 2961, 4.6: only what asks for it is acknowledged.
        if id.flags & MessageId::ACK_DESIRED != 0 {
            let ack = MessageIdAck { nack: false, flags: 0, epoch: id.epoch, id: id.id };
            self.queue_ack(peer, ack, delay);
        }
        (received, repeated)
    }

    fn queue_ack(&mut self, peer: u32, ack: MessageIdAck, delay: Span) {
        let max = self.acks_max(self.peers[peer as usize].neighbor.port);
        let at = self.now + delay;
        self.peers[peer as usize].acks.push(ack, at);
        if self.peers[peer as usize].acks.len() >= max {
            self.flush_acks(peer);
        }
    }

    /// Does the message say nothing new?
    fn repeats(&self, id: ReceivedId, repeated: bool, message: &Message) -> Repeat {
        if matches!(message, Message::Path(_) | Message::Resv(_)) {
            // RFC 2961, 4.5: the identifier of the state itself means a refresh.
            if let Some(handle) = self.bindings.find(id) {
                return Repeat::Refresh(handle);
            }
            let peer = &self.peers[id.peer as usize];
            let dead = peer.epoch.as_ref().is_some_and(|(_, history)| {
                history.is_dead(id.id) || history.is_overtaken(id.id) && peer.tombstones.cover(id.id, message)
            });
            return if dead { Repeat::Drop } else { Repeat::No };
        }
        // Tears and errors are not refreshed: a second one is a copy.
        if repeated { Repeat::Drop } else { Repeat::No }
    }

    fn receive_ack(&mut self, peer: u32, ack: MessageIdAck, out: &mut Vec<Incoming>) {
        if ack.nack {
            self.counters.nacks_received += 1;
        } else {
            self.counters.acks_received += 1;
        }
        if ack.epoch != self.own.epoch {
            self.counters.acks_unknown += 1;
            return;
        }
        let named = self.own.named(ack.id);
        match named {
            Some(Named::State(handle)) => {
                let Some(state) = self.own.states.get_mut(handle.0).filter(|state| state.peer == peer) else {
                    self.counters.acks_unknown += 1;
                    return;
                };
                if !ack.nack {
                    let slot = core::mem::replace(&mut state.slot, NONE);
                    state.standing = Standing::Acknowledged;
                    state.session = self.peers[peer as usize].session;
                    self.drop_copy(peer, slot);
                } else if state.slot == NONE {
                    // RFC 2961, 5.4: the neighbour does not have it: it needs the message in full.
                    state.standing = Standing::Unknown;
                    out.push(Incoming::SendFull(handle));
                }
            }
            Some(Named::Copy(slot)) if self.copies.get(slot).is_some_and(|copy| copy.peer == peer) => {
                if !ack.nack {
                    self.own.release(ack.id);
                    self.drop_copy(peer, slot);
                }
            }
            _ => self.counters.acks_unknown += 1,
        }
    }

    /// RFC 2961, 5.3 and 5.4: what is known is refreshed, what is not is answered with a NACK.
    fn receive_summary(&mut self, peer: u32, list: &MessageIdList, out: &mut Vec<Incoming>) {
        // The other lists belong to multicast sessions (RFC 2961, 5.1.2), which label-switched paths don't have.
        let MessageIdList::List { epoch, ids, .. } = list else { return };
        if self.reduction.is_none() {
            return;
        }
        let entry = &self.peers[peer as usize];
        let current = entry.epoch.as_ref().is_some_and(|(known, _)| known == epoch);
        let generation = entry.generation;
        for &id in ids {
            let known = if current { self.bindings.find(ReceivedId { peer, generation, id }) } else { None };
            match known {
                Some(handle) => {
                    self.counters.summary_ids_received += 1;
                    out.push(Incoming::Refreshed(handle));
                }
                None => {
                    // What is asked for again is no late copy when it comes.
                    if let (true, Some((_, history))) = (current, &mut self.peers[peer as usize].epoch) {
                        history.exhume(id);
                    }
                    let nack = MessageIdAck { nack: true, flags: 0, epoch: *epoch, id };
                    self.queue_ack(peer, nack, Span::ZERO);
                }
            }
        }
    }
}

/// What a message with a MESSAGE_ID does.
enum Repeat {
    /// It is no repetition: the LSP layer gets it.
    No,
    /// It refreshes this state and no more.
    Refresh(super::types::Handle),
    /// It is a late copy.
    Drop,
}
