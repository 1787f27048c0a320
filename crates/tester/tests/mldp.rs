//! Point-to-multipoint LSPs of LDP in whole networks: a group from a host to hosts behind leaves, while leaves join and
//! leave, links fail and routers restart.

use crate::common::named::{network, refusal};
use crate::common::{MS, S, column, conserved};
use crate::ldp::{agreeable, count, link, quick, with_ospf};
use base::{LinkId, NodeId, Span, Time};
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use twinplane_tester::Testbed;

const GROUP: &str = "239.1.1.1";
/// Nodes by their places, in the order of their names.
const NAMES: [&str; 11] = ["a", "b", "h0", "h1", "h2", "l0", "l1", "l2", "root", "s", "u"];

fn place(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).expect("a node")
}

/// A root with routers a and b behind it, which are joined; leaves l0 and l1 behind a, l2 behind b, each with a host
/// that has joined the group; a router u behind b that is no leaf. A host at the root sends to the group.
fn trees(ldp: &Value) -> Value {
    let mut router = with_ospf(ldp);
    router["igmp"] = json!(true);
    let host = |net: u8| json!({"kind": "host", "address": format!("10.{net}.0.2/24"), "join": [GROUP]});
    json!({
        "name": "trees",
        "nodes": {
            "a": router, "b": router, "h0": host(2), "h1": host(3), "h2": host(4),
            "l0": router, "l1": router, "l2": router, "root": router,
            "s": {"kind": "host", "address": "10.1.0.2/24"}, "u": router,
        },
        "links": [
            link("root", "a", 1), link("root", "b", 1), link("a", "b", 1), link("a", "l0", 1), link("a", "l1", 1),
            link("b", "l2", 1), link("b", "u", 1), link("s", "root", 1), link("l0", "h0", 1), link("l1", "h1", 1),
            link("l2", "h2", 1),
        ],
        "p2mp": [
            {"name": "tree", "root": "root", "leaves": ["l0", "l1", "l2"], "group": GROUP, "protocol": "ldp"},
        ],
        "flows": [{
            "name": "f", "from": "s", "to": "h0", "receivers": ["h1", "h2"], "group": GROUP,
            "rate": "800 kbit/s", "size": 500, "start": "20 s",
        }],
    })
}

/// Packets that receivers have got, and how many of them twice, by name.
fn received(network: &mut Testbed) -> BTreeMap<String, (u64, u64)> {
    let table = network.table_json("receivers", None).expect("a table");
    let [received, twice] = ["received", "duplicated"].map(|name| column(&table, name));
    let names = column(&table, "node").into_iter().map(|name| name.as_str().expect("a name").to_string());
    let counts =
        received.into_iter().zip(twice).map(|(a, b)| (a.as_u64().unwrap_or(0), b.as_u64().unwrap_or(0)));
    names.zip(counts).collect()
}

/// What receivers get of the packets between two times, in seconds, of which there are 200 in each; nobody gets one
/// twice.
fn between(network: &mut Testbed, from: u64, to: u64) -> [u64; 3] {
    // What is under way has arrived.
    network.run_until(Time(from * S + 50 * MS)).expect("a run");
    let before = received(network);
    network.run_until(Time(to * S + 50 * MS)).expect("a run");
    let after = received(network);
    ["h0", "h1", "h2"].map(|host| {
        assert_eq!(after[host].1, before[host].1, "{host} gets something twice");
        after[host].0 - before[host].0
    })
}

fn in_a_second(network: &mut Testbed, from: u64) -> [u64; 3] {
    between(network, from, from + 1)
}

fn roles(network: &mut Testbed) -> BTreeMap<String, String> {
    let table = network.table_json("ldp_p2mp_lsps", None).expect("a table");
    let text = |value: Value| value.as_str().unwrap_or_default().to_string();
    column(&table, "node").into_iter().map(text).zip(column(&table, "role").into_iter().map(text)).collect()
}

/// Each entry of a label is of a prefix or of an LSP that a router knows, and the other way round.
fn no_label_is_left(network: &mut Testbed) {
    let labels = |network: &mut Testbed, table: &str, name: &str| -> BTreeSet<(usize, u64)> {
        let routers = NAMES.iter().filter(|name| !["h0", "h1", "h2", "s"].contains(name));
        let mut all = BTreeSet::new();
        for node in routers.map(|name| place(name)) {
            let table = network.table_json(table, Some(node)).expect("a table");
            let labels = column(&table, name).into_iter().filter_map(|label| label.as_u64());
            all.extend(labels.filter(|label| *label > 15).map(|label| (node, label)));
        }
        all
    };
    let mut given = labels(network, "ldp_bindings", "label");
    given.extend(labels(network, "ldp_p2mp_lsps", "in_label"));
    assert_eq!(given, labels(network, "ilm", "label"));
}

