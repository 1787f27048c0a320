//! The links of the database as a graph in arrays: only what both ends say is there.

use super::link::{Known, Towards};
use core::net::Ipv4Addr;

/// A step from one router to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    /// The place of the link among those of the database.
    pub link: u32,
    /// The far router's address on the link.
    pub far: Ipv4Addr,
}

/// Routers by their place in the order of router ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    routers: Vec<Ipv4Addr>,
    /// In the order of the router at the near end, of the one at the far end, and of their addresses.
    edges: Vec<Edge>,
    /// Where the edges from each router begin; one more than there are routers.
    first: Vec<u32>,
    /// Edges by the router at their far end.
    into: Vec<u32>,
    into_first: Vec<u32>,
}

/// Where those of each of `count` routers begin, in a list that is sorted by router.
fn starts(count: usize, routers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut first = vec![0; count + 1];
    routers.for_each(|router| first[router as usize + 1] += 1);
    for place in 1..first.len() {
        first[place] += first[place - 1];
    }
    first
}

impl Graph {
    /// The graph of these links, each with its place among those of the database.
    pub(super) fn new<'a>(links: impl Iterator<Item = (u32, &'a Known)> + Clone) -> Graph {
        let mut routers: Vec<Ipv4Addr> = links.clone().map(|(_, known)| known.key.router).collect();
        routers.sort_unstable();
        routers.dedup();
        let place = |id: Ipv4Addr| routers.binary_search(&id).ok().map(|place| place as u32);
        // By what is at the far end, and then by the router that says so.
        let mut said: Vec<(Towards, Ipv4Addr, u32, &Known)> =
            links.clone().map(|(at, known)| (known.link.towards, known.key.router, at, known)).collect();
        said.sort_unstable_by_key(|(towards, router, at, _)| (*towards, *router, *at));
        let mut edges = Vec::with_capacity(said.len());
        for (at, known) in links {
            let Some(from) = place(known.key.router) else { continue };
            let (link, near) = (&known.link, known.key.router);
            match link.towards {
                Towards::Router(id) => {
                    let back = (Towards::Router(near), id);
                    let start = said.partition_point(|one| (one.0, one.1) < back);
                    let same = said[start..].iter().take_while(|one| (one.0, one.1) == back);
                    // Of parallel links, the one between the same addresses.
                    let matching = |other: &&(Towards, Ipv4Addr, u32, &Known)| {
                        let other = &other.3.link;
                        let agree = |a: Option<Ipv4Addr>, b: Ipv4Addr| a.is_none_or(|a| a == b);
                        agree(link.remote, other.local) && agree(other.remote, link.local)
                    };
                    let (Some(other), Some(to)) = (same.into_iter().find(matching), place(id)) else {
                        continue;
                    };
                    let local = Some(other.3.link.local).filter(|local| !local.is_unspecified());
                    let far = link.remote.or(local).unwrap_or(id);
                    edges.extend((to != from).then_some(Edge { from, to, link: at, far }));
                }
                Towards::Network(_) => {
                    let start = said.partition_point(|one| one.0 < link.towards);
                    let members = said[start..].iter().take_while(|one| one.0 == link.towards);
                    for (_, router, _, other) in members.filter(|one| one.1 != near) {
                        let edge =
                            place(*router).map(|to| Edge { from, to, link: at, far: other.link.local });
                        edges.extend(edge);
                    }
                }
            }
        }
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to, edge.far, edge.link));
        let first = starts(routers.len(), edges.iter().map(|edge| edge.from));
        let mut into: Vec<u32> = (0..edges.len() as u32).collect();
        into.sort_by_key(|&edge| edges[edge as usize].to);
        let into_first = starts(routers.len(), into.iter().map(|&edge| edges[edge as usize].to));
        Graph { routers, edges, first, into, into_first }
    }

    /// The router with this router id.
    pub(super) fn place(&self, id: Ipv4Addr) -> Option<u32> {
        self.routers.binary_search(&id).ok().map(|place| place as u32)
    }

    /// How many routers there are.
    pub(super) fn len(&self) -> usize {
        self.routers.len()
    }

    pub(super) fn router(&self, place: u32) -> Ipv4Addr {
        self.routers[place as usize]
    }

    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges from a router, in their order.
    pub(super) fn edges_from(&self, router: u32) -> &[Edge] {
        let router = router as usize;
        &self.edges[self.first[router] as usize..self.first[router + 1] as usize]
    }

    /// The edges to a router.
    pub(super) fn edges_to(&self, router: u32) -> impl Iterator<Item = &Edge> {
        let router = router as usize;
        let range = self.into_first[router] as usize..self.into_first[router + 1] as usize;
        self.into[range].iter().map(|&edge| &self.edges[edge as usize])
    }
}
