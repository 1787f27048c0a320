//! A large sparse network of explicitly routed LSPs: how long it takes to build, to signal and to report.
//!
//! `--nodes N --lsps L`: a ring with a chord at every fifth node (895 links for 754 nodes, as Topology Zoo's Kdl has),
//! and L LSPs, one to a group, between nodes up to 30 links apart, each with a traced flow of three probes. Prints one
//! line of JSON.

use base::Time;
use serde_json::{Value, json};
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const SECOND: u64 = 1_000_000_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: usize| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(default)
    };
    let (nodes, lsps) = (value("--nodes", 754).max(40), value("--lsps", 100_000));
    let link =
        |a: usize, b: usize| json!({"a": a, "b": b, "rate_bps": 10_000_000_000u64, "delay_ps": 100_000_000});
    let mut links: Vec<Value> = (0..nodes).map(|i| link(i, (i + 1) % nodes)).collect();
    links.extend((0..nodes / 5 - 8).map(|i| link(5 * i, (5 * i + 37) % nodes)));
    let node = |i: usize| json!({"name": format!("n{i}"), "kind": "router"});
    let description = json!({"seed": 1, "nodes": (0..nodes).map(node).collect::<Vec<_>>(), "links": links, "phases_ps": [0]});
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let clock = Instant::now();
    let mut network = Testbed::new(&file).expect("a network");
    let built = clock.elapsed().as_secs_f64();
    let mut names = testing::Indexed::of(&description);
    let mut hops = 0;
    for i in 0..lsps {
        let (from, length) = (i * 7 % nodes, 1 + i / nodes * 11 % 30);
        let route: Vec<usize> = (1..=length).map(|hop| (from + hop) % nodes).collect();
        hops += length;
        let lsp =
            json!({"name": format!("l{i}"), "from": from, "to": (from + length) % nodes, "routes": [route]});
        let lsp = network.read_lsp(&names.lsp(&lsp)).expect("an LSP");
        names.add_lsp(&lsp.name);
        let group = network.add_lsp(lsp).expect("an LSP");
        let flow = json!({"from": from, "to": (from + length) % nodes, "over": group, "rate_bps": 1_000_000, "size": 128,
            "start_ps": 10 * SECOND, "stop_ps": 10 * SECOND + 3 * 1_024_000_000u64 - 1, "trace": true});
        let flow = network.read_flow(&names.flow(&flow)).expect("a flow");
        network.add_flow(flow).expect("a flow");
    }
    let added = clock.elapsed().as_secs_f64() - built;
    network.world_mut().run_until(Time(10 * SECOND - 1)).expect("signalling");
    let signalled = clock.elapsed().as_secs_f64() - built - added;
    network.world_mut().run_until(Time(12 * SECOND)).expect("probes");
    let probed = clock.elapsed().as_secs_f64() - built - added - signalled;
    let sum = |table: &Value, column: &str| -> u64 {
        table[column].as_array().map_or(0, |c| c.iter().filter_map(Value::as_u64).sum())
    };
    let streams = network.table_json("streams", None).expect("streams");
    let routes = network.table_json("routes", None).expect("routes");
    let reported = clock.elapsed().as_secs_f64() - built - added - signalled - probed;
    let result = json!({
        "lsps": lsps, "hops": hops, "build_s": built, "add_s": added, "signal_s": signalled, "probe_s": probed,
        "report_s": reported, "received": sum(&streams, "received"), "lost": sum(&streams, "lost"),
        "wrong_routes": sum(&routes, "wrong"), "digest": network.world().digest().to_string(),
    });
    println!("{result}");
}
