//! The same by IPv6: requests to ::ffff:127/104, which LSPs get that take no IPv4, and their replies.

use super::super::record::Outcome;
use super::super::section::LspPingSpec;
use super::super::{Command, Mode};
use super::speaker::{Node, OWN, egress, fec, leg, outcomes, request, source_of, whole};
use crate::inquiry::{Fec, FecMapping, GivenBy};
use crate::protocol::{Arrival, Ip6Arrival, LspArrival, LspMessage, Message6, Output, Over};
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Route};
use base::plane::{LabelStack, Leg, NextHop, Prefix6};
use base::{Label, PortId, ProtocolValue};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::lsp_ping::{LspPing as Wire, PORT, Tlv};

const OWN6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xfe, 0, 0, 0, 0, 1);
const ASKER6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xfe, 0, 0, 0, 0, 7);
const MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0x7f00, 1);

/// A node whose loopback has an IPv6 address, or only a port of it, or nothing.
fn node(spec: &LspPingSpec, loopback: Option<Ipv6Addr>, of_port: Option<Ipv6Addr>) -> Node {
    let four = InterfaceAddress { address: IpAddr::V4([10, 0, 0, 1].into()), prefix_len: 24 };
    let six = of_port.map(|address| InterfaceAddress { address: address.into(), prefix_len: 64 });
    let port = Interface {
        kind: InterfaceKind::Port(PortId(0)),
        addresses: [four].into_iter().chain(six).collect(),
        link_local: None,
        neighbor: Some([10, 0, 0, 2].into()),
        neighbor_id: None,
        mtu: 1500,
        cost: 1,
        reservable: None,
        up: true,
    };
    let all = Interfaces::new("r".into(), OWN, vec![port]);
    Node::of(spec, loopback.map_or(all.clone(), |address| all.with_loopback6(address)))
}

fn usual() -> Node {
    node(&LspPingSpec::default(), Some(OWN6), None)
}

fn prefix() -> Fec {
    Fec::BgpIpv6 { prefix: Ipv6Addr::new(0x2001, 0xdb8, 0xb, 0, 0, 0, 0, 0), length: 48 }
}

/// What is sent for a command to an FEC whose packets go by a leg.
fn sent(node: &mut Node, command: &Command, by: &Leg) -> Vec<LspMessage> {
    let command = ProtocolValue::new(command.clone());
    let outputs = node.call(|ping, now, context| {
        assert!(ping.handle_command(now, context, &command));
    });
    let mapping = FecMapping::transit(GivenBy::Bgp, None, vec![*by]);
    let outputs = node.answer(outputs, |_| (Vec::new(), vec![Some(mapping)]));
    let of = |output: Output| match output {
        Output::Lsp(message) => Some(*message),
        _ => None,
    };
    outputs.into_iter().filter_map(of).collect()
}

/// A leg with IPv6 explicit null below the label of what carries it.
fn null() -> Leg {
    let labels = LabelStack::new(&[Label::EXPLICIT_NULL_V6, Label::truncate(30)]).expect("two");
    Leg { labels, port: PortId(0), gateway: IpAddr::V4([10, 0, 0, 2].into()) }
}

/// Hears a request that came from an address by IPv6.
fn hear(node: &mut Node, src: Ipv6Addr, stack: &[u32], bytes: &[u8]) -> Vec<Output> {
    let over = Over::Udp { src: 40_000, dst: PORT };
    let ip = Ip6Arrival { port: PortId(0), src, dst: MAPPED, hop_limit: 1, router_alert: true, over };
    let arrival = Arrival::Lsp6(LspArrival::new(ip, stack).expect("few labels"));
    let outputs = node.call(|ping, now, context| ping.handle_message(now, context, &arrival, bytes));
    node.answer(outputs, egress)
}

