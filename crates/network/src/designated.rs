//! Segments of OSPF on which no router may become designated router.

use super::Network;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use super::ways::some_names;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use control::ospf::interface::NetworkType;
use control::ospf::section::OspfSpec;
use control::protocol::Setup;
use std::collections::BTreeMap;

impl Network {
    /// Where several routers of ours meet on a network with a designated router, nobody else does, and all of them have
    /// priority 0: they are ineligible (RFC 2328, 9.4), and none gets further than to hear the others.
    pub(super) fn undesignated(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
    ) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &OspfSpec> =
            speakers.iter().filter_map(|(node, spoken)| Some((*node, spoken.settings()?))).collect();
        if by_node.is_empty() {
            return Vec::new();
        }
        let mut said = Vec::new();
        for place in self.meeting_places() {
            let node = |&(index, side): &(usize, usize)| self.links[index].ends()[side];
            if !place.iter().all(|end| self.is_known(node(end))) {
                continue;
            }
            let elects = place
                .iter()
                .filter(|end| by_node.get(&node(end)).is_some_and(|spec| self.elects(**end, spec)));
            let electing: Vec<_> = elects.collect();
            let is_ineligible = |end: &&(usize, usize)| self.priority(**end, by_node[&node(end)]) == 0;
            if let ([(first, _), _, ..], true) = (electing.as_slice(), electing.iter().all(is_ineligible)) {
                let routers = some_names(electing.iter().map(|end| self.node_name(node(end))));
                let nobody = AdviceProblem::NobodyDesignated { protocol: protocol.to_string(), routers };
                said.push(nobody.of_link(&self.description, *first));
            }
        }
        said
    }

    /// Does a router take part in the election at an end of a link?
    fn elects(&self, (index, side): (usize, usize), spec: &OspfSpec) -> bool {
        let link = &self.links[index];
        let wants = spec.agreements(&self.attached_at(link, side), link.spec.mtu);
        wants
            .into_iter()
            .flatten()
            .any(|one| one.what == "kind of network" && one.value == NetworkType::Broadcast.word())
    }

    /// How much it wants to be designated router there.
    fn priority(&self, (index, side): (usize, usize), spec: &OspfSpec) -> u8 {
        let far = self.node_name(self.links[index].ends()[1 - side]);
        let own = spec.interfaces.iter().find(|(name, _)| **name == *far).and_then(|(_, own)| own.priority);
        own.or(spec.usual.priority).unwrap_or(1)
    }
}
