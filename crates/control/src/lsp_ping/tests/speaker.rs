//! A speaker at a node: requests of others and what is replied, malformed ones among them; requests of its own and what
//! comes of replies.

use super::super::record::Outcome;
use super::super::section::LspPingSpec;
use super::super::{Command, LspPing, Mode, ntp};
use crate::inquiry::{Fec, FecMapping, Findings, GivenBy, Inquiry};
use crate::owner::Owner;
use crate::protocol::{
    Arrival, Context, IpArrival, LspArrival, LspMessage, Message, Output, Over, Protocol, Setup,
};
use crate::services::sessions::Packet;
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use base::plane::{LabelStack, LabelUse, Leg, Prefix};
use base::{Dscp, Label, PortId, ProtocolValue, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr};
use proptest::prelude::*;
use wire::hex::Hex;
use wire::lsp_ping::{
    FecChange, LspPing as Wire, MappedLabel, Mapping, MappingPart, PORT, Place, RawTlv, Received, Tlv,
};

pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(super) const ASKER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);
pub(super) const TARGET: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

pub(super) struct Node {
    pub now: Time,
    ping: Box<dyn Protocol>,
    pub services: Box<Services>,
}

impl Node {
    pub(super) fn new(spec: &LspPingSpec) -> Node {
        let port = |n: u8| Interface {
            kind: InterfaceKind::Port(PortId(n.into())),
            addresses: vec![InterfaceAddress { address: IpAddr::V4([10, 0, n, 1].into()), prefix_len: 24 }],
            link_local: None,
            neighbor: Some([10, 0, n, 2].into()),
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN, vec![port(0), port(1)]);
        Node::of(spec, interfaces)
    }

    pub(super) fn of(spec: &LspPingSpec, interfaces: Interfaces) -> Node {
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(4));
        let ping = spec.protocol(&services);
        Node { now: Time(1_500_000_000_000), ping, services: Box::new(services) }
    }

    pub(super) fn ping(&self) -> &LspPing {
        (&*self.ping as &dyn core::any::Any).downcast_ref().expect("LSP ping")
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.ping.poll_timeout()
    }

    pub(super) fn call(
        &mut self,
        what: impl FnOnce(&mut dyn Protocol, Time, &mut Context<'_>),
    ) -> Vec<Output> {
        let mut context = Context { services: &mut self.services, owner: Owner(1) };
        what(&mut *self.ping, self.now, &mut context);
        core::iter::from_fn(|| self.ping.poll_output()).collect()
    }

    /// Hears a request with these labels; both planes say what is given.
    pub(super) fn hear(
        &mut self,
        stack: &[u32],
        bytes: &[u8],
        found: impl FnOnce(&Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>),
    ) -> Vec<Output> {
        let over = Over::Udp { src: 40_000, dst: PORT };
        let dst = Ipv4Addr::LOCALHOST;
        let ip = IpArrival { port: PortId(0), src: ASKER, dst, ttl: 1, router_alert: true, over };
        let arrival = Arrival::Lsp(LspArrival::new(ip, stack).expect("few labels"));
        let outputs = self.call(|ping, now, context| ping.handle_message(now, context, &arrival, bytes));
        self.answer(outputs, found)
    }

    pub(super) fn answer(
        &mut self,
        outputs: Vec<Output>,
        found: impl FnOnce(&Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>),
    ) -> Vec<Output> {
        let Some(Output::Inquire(inquiry)) = outputs.first() else { return outputs };
        let (labels, fecs) = found(inquiry);
        let findings = Findings { number: inquiry.number, labels, fecs };
        self.call(|ping, now, context| ping.handle_findings(now, context, findings))
    }

    /// The reply that waits to be sent by the tables.
    pub(super) fn reply(&mut self) -> Option<(Packet, Wire)> {
        let packet = self.services.sessions.poll_packet()?;
        let message = Wire::parse(&packet.bytes).expect("a reply");
        Some((packet, message))
    }

    pub(super) fn discards(&self) -> Vec<(&'static str, u64)> {
        self.ping().discards.iter().map(|(why, count)| (why.word(), *count)).collect()
    }
}

