//! LSPs that LSP ping watches alone (RFC 8029), and those of BFD that it finds to end somewhere else (RFC 5884, 4):
//! what their protocols do then is the same as where BFD does not hear their end.

use crate::common::named::{network, refusal};
use crate::common::{MS, S, column, conserved, sum};
use base::{NodeId, Span, Time};
use control::lsp_ping::Event;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

const A: u32 = 0;
const B: usize = 1;
const C: usize = 2;
/// A label that no router has given.
const NOWHERE: u32 = 999_999;
const FAILS: u64 = 25 * S;

fn link(a: &str, b: &str) -> Value {
    let rate = "1 Gbit/s";
    json!({"endpoints": [a, b], "rate": rate, "delay": "10 us", "reservable": rate})
}

/// From `a` to `d` by `b`, or else by `c`; an LSP with what is said of it, and a packet on it each millisecond.
fn two_ways(lsp: &Value) -> Value {
    let router = json!({"kind": "router"});
    let mut east =
        json!({"name": "east", "from": "a", "to": "d", "route": ["b", "d"], "fallback": ["c", "d"]});
    east.as_object_mut().expect("a mapping").extend(lsp.as_object().cloned().unwrap_or_default());
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router},
        "links": [link("a", "b"), link("b", "d"), link("a", "c"), link("c", "d")],
        "lsps": [east, {"name": "other", "from": "a", "to": "d", "route": ["b", "d"]}],
        "flows": [{"name": "on", "from": "a", "to": "d", "over": "east", "rate": "4 Mbit/s", "size": 500,
            "start": "20 s"}],
    })
}

fn table(network: &mut Testbed, name: &str, node: u32) -> Value {
    network.table_json(name, Some(node as usize)).expect("a table")
}

/// The labels by which an LSP comes to and leaves a router.
fn labels(network: &mut Testbed, node: usize, lsp: &str) -> (u32, Option<u32>) {
    let table = table(network, "lsps", node as u32);
    let place =
        column(&table, "name").iter().position(|name| name.as_str().is_some_and(|name| name.contains(lsp)));
    let place = place.unwrap_or_else(|| panic!("{lsp}: {table}"));
    let label = |name: &str| column(&table, name)[place].as_u64().map(|label| label as u32);
    (label("in_label").expect("a label"), label("out_label"))
}

/// What LSP ping has told at the head end: when, and why an LSP is down; nothing where it is up.
fn told(network: &mut Testbed) -> Vec<(u64, Option<&'static str>)> {
    let of = |event: &base::Event| match event.of() {
        Some(Event::LspPingUp { .. }) => Some(None),
        Some(Event::LspPingDown { why, .. }) => Some(Some(*why)),
        _ => None,
    };
    let own = network.events().iter().filter(|record| record.node == NodeId(A));
    own.filter_map(|record| Some((record.at.0, of(&record.event)?))).collect()
}

fn verified(network: &mut Testbed, name: &str) -> Vec<Value> {
    column(&table(network, "lsp_verifications", A), name)
}

/// Requests go each 100 ms. The first one that is lost is sent within an interval, and the third one is given up with
/// the next: after 300 to 400 ms.
#[test]
fn a_label_that_leads_nowhere_is_found_by_missing_replies() {
    let mut network = network(&two_ways(&json!({"lsp_ping": {"interval": "100 ms", "misses": 3}})));
    network.run_until(Time(FAILS)).expect("a run");
    assert_eq!(
        (verified(&mut network, "standing"), verified(&mut network, "code")),
        (vec![json!("sound")], vec![json!(3)])
    );
    assert_eq!(verified(&mut network, "unanswered"), [0]);
    assert!(column(&table(&mut network, "bfd_sessions", A), "state").is_empty(), "nobody speaks BFD");
    let up = told(&mut network);
    assert_eq!(up.len(), 1, "{up:?}");
    let label = labels(&mut network, B, "east").0;
    network.break_label(B, label, None).expect("an entry");
    network.run_until(Time(FAILS + 2 * S)).expect("a run");
    let down = told(&mut network)[1];
    assert_eq!(down.1, Some("no reply"));
    let took = down.0 - FAILS;
    assert!((300 * MS..=400 * MS).contains(&took), "{took}");
    // The rhythm is that of the first request, whose reply came within a millisecond.
    assert!((up[0].0 - down.0 % (100 * MS)) % (100 * MS) < MS, "{up:?} {down:?}");
    let gone = sum(&table_of_flows(&mut network), "lost");
    assert!((took / MS..=took / MS + 5).contains(&gone), "{gone} packets, until the other way is there");
    conserved(&mut network).expect("closed accounts");
    labels(&mut network, C, "east");
    assert_eq!(verified(&mut network, "standing"), ["sound"], "the new LSP");
    assert_eq!(told(&mut network).len(), 3);
}

