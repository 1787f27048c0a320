//! A session: its variables (RFC 5880, 6.8.1), what it takes (6.8.6), what it sends and when (6.8.7).

use super::Discard;
use super::authentication::{Authentication, Key};
use super::states::{SessionEvent, SessionState};
use crate::machine::State as _;
use crate::services::{Verdict, WatchedPath};
use base::random::{Rng as _, Stream};
use base::{ProtocolId, Span, Time};
use core::net::IpAddr;
use rand::RngExt;
use wire::bfd::{Diag, Repr, State as Said};
use wire::lsp_ping::Fec;

/// The shortest interval of a session that is not up, in microseconds (RFC 5880, 6.8.3).
const SLOW_US: u32 = 1_000_000;

/// What a session is to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How often to send at most, in microseconds.
    pub send_us: u32,
    /// How often to be sent to at most, in microseconds.
    pub receive_us: u32,
    /// bfd.DetectMult.
    pub multiplier: u8,
}

/// What a session is at an LSP (RFC 5884).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is of no LSP.
    Beside,
    /// The LSP begins here: packets leave on it.
    Head {
        /// The address of 127/8, or of ::ffff:127/104, that they are sent to (RFC 5884, 7).
        destination: IpAddr,
    },
    /// The LSP ends here: packets go back by the tables.
    Tail {
        /// What is put on the LSP.
        fec: Fec,
        /// The number of the session at the head end, as LSP ping has said it.
        offered: u32,
    },
}

/// What the neighbour said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// bfd.RemoteDiscr: zero if it is not known.
    pub discriminator: u32,
    /// bfd.RemoteSessionState.
    pub state: Said,
    /// Why its session changed last.
    pub diag: Diag,
    /// bfd.RemoteDemandMode.
    pub demand: bool,
    /// Does its BFD go on while its control plane restarts (bit C)?
    pub independent: bool,
    /// How often it sends at most.
    pub send_us: u32,
    /// bfd.RemoteMinRxInterval.
    pub receive_us: u32,
    /// Its Detect Mult; zero before it has said one.
    pub multiplier: u8,
}

/// How far a Poll Sequence has come (RFC 5880, 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Poll {
    /// There is none.
    Idle,
    /// An answer is awaited.
    Running,
    /// An answer is awaited, and what it will be about is not all that there is to say any more.
    Outdated,
    /// It was answered; the next one waits for a packet that is no answer (6.8.3, the third choice).
    Settling,
}

/// What happened in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent.
    pub sent: u64,
    /// Packets taken.
    pub received: u64,
    /// How often it came up.
    pub ups: u64,
    /// How often it was up and did not stay so.
    pub downs: u64,
}

/// A session with one neighbour.
#[derive(Debug)]
pub struct Session {
    /// What it watches.
    pub path: WatchedPath,
    /// What it is at an LSP.
    pub role: Role,
    /// The UDP port that it sends from.
    pub source: u16,
    /// bfd.LocalDiscr.
    pub discriminator: u32,
    /// bfd.SessionState.
    pub state: SessionState,
    /// Since when.
    pub since: Time,
    /// bfd.LocalDiag.
    pub diag: Diag,
    /// What the neighbour said last.
    pub remote: Remote,
    /// What is known of the path.
    pub verdict: Verdict,
    /// What it is to go by.
    pub terms: Terms,
    /// Does it go on while the control plane restarts (bit C)?
    pub independent: bool,
    /// Who has the path watched.
    pub clients: Vec<ProtocolId>,
    /// What happened.
    pub counts: Counts,
    /// Who the neighbour is while the session is up, by address and number (RFC 5884, 7).
    pub(super) peer: Option<(IpAddr, u32)>,
    /// Packets that still go to a neighbour of an LSP that is not heard any more (RFC 7726, 2.3).
    farewell: Option<u8>,
    /// When it is forgotten, if nobody wants it any more.
    pub(super) ends: Option<Time>,
    /// For whom it stands in the agenda.
    pub(super) planned: Option<Time>,
    /// bfd.DesiredMinTxInterval, in microseconds.
    desired_us: u32,
    /// bfd.RequiredMinRxInterval, in microseconds.
    required_us: u32,
    /// By which this router goes as long as a longer one is not acknowledged.
    send_us: u32,
    /// The receive interval by which the neighbour goes for certain.
    receive_us: u32,
    poll: Poll,
    owes_final: bool,
    /// What was said last, without authentication and the bits of polls.
    said: Option<Repr>,
    said_at: Time,
    /// When it is said again.
    next: Time,
    /// When something was heard, until that is too long ago.
    heard: Option<Time>,
    authentication: Authentication,
    random: Stream,
}

