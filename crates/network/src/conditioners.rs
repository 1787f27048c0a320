//! Conditioners on what arrives at routers: how they are put there, and what they counted, with those before queues.

use super::Network;
use super::columns::Columns;
use super::description::LinkSpec;
use super::error::{NetworkError, input};
use super::queues::{SIDES, in_words};
use base::PortId;
use node::conditioner::{Colour, Conditioner, ConditionerSpec};
use node::router::Conditioning;
use serde_json::{Value, json};

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
                let what = format!("{}: ingress at '{}'", self.link_words(index), self.node_name(node));
                if !self.facts(node).is_own_router() {
                    return input(format!(
                        "{what}: it is no router of ours: only these condition what arrives"
                    ));
                }
                Conditioner::new(spec, "ingress").map_err(|error| in_words(&what, &error))?;
            }
        }
        Ok(())
    }

    /// What a router does with packets as they arrive.
    pub(super) fn conditioning(&self, node: usize) -> Conditioning {
        let conditioner =
            |(port, spec): (PortId, &ConditionerSpec)| Some((port, Conditioner::new(spec, "ingress").ok()?));
        let given =
            self.ports_of(node).filter_map(|(link, side)| Some((link.ports[side], link.spec.ingress(side)?)));
        let trees = || self.ports_of(node).filter_map(|(link, side)| link.spec.queue(side));
        Conditioning {
            at: given.filter_map(conditioner).collect(),
            note_inputs: trees().any(|tree| tree.asks_input()),
            note_encaps: trees().any(|tree| tree.asks_encaps()),
        }
    }

    /// What each rule of every conditioner counted for each colour; packets that no rule took are in a row without a rule.
    pub(super) fn conditioners(&self, only: Option<usize>) -> Value {
        let names = ["node", "link", "neighbor", "where", "rule", "colour", "packets", "bytes", "action"];
        let mut table = Columns::new(&names);
        let mut push = |node: usize, link: usize, place: &str, conditioner: &Conditioner| {
            let (name, counted) = (json!(self.node_name(node)), conditioner.unmatched());
            let far = json!(self.far_name(node, link));
            for row in conditioner.report() {
                table.push([
                    name.clone(),
                    json!(link),
                    far.clone(),
                    json!(place),
                    json!(row.rule),
                    json!(colour(row.colour)),
                    json!(row.counted.packets),
                    json!(row.counted.bytes),
                    json!(row.action),
                ]);
            }
            if counted.packets > 0 {
                let (packets, bytes) = (json!(counted.packets), json!(counted.bytes));
                table.push([
                    name,
                    json!(link),
                    far,
                    json!(place),
                    Value::Null,
                    Value::Null,
                    packets,
                    bytes,
                    json!("pass"),
                ]);
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
