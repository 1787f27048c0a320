//! Flows of many kinds: what is drawn depends on the seed and the flow's name only, hosts that send to themselves, and
//! every packet kept.

use crate::common::{MS, S, chain, column, conserved, network, routers, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// A host with a link to either end of a chain of three routers.
fn described(rate: u64, mtu: u32) -> Value {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "host", "kind": "host"}));
    let mut links = chain(3, rate, MS);
    links.push(json!({"a": 3, "b": 0, "rate_bps": rate, "addresses": ["192.168.1.5/27", "192.168.1.1/27"]}));
    links
        .push(json!({"a": 2, "b": 3, "rate_bps": rate, "addresses": ["192.168.1.66/26", "192.168.1.65/26"]}));
    for link in &mut links {
        link["mtu"] = json!(mtu);
    }
    json!({"seed": 5, "nodes": nodes, "links": links})
}

/// Out by the first router, back by the last.
fn around(name: &str, more: Value) -> Value {
    let mut flow = json!({
        "name": name, "from": 3, "to": 3, "from_link": 2, "to_link": 3, "rate_bps": 5_000_000, "size": 500, "log": true,
        "start_ps": 100 * MS, "stop_ps": 300 * MS,
    });
    flow.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    flow
}

/// Departure, arrival and delay of each packet of a flow.
fn packets(network: &mut Testbed, flow: u64) -> Vec<[Option<u64>; 3]> {
    let table = network.table_json("packets", None).expect("a table");
    let of = |name| column(&table, name);
    let rows = of("departure_ps").into_iter().zip(of("arrival_ps")).zip(of("delay_ps")).zip(of("flow"));
    rows.filter(|row| row.1 == flow).map(|(((a, b), c), _)| [a, b, c].map(|v| v.as_u64())).collect()
}

#[test]
fn a_host_sends_to_itself_through_the_network() {
    let mut described = described(100_000_000, 9_216);
    described["flows"] =
        json!([around("loop", json!({})), around("back", json!({"from_link": 3, "to_link": 2}))]);
    let mut network = network(described);
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    // 5 Mbit/s of 4000 bits for 0.2 s, each way.
    assert_eq!((sent, received), (500, 500));
    for flow in 0..2 {
        let packets = packets(&mut network, flow);
        assert_eq!(packets.len(), 250);
        let (hops, bits) = (4, 500 * 8);
        // From first bit to first bit: three stores and two times a millisecond.
        let expected = (hops - 1) * bits * 10_000 + 2 * MS;
        let delays: Vec<u64> = packets.iter().filter_map(|packet| packet[2]).collect();
        assert!(
            delays.iter().filter(|delay| **delay == expected).count() > 200,
            "{expected} {:?}",
            &delays[..9]
        );
        for [departure, arrival, delay] in packets {
            // Kept to the last bit, measured to the first.
            assert_eq!(arrival.map(|at| at - departure.expect("a time")), delay.map(|d| d + bits * 10_000));
        }
    }
    let addresses = network.table_json("neighbors", Some(3)).expect("a table");
    assert_eq!(column(&addresses, "address").len(), 2, "{addresses}");
}

#[test]
fn lost_packets_are_in_the_table() {
    let mut described = described(100_000_000, 9_216);
    described["flows"] = json!([around("loop", json!({}))]);
    let mut network = network(described);
    let loss = json!({"at": 150 * MS, "until": S, "fault": "loss", "link": 0, "probability": 0.3});
    network.fault(serde_json::from_value(loss).expect("a fault")).expect("a fault");
    run(&mut network, S);
    let packets = packets(&mut network, 0);
    let lost = packets.iter().filter(|packet| packet[1].is_none()).count();
    let table = network.table_json("streams", None).expect("a table");
    assert_eq!((packets.len(), lost as u64), (250, crate::common::sum(&table, "lost")));
    assert!((25..95).contains(&lost), "{lost}");
    let sd = column(&table, "delay_sd_s");
    assert!(sd.iter().flat_map(Value::as_f64).all(|sd| (0.0..1e-3).contains(&sd)), "{sd:?}");
}

#[test]
fn datagrams_may_be_as_long_as_ip_allows() {
    let mut described = described(1_000_000_000, 65_535);
    described["flows"] = json!([around("jumbo", json!({"size": 65_553, "rate_bps": 100_000_000}))]);
    let mut network = network(described);
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert_eq!((sent, received), (39, 39));
}

