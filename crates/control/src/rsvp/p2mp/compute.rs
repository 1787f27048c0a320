//! The tree that a root computes over its traffic-engineering database: leaf by leaf, each along the tree so far.

use super::command::{LeafRoute, P2mpSpec, TreeShape};
use super::states::LeafState;
use crate::rsvp::Rsvp;
use crate::rsvp::command::ReservationStyle;
use crate::rsvp::computed::signalled;
use crate::services::te::{Constraints, Held, NoPath, Replaced, TeHop};
use base::Span;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::rsvp::{EroHop, EroSubobject};

/// From a change of the database to the next attempt of leaves that have no path.
pub(super) const SOON: Span = Span::from_ms(100);

/// The route that its user has asked for, of each leaf; of one that is named twice the first counts.
pub(super) fn asked_routes(spec: &P2mpSpec) -> BTreeMap<Ipv4Addr, &LeafRoute> {
    spec.leaves.iter().rev().map(|leaf| (leaf.address, &leaf.route)).collect()
}

impl Rsvp {
    /// The way to a leaf: the explicit route that its user has `asked` for, or one that is computed; an empty one
    /// leaves it to the routing tables.
    pub(super) fn p2mp_find(
        &mut self,
        index: u32,
        leaf: Ipv4Addr,
        asked: Option<&LeafRoute>,
    ) -> Result<(Vec<EroHop>, Vec<TeHop>), NoPath> {
        let Some(root) = self.p2mp.roots.get(index) else { return Ok((Vec::new(), Vec::new())) };
        let spec = Arc::clone(&root.spec);
        if let Some(route) = asked.filter(|route| !route.is_empty()) {
            let hop = |hop: &crate::rsvp::command::RouteHop| EroHop {
                loose: hop.loose,
                node: EroSubobject::Ipv4 { address: hop.prefix.address(), prefix_length: hop.prefix.len() },
            };
            return Ok((route.iter().map(hop).collect(), Vec::new()));
        }
        let (router_id, now) = (self.config.router_id, self.now);
        // Each router of the tree with the way to it, and the links that have the bandwidth already.
        let mut tree: BTreeMap<Ipv4Addr, Vec<TeHop>> = BTreeMap::new();
        let mut links: BTreeSet<Ipv4Addr> = BTreeSet::new();
        for (_, other) in root.leaves.iter().filter(|(other, _)| **other != leaf) {
            for (at, hop) in other.way.iter().enumerate() {
                tree.entry(hop.router).or_insert_with(|| other.way.iter().take(at + 1).copied().collect());
                links.insert(hop.near);
            }
        }
        let engineering = &mut self.services.engineering;
        if engineering.is_empty() || engineering.router_of(leaf).is_none() {
            return Ok((Vec::new(), Vec::new()));
        }
        let constraints = self.p2mp_constraints(index, links);
        let engineering = &mut self.services.engineering;
        let mut found = engineering.path(now, router_id, leaf, &constraints)?;
        let mut before: Vec<TeHop> = Vec::new();
        if spec.shape == TreeShape::Cheapest {
            for (router, way) in &tree {
                let path = engineering.path(now, *router, leaf, &constraints);
                if let Ok(path) = path
                    && (path.cost, path.hops.len()) < (found.cost, found.hops.len())
                {
                    (found, before) = (path, way.clone());
                }
            }
        }
        // From the last router on it that the tree has, the way to which is that of the tree: ways never meet again.
        let hops = found.hops;
        let last = hops.iter().enumerate().rev().find_map(|(at, hop)| Some((at, tree.get(&hop.router)?)));
        let way: Vec<TeHop> = match last {
            Some((at, way)) => way.iter().chain(hops.iter().skip(at + 1)).copied().collect(),
            None => before.iter().chain(&hops).copied().collect(),
        };
        Ok((way.iter().map(|hop| EroHop::strict(hop.far)).collect(), way))
    }

    /// What the paths of an LSP are asked, which has its bandwidth on these links already. In SE style it shares what
    /// the one has that it is to replace (RFC 3209, 2.5).
    pub(super) fn p2mp_constraints(&self, index: u32, links: BTreeSet<Ipv4Addr>) -> Constraints {
        let Some(root) = self.p2mp.roots.get(index) else { return Constraints::default() };
        let spec = &root.spec;
        let rate = signalled(spec.bandwidth);
        let before = root.of.and_then(|of| self.p2mp.roots.get(of));
        let before = before.filter(|_| spec.style == ReservationStyle::SharedExplicit);
        let replaced = before.map(|before| Replaced {
            rate: signalled(before.spec.bandwidth),
            links: before.leaves.values().flat_map(|leaf| &leaf.way).map(|hop| hop.near).collect(),
        });
        Constraints {
            bandwidth: rate,
            priority: spec.setup_priority.min(7),
            metric: spec.path.metric,
            affinities: spec.path.affinities,
            hop_limit: spec.path.hop_limit,
            exclude_srlgs: spec.path.exclude_srlgs.clone(),
            exclude: spec.path.exclude.clone(),
            held: Held {
                rate,
                priority: spec.holding_priority.min(7),
                links: links.into_iter().collect(),
                replaced,
            },
            ..Constraints::default()
        }
    }

    /// Something else is known of links: leaves without a path are tried soon, those whose path is broken at once.
    pub(in crate::rsvp) fn p2mp_engineering_changed(&mut self, is_lost: bool) {
        let (router_id, now) = (self.config.router_id, self.now);
        let tunnels: Vec<u32> = self.p2mp.by_id.values().copied().collect();
        let made = |index: &u32| self.p2mp.roots.get(*index).and_then(|root| root.change.candidate);
        let made: Vec<u32> = tunnels.iter().filter_map(made).collect();
        for index in tunnels.into_iter().chain(made) {
            let Some(root) = self.p2mp.roots.get_mut(index) else { continue };
            if root.of.is_none() {
                root.change.hear(now);
            }
            let mut broken = Vec::new();
            for (leaf, state) in &mut root.leaves {
                match state.state {
                    LeafState::Down => state.retry_at = state.retry_at.min(now + SOON),
                    // Routers on the way lead a protected tree around what fails, and say so if they can't.
                    LeafState::Up if root.spec.protection.is_some() => {}
                    _ if is_lost
                        && !state.way.is_empty()
                        && !self.services.engineering.is_whole(router_id, &state.way) =>
                    {
                        broken.push(*leaf);
                    }
                    _ => {}
                }
            }
            self.p2mp_lost(index, &broken, super::loss::Loss::Broken);
            self.p2mp_arm_root(index);
        }
    }
}
