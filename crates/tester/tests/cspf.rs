//! Constrained paths in whole networks: LSPs without a route whose head ends know of traffic engineering by OSPF.

use crate::common::{S, column, conserved, sum};
use base::{LinkId, Time};
use control::rsvp::Rsvp;
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::process::Command;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// From `a` to `d` by `b`, by `c`, or the long way by `e` and `f`; all links carry 1 Gbit/s.
fn three_ways(lsps: &Value, flows: &Value) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "te": true});
    let router = json!({"kind": "router", "ospf": ospf});
    let link = |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "100 us", "metric": metric});
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "e": router, "f": router},
        "links": [link("a", "b", 1), link("b", "d", 1), link("a", "c", 2), link("c", "d", 2), link("a", "e", 3),
            link("e", "f", 3), link("f", "d", 3)],
        "lsps": lsps,
        "flows": flows,
    })
}

fn network(lsps: &Value, flows: &Value) -> Testbed {
    let value = serde_json::from_value(three_ways(lsps, flows)).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

/// The routers that have reserved something for an LSP, in alphabetical order.
fn way(network: &Testbed, lsp: &str) -> String {
    let holds = |node: usize| {
        let rsvp = network.protocol::<Rsvp>(node).expect("RSVP-TE");
        rsvp.lsps().any(|one| one.name == lsp && one.reserved.0 > 0)
    };
    let held = ["a", "b", "c", "d", "e", "f"].into_iter().enumerate().filter(|(node, _)| holds(*node));
    held.map(|(_, name)| name).collect()
}

fn told(network: &mut Testbed, event: &str) -> Vec<Value> {
    let table = network.table_json("events", None).expect("a table");
    column(&table, "event").into_iter().filter(|value| value["event"] == event).collect()
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

fn lsp(name: &str, mbps: u64, more: &Value) -> Value {
    let mut lsp = json!({"name": name, "from": "a", "to": "d", "bandwidth": format!("{mbps} Mbit/s")});
    for (key, value) in more.as_object().expect("fields") {
        lsp[key] = value.clone();
    }
    lsp
}

#[test]
fn each_lsp_goes_where_its_bandwidth_is() {
    let lsps = json!([
        lsp("one", 600, &json!({})),
        lsp("two", 600, &json!({})),
        lsp("three", 600, &json!({})),
        lsp("four", 300, &json!({"path": {"hop_limit": 2}})),
        lsp("five", 500, &json!({"path": {}, "signal": false})),
    ]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(60 * S)).expect("a run");
    let mut ways = ["one", "two", "three"].map(|name| way(&network, name));
    ways.sort_unstable();
    assert_eq!(ways, ["abd", "acd", "adef"]);
    assert!(["abd", "acd"].contains(&&*way(&network, "four")));
    // There is no room for the last one, and it says why.
    network.lsp_command(4, "signal", None).expect("a command");
    network.run_until(Time(62 * S)).expect("a run");
    assert_eq!(way(&network, "five"), "");
    let why = told(&mut network, "lsp-no-path").pop().expect("a reason");
    assert_eq!(why["reason"], "no path with 500 Mbit/s at priority 7: 3 links lack bandwidth");
}

#[test]
fn tshark_reads_what_is_signalled() {
    let asked = json!({"path": {"include_any": 6, "exclude_any": 1}});
    let mut described = three_ways(&json!([lsp("one", 100, &asked)]), &json!([]));
    for node in ["a", "b", "c", "d", "e", "f"] {
        described["nodes"][node]["ospf"]["te_groups"] = json!(2);
    }
    let value = serde_json::from_value(described).expect("a value");
    let mut network =
        Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network");
    let all = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let tap = network.world_mut().capture(all).expect("a capture");
    network.run_until(Time(30 * S)).expect("a run");
    assert_eq!(way(&network, "one"), "abd");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    if !testing::available("tshark") {
        return;
    }
    let path = std::env::temp_dir().join(format!("tester-cspf-{}.pcapng", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-Y", "rsvp || _ws.malformed", "-T", "fields", "-E", "separator=;"]);
    for field in ["_ws.malformed", "rsvp.session_attribute.exclude_any", "rsvp.session_attribute.include_any"]
    {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark runs");
    std::fs::remove_file(&path).expect("the file");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.lines().all(|line| line.starts_with(';')), "{said}");
    let is_asked = |line: &&str| *line == ";0x00000001;0x00000006";
    assert!(said.lines().filter(is_asked).count() >= 2, "a Path on each of two links: {said}");
}

#[test]
fn a_failed_lsp_finds_another_way_and_comes_back_without_loss() {
    for path in [json!({"reoptimise": "20 s"}), json!({"follow": true})] {
        let lsps = json!([lsp("one", 600, &json!({"path": path}))]);
        let flow = json!([{"name": "f", "from": "a", "to": "d", "over": "one", "rate": "4 Mbit/s", "size": 500, "start": "30 s"}]);
        let mut network = network(&lsps, &flow);
        let fault = Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(1) }).until(Time(60 * S));
        network.fault(fault).expect("a fault");
        network.run_until(Time(39 * S)).expect("a run");
        assert_eq!((way(&network, "one"), lost(&mut network)), ("abd".into(), 0));
        network.run_until(Time(45 * S)).expect("a run");
        let gone = lost(&mut network);
        assert_eq!(way(&network, "one"), "acd");
        // An error on its way back by one link, and a new LSP by two: a packet each millisecond is lost.
        assert!((1..=5).contains(&gone), "{gone}");
        network.run_until(Time(120 * S)).expect("a run");
        assert_eq!((way(&network, "one"), lost(&mut network)), ("abd".into(), gone), "make before break");
        assert_eq!(told(&mut network, "lsp-rerouted").len(), 1);
        conserved(&mut network).expect("closed accounts");
    }
}

/// Beside the test above: what is lost is what the error takes on its way back by one link, and a write of tables.
#[test]
fn a_standby_is_there_when_the_error_is() {
    let lsps = json!([lsp("one", 600, &json!({"path": {"standby": "srlg", "k": 2}}))]);
    let flow = json!([{"name": "f", "from": "a", "to": "d", "over": "one", "rate": "4 Mbit/s", "size": 500, "start": "30 s"}]);
    let mut network = network(&lsps, &flow);
    network.fault(Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(1) })).expect("a fault");
    network.run_until(Time(39 * S)).expect("a run");
    assert_eq!((way(&network, "one"), lost(&mut network)), ("abcd".into(), 0), "both are reserved");
    network.run_until(Time(60 * S)).expect("a run");
    assert!((1..=2).contains(&lost(&mut network)), "{}", lost(&mut network));
    assert_eq!(way(&network, "one"), "acdef", "and there is another standby");
    assert_eq!(told(&mut network, "lsp-standby-up").len(), 2);
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn who_is_preempted_goes_another_way() {
    let strong =
        json!({"setup_priority": 2, "holding_priority": 2, "signal": false, "path": {"exclude": ["c", "e"]}});
    let lsps = json!([lsp("weak", 600, &json!({})), lsp("strong", 600, &strong)]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(way(&network, "weak"), "abd");
    network.lsp_command(1, "signal", None).expect("a command");
    network.run_until(Time(50 * S)).expect("a run");
    assert_eq!((way(&network, "strong"), way(&network, "weak")), ("abd".into(), "acd".into()));
}

#[test]
fn a_loose_route_is_filled_in_on_the_way() {
    let loose = json!({"route": ["f"], "loose": true});
    let lsps = json!([lsp("one", 100, &loose)]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(way(&network, "one"), "adef");
}

/// Frames that have left by a link in this direction.
fn carried(network: &mut Testbed, from: &str, to: &str) -> u64 {
    let table = network.table_json("directions", None).expect("a table");
    let ends = column(&table, "from").into_iter().zip(column(&table, "to")).zip(column(&table, "offered"));
    let mine = ends.filter(|((a, b), _)| *a == from && *b == to);
    mine.filter_map(|(_, offered)| offered.as_u64()).sum()
}

#[test]
fn routes_lead_through_a_tunnel_while_it_has_an_lsp() {
    let path = json!({"exclude": ["b"], "follow": true});
    let lsps = json!([lsp("one", 100, &json!({"autoroute": true, "path": path}))]);
    let flow =
        json!([{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500, "start": "30 s"}]);
    let mut described = three_ways(&lsps, &flow);
    for (host, router, number) in [("h1", "a", 1), ("h2", "d", 2)] {
        described["nodes"][host] = json!({"kind": "host", "address": format!("10.{number}.0.2/24")});
        let link = json!({"endpoints": [host, router], "rate": "1 Gbit/s"});
        described["links"].as_array_mut().expect("links").push(link);
    }
    let value = serde_json::from_value(described).expect("a value");
    let mut network =
        Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network");
    // Behind the end are its own address, its host, and its links towards those that are no nearer.
    network.run_until(Time(30 * S)).expect("a run");
    let led = |network: &mut Testbed| {
        let table = network.table_json("rib", None).expect("a table");
        let rows =
            column(&table, "node").into_iter().zip(column(&table, "source")).zip(column(&table, "prefix"));
        let mine = rows.filter(|((node, source), _)| *node == "a" && *source == "rsvp-te");
        mine.filter_map(|(_, prefix)| prefix.as_str().map(String::from)).collect::<Vec<_>>()
    };
    let prefixes = led(&mut network);
    assert!(prefixes.contains(&"10.2.0.0/24".into()), "{prefixes:?}");
    let before = carried(&mut network, "a", "c");
    network.run_until(Time(40 * S)).expect("a run");
    let by_tunnel = carried(&mut network, "a", "c") - before;
    assert!(by_tunnel > 9_900, "{by_tunnel}");
    // Both ways but the shortest one are gone: so is the LSP, and packets follow OSPF again.
    let before = carried(&mut network, "a", "b");
    for link in [3, 4] {
        network
            .fault(Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(link) }).until(Time(60 * S)))
            .expect("a fault");
    }
    network.run_until(Time(55 * S)).expect("a run");
    assert_eq!(led(&mut network), [""; 0]);
    let by_route = carried(&mut network, "a", "b") - before;
    assert!(by_route > 14_000, "{by_route}");
    let gone = lost(&mut network);
    assert!(gone <= 5, "{gone}");
    network.run_until(Time(100 * S)).expect("a run");
    assert!(led(&mut network).len() == prefixes.len() && lost(&mut network) == gone);
    conserved(&mut network).expect("closed accounts");
}
