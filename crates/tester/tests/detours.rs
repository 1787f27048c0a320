//! One-to-one backup (RFC 4090, 3.1) in whole networks: what is lost until the entry of an LSP is written, packet by
//! packet, and what detours cost.

use crate::common::{MS, S, column, conserved};
use base::{LinkId, Time};
use control::rsvp::Rsvp;
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::process::Command;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;
use wire::rsvp::MessageType;

/// A row from `a` to `d`; `m` leads around the link from `b` to `c`, and `n` around `c`. So many LSPs along the row are
/// protected by `method`, and a flow of a packet each millisecond goes over the first and the last of them.
fn ladder(method: &str, lsps: usize, write_us: f64) -> Testbed {
    let router = json!({
        "kind": "router",
        "profile": {"tables": {"write_us": write_us}},
        "ospf": {"hello_interval": "1 s", "dead_interval": "4 s", "te": true},
        "rsvp": {"protection": "facility", "reversion": "2 s"},
    });
    let link = |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": "50 us", "detection": "10 ms", "metric": metric});
    let lsp = |place: usize| {
        let protection = json!({"method": method});
        json!({"name": format!("l{place}"), "from": "a", "to": "d", "route": ["b", "c", "d"], "protection": protection,
            "bandwidth": "1 Mbit/s"})
    };
    let flow = |place: usize| {
        json!({"name": format!("f{place}"), "from": "a", "to": "d", "over": format!("l{place}"), "rate": "4 Mbit/s",
            "size": 500, "start": "30 s", "stop": "60 s"})
    };
    let mut flows = vec![flow(0)];
    flows.extend((lsps > 1).then(|| flow(lsps - 1)));
    let described = json!({
        "name": "ladder",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "m": router, "n": router},
        "links": [link("a", "b", 1), link("b", "c", 1), link("c", "d", 1), link("b", "m", 5), link("m", "c", 5),
            link("b", "n", 10), link("n", "d", 10)],
        "lsps": (0..lsps).map(lsp).collect::<Vec<_>>(),
        "flows": flows,
    });
    let value = serde_json::from_value(described).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

fn lost(network: &mut Testbed) -> Vec<u64> {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    column(&table, "lost").iter().filter_map(Value::as_u64).collect()
}

/// How many rows of a table say so.
fn rows(network: &mut Testbed, table: &str, name: &str, value: &Value) -> usize {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter(|cell| *cell == value).count()
}

/// Packets come to `b` each millisecond, and the link fails half a millisecond after one: what comes in the detection
/// time and until the write of the LSP is in force is lost.
#[test]
fn what_comes_before_the_write_is_lost_and_nothing_else() {
    for (lsps, write_ms) in [(1, 0), (1, 1), (20, 0), (20, 1), (200, 0)] {
        let mut network = ladder("one-to-one", lsps, write_ms as f64 * 1e3);
        network.run_until(Time(39 * S)).expect("a run");
        // `a` has no second way; `b` leads around the link, and `c` leads back by `b` and `n`.
        assert_eq!(rows(&mut network, "detours", "state", &json!("ready")), 2 * lsps);
        assert_eq!(rows(&mut network, "detours", "state", &json!("waiting")), lsps);
        let at = Time(40 * S + MS / 2);
        let fault = Fault::new(at, FaultKind::LinkDown { link: LinkId(1) }).until(Time(45 * S));
        network.fault(fault).expect("a fault");
        network.run_until(Time(44 * S)).expect("a run");
        assert_eq!(rows(&mut network, "detours", "in_use", &json!(true)), lsps);
        let mut expected = vec![10 + write_ms];
        expected.extend((lsps > 1).then_some(10 + write_ms * lsps as u64));
        assert_eq!(lost(&mut network), expected, "{lsps} LSPs, {write_ms} ms for each write");
        // Back on the link without loss, and nobody has lost anything since.
        network.run_until(Time(61 * S)).expect("a run");
        assert_eq!(rows(&mut network, "detours", "in_use", &json!(true)), 0);
        assert_eq!(lost(&mut network), expected);
        conserved(&mut network).expect("closed accounts");
    }
}

