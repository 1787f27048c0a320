//! The fast paths of sources, routers and sinks change nothing: with every device recorded, none of them is taken.

use base::{NodeId, Time};
use proptest::prelude::*;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const MS: u64 = 1_000_000_000;

/// Streams over flapping LSPs between two edges, probes beside the routers, and Poisson sources, for 100 ms.
fn description(seed: u64, routers: usize, streams: u64, mbps: u64, size: u32, delay_us: u64) -> Value {
    let step = |at: u64, action: &str, lsps: u64| json!({"at_ps": at * MS, "action": action, "lsps": lsps, "rate_per_s": 2000.0});
    let programme =
        json!([step(0, "signal", 0), step(0, "signal", 1), step(40, "flap", 1), step(60, "flap", 0)]);
    let profile = json!({"forwarding": {"latency_ns": 5940.0, "latency_ns_per_byte": 8.48}, "control": {"path_us": 150.0}});
    let mut nodes = vec![json!({"name": "in", "kind": "edge", "programme": programme})];
    nodes
        .extend((0..routers).map(|r| json!({"name": format!("r{r}"), "kind": "router", "profile": profile})));
    nodes.push(json!({"name": "out", "kind": "edge"}));
    let delay = |l: usize| if l > 0 && l < routers { delay_us * 1_000_000 } else { 0 };
    let link = |l: usize| json!({"a": l, "b": l + 1, "rate_bps": 1_000_000_000, "delay_ps": delay(l), "buffer_bytes": 20_000});
    let route: Vec<usize> = (1..routers + 2).collect();
    let group =
        |name: &str| json!({"name": name, "from": 0, "to": routers + 1, "count": streams, "routes": [route]});
    let end = 100 * MS;
    json!({
        "seed": seed,
        "nodes": nodes,
        "links": (0..=routers).map(link).collect::<Vec<_>>(),
        "lsps": [group("stable"), group("flapped")],
        "flows": [
            {"from": 0, "to": routers + 1, "over": 0, "rate_bps": mbps * 1_000_000, "size": size, "start_ps": 20 * MS, "stop_ps": end},
            {"from": 0, "to": routers + 1, "over": 1, "rate_bps": 50_000_000, "size": 300, "start_ps": 30 * MS, "stop_ps": end},
            {"name": "east", "from": 1, "to": routers, "rate_bps": 90_000_000, "size": 200, "arrivals": "poisson", "start_ps": 10 * MS, "stop_ps": end},
            {"name": "west", "from": routers, "to": 1, "rate_bps": 90_000_000, "size": 900, "arrivals": "poisson", "start_ps": 10 * MS, "stop_ps": end},
        ],
        "phases_ps": [20 * MS, 40 * MS],
        "series_bin_ps": 5 * MS,
    })
}

/// The digest and the tables of a run.
fn run(description: &Value, recorded: bool, step: u64) -> (String, Vec<Value>) {
    let file = NetworkFile::read_part(&testing::described(description)).expect("a description");
    let nodes = file.network.nodes.len() as u32;
    let mut network = Testbed::new(&file).expect("a network");
    if recorded {
        (0..nodes).for_each(|n| network.world_mut().record(NodeId(n)).expect("a device"));
    }
    for at in (1..).map(|n| n * step).take_while(|at| *at < 120 * MS).chain([120 * MS]) {
        network.world_mut().run_until(Time(at)).expect("a run");
    }
    let names = ["streams", "series", "lsp_log", "messages", "ports", "drops", "steps"];
    let tables = names.map(|name| network.table_json(name, None).expect("a table"));
    (network.world().digest().to_string(), tables.to_vec())
}

proptest! {
    #![proptest_config(testing::cases(12))]
    #[test]
    fn fast_paths_change_nothing(
        seed in 0u64..1000,
        routers in 2usize..4,
        streams in 1u64..6,
        mbps in prop::sample::select(vec![1u64, 200, 761]),
        size in prop::sample::select(vec![64u32, 512, 1500]),
        delay_us in 0u64..60,
        step in prop::sample::select(vec![200 * MS, 7 * MS]),
    ) {
        let description = description(seed, routers, streams, mbps, size, delay_us);
        let (fast, slow) = (run(&description, false, step), run(&description, true, 200 * MS));
        prop_assert!(fast.1[0]["received"].as_array().is_some_and(|c| c.iter().any(|n| n.as_u64() > Some(0))));
        prop_assert_eq!(fast, slow);
    }
}
