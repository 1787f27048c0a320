//! Two routers that speak OSPF, LDP, BGP and BFD with each other, and somebody between them who changes what they say.
//!
//! ```text
//! r0 ---- (changed here) ---- r1
//! ```
//!
//! What is changed has right lengths and checksums again, so that it comes to the protocols. When the changes are over,
//! the two find to each other again.

use base::describe::Describe;
use base::{MacAddr, NodeId, PortId, Rate, Span, Time};
use control::Setup;
use control::bfd::{Bfd, section::BfdSpec, states::SessionState};
use control::bgp::{Bgp, section::BgpSpec};
use control::ldp::{Ldp, section::LdpSpec};
use control::ospf::database::Instance;
use control::ospf::interface::{InterfaceConfig, NetworkType};
use control::ospf::neighbor::NeighborState;
use control::ospf::{Config, Ospf};
use core::net::Ipv4Addr;
use engine::{LinkSpec, World};
use node::router::{PortSetup, RouterConfig};
use node::{Peer, Router};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::checksum;

/// So often frames are carried from one side to the other.
const STEP: u64 = 5_000_000_000;
/// Time to say all that is said when two routers meet.
const MEETING: u64 = 15;
/// Seconds in which they find to each other again. LDP waits for up to two minutes before it tries again (RFC 5036,
/// 2.5.3), and is told a wrong hold time of up to 18 hours by a changed Hello, which the next one corrects.
const HEALING: u64 = 200;
/// Seconds in which nothing passes: longer than any neighbour waits.
const CUT: u64 = 20;
const ETHERNET: usize = 14;

/// A change of one packet.
struct Edit {
    /// So many packets pass before it.
    skip: u8,
    kind: u8,
    at: usize,
    byte: u8,
}

/// The input is edits of five bytes each.
pub fn speakers(input: &[u8]) {
    let mut pair = Pair::new();
    let edits = input.chunks_exact(5).map(|edit| Edit {
        skip: edit[0] & 31,
        kind: edit[1],
        at: usize::from(u16::from_be_bytes([edit[2], edit[3]])),
        byte: edit[4],
    });
    let mut edits = edits.peekable();
    let mut passed = 0;
    let mut change = |frame: &mut Vec<u8>| {
        let Some(edit) = edits.peek() else { return };
        passed += 1;
        if passed > edit.skip {
            passed = 0;
            edit.make(frame);
            edits.next();
        }
    };
    pair.run(MEETING, &mut change);
    pair.run(HEALING, &mut |_| ());
    if pair.is_misled() {
        pair.cut(CUT);
        pair.run(HEALING, &mut |_| ());
    }
    pair.works();
}

impl Edit {
    /// Changes the packet of a frame, if it is one of IPv4.
    fn make(&self, frame: &mut Vec<u8>) {
        if frame.len() < ETHERNET + 20 || frame[12..14] != [8, 0] {
            return;
        }
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        frame.truncate(ETHERNET + total);
        let header = usize::from(frame[ETHERNET] & 15) * 4;
        let start = ETHERNET + header + Edit::inner(frame[ETHERNET + 9], &frame[ETHERNET + header..]);
        if start >= frame.len() {
            return;
        }
        let at = start + self.at % (frame.len() - start);
        match self.kind % 8 {
            0 => frame[at] = self.byte,
            1 => frame[at] ^= 1 << (self.byte & 7),
            2 => frame[at] = frame[at].wrapping_add(self.byte),
            3 if at + 1 < frame.len() => frame[at..at + 2].copy_from_slice(&[self.byte, !self.byte]),
            4 => frame.truncate(at.max(start + 1)),
            5 => {
                let end = (at + usize::from(self.byte)).min(frame.len());
                frame.drain(at..end);
            }
            6 => {
                let end = (at + usize::from(self.byte)).min(frame.len());
                let again = frame[at..end].to_vec();
                frame.splice(at..at, again);
            }
            _ => frame.extend(core::iter::repeat_n(self.byte, 4)),
        }
        frame.truncate(ETHERNET + 1500);
        right(frame, header);
    }