pub(super) fn fec() -> Fec {
    Fec::LdpIpv4 { prefix: TARGET, length: 32 }
}

pub(super) fn request(tlvs: Vec<Tlv>) -> Wire {
    Wire {
        version: 1,
        flags: 0,
        message_type: 1,
        reply_mode: 2,
        return_code: 0,
        return_subcode: 0,
        handle: 77,
        sequence: 5,
        sent: 0x1234_5678_9abc_def0,
        received: 0,
        tlvs,
    }
}

pub(super) fn whole() -> Wire {
    request(vec![Tlv::TargetFecStack { fecs: vec![fec()] }])
}

pub(super) fn leg(labels: &[u32]) -> Leg {
    let labels: Vec<Label> = labels.iter().map(|value| Label::truncate(*value)).collect();
    let labels = LabelStack::new(&labels).expect("few");
    Leg { labels, port: PortId(1), gateway: Ipv4Addr::new(10, 0, 1, 2).into() }
}

pub(super) fn egress(_: &Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>) {
    (Vec::new(), vec![Some(FecMapping::egress(GivenBy::Ldp, Some(Label::IMPLICIT_NULL)))])
}

fn transit(legs: Vec<Leg>) -> impl FnOnce(&Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>) {
    |_| {
        let given = Some(Label::truncate(20));
        let mapping = FecMapping::transit(GivenBy::Ldp, given, Vec::new());
        (vec![LabelUse::Switched(legs)], vec![Some(mapping)])
    }
}

/// The entry of label 20 with class 6, at the bottom, whose time to live is over.
const WORD: u32 = 20 << 12 | 6 << 9 | 1 << 8 | 1;

/// RFC 8029, 4.5: ports and addresses are turned round, and what the request said comes back.
#[test]
fn a_reply_comes_back_as_it_was_asked_for() {
    let mut node = Node::new(&LspPingSpec::default());
    let tlvs = vec![
        Tlv::TargetFecStack { fecs: vec![fec()] },
        Tlv::ReplyTos { tos: 0xb8 },
        Tlv::Pad { action: 2, rest: Hex(vec![9; 7]) },
        Tlv::Other { kind: 0x8001, value: Hex(vec![1, 2]) },
    ];
    assert!(node.hear(&[], &request(tlvs).write().expect("bytes"), egress).is_empty());
    let (packet, reply) = node.reply().expect("a reply");
    assert_eq!((packet.src, packet.dst, packet.ttl), (OWN.into(), ASKER.into(), 255));
    assert_eq!(packet.over, Over::Udp { src: PORT, dst: 40_000 });
    assert_eq!(packet.dscp, Dscp::of_tos(0xb8));
    let expected = Wire {
        message_type: 2,
        return_code: 3,
        return_subcode: 1,
        received: (2_208_988_800 + 1) << 32 | 1 << 31,
        tlvs: vec![Tlv::Pad { action: 2, rest: Hex(vec![9; 7]) }],
        ..whole()
    };
    assert_eq!(reply, expected);
    // A pad that is to be dropped, and who wants to know how the request came.
    let way = Mapping { flags: 2, ..all_routers() };
    let tlvs = vec![
        Tlv::TargetFecStack { fecs: vec![fec()] },
        Tlv::Pad { action: 1, rest: Hex(vec![9; 7]) },
        Tlv::DownstreamDetailedMapping(way),
    ];
    node.hear(&[WORD], &request(tlvs).write().expect("bytes"), |_| (vec![LabelUse::Unknown], vec![None]));
    let (_, reply) = node.reply().expect("a reply");
    let place = Place::Ipv4 { address: OWN, interface: [10, 0, 0, 1].into() };
    assert_eq!((reply.return_code, reply.return_subcode), (11, 1));
    assert_eq!(reply.tlvs, [Tlv::InterfaceAndLabelStack(Received { place, stack: vec![WORD] })]);
}

