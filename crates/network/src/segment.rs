//! Addresses on shared segments: one prefix, and an address in it for each member.

use super::description::{Description, LinkSpec};
use super::kind::Facts;
use super::place::{Place, node_name};
use super::plan::{self, Addresses};
use super::problem::AddressProblem;
use super::spec::address::InterfaceAddress;
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

/// Addresses of the links of segments, by link. The end at the segment has the address of a host's gateway, or the
/// first of the prefix, which is nobody's.
pub fn addresses(description: &Description) -> Result<BTreeMap<usize, Addresses>, Diagnostic> {
    let mut all = BTreeMap::new();
    for (node, spec) in description.nodes.iter().enumerate() {
        if let Some(prefix) = spec.facts().segment {
            of_segment(description, node, prefix, &mut all)?;
        }
    }
    Ok(all)
}

fn members(description: &Description, segment: usize) -> Result<Vec<Member>, Diagnostic> {
    let mut found = Vec::new();
    for (link, spec) in description.links.iter().enumerate() {
        let ends = [spec.a, spec.b];
        let Some(side) = ends.iter().position(|&end| end == segment).map(|side| 1 - side) else { continue };
        if !is_of(description.nodes[segment].facts(), spec) {
            continue;
        }
        let name = || node_name(description, segment).to_string();
        if description.nodes[ends[side]].facts().segment.is_some() {
            let problem = AddressProblem::TwoSegments { other: node_name(description, ends[side]).into() };
            return Err(problem.of_node(description, segment));
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
    segment: usize,
    prefix: Prefix,
    all: &mut BTreeMap<usize, Addresses>,
) -> Result<(), Diagnostic> {
    let whole = InterfaceAddress { address: prefix.address(), len: prefix.len() };
    if let Some(found) = plan::taken(description, prefix) {
        let collides = Diagnostic::new(plan::collides(prefix, found)).at("prefix").on_key();
        return Err(collides.of_node(description, segment));
    }
    let members = members(description, segment)?;
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
