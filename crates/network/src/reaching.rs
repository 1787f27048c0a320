//! Neighbours of BGP, and next hops that it tells, to which a router finds no route. A router that speaks BGP has no
//! routes by shortest paths: another protocol or the description has to give it those.

use super::meeting::{Expected, expects};
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use super::ways::some_names;
use super::{Link, Network};
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use base::plane::{IpPrefix, Prefix};
use control::bgp::Bgp;
use control::bgp::section::{BgpFamily, BgpNeighborSpec, BgpPassing, BgpPolicy, BgpSpec};
use control::ospf::section::OspfSpec;
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};

type Speakers<'a> = BTreeMap<usize, &'a BgpSpec>;

/// May routes pass that a neighbour in the same AS, or in another one, tells or is told?
fn passes(spec: &BgpSpec, neighbor: &BgpNeighborSpec, said: Option<&BgpPassing>) -> bool {
    said.map_or(neighbor.asn == spec.asn, |said| *said != BgpPassing::Word(BgpPolicy::None))
}

/// Do policies set next hops? Then these are not what they would be.
fn sets_next_hops(spec: &BgpSpec) -> bool {
    spec.policies.iter().flat_map(|(_, rules)| rules).any(|rule| rule.set_next_hop.is_some())
}

/// Are routes of IPv4 exchanged with a neighbour?
fn is_of_ipv4(name: &str, neighbor: &BgpNeighborSpec) -> bool {
    let own =
        if name.parse::<IpAddr>().is_ok_and(|one| one.is_ipv6()) { BgpFamily::Ipv6 } else { BgpFamily::Ipv4 };
    let is_meant = |family: &BgpFamily| matches!(family, BgpFamily::Ipv4 | BgpFamily::Ipv4Labelled);
    neighbor.families.as_deref().unwrap_or(&[own]).iter().any(is_meant)
}

fn own<'a>(network: &Network, speakers: &[(usize, &'a Spoken)]) -> Speakers<'a> {
    let own = speakers.iter().filter(|(node, _)| network.facts(*node).is_own_router());
    own.filter_map(|(node, spoken)| Some((*node, spoken.settings()?))).collect()
}

impl Network {
    /// Neighbours by IPv4 address to which nothing finds a route: said once, at the first router that has such.
    pub(super) fn unreached(&self, protocol: ProtocolId, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        let speakers = own(self, speakers);
        let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (&node, spec) in &speakers {
            for (name, address) in
                spec.neighbors.iter().filter_map(|(name, _)| Some((name, name.parse().ok()?)))
            {
                let owner = self.owner(IpAddr::V4(address));
                // That nobody has the address is said elsewhere.
                if owner.is_none() && self.is_known_in_full() || self.may_reach(&speakers, node, address) {
                    continue;
                }
                let called = owner.map(|owner| format!(" ('{}')", self.node_name(owner))).unwrap_or_default();
                found.entry(node).or_default().push(format!("{}{called}", &**name));
            }
        }
        let Some((&first, mut neighbors)) = found.iter().next().map(|(node, all)| (node, all.iter())) else {
            return Vec::new();
        };
        let neighbor = neighbors.next().cloned().unwrap_or_default();
        let mut more = match neighbors.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let others: Vec<&str> = found.keys().skip(1).map(|node| self.node_name(*node)).collect();
        if !others.is_empty() {
            more = format!("{more}, nor from {} to such neighbours", some_names(others));
        }
        let problem = AdviceProblem::NoRouteToNeighbor { neighbor, more };
        vec![Diagnostic::new(problem).at(protocol.name()).of_node(&self.description, first)]
    }

    /// Routers that pass routes of another AS on to some of their own which find no route to the next hop.
    pub(super) fn next_hops_astray(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
        expected: &Expected<'_>,
    ) -> Vec<Diagnostic> {
        let speakers = own(self, speakers);
        let mut said = Vec::new();
        for (&node, spec) in &speakers {
            let outside = spec.neighbors.iter().filter(|(name, one)| {
                one.asn != spec.asn && is_of_ipv4(name, one) && passes(spec, one, one.import.as_ref())
            });
            for (name, _) in outside {
                let Some((link, side)) = self.link_towards(node, name) else { continue };
                let (next_hop, far) = (link.addresses[1 - side], link.ends()[1 - side]);
                if !self.tells(&speakers, far, node) || sets_next_hops(spec) {
                    continue;
                }
                let told = spec.neighbors.iter().filter(|(name, one)| {
                    let is_told = one.asn == spec.asn && passes(spec, one, one.export.as_ref());
                    is_told && !one.next_hop_self && is_of_ipv4(name, one)
                });
                let others = told.filter_map(|(name, _)| self.named_or_owning(name));
                let others: BTreeSet<usize> = others
                    .filter(|other| *other != node && expects(expected, *other, node))
                    .filter(|other| speakers.get(other).is_some_and(|spec| !sets_next_hops(spec)))
                    .filter(|other| !self.may_reach(&speakers, *other, next_hop))
                    .collect();
                if others.is_empty() {
                    continue;
                }
                let to = some_names(others.iter().map(|other| self.node_name(*other)));
                let of = self.named_or_owning(name).unwrap_or(far);
                let (of, address) = (self.node_name(of).to_string(), next_hop.to_string());
                let problem = AdviceProblem::NextHopAstray { of, address, to };
                said.push(Diagnostic::new(problem).at(protocol.name()).of_node(&self.description, node));
            }
        }
        said
    }

