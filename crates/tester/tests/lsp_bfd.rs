//! BFD over LSPs (RFC 5884): a table that says something else than the protocols do is found by the head end, without
//! any port or neighbour that fails, and traffic leaves the LSP.

use crate::common::{MS, S, column, conserved, sum};
use base::{NodeId, Time};
use control::bfd;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Routers in the order of their names.
const A: u32 = 0;
const B: usize = 1;
const C: usize = 2;
const D: u32 = 3;
const FAILS: u64 = 25 * S + 300 * MS;
/// The same where routers find each other first.
const LATER: u64 = 60 * S;

fn read(described: &Value) -> Result<NetworkFile, String> {
    let value = serde_json::from_value(described.clone()).expect("a value");
    NetworkFile::read_part(&value).map_err(|error| error.words())
}

fn network(described: &Value) -> Testbed {
    Testbed::new(&read(described).expect("a description")).expect("a network")
}

fn link(a: &str, b: &str) -> Value {
    let rate = "1 Gbit/s";
    json!({"endpoints": [a, b], "rate": rate, "delay": "10 us", "reservable": rate})
}

/// From `a` to `d` by `b`, or by `c`; an LSP that is watched, and a packet on it each millisecond.
fn two_ways(router: &Value, lsp: &Value) -> Value {
    let mut east = json!({"name": "east", "from": "a", "to": "d", "bfd": {"interval": "50 ms"}});
    east.as_object_mut().expect("a mapping").extend(lsp.as_object().cloned().unwrap_or_default());
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router},
        "links": [link("a", "b"), link("b", "d"), link("a", "c"), link("c", "d")],
        "lsps": [east],
        "flows": [{"name": "on", "from": "a", "to": "d", "over": "east", "rate": "4 Mbit/s", "size": 500,
            "start": "20 s"}],
    })
}

fn table(network: &mut Testbed, name: &str, node: Option<u32>) -> Value {
    network.table_json(name, node.map(|node| node as usize)).expect("a table")
}

fn label_in(network: &mut Testbed, node: usize) -> u32 {
    let table = table(network, "lsps", Some(node as u32));
    let labels = column(&table, "in_label");
    labels.iter().find_map(|label| label.as_u64()).unwrap_or_else(|| panic!("{table}")) as u32
}

/// When sessions of a router went down that were up, and over which LSP.
fn downs(network: &mut Testbed, node: u32) -> Vec<(Time, String)> {
    let of = |event: &base::Event| match event.of() {
        Some(bfd::Event::BfdDown { lsp: Some(lsp), .. }) => Some(lsp.clone()),
        _ => None,
    };
    let own = network.events().iter().filter(|record| record.node == NodeId(node));
    own.filter_map(|record| Some((record.at, of(&record.event)?))).collect()
}

fn column_at(table: &Value, name: &str) -> Vec<Value> {
    column(table, name)
}

#[test]
fn a_label_that_leads_nowhere_is_found_and_the_lsp_takes_the_other_way() {
    let route = json!({"route": ["b", "d"], "fallback": ["c", "d"]});
    let mut network = network(&two_ways(&json!({"kind": "router"}), &route));
    network.run_until(Time(FAILS)).expect("a run");
    let at_head = table(&mut network, "bfd_sessions", Some(A));
    assert_eq!(column_at(&at_head, "state"), ["up"]);
    assert_eq!(column_at(&at_head, "lsp_end"), ["begins"]);
    assert_eq!(column_at(&at_head, "clients"), [json!(["rsvp-te"])]);
    let at_tail = table(&mut network, "bfd_sessions", Some(D));
    assert_eq!(
        (column_at(&at_tail, "state"), column_at(&at_tail, "lsp_end")),
        (vec![json!("up")], vec![json!("ends")])
    );
    assert_eq!(column_at(&at_head, "lsp"), column_at(&at_tail, "lsp"));
    // Each knows the other's number (RFC 5884, 6), and nobody else has a session.
    assert_eq!(column_at(&at_head, "remote_discriminator"), column_at(&at_tail, "discriminator"));
    assert_eq!(column(&table(&mut network, "bfd_sessions", None), "node"), ["a", "d"]);
    let verified = table(&mut network, "lsp_verifications", None);
    assert_eq!(column_at(&verified, "code"), [3], "the router is an egress for the FEC");

    let label = label_in(&mut network, B);
    network.break_label(B, label, None).expect("an entry");
    network.run_until(Time(FAILS + 2 * S)).expect("a run");
    let found = downs(&mut network, A);
    assert_eq!(found.len(), 1, "{found:?}");
    let took = found[0].0.0 - FAILS;
    assert!((100 * MS..=151 * MS).contains(&took), "three intervals of 50 ms: {took}");
    let gone = sum(&table(&mut network, "flow_accounts", None), "lost");
    assert!(
        (took / MS..=took / MS + 5).contains(&gone),
        "{gone} packets, until a Path and a Resv by the other way"
    );
    conserved(&mut network).expect("closed accounts");
    // The new LSP is watched, and the old one no more.
    network.run_until(Time(FAILS + 20 * S)).expect("a run");
    let at_head = table(&mut network, "bfd_sessions", Some(A));
    assert_eq!(column_at(&at_head, "state"), ["up"]);
    assert_ne!(column_at(&at_head, "lsp"), column_at(&at_tail, "lsp"));
    assert_eq!(column(&table(&mut network, "bfd_sessions", None), "node"), ["a", "d"]);
    label_in(&mut network, C);
}

