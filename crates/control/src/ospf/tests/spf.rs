//! Shortest paths beside an independent search: distances by relaxing all edges until nothing changes, next hops by
//! asking of each neighbour whether a shortest path leads through it.

use super::super::graph::{Graph, Vertex, links_of, members_of};
use super::super::hops::Hop;
use super::super::spf::Paths;
use base::PortId;
use core::net::Ipv4Addr;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::{Network, Router, RouterLink, link};

fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + node as u32)
}

/// The address of a router on a link between two, or on a network.
fn on(kind: u32, link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 + (kind << 18) + ((link as u32) << 8) + node as u32)
}

/// A random area: links between two with a cost in each direction and whether each end announces it, and networks of
/// several routers with their costs.
#[derive(Clone, Debug)]
struct Area {
    nodes: usize,
    links: Vec<(usize, usize, u16, u16, bool, bool)>,
    networks: Vec<Vec<(usize, u16, bool)>>,
}

/// Areas whose links cost so much at least; no router should announce one that costs nothing (RFC 2328, C.3).
fn areas(least: u16) -> impl Strategy<Value = Area> {
    (2usize..9).prop_flat_map(move |nodes| {
        let link =
            (0..nodes, 0..nodes, least..6, least..6, prop::bool::weighted(0.9), prop::bool::weighted(0.9));
        let member = (0..nodes, least..6, prop::bool::weighted(0.9));
        let network = proptest::collection::vec(member, 1..4);
        (proptest::collection::vec(link, 0..14), proptest::collection::vec(network, 0..3)).prop_map(
            move |(mut links, mut networks)| {
                links.retain(|link| link.0 != link.1);
                for network in &mut networks {
                    let mut seen = BTreeSet::new();
                    network.retain(|member| seen.insert(member.0));
                }
                Area { nodes, links, networks }
            },
        )
    })
}

impl Area {
    fn designated(&self, network: usize) -> Ipv4Addr {
        on(1, network, self.networks[network][0].0)
    }

    fn advertised(&self) -> (Vec<Router>, Vec<Network>) {
        let mut routers = vec![Router::default(); self.nodes];
        for (place, &(a, b, there, back, a_says, b_says)) in self.links.iter().enumerate() {
            for (from, to, metric, says) in [(a, b, there, a_says), (b, a, back, b_says)] {
                let (id, data, kind) = (id(to), on(0, place, from), link::POINT_TO_POINT);
                let one = RouterLink { id, data, kind, metric, tos: Vec::new() };
                routers[from].links.extend(says.then_some(one));
            }
        }
        for (place, members) in self.networks.iter().enumerate() {
            for &(from, metric, says) in members {
                let (id, data, kind) = (self.designated(place), on(1, place, from), link::TRANSIT);
                let one = RouterLink { id, data, kind, metric, tos: Vec::new() };
                routers[from].links.extend(says.then_some(one));
            }
        }
        let network = |members: &Vec<(usize, u16, bool)>| Network {
            mask: Ipv4Addr::new(255, 255, 255, 0),
            routers: members.iter().map(|member| id(member.0)).collect(),
        };
        (routers, self.networks.iter().map(network).collect())
    }

    /// Steps from router to router that both ends announce: from, to, cost, and by which hop.
    fn steps(&self) -> Vec<(usize, usize, u32, Hop)> {
        let mut steps = Vec::new();
        // Two routers that announce any link to each other have all of those that one announces (RFC 2328, 16.1).
        let says = |from: usize, to: usize| {
            self.links
                .iter()
                .any(|l| (l.0, l.1, l.4) == (from, to, true) || (l.1, l.0, l.5) == (from, to, true))
        };
        for (place, &(a, b, there, back, a_says, b_says)) in self.links.iter().enumerate() {
            for (from, to, cost, said) in [(a, b, there, a_says), (b, a, back, b_says)] {
                if said && says(to, from) {
                    let hop = Hop { port: PortId(place as u16), gateway: on(0, place, to) };
                    steps.push((from, to, cost.into(), hop));
                }
            }
        }
        for (place, members) in self.networks.iter().enumerate() {
            let said = || members.iter().filter(|member| member.2);
            for &(from, cost, _) in said() {
                for &(to, _, _) in said().filter(|to| to.0 != from) {
                    let hop = Hop { port: PortId(100 + place as u16), gateway: on(1, place, to) };
                    steps.push((from, to, cost.into(), hop));
                }
            }
        }
        steps
    }

    fn distances(&self, from: usize) -> Vec<Option<u32>> {
        self.distances_without(from, usize::MAX)
    }

