//! IPv6 messages of protocols: what reaches one, what reaches nobody, and what a router without IPv6 does.

use super::listening_tests::{Echo, FAR, GROUP6, LOOPBACK, SIX, datagram_of};
use super::tests::{HOST, HOST_MAC, OUR_MAC, OURS, P, config_with, give, ip, known, router_with};
use super::*;
use crate::discovery::Own;
use base::MacAddr;
use base::plane::NextHop;
use control::protocol::{Arrival, Over};
use control::unheard::Unheard;
use core::net::Ipv4Addr;
use std::sync::Arc;
use wire::{ethernet, ipv4, ipv6, nd, udp};

const OURS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
const HOST6: Own =
    Own { mac: HOST_MAC, address: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2), router: false };
/// What tests LSPs is sent there.
const MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0x7f00, 1);
const DATAGRAM: Over = Over::Udp { src: 7, dst: 7 };

/// A router whose first port speaks IPv6 with a host that it knows; what is further away is beyond it.
fn router() -> Router {
    let mut config = config_with(vec![Arc::new(Echo::default())]);
    config.ipv6 = Some(LOOPBACK);
    config.ports[0].ipv6 = Some(Address6::new(OURS6, 64));
    let mut router = Router::new(config);
    known(&mut router);
    let far = Prefix6::new(FAR, 64);
    let next_hop = NextHop::Via { port: P, gateway: HOST6.address.into() };
    router.handle_command(Time::ZERO, Command::Route6Set { prefix: far, next_hop });
    for target in [OURS6, nd::link_local(OUR_MAC)] {
        assert_eq!(give(&mut router, 0, HOST6.ask(target, None)).len(), 1, "an answer");
    }
    router
}

/// A frame from the host, to a group if `dst` is one.
fn packet(src: Ipv6Addr, dst: Ipv6Addr, hop_limit: u8, protocol: ipv6::Protocol, payload: &[u8]) -> Frame {
    let mac = if dst.is_multicast() { nd::group_mac(dst) } else { OUR_MAC };
    let ip = ipv6::Repr { hop_limit, ..ipv6::Repr::new(src, dst, protocol, payload.len() as u16) };
    let mut bytes = vec![0; ethernet::HEADER_LEN + ipv6::HEADER_LEN];
    ethernet::Repr::untagged(mac, HOST_MAC, ethernet::EtherType::IPV6).emit(&mut bytes);
    ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend(payload);
    Frame::from_bytes(&bytes)
}

fn hello(src: Ipv6Addr, dst: Ipv6Addr, hop_limit: u8) -> Frame {
    packet(src, dst, hop_limit, ipv6::Protocol::UDP, &datagram_of(src, dst, 7, b"hello"))
}

/// Ethernet destination, source, destination, hop limit and text of a datagram that was sent, with a right checksum.
fn sent(frame: &[u8]) -> (MacAddr, Ipv6Addr, Ipv6Addr, u8, Vec<u8>) {
    let header = ethernet::Packet::new_unchecked(frame);
    assert_eq!(header.src(), OUR_MAC);
    let packet = ipv6::Packet::new_checked(&frame[14..]).expect("IPv6");
    assert_eq!((packet.dscp(), packet.next_header()), (base::Dscp::CS6, ipv6::Protocol::UDP));
    let udp = udp::Packet::new_checked(packet.payload()).expect("UDP");
    assert!(udp.checksum() != 0);
    udp.verify_checksum(packet.src(), packet.dst()).expect("a right checksum");
    (header.dst(), packet.src(), packet.dst(), packet.hop_limit(), udp.payload().to_vec())
}

