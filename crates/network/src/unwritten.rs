//! Static routes by shortest paths that are found when they are first used.
//!
//! Every router has a route to every node, so that to find and write all of them takes the square of the network. Where
//! nobody could tell the difference, routers are given what follows here instead of the routes themselves (see
//! [`Unwritten`]): which prefixes there are, once for the network, and a way to find where one of them leads.

use super::Network;
use super::addressing;
use super::paths::{Graph, Search};
use base::plane::{NextHop, Prefix, Table, Unwritten};
use base::{Map, PortId};
use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicUsize, Ordering};
use node::Router;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a prefix leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The prefix is of this node.
    Node(u32),
    /// It is that of a link; the nearer of two routers at its ends is the one to go to, or the only one.
    Link(u32),
}

/// An end of a link.
#[derive(Clone, Copy, Debug)]
struct End {
    node: u32,
    port: PortId,
    address: Ipv4Addr,
    host: bool,
}

/// What the routes of all routers of a network have in common.
#[derive(Debug)]
pub struct Ways {
    graph: Arc<Graph>,
    links: Vec<[End; 2]>,
    /// All prefixes, by address and length; no two are the same.
    targets: Vec<(Prefix, Target)>,
    /// Lengths of prefixes that there are, the longest first.
    lengths: Vec<u8>,
    /// By which link a way to a node goes on from another one, where searches have found that: routers on the way of a
    /// packet ask one after the other. Each is asked for once.
    onward: Mutex<Map<(u32, u32), u32>>,
    counts: OnceLock<Counts>,
}

/// How many prefixes can be reached.
#[derive(Debug)]
struct Counts {
    /// The part of the network that a node which passes packets on is in: whose nodes can all reach the same.
    part: Vec<u32>,
    /// Prefixes that can be reached in each part.
    reached: Vec<u64>,
    /// Prefixes of each node itself and of its links.
    own: Vec<u64>,
}

/// More than so many links that nobody has asked for are forgotten.
const ONWARD_MOST: usize = 100_000;

/// No part of the network.
const NOWHERE: u32 = u32::MAX;