#[test]
fn every_leaf_gets_every_packet_once() {
    let mut network = network(&trees(&quick()));
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(0)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    network.run_until(Time(20 * S)).expect("a run");
    let known = roles(&mut network);
    let role = |name: &str| known.get(name).map_or("", String::as_str);
    assert_eq!(
        ["root", "a", "b", "l0", "l1", "l2", "u"].map(role),
        ["root", "branch", "transit", "leaf", "leaf", "leaf", ""]
    );
    assert_eq!(count(&mut network, "ldp_p2mp_lsps", "state", "told"), 5);
    assert_eq!(count(&mut network, "ldp_p2mp_labels", "node", "root"), 2);
    assert_eq!(in_a_second(&mut network, 21), [200; 3]);
    no_label_is_left(&mut network);
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    agreeable(&bytes);
    // One copy for a crosses the link, and it has a label.
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    conserved(&mut network).expect("closed accounts");
}

/// Those that stay lose nothing while others join and leave; who has left gets no more.
#[test]
fn leaves_join_and_leave_while_packets_flow() {
    let mut network = network(&trees(&quick()));
    let set = |network: &mut Testbed, names: &[&str]| {
        let leaves = names.iter().map(|name| (place(name), Vec::new())).collect();
        network.set_leaves(0, leaves).expect("leaves");
    };
    network.run_until(Time(20 * S)).expect("a run");
    set(&mut network, &["l0"]);
    assert_eq!(in_a_second(&mut network, 21), [200, 0, 0]);
    set(&mut network, &["l0", "l2", "a"]);
    let got = in_a_second(&mut network, 22);
    assert!(got[0] == 200 && got[1] == 0 && (190..200).contains(&got[2]), "{got:?}");
    assert_eq!(roles(&mut network)["a"], "bud");
    set(&mut network, &["l1", "l2"]);
    let got = in_a_second(&mut network, 23);
    assert!(got[0] < 10 && (190..=200).contains(&got[1]) && got[2] == 200, "{got:?}");
    no_label_is_left(&mut network);
    set(&mut network, &["u"]);
    assert_eq!(in_a_second(&mut network, 25), [0, 0, 0]);
    no_label_is_left(&mut network);
    assert_eq!(roles(&mut network).len(), 3, "root, b and u");
    conserved(&mut network).expect("closed accounts");
}

/// Leaves behind a link that fails get packets by the other way when OSPF has found it, and by the first one again when
/// it is repaired; the others lose nothing.
#[test]
fn another_way_is_taken_when_a_link_fails() {
    let mut network = network(&trees(&quick()));
    network.run_until(Time(20 * S)).expect("a run");
    let fault = Fault::new(Time(22 * S + 500 * MS), FaultKind::LinkDown { link: LinkId(0) });
    let fault = fault.until(Time(30 * S));
    network.fault(fault).expect("a fault");
    assert_eq!(in_a_second(&mut network, 21)[2], 200);
    let failing = in_a_second(&mut network, 22);
    assert_eq!(failing[2], 200, "the leaf behind b does not notice");
    assert!((180..200).contains(&failing[0]) && failing[0] == failing[1], "{failing:?}");
    assert_eq!(in_a_second(&mut network, 24), [200; 3]);
    assert_eq!(roles(&mut network)["b"], "branch");
    no_label_is_left(&mut network);
    network.run_until(Time(50 * S)).expect("a run");
    assert_eq!(in_a_second(&mut network, 51), [200; 3]);
    assert_eq!(roles(&mut network)["b"], "transit");
    no_label_is_left(&mut network);
    conserved(&mut network).expect("closed accounts");
}

/// RFC 6388, 2.1: leaves behind a router that does not take part are told of nothing else; they get packets when it is
/// not on the way.
#[test]
fn a_router_that_does_not_take_part_is_not_asked() {
    let mut described = trees(&quick());
    described["nodes"]["a"]["ldp"]["p2mp"] = json!(false);
    let mut network = network(&described);
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(in_a_second(&mut network, 21), [0, 0, 200]);
    let known = roles(&mut network);
    assert_eq!(known.get("a"), None);
    assert_eq!((&*known["l0"], &*known["l2"]), ("leaf", "leaf"));
    no_label_is_left(&mut network);
}