fn us(us: u32) -> Span {
    Span::from_us(us.into())
}

impl Session {
    /// A session that says Down as soon as it is asked.
    pub(super) fn new(
        now: Time,
        (path, role): (WatchedPath, Role),
        (source, discriminator): (u16, u32),
        terms: Terms,
        key: Option<Key>,
        mut random: Stream,
    ) -> Session {
        let desired_us = terms.send_us.max(SLOW_US);
        Session {
            path,
            role,
            source,
            discriminator,
            state: SessionState::Down,
            since: now,
            diag: Diag::NONE,
            remote: Remote {
                discriminator: 0,
                state: Said::Down,
                diag: Diag::NONE,
                demand: false,
                independent: false,
                send_us: 0,
                // RFC 5880, 6.8.1.
                receive_us: 1,
                multiplier: 0,
            },
            verdict: Verdict::Unknown,
            terms,
            independent: false,
            clients: Vec::new(),
            counts: Counts::default(),
            peer: None,
            farewell: None,
            ends: None,
            planned: None,
            desired_us,
            required_us: terms.receive_us,
            send_us: desired_us,
            receive_us: terms.receive_us,
            poll: Poll::Idle,
            owes_final: false,
            said: None,
            said_at: now,
            next: now,
            heard: None,
            authentication: Authentication::new(key, random.next_u32()),
            random,
        }
    }

    /// The agreed interval of what this router sends: the slower one counts (RFC 5880, 6.8.7).
    pub fn interval(&self) -> Span {
        us(self.send_us.max(self.remote.receive_us))
    }

    /// Without a packet for so long the session is down (RFC 5880, 6.8.4); zero before anything was heard.
    pub fn detection(&self) -> Span {
        Span(us(self.receive_us.max(self.remote.send_us)).0 * i64::from(self.remote.multiplier))
    }

    /// Does BFD go on at both ends while their control planes restart (RFC 5882, 4.3)?
    pub fn is_independent(&self) -> bool {
        self.independent && self.remote.independent
    }

    /// Does the neighbour want no packets but those of polls (RFC 5880, 6.8)?
    fn is_demanded(&self) -> bool {
        self.remote.demand && self.state == SessionState::Up && self.remote.state == Said::Up
    }

    fn is_polling(&self) -> bool {
        matches!(self.poll, Poll::Running | Poll::Outdated)
    }

    /// May packets be sent? Over an LSP only to whom a number is known: the far end finds its session by that alone
    /// (RFC 5884, 5 and 6).
    fn is_speaking(&self) -> bool {
        self.role == Role::Beside || self.remote.discriminator != 0
    }

    /// Are packets sent periodically (RFC 5880, 6.8.7)?
    fn is_periodic(&self) -> bool {
        self.is_speaking() && self.remote.receive_us > 0 && (!self.is_demanded() || self.is_polling())
    }

    /// When [`Session::expire`] or [`Session::poll_packet`] have something to do.
    pub(super) fn due(&self) -> Option<Time> {
        let next = self.is_periodic().then_some(self.next);
        let silent = self.heard.map(|heard| heard + self.detection());
        Time::earliest([next, silent, self.authentication.forget, self.ends])
    }

