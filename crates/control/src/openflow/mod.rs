//! The channel of a switch to a controller: version negotiation, how a stream divides into messages, echo requests
//! when the other end is silent, and attempts to connect that come less and less often. What messages mean is for the
//! switch, which has the tables.
//!
//! - [`states`](ChannelState): what becomes of a connection
//! - [`Channel`]: one connection
//!
//! Drain order: after each call of [`Channel::opened`], [`Channel::receive`] or [`Channel::handle_timeout`], call
//! [`Channel::poll`] until it returns nothing, then send [`Channel::take_output`], then read [`Channel::poll_timeout`].

mod states;
#[cfg(test)]
mod tests;

pub use states::{ChannelEvent, ChannelState};

use crate::machine::{Chart, State};
use base::{Span, Time};
use wire::openflow::{Code, ErrorMessage, HEADER_LEN, Hello, Rest, Version, message_len, v1_0, v1_3};

/// The state machines of this protocol.
pub const CHARTS: &[Chart] = &[ChannelState::CHART];

/// The shortest time between two attempts to connect, and the longest.
const BACKOFF: [Span; 2] = [Span::from_secs(1), Span::from_secs(8)];
/// How long the other end may take to say which versions it speaks, if nothing else is said of its silence.
const GREETING: Span = Span::from_secs(8);
/// Types of messages that all versions have.
const HELLO: u8 = 0;
const ECHO_REQUEST: u8 = 2;
const ECHO_REPLY: u8 = 3;

/// How a switch keeps its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelConfig {
    /// Versions that it speaks.
    pub versions: Vec<Version>,
    /// After how long without a message it asks whether the other end is there; after as long again it gives up. Never
    /// if absent.
    pub probe: Option<Span>,
}

/// What a channel has for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A version is agreed on: messages follow.
    Up(Version),
    /// A message of the version that was agreed on, whole.
    Message(Vec<u8>),
    /// The header of a message that says that it is shorter than that, which is to be answered; *Close* follows.
    Malformed(Vec<u8>),
    /// The connection is to be closed, once what is to be sent is sent.
    Close,
}

/// A connection to a controller.
#[derive(Clone, Debug)]
pub struct Channel {
    config: ChannelConfig,
    state: ChannelState,
    version: Option<Version>,
    input: Vec<u8>,
    /// Bytes of `input` that have been read.
    read: usize,
    output: Vec<u8>,
    told: Option<Told>,
    heard: Time,
    due: Option<Time>,
    backoff: Span,
    attempts: u32,
    next_xid: u32,
}

impl Channel {
    /// A connection that is not there yet. One that this switch sets up is due at once.
    pub fn new(config: ChannelConfig, active: bool, now: Time) -> Channel {
        Channel {
            config,
            state: ChannelState::Waiting,
            version: None,
            input: Vec::new(),
            read: 0,
            output: Vec::new(),
            told: None,
            heard: now,
            due: active.then_some(now),
            backoff: BACKOFF[0],
            attempts: 0,
            next_xid: 1,
        }
    }

    /// How far it is.
    pub fn state(&self) -> ChannelState {
        self.state
    }

    /// The version that was agreed on.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Attempts to set it up since a version was agreed on for the last time, or ever; the one that goes on included.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// A transaction number for a message that answers nothing.
    pub fn next_xid(&mut self) -> u32 {
        self.next_xid = self.next_xid.wrapping_add(1).max(1);
        self.next_xid
    }

    fn step(&mut self, event: ChannelEvent) -> bool {
        let next = self.state.next(event);
        debug_assert!(next.is_some() || event == ChannelEvent::Closed, "{event:?} in {:?}", self.state);
        let Some(next) = next else { return false };
        self.state = next;
        true
    }

    /// TCP is set up: says which versions are spoken here.
    pub fn opened(&mut self, now: Time) {
        self.step(ChannelEvent::Opened);
        (self.version, self.told, self.heard) = (None, None, now);
        (self.read, self.due) = (0, Some(now + self.config.probe.unwrap_or(GREETING)));
        self.input.clear();
        self.output.clear();
        let hello = Hello::with(&self.config.versions);
        let xid = self.next_xid();
        self.emit(xid, v1_0::Body::Hello(Hello::default()), v1_3::Body::Hello(hello));
    }

    /// TCP has ended, or can't be set up. One that this switch sets up is tried again after a while.
    pub fn closed(&mut self, now: Time, active: bool) {
        self.step(ChannelEvent::Closed);
        self.version = None;
        self.told = None;
        self.output.clear();
        self.due = active.then(|| now + self.backoff);
        self.backoff = Span((self.backoff.0 * 2).min(BACKOFF[1].0));
    }

    /// Bytes have come. Those of a connection that is over mean nothing.
    pub fn receive(&mut self, now: Time, bytes: &[u8]) {
        if self.state == ChannelState::Waiting {
            return;
        }
        self.heard = now;
        self.input.extend_from_slice(bytes);
    }

