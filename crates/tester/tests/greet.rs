//! Greet, the example of a protocol, in a network: under both clocks, with its settings, table, events and costs.

use base::{Event, Time};
use control::greet;
use engine::external::{ExternalPort, ExternalSpec, PortError};
use engine::{Fault, FaultKind};
use network::Placement;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const MS: u64 = 1_000_000_000;

/// Three routers in a row of which all speak greet.
fn file() -> NetworkFile {
    let profile = json!({"control": {"costs": {"greet": {"Hello": {"us": 100.0}}}}});
    let router = json!({"kind": "router", "greet": {"interval": "100 ms"}, "profile": profile});
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let described = json!({
        "name": "greetings",
        "nodes": {"r0": router, "r1": router, "r2": router},
        "links": [link("r0", "r1"), link("r1", "r2")],
    });
    NetworkFile::read_part(&serde_json::from_value(described).expect("a value")).expect("a description")
}

/// How many rows of a table have a word in a column.
fn count(network: &mut Testbed, table: &str, column: &str, word: &str) -> usize {
    let rows = network.table_json(table, None).expect("a table");
    rows[column].as_array().into_iter().flatten().filter(|value| *value == word).count()
}

fn labelled(network: &mut Testbed) -> usize {
    count(network, "greet_neighbors", "state", "labelled")
}

fn told(network: &mut Testbed, wanted: fn(&greet::Event) -> bool) -> usize {
    let of = |event: &Event| event.of().is_some_and(wanted);
    network.events().iter().filter(|record| of(&record.event)).count()
}

#[test]
fn neighbours_are_met_labelled_and_lost() {
    let mut network = Testbed::new(&file()).expect("a network");
    network.run_until(Time(500 * MS)).expect("a run");
    assert_eq!(labelled(&mut network), 4, "two at each link");
    assert_eq!(told(&mut network, |event| matches!(event, greet::Event::GreetMet { .. })), 4);
    assert_eq!(count(&mut network, "rib", "source", "greet"), 4, "a route to each");
    assert_eq!(count(&mut network, "events", "node", "r1"), 2);
    let messages = network.table_json("messages", None).expect("a table");
    let kinds: Vec<&Value> = messages["type"].as_array().into_iter().flatten().collect();
    for kind in ["Hello", "Welcome", "Label"] {
        assert!(kinds.iter().any(|known| **known == kind), "{kind} is among {kinds:?}");
    }
    let one = network.table_json("greet_neighbors", Some(1)).expect("a table of one router");
    assert_eq!(one["label"], json!([16, 17]));
    let busy = network.table_json("processors", None).expect("a table");
    assert!(busy["busy_s"][1].as_f64().is_some_and(|busy| busy > 800e-6), "ten Hellos at 100 us: {busy}");
    // A router that restarts forgets its neighbours, is not heard, and begins again.
    let (at, node) = (Time(600 * MS), base::NodeId(1));
    let kind = FaultKind::NodeRestart { node, down_for: base::Span::from_ms(500) };
    network.fault(Fault::new(at, kind)).expect("a fault");
    network.run_until(Time(1_000 * MS)).expect("a run");
    assert_eq!(count(&mut network, "greet_neighbors", "node", "r0"), 0, "its neighbour is silent");
    assert_eq!(count(&mut network, "greet_neighbors", "node", "r2"), 0);
    assert_eq!(count(&mut network, "rib", "source", "greet"), 2, "one that is away does not notice");
    network.run_until(Time(3_000 * MS)).expect("a run");
    assert_eq!(labelled(&mut network), 4);
    assert!(told(&mut network, |event| matches!(event, greet::Event::GreetLost { .. })) >= 2);
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
    let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        panic!("all of it is in this process")
    };
    let mut network = Testbed::placed_with(&file(), placement, &mut none).expect("a network");
    for _ in 0..1_000 {
        let next = network.now() + base::Span::from_ms(20);
        network.run_until(next).expect("a run");
        if labelled(&mut network) == 4 {
            return;
        }
    }
    panic!("nobody met anybody in 20 seconds");
}

#[test]
fn settings_are_checked_where_they_are_written() {
    let refused = |mut router: Value| {
        router["kind"] = json!("router");
        let described = json!({"name": "x", "nodes": {"r": router}, "links": []});
        let value = serde_json::from_value(described).expect("a value");
        let error = NetworkFile::read_part(&value).expect_err("a refusal");
        format!("{:?} {}", error.path().collect::<Vec<_>>(), error.words())
    };
    let unknown = refused(json!({"gret": {}}));
    assert!(unknown.contains("gret") && unknown.contains("greet"), "{unknown}");
    let wrong = refused(json!({"greet": {"missed": 9}}));
    assert!(wrong.contains("missed") && wrong.contains("0 to 5"), "{wrong}");
}
