//! LDP in frames, to trees and back.

use crate::Hex;
use crate::ldp::{
    Addresses, AnyLabel, Body, Capabilities, Fec, FtSession, Hello, Initialization, LdpId, Message, Notice,
    P2mp, PORT, Status, VERSION, pdus,
};
use crate::tree::{Layer, Tree, decode, encode, summary};
use base::plane::IpPrefix;
use base::{Label, MacAddr};
use core::net::Ipv4Addr;
use proptest::prelude::{any, proptest};

const ID: LdpId = LdpId::platform(Ipv4Addr::new(192, 0, 2, 1));

/// A frame with bytes to LDP's port, by TCP or UDP.
fn frame(payload: &[u8], by: &str) -> Vec<u8> {
    let header = match by {
        "tcp" => r#""sequence": 1, "acknowledgment": 1, "flags": ["ACK"], "window": 100"#,
        _ => r#""length": null"#,
    };
    let json = format!(
        r#"[{{"layer": "ethernet", "src": "{0}", "dst": "{0}", "tags": []}},
            {{"layer": "ipv4", "src": "10.0.0.1", "dst": "10.0.0.2", "ttl": 64}},
            {{"layer": "{by}", "src_port": 40000, "dst_port": {PORT}, {header}}},
            {{"layer": "payload", "bytes": "{1}"}}]"#,
        MacAddr([2, 0, 0, 0, 0, 1]),
        Hex(payload.to_vec())
    );
    encode(&serde_json::from_str(&json).expect("layers")).expect("a frame")
}

/// Bytes of PDUs with these messages.
fn of(bodies: Vec<Body>) -> Vec<u8> {
    let messages: Vec<Message> =
        (1..).zip(bodies).map(|(id, body)| Message { id, body, unknown: vec![] }).collect();
    pdus(ID, &messages, 4096).concat()
}

/// The tree of a frame, which gives the frame again, also by way of JSON.
fn there_and_back(frame: &[u8]) -> Tree {
    let tree = decode(frame);
    assert_eq!(encode(&tree).expect("a frame"), frame, "{tree:?}");
    let json = serde_json::to_string(&tree).expect("JSON");
    let again: Tree = serde_json::from_str(&json).expect("layers");
    assert_eq!(encode(&again).expect("a frame"), frame, "{json}");
    tree
}

fn fec(prefix: &str) -> Fec {
    Fec::Prefix(prefix.parse::<IpPrefix>().expect("a prefix"))
}

/// A message of each type.
fn all() -> Vec<Body> {
    let label = AnyLabel::Generic(Label::new(16).expect("a label"));
    let hello = Hello {
        hold_s: 15,
        is_targeted: true,
        wants_targeted: true,
        gtsm: true,
        transport: Some(Ipv4Addr::new(192, 0, 2, 1)),
        transport6: Some("2001:db8::1".parse().expect("an address")),
        configuration: Some(7),
    };
    let initialization = Initialization {
        version: VERSION,
        keepalive_s: 180,
        on_demand: true,
        loop_detection: true,
        path_limit: 32,
        max_pdu: 4096,
        receiver: LdpId::platform(Ipv4Addr::new(192, 0, 2, 2)),
        atm: None,
        frame_relay: None,
        restart: Some(FtSession { learns: true, reconnect_ms: 120_000, recovery_ms: 0 }),
        capabilities: Capabilities { dynamic: Some(true), p2mp: Some(true), ..Capabilities::default() },
    };
    let tree = Fec::P2mp(P2mp::generic(Ipv4Addr::new(192, 0, 2, 9).into(), 5));
    let path = Some(vec![Ipv4Addr::new(192, 0, 2, 3)]);
    vec![
        Body::notify(Notice::new(Status::LoopDetected)),
        Body::end_of_lib(Fec::AllPrefixes(1)),
        Body::Hello(hello),
        Body::Initialization(initialization),
        Body::Capability(Capabilities { p2mp: Some(false), ..Capabilities::default() }),
        Body::KeepAlive,
        Body::Address(Addresses::V4(vec![Ipv4Addr::new(10, 0, 0, 1)])),
        Body::AddressWithdraw(Addresses::V6(vec!["2001:db8::1".parse().expect("an address")])),
        Body::Mapping {
            fecs: vec![fec("10.1.0.0/16")],
            label,
            request: Some(3),
            hops: Some(2),
            path: path.clone(),
        },
        Body::Mapping {
            fecs: vec![tree],
            label: AnyLabel::Atm(5 << 16 | 40),
            request: None,
            hops: None,
            path: None,
        },
        Body::Request { fec: fec("2001:db8::/32"), hops: Some(1), path },
        Body::Withdraw { fec: Fec::Wildcard, label: None },
        Body::Release { fec: Fec::AllP2mp(1), label: Some(label), notice: None },
        Body::Abort { fec: fec("10.1.0.0/16"), request: 3 },
    ]
}