/// The way that is left when no link can be named: another path if there is one without all links of the first; else
/// the same links with other labels.
#[test]
fn a_computed_path_avoids_the_links_of_an_lsp_that_is_not_heard() {
    let router = json!({"kind": "router", "ospf": {"area": 0, "te": true}});
    let described = two_ways(&router, &json!({}));
    let mut network = network(&described);
    network.run_until(Time(LATER)).expect("a run");
    let label = label_in(&mut network, B);
    network.break_label(B, label, None).expect("an entry");
    network.run_until(Time(LATER + 5 * S)).expect("a run");
    assert_eq!(downs(&mut network, A).len(), 1);
    label_in(&mut network, C);
    assert_eq!(column_at(&table(&mut network, "bfd_sessions", Some(A)), "state"), ["up"]);

    let mut alone = described;
    alone["links"] = json!([link("a", "b"), link("b", "d"), link("c", "d")]);
    let mut network = self::network(&alone);
    network.run_until(Time(LATER)).expect("a run");
    let label = label_in(&mut network, B);
    network.break_label(B, label, None).expect("an entry");
    network.run_until(Time(LATER + 5 * S)).expect("a run");
    assert_ne!(label_in(&mut network, B), label);
    assert_eq!(column_at(&table(&mut network, "bfd_sessions", Some(A)), "state"), ["up"]);
}

/// Packets to what lies behind an LSP of LDP that leads nowhere go without its label.
#[test]
fn a_prefix_of_ldp_loses_its_label_and_gets_it_back() {
    let router = |more: Value| json!({"kind": "router", "ospf": {"area": 0}, "ldp": more});
    let mut network = network(&json!({
        "name": "row",
        "nodes": {"a": router(json!({"prefixes": "loopbacks", "lsp_bfd": {"interval": "50 ms"}})),
            "b": router(json!(true)), "c": router(json!(true)), "d": router(json!(true))},
        "links": [link("a", "b"), link("b", "c"), link("c", "d")],
    }));
    let d = network.loopback(D as usize).to_string();
    let is_labelled = |network: &mut Testbed| {
        let ftn = table(network, "ftn", Some(A));
        column(&ftn, "prefix").iter().any(|fec| fec.as_str().is_some_and(|fec| fec.contains(&d)))
    };
    network.run_until(Time(60 * S)).expect("a run");
    let sessions = table(&mut network, "bfd_sessions", Some(A));
    // b takes no label: there is no LSP to it.
    assert_eq!(column_at(&sessions, "state"), ["up", "up"], "{sessions}");
    assert!(is_labelled(&mut network));
    // At the router before the last, where the label to d is taken off.
    let ilm = table(&mut network, "ldp_bindings", Some(B as u32));
    let place =
        column(&ilm, "prefix").iter().position(|prefix| prefix.as_str().is_some_and(|one| one.contains(&d)));
    let label = column(&ilm, "label")[place.expect("a prefix")].as_u64().expect("a label") as u32;
    let out = column(&ilm, "out_labels")[place.expect("a prefix")][0].as_u64().expect("a label") as u32;
    network.break_label(B, label, Some(999_999)).expect("an entry");
    network.run_until(Time(61 * S)).expect("a run");
    let found = downs(&mut network, A);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, format!("LDP {d}/32"));
    assert!(!is_labelled(&mut network), "they go by the route");
    // LSP ping hears nothing, either.
    network.run_until(Time(70 * S)).expect("a run");
    let verified = table(&mut network, "lsp_verifications", Some(A));
    assert_eq!(column_at(&verified, "code").iter().filter(|code| code.is_null()).count(), 1, "{verified}");
    // The right entry is back: so is the label.
    network.break_label(B, label, Some(out)).expect("an entry");
    network.run_until(Time(80 * S)).expect("a run");
    assert!(is_labelled(&mut network));
}

#[test]
fn both_ends_have_to_speak() {
    let mut described = two_ways(&json!({"kind": "router"}), &json!({}));
    described["nodes"]["a"] = json!({"kind": "edge"});
    described["links"] = json!([link("a", "b"), link("b", "d"), link("c", "d")]);
    described["flows"] = json!([]);
    let said =
        read(&described).map_or_else(|said| said, |file| Testbed::new(&file).err().expect("one").to_string());
    assert!(said.contains("bfd needs both ends to speak BFD, and 'a' does not"), "{said}");
}
