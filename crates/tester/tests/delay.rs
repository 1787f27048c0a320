//! Delay through whole routers of the `ideal` profile: a lone stream against the closed-form sum, many streams against
//! a recursion over departure times that shares no code with the engine.

use crate::common::{S, conserved, network, routers, run};
use base::{StreamId, Time};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bytes that a frame takes on the wire beyond its own.
const OVERHEAD: u64 = 20;
/// Picoseconds times bits per byte.
const BYTE: u128 = 8 * S as u128;

#[derive(Clone, Debug)]
struct Lone {
    /// Rate and propagation of each link.
    hops: Vec<(u64, u64)>,
    size: u64,
    /// Rate of the stream in thousandths of the slowest link's.
    load: u64,
    egress: &'static str,
    /// Do emulated edges send and receive, or probes beside the first and the last router?
    edges: bool,
}

fn lone() -> impl Strategy<Value = Lone> {
    let rates = prop_oneof![
        Just(1_000_000_000u64),
        Just(10_000_000_000),
        Just(3_000_000_000), // 8/3 ns a byte
        1_000_000u64..100_000_000_000,
    ];
    let hops = proptest::collection::vec((rates, 0u64..20_000_000_000), 2..7);
    let egress = prop_oneof![Just("real"), Just("implicit-null"), Just("explicit-null")];
    (hops, 64u64..9_000, 10u64..950, egress, any::<bool>())
        .prop_map(|(hops, size, load, egress, edges)| Lone { hops, size, load, egress, edges })
}

impl Lone {
    /// Bytes of the frame on each link.
    fn sizes(&self) -> Vec<u64> {
        let label = 4;
        let labelled = if self.edges { self.size } else { self.size + label };
        let mut sizes = vec![labelled; self.hops.len()];
        if self.egress == "implicit-null" {
            // The router before the last pops, and a frame is padded to the least length.
            *sizes.last_mut().expect("a hop") = (labelled - label).max(64);
        }
        sizes
    }

    /// The sum of serialisations, each from a standing start, and propagations.
    fn closed_form(&self) -> u64 {
        let hops = self.hops.iter().zip(self.sizes());
        hops.map(|(&(rate, delay), size)| (u128::from(size) * BYTE / u128::from(rate)) as u64 + delay).sum()
    }

    fn description(&self, packets: u64) -> Value {
        let count = self.hops.len() + 1;
        let last = count - 1;
        let mut nodes = routers(count, &json!({"egress_label": self.egress, "refresh_ps": 3_600 * S}));
        if self.edges {
            nodes[0]["kind"] = json!("edge");
            nodes[0]["programme"] = json!([{"at_ps": 0, "action": "signal", "lsps": 0, "rate_per_s": 0.0}]);
            nodes[last]["kind"] = json!("edge");
        }
        let links: Vec<Value> = self
            .hops
            .iter()
            .enumerate()
            .map(|(i, &(rate, delay))| json!({"a": i, "b": i + 1, "rate_bps": rate, "delay_ps": delay}))
            .collect();
        // Below the slowest link, where every frame is longest: each packet finds every port idle.
        let slowest = self.hops.iter().map(|hop| hop.0).min().expect("a hop");
        let longest = self.size + 4 + OVERHEAD;
        let rate =
            (u128::from(slowest) * u128::from(self.load * self.size) / u128::from(1_000 * longest)) as u64;
        let rate = rate.max(1_000);
        let stop = 10 * S
            + u64::try_from(u128::from(packets * self.size) * BYTE / u128::from(rate)).expect("a time");
        json!({
            "seed": 1, "nodes": nodes, "links": links, "convention": "first-to-last",
            "lsps": [{"name": "lsp", "from": 0, "to": last, "routes": [(1..count).collect::<Vec<_>>()]}],
            "flows": [{"from": 0, "to": last, "over": 0, "rate_bps": rate, "size": self.size, "start_ps": 10 * S, "stop_ps": stop}],
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..testing::cases(512) })]

