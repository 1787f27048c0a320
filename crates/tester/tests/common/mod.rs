//! What the tests of whole networks share: descriptions in few words, and what must be true of every run.
#![allow(dead_code, reason = "each test uses its own part")]

use base::Time;
use base::diagnostic::Diagnostic;
use network::Description;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// A second in picoseconds.
pub const S: u64 = 1_000_000_000_000;
/// A millisecond in picoseconds.
pub const MS: u64 = 1_000_000_000;

/// Builds a network from its description in JSON.
pub fn network(description: Value) -> Testbed {
    let description: Description = serde_json::from_value(description).expect("a description");
    Testbed::new(description).expect("a network")
}

/// Routers `r0`, `r1` and so on, all with this RSVP.
pub fn routers(count: usize, rsvp: &Value) -> Vec<Value> {
    (0..count).map(|i| json!({"name": format!("r{i}"), "kind": "router", "rsvp": rsvp})).collect()
}

/// Links of a chain of `count` nodes.
pub fn chain(count: usize, rate: u64, delay: u64) -> Vec<Value> {
    (1..count).map(|i| json!({"a": i - 1, "b": i, "rate_bps": rate, "delay_ps": delay})).collect()
}

/// Sentences of warnings, as users read them.
pub fn said(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(network::error::sentence).collect()
}

/// Runs to a time.
pub fn run(network: &mut Testbed, until: u64) {
    network.world_mut().run_until(Time(until)).expect("no device fails");
}

/// A column of a table.
pub fn column(table: &Value, name: &str) -> Vec<Value> {
    table[name].as_array().unwrap_or_else(|| panic!("column {name} of {table}")).clone()
}

/// A column of numbers, summed.
pub fn sum(table: &Value, name: &str) -> u64 {
    column(table, name).iter().filter_map(Value::as_u64).sum()
}

/// What must be true of every run at any time: no frame vanished on a link, and every packet of every stream was received or
/// lost. Gives the packets sent and received.
pub fn conserved(network: &mut Testbed) -> Result<(u64, u64), String> {
    let unbalanced = network.world().audit();
    if !unbalanced.is_empty() {
        return Err(format!("frames vanished: {unbalanced:?}"));
    }
    let streams = network.table_json("streams", None).map_err(|e| e.to_string())?;
    let of = |name| column(&streams, name).into_iter().filter_map(|v| v.as_u64()).collect::<Vec<_>>();
    let (sent, received, lost) = (of("sent"), of("received"), of("lost"));
    for (row, ((sent, received), lost)) in sent.iter().zip(&received).zip(&lost).enumerate() {
        if sent != &(received + lost) {
            return Err(format!("row {row} of streams: sent {sent}, received {received}, lost {lost}"));
        }
    }
    Ok((sent.iter().sum(), received.iter().sum()))
}