    /// Where the message of a protocol begins in the payload of a packet.
    fn inner(protocol: u8, payload: &[u8]) -> usize {
        match protocol {
            6 => payload.get(12).map_or(0, |byte| usize::from(byte >> 4) * 4),
            17 => 8,
            _ => 0,
        }
    }
}

/// Gives a packet the lengths and checksums that it should have, those of advertisements of OSPF too.
fn right(frame: &mut [u8], header: usize) {
    let (ip, payload) = frame[ETHERNET..].split_at_mut(header);
    let total = (header + payload.len()) as u16;
    ip[2..4].copy_from_slice(&total.to_be_bytes());
    ip[10..12].fill(0);
    let sum = !checksum::sum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
    let pseudo = checksum::pseudo_header(address(12), address(16), ip[9], payload.len() as u32);
    let transport = |payload: &mut [u8], at: usize| {
        payload[at..at + 2].fill(0);
        let sum = !checksum::combine(&[pseudo, checksum::sum(payload)]);
        payload[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    };
    match ip[9] {
        6 if payload.len() >= 20 => transport(payload, 16),
        17 if payload.len() >= 8 => {
            let length = (payload.len() as u16).to_be_bytes();
            payload[4..6].copy_from_slice(&length);
            transport(payload, 6);
        }
        89 if payload.len() >= 24 => {
            let length = (payload.len() as u16).to_be_bytes();
            payload[2..4].copy_from_slice(&length);
            if payload[1] == 4 {
                advertisements(&mut payload[24..]);
            }
            payload[12..14].fill(0);
            let sum = !checksum::combine(&[checksum::sum(&payload[..16]), checksum::sum(&payload[24..])]);
            payload[12..14].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {}
    }
}

/// Fletcher's checksum for each advertisement of an update (RFC 2328, 12.1.7).
fn advertisements(body: &mut [u8]) {
    let mut at = 4;
    while let Some(rest) = body.get_mut(at..).filter(|rest| rest.len() >= 20) {
        let length = usize::from(u16::from_be_bytes([rest[18], rest[19]]));
        if length < 20 || length > rest.len() {
            return;
        }
        let lsa = &mut rest[2..length];
        lsa[14..16].fill(0);
        let (mut c0, mut c1) = (0i64, 0i64);
        for byte in lsa.iter() {
            c0 = (c0 + i64::from(*byte)) % 255;
            c1 = (c1 + c0) % 255;
        }
        let x = ((lsa.len() as i64 - 15) * c0 - c1).rem_euclid(255);
        let y = (510 - c0 - x).rem_euclid(255);
        let nonzero = |sum: i64| if sum == 0 { 255 } else { sum as u8 };
        lsa[14..16].copy_from_slice(&[nonzero(x), nonzero(y)]);
        at += length;
    }
}

/// Two routers, each with a raw port in place of the other one.
struct Pair {
    world: World,
    routers: [NodeId; 2],
    ports: [NodeId; 2],
}

impl Pair {
    fn new() -> Pair {
        let mut world = World::new(1);
        let (mut routers, mut ports) = (Vec::new(), Vec::new());
        for number in 0..2 {
            let streams = world.streams();
            let router = world.add_device(Box::new(Router::new(config(number, streams))));
            let port = world.add_device(Box::new(Peer::new()));
            let link = LinkSpec::new(router, port, Rate::from_gbps(1), Span::ZERO).with_buffer(1 << 22);
            world.add_link(link).expect("a link");
            routers.push(router);
            ports.push(port);
        }
        Pair { world, routers: [routers[0], routers[1]], ports: [ports[0], ports[1]] }
    }

    fn run(&mut self, seconds: u64, change: &mut impl FnMut(&mut Vec<u8>)) {
        let end = Time(self.world.now().0 + seconds * 1_000_000_000_000);
        while self.world.now() < end {
            let until = Time(self.world.now().0 + STEP);
            self.world.run_until(until).unwrap_or_else(|error| panic!("{error}"));
            for (from, to) in [(0, 1), (1, 0)] {
                let heard = self.world.device_mut::<Peer>(self.ports[from]).expect("a port").take_received();
                for (_, _, mut frame) in heard {
                    change(&mut frame);
                    if frame.is_empty() {
                        continue;
                    }
                    let port = self.world.device_mut::<Peer>(self.ports[to]).expect("a port");
                    port.send(until, PortId(0), &frame);
                }
            }
        }
    }

    /// Does a router have an advertisement of OSPF otherwise than the one that made it? A change with a right checksum
    /// is believed until the advertisement is made again, after half an hour, or until the two compare what they have.
    fn is_misled(&self) -> bool {
        let [one, other] = self.routers.map(|node| {
            let router: &Router = self.world.device(node).expect("a router");
            router.control().protocol::<Ospf>().expect("OSPF").databases()
        });
        let said = |known: &Instance| (known.header().sequence, known.content().bytes().to_vec());
        one.iter().any(|(scope, known)| {
            other.get(scope, &known.key()).is_some_and(|there| said(there) != said(known))
        })
    }

    /// Nothing passes for so long.
    fn cut(&mut self, seconds: u64) {
        self.run(seconds, &mut |frame| frame.clear());
    }

    /// The two know each other by all protocols.
    fn works(&self) {
        for node in self.routers {
            let router: &Router = self.world.device(node).expect("a router");
            let control = router.control();
            let ospf: &Ospf = control.protocol().expect("OSPF");
            let neighbors: Vec<_> =
                ospf.interfaces().flat_map(|interface| interface.neighbors.values()).collect();
            let full = neighbors.iter().any(|neighbor| neighbor.state == NeighborState::Full);
            assert!(full, "{node:?}: no neighbour of OSPF: {neighbors:?}");
            let ldp: &Ldp = control.protocol().expect("LDP");
            assert!(
                ldp.sessions().any(|session| session.is_operational()),
                "{node:?}: no session of LDP: {:#?}",
                self.routers.map(|node| {
                    let router: &Router = self.world.device(node).expect("a router");
                    router.control().protocol::<Ldp>().expect("LDP")
                })
            );
            let bgp: &Bgp = control.protocol().expect("BGP");
            assert!(bgp.peers()[0].is_established(), "{node:?}: no session of BGP: {:?}", bgp.peers());
            let bfd: &Bfd = control.protocol().expect("BFD");
            let up = bfd.sessions().any(|session| session.state == SessionState::Up);
            assert!(up, "{node:?}: no session of BFD: {:?}", bfd.sessions().collect::<Vec<_>>());
        }
        assert!(self.world.audit().is_empty(), "frames vanished");
    }
}

fn config(number: u8, streams: base::Streams) -> RouterConfig {
    let own = Ipv4Addr::new(10, 0, 0, 1 + number);
    let other = Ipv4Addr::new(10, 0, 0, 2 - number);
    let interface = InterfaceConfig {
        network: NetworkType::PointToPoint,
        hello_s: 1,
        dead_s: 4,
        bfd: Some(Default::default()),
        ..InterfaceConfig::default()
    };
    let ospf = Config { interfaces: BTreeMap::from([(PortId(0), interface)]), te: true, ..Config::default() };
    let ldp = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"});
    let neighbor = json!({"asn": 65001 + u32::from(1 - number), "import": "all", "export": "all"});
    let bgp = json!({
        "asn": 65001 + u32::from(number), "networks": [format!("203.0.{number}.0/24")], "hold_time": "9 s",
        "connect_retry": "2 s", "neighbors": {other.to_string(): neighbor},
    });
    let bfd = json!({"interval": "300 ms"});
    let protocols: Vec<Arc<dyn Setup>> = vec![
        Arc::new(ospf),
        Arc::new(LdpSpec::read(&value(&ldp)).expect("settings")),
        Arc::new(BgpSpec::read(&value(&bgp)).expect("settings")),
        Arc::new(BfdSpec::read(&value(&bfd)).expect("settings")),
    ];
    let ports = vec![PortSetup::new(MacAddr([2, 0, 0, 0, number, 1]), own, 24)];
    let id = Ipv4Addr::new(192, 0, 2, 1 + number);
    RouterConfig::ideal(format!("r{number}"), id, ports, protocols, streams)
}

fn value(json: &serde_json::Value) -> base::describe::Value {
    serde_json::from_value(json.clone()).expect("a value")
}