    /// Does a node tell a router routes? What one of others does is not known.
    fn tells(&self, speakers: &Speakers<'_>, node: usize, to: usize) -> bool {
        let Some(spec) = speakers.get(&node) else { return !self.facts(node).is_own_router() };
        let mut towards = spec.neighbors.iter().filter(|(name, _)| self.named_or_owning(name) == Some(to));
        !sets_next_hops(spec) && towards.any(|(_, one)| passes(spec, one, one.export.as_ref()))
    }

    /// The link of a node that leads to a neighbour, by its name or its address there, and the node's side of it.
    fn link_towards(&self, node: usize, name: &str) -> Option<(&Link, usize)> {
        let address = name.parse::<Ipv4Addr>();
        self.ports_of(node).find(|(link, side)| match address {
            Ok(address) => link.addresses[1 - side] == address,
            Err(_) => self.node_name(link.ends()[1 - side]) == name,
        })
    }

    /// May a router that speaks BGP have a route to an address? If it is not known, it may.
    fn may_reach(&self, speakers: &Speakers<'_>, node: usize, to: Ipv4Addr) -> bool {
        let spec = &self.description.nodes[node];
        let is_connected =
            |(link, side): (&Link, usize)| Prefix::new(link.addresses[side], link.prefix_len).contains(to);
        self.loopback(node) == to
            || self.ports_of(node).any(is_connected)
            || self.silent_neighbors(node).any(|(prefix, _)| prefix.contains(to))
            || spec.static_routes.iter().any(|route| route.prefix.contains(to))
            || self.may_be_found(node, to)
            || self.may_be_told(speakers, node, to)
    }

    /// May another protocol than BGP find a route there?
    fn may_be_found(&self, node: usize, to: Ipv4Addr) -> bool {
        let finds = |node: usize| {
            let spoken = self.description.nodes[node].protocols.spoken();
            spoken.filter(|one| one.protocol != Bgp::ID && one.setup.finds_routes())
        };
        if finds(node).next().is_none() {
            return false;
        }
        // Default routes into an area, and what comes from outside.
        let brings = |ospf: &OspfSpec| !ospf.redistribute.is_empty() || !ospf.areas.is_empty();
        let nodes = 0..self.description.nodes.len();
        let mut all = nodes.flat_map(finds);
        let ends = self.links.iter().filter(|link| link.addresses.contains(&to)).flat_map(Link::ends);
        let mut at = ends.chain(self.owner(IpAddr::V4(to)));
        !self.is_known_in_full()
            || at.any(|node| finds(node).next().is_some())
            || all.any(|one| one.settings().is_none_or(brings))
    }

    /// May another neighbour of BGP tell a route there, with a next hop on a link? One of others may, one of ours what
    /// it tells as its own, and what it passes on with itself as the next hop.
    fn may_be_told(&self, speakers: &Speakers<'_>, node: usize, to: Ipv4Addr) -> bool {
        let Some(spec) = speakers.get(&node) else { return true };
        let tells = |spec: &BgpSpec| {
            let is_it = |one: &IpPrefix| matches!(one, IpPrefix::V4(prefix) if prefix.contains(to));
            !spec.redistribute.is_empty() || spec.networks.iter().any(is_it)
        };
        let somebody_tells =
            !self.is_known_in_full() || speakers.iter().any(|(other, spec)| *other != node && tells(spec));
        spec.neighbors.iter().any(|(name, _)| {
            let address = name.parse::<IpAddr>();
            let is_beside = address.is_err() || self.link_towards(node, name).is_some();
            if !is_beside || address == Ok(IpAddr::V4(to)) {
                return false;
            }
            let theirs = self.named_or_owning(name).and_then(|other| speakers.get(&other));
            let Some(theirs) = theirs else { return true };
            let mut back =
                theirs.neighbors.iter().filter(|(name, _)| self.named_or_owning(name) == Some(node));
            tells(theirs) || somebody_tells && back.any(|(_, one)| one.asn != theirs.asn || one.next_hop_self)
        })
    }
}
