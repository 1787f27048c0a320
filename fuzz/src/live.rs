//! A live router, one of whose neighbours sends whatever the fuzzer makes up.
//!
//! ```text
//! peer ---- r0 ---- r1 ---- r2        an LSP from r0 to r2, and one back
//! ```

use crate::right;
use base::{Event, MacAddr, Time};
use control::rsvp::Rsvp;
use serde_json::json;
use tester::Testbed;
use tester::spec::NetworkFile;
use wire::{ethernet, ipv4};

const MS: u64 = 1_000_000_000;
/// LSPs that one input can make: a message is some 100 bytes at least.
const LSPS_MAX: usize = 256;

/// The input is frames: how to wrap each, its length, its bytes.
pub fn router(mut input: &[u8]) {
    let mut network = network();
    run(&mut network, 50 * MS);
    let setup = network.router(1).expect("a router").config().ports[0];
    while let [kind, len, rest @ ..] = input {
        let (bytes, after) = rest.split_at(rest.len().min(usize::from(*len) * 4));
        input = after;
        network.peer_send(0, &wrap(*kind, bytes, setup.mac, setup.address)).expect("a port");
        let now = network.world().now().0;
        run(&mut network, now + u64::from(*kind >> 4) * 5 * MS + MS / 10);
    }
    let now = network.world().now().0;
    run(&mut network, now + 200 * MS);
    let held =
        network.router(1).expect("a router").control().protocol::<Rsvp>().expect("RSVP-TE").audit().lsps;
    assert!(held <= LSPS_MAX, "{held} LSPs");
    assert!(network.world().audit().is_empty(), "frames vanished");
    works(&mut network);
}

/// The router still does what it is for: LSPs are up, and it forwards.
fn works(network: &mut Testbed) {
    let table = network.table_json("lsps", None).expect("a table");
    let up = table["state"].as_array().expect("states").iter().all(|state| state == "up");
    assert!(up, "{table}");
    let to = network.loopback(3);
    network.ping(1, to, 64, 999).expect("a ping");
    let now = network.world().now().0;
    run(network, now + 20 * MS);
    let answered =
        |e: &engine::EventRecord| matches!(e.event, Event::ProbeReply { sequence: 999, kind: 0, .. });
    assert!(network.events().iter().any(answered), "no answer from r2");
}

/// Bytes as they are, behind an Ethernet header, in an IP packet, or as the body of an RSVP message to the router.
pub fn wrap(kind: u8, bytes: &[u8], mac: MacAddr, to: std::net::Ipv4Addr) -> Vec<u8> {
    let neighbor = std::net::Ipv4Addr::from_bits(to.to_bits() ^ 3);
    let ethernet = |ethertype| {
        let mut frame = vec![0; ethernet::HEADER_LEN];
        ethernet::Repr::untagged(mac, MacAddr([2, 0, 0, 0, 0, 9]), ethertype).emit(&mut frame);
        frame
    };
    let ip = |protocol, options, payload: &[u8]| {
        let header = ipv4::Repr {
            src: neighbor,
            dst: to,
            protocol,
            ttl: 255,
            dscp: base::Dscp::DEFAULT,
            ecn: 0,
            ident: 1,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: payload.len() as u16,
            options,
        };
        let mut frame = ethernet(ethernet::EtherType::IPV4);
        let start = frame.len();
        frame.resize(start + header.buffer_len(), 0);
        header.emit(&mut frame[start..]);
        frame.extend(payload);
        frame
    };
    let alert = ipv4::Options::ROUTER_ALERT;
    match kind & 15 {
        0 => bytes.to_vec(),
        1 => [ethernet(ethernet::EtherType::IPV4), bytes.to_vec()].concat(),
        2 => [ethernet(ethernet::EtherType::MPLS), bytes.to_vec()].concat(),
        3 => [ethernet(ethernet::EtherType::ARP), bytes.to_vec()].concat(),
        4 => ip(ipv4::Protocol::ICMP, ipv4::Options::NONE, bytes),
        5 => ip(ipv4::Protocol::UDP, alert, bytes),
        6 => ip(ipv4::Protocol::RSVP, ipv4::Options::NONE, bytes),
        _ => {
            let mut message = bytes.to_vec();
            right(&mut message);
            ip(ipv4::Protocol::RSVP, if kind & 1 == 1 { alert } else { ipv4::Options::NONE }, &message)
        }
    }
}

fn network() -> Testbed {
    let rsvp = json!({"refresh": "100 ms", "refresh_reduction": true, "hello": "20 ms"});
    let router = json!({"kind": "router", "rsvp": rsvp});
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let lsp = |from: &str, to: &str| {
        json!({"name": format!("{from}-{to}"), "from": from, "to": to, "shortest": true, "holding_priority": 0,
               "bandwidth": "1 Mbit/s", "record_route": true})
    };
    let description = json!({
        "name": "fuzzed", "seed": 1, "nodes": {"peer": {"kind": "peer"}, "r0": router, "r1": router, "r2": router},
        "links": [link("peer", "r0"), link("r0", "r1"), link("r1", "r2")], "lsps": [lsp("r0", "r2"), lsp("r2", "r0")],
    });
    let value = serde_json::from_value(description).expect("a value");
    let file = NetworkFile::read_part(&value).expect("a description");
    Testbed::new(&file).expect("a network")
}

fn run(network: &mut Testbed, until: u64) {
    network.world_mut().run_until(Time(until)).unwrap_or_else(|error| panic!("{error}"));
}
