//! Networks that threads share, their devices shared out at random: what they leave is what one thread leaves, to the
//! byte.

use crate::common::MS;
use base::random::Stream;
use base::{LinkId, NodeId, Rate, Span, Streams, Time};
use engine::{CaptureId, CaptureSpec, CaptureTarget, CaptureTo, Direction, Fault, FaultKind, ThreadsFor};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Tables that have to be the same.
const TABLES: [&str; 14] = [
    "balance",
    "drops",
    "events",
    "flow_accounts",
    "losses",
    "lsps",
    "messages",
    "ospf",
    "ports",
    "processors",
    "queues",
    "rib",
    "state",
    "streams",
];

fn one<T: Clone>(random: &mut Stream, of: &[T]) -> T {
    of[random.random_range(0..of.len())].clone()
}

/// A network, what fails in it, and what else is done.
struct Drawn {
    described: Value,
    faults: Vec<Fault>,
    captured: Option<LinkId>,
    /// Times at which devices are shared out anew, the end last.
    times: Vec<u64>,
    /// A flow that comes while the network runs, with each of these times but the last.
    later: Vec<Value>,
    features: BTreeSet<&'static str>,
}

/// Routers in a ring with chords, hosts at some of them, disciplines, LSPs, and flows of all kinds. Routers of some
/// networks speak OSPF: then all takes longer, since its timers count in seconds.
fn drawn(seed: u64) -> Drawn {
    let random = &mut Streams::new(seed).stream("threads");
    let mut features = BTreeSet::new();
    let routers = random.random_range(4..9);
    let router = |node: usize| format!("r{}", node % routers);
    let ospf = random.random_bool(0.25);
    let end = if ospf { 2_500 } else { 400 };
    let mut nodes = serde_json::Map::new();
    for node in 0..routers {
        let mut said = json!({"kind": "router", "rsvp": {"hello": one(random, &["50 ms", "9 s"])}});
        if ospf {
            features.insert("OSPF");
            said["ospf"] = json!({"hello_interval": "1 s", "dead_interval": "3 s"});
        }
        nodes.insert(router(node), said);
    }
    let chords =
        (0..random.random_range(0..4)).map(|_| (random.random_range(0..routers), random.random_range(2..4)));
    let chords: Vec<_> = chords.map(|(from, far)| (from, from + far)).collect();
    let mut links = Vec::new();
    for (a, b) in (0..routers).map(|node| (node, node + 1)).chain(chords) {
        let mut link = json!({
            "endpoints": [router(a), router(b)], "rate": one(random, &["4 Mbit/s", "20 Mbit/s", "100 Mbit/s"]),
            "delay": one(random, &["20 us", "500 us", "3 ms"]), "detection": one(random, &["1 ms", "20 ms"]),
            "buffer": one(random, &["3 kB", "20 kB"]),
        });
        if random.random_bool(0.3) {
            features.insert("disciplines");
            let fast = json!([{"phb": "EF", "class": "fast"}]);
            let root = one(
                random,
                &[
                    json!({"discipline": "red", "limit": "60 kB", "min": "5 kB", "max": "20 kB", "avpkt": 700, "burst": "14 kB"}),
                    json!({"discipline": "fq-codel", "target": "2 ms"}),
                    json!({"discipline": "tbf", "rate": "3 Mbit/s", "burst": "6 kB", "latency": "20 ms"}),
                    json!({"discipline": "drr", "classes": {"fast": {"quantum": 500}, "slow": {}}, "filters": fast}),
                    json!({"discipline": "htb", "default": "slow", "filters": fast,
                    "classes": {"fast": {"rate": "1 Mbit/s"}, "slow": {"rate": "3 Mbit/s"}}}),
                ],
            );
            link["queue"] = json!({router(a): {"root": root}});
        }
        links.push(link);
    }
    let hosts = one(random, &[0, 2, 3]);
    for host in 0..hosts {
        features.insert("hosts");
        nodes.insert(format!("h{host}"), json!({"kind": "host", "address": format!("10.9.{host}.2/24")}));
        let near = router(random.random_range(0..routers));
        links.push(json!({"endpoints": [format!("h{host}"), near], "rate": "20 Mbit/s", "delay": one(random, &["20 us", "2 ms"])}));
    }
    let (mut lsps, mut flows) = (Vec::new(), Vec::new());
    let ends = |random: &mut Stream| {
        let from = random.random_range(0..routers);
        (router(from), router(from + random.random_range(1..routers)))
    };
    for number in 0..random.random_range(1..4) {
        let (from, to) = ends(random);
        lsps.push(
            json!({"name": format!("l{number}"), "from": from, "to": to, "count": random.random_range(1..3)}),
        );
        let mut flow = flow(random, &mut features, format!("over{number}"), from, to);
        flow["over"] = json!(format!("l{number}"));
        flows.push(flow);
    }
    for number in 0..random.random_range(1..4) {
        let (from, to) = ends(random);
        flows.push(flow(random, &mut features, format!("f{number}"), from, to));
    }
    for host in 0..hosts {
        let (from, to) = (format!("h{host}"), format!("h{}", (host + 1) % hosts));
        flows.push(flow(random, &mut features, format!("g{host}"), from, to));
    }
    let faults = (0..random.random_range(0..5))
        .map(|_| fault(random, &mut features, routers, links.len(), end))
        .collect();
    let captured = random.random_bool(0.2).then(|| {
        features.insert("captures");
        LinkId(random.random_range(0..links.len() as u32))
    });
    let mut times: Vec<u64> = (0..random.random_range(1..5)).map(|_| random.random_range(1..end)).collect();
    times.sort_unstable();
    let later = (0..times.len())
        .map(|number| {
            let (from, to) = ends(random);
            flow(random, &mut features, format!("later{number}"), from, to)
        })
        .collect();
    times.push(end);
    let seed = random.random_range(0..1u64 << 48);
    let described =
        json!({"name": "drawn", "seed": seed, "nodes": nodes, "links": links, "lsps": lsps, "flows": flows});
    Drawn { described, faults, captured, times, later, features }
}

