//! The tests of a switch as a state machine: it is told of the channel and of packets, and says what to send.

use super::messages::{Change, Messages, Way};
use super::packets::{Stamp, filler, packet};
use super::report::{Report, Round, Standing};
use super::settings::{Settings, Test};
use base::{Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// From the moment at which the switch is ready to the first packet.
const SETTLE: Span = Span::from_ms(100);
/// Between two probes of entries.
const PROBE_GAP: Span = Span::from_us(100);
/// After how long those entries get another probe whose first did not come through.
const PROBE_AGAIN: Span = Span::from_ms(100);
/// The number of probes, which no packet has.
pub(super) const PROBE: u64 = u64::MAX;
/// How long entries are given to pass probes.
const PROBE_MAX: Span = Span::from_secs(10);

/// So much longer than their timeout entries are given to go.
const EXPIRY_MAX: Span = Span::from_secs(10);
/// Packets are looked for so long after the switch has said that all entries are gone.
const GRACE: Span = Span::from_secs(1);

/// What the machine wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Give bytes to the channel.
    Send(Vec<u8>),
    /// Send a frame by a data port of the tester: 0 or 1.
    Transmit {
        /// 0 where packets enter the switch, 1 where they leave it.
        port: usize,
        /// Ethernet without frame check sequence.
        bytes: Vec<u8>,
    },
}

/// Where a round of additions or changes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It begins at this time.
    Resting(Time),
    /// It begins a moment after the next packet of the stream; when that is, once the packet has left.
    Armed(Option<Time>),
    /// The last entry is waited for.
    Under,
    /// Entries that have not passed a probe yet; when the next is sent, which that is, and when no more are.
    Confirming { left: BTreeSet<u32>, due: Time, next: u32, until: Time },
    /// Entries go by themselves: how many the switch has not said that of, and when it is not waited for any more.
    Expiring { left: u32, until: Time },
    /// Entries are made what they were before; the answer to the barrier with this number is waited for.
    Restoring(u32),
    /// There is no other.
    Over,
}

/// A test of one switch.
#[derive(Debug)]
pub struct Machine {
    pub(super) settings: Settings,
    pub(super) report: Report,
    pub(super) input: Vec<u8>,
    pub(super) xid: u32,
    /// Has this switch said which versions it speaks?
    pub(super) is_greeted: bool,
    /// Number of the barrier behind the preparation, and then of that behind a round.
    pub(super) barrier: u32,
    /// Stamped packets that came, by their numbers.
    seen: Vec<bool>,
    /// When the next packet is sent, and how many were, those without a stamp too.
    next: Option<Time>,
    count: u64,
    /// When the first packet was sent, and when the last may be.
    begun: Time,
    pub(super) end: Time,
    pub(super) stage: Stage,
    /// Questions for what was counted, by their numbers: when they were asked, and how many packets had left.
    asked: BTreeMap<u32, (Time, u64)>,
    filler: Vec<u8>,
    actions: VecDeque<Action>,
}

impl Machine {
    /// A test that begins when a switch has connected.
    pub fn new(settings: Settings) -> Machine {
        Machine {
            filler: filler(&settings, settings.flows.saturating_sub(1)),
            settings,
            report: Report::default(),
            input: Vec::new(),
            xid: 0,
            is_greeted: false,
            barrier: 0,
            seen: Vec::new(),
            next: None,
            count: 0,
            begun: Time::ZERO,
            end: Time::ZERO,
            stage: Stage::Over,
            asked: BTreeMap::new(),
            actions: VecDeque::new(),
        }
    }

