//! Requests of others (RFC 8029, 4.4; RFC 6425, 4.2), and the replies to them (4.5).

use super::judge::{Case, Judgement};
use super::several::Share;
use super::{Discard, LspPing, is_single, ntp};
use crate::inquiry::{Fec, FecMapping, Findings, Inquiry};
use crate::protocol::{Context, Message as IpMessage, Message6, Output, Over};
use crate::services::bootstrap::Offer;
use crate::services::sessions::Datagram;
use crate::services::{Beyond, Interfaces, Services};
use base::plane::{LabelUse, Leg, NextHop};
use base::{Dscp, Label, PortId, Time};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use wire::ipv6::extension::ALERT_MPLS_OAM;
use wire::lsp_ping::{
    FecChange, LspPing as Message, MappedLabel, Mapping, MappingPart, OPTIONAL, PORT, Place, REPLY, REQUEST,
    RawTlv, Received, Responder, Tlv, VERSION, code,
};

/// Time to live of replies (RFC 8029, 4.5).
const TTL: u8 = 255;
/// FECs that a request may have: a return subcode says the depth of each (RFC 8029, 3.1).
const FECS_MAX: usize = u8::MAX as usize;
/// Ways on that a reply tells at most.
const WAYS_MAX: usize = 64;

/// How a datagram came that is to test an LSP.
#[derive(Clone, Debug)]
pub(super) struct Came {
    port: PortId,
    src: IpAddr,
    over: Over,
    /// Entries of its label stack, the top first.
    stack: Vec<u32>,
}

impl Came {
    pub(super) fn new(port: PortId, src: IpAddr, over: Over, stack: &[u32]) -> Came {
        Came { port, src, over, stack: stack.to_vec() }
    }
}

/// A request that is being looked at.
#[derive(Debug)]
pub(super) struct Request {
    came: Came,
    /// The UDP port that it came from.
    from: u16,
    message: Message,
    received: u64,
}

impl Request {
    fn labels(&self) -> Vec<Label> {
        self.came.stack.iter().map(|word| Label::truncate(word >> 12)).collect()
    }

    /// What is said of it beside its header.
    pub(super) fn tlvs(&self) -> &[Tlv] {
        &self.message.tlvs
    }

    pub(super) fn fecs(&self) -> &[Fec] {
        let stack = self.message.tlvs.iter().find_map(|tlv| match tlv {
            Tlv::TargetFecStack { fecs } => Some(&fecs[..]),
            _ => None,
        });
        stack.unwrap_or_default()
    }

    fn way(&self) -> Option<&Mapping> {
        self.message.tlvs.iter().find_map(|tlv| match tlv {
            Tlv::DownstreamDetailedMapping(mapping) => Some(mapping),
            _ => None,
        })
    }
}

/// What is wrong with the bytes of a request: a return code, and the TLVs in question (RFC 8029, 4.4, step 1).
fn fault_of(message: &Message) -> Option<(u8, Vec<RawTlv>)> {
    // RFC 6425, 3.2 and 3.5: of several responders the first counts, and Downstream Mapping is ignored.
    let has_several_ends = message.tlvs.iter().any(|tlv| match tlv {
        Tlv::TargetFecStack { fecs } => fecs.iter().any(Fec::has_several_ends),
        _ => false,
    });
    let other = |responders: &[Responder]| match responders.first() {
        Some(Responder::Other { kind, .. }) => Some(*kind),
        _ => None,
    };
    let is_wrong = |tlv: &Tlv| match tlv {
        Tlv::P2mpResponder { responders } => other(responders).is_some_and(Responder::is_known),
        Tlv::Other { kind, .. } => Tlv::is_known(*kind),
        Tlv::TargetFecStack { fecs } => {
            !(1..=FECS_MAX).contains(&fecs.len())
                || fecs.iter().any(|fec| matches!(fec, Fec::Other { kind, .. } if Fec::is_known(*kind)))
        }
        _ => false,
    };
    let is_foreign = |tlv: &Tlv| match tlv {
        Tlv::Other { kind: Tlv::DOWNSTREAM_MAPPING, .. } => !has_several_ends,
        Tlv::P2mpResponder { responders } => other(responders).is_some_and(|kind| kind < OPTIONAL),
        Tlv::Other { kind, .. } => *kind < OPTIONAL,
        Tlv::TargetFecStack { fecs } => {
            fecs.iter().any(|fec| matches!(fec, Fec::Other { kind, .. } if *kind < OPTIONAL))
        }
        _ => false,
    };
    let those = |is: &dyn Fn(&Tlv) -> bool| -> Vec<RawTlv> {
        message.tlvs.iter().filter(|tlv| is(tlv)).filter_map(|tlv| tlv.raw().ok()).collect()
    };
    let wrong = those(&is_wrong);
    let count = |is: fn(&Tlv) -> bool| message.tlvs.iter().filter(|tlv| is(tlv)).count();
    let stacks = count(|tlv| matches!(tlv, Tlv::TargetFecStack { .. }));
    // RFC 8029, 3.4: "Only one Downstream Detailed Mapping object may appear".
    let ways = count(|tlv| matches!(tlv, Tlv::DownstreamDetailedMapping(_)));
    let is_of_mode = (1..=4).contains(&message.reply_mode);
    if !wrong.is_empty() {
        return Some((code::MALFORMED, wrong));
    }
    let foreign = those(&is_foreign);
    if !foreign.is_empty() {
        return Some((code::NOT_UNDERSTOOD, foreign));
    }
    (stacks != 1 || ways > 1 || !is_of_mode).then_some((code::MALFORMED, Vec::new()))
}