fn all_routers() -> Mapping {
    Mapping {
        mtu: 0,
        flags: 0,
        place: Place::Ipv4Unnumbered { address: wire::lsp_ping::ALL_ROUTERS, index: 0 },
        return_code: 0,
        return_subcode: 0,
        parts: Vec::new(),
    }
}

/// RFC 8029, 4.4, step 1, and 3.8.
#[test]
fn what_is_malformed_or_not_understood_is_answered() {
    let raw = |kind, value: Vec<u8>| Tlv::Other { kind, value: Hex(value) };
    let errored =
        |kind, value: Vec<u8>| vec![Tlv::ErroredTlvs { errored: vec![RawTlv { kind, value: Hex(value) }] }];
    let stack = || Tlv::TargetFecStack { fecs: vec![fec()] };
    let many = || Tlv::TargetFecStack { fecs: vec![fec(); 256] };
    let unknown_fec = vec![0, 6, 0, 13, 0, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, 0, 8, 0, 0, 0];
    let short_fec = vec![0, 3, 0, 4, 1, 2, 3, 4];
    let cases = [
        (request(vec![]), 1, Vec::new()),
        (request(vec![Tlv::TargetFecStack { fecs: Vec::new() }]), 1, errored(1, Vec::new())),
        (request(vec![stack(), stack()]), 1, Vec::new()),
        (
            request(vec![
                stack(),
                Tlv::DownstreamDetailedMapping(all_routers()),
                Tlv::DownstreamDetailedMapping(all_routers()),
            ]),
            1,
            Vec::new(),
        ),
        (Wire { reply_mode: 9, ..whole() }, 1, Vec::new()),
        // A stack of FECs of which no return subcode tells the first.
        (request(vec![many()]), 1, vec![Tlv::ErroredTlvs { errored: vec![many().raw().expect("bytes")] }]),
        (request(vec![stack(), raw(5, vec![1])]), 1, errored(5, vec![1])),
        (request(vec![raw(1, short_fec.clone())]), 1, errored(1, short_fec)),
        (request(vec![stack(), raw(2, vec![0; 16])]), 2, errored(2, vec![0; 16])),
        (request(vec![raw(1, unknown_fec.clone())]), 2, errored(1, unknown_fec)),
    ];
    let mut node = Node::new(&LspPingSpec::default());
    for (message, code, tlvs) in cases {
        let outputs = node.hear(&[], &message.write().expect("bytes"), egress);
        assert!(outputs.is_empty(), "{message:?} asks nobody");
        let (_, reply) = node.reply().unwrap_or_else(|| panic!("no reply to {message:?}"));
        assert_eq!((reply.return_code, reply.return_subcode, reply.tlvs), (code, 0, tlvs), "{message:?}");
        assert_eq!((reply.handle, reply.sequence, reply.sent), (77, 5, whole().sent));
    }
    // A TLV that is longer than the message.
    let mut bytes = whole().write().expect("bytes");
    bytes[35] = 200;
    node.hear(&[], &bytes, egress);
    assert_eq!(node.reply().expect("a reply").1.return_code, 1);
    // What is no request gets no reply.
    let other = |version, message_type| Wire { version, message_type, ..whole() }.write().expect("bytes");
    for bytes in [other(2, 1), other(1, 2), other(1, 3), vec![0; 31], Vec::new()] {
        node.hear(&[], &bytes, egress);
        assert_eq!(node.reply(), None);
    }
    assert_eq!(node.discards(), [("malformed", 5)]);
}

