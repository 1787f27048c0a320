//! Conditioners on what arrives at routers: how they are put there, and what they counted, with those before queues.

use super::description::LinkSpec;
use super::error::NetworkError;
use super::problem::BuildProblem;
use super::queues::SIDES;
use super::{Link, Network};
use base::table::{Rows, Table};
use node::conditioner::{Colour, Conditioner, ConditionerSpec};
use node::router::Conditioning;

base::table! {
    /// What each rule of every conditioner counted for each colour; packets that no rule took are in a row without a
    /// rule.
    pub struct ConditionerTableRow<'a> in "conditioners" key ["node", "link", "where", "rule", "colour"] {
        /// The node.
        node: &'a str,
        /// The link, by its place in the description.
        link: usize,
        /// The node at the link's other end.
        neighbor: &'a str,
        /// `ingress`, or `egress` for one before the queues.
        r#where: &'static str,
        /// The rule; absent of packets that none took.
        rule: Option<String>,
        /// The colour that the meter gave; absent of packets that no rule took.
        colour: Option<&'static str>,
        /// What was done with them.
        action: String,
        /// Packets of the colour.
        packets: u64 = "packets",
        /// Their bytes.
        bytes: u64 = "bytes",
    }
}

impl LinkSpec {
    /// The conditioner on what arrives at an end.
    pub(super) fn ingress(&self, side: usize) -> Option<&ConditionerSpec> {
        [&self.a_ingress, &self.b_ingress][side].as_ref()
    }
}

impl Network {
    /// Refuses conditioners that can't be, wherever they are.
    pub(super) fn check_conditioners(&self) -> Result<(), NetworkError> {
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let Some(spec) = link.spec.ingress(side) else { continue };
                let node = link.ends()[side];
                let refused = |problem: BuildProblem| self.at_end(problem, "ingress", index, side);
                if !self.facts(node).is_own_router() {
                    return Err(refused(BuildProblem::NoConditioner {}).into());
                }
                Conditioner::new(spec).map_err(|found| self.at_end(found, "ingress", index, side))?;
            }
        }
        Ok(())
    }

    /// What a router does with packets as they arrive.
    pub(super) fn conditioning(&self, node: usize) -> Conditioning {
        let conditioner = |(link, side): (&Link, usize)| {
            let mut made = Conditioner::new(link.spec.ingress(side)?).ok()?;
            made.set_framing(link.spec.medium.framing);
            Some((link.ports[side], made))
        };
        let trees = || self.ports_of(node).filter_map(|(link, side)| link.spec.queue(side));
        Conditioning {
            at: self.ports_of(node).filter_map(conditioner).collect(),
            note_inputs: trees().any(|tree| tree.asks_input()),
            note_encaps: trees().any(|tree| tree.asks_encaps()),
        }
    }

    /// What each rule of every conditioner counted for each colour; packets that no rule took are in a row without a
    /// rule.
    pub(super) fn conditioners(&self, only: Option<usize>) -> Table {
        let mut table = Rows::new();
        let mut push = |node: usize, link: usize, place: &'static str, conditioner: &Conditioner| {
            let row = || ConditionerTableRow {
                node: self.node_name(node),
                link,
                neighbor: self.far_name(node, link),
                r#where: place,
                rule: None,
                colour: None,
                action: "pass".into(),
                packets: 0,
                bytes: 0,
            };
            table.extend(conditioner.report().into_iter().map(|counted| ConditionerTableRow {
                rule: Some(counted.rule),
                colour: Some(colour(counted.colour)),
                action: counted.action,
                packets: counted.counted.packets,
                bytes: counted.counted.bytes,
                ..row()
            }));
            let counted = conditioner.unmatched();
            if counted.packets > 0 {
                table.push(ConditionerTableRow { packets: counted.packets, bytes: counted.bytes, ..row() });
            }
        };
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let node = link.ends()[side];
                if only.is_some_and(|only| only != node) {
                    continue;
                }
                let at =
                    self.router(node).and_then(|router| router.forwarding().conditioner(link.ports[side]));
                at.into_iter().for_each(|conditioner| push(node, index, "ingress", conditioner));
            }
        }
        for (node, link, tree) in self.trees(only) {
            tree.conditioner().into_iter().for_each(|conditioner| push(node, link, "egress", conditioner));
        }
        table.finish()
    }
}

fn colour(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Yellow => "yellow",
        Colour::Red => "red",
    }
}
