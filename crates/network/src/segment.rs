//! Addresses on shared segments: one prefix, and an address in it for each member. Switches with links to each other
//! are one segment.

use super::description::{Description, LinkSpec};
use super::kind::Facts;
use super::place::{Place, node_name};
use super::plan::{self, Addresses};
use super::problem::AddressProblem;
use super::spec::address::InterfaceAddress;
use super::{Link, Network};
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};

/// A link of a segment.
struct Member {
    /// The link, by its place in the description.
    link: usize,
    /// The node at its other end.
    node: usize,
    /// Which end of the link the member is.
    side: usize,
}

/// The segment that a link is of: one at an end of it, which it does not only manage.
pub fn at(description: &Description, link: &LinkSpec) -> Option<usize> {
    let is_of = |node: &usize| is_of(description.nodes[*node].facts(), link);
    [link.a, link.b].into_iter().find(is_of)
}

/// Is a link at a node of the segment that the node is? One with addresses of its own is not.
pub fn is_of(facts: &Facts, link: &LinkSpec) -> bool {
    facts.segment.is_some() && !(facts.managed && link.addresses.is_some())
}

/// Is a link within a segment: does it join two switches?
fn is_trunk(description: &Description, link: &LinkSpec) -> bool {
    let is_switch = |node: usize| {
        let facts = description.nodes[node].facts();
        facts.managed && is_of(facts, link)
    };
    is_switch(link.a) && is_switch(link.b)
}

/// Which node stands for the segment that each node is of: the first of the switches that links join. Every other node
/// stands for itself.
pub fn joined(description: &Description) -> Vec<usize> {
    let mut standing: Vec<usize> = (0..description.nodes.len()).collect();
    for link in description.links.iter().filter(|link| is_trunk(description, link)) {
        let (a, b) = (standing[link.a], standing[link.b]);
        let (first, other) = (a.min(b), a.max(b));
        standing.iter_mut().filter(|node| **node == other).for_each(|node| *node = first);
    }
    standing
}

/// Addresses of the links of segments, by link. The end at the segment has the address of a host's gateway, or the
/// first of the prefix, which is nobody's; so have both ends of a link within it.
pub fn addresses(description: &Description) -> Result<BTreeMap<usize, Addresses>, Diagnostic> {
    let mut all = BTreeMap::new();
    let standing = joined(description);
    for (node, spec) in description.nodes.iter().enumerate() {
        if let Some(prefix) = spec.facts().segment.filter(|_| standing[node] == node) {
            of_segment(description, (node, &standing), prefix, &mut all)?;
        }
    }
    for (index, link) in description.links.iter().enumerate().filter(|(_, link)| is_trunk(description, link))
    {
        let prefixes = [link.a, link.b].map(|end| description.nodes[end].facts().segment);
        let [Some(first), Some(second)] = prefixes else { continue };
        if first != second {
            let (other, prefix) = (node_name(description, link.a).into(), first.to_string());
            let two = Diagnostic::new(AddressProblem::TwoPrefixes { other, prefix }).at("prefix").on_key();
            return Err(two.of_node(description, link.b));
        }
        all.insert(index, ([first.address(); 2], first.len()));
    }
    Ok(all)
}

/// The members of the segment that a node stands for.
fn members(description: &Description, segment: usize, standing: &[usize]) -> Result<Vec<Member>, Diagnostic> {
    let mut found = Vec::new();
    for (link, spec) in description.links.iter().enumerate() {
        let ends = [spec.a, spec.b];
        let is_here = |end: &usize| {
            let facts = description.nodes[*end].facts();
            facts.segment.is_some() && standing[*end] == segment && is_of(facts, spec)
        };
        let Some(near) = ends.iter().position(is_here).filter(|_| !is_trunk(description, spec)) else {
            continue;
        };
        let (here, side) = (ends[near], 1 - near);
        let name = || node_name(description, here).to_string();
        if description.nodes[ends[side]].facts().segment.is_some() {
            let problem = AddressProblem::TwoSegments { other: node_name(description, ends[side]).into() };
            return Err(problem.of_node(description, here));
        }
        if spec.addresses.is_some() {
            let theirs = AddressProblem::SegmentsAddresses { segment: name() };
            return Err(Diagnostic::new(theirs).at("addresses").on_key().of_link(description, link));
        }
        found.push(Member { link, node: ends[side], side });
    }
    Ok(found)
}

