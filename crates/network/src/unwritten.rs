//! Static routes by shortest paths that are found when they are first used.
//!
//! Every router has a route to every node, so that to find and write all of them takes the square of the network. Where
//! nobody could tell the difference, routers are given what follows here instead of the routes themselves (see
//! [`Unwritten`]): which prefixes there are, once for the network, and a way to find where one of them leads.

use super::paths::{Graph, Search};
use base::plane::{NextHop, Prefix, Unwritten};
use base::{Map, PortId};
use control::services::RoutePrefix;
use core::net::IpAddr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a prefix leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The prefix is of this node.
    Node(u32),
    /// It is that of a link; the nearer of two routers at its ends is the one to go to, or the only one.
    Link(u32),
}

/// An end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) node: u32,
    pub(crate) port: PortId,
    /// Of the family; of a link that is not in the graph any.
    pub(crate) address: IpAddr,
    pub(crate) host: bool,
}

/// What the routes of all routers of a network to prefixes of a family have in common.
#[derive(Debug)]
pub struct Ways<P: RoutePrefix = Prefix> {
    graph: Arc<Graph>,
    links: Vec<[End; 2]>,
    /// All prefixes, by address and length; no two are the same.
    targets: Vec<(P, Target)>,
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

impl<P: RoutePrefix> Ways<P> {
    /// By the links of a graph, whose ends are all given; nothing if two targets have one prefix, where more than a
    /// path would decide.
    pub(crate) fn new(
        graph: Arc<Graph>,
        links: Vec<[End; 2]>,
        mut targets: Vec<(P, Target)>,
    ) -> Option<Ways<P>> {
        targets.sort_unstable_by_key(|(prefix, _)| *prefix);
        if targets.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let lengths: BTreeSet<u8> = targets.iter().map(|(prefix, _)| prefix.bits()).collect();
        let lengths = lengths.into_iter().rev().collect();
        let (onward, counts) = (Mutex::default(), OnceLock::new());
        Some(Ways { graph, links, targets, lengths, onward, counts })
    }

    /// The routes of a router.
    pub(crate) fn routes_of(self: &Arc<Self>, node: usize) -> RoutesOf<P> {
        let (visited, ports) = (AtomicUsize::new(0), OnceLock::new());
        RoutesOf { ways: self.clone(), node: node as u32, visited, ports }
    }

    /// The prefixes that contain an address or prefix, the longest first.
    fn containing(&self, inner: P) -> impl Iterator<Item = (P, Target)> + '_ {
        let lengths = self.lengths.iter().filter(move |len| **len <= inner.bits());
        lengths.filter_map(move |len| {
            let prefix = P::of(inner.first(), *len);
            Some((prefix, self.target(prefix)?))
        })
    }

    fn target(&self, prefix: P) -> Option<Target> {
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
        Some(NextHop::Via { port: own.port, gateway: beyond.address })
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
pub(crate) struct RoutesOf<P: RoutePrefix> {
    ways: Arc<Ways<P>>,
    node: u32,
    /// Links that searches have looked at from one of their ends.
    visited: AtomicUsize,
    /// For each node the port that leads there, plus one: once searches have cost as much as finding all of them.
    ports: OnceLock<Box<[u16]>>,
}

impl<P: RoutePrefix> RoutesOf<P> {
    /// The port to a link of the router.
    fn port_to(&self, link: usize) -> PortId {
        let [a, b] = self.ways.ends(link as u32);
        if a.node == self.node { a.port } else { b.port }
    }

    fn ports(&self) -> Box<[u16]> {
        let graph = &self.ways.graph;
        let tree = graph.tree(self.node as usize);
        let port = |node| Some(self.port_to(tree.first_link(node)?).0 + 1);
        (0..graph.len()).map(|node| port(node).unwrap_or(0)).collect()
    }

    fn hop(&self, target: Target) -> Option<NextHop> {
        let (ways, node) = (&self.ways, self.node as usize);
        if let Target::Node(other) = target
            && self.visited.load(Ordering::Relaxed) > ways.graph.ends()
        {
            let ports = self.ports.get_or_init(|| self.ports());
            let port = PortId(ports[other as usize].checked_sub(1)?);
            let first = ways.graph.links_of(node).find(|link| self.port_to(*link) == port)?;
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

impl<P: RoutePrefix + Send + Sync> Unwritten<P> for RoutesOf<P> {
    fn route(&self, to: P) -> Option<(P, NextHop)> {
        self.ways.containing(to).find_map(|(prefix, target)| Some((prefix, self.hop(target)?)))
    }

    fn next_hop(&self, prefix: P) -> Option<NextHop> {
        self.hop(self.ways.target(prefix)?)
    }

    fn within(&self, prefix: P) -> Vec<P> {
        let targets = &self.ways.targets;
        let from = targets.partition_point(|(other, _)| other.first() < prefix.first());
        let inner = targets[from..].iter().map(|(other, _)| *other);
        inner
            .take_while(|other| P::of(other.first(), prefix.bits()) == prefix)
            .filter(|other| other.bits() >= prefix.bits())
            .collect()
    }

    fn around(&self, prefix: P) -> Vec<P> {
        self.ways.containing(prefix).map(|(other, _)| other).filter(|other| *other != prefix).collect()
    }

    fn all(&self) -> Vec<(P, NextHop)> {
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
