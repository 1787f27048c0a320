//! What is surprising about the queues, conditioners and LSPs of a network that can be built, with the place of each.

use super::description::{LspSpec, NodeSpec};
use super::queues::SIDES;
use super::{Link, Network};
use base::device::DropReason;
use base::plane::Encaps;
use base::{Phb, PhbSet};
use engine::discipline::{Around, Longest, Tree, marks_of, warnings_at};
use node::conditioner;
use std::collections::BTreeSet;

/// Links take longer packets than usual by default, and hardly anybody sends them: what only those would meet is not worth a warning.
/// So long are usual packets at most, in bytes.
pub const USUAL_MTU: u32 = 1500;

impl Network {
    /// A sentence for each, in the order of links and of LSPs: rates that add up to more than there is, filters that take nothing, thresholds
    /// and bursts that are not what they look like, behaviours that an LSP takes and has no place for. They stand behind the link, the node
    /// and the place in its tree, or the LSP.
    pub fn warnings(&self) -> Vec<String> {
        let mut said = self.link_warnings(&|_| Longest::default());
        said.extend(self.lsp_warnings());
        said
    }

    /// Those about queues and conditioners. On a link of which the user has not said how long packets may be, `longest` says how long a
    /// packet is to be expected.
    pub fn link_warnings(&self, longest: &dyn Fn(&Link) -> Longest) -> Vec<String> {
        let mut said = Vec::new();
        let marks = self.marks();
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let name = self.node_name(link.ends()[side]);
                let at = |what: &str| format!("{}: {what} at '{name}'", self.link_words(index));
                if link.spec.queue(side).is_none() && link.spec.ingress(side).is_none() {
                    continue;
                }
                let mtu = link.spec.mtu;
                let said_so = link.spec.mtu_said || mtu <= USUAL_MTU;
                let longest =
                    if said_so { Longest { bytes: mtu, ..Longest::default() } } else { longest(link) };
                let around = Around { rate: link.spec.rate, longest, marks: Some(marks.clone()) };
                if let Some(tree) = link.spec.queue(side) {
                    let lead = at("queue");
                    said.extend(warnings_at(tree, &around).into_iter().map(|text| format!("{lead}: {text}")));
                }
                if let Some(spec) = link.spec.ingress(side) {
                    // Marks do not leave a node: none has one when it comes.
                    let around = Around { marks: Some(BTreeSet::new()), ..around };
                    said.extend(conditioner::warnings(spec, &at("ingress"), &around));
                }
            }
        }
        said
    }

    /// Those about LSPs.
    pub fn lsp_warnings(&self) -> Vec<String> {
        let mut said = self.hidden_lsps();
        for spec in self.lsps.iter().map(|group| &group.spec) {
            said.extend(no_place(spec, &self.description.nodes[spec.from]));
            said.extend(self.refusals(spec));
        }
        said
    }
}

impl Network {
    /// Packets that were dropped since they are longer than a bucket ever holds: a sentence for each tree where it happened, once.
    pub fn beyond_bursts(&mut self) -> Vec<String> {
        let lost = |tree: &Tree| tree.totals().dropped.packets.get(DropReason::BeyondBurst) > 0;
        let found: Vec<(usize, usize)> = self
            .trees(None)
            .filter(|(node, link, tree)| lost(tree) && !self.beyond_bursts.contains(&(*node, *link)))
            .map(|(node, link, _)| (node, link))
            .collect();
        let now = self.world.now();
        let mut said = Vec::new();
        for (node, index, tree) in self.trees(None) {
            if !found.contains(&(node, index)) {
                continue;
            }
            let lead = format!("{}: queue at '{}'", self.link_words(index), self.node_name(node));
            for row in tree.report(now).iter().filter(|row| row.discipline == "tbf") {
                let reason = DropReason::BeyondBurst;
                let lost = row.counters.drops.get(reason);
                if lost > 0 {
                    let (path, given) = (&row.path, row.counters.given.packets);
                    said.push(format!("{lead}: {path}: {lost} of {given} packets were dropped since they are longer than its bucket (beyond-burst): give more 'burst', and 'mtu' if there is a peak rate"));
                }
            }
        }
        self.beyond_bursts.extend(found);
        said
    }

    /// The marks that conditioners put on what arrives, at any node: a tree may stand at several of which one marks.
    fn marks(&self) -> BTreeSet<u32> {
        let specs = self.links.iter().flat_map(|link| SIDES.map(|side| link.spec.ingress(side)));
        specs.flatten().flat_map(marks_of).collect()
    }

    /// LSPs that another one leaves nothing.
    fn hidden_lsps(&self) -> Vec<String> {
        let specs: Vec<&LspSpec> = self.lsps.iter().map(|group| &group.spec).collect();
        let mut said = Vec::new();
        for (n, spec) in specs.iter().enumerate().filter(|(_, spec)| !spec.carries.is_empty()) {
            let same = |other: &&&LspSpec| {
                other.from == spec.from
                    && other.classes.is_some()
                    && other.classes == spec.classes
                    && spec.carries.iter().all(|prefix| other.carries.contains(prefix))
            };
            if let Some(first) = specs[..n].iter().find(same) {
                said.push(format!(
                    "lsp '{}': it takes packets only while lsp '{}' is down, which has the same 'carries' and 'classes' and was declared before it",
                    spec.name, first.name
                ));
            }
        }
        said
    }
}

/// What the EXP bits of an LSP mean where it begins, if it has no place for packets of some behaviours (RFC 3270, 3.5 and 4.5); and the
/// words for it.
pub fn narrow(spec: &LspSpec, head: &NodeSpec) -> Option<(Encaps, String)> {
    let preconfigured = head.diffserv.as_ref()?.tc_map;
    let encaps = spec.diffserv.map_or(Encaps::ELsp(preconfigured), |lsp| lsp.encaps(preconfigured));
    let kind = match encaps {
        // What it has no EXP bits for goes as default forwarding.
        Encaps::ELsp(map) if map.tc(Phb::DEFAULT).is_some() => return None,
        Encaps::ELsp(_) => "E-LSP",
        Encaps::LLsp(_) => "L-LSP",
    };
    let words = format!("lsp '{}': the {kind} has a place for {} only", spec.name, names(encaps.phbs()));
    Some((encaps, words))
}

fn names(set: PhbSet) -> String {
    set.iter().map(|phb| phb.to_string()).collect::<Vec<_>>().join(", ")
}

/// Packets that an LSP takes and then drops.
fn no_place(spec: &LspSpec, head: &NodeSpec) -> Option<String> {
    let (encaps, words) = narrow(spec, head)?;
    let lost = |taken: PhbSet| taken.iter().filter(|phb| !encaps.phbs().contains(*phb)).collect::<PhbSet>();
    match spec.classes.map(lost) {
        Some(lost) if !lost.is_empty() => {
            Some(format!("{words}: packets of {} of its 'classes' are dropped", names(lost)))
        }
        None if !spec.carries.is_empty() => Some(format!(
            "{words}, and takes all packets to what it carries: say in 'classes' which, or others are dropped"
        )),
        _ => None,
    }
}
