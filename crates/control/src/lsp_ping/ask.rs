//! Requests that are sent (RFC 8029, 4.3; RFC 6425, 4.1).

use super::record::{Outcome, Record};
use super::several::Heard;
use super::{Asked, Command, Event, LspPing, Mode, ntp};
use crate::inquiry::{CLASS, Fec, FecMapping, Findings, GivenBy, Inquiry, stack, takes};
use crate::protocol::{Context, LspMessage, Output, Over};
use base::plane::Leg;
use base::{Label, ProtocolValue, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use wire::hex::Hex;
use wire::lsp_ping::{
    ALL_ROUTERS, LspPing as Message, MappedLabel, Mapping, MappingPart, PORT, Place, REQUEST, Responder, Tlv,
    VERSION,
};

/// Time to live of labels where the whole LSP is tested (RFC 8029, 4.3).
pub(super) const WHOLE: u8 = 255;
/// Bytes of the headers of IPv4, with Router Alert, and of UDP.
const HEADERS: usize = 24 + 8;
/// The same of IPv6.
const HEADERS6: usize = 48 + 8;
/// Bytes of a pad without anything behind its first one.
const PAD: usize = 5;

/// A request that waits for its reply.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    pub(super) until: Time,
    /// What it said when it was sent.
    pub(super) stamp: u64,
    pub(super) ttl: u8,
    /// Depth of the stack of FECs that it had.
    pub(super) fecs: usize,
    /// Those that have replied, if several may.
    pub(super) heard: Option<Heard>,
}

/// A command that is being carried out.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) command: Command,
    /// The sequence number of the last request.
    sequence: u32,
    /// When the next request is due; nothing while a reply is awaited, and after the last.
    pub(super) next: Option<Time>,
    /// Requests that may still be answered, by sequence number.
    pub(super) awaited: BTreeMap<u32, Awaited>,
    /// Time to live of the next request.
    pub(super) ttl: u8,
    /// The stack of FECs as the last router on the way has changed it, the top first: at first the FEC of the command
    /// below those of the LSPs that carry it from here.
    pub(super) fecs: Vec<Fec>,
    /// How many there were at first; nothing before the first request.
    pub(super) depth: Option<usize>,
    /// Is the label of the FEC of the command implicit null, below those of what carries it?
    pub(super) ends_in_null: bool,
    /// The way by which the next request of a trace is to come, as the last router has said.
    pub(super) way: Option<Mapping>,
    /// Has somebody answered that the LSP ends there; or all ends that are known?
    pub(super) reached: bool,
    /// Routers that are to reply to the next request of a trace with several ends, if that is known.
    pub(super) expected: Option<usize>,
    /// Ends that have replied to a trace: that they are ends, or that something is wrong.
    pub(super) found: BTreeMap<Ipv4Addr, bool>,
}

impl Probe {
    fn new(now: Time, command: &Command) -> Probe {
        let is_trace = matches!(command.mode, Mode::Trace { .. });
        Probe {
            sequence: 0,
            next: Some(now),
            awaited: BTreeMap::new(),
            ttl: if is_trace { 1 } else { WHOLE },
            fecs: vec![command.fec.clone()],
            depth: None,
            ends_in_null: false,
            way: None,
            reached: false,
            expected: None,
            found: BTreeMap::new(),
            command: command.clone(),
        }
    }

    /// When something is to be done.
    pub(super) fn due(&self) -> Option<Time> {
        self.awaited.values().map(|one| one.until).chain(self.next).min()
    }

    /// Is this a trace?
    pub(super) fn is_trace(&self) -> bool {
        matches!(self.command.mode, Mode::Trace { .. })
    }

    /// Has the next request of a trace a longer way; nothing is left to be done otherwise.
    pub(super) fn go_on(&mut self, now: Time) {
        if let Mode::Trace { hops } = self.command.mode
            && self.ttl < hops
        {
            self.ttl += 1;
            self.next = Some(now);
        }
    }
}

