//! A network that finds its routes, for profilers: what `benches/routed.py` measures, without Python.
//!
//! `--routers N --links N`: on a random tree with random links beside. `--ldp`: labels, too. `--until S`: so many
//! seconds of the network's own time, and `--from S`: figures begin there. One line of JSON: seconds of this machine,
//! and the most memory in megabytes before and after.

use base::Time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const SECOND: u64 = 1_000_000_000_000;

/// Numbers that look like chance, and are always the same (xorshift).
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The most memory that the process has had, in megabytes.
fn most_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: usize| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(default)
    };
    let (routers, links) = (value("--routers", 300), value("--links", 360));
    let (from, until) = (value("--from", 0) as u64, value("--until", 60) as u64);
    let mut drawn = Drawn(0x9e37_79b9_7f4a_7c15);
    let mut said: BTreeSet<(usize, usize)> = (1..routers).map(|place| (drawn.below(place), place)).collect();
    while said.len() < links {
        let (a, b) = (drawn.below(routers), drawn.below(routers));
        if a != b {
            said.insert((a.min(b), a.max(b)));
        }
    }
    let node = json!({"kind": "router", "ospf": true, "ldp": arguments.iter().any(|one| one == "--ldp")});
    let nodes: serde_json::Map<String, Value> =
        (0..routers).map(|n| (format!("r{n}"), node.clone())).collect();
    let link = |(a, b): (usize, usize), metric: usize| {
        let ends = [format!("r{a}"), format!("r{b}")];
        json!({"endpoints": ends, "rate": "1 Gbit/s", "delay": "1 ms", "metric": metric})
    };
    let links: Vec<Value> = said.into_iter().map(|ends| link(ends, 1 + drawn.below(100))).collect();
    let described = json!({"name": "routed", "nodes": nodes, "links": links});
    let file =
        NetworkFile::read_part(&serde_json::from_value(described).expect("a value")).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.run_until(Time(from * SECOND)).expect("a run");
    let (clock, before) = (Instant::now(), most_mb());
    network.run_until(Time(until * SECOND)).expect("a run");
    let seconds = clock.elapsed().as_secs_f64();
    println!(
        "{}",
        json!({"seconds": seconds, "before_mb": before, "most_mb": most_mb(),
        "digest": network.world().digest().to_string()})
    );
}
