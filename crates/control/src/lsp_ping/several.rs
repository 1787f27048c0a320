//! LSPs with several ends (RFC 6425): which routers reply to a request, and when; and what many replies mean.

use super::ask::Probe;
use super::command::Command;
use super::follow::answer_of;
use super::judge::Part;
use super::record::{Outcome, Record};
use super::respond::Request;
use super::{Discard, LspPing};
use crate::inquiry::{Ends, FecMapping, Findings};
use crate::protocol::Context;
use crate::services::Interfaces;
use base::plane::Leg;
use base::random::Stream;
use base::{Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};
use wire::lsp_ping::{LspPing as Message, Responder, Tlv, code};

/// The longest that a reply waits, whatever the request allows: it is a random time within that, too.
const JITTER_MAX: Span = Span::from_secs(60);
/// Ends up to which an LSP is small enough for replies at once (RFC 6425, 4.1.2).
const FEW: u32 = 16;
/// Longest wait of replies of ends whose number is not known, in ms.
const JITTER_MS: u32 = 100;

/// As what a router replies, and of which ways on it tells.
#[derive(Debug)]
pub(super) struct Share {
    pub part: Part,
    /// The one way that counts, if it is one.
    only: Option<Leg>,
}

impl Share {
    const WHOLE: Share = Share { part: Part::Both, only: None };

    /// What a request wants of this router; nothing if others are to reply (RFC 6425, 3.2 and 4.2.1.3).
    pub(super) fn of(request: &Request, findings: &Findings, interfaces: &Interfaces) -> Option<Share> {
        let mut fecs = request.fecs().iter().zip(&findings.fecs);
        // RFC 6425, 4.2: a router that is not part of the LSP replies in any case.
        let Some((_, Some(known))) = fecs.find(|(fec, _)| fec.has_several_ends()) else {
            return Some(Share::WHOLE);
        };
        let is_own = |address: &IpAddr| {
            let mut all = interfaces.iter().flat_map(|(_, one)| &one.addresses);
            *address == interfaces.router_id || all.any(|own| own.address == *address)
        };
        let wanted = request.tlvs().iter().find_map(|tlv| match tlv {
            Tlv::P2mpResponder { responders } => responders.first(),
            _ => None,
        });
        match wanted {
            None | Some(Responder::Other { .. }) => Some(Share::WHOLE),
            Some(Responder::Node { address }) => is_own(address).then_some(Share::WHOLE),
            Some(Responder::Egress { address }) => {
                // RFC 6425, 3.2.1: where the ends are not known, nobody knows that he is on the way to one.
                let Some(Ends { behind: Some(behind), .. }) = &known.ends else { return None };
                if is_own(address) {
                    return Some(Share { part: Part::End, only: None });
                }
                let place = behind.iter().position(|ends| ends.iter().any(|end| *end == *address))?;
                Some(Share { part: Part::Transit, only: known.legs.get(place).copied() })
            }
        }
    }

    /// Those of the ways in the tables that are told. A way that the control plane does not know is told, too.
    pub(super) fn ways_of(&self, legs: &[Leg]) -> Vec<Leg> {
        let is_it =
            |leg: &&Leg| self.only.is_none_or(|only| (only.port, only.gateway) == (leg.port, leg.gateway));
        legs.iter().filter(is_it).copied().collect()
    }
}

/// How long a reply to a request with these TLVs may wait at most.
pub(super) fn jitter(tlvs: &[Tlv]) -> Span {
    let longest = tlvs.iter().find_map(|tlv| match tlv {
        Tlv::EchoJitter { jitter_ms } => Some(Span::from_ms(i64::from(*jitter_ms)).min(JITTER_MAX)),
        _ => None,
    });
    longest.unwrap_or(Span::ZERO)
}

/// A reply that waits: to what, with which return code, and what else it says.
#[derive(Debug)]
struct Reply {
    request: Request,
    code: (u8, u8),
    tlvs: Vec<Tlv>,
}

/// Replies that wait for a random time (RFC 6425, 3.3).
#[derive(Debug, Default)]
pub(super) struct Later {
    random: Option<Stream>,
    counted: u64,
    /// By when they are due, and the order in which they were made.
    replies: BTreeMap<(Time, u64), Reply>,
}

impl Later {
    pub(super) fn due(&self) -> Option<Time> {
        self.replies.keys().next().map(|(due, _)| *due)
    }
}