    /// What the test is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What it has found so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(super) fn send(&mut self, bytes: Vec<u8>) {
        self.actions.push_back(Action::Send(bytes));
    }

    /// Messages in the version of the test, none yet.
    pub(super) fn messages(&self) -> Messages {
        Messages::new(self.settings.version.version())
    }

    pub(super) fn next_xid(&mut self) -> u32 {
        self.xid += 1;
        self.xid
    }

    /// The entry of the stream: the last one.
    pub(super) fn last(&self) -> u32 {
        self.settings.flows.max(1) - 1
    }

    fn has_rounds(&self) -> bool {
        matches!(self.settings.test, Test::FlowAdd | Test::FlowMod | Test::FlowExpiry)
    }

    /// Everything is cleared, and what the test needs is written; a barrier says when that is done.
    pub(super) fn prepare(&mut self) {
        self.report.standing = Standing::Preparing;
        let mut messages = self.messages();
        messages.delete_all(self.next_xid());
        messages.whole_packets(self.next_xid());
        let xid = self.next_xid();
        let [from, to] = self.settings.ports;
        match self.settings.test {
            Test::PacketIn => messages.ask_for_misses(xid),
            Test::PacketInAction => messages.entry(xid, (0, from), Change::Add, Way::Controller),
            Test::Data | Test::Statistics => {
                messages.entry(xid, (self.last(), from), Change::Add, Way::Port(to));
            }
            Test::FlowMod => self.entries(&mut messages, Change::Add, Way::Nowhere),
            Test::PacketOut | Test::Control | Test::FlowAdd | Test::FlowExpiry => {}
        }
        self.barrier = self.next_xid();
        messages.barrier(self.barrier);
        self.send(messages.bytes());
    }

    /// All entries of a round.
    fn entries(&mut self, messages: &mut Messages, change: Change, way: Way) {
        for entry in 0..=self.last() {
            let xid = self.next_xid();
            messages.entry(xid, (entry, self.settings.ports[0]), change, way);
        }
    }

    /// The switch is ready: packets are sent from now on.
    pub(super) fn start(&mut self, now: Time) {
        self.report.standing = Standing::Running;
        self.begun = now + SETTLE;
        self.end = self.begun + self.settings.duration;
        self.next = Some(self.begun);
        if self.has_rounds() {
            self.stage = Stage::Resting(self.begun + self.settings.wait);
        }
    }

    /// The switch has ended the connection.
    pub fn closed(&mut self) {
        self.input.clear();
        self.is_greeted = false;
        if matches!(self.report.standing, Standing::Preparing | Standing::Running) {
            self.report.resets += 1;
            self.report.standing = Standing::Reset;
            (self.next, self.stage) = (None, Stage::Over);
        }
    }

    /// A round begins: all additions or changes are given to TCP at once.
    fn begin_round(&mut self, now: Time) {
        let mut messages = self.messages();
        let change = match self.settings.test {
            Test::FlowMod => Change::Modify,
            Test::FlowExpiry => Change::AddFor(self.settings.timeout),
            _ => Change::Add,
        };
        self.entries(&mut messages, change, Way::Port(self.settings.ports[1]));
        let confirmed = self.settings.confirm.then_some(0);
        if self.settings.confirm {
            self.barrier = self.next_xid();
            messages.barrier(self.barrier);
        }
        self.send(messages.bytes());
        self.report.rounds.push(Round { confirmed, ..Round::begun(now) });
        self.stage = Stage::Under;
    }

    /// The last entry works.
    pub(super) fn reached(&mut self, now: Time) {
        if let Some(round) = self.report.rounds.last_mut() {
            round.delay = Some(now - round.begun);
            if self.settings.test == Test::FlowExpiry {
                let until = round.begun + Span::from_secs(self.settings.timeout.into()) + EXPIRY_MAX;
                self.stage = Stage::Expiring { left: self.last() + 1, until };
                return;
            }
        }
        if !self.settings.confirm {
            return self.end_round();
        }
        let left = (0..=self.last()).collect();
        self.stage = Stage::Confirming { left, due: now, next: 0, until: now + PROBE_MAX };
    }

    /// An entry has passed a probe.
    pub(super) fn confirm(&mut self, entry: u32) {
        let Stage::Confirming { left, .. } = &mut self.stage else { return };
        if left.remove(&entry)
            && let Some(round) = self.report.rounds.last_mut()
        {
            round.confirmed = round.confirmed.map(|count| count + 1);
        }
        if left.is_empty() {
            self.end_round();
        }
    }

    /// The switch says that an entry is gone.
    pub(super) fn removed(&mut self, now: Time) {
        let Stage::Expiring { left, until } = &mut self.stage else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            *until = now + GRACE;
        }
        if let Some(round) = self.report.rounds.last_mut() {
            let removed = round.removed.get_or_insert_default();
            (removed.0, removed.1) = (removed.0 + 1, now - round.begun);
        }
    }

    /// A packet that was sent then has left by the last entry.
    pub(super) fn passed(&mut self, sent: Time) {
        if let (Stage::Expiring { .. }, Some(round)) = (&self.stage, self.report.rounds.last_mut()) {
            round.passed = Some(sent - round.begun).max(round.passed);
        }
    }

    /// The switch says how many packets it has counted.
    pub(super) fn counted(&mut self, now: Time, xid: u32, count: u64) {
        let Some((asked, passed)) = self.asked.remove(&xid) else { return };
        if self.report.standing == Standing::Running {
            self.report.delays.push((now - asked).max(Span::ZERO));
            self.report.behind = Some(passed.saturating_sub(count)).max(self.report.behind);
        }
    }

    /// Entries become what they were before. The next round may begin a while after the switch has said that they are:
    /// an entry that is still there would end it at once.
    fn end_round(&mut self) {
        let mut messages = self.messages();
        if self.settings.test == Test::FlowMod {
            self.entries(&mut messages, Change::Modify, Way::Nowhere);
        } else {
            messages.delete_all(self.next_xid());
        }
        let xid = self.next_xid();
        messages.barrier(xid);
        self.send(messages.bytes());
        self.stage = Stage::Restoring(xid);
    }

    /// The switch has done all that stood before a barrier.
    pub(super) fn barred(&mut self, now: Time, xid: u32) {
        if self.stage == Stage::Restoring(xid) {
            self.stage = Stage::Resting(now + self.settings.wait);
        } else if xid != self.barrier {
            // The answer behind the last round may come after the end of the test.
            self.report.errors += u64::from(self.report.standing != Standing::Done);
        } else if self.report.standing == Standing::Preparing {
            self.start(now);
        } else if let Some(round) = self.report.rounds.last_mut() {
            round.barrier = round.barrier.or(Some(now - round.begun));
        }
    }

    /// Has the stamped packet with this number not come before? One that was never sent has come always.
    pub(super) fn is_new(&mut self, number: u64) -> bool {
        if number >= self.report.sent {
            return false;
        }
        let number = number as usize;
        if self.seen.len() <= number {
            self.seen.resize(number + 1, false);
        }
        !std::mem::replace(&mut self.seen[number], true)
    }

    /// When to call [`Machine::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        let stage = match &self.stage {
            Stage::Resting(at) => Some(*at),
            Stage::Armed(at) => *at,
            Stage::Confirming { due, .. } => Some(*due),
            Stage::Expiring { until, .. } => Some(*until),
            Stage::Under | Stage::Restoring(_) | Stage::Over => None,
        };
        let end = (self.report.standing == Standing::Running).then_some(self.end);
        [self.next, stage, end].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(at) = self.next.filter(|at| *at <= now) {
            self.send_next(now);
            let (gap, fill) = (self.settings.gap(), self.settings.fill && self.settings.test == Test::Data);
            let next = at + if fill { gap } else { self.settings.interval() };
            self.next = (next < self.end).then_some(next);
        }
        match self.stage {
            Stage::Resting(at) if at <= now => self.stage = Stage::Armed(None),
            Stage::Armed(Some(at)) if at <= now => self.begin_round(now),
            Stage::Confirming { due, .. } if due <= now => self.probe(now),
            Stage::Expiring { until, .. } if until <= now => self.end_round(),
            _ => {}
        }
        if self.report.standing == Standing::Running && self.end <= now {
            self.report.standing = Standing::Done;
            (self.next, self.stage) = (None, Stage::Over);
        }
    }

    fn send_next(&mut self, now: Time) {
        let every =
            if self.settings.fill && self.settings.test == Test::Data { self.settings.every } else { 1 };
        let is_stamped = self.count.is_multiple_of(u64::from(every.max(1)));
        self.count += 1;
        if !is_stamped {
            let bytes = self.filler.clone();
            return self.actions.push_back(Action::Transmit { port: 0, bytes });
        }
        if self.stage == Stage::Armed(None) {
            self.stage = Stage::Armed(Some(now + self.settings.lead));
        }
        let number = self.report.sent;
        self.report.sent += 1;
        let entry = if self.settings.test == Test::PacketInAction { 0 } else { self.last() };
        let bytes = packet(&self.settings, Stamp { entry, number, sent: now });
        let mut message = self.messages();
        match self.settings.test {
            Test::PacketOut => {
                let xid = self.next_xid();
                message.packet_out(xid, self.settings.ports[1], &bytes);
            }
            Test::Control => {
                let xid = self.next_xid();
                message.echo(xid, &[now.0.to_be_bytes(), number.to_be_bytes()].concat());
            }
            Test::Statistics => {
                // What has left by now should have been counted; this packet may be.
                let xid = self.next_xid();
                self.asked.insert(xid, (now, self.report.received));
                message.counted(xid);
                self.actions.push_back(Action::Transmit { port: 0, bytes });
            }
            _ => return self.actions.push_back(Action::Transmit { port: 0, bytes }),
        }
        self.send(message.bytes());
    }

    /// Sends the next probe of an entry that has not passed one.
    fn probe(&mut self, now: Time) {
        let Stage::Confirming { left, due, next, until } = &mut self.stage else { return };
        if *until <= now {
            return self.end_round();
        }
        let entry = match left.range(*next..).next().copied() {
            Some(entry) => {
                (*next, *due) = (entry + 1, now + PROBE_GAP);
                entry
            }
            None => {
                (*next, *due) = (0, now + PROBE_AGAIN);
                return;
            }
        };
        let bytes = packet(&self.settings, Stamp { entry, number: PROBE, sent: now });
        self.actions.push_back(Action::Transmit { port: 0, bytes });
    }
}