fn flow(
    random: &mut Stream,
    features: &mut BTreeSet<&'static str>,
    name: String,
    from: String,
    to: String,
) -> Value {
    let (kind, arrivals) = match random.random_range(0..4) {
        0 => ("constant", json!("constant")),
        1 => ("poisson", json!("poisson")),
        2 => (
            "on-off",
            json!({"kind": "on-off", "on": {"mean": "20 ms", "kind": "pareto", "shape": 1.5}, "off": {"mean": "30 ms"}}),
        ),
        _ => {
            let count = random.random_range(3..40);
            let gaps: Vec<_> = (0..count).map(|_| format!("{} us", random.random_range(0..5_000))).collect();
            let sizes: Vec<_> = (0..count).map(|_| random.random_range(64..1_519)).collect();
            let repeat = random.random_bool(0.8);
            ("a trace", json!({"kind": "trace", "gaps": gaps, "sizes": sizes, "repeat": repeat}))
        }
    };
    features.insert(kind);
    let mut flow = json!({"name": name, "from": from, "to": to, "arrivals": arrivals, "dscp": one(random, &["EF", "BE"])});
    if kind != "a trace" {
        flow["rate"] = json!(one(random, &["300 kbit/s", "2 Mbit/s"]));
        flow["size"] = json!(one(random, &[100, 700, 1_500]));
    }
    flow
}

fn fault(
    random: &mut Stream,
    features: &mut BTreeSet<&'static str>,
    routers: usize,
    links: usize,
    end: u64,
) -> Fault {
    let at = Time(random.random_range(0..end) * MS);
    let link = LinkId(random.random_range(0..links as u32));
    let node = NodeId(random.random_range(0..routers as u32));
    let direction = one(random, &[Direction::Forth, Direction::Back, Direction::Both]);
    let probability = 0.2;
    let (name, kind) = match random.random_range(0..8) {
        0 => {
            features.insert("a node that restarts");
            return Fault::new(at, FaultKind::NodeRestart { node, down_for: Span::from_ms(30) });
        }
        1 => ("a node that fails", FaultKind::NodeDown { node }),
        2 | 3 => ("a link that fails", FaultKind::LinkDown { link }),
        4 => ("loss", FaultKind::Loss { link, direction, probability }),
        5 => ("duplication", FaultKind::Duplication { link, direction, probability }),
        6 => {
            let (extra, jitter) = (Span::from_ms(1), Span::from_ms(2));
            ("delay", FaultKind::Delay { link, direction, extra, jitter })
        }
        _ => ("a limit", FaultKind::RateLimit { link, direction, rate: Rate(1_000_000) }),
    };
    features.insert(name);
    Fault::new(at, kind).until(at + Span::from_ms(random.random_range(5..60)))
}