impl Ways {
    /// The prefixes that contain an address or prefix, the longest first.
    fn containing(&self, inner: Prefix) -> impl Iterator<Item = (Prefix, Target)> + '_ {
        let lengths = self.lengths.iter().filter(move |len| **len <= inner.len());
        lengths.filter_map(move |len| {
            let prefix = Prefix::new(inner.address(), *len);
            Some((prefix, self.target(prefix)?))
        })
    }

    fn target(&self, prefix: Prefix) -> Option<Target> {
        let place = self.targets.binary_search_by_key(&prefix, |(prefix, _)| *prefix).ok()?;
        Some(self.targets[place].1)
    }

    /// The ends of a link that its prefix is reached by, in the order in which they are tried where both cost the same.
    fn ends(&self, link: u32) -> &[End; 2] {
        &self.links[link as usize]
    }

    /// By which port of a node a prefix is reached, and which address is beyond it. `to` finds the shortest path to a
    /// node: what it costs, and its first link.
    fn hop<C: Ord>(
        &self,
        node: u32,
        target: Target,
        mut to: impl FnMut(u32) -> Option<(C, u32)>,
    ) -> Option<NextHop> {
        let (_, first) = match target {
            Target::Node(other) => to(other)?,
            Target::Link(link) => {
                let [a, b] = self.ends(link);
                if a.node == node || b.node == node {
                    return None; // connected
                }
                let (to_a, to_b) = (to(a.node), to(b.node));
                let nearer = |far: &Option<(C, u32)>, near: &Option<(C, u32)>| match (far, near) {
                    (Some(far), Some(near)) => near.0 < far.0,
                    (far, _) => far.is_none(),
                };
                // From a host's link the router is the one to go to.
                let from_b = a.host || (!b.host && nearer(&to_a, &to_b));
                if from_b { to_b.or(to_a)? } else { to_a.or(to_b)? }
            }
        };
        let [a, b] = self.ends(first);
        let (own, beyond) = if a.node == node { (a, b) } else { (b, a) };
        Some(NextHop::Via { port: own.port, gateway: beyond.address.into() })
    }

    /// By which link the way from `node` to `other` goes on, if a search has told.
    fn take_onward(&self, node: u32, other: u32) -> Option<u32> {
        self.onward().remove(&(node, other))
    }

    /// Keeps what a search for `other` tells routers on the way there.
    fn keep_onward(&self, search: &Search, other: u32) {
        let mut onward = self.onward();
        if onward.len() > ONWARD_MOST {
            // Routers that have the route already did not ask.
            onward.clear();
        }
        search.only_way_to(other as usize, &mut |node, link| {
            onward.insert((node as u32, other), link as u32);
        });
    }

    fn onward(&self) -> MutexGuard<'_, Map<(u32, u32), u32>> {
        self.onward.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> &Counts {
        self.counts.get_or_init(|| self.count())
    }

    fn count(&self) -> Counts {
        let nodes = self.graph.len();
        let beyond = |node: usize| {
            self.graph
                .links_of(node)
                .filter_map(move |link| self.graph.beyond(link, node))
                .collect::<Vec<_>>()
        };
        let (mut part, mut parts) = (vec![NOWHERE; nodes], 0);
        for root in 0..nodes {
            if part[root] != NOWHERE || !self.graph.is_transit(root) {
                continue;
            }
            part[root] = parts;
            let mut next = vec![root];
            while let Some(node) = next.pop() {
                for other in beyond(node) {
                    if part[other] == NOWHERE && self.graph.is_transit(other) {
                        part[other] = parts;
                        next.push(other);
                    }
                }
            }
            parts += 1;
        }
        // A node that passes nothing on is reached from every part that it has a link to.
        let from = |node: u32| -> BTreeSet<u32> {
            let node = node as usize;
            match part[node] {
                NOWHERE => {
                    beyond(node).into_iter().map(|other| part[other]).filter(|p| *p != NOWHERE).collect()
                }
                part => [part].into(),
            }
        };
        let (mut reached, mut own) = (vec![0; parts as usize], vec![0; nodes]);
        for (_, target) in &self.targets {
            let (ends, parts) = match *target {
                Target::Node(node) => ([node, node], from(node)),
                Target::Link(link) => {
                    let ends = self.ends(link).map(|end| end.node);
                    (ends, ends.into_iter().flat_map(from).collect())
                }
            };
            parts.into_iter().for_each(|part| reached[part as usize] += 1);
            own[ends[0] as usize] += 1;
            if ends[1] != ends[0] {
                own[ends[1] as usize] += 1;
            }
        }
        Counts { part, reached, own }
    }
}

/// The routes of one router.
#[derive(Debug)]
struct RoutesOf {
    ways: Arc<Ways>,
    node: u32,
    /// Nodes that searches have looked around from.
    visited: AtomicUsize,
    /// For each node the port that leads there, plus one: once searches have cost as much as finding all of them.
    ports: OnceLock<Box<[u16]>>,
}

impl RoutesOf {
    fn ports(&self) -> Box<[u16]> {
        let graph = &self.ways.graph;
        let tree = graph.tree(self.node as usize);
        let port = |node| {
            let [a, b] = self.ways.ends(tree.first_link(node)? as u32);
            Some(if a.node == self.node { a.port } else { b.port }.0 + 1)
        };
        (0..graph.len()).map(|node| port(node).unwrap_or(0)).collect()
    }

    fn hop(&self, target: Target) -> Option<NextHop> {
        let (ways, node) = (&self.ways, self.node as usize);
        if let Target::Node(other) = target
            && self.visited.load(Ordering::Relaxed) > ways.graph.len()
        {
            let ports = self.ports.get_or_init(|| self.ports());
            let port = usize::from(ports[other as usize]).checked_sub(1)?;
            let first = ways.graph.links_of(node).nth(port)?;
            return ways.hop(self.node, target, |_| Some(((), first as u32)));
        }
        if let Target::Node(other) = target
            && let Some(link) = ways.take_onward(self.node, other)
        {
            return ways.hop(self.node, target, |_| Some(((), link)));
        }
        let mut search = ways.graph.search(node);
        let hop = ways.hop(self.node, target, |other| {
            search.to(other as usize).map(|(cost, first)| (cost, first as u32))
        });
        self.visited.fetch_add(search.visited(), Ordering::Relaxed);
        if let Target::Node(other) = target {
            ways.keep_onward(&search, other);
        }
        hop
    }
}