/// The way by a leg, as the router at its end is to verify it (RFC 8029, 3.4).
fn mapping(leg: &Leg, mtu: u32, known: &FecMapping) -> Mapping {
    let all = leg.labels.as_slice();
    // The innermost is of the FEC itself, those above it of the LSPs that carry it.
    let by = |place: usize| match place.checked_sub(1) {
        None => known.by,
        Some(above) => known.carriers.iter().rev().nth(above).map_or(GivenBy::Unknown, |carrier| carrier.by),
    };
    let of = |(place, label): (usize, &Label)| MappedLabel {
        label: label.value(),
        tc: CLASS as u8,
        bottom: place == 0,
        protocol: by(place).number(),
    };
    let labels = all.iter().enumerate().map(of).rev().collect();
    let place = match leg.gateway {
        IpAddr::V4(gateway) => Place::Ipv4 { address: gateway, interface: gateway },
        IpAddr::V6(gateway) => Place::Ipv6 { address: gateway, interface: gateway },
    };
    Mapping {
        mtu: u16::try_from(mtu).unwrap_or(u16::MAX),
        flags: 0,
        place,
        return_code: 0,
        return_subcode: 0,
        parts: vec![MappingPart::Labels { labels }],
    }
}

/// The way that nobody knows: who gets this verifies nothing (RFC 8029, 3.4 and 4.8).
pub(super) fn unknown_way() -> Mapping {
    Mapping {
        mtu: 0,
        flags: 0,
        place: Place::Ipv4Unnumbered { address: ALL_ROUTERS, index: 0 },
        return_code: 0,
        return_subcode: 0,
        parts: Vec::new(),
    }
}

impl LspPing {
    /// Begins to carry a command out. One of a number that is under way takes its place.
    pub(super) fn begin(&mut self, now: Time, command: &Command) {
        self.begun = self.begun.max(command.number);
        self.probes.insert(command.number, Probe::new(now, command));
        self.probes_due(now);
    }

