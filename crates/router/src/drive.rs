//! The network by the wall clock, and what its interfaces count.

use crate::arguments::Arguments;
use crate::config::Config;
use crate::log::Log;
use engine::real_time::PortState;
use network::{KINDS, Network, Placement};
use serde::Deserialize;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// Builds the part of a network that is here. Arguments go before the file.
pub fn build(config: &Config, arguments: &Arguments) -> Result<Network, String> {
    let placement = Option::<Placement>::deserialize(&config.placement);
    let placement = placement.map_err(|error| format!("placement: {error}"))?.unwrap_or_default();
    let busy = placement.busy || arguments.busy;
    let cpu = arguments.cpu.or(placement.cpu);
    let placement = Placement { busy, cpu, ..placement };
    Network::placed(&config.description()?, KINDS, placement).map_err(|error| error.to_string())
}

/// The calendar time at time zero of a network, in nanoseconds since 1970.
pub fn calendar_ns(network: &Network) -> u64 {
    let calendar = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    calendar.saturating_sub(network.now().as_nanos())
}

/// Says which interfaces went up, down or away.
pub fn tell_changes(network: &mut Network, log: &mut Log) {
    for change in network.take_port_changes() {
        let state = match change.state {
            PortState::Up => "is up",
            PortState::Down => "is down",
            PortState::Gone => "is gone",
        };
        log.say(change.at, format!("interface {} {state}", change.name));
    }
}

/// A table of the network, by rows.
pub fn rows(network: &mut Network, name: &str) -> Value {
    let table = network.table_json(name, None).unwrap_or_default();
    let columns = table.as_object();
    let count = columns.and_then(|c| c.values().next()).and_then(Value::as_array).map_or(0, Vec::len);
    let row = |place: usize| {
        let cells = columns.into_iter().flatten().map(|(key, column)| (key.clone(), column[place].clone()));
        Value::Object(cells.collect())
    };
    (0..count).map(row).collect()
}
