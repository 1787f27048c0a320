//! What a process writes down makes the same router in virtual time, however the process ended.

use crate::common::{Client, Router, description};
use engine::real_time::Clock;
use network::{KINDS, Network, ReplaySummary};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::thread::sleep;
use std::time::{Duration, Instant};

const TABLES: [&str; 6] = ["ilm", "ftn", "fib", "lsps", "neighbors", "tunnels"];

/// Three routers in one process, the first of which is recorded, with quick refreshes.
fn recorded(placement: &Value) -> Router {
    let mut description = description(3);
    for (_, node) in description["nodes"].as_object_mut().expect("nodes") {
        // Signed messages say what the calendar says: the recording holds that.
        node["rsvp"] = json!({"refresh": "200 ms", "hello": "100 ms", "key": "secret"});
    }
    let config = json!({"description": description, "placement": placement});
    Router::start_with(&config, &["--record", "FOLDER/recording"])
}

/// Waits until an LSP is up.
fn await_up(client: &mut Client) {
    let limit = Instant::now() + Duration::from_secs(20);
    while client.ask(&json!({"status": null}))["tunnels"]["up"] != 1 {
        assert!(Instant::now() < limit, "it does not come up");
        sleep(Duration::from_millis(20));
    }
}

fn replayed(router: &Router) -> (Network, ReplaySummary) {
    let file = File::open(router.folder().join("recording")).expect("a recording");
    Network::replayed(BufReader::new(file), KINDS).expect("a recording")
}

fn tables(client: &mut Client) -> Vec<Value> {
    let mut found: Vec<Value> = TABLES.iter().map(|name| client.ask(&json!({ "table": name }))).collect();
    found.iter_mut().for_each(forget_counts);
    found
}

/// Packets go on between looking at one table and the next.
fn forget_counts(table: &mut Value) {
    if let Some(columns) = table.as_object_mut() {
        columns.retain(|name, _| !matches!(name.as_str(), "packets" | "bytes" | "retry_ps"));
    }
}

fn compare(network: &mut Network, done: &ReplaySummary, before: &[Value]) {
    assert!(done.same, "{} inputs, {} outputs", done.inputs, done.outputs);
    for (name, expected) in TABLES.iter().zip(before) {
        let mut found = network.table_json(name, Some(done.node)).expect("a table");
        forget_counts(&mut found);
        assert_eq!(&found, expected, "{name}");
    }
}

#[test]
fn of_a_process_that_ended() {
    let mut router = recorded(&Value::Null);
    let mut client = router.client();
    await_up(&mut client);
    client.ask(&json!({"command": {"lsp": "east", "do": "reoptimise"}}));
    sleep(Duration::from_millis(500));
    let before = tables(&mut client);
    assert!(before[3]["name"].as_array().is_some_and(|lsps| lsps.len() >= 2), "{}", before[3]);
    assert_eq!(router.end(libc::SIGINT), 0);
    let (mut network, done) = replayed(&router);
    assert!(done.whole);
    compare(&mut network, &done, &before);
    let events = network.table_json("events", Some(0)).expect("a table");
    assert!(events.to_string().contains("lsp-rerouted"));
}

#[test]
fn of_a_process_that_was_killed() {
    // In its third life, long after the others began.
    let epoch = Clock::new().epoch_ns().saturating_sub(100_000_000_000);
    let mut router = recorded(&json!({"incarnation": 2, "epoch_ns": epoch}));
    let mut client = router.client();
    await_up(&mut client);
    let since = client.ask(&json!({"status": null}))["now_ps"].as_u64().expect("a time");
    assert!(since >= 100_000_000_000_000, "{since}");
    // It has missed nothing: there is nothing to be made up for.
    let messages = client.ask(&json!({"table": "messages"}));
    let count: u64 = messages["count"].as_array().expect("a column").iter().filter_map(Value::as_u64).sum();
    assert!(count < 1_000, "{count} messages");
    // What is recorded reaches the file within a second.
    sleep(Duration::from_millis(1_500));
    let before = tables(&mut client);
    router.end(libc::SIGKILL);
    let (mut network, done) = replayed(&router);
    assert!(done.inputs > 10);
    compare(&mut network, &done, &before);
}