#[test]
fn rates_count_what_they_say() {
    let count = |more: Value| {
        let mut described = described(1_000_000_000, 9_216);
        described["flows"] = json!([around("x", more)]);
        let mut network = network(described);
        run(&mut network, S);
        packets(&mut network, 0).len() as f64
    };
    assert_eq!(count(json!({"rate_bps": 4_000_000, "size": 1_000})), 100.0);
    assert_eq!(count(json!({"rate_bps": 4_000_000, "size": 1_018, "rate_counts": "ip"})), 100.0);
    let mixed = json!({"kind": "empirical", "sizes": [100, 1_900], "weights": [1, 1]});
    assert_eq!(count(json!({"rate_bps": 4_000_000, "size": mixed})), 100.0);
    let periods = json!({"kind": "constant", "mean_ps": 7 * MS});
    let on_off = |mean: bool| json!({"kind": "on-off", "on": periods, "off": {"kind": "constant", "mean_ps": 3 * MS}, "rate_is_mean": mean});
    assert!(
        (count(json!({"rate_bps": 4_000_000, "size": 1_000, "arrivals": on_off(false)})) - 70.0).abs() <= 1.0
    );
    assert!(
        (count(json!({"rate_bps": 4_000_000, "size": 1_000, "arrivals": on_off(true)})) - 100.0).abs() <= 1.0
    );
}

#[test]
fn flows_of_all_kinds_may_come_later() {
    let mut network = network(described(1_000_000_000, 9_216));
    run(&mut network, 150 * MS);
    for (n, more) in [
        json!({"arrivals": "poisson", "size": {"kind": "uniform", "min": 64, "max": 1_500}}),
        json!({"arrivals": {"kind": "trace", "gaps_ps": [MS, MS], "sizes": [100, 200], "repeat": true}}),
    ]
    .into_iter()
    .enumerate()
    {
        let flow = around(&format!("late{n}"), more);
        assert_eq!(crate::common::add_flow(&mut network, &flow).expect("a flow"), n);
    }
    run(&mut network, S);
    conserved(&mut network).expect("conservation");
    let listed = packets(&mut network, 1);
    let due: Vec<u64> = listed.iter().filter_map(|packet| packet[0]).collect();
    assert_eq!(due, (1..150).map(|k| (150 + k) * MS).collect::<Vec<_>>());
    // What is due before the gateway's address is known is lost.
    assert!(packets(&mut network, 0).iter().filter(|packet| packet[1].is_some()).count() > 100);
}

#[test]
fn traces_are_replayed() {
    let mut described = described(1_000_000_000, 9_216);
    let gaps = [0, 5 * MS, 1, 2 * MS, 100];
    described["flows"] = json!([around(
        "x",
        json!({
            "arrivals": {"kind": "trace", "gaps_ps": gaps, "sizes": [64, 100, 1_500, 9_018, 700]}, "size": null, "rate_bps": 0,
        })
    )]);
    let mut network = network(described);
    run(&mut network, S);
    let packets = packets(&mut network, 0);
    let mut at = 100 * MS;
    let expected: Vec<u64> = gaps
        .iter()
        .map(|gap| {
            at += gap;
            at
        })
        .collect();
    assert_eq!(packets.iter().map(|packet| packet[0].expect("a time")).collect::<Vec<_>>(), expected);
    let sent = network.world().link_counters(base::LinkId(2)).expect("counters")[0].clone();
    // The host asked for the address of its router: a frame of 64 bytes beside those of the trace.
    let lost = packets.iter().filter(|packet| packet[1].is_none()).count() as u64;
    assert_eq!((lost, sent.sent_frames), (0, 6));
    assert_eq!(sent.sent_bytes, 64 + 64 + 100 + 1_500 + 9_018 + 700);
}

proptest! {
    #![proptest_config(testing::cases(12))]

    /// The same seed and name: the same packets at the same times, whatever else is sent, however fast the links are,
    /// and in whatever order the flows stand.
    #[test]
    fn realisations_depend_on_seed_and_name_only(seed in 0u64..1 << 48, others in 0usize..4, rate in 10_000_000u64..1_000_000_000, place in 0usize..4) {
        let kinds = [
            json!({"arrivals": "poisson", "size": {"kind": "uniform", "min": 64, "max": 1_500}}),
            json!({"arrivals": {"kind": "on-off", "on": {"kind": "pareto", "mean_ps": 10 * MS}, "off": {"kind": "exponential", "mean_ps": 5 * MS}},
                   "size": {"kind": "exponential", "mean": 400, "max": 2_000}}),
        ];
        for kind in &kinds {
            let alone = {
                let mut described = described(1_000_000_000, 9_216);
                described["seed"] = json!(seed);
                described["flows"] = json!([around("subject", kind.clone())]);
                let mut network = network(described);
                run(&mut network, 500 * MS);
                packets(&mut network, 0)
            };
            let mut described = described(rate, 9_216);
            described["seed"] = json!(seed);
            let mut flows: Vec<Value> = (0..others).map(|i| around(&format!("other{i}"), kinds[i % 2].clone())).collect();
            let place = place.min(others);
            flows.insert(place, around("subject", kind.clone()));
            described["flows"] = json!(flows);
            let mut network = network(described);
            run(&mut network, 500 * MS);
            let among = packets(&mut network, place as u64);
            let departures = |packets: &[[Option<u64>; 3]]| packets.iter().map(|p| p[0]).collect::<Vec<_>>();
            prop_assert!(!alone.is_empty());
            prop_assert_eq!(departures(&alone), departures(&among));
            // Sizes: the wire time of a packet is the difference between arrival of its last bit and of its first.
            let sizes = |packets: &[[Option<u64>; 3]], rate: u64| -> Vec<Option<u64>> {
                let bits = |p: &[Option<u64>; 3]| Some((p[1]? - p[0]? - p[2]?) as f64 * rate as f64 / 8e12);
                packets.iter().map(|p| bits(p).map(|bytes| bytes.round() as u64)).collect()
            };
            let pairs = sizes(&alone, 1_000_000_000).into_iter().zip(sizes(&among, rate));
            prop_assert!(pairs.filter_map(|(a, b)| Some((a?, b?))).all(|(a, b)| a == b));
        }
    }
}

