//! BFD over LSPs (RFC 5884): a table that says something else than the protocols do is found by the head end, without
//! any port or neighbour that fails, and traffic leaves the LSP.

use crate::common::{MS, S, column, conserved, sum};
use base::{LinkId, NodeId, Time};
use control::bfd;
use engine::{CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::{Value, json};
use std::process::Command;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Routers in the order of their names.
const A: u32 = 0;
const B: usize = 1;
const C: usize = 2;
const D: u32 = 3;
/// A label that no router has given.
const NOWHERE: u32 = 999_999;
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
    network.break_label(B, label, Some(NOWHERE)).expect("an entry");
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

/// a and two edges of an AS around a core of IPv4 that knows none of the destinations (RFC 8277, RFC 4798): edges tell
/// them with labels, and b, whose identifier is the least, is preferred where both do.
fn edges(watch: &Value, both: &[&str], one: &[&str]) -> Value {
    let families = json!(["ipv4-labelled", "ipv6-labelled"]);
    let neighbor = json!({"asn": 65000, "families": families, "advertisement_interval": "1 s"});
    let ospf = json!({"hello_interval": "1 s"});
    let id = |place: u8| format!("10.250.0.{place}");
    let edge = |place: u8, bgp: Value| {
        json!({"kind": "router", "router_id": id(place), "ipv6": format!("2001:db8:fe::{place}"),
            "ospf": ospf, "ldp": true, "bgp": bgp})
    };
    let speaks = |far: &[&str], networks: &[&str]| {
        let neighbors: serde_json::Map<_, _> =
            far.iter().map(|far| ((*far).to_owned(), neighbor.clone())).collect();
        json!({"asn": 65000, "neighbors": neighbors, "networks": networks})
    };
    let core = |place: u8| json!({"kind": "router", "router_id": id(place), "ospf": ospf, "ldp": true});
    // Its own destination is where the far ends answer to.
    let mut of_a = speaks(&["10.250.0.2", "10.250.0.3"], &["2001:db8:fe::1/128"]);
    of_a.as_object_mut().expect("a mapping").extend(watch.as_object().cloned().unwrap_or_default());
    let of_b: Vec<&str> = both.iter().chain(one).copied().collect();
    json!({
        "name": "edges",
        "nodes": {
            "a": edge(1, of_a),
            "b": edge(2, speaks(&["10.250.0.1"], &of_b)),
            "c": edge(3, speaks(&["10.250.0.1"], both)),
            "p": core(8),
            "q": core(9),
        },
        "links": [link("a", "p"), link("p", "q"), link("q", "b"), link("q", "c")],
    })
}

const WATCHED6: [&str; 2] = ["2001:db8:b::/48", "2001:db8:b::7/128"];

/// The rows of a table of the first router, of those whose column has a value.
fn rows(network: &mut Testbed, name: &str, (key, value): (&str, &str)) -> Vec<Value> {
    let table = table(network, name, Some(A));
    let columns = table.as_object().expect("columns");
    let row = |place: usize| -> Value {
        Value::Object(columns.iter().map(|(name, cells)| (name.clone(), cells[place].clone())).collect())
    };
    (0..column(&table, key).len()).map(row).filter(|row| row[key] == *value).collect()
}

/// What packets to a destination get at the first router; nothing where they get no label.
fn pushed(network: &mut Testbed, prefix: &str) -> Option<String> {
    rows(network, "ftn", ("prefix", prefix))
        .first()
        .map(|row| row["push"].as_str().expect("labels").to_owned())
}

/// The first router of the core, and the label by which packets to an edge come to it, with that by which they leave.
const P: usize = 3;

fn labels_to(network: &mut Testbed, edge: &str) -> (u32, u32) {
    let table = table(network, "ldp_bindings", Some(P as u32));
    let place = column(&table, "prefix").iter().position(|prefix| *prefix == json!(format!("{edge}/32")));
    let place = place.unwrap_or_else(|| panic!("{table}"));
    let number = |label: &Value| label.as_u64().expect("a label") as u32;
    (number(&column(&table, "label")[place]), number(&column(&table, "out_labels")[place][0]))
}

/// RFC 5884, 6 and 7: sessions of an FEC of IPv6 speak IPv6 both ways, and are begun by a request of IPv6.
#[test]
fn lsps_to_destinations_of_ipv6_are_watched_by_ipv6() {
    let within = json!({"lsp_bfd": {"interval": "50 ms"}, "lsp_bfd_prefixes": ["2001:db8:b::/48 le 128"]});
    let mut network = network(&edges(&within, &[], &WATCHED6));
    network.run_until(Time(60 * S)).expect("a run");
    let at_head = table(&mut network, "bfd_sessions", Some(A));
    let named: Vec<String> = WATCHED6.iter().map(|prefix| format!("BGP {prefix}")).collect();
    assert_eq!(column_at(&at_head, "lsp"), [json!(named[0]), json!(named[1])], "{at_head}");
    assert_eq!(column_at(&at_head, "state"), ["up", "up"]);
    assert_eq!(column_at(&at_head, "clients"), [json!(["bgp"]), json!(["bgp"])]);
    assert_eq!(column_at(&at_head, "local"), ["2001:db8:fe::1"; 2]);
    let at_tail = table(&mut network, "bfd_sessions", Some(B as u32));
    assert_eq!(column_at(&at_tail, "neighbor"), ["2001:db8:fe::1"; 2], "where requests came from");
    assert_eq!(column_at(&at_tail, "local"), ["2001:db8:fe::2"; 2]);
    assert_eq!(column_at(&table(&mut network, "lsp_verifications", None), "code"), [3, 3]);
    let (label, out) = labels_to(&mut network, "10.250.0.2");
    network.break_label(P, label, Some(NOWHERE)).expect("an entry");
    let broken = network.now();
    network.run_until(Time(61 * S)).expect("a run");
    let found = downs(&mut network, A);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(at, _)| (100 * MS..=151 * MS).contains(&(at.0 - broken.0))), "{found:?}");
    // Without a label a core of IPv4 takes none of them.
    assert_eq!(pushed(&mut network, WATCHED6[0]), None);
    network.run_until(Time(70 * S)).expect("a run");
    let verified = table(&mut network, "lsp_verifications", None);
    assert_eq!(column_at(&verified, "code"), [Value::Null, Value::Null], "LSP ping hears nothing, either");
    network.break_label(P, label, Some(out)).expect("an entry");
    network.run_until(Time(80 * S)).expect("a run");
    assert!(pushed(&mut network, WATCHED6[0]).is_some());
    assert_eq!(column_at(&table(&mut network, "bfd_sessions", Some(A)), "state"), ["up", "up"]);
    conserved(&mut network).expect("closed accounts");
}

