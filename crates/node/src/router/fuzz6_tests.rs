//! Whatever frames of IPv6 come to a port that advertises, looks for its addresses or has a protocol on it: none makes
//! it panic, and each is accounted for.

use super::listening_tests::{Echo, GROUP6, LOOPBACK, datagram_of};
use super::tests::{HOST_MAC, OUR_MAC, config_with, give};
use super::*;
use crate::advertising::Advertise;
use crate::discovery::{self, Own};
use base::random::Rng;
use base::{MacAddr, Span, Streams};
use std::sync::Arc;
use wire::{ethernet, ipv6, nd};

const OURS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
const HOST6: Own =
    Own { mac: HOST_MAC, address: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2), router: true };
const SETTINGS: Advertise = Advertise {
    interval: [Span::from_secs(3), Span::from_secs(4)],
    lifetime_s: 12,
    hop_limit: 64,
    managed: false,
    other: false,
    reachable_ms: 0,
    retransmit_ms: 0,
    mtu: true,
    autonomous: true,
    valid_s: 60,
    preferred_s: 60,
};

fn router(dad: bool) -> Router {
    let mut config = config_with(vec![Arc::new(Echo::default())]);
    config.ipv6 = Some(LOOPBACK);
    config.ports[0].ipv6 = Some(Address6 { dad, advertise: Some(SETTINGS), ..Address6::new(OURS6, 64) });
    Router::new(config)
}

/// An IPv6 packet of the host, with a right header.
fn packet(dst: Ipv6Addr, protocol: ipv6::Protocol, payload: &[u8]) -> Vec<u8> {
    let mac = if dst.is_multicast() { nd::group_mac(dst) } else { OUR_MAC };
    let src = if dst == OURS6 { HOST6.address } else { nd::link_local(HOST_MAC) };
    let ip = ipv6::Repr { hop_limit: 255, ..ipv6::Repr::new(src, dst, protocol, payload.len() as u16) };
    let mut bytes = vec![0; ethernet::HEADER_LEN + ipv6::HEADER_LEN];
    ethernet::Repr::untagged(mac, HOST_MAC, ethernet::EtherType::IPV6).emit(&mut bytes);
    ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend(payload);
    bytes
}

/// Frames that mean something.
fn sound() -> Vec<Vec<u8>> {
    let link_local = nd::link_local(OUR_MAC);
    let udp = |src, dst| packet(dst, ipv6::Protocol::UDP, &datagram_of(src, dst, 7, b"hello"));
    let frames = [
        HOST6.ask(OURS6, None),
        HOST6.ask(link_local, Some(OUR_MAC)),
        HOST6.probe(OURS6),
        HOST6.answer(HOST6.address, Some((OURS6, OUR_MAC))),
        HOST6.answer(OURS6, None),
        SETTINGS.frame(&HOST6, Prefix6::new(OURS6, 64), 1500),
        HOST6.frame(
            MacAddr([0x33, 0x33, 0, 0, 0, 2]),
            Ipv6Addr::UNSPECIFIED,
            nd::ALL_ROUTERS,
            nd::Repr::RouterSolicitation { options: nd::Options::default() },
        ),
    ];
    let mut all: Vec<Vec<u8>> = frames.iter().map(Frame::to_vec).collect();
    all.push(udp(HOST6.address, OURS6));
    all.push(udp(nd::link_local(HOST_MAC), GROUP6));
    all.push(packet(GROUP6, ipv6::Protocol(89), b"hello"));
    all.push(packet(link_local, ipv6::Protocol::DESTINATION_OPTIONS, &[89, 0, 1, 4, 0, 0, 0, 0, 1, 2, 3]));
    let ping = discovery::packet(HOST6.address, OURS6, 64, &discovery::request(1));
    all.push(packet(OURS6, ipv6::Protocol::ICMPV6, &ping[ipv6::HEADER_LEN..]));
    all
}

#[test]
fn no_frame_of_ipv6_does_harm() {
    let sound = sound();
    let mut routers = [router(false), router(true)];
    let runs = testing::runs(50_000);
    let mut random = Streams::new(runs.start).stream("frames");
    for run in runs {
        let mut draw = |below: usize| (random.next_u64() % below as u64) as usize;
        let mut bytes = sound[draw(sound.len())].clone();
        for _ in 0..draw(4) {
            let at = draw(bytes.len());
            bytes[at] = draw(256) as u8;
        }
        if draw(4) == 0 {
            bytes.truncate(ethernet::HEADER_LEN + draw(bytes.len() - ethernet::HEADER_LEN));
        }
        let now = run * 50_000_000_000;
        for router in &mut routers {
            // It says itself whether every frame is accounted for.
            give(router, now, Frame::from_bytes(&bytes));
            while router.poll_timeout().is_some_and(|at| at.0 <= now) {
                router.handle_timeout(Time(now));
            }
            while router.poll_output().is_some() {}
        }
    }
    let heard = |router: &Router| router.control().protocol::<Echo>().map_or(0, |echo| echo.heard.len());
    assert!(heard(&routers[0]) > 500, "{}", heard(&routers[0]));
}
