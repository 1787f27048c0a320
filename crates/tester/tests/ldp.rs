//! LDP in whole networks: labels along the routes of OSPF or those by shortest paths, failures, and what warnings say.

use crate::common::named::{network, read};
use crate::common::{S, column, conserved, sum};
use base::{LinkId, NodeId, Span, Time};
use control::ldp;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use twinplane_tester::Testbed;

pub(crate) fn count(network: &mut Testbed, table: &str, name: &str, word: &str) -> usize {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter(|value| **value == word).count()
}

fn warnings(described: &Value) -> Vec<String> {
    network(described).warnings().iter().map(network::error::sentence).collect()
}

pub(crate) fn link(a: &str, b: &str, metric: u32) -> Value {
    json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us", "metric": metric})
}

/// Four routers: a short way by b, a long one by c; a router behind d, so that a label is swapped.
fn square(router: &Value) -> Value {
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "e": router},
        "links": [link("a", "b", 1), link("b", "d", 1), link("a", "c", 5), link("c", "d", 5), link("d", "e", 1)],
        "flows": [{"name": "f", "from": "a", "to": "e", "rate": "4 Mbit/s", "size": 500, "start": "20 s"}],
    })
}

pub(crate) fn with_ospf(ldp: &Value) -> Value {
    json!({"kind": "router", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s"}, "ldp": ldp})
}

pub(crate) fn quick() -> Value {
    json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"})
}

/// What a router does with a label: prefix, label, then neighbour and its label for each way out.
type Bindings = BTreeMap<(String, String), (Option<u64>, Vec<(String, u64)>)>;

/// Bindings by router and prefix; neighbours by name.
fn bindings(network: &mut Testbed) -> Bindings {
    let neighbors = network.table_json("ldp_neighbors", None).expect("a table");
    let at: BTreeMap<(String, String), String> = column(&neighbors, "node")
        .iter()
        .zip(column(&neighbors, "address"))
        .zip(column(&neighbors, "router_id"))
        .map(|((node, address), id)| ((text(node), text(&address)), text(&id)))
        .collect();
    let table = network.table_json("ldp_bindings", None).expect("a table");
    let [nodes, prefixes, labels, hops, out] =
        ["node", "prefix", "label", "next_hops", "out_labels"].map(|name| column(&table, name));
    let mut all = Bindings::new();
    for (row, node) in nodes.iter().enumerate() {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let ways = list(&hops[row]).into_iter().zip(list(&out[row]));
        let ways = ways
            .map(|(hop, label)| (at[&(text(node), text(&hop))].clone(), label.as_u64().expect("a label")));
        let key = (text(node), text(&prefixes[row]).trim_end_matches("/32").to_string());
        all.insert(key, (labels[row].as_u64(), ways.collect()));
    }
    all
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_string()
}

/// Router ids by name: the address of which a router says that it is right there.
fn ids(all: &Bindings) -> BTreeMap<String, String> {
    let own = all.iter().filter(|((_, prefix), (label, _))| *label == Some(3) && !prefix.contains('/'));
    own.map(|((node, prefix), _)| (prefix.clone(), node.clone())).collect()
}

/// From each router to each other one labels lead to it by neighbours whose own labels they are: hops by pair.
fn walk(network: &mut Testbed) -> BTreeMap<(String, String), usize> {
    let all = bindings(network);
    let names = ids(&all);
    let mut found = BTreeMap::new();
    for (from, (prefix, to)) in names.values().flat_map(|from| names.iter().map(move |to| (from, to))) {
        let (mut at, mut hops) = (from.clone(), 0);
        while at != *to {
            let (_, ways) =
                all.get(&(at.clone(), prefix.clone())).unwrap_or_else(|| panic!("{at} knows {to}"));
            let (next, label) = ways.first().unwrap_or_else(|| panic!("{at} has a label for {to}"));
            for (next, label) in ways {
                assert_eq!(
                    all[&(names[next].clone(), prefix.clone())].0,
                    Some(*label),
                    "{at} to {to} by {next}"
                );
            }
            let is_last = names[next] == *to;
            assert_eq!(is_last, *label == 3, "the label is taken off before {to}");
            (at, hops) = (names[next].clone(), hops + 1);
            assert!(hops <= names.len(), "a loop from {from} to {to}");
        }
        if from != to {
            found.insert((from.clone(), to.clone()), hops);
        }
    }
    found
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

/// Labels of the packets of a link, as a capture of both directions has them.
fn labelled(network: &mut Testbed, link: u32, until: u64) -> (usize, usize, Vec<u8>) {
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(link)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    network.run_until(Time(until)).expect("a run");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    let frames: Vec<Vec<u8>> = CaptureReader::new(&bytes[..])
        .expect("a capture")
        .map(|packet| packet.expect("a packet").bytes)
        .collect();
    let is_mpls = |frame: &&Vec<u8>| frame[12..14] == [0x88, 0x47];
    // The labels that sessions exchange may be as long (TCP, whose number is 6).
    let is_session = |frame: &[u8]| frame[12..14] == [8, 0] && frame[23] == 6;
    let is_data = |frame: &&Vec<u8>| frame.len() > 480 && !is_session(frame);
    let data: Vec<_> = frames.iter().filter(is_data).collect();
    (data.iter().filter(|frame| is_mpls(frame)).count(), data.len(), bytes)
}

/// tshark finds nothing malformed, and LDP that it reads.
pub(crate) fn agreeable(capture: &[u8]) {
    if !testing::available("tshark") {
        return;
    }
    let thread = std::thread::current().id();
    let name = format!("tester-ldp-{}-{thread:?}.pcapng", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, capture).expect("a file");
    let fields = ["-T", "fields", "-e", "_ws.malformed", "-e", "_ws.expert.severity", "-e", "ldp.msg.type"];
    let filter = ["-Y", "ldp || _ws.malformed"];
    let output =
        Command::new("tshark").arg("-r").arg(&path).args(filter).args(fields).output().expect("tshark");
    let _ = std::fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The worst that an expert has to say is a warning (0x600000); that GTSM is supported is a note.
    let severe = |text: &str| text.split(',').any(|one| one.parse::<u32>().is_ok_and(|one| one >= 0x60_0000));
    let is_bad = |line: &&str| {
        let mut fields = line.split('\t');
        // It calls any notification behind mappings malformed: the end of labels (RFC 5919), when a session begins.
        if line.ends_with("0x0400,0x0001") {
            return false;
        }
        fields.next().is_some_and(|malformed| !malformed.is_empty()) || fields.next().is_some_and(severe)
    };
    assert_eq!(said.lines().filter(is_bad).collect::<Vec<_>>(), [""; 0]);
    assert!(said.contains("0x0100"), "Hellos are read: {said}");
}

#[test]
fn labels_follow_the_routes_of_ospf_through_failures() {
    let mut network = network(&square(&with_ospf(&quick())));
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 10, "two at each of five links");
    let hops = walk(&mut network);
    assert_eq!(hops.len(), 20);
    assert_eq!(hops[&("a".to_string(), "e".to_string())], 3);
    let (with, all, bytes) = labelled(&mut network, 1, 25 * S);
    assert!(with > 4_900 && with == all, "{with} of {all} between b and d, who swap or take off");
    agreeable(&bytes);
    let before = lost(&mut network);
    assert_eq!(before, 0);
    // The link a - b is down: OSPF computes after 50 ms, and c's label is there already.
    let fault = Fault::new(Time(30 * S), FaultKind::LinkDown { link: LinkId(0) }).until(Time(50 * S));
    network.fault(fault).expect("a fault");
    network.run_until(Time(35 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((50..=55).contains(&gone), "as long as SPF takes, since the label is kept: {gone}");
    assert_eq!(walk(&mut network)[&("a".to_string(), "b".to_string())], 3);
    network.run_until(Time(70 * S)).expect("a run");
    assert_eq!(lost(&mut network), gone, "nothing is lost when it comes back");
    assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 10);
    assert_eq!(walk(&mut network)[&("a".to_string(), "e".to_string())], 3);
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn a_router_that_restarts_comes_back() {
    let mut network = network(&square(&with_ospf(&quick())));
    network.run_until(Time(15 * S)).expect("a run");
    assert_eq!(walk(&mut network).len(), 20);
    let kind = FaultKind::NodeRestart { node: NodeId(1), down_for: Span::from_secs(8) };
    network.fault(Fault::new(Time(16 * S), kind)).expect("a fault");
    network.run_until(Time(23 * S)).expect("a run");
    let of_a = network.table_json("ldp_sessions", Some(0)).expect("a table");
    assert_eq!(column(&of_a, "state").len(), 1, "b is silent: {of_a}");
    network.run_until(Time(60 * S)).expect("a run");
    assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 10);
    assert_eq!(walk(&mut network).len(), 20);
}

/// LDP of one router restarts, and is silent for longer than its Hellos hold: with graceful restart every packet has a
/// label all the time (RFC 3478), and all labels are what they were.
#[test]
fn labels_outlive_a_restart_of_ldp_alone() {
    for is_graceful in [true, false] {
        let mut settings = quick();
        settings["graceful_restart"] = json!(is_graceful);
        let mut network = network(&square(&with_ospf(&settings)));
        network.run_until(Time(20 * S)).expect("a run");
        let before = bindings(&mut network);
        network.restart_protocol(1, "ldp", Span::from_secs(8)).expect("a restart");
        let (with, all, bytes) = labelled(&mut network, 1, 45 * S);
        assert!(all > 24_000, "{all}");
        assert_eq!(with == all, is_graceful, "{with} of {all}");
        agreeable(&bytes);
        assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 10);
        assert_eq!((walk(&mut network).len(), lost(&mut network)), (20, 0));
        if is_graceful {
            assert_eq!(bindings(&mut network), before);
        }
        // Everything is confirmed, and the restart is over after two minutes.
        network.run_until(Time(200 * S)).expect("a run");
        let table = network.table_json("ldp_stale", None).expect("a table");
        assert_eq!(column(&table, "kept").len(), 0, "{table}");
        assert_eq!(walk(&mut network).len(), 20);
    }
    let mut network = network(&square(&with_ospf(&quick())));
    let said = network.restart_protocol(1, "ospf", Span::from_secs(1)).expect_err("OSPF alone");
    let expected = "'b' speaks no 'ospf' that can be restarted alone: LDP ('ldp') and BGP ('bgp') can";
    assert_eq!(said.to_string(), expected);
}

#[test]
fn no_label_is_leaked() {
    let mut loopbacks = quick();
    loopbacks["prefixes"] = json!("loopbacks");
    let mut network = network(&square(&with_ospf(&loopbacks)));
    network.run_until(Time(19 * S)).expect("a run");
    // All of d's links: what is behind has no route, and later it has again.
    for at in [20, 40, 60] {
        for link in [1, 3] {
            let kind = FaultKind::LinkDown { link: LinkId(link) };
            network.fault(Fault::new(Time(at * S), kind).until(Time((at + 10) * S))).expect("a fault");
        }
    }
    let mut held = Vec::new();
    for at in [19, 29, 39, 49, 59, 90] {
        network.run_until(Time(at * S)).expect("a run");
        let table = network.table_json("ldp_bindings", None).expect("a table");
        let labels = column(&table, "label").iter().filter(|label| label.as_u64() > Some(15)).count();
        let (mut entries, mut routes) = (0, 0);
        for node in 0..5 {
            let ilm = network.table_json("ilm", Some(node)).expect("a table");
            entries += column(&ilm, "label").iter().filter(|label| label.as_u64() > Some(15)).count();
            let rib = network.table_json("rib", Some(node)).expect("a table");
            let sources = column(&rib, "source").into_iter().zip(column(&rib, "prefix"));
            let is_host = |prefix: &Value| prefix.as_str().is_some_and(|prefix| prefix.ends_with("/32"));
            routes += sources.filter(|(source, prefix)| source == "ospf" && is_host(prefix)).count();
        }
        assert_eq!(routes, labels, "a label for each route at {at} s");
        assert_eq!(entries, labels, "an entry for each label at {at} s");
        held.push(labels);
    }
    assert!(held[1] < 20 && held[3] < 20, "{held:?}");
    assert_eq!([held[0], held[5]], [20, 20]);
}

#[test]
fn a_router_greets_as_often_as_a_neighbour_with_a_shorter_hold_time_needs() {
    let mut described = square(&with_ospf(&json!(true)));
    described["nodes"]["e"] = with_ospf(&quick());
    let mut network = network(&described);
    network.run_until(Time(60 * S)).expect("a run");
    assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 10);
    let is_down = |event: &base::Event| {
        event.of().is_some_and(|event: &ldp::Event| matches!(event, ldp::Event::LdpSessionDown { .. }))
    };
    assert_eq!(network.events().iter().filter(|record| is_down(&record.event)).count(), 0);
}

#[test]
fn flows_share_ways_that_are_as_good() {
    let mut described =
        square(&with_ospf(&json!({"hello_interval": "1 s", "hold_time": "4 s", "gtsm": false})));
    for link in described["links"].as_array_mut().expect("links") {
        link["metric"] = json!(1);
    }
    let flow = |n: u32| json!({"name": format!("f{n}"), "from": "a", "to": "e", "rate": "100 kbit/s", "size": 500, "start": "20 s"});
    described["flows"] = (0..16).map(flow).collect();
    let mut network = network(&described);
    network.run_until(Time(20 * S)).expect("a run");
    let all = bindings(&mut network);
    let names = ids(&all);
    let e = names.iter().find(|(_, name)| *name == "e").map(|(id, _)| id.clone()).expect("e");
    assert_eq!(all[&("a".to_string(), e)].1.len(), 2, "by b and by c");
    let (with, sent, _) = labelled(&mut network, 0, 25 * S);
    assert!(with > 200 && with == sent, "{with} of {sent}");
    let (with, sent, _) = labelled(&mut network, 2, 30 * S);
    assert!(with > 200 && with == sent, "{with} of {sent}");
    assert_eq!(lost(&mut network), 0);
}

#[test]
fn all_prefixes_get_labels_if_wanted_and_the_same_seed_gives_the_same_bytes() {
    let run = || {
        let mut described = square(&with_ospf(&json!({"prefixes": "all", "hello_interval": "1 s"})));
        described["nodes"]["h"] = json!({"kind": "host", "address": "10.77.0.2/24"});
        described["links"].as_array_mut().expect("links").push(link("e", "h", 1));
        let mut network = network(&described);
        let spec = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
        let tap = network.world_mut().capture(spec).expect("a capture");
        network.run_until(Time(25 * S)).expect("a run");
        let all = bindings(&mut network);
        assert!(!all[&("a".to_string(), "10.77.0.0/24".to_string())].1.is_empty());
        assert_eq!(all[&("e".to_string(), "10.77.0.0/24".to_string())].0, Some(3));
        assert_eq!(count(&mut network, "ldp_neighbors", "node", "h"), 0);
        network.world_mut().finish_capture(tap).expect("a capture").bytes
    };
    let (one, two) = (run(), run());
    assert!(one == two && one.len() > 10_000);
}

#[test]
fn a_silent_link_is_found_and_a_link_with_ldp_at_one_end_is_said() {
    let mut run = network(&square(&with_ospf(&quick())));
    let kind = FaultKind::Loss { link: LinkId(4), direction: engine::Direction::Both, probability: 1.0 };
    run.fault(Fault::new(Time(20 * S), kind)).expect("a fault");
    run.run_until(Time(27 * S)).expect("a run");
    assert_eq!(count(&mut run, "ldp_sessions", "state", "operational"), 8, "no Hello for 4 s");
    let is_down = |event: &base::Event| {
        event.of().is_some_and(|event: &ldp::Event| matches!(event, ldp::Event::LdpSessionDown { .. }))
    };
    assert_eq!(run.events().iter().filter(|record| is_down(&record.event)).count(), 2);
    let mut described = square(&with_ospf(&json!(true)));
    assert_eq!(warnings(&described), [""; 0]);
    described["nodes"]["e"] =
        json!({"kind": "router", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s"}});
    let said = warnings(&described);
    assert!(said.len() == 1 && said[0].contains("'d' speaks ldp and 'e' does not: no labels"), "{said:#?}");
    let said = warnings(&square(&json!({"kind": "router", "ldp": true})));
    assert!(said.len() == 5 && said[0].contains("no protocol that finds routes"), "{said:#?}");
}

#[test]
fn settings_are_checked_where_they_are_written() {
    for (ldp, words) in [
        (json!(3), "true, or a mapping"),
        (json!({"hello": "1 s"}), "hello_interval"),
        (json!({"hold_time": "1500 ms"}), "LDP counts it in whole seconds"),
        (json!({"hold_time": "5 s"}), "hold_time=5 s has to be above hello_interval=5 s"),
        (json!({"prefixes": "some"}), "loopbacks"),
    ] {
        let said = read(&square(&with_ospf(&ldp))).map(|_| ()).expect_err("a refusal");
        assert!(said.contains(words), "{ldp}: {said}");
    }
}

/// All modes of RFC 5036, 2.6, in one network: labels along all routes, and none more than are used.
#[test]
fn every_mode_labels_the_routes_of_ospf() {
    for control in ["independent", "ordered"] {
        for (advertise, retention) in
            [("unsolicited", "conservative"), ("on-demand", "conservative"), ("on-demand", "liberal")]
        {
            let mut ldp = quick();
            ldp["control"] = json!(control);
            ldp["advertise"] = json!(advertise);
            ldp["retention"] = json!(retention);
            ldp["prefixes"] = json!("loopbacks");
            ldp["loop_detection"] = json!(true);
            let mut network = network(&square(&with_ospf(&ldp)));
            network.run_until(Time(20 * S)).expect("a run");
            let mode = (control, advertise, retention);
            assert_eq!(count(&mut network, "ldp_sessions", "advertise", advertise), 10, "{mode:?}");
            assert_leads(&mut network);
            let given = network.table_json("ldp_labels", None).expect("a table");
            let unused = column(&given, "is_used").iter().filter(|used| **used == json!(false)).count();
            assert_eq!(unused, 0, "{mode:?}: {given}");
            // A link fails and comes back: the labels of the other way are asked for. A request that meets a router
            // whose route is still the old one is refused, and made again after 15 s.
            let fault = Fault::new(Time(21 * S), FaultKind::LinkDown { link: LinkId(0) }).until(Time(61 * S));
            network.fault(fault).expect("a fault");
            network.run_until(Time(60 * S)).expect("a run");
            assert_leads(&mut network);
            network.run_until(Time(100 * S)).expect("a run");
            assert_leads(&mut network);
            conserved(&mut network).expect("closed accounts");
        }
    }
}

/// From each router to each other that is no neighbour, a label of the next router leads.
fn assert_leads(network: &mut Testbed) {
    let all = bindings(network);
    let names = ["a", "b", "c", "d", "e"];
    let routed = |network: &mut Testbed, node: usize| {
        let rib = network.table_json("rib", Some(node)).expect("a table");
        let rows = column(&rib, "source").into_iter().zip(column(&rib, "prefix"));
        rows.filter(|(source, prefix)| source == "ospf" && text(prefix).ends_with("/32"))
            .map(|(_, prefix)| text(&prefix).trim_end_matches("/32").to_string())
            .collect::<Vec<_>>()
    };
    for (node, name) in names.iter().enumerate() {
        let routes = routed(network, node);
        assert_eq!(routes.len(), 4, "{name} knows the others");
        for prefix in routes {
            let ways = all.get(&((*name).to_string(), prefix.clone())).map(|(_, ways)| ways.len());
            // There may be two that are as good.
            assert!(ways.is_some_and(|ways| ways > 0), "{name} to {prefix}");
        }
    }
}

/// RFC 5036, 2.4.2: a session with a router further away, which takes it or has named this one, too.
#[test]
fn a_session_with_a_router_further_away() {
    let run = |accepts: bool| {
        let mut described = square(&with_ospf(&quick()));
        described["nodes"]["a"]["router_id"] = json!("10.99.0.1");
        described["nodes"]["e"]["router_id"] = json!("10.99.0.5");
        described["nodes"]["a"]["ldp"]["targets"] = json!(["10.99.0.5"]);
        described["nodes"]["e"]["ldp"]["accept_targeted"] = json!(accepts);
        let mut network = network(&described);
        network.run_until(Time(40 * S)).expect("a run");
        count(&mut network, "ldp_sessions", "state", "operational")
    };
    assert_eq!(run(true), 12, "those of five links, and one from a to e");
    assert_eq!(run(false), 10);
}

/// RFC 5443: a link that comes back is not used before its labels are known, so that no packet of an LSP loses its
/// label.
#[test]
fn a_link_that_comes_back_is_avoided_until_its_labels_are_known() {
    let mut ldp = quick();
    // Hellos are so rare that a session comes up long after the routes.
    ldp["hello_interval"] = json!("5 s");
    ldp["hold_time"] = json!("15 s");
    ldp["gtsm"] = json!(false);
    ldp["igp_sync"] = json!(true);
    let mut described = square(&with_ospf(&ldp));
    // Only the way by b has labels at first; c comes in when the link fails.
    described["flows"][0]["start"] = json!("40 s");
    let mut network = network(&described);
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(walk(&mut network).len(), 20);
    // All packets of the flow that reach a's links have a label, also right after the link a - b is back.
    let fault = Fault::new(Time(45 * S), FaultKind::LinkDown { link: LinkId(0) }).until(Time(50 * S));
    network.fault(fault).expect("a fault");
    network.run_until(Time(49 * S)).expect("a run");
    let before = lost(&mut network);
    let (with, all, _) = labelled(&mut network, 0, 80 * S);
    assert!(all > 10_000, "{all} packets by the link that is back");
    assert_eq!(with, all, "all have a label");
    assert_eq!(lost(&mut network), before, "nothing is lost when it comes back");
    let metrics = network.table_json("ldp_sessions", None).expect("a table");
    assert_eq!(column(&metrics, "state").len(), 10);
}

/// What BGP finds beyond the network has no label unless that is wanted.
#[test]
fn routes_beyond_the_network_have_no_label() {
    for beyond in [false, true] {
        let mut ldp = quick();
        ldp["beyond"] = json!(beyond);
        let mut described = square(&with_ospf(&ldp));
        let (far, near) = ("10.99.0.5", "10.99.0.1");
        described["nodes"]["a"]["router_id"] = json!(near);
        described["nodes"]["e"]["router_id"] = json!(far);
        described["nodes"]["a"]["bgp"] = json!({"asn": 65000, "neighbors": {far: {"asn": 65000}}});
        described["nodes"]["e"]["bgp"] =
            json!({"asn": 65000, "neighbors": {near: {"asn": 65000}}, "networks": ["172.16.0.0/16"]});
        let mut network = network(&described);
        network.run_until(Time(60 * S)).expect("a run");
        let rib = network.table_json("rib", Some(0)).expect("a table");
        assert!(column(&rib, "prefix").contains(&json!("172.16.0.0/16")), "{rib}");
        let all = bindings(&mut network);
        assert_eq!(all.contains_key(&("a".to_string(), "172.16.0.0/16".to_string())), beyond);
    }
}

/// TDP in the place of LDP: the same labels along the routes of OSPF, through a failed link.
#[test]
fn tdp_labels_the_routes_of_ospf() {
    let router = json!({"kind": "router", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s"}, "tdp": {"hello_interval": "1 s"}});
    let mut network = network(&square(&router));
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(count(&mut network, "tdp_sessions", "state", "operational"), 10);
    let (with, all, _) = labelled(&mut network, 1, 25 * S);
    assert!(with > 4_900 && with == all, "{with} of {all} between b and d, who swap or take off");
    assert_eq!(lost(&mut network), 0);
    let fault = Fault::new(Time(30 * S), FaultKind::LinkDown { link: LinkId(0) }).until(Time(50 * S));
    network.fault(fault).expect("a fault");
    network.run_until(Time(40 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((50..=55).contains(&gone), "as long as SPF takes, since the tag is kept: {gone}");
    let (with, all, _) = labelled(&mut network, 2, 45 * S);
    assert!(with > 4_900 && with == all, "{with} of {all} between a and c");
    network.run_until(Time(90 * S)).expect("a run");
    assert_eq!(lost(&mut network), gone, "nothing is lost when it comes back");
    assert_eq!(count(&mut network, "tdp_sessions", "state", "operational"), 10);
    conserved(&mut network).expect("closed accounts");
}

/// RFC 2385: sessions with a password carry signatures, and one of another password never comes to be.
#[test]
fn sessions_are_signed_and_passwords_have_to_be_the_same() {
    let mut ldp = quick();
    ldp["password"] = json!("secret");
    let mut described = square(&with_ospf(&ldp));
    described["nodes"]["e"]["ldp"]["password"] = json!("other");
    let said = "link d - e: ldp: 'd' and 'e' do not have the same password: the two do not become neighbours";
    assert_eq!(warnings(&described), [said]);
    let mut network = network(&described);
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(0)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(count(&mut network, "ldp_sessions", "state", "operational"), 8, "all but those of e");
    let unheard = network.table_json("unheard", None).expect("a table");
    assert!(column(&unheard, "reason").contains(&json!("unsigned")), "{unheard}");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    let frames =
        CaptureReader::new(&bytes[..]).expect("a capture").map(|packet| packet.expect("a packet").bytes);
    // Ethernet, an IP header without options, TCP.
    let is_tcp = |frame: &Vec<u8>| frame[12..14] == [8, 0] && frame[23] == 6;
    let tcp: Vec<Vec<u8>> = frames.filter(is_tcp).collect();
    assert!(tcp.len() > 10 && tcp.iter().all(|frame| frame[34 + 20..][..4] == [1, 1, 19, 18]));
}

/// Two labels come to a router that has none of the next one, since its route leads into a tunnel: what is below is no
/// label of its own, and is not looked up as one (RFC 3031, 3.22).
#[test]
fn a_label_below_one_that_ends_too_early_is_not_looked_up() {
    let engineered = || {
        let mut router = with_ospf(&quick());
        router["ospf"]["te"] = json!(true);
        router
    };
    let told = json!({"asn": 65000, "families": ["ipv6-labelled"], "advertisement_interval": "1 s"});
    let edge = |own: &str, ipv6: &str, far: &str| {
        let mut edge = engineered();
        edge["router_id"] = json!(own);
        edge["ipv6"] = json!(ipv6);
        edge["bgp"] = json!({"asn": 65000, "redistribute": ["connected"], "neighbors": {far: told}});
        edge
    };
    let mut described = json!({
        "name": "below",
        "nodes": {
            "p1": engineered(), "p2": engineered(),
            "pe1": edge("10.250.0.1", "2001:db8:a::1", "10.250.0.2"),
            "pe2": edge("10.250.0.2", "2001:db8:b::1", "10.250.0.1"),
        },
        "links": [link("pe1", "p1", 1), link("p1", "p2", 1), link("p2", "pe2", 1)],
        "flows": [{"name": "f", "from": "pe1", "to": "pe2", "family": "ipv6", "rate": "1 Mbit/s", "size": 500,
            "start": "40 s"}],
    });
    let mut without = network(&described);
    without.run_until(Time::ZERO + Span::from_secs(60)).expect("it runs");
    let (sent, received) = conserved(&mut without).expect("nothing vanished");
    assert!(sent > 4_000 && sent - received <= 1, "{sent} {received}");
    described["lsps"] = json!([{"name": "u", "from": "p1", "to": "pe2", "autoroute": true}]);
    let mut run = network(&described);
    run.run_until(Time::ZERO + Span::from_secs(60)).expect("it runs");
    let losses = run.table_json("losses", None).expect("a table");
    let places: Vec<_> = column(&losses, "node").into_iter().zip(column(&losses, "reason")).collect();
    let below = (json!("p1"), json!("label-below"));
    assert!(!places.is_empty() && places.iter().all(|place| *place == below), "{losses}");
}
