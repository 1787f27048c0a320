//! Sessions with several receivers (RFC 8562), over LSPs with several ends: the head, where the LSP begins, sends to
//! all of them and hears none; tails, where it ends, hear the head and say nothing.

use super::authentication::Authentication;
use super::lsp::on_lsp;
use super::session::{Counts, Terms};
use super::states::{HeadEvent, HeadState, TailEvent, TailState};
use super::{Bfd, Discard, Event, Heard};
use crate::inquiry::{FecMapping, Inquiry};
use crate::machine::State as _;
use crate::protocol::{Context, Output};
use crate::services::WatchedPath;
use base::random::{Rng as _, Stream};
use base::{Label, PortId, ProtocolId, ProtocolValue, Span, Time};
use core::net::IpAddr;
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};
use wire::bfd::{Diag, Repr};

/// The shortest interval of a head that is not up, in microseconds (RFC 5880, 6.8.3).
const SLOW_US: u32 = 1_000_000;
/// Tails that a router has at most (RFC 8562, 8).
const TAILS_MAX: usize = 4096;
/// A tail that is not up, and hears nothing, is forgotten after so long.
const KEPT: Span = Span::from_secs(60);

/// By what packets of a head are told from those of others: its address, its number, and the label of this router by
/// which they come (RFC 8562, 5.7).
type TailKey = (IpAddr, u32, Label);

/// What has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Which {
    Head(u32),
    Tail(TailKey),
}

/// The session of an LSP that begins here.
#[derive(Debug)]
pub(super) struct Head {
    pub path: WatchedPath,
    pub clients: Vec<ProtocolId>,
    /// bfd.LocalDiscr, which stays the same (RFC 8562, 5.7).
    pub discriminator: u32,
    pub state: HeadState,
    pub since: Time,
    pub terms: Terms,
    pub counts: Counts,
    /// Where from and where to packets are sent.
    source: u16,
    destination: IpAddr,
    independent: bool,
    /// When it is up, or forgotten.
    until: Option<Time>,
    /// Terms with a longer interval wait until tails have been told often enough (5.10).
    slower: Option<(Terms, u8)>,
    /// Packets that still say that something has changed (bit P).
    polls: u8,
    next: Time,
    authentication: Authentication,
    random: Stream,
    planned: Option<Time>,
}

/// The session of an LSP that ends here.
#[derive(Debug)]
pub(super) struct Tail {
    /// The address of the head.
    pub head: IpAddr,
    /// The number of the session at the head.
    pub discriminator: u32,
    /// The label that packets come with.
    pub label: Label,
    /// The port that they came by last.
    pub port: PortId,
    pub state: TailState,
    pub since: Time,
    pub diag: Diag,
    pub counts: Counts,
    send_us: u32,
    multiplier: u8,
    heard: Time,
    authentication: Authentication,
    planned: Option<Time>,
}

/// Sessions with several receivers.
#[derive(Debug, Default)]
pub(super) struct Multipoint {
    heads: BTreeMap<u32, Head>,
    /// How many heads there were.
    begun: u64,
    by_path: BTreeMap<WatchedPath, u32>,
    tails: BTreeMap<TailKey, Tail>,
    agenda: BTreeSet<(Time, Which)>,
}

impl Head {
    /// The interval of its packets: nobody can ask for another (RFC 8562, 5.13.3).
    pub(super) fn interval(&self) -> Span {
        Span::from_us(self.desired_us().into())
    }

    fn desired_us(&self) -> u32 {
        if self.state == HeadState::Up { self.terms.send_us } else { self.terms.send_us.max(SLOW_US) }
    }

    /// The time after which tails take it for gone.
    pub(super) fn detection(&self) -> Span {
        Span(self.interval().0 * i64::from(self.terms.multiplier))
    }

    fn step(&mut self, now: Time, event: HeadEvent) {
        let Some(next) = self.state.next(event) else { return };
        if next == self.state {
            return;
        }
        self.counts.ups += u64::from(next == HeadState::Up);
        self.counts.downs += u64::from(self.state == HeadState::Up);
        (self.state, self.since, self.next) = (next, now, now);
        // RFC 8562, 5.9 and 5.12.1: long enough for all to hear of it.
        self.until = (next != HeadState::Up).then(|| now + self.detection());
        self.polls = self.terms.multiplier;
    }

