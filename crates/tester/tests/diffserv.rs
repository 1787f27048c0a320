//! DiffServ over MPLS through a whole network (RFC 3270): code points, EXP bits and labels at every hop, for every
//! tunnelling model, with and without penultimate-hop popping; and what tshark says of it.

use crate::common::{MS, S, chain, column, conserved, network, run};
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use twinplane_tester::Testbed;

const OWN_MAP: [&str; 8] = ["CS6", "default", "EF", "AF41", "AF42", "AF43", "CS4", "CS5"];
const PRECONFIGURED: [&str; 8] = ["default", "AF11", "AF12", "AF21", "AF31", "EF", "CS6", "CS7"];

/// Flows by the length of their frames: the behaviours that they are marked with, that the ingress makes of it, and
/// that the second router does.
const FLOWS: [(u32, &str, u8, &str, &str); 5] = [
    (200, "EF", 46, "EF", "CS6"),
    (210, "AF11", 10, "AF11", "AF11"),
    (220, "AF12", 12, "AF12", "AF12"),
    (230, "CS1", 8, "AF13", "AF13"),
    (240, "default", 0, "default", "default"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    model: &'static str,
    egress: &'static str,
    /// The mapping of the E-LSP is signalled.
    signalled: bool,
}

/// Two hosts and four routers. An E-LSP takes all that no other takes; an L-LSP takes class AF1.
fn described(case: Case) -> Value {
    let router = |n: usize| {
        json!({"name": format!("r{n}"), "kind": "router", "rsvp": {"egress_label": case.egress},
            "diffserv": {"model": case.model}})
    };
    let mut nodes: Vec<Value> = (0..4).map(router).collect();
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let mut links = chain(4, 100_000_000, MS);
    let remark = |phb: &str, to: &str| json!({"rules": [{"name": "remark", "phb": [phb], "green": format!("remark {to}")}]});
    links[0]["b_ingress"] = remark("EF", "CS6");
    links.push(json!({"a": 4, "b": 0, "rate_bps": 100_000_000, "b_ingress": remark("CS1", "AF13")}));
    let behaviours = ["EF", "CS6", "default"];
    let bands: serde_json::Map<String, Value> =
        behaviours.iter().chain(&["rest"]).map(|name| (name.to_string(), json!({}))).collect();
    let filters: Vec<Value> = behaviours.iter().map(|phb| json!({"phb": [phb], "class": phb})).collect();
    let queue =
        json!({"root": {"discipline": "prio", "classes": bands, "filters": filters, "default": "rest"}});
    links.push(json!({"a": 3, "b": 5, "rate_bps": 100_000_000, "a_queue": queue}));
    let map = if case.signalled { json!(OWN_MAP) } else { Value::Null };
    let flow = |(size, name, dscp, ..): &(u32, &str, u8, &str, &str)| {
        json!({"name": name, "from": 4, "to": 5, "rate_bps": 400_000, "size": size, "dscp": dscp,
            "start_ps": 200 * MS, "stop_ps": 300 * MS})
    };
    json!({
        "nodes": nodes, "links": links,
        "lsps": [
            {"name": "all", "from": 0, "to": 3, "routes": [[1, 2, 3]], "carries": ["10.2.0.0/24"],
                "diffserv": {"kind": "e-lsp", "map": map}},
            {"name": "af1", "from": 0, "to": 3, "routes": [[1, 2, 3]], "carries": ["10.2.0.0/24"],
                "diffserv": {"kind": "l-lsp", "class": "AF11"}, "classes": ["AF11", "AF12", "AF13"]},
        ],
        "flows": FLOWS.iter().map(flow).collect::<Vec<_>>(),
    })
}

/// What a test packet looked like on a link: label and EXP bits if there is a label, and its code point.
type Seen = (Option<(u32, u8)>, u8);

/// What the packets of each flow looked like on a link, by the length of their frames.
type OnLink = BTreeMap<u32, BTreeSet<Seen>>;

/// The packets of each flow on a link, by the length of their frames.
fn seen(capture: &[u8]) -> OnLink {
    let mut all = OnLink::new();
    for packet in CaptureReader::new(capture).expect("a capture").map(|p| p.expect("a packet")) {
        let bytes = &packet.bytes;
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let (label, at) = match u16::from_be_bytes([bytes[12], bytes[13]]) {
            0x8847 => {
                assert_eq!(word(14) >> 8 & 1, 1, "one label");
                (Some((word(14) >> 12, (word(14) >> 9 & 7) as u8)), 18)
            }
            0x0800 => (None, 14),
            _ => continue,
        };
        let ip = &bytes[at..];
        if ip[9] != 17 {
            continue;
        }
        assert_eq!(wire::checksum::sum(&ip[..20]), 0xffff, "a sound header");
        let size = u32::from(u16::from_be_bytes([ip[2], ip[3]])) + 18;
        all.entry(size).or_default().insert((label, ip[1] >> 2));
    }
    all
}

fn dscp(phb: &str) -> u8 {
    phb.parse::<base::Phb>().expect("a behaviour").code()
}

/// Runs a case and gives what was seen on the links in the order of the way, beside the network.
fn go(case: Case) -> (Testbed, Vec<OnLink>, Vec<u8>) {
    let mut network = network(described(case));
    let way = [3, 0, 1, 2, 4];
    let taps: Vec<_> = way
        .iter()
        .map(|&link| {
            let target = CaptureTarget::Link(network.link_id(link).expect("a link"));
            network.world_mut().capture(CaptureSpec::new(target, CaptureTo::Memory)).expect("a capture")
        })
        .collect();
    let all = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let all = network.world_mut().capture(all).expect("a capture");
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent > 100 && sent - received <= 5, "{received} of {sent}");
    let mut finish = |tap| network.world_mut().finish_capture(tap).expect("a capture").bytes;
    let links = taps.into_iter().map(|tap| seen(&finish(tap))).collect();
    let all = finish(all);
    (network, links, all)
}

