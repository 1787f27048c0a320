//! What is asked of one flow, of one group of LSPs or of a stretch of time is the same as in the whole table, and the
//! others are not asked for it.

use crate::common::{MS, S, chain, network, routers, run};
use base::table::Table;
use base::{EventName, Time};
use network::Part;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

const FLOWS: usize = 200;

fn described() -> Testbed {
    let lsps: Vec<Value> =
        (0..4).map(|n| json!({"name": format!("l{n}"), "from": n % 2, "to": 3, "count": n + 1})).collect();
    let flow = |n: usize| {
        let mut flow = json!({"name": format!("f{n}"), "from": n % 3, "to": 3, "rate_bps": 1_000_000, "size": 500,
            "start_ps": 100 * MS, "stop_ps": 200 * MS, "log": n.is_multiple_of(5)});
        if n.is_multiple_of(10) {
            flow["from"] = json!(n / 10 % 2);
            flow["over"] = json!(n / 10 % 4);
        }
        flow
    };
    let flows: Vec<Value> = (0..FLOWS).map(flow).collect();
    let nodes = routers(4, &json!({}));
    let mut network =
        network(json!({"nodes": nodes, "links": chain(4, 1_000_000_000, MS), "lsps": lsps, "flows": flows}));
    run(&mut network, S);
    network
}

/// Rows of a table of which a column has a value.
fn rows(table: &Table, column: &str, wanted: &Value) -> Vec<Vec<Value>> {
    let table = serde_json::to_value(table).expect("a table");
    let columns = table.as_object().expect("columns");
    let key = columns[column].as_array().expect("a column");
    let places = key.iter().enumerate().filter(|(_, cell)| *cell == wanted).map(|(place, _)| place);
    places.map(|place| columns.values().map(|cells| cells[place].clone()).collect()).collect()
}

#[test]
fn a_part_is_what_the_whole_has_of_it() {
    let mut network = described();
    for (name, key) in [
        ("flows", "flow"),
        ("streams", "flow"),
        ("delays", "flow"),
        ("packets", "flow"),
        ("flow_series", "flow"),
        ("lsps", "lsps"),
        ("events", "lsps"),
    ] {
        let whole = network.table(name, None).expect("a table");
        let mut seen = 0;
        for of in [0, 1, 3, 10, 55, FLOWS - 1, FLOWS + 7] {
            let part = network.part(name, &Part { of: Some(of), ..Part::default() }).expect("a part");
            let expected = rows(&whole, key, &json!(of));
            assert_eq!(
                (part.len(), rows(&part, key, &json!(of))),
                (expected.len(), expected),
                "{name} of {of}"
            );
            seen += part.len();
        }
        assert!(seen > 0 || name == "flow_series", "{name}");
    }
}

#[test]
fn a_question_about_one_flow_does_not_ask_the_others() {
    let mut network = described();
    let mut asked = |of: Option<usize>| {
        let before = network.streams_asked();
        for name in ["streams", "delays"] {
            network.part(name, &Part { of, ..Part::default() }).expect("a part");
        }
        network.streams_asked() - before
    };
    assert!(asked(Some(1)) <= 3, "one stream, by its source, its number and its sink");
    assert!(asked(Some(30)) <= 3 * 4, "and a stream for each LSP of a group");
    assert!(asked(None) > FLOWS as u64);
}

#[test]
fn events_are_those_from_one_time_to_before_another() {
    let mut network = described();
    let whole = network.table_json("events", None).expect("a table");
    let times: Vec<u64> = crate::common::column(&whole, "time_ps").iter().filter_map(Value::as_u64).collect();
    let (first, last) = (times[0], times[times.len() - 1]);
    assert!(times.len() > 5 && first < last, "{times:?}");
    for (from, until) in [
        (None, None),
        (Some(first), Some(last)),
        (Some(last), None),
        (None, Some(first)),
        (Some(last), Some(first)),
        (Some(last + 1), None),
    ] {
        let part = Part { from: from.map(Time), until: until.map(Time), ..Part::default() };
        let expected = times.iter().filter(|at| from.is_none_or(|from| **at >= from));
        let expected = expected.filter(|at| until.is_none_or(|until| **at < until)).count();
        assert_eq!(network.part("events", &part).expect("a part").len(), expected, "{part:?}");
    }
}

#[test]
fn events_of_a_node_or_a_name_are_those_of_the_whole_table() {
    let mut network = described();
    let whole = network.table("events", None).expect("a table");
    let told = serde_json::to_value(&whole).expect("a table");
    let (nodes, events) = (crate::common::column(&told, "node"), crate::common::column(&told, "event"));
    let names = ["lsp-up", "port-up", "neighbor-up", "lsp-down", "lsp", "no-such-event"];
    let asked = (0..5)
        .map(Some)
        .chain([None])
        .flat_map(|node| names.map(|name| (node, Some(name))).into_iter().chain([(node, None)]));
    let mut found = 0;
    for (node, name) in asked {
        let is_asked = |at: usize| {
            node.is_none_or(|node| nodes[at] == format!("r{node}"))
                && name.is_none_or(|name| events[at]["event"] == name)
        };
        let expected: Vec<&Value> =
            (0..whole.len()).filter(|at| is_asked(*at)).map(|at| &events[at]).collect();
        let part = Part { node, event: name.map(EventName::new), ..Part::default() };
        let table = network.part("events", &part).expect("a part");
        let got = crate::common::column(&serde_json::to_value(&table).expect("a table"), "event");
        assert_eq!(got.iter().collect::<Vec<_>>(), expected, "{part:?}");
        found += usize::from(!expected.is_empty() && expected.len() < whole.len());
    }
    assert!(found >= 4, "{found}");
}

#[test]
fn a_node_is_found_by_each_of_its_addresses() {
    let network = described();
    for node in 0..4 {
        assert_eq!(network.node_at(network.loopback(node)), Some(node));
        for (link, side) in network.ports_of(node) {
            assert_eq!(network.node_at(link.addresses[side]), Some(node));
        }
    }
    assert_eq!(network.node_at("192.0.2.1".parse().expect("an address")), None);
}