impl LspPing {
    /// Sends a reply, at once or after a random time if the request says how long that may be.
    pub(super) fn answer_soon(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        request: Request,
        code: (u8, u8),
        tlvs: Vec<Tlv>,
    ) {
        let longest = jitter(request.tlvs());
        if longest == Span::ZERO {
            return self.answer(context, &request, code, tlvs);
        }
        let services = &context.services;
        let node = &services.interfaces.node;
        let random = self
            .later
            .random
            .get_or_insert_with(|| services.streams.stream(&format!("{node}/lspping/jitter")));
        let wait = Span(random.random_range(0..=longest.0));
        self.later.counted += 1;
        self.later.replies.insert((now + wait, self.later.counted), Reply { request, code, tlvs });
    }

    /// Sends the replies that have waited for long enough.
    pub(super) fn answer_late(&mut self, now: Time, context: &mut Context<'_>) {
        while self.later.due().is_some_and(|due| due <= now) {
            if let Some((_, Reply { request, code, tlvs })) = self.later.replies.pop_first() {
                self.answer(context, &request, code, tlvs);
            }
        }
    }
}

/// Who has replied to a request that several may reply to.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    from: BTreeSet<IpAddr>,
    /// Routers that are to reply, if it is known how many.
    expected: Option<usize>,
    /// Ends that are to reply, if they are known.
    wanted: Option<BTreeSet<Ipv4Addr>>,
    /// Ends that have replied: that they are ends, or that something is wrong.
    ends: BTreeMap<Ipv4Addr, bool>,
    /// Ways on that were told.
    ways: usize,
}

impl Heard {
    /// Of the next request of a probe, which leaves by so many ways; nothing if one router at most is to reply.
    pub(super) fn of(probe: &Probe, known: &FecMapping, ways: usize) -> Option<Heard> {
        let ends = known.ends.as_ref()?;
        let wanted = match (&probe.command.responder, &ends.behind) {
            (Some(Responder::Egress { .. }), _) if probe.is_trace() => return None,
            (Some(Responder::Egress { address: IpAddr::V4(address) }), _) => Some(BTreeSet::from([*address])),
            (Some(Responder::Node { .. }), _) => None,
            (_, behind) => behind.as_ref().map(|behind| behind.iter().flatten().copied().collect()),
        };
        let is_node = matches!(probe.command.responder, Some(Responder::Node { .. }));
        let expected = match probe.is_trace() {
            true => probe.expected.or((probe.ttl == 1).then_some(ways)),
            false => is_node.then_some(1),
        };
        Some(Heard { wanted, expected, ..Heard::default() })
    }

    /// Has everybody replied who is to?
    fn is_complete(&self, is_trace: bool) -> bool {
        let are_all = self.expected.is_some_and(|count| self.from.len() >= count);
        let are_ends =
            self.wanted.as_ref().is_some_and(|wanted| wanted.iter().all(|end| self.ends.contains_key(end)));
        are_all || !is_trace && are_ends
    }
}

/// What a request says of who is to reply, and when.
pub(super) fn limits(command: &Command, known: &FecMapping, several: bool) -> Vec<Tlv> {
    let mut tlvs = Vec::new();
    let Some(ends) = &known.ends else { return tlvs };
    if let Some(responder) = &command.responder {
        tlvs.push(Tlv::P2mpResponder { responders: vec![responder.clone()] });
    }
    let count = |behind: &Vec<Vec<Ipv4Addr>>| behind.iter().map(Vec::len).sum::<usize>() as u32;
    let usual = || match ends.behind.as_ref().map(count) {
        _ if !several || command.responder.is_some() => 0,
        Some(count) if count <= FEW => 0,
        Some(count) => count,
        None => JITTER_MS,
    };
    let jitter_ms = command.jitter_ms.unwrap_or_else(usual);
    if jitter_ms > 0 {
        tlvs.push(Tlv::EchoJitter { jitter_ms });
    }
    tlvs
}

impl LspPing {
    /// Is it a request that several routers may reply to?
    pub(super) fn is_one_of_several(&self, number: u32, sequence: u32) -> bool {
        let awaited = self.probes.get(&number).and_then(|probe| probe.awaited.get(&sequence));
        awaited.is_some_and(|awaited| awaited.heard.is_some())
    }