/// RFC 8029, 4.3, and RFC 3032, 2.1: what takes IPv6 alone gets IPv6, everything else what was asked for.
#[test]
fn requests_have_the_family_that_the_end_takes() {
    let mut one = usual();
    let requests = sent(&mut one, &Command { size: Some(300), ..Command::new(1, prefix()) }, &null());
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.src, request.dst), (OWN6.into(), MAPPED.into()));
    assert_eq!((request.ttl, request.router_alert, request.stack.len()), (1, true, 2));
    assert_eq!(request.bytes.len() + 40 + 8 + 8, 300);
    // By the same leg with an ordinary label, packets of IPv4 are taken.
    let destination = IpAddr::V4([127, 1, 2, 3].into());
    let requests = sent(&mut one, &Command { destination, ..Command::new(2, prefix()) }, &leg(&[40]));
    assert_eq!((requests[0].src, requests[0].dst), (OWN.into(), destination));
    // Whoever asks for IPv6 gets it; of IPv4 addresses the same are meant.
    let destination = Ipv4Addr::new(127, 1, 2, 3).to_ipv6_mapped().into();
    let requests = sent(&mut one, &Command { destination, ..Command::new(3, fec()) }, &leg(&[40]));
    assert_eq!((requests[0].src, requests[0].dst), (OWN6.into(), destination));
    let asked = IpAddr::V4([127, 1, 2, 3].into());
    let requests = sent(&mut one, &Command { destination: asked, ..Command::new(4, prefix()) }, &null());
    assert_eq!(requests[0].dst, destination);
    // A neighbour of IPv6 that gets no label gets IPv6.
    let bare = Leg { gateway: ASKER6.into(), ..leg(&[3]) };
    let requests = sent(&mut one, &Command::new(5, prefix()), &bare);
    assert_eq!(
        (requests[0].dst, requests[0].gateway, requests[0].stack.len()),
        (MAPPED.into(), ASKER6.into(), 0)
    );
    // Behind IPv4 explicit null no IPv6 is taken.
    assert!(sent(&mut one, &Command { destination, ..Command::new(6, fec()) }, &leg(&[0])).is_empty());
    assert!(matches!(one.ping().records().last().map(|record| &record.outcome), Some(Outcome::NoWay)));
    // The address of a port will do; without one there is no way.
    let mut beside = node(&LspPingSpec::default(), None, Some(ASKER6));
    assert_eq!(sent(&mut beside, &Command::new(1, prefix()), &null())[0].src, IpAddr::V6(ASKER6));
    let mut none = node(&LspPingSpec::default(), None, None);
    assert!(sent(&mut none, &Command::new(1, prefix()), &null()).is_empty());
    assert_eq!(outcomes(&none), ["NoWay"]);
}

/// RFC 8029, 3: the reply comes by IPv6, too, and belongs to its request.
#[test]
fn a_reply_is_of_the_same_family() {
    let mut asked = usual();
    let bytes = whole().write().expect("bytes");
    assert!(hear(&mut asked, ASKER6, &[2 << 12 | 1 << 8 | 1], &bytes).is_empty());
    let (packet, reply) = asked.reply().expect("a reply");
    assert_eq!((packet.src, packet.dst, packet.ttl), (OWN6.into(), ASKER6.into(), 255));
    assert_eq!(packet.over, Over::Udp { src: PORT, dst: 40_000 });
    assert_eq!((reply.handle, reply.return_code), (77, 3));
    // Back at the head end.
    let mut head = usual();
    let requests = sent(&mut head, &Command::new(1, prefix()), &null());
    let mut message = Wire::parse(&requests[0].bytes).expect("a request");
    (message.message_type, message.tlvs, message.return_code) = (2, Vec::new(), 3);
    let over = Over::Udp { src: PORT, dst: source_of(&requests[0]) };
    let ip =
        Ip6Arrival { port: PortId(0), src: ASKER6, dst: OWN6, hop_limit: 250, router_alert: false, over };
    let bytes = message.write().expect("bytes");
    head.call(|ping, now, context| ping.handle_message(now, context, &Arrival::Ip6(ip), &bytes));
    let Some(Outcome::Answered(answer)) = head.ping().records().last().map(|record| record.outcome.clone())
    else {
        panic!("{:?}", outcomes(&head))
    };
    assert_eq!((answer.from, answer.code), (ASKER6.into(), 3));
}

