//! IPv6 of a network: what the description says of addresses, and the static routes that follow from it.
//!
//! Only links that say addresses have IPv6, and routes lead over such links alone. What lies beyond others is reached
//! by
//! LSPs that carry it (RFC 4798).

use super::Network;
use super::addressing::{benchmarks6, block6, probe6, test_network6};
use super::description::Description;
use super::paths::Tree;
use super::place::{Place, node_name};
use super::problem::AddressProblem;
use super::spec::address6::{InterfaceAddress6, is_usable};
use base::diagnostic::Diagnostic;
use base::plane::{NextHop, Prefix6};
use base::{Command, Device, Time};
use core::net::Ipv6Addr;
use node::Router;

/// The least MTU of a link that has IPv6, in bytes (RFC 8200, 5).
const MTU_MIN: u32 = 1280;

/// Refuses addresses that can't be, on links and of routers.
pub(crate) fn check(description: &Description) -> Result<(), Diagnostic> {
    let mut given: Vec<(Prefix6, usize)> = Vec::new();
    for (index, link) in description.links.iter().enumerate() {
        let Some(ends) = link.ipv6 else { continue };
        let refused = |problem: AddressProblem| {
            Err(Diagnostic::new(problem).at("ipv6").on_key().of_link(description, index))
        };
        check_ends(ends).or_else(refused)?;
        if link.mtu < MTU_MIN {
            return refused(AddressProblem::ShortForIpv6 { mtu: link.mtu, least: MTU_MIN });
        }
        let prefix = ends[0].prefix();
        check_benchmarks(prefix).or_else(refused)?;
        let overlap = |other: &&(Prefix6, usize)| {
            other.0.contains(prefix.address()) || prefix.contains(other.0.address())
        };
        if let Some((other, whose)) = given.iter().find(overlap) {
            let [a, b] =
                [description.links[*whose].a, description.links[*whose].b].map(|n| node_name(description, n));
            let (prefix, other) = (prefix.to_string(), other.to_string());
            return refused(AddressProblem::Overlap { prefix, other, whose: format!("link {a} - {b}") });
        }
        given.push((prefix, index));
    }
    let mut loopbacks: Vec<(Ipv6Addr, usize)> = Vec::new();
    for (node, spec) in description.nodes.iter().enumerate() {
        let Some(address) = spec.ipv6 else { continue };
        let refused = |problem: AddressProblem| {
            Err(Diagnostic::new(problem).at("ipv6").on_key().of_node(description, node))
        };
        if !is_usable(address) {
            return refused(AddressProblem::NotForInterfaces { address: address.to_string() });
        }
        check_benchmarks(Prefix6::host(address)).or_else(refused)?;
        if let Some((_, other)) = loopbacks.iter().find(|(other, _)| *other == address) {
            let other = node_name(description, *other).to_string();
            return refused(AddressProblem::LoopbackTwice { address: address.to_string(), other });
        }
        if let Some((prefix, _)) = given.iter().find(|(prefix, _)| prefix.contains(address)) {
            let (address, prefix) = (address.to_string(), prefix.to_string());
            return refused(AddressProblem::LoopbackWithin { address, prefix });
        }
        loopbacks.push((address, node));
    }
    Ok(())
}

/// Refuses what has an address in common with where test packets go.
fn check_benchmarks(prefix: Prefix6) -> Result<(), AddressProblem> {
    let taken = benchmarks6();
    if !prefix.contains(taken.address()) && !taken.contains(prefix.address()) {
        return Ok(());
    }
    let (prefix, taken) = (prefix.to_string(), taken.to_string());
    Err(AddressProblem::Collides { prefix, taken, whose: "to which test packets go" })
}