/// What can be known before the run is said before it: leaves that no way leads to but by who does not take part.
#[test]
fn leaves_that_never_join_are_named_before_the_run() {
    let said = |silent: &[&str]| {
        let mut described = trees(&quick());
        for name in silent {
            described["nodes"][name]["ldp"]["p2mp"] = json!(false);
        }
        network(&described).warnings().iter().map(network::error::sentence).collect::<Vec<_>>()
    };
    assert_eq!(said(&[]), Vec::<String>::new());
    let never = |leaves: &str, routers: &str| {
        format!(
            "p2mp 'tree': leaves: no label gets from {leaves} to the root: every way leads by {routers}, without LDP, \
             with 'p2mp: false' in 'ldp', or over a link whose labels are channels of ATM ('lc_atm'), to which nobody \
             tells labels of trees"
        )
    };
    // There is a way to l2 by b.
    assert_eq!(said(&["a"]), [never("'l0' and 'l1'", "'a'")]);
    assert_eq!(said(&["a", "b"]), [never("'l0', 'l1' and 'l2'", "'a' and 'b'")]);
    assert_eq!(said(&["u"]), Vec::<String>::new());
    // Labels that are channels are given on demand to prefixes, and to no trees.
    let mut described = trees(&quick());
    for link in [0, 4] {
        described["links"][link]["medium"] = json!("atm");
    }
    let found: Vec<_> = network(&described).warnings().iter().map(network::error::sentence).collect();
    assert_eq!(found, [never("'l1'", "'l1'")], "by way of b packets get to a");
}

/// A router restarts, then LDP of it alone: sessions are lost, all of the tree behind it is gone, and it comes back.
#[test]
fn a_tree_comes_back_after_restarts() {
    for is_graceful in [false, true] {
        let mut settings = quick();
        settings["graceful_restart"] = json!(is_graceful);
        let mut network = network(&trees(&settings));
        network.run_until(Time(20 * S)).expect("a run");
        let kind = FaultKind::NodeRestart { node: NodeId(place("b") as u32), down_for: Span::from_secs(8) };
        network.fault(Fault::new(Time(21 * S), kind)).expect("a fault");
        assert_eq!(in_a_second(&mut network, 25), [200, 200, 0]);
        network.run_until(Time(60 * S)).expect("a run");
        assert_eq!(in_a_second(&mut network, 61), [200; 3]);
        network.restart_protocol(place("a"), "ldp", Span::from_secs(8)).expect("a restart");
        network.run_until(Time(110 * S)).expect("a run");
        assert_eq!(in_a_second(&mut network, 111), [200; 3]);
        // Labels of prefixes that were kept over the restart are confirmed after two minutes.
        network.run_until(Time(250 * S)).expect("a run");
        no_label_is_left(&mut network);
        conserved(&mut network).expect("closed accounts");
    }
}

#[test]
fn wrong_trees_are_refused_by_name() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut described = trees(&quick());
        change(&mut described);
        refusal(&described)
    };
    let tree = |key: &'static str, value: Value| with(&move |all| all["p2mp"][0][key] = value.clone());
    assert!(tree("bandwidth", json!("1 Mbit/s")).contains("'bandwidth' is of trees of RSVP-TE"));
    assert!(tree("routes", json!({"l0": ["a", "l0"]})).contains("'routes' is of trees of RSVP-TE"));
    let other =
        with(&|all| all["p2mp"][0] = json!({"name": "t", "root": "root", "leaves": ["l0"], "lsp_id": 3}));
    assert!(other.contains("'lsp_id' is of trees of LDP: say 'protocol: ldp', too"), "{other}");
    let silent = with(&|all| all["nodes"]["l1"]["ldp"] = json!({"p2mp": false}));
    assert!(silent.contains("'l1' takes no part in trees of LDP: say 'ldp' among its protocols"), "{silent}");
    let host = tree("leaves", json!(["h0"]));
    assert!(host.contains("'h0' is a host: an LSP ends at a router"), "{host}");
    let twice = with(&|all| {
        let more = json!({"name": "more", "root": "root", "leaves": ["l0"], "protocol": "ldp", "lsp_id": 1});
        all["p2mp"].as_array_mut().expect("trees").push(more);
    });
    assert!(twice.contains("lsp_id=1 is that of 'tree' of the same root, too"), "{twice}");
    let both = with(&|all| {
        let more = json!({"name": "more", "root": "a", "leaves": ["l0"], "group": "239.1.1.2"});
        all["p2mp"].as_array_mut().expect("trees").push(more);
    });
    assert!(both.contains("'l0' is an end of 'tree', too, which another protocol sets up"), "{both}");
}