/// RFC 8029, 3, 3.1 and 3.4: flags without a name and return codes of requests are ignored, and so is the T flag of a
/// reply; a reply has no such flags.
#[test]
fn what_has_no_meaning_is_ignored() {
    let mut node = Node::new(&LspPingSpec::default());
    let way = Mapping { flags: 0xfc, ..all_routers() };
    let tlvs = vec![Tlv::TargetFecStack { fecs: vec![fec()] }, Tlv::DownstreamDetailedMapping(way)];
    let odd = Wire { flags: 0xfff8, return_code: 14, return_subcode: 9, ..request(tlvs) };
    node.hear(&[], &odd.write().expect("bytes"), egress);
    let (_, reply) = node.reply().expect("a reply");
    assert_eq!((reply.flags, reply.return_code, reply.return_subcode), (0, 3, 1));
    // The end of an LSP tells no way on, and not how the request came unless it was asked to.
    assert_eq!(reply.tlvs, []);
    let mut node = Node::new(&LspPingSpec::default());
    let request = probe(&mut node, &Command::new(9, fec())).pop().expect("a request");
    replied(&mut node, &request, |message| {
        message.flags = 0xfff8 | Wire::ONLY_IF_EXPIRED;
        (message.return_code, message.return_subcode) = (3, 1);
        // A code of a way that the header does not refer to.
        let way = Mapping { return_code: 5, return_subcode: 1, ..way_on(&[30], Vec::new()) };
        message.tlvs = vec![Tlv::DownstreamDetailedMapping(way)];
    });
    assert!(outcomes(&node) == ["3 at 1"] && node.ping().is_done(9));
}

/// RFC 8029, 2.1: requests can take each of several ways, by the address of 127/8 that they are sent to.
#[test]
fn requests_are_sent_to_any_address_of_the_loopback_network() {
    let mut node = Node::new(&LspPingSpec::default());
    let destination = IpAddr::from([127, 9, 8, 7]);
    let command = Command { destination, mode: Mode::Trace { hops: 3 }, ..Command::new(9, fec()) };
    let first = probe(&mut node, &command).pop().expect("a request");
    let second = replied(&mut node, &first, |message| message.return_code = 8).pop().expect("a request");
    assert_eq!((first.dst, second.dst, second.ttl), (destination, destination, 1));
}

/// RFC 8029, 3 and 5.
#[test]
fn who_gets_no_reply() {
    let bytes = |change: fn(&mut Wire)| {
        let mut message = whole();
        change(&mut message);
        message.write().expect("bytes")
    };
    let mut node = Node::new(&LspPingSpec::default());
    for mode in [1, 4] {
        let message = Wire { reply_mode: mode, ..whole() };
        assert!(node.hear(&[], &message.write().expect("bytes"), egress).is_empty());
        assert_eq!(node.reply(), None);
    }
    assert_eq!(node.discards(), [("reply-mode", 2)]);
    // The T flag: only where the time to live of the label is over.
    let only = bytes(|message| message.flags = Wire::ONLY_IF_EXPIRED);
    node.hear(&[WORD + 1], &only, transit(vec![leg(&[30])]));
    assert_eq!((node.reply(), node.discards().last()), (None, Some(&("reply-mode", 2))));
    assert!(node.discards().contains(&("ttl-not-over", 1)));
    node.hear(&[WORD], &only, transit(vec![leg(&[30])]));
    let (_, reply) = node.reply().expect("a reply");
    assert_eq!((reply.return_code, reply.flags), (8, 0));
    let mut node = Node::new(&LspPingSpec { rate: 2, ..LspPingSpec::default() });
    (0..5).for_each(|_| drop(node.hear(&[], &bytes(|_| ()), egress)));
    assert_eq!(core::iter::from_fn(|| node.reply()).count(), 2);
    let elsewhere = vec![Prefix::new([10, 0, 0, 0].into(), 8).into()];
    for spec in [
        LspPingSpec { sources: elsewhere, ..LspPingSpec::default() },
        LspPingSpec { respond: false, ..LspPingSpec::default() },
    ] {
        let mut node = Node::new(&spec);
        node.hear(&[], &bytes(|_| ()), egress);
        assert_eq!((node.reply(), node.discards()), (None, vec![("source", 1)]));
    }
}

