//! A flapping run on the clock of the machine: a ring of three routers, M labelled streams, N LSPs torn down and set up
//! again.
//!
//! `--streams M --flaps N --size BYTES --mbps R --seconds S [--routers 1|3] [--record]`: the whole run, sources, sinks,
//! histograms and series included. Prints one line of JSON; the same arguments always give the same digest. With
//! `--record` every device is recorded, so that nothing takes a fast path: the digest does not change.

use base::Time;
use serde_json::json;
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const SECOND: f64 = 1e12;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: f64| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(default)
    };
    let (streams, flaps) = (value("--streams", 500.0) as u64, value("--flaps", 500.0) as u64);
    let (size, mbps) = (value("--size", 64.0) as u64, value("--mbps", 761.904));
    let (seconds, routers) = (value("--seconds", 1.7), value("--routers", 3.0).max(1.0) as usize);
    let ps = |s: f64| (s * SECOND) as u64;
    let start = streams as f64 / 1000.0 + flaps as f64 / 1000.0 + 2.0;
    let step = |at: f64, action: &str, lsps: u64| json!({"at_ps": ps(at), "action": action, "lsps": lsps, "rate_per_s": 1000.0});
    let programme = json!([
        step(0.0, "signal", 0),
        step(streams as f64 / 1000.0, "signal", 1),
        step(start + seconds * 10.0 / 17.0, "flap", 1),
        step(start + seconds * 15.0 / 17.0, "flap", 1),
    ]);
    let profile = json!({"name": "bench", "forwarding": {"latency_ns": 5940.0, "latency_ns_per_byte": 8.48}});
    let mut nodes = vec![json!({"name": "in", "kind": "edge", "programme": programme})];
    nodes
        .extend((0..routers).map(|r| json!({"name": format!("r{r}"), "kind": "router", "profile": profile})));
    nodes.push(json!({"name": "out", "kind": "edge"}));
    let delay = |l: usize| if l > 0 && l < routers { 57_000_000 } else { 0 };
    let link = |l: usize| json!({"a": l, "b": l + 1, "rate_bps": 1_000_000_000, "delay_ps": delay(l)});
    let route: Vec<usize> = (1..routers + 2).collect();
    let group = |name: &str, count: u64| json!({"name": name, "from": 0, "to": routers + 1, "count": count, "routes": [route]});
    let description = json!({
        "seed": 1,
        "nodes": nodes,
        "links": (0..=routers).map(link).collect::<Vec<_>>(),
        "lsps": [group("stable", streams), group("flapped", flaps)],
        "flows": [{"from": 0, "to": routers + 1, "over": 0, "rate_bps": (mbps * 1e6) as u64, "size": size,
                   "start_ps": ps(start), "stop_ps": ps(start + seconds)}],
        "phases_ps": [ps(start), ps(start + seconds * 10.0 / 17.0)],
    });
    let file = NetworkFile::read_part(&testing::described(&description)).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    if arguments.iter().any(|a| a == "--record") {
        (0..routers as u32 + 2).for_each(|n| network.world_mut().record(base::NodeId(n)).expect("a device"));
    }
    network.world_mut().run_until(Time(ps(start) - 1)).expect("signalling");
    let clock = Instant::now();
    network.world_mut().run_until(Time(ps(start + seconds + 1.0))).expect("a run");
    let elapsed = clock.elapsed().as_secs_f64();
    let table = network.table_json("streams", None).expect("streams");
    let sum = |column: &str| -> u64 {
        table[column].as_array().map_or(0, |c| c.iter().filter_map(|v| v.as_u64()).sum())
    };
    let received = sum("received");
    let result = json!({
        "packet_hops_per_s": (received * (routers as u64 + 1)) as f64 / elapsed,
        "ns_per_packet": elapsed * 1e9 / received.max(1) as f64,
        "packets": received,
        "lost": sum("lost"),
        "delay_p99_s": table["delay_p99_s"][0],
        "seconds": elapsed,
        "digest": network.world().digest().to_string(),
    });
    println!("{result}");
}