    /// A reply to a request that several may reply to.
    pub(super) fn hear_one(&mut self, now: Time, context: &mut Context<'_>, from: IpAddr, message: &Message) {
        let (number, sequence) = (message.handle, message.sequence);
        let answer = answer_of(now, from, message);
        let probe = self.probes.get_mut(&number);
        let awaited = probe.and_then(|probe| {
            let is_trace = probe.is_trace();
            let awaited = probe.awaited.get_mut(&sequence).filter(|one| one.stamp == message.sent)?;
            Some((awaited.heard.as_mut()?, is_trace))
        });
        let Some((heard, is_trace)) = awaited else { return self.discard(Discard::Unmatched) };
        // One that replies again has got the packet again, which is shown and means nothing else.
        let is_new = heard.from.insert(from);
        let is_end = answer.code == code::EGRESS;
        let is_about_end = is_end || heard.wanted.is_some() && !goes_on(answer.code);
        let end = is_about_end.then(|| end_of(context, from, heard.wanted.as_ref())).flatten();
        if let Some(end) = end {
            *heard.ends.entry(end).or_default() |= is_end;
        }
        if is_new {
            heard.ways += answer.ways.len();
        }
        let is_complete = heard.is_complete(is_trace);
        self.note(number, sequence, end, Outcome::Answered(answer));
        if is_complete && let Some(heard) = self.take_heard(number, sequence) {
            self.heard_out(now, number, sequence, &heard);
        }
        self.probes_due(now);
        self.end(number);
    }

    fn take_heard(&mut self, number: u32, sequence: u32) -> Option<Heard> {
        self.probes.get_mut(&number)?.awaited.remove(&sequence)?.heard
    }

    /// Nobody replies to a request any more: what is missing is noted, and a trace goes on.
    pub(super) fn heard_out(&mut self, now: Time, number: u32, sequence: u32, heard: &Heard) {
        let Some(probe) = self.probes.get_mut(&number) else { return };
        let missing = |found: &BTreeMap<Ipv4Addr, bool>| -> Vec<Ipv4Addr> {
            heard.wanted.iter().flatten().filter(|end| !found.contains_key(end)).copied().collect()
        };
        let is_sound =
            |found: &BTreeMap<Ipv4Addr, bool>| !found.is_empty() && found.values().all(|is_end| *is_end);
        if !probe.is_trace() {
            let missing = missing(&heard.ends);
            probe.reached |= missing.is_empty() && is_sound(&heard.ends);
            self.note_missing(number, sequence, &missing);
            return;
        }
        for (end, is_end) in &heard.ends {
            *probe.found.entry(*end).or_default() |= is_end;
        }
        let missing = missing(&probe.found);
        let are_known = heard.wanted.is_some();
        let are_all = heard.expected.is_some_and(|count| heard.from.len() >= count);
        // Where somebody was silent nobody knows who is behind.
        probe.expected = are_all.then_some(heard.ways);
        probe.reached = missing.is_empty() && is_sound(&probe.found);
        let is_over = are_known && missing.is_empty() || probe.expected == Some(0);
        if !is_over {
            probe.go_on(now);
        }
        let is_last = probe.next.is_none();
        self.note_missing(number, sequence, if is_last { &missing } else { &[] });
    }

    /// Notes ends that have not replied; the request itself if nobody has.
    fn note_missing(&mut self, number: u32, sequence: u32, missing: &[Ipv4Addr]) {
        missing.iter().for_each(|end| self.note(number, sequence, Some(*end), Outcome::Silent));
        let mut all = self.records.iter_mut().rev();
        let waits = |one: &&mut Record| one.is_of(number, sequence) && one.outcome == Outcome::Waits;
        if let Some(record) = all.find(waits) {
            record.outcome = Outcome::Silent;
        }
    }

    /// Notes what somebody has replied, or not: in the place of the request, or behind what others have.
    fn note(&mut self, number: u32, sequence: u32, end: Option<Ipv4Addr>, outcome: Outcome) {
        let known = self.records.iter_mut().rev().find(|record| record.is_of(number, sequence));
        match known {
            Some(record) if record.outcome == Outcome::Waits => (record.end, record.outcome) = (end, outcome),
            Some(record) => {
                let more = Record { end, outcome, ..record.clone() };
                self.record(more);
            }
            None => {}
        }
    }
}

/// Does a return code say that packets go on, as they should?
const fn goes_on(code: u8) -> bool {
    matches!(code, code::SWITCHED | code::SEE_MAPPING | code::FEC_CHANGE | code::UPSTREAM_UNKNOWN)
}

/// The end that has replied: by its address, or by another one of the same router. Where the ends are not known, it is
/// known by the address that it replies from.
fn end_of(context: &mut Context<'_>, from: IpAddr, wanted: Option<&BTreeSet<Ipv4Addr>>) -> Option<Ipv4Addr> {
    let IpAddr::V4(from) = from else { return None };
    let Some(wanted) = wanted else { return Some(from) };
    let router = context.services.engineering.router_of(from);
    [Some(from), router].into_iter().flatten().find(|address| wanted.contains(address))
}