impl Unwritten for RoutesOf {
    fn route(&self, to: Prefix) -> Option<(Prefix, NextHop)> {
        self.ways.containing(to).find_map(|(prefix, target)| Some((prefix, self.hop(target)?)))
    }

    fn next_hop(&self, prefix: Prefix) -> Option<NextHop> {
        self.hop(self.ways.target(prefix)?)
    }

    fn within(&self, prefix: Prefix) -> Vec<Prefix> {
        let targets = &self.ways.targets;
        let from = targets.partition_point(|(other, _)| other.address() < prefix.address());
        let inner = targets[from..].iter().map(|(other, _)| *other);
        inner
            .take_while(|other| prefix.contains(other.address()))
            .filter(|other| other.len() >= prefix.len())
            .collect()
    }

    fn around(&self, prefix: Prefix) -> Vec<Prefix> {
        self.ways.containing(prefix).map(|(other, _)| other).filter(|other| *other != prefix).collect()
    }

    fn all(&self) -> Vec<(Prefix, NextHop)> {
        let tree = self.ways.graph.tree(self.node as usize);
        let to = |other: u32| {
            let first = tree.first_link(other as usize)?;
            Some((tree.cost(other as usize), first as u32))
        };
        let targets = self.ways.targets.iter();
        targets
            .filter_map(|(prefix, target)| Some((*prefix, self.ways.hop(self.node, *target, to)?)))
            .collect()
    }

    fn count(&self) -> u64 {
        let Counts { part, reached, own } = self.ways.counts();
        match part[self.node as usize] {
            // It passes nothing on, so that it reaches what several parts do.
            NOWHERE => self.all().len() as u64,
            part => reached[part as usize] - own[self.node as usize],
        }
    }
}

impl Network {
    /// What routes of all routers have in common, of a network in which they need not be written. In real time they
    /// are, where anybody looks at them; on shared segments, and where one prefix is that of several, more than the
    /// first link of a path decides.
    pub(super) fn find_ways(&self) -> Option<Arc<Ways>> {
        let nodes = &self.description.nodes;
        if self.live || nodes.iter().any(|node| node.facts().segment.is_some()) {
            return None;
        }
        let mut targets = Vec::new();
        for (place, node) in nodes.iter().enumerate().filter(|(_, node)| node.facts().host.is_none()) {
            let target = Target::Node(place as u32);
            targets.push((addressing::block(place), target));
            targets.extend(node.router_id.map(|id| (Prefix::host(id), target)));
        }
        for (place, link) in self.links.iter().enumerate() {
            if self.is_outside_blocks(link) {
                targets.push((Prefix::new(link.addresses[0], link.prefix_len), Target::Link(place as u32)));
            }
        }
        targets.sort_unstable_by_key(|(prefix, _)| *prefix);
        if targets.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let lengths: BTreeSet<u8> = targets.iter().map(|(prefix, _)| prefix.len()).collect();
        let ends = |link: &super::Link| {
            [0, 1].map(|side| {
                let node = link.ends()[side];
                let (port, address) = (link.ports[side], link.addresses[side]);
                End { node: node as u32, port, address, host: nodes[node].facts().host.is_some() }
            })
        };
        Some(Arc::new(Ways {
            graph: self.graph.clone(),
            links: self.links.iter().map(ends).collect(),
            targets,
            lengths: lengths.into_iter().rev().collect(),
            onward: Mutex::default(),
            counts: OnceLock::new(),
        }))
    }

    /// Gives a router its static routes by shortest paths without writing them, if its tables are written at once and
    /// take all that there is.
    pub(super) fn leave_unwritten(&self, node: usize, router: &mut Router) -> bool {
        let spec = &self.description.nodes[node];
        let tables = &spec.profile.tables;
        let at_once = tables.time(Table::Fib).is_ideal() && tables.time(Table::Ftn).per_entry.0 <= 0;
        let all = tables.failures <= 0.0 && tables.prefixes_max.is_none() && spec.table_driver.is_none();
        let Some(ways) = self.ways.as_ref().filter(|_| at_once && all) else { return false };
        let (visited, ports) = (AtomicUsize::new(0), OnceLock::new());
        router.set_unwritten(Arc::new(RoutesOf { ways: ways.clone(), node: node as u32, visited, ports }));
        true
    }
}