    /// Takes other terms: at once, or after tails have been told that packets will be fewer (RFC 8562, 5.10).
    fn set_terms(&mut self, now: Time, terms: Terms) {
        let known = self.slower.map_or(self.terms, |(terms, _)| terms);
        if known == terms {
            return;
        }
        if terms.send_us > self.terms.send_us && self.state == HeadState::Up {
            self.slower = Some((terms, self.terms.multiplier.max(terms.multiplier)));
            return;
        }
        (self.terms, self.slower, self.polls) = (terms, None, terms.multiplier);
        self.next = now;
    }

    fn due(&self) -> Option<Time> {
        Time::earliest([Some(self.next), self.until])
    }

    /// The packet that is to be sent now, if it is time.
    fn poll_packet(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.next > now {
            return None;
        }
        if let Some((terms, left)) = self.slower {
            // What is said is the interval to come; it is kept to when that was said often enough.
            (self.terms, self.slower) = match left {
                0 => (terms, None),
                left => (self.terms, Some((terms, left - 1))),
            };
        }
        let said = self.slower.map_or(self.terms, |(terms, _)| terms);
        let desired_us = if self.state == HeadState::Up { said.send_us } else { self.desired_us() };
        let packet = Repr {
            diag: if self.state == HeadState::AdminDown { Diag::ADMIN_DOWN } else { Diag::NONE },
            state: self.state.said(),
            poll: self.polls > 0 || self.slower.is_some(),
            is_final: false,
            independent: self.independent,
            demand: true,
            multipoint: true,
            detect_mult: said.multiplier,
            my_discriminator: self.discriminator,
            your_discriminator: 0,
            desired_min_tx_us: desired_us,
            required_min_rx_us: 0,
            required_min_echo_rx_us: 0,
            auth: None,
        };
        self.polls = self.polls.saturating_sub(1);
        self.counts.sent += 1;
        // RFC 5880, 6.8.7: less up to a quarter, and a tenth at least with a multiplier of one.
        let least = if said.multiplier == 1 { 100 } else { 0 };
        let less: i64 = self.random.random_range(least..=250);
        self.next = now + Span(self.interval().0 / 1000 * (1000 - less));
        Some(self.authentication.emit(packet, true))
    }
}

impl Tail {
    /// Without a packet for so long it is down (RFC 8562, 5.11).
    pub(super) fn detection(&self) -> Span {
        Span(Span::from_us(self.send_us.into()).0 * i64::from(self.multiplier))
    }

    /// From a packet of the head to its next.
    pub(super) fn interval(&self) -> Span {
        Span::from_us(self.send_us.into())
    }

    fn due(&self) -> Time {
        match self.state {
            TailState::Up => self.heard + self.detection(),
            TailState::Down => self.heard + KEPT,
        }
    }

    fn step(&mut self, now: Time, event: TailEvent) -> Option<Event> {
        let next = self.state.next(event).filter(|next| *next != self.state)?;
        (self.state, self.since) = (next, now);
        let (address, port, lsp) = (self.head, Some(self.port), Some(format!("P2MP, label {}", self.label)));
        match next {
            TailState::Up => {
                self.counts.ups += 1;
                self.diag = Diag::NONE;
                Some(Event::BfdUp { address, port, lsp })
            }
            TailState::Down => {
                self.counts.downs += 1;
                let is_late = event == TailEvent::Expired;
                self.diag = if is_late { Diag::TIME_EXPIRED } else { Diag::NEIGHBOR_DOWN };
                Some(Event::BfdDown { address, port, lsp, why: self.diag.name() })
            }
        }
    }
}

impl Multipoint {
    pub(super) fn due(&self) -> Option<Time> {
        self.agenda.first().map(|(due, _)| *due)
    }

    pub(super) fn count(&self) -> usize {
        self.heads.len() + self.tails.len()
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.heads.values()
    }