    /// Does what is due for all probes.
    pub(super) fn probes_due(&mut self, now: Time) {
        let due = self.probes.iter().filter(|(_, probe)| probe.due().is_some_and(|due| due <= now));
        for number in due.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.probe_due(now, number);
        }
    }

    fn probe_due(&mut self, now: Time, number: u32) {
        let Some(probe) = self.probes.get_mut(&number) else { return };
        let late: Vec<(u32, Option<Heard>)> = probe
            .awaited
            .extract_if(.., |_, one| one.until <= now)
            .map(|(sequence, one)| (sequence, one.heard))
            .collect();
        let (several, late): (Vec<_>, Vec<_>) = late.into_iter().partition(|(_, heard)| heard.is_some());
        if !late.is_empty() && probe.is_trace() {
            // RFC 8029, 4.8: the next is asked without a word on how the request is to come.
            probe.way = Some(unknown_way());
            probe.go_on(now);
        }
        for (sequence, heard) in several {
            if let Some(heard) = heard {
                self.heard_out(now, number, sequence, &heard);
            }
        }
        let Some(probe) = self.probes.get_mut(&number) else { return };
        let is_next = probe.next.is_some_and(|next| next <= now);
        if is_next {
            probe.next = None;
            let inquiry = Inquiry { fecs: vec![probe.command.fec.clone()], ..Inquiry::default() };
            self.inquire(Asked::Send(number), inquiry);
        }
        late.into_iter().for_each(|(sequence, _)| self.settle(number, sequence, Outcome::Silent));
        if !is_next {
            self.end(number);
        }
    }

    /// Notes what became of a request.
    pub(super) fn settle(&mut self, number: u32, sequence: u32, outcome: Outcome) {
        let mut all = self.records.iter_mut().rev();
        let of = |record: &&mut Record| (record.number, record.sequence) == (number, sequence);
        if let Some(record) = all.find(of) {
            record.outcome = outcome;
        }
    }

    /// Ends a command of which nothing is left to be done.
    pub(super) fn end(&mut self, number: u32) {
        let Some(probe) = self.probes.get(&number) else { return };
        let is_asked = self.inquiries.values().any(|asked| matches!(asked, Asked::Send(of) if *of == number));
        if probe.next.is_some() || !probe.awaited.is_empty() || is_asked {
            return;
        }
        let event = Event::LspProbed { number, reached: probe.reached };
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
        self.probes.remove(&number);
    }

    /// Sends the next request of a probe: along the LSP that the control plane knows.
    pub(super) fn send(&mut self, now: Time, context: &mut Context<'_>, number: u32, findings: Findings) {
        if self.source.is_none() {
            self.source = context.bind(None);
        }
        let source = self.source;
        let Some(probe) = self.probes.get_mut(&number) else { return };
        probe.sequence += 1;
        let (sequence, ttl) = (probe.sequence, probe.ttl);
        let known = findings.fecs.into_iter().flatten().next();
        let legs = known.as_ref().map_or(&[][..], |known| ways_out(&probe.command, known));
        let way = known.as_ref().and_then(|known| Some((known, legs.first()?)));
        let ends = way.and_then(|(_, leg)| ends(context, leg, probe.command.destination));
        let found = way.zip(source).zip(ends);
        let mut record = Record {
            number,
            fec: probe.command.fec.to_string(),
            end: None,
            ttl,
            sequence,
            sent: now,
            labels: Vec::new(),
            outcome: Outcome::NoWay,
        };
        if let Mode::Ping { count, interval } = probe.command.mode
            && sequence < count
        {
            probe.next = Some(now + interval);
        }
        let Some((((known, leg), source), ends)) = found else {
            self.record(record);
            return self.end(number);
        };
        let mtu = context.services.interfaces.of_port(leg.port).map_or(0, |interface| interface.mtu);
        // RFC 8029, 3.2: an FEC for each label, the first for the top of the stack. A ping asks by what is in force at
        // each request; a trace goes on with the stack that it began with.
        if probe.depth.is_none() || !probe.is_trace() {
            let carriers = known.carriers.iter().map(|carrier| carrier.fec.clone());
            probe.fecs = carriers.chain([probe.command.fec.clone()]).collect();
            probe.depth = Some(probe.fecs.len());
            probe.ends_in_null = leg.labels.as_slice().first() == Some(&Label::IMPLICIT_NULL);
        }
        let heard = Heard::of(probe, known, legs.len());
        // RFC 6425, 4.3.4: of several routers that get a request each comes to it by another way.
        let first = match heard {
            Some(_) => unknown_way(),
            None => mapping(leg, mtu, known),
        };
        let mut message = request(probe, sequence, now, probe.is_trace().then_some(first));
        message.tlvs.extend(super::several::limits(&probe.command, known, heard.is_some()));
        let headers = if ends.1.is_ipv6() { HEADERS6 } else { HEADERS };
        pad(&mut message, probe.command.size, headers);
        let Ok(bytes) = message.write() else {
            // It is longer than a message can be: nothing is sent, and nothing follows.
            probe.next = None;
            self.record(record);
            return self.end(number);
        };
        if legs.len() == 1 {
            record.labels = stack(leg, ttl).iter().map(|word| word >> 12).collect();
        }
        record.outcome = Outcome::Unasked;
        if probe.command.reply_mode != 1 {
            // Whoever replies may have been told to wait.
            let jitter = super::several::jitter(&message.tlvs);
            let (until, fecs) = (now + probe.command.wait + jitter, probe.fecs.len());
            probe.awaited.insert(sequence, Awaited { until, stamp: message.sent, ttl, fecs, heard });
            record.outcome = Outcome::Waits;
        }
        for leg in legs {
            let message = datagram(leg, ttl, ends, source, bytes.clone());
            self.outputs.push_back(Output::Lsp(Box::new(message)));
        }
        self.record(record);
        self.end(number);
    }
}

