//! The way out: signing, bundling, acknowledgements, datagrams.

use super::bundle::{self, Contents};
use super::codec;
use super::state::{TTL, Transport};
use super::summary::{ACK_BYTES, HEADER_BYTES, INTEGRITY_BYTES, LIST_BYTES};
use super::types::{Datagram, Envelope, Neighbor};
use base::{PortId, Span};
use wire::rsvp::{Ack, Common, Message, MessageIdAck};

impl Transport {
    /// Bytes that a message on this port may have, without INTEGRITY.
    pub(super) fn room(&self, port: PortId) -> usize {
        let max = self.reduction.as_ref().map_or(1480, |r| r.config.message_max());
        if self.keyring.port(port).is_some() { max - INTEGRITY_BYTES } else { max }
    }

    /// Identifiers that a summary refresh on this port may have.
    pub(super) fn summary_max(&self, port: PortId) -> usize {
        ((self.room(port) - HEADER_BYTES - LIST_BYTES) / 4).max(1)
    }

    /// Acknowledgements that an Ack message on this port may have.
    pub(super) fn acks_max(&self, port: PortId) -> usize {
        ((self.room(port) - HEADER_BYTES) / ACK_BYTES).max(1)
    }

    /// Are messages to this neighbour bundled?
    pub(super) fn bundles(&self, peer: u32) -> bool {
        self.reduction.as_ref().is_some_and(|r| r.config.bundle_delay.is_some())
            && self.peers[peer as usize].is_capable()
    }

    /// Sends a finished message, now or in a Bundle (RFC 2961, 3.3).
    pub(super) fn transmit(&mut self, peer: u32, envelope: Envelope, bytes: Vec<u8>) {
        let neighbor = self.peers[peer as usize].neighbor;
        let delay = self.reduction.as_ref().and_then(|r| r.config.bundle_delay);
        let Some(delay) = delay.filter(|_| self.bundles(peer)) else {
            self.push(neighbor, envelope, bytes);
            return;
        };
        let max = self.reduction.as_ref().map_or(0, |r| r.config.message_max());
        let integrity = if self.keyring.port(neighbor.port).is_some() { INTEGRITY_BYTES } else { 0 };
        if self.peers[peer as usize].buffer.len().max(bundle::HEADER) + bytes.len() + integrity > max {
            self.flush_bundle(peer);
        }
        let bytes = self.signed(neighbor.port, bytes);
        self.counters.messages_sent += 1;
        if bundle::HEADER + bytes.len() > max {
            self.datagram(neighbor, envelope, bytes);
            return;
        }
        let buffer = &mut self.peers[peer as usize].buffer;
        if buffer.is_empty() {
            if delay <= Span::ZERO {
                self.immediate.push_back(peer);
            } else {
                buffer.at = Some(self.now + delay);
            }
        }
        let spare = buffer.push(envelope, bytes);
        self.spare.keep(spare);
    }

    /// Sends what was gathered for a neighbour, with the acknowledgements that fit in.
    pub(super) fn flush_bundle(&mut self, peer: u32) {
        let index = peer as usize;
        if self.peers[index].buffer.is_empty() {
            return;
        }
        let neighbor = self.peers[index].neighbor;
        let room = self.room(neighbor.port).saturating_sub(self.peers[index].buffer.len() + HEADER_BYTES);
        let acks = self.peers[index].acks.take(room / ACK_BYTES);
        if !acks.is_empty() {
            let (envelope, bytes) = self.ack_message(peer, acks);
            let bytes = self.signed(neighbor.port, bytes);
            self.counters.messages_sent += 1;
            let spare = self.peers[index].buffer.push(envelope, bytes);
            self.spare.keep(spare);
        }
        let (envelope, flags) = (self.hop_by_hop(peer, TTL), self.flags());
        match self.peers[index].buffer.take(flags, TTL) {
            Some(Contents::Alone(envelope, bytes)) => self.datagram(neighbor, envelope, bytes),
            Some(Contents::Bundle(bytes)) => {
                self.counters.bundles_sent += 1;
                self.datagram(neighbor, envelope, bytes);
            }
            None => {}
        }
    }

    /// Sends all acknowledgements that wait, with the messages that wait or in messages of their own.
    pub(super) fn flush_acks(&mut self, peer: u32) {
        self.flush_bundle(peer);
        let neighbor = self.peers[peer as usize].neighbor;
        let max = self.acks_max(neighbor.port);
        while self.peers[peer as usize].acks.len() > 0 {
            let acks = self.peers[peer as usize].acks.take(max);
            let (envelope, bytes) = self.ack_message(peer, acks);
            self.push(neighbor, envelope, bytes);
        }
    }

    fn ack_message(&mut self, peer: u32, acks: Vec<MessageIdAck>) -> (Envelope, Vec<u8>) {
        self.count_acks(&acks);
        let message = Message::Ack(Ack { common: Common { acks, ..Common::default() } });
        let bytes = codec::emit_into(self.spare.take(), self.flags(), TTL, &message).unwrap_or_default();
        if let Message::Ack(Ack { common }) = message {
            self.peers[peer as usize].acks.give_back(common.acks);
        }
        (self.hop_by_hop(peer, TTL), bytes)
    }

    pub(super) fn count_acks(&mut self, acks: &[MessageIdAck]) {
        let nacks = acks.iter().filter(|ack| ack.nack).count() as u64;
        self.counters.nacks_sent += nacks;
        self.counters.acks_sent += acks.len() as u64 - nacks;
    }

    /// The IP header of a message from us to a neighbour.
    pub(super) fn hop_by_hop(&self, peer: u32, ttl: u8) -> Envelope {
        let peer = &self.peers[peer as usize];
        Envelope { src: peer.local, dst: peer.neighbor.address, ttl, router_alert: false }
    }

    /// Signs a message if its port has keys.
    fn signed(&mut self, port: PortId, bytes: Vec<u8>) -> Vec<u8> {
        if !self.signs {
            return bytes;
        }
        match self.keyring.sign(self.now, port, None) {
            Some((integrity, key)) => codec::sign(&bytes, integrity, &key.secret).unwrap_or_default(),
            None => bytes,
        }
    }

    /// Signs a message and sends it by itself.
    pub(super) fn push(&mut self, to: Neighbor, envelope: Envelope, bytes: Vec<u8>) {
        // Sequence numbers must leave in order: what has one goes first.
        if self.signs
            && let Some(peer) = self.find(to)
        {
            self.flush_bundle(peer);
        }
        self.counters.messages_sent += 1;
        let bytes = self.signed(to.port, bytes);
        self.datagram(to, envelope, bytes);
    }

    pub(super) fn datagram(&mut self, to: Neighbor, envelope: Envelope, bytes: Vec<u8>) {
        if bytes.is_empty() {
            self.counters.unsendable += 1;
            return;
        }
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += bytes.len() as u64;
        self.output.push_back(Datagram { port: to.port, next: Some(to.address), envelope, bytes });
    }

    /// Memory of a datagram that has been sent: it is used again.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        self.spare.keep(bytes);
    }

    /// The next datagram to be sent.
    pub fn poll_output(&mut self) -> Option<Datagram> {
        while self.output.is_empty() {
            let peer = self.immediate.pop_front()?;
            self.flush_bundle(peer);
            self.rearm(peer);
        }
        self.output.pop_front()
    }
}