fn check(case: Case) {
    let (mut network, links, _) = go(case);
    let map = if case.signalled { OWN_MAP } else { PRECONFIGURED };
    let exp = |phb: &str| map.iter().position(|p| *p == phb).expect("mapped") as u8;
    for (size, name, marked, ingress, second) in FLOWS {
        let on = |hop: usize| -> Vec<Seen> { links[hop][&size].iter().copied().collect() };
        let precedence = ingress.strip_prefix("AF1").map(|digit| digit.parse::<u8>().expect("a digit"));
        let tc_of = |phb: &str| precedence.unwrap_or_else(|| exp(phb));
        // What leaves a uniform LSP is marked as the LSP was.
        let inside = dscp(ingress);
        let outside = if case.model == "uniform" { dscp(second) } else { inside };
        assert_eq!(on(0), [(None, marked)], "{case:?} {name}: from the host");
        let first = on(1);
        assert!(
            matches!(first[..], [(Some((label, e)), d)] if label > 15 && e == tc_of(ingress) && d == inside),
            "{case:?} {name}: {first:?}"
        );
        let swapped = on(2);
        assert!(
            matches!(swapped[..], [(Some((label, e)), d)] if label > 15 && e == tc_of(second) && d == inside),
            "{case:?} {name}: {swapped:?}"
        );
        let last = on(3);
        // A label of its own tells what EXP bits mean where that is not the same for all LSPs.
        let shared = precedence.is_none() && !case.signalled;
        let label = |label: u32, e: u8| {
            e == tc_of(second) && (label == 0) == (case.egress == "explicit-null" && shared)
        };
        assert!(
            match (case.egress, &last[..]) {
                ("implicit-null", [(None, d)]) => *d == outside,
                (_, [(Some((value, e)), d)]) => label(*value, *e) && *d == inside,
                _ => false,
            },
            "{case:?} {name}: {last:?}"
        );
        assert_eq!(on(4), [(None, outside)], "{case:?} {name}: to the host");
    }
    // How the egress treated them: by the LSP's marking in the pipe model, if it arrived; else by the code point that
    // leaves.
    let by_lsp = case.model == "uniform" || case.model == "pipe" && case.egress != "implicit-null";
    let queues = network.table_json("queues", Some(3)).expect("a table");
    let paths = column(&queues, "path");
    let given = column(&queues, "given_packets");
    let packets = |band: &str| {
        let at = paths.iter().position(|p| p.as_str().is_some_and(|p| p.ends_with(&format!("/{band}"))));
        given[at.expect("a band")].as_u64().expect("a number")
    };
    let (ef, cs6) = (packets("EF"), packets("CS6"));
    assert!(if by_lsp { ef == 0 && cs6 > 20 } else { ef > 20 && cs6 == 0 }, "{case:?}: EF {ef}, CS6 {cs6}");
    assert!(packets("rest") > 60 && packets("default") > 10);
}

#[test]
fn every_model_marks_every_hop_as_configured() {
    for model in ["pipe", "short-pipe", "uniform"] {
        for egress in ["real", "implicit-null", "explicit-null"] {
            for signalled in [false, true] {
                check(Case { model, egress, signalled });
            }
        }
    }
}

