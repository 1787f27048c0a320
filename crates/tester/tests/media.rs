//! Links of every medium: what is on the wire, how long it takes, and what is refused.

use crate::common::{MS, S, conserved, network, refusal, routers, run};
use base::{LinkId, Span, Time};
use engine::external::{ExternalPort, ExternalSpec, PortError};
use engine::medium::packet_media;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use network::Placement;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use wire::tree::{self, Layer};

const RATE: u64 = 100_000_000;

/// Host 2, router 0, router 1, host 3 in a row, whose middle link has a medium; an LSP for one of two flows.
fn described(medium: &str) -> Value {
    let mut nodes = routers(2, &json!({}));
    nodes.push(json!({"name": "a", "kind": "host", "address": "10.1.0.2/24", "mtu": 1400}));
    nodes.push(json!({"name": "b", "kind": "host", "address": "10.2.0.2/24", "mtu": 1400}));
    let link = |a: u32, b: u32, medium: &str| json!({"a": a, "b": b, "rate_bps": RATE, "delay_ps": MS / 10, "medium": medium});
    let links = [link(2, 0, "ethernet"), link(0, 1, medium), link(1, 3, "ethernet")];
    let flow = |name: &str, from: u32, to: u32| json!({"name": name, "from": from, "to": to, "rate_bps": 5_000_000, "size": 500, "start_ps": 100 * MS, "stop_ps": 900 * MS});
    json!({
        "nodes": nodes,
        "links": links,
        "lsps": [{"name": "l", "from": 0, "to": 1, "carries": ["10.2.0.0/24"]}],
        "flows": [flow("over", 2, 3), flow("back", 3, 2)],
    })
}

/// The least delay of each flow, in picoseconds.
fn delays(network: &mut Testbed) -> Vec<u64> {
    let streams = network.table_json("streams", None).expect("a table");
    let delays = crate::common::column(&streams, "delay_min_s");
    delays.iter().filter_map(Value::as_f64).map(|seconds| (seconds * 1e12).round() as u64).collect()
}

#[test]
fn packets_and_labels_cross_links_of_every_medium() {
    cross(&[1], 1);
}

#[test]
fn delays_are_from_first_bit_to_first_bit_where_hosts_have_links_of_a_medium() {
    // The sink's own link does not count: its first bit has come when the frame leaves the last router.
    cross(&[0, 1, 2], 2);
}

/// With these links of a medium all packets arrive, and each is later by its longer header on so many links.
fn cross(links: &[usize], counted: i64) {
    let mut on_ethernet = Vec::new();
    for medium in packet_media() {
        let mut described = described("ethernet");
        for link in links {
            described["links"][link]["medium"] = json!(medium.name);
        }
        let mut network = network(described);
        run(&mut network, S);
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert!(sent > 1_900 && sent == received, "{}: {received} of {sent}", medium.name);
        let delays = delays(&mut network);
        if medium.is_plain() {
            on_ethernet = delays;
            continue;
        }
        // 80 ns for a byte. The frame of 500 bytes is longer on the medium, or shorter, and nothing else changes.
        let framing = medium.framing;
        let more = i64::from(framing.typed) + i64::from(framing.trailer) - 4;
        for (on_it, on_ethernet) in delays.iter().zip(&on_ethernet) {
            assert_eq!(*on_it as i64 - *on_ethernet as i64, counted * more * 80_000, "{}", medium.name);
        }
    }
}

#[test]
fn gaps_and_padding_are_those_of_the_medium() {
    for medium in packet_media() {
        let mut described = described(medium.name);
        described["lsps"] = json!([]);
        // Back to back: more than the middle link takes.
        let flow = json!({"name": "much", "from": 2, "to": 3, "rate_bps": 90_000_000, "size": 64, "start_ps": 100 * MS, "stop_ps": 500 * MS});
        described["flows"] = json!([flow]);
        described["links"][1]["rate_bps"] = json!(10_000_000);
        described["links"][1]["buffer_bytes"] = json!(100_000);
        let mut network = network(described);
        run(&mut network, 200 * MS);
        let before = network.world().link_counters(LinkId(1)).expect("counters")[0].sent_frames;
        run(&mut network, 400 * MS);
        let after = network.world().link_counters(LinkId(1)).expect("counters")[0].sent_frames;
        // A test packet of 46 bytes of IP: 60 bytes with an Ethernet header.
        let framing = medium.framing;
        let bytes =
            (60u32.saturating_add_signed(framing.typed) + framing.trailer).max(framing.least) + framing.gap;
        let fits = 10_000_000.0 * 0.2 / 8.0 / f64::from(bytes);
        let count = (after - before) as f64;
        assert!((count - fits).abs() < 3.0, "{}: {count} frames, {fits:.1} fit", medium.name);
    }
}