/// RFC 5884, 7, in the bytes of the link behind the first router: on the LSP to port 3784 of a random address of
/// ::ffff:127/104 with a hop limit of 1, and back by the tables to port 4784.
#[test]
fn packets_of_ipv6_on_an_lsp_are_those_of_the_rfc() {
    let within = json!({"lsp_bfd": {"interval": "50 ms"}, "lsp_bfd_prefixes": ["2001:db8:b::/48 le 128"]});
    let mut network = network(&edges(&within, &[], &WATCHED6));
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(0)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    network.run_until(Time(40 * S)).expect("a run");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    if !testing::available("tshark") {
        return;
    }
    let file = std::env::temp_dir().join(format!("tester-lsp-bfd-{}.pcapng", std::process::id()));
    std::fs::write(&file, bytes).expect("a file");
    let shown = |filter: &str| {
        let fields =
            ["_ws.malformed", "ipv6.src", "ipv6.dst", "ipv6.hlim", "udp.dstport", "mpls.ttl", "bfd.sta"];
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&file).args(["-Y", filter, "-T", "fields"]);
        let output = tshark.args(fields.iter().flat_map(|field| ["-e", field])).output().expect("tshark");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let (out, back) =
        (shown("bfd && ipv6.src == 2001:db8:fe::1"), shown("bfd && ipv6.dst == 2001:db8:fe::1"));
    assert!(out.len() > 100 && back.len() > 100, "{} and {}", out.len(), back.len());
    let mut destinations: Vec<&str> = out.iter().map(|row| &*row[2]).collect();
    destinations.sort_unstable();
    destinations.dedup();
    assert!(
        destinations.len() == 2 && destinations.iter().all(|to| to.starts_with("::ffff:127.")),
        "one for each session: {destinations:?}"
    );
    // Two labels: that of LDP to the edge, and that of BGP, which says what is below.
    assert!(out.iter().all(|row| row[3..6] == ["1", "3784", "255,255"]), "{:?}", out[0]);
    assert!(back.iter().all(|row| row[4] == "4784" && row[1] == "2001:db8:fe::2"), "{:?}", back[0]);
    // LSP ping begins it, from the source to which the far end then speaks.
    let begun = shown("mpls_echo.bfd_discriminator && ipv6.src == 2001:db8:fe::1");
    assert!(!begun.is_empty() && begun.iter().all(|row| row[3..5] == ["1", "3503"]), "{begun:?}");
    let all = [out, back, begun, shown("mpls-echo")].concat();
    assert!(all.iter().all(|row| row[0].is_empty()), "nothing is malformed");
    let _ = std::fs::remove_file(&file);
}

