//! Groups with named senders over trees of PIM, in whole networks: every member gets every packet once, over links that
//! fail, routers that restart, and segments with several routers.

use crate::common::named::{network, refusal};
use crate::common::{MS, S, column, conserved};
use crate::ldp::link;
use base::{LinkId, NodeId, Span, Time};
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use twinplane_tester::Testbed;

const GROUP: &str = "232.1.1.1";
const SOURCE: &str = "10.1.0.2";

fn router(pim: &Value) -> Value {
    json!({"kind": "router", "igmp": true, "pim": pim, "ospf": {"hello_interval": "1 s", "dead_interval": "4 s"}})
}

fn host(address: &str) -> Value {
    json!({"kind": "host", "address": address, "join": [format!("{GROUP} from {SOURCE}")]})
}

fn flow(receivers: &[&str]) -> Value {
    let (first, more) = receivers.split_first().expect("a receiver");
    json!({
        "name": "f", "from": "s", "to": first, "receivers": more, "group": GROUP, "rate": "800 kbit/s", "size": 500,
        "start": "20 s",
    })
}

/// A ring of routers a, b, c, d; the sender at a, members at b, c and d.
fn ring(pim: &Value) -> Value {
    let sender = json!({"kind": "host", "address": "10.1.0.2/24"});
    json!({
        "name": "ring",
        "nodes": {
            "a": router(pim), "b": router(pim), "c": router(pim), "d": router(pim),
            "hb": host("10.2.0.2/24"), "hc": host("10.3.0.2/24"), "hd": host("10.4.0.2/24"), "s": sender,
        },
        "links": [
            link("a", "b", 1), link("b", "c", 1), link("c", "d", 1), link("d", "a", 1), link("s", "a", 1),
            link("b", "hb", 1), link("c", "hc", 1), link("d", "hd", 1),
        ],
        "flows": [flow(&["hb", "hc", "hd"])],
    })
}

/// A sender behind a; b and c both lead from there to segment `lan`, which has a member, and routers d and e with
/// members behind. c is nearer to the sender, and b speaks for the hosts of the segment.
fn segment() -> Value {
    let pim = json!({"hello_interval": "1 s"});
    let speaker = json!({"hello_interval": "1 s", "dr_priority": 9});
    json!({
        "name": "segment",
        "nodes": {
            "a": router(&pim), "b": router(&speaker), "c": router(&pim), "d": router(&pim), "e": router(&pim),
            "hd": host("10.2.0.2/24"), "he": host("10.3.0.2/24"), "hl": host("10.9.0.200/24"),
            "lan": {"kind": "bridge", "prefix": "10.9.0.0/24"},
            "s": {"kind": "host", "address": "10.1.0.2/24"},
        },
        "links": [
            link("s", "a", 1), link("a", "b", 2), link("a", "c", 1), link("b", "lan", 10), link("c", "lan", 1),
            link("d", "lan", 1), link("e", "lan", 1), link("hl", "lan", 1), link("d", "hd", 1), link("e", "he", 1),
        ],
        "flows": [flow(&["hd", "he", "hl"])],
    })
}

fn place(described: &Value, name: &str) -> usize {
    let nodes = described["nodes"].as_object().expect("nodes");
    nodes.keys().position(|known| known == name).expect("a node")
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

/// What receivers get more between two times, in seconds, and what of it twice. 200 packets are sent in each second.
fn between(network: &mut Testbed, from: u64, to: u64) -> Vec<(u64, u64)> {
    network.run_until(Time(from * S + 50 * MS)).expect("a run");
    let before = received(network);
    network.run_until(Time(to * S + 50 * MS)).expect("a run");
    let after = received(network);
    before.iter().map(|(name, (all, twice))| (after[name].0 - all, after[name].1 - twice)).collect()
}

/// Rows of a table, as the columns that are asked for.
fn rows(network: &mut Testbed, table: &str, names: &[&str]) -> Vec<String> {
    let table = network.table_json(table, None).expect("a table");
    let columns: Vec<Vec<Value>> = names.iter().map(|name| column(&table, name)).collect();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let count = columns.first().map_or(0, Vec::len);
    (0..count).map(|row| columns.iter().map(|all| text(&all[row])).collect::<Vec<_>>().join(" ")).collect()
}

/// tshark reads these kinds of messages of PIM, and finds nothing to complain of.
fn assert_read(capture: &[u8], kinds: &[&str]) {
    if !testing::available("tshark") {
        return;
    }
    let name = format!("tester-pim-{}-{}.pcapng", std::process::id(), kinds.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, capture).expect("a file");
    let fields = ["-T", "fields", "-e", "pim.type", "-e", "_ws.malformed", "-e", "_ws.expert.severity"];
    let mut tshark = Command::new("tshark");
    let output = tshark.arg("-r").arg(&path).args(["-Y", "pim"]).args(fields).output().expect("tshark");
    let _ = std::fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.lines().map(str::trim_end).collect::<BTreeSet<_>>(), kinds.iter().copied().collect());
}

