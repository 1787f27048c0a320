//! Routers, links and sessions in memory, and packets that walk through their tables.

use crate::ldp::Ldp;
use crate::ldp::multipoint::Multipoint;
use crate::ldp::multipoint::command::TreeSpec;
use crate::ldp::multipoint::exchange::MeantTrees;
use crate::services::distribution::PeerKey;
use crate::services::{
    Hops, Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, RouteHop, Services, Source,
};
use base::plane::{Ack, Batch, Fec as Packets, NextHop, Nhlfe, Prefix, ReplicationId, TableError, TableOp};
use base::{Label, PortId, ProtocolId, Streams, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use wire::ldp::{AnyLabel, Body, Fec, P2mp};

const IGP: Source = Source::Protocol(ProtocolId::new("igp"));

pub(super) struct Node {
    pub trees: Multipoint,
    pub services: Box<Services>,
    pub batches: VecDeque<Batch>,
    pub ilm: BTreeMap<Label, Nhlfe>,
    pub lists: BTreeMap<ReplicationId, Vec<Nhlfe>>,
    pub ftn: BTreeMap<Packets, Nhlfe>,
}

pub(super) struct Net {
    pub nodes: Vec<Node>,
    links: Vec<(usize, usize)>,
    up: BTreeSet<usize>,
    /// Routers that have not announced that they take part.
    silent: BTreeSet<usize>,
    /// What is under way, by sender and receiver.
    wire: BTreeMap<(usize, usize), VecDeque<Body>>,
    /// Routers whose routes are older than the network.
    behind: BTreeSet<usize>,
    /// Router that takes no entries of labels.
    pub full: Option<usize>,
    /// So many ways a list of a router has at most; of one with none there are no lists.
    pub ways_max: BTreeMap<usize, usize>,
    /// Router that takes no entries of packets at a root.
    pub without_ftn: Option<usize>,
    /// Each second write that puts something in is refused everywhere, as chance wants.
    pub is_failing: bool,
    /// Has any table refused anything?
    was_refused: bool,
    pub now: Time,
    chance: u64,
    /// How many messages were said, by kind.
    pub said: BTreeMap<&'static str, usize>,
}

/// Where packets come out, and how often they cross links, by link and router.
type Copies = (BTreeMap<usize, u32>, BTreeMap<(usize, usize), u32>);

pub(super) fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8 + 1)
}

pub(super) fn key(node: usize) -> PeerKey {
    (id(node), 0)
}

fn at(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, link as u8, node as u8 + 1)
}

pub(super) fn lsp(root: usize, lsp_id: u32) -> P2mp {
    P2mp::generic(id(root).into(), lsp_id)
}

/// What takes an LSP at its root: its own prefix.
pub(super) fn packets(lsp_id: u32) -> Prefix {
    Prefix::host(Ipv4Addr::new(20, 0, 0, lsp_id as u8))
}

fn services(number: usize, links: &[(usize, usize)], labels: u32) -> Box<Services> {
    let port = |(link, _): (usize, &(usize, usize))| Interface {
        kind: InterfaceKind::Port(PortId(link as u16)),
        addresses: vec![InterfaceAddress { address: at(link, number).into(), prefix_len: 24 }],
        link_local: None,
        neighbor: None,
        neighbor_id: None,
        mtu: 1500,
        cost: 1,
        reservable: None,
        up: true,
    };
    // A port for each link of the network, so that it has the number of the link.
    let interfaces =
        Interfaces::new(format!("r{number}"), id(number), links.iter().enumerate().map(port).collect());
    let range = (Label::FIRST_UNRESERVED, Label::truncate(15 + labels));
    Box::new(Services::new(interfaces, range, Streams::new(1)))
}

impl Net {
    pub(super) fn new(count: usize, links: &[(usize, usize)]) -> Net {
        Net::with(count, links, 1000, &[])
    }