/// Another edge is taken to whose label nothing is known to be wrong, and the first one again when it says so anew.
#[test]
fn packets_take_another_edge_than_one_that_an_lsp_does_not_reach() {
    let both = ["198.51.100.7/32", "2001:db8:b::7/128"];
    let watch = json!({"lsp_bfd": {"interval": "50 ms"}});
    let mut network = network(&edges(&watch, &both, &[]));
    network.run_until(Time(60 * S)).expect("a run");
    let next_hops = |network: &mut Testbed| -> Vec<String> {
        let best = |prefix: &&str| {
            let all = rows(network, "bgp_routes", ("prefix", prefix));
            let best = all.iter().find(|row| row["is_best"] == true).expect("a route that is taken");
            best["next_hop"].as_str().expect("an address").replace("::ffff:", "")
        };
        both.iter().map(best).collect()
    };
    let states = |network: &mut Testbed| column_at(&table(network, "bfd_sessions", Some(A)), "state");
    assert_eq!(
        (next_hops(&mut network), states(&mut network)),
        (vec!["10.250.0.2".to_owned(); 2], vec![json!("up"); 2])
    );
    // Who has no label of another router to go by is not watched: a's own loopback address.
    let (label, out) = labels_to(&mut network, "10.250.0.2");
    network.break_label(P, label, Some(NOWHERE)).expect("an entry");
    network.run_until(Time(61 * S)).expect("a run");
    assert_eq!(next_hops(&mut network), ["10.250.0.3"; 2]);
    network.run_until(Time(65 * S)).expect("a run");
    assert_eq!(states(&mut network), ["up"; 2], "the LSP to the other edge is watched");
    assert!(both.iter().all(|prefix| pushed(&mut network, prefix).is_some() || prefix.contains('.')));
    // Both are broken: the first is taken, without its label, until it is heard.
    let other = labels_to(&mut network, "10.250.0.3").0;
    network.break_label(P, other, Some(NOWHERE)).expect("an entry");
    network.run_until(Time(70 * S)).expect("a run");
    assert_eq!(
        (next_hops(&mut network), pushed(&mut network, both[1])),
        (vec!["10.250.0.2".to_owned(); 2], None)
    );
    network.break_label(P, label, Some(out)).expect("an entry");
    network.run_until(Time(80 * S)).expect("a run");
    assert_eq!(
        (next_hops(&mut network), states(&mut network)),
        (vec!["10.250.0.2".to_owned(); 2], vec![json!("up"); 2])
    );
    assert!(pushed(&mut network, both[1]).is_some());
    conserved(&mut network).expect("closed accounts");
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