    #[test]
    fn a_lone_stream_takes_what_the_closed_form_says(lone in lone()) {
        let mut network = network(lone.description(50));
        let last = lone.hops.len();
        network.keep_log(last);
        run(&mut network, 1_000 * S);
        let log = network.sink(last).expect("a sink").log().to_vec();
        prop_assert!(log.len() >= 50, "{} packets", log.len());
        let expected = lone.closed_form();
        for (number, entry) in log.iter().enumerate() {
            prop_assert_eq!(entry.stamp.sequence as usize, number);
            prop_assert_eq!((entry.arrival - entry.stamp.departure).0 as u64, expected, "packet {}", number);
            let length = if lone.edges { lone.sizes()[lone.hops.len() - 1] } else { lone.size };
            prop_assert_eq!(u64::from(entry.wire_len), length);
        }
        let (sent, received) = conserved(&mut network).expect("conservation");
        prop_assert_eq!(sent, received);
        // The table says the same in seconds.
        let streams = network.table_json("streams", None).expect("a table");
        let seconds = expected as f64 / 1e12;
        for name in ["delay_min_s", "delay_max_s", "delay_mean_s"] {
            let told = crate::common::column(&streams, name)[0].as_f64().expect("a delay");
            prop_assert!((told - seconds).abs() <= 1e-15 * told.max(1e-3), "{} {} {}", name, told, seconds);
        }
    }

    #[test]
    fn many_streams_take_what_the_recursion_says(mesh in mesh()) {
        let mut network = network(mesh.description());
        for node in 0..mesh.nodes {
            network.keep_log(node);
        }
        run(&mut network, 20 * S);
        let lsps = network.table_json("lsps", None).expect("a table");
        prop_assert!(crate::common::column(&lsps, "state").iter().all(|state| state == "up"), "{}", lsps);
        let mut got = BTreeMap::new();
        for node in 0..mesh.nodes {
            for entry in network.sink(node).expect("a sink").log() {
                got.insert((entry.stamp.stream, entry.stamp.sequence), entry.arrival);
            }
        }
        prop_assert_eq!(got, mesh.recursion());
        let (sent, received) = conserved(&mut network).expect("conservation");
        prop_assert_eq!(sent, received);
    }
}

/// Flows over routes of a mesh: queues form where they meet.
#[derive(Clone, Debug)]
struct Mesh {
    nodes: usize,
    /// Ends, rate, propagation.
    links: Vec<(usize, usize, u64, u64)>,
    flows: Vec<MeshFlow>,
}

#[derive(Clone, Debug)]
struct MeshFlow {
    from: usize,
    /// Links, in order.
    route: Vec<usize>,
    size: u64,
    rate: u64,
    start: u64,
    packets: u64,
}

fn mesh() -> impl Strategy<Value = Mesh> {
    let link = (50_000_000u64..3_000_000_000, 0u64..3_000_000);
    let flow = (any::<u64>(), 1usize..5, 64u64..1_500, 10_000_000u64..400_000_000, 0u64..2_000_000, 1u64..60);
    (3usize..7, proptest::collection::vec(link, 12), proptest::collection::vec(flow, 1..8))
        .prop_map(|(nodes, links, flows)| Mesh::new(nodes, &links, &flows))
}

impl Mesh {
    fn new(nodes: usize, links: &[(u64, u64)], flows: &[(u64, usize, u64, u64, u64, u64)]) -> Mesh {
        // A ring with chords: every node has a way on.
        let mut links: Vec<_> = links
            .iter()
            .enumerate()
            .map(|(i, &(rate, delay))| {
                let a = i % nodes;
                (a, (a + 1 + i / nodes) % nodes, rate, delay)
            })
            .filter(|l| l.0 != l.1)
            .collect();
        links.dedup_by_key(|l| (l.0, l.1));
        let walk = |&(choices, hops, size, rate, start, packets): &(u64, usize, u64, u64, u64, u64)| {
            let (mut choices, from) = (choices, (choices % nodes as u64) as usize);
            let (mut at, mut route, mut seen) = (from, Vec::new(), vec![from]);
            while route.len() < hops {
                let ways: Vec<_> = links
                    .iter()
                    .enumerate()
                    .filter_map(|(i, l)| {
                        if l.0 == at {
                            Some((i, l.1))
                        } else if l.1 == at {
                            Some((i, l.0))
                        } else {
                            None
                        }
                    })
                    .filter(|way| !seen.contains(&way.1))
                    .collect();
                if ways.is_empty() {
                    break;
                }
                let (link, next) = ways[(choices % ways.len() as u64) as usize];
                choices = choices.rotate_right(7) ^ 0x9e37_79b9;
                route.push(link);
                seen.push(next);
                at = next;
            }
            MeshFlow { from, route, size, rate, start: 10 * S + start, packets }
        };
        let flows = flows.iter().map(walk).collect();
        Mesh { nodes, links, flows }
    }

