//! LSPs of several classes in one network (RFC 3270, 2.4 and 2.6): each with its own tunnelling model, packets of a
//! class whose LSP is gone, and what tshark says of the messages.

use crate::common::{MS, S, chain, column, conserved, network, run, said as words};
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use twinplane_tester::Testbed;

/// Label and EXP bits, if there is a label, and the code point.
type Seen = (Option<(u32, u8)>, u8);

/// What UDP packets with frames of `size` bytes, without their labels, looked like.
fn seen(capture: &[u8], size: u32) -> BTreeSet<Seen> {
    let mut all = BTreeSet::new();
    for packet in CaptureReader::new(capture).expect("a capture").map(|p| p.expect("a packet")) {
        let bytes = &packet.bytes;
        let word = u32::from_be_bytes(bytes[14..18].try_into().expect("four bytes"));
        let (label, at) = match u16::from_be_bytes([bytes[12], bytes[13]]) {
            0x8847 => (Some((word >> 12, (word >> 9 & 7) as u8)), 18),
            0x0800 => (None, 14),
            _ => continue,
        };
        let ip = &bytes[at..];
        if ip[9] == 17 && u32::from(u16::from_be_bytes([ip[2], ip[3]])) + 18 == size {
            all.insert((label, ip[1] >> 2));
        }
    }
    all
}

fn tap(network: &mut Testbed, link: usize) -> engine::CaptureId {
    let target = CaptureTarget::Link(network.link_id(link).expect("a link"));
    network.world_mut().capture(CaptureSpec::new(target, CaptureTo::Memory)).expect("a capture")
}

fn bytes_of(network: &mut Testbed, tap: engine::CaptureId) -> Vec<u8> {
    network.world_mut().finish_capture(tap).expect("a capture").bytes
}

/// A row of four routers between two hosts. The second router remarks EF, in an E-LSP, as CS6, and AF12, in an L-LSP,
/// as AF13.
fn row(node: &str, egress: &str, e_lsp: Option<&str>, l_lsp: Option<&str>) -> Value {
    let router = |n: usize| json!({"name": format!("r{n}"), "kind": "router", "rsvp": {"egress_label": egress}, "diffserv": {"model": node}});
    let mut nodes: Vec<Value> = (0..4).map(router).collect();
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let mut links = chain(4, 100_000_000, MS);
    let rule = |phb: &str, to: &str| json!({"name": phb, "phb": [phb], "green": format!("remark {to}")});
    links[0]["b_ingress"] = json!({"rules": [rule("EF", "CS6"), rule("AF12", "AF13")]});
    links.push(json!({"a": 4, "b": 0, "rate_bps": 100_000_000}));
    links.push(json!({"a": 3, "b": 5, "rate_bps": 100_000_000}));
    let flow = |name: &str, size: u32, dscp: u8| {
        json!({"name": name, "from": 4, "to": 5, "rate_bps": 400_000, "size": size, "dscp": dscp,
            "start_ps": 200 * MS, "stop_ps": 300 * MS})
    };
    json!({
        "nodes": nodes, "links": links,
        "lsps": [
            {"name": "all", "from": 0, "to": 3, "routes": [[1, 2, 3]], "carries": ["10.2.0.0/24"],
                "diffserv": {"kind": "e-lsp", "model": e_lsp}},
            {"name": "af1", "from": 0, "to": 3, "routes": [[1, 2, 3]], "carries": ["10.2.0.0/24"],
                "diffserv": {"kind": "l-lsp", "class": "AF11", "model": l_lsp}, "classes": ["AF11", "AF12", "AF13"]},
        ],
        "flows": [flow("ef", 200, 46), flow("af", 220, 12)],
    })
}