fn table_of_flows(network: &mut Testbed) -> Value {
    network.table_json("flow_accounts", None).expect("a table")
}

/// The label of another LSP to the same router: nothing is lost, and packets of BFD come out where they are to.
fn misled(lsp: &Value) -> (Testbed, (u32, Option<u32>)) {
    // The end gives labels of its own, so that it can tell LSPs apart.
    let mut network = network(&two_ways(lsp));
    network.run_until(Time(FAILS)).expect("a run");
    let ((label, out), (_, other)) = (labels(&mut network, B, "east"), labels(&mut network, B, "other"));
    assert!(other.is_some() && other != out, "{out:?} {other:?}");
    network.break_label(B, label, other).expect("an entry");
    (network, (label, out))
}

#[test]
fn an_lsp_that_ends_as_another_is_left_by_one_reply() {
    let (mut network, _) = misled(&json!({"lsp_ping": {"interval": "100 ms", "misses": 3}}));
    network.run_until(Time(FAILS + S)).expect("a run");
    let down = told(&mut network)[1];
    assert_eq!(down.1, Some("mapping for the FEC is not the given label"));
    assert!((0..=101 * MS).contains(&(down.0 - FAILS)), "the next request: {}", down.0 - FAILS);
    labels(&mut network, C, "east");
    assert_eq!(verified(&mut network, "standing"), ["sound"], "the new LSP");
}

/// RFC 5884, 4: BFD hears the end, and LSP ping, which asks once a minute, says that it is another.
#[test]
fn an_lsp_that_bfd_hears_is_left_if_it_ends_as_another() {
    let (mut network, _) = misled(&json!({"bfd": {"interval": "50 ms"}}));
    network.run_until(Time(FAILS + 61 * S)).expect("a run");
    let downs = told(&mut network);
    assert_eq!(
        downs.iter().map(|(_, why)| *why).collect::<Vec<_>>(),
        [Some("mapping for the FEC is not the given label")]
    );
    assert!(downs[0].0 <= FAILS + 60 * S);
    labels(&mut network, C, "east");
    assert_eq!(column(&table(&mut network, "bfd_sessions", A), "state"), ["up"], "that of the new LSP");
    assert_eq!(verified(&mut network, "standing"), ["sound"]);
    assert_eq!(sum(&table_of_flows(&mut network), "lost"), 0, "packets came out at the right router");
}

fn row(more: &Value) -> Value {
    let router = |more: &Value| json!({"kind": "router", "ospf": {"area": 0}, "ldp": more});
    json!({
        "name": "row",
        "nodes": {"a": router(more), "b": router(&json!(true)), "c": router(&json!(true)), "d": router(&json!(true))},
        "links": [link("a", "b"), link("b", "c"), link("c", "d")],
    })
}

