//! What must be true of cells at any time.

use super::{column, sum};
use serde_json::Value;
use twinplane_tester::Testbed;

/// Cells that came and were made are those sent, dropped, taken and waiting: by the tables alone.
pub fn balance(network: &mut Testbed) -> Result<(), String> {
    let mut table = |name: &str| network.table_json(name, None).expect("a table");
    let (ports, ends) = (table("atm_ports"), table("atm_ends"));
    let (channels, paths) = (table("atm_channels"), table("atm_paths"));
    let (made, came) = (sum(&ends, "cells_sent"), sum(&ports, "received"));
    let sent = sum(&ports, "sent_cbr") + sum(&ports, "sent_ubr");
    let refused = ["dropped", "header_errors", "unknown", "refused"].map(|name| sum(&ports, name));
    let early = sum(&channels, "dropped") + sum(&paths, "dropped") + sum(&ends, "cells_dropped");
    let gone = refused.iter().sum::<u64>() + early;
    let taken = sum(&ends, "cells_received");
    let waiting = [&ports, &ends, &channels].map(|table| sum(table, "waiting")).iter().sum::<u64>();
    if made + came == sent + gone + taken + waiting {
        return Ok(());
    }
    Err(format!("made {made}, came {came}; sent {sent}, dropped {gone}, taken {taken}, waiting {waiting}"))
}

/// Those of a table's rows that have this value in a column.
pub fn of(table: &Value, name: &str, value: &str, number: &str) -> u64 {
    let names = column(table, name);
    let numbers = column(table, number);
    let is_that = |(found, _): &(Value, Value)| found == value;
    names.into_iter().zip(numbers).filter(is_that).filter_map(|(_, number)| number.as_u64()).sum()
}
