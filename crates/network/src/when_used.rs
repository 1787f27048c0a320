//! Which routers find their static routes when they are first used, and the ways by which they do.

use super::addressing;
use super::unwritten::{End, Target, Ways};
use super::{Link, Network};
use base::plane::{Prefix, Prefix6, Table};
use core::net::{IpAddr, Ipv6Addr};
use node::Router;
use std::sync::Arc;

impl Network {
    /// What routes of all routers have in common, of a network in which they need not be written. In real time they
    /// are, where anybody looks at them; on shared segments, and where one prefix is that of several, more than the
    /// first link of a path decides.
    pub(super) fn find_ways(&self) -> Option<Arc<Ways>> {
        if !self.may_leave_unwritten() {
            return None;
        }
        let mut targets = Vec::new();
        let nodes = self.description.nodes.iter().enumerate();
        for (place, node) in nodes.filter(|(_, node)| node.facts().host.is_none()) {
            let target = Target::Node(place as u32);
            targets.push((addressing::block(place), target));
            targets.extend(node.router_id.map(|id| (Prefix::host(id), target)));
        }
        for (place, link) in self.links.iter().enumerate() {
            if self.is_outside_blocks(link) {
                targets.push((Prefix::new(link.addresses[0], link.prefix_len), Target::Link(place as u32)));
            }
        }
        let links = self.ends_by(|link, side| link.addresses[side].into());
        Ways::new(self.graph.clone(), links, targets).map(Arc::new)
    }

    /// The same of IPv6, whose routes lead over links that have IPv6; nothing of a network without.
    pub(super) fn find_ways6(&self) -> Option<Arc<Ways<Prefix6>>> {
        if !self.may_leave_unwritten() {
            return None;
        }
        let mut targets = Vec::new();
        for (place, node) in self.description.nodes.iter().enumerate() {
            let target = Target::Node(place as u32);
            targets.extend(node.ipv6.map(|own| (Prefix6::host(own), target)));
            if node.facts().is_own_router() && self.has_ipv6(place) {
                targets.push((addressing::block6(place), target));
            }
        }
        for (place, link) in self.links.iter().enumerate() {
            targets.extend(link.spec.ipv6.map(|ends| (ends[0].prefix(), Target::Link(place as u32))));
        }
        if targets.is_empty() {
            return None;
        }
        let address = |link: &Link, side: usize| {
            link.spec.ipv6.map_or(Ipv6Addr::UNSPECIFIED, |ends| ends[side].address)
        };
        let links = self.ends_by(|link, side| address(link, side).into());
        let graph = self.graph.over(|link| self.links[link].spec.ipv6.is_some());
        Ways::new(Arc::new(graph), links, targets).map(Arc::new)
    }

    fn may_leave_unwritten(&self) -> bool {
        !self.live && self.description.nodes.iter().all(|node| node.facts().segment.is_none())
    }

    fn ends_by(&self, address: impl Fn(&Link, usize) -> IpAddr) -> Vec<[End; 2]> {
        let end = |link: &Link, side: usize| {
            let node = link.ends()[side];
            let (port, address) = (link.ports[side], address(link, side));
            End { node: node as u32, port, address, host: self.facts(node).host.is_some() }
        };
        self.links.iter().map(|link| [0, 1].map(|side| end(link, side))).collect()
    }

    /// Are the tables of a router written at once, and do they take all that there is?
    fn takes_all_at_once(&self, node: usize) -> bool {
        let spec = &self.description.nodes[node];
        let tables = &spec.profile.tables;
        let at_once = tables.time(Table::Fib).is_ideal() && tables.time(Table::Ftn).per_entry.0 <= 0;
        at_once && tables.failures <= 0.0 && tables.prefixes_max.is_none() && spec.table_driver.is_none()
    }

    /// Gives a router its static routes by shortest paths without writing them, if nobody can tell.
    pub(super) fn leave_unwritten(&self, node: usize, router: &mut Router) -> bool {
        let Some(ways) = self.ways.as_ref().filter(|_| self.takes_all_at_once(node)) else { return false };
        router.set_unwritten(Arc::new(ways.routes_of(node)));
        true
    }

    /// The same for IPv6.
    pub(super) fn leave_unwritten6(&self, node: usize, router: &mut Router) -> bool {
        let Some(ways) = self.ways6.as_ref().filter(|_| self.takes_all_at_once(node)) else { return false };
        router.set_unwritten6(Arc::new(ways.routes_of(node)));
        true
    }
}