    pub(super) fn tails(&self) -> impl Iterator<Item = &Tail> {
        self.tails.values()
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.heads.contains_key(&number)
    }

    /// Notes when something is to be done for a session, or that it is gone.
    fn plan(&mut self, which: Which) {
        let (planned, due) = match which {
            Which::Head(number) => match self.heads.get_mut(&number) {
                Some(head) => {
                    let due = head.due();
                    (core::mem::replace(&mut head.planned, due), due)
                }
                None => return,
            },
            Which::Tail(key) => match self.tails.get_mut(&key) {
                Some(tail) => {
                    let due = Some(tail.due());
                    (core::mem::replace(&mut tail.planned, due), due)
                }
                None => return,
            },
        };
        if planned != due {
            self.agenda.extend(due.map(|due| (due, which)));
            if let Some(planned) = planned {
                self.agenda.remove(&(planned, which));
            }
        }
    }
}

impl Bfd {
    /// Those who want an LSP with several ends watched are others than before.
    pub(super) fn watching_several(&mut self, now: Time, context: &mut Context<'_>, path: WatchedPath) {
        let all = context.services.liveness.clients(path);
        let clients: Vec<_> = all.filter(|(_, pace)| pace.is_of_bfd()).collect();
        let terms = self.terms(&clients);
        let known = self.multipoint.by_path.get(&path).copied();
        let is_wanted = !clients.is_empty() && !self.config.is_shut;
        let number = match known {
            Some(number) => number,
            None if !is_wanted => return,
            None => {
                self.multipoint.begun += 1;
                let mut random = self.stream(context, &format!("head/{}", self.multipoint.begun));
                let number = self.number(&mut random);
                let first = random.next_u32();
                let head = Head {
                    path,
                    clients: Vec::new(),
                    discriminator: number,
                    state: HeadState::Down,
                    since: now,
                    terms,
                    counts: Counts::default(),
                    source: context.bind(None).unwrap_or(*wire::bfd::SOURCE_PORTS.start()),
                    destination: super::lsp::destination(path.local, &mut random),
                    independent: self.config.is_independent,
                    until: None,
                    slower: None,
                    polls: 0,
                    next: now,
                    authentication: Authentication::new(self.config.key.clone(), first),
                    random,
                    planned: None,
                };
                let until = now + head.detection();
                self.multipoint.heads.insert(number, Head { until: Some(until), ..head });
                self.multipoint.by_path.insert(path, number);
                number
            }
        };
        if let Some(head) = self.multipoint.heads.get_mut(&number) {
            head.clients = clients.iter().map(|(client, _)| *client).collect();
            if is_wanted {
                head.step(now, HeadEvent::Wanted);
                head.set_terms(now, terms);
            } else {
                head.step(now, HeadEvent::Unwanted);
            }
        }
        self.head_due(now, context, number);
    }

    /// Does what is due for sessions with several receivers.
    pub(super) fn several_due(&mut self, now: Time, context: &mut Context<'_>) {
        while let Some(&(due, which)) = self.multipoint.agenda.first()
            && due <= now
        {
            match which {
                Which::Head(number) => self.head_due(now, context, number),
                Which::Tail(key) => self.tail_due(now, key),
            }
            if self.multipoint.agenda.first() == Some(&(due, which)) {
                debug_assert!(false, "{which:?} has nothing to do at {due:?}");
                self.multipoint.agenda.pop_first();
            }
        }
    }

    fn head_due(&mut self, now: Time, context: &mut Context<'_>, number: u32) {
        let Some(head) = self.multipoint.heads.get_mut(&number) else { return };
        if head.until.is_some_and(|until| until <= now) {
            head.until = None;
            if head.state == HeadState::AdminDown {
                let (path, source, planned) = (head.path, head.source, head.planned);
                self.multipoint.heads.remove(&number);
                self.multipoint.by_path.remove(&path);
                if let Some(planned) = planned {
                    self.multipoint.agenda.remove(&(planned, Which::Head(number)));
                }
                return context.release(source);
            }
            head.step(now, HeadEvent::Started);
        }
        if let Some(bytes) = head.poll_packet(now)
            && let Some(fec) = head.path.lsp().map(|lsp| lsp.fec())
        {
            self.inquired += 1;
            self.inquiries.insert(self.inquired, (number, bytes));
            let inquiry = Inquiry { number: self.inquired, fecs: vec![fec], ..Inquiry::default() };
            self.outputs.push_back(Output::Inquire(Box::new(inquiry)));
        }
        self.multipoint.plan(Which::Head(number));
    }