/// RFC 8029, 4.5: with the option, hop by hop, and not along an LSP.
#[test]
fn a_reply_with_router_alert() {
    let mut node = Node::new(&LspPingSpec::default());
    let next_hop = base::plane::NextHop::Via { port: PortId(1), gateway: Ipv4Addr::new(10, 0, 1, 2).into() };
    node.services.rib.set(Prefix::host(ASKER), crate::services::Route::fixed(next_hop));
    let message = Wire { reply_mode: 3, ..whole() }.write().expect("bytes");
    let outputs = node.hear(&[], &message, egress);
    let [Output::Message(Message { port, next, dst, ttl, router_alert, .. })] = &outputs[..] else {
        panic!("{outputs:?}")
    };
    assert_eq!((*port, *next, *dst), (PortId(1), Some([10, 0, 1, 2].into()), ASKER));
    assert_eq!((*ttl, *router_alert, node.reply()), (255, true, None));
}

/// RFC 8029, 3.1, note 2, 3.4 and 4.5.1: one way, several, and a tunnel that begins here.
#[test]
fn ways_on_are_told_where_they_are_asked_for() {
    let mut node = Node::new(&LspPingSpec::default());
    let asked = |way| {
        let tlvs = vec![Tlv::TargetFecStack { fecs: vec![fec()] }, Tlv::DownstreamDetailedMapping(way)];
        request(tlvs).write().expect("bytes")
    };
    let ways = |reply: &Wire| -> Vec<Mapping> {
        let of = |tlv: &Tlv| match tlv {
            Tlv::DownstreamDetailedMapping(mapping) => Some(mapping.clone()),
            _ => None,
        };
        reply.tlvs.iter().filter_map(of).collect()
    };
    node.hear(&[WORD], &asked(all_routers()), transit(vec![leg(&[30])]));
    let (_, reply) = node.reply().expect("a reply");
    let gateway = Ipv4Addr::new(10, 0, 1, 2);
    let labels = vec![MappedLabel { label: 30, tc: 6, bottom: true, protocol: 3 }];
    let way = Mapping {
        mtu: 1500,
        flags: 0,
        place: Place::Ipv4 { address: gateway, interface: gateway },
        return_code: 0,
        return_subcode: 0,
        parts: vec![MappingPart::Labels { labels }],
    };
    assert_eq!((reply.return_code, reply.return_subcode, ways(&reply)), (8, 1, vec![way]));
    // The label is taken off: implicit null is told, and what lies below.
    let below = [WORD & !(1 << 8), 21 << 12 | 1 << 8 | 64];
    let two = |inquiry: &Inquiry| {
        let (mut uses, mappings) = transit(vec![leg(&[])])(inquiry);
        uses.push(LabelUse::Unknown);
        (uses, mappings)
    };
    node.hear(&below, &asked(all_routers()), two);
    let (_, reply) = node.reply().expect("a reply");
    let labels: Vec<(u32, bool)> =
        ways(&reply)[0].labels().expect("labels").iter().map(|one| (one.label, one.bottom)).collect();
    assert_eq!((reply.return_subcode, labels), (2, vec![(3, false), (21, true)]));
    // Two ways, of which one enters a tunnel that is not told.
    node.hear(&[WORD], &asked(all_routers()), transit(vec![leg(&[30]), leg(&[31, 32])]));
    let (_, reply) = node.reply().expect("a reply");
    let found: Vec<(u8, u8, usize)> =
        ways(&reply).iter().map(|way| (way.return_code, way.return_subcode, way.changes().count())).collect();
    assert_eq!((reply.return_code, reply.return_subcode), (14, 0));
    assert_eq!(found, [(8, 1, 0), (15, 1, 1)]);
    let hidden = FecChange { operation: 1, peer: None, fec: Some(Fec::Nil { label: 0 }) };
    assert_eq!(ways(&reply)[1].changes().next(), Some(&hidden));
}

