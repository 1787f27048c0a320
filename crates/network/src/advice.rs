//! What is surprising about the queues, conditioners and LSPs of a network that can be built, with the place of each.

use super::description::{LspSpec, NodeSpec};
use super::place::Place;
use super::problem::AdviceProblem;
use super::queues::{SIDES, in_tree};
use super::{Link, Network};
use crate::spec::rsvp::EgressLabel;
use crate::tables::controllers::name;
use base::device::DropReason;
use base::diagnostic::Diagnostic;
use base::plane::Encaps;
use base::{Phb, PhbSet};
use engine::discipline::{Around, Longest, Tree, marks_of, warnings_at};
use node::switch::Controller;
use node::{Router, conditioner};
use std::collections::BTreeSet;

/// Links take longer packets than usual by default, and hardly anybody sends them: what only those would meet is not
/// worth a warning. So long are usual packets at most, in bytes.
pub const USUAL_MTU: u32 = 1500;

impl Network {
    /// In the order of nodes, links and LSPs: nodes without a link, rates that add up to more than there is, filters
    /// that take nothing, thresholds and bursts that are not what they look like, PHBs that an LSP takes and has no
    /// place for, leaves that never join, and protocols whose routers do not meet.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut said: Vec<Diagnostic> = self.unlinked().into_iter().collect();
        said.extend(self.link_warnings(&|_| Longest::default()));
        said.extend(self.lsp_warnings());
        said.extend(self.meeting_warnings());
        said
    }

    /// Those about queues and conditioners. On a link of which the user has not said how long packets may be, `longest`
    /// says how long a packet is to be expected.
    pub fn link_warnings(&self, longest: &dyn Fn(&Link) -> Longest) -> Vec<Diagnostic> {
        let mut said = Vec::new();
        let marks = self.marks();
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let at = |key: &'static str| move |found: Diagnostic| self.at_end(found, key, index, side);
                if link.spec.queue(side).is_none() && link.spec.ingress(side).is_none() {
                    continue;
                }
                let mtu = link.spec.mtu;
                let said_so = link.spec.mtu_said || mtu <= USUAL_MTU;
                let mut longest =
                    if said_so { Longest { bytes: mtu, ..Longest::default() } } else { longest(link) };
                longest.framing = link.spec.medium.framing;
                // A controller of a switch may choose any queue, by its mark.
                let is_chosen = self.facts(link.ends()[side]).managed;
                let marks = (!is_chosen).then(|| marks.clone());
                let around = Around { rate: link.spec.rate, longest, marks };
                if let Some(tree) = link.spec.queue(side) {
                    said.extend(warnings_at(tree, &around).into_iter().map(at("queue")));
                }
                if let Some(spec) = link.spec.ingress(side) {
                    // Marks do not leave a node: none has one when it comes.
                    let around = Around { marks: Some(BTreeSet::new()), ..around };
                    said.extend(conditioner::warnings(spec, &around).into_iter().map(at("ingress")));
                }
            }
        }
        said
    }

    /// Those about LSPs.
    pub fn lsp_warnings(&self) -> Vec<Diagnostic> {
        let mut said = self.hidden_lsps();
        said.extend(self.unprotected());
        said.extend(self.unjoined());
        for (index, spec) in self.lsps.iter().map(|group| &group.spec).enumerate() {
            let none = no_place(spec, &self.description.nodes[spec.from]).into_iter();
            let none = none.chain(self.own_labels(spec));
            said.extend(none.chain(self.refusals(spec)).map(|found| found.of_lsp(index, spec)));
        }
        said
    }

    /// Where two LSPs with the same packets end, `egress_label` does not count.
    fn own_labels(&self, spec: &LspSpec) -> Option<Diagnostic> {
        spec.path.as_ref().filter(|path| path.one_plus_one.is_some())?;
        let node = &self.description.nodes[spec.to];
        let own = AdviceProblem::OwnLabels { node: node.name.clone() };
        (node.rsvp.egress_label != EgressLabel::Real).then(|| own.into())
    }
}

