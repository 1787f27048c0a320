//! UDP ports of flows: what goes by flows or by ports tells them apart, and sinks know packets to any port.

use crate::common::{MS, S, chain, column, conserved, network, routers, said, sum};
use base::Time;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Two hosts at the ends of a chain of two routers, with this tree at the bottleneck of 10 Mbit/s.
fn described(tree: Value, flows: Value) -> Value {
    let mut nodes = routers(2, &json!({}));
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let mut links = chain(2, 10_000_000, MS);
    links[0]["a_queue"] = json!({"root": tree});
    links.push(json!({"a": 2, "b": 0, "rate_bps": 100_000_000}));
    links.push(json!({"a": 1, "b": 3, "rate_bps": 100_000_000}));
    json!({"seed": 7, "nodes": nodes, "links": links, "flows": flows})
}

/// From the left to the right.
fn flow(name: &str, rate: u64, more: Value) -> Value {
    let mut flow = json!({"name": name, "from": 2, "to": 3, "rate_bps": rate, "size": 1_000});
    flow.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    flow
}

/// Lost packets and the greatest delay of each flow, in seconds.
fn figures(network: &mut Testbed) -> Vec<(u64, f64)> {
    let streams = network.table_json("streams", None).expect("a table");
    let (lost, delay) = (column(&streams, "lost"), column(&streams, "delay_max_s"));
    let pairs = lost.iter().zip(&delay);
    pairs.map(|(lost, delay)| (lost.as_u64().expect("a count"), delay.as_f64().expect("a delay"))).collect()
}

#[test]
fn queues_by_flow_keep_a_small_flow_from_a_large_one() {
    let run = |large: Value| {
        let tree = json!({"discipline": "fq-codel"});
        let small = flow("small", 1_000_000, json!({"stop_ps": 3 * S}));
        let mut large = flow("large", 20_000_000, large);
        large["stop_ps"] = json!(3 * S);
        let flows = json!([small, large]);
        let mut network = network(described(tree, flows));
        network.run_until(Time(9 * S)).expect("a run");
        conserved(&mut network).expect("conservation");
        let warnings = said(&network.warnings());
        (figures(&mut network), warnings)
    };
    let (apart, warnings) = run(json!({}));
    // What is in front of it: a packet of the other flow on the wire, and one that is taken in turn.
    assert!(apart[0].0 == 0 && apart[0].1 < 6e-3 && apart[1].0 > 500, "{apart:?}");
    assert_eq!(warnings, [""; 0]);
    // The same ports: they are one flow, and share its fate.
    let (together, warnings) = run(json!({"src_port": 49_152}));
    assert!(together[0].0 > 30 && together[0].1 > 20e-3, "{together:?}");
    assert_eq!(warnings.len(), 1);
    let said = "flow 'large': it has the addresses and the ports (49152 to 61614) of flow 'small': ";
    assert!(warnings[0].starts_with(said), "{warnings:?}");
}

#[test]
fn filters_see_the_ports_that_flows_have() {
    let class = json!({"queue": {"discipline": "pfifo", "limit": 50}});
    let to = |class: &str, ports: Value| {
        let mut only = json!({"protocol": 17});
        only.as_object_mut().expect("an object").extend(ports.as_object().expect("an object").clone());
        only["class"] = json!(class);
        only
    };
    let tree = json!({
        "discipline": "prio", "classes": {"sip": class, "own": class, "rest": class}, "default": "rest",
        "filters": [to("sip", json!({"dst_ports": [5060, 5061]})), to("own", json!({"src_ports": [4000, 4000]}))],
    });
    let flows = json!([
        flow("sip", 1_000_000, json!({"dst_port": 5_061, "size": 64, "log": true})),
        flow("own", 1_000_000, json!({"src_port": 4_000, "arrivals": "poisson"})),
        flow("rest", 1_000_000, json!({})),
    ]);
    let mut network = network(described(tree, flows));
    network.run_until(Time(2 * S)).expect("a run");
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent - received < 20, "{sent} {received}");
    let queues = network.table_json("queues", None).expect("a table");
    let given: Vec<u64> = column(&queues, "given_packets").iter().filter_map(Value::as_u64).collect();
    assert_eq!(column(&queues, "path"), ["root", "root/own", "root/rest", "root/sip"]);
    assert!(given[3] > 3_800 && given[1] > 200 && given[2] > 200, "{given:?}");
    let table = network.table_json("flows", None).expect("a table");
    assert_eq!(column(&table, "src_port"), [49_152, 4_000, 49_153]);
    assert_eq!(column(&table, "dst_port"), [5_061, 61_614, 61_614]);
    assert_eq!(
        sum(&network.table_json("drops", None).expect("a table"), "count"),
        0,
        "no host took any for its own"
    );
}

/// Ports are in headers alone: packets are due, and as long, as they would be.
#[test]
fn ports_change_nothing_that_is_random() {
    let packets = |more: Value| {
        let mut random =
            json!({"arrivals": "poisson", "size": {"kind": "uniform", "min": 64, "max": 1_500}, "log": true});
        random.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let tree = json!({"discipline": "pfifo", "limit": 50});
        let mut network = network(described(tree, json!([flow("x", 4_000_000, random)])));
        network.run_until(Time(S)).expect("a run");
        network.table_json("packets", None).expect("a table")
    };
    assert_eq!(packets(json!({})), packets(json!({"src_port": 1, "dst_port": 65_535})));
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let bounded = |mean: u32, min: u32, max: u32| json!({"size": {"kind": "exponential", "mean": mean, "min": min, "max": max}});
    for (more, said) in [
        (json!({"src_port": 0}), "flow 'x': src_port: 0: it should be 1 to 65535"),
        (json!({"dst_port": 70_000}), "flow 'x': dst_port: 70000: it should be 1 to 65535"),
        (json!({"start_ps": S, "stop_ps": S}), "flow 'x': stop: 1 s is not after its start (1 s)"),
        (
            bounded(5_000, 64, 100),
            "flow 'x': size: mean=5000 is not between min=64 and max=100: most frames would be as long as a bound",
        ),
        (
            bounded(100, 128, 1_500),
            "flow 'x': size: mean=100 is not between min=128 and max=1500: most frames would be as long as a bound",
        ),
        (bounded(100, 128, 90), "flow 'x': size: min=128 is above max=90"),
    ] {
        let described =
            described(json!({"discipline": "pfifo", "limit": 9}), json!([flow("x", 1_000_000, more)]));
        let error = crate::common::refusal(&described);
        assert_eq!(error, said);
    }
    let mut network = network(described(json!({"discipline": "pfifo", "limit": 9}), json!([])));
    network.run_until(Time(2 * S)).expect("a run");
    let over = flow("x", 1_000_000, json!({"stop_ps": S}));
    let error = crate::common::add_flow(&mut network, &over).expect_err("an error");
    assert_eq!(error, "flow 'x': stop=1 s: it is 2 s already: it would send nothing");
}