    /// The node has said where packets of a head go: a copy leaves by each way.
    pub(super) fn copy(&mut self, number: u32, bound: Option<&FecMapping>, bytes: &[u8]) {
        let Some(head) = self.multipoint.heads.get(&number) else { return };
        let ends = (head.path.local, head.destination);
        let legs = bound.map_or(&[][..], |bound| &bound.legs);
        let messages = legs.iter().filter_map(|leg| on_lsp(leg, ends, head.source, bytes.to_vec()));
        let messages: Vec<_> = messages.collect();
        self.outputs.extend(messages.into_iter().map(|message| Output::Lsp(Box::new(message))));
    }

    fn tail_due(&mut self, now: Time, key: TailKey) {
        let Some(tail) = self.multipoint.tails.get_mut(&key).filter(|tail| tail.due() <= now) else { return };
        if tail.state == TailState::Down {
            let planned = tail.planned;
            self.multipoint.tails.remove(&key);
            if let Some(planned) = planned {
                self.multipoint.agenda.remove(&(planned, Which::Tail(key)));
            }
            return;
        }
        let event = tail.step(now, TailEvent::Expired);
        self.tell(event);
        self.multipoint.plan(Which::Tail(key));
    }

    /// A packet to several receivers (RFC 8562, 5.13.1).
    pub(super) fn take_one(
        &mut self,
        now: Time,
        ip: &Heard,
        packet: &Repr,
        bytes: &[u8],
    ) -> Result<(), Discard> {
        // RFC 8562, 8: only what came by an LSP makes a session.
        let label =
            ip.label.filter(|label| ip.is_on_lsp && !label.is_reserved()).ok_or(Discard::Multipoint)?;
        let key = (ip.src, packet.my_discriminator, label);
        if !self.multipoint.tails.contains_key(&key) {
            if self.config.is_shut {
                return Err(Discard::NoSession);
            }
            if self.multipoint.tails.len() >= TAILS_MAX {
                return Err(Discard::Limit);
            }
            // One without a proof of who it is from makes none.
            let mut authentication = Authentication::new(self.config.key.clone(), 0);
            authentication.take(packet, bytes)?;
            let tail = Tail {
                head: ip.src,
                discriminator: packet.my_discriminator,
                label,
                port: ip.port,
                state: TailState::Down,
                since: now,
                diag: Diag::NONE,
                counts: Counts::default(),
                send_us: packet.desired_min_tx_us,
                multiplier: packet.detect_mult,
                heard: now,
                authentication: Authentication::new(self.config.key.clone(), 0),
                planned: None,
            };
            self.multipoint.tails.insert(key, tail);
        }
        let Some(tail) = self.multipoint.tails.get_mut(&key) else { return Ok(()) };
        if now - tail.heard >= Span(tail.detection().0 * 2) {
            // RFC 5880, 6.8.1: the head's sequence numbers are taken from where it begins again.
            tail.authentication = Authentication::new(self.config.key.clone(), 0);
        }
        tail.authentication.take(packet, bytes)?;
        tail.counts.received += 1;
        tail.port = ip.port;
        (tail.send_us, tail.multiplier, tail.heard) = (packet.desired_min_tx_us, packet.detect_mult, now);
        let event = tail.step(now, TailEvent::heard(packet.state));
        self.tell(event);
        self.multipoint.plan(Which::Tail(key));
        Ok(())
    }

    fn tell(&mut self, event: Option<Event>) {
        let event = event.map(|event| Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
        self.outputs.extend(event);
    }
}
