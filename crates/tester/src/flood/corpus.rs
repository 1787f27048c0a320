//! Valid frames: those of a small network that does most of what there is.

use crate::Testbed;
use base::Time;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use network::Description;
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

/// The frames of [`captures`], each kind once: EtherType, protocol, RSVP message type and rough length tell kinds apart.
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
    let mut rsvp = json!({"refresh_ps": 200 * MS, "refresh_reduction": reduction, "hello_ps": 40 * MS,
        "egress_label": "explicit-null"});
    if key {
        rsvp["integrity_key"] = json!("secret");
    }
    // Addresses for documentation (RFC 5737), so that no frame forges a neighbour of the router that is flooded: only INTEGRITY
    // tells a forged message from a true one.
    let router = |i: usize| json!({"name": format!("r{i}"), "kind": "router", "rsvp": rsvp, "diffserv": {}, "router_id": format!("203.0.113.{}", i + 1)});
    let link = |(a, b): (usize, usize)| {
        let host = 4 * (a * 8 + b);
        json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS / 10, "mtu": 600,
            "addresses": [format!("198.51.100.{}/30", host + 1), format!("198.51.100.{}/30", host + 2)]})
    };
    let lsp = |name: &str, bandwidth: u64, priority: u8, style: &str| {
        json!({"name": name, "from": 0, "to": 2, "routes": [[1, 2], [3, 2]], "bandwidth_bps": bandwidth,
            "setup_priority": priority, "holding_priority": priority, "record_labels": true, "style": style,
            "retry_limit": 1})
    };
    let (nodes, links) = ([0, 1, 2, 3].map(router), [(0, 1), (1, 2), (0, 3), (3, 2)].map(link));
    let description = json!({
        "seed": 1, "nodes": nodes, "links": links,
        "lsps": [lsp("a", 60_000_000, 7, "shared-explicit"), lsp("b", 80_000_000, 3, "fixed-filter"),
            lsp("c", 900_000_000, 3, "fixed-filter"),
            {"name": "d", "from": 0, "to": 2, "count": 5, "routes": [[1], [2]], "loose": true},
            {"name": "e", "from": 0, "to": 2, "routes": [[1, 2]], "diffserv": {"kind": "l-lsp", "class": "AF11"}},
            {"name": "f", "from": 0, "to": 2, "routes": [[3, 2]],
                "diffserv": {"kind": "e-lsp", "map": ["default", "AF11", "AF12", "AF13", "AF21", "EF", "CS6", "CS7"]}}],
    });
    let description: Description = serde_json::from_value(description).ok()?;
    let mut network = Testbed::new(description).ok()?;
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