    fn end(&self, flow: &MeshFlow) -> usize {
        flow.route.iter().fold(flow.from, |at, &link| self.beyond(link, at))
    }
    fn beyond(&self, link: usize, node: usize) -> usize {
        let (a, b, ..) = self.links[link];
        if a == node { b } else { a }
    }

    /// When the `k`-th packet of a flow is due, rounded down.
    fn due(flow: &MeshFlow, k: u64) -> u64 {
        flow.start + (u128::from(k * flow.size) * BYTE / u128::from(flow.rate)) as u64
    }

    fn description(&self) -> Value {
        let links: Vec<Value> = self.links.iter()
            .map(|&(a, b, rate, delay)| json!({"a": a, "b": b, "rate_bps": rate, "delay_ps": delay, "reservable_bps": 0}))
            .collect();
        let lsps: Vec<Value> = self
            .flows
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let route: Vec<Value> = f.route.iter().map(|link| json!({"link": link})).collect();
                json!({"name": format!("l{i}"), "from": f.from, "to": self.end(f), "routes": [route]})
            })
            .collect();
        let flows: Vec<Value> = self
            .flows
            .iter()
            .enumerate()
            .map(|(i, f)| {
                json!({"from": f.from, "to": self.end(f), "over": i, "rate_bps": f.rate, "size": f.size,
                   "start_ps": f.start, "stop_ps": Mesh::due(f, f.packets)})
            })
            .collect();
        let nodes = routers(self.nodes, &json!({"refresh_ps": 3_600 * S}));
        json!({"seed": 1, "nodes": nodes, "links": links, "lsps": lsps, "flows": flows})
    }

    /// When every packet arrives, from departure times alone. A port sends in order of arrival; packets that arrive at
    /// a router at once are taken in the order of the links that they came by (those of the tester come last), then as
    /// they were sent.
    fn recursion(&self) -> BTreeMap<(StreamId, u32), Time> {
        // What is to come: time, link it came by, order of sending; then flow, packet, hop, node.
        type Key = (u64, usize, u64);
        let mut coming: BTreeMap<Key, (usize, u64, usize, usize)> = BTreeMap::new();
        let mut sends = 0u64;
        let mut first: Vec<_> = self
            .flows
            .iter()
            .enumerate()
            .flat_map(|(i, f)| (0..f.packets).map(move |k| (Mesh::due(f, k), i, k)))
            .collect();
        first.sort_unstable();
        for (at, flow, k) in first {
            sends += 1;
            let from = self.flows[flow].from;
            coming.insert((at, self.links.len() + from, sends), (flow, k, 0, from));
        }
        // When each port is free, in picoseconds times its rate.
        let mut free: BTreeMap<(usize, usize), u128> = BTreeMap::new();
        let mut arrivals = BTreeMap::new();
        while let Some(((at, ..), (flow, k, hop, node))) = coming.pop_first() {
            let f = &self.flows[flow];
            let Some(&link) = f.route.get(hop) else {
                arrivals.insert((StreamId(flow as u32), k as u32), Time(at));
                continue;
            };
            let (_, _, rate, delay) = self.links[link];
            let (rate, size) = (u128::from(rate), f.size + 4);
            let free = free.entry((link, node)).or_default();
            // d(k) = max(a(k), d(k-1) + gap) + serialisation; fractions are kept while the port is busy.
            let start = if *free / rate >= u128::from(at) { *free } else { u128::from(at) * rate };
            *free = start + BYTE * u128::from(size + OVERHEAD);
            let arrival = ((start + BYTE * u128::from(size)) / rate) as u64 + delay;
            sends += 1;
            coming.insert((arrival, link, sends), (flow, k, hop + 1, self.beyond(link, node)));
        }
        arrivals
    }
}
