//! Packet-hops per second on a network with many flows, each of which takes the shortest path.
//!
//! `--workload FILE`: what `benches/networks.py` writes, the same for all simulators that are compared; `--runs N`
//! repeats the run and takes the median; `--threads N` lets up to so many threads work on the network, where they
//! pay, and `--threads tried` up to two, as is found by trying. Routers with real tables carry IPv4 packets from router
//! to router; capture is off. A packet-hop is a packet over a link between routers. Only the run is timed. Prints one
//! line of JSON; exit code 1 if a packet was lost.

use base::Time;
use engine::ThreadsFor;
use engine::external::Clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Nodes, links and flows, and when flows begin, when they stop, and when all packets have arrived.
#[derive(Default)]
struct Workload {
    nodes: usize,
    times: BTreeMap<String, u64>,
    links: Vec<Value>,
    flows: Vec<Value>,
    /// Links on the way of each flow.
    lengths: Vec<u64>,
}

impl Workload {
    fn read(text: &str) -> Workload {
        let mut read = Workload::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |place: usize| words[place].parse::<u64>().expect("a number");
            match words[0] {
                "nodes" => read.nodes = number(1) as usize,
                "link" => read.links.push(json!({
                    "a": number(1), "b": number(2), "rate_bps": number(3), "delay_ps": number(4),
                })),
                "flow" => {
                    let (period, size) = (number(1), number(3));
                    let way = &words[6..];
                    let node = |word: &str| word.parse::<u64>().expect("a node");
                    let rate = u128::from(size) * 8 * 1_000_000_000_000 / u128::from(period);
                    read.flows.push(json!({
                        "name": format!("f{}", read.flows.len()), "from": node(way[0]), "to": node(way[way.len() - 1]),
                        "rate_bps": rate as u64, "size": size, "arrivals": words[4],
                        "start_ps": number(2), "stop_ps": read.times["stop"],
                    }));
                    read.lengths.push(way.len() as u64 - 1);
                }
                time => {
                    read.times.insert(time.into(), number(1));
                }
            }
        }
        read
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|p| arguments.get(p + 1));
    let path = value("--workload").expect("--workload FILE");
    let runs = value("--runs").map_or(1, |n| n.parse::<usize>().expect("a number")).max(1);
    let threads = value("--threads").map_or("1", String::as_str);
    let text = std::fs::read_to_string(path).expect("a workload");
    let workload = Workload::read(&text);
    let mut found: Vec<Value> = (0..runs).map(|_| run(&workload, threads)).collect();
    let rate = |value: &Value| value["packet_hops_per_s"].as_f64().unwrap_or_default();
    found.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    let result = &found[runs / 2];
    println!("{result}");
    if result["sent"] != result["received"] {
        eprintln!("error: packets were lost");
        std::process::exit(1);
    }
}

fn run(workload: &Workload, threads: &str) -> Value {
    let node = |i: usize| json!({"name": format!("n{i}"), "kind": "router"});
    let description = json!({
        "seed": 1, "nodes": (0..workload.nodes).map(node).collect::<Vec<_>>(), "links": workload.links,
    });
    let clock = Instant::now();
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    let names = testing::Indexed::of(&description);
    for flow in &workload.flows {
        let flow = network.read_flow(&names.flow(flow)).expect("a flow");
        network.add_flow(flow).expect("a flow");
    }
    network.world_mut().run_until(Time(workload.times["begin"] - 1)).expect("a run");
    let built = clock.elapsed().as_secs_f64();
    match threads {
        "tried" => network.world_mut().try_threads(2, Clock::monotonic_ns),
        most => network.world_mut().set_threads(ThreadsFor::most(most.parse().expect("a number"))),
    }
    let before = network.world().events_done();
    let clock = Instant::now();
    network.world_mut().run_until(Time(workload.times["end"])).expect("a run");
    let seconds = clock.elapsed().as_secs_f64();
    let events = network.world().events_done() - before;
    let table = network.table_json("streams", None).expect("streams");
    let column = |name: &str| -> Vec<u64> {
        table[name].as_array().map_or(Vec::new(), |c| c.iter().filter_map(Value::as_u64).collect())
    };
    let (sent, received) = (column("sent"), column("received"));
    let hops: u64 = received.iter().zip(&workload.lengths).map(|(packets, links)| packets * links).sum();
    json!({
        "packet_hops_per_s": hops as f64 / seconds,
        "packet_hops": hops,
        "sent": sent.iter().sum::<u64>(),
        "received": received.iter().sum::<u64>(),
        "events_per_s": events as f64 / seconds,
        "wall_s": seconds,
        "build_s": built,
        "threads": format!("{:?}", network.world().threads()),
        "digest": network.world().digest().to_string(),
    })
}