    /// Bytes to be sent.
    pub fn take_output(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.output)
    }

    /// Is there anything to be sent?
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Bytes that are to be sent.
    pub fn output_len(&self) -> usize {
        self.output.len()
    }

    /// The other end has taken bytes that waited for it, which shows that it is there.
    pub fn taken(&mut self, now: Time) {
        if matches!(self.state, ChannelState::Up | ChannelState::Probing) {
            self.step(ChannelEvent::Heard);
            self.heard = now;
            self.due = self.config.probe.map(|probe| now + probe);
        }
    }

    /// Where messages are appended.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Appends a message in whichever version is spoken, or is the highest that can be.
    fn emit(&mut self, xid: u32, old: v1_0::Body, new: v1_3::Body) {
        let version = self.version.or(self.config.versions.iter().copied().max());
        // Both are short.
        let _ = match version {
            Some(Version::V1_0) => v1_0::Message { xid, body: old }.emit(&mut self.output),
            _ => v1_3::Message { xid, body: new }.emit(&mut self.output),
        };
    }

    /// The next of what has come.
    pub fn poll(&mut self) -> Option<Told> {
        if let Some(told) = self.told.take() {
            return Some(told);
        }
        while matches!(self.state, ChannelState::Greeting | ChannelState::Up | ChannelState::Probing) {
            let Some(len) = message_len(&self.input[self.read..]) else { break };
            let message = self.input[self.read..self.read + len].to_vec();
            self.read += len;
            if usize::from(u16::from_be_bytes([message[2], message[3]])) < HEADER_LEN {
                self.step(ChannelEvent::Malformed);
                self.told = Some(Told::Close);
                return Some(Told::Malformed(message));
            }
            if let Some(told) = self.handle(message) {
                return Some(told);
            }
        }
        self.input.drain(..self.read);
        self.read = 0;
        None
    }

    fn handle(&mut self, message: Vec<u8>) -> Option<Told> {
        let kind = message[1];
        let xid = u32::from_be_bytes([message[4], message[5], message[6], message[7]]);
        if self.state == ChannelState::Greeting {
            return Some(self.greet(kind, xid, &message));
        }
        self.step(ChannelEvent::Heard);
        if let Some(probe) = self.config.probe {
            self.due = Some(self.heard + probe);
        }
        let is_ours = self.version.is_some_and(|version| version as u8 == message[0]);
        let is_whole = usize::from(u16::from_be_bytes([message[2], message[3]])) == message.len();
        match kind {
            // It is said once; later ones change nothing.
            HELLO => None,
            ECHO_REPLY if is_ours && is_whole => None,
            ECHO_REQUEST if is_ours && is_whole => {
                let data = || Rest::from(&message[HEADER_LEN..]);
                self.emit(xid, v1_0::Body::EchoReply(data()), v1_3::Body::EchoReply(data()));
                None
            }
            _ => Some(Told::Message(message)),
        }
    }

    /// The first message: which version both ends speak.
    fn greet(&mut self, kind: u8, xid: u32, message: &[u8]) -> Told {
        // What is in the HELLO of another version is only looked at where it is as that of 1.3.
        let hello = match v1_3::Message::parse(&[&[Version::V1_3 as u8], &message[1..]].concat()) {
            Ok(v1_3::Message { body: v1_3::Body::Hello(hello), .. }) => hello,
            _ => Hello::default(),
        };
        let agreed = hello.agree(message[0], &self.config.versions).filter(|_| kind == HELLO);
        match agreed {
            Some(version) => {
                self.step(ChannelEvent::Agreed);
                self.version = Some(version);
                self.backoff = BACKOFF[0];
                self.attempts = 0;
                self.due = self.config.probe.map(|probe| self.heard + probe);
                Told::Up(version)
            }
            None => {
                self.step(ChannelEvent::Refused);
                let names: Vec<&str> = self.config.versions.iter().map(|version| version.name()).collect();
                let text = format!("versions spoken here: {}", names.join(", "));
                let Code { kind, code } = v1_3::Fault::Incompatible.numbers();
                let error = || ErrorMessage { kind, code, data: Rest::from(text.as_bytes()) };
                self.emit(xid, v1_0::Body::Error(error()), v1_3::Body::Error(error()));
                Told::Close
            }
        }
    }

    /// When [`Channel::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    /// What is due happens. True if the owner is to set up TCP; what is to be closed is told by [`Channel::poll`].
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.due.is_none_or(|due| due > now) {
            return false;
        }
        self.due = None;
        match self.state {
            ChannelState::Waiting => {
                self.step(ChannelEvent::Due);
                self.attempts += 1;
                // An attempt takes no longer than this, whatever TCP says.
                self.due = Some(now + BACKOFF[1]);
                return true;
            }
            ChannelState::Up => {
                self.step(ChannelEvent::Silent);
                let xid = self.next_xid();
                let (old, new) = (Rest::default(), Rest::default());
                self.emit(xid, v1_0::Body::EchoRequest(old), v1_3::Body::EchoRequest(new));
                self.due = self.config.probe.map(|probe| now + probe);
            }
            ChannelState::Connecting | ChannelState::Greeting | ChannelState::Probing => {
                self.step(ChannelEvent::Silent);
                self.told = Some(Told::Close);
            }
        }
        false
    }
}
