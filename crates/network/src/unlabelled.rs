//! Links that carry no labels, or one and no other below, between routers which give each other some.

use super::Network;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::lc_atm::LabelEncapsulation;
use super::spec::protocols::Spoken;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use std::collections::BTreeMap;
use wire::atm::Encapsulation;

impl Network {
    /// Circuits of ATM that carry IPv4 alone (RFC 2684, 6.1), both ends of which speak a protocol that gives labels.
    pub(super) fn labels_dropped(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
    ) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &Spoken> = speakers.iter().copied().collect();
        let gives = |node: usize| by_node.get(&node).is_some_and(|spoken| spoken.setup.gives_labels());
        let mut said = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            let circuit = link.circuit.as_ref();
            let has_no_room =
                circuit.is_some_and(|one| one.spec.encapsulation() == Encapsulation::VcMultiplexed);
            if has_no_room && link.ends().into_iter().all(gives) {
                let [a, b] = link.ends().map(|node| self.node_name(node).to_string());
                let dropped = AdviceProblem::LabelsDropped { protocol: protocol.to_string(), a, b };
                said.push(
                    Diagnostic::new(dropped)
                        .at("encapsulation")
                        .on_key()
                        .at("pvc")
                        .of_link(&self.description, index),
                );
            }
        }
        said
    }

    /// Links on which a packet has one label at most (RFC 3035, 9, without a shim), at routers that put one below.
    pub(super) fn second_labels_dropped(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
    ) -> Vec<Diagnostic> {
        let stacks = |node: usize| speakers.iter().any(|(at, one)| *at == node && one.setup.stacks_labels());
        let mut said = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            let labels = link.spec.lc_atm.as_ref();
            if labels.is_none_or(|labels| labels.encapsulation != LabelEncapsulation::Bare) {
                continue;
            }
            let (ends, mut orders) = (link.ends(), [[0, 1], [1, 0]].into_iter());
            if let Some([a, b]) = orders.find(|[side, _]| stacks(ends[*side])) {
                let [a, b] = [a, b].map(|side| self.node_name(ends[side]).to_string());
                let dropped = AdviceProblem::SecondLabelDropped { protocol: protocol.to_string(), a, b };
                let dropped = Diagnostic::new(dropped).at("encapsulation").on_key().at("lc_atm");
                said.push(dropped.of_link(&self.description, index));
            }
        }
        said
    }
}