pub(super) fn probe(node: &mut Node, command: &Command) -> Vec<LspMessage> {
    let command = ProtocolValue::new(command.clone());
    let outputs = node.call(|ping, now, context| {
        assert!(ping.handle_command(now, context, &command));
    });
    sent(node, outputs)
}

/// Answers inquiries of requests of its own: the LSP begins with label 20. What was sent.
fn sent(node: &mut Node, outputs: Vec<Output>) -> Vec<LspMessage> {
    let mapping = || {
        let legs = vec![leg(&[20])];
        FecMapping::transit(GivenBy::Ldp, None, legs)
    };
    let outputs = node.answer(outputs, |_| (Vec::new(), vec![Some(mapping())]));
    let of = |output: Output| match output {
        Output::Lsp(message) => Some(*message),
        _ => None,
    };
    outputs.into_iter().filter_map(of).collect()
}

/// The port that a request came from.
pub(super) fn source_of(message: &LspMessage) -> u16 {
    match message.over {
        Over::Udp { src, .. } => src,
        Over::Ip(_) => panic!("a request comes over UDP"),
    }
}

/// The bytes of a reply to a request.
pub(super) fn replied_bytes(to: &LspMessage, change: impl FnOnce(&mut Wire)) -> Vec<u8> {
    let mut message = Wire::parse(&to.bytes).expect("a request");
    (message.message_type, message.tlvs) = (2, Vec::new());
    change(&mut message);
    message.write().expect("bytes")
}

fn replied(node: &mut Node, to: &LspMessage, change: impl FnOnce(&mut Wire)) -> Vec<LspMessage> {
    let over = Over::Udp { src: PORT, dst: source_of(to) };
    let ip = IpArrival { port: PortId(1), src: TARGET, dst: OWN, ttl: 250, router_alert: false, over };
    let bytes = replied_bytes(to, change);
    let outputs = node.call(|ping, now, context| ping.handle_message(now, context, &Arrival::Ip(ip), &bytes));
    sent(node, outputs)
}

pub(super) fn outcomes(node: &Node) -> Vec<String> {
    let of = |outcome: &Outcome| match outcome {
        Outcome::Answered(answer) => format!("{} at {}", answer.code, answer.depth),
        other => format!("{other:?}"),
    };
    node.ping().records().map(|record| of(&record.outcome)).collect()
}

/// RFC 8029, 4.3: what a request looks like, and 4.6: which reply is the one.
#[test]
fn a_request_and_the_reply_that_belongs_to_it() {
    let mut node = Node::new(&LspPingSpec::default());
    let command = Command { size: Some(200), tos: Some(0x20), ..Command::new(9, fec()) };
    let requests = probe(&mut node, &command);
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.src, request.dst, request.ttl), (OWN.into(), Ipv4Addr::LOCALHOST.into(), 1));
    assert_eq!(
        (request.over, request.router_alert),
        (Over::Udp { src: source_of(request), dst: PORT }, true)
    );
    assert_eq!(request.stack, [20 << 12 | 6 << 9 | 1 << 8 | 255]);
    assert_eq!(request.bytes.len() + 24 + 8, 200);
    let message = Wire::parse(&request.bytes).expect("a message");
    assert_eq!((message.handle, message.sequence, message.sent), (9, 1, ntp(node.now)));
    assert_eq!((message.flags, message.return_code, message.received), (0, 0, 0));
    assert_eq!(message.tlvs[..2], [Tlv::TargetFecStack { fecs: vec![fec()] }, Tlv::ReplyTos { tos: 0x20 }]);
    // Others' replies, and one to an older request.
    replied(&mut node, request, |message| message.handle = 8);
    replied(&mut node, request, |message| message.sequence = 2);
    replied(&mut node, request, |message| message.sent += 1);
    replied(&mut node, request, |message| message.message_type = 1);
    assert_eq!(node.discards(), [("malformed", 1), ("unmatched", 3)]);
    assert!(outcomes(&node) == ["Waits"] && !node.ping().is_done(9));
    replied(&mut node, request, |message| (message.return_code, message.return_subcode) = (3, 1));
    assert!(outcomes(&node) == ["3 at 1"] && node.ping().is_done(9));
    replied(&mut node, request, |message| message.return_code = 3);
    assert_eq!(node.discards(), [("malformed", 1), ("unmatched", 4)], "once");
}