fn check_ends([a, b]: [InterfaceAddress6; 2]) -> Result<(), AddressProblem> {
    if let Some(bad) = [a, b].into_iter().find(|end| !is_usable(end.address)) {
        return Err(AddressProblem::NotForInterfaces { address: bad.address.to_string() });
    }
    if a.prefix() != b.prefix() {
        return Err(AddressProblem::TwoNetworks { first: a.to_string(), second: b.to_string() });
    }
    if a.address == b.address {
        return Err(AddressProblem::SameAddress { address: a.address.to_string() });
    }
    Ok(())
}

impl Network {
    /// Static IPv6 routes of a router to every IPv6 loopback and link, by the shortest path over links with IPv6.
    pub(super) fn set_routes6(&self, node: usize, router: &mut Router) {
        if !self.has_ipv6(node) {
            return;
        }
        let routes = if self.leave_unwritten6(node, router) {
            vec![(test_network6(), self.tests6_of(node))]
        } else {
            self.routes6_by(node, &self.tree6(node, |_| true))
        };
        for (prefix, next_hop) in routes {
            router.handle_command(Time::ZERO, Command::Route6Set { prefix, next_hop });
        }
    }

    /// Has a node an IPv6 address?
    pub fn has_ipv6(&self, node: usize) -> bool {
        self.description.nodes.get(node).is_some_and(|spec| spec.ipv6.is_some())
            || self.ports_of(node).any(|(link, _)| link.spec.ipv6.is_some())
    }

    /// Where the test packets of IPv6 go that an LSP brings to a node.
    fn tests6_of(&self, node: usize) -> NextHop {
        match self.tests_of(node) {
            NextHop::Via { port, .. } => NextHop::Via { port, gateway: probe6(node).into() },
            other => other,
        }
    }

    /// The shortest paths of a node over those usable links that have IPv6.
    pub(super) fn tree6(&self, node: usize, usable: impl Fn(usize) -> bool) -> Tree {
        self.graph.tree_over(node, |link| self.links[link].spec.ipv6.is_some() && usable(link))
    }

    /// Static IPv6 routes of a node that has IPv6, by its shortest paths.
    pub(super) fn routes6_by(&self, node: usize, tree: &Tree) -> Vec<(Prefix6, NextHop)> {
        let towards = |other: usize| {
            let link = &self.links[tree.first_link(other)?];
            let side = link.side(node);
            let gateway = link.spec.ipv6?[1 - side].address;
            Some(NextHop::Via { port: link.ports[side], gateway: gateway.into() })
        };
        let mut routes = vec![(test_network6(), self.tests6_of(node))];
        for (other, spec) in self.description.nodes.iter().enumerate() {
            routes.extend(
                spec.ipv6
                    .filter(|_| other != node)
                    .and_then(|own| Some((Prefix6::host(own), towards(other)?))),
            );
            if other != node && spec.facts().is_own_router() && self.has_ipv6(other) {
                routes.extend(towards(other).map(|next_hop| (block6(other), next_hop)));
            }
        }
        for link in &self.links {
            let ([a, b], Some(ends)) = (link.ends(), link.spec.ipv6) else { continue };
            if a == node || b == node {
                continue;
            }
            // The nearer end is the one to go to; from a host's link that is the router.
            let hosts = link.ends().map(|end| self.facts(end).host.is_some());
            let order = if hosts[0] || (!hosts[1] && tree.cost(b) < tree.cost(a)) { [b, a] } else { [a, b] };
            let next_hop = order.into_iter().find_map(towards);
            routes.extend(next_hop.map(|next_hop| (ends[0].prefix(), next_hop)));
        }
        routes
    }

    /// The node that has an IPv6 address.
    pub fn owner6(&self, address: Ipv6Addr) -> Option<usize> {
        let loopback = self.description.nodes.iter().position(|node| node.ipv6 == Some(address));
        let at_link = || {
            self.links.iter().find_map(|link| {
                let side = link.spec.ipv6?.iter().position(|own| own.address == address)?;
                Some(link.ends()[side])
            })
        };
        loopback.or_else(at_link)
    }
}