#[test]
fn messages_from_link_local_and_global_addresses_and_to_groups_reach_who_listens() {
    let mut r = router();
    let text = b"hello".to_vec();
    let (ours, theirs) = (nd::link_local(OUR_MAC), nd::link_local(HOST_MAC));
    let answers = give(&mut r, 1, hello(theirs, ours, 255));
    assert_eq!(sent(&answers[0].1), (HOST_MAC, ours, theirs, 255, text.clone()));
    let answers = give(&mut r, 2, hello(HOST6.address, OURS6, 64));
    assert_eq!(sent(&answers[0].1), (HOST_MAC, OURS6, HOST6.address, 64, text.clone()));
    let answers = give(&mut r, 3, hello(theirs, GROUP6, 1));
    assert_eq!(sent(&answers[0].1), (nd::group_mac(GROUP6), ours, GROUP6, 1, text));
    // From further away, to the loopback address, by the tables.
    let answers = give(&mut r, 4, hello(FAR, LOOPBACK, 9));
    assert_eq!((sent(&answers[0].1).0, sent(&answers[0].1).2), (HOST_MAC, FAR));
    // What follows the header of a protocol of its own comes back as it is.
    let ospf = ipv6::Protocol(89);
    let answers = give(&mut r, 5, packet(theirs, GROUP6, 1, ospf, b"ospf"));
    assert_eq!(answers[0].1[14 + 40..], b"ospf"[..]);
    let options = [89, 0, 1, 4, 0, 0, 0, 0, b'o', b's', b'p', b'f'];
    give(&mut r, 6, packet(theirs, ours, 1, ipv6::Protocol::DESTINATION_OPTIONS, &options));
    let heard = &r.control().protocol::<Echo>().expect("the protocol").heard;
    let over = |arrival: &Arrival| match arrival {
        Arrival::Ip6(ip) => (ip.over, ip.hop_limit),
        other => panic!("{other:?}"),
    };
    let (udp, ospf) = (DATAGRAM, Over::Ip(89));
    let expected = [(udp, 255), (udp, 64), (udp, 1), (udp, 9), (ospf, 1), (ospf, 1)];
    assert_eq!(heard.iter().map(over).collect::<Vec<_>>(), expected);
}

#[test]
fn what_nobody_listens_to_is_counted_by_reason() {
    let mut r = router();
    let (theirs, other) = (nd::link_local(HOST_MAC), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 6));
    let udp = ipv6::Protocol::UDP;
    assert_eq!(give(&mut r, 1, hello(theirs, other, 1)), []);
    let unreachable = give(
        &mut r,
        2,
        packet(HOST6.address, OURS6, 9, udp, &datagram_of(HOST6.address, OURS6, 8, b"hello")),
    );
    assert_eq!((unreachable.len(), unreachable[0].1[14 + 40..14 + 42].to_vec()), (1, vec![1, 4]));
    let problem = give(&mut r, 3, packet(HOST6.address, OURS6, 9, ipv6::Protocol(103), &[0; 20]));
    assert_eq!((problem.len(), problem[0].1[14 + 40..14 + 42].to_vec()), (1, vec![4, 1]));
    // A group that is listened to, but by another port of UDP.
    let to_8 = datagram_of(theirs, GROUP6, 8, b"hello");
    assert_eq!(give(&mut r, 4, packet(theirs, GROUP6, 1, udp, &to_8)), []);
    // The first of two fragments.
    let mut fragment = vec![17, 0, 0, 1, 0, 0, 0, 7];
    fragment.extend(datagram_of(HOST6.address, OURS6, 7, b"hello"));
    assert_eq!(give(&mut r, 5, packet(HOST6.address, OURS6, 9, ipv6::Protocol::FRAGMENT, &fragment)), []);
    let counted: Vec<_> = r.control().unheard().iter().collect();
    let expected =
        [(Unheard::IpProtocol, 1), (Unheard::UdpPort, 1), (Unheard::Group, 2), (Unheard::Fragment, 1)];
    assert_eq!(counted.len(), expected.len(), "{counted:?}");
    assert!(expected.iter().all(|one| counted.contains(one)), "{counted:?}");
    // RFC 8200, 8.1: no checksum is a wrong one. RFC 4291, 2.7: no group sends.
    for (at, byte) in [(6..8, 0), (12..13, b'!')] {
        let mut wrong = datagram_of(HOST6.address, OURS6, 7, b"hello");
        wrong[at].fill(byte);
        assert_eq!(give(&mut r, 6, packet(HOST6.address, OURS6, 9, udp, &wrong)), []);
    }
    assert_eq!(r.drops().get(DropReason::BadChecksum), 2);
    for nobody in [Ipv6Addr::UNSPECIFIED, GROUP6] {
        assert_eq!(give(&mut r, 7, hello(nobody, OURS6, 9)), []);
    }
    assert_eq!(r.drops().get(DropReason::Malformed), 2);
    assert!(r.control().protocol::<Echo>().expect("the protocol").heard.is_empty());
}