    /// With so many labels at each router, and routers that have not announced that they take part.
    pub(super) fn with(count: usize, links: &[(usize, usize)], labels: u32, silent: &[usize]) -> Net {
        let node = |number| Node {
            trees: Multipoint::new((0..links.len() as u16).map(PortId).collect()),
            services: services(number, links, labels),
            batches: VecDeque::new(),
            ilm: BTreeMap::new(),
            lists: BTreeMap::new(),
            ftn: BTreeMap::new(),
        };
        let mut net = Net {
            nodes: (0..count).map(node).collect(),
            links: links.to_vec(),
            up: BTreeSet::new(),
            silent: silent.iter().copied().collect(),
            wire: BTreeMap::new(),
            behind: BTreeSet::new(),
            full: None,
            ways_max: BTreeMap::new(),
            without_ftn: None,
            is_failing: false,
            was_refused: false,
            now: Time::ZERO,
            chance: 1,
            said: BTreeMap::new(),
        };
        (0..links.len()).for_each(|link| net.set(link, true));
        net.settle();
        net
    }

    pub(super) fn seed(&mut self, seed: u64) {
        self.chance = seed | 1;
    }

    fn draw(&mut self, below: usize) -> usize {
        // xorshift64
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance % below as u64) as usize
    }

    /// The links between two routers that are up, with the address of the second.
    fn links_between(&self, a: usize, b: usize) -> BTreeMap<PortId, Ipv4Addr> {
        let joins = |link: &&usize| [(a, b), (b, a)].contains(&self.links[**link]);
        self.up.iter().filter(joins).map(|link| (PortId(*link as u16), at(*link, b))).collect()
    }

    /// A link fails, or is repaired.
    pub(super) fn set(&mut self, link: usize, is_up: bool) {
        let (a, b) = self.links[link];
        let before = self.links_between(a, b);
        if is_up {
            self.up.insert(link)
        } else {
            self.up.remove(&link)
        };
        let after = self.links_between(a, b);
        if before == after {
            return;
        }
        for (own, other) in [(a, b), (b, a)] {
            let links = self.links_between(own, other);
            let is_capable = !self.silent.contains(&other);
            let Node { trees, services, .. } = &mut self.nodes[own];
            match (before.is_empty(), after.is_empty()) {
                (true, _) => {
                    trees.begin(services, key(other), (is_capable, 4096), links);
                    let all: Vec<Ipv4Addr> = (0..self.links.len()).map(|link| at(link, other)).collect();
                    trees.addresses(services, key(other), &all, true);
                }
                (_, true) => trees.end(services, key(other)),
                _ => trees.heard_on(services, key(other), links),
            }
            if after.is_empty() {
                self.wire.remove(&(own, other));
                self.wire.remove(&(other, own));
            }
        }
        self.behind = (0..self.nodes.len()).collect();
        [a, b].into_iter().for_each(|node| self.pump(node));
    }

    /// LDP of a router restarts, or the whole router: its sessions end and begin again.
    pub(super) fn restart(&mut self, node: usize, is_alone: bool) {
        let its: Vec<usize> = (0..self.links.len())
            .filter(|link| self.up.contains(link))
            .filter(|link| self.links[*link].0 == node || self.links[*link].1 == node)
            .collect();
        let Node { trees, services, .. } = &mut self.nodes[node];
        if is_alone {
            trees.restart(services);
            self.pump(node);
        }
        its.iter().for_each(|link| self.set(*link, false));
        if !is_alone {
            let Node { trees, services, batches, ilm, lists, ftn } = &mut self.nodes[node];
            *trees = trees.anew();
            services.restart();
            ilm.clear();
            lists.clear();
            ftn.clear();
            batches.clear();
        }
        its.iter().for_each(|link| self.set(*link, true));
    }

    pub(super) fn root(&mut self, node: usize, lsp_id: u32) {
        let spec = TreeSpec {
            name: format!("tree {lsp_id}"),
            lsp_id,
            groups: Vec::new(),
            carries: vec![packets(lsp_id)],
            filters: Vec::new(),
            watch: None,
        };
        let Node { trees, services, .. } = &mut self.nodes[node];
        trees.set_root(services, &Arc::new(spec));
        self.pump(node);
    }

    pub(super) fn join(&mut self, node: usize, lsp: &P2mp, joins: bool) {
        let Node { trees, services, .. } = &mut self.nodes[node];
        trees.set_leaf(services, lsp, joins.then(|| "tree".to_string()));
        self.pump(node);
    }

    /// Takes what a router has to say and to write.
    fn pump(&mut self, node: usize) {
        while let Some((to, body)) = self.nodes[node].trees.poll_say() {
            let to = usize::from(to.0.octets()[3]) - 1;
            let kind = match body {
                Body::Mapping { .. } => "mapping",
                Body::Withdraw { .. } => "withdraw",
                _ => "release",
            };
            *self.said.entry(kind).or_default() += 1;
            self.wire.entry((node, to)).or_default().push_back(body);
        }
        let now = self.now;
        let Node { trees, batches, .. } = &mut self.nodes[node];
        batches.extend(trees.poll_batch(now));
    }

    fn receive(&mut self, from: usize, to: usize, body: Body) {
        let generic = |label: Option<AnyLabel>| match label {
            Some(AnyLabel::Generic(label)) => Some(label),
            _ => None,
        };
        let one = |fec: Fec| match fec {
            Fec::P2mp(lsp) => lsp,
            other => panic!("{other:?}"),
        };
        let Node { trees, services, .. } = &mut self.nodes[to];
        match body {
            Body::Mapping { fecs, label, .. } => {
                let label = generic(Some(label)).expect("a label");
                trees.mapped(services, key(from), &one(fecs[0].clone()), label);
            }
            Body::Withdraw { fec, label } => {
                let release = Body::Release { fec: fec.clone(), label, notice: None };
                self.wire.entry((to, from)).or_default().push_back(release);
                let meant = MeantTrees { lsp: Some(&one(fec)), label: generic(label) };
                trees.withdrawn(services, key(from), meant);
            }
            Body::Release { fec, label, .. } => {
                trees.released(key(from), MeantTrees { lsp: Some(&one(fec)), label: generic(label) });
            }
            other => panic!("{other:?}"),
        }
        self.pump(to);
    }

    /// Does a router's table refuse to put this in?
    fn refuses(&mut self, number: usize, op: &TableOp) -> bool {
        let is_refused = match op {
            TableOp::IlmSet { .. } => self.full == Some(number),
            TableOp::FtnSet { .. } => self.without_ftn == Some(number),
            TableOp::ReplicationSet { branches, .. } => {
                self.ways_max.get(&number).is_some_and(|most| branches.len() > *most)
            }
            _ => return false,
        };
        is_refused || self.is_failing && self.draw(2) == 0
    }

    /// Writes the oldest batch of a router.
    fn write(&mut self, number: usize) {
        let Some(batch) = self.nodes[number].batches.pop_front() else { return };
        let mut failed = Vec::new();
        for (place, op) in batch.ops.into_iter().enumerate() {
            let is_refused = self.refuses(number, &op);
            self.was_refused |= is_refused;
            let was_refused = self.was_refused;
            let Node { ilm, lists, ftn, .. } = &mut self.nodes[number];
            let is_known = |nhlfe: &Nhlfe| match nhlfe.next_hop {
                NextHop::Replicate(list) => lists.contains_key(&list),
                _ => true,
            };
            let done = match op {
                _ if is_refused => Err(TableError::Full),
                TableOp::IlmSet { nhlfe, .. } | TableOp::FtnSet { nhlfe, .. } if !is_known(&nhlfe) => {
                    Err(TableError::NoGroup)
                }
                TableOp::IlmSet { label, nhlfe } => {
                    ilm.insert(label, nhlfe);
                    Ok(())
                }
                TableOp::IlmRemove { label } => ilm.remove(&label).map(drop).ok_or(TableError::NoEntry),
                TableOp::ReplicationSet { list, branches } => {
                    lists.insert(list, branches.into_vec());
                    Ok(())
                }
                TableOp::ReplicationRemove { list } => {
                    let names = |nhlfe: &Nhlfe| nhlfe.next_hop == NextHop::Replicate(list);
                    match ilm.values().chain(ftn.values()).any(names) {
                        true => Err(TableError::InUse),
                        false => lists.remove(&list).map(drop).ok_or(TableError::NoGroup),
                    }
                }
                TableOp::FtnSet { fec, nhlfe } => {
                    ftn.insert(fec, nhlfe);
                    Ok(())
                }
                TableOp::FtnRemove { fec } => ftn.remove(&fec).map(drop).ok_or(TableError::NoEntry),
                other => panic!("{other:?}"),
            };
            if let Err(error) = done {
                assert!(was_refused, "{error:?} where nothing was refused before");
                failed.push((place as u32, error));
            }
        }
        let (now, Node { trees, services, .. }) = (self.now, &mut self.nodes[number]);
        trees.written(now, services, &Ack { transaction: batch.transaction, failed });
        self.pump(number);
    }

    /// Hops from a router to all others, over links that are up.
    fn distances(&self, to: usize) -> BTreeMap<usize, usize> {
        let (mut known, mut queue) = (BTreeMap::from([(to, 0)]), VecDeque::from([to]));
        while let Some(here) = queue.pop_front() {
            for (a, b) in self.up.iter().map(|link| self.links[*link]) {
                for (near, far) in [(a, b), (b, a)] {
                    if near == here && !known.contains_key(&far) {
                        known.insert(far, known[&here] + 1);
                        queue.push_back(far);
                    }
                }
            }
        }
        known
    }

    /// A router has no route to another one any more, until it learns of it again.
    pub(super) fn unroute(&mut self, node: usize, to: usize) {
        let Node { trees, services, .. } = &mut self.nodes[node];
        services.rib.remove(Prefix::host(id(to)), IGP);
        trees.route_changed(services, Prefix::host(id(to)));
        self.pump(node);
    }

    /// A router learns the routes by shortest paths, all that are equal.
    pub(super) fn learn(&mut self, node: usize) {
        for to in (0..self.nodes.len()).filter(|to| *to != node) {
            let far = self.distances(to);
            let hops: Vec<RouteHop> = self
                .up
                .iter()
                .filter_map(|link| {
                    let (a, b) = self.links[*link];
                    let next = if a == node { b } else { a };
                    let is_on = [a, b].contains(&node) && far.get(&next)? + 1 == *far.get(&node)?;
                    let (port, gateway) = (PortId(*link as u16), IpAddr::V4(at(*link, next)));
                    is_on.then_some(RouteHop::Direct(NextHop::Via { port, gateway }))
                })
                .collect();
            let prefix = Prefix::host(id(to));
            let Node { trees, services, .. } = &mut self.nodes[node];
            let before = services.rib.next_hops(prefix).to_vec();
            if hops.is_empty() {
                services.rib.remove(prefix, IGP);
            } else {
                let route = Route { source: IGP, preference: 110, metric: 0, tag: 0, hops: Hops::of(&hops) };
                services.rib.set(prefix, route);
            }
            if before != services.rib.next_hops(prefix) {
                trees.route_changed(services, prefix);
            }
        }
        self.behind.remove(&node);
        self.pump(node);
    }

    /// Something that is under way happens; false if nothing is.
    pub(super) fn step(&mut self) -> bool {
        let wires = self.wire.iter().filter(|(_, queue)| !queue.is_empty()).map(|(ends, _)| (0, *ends));
        let writes = self.nodes.iter().enumerate().filter(|(_, node)| !node.batches.is_empty());
        let writes = writes.map(|(node, _)| (1, (node, node)));
        let all: Vec<_> =
            wires.chain(writes).chain(self.behind.iter().map(|node| (2, (*node, *node)))).collect();
        if all.is_empty() {
            return false;
        }
        match all[self.draw(all.len())] {
            (0, (from, to)) => {
                let next = self.wire.get_mut(&(from, to)).and_then(VecDeque::pop_front);
                self.receive(from, to, next.expect("a message"));
            }
            (1, (node, _)) => self.write(node),
            (_, (node, _)) => self.learn(node),
        }
        true
    }

    /// Everything that is under way happens.
    pub(super) fn settle(&mut self) {
        for _ in 0..100_000 {
            if !self.step() {
                return;
            }
        }
        panic!("it never ends");
    }

    /// Routers try again what there was no room for.
    pub(super) fn retry(&mut self) {
        let due = self.nodes.iter().filter_map(|node| node.trees.poll_timeout()).max();
        self.now = due.unwrap_or(self.now).max(self.now);
        for number in 0..self.nodes.len() {
            let (now, Node { trees, services, .. }) = (self.now, &mut self.nodes[number]);
            trees.retry(now, services);
            self.pump(number);
        }
    }

    /// Where a packet comes out that enters an LSP, how often, and how often it crosses links, each way. Nothing if it
    /// goes in circles.
    pub(super) fn copies(&self, root: usize, lsp_id: u32) -> Option<Copies> {
        let (mut out, mut crossed) = (BTreeMap::new(), BTreeMap::new());
        let first = self.nodes[root].ftn.get(&Packets::Prefix(packets(lsp_id)));
        let mut queue: VecDeque<(usize, Nhlfe, usize)> =
            first.map(|one| (root, *one, 0)).into_iter().collect();
        while let Some((node, nhlfe, hops)) = queue.pop_front() {
            if hops > 3 * self.nodes.len() {
                return None;
            }
            match nhlfe.next_hop {
                NextHop::Local => *out.entry(node).or_default() += 1,
                NextHop::Replicate(list) => {
                    let branches = &self.nodes[node].lists[&list];
                    queue.extend(branches.iter().map(|branch| (node, *branch, hops)));
                }
                NextHop::Via { port, .. } => {
                    let link = usize::from(port.0);
                    if !self.up.contains(&link) {
                        continue;
                    }
                    let (a, b) = self.links[link];
                    let next = if a == node { b } else { a };
                    *crossed.entry((link, node)).or_default() += 1;
                    let label = nhlfe.push.as_slice()[0];
                    queue.extend(self.nodes[next].ilm.get(&label).map(|entry| (next, *entry, hops + 1)));
                }
                other => panic!("{other:?}"),
            }
        }
        Some((out, crossed))
    }

    /// When nothing is under way, just these leaves get each packet once, and no link carries it twice.
    pub(super) fn assert_reached(&self, root: usize, lsp_id: u32, leaves: &[usize]) {
        let (out, crossed) = self.copies(root, lsp_id).expect("no circle");
        assert_eq!(out, leaves.iter().map(|leaf| (*leaf, 1)).collect(), "LSP {lsp_id} of {root}");
        assert!(crossed.values().all(|copies| *copies == 1), "{crossed:?}");
        // Nobody sends what nobody wants: a tree has as many links as routers, less one.
        let routers: BTreeSet<usize> = crossed
            .keys()
            .map(
                |(link, from)| {
                    if self.links[*link].0 == *from { self.links[*link].1 } else { self.links[*link].0 }
                },
            )
            .collect();
        assert_eq!(routers.len(), crossed.len(), "a tree");
    }

    /// Leaves to which there is a way.
    pub(super) fn reachable(&self, root: usize, leaves: &BTreeSet<usize>) -> Vec<usize> {
        let known = self.distances(root);
        leaves.iter().copied().filter(|leaf| known.contains_key(leaf)).collect()
    }

    /// When nothing is under way, tables and labels are those of the LSPs, and no label waits for anything.
    pub(super) fn assert_kept(&self) {
        for (number, node) in self.nodes.iter().enumerate() {
            let own: BTreeSet<Label> =
                node.trees.trees().filter_map(|(_, tree)| tree.own.as_ref()).map(|own| own.label).collect();
            assert_eq!(node.ilm.keys().copied().collect::<BTreeSet<_>>(), own, "entries of {number}");
            assert_eq!(node.services.labels.used(Ldp::ID) as usize, own.len(), "labels of {number}");
            let lists = node.trees.trees().filter(|(_, tree)| tree.list().is_some()).count();
            assert_eq!(node.lists.len(), lists, "lists of {number}");
            assert!(node.trees.trees().all(|(_, tree)| tree.withdrawn.is_empty()), "releases of {number}");
            assert_eq!(node.trees.faults, 0);
        }
    }

    /// Nothing is left anywhere of LSPs but their declarations at the roots.
    pub(super) fn assert_empty(&self) {
        self.assert_kept();
        for node in &self.nodes {
            assert!(node.ilm.is_empty() && node.lists.is_empty() && node.ftn.is_empty());
            assert!(node.trees.trees().all(|(_, tree)| tree.name.is_some() && tree.given.is_empty()));
        }
    }
}
