//! Packet-hops per second of four flows through three routers with CBQ and RED at their egress ports, capture off.
//!
//! `--packets P`: a host, three routers, a host, in a chain. Hosts are at 1 Gbit/s, links between routers at 100 Mbit/s
//! and 1 ms; four UDP flows of 1000-byte IP packets and 30 Mbit/s each fill them to 120 %. Each egress port of a router
//! shares its rate by CBQ in four classes, told apart by behaviour, whose leaves are RED queues. `--plain` leaves the
//! disciplines away (one queue of 60 kB). A packet-hop is a packet over a link. Prints one line of JSON. The same
//! network in ns-3: `benches/anchors/ns3_tc.cc`.

use base::{LinkId, Time};
use serde_json::{Value, json};
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const S: u64 = 1_000_000_000_000;
const FLOW_BPS: u64 = 30_000_000;
const PACKET: u64 = 1_000;
/// Of each flow: its class, rate of the class in Mbit/s, priority, code point.
const CLASSES: [(&str, u64, u8, u8); 4] =
    [("ef", 40, 1, 46), ("af1", 30, 2, 10), ("af2", 20, 3, 18), ("rest", 10, 4, 0)];

/// CBQ over four classes, with RED in each.
fn tree() -> Value {
    let red = json!({"discipline": "red", "limit": 60_000, "min": 15_000, "max": 45_000, "avpkt": PACKET,
                     "burst": 25, "probability": 0.1});
    let class = |(name, mbps, priority, _): (&str, u64, u8, u8)| {
        (name.to_string(), json!({"rate": mbps * 1_000_000, "prio": priority, "queue": red.clone()}))
    };
    let classes: serde_json::Map<String, Value> = CLASSES.into_iter().map(class).collect();
    let filters = json!([
        {"phb": ["EF"], "class": "ef"},
        {"phb": ["AF11"], "class": "af1"},
        {"phb": ["AF21"], "class": "af2"},
    ]);
    json!({"accounting": {"layer": "ip"}, "root": {
        "discipline": "cbq", "avpkt": PACKET, "default": "rest", "filters": filters, "classes": classes,
    }})
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let place = arguments.iter().position(|argument| argument == "--packets");
    let packets: u64 = place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(2_000_000);
    let plain = arguments.iter().any(|argument| argument == "--plain");
    let host = |name: &str, address: &str| json!({"name": name, "kind": "host", "address": address});
    let router = |name: &str| json!({"name": name, "kind": "router"});
    let access = |a: usize| json!({"a": a, "b": a + 1, "rate_bps": 1_000_000_000, "delay_ps": 1_000_000});
    let core = |a: usize| {
        let mut link = json!({"a": a, "b": a + 1, "rate_bps": 100_000_000, "delay_ps": 1_000_000_000, "buffer_bytes": 60_000});
        if !plain {
            link["a_queue"] = tree();
            link["b_queue"] = tree();
        }
        link
    };
    let mut last = access(3);
    if !plain {
        last["a_queue"] = tree();
    }
    let start = S;
    let per_flow = packets / CLASSES.len() as u64;
    let stop = start + (u128::from(per_flow) * u128::from(PACKET * 8 * S) / u128::from(FLOW_BPS)) as u64;
    let flow = |(name, _, _, dscp): (&str, u64, u8, u8)| {
        json!({"name": name, "from": 0, "to": 4, "rate_bps": FLOW_BPS, "rate_counts": "ip", "size": PACKET + 18, "dscp": dscp,
               "start_ps": start, "stop_ps": stop})
    };
    let description = json!({
        "seed": 1,
        "nodes": [host("s", "10.1.0.2/24"), router("r1"), router("r2"), router("r3"), host("d", "10.2.0.2/24")],
        "links": [access(0), core(1), core(2), last],
        "flows": CLASSES.map(flow),
    });
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.world_mut().run_until(Time(start - 1)).expect("a run");
    let carried = |network: &Testbed| -> u64 {
        let link =
            |link| network.world().link_counters(LinkId(link)).map_or(0, |[forth, _]| forth.received_frames);
        (0..4).map(link).sum()
    };
    let before = (network.world().events_done(), carried(&network));
    let clock = Instant::now();
    network.world_mut().run_until(Time(stop + S)).expect("a run");
    let seconds = clock.elapsed().as_secs_f64();
    network.audit().expect("queues that add up");
    let hops = carried(&network) - before.1;
    let table = network.table_json("streams", None).expect("streams");
    let received: u64 = table["received"].as_array().map_or(0, |c| c.iter().filter_map(|v| v.as_u64()).sum());
    let result = json!({
        "packet_hops_per_s": hops as f64 / seconds,
        "ns_per_packet_hop": seconds * 1e9 / hops as f64,
        "packet_hops": hops,
        "events": network.world().events_done() - before.0,
        "received": received,
        "packets": per_flow * CLASSES.len() as u64,
        "seconds": seconds,
        "digest": network.world().digest().to_string(),
    });
    println!("{result}");
}
