//! A point-to-multipoint LSP with many leaves, signalled by RSVP-TE.
//!
//! `--leaves N --depth N`: routers stand in a tree, two below each, so deep that there are as many leaves at the
//! bottom. Explicit routes lead there over links of 10 Gbit/s and 10 us. `--separate`: a Path message for each leaf.
//! Timed is the run from the root's first message until the network is quiet; building it is not. One line of JSON:
//! `ms` by the clock on the wall, `processor_ms` of the processor, which a busy machine changes less.

use base::Time;
use serde_json::{Value, json};
use std::time::Instant;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const SECOND: u64 = 1_000_000_000_000;

/// Milliseconds that this process has had of the processor; none where the system does not say.
fn processor_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e6)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: usize| {
        let place = arguments.iter().position(|a| a == name);
        place.and_then(|p| arguments.get(p + 1)?.parse().ok()).unwrap_or(default)
    };
    let (leaves, depth) = (value("--leaves", 1_000), value("--depth", 10));
    let name = |level: usize, place: usize| format!("r{level}-{place}");
    // As many on each level as have leaves below them.
    let on_level = |level: usize| leaves.div_ceil(1 << (depth - level));
    let all = || (0..=depth).flat_map(|level| (0..on_level(level)).map(move |place| (level, place)));
    let nodes: serde_json::Map<String, Value> =
        all().map(|(level, place)| (name(level, place), json!({"kind": "router"}))).collect();
    let link = |(level, place): (usize, usize)| {
        let ends = [name(level - 1, place / 2), name(level, place)];
        json!({"endpoints": ends, "rate": "10 Gbit/s", "delay": "10 us"})
    };
    let links: Vec<Value> = all().filter(|(level, _)| *level > 0).map(link).collect();
    let way = |leaf: usize| (1..=depth).map(|level| name(level, leaf >> (depth - level))).collect::<Vec<_>>();
    let routes: serde_json::Map<String, Value> =
        (0..leaves).map(|leaf| (name(depth, leaf), json!(way(leaf)))).collect();
    let ends: Vec<String> = (0..leaves).map(|leaf| name(depth, leaf)).collect();
    let signalling = if arguments.iter().any(|one| one == "--separate") { "separate" } else { "together" };
    let tree = json!({"name": "tree", "root": name(0, 0), "leaves": ends, "routes": routes, "group": "239.1.1.1",
        "signalling": signalling});
    let described = json!({"name": "tree", "nodes": nodes, "links": links, "p2mp": [tree]});
    let file =
        NetworkFile::read_part(&serde_json::from_value(described).expect("a value")).expect("a description");
    let mut network = Testbed::new(&file).expect("a network");
    network.run_until(Time(1)).expect("a run");
    let (clock, before) = (Instant::now(), processor_ms());
    network.run_until(Time(SECOND)).expect("a run");
    let seconds = clock.elapsed().as_secs_f64();
    let processor = processor_ms().zip(before).map(|(after, before)| after - before);
    let rows = network.table_json("s2ls", None).expect("a table");
    let up = rows["state"].as_array().map_or(0, |all| all.iter().filter(|state| *state == "up").count());
    println!(
        "{}",
        json!({"leaves": leaves, "up": up, "ms": seconds * 1e3, "processor_ms": processor,
            "digest": network.world().digest().to_string()})
    );
    assert_eq!(up, leaves, "leaves that are not up");
}