#[test]
fn messages_leave_by_the_port_or_by_the_tables_and_by_none_without_ipv6() {
    let datagram = datagram_of(HOST, OURS, 7, SIX);
    let six = || ip(OUR_MAC, HOST, OURS, 1, ipv4::Protocol::UDP, &datagram);
    let mut r = router();
    let all = give(&mut r, 1, six());
    let to = |place: usize| (sent(&all[place].1).0, sent(&all[place].1).2, sent(&all[place].1).3);
    assert_eq!(to(0), (nd::group_mac(GROUP6), GROUP6, 1));
    assert_eq!(to(1), (HOST_MAC, nd::link_local(HOST_MAC), 255));
    assert_eq!(to(2), (HOST_MAC, FAR, 64));
    assert_eq!(all.len(), 4, "and the echo over IPv4");
    // The same protocol on a router without IPv6: it neither sends nor takes any.
    let mut deaf = router_with(vec![Arc::new(Echo::default())]);
    known(&mut deaf);
    assert_eq!(give(&mut deaf, 1, six()).len(), 1);
    assert_eq!(deaf.drops().get(DropReason::NoRoute), 3);
    assert_eq!(give(&mut deaf, 2, hello(nd::link_local(HOST_MAC), GROUP6, 1)), []);
    assert_eq!(deaf.drops().get(DropReason::UnknownProtocol), 1);
    assert_eq!(deaf.control().protocol::<Echo>().expect("the protocol").heard.len(), 1);
}

/// RFC 8029, 2.1 and 5: packets to ::ffff:127/104 are neither forwarded nor answered, but for datagrams that somebody
/// listens to.
#[test]
fn packets_to_the_loopback_network_of_ipv4_go_nowhere() {
    let mut r = router();
    let everywhere = Prefix6::new(Ipv6Addr::UNSPECIFIED, 0);
    let next_hop = NextHop::Via { port: P, gateway: HOST6.address.into() };
    r.handle_command(Time::ZERO, Command::Route6Set { prefix: everywhere, next_hop });
    let udp = ipv6::Protocol::UDP;
    for to in [MAPPED, Ipv4Addr::new(127, 8, 9, 10).to_ipv6_mapped()] {
        let datagram = datagram_of(HOST6.address, to, 9, b"hello");
        assert_eq!(give(&mut r, 1, packet(HOST6.address, to, 64, udp, &datagram)), [], "{to}");
        assert_eq!(give(&mut r, 1, packet(HOST6.address, to, 64, ipv6::Protocol(103), &[0; 8])), [], "{to}");
        // What comes from there is nobody's.
        assert_eq!(give(&mut r, 1, packet(to, HOST6.address, 64, udp, &datagram)), [], "{to}");
    }
    assert_eq!(r.drops().get(DropReason::Malformed), 6);
    assert!(r.control().protocol::<Echo>().expect("the protocol").heard.is_empty());
}