fn traced(node: &mut Node) -> LspMessage {
    let command = Command { mode: Mode::Trace { hops: 5 }, ..Command::new(1, fec()) };
    probe(node, &command).pop().expect("a request")
}

fn way_on(labels: &[u32], changes: Vec<FecChange>) -> Mapping {
    let of = |label: &u32| MappedLabel { label: *label, tc: 0, bottom: false, protocol: 3 };
    let next = Ipv4Addr::new(10, 0, 9, 2);
    let labels = MappingPart::Labels { labels: labels.iter().map(of).collect() };
    Mapping {
        mtu: 1500,
        flags: 0,
        place: Place::Ipv4 { address: next, interface: next },
        return_code: 0,
        return_subcode: 0,
        parts: core::iter::once(labels).chain(changes.into_iter().map(MappingPart::FecChange)).collect(),
    }
}

fn asked(message: &LspMessage) -> (u8, u16, Vec<Fec>, Option<Mapping>) {
    let wire = Wire::parse(&message.bytes).expect("a message");
    let (mut fecs, mut way) = (Vec::new(), None);
    for tlv in wire.tlvs {
        match tlv {
            Tlv::TargetFecStack { fecs: of } => fecs = of,
            Tlv::DownstreamDetailedMapping(of) => way = Some(of),
            _ => {}
        }
    }
    (message.stack[0] as u8, wire.flags, fecs, way)
}

/// RFC 8029, 4.6 and 4.8.
#[test]
fn a_trace_goes_on_by_what_routers_say() {
    let mut node = Node::new(&LspPingSpec::default());
    let first = traced(&mut node);
    let (ttl, flags, fecs, way) = asked(&first);
    assert_eq!((ttl, flags, fecs), (1, 1, vec![fec()]), "the first router is to validate");
    let labels: Vec<u32> =
        way.expect("a way").labels().expect("labels").iter().map(|one| one.label).collect();
    assert_eq!(labels, [20]);
    // A tunnel that is hidden begins behind the first router, and ends behind the second.
    let hidden = FecChange { operation: 1, peer: None, fec: Some(Fec::Nil { label: 0 }) };
    let on = way_on(&[40, 30], vec![hidden]);
    let second = replied(&mut node, &first, |message| {
        let of_way = Mapping { return_code: 15, return_subcode: 1, ..on.clone() };
        message.return_code = 14;
        message.tlvs = vec![Tlv::DownstreamDetailedMapping(of_way)];
    })
    .pop()
    .expect("a request");
    let (ttl, flags, fecs, way) = asked(&second);
    assert_eq!((ttl, flags, fecs), (2, 1, vec![Fec::Nil { label: 0 }, fec()]));
    assert_eq!(way, Some(way_on(&[40, 30], Vec::new())), "as it was told, without changes");
    let third = replied(&mut node, &second, |message| message.return_code = 3).pop().expect("a request");
    let (ttl, _, fecs, _) = asked(&third);
    assert_eq!((ttl, fecs), (2, vec![fec()]), "what is below the tunnel is asked for");
    // Two ways on: the next router verifies nothing.
    let fourth = replied(&mut node, &third, |message| {
        let ways = [way_on(&[30], Vec::new()), way_on(&[31], Vec::new())];
        message.return_code = 14;
        message.tlvs =
            ways.map(|way| Tlv::DownstreamDetailedMapping(Mapping { return_code: 8, ..way })).into();
    })
    .pop()
    .expect("a request");
    let (ttl, flags, _, way) = asked(&fourth);
    assert_eq!((ttl, flags, way), (3, 0, Some(all_routers())));
    // Nobody answers: the next one is asked, without a word on how the request comes.
    node.now += Span::from_secs(2);
    let outputs = node.call(|ping, now, context| ping.handle_timeout(now, context));
    let fifth = sent(&mut node, outputs).pop().expect("a request");
    assert_eq!(asked(&fifth).0, 4);
    assert!(
        replied(&mut node, &fifth, |message| message.return_code = 5).is_empty(),
        "what is wrong is found"
    );
    assert!(node.ping().is_done(1));
    assert_eq!(outcomes(&node), ["15 at 1", "3 at 0", "8 at 0", "Silent", "5 at 0"]);
}

