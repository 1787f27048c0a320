//! What reaches a protocol of a router, by whatever it listens to, and what reaches nobody.

use super::tests::{HOST, HOST_MAC, OUR_MAC, OURS, P, give, ip, known, router_with};
use super::*;
use base::plane::Ack;
use base::{MacAddr, ProtocolId, ProtocolValue};
use control::protocol::{
    Arrival, Change, Context, Ip6Arrival, Listen, LlcMessage, Message, Message6, Output as Wanted, Over,
};
use control::services::Services;
use control::unheard::Unheard;
use control::{Protocol, Setup};
use core::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use wire::{ethernet, ipv4, udp};

const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 200);
const GROUP_MAC: MacAddr = MacAddr([0x01, 0x00, 0x5e, 0, 0, 200]);
const ALL_SYSTEMS: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0, 0, 0x14]);

/// Sends back what it hears, to where it was sent to if that is a group; what it hears over IPv6 as far as that went.
#[derive(Debug, Default)]
pub(super) struct Echo {
    outputs: VecDeque<Wanted>,
    pub(super) heard: Vec<Arrival>,
}

/// What it sends over IPv6, too, to a group, a neighbour and a node further away, if it hears it over IPv4.
pub(super) const SIX: &[u8; 5] = b"six!!";
pub(super) const GROUP6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 5);
pub(super) const FAR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9);
pub(super) const LOOPBACK: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xff, 0, 0, 0, 0, 1);

impl Echo {
    fn send6(&mut self, port: PortId, src: Ipv6Addr, dst: Ipv6Addr, over: Over, hop_limit: u8, bytes: &[u8]) {
        let (next, bytes) = (None, bytes.to_vec());
        let message = Message6 { port, next, src, dst, over, hop_limit, router_alert: None, bytes };
        self.outputs.push_back(Wanted::Message6(Box::new(message)));
    }

    fn answer6(&mut self, context: &Context<'_>, ip: &Ip6Arrival, bytes: &[u8]) {
        let Some(interface) = context.services.interfaces.of_port(ip.port) else { return };
        let of_link = ip.dst.is_multicast() || ip.src.is_unicast_link_local();
        let own = if of_link { interface.link_local } else { interface.ipv6().map(|own| own.0) };
        let dst = if ip.dst.is_multicast() { ip.dst } else { ip.src };
        if let Some(own) = own {
            self.send6(ip.port, own, dst, ip.over, ip.hop_limit, bytes);
        }
    }
}

impl Setup for Echo {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        Box::new(Echo::default())
    }
}

