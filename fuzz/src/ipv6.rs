//! Frames of IPv6 to start from: each message, header and option once.

use serde_json::{Value, json};
use wire::tree;

/// Frames of IPv6, one for each kind of message.
pub fn ipv6() -> Vec<Vec<u8>> {
    let quote = json!({"original": "60".repeat(128), "extensions": [{"object": "mpls-stack", "stack": [{"label": 17, "ttl": 1}]}]});
    let plain = json!({"original": "60".repeat(48)});
    let options = json!([
        {"option": "source-link-layer", "mac": "02:00:00:00:00:01"}, {"option": "target-link-layer", "mac": "02:00:00:00:00:02"},
        {"option": "mtu", "mtu": 1500}, {"option": "other", "kind": 14, "data": "010203040506"},
        {"option": "prefix", "prefix": "2001:db8::", "len": 64, "on_link": true, "autonomous": true, "valid_s": 9, "preferred_s": 8},
    ]);
    let discovery = |said: Value| {
        let mut layer = json!({"layer": "icmpv6", "message": "neighbor-discovery", "options": options});
        for (key, value) in said.as_object().into_iter().flatten() {
            layer[key] = value.clone();
        }
        layer
    };
    let icmp = |message: &str, more: Value| {
        let mut layer = json!({"layer": "icmpv6", "message": message});
        for (key, value) in more.as_object().into_iter().flatten() {
            layer[key] = value.clone();
        }
        layer
    };
    let echo = json!({"ident": 1, "sequence": 2, "data": "0102"});
    let messages = [
        icmp("echo-request", echo.clone()),
        icmp("echo-reply", echo),
        icmp("destination-unreachable", json!({"code": 4, "quote": quote})),
        icmp("time-exceeded", json!({"code": 0, "quote": quote})),
        icmp("packet-too-big", json!({"mtu": 1400, "quote": plain})),
        icmp("parameter-problem", json!({"code": 1, "pointer": 40, "quote": plain})),
        discovery(json!({"discovery": "router-solicitation"})),
        discovery(
            json!({"discovery": "router-advertisement", "hop_limit": 64, "managed": false, "other": true, "lifetime_s": 9,
            "reachable_ms": 1, "retransmit_ms": 2}),
        ),
        discovery(json!({"discovery": "neighbor-solicitation", "target": "2001:db8::1"})),
        discovery(
            json!({"discovery": "neighbor-advertisement", "router": true, "solicited": true, "replaces": true,
            "target": "2001:db8::1"}),
        ),
        discovery(json!({"discovery": "redirect", "target": "fe80::1", "destination": "2001:db8::1"})),
        icmp(
            "multicast-listener",
            json!({"listener": "query", "max_resp_ms": 40_000, "group": "ff3e::1",
            "v2": {"suppress": true, "robustness": 2, "interval_s": 125, "sources": ["2001:db8::1"]}}),
        ),
        icmp("multicast-listener", json!({"listener": "query", "max_resp_ms": 1_000, "group": "::"})),
        icmp("multicast-listener", json!({"listener": "report-v1", "group": "ff3e::1"})),
        icmp("multicast-listener", json!({"listener": "done", "group": "ff3e::1"})),
        icmp(
            "multicast-listener",
            json!({"listener": "report-v2", "records": [{"kind": "to-exclude", "group": "ff3e::1"},
            {"kind": "allow", "group": "ff3e::2", "sources": ["2001:db8::1"]}]}),
        ),
        json!({"layer": "udp", "src_port": 1, "dst_port": 2}),
    ];
    let headers = json!([
        {"header": "hop-by-hop", "options": [{"option": "router-alert", "value": 0}, {"option": "pad-n", "len": 0}]},
        {"header": "destination-options", "options": [{"option": "other", "kind": 30, "data": "010203"}, {"option": "pad1"}]},
        {"header": "other", "kind": 43, "data": "00fd0000000000"}, {"header": "fragment", "ident": 1, "offset": 0, "more": false},
    ]);
    let frame = |message: &Value, headers: &Value, label: Option<u32>| {
        let mut layers =
            vec![json!({"layer": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"})];
        layers.extend(label.map(|label| json!({"layer": "mpls", "stack": [{"label": label, "ttl": 9}]})));
        layers.push(json!({"layer": "ipv6", "src": "fe80::1", "dst": "ff02::1", "hop_limit": 255, "headers": headers}));
        layers.push(message.clone());
        let tree: tree::Tree = serde_json::from_value(Value::Array(layers)).expect("a tree");
        tree::encode(&tree).expect("a frame")
    };
    let bare = messages.iter().map(|message| frame(message, &json!([]), None));
    bare.chain([frame(&messages[0], &headers, None), frame(&messages[3], &json!([]), Some(2))]).collect()
}
