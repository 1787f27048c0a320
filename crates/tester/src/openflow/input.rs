//! What the machine hears: messages of the switch, and packets at its own ports.

use super::machine::{Machine, Stage};
use super::messages;
use super::packets::stamp;
use super::report::Standing;
use super::settings::Test;
use base::{Span, Time};
use wire::openflow::message_len;
use wire::openflow::v1_0::{Body, Message};

impl Machine {
    /// A switch has connected.
    pub fn opened(&mut self) {
        if self.report.standing == Standing::Waiting {
            let mut hello = Vec::new();
            messages::hello(&mut hello);
            self.send(hello);
        }
    }

    /// The switch has sent bytes.
    pub fn received(&mut self, now: Time, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let mut read = 0;
        while let Some(len) = message_len(&self.input[read..]) {
            let message = Message::parse(&self.input[read..read + len]);
            read += len;
            match message {
                Ok(message) => self.hear(now, message),
                Err(_) => self.report.errors += 1,
            }
        }
        self.input.drain(..read);
    }

    fn hear(&mut self, now: Time, message: Message) {
        match message.body {
            Body::Hello(_) if self.report.standing == Standing::Waiting => self.prepare(),
            Body::EchoRequest(data) => {
                let mut reply = Vec::new();
                messages::echo_reply(&mut reply, message.xid, data);
                self.send(reply);
            }
            Body::EchoReply(data) if self.settings.test == Test::Control => {
                if let Some(sent) = data.0.first_chunk::<8>() {
                    self.arrived(now, Time(u64::from_be_bytes(*sent)));
                }
            }
            Body::BarrierReply if self.report.standing == Standing::Preparing => self.start(now),
            Body::BarrierReply => {
                if let Some(round) = self.report.rounds.last_mut() {
                    round.barrier = round.barrier.or(Some(now - round.begun));
                }
            }
            Body::PacketIn(packet) => {
                self.report.packet_ins += 1;
                self.packet_in(now, &packet.data.0);
            }
            Body::Error(_) => self.report.errors += 1,
            _ => {}
        }
    }

    fn packet_in(&mut self, now: Time, data: &[u8]) {
        let Some(stamp) = stamp(data) else { return };
        if matches!(self.settings.test, Test::PacketIn | Test::PacketInAction) {
            self.arrived(now, stamp.sent);
        }
    }

    /// A frame has come by a data port of the tester.
    pub fn packet(&mut self, now: Time, port: usize, bytes: &[u8]) {
        let Some(stamp) = stamp(bytes).filter(|_| port == 1) else { return };
        if !self.has_rounds() {
            return self.arrived(now, stamp.sent);
        }
        if matches!(self.stage, Stage::Confirming { .. }) {
            self.confirm(now, stamp.entry);
        }
        if stamp.number == u64::MAX {
            return;
        }
        self.report.received += 1;
        // A packet that left before the round began was on its way through the round before.
        let begun = self.report.rounds.last().map_or(Time::MAX, |round| round.begun);
        if self.stage == Stage::Under && stamp.entry == self.last() && stamp.sent >= begun {
            self.reached(now);
        }
    }

    /// What was sent then is there. What comes after the end of the test counts as late.
    fn arrived(&mut self, now: Time, sent: Time) {
        if self.end < now || self.report.standing == Standing::Reset {
            self.report.late += 1;
            return;
        }
        self.report.received += 1;
        self.report.delays.push((now - sent).max(Span::ZERO));
    }
}