fn of_segment(
    description: &Description,
    (segment, standing): (usize, &[usize]),
    prefix: Prefix,
    all: &mut BTreeMap<usize, Addresses>,
) -> Result<(), Diagnostic> {
    let whole = InterfaceAddress { address: prefix.address(), len: prefix.len() };
    if let Some(found) = plan::taken(description, prefix) {
        let collides = Diagnostic::new(plan::collides(prefix, found)).at("prefix").on_key();
        return Err(collides.of_node(description, segment));
    }
    let members = members(description, segment, standing)?;
    let is_host = |member: &&Member| description.nodes[member.node].facts().host.is_some();
    let mut taken: BTreeMap<Ipv4Addr, usize> = BTreeMap::new();
    for member in members.iter().filter(is_host) {
        let address = host_address(description, member.node, prefix)?;
        if let Some(other) = taken.insert(address, member.node) {
            let (address, other) = (address.to_string(), node_name(description, other).to_string());
            let twice =
                Diagnostic::new(AddressProblem::AddressTwice { address, other }).at("address").on_key();
            return Err(twice.of_node(description, member.node));
        }
    }
    let last = prefix.address().to_bits() | u32::MAX.checked_shr(u32::from(prefix.len())).unwrap_or(0);
    let mut free = (prefix.address().to_bits()..=last).map(Ipv4Addr::from_bits);
    let mut routers = BTreeSet::new();
    let mut first = None;
    for member in members.iter().filter(|member| !is_host(member)) {
        let Some(address) = free.find(|one| whole.is_usable(*one) && !taken.contains_key(one)) else {
            let (prefix, member) = (prefix.to_string(), node_name(description, member.node).to_string());
            return Err(AddressProblem::SegmentFull { prefix, member }.of_node(description, segment));
        };
        routers.insert(address);
        first = first.or(Some(address));
        all.insert(member.link, pair(member, address, prefix.address(), prefix));
    }
    for member in members.iter().filter(is_host) {
        let facts = description.nodes[member.node].facts().host.unwrap_or_default();
        let address = host_address(description, member.node, prefix)?;
        if let Some(gateway) = facts.gateway.filter(|gateway| !routers.contains(gateway)) {
            let (gateway, prefix) = (gateway.to_string(), prefix.to_string());
            let far = Diagnostic::new(AddressProblem::FarGateway { gateway, prefix }).at("gateway").on_key();
            return Err(far.of_node(description, member.node));
        }
        let gateway = facts.gateway.or(first).unwrap_or(prefix.address());
        all.insert(member.link, pair(member, address, gateway, prefix));
    }
    Ok(())
}

impl Network {
    /// The links of the members of the segment that a node is of, with the sides at which members are.
    pub(super) fn segment_members(&self, segment: usize) -> impl Iterator<Item = (&Link, usize)> {
        let standing = joined(&self.description);
        let is_of_it = move |node: usize| standing[node] == standing[segment];
        self.links.iter().filter_map(move |link| {
            let ends = link.ends();
            let near = ends.iter().position(|&end| is_of_it(end) && is_of(self.facts(end), &link.spec))?;
            (!is_trunk(&self.description, &link.spec)).then_some((link, 1 - near))
        })
    }
}

/// Addresses of a link: the member's, and that of the end at the segment.
fn pair(member: &Member, own: Ipv4Addr, beyond: Ipv4Addr, prefix: Prefix) -> Addresses {
    (if member.side == 0 { [own, beyond] } else { [beyond, own] }, prefix.len())
}

/// The address of a host on a segment, which its description says.
fn host_address(description: &Description, host: usize, prefix: Prefix) -> Result<Ipv4Addr, Diagnostic> {
    let Some(own) = description.nodes[host].facts().host.and_then(|facts| facts.address) else {
        return Err(AddressProblem::NoAddress {}.of_node(description, host));
    };
    let refused = |problem: AddressProblem| {
        Err(Diagnostic::new(problem).at("address").on_key().of_node(description, host))
    };
    if own.prefix() != prefix {
        return refused(AddressProblem::TwoNetworks { first: own.to_string(), second: prefix.to_string() });
    }
    if !own.is_usable(own.address) {
        return refused(AddressProblem::NotForHosts { address: own.to_string() });
    }
    Ok(own.address)
}
