//! Tables of emulated edges: what became of their LSPs, and what each step of their programmes found.

use super::Testbed;
use crate::edge::Edge;
use crate::spec::problem::FlowProblem;
use crate::spec::programme::StepSpec;
use base::describe::{Describe, Value};
use base::diagnostic::{At, Diagnostic};
use base::table::{Rows, Table, word};
use base::{NodeId, Time};

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

impl Testbed {
    /// Adds a step, as users write it, to the programme of the edge at a node. Other nodes have none.
    pub fn add_step(&mut self, node: usize, described: &Value) -> Result<(), Diagnostic> {
        let spec = StepSpec::read(described)?;
        let unknown = || FlowProblem::UnknownLsp { name: spec.lsps.to_string(), hint: String::new() };
        let group = self.network.find_lsp(&spec.lsps).ok_or_else(|| Diagnostic::new(unknown())).at("lsps")?;
        let edge: Option<&mut Edge> = self.network.world_mut().device_mut(NodeId(node as u32));
        if let (Some(edge), Some(step)) = (edge, spec.lowered(group as u32)) {
            edge.add_step(step);
        }
        Ok(())
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
