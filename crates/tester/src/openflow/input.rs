//! What the machine hears: messages of the switch, and packets at its own ports.

use super::machine::{Machine, PROBE, Stage};
use super::packets::stamp;
use super::report::Standing;
use super::settings::Test;
use base::{Span, Time};
use wire::openflow::{Hello, Malformed, Rest, Version, message_len, v1_0, v1_3};

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
        let v1_0::Body::Hello(hello) = v1_0::Message::parse(&bytes).ok()?.body else { return None };
        return Some((version, hello));
    }
    bytes[0] = Version::V1_3 as u8;
    let v1_3::Body::Hello(hello) = v1_3::Message::parse(&bytes).ok()?.body else { return None };
    Some((version, hello))
}

/// What a message of the switch says to the tester, in either version.
enum Heard {
    EchoRequest(Rest),
    EchoReply(Rest),
    Barrier,
    PacketIn(Rest),
    /// An entry is gone.
    Removed,
    /// What entries have counted: packets.
    Counted(u64),
    Error,
    /// What no test is about.
    Other,
}

/// A message of a version, with its number.
fn understood(version: Version, bytes: &[u8]) -> Result<(u32, Heard), Malformed> {
    Ok(match version {
        Version::V1_0 => {
            let message = v1_0::Message::parse(bytes)?;
            let heard = match message.body {
                v1_0::Body::EchoRequest(data) => Heard::EchoRequest(data),
                v1_0::Body::EchoReply(data) => Heard::EchoReply(data),
                v1_0::Body::BarrierReply => Heard::Barrier,
                v1_0::Body::PacketIn(packet) => Heard::PacketIn(packet.data),
                v1_0::Body::FlowRemoved(_) => Heard::Removed,
                v1_0::Body::StatsReply(v1_0::StatsReply {
                    body: v1_0::StatsReplyBody::Aggregate(all),
                    ..
                }) => Heard::Counted(all.packets),
                v1_0::Body::Error(_) => Heard::Error,
                _ => Heard::Other,
            };
            (message.xid, heard)
        }
        Version::V1_3 => {
            let message = v1_3::Message::parse(bytes)?;
            let heard = match message.body {
                v1_3::Body::EchoRequest(data) => Heard::EchoRequest(data),
                v1_3::Body::EchoReply(data) => Heard::EchoReply(data),
                v1_3::Body::BarrierReply => Heard::Barrier,
                v1_3::Body::PacketIn(packet) => Heard::PacketIn(packet.data),
                v1_3::Body::FlowRemoved(_) => Heard::Removed,
                v1_3::Body::MultipartReply(v1_3::MultipartReply {
                    body: v1_3::ReplyBody::Aggregate(all),
                    ..
                }) => Heard::Counted(all.packets),
                v1_3::Body::Error(_) => Heard::Error,
                _ => Heard::Other,
            };
            (message.xid, heard)
        }
    })
}

impl Machine {
    /// A switch has connected; after a reset, too, though the test is over then.
    pub fn opened(&mut self) {
        let mut hello = self.messages();
        hello.hello();
        self.send(hello.bytes());
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
            match understood(self.settings.version.version(), bytes) {
                Ok((xid, heard)) => self.hear(now, xid, heard),
                Err(_) => self.report.errors += 1,
            }
        }
        self.input.drain(..read);
    }

    /// The first message of a switch: it says which versions it speaks, and that of the test has to be one of
    /// them.
    fn greet(&mut self, first: Option<(u8, Hello)>) {
        let Some((version, hello)) = first else {
            self.report.errors += 1;
            return;
        };
        if hello.agree(version, &[self.settings.version.version()]).is_none() {
            let mut refusal = self.messages();
            refusal.hello_failed();
            self.send(refusal.bytes());
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

    fn hear(&mut self, now: Time, xid: u32, heard: Heard) {
        match heard {
            Heard::EchoRequest(data) => {
                let mut reply = self.messages();
                reply.echo_reply(xid, &data);
                self.send(reply.bytes());
            }
            Heard::EchoReply(data) if self.settings.test == Test::Control => {
                if let Some((sent, rest)) = data.0.split_first_chunk::<8>()
                    && let Some(number) = rest.first_chunk::<8>()
                {
                    self.arrived(now, u64::from_be_bytes(*number), Time(u64::from_be_bytes(*sent)));
                }
            }
            Heard::Barrier => self.barred(now, xid),
            Heard::PacketIn(data) => {
                self.report.packet_ins += 1;
                self.packet_in(now, &data.0);
            }
            Heard::Removed => self.removed(now),
            Heard::Counted(count) => self.counted(now, xid, count),
            Heard::Error => self.report.errors += 1,
            Heard::EchoReply(_) | Heard::Other => {}
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
            Test::FlowAdd | Test::FlowMod | Test::FlowExpiry | Test::Statistics => {}
        }
        if matches!(self.stage, Stage::Confirming { .. }) {
            self.confirm(stamp.entry);
        }
        if stamp.number == PROBE || !self.is_new(stamp.number) {
            return;
        }
        self.report.received += 1;
        self.passed(stamp.sent);
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