#[test]
fn messages_are_read_by_name_and_written_again() {
    for by in ["tcp", "udp"] {
        for body in all() {
            let frame = frame(&of(vec![body]), by);
            let tree = there_and_back(&frame);
            assert!(matches!(tree.layers.last(), Some(Layer::Ldp(_))), "{tree:?}");
        }
        there_and_back(&frame(&of(all()), by));
    }
}

#[test]
fn a_line_says_what_is_bound_to_what() {
    let mapping = all().into_iter().find(|body| matches!(body, Body::Mapping { .. })).expect("a mapping");
    let bytes = of(vec![Body::KeepAlive, mapping, Body::notify(Notice::new(Status::Shutdown))]);
    let line = summary(&decode(&frame(&bytes, "tcp")));
    let end = "LDP 192.0.2.1:0 KeepAlive, Label Mapping 10.1.0.0/16 label 16 hops 2, Notification: Shutdown";
    assert!(line.ends_with(end), "{line}");
}

#[test]
fn pieces_of_a_stream_stay_bytes() {
    let bytes = of(vec![Body::KeepAlive, Body::Address(Addresses::V4(vec![Ipv4Addr::new(10, 0, 0, 1)]))]);
    for end in 0..bytes.len() {
        there_and_back(&frame(&bytes[..end], "tcp"));
        there_and_back(&frame(&bytes[end..], "tcp"));
    }
}

#[test]
fn what_is_malformed_is_named_with_its_place() {
    let mut bytes = of(vec![Body::KeepAlive]);
    bytes.extend(of(vec![Body::Withdraw { fec: fec("10.1.0.0/16"), label: None }]));
    // The parameter of the second PDU says that it is longer than its message.
    let at = of(vec![Body::KeepAlive]).len() + 10 + 8 + 3;
    bytes[at] = 200;
    let tree = there_and_back(&frame(&bytes, "tcp"));
    let named = tree.layers.iter().find_map(|layer| match layer {
        Layer::Malformed { of, offset, reason } => Some((of.as_str(), *offset, reason.as_str())),
        _ => None,
    });
    // 14, 20 and 20 bytes of headers are in front, and three of the length are behind the parameter's beginning.
    let place = 54 + at - 3;
    assert_eq!(named, Some(("ldp", place, "a parameter beyond its message")), "{tree:?}");
}

#[test]
fn values_without_sense_stay_as_they_are() {
    // A label of 21 bits, addresses of no family, a prefix of 33 bits.
    for parameter in ["0200000400100000", "01010002ffff", "010000090200012100000000ff"] {
        let parameter = parameter.parse::<Hex>().expect("bytes").0;
        let mut bytes = of(vec![Body::KeepAlive]);
        let added = u8::try_from(parameter.len()).expect("short");
        bytes[3] += added;
        bytes[13] += added;
        bytes.extend(parameter);
        let tree = there_and_back(&frame(&bytes, "tcp"));
        assert!(format!("{tree:?}").contains("Other"), "{tree:?}");
    }
}

#[test]
fn what_cannot_be_written_is_refused_in_a_sentence() {
    for (message, says) in [
        (
            r#"{"message": "Hallo", "id": 1, "parameters": []}"#,
            "a message has a name of RFC 5036, 3.7, or a number",
        ),
        (
            r#"{"message": "Address", "id": 1, "parameters":
                [{"parameter": "address-list", "addresses": ["10.0.0.1", "::1"]}]}"#,
            "the addresses of a list are of one family",
        ),
        (
            r#"{"message": "Label Release", "id": 1, "parameters":
                [{"parameter": "generic-label", "label": 1048576}]}"#,
            "label",
        ),
    ] {
        let json =
            format!(r#"[{{"layer": "ldp", "pdus": [{{"router": "192.0.2.1", "messages": [{message}]}}]}}]"#);
        let tree: Tree = serde_json::from_str(&json).expect("layers");
        let error = encode(&tree).expect_err("an error").to_string();
        assert!(error.contains(says), "{error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..80), whole in any::<bool>()) {
        let mut bytes = bytes;
        if whole && bytes.len() >= 4 {
            let len = u8::try_from(bytes.len() - 4).unwrap_or(0);
            bytes[..4].copy_from_slice(&[0, 1, 0, len]);
        }
        there_and_back(&frame(&bytes, "tcp"));
        there_and_back(&frame(&bytes, "udp"));
    }
}
