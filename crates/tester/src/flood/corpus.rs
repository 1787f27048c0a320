//! Valid frames: those of a small network that does most of what there is.

use crate::Testbed;
use crate::spec::NetworkFile;
use base::Time;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::json;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000_000;

/// Capture files of all links of the network, with and without INTEGRITY objects, one after another.
pub fn captures() -> Vec<Vec<u8>> {
    [(false, true), (true, false)]
        .into_iter()
        .filter_map(|(key, reduction)| capture(key, reduction))
        .collect()
}

/// The frames of [`captures`], each kind once: EtherType, protocol, RSVP message type and rough length tell kinds
/// apart.
pub fn frames() -> Vec<Vec<u8>> {
    let mut kinds = BTreeMap::new();
    for file in captures() {
        let Ok(reader) = CaptureReader::new(&file[..]) else { continue };
        for frame in reader.map_while(Result::ok).map(|packet| packet.bytes) {
            let at = |i: usize| frame.get(i).copied().unwrap_or(0);
            let header = 14 + usize::from(at(14) & 15) * 4;
            let kind = (at(12), at(13), at(23), at(header + 1), frame.len() / 16);
            kinds.entry(kind).or_insert(frame);
        }
    }
    kinds.into_values().collect()
}

fn capture(key: bool, reduction: bool) -> Option<Vec<u8>> {
    let mut rsvp = json!({"refresh": "200 ms", "refresh_reduction": reduction, "hello": "40 ms",
        "egress_label": "explicit-null"});
    if key {
        rsvp["key"] = json!("secret");
    }
    // Addresses for documentation (RFC 5737), so that no frame forges a neighbour of the router that is flooded: only
    // INTEGRITY tells a forged message from a true one.
    let router = |i: usize| {
        let node = json!({"kind": "router", "rsvp": rsvp, "diffserv": true, "router_id": format!("203.0.113.{}", i + 1)});
        (format!("r{i}"), node)
    };
    let link = |(a, b): (usize, usize)| {
        let host = 4 * (a * 8 + b);
        json!({"endpoints": [format!("r{a}"), format!("r{b}")], "rate": "100 Mbit/s", "delay": "100 us", "mtu": 600,
            "addresses": [format!("198.51.100.{}/30", host + 1), format!("198.51.100.{}/30", host + 2)]})
    };
    let lsp = |name: &str, bandwidth: &str, priority: u8, style: &str| {
        json!({"name": name, "from": "r0", "to": "r2", "route": ["r1", "r2"], "fallback": ["r3", "r2"], "bandwidth": bandwidth,
            "setup_priority": priority, "record_route": false, "record_labels": true, "style": style, "retry_limit": 1})
    };
    let nodes: serde_json::Map<_, _> = [0, 1, 2, 3].map(router).into_iter().collect();
    let links = [(0, 1), (1, 2), (0, 3), (3, 2)].map(link);
    let description = json!({
        "name": "corpus", "seed": 1, "nodes": nodes, "links": links,
        "lsps": [lsp("a", "60 Mbit/s", 7, "shared-explicit"), lsp("b", "80 Mbit/s", 3, "fixed-filter"),
            lsp("c", "900 Mbit/s", 3, "fixed-filter"),
            {"name": "d", "from": "r0", "to": "r2", "count": 5, "route": ["r1"], "fallback": ["r2"], "loose": true,
                "record_route": false},
            {"name": "e", "from": "r0", "to": "r2", "route": ["r1", "r2"], "diffserv": "l-lsp AF1", "record_route": false},
            {"name": "f", "from": "r0", "to": "r2", "route": ["r3", "r2"], "record_route": false, "diffserv":
                {"kind": "e-lsp", "map": ["default", "AF11", "AF12", "AF13", "AF21", "EF", "CS6", "CS7"]}}],
    });
    let file = NetworkFile::read_part(&serde_json::from_value(description).ok()?).ok()?;
    let mut network = Testbed::new(&file).ok()?;
    let everything = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let id = network.world_mut().capture(everything).ok()?;
    let to = |ms: u64, network: &mut Testbed| network.world_mut().run_until(Time(ms * MS)).ok();
    to(400, &mut network)?;
    let (_, address) = network.tunnel(0, 0)?;
    // No test packets: a sink would take them for its own.
    (1..4).try_for_each(|ttl| network.ping(0, address, ttl, 1)).ok()?;
    let end = network.loopback(2);
    network.ping(0, end, 64, 2).ok()?;
    network.lsp_command(3, "reoptimise", None).ok()?;
    to(800, &mut network)?;
    network.set_link(1, false).ok()?;
    to(1_200, &mut network)?;
    network.lsp_command(1, "tear", None).ok()?;
    to(1_600, &mut network)?;
    Some(network.world_mut().finish_capture(id).ok()?.bytes)
}