#[test]
fn tables_say_what_entries_do_with_classes() {
    let (mut network, ..) = go(Case { model: "uniform", egress: "real", signalled: true });
    let mut texts = |table: &str, node, name: &str| {
        let table = network.table_json(table, node).expect("a table");
        column(&table, name).iter().map(|v| v.as_str().map(str::to_string)).collect::<Vec<_>>()
    };
    let e_lsp = format!("uniform E-LSP {}", OWN_MAP.join(" "));
    let l_lsp = "uniform L-LSP AF1".to_string();
    for node in 1..4 {
        let mut classes = texts("ilm", Some(node), "tc");
        classes.sort();
        assert_eq!(classes, [Some(e_lsp.clone()), Some(l_lsp.clone())]);
    }
    let map: Vec<String> = OWN_MAP.iter().enumerate().map(|(exp, phb)| format!("{exp}={phb}")).collect();
    let signalled = texts("lsps", Some(1), "diffserv");
    assert!(signalled.contains(&Some(format!("E-LSP {}", map.join(" ")))), "{signalled:?}");
    assert!(signalled.contains(&Some("L-LSP set AF11".into())), "{signalled:?}");
    let ftn = network.table_json("ftn", Some(0)).expect("a table");
    let classed: Vec<Value> = column(&ftn, "classes").into_iter().filter(|v| !v.is_null()).collect();
    assert_eq!(classed, [json!(["AF11", "AF12", "AF13"])]);
}

#[test]
fn tshark_finds_nothing_malformed() {
    if !testing::available("tshark") {
        return;
    }
    let (_, _, capture) = go(Case { model: "pipe", egress: "real", signalled: true });
    let path = std::env::temp_dir().join(format!("tester-diffserv-{}.pcapng", std::process::id()));
    std::fs::write(&path, capture).expect("a file");
    let fields = [
        "_ws.malformed",
        "_ws.expert.severity",
        "rsvp.diffserv.mapnb",
        "rsvp.diffserv.phbid",
        "mpls.exp",
        "ip.dsfield.dscp",
    ];
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=;"]);
    fields.iter().for_each(|field| {
        tshark.args(["-e", field]);
    });
    let output = tshark.output().expect("tshark runs");
    std::fs::remove_file(&path).expect("the file");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert!(rows.len() > 500);
    assert!(rows.iter().all(|row| row[0].is_empty()), "malformed");
    // The worst that an expert has to say is a warning (0x600000); chats and notes are none.
    let severe = |row: &&Vec<&str>| row[1].split(',').any(|s| s.parse::<u32>().is_ok_and(|s| s >= 0x60_0000));
    assert_eq!(rows.iter().filter(severe).count(), 0);
    assert!(
        rows.iter().any(|row| row[2] == "8" && row[3].split(',').count() == 8),
        "a DIFFSERV object with eight entries"
    );
    // EF, made CS6 by the second router: EXP 2, then 0.
    let ef = rows.iter().filter(|row| row[5] == "46" && !row[4].is_empty());
    let bits: BTreeSet<&str> = ef.map(|row| row[4]).collect();
    assert_eq!(bits.into_iter().collect::<Vec<_>>(), ["0", "2"]);
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut described = described(Case { model: "pipe", egress: "real", signalled: false });
    change(&mut described);
    crate::common::refusal(&described)
}

#[test]
fn what_makes_no_sense_is_refused() {
    let said = refusal(|d| d["nodes"][0]["diffserv"] = Value::Null);
    assert!(said.contains("lsp 'all': node 'r0' has no 'diffserv'"), "{said}");
    let said = refusal(|d| d["nodes"][0]["diffserv"]["supported"] = json!(["EF", "default"]));
    assert!(said.contains("does not support") && said.contains("AF12"), "{said}");
    let said = refusal(|d| d["lsps"][1]["classes"] = json!([]));
    assert!(said.contains("the list is empty: at least one per-hop behaviour is needed"), "{said}");
    let said = refusal(|d| d["lsps"][1]["carries"] = json!([]));
    assert!(said.contains("carries: the list is empty: at least one element is needed"), "{said}");
    let said = refusal(|d| d["lsps"][1]["diffserv"]["class"] = json!("AF9"));
    assert!(said.contains("class: 'AF9' is not one scheduling class"), "{said}");
    let said = refusal(|d| d["nodes"][4]["diffserv"] = json!({}));
    assert!(said.contains("node 'left'"), "{said}");
}

#[test]
fn a_router_without_diffserv_refuses_what_is_signalled() {
    let mut described = described(Case { model: "pipe", egress: "real", signalled: false });
    described["nodes"][2]["diffserv"] = Value::Null;
    let mut network = network(described);
    run(&mut network, S);
    let refused: Vec<(u8, u16)> = network
        .events()
        .iter()
        .filter_map(|record| match *record.event.of()? {
            control::rsvp::Event::LspError { code, value, .. } => Some((code, value)),
            _ => None,
        })
        .collect();
    // Unknown Object Class, DIFFSERV, C-Type 2: that of the L-LSP; nothing is signalled for the other one.
    assert!(!refused.is_empty() && refused.iter().all(|error| *error == (13, 0x4102)), "{refused:?}");
    let up = column(&network.table_json("lsps", Some(1)).expect("a table"), "name");
    assert_eq!(up, [json!("all")]);
}