/// Packets to what lies behind an LSP of LDP that leads nowhere go without its label, and with it when it is right
/// again.
#[test]
fn a_prefix_of_ldp_loses_its_label_and_gets_it_back() {
    let said = json!({"prefixes": "loopbacks", "lsp_ping": {"interval": "200 ms", "misses": 2}});
    let mut network = network(&row(&said));
    network.run_until(Time(60 * S)).expect("a run");
    let d = network.loopback(3).to_string();
    let is_labelled = |network: &mut Testbed| {
        let ftn = table(network, "ftn", A);
        column(&ftn, "prefix").iter().any(|fec| fec.as_str().is_some_and(|fec| fec.contains(&d)))
    };
    assert!(is_labelled(&mut network));
    assert_eq!(
        verified(&mut network, "standing"),
        ["sound", "sound"],
        "b takes no label: there is no LSP to it"
    );
    let bindings = table(&mut network, "ldp_bindings", B as u32);
    let prefixes = column(&bindings, "prefix");
    let place =
        prefixes.iter().position(|one| one.as_str().is_some_and(|one| one.contains(&d))).expect("a prefix");
    let label = column(&bindings, "label")[place].as_u64().expect("a label") as u32;
    let out = column(&bindings, "out_labels")[place][0].as_u64().expect("a label") as u32;
    network.break_label(B, label, Some(NOWHERE)).expect("an entry");
    let before = told(&mut network).len();
    network.run_until(Time(60 * S + 601 * MS)).expect("a run");
    let down = told(&mut network)[before..].to_vec();
    assert!(down.len() == 1 && down[0].1 == Some("no reply"), "{down:?}");
    let took = down[0].0 - 60 * S;
    assert!(
        (400 * MS..=600 * MS).contains(&took),
        "two intervals after the first request that is lost: {took}"
    );
    assert!(!is_labelled(&mut network), "they go by the route");
    network.run_until(Time(62 * S)).expect("a run");
    assert!(!is_labelled(&mut network));
    network.break_label(B, label, Some(out)).expect("an entry");
    network.run_until(Time(62 * S + 202 * MS)).expect("a run");
    assert!(is_labelled(&mut network), "the next request is answered");
    assert_eq!(told(&mut network).last().map(|one| one.1), Some(None));
    conserved(&mut network).expect("closed accounts");
}

/// RFC 3478, 3.1: while LDP of the far end restarts and is silent, packets go by its entries as before, and the router
/// answers for them. Replies lack for less than a second, if at all.
#[test]
fn an_lsp_outlives_a_restart_of_ldp_alone_at_its_end() {
    let said = json!({"prefixes": "loopbacks", "graceful_restart": true, "lsp_ping": true});
    let mut described = row(&said);
    for node in ["b", "c", "d"] {
        described["nodes"][node]["ldp"] = json!({"prefixes": "loopbacks", "graceful_restart": true});
    }
    let mut network = network(&described);
    network.run_until(Time(60 * S)).expect("a run");
    let before = told(&mut network).len();
    assert_eq!(verified(&mut network, "standing"), ["sound", "sound"]);
    network.restart_protocol(3, "ldp", Span::from_secs(5)).expect("a restart");
    for second in 61..=100 {
        network.run_until(Time(second * S)).expect("a run");
        assert_eq!(verified(&mut network, "code"), [3, 3], "{second} s");
    }
    assert_eq!(told(&mut network)[before..], []);
    assert_eq!(verified(&mut network, "unanswered"), [0, 0]);
}

/// RFC 4724, 4.1: the same with BGP of the far end, also while it waits with choosing routes.
#[test]
fn an_lsp_outlives_a_restart_of_bgp_alone_at_its_end() {
    let bgp = |far: &str, more: Value| {
        let neighbor = json!({"asn": 65000, "families": ["ipv4-labelled"]});
        let mut bgp = json!({"asn": 65000, "restart_time": "60 s", "connect_retry": "2 s", "neighbors": {far: neighbor}});
        bgp.as_object_mut().expect("a mapping").extend(more.as_object().cloned().unwrap_or_default());
        bgp
    };
    let router = |id: &str| json!({"kind": "router", "router_id": id, "ospf": {"area": 0}, "ldp": true});
    let (mut a, mut d) = (router("10.250.0.1"), router("10.250.0.4"));
    a["bgp"] = bgp("10.250.0.4", json!({"lsp_ping": true}));
    d["bgp"] = bgp("10.250.0.1", json!({"networks": ["203.0.113.7/32"]}));
    let mut network = network(&json!({
        "name": "edges",
        "nodes": {"a": a, "b": router("10.250.0.2"), "c": router("10.250.0.3"), "d": d},
        "links": [link("a", "b"), link("b", "c"), link("c", "d")],
    }));
    network.run_until(Time(90 * S)).expect("a run");
    let before = told(&mut network).len();
    assert_eq!(verified(&mut network, "standing"), ["sound"]);
    network.restart_protocol(3, "bgp", Span::from_secs(5)).expect("a restart");
    for second in 91..=130 {
        network.run_until(Time(second * S)).expect("a run");
        assert_eq!(verified(&mut network, "code"), [3], "{second} s");
    }
    assert_eq!(told(&mut network)[before..], []);
}

