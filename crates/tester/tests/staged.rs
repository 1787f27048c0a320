//! Staged, the example of a driver, in a network: under both clocks, with its settings, table and failures.

use base::{Event, Time};
use engine::external::{ExternalPort, ExternalSpec, PortError};
use engine::{Fault, FaultKind};
use network::Placement;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const MS: u64 = 1_000_000_000;

/// Three routers in a row with this driver, and an LSP from the first to the last.
fn described(driver: Value) -> Result<NetworkFile, String> {
    let router = json!({"kind": "router", "table_driver": driver});
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let described = json!({
        "name": "stages",
        "nodes": {"r0": router, "r1": router, "r2": router},
        "links": [link("r0", "r1"), link("r1", "r2")],
        "lsps": [{"name": "lsp", "from": "r0", "to": "r2"}],
    });
    let value = serde_json::from_value(described).expect("a value");
    NetworkFile::read_part(&value)
        .map_err(|error| format!("{:?} {}", error.path().collect::<Vec<_>>(), error.words()))
}

fn network(driver: Value) -> Testbed {
    Testbed::new(&described(driver).expect("a description")).expect("a network")
}

/// When the LSP came up at its head end, every time.
fn ups(network: &mut Testbed) -> Vec<u64> {
    let is_up =
        |event: &Event| serde_json::to_value(event).is_ok_and(|value| value.to_string().contains("lsp-up"));
    network.events().iter().filter(|record| is_up(&record.event)).map(|record| record.at.0).collect()
}

fn column(network: &mut Testbed, name: &str) -> Vec<u64> {
    let table = network.table_json("staged_commits", None).expect("a table");
    table[name].as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

#[test]
fn a_label_is_announced_when_its_entry_was_committed() {
    let mut network = network(json!({"staged": {"interval": "100 ms"}}));
    network.run_until(Time(1_000 * MS)).expect("a run");
    // Path at once; the egress, the transit router and the head end each wait for a commit of their own.
    let up = ups(&mut network);
    let [up] = up[..] else { panic!("{up:?}") };
    assert!((300 * MS..310 * MS).contains(&up), "{up}");
    assert!(column(&mut network, "commits").iter().all(|commits| *commits >= 1));
    assert_eq!((column(&mut network, "failed"), column(&mut network, "waiting")), (vec![0; 3], vec![0; 3]));
    // Tables are empty after a restart, and so is the driver.
    let kind = FaultKind::NodeRestart { node: base::NodeId(1), down_for: base::Span::from_ms(10) };
    network.fault(Fault::new(Time(1_000 * MS), kind)).expect("a fault");
    network.run_until(Time(1_050 * MS)).expect("a run");
    assert_eq!(column(&mut network, "commits")[1], 0);
    assert!(column(&mut network, "waiting")[1] > 0, "its routes");
}

#[test]
fn what_fails_is_counted_and_the_same_seed_is_the_same_run() {
    let run = || {
        let mut network = network(json!({"staged": {"interval": "1 ms", "failures": 0.5, "tries": 20}}));
        network.run_until(Time(1_000 * MS)).expect("a run");
        (ups(&mut network), column(&mut network, "failed"))
    };
    let (ups, failed) = run();
    assert_eq!(ups.len(), 1);
    assert!(failed.iter().sum::<u64>() > 0, "{failed:?}");
    assert_eq!(run(), (ups, failed));
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
    let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        panic!("all of it is in this process")
    };
    let file = described(json!("staged")).expect("a description");
    let mut network = Testbed::placed_with(&file, placement, &mut none).expect("a network");
    for _ in 0..1_000 {
        let next = network.now() + base::Span::from_ms(20);
        network.run_until(next).expect("a run");
        if !ups(&mut network).is_empty() {
            return;
        }
    }
    panic!("the LSP was not up in 20 seconds");
}

#[test]
fn settings_are_checked_where_they_are_written() {
    let refused = |driver: Value| described(driver).expect_err("a refusal");
    let unknown = refused(json!("stagged"));
    assert!(unknown.contains("table_driver") && unknown.contains("did you mean 'staged'"), "{unknown}");
    let unknown = refused(json!({"stagged": {}}));
    assert!(unknown.contains("table_driver") && unknown.contains("staged"), "{unknown}");
    let wrong = refused(json!({"staged": {"failures": 2.0}}));
    assert!(wrong.contains("failures") && wrong.contains("0 to 1"), "{wrong}");
    let two = refused(json!({"staged": {}, "model": {}}));
    assert!(two.contains("table_driver"), "{two}");
}