    /// A packet that was sent to this session has come; `bytes` are all of it.
    pub(super) fn receive(&mut self, now: Time, packet: &Repr, bytes: &[u8]) -> Result<(), Discard> {
        self.authentication.take(packet, bytes)?;
        self.counts.received += 1;
        self.farewell = None;
        let before = self.interval();
        self.remote = Remote {
            discriminator: packet.my_discriminator,
            state: packet.state,
            diag: packet.diag,
            demand: packet.demand,
            independent: packet.independent,
            send_us: packet.desired_min_tx_us,
            receive_us: packet.required_min_rx_us,
            multiplier: packet.detect_mult,
        };
        match self.poll {
            Poll::Running if packet.is_final => {
                self.poll = Poll::Idle;
                (self.send_us, self.receive_us) = (self.desired_us, self.required_us);
            }
            Poll::Outdated if packet.is_final => self.poll = Poll::Settling,
            Poll::Settling if !packet.is_final => self.poll = Poll::Running,
            _ => {}
        }
        // RFC 5880, 6.8.6: in AdminDown the rest is not done.
        if self.state != SessionState::AdminDown {
            self.step(now, SessionEvent::heard(packet.state));
            self.owes_final |= packet.poll;
            self.heard = Some(now);
            let twice = Span(self.detection().0 * 2);
            self.authentication.forget = Some(now + twice);
        }
        self.keep_pace(now, before);
        Ok(())
    }

    /// The agreed interval may be another than before: the next packet does not wait longer than that (RFC 5880,
    /// 6.8.3).
    fn keep_pace(&mut self, now: Time, before: Span) {
        if self.interval() != before {
            let next = self.said_at + self.jittered();
            self.next = next.max(now);
        }
    }

    /// The interval less up to a quarter of it (RFC 5880, 6.8.7).
    fn jittered(&mut self) -> Span {
        // With a multiplier of one the packet has to come before the detection time is over.
        let least = if self.terms.multiplier == 1 { 100 } else { 0 };
        let less: i64 = self.random.random_range(least..=250);
        Span(self.interval().0 / 1000 * (1000 - less))
    }

    /// Does what is due, sending apart.
    pub(super) fn expire(&mut self, now: Time) {
        if self.heard.is_some_and(|heard| heard + self.detection() <= now) {
            self.heard = None;
            let before = self.interval();
            // RFC 5880, 6.8.18: packets come at this router's own pace again, also to who wanted none, or hardly any.
            self.remote.receive_us = 1;
            if self.role == Role::Beside {
                // RFC 5880, 6.8.1. The other end of an LSP is told farewell first.
                self.remote.discriminator = 0;
            }
            self.step(now, SessionEvent::Expired);
            self.keep_pace(now, before);
        }
        self.authentication.expire(now);
    }

    /// It is wanted.
    pub(super) fn enable(&mut self, now: Time) {
        self.step(now, SessionEvent::Enabled);
    }

    /// It is not wanted, or can't be.
    pub(super) fn disable(&mut self, now: Time, why: Diag) {
        self.step(now, SessionEvent::Disabled);
        if self.state == SessionState::AdminDown {
            self.diag = why;
            self.heard = None;
        }
    }

    /// It is to go by other terms from now on.
    pub(super) fn set_terms(&mut self, now: Time, terms: Terms) {
        let before = self.interval();
        self.terms = terms;
        self.renegotiate();
        self.keep_pace(now, before);
    }

    /// Takes a step of the machine, and does what belongs to it.
    fn step(&mut self, now: Time, event: SessionEvent) {
        let Some(next) = self.state.next(event) else { return };
        let (before, is_change) = (self.state, next != self.state);
        self.state = next;
        self.verdict = match (before, event) {
            _ if next == SessionState::Up => Verdict::Alive,
            // RFC 5882, 3.2: what somebody has shut down says nothing of the path.
            (_, SessionEvent::Disabled | SessionEvent::HearAdminDown) => Verdict::Unknown,
            (SessionState::Up, _) => Verdict::Dead,
            _ => self.verdict,
        };
        if !is_change {
            return;
        }
        self.since = now;
        if next != SessionState::Up {
            // RFC 5884, 7: the other end stays the same only while the session is up.
            self.peer = None;
        }
        match event {
            SessionEvent::Expired => self.diag = Diag::TIME_EXPIRED,
            SessionEvent::HearDown | SessionEvent::HearAdminDown if next == SessionState::Down => {
                self.diag = Diag::NEIGHBOR_DOWN;
            }
            _ => {}
        }
        if self.role != Role::Beside && next == SessionState::Down {
            // RFC 7726, 2.3: the far end is told by the number that it had.
            self.farewell = Some(self.terms.multiplier);
        }
        self.counts.ups += u64::from(next == SessionState::Up);
        self.counts.downs += u64::from(before == SessionState::Up);
        self.renegotiate();
    }

