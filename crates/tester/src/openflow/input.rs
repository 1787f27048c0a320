//! What the machine hears: messages of the switch, and packets at its own ports.

use super::machine::{Machine, PROBE, Stage};
use super::messages;
use super::packets::stamp;
use super::report::Standing;
use super::settings::Test;
use base::{Span, Time};
use wire::openflow::v1_0::{self, Body, Message};
use wire::openflow::{Hello, Version, message_len, v1_3};

/// The type of a HELLO, in all versions.
const HELLO: u8 = 0;

/// A message, if it is a HELLO of any version, with the version of its header. Elements of one that is later than ours
/// are laid out as they are in 1.3.
fn hello(bytes: &[u8]) -> Option<(u8, Hello)> {
    let (&version, kind) = (bytes.first()?, bytes.get(1)?);
    if *kind != HELLO {
        return None;
    }
    let mut bytes = bytes.to_vec();
    if version <= Version::V1_0 as u8 {
        bytes[0] = Version::V1_0 as u8;
        let v1_0::Body::Hello(hello) = Message::parse(&bytes).ok()?.body else { return None };
        return Some((version, hello));
    }
    bytes[0] = Version::V1_3 as u8;
    let v1_3::Body::Hello(hello) = v1_3::Message::parse(&bytes).ok()?.body else { return None };
    Some((version, hello))
}

impl Machine {
    /// A switch has connected; after a reset, too, though the test is over then.
    pub fn opened(&mut self) {
        let mut hello = Vec::new();
        messages::hello(&mut hello);
        self.send(hello);
    }

    /// The switch has sent bytes.
    pub fn received(&mut self, now: Time, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let mut read = 0;
        while let Some(len) = message_len(&self.input[read..]) {
            let bytes = &self.input[read..read + len];
            read += len;
            if !self.is_greeted {
                let hello = hello(bytes);
                self.greet(hello);
                continue;
            }
            match Message::parse(bytes) {
                Ok(message) => self.hear(now, message),
                Err(_) => self.report.errors += 1,
            }
        }
        self.input.drain(..read);
    }

    /// The first message of a switch: it says which versions it speaks, and 1.0 has to be one of them.
    fn greet(&mut self, first: Option<(u8, Hello)>) {
        let Some((version, hello)) = first else {
            self.report.errors += 1;
            return;
        };
        if hello.agree(version, &[Version::V1_0]).is_none() {
            let mut refusal = Vec::new();
            messages::hello_failed(&mut refusal);
            self.send(refusal);
            self.report.errors += 1;
            if self.report.standing == Standing::Waiting {
                self.report.standing = Standing::Refused;
            }
            return;
        }
        self.is_greeted = true;
        if matches!(self.report.standing, Standing::Waiting | Standing::Refused) {
            self.prepare();
        }
    }

    fn hear(&mut self, now: Time, message: Message) {
        match message.body {
            Body::EchoRequest(data) => {
                let mut reply = Vec::new();
                messages::echo_reply(&mut reply, message.xid, data);
                self.send(reply);
            }
            Body::EchoReply(data) if self.settings.test == Test::Control => {
                if let Some((sent, rest)) = data.0.split_first_chunk::<8>()
                    && let Some(number) = rest.first_chunk::<8>()
                {
                    self.arrived(now, u64::from_be_bytes(*number), Time(u64::from_be_bytes(*sent)));
                }
            }
            Body::BarrierReply => self.barred(now, message.xid),
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
            self.arrived(now, stamp.number, stamp.sent);
        }
    }

    /// A frame has come by a data port of the tester.
    pub fn packet(&mut self, now: Time, port: usize, bytes: &[u8]) {
        let Some(stamp) = stamp(bytes).filter(|_| port == 1) else { return };
        match self.settings.test {
            Test::Data | Test::PacketOut => return self.arrived(now, stamp.number, stamp.sent),
            Test::PacketIn | Test::PacketInAction | Test::Control => return,
            Test::FlowAdd | Test::FlowMod => {}
        }
        if matches!(self.stage, Stage::Confirming { .. }) {
            self.confirm(stamp.entry);
        }
        if stamp.number == PROBE || !self.is_new(stamp.number) {
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
    fn arrived(&mut self, now: Time, number: u64, sent: Time) {
        if !self.is_new(number) {
            return;
        }
        if self.end < now || self.report.standing == Standing::Reset {
            self.report.late += 1;
            return;
        }
        self.report.received += 1;
        self.report.delays.push((now - sent).max(Span::ZERO));
    }
}
