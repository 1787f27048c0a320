//! Tables of emulated edges: what became of their LSPs, and what each step of their programmes found.

use super::Testbed;
use crate::edge::Edge;
use network::columns::Columns;
use serde_json::{Value, json};

/// LSPs of edges that went up or down, in order of time at each edge.
pub fn lsp_log(testbed: &Testbed) -> Value {
    let mut table = Columns::new(&["time_ps", "node", "lsps", "index", "up"]);
    for node in 0..testbed.description().nodes.len() {
        for t in testbed.edge(node).into_iter().flat_map(Edge::log) {
            let name = json!(testbed.node_name(node));
            table.push([json!(t.at.0), name, json!(t.group), json!(t.index), json!(t.up)]);
        }
    }
    table.finish()
}

/// What each step of every programme found when it began.
pub fn steps(testbed: &Testbed) -> Value {
    let mut table = Columns::new(&["node", "at_ps", "action", "lsps", "up"]);
    for node in 0..testbed.description().nodes.len() {
        for record in testbed.edge(node).into_iter().flat_map(Edge::records) {
            let step = &record.step;
            let name = json!(testbed.node_name(node));
            table.push([name, json!(step.at.0), json!(step.action), json!(step.lsps), json!(record.up)]);
        }
    }
    table.finish()
}