#[test]
fn each_lsp_has_the_model_that_it_was_given() {
    for egress in ["real", "implicit-null", "explicit-null"] {
        for (node, e_lsp, l_lsp) in [
            ("pipe", Some("uniform"), None),
            ("pipe", None, Some("uniform")),
            ("uniform", Some("pipe"), None),
            ("uniform", Some("short-pipe"), Some("pipe")),
            ("short-pipe", Some("uniform"), Some("uniform")),
            ("uniform", None, None),
        ] {
            let case = format!("{egress}, {node}, {e_lsp:?}, {l_lsp:?}");
            let mut network = network(row(node, egress, e_lsp, l_lsp));
            let taps = [2, 4].map(|link| tap(&mut network, link));
            run(&mut network, S);
            let (sent, received) = conserved(&mut network).expect("conservation");
            assert_eq!(sent, received, "{case}");
            let [last, out] = taps.map(|tap| bytes_of(&mut network, tap));
            let uniform = |own: Option<&str>| own.unwrap_or(node) == "uniform";
            // The marking of a uniform LSP comes out, whatever the other LSP is; that of a pipe stays in.
            let (ef, af) = (if uniform(e_lsp) { 48 } else { 46 }, if uniform(l_lsp) { 14 } else { 12 });
            assert_eq!(seen(&out, 200), BTreeSet::from([(None, ef)]), "{case}");
            assert_eq!(seen(&out, 220), BTreeSet::from([(None, af)]), "{case}");
            if egress == "implicit-null" {
                continue;
            }
            // EXP 6 is CS6 of the preconfigured mapping, EXP 3 the third drop precedence. Explicit null is for LSPs
            // that are as the egress takes all of them.
            let (ef, af) = (seen(&last, 200), seen(&last, 220));
            let null = egress == "explicit-null" && e_lsp.is_none_or(|own| own == node);
            assert!(
                ef.iter().all(
                    |(label, dscp)| *dscp == 46 && label.is_some_and(|(l, e)| e == 6 && (l == 0) == null)
                ),
                "{case}: {ef:?}"
            );
            assert!(
                af.iter().all(|(label, dscp)| *dscp == 12 && label.is_some_and(|(l, e)| e == 3 && l > 15)),
                "{case}: {af:?}"
            );
        }
    }
}

#[test]
fn a_model_where_nobody_knows_of_behaviours_is_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut described = row("pipe", "real", Some("uniform"), None);
        change(&mut described);
        crate::common::refusal(&described)
    };
    let said = refused(&|d| d["nodes"][3]["diffserv"] = Value::Null);
    assert!(
        said.contains("lsp 'all': it has a tunnelling model, and node 'r3', where it ends, has no"),
        "{said}"
    );
    let said = refused(&|d| d["lsps"][0]["diffserv"]["model"] = json!("unifrom"));
    assert!(said.contains("unifrom"), "{said}");
}

#[test]
fn lsps_that_take_what_they_have_no_place_for_are_warned_of() {
    let said = |change: &dyn Fn(&mut Value)| {
        let mut described = row("pipe", "real", None, None);
        change(&mut described);
        words(&network(described).warnings())
    };
    assert_eq!(said(&|_| {}), [""; 0]);
    let all = said(&|d| d["lsps"][1]["classes"] = Value::Null);
    assert_eq!(all.len(), 1);
    assert!(
        all[0]
            .starts_with("lsp 'af1': the L-LSP has a place for AF11, AF12, AF13 only, and takes all packets")
    );
    let some = said(&|d| d["lsps"][1]["classes"] = json!(["AF11", "EF", "CS1"]));
    assert!(some[0].ends_with("packets of CS1, EF of its 'classes' are dropped"), "{some:?}");
    let over = said(&|d| {
        let flow = |name: &str, dscp: u8| json!({"name": name, "from": 0, "to": 3, "over": 1, "rate_bps": 1000, "size": 200, "dscp": dscp});
        d["flows"] = json!([flow("good", 12), flow("bad", 46)]);
    });
    assert_eq!(over.len(), 1);
    assert!(
        over[0].starts_with(
            "flow 'bad': the L-LSP 'af1' has a place for AF11, AF12, AF13 only: its packets, which are EF"
        ),
        "{over:?}"
    );
    // One that is hidden by another.
    let hidden = said(&|d| {
        let mut again = d["lsps"][1].clone();
        again["name"] = json!("again");
        d["lsps"].as_array_mut().expect("LSPs").push(again);
    });
    assert_eq!(hidden.len(), 1);
    assert!(
        hidden[0].starts_with(
            "lsp 'again': it takes packets only while lsp 'af1' is down, which has the same 'carries'"
        ),
        "{hidden:?}"
    );
    // A mapping without default forwarding.
    let map =
        said(&|d| d["lsps"][0]["diffserv"]["map"] = json!(["EF", "EF", "EF", "EF", "EF", "EF", "EF", "CS6"]));
    assert!(map[0].starts_with("lsp 'all': the E-LSP has a place for EF, CS6 only"), "{map:?}");
}

