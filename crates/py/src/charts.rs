//! State machines of protocols, for the documentation.

use control::machine::{Chart, Entry};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Words in one line: a doc comment has them in several, each with a space in front.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(entries: &[Entry]) -> Vec<Value> {
    entries.iter().map(|entry| json!({"name": entry.name, "meaning": line(entry.meaning)})).collect()
}

fn chart(protocol: &str, chart: &Chart) -> Value {
    let begins = chart.begins.iter().filter_map(|&place| chart.states.get(place)).map(|state| state.name);
    json!({
        "protocol": protocol,
        "title": chart.title,
        "about": line(chart.about),
        "states": words(chart.states),
        "events": words(chart.events),
        "begins": begins.collect::<Vec<_>>(),
        "steps": chart.steps.iter().map(|step| chart.names(step)).collect::<Vec<_>>(),
    })
}

/// The state machines that protocols declare: a JSON list.
#[pyfunction]
pub fn charts() -> String {
    let all =
        control::CHARTS.iter().flat_map(|(protocol, charts)| charts.iter().map(|one| chart(protocol, one)));
    Value::from_iter(all).to_string()
}