impl LspPing {
    /// A datagram to 127/8, or to ::ffff:127/104.
    pub(super) fn handle_request(&mut self, now: Time, context: &mut Context<'_>, came: Came, bytes: &[u8]) {
        let Over::Udp { src: from, .. } = came.over else { return self.discard(Discard::Malformed) };
        let is_request = |message: &Message| (message.version, message.message_type) == (VERSION, REQUEST);
        let header = Message::parse_header(bytes).ok().filter(is_request);
        let Some(header) = header.filter(|_| is_single(came.src) && from != 0) else {
            return self.discard(Discard::Malformed);
        };
        let sources = &self.config.sources;
        let is_served = sources.is_empty() || sources.iter().any(|prefix| prefix.contains(came.src));
        if !self.config.responds || !is_served {
            return self.discard(Discard::Source);
        }
        // RFC 8029, 3: the T flag.
        let is_over = came.stack.first().is_none_or(|word| word & 0xff <= 1);
        if header.flags & Message::ONLY_IF_EXPIRED != 0 && !is_over {
            return self.discard(Discard::TtlNotOver);
        }
        if !self.limiter.take(now) {
            return self.discard(Discard::RateLimited);
        }
        let received = ntp(now);
        let port = came.port;
        let request = |message| Request { came, from, message, received };
        let wrong = match Message::parse(bytes) {
            Err(_) => Some((request(header), code::MALFORMED, Vec::new())),
            Ok(message) => match fault_of(&message) {
                Some((code, errored)) => Some((request(message), code, errored)),
                None => {
                    let request = request(message);
                    let inquiry = Inquiry {
                        port: Some(port),
                        labels: request.labels(),
                        fecs: request.fecs().to_vec(),
                        ..Inquiry::default()
                    };
                    self.inquire(super::Asked::Judge(Box::new(request)), inquiry);
                    None
                }
            },
        };
        if let Some((request, code, errored)) = wrong {
            let tlvs = if errored.is_empty() { Vec::new() } else { vec![Tlv::ErroredTlvs { errored }] };
            self.answer_soon(now, context, request, (code, 0), tlvs);
        }
    }