impl Protocol for Echo {
    fn id(&self) -> ProtocolId {
        ProtocolId::new("echo")
    }
    fn listens(&self) -> Vec<Listen> {
        let four = [Listen::UdpPort(7), Listen::IpProtocol(89), Listen::Group(GROUP), Listen::Llc(0xfe)];
        let six = [Listen::UdpPort6(7), Listen::IpProtocol6(89), Listen::Group6(GROUP6), Listen::Loopback];
        [&four[..], &six].concat()
    }
    fn is_urgent(&self) -> bool {
        true
    }
    fn speaks_on(&self, port: PortId) -> bool {
        port == P
    }
    fn kind_of(&self, _: &[u8]) -> u8 {
        0
    }
    fn kind_name(&self, _: u8) -> &'static str {
        "echo"
    }
    fn state_count(&self) -> usize {
        0
    }
    fn handle_message(&mut self, _: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        self.heard.push(*arrival);
        if bytes == SIX {
            let over = Over::Udp { src: 7, dst: 7 };
            for (dst, hop_limit) in [(GROUP6, 1), (wire::nd::link_local(HOST_MAC), 255), (FAR, 64)] {
                self.send6(P, LOOPBACK, dst, over, hop_limit, bytes);
            }
        }
        let (port, bytes) = (arrival.port(), bytes.to_vec());
        self.outputs.push_back(match arrival {
            Arrival::Lsp(_) | Arrival::Lsp6(_) => return,
            Arrival::Ip6(ip) => return self.answer6(context, ip, &bytes),
            Arrival::Llc(llc) => Wanted::Llc(LlcMessage { port, dst: llc.dst, sap: llc.sap, bytes }),
            Arrival::Ip(ip) => {
                let src = context
                    .services
                    .interfaces
                    .of_port(port)
                    .and_then(|i| i.ipv4())
                    .map_or(OURS, |own| own.0);
                let (dst, next) = if ip.dst == GROUP { (GROUP, None) } else { (ip.src, Some(ip.src)) };
                let (over, ttl) = (ip.over, 1);
                Wanted::Message(Message { port, next, src, dst, over, ttl, router_alert: false, bytes })
            }
        });
    }
    fn handle_timeout(&mut self, _: Time, _: &mut Context<'_>) {}
    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }
    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}
    fn handle_change(&mut self, _: Time, _: &mut Context<'_>, _: &Change) {}
    fn poll_output(&mut self) -> Option<Wanted> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

fn router() -> Router {
    let mut router = router_with(vec![Arc::new(Echo::default())]);
    known(&mut router);
    router
}

fn datagram(src: Ipv4Addr, dst: Ipv4Addr, port: u16) -> Vec<u8> {
    datagram_of(src, dst, port, b"hello")
}

/// A datagram of five bytes, of either family.
pub(super) fn datagram_of<A: wire::checksum::Addresses>(
    src: A,
    dst: A,
    port: u16,
    text: &[u8; 5],
) -> Vec<u8> {
    let mut bytes = vec![0; udp::HEADER_LEN];
    bytes.extend_from_slice(text);
    let mut packet = udp::Packet::new_unchecked(&mut bytes);
    packet.set_src_port(7);
    packet.set_dst_port(port);
    packet.set_length(13);
    packet.fill_checksum(src, dst);
    bytes
}

/// What is in the UDP datagram of a frame, if its checksum is right.
fn payload(frame: &[u8]) -> (MacAddr, Ipv4Addr, Vec<u8>) {
    let packet = ipv4::Packet::new_checked(&frame[14..]).expect("IP");
    let udp = udp::Packet::new_checked(packet.payload()).expect("UDP");
    udp.verify_checksum(packet.src(), packet.dst()).expect("a right checksum");
    let to = ethernet::Packet::new_unchecked(frame).dst();
    (to, packet.dst(), udp.payload().to_vec())
}

#[test]
fn datagrams_to_the_node_and_to_a_group_reach_who_listens() {
    let mut r = router();
    let udp = ipv4::Protocol::UDP;
    let sent = give(&mut r, 1, ip(OUR_MAC, HOST, OURS, 1, udp, &datagram(HOST, OURS, 7)));
    assert_eq!(payload(&sent[0].1), (HOST_MAC, HOST, b"hello".to_vec()));
    let sent = give(&mut r, 2, ip(GROUP_MAC, HOST, GROUP, 1, udp, &datagram(HOST, GROUP, 7)));
    assert_eq!(payload(&sent[0].1), (GROUP_MAC, GROUP, b"hello".to_vec()));
    give(&mut r, 3, ip(GROUP_MAC, HOST, GROUP, 1, ipv4::Protocol(89), b"ospf"));
    let heard = &r.control().protocol::<Echo>().expect("the protocol").heard;
    let over = |arrival: &Arrival| match arrival {
        Arrival::Ip(ip) => ip.over,
        other => panic!("{other:?}"),
    };
    let datagram = Over::Udp { src: 7, dst: 7 };
    assert_eq!(heard.iter().map(over).collect::<Vec<_>>(), [datagram, datagram, Over::Ip(89)]);
}

/// Whatever the frame, however short it is: only a whole datagram to a protocol that says so is urgent.
#[test]
fn datagrams_of_protocols_that_keep_links_alive_are_urgent() {
    let r = router();
    let urgent = |bytes: &[u8]| r.is_urgent(&Frame::from_bytes(bytes));
    let four =
        |port| ip(OUR_MAC, HOST, OURS, 1, ipv4::Protocol::UDP, &datagram(HOST, OURS, port)).header().to_vec();
    let right = four(7);
    assert!(urgent(&right) && !urgent(&four(8)));
    assert!(!urgent(ip(OUR_MAC, HOST, OURS, 1, ipv4::Protocol(89), b"ospf").header()));
    // A label in front, and a tag.
    let behind = |between: &[u8]| [&right[..12], between, &right[14..]].concat();
    assert!(urgent(&behind(&[0x88, 0x47, 0, 1, 1, 64])));
    assert!(!urgent(&behind(&[0x81, 0, 0x45, 0, 8, 0])));
    for (at, value) in [(20, 0x01), (21, 185), (14, 0x75), (23, 6)] {
        let mut wrong = right.clone();
        wrong[at] = value;
        assert!(!urgent(&wrong), "byte {at} is {value}");
    }
    // The destination port is the 37th and 38th byte.
    for len in 0..right.len() {
        assert_eq!(urgent(&right[..len]), len >= 38, "{len} bytes");
    }
    let datagram = datagram_of(FAR, LOOPBACK, 7, SIX);
    let mut six = [&right[..12], &[0x86, 0xdd, 0x60, 0, 0, 0, 0, datagram.len() as u8, 17, 1][..]].concat();
    six.extend([FAR.octets(), LOOPBACK.octets()].concat());
    six.extend(datagram);
    assert!(urgent(&six));
}

#[test]
fn what_nobody_listens_to_is_counted_by_reason() {
    let mut r = router();
    let (udp, other) = (ipv4::Protocol::UDP, Ipv4Addr::new(224, 0, 0, 5));
    give(&mut r, 1, ip(OUR_MAC, HOST, OURS, 9, udp, &datagram(HOST, OURS, 8)));
    give(&mut r, 2, ip(GROUP_MAC, HOST, other, 1, udp, &datagram(HOST, other, 7)));
    give(&mut r, 3, ip(OUR_MAC, HOST, OURS, 9, ipv4::Protocol::TCP, &[0; 20]));
    give(&mut r, 4, ip(OUR_MAC, HOST, OURS, 9, ipv4::Protocol(103), &[0; 20]));
    let mut wrong = datagram(HOST, OURS, 7);
    wrong[12] ^= 1;
    give(&mut r, 5, ip(OUR_MAC, HOST, OURS, 9, udp, &wrong));
    assert_eq!(r.drops().get(DropReason::BadChecksum), 1);
    let once = [Unheard::IpProtocol, Unheard::UdpPort, Unheard::TcpPort, Unheard::Group].map(|why| (why, 1));
    assert_eq!(r.control().unheard().iter().collect::<Vec<_>>(), once);
    assert_eq!(r.drops().get(DropReason::NoListener), 4);
}

/// A frame with an LLC header of unnumbered information.
fn llc(sap: u8) -> Frame {
    let mut bytes = vec![0; ethernet::HEADER_LEN];
    ethernet::Repr::untagged(ALL_SYSTEMS, HOST_MAC, ethernet::EtherType(8)).emit(&mut bytes);
    bytes.extend_from_slice(&[sap, sap, 3]);
    bytes.extend_from_slice(b"hello");
    Frame::from_bytes(&bytes)
}

#[test]
fn frames_with_llc_reach_who_listens_and_are_of_an_unknown_protocol_elsewhere() {
    let mut r = router();
    let sent = give(&mut r, 1, llc(0xfe));
    assert_eq!((sent.len(), &sent[0].1[..6], &sent[0].1[6..12]), (1, &ALL_SYSTEMS.0[..], &OUR_MAC.0[..]));
    assert_eq!(sent[0].1[12..22], [0, 8, 0xfe, 0xfe, 3, b'h', b'e', b'l', b'l', b'o']);
    assert_eq!(give(&mut r, 2, llc(0x42)), []);
    assert_eq!(r.control().unheard().get(Unheard::Llc), 1);
    let mut deaf = router_with(Vec::new());
    assert_eq!(give(&mut deaf, 1, llc(0xfe)), []);
    assert_eq!(deaf.drops().get(DropReason::UnknownProtocol), 1);
}
