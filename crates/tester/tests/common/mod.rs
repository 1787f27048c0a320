//! What the tests of whole networks share: descriptions in few words, and what must be true of every run.
#![allow(dead_code, reason = "each test uses its own part")]

pub mod cells;
pub mod faults;
pub mod memory;
pub mod named;

use base::Time;
use base::diagnostic::Diagnostic;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// A second in picoseconds.
pub const S: u64 = 1_000_000_000_000;
/// A millisecond in picoseconds.
pub const MS: u64 = 1_000_000_000;

/// Reads a network from its description in JSON, by places.
pub fn file(description: &Value) -> Result<NetworkFile, Diagnostic> {
    NetworkFile::read_part(&testing::described(description))
}

/// Why a network cannot be read or built, in one sentence.
pub fn refusal(description: &Value) -> String {
    match file(description) {
        Ok(file) => Testbed::new(&file).err().expect("a refusal").to_string(),
        Err(error) => {
            let described = testing::described(description);
            format!("{}{}", base::describe::lead(&described, &error), error.words())
        }
    }
}

/// Builds a network from its description in JSON.
pub fn network(description: Value) -> Testbed {
    Testbed::new(&file(&description).expect("a description")).expect("a network")
}

/// The names in a network, for what is added to it by places.
pub fn names(network: &Testbed) -> testing::Indexed {
    let nodes = network.description().nodes.iter().map(|node| node.name.clone()).collect();
    let links = network.links().iter().map(|link| link.ends()).collect();
    testing::Indexed::new(nodes, links, network.lsps().iter().map(|group| group.spec.name.clone()).collect())
}

/// Adds a flow to a network that stands.
pub fn add_flow(network: &mut Testbed, flow: &Value) -> Result<usize, String> {
    let spec = network.read_flow(&names(network).flow(flow)).map_err(|error| error.to_string())?;
    network.add_flow(spec).map_err(|error| error.to_string())
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

/// What must be true of every run at any time: no frame vanished on a link, and every packet of every stream was
/// received or lost. Gives the packets sent and received.
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