    /// Replies to a request, by what both planes say.
    pub(super) fn reply(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        request: Request,
        findings: &Findings,
    ) {
        let interfaces = &context.services.interfaces;
        let Some(share) = Share::of(&request, findings, interfaces) else {
            return self.discard(Discard::Responder);
        };
        let own = own_address(interfaces, request.came.port);
        let stack = request.labels();
        let case = Case {
            stack: &stack,
            uses: &findings.labels,
            fecs: request.fecs(),
            mappings: &findings.fecs,
            way: request.way(),
            router: interfaces.router_id,
            interface: own,
            validate: self.config.validates || request.message.flags & Message::VALIDATE != 0,
            part: share.part,
        };
        let Judgement { mut code, mut depth, tells_received, switched } =
            case.judge(&|leg| knows_labels(interfaces, leg));
        let mut tlvs = Vec::new();
        let wants_received = request.way().is_some_and(|way| way.flags & 2 != 0);
        if tells_received || wants_received {
            let place = Place::Ipv4 { address: interfaces.router_id, interface: own };
            let received = Received { place, stack: request.came.stack.clone() };
            tlvs.push(Tlv::InterfaceAndLabelStack(received));
        }
        if let Some((place, LabelUse::Switched(legs) | LabelUse::Copied { legs, .. })) =
            switched.and_then(|place| Some((place, findings.labels.get(place)?)))
        {
            let legs = &share.ways_of(legs)[..];
            let ways = ways_on(&request, findings, place, legs, interfaces);
            let is_of_each = code == code::SWITCHED && (legs.len() > 1 || ways.iter().any(has_change));
            // RFC 8029, 3.1, note 2.
            for mut way in ways {
                // RFC 6425, 4.2.1.3: of an end that others are behind each way has its own.
                if is_of_each || code == code::EGRESS {
                    let what = if has_change(&way) { code::FEC_CHANGE } else { code::SWITCHED };
                    (way.return_code, way.return_subcode) = (what, depth);
                }
                tlvs.push(Tlv::DownstreamDetailedMapping(way));
            }
            if is_of_each {
                (code, depth) = (code::SEE_MAPPING, 0);
            }
        }
        if code == code::EGRESS {
            offer(context, &request);
        }
        self.answer_soon(now, context, request, (code, depth), tlvs);
    }

    /// Sends a reply (RFC 8029, 4.5).
    pub(super) fn answer(
        &mut self,
        context: &mut Context<'_>,
        request: &Request,
        (return_code, return_subcode): (u8, u8),
        mut tlvs: Vec<Tlv>,
    ) {
        *self.answered.entry(return_code).or_default() += 1;
        let Message { handle, sequence, sent, reply_mode, .. } = request.message;
        if matches!(reply_mode, 1 | 4) {
            // There is no control channel: a reply that takes another way would tell of another.
            return self.discard(Discard::ReplyMode);
        }
        let mut tos = None;
        for tlv in &request.message.tlvs {
            match tlv {
                Tlv::Pad { action: 2, .. } => tlvs.push(tlv.clone()),
                Tlv::ReplyTos { tos: wanted } => tos = Some(*wanted),
                _ => {}
            }
        }
        let reply = Message {
            version: VERSION,
            flags: 0,
            message_type: REPLY,
            reply_mode,
            return_code,
            return_subcode,
            handle,
            sequence,
            sent,
            received: request.received,
            tlvs,
        };
        let Ok(bytes) = reply.write() else { return };
        let interfaces = &context.services.interfaces;
        // RFC 8029, 3: the reply has the IP version of the request.
        let Some(own) = interfaces.source_to(request.came.src) else { return };
        let (to, from) = (request.came.src, request.from);
        let over = Over::Udp { src: PORT, dst: from };
        // With Router Alert it goes not along an LSP, so that every router looks at the option.
        match (own, to) {
            (IpAddr::V4(src), IpAddr::V4(dst)) if reply_mode == 3 => {
                if let Some((port, gateway)) = next_hop(context.services, dst) {
                    let next = Some(gateway);
                    let message =
                        IpMessage { port, next, src, dst, over, ttl: TTL, router_alert: true, bytes };
                    return self.outputs.push_back(Output::Message(message));
                }
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) if reply_mode == 3 => {
                // Where only an LSP leads back there is no such way.
                let Some((port, gateway)) = next_hop6(context.services, dst) else {
                    return self.discard(Discard::ReplyMode);
                };
                let (next, hop_limit, router_alert) = (Some(gateway), TTL, Some(ALERT_MPLS_OAM));
                let message = Message6 { port, next, src, dst, over, hop_limit, router_alert, bytes };
                return self.outputs.push_back(Output::Message6(Box::new(message)));
            }
            _ => {}
        }
        let dscp = tos.map_or(Dscp::CS6, Dscp::of_tos);
        let (from, to) = (Some(own), SocketAddr::new(to, from));
        // An address that can't be sent to is one that nobody asks from.
        let _ = context.send_datagram(Datagram { from, port: PORT, to, ttl: TTL, dscp, bytes });
    }
}

/// Tells who watches LSPs that the head end of one that ends here wants a session, if its request says so (RFC 5884,
/// 6). The session is of what is at the bottom of the stack.
fn offer(context: &mut Context<'_>, request: &Request) {
    let wanted = request.message.tlvs.iter().find_map(|tlv| match tlv {
        Tlv::BfdDiscriminator { discriminator } => Some(*discriminator),
        _ => None,
    });
    if let Some((discriminator, fec)) = wanted.zip(request.fecs().last()) {
        let from = request.came.src;
        context.services.bootstrap.offer(Offer { fec: fec.clone(), from, discriminator });
    }
}