/// RFC 8029, 4.5, and RFC 7506, 4: the option has the value of what tests LSPs.
#[test]
fn a_reply_with_router_alert_of_ipv6() {
    let mut one = usual();
    let message = Wire { reply_mode: 3, ..whole() }.write().expect("bytes");
    // There is no way but by an LSP, or none at all.
    assert!(hear(&mut one, ASKER6, &[], &message).is_empty());
    assert_eq!((one.reply(), one.discards()), (None, vec![("reply-mode", 1)]));
    let gateway = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2);
    let next_hop = NextHop::Via { port: PortId(0), gateway: gateway.into() };
    one.services.rib6.set(Prefix6::host(ASKER6), Route::fixed(next_hop));
    let outputs = hear(&mut one, ASKER6, &[], &message);
    let [Output::Message6(said)] = &outputs[..] else { panic!("{outputs:?}") };
    let Message6 { port, next, src, dst, hop_limit, router_alert, .. } = &**said;
    assert_eq!((*port, *next, *src, *dst), (PortId(0), Some(gateway), OWN6, ASKER6));
    assert_eq!((*hop_limit, *router_alert), (255, Some(69)));
}

/// Addresses that nobody can reply to, sources that are not served, and a router that has no address of IPv6.
#[test]
fn who_asks_by_ipv6_and_gets_no_reply() {
    let bytes = whole().write().expect("bytes");
    let mut one = usual();
    let near = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    for nobody in
        [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST, near, MAPPED, Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1)]
    {
        assert!(hear(&mut one, nobody, &[], &bytes).is_empty());
        assert_eq!(one.reply(), None, "{nobody}");
    }
    assert_eq!(one.discards(), [("malformed", 5)]);
    let far: Prefix6 = "2001:db8:77::/48".parse().expect("a prefix");
    let fe: Prefix6 = "2001:db8:fe::/48".parse().expect("a prefix");
    for (sources, is_served) in [(vec![far.into()], false), (vec![far.into(), fe.into()], true)] {
        let mut one = node(&LspPingSpec { sources, ..LspPingSpec::default() }, Some(OWN6), None);
        hear(&mut one, ASKER6, &[], &bytes);
        assert_eq!(one.reply().is_some(), is_served);
    }
    let mut none = node(&LspPingSpec::default(), None, None);
    assert!(hear(&mut none, ASKER6, &[], &bytes).is_empty());
    assert_eq!(none.reply(), None);
}

/// A trace goes on where a router has no IPv6 and says nothing.
#[test]
fn a_trace_passes_routers_without_ipv6_by() {
    let mut one = usual();
    let command = Command { mode: Mode::Trace { hops: 3 }, ..Command::new(1, prefix()) };
    let first = sent(&mut one, &command, &null());
    assert_eq!((first[0].dst, first[0].stack[0] & 0xff), (MAPPED.into(), 1));
    one.now += command.wait;
    let outputs = one.call(|ping, now, context| ping.handle_timeout(now, context));
    let mapping = FecMapping::transit(GivenBy::Bgp, None, vec![null()]);
    let outputs = one.answer(outputs, |_| (Vec::new(), vec![Some(mapping)]));
    let Some(Output::Lsp(second)) = outputs.first() else { panic!("{outputs:?}") };
    assert_eq!((second.dst, second.stack[0] & 0xff), (MAPPED.into(), 2));
    let told = Wire::parse(&second.bytes).expect("a request");
    assert!(matches!(&told.tlvs[0], Tlv::TargetFecStack { fecs } if fecs[..] == [prefix()]));
    let _ = request(Vec::new());
}