fn fault(network: &mut Testbed, at: u64, kind: FaultKind) {
    network.fault(Fault::new(Time(at * S), kind)).expect("a fault");
}

#[test]
fn every_member_gets_every_packet_once_also_when_a_link_fails() {
    let mut network = network(&ring(&json!(true)));
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(0)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(between(&mut network, 21, 23), [(400, 0); 3]);
    let neighbors = rows(&mut network, "pim_neighbors", &["node", "dr_priority"]);
    assert_eq!(neighbors, ["a 1", "a 1", "b 1", "b 1", "c 1", "c 1", "d 1", "d 1"]);
    let trees = rows(&mut network, "pim_trees", &["node", "state", "outgoing"]);
    assert_eq!(trees[0], "a joined 2", "{trees:?}");
    assert_eq!(trees.len(), 4);
    assert_eq!(rows(&mut network, "pim_discards", &["node", "reason"]), [] as [String; 0]);
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    assert_read(&bytes, &["0", "3"]);
    // The link between a and b fails: OSPF leads b back by c, and each router joins where its route leads.
    fault(&mut network, 25, FaultKind::LinkDown { link: LinkId(0) });
    assert_eq!(between(&mut network, 33, 35), [(400, 0); 3]);
    // It comes back, and no state is left that would last.
    fault(&mut network, 40, FaultKind::LinkUp { link: LinkId(0) });
    assert_eq!(between(&mut network, 60, 62), [(400, 0); 3]);
    conserved_once(&mut network);
}

/// Nothing was made up on the way, and nothing is unknown.
fn conserved_once(network: &mut Testbed) {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    conserved(network).expect("conservation");
}

#[test]
fn a_segment_elects_who_forwards_and_says_so() {
    let described = segment();
    let mut network = network(&described);
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(3)), CaptureTo::Memory);
    let tap = network.world_mut().capture(spec).expect("a capture");
    // b forwards for the host of the segment, and c for d and e: each hears the other's packets, and c is nearer.
    network.run_until(Time(21 * S)).expect("a run");
    let twice: Vec<u64> = received(&mut network).values().map(|(_, twice)| *twice).collect();
    assert!(twice.iter().all(|twice| (1..5).contains(twice)), "{twice:?}");
    assert_eq!(between(&mut network, 21, 30), [(1_800, 0); 3], "each packet once");
    let elected = |network: &mut Testbed| {
        let rows = rows(network, "pim_joins", &["node", "assert", "forwards"]);
        rows.into_iter().filter(|row| row.starts_with("b ") || row.starts_with("c ")).collect::<Vec<_>>()
    };
    assert_eq!(elected(&mut network), ["b loser false", "c winner true"]);
    // The winner restarts: when it was not heard for 3.5 s, b takes over. When c is back it is elected again.
    let node = NodeId(place(&described, "c") as u32);
    fault(&mut network, 31, FaultKind::NodeRestart { node, down_for: Span::from_secs(8) });
    assert_eq!(between(&mut network, 37, 38), [(200, 0); 3]);
    assert_eq!(between(&mut network, 60, 62), [(400, 0); 3]);
    assert_eq!(elected(&mut network), ["b loser false", "c winner true"]);
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    assert_read(&bytes, &["0", "3", "5"]);
    conserved_once(&mut network);
}

#[test]
fn what_could_not_arrive_is_refused() {
    let mut described = ring(&json!(true));
    described["nodes"]["hc"]["join"] = json!([GROUP]);
    let said = refusal(&described);
    assert!(said.contains("'hc' has not joined 232.1.1.1 from 10.1.0.2, the address of 's'"), "{said}");
    let mut described = ring(&json!(true));
    for name in ["b", "d"] {
        described["nodes"][name] = json!({"kind": "router", "igmp": true});
    }
    described["flows"] = json!([flow(&["hc"])]);
    let said = refusal(&described);
    assert!(said.contains("no way leads from router 'c' to 's' on which every router speaks PIM"), "{said}");
    let mut described = ring(&json!({"range": "239.0.0.0/8"}));
    described["flows"] = json!([flow(&["hc"])]);
    let said = refusal(&described);
    assert!(said.contains("its 'pim' a range with the group"), "{said}");
    // Nobody in front of the receiver hears which senders it names.
    for igmp in [json!(false), json!({"version": 2})] {
        let mut described = ring(&json!(true));
        described["nodes"]["c"]["igmp"] = igmp;
        let said = refusal(&described);
        assert!(said.contains("router 'c' does not hear which senders of 232.1.1.1 'hc' names"), "{said}");
    }
    // On a segment one router is enough, and none is not.
    let mut described = segment();
    described["nodes"]["hl"]["join"] = json!([format!("{GROUP} from 10.7.7.7")]);
    let said = refusal(&described);
    assert!(said.contains("'hl' has not joined 232.1.1.1 from 10.1.0.2"), "{said}");
    let said = refusal(&ring(&json!({"join_interval": "1 s", "override_interval": "3 s"})));
    assert!(said.contains("has to be longer than the 3.5 s that a Prune waits"), "{said}");
}
