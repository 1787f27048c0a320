//! Tables of emulated edges: what became of their LSPs, and what each step of their programmes found.

use super::Testbed;
use crate::edge::Edge;
use base::Time;
use base::table::{Rows, Table, word};

base::table! {
    /// When LSPs of emulated edge routers came up and went down.
    pub struct TransitionRow<'a> in "lsp_log" key [] {
        /// When.
        time_s: Time = "s",
        /// The edge router.
        node: &'a str,
        /// The group of LSPs, by its place in the description.
        lsps: u32,
        /// The LSP's place in the group, from 0.
        index: u32,
        /// Is it up from then on?
        up: bool,
    }
}

base::table! {
    /// The steps of the programmes of emulated edge routers that were done.
    pub struct StepRow<'a> in "steps" key ["node", "at_s"] {
        /// The edge router.
        node: &'a str,
        /// When the step was due.
        at_s: Time = "s",
        /// What it does.
        action: String,
        /// The group of LSPs that it is done to, by its place in the description.
        lsps: u32,
        /// LSPs of the group that were up before it.
        up: u32 = "LSPs",
    }
}

/// LSPs of edges that went up or down, in order of time at each edge.
pub fn lsp_log(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for node in 0..testbed.description().nodes.len() {
        for t in testbed.edge(node).into_iter().flat_map(Edge::log) {
            let node = testbed.node_name(node);
            table.push(TransitionRow { time_s: t.at, node, lsps: t.group, index: t.index, up: t.up });
        }
    }
    table.finish()
}

/// What each step of every programme found when it began.
pub fn steps(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for node in 0..testbed.description().nodes.len() {
        for record in testbed.edge(node).into_iter().flat_map(Edge::records) {
            let step = &record.step;
            table.push(StepRow {
                node: testbed.node_name(node),
                at_s: step.at,
                action: word(&step.action),
                lsps: step.lsps,
                up: record.up,
            });
        }
    }
    table.finish()
}
