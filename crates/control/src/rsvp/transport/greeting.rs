//! Hello messages on their way in and out (RFC 3209, 5).

use super::codec;
use super::counters::Malformed;
use super::hello::{Change, Session};
use super::state::Transport;
use super::types::{Arrival, Incoming};
use base::Span;
use rand::Rng;
use wire::rsvp::{Common, Hello, HelloMessage, Message};

/// TTL of Hello messages (RFC 3209, 5.1).
const HELLO_TTL: u8 = 1;
/// A neighbour that was silent for so long, and for so many intervals, may be forgotten.
const SILENCE: Span = Span::from_secs(60);
const SILENT_INTERVALS: i64 = 10;

impl Transport {
    /// Counts a Hello; one without an instance is malformed (RFC 3209, 5.2), which does not end its processing (5.3).
    fn count_hello(&mut self, arrival: &Arrival, hello: Hello, out: &mut Vec<Incoming>) {
        self.counters.hellos_received += 1;
        let (Hello::Request { src_instance, .. } | Hello::Ack { src_instance, .. }) = hello;
        if src_instance == 0 {
            self.malformed(&arrival.ip, 0, Malformed::HelloInstance, None, out);
        }
    }

    /// A Hello from a neighbour whose state is not tracked. RFC 3209, 5: one side can use the mechanism while the other
    /// does not; all that it takes here is an answer, under one instance until the next restart.
    pub(super) fn receive_greeting(&mut self, arrival: &Arrival, hello: Hello, out: &mut Vec<Incoming>) {
        self.count_hello(arrival, hello, out);
        // An acknowledgement needs no answer.
        let Hello::Request { src_instance: dst_instance, .. } = hello else { return };
        let src_instance = match self.instance {
            Some(instance) => instance,
            None => *self.instance.insert(self.random.next_u32().max(1)),
        };
        let answer = Hello::Ack { src_instance, dst_instance };
        self.counters.hellos_sent += 1;
        if let Some(bytes) = self.hello_bytes(answer) {
            let envelope = self.own_envelope(arrival.from, HELLO_TTL);
            self.push(arrival.from, envelope, bytes);
        }
    }

    fn hello_bytes(&self, hello: Hello) -> Option<Vec<u8>> {
        let message = Message::Hello(HelloMessage { common: Common::default(), hello });
        codec::emit(self.flags(), HELLO_TTL, &message)
    }

    pub(super) fn receive_hello(
        &mut self,
        peer: u32,
        arrival: &Arrival,
        hello: Hello,
        out: &mut Vec<Incoming>,
    ) {
        let Some(config) = self.hello else { return self.receive_greeting(arrival, hello, out) };
        self.count_hello(arrival, hello, out);
        self.greet(peer);
        // By a port that is down nothing is exchanged.
        let Some(session) = &mut self.peers[peer as usize].hello else { return };
        let (answer, change) =
            session.receive(self.now, hello, &config, &mut self.random, &mut self.counters.faults);
        if let Some(answer) = answer {
            self.send_hello(peer, answer);
        }
        self.note_change(peer, change, out);
    }

    pub(super) fn send_hello(&mut self, peer: u32, hello: Hello) {
        self.counters.hellos_sent += 1;
        if let Some(bytes) = self.hello_bytes(hello) {
            let envelope = self.hop_by_hop(peer, HELLO_TTL);
            self.push(self.peers[peer as usize].neighbor, envelope, bytes);
        }
    }

    /// RFC 3209, 5.3, has Hellos go to neighbours whose status is tracked: that of one that was never there, or is
    /// gone, need not be.
    pub(super) fn note_silence(&mut self, peer: u32, out: &mut Vec<Incoming>) {
        let Some(config) = self.hello else { return };
        let waits = SILENCE.max(Span(config.interval.0.saturating_mul(SILENT_INTERVALS)));
        let entry = &mut self.peers[peer as usize];
        let is_up = entry.hello.as_ref().is_some_and(Session::is_up);
        if !is_up && entry.used + waits <= self.now {
            // If it stays, the question comes again.
            entry.used = self.now;
            out.push(Incoming::Silent(entry.neighbor));
        }
    }

    pub(super) fn note_change(&mut self, peer: u32, change: Change, out: &mut Vec<Incoming>) {
        let entry = &mut self.peers[peer as usize];
        let neighbor = entry.neighbor;
        match change {
            Change::None => {}
            Change::Up => out.push(Incoming::NeighborUp(neighbor)),
            Change::Down { restarted } => {
                // What it acknowledged is void until it says so again.
                entry.session += 1;
                out.push(Incoming::NeighborDown { neighbor, restarted });
            }
        }
    }
}