    /// Settles what this router wants, by its state and terms; the neighbour is asked to confirm what is new (RFC 5880,
    /// 6.8.3).
    fn renegotiate(&mut self) {
        let is_up = self.state == SessionState::Up;
        let desired_us = if is_up { self.terms.send_us } else { self.terms.send_us.max(SLOW_US) };
        let wanted = (desired_us, self.terms.receive_us);
        if wanted == (self.desired_us, self.required_us) {
            return;
        }
        (self.desired_us, self.required_us) = wanted;
        // To send less often, and to expect more often, waits for the end of the poll.
        if !is_up || desired_us <= self.send_us {
            self.send_us = desired_us;
        }
        if !is_up || self.required_us >= self.receive_us {
            self.receive_us = self.required_us;
        }
        self.begin_poll();
    }

    fn begin_poll(&mut self) {
        self.poll = match self.poll {
            Poll::Idle => Poll::Running,
            Poll::Running | Poll::Outdated => Poll::Outdated,
            Poll::Settling => Poll::Settling,
        };
    }

    /// What is to be said (RFC 5880, 6.8.7), without the bits of polls and authentication.
    fn content(&self) -> Repr {
        Repr {
            diag: self.diag,
            state: self.state.said(),
            poll: false,
            is_final: false,
            independent: self.independent,
            // This router always wants periodic packets.
            demand: false,
            multipoint: false,
            detect_mult: self.terms.multiplier,
            my_discriminator: self.discriminator,
            your_discriminator: self.remote.discriminator,
            desired_min_tx_us: self.desired_us,
            required_min_rx_us: self.required_us,
            // Echos are not sent back.
            required_min_echo_rx_us: 0,
            auth: None,
        }
    }

    /// The packet that is to be sent now, if there is one: because it is time, because there is something new, or
    /// because the neighbour wants an answer.
    pub(super) fn poll_packet(&mut self, now: Time) -> Option<Vec<u8>> {
        if !self.is_speaking() {
            return None;
        }
        let content = self.content();
        let is_new = self.said.as_ref() != Some(&content);
        if is_new && self.is_demanded() && self.said.is_some() && self.poll == Poll::Idle {
            // RFC 5880, 6.6: the neighbour hears of changes by polls alone.
            self.begin_poll();
        }
        let is_due = self.is_periodic() && self.next <= now;
        if !(is_new || is_due || self.owes_final) {
            return None;
        }
        let is_final = core::mem::take(&mut self.owes_final);
        let packet = Repr { is_final, poll: self.is_polling() && !is_final, ..content.clone() };
        self.said = Some(content);
        self.counts.sent += 1;
        if is_new || is_due {
            self.said_at = now;
            self.next = now + self.jittered();
        }
        self.take_leave(now);
        Some(self.authentication.emit(packet, is_new))
    }

    /// One of the last packets to an end of an LSP that is not heard any more was made.
    fn take_leave(&mut self, now: Time) {
        let Some(left) = self.farewell.map(|left| left.saturating_sub(1)) else { return };
        self.farewell = Some(left).filter(|left| *left > 0);
        if left == 0 {
            self.remote.discriminator = 0;
            if matches!(self.role, Role::Tail { .. }) {
                // RFC 7726, 2.3: who was up and is down is removed; the head end asks for another. The packet in hand
                // leaves before that.
                self.ends = Some(now + self.interval());
            }
        }
    }

    /// LSP ping has said by which number the head end knows the session.
    pub(super) fn told(&mut self, discriminator: u32) {
        if self.remote.discriminator == 0 {
            self.remote.discriminator = discriminator;
        }
    }
}