    /// The same if nothing goes through a router.
    fn distances_without(&self, from: usize, closed: usize) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.nodes];
        distances[from] = Some(0);
        for _ in 0..self.nodes {
            for (a, b, cost, _) in
                self.steps().into_iter().filter(|step| step.0 != closed && step.1 != closed)
            {
                if let Some(far) = distances[a].map(|near: u32| near + cost) {
                    distances[b] = Some(distances[b].map_or(far, |known| known.min(far)));
                }
            }
        }
        distances
    }

    /// Where packets leave a router by its own link.
    fn leave(&self, address: Ipv4Addr, neighbor: Option<Ipv4Addr>) -> Option<Hop> {
        let place = (address.to_bits() >> 8 & 0x3ff) as u16;
        match neighbor {
            Some(neighbor) => {
                let to = neighbor.to_bits() as usize & 0xff;
                Some(Hop { port: PortId(place), gateway: on(0, place.into(), to) })
            }
            None => Some(Hop { port: PortId(100 + place), gateway: Ipv4Addr::UNSPECIFIED }),
        }
    }
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn ends_of_tunnels_are_those_that_no_shortest_path_can_do_without(area in areas(1), tails in 0u32..256) {
        let (routers, networks) = area.advertised();
        let routers = routers.iter().enumerate().map(|(node, router)| (id(node), router));
        let networks = networks.iter().enumerate().map(|(place, network)| (area.designated(place), network));
        let graph = Graph::new(routers, networks);
        let root = 0;
        let tails: Vec<usize> = (1..area.nodes).filter(|node| tails & 1 << node != 0).collect();
        let ids: Vec<Ipv4Addr> = tails.iter().map(|&node| id(node)).collect();
        let mut paths = Paths::default();
        paths.compute(&graph, id(root), |address, neighbor| area.leave(address, neighbor), &ids);
        let distances = area.distances(root);
        for to in (1..area.nodes).filter(|&to| distances[to].is_some()) {
            let is_needed = |tail: &&usize| **tail == to || area.distances_without(root, **tail)[to] != distances[to];
            // Of several, all of which are on each path, the one that is farthest from here is nearest to the end.
            let nearest = tails.iter().filter(is_needed).max_by_key(|tail| distances[**tail]);
            let place = graph.number(Vertex::Router(id(to))).expect("it is there");
            prop_assert_eq!(paths.tail(&graph, place), nearest.map(|&tail| id(tail)), "to {}", to);
        }
    }

    /// Areas that come one after another: routers and networks go from what they said in one to what they say in the
    /// next, some in each step.
    #[test]
    fn a_search_of_what_has_changed_finds_what_a_whole_one_finds(
        programme in proptest::collection::vec(((0u16..2).prop_flat_map(areas), 1u32..4096), 2..8),
    ) {
        let leave = |address: Ipv4Addr, neighbor: Option<Ipv4Addr>| {
            Some(Hop { port: PortId(address.to_bits() as u16), gateway: neighbor.unwrap_or(Ipv4Addr::UNSPECIFIED) })
        };
        let (mut graph, mut paths) = (Graph::default(), Paths::default());
        for (area, which) in programme {
            let (routers, networks) = area.advertised();
            let mut changed = Vec::new();
            for node in (0..9).filter(|node| which & 1 << node != 0) {
                let said: Vec<_> = routers.get(node).map_or(Vec::new(), |router| links_of(router).collect());
                graph.set(Vertex::Router(id(node)), said.into_iter(), &mut changed);
            }
            for place in (0..networks.len()).filter(|place| which & 1 << (9 + place) != 0) {
                let said: Vec<_> = members_of(&networks[place]).collect();
                graph.set(Vertex::Network(area.designated(place)), said.into_iter(), &mut changed);
            }
            let before: Vec<_> = (0..graph.len() as u32).map(|vertex| paths.at(vertex)).collect();
            let mut whole = Paths::default();
            whole.compute(&graph, id(0), leave, &[]);
            match paths.update(&graph, &changed) {
                None => paths.compute(&graph, id(0), leave, &[]),
                Some(others) => {
                    for vertex in 0..graph.len() as u32 {
                        let is_other = before[vertex as usize] != paths.at(vertex);
                        prop_assert_eq!(is_other, others.contains(&vertex), "{:?}", graph.vertex(vertex));
                    }
                }
            }
            for vertex in 0..graph.len() as u32 {
                let way = |paths: &Paths| paths.at(vertex).map(|(far, set)| (far, paths.hops.get(set).clone()));
                prop_assert_eq!(way(&paths), way(&whole), "{:?}", graph.vertex(vertex));
            }
        }
    }

    #[test]
    fn paths_are_those_of_an_independent_search(area in (0u16..2).prop_flat_map(areas)) {
        let (routers, networks) = area.advertised();
        let routers = routers.iter().enumerate().map(|(node, router)| (id(node), router));
        // Two networks never have the same designated router's address here: the place is part of it.
        let networks = networks.iter().enumerate().map(|(place, network)| (area.designated(place), network));
        let graph = Graph::new(routers, networks);
        let distances: BTreeMap<usize, _> = (0..area.nodes).map(|node| (node, area.distances(node))).collect();
        for root in 0..area.nodes {
            let paths = graph.paths(id(root), |address, neighbor| area.leave(address, neighbor));
            for (to, distance) in distances[&root].iter().enumerate() {
                let found = graph.path(&paths, Vertex::Router(id(to)));
                prop_assert_eq!(found.map(|found| found.0), *distance, "{} to {}", root, to);
                let Some((far, hops)) = found.filter(|_| to != root) else { continue };
                let good = |&(from, by, cost, _): &(usize, usize, u32, Hop)| {
                    from == root && distances[&by][to].is_some_and(|rest| cost + rest == far)
                };
                let expected: BTreeSet<Hop> = area.steps().iter().filter(|step| good(step)).map(|s| s.3).collect();
                let hops_found: BTreeSet<Hop> = hops.iter().copied().collect();
                if area.steps().iter().all(|step| step.2 > 0) {
                    prop_assert_eq!(hops_found, expected, "{} to {}", root, to);
                } else {
                    // Where links cost nothing, some ways of the same cost lead back to where they come from.
                    prop_assert!(!hops.is_empty() && hops_found.is_subset(&expected), "{} to {}", root, to);
                }
                prop_assert!(hops.is_sorted());
            }
        }
    }
}