#[test]
fn changes_of_the_stack_that_make_no_sense_end_a_trace() {
    let pop = || FecChange { operation: 2, peer: None, fec: None };
    let push = || FecChange { operation: 1, peer: None, fec: Some(fec()) };
    for changes in [
        vec![pop()],
        vec![push(), pop()],
        vec![pop(), pop()],
        vec![FecChange { operation: 3, ..push() }],
        vec![FecChange { fec: None, ..push() }],
        vec![push(); 16],
    ] {
        let mut node = Node::new(&LspPingSpec::default());
        let first = traced(&mut node);
        let next = replied(&mut node, &first, |message| {
            message.return_code = 8;
            message.tlvs = vec![Tlv::DownstreamDetailedMapping(way_on(&[30], changes.clone()))];
        });
        assert!(next.is_empty() && node.ping().is_done(1), "{changes:?}");
        assert_eq!(node.discards(), [("fec-change", 1)]);
    }
    let mut node = Node::new(&LspPingSpec::default());
    let first = traced(&mut node);
    let next = replied(&mut node, &first, |message| {
        message.return_code = 8;
        message.tlvs = vec![Tlv::DownstreamDetailedMapping(way_on(&[30], vec![pop(), push()]))];
    });
    assert_eq!(next.len(), 1, "one LSP ends and another begins");
}

proptest! {
    #![proptest_config(testing::cases(512))]

    /// Any bytes are answered at most once, and do no harm.
    #[test]
    fn any_request_does_no_harm(
        tail in proptest::collection::vec(0u8..24, 0..90),
        stack in proptest::collection::vec(any::<u32>(), 0..4),
        flags in 0u16..4,
    ) {
        let mut bytes = Wire { flags, ..request(Vec::new()) }.write().expect("bytes");
        bytes.extend(&tail);
        let mut node = Node::new(&LspPingSpec::default());
        node.hear(&stack, &bytes, |inquiry| {
            let labels = inquiry.labels.iter().map(|label| match label.value() % 4 {
                0 => LabelUse::Unknown,
                1 => LabelUse::Below,
                2 => LabelUse::Discarded,
                _ => LabelUse::Switched(vec![leg(&[30])]),
            });
            (labels.collect(), inquiry.fecs.iter().map(|_| None).collect())
        });
        let replies = core::iter::from_fn(|| node.reply()).count();
        prop_assert!(replies <= 1);
        // And to the port that requests are sent from.
        let first = traced(&mut node);
        let over = Over::Udp { src: PORT, dst: source_of(&first) };
        let ip = IpArrival { port: PortId(1), src: TARGET, dst: OWN, ttl: 9, router_alert: false, over };
        node.call(|ping, now, context| ping.handle_message(now, context, &Arrival::Ip(ip), &bytes));
        prop_assert!(node.reply().is_none());
    }
}