#[test]
fn what_can_not_be_is_refused_in_one_sentence() {
    let refusal = |flows: Value, change: fn(&mut Value)| {
        let mut described = described(1_000_000, 1_500);
        described["flows"] = flows;
        change(&mut described);
        crate::common::refusal(&described)
    };
    let trace = |more: Value| json!({"arrivals": more});
    let cases = [
        (json!({"from_link": 0}), "flow 'x': from_link: 'host' is not at link 0"),
        (json!({"to": 1}), "flow 'x': to_link: 'r1' is no host"),
        (
            json!({"to_link": 2}),
            "flow 'x': from 'host' to itself: from_link and to_link say by which two of its links",
        ),
        (json!({"size": 9_019}), "flow 'x': size=9019: a test packet has 64 to 9018 bytes here"),
        (
            json!({"size": {"kind": "uniform", "min": 170, "max": 160}}),
            "flow 'x': size: min=170 is above max=160",
        ),
        (
            json!({"size": {"kind": "empirical", "sizes": [70], "weights": [1, 2]}}),
            "flow 'x': size: weights: 1 sizes and 2 weights",
        ),
        (
            json!({"size": {"kind": "empirical", "sizes": [70], "weights": [0]}}),
            "flow 'x': size: weights: none is negative",
        ),
        (
            json!({"size": {"kind": "exponential", "mean": 0}}),
            "flow 'x': size: mean: 0: it is not above zero",
        ),
        (json!({"rate_bps": 0}), "flow 'x': rate: 0: it is not above zero"),
        (trace(json!({"kind": "trace", "gaps_ps": []})), "flow 'x': arrivals: gaps: there are none"),
        (
            trace(json!({"kind": "trace", "gaps_ps": [1, 2], "sizes": [64]})),
            "flow 'x': arrivals: sizes: 2 gaps and 1 sizes",
        ),
        (
            trace(json!({"kind": "trace", "gaps_ps": [1], "sizes": [63]})),
            "flow 'x': arrivals: sizes: 63: an Ethernet frame has 64 to",
        ),
        (
            trace(json!({"kind": "trace", "gaps_ps": [0], "repeat": true})),
            "flow 'x': arrivals: repeat: with gaps of zero only",
        ),
        (
            trace(
                json!({"kind": "on-off", "on": {"kind": "pareto", "mean_ps": MS, "shape": 1.0}, "off": {"kind": "constant", "mean_ps": 1}}),
            ),
            "flow 'x': arrivals: on: shape: 1: above 1",
        ),
        (
            trace(
                json!({"kind": "on-off", "on": {"kind": "constant", "mean_ps": 1}, "off": {"kind": "constant", "mean_ps": 1}}),
            ),
            "flow 'x': on: mean=1 ps: in a usual period, 1 ps, it sends less than",
        ),
        (
            // It would draw some 10^13 periods for each packet.
            trace(
                json!({"kind": "on-off", "on": {"kind": "pareto", "mean_ps": MS, "shape": 1.000000000001}, "off": {"kind": "constant", "mean_ps": 1}}),
            ),
            "flow 'x': on: mean=1000000000 ps: in a usual period, 0 ps, it sends less than",
        ),
    ];
    for (more, expected) in cases {
        let told = refusal(json!([around("x", more)]), |_| ());
        assert!(told.contains(expected), "expected '{expected}', was told '{told}'");
    }
    let poisson = json!({"arrivals": "poisson"});
    let twice = json!([around("x", poisson.clone()), around("x", poisson)]);
    assert!(refusal(twice, |_| ()).starts_with("flow 'x': another flow has this name"));
    type Change = fn(&mut Value);
    let hosts: [(Change, &str); 4] = [
        (
            |d| d["links"][3]["addresses"] = Value::Null,
            "host 'host' has several links: each must say its 'addresses'",
        ),
        (
            |d| d["nodes"][3]["address"] = json!("10.0.0.2/24"),
            "node 'host': 10.0.0.2/24 is not among the addresses",
        ),
        (|d| d["nodes"][3]["gateway"] = json!("192.168.1.1"), "its gateways are at the other ends"),
        (|d| d["links"][3]["addresses"] = json!(["192.168.1.9/27", "192.168.1.10/27"]), "overlap"),
    ];
    for (change, expected) in hosts {
        let told = refusal(json!([]), change);
        assert!(told.contains(expected), "expected '{expected}', was told '{told}'");
    }
}
