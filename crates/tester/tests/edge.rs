//! An emulated edge keeps to the labels that it was given.

use base::Time;
use base::device::DropReason;
use serde_json::json;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const S: u64 = 1_000_000_000_000;

/// A stream whose tunnel the edge itself tears down sends nothing more: the label is not its own any longer.
#[test]
fn streams_stop_with_their_tunnel() {
    let step =
        |at: u64, action: &str| json!({"at_ps": at, "action": action, "lsps": 0, "rate_per_s": 1000.0});
    let description = json!({
        "nodes": [
            {"name": "in", "kind": "edge", "programme": [step(0, "signal"), step(2 * S, "tear")]},
            {"name": "r", "kind": "router"},
            {"name": "out", "kind": "edge"},
        ],
        "links": [{"a": 0, "b": 1, "rate_bps": 1_000_000_000}, {"a": 1, "b": 2, "rate_bps": 1_000_000_000}],
        "lsps": [{"name": "l", "from": 0, "to": 2, "routes": [[1, 2]]}],
        // A packet every 512 us.
        "flows": [{"from": 0, "to": 2, "over": 0, "rate_bps": 1_000_000, "size": 64, "start_ps": S, "stop_ps": 3 * S}],
    });
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.world_mut().run_until(Time(4 * S)).expect("a run");
    let router = network.router(1).expect("a router").drops();
    assert_eq!(router.get(DropReason::UnknownLabel), 0, "the edge sent with a label that it had given back");
    let edge = network.edge(0).expect("an edge");
    let unsent = edge.drops().get(DropReason::NoRoute);
    // Half of the 3,907 packets are due after the tunnel is gone.
    assert!((1_950..=1_955).contains(&unsent), "{unsent} packets were not sent");
    let received: u64 = network.table_json("streams", None).expect("streams")["received"]
        .as_array()
        .map_or(0, |column| column.iter().filter_map(serde_json::Value::as_u64).sum());
    assert_eq!(received + unsent, 3_907);
}