#[test]
fn nodes_that_will_refuse_an_lsp_are_warned_of() {
    let said = |change: &dyn Fn(&mut Value)| {
        let mut described = diamond(false);
        change(&mut described);
        words(&network(described).warnings())
    };
    assert_eq!(said(&|_| {}), [""; 0]);
    let unknown = |name: &str| {
        format!(
            "lsp 'ef': node {name} has no 'diffserv', and refuses its DIFFSERV object as one of an unknown class"
        )
    };
    let nothing = |node: usize| move |d: &mut Value| d["nodes"][node]["diffserv"] = Value::Null;
    assert_eq!(said(&nothing(1)), [unknown("'r1' on its way")]);
    // Without a route of its own it takes that of the network, over r2; with a fallback both.
    let by_itself = said(&|d| {
        nothing(1)(d);
        d["lsps"][0]["routes"] = json!([]);
    });
    assert_eq!(by_itself, [""; 0]);
    let fallback = said(&|d| {
        nothing(2)(d);
        d["lsps"][0]["routes"] = json!([[1, 3], [2, 3]]);
        d["lsps"][1]["diffserv"] = json!({"kind": "e-lsp"});
    });
    assert_eq!(fallback, [unknown("'r2' on the way of its fallback")]);
    let loose = said(&|d| {
        nothing(2)(d);
        d["lsps"][0]["routes"] = json!([[3]]);
        d["lsps"][0]["loose"] = json!(true);
        d["lsps"].as_array_mut().expect("LSPs").pop();
    });
    assert_eq!(loose, [unknown("'r2' on its way")]);
    let few = said(&|d| {
        d["nodes"][3]["diffserv"] = json!({"supported": ["default", "EF", "AF11", "AF12"]});
        d["lsps"][0]["diffserv"] = json!({"kind": "l-lsp", "class": "AF11"});
        d["lsps"][0]["classes"] = json!(["AF11"]);
        d["lsps"][1]["diffserv"] = json!({"kind": "e-lsp", "signal": true});
    });
    let what = "does not support AF13 ('supported' of its 'diffserv'), and refuses it";
    assert_eq!(few, [format!("lsp 'ef': node 'r3', where it ends, {what}")]);
}

/// Two ways from r0 to r3: the L-LSP for EF takes the one over r1, the E-LSP, if there is one, that over r2, as routes
/// do.
fn diamond(all: bool) -> Value {
    let router = |n: usize| json!({"name": format!("r{n}"), "kind": "router", "diffserv": {}});
    let mut nodes: Vec<Value> = (0..4).map(router).collect();
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let link = |(a, b, metric): (usize, usize, u32)| json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS / 10, "metric": metric});
    let links = [(0, 1, 5), (1, 3, 5), (0, 2, 1), (2, 3, 1), (4, 0, 1), (3, 5, 1)].map(link);
    let mut lsps = vec![
        json!({"name": "ef", "from": 0, "to": 3, "routes": [[1, 3]], "carries": ["10.2.0.0/24"], "classes": ["EF"],
        "diffserv": {"kind": "l-lsp", "class": "EF"}, "retry_first_ps": 20 * MS, "retry_max_ps": 50 * MS}),
        json!({"name": "cs1", "from": 0, "to": 3, "routes": [[2, 3]], "carries": ["10.2.0.0/24"], "classes": ["CS1"],
        "diffserv": {"kind": "l-lsp", "class": "CS1"}}),
    ];
    if all {
        lsps.push(json!({"name": "all", "from": 0, "to": 3, "routes": [[2, 3]], "carries": ["10.2.0.0/24"],
            "diffserv": {"kind": "e-lsp", "signal": true}}));
    }
    let flow = |name: &str, size: u32, dscp: u8| {
        json!({"name": name, "from": 4, "to": 5, "rate_bps": 400_000, "size": size, "dscp": dscp, "start_ps": 200 * MS,
            "stop_ps": 800 * MS})
    };
    json!({"nodes": nodes, "links": links, "lsps": lsps, "flows": [flow("ef", 200, 46), flow("be", 210, 0), flow("cs1", 220, 8)]})
}

#[test]
fn packets_of_a_class_whose_lsp_is_gone_take_what_is_next() {
    for all in [true, false] {
        let mut network = network(diamond(all));
        // On links r1 - r3 and r2 - r3, before, during and after the failure.
        let phase = |network: &mut Testbed, until: u64| {
            let taps = [1, 3].map(|link| tap(network, link));
            run(network, until);
            taps.map(|tap| bytes_of(network, tap))
        };
        run(&mut network, 150 * MS);
        let [one, two] = phase(&mut network, 400 * MS);
        let exps = |bytes: &[u8], size| {
            seen(bytes, size).into_iter().map(|(l, _)| l.map(|l| l.1)).collect::<Vec<_>>()
        };
        assert_eq!(exps(&one, 200), [Some(0)], "an L-LSP of EF has EXP 0");
        assert_eq!(exps(&two, 220), [Some(0)]);
        let default = if all { Some(0) } else { None };
        assert_eq!(exps(&two, 210), [default]);
        network.set_link(1, false).expect("a link");
        run(&mut network, 420 * MS);
        let [_, two] = phase(&mut network, 500 * MS);
        // By the E-LSP for all, with its EXP bits; else by the route, without a label. The other class stays in its
        // LSP.
        let next = if all { Some(5) } else { None };
        assert_eq!(exps(&two, 200), [next], "{all}");
        assert_eq!((exps(&two, 210), exps(&two, 220)), (vec![default], vec![Some(0)]));
        network.set_link(1, true).expect("a link");
        run(&mut network, 600 * MS);
        let [one, two] = phase(&mut network, 800 * MS);
        assert_eq!((exps(&one, 200), exps(&two, 200)), (vec![Some(0)], vec![]), "back on its own");
        run(&mut network, 2 * S);
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert!(sent - received < 10, "{received} of {sent}: no more than the failure took");
    }
}