#[test]
fn captures_hold_the_bytes_of_the_medium() {
    let mut network = network(described("llc"));
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(1)), CaptureTo::Memory);
    let capture = network.world_mut().capture(spec).expect("a capture");
    run(&mut network, 300 * MS);
    let file = network.world_mut().finish_capture(capture).expect("a file").bytes;
    let (mut labelled, mut plain, mut arp) = (0, 0, 0);
    for packet in CaptureReader::new(&file[..]).expect("a reader") {
        let bytes = packet.expect("a packet").bytes;
        let tree = tree::decode(&bytes);
        assert_eq!(tree::encode(&tree), Ok(bytes));
        let [Layer::Ethernet(_), Layer::Llc(llc), Layer::Snap(_), above, ..] = &tree.layers[..] else {
            panic!("{}", tree::summary(&tree));
        };
        assert_eq!((llc.dsap, llc.ssap, llc.control), (0xaa, 0xaa, 3));
        match above {
            Layer::Mpls(_) => labelled += 1,
            Layer::Ipv4(_) => plain += 1,
            Layer::Arp(_) => arp += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(labelled > 50 && plain > 100 && arp == 2, "{labelled} {plain} {arp}");
}

#[test]
fn a_queue_counts_the_frames_of_the_medium() {
    let offered = |medium: &str, layer: &str| {
        let mut described = described(medium);
        described["lsps"] = json!([]);
        described["links"][1]["a_queue"] =
            json!({"accounting": {"layer": layer}, "root": {"discipline": "pfifo", "limit": 1000}});
        let mut network = network(described);
        run(&mut network, S);
        conserved(&mut network).expect("conservation");
        let queues = network.table_json("queues", None).expect("a table");
        (
            queues["given_bytes"][0].as_u64().expect("bytes"),
            queues["given_packets"][0].as_u64().expect("packets"),
        )
    };
    for layer in ["link", "frame", "wire"] {
        let ((plain, packets), (llc, same)) = (offered("ethernet", layer), offered("llc", layer));
        assert_eq!(packets, same);
        // Longer by 8 bytes, but for ARP, which padding makes as long.
        let most = plain + 8 * packets;
        assert!((most - 8 * 8..=most).contains(&llc), "{layer}: {plain} {llc} {packets}");
    }
    assert_eq!(offered("ethernet", "ip"), offered("llc", "ip"));
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    for medium in packet_media() {
        let mut described = described(medium.name);
        for flow in described["flows"].as_array_mut().expect("flows") {
            flow["rate_bps"] = json!(200_000);
        }
        let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
        let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
            panic!("all of it is in this process")
        };
        let file = crate::common::file(&described).expect("a description");
        let mut network = Testbed::placed_with(&file, placement, &mut none).expect("a network");
        for _ in 0..50 {
            let next = network.now() + Span::from_ms(20);
            network.run_until(next).expect("a run");
        }
        network.run_until(Time(S + 100 * MS)).expect("a run");
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert!(sent > 50 && sent == received, "{}: {received} of {sent}", medium.name);
    }
}

#[test]
fn what_a_medium_cannot_carry_is_refused() {
    let mut long = described("llc");
    long["links"][1]["mtu"] = json!(1500);
    long["links"][1]["mtu_said"] = json!(true);
    assert_eq!(
        refusal(&long),
        "link r0 - r1: mtu=1500: a frame of medium llc holds a packet of up to 1492 bytes"
    );
    let unknown = refusal(&described("lcc"));
    assert!(unknown.contains("'lcc'") && unknown.contains("llc"), "{unknown}");
}