#[test]
fn a_network_is_reached_by_its_routers() {
    let area = Area {
        nodes: 3,
        links: vec![(0, 1, 4, 4, true, true)],
        networks: vec![vec![(1, 3, true), (2, 1, true)]],
    };
    let (routers, networks) = area.advertised();
    let routers = routers.iter().enumerate().map(|(node, router)| (id(node), router));
    let graph = Graph::new(routers, [(area.designated(0), &networks[0])].into_iter());
    let leave = |address, neighbor| area.leave(address, neighbor);
    let hop = |port, gateway| [Hop { port: PortId(port), gateway }];
    let paths = graph.paths(id(0), leave);
    let network = Vertex::Network(area.designated(0));
    assert_eq!(graph.path(&paths, network), Some((7, &hop(0, on(0, 0, 1))[..])));
    let paths = graph.paths(id(2), leave);
    assert_eq!(graph.path(&paths, network), Some((1, &hop(100, Ipv4Addr::UNSPECIFIED)[..])));
    assert_eq!(graph.path(&paths, Vertex::Router(id(0))), Some((5, &hop(100, on(1, 0, 1))[..])));
    let nobody = graph.paths(id(9), leave);
    assert_eq!(graph.path(&nobody, network), None);
}

/// A link that costs nothing leads to a network (RFC 2328, 16.1, step 3): a router at the same distance is reached
/// through that network, too, whichever of the two the search has heard of first.
#[test]
fn a_network_behind_a_free_link_comes_before_routers_of_its_distance() {
    for (a, c) in [(1, 2), (2, 1)] {
        for links in [[a, c], [c, a]] {
            let area = Area {
                nodes: 3,
                links: links.iter().map(|&to| (0, to, 1, 1, true, true)).collect(),
                networks: vec![vec![(a, 0, true), (c, 4, true)]],
            };
            let (routers, networks) = area.advertised();
            let routers = routers.iter().enumerate().map(|(node, router)| (id(node), router));
            let graph = Graph::new(routers, [(area.designated(0), &networks[0])].into_iter());
            let paths = graph.paths(id(0), |address, neighbor| area.leave(address, neighbor));
            let (far, hops) = graph.path(&paths, Vertex::Router(id(c))).expect("a path");
            assert_eq!((far, hops.len()), (1, 2), "{a} and {c}: {hops:?}");
            let (far, hops) = graph.path(&paths, Vertex::Router(id(a))).expect("a path");
            assert_eq!((far, hops.len()), (1, 1), "{a} and {c}: {hops:?}");
        }
    }
}