/// What tests an LSP comes with its labels, at its end and where its time to live is over, and is sent with them.
#[test]
fn what_tests_an_lsp_is_sent_and_taken() {
    let mut r = router();
    let datagram = datagram_of(HOST6.address, MAPPED, 7, b"hello");
    // Behind Router Alert, as such packets are (RFC 7506, 4).
    let mut payload = ipv6::extension::router_alert(ipv6::Protocol::UDP, 69).to_vec();
    payload.extend(&datagram);
    let plain = packet(HOST6.address, MAPPED, 1, ipv6::Protocol::HOP_BY_HOP, &payload).to_vec();
    let with = |words: &[u32]| {
        let mut bytes = plain[..14].to_vec();
        bytes[12..14].copy_from_slice(&ethernet::EtherType::MPLS.0.to_be_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
        bytes.extend(&plain[14..]);
        Frame::from_bytes(&bytes)
    };
    let null = 2 << 12 | 1 << 8 | 9;
    let unknown = 999_999 << 12 | 1 << 8 | 9;
    let over = 999_999 << 12 | 1 << 8 | 1;
    for (at, frame) in
        [Frame::from_bytes(&plain), with(&[null]), with(&[unknown]), with(&[over])].into_iter().enumerate()
    {
        assert_eq!(give(&mut r, at as u64 + 1, frame), []);
    }
    let heard = &r.control().protocol::<Echo>().expect("the protocol").heard;
    let stacks = heard.iter().map(|arrival| match arrival {
        Arrival::Lsp6(lsp) => {
            assert_eq!((lsp.ip.src, lsp.ip.dst, lsp.ip.hop_limit), (HOST6.address, MAPPED, 1));
            lsp.stack().to_vec()
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(stacks.collect::<Vec<_>>(), [vec![], vec![null], vec![over]]);
    // A label without an entry is looked at where its time to live is over.
    assert_eq!(r.drops().get(DropReason::UnknownLabel), 1);
}

/// RFC 3810, 7: also of a group that is forwarded, and that the router itself is no member of; what a node says that
/// has no address yet (5.2.13) reaches nobody.
#[test]
fn listeners_are_heard_whatever_the_group() {
    use base::describe::{Describe, Value};
    use base::plane::{GroupKey, Incoming, ReplicationId, TableOp};
    use control::Protocol;
    use control::mld::{Mld, MldSpec};
    use control::services::{Attached, Beyond};
    use wire::mld;
    let spec = MldSpec::read(&Value::Map(Vec::new())).expect("defaults");
    let mut config = config_with(vec![Arc::new(spec)]);
    config.ports[0].ipv6 = Some(Address6::new(OURS6, 64));
    config.attached = vec![Attached { beyond: Beyond::Host, ..Attached::default() }];
    let mut r = Router::new(config);
    r.handle_timeout(Time::ZERO);
    let group = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 1);
    // The group is forwarded: to nowhere, and from another way.
    let (list, incoming) = (ReplicationId(9), Incoming::Label);
    let key = GroupKey { group: group.into(), source: None };
    let forwarding = r.plane.forwarding_mut();
    let ops = [
        TableOp::ReplicationSet { list, branches: [].into() },
        TableOp::MulticastSet { key, incoming, list },
    ];
    ops.iter().for_each(|op| forwarding.apply(op).expect("a write"));
    let said = |src: Ipv6Addr, dst: Ipv6Addr, message: &mld::Repr| {
        let alert = ipv6::extension::router_alert(ipv6::Protocol::ICMPV6, mld::ROUTER_ALERT);
        let payload = [&alert[..], &message.emit(src, dst)].concat();
        packet(src, dst, 1, ipv6::Protocol::HOP_BY_HOP, &payload)
    };
    let wanted = |r: &Router| r.control().protocol::<Mld>().expect("MLD").state_count();
    let theirs = nd::link_local(HOST_MAC);
    let record = mld::Record { kind: mld::RecordKind::IsExclude, group, sources: Vec::new() };
    let report = mld::Repr::ReportV2 { records: vec![record] };
    give(&mut r, 1, said(Ipv6Addr::UNSPECIFIED, mld::ALL_V2_ROUTERS, &report));
    assert_eq!(wanted(&r), 0);
    assert!(r.control().unheard().iter().any(|one| one == (Unheard::Group, 1)));
    give(&mut r, 2, said(theirs, group, &mld::Repr::ReportV1 { group }));
    assert_eq!(wanted(&r), 1, "version 1 reports to the group");
    let other = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 2);
    let record = mld::Record { kind: mld::RecordKind::IsExclude, group: other, sources: Vec::new() };
    give(&mut r, 3, said(theirs, mld::ALL_V2_ROUTERS, &mld::Repr::ReportV2 { records: vec![record] }));
    assert_eq!(wanted(&r), 2);
}
