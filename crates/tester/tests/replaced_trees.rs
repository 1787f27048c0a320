//! Trees that take the place of others (RFC 4875, 14.1) in whole networks, with 10,000 packets a second: what is lost,
//! and what comes twice.

use crate::common::{MS, S, column, conserved};
use base::Time;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// From `root` to `l0` and `l1` by `p` or by `q`, which `a_us` and `b_us` are the delays of; `l2` is at the root's side
/// of both. Each link has 100 Mbit/s.
fn network(a_us: u64, b_us: u64, write_us: f64) -> Testbed {
    let router = json!({
        "kind": "router", "igmp": true, "rsvp": {}, "ospf": {}, "profile": {"tables": {"write_us": write_us}},
    });
    let host =
        |net: u8| json!({"kind": "host", "address": format!("10.{net}.0.2/24"), "join": ["239.1.1.1"]});
    let link = |a: &str, b: &str, us: u64| json!({"endpoints": [a, b], "rate": "100 Mbit/s", "delay": format!("{us} us")});
    let edge = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let described = json!({
        "name": "replaced",
        "nodes": {
            "h0": host(2), "h1": host(3), "h2": host(4), "l0": router, "l1": router, "l2": router,
            "m": router, "p": router, "q": router, "root": router, "s": {"kind": "host", "address": "10.1.0.2/24"},
        },
        "links": [link("root", "p", a_us), link("root", "q", b_us), link("p", "m", a_us), link("q", "m", b_us),
            link("m", "l0", 50), link("m", "l1", 50), link("root", "l2", 50), edge("s", "root"), edge("l0", "h0"),
            edge("l1", "h1"), edge("l2", "h2")],
        "p2mp": [tree("p", "p", "60 Mbit/s")],
        "flows": [{"name": "f", "from": "s", "to": "h0", "receivers": ["h1", "h2"], "group": "239.1.1.1",
            "rate": "8 Mbit/s", "size": 100, "start": "1 s", "stop": "9 s"}],
    });
    let value = serde_json::from_value(described).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

/// The tree with the ways to `l0` and `l1` by these.
fn tree(l0: &str, l1: &str, bandwidth: &str) -> Value {
    json!({"name": "t", "root": "root", "leaves": ["l0", "l1", "l2"], "group": "239.1.1.1", "bandwidth": bandwidth,
        "routes": {"l0": [l0, "m", "l0"], "l1": [l1, "m", "l1"], "l2": ["l2"]}})
}

fn change(network: &mut Testbed, said: Value) {
    let value = serde_json::from_value(said).expect("a value");
    let spec = network.read_p2mp(&value).expect("a tree");
    network.change_p2mp(0, spec).expect("a change");
}

/// Of each receiver: packets that it has got, how many of them twice, and out of order.
fn received(network: &mut Testbed) -> BTreeMap<String, [u64; 3]> {
    let table = network.table_json("receivers", None).expect("a table");
    let counts = |name| -> Vec<u64> {
        column(&table, name).into_iter().map(|cell| cell.as_u64().unwrap_or(0)).collect()
    };
    let names = column(&table, "node").into_iter().map(|cell| cell.as_str().expect("a name").to_string());
    let [all, twice, disordered] = ["received", "duplicated", "reordered"].map(counts);
    let counts = all.into_iter().zip(twice).zip(disordered).map(|((a, b), c)| [a, b, c]);
    names.zip(counts).collect()
}

fn lsps(network: &mut Testbed, node: &str) -> usize {
    let table = network.table_json("p2mp_lsps", None).expect("a table");
    column(&table, "node").iter().filter(|cell| **cell == json!(node)).count()
}

/// Bandwidth goes up and down, and the way changes there and back; then what does not fit is asked for. Nobody loses a
/// packet or gets one twice; where the new way is the shorter one, some come out of order.
#[test]
fn nobody_loses_a_packet_or_gets_it_twice() {
    for (a_us, b_us, write_us) in [(100, 100, 0.0), (100, 5_000, 1_000.0)] {
        let mut network = network(a_us, b_us, write_us);
        let steps = [
            ("p", "80 Mbit/s"),
            ("q", "80 Mbit/s"),
            ("q", "30 Mbit/s"),
            ("p", "60 Mbit/s"),
            ("p", "101 Mbit/s"),
        ];
        for (step, (by, bandwidth)) in steps.into_iter().enumerate() {
            let at = (1_500 + 1_500 * step as u64) * MS;
            network.run_until(Time(at)).expect("a run");
            change(&mut network, tree(by, by, bandwidth));
            network.run_until(Time(at + 500 * MS)).expect("a run");
            assert_eq!(lsps(&mut network, "m"), if step < 4 { 2 } else { 1 }, "both are there");
        }
        network.run_until(Time(10 * S)).expect("a run");
        assert_eq!((lsps(&mut network, "m"), lsps(&mut network, "root")), (1, 1));
        let got = received(&mut network);
        // From the slower way to the faster one: as many as leave in the difference of the delays, to `l0` and `l1`.
        let overtaking = a_us.abs_diff(b_us) * 2 / 100;
        for host in ["h0", "h1", "h2"] {
            let [all, twice, disordered] = got[host];
            assert_eq!((all, twice), (80_000, 0), "{host}, {a_us} us, {b_us} us");
            let most = if host == "h2" { 0 } else { overtaking };
            assert!(disordered <= most, "{host}: {disordered} of {most}");
            assert!(host == "h2" || disordered + 2 >= most, "{host}: {disordered} of {most}");
        }
        let events =
            serde_json::to_string(&network.table_json("events", None).expect("a table")).expect("text");
        assert_eq!(events.matches("tree-rerouted").count(), 4);
        assert!(events.contains("tree-stays"), "the event says why");
        conserved(&mut network).expect("closed accounts");
    }
}