/// Two ways round from `a` to `d`. Whenever in the rhythm of requests a link of the one in use fails: routing mends the
/// LSP, and no reply to a request by its old labels takes it down.
#[test]
fn an_lsp_of_ldp_that_routing_mends_stays_up() {
    for (link_of, part) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)] {
        let router = |more: &Value| json!({"kind": "router", "ospf": {"area": 0}, "ldp": more});
        let plain = router(&json!({"prefixes": "loopbacks"}));
        let mut network = network(&json!({
            "name": "ring",
            "nodes": {"a": router(&json!({"prefixes": "loopbacks", "lsp_ping": true})), "b": plain, "c": plain,
                "d": plain, "e": plain},
            "links": [link("a", "b"), link("b", "d"), link("a", "c"), link("c", "e"), link("e", "d")],
        }));
        let fails = 60 * S + part * 250 * MS;
        network.run_until(Time(fails)).expect("a run");
        let before = told(&mut network).len();
        network.set_link(link_of, false).expect("a link");
        network.run_until(Time(fails + 20 * S)).expect("a run");
        let downs = told(&mut network)[before..].iter().filter_map(|(_, why)| *why).collect::<Vec<_>>();
        assert!(downs.is_empty(), "link {link_of}, {part}: {downs:?}");
        assert!(verified(&mut network, "standing").iter().all(|one| one == "sound"));
    }
}

/// Who does not answer at all is not given up: nobody knows whether it would (RFC 5882, 3.2, says so of BFD).
#[test]
fn a_far_end_that_never_answered_is_not_given_up() {
    let mut described = two_ways(&json!({"lsp_ping": {"interval": "100 ms"}}));
    described["nodes"]["d"] = json!({"kind": "router", "lspping": {"respond": false}});
    let mut network = network(&described);
    network.run_until(Time(FAILS)).expect("a run");
    assert_eq!((verified(&mut network, "standing"), told(&mut network)), (vec![json!("unknown")], vec![]));
    assert!(verified(&mut network, "unanswered")[0].as_u64().is_some_and(|missed| missed > 200));
    assert_eq!(sum(&table_of_flows(&mut network), "lost"), 0);
}

#[test]
fn wrong_settings_are_one_sentence() {
    for (said, words) in [
        (json!({"lsp_ping": {"interval": 0}}), "interval"),
        (json!({"lsp_ping": {"misses": 0}}), "0: it should be 1 to 255"),
        (json!({"lsp_ping": 3}), "true, false, or a mapping"),
        (
            json!({"lsp_ping": true, "bfd": true}),
            "'lsp_ping' and 'bfd' are both there: one of them would be right",
        ),
    ] {
        let found = refusal(&two_ways(&said));
        assert!(found.contains(words), "{said}: {found}");
    }
    let found = refusal(&row(&json!({"lsp_ping": true, "lsp_bfd": true})));
    assert!(found.contains("'lsp_ping' and 'lsp_bfd' are both there"), "{found}");
    let mut described = two_ways(&json!({"lsp_ping": true}));
    described["nodes"]["d"] = json!({"kind": "edge"});
    described["links"] = json!([link("a", "b"), link("b", "d"), link("a", "c")]);
    described["lsps"][0]["fallback"] = json!([]);
    described["flows"] = json!([]);
    let found = refusal(&described);
    assert!(
        found.contains("lsp_ping needs a router at its end that answers LSP ping, and 'd' is none"),
        "{found}"
    );
}
