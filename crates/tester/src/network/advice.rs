//! What is surprising about the queues and conditioners of a network that can be built, with the place of each.

use super::Network;
use super::queues::SIDES;
use engine::discipline::{Facts, warnings_at};
use node::conditioner;

/// Links take longer packets than usual by default, and hardly anybody sends them: what only those would meet is not worth a warning.
const USUAL_MTU: u32 = 1500;

impl Network {
    /// A sentence for each, in the order of links: rates that add up to more than there is, filters that take nothing, thresholds and
    /// bursts that are not what they look like. They stand behind the link, the node and the place in its tree.
    pub fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let name = self.node_name(link.ends()[side]);
                let at = |what: &str| format!("{}: {what} at '{name}'", self.link_words(index));
                if let Some(tree) = link.spec.queue(side) {
                    let facts = Facts { rate: link.spec.rate, mtu: link.spec.mtu.min(USUAL_MTU) };
                    let lead = at("queue");
                    said.extend(warnings_at(tree, &facts).into_iter().map(|text| format!("{lead}: {text}")));
                }
                if let Some(spec) = link.spec.ingress(side) {
                    said.extend(conditioner::warnings(spec, &at("ingress")));
                }
            }
        }
        said
    }
}
