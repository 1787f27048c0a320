//! Packet-hops per second of the engine on a chain of label-switching routers with real tables, capture off.
//!
//! `--nodes N --packets P`: N nodes in a chain (an emulated edge at each end, routers between), links of 1 Gbit/s, one
//! LSP, one flow of constant bit rate with 64 bytes of UDP payload. A packet-hop is a packet over a link. Prints one
//! line of JSON.

use base::Time;
use serde_json::json;
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: u64| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(default)
    };
    let (nodes, packets) = (value("--nodes", 10).max(3) as usize, value("--packets", 2_000_000));
    let size = 14 + 4 + 20 + 8 + 64 + 4;
    let rate_bps = 700_000_000u64;
    let start = 1_000_000_000_000u64;
    let duration = u128::from(packets) * u128::from(size * 8u64) * 1_000_000_000_000 / u128::from(rate_bps);
    let kind = |i: usize| if i == 0 || i + 1 == nodes { "edge" } else { "router" };
    let programme = json!([{"at_ps": 0, "action": "signal", "lsps": 0, "rate_per_s": 1000.0}]);
    let node = |i: usize| match i {
        0 => json!({"name": "n0", "kind": kind(0), "programme": programme}),
        _ => json!({"name": format!("n{i}"), "kind": kind(i)}),
    };
    let description = json!({
        "seed": 1,
        "nodes": (0..nodes).map(node).collect::<Vec<_>>(),
        "links": (1..nodes).map(|i| json!({"a": i - 1, "b": i, "rate_bps": 1_000_000_000, "delay_ps": 1_000_000}))
            .collect::<Vec<_>>(),
        "lsps": [{"name": "lsp", "from": 0, "to": nodes - 1, "routes": [(1..nodes).collect::<Vec<_>>()]}],
        "flows": [{"from": 0, "to": nodes - 1, "over": 0, "rate_bps": rate_bps, "size": size,
                   "start_ps": start, "stop_ps": start + duration as u64}],
    });
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.world_mut().run_until(Time(start - 1)).expect("signalling");
    let before = network.world().events_done();
    let clock = Instant::now();
    network.world_mut().run_until(Time(start + duration as u64 + 1_000_000_000_000)).expect("a run");
    let seconds = clock.elapsed().as_secs_f64();
    let table = network.table_json("streams", None).expect("streams");
    let received: u64 = table["received"].as_array().map_or(0, |c| c.iter().filter_map(|v| v.as_u64()).sum());
    let hops = received * (nodes as u64 - 1);
    let result = json!({
        "packet_hops_per_s": hops as f64 / seconds,
        "events_per_s": (network.world().events_done() - before) as f64 / seconds,
        "packets": received,
        "nodes": nodes,
        "seconds": seconds,
        "digest": network.world().digest().to_string(),
    });
    println!("{result}");
}
