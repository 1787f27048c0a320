//! Sessions of BGP with other ASes by which no route passes, since nobody says which may (RFC 8212, 3).

use super::Network;
use super::meeting::Expected;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use control::bgp::section::{BgpNeighborSpec, BgpPassing, BgpPolicy, BgpSpec};
use std::collections::{BTreeMap, BTreeSet};

/// Is anything said of which routes pass, and does it let some pass?
fn passes(said: Option<&BgpPassing>) -> Option<bool> {
    said.map(|said| *said != BgpPassing::Word(BgpPolicy::None))
}

/// What two ends of a session say of routes in both directions. What an end of others says is not known, and may let
/// routes pass.
struct Ends<'a> {
    here: &'a BgpNeighborSpec,
    there: Vec<&'a BgpNeighborSpec>,
}

impl Ends<'_> {
    /// Does a route pass in one of the directions, if an end of which nothing is said lets them pass or not?
    fn pass(&self, unsaid: bool) -> bool {
        let may = |said: &Option<BgpPassing>| passes(said.as_ref()).unwrap_or(unsaid);
        let there = |may_there: &dyn Fn(&BgpNeighborSpec) -> bool| {
            self.there.is_empty() || self.there.iter().any(|said| may_there(said))
        };
        (may(&self.here.import) && there(&|said| may(&said.export)))
            || (may(&self.here.export) && there(&|said| may(&said.import)))
    }

    /// Which words are missing, and where.
    fn missing(&self, other: &str) -> String {
        let here = unsaid(self.here);
        let mut there: Vec<&str> = self.there.iter().flat_map(|said| unsaid(said)).collect();
        there.sort_unstable_by_key(|key| core::cmp::Reverse(*key));
        there.dedup();
        let at = |keys: &[&str], place: &str| match keys {
            [] => None,
            [one] => Some(format!("{one} is missing {place}")),
            several => Some(format!("{} are missing {place}", several.join(" and "))),
        };
        let there = at(&there, &format!("at '{other}'"));
        Vec::from_iter(at(&here, "here").into_iter().chain(there)).join(", and ")
    }
}

/// The directions of which an end says nothing.
fn unsaid(said: &BgpNeighborSpec) -> Vec<&'static str> {
    let all = [("'import'", &said.import), ("'export'", &said.export)];
    all.into_iter().filter(|(_, said)| said.is_none()).map(|(key, _)| key).collect()
}

impl Network {
    /// Each pair of routers once, and each neighbour of others. Who says 'none' wants none.
    pub(super) fn nothing_passes(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
        expected: &Expected<'_>,
    ) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &BgpSpec> =
            speakers.iter().filter_map(|(node, spoken)| Some((*node, spoken.settings()?))).collect();
        let (mut said, mut pairs) = (Vec::new(), BTreeSet::new());
        for (&node, spec) in &by_node {
            let outside = spec.neighbors.iter().filter(|(_, one)| one.asn != spec.asn);
            for (name, here) in outside.filter(|_| self.facts(node).is_own_router()) {
                let other = self.named_or_owning(name);
                let own = other.filter(|other| self.facts(*other).is_own_router());
                let there = own.map_or_else(Vec::new, |other| {
                    let back = expected.get(&other).into_iter().flatten().filter(|(_, back)| *back == node);
                    let of = by_node.get(&other).map_or(&[][..], |spec| &spec.neighbors);
                    back.filter_map(|(back, _)| of.iter().find(|(name, _)| **name == **back))
                        .map(|(_, one)| one)
                        .filter(|one| one.asn == spec.asn)
                        .collect()
                });
                // That there is no session at all is said elsewhere.
                let is_wrong =
                    own.and_then(|other| by_node.get(&other)).is_some_and(|spec| spec.asn != here.asn);
                if is_wrong || other.is_none() && self.is_known_in_full() || own.is_some() && there.is_empty()
                {
                    continue;
                }
                let ends = Ends { here, there };
                let is_first = own.is_none_or(|other| pairs.insert([node.min(other), node.max(other)]));
                if is_first && !ends.pass(false) && ends.pass(true) {
                    let other = other.map_or(&**name, |other| self.node_name(other)).to_string();
                    let missing = ends.missing(&other);
                    let nothing = AdviceProblem::NothingPasses { other, missing };
                    let at = Diagnostic::new(nothing).at(&**name).at("neighbors").at(protocol.name());
                    said.push(at.of_node(&self.description, node));
                }
            }
        }
        said
    }
}