#[test]
fn tshark_reads_failures_errors_summaries_and_signatures() {
    let mut described = diamond(true);
    for node in 0..4 {
        described["nodes"][node]["rsvp"] = json!({"refresh_ps": 50 * MS, "refresh_reduction": true, "hello_ps": 20 * MS,
            "integrity_key": "a shared secret", "egress_label": "explicit-null"});
    }
    described["nodes"][1]["diffserv"] = json!({"supported": ["EF", "AF11", "default"]});
    let lsps = described["lsps"].as_array_mut().expect("a list");
    lsps.push(json!({"name": "cs2", "from": 0, "to": 3, "routes": [[1, 3]], "diffserv": {"kind": "l-lsp", "class": "CS2"}}));
    lsps.push(json!({"name": "af4", "from": 0, "to": 3, "routes": [[1, 3]],
        "diffserv": {"kind": "e-lsp", "map": ["default", "AF41", "AF42", "AF43", "default", "default", "default", "default"]}}));
    let strong = json!({"name": "strong", "from": 0, "to": 3, "routes": [[1, 3]], "bandwidth_bps": 90_000_000,
        "setup_priority": 1, "holding_priority": 1, "diffserv": {"kind": "l-lsp", "class": "EF"}, "auto": false});
    lsps.push(strong);
    lsps[0]["bandwidth_bps"] = json!(60_000_000);
    let mut network = network(described);
    let all = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let all = network.world_mut().capture(all).expect("a capture");
    run(&mut network, 300 * MS);
    network.set_link(3, false).expect("a link");
    run(&mut network, 400 * MS);
    network.set_link(3, true).expect("a link");
    network.lsp_command(5, "signal", None).expect("a group");
    run(&mut network, S);
    let errors: BTreeSet<(u8, u16)> = network
        .events()
        .iter()
        .filter_map(|record| match *record.event.of()? {
            control::rsvp::Event::LspError { code, value, .. } => Some((code, value)),
            _ => None,
        })
        .collect();
    assert!(errors.contains(&(27, 4)) && errors.contains(&(27, 2)), "{errors:?}");
    let up = column(&network.table_json("lsps", Some(3)).expect("a table"), "name");
    assert!(up.contains(&json!("strong")), "{up:?}");
    if !testing::available("tshark") {
        return;
    }
    let capture = bytes_of(&mut network, all);
    let path = std::env::temp_dir().join(format!("tester-diffserv-lsps-{}.pcapng", std::process::id()));
    std::fs::write(&path, capture).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=;"]);
    let fields =
        ["_ws.malformed", "_ws.expert.severity", "rsvp.msg", "rsvp.diffserv.phbid", "rsvp.error.error_code"];
    fields.iter().for_each(|field| {
        tshark.args(["-e", field]);
    });
    let output = tshark.output().expect("tshark runs");
    std::fs::remove_file(&path).expect("the file");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert!(rows.len() > 500);
    assert!(rows.iter().all(|row| row[0].is_empty()), "malformed");
    let severe = |row: &&Vec<&str>| row[1].split(',').any(|s| s.parse::<u32>().is_ok_and(|s| s >= 0x80_0000));
    assert_eq!(rows.iter().find(severe), None);
    let messages: BTreeSet<&str> = rows.iter().flat_map(|row| row[2].split(',')).collect();
    // Path, Resv, PathErr, ResvErr, Srefresh.
    assert!(["1", "2", "3", "4", "15"].iter().all(|kind| messages.contains(kind)), "{messages:?}");
    assert!(rows.iter().any(|row| row[3].split(',').count() == 8), "eight map entries");
    assert!(rows.iter().any(|row| row[4].split(',').any(|code| code == "27")), "a Diff-Serv error");
}