impl Network {
    /// Packets that were dropped since they are longer than a bucket ever holds: of each tree where it happened, once.
    pub fn beyond_bursts(&mut self) -> Vec<Diagnostic> {
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
            let side = self.links[index].side(node);
            for row in tree.report(now).iter().filter(|row| row.discipline == "tbf") {
                let reason = DropReason::BeyondBurst;
                let lost = row.counters.drops.get(reason);
                if lost > 0 {
                    let beyond = AdviceProblem::BeyondBurst { lost, given: row.counters.given.packets };
                    said.push(self.at_end(in_tree(&row.path, beyond.into()), "queue", index, side));
                }
            }
        }
        self.beyond_bursts.extend(found);
        said
    }

    /// What only the run has shown: packets that were longer than buckets, and what protocols have in their way; each
    /// once.
    pub fn found_out(&mut self) -> Vec<Diagnostic> {
        let (mut said, now) = (self.beyond_bursts(), self.now());
        let of = |(node, _, router): (usize, &str, &Router)| {
            let all = router.control().complaints(now);
            all.map(|(protocol, said)| (node, protocol, said)).collect::<Vec<_>>()
        };
        let found: Vec<_> = self.routers(None).flat_map(of).collect();
        for (node, protocol, text) in found {
            if self.complaints.insert((node, text.clone())) {
                let complaint = Diagnostic::new(AdviceProblem::Complaint { said: text }).at(protocol.name());
                said.push(complaint.of_node(&self.description, node));
            }
        }
        for (node, text, silent) in self.silent_controllers() {
            if self.complaints.insert((node, text)) {
                said.push(Diagnostic::new(silent).at("controllers").of_node(&self.description, node));
            }
        }
        said
    }

    /// Controllers that switches have tried in vain to connect to, and those that they can't.
    fn silent_controllers(&self) -> Vec<(usize, String, AdviceProblem)> {
        let mut found = Vec::new();
        for node in 0..self.description.nodes.len() {
            let Some(switch) = self.switch(node) else { continue };
            for view in switch.connections().filter(|view| view.attempts > 1) {
                let controller = name(switch, view.connection);
                let attempts = view.attempts;
                let why = view.why.map(|why| format!(": {why}")).unwrap_or_default();
                found.push((
                    node,
                    controller.clone(),
                    AdviceProblem::ControllerSilent { controller, attempts, why },
                ));
            }
            let nobody_carries = self.wall.is_none() && switch.connections().next().is_none();
            for place in 0..switch.config().controllers.len() {
                let is_wanted = matches!(switch.config().controllers[place], Controller::Connect(..));
                if is_wanted && nobody_carries {
                    let controller = name(switch, place as u32);
                    found.push((node, controller.clone(), AdviceProblem::ControllerNowhere { controller }));
                }
            }
        }
        found
    }

    /// The marks that conditioners put on what arrives, at any node: a tree may stand at several of which one marks.
    fn marks(&self) -> BTreeSet<u32> {
        let specs = self.links.iter().flat_map(|link| SIDES.map(|side| link.spec.ingress(side)));
        specs.flatten().flat_map(marks_of).collect()
    }

    /// LSPs that another one leaves nothing.
    fn hidden_lsps(&self) -> Vec<Diagnostic> {
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
                let hidden = AdviceProblem::Hidden { first: first.name.clone() };
                said.push(Diagnostic::new(hidden).at("carries").on_key().of_lsp(n, spec));
            }
        }
        said
    }
}

/// An LSP that has a place for packets of some PHBs only.
pub struct Narrow {
    /// What the TC bits of its packets mean where it begins.
    pub encaps: Encaps,
    /// `E-LSP` or `L-LSP`.
    pub kind: &'static str,
    /// The PHBs, with commas between them.
    pub phbs: String,
}

/// What the TC bits of an LSP mean where it begins, if it has no place for packets of some PHBs (RFC 3270, 3.5 and
/// 4.5).
pub fn narrow(spec: &LspSpec, head: &NodeSpec) -> Option<Narrow> {
    let preconfigured = head.diffserv.as_ref()?.tc_map;
    let encaps = spec.diffserv.map_or(Encaps::ELsp(preconfigured), |lsp| lsp.encaps(preconfigured));
    let kind = match encaps {
        // What it has no EXP bits for goes as default forwarding.
        Encaps::ELsp(map) if map.tc(Phb::DEFAULT).is_some() => return None,
        Encaps::ELsp(_) => "E-LSP",
        Encaps::LLsp(_) => "L-LSP",
    };
    Some(Narrow { encaps, kind, phbs: names(encaps.phbs()) })
}

fn names(set: PhbSet) -> String {
    set.iter().map(|phb| phb.to_string()).collect::<Vec<_>>().join(", ")
}

/// Packets that an LSP takes and then drops.
fn no_place(spec: &LspSpec, head: &NodeSpec) -> Option<Diagnostic> {
    let Narrow { encaps, kind, phbs } = narrow(spec, head)?;
    let lost = |taken: PhbSet| taken.iter().filter(|phb| !encaps.phbs().contains(*phb)).collect::<PhbSet>();
    match spec.classes.map(lost) {
        Some(lost) if !lost.is_empty() => {
            let lost = names(lost);
            Some(Diagnostic::new(AdviceProblem::ClassesDropped { kind, phbs, lost }).at("classes").on_key())
        }
        None if !spec.carries.is_empty() => {
            Some(Diagnostic::new(AdviceProblem::TakesAll { kind, phbs }).at("carries").on_key())
        }
        _ => None,
    }
}