/// The ways by which a request leaves: one of several that packets share, or all by which they are copied.
fn ways_out<'a>(command: &Command, known: &'a FecMapping) -> &'a [Leg] {
    let Some(ends) = &known.ends else { return known.legs.get(..1).unwrap_or_default() };
    // A trace to one end is followed along the way to it alone.
    let to = match (command.mode, &command.responder) {
        (Mode::Trace { .. }, Some(Responder::Egress { address })) => *address,
        _ => return &known.legs,
    };
    let is_behind = |behind: &Vec<Ipv4Addr>| behind.iter().any(|end| *end == to);
    let place = ends.behind.iter().flatten().position(is_behind);
    place.and_then(|place| known.legs.get(place..=place)).unwrap_or_default()
}

/// RFC 6425, 4.3.2: an end that has replied to a trace is not to reply to the next requests, too.
fn only_if_expired(probe: &Probe) -> u16 {
    let is_one = probe.is_trace() && probe.command.fec.has_several_ends();
    if is_one { Message::ONLY_IF_EXPIRED } else { 0 }
}

/// Source and destination of a request by way of a leg: of IPv4, or of IPv6 where the leg takes no other (RFC 8029,
/// 4.3). Nothing if the leg does not take what was asked for, or this router has no address of that family.
fn ends(context: &Context<'_>, leg: &Leg, asked: IpAddr) -> Option<(IpAddr, IpAddr)> {
    let destination = match asked {
        IpAddr::V4(address) if !takes(leg, asked) => IpAddr::V6(address.to_ipv6_mapped()),
        asked => asked,
    };
    let source = context.services.interfaces.source_to(destination)?;
    takes(leg, destination).then_some((source, destination))
}

/// A request on its way by a leg, with its source and destination.
pub(super) fn datagram(
    leg: &Leg,
    ttl: u8,
    (src, dst): (IpAddr, IpAddr),
    source: u16,
    bytes: Vec<u8>,
) -> LspMessage {
    LspMessage {
        port: leg.port,
        gateway: leg.gateway,
        stack: stack(leg, ttl),
        src,
        dst,
        over: Over::Udp { src: source, dst: PORT },
        // RFC 8029, 4.3.
        ttl: 1,
        router_alert: true,
        bytes,
    }
}

/// The next request of a probe; in a trace with the way by which it is to come, the first of which is that out of here.
fn request(probe: &Probe, sequence: u32, now: Time, first: Option<Mapping>) -> Message {
    let way = first.map(|first| probe.way.clone().unwrap_or(first));
    let is_known = way.as_ref().is_some_and(|way| way.place.address() != IpAddr::V4(ALL_ROUTERS));
    let mut tlvs = vec![Tlv::TargetFecStack { fecs: probe.fecs.clone() }];
    tlvs.extend(way.map(Tlv::DownstreamDetailedMapping));
    tlvs.extend(probe.command.tos.map(|tos| Tlv::ReplyTos { tos }));
    Message {
        version: VERSION,
        // RFC 8029, 4.8: not where nobody knows how the request is to come.
        flags: if is_known { Message::VALIDATE } else { 0 } | only_if_expired(probe),
        message_type: REQUEST,
        reply_mode: probe.command.reply_mode,
        return_code: 0,
        return_subcode: 0,
        handle: probe.command.number,
        sequence,
        sent: ntp(now),
        received: 0,
        tlvs,
    }
}

/// Makes a request as long as it is to be, by a pad that replies leave out (RFC 8029, 3.5).
fn pad(message: &mut Message, size: Option<u16>, headers: usize) {
    let Some(size) = size else { return };
    let len = message.write().map_or(0, |bytes| bytes.len());
    if let Some(more) = usize::from(size).checked_sub(headers + len + PAD) {
        // The whole is a multiple of four.
        message.tlvs.push(Tlv::Pad { action: 1, rest: Hex(vec![0; more / 4 * 4 + 3]) });
    }
}