/// Beside the test above: with bypass tunnels the record of the port is all that is written, and writes of entries come
/// behind it.
#[test]
fn with_a_bypass_tunnel_no_lsp_waits_for_another() {
    let mut network = ladder("facility", 20, 1e3);
    network.run_until(Time(39 * S)).expect("a run");
    let at = Time(40 * S + MS / 2);
    network.fault(Fault::new(at, FaultKind::LinkDown { link: LinkId(1) })).expect("a fault");
    network.run_until(Time(44 * S)).expect("a run");
    assert_eq!(lost(&mut network), [10, 10]);
}

/// A protocol analyser that nobody here wrote reads what is signalled.
#[test]
fn tshark_reads_detours() {
    let mut network = ladder("one-to-one", 1, 0.0);
    let all = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let tap = network.world_mut().capture(all).expect("a capture");
    network.run_until(Time(25 * S)).expect("a run");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    if !testing::available("tshark") {
        return;
    }
    let path = std::env::temp_dir().join(format!("tester-detours-{}.pcapng", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-Y", "rsvp.detour.plr_id || _ws.malformed", "-T", "fields"]);
    for field in ["_ws.malformed", "rsvp.detour.plr_id", "rsvp.detour.avoid_node_id"] {
        tshark.args(["-e", field]);
    }
    let output = tshark.args(["-E", "separator=;"]).output().expect("tshark runs");
    std::fs::remove_file(&path).expect("the file");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // A Path on each of five links: by m, and back from c by b and n.
    assert!(said.lines().count() >= 5, "{said}");
    // Some versions of tshark show the bytes of these two the other way round.
    let known = |id: &str| id.starts_with("100.64.") || id.ends_with(".64.100");
    let pair = |line: &str| line.strip_prefix(';').is_some_and(|pair| pair.split(';').all(known));
    assert!(said.lines().all(pair), "{said}");
}

/// State and messages beside those of facility backup, for the page of the model: `cargo test ... -- --nocapture`.
#[test]
fn what_detours_cost_beside_bypass_tunnels() {
    for lsps in [1, 10, 100] {
        let mut cost = Vec::new();
        for method in ["facility", "one-to-one"] {
            let mut network = ladder(method, lsps, 0.0);
            network.run_until(Time(39 * S)).expect("a run");
            let speakers = || (0..6).map(|node| network.protocol::<Rsvp>(node).expect("RSVP-TE"));
            let blocks: usize = speakers().map(Rsvp::state_count).sum();
            let labels: usize = speakers().map(|rsvp| rsvp.audit().labels).sum();
            let sent = |kind| speakers().map(|rsvp| rsvp.counters().messages_sent(kind)).sum::<u64>();
            let before = sent(MessageType::Path) + sent(MessageType::Resv);
            network.run_until(Time(69 * S)).expect("a run");
            let speakers = || (0..6).map(|node| network.protocol::<Rsvp>(node).expect("RSVP-TE"));
            let sent = |kind| speakers().map(|rsvp| rsvp.counters().messages_sent(kind)).sum::<u64>();
            let refreshes = sent(MessageType::Path) + sent(MessageType::Resv) - before;
            println!(
                "{lsps} LSPs, {method}: {blocks} blocks, {labels} labels, {refreshes} refreshes in 30 s"
            );
            cost.push((blocks, labels));
        }
        // Each LSP is a block on four routers. A detour is one where it begins and on each router until it is merged:
        // at b and m, and at c, b and n. A bypass is one on each of its routers, whatever the number of LSPs.
        let [(blocks, labels), (more_blocks, more_labels)] = cost[..] else { panic!("two methods") };
        assert_eq!((blocks, more_blocks), (4 * lsps + 7, 9 * lsps));
        assert!(more_labels >= labels - 5 + 3 * lsps, "{cost:?}");
    }
}