fn own_address(interfaces: &Interfaces, port: PortId) -> Ipv4Addr {
    let address = interfaces.of_port(port).and_then(|interface| interface.ipv4());
    address.map_or(interfaces.router_id, |(address, _)| address)
}

/// The neighbour that packets to an address go to, by the routes.
fn next_hop(services: &Services, to: Ipv4Addr) -> Option<(PortId, Ipv4Addr)> {
    services.rib.hops_to(to)?.into_iter().find_map(|hop| match hop {
        NextHop::Via { port, gateway: IpAddr::V4(gateway) } => {
            Some((port, if gateway.is_unspecified() { to } else { gateway }))
        }
        _ => None,
    })
}

/// The same of IPv6.
fn next_hop6(services: &Services, to: Ipv6Addr) -> Option<(PortId, Ipv6Addr)> {
    services.rib6.hops_to(to)?.into_iter().find_map(|hop| match hop {
        NextHop::Via { port, gateway: IpAddr::V6(gateway) } => {
            Some((port, if gateway.is_unspecified() { to } else { gateway }))
        }
        _ => None,
    })
}

/// Does who is beyond a port know the labels that packets leave with?
fn knows_labels(interfaces: &Interfaces, leg: &Leg) -> bool {
    let beyond = interfaces.attached(leg.port).map_or(Beyond::Router, |attached| attached.beyond);
    leg.labels.as_slice().is_empty() || !matches!(beyond, Beyond::Host)
}

fn has_change(way: &Mapping) -> bool {
    way.changes().next().is_some()
}

/// The ways on for the label at a place of the stack (RFC 8029, 3.4 and 4.5).
fn ways_on(
    request: &Request,
    findings: &Findings,
    place: usize,
    legs: &[Leg],
    interfaces: &Interfaces,
) -> Vec<Mapping> {
    let words = &request.came.stack[..];
    let label = Label::truncate(words[place] >> 12);
    let tc = (words[place] >> 9 & 7) as u8;
    let is_of_label = |known: &&FecMapping| known.is_given(label);
    let protocol = findings.fecs.iter().flatten().find(is_of_label).map_or(0, |known| known.by.number());
    let below: Vec<MappedLabel> = words[place + 1..]
        .iter()
        .map(|word| MappedLabel { label: word >> 12, tc: (word >> 9 & 7) as u8, bottom: false, protocol: 0 })
        .collect();
    let way = |leg: &Leg| {
        let pushed = leg.labels.as_slice();
        // The label that takes the place of the one that came is the innermost; the others are those of tunnels.
        let of = |(at, label): (usize, &Label)| {
            let protocol = if at == 0 { protocol } else { 0 };
            MappedLabel { label: label.value(), tc, bottom: false, protocol }
        };
        let null = MappedLabel { label: Label::IMPLICIT_NULL.value(), tc, bottom: false, protocol };
        let mut labels: Vec<MappedLabel> = pushed.iter().enumerate().map(of).rev().collect();
        if labels.is_empty() {
            labels.push(null);
        }
        labels.extend(&below);
        if let Some(last) = labels.last_mut() {
            last.bottom = true;
        }
        // RFC 8029, 4.5.1: tunnels that packets enter here, as FECs that are not told.
        let hidden = FecChange { operation: FecChange::PUSH, peer: None, fec: Some(Fec::Nil { label: 0 }) };
        let changes = (1..pushed.len()).map(|_| MappingPart::FecChange(hidden.clone()));
        Mapping {
            mtu: interfaces
                .of_port(leg.port)
                .map_or(0, |interface| u16::try_from(interface.mtu).unwrap_or(u16::MAX)),
            flags: 0,
            place: match leg.gateway {
                // RFC 8029, 3.4: a neighbour whose address is not known.
                gateway if gateway.is_unspecified() => {
                    Place::Ipv4Unnumbered { address: Ipv4Addr::LOCALHOST, index: 0 }
                }
                IpAddr::V4(gateway) => Place::Ipv4 { address: gateway, interface: gateway },
                IpAddr::V6(gateway) => Place::Ipv6 { address: gateway, interface: gateway },
            },
            return_code: 0,
            return_subcode: 0,
            parts: core::iter::once(MappingPart::Labels { labels }).chain(changes).collect(),
        }
    };
    legs.iter().take(WAYS_MAX).map(way).collect()
}