fn built(drawn: &Drawn) -> (Testbed, Option<CaptureId>) {
    let value = serde_json::from_value(drawn.described.clone()).expect("a value");
    let file = NetworkFile::read_part(&value)
        .unwrap_or_else(|error| panic!("{}: {}", error.words(), drawn.described));
    let mut network = Testbed::new(&file).unwrap_or_else(|error| panic!("{error}: {}", drawn.described));
    for fault in &drawn.faults {
        network.fault(fault.clone()).expect("a fault");
    }
    let capture = drawn.captured.map(|link| {
        let spec = CaptureSpec::new(CaptureTarget::Link(link), CaptureTo::Memory);
        network.world_mut().capture(spec).expect("a capture")
    });
    (network, capture)
}

/// Some of the routers and hosts to each world, and with each router the port beside it, which is as near as can be.
fn owners(random: &mut Stream, network: &Testbed, worlds: u16) -> Vec<u16> {
    let mut owners = vec![0; network.world().node_count()];
    let nodes = network.description().nodes.len();
    for node in 0..nodes {
        // The first ones see to it that no world is left out.
        owners[node] = if node < usize::from(worlds) { node as u16 } else { random.random_range(0..worlds) };
        if let Some((beside, _)) = network.beside(node) {
            owners[beside.index()] = owners[node];
        }
    }
    owners
}

/// What a run left, and how many of its stretches more than one thread worked on.
fn run(drawn: &Drawn, seed: u64, threads: usize, at_random: bool) -> (Vec<String>, usize) {
    let random = &mut Streams::new(seed).stream("owners");
    let (mut network, capture) = built(drawn);
    network.world_mut().set_threads(ThreadsFor { most: threads, least_events: 0 });
    let mut shared = 0;
    for (place, &time) in drawn.times.iter().enumerate() {
        if at_random {
            let worlds = random.random_range(2..5);
            let owners = owners(random, &network, worlds);
            network.world_mut().set_owners(Some(owners));
        }
        network.run_until(Time(time * MS)).unwrap_or_else(|error| panic!("{error}: {}", drawn.described));
        shared += usize::from(network.world().threads().count() > 1);
        if let Some(flow) = drawn.later.get(place) {
            let value = serde_json::from_value(flow.clone()).expect("a value");
            let spec = network.read_flow(&value).expect("a flow");
            network.add_flow(spec).expect("a flow");
        }
    }
    assert!(network.world().audit().is_empty(), "{:?}", network.world().audit());
    let mut left = vec![network.world().digest().to_string()];
    left.extend(TABLES.map(|name| format!("{name} {}", network.table_json(name, None).expect("a table"))));
    if let Some(capture) = capture {
        left.push(format!("{:?}", network.world_mut().finish_capture(capture).expect("a capture").bytes));
    }
    (left, shared)
}

#[test]
fn networks_do_not_tell_how_they_were_shared_out() {
    const COUNT: u64 = 8;
    let runs = testing::runs(COUNT);
    let whole = runs.end - runs.start >= COUNT;
    let (mut occurred, mut networks, mut parted, mut stretches) = (BTreeMap::new(), 0, 0, 0);
    for seed in runs {
        let drawn = drawn(seed);
        let (one, alone) = run(&drawn, seed, 1, false);
        assert_eq!(alone, 0);
        let mut shared = 0;
        for (threads, at_random) in [(2, false), (4, true)] {
            let (several, how_often) = run(&drawn, seed, threads, at_random);
            for (several, one) in several.iter().zip(&one) {
                assert!(
                    several == one,
                    "run {seed}, {threads} threads:\n{several}\n{one}\n{}",
                    drawn.described
                );
            }
            assert!(drawn.captured.is_none() || how_often == 0, "frames are captured in the order of time");
            shared += if at_random { how_often } else { 0 };
        }
        networks += 1;
        parted += usize::from(shared > 0);
        stretches += shared;
        if one.iter().any(|table| table.contains("ospf-adjacent")) {
            *occurred.entry("adjacencies").or_insert(0) += 1;
        }
        drawn.features.iter().for_each(|feature| *occurred.entry(*feature).or_insert(0) += 1);
    }
    println!(
        "{networks} networks, {parted} of them parted at random in {stretches} stretches; with {occurred:?}"
    );
    if whole {
        assert!(parted * 2 > networks, "{parted} of {networks}");
        let needed = [
            "adjacencies",
            "disciplines",
            "hosts",
            "captures",
            "poisson",
            "on-off",
            "a trace",
            "a node that restarts",
        ];
        assert!(needed.iter().all(|feature| occurred.contains_key(feature)), "{occurred:?}");
    }
}
