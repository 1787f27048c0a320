//! Paths beside an independent search: all paths that touch no router twice are written down, those that break a
//! constraint are struck out, and the rest is sorted.
//!
//! It knows of the database only what `docs/models/cspf.md` says: which links count, what each constraint means, and
//! how paths are compared.

use crate::owner::Owner;
use crate::services::te::{
    Affinities, Constraints, Disjoint, Distrust, Engineering, Held, Metric, NoPath, TeKey, TeLink, TePath,
    Towards,
};
use base::{Rate, Time};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8)
}

/// The address at which a router can always be reached: another than its id, and in another order.
fn always(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, 0, 200 - node as u8)
}

/// A router's address on a link between two, or on a network.
fn on(kind: u8, link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(172, 16 + kind, link as u8, node as u8)
}

/// What a router says of a link.
#[derive(Clone, Debug)]
struct Said {
    te: Option<u32>,
    igp: Option<u32>,
    left: [u64; 8],
    groups: u32,
    is_said: bool,
}

fn said() -> impl Strategy<Value = Said> {
    let metric = || prop::option::weighted(0.9, 0u32..4);
    let left = proptest::collection::vec(0u64..6, 8);
    (metric(), metric(), left, 0u32..8, prop::bool::weighted(0.95)).prop_map(
        |(te, igp, mut left, groups, is_said)| {
            // A weaker priority never has more.
            left.sort_unstable_by(|a, b| b.cmp(a));
            Said { te, igp, left: left.try_into().expect("eight"), groups, is_said }
        },
    )
}

/// A random network: links between two with a risk that both directions share, and networks of several.
#[derive(Clone, Debug)]
struct Area {
    nodes: usize,
    links: Vec<([usize; 2], [Said; 2], Vec<u32>)>,
    networks: Vec<Vec<(usize, Said)>>,
}

fn areas() -> impl Strategy<Value = Area> {
    (2usize..7).prop_flat_map(|nodes| {
        let risks = proptest::collection::vec(0u32..4, 0..3);
        let link = ([0..nodes, 0..nodes], [said(), said()], risks);
        let network = proptest::collection::vec((0..nodes, said()), 1..4);
        (proptest::collection::vec(link, 0..13), proptest::collection::vec(network, 0..2)).prop_map(
            move |(mut links, mut networks)| {
                links.retain(|(ends, _, _)| ends[0] != ends[1]);
                for network in &mut networks {
                    let mut seen = BTreeSet::new();
                    network.retain(|(node, _)| seen.insert(*node));
                }
                Area { nodes, links, networks }
            },
        )
    })
}

/// What is asked, with places of routers and links instead of addresses.
#[derive(Clone, Debug)]
struct Asked {
    constraints: Constraints,
    ends: [usize; 2],
    nodes: Vec<usize>,
    links: Vec<(usize, usize)>,
    held: Vec<(usize, usize)>,
    distrusted: Vec<(usize, usize, Distrust)>,
    count: usize,
}

fn asked() -> impl Strategy<Value = Asked> {
    let mask = || prop_oneof![3 => Just(0u32), 1 => 0u32..8];
    let affinities = (mask(), mask(), prop_oneof![6 => Just(0u32), 1 => 0u32..8]).prop_map(
        |(exclude_any, include_any, include_all)| Affinities { exclude_any, include_any, include_all },
    );
    let metric = prop_oneof![Just(Metric::Te), Just(Metric::Igp)];
    let place = || (0usize..13, 0usize..2);
    let few = |most| proptest::collection::vec(place(), 0..most);
    let why = prop_oneof![
        Just(Distrust::Failed),
        (0u8..8, 0u64..6).prop_map(|(priority, rate)| Distrust::Refused { priority, rate: Rate(rate) })
    ];
    let distrusted = proptest::collection::vec((place(), why), 0..2);
    let nodes = proptest::collection::vec(0usize..7, 0..2);
    let srlgs = proptest::collection::vec(0u32..4, 0..2);
    let limit = prop::option::of(0u32..6);
    let first = (0u64..5, 0u8..8, metric, affinities, limit, srlgs);
    let held = (0u64..4, 0u8..8, few(4));
    (first, held, [0usize..7, 0usize..7], nodes, few(3), distrusted, 1usize..8).prop_map(
        |(first, held, ends, nodes, links, distrusted, count)| {
            let (bandwidth, priority, metric, affinities, hop_limit, exclude_srlgs) = first;
            let constraints = Constraints {
                bandwidth: Rate(bandwidth),
                priority,
                metric,
                affinities,
                hop_limit,
                exclude_srlgs,
                exclude: Vec::new(),
                held: Held { rate: Rate(held.0), priority: held.1, links: Vec::new(), replaced: None },
                ..Constraints::default()
            };
            let distrusted = distrusted.into_iter().map(|((link, end), why)| (link, end, why)).collect();
            Asked { constraints, ends, nodes, links, held: held.2, distrusted, count }
        },
    )
}

/// The most that may be reserved of any link.
const WHOLE: u64 = 5;

/// A step that could be taken: from, to, what is said of it, its risks, and the addresses of both ends.
struct Step<'a> {
    from: usize,
    to: usize,
    said: &'a Said,
    risks: &'a [u32],
    near: Ipv4Addr,
    far: Ipv4Addr,
}

impl Area {
    fn database(&self) -> Engineering {
        let mut database = Engineering::default();
        let mut number = 0;
        let mut key = |node| {
            number += 1;
            TeKey { owner: Owner(0), area: 0, router: id(node), number }
        };
        let link = |said: &Said, towards, local, remote, srlgs: &[u32]| TeLink {
            towards,
            local,
            remote,
            te_metric: said.te,
            igp_metric: said.igp,
            reservable: Rate(WHOLE),
            unreserved: said.left.map(Rate),
            groups: said.groups,
            srlgs: srlgs.to_vec(),
        };
        for node in 0..self.nodes {
            let key = key(node);
            database.set_address(key, Some(always(node)));
        }
        for (place, (ends, said, risks)) in self.links.iter().enumerate() {
            for (near, far) in [(0, 1), (1, 0)].into_iter().filter(|(near, _)| said[*near].is_said) {
                let [a, b] = [ends[near], ends[far]];
                let towards = Towards::Router(id(b));
                database.set_link(
                    key(a),
                    link(&said[near], towards, on(0, place, a), Some(on(0, place, b)), risks),
                );
            }
        }
        for (place, members) in self.networks.iter().enumerate() {
            for (node, said) in members.iter().filter(|(_, said)| said.is_said) {
                let towards = Towards::Network(on(1, place, 99));
                database.set_link(key(*node), link(said, towards, on(1, place, *node), None, &[]));
            }
        }
        database
    }

    /// Both ends have to announce a link.
    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = Vec::new();
        for (place, (ends, said, risks)) in self.links.iter().enumerate() {
            for (near, far) in [(0, 1), (1, 0)].into_iter().filter(|_| said[0].is_said && said[1].is_said) {
                let [from, to] = [ends[near], ends[far]];
                let [near_address, far_address] = [on(0, place, from), on(0, place, to)];
                steps.push(Step { from, to, said: &said[near], risks, near: near_address, far: far_address });
            }
        }
        for (place, members) in self.networks.iter().enumerate() {
            let there: Vec<_> = members.iter().filter(|(_, said)| said.is_said).collect();
            for (from, said) in &there {
                for (to, _) in there.iter().filter(|other| other.0 != *from) {
                    let [near, far] = [on(1, place, *from), on(1, place, *to)];
                    steps.push(Step { from: *from, to: *to, said, risks: &[], near, far });
                }
            }
        }
        steps
    }

    fn end_of(&self, (link, end): (usize, usize)) -> Option<Ipv4Addr> {
        self.links.get(link).map(|(ends, ..)| on(0, link, ends[end]))
    }
}

/// A path: what it costs, its links, what is left on it, and router by router with the far addresses.
type Way = (u64, usize, i128, Vec<(Ipv4Addr, Ipv4Addr)>);

struct Search<'a> {
    steps: Vec<Step<'a>>,
    asked: &'a Asked,
    banned: BTreeSet<Ipv4Addr>,
    /// Addresses of links, risks, and routers that another path has.
    common: (BTreeSet<Ipv4Addr>, BTreeSet<u32>, BTreeSet<usize>),
    held: BTreeSet<Ipv4Addr>,
    distrusted: BTreeMap<Ipv4Addr, Distrust>,
    ways: Vec<Way>,
}

impl Search<'_> {
    /// Cost of a step and what is left there, if it may be taken.
    fn allowed(&self, step: &Step<'_>) -> Option<(u64, u64)> {
        let c = &self.asked.constraints;
        let mut left = step.said.left[usize::from(c.priority)];
        let is_held = self.held.contains(&step.near);
        if is_held && c.held.priority <= c.priority {
            left = if c.held.rate.0 > 0 { (left + c.held.rate.0).min(WHOLE) } else { left };
        }
        let a = c.affinities;
        let groups = step.said.groups;
        let affine = (groups & a.exclude_any) == 0
            && (a.include_any == 0 || (groups & a.include_any) > 0)
            && (a.include_all & !groups) == 0;
        let risky = step.risks.iter().any(|risk| c.exclude_srlgs.contains(risk));
        let is_banned =
            [id(step.from), id(step.to), step.near, step.far].iter().any(|one| self.banned.contains(one));
        let is_distrusted = self.distrusted.get(&step.near).is_some_and(|why| match *why {
            Distrust::Failed => true,
            Distrust::Refused { priority, rate } => !is_held && c.bandwidth >= rate && c.priority >= priority,
        });
        let cost = match c.metric {
            Metric::Te => step.said.te.or(step.said.igp),
            Metric::Igp => step.said.igp.or(step.said.te),
        };
        let (links, risks, routers) = &self.common;
        let is_common = [step.near, step.far].iter().any(|end| links.contains(end))
            || step.risks.iter().any(|risk| risks.contains(risk))
            || [step.from, step.to].iter().any(|router| routers.contains(router));
        let is_good = !is_common && left >= c.bandwidth.0 && affine && !risky && !is_banned && !is_distrusted;
        cost.filter(|_| is_good).map(|cost| (u64::from(cost), left))
    }

    fn go(&mut self, at: usize, path: &mut Vec<usize>, seen: &mut BTreeSet<usize>) {
        if at == self.asked.ends[1] {
            let taken: Vec<&Step<'_>> = path.iter().map(|&step| &self.steps[step]).collect();
            let weights: Vec<(u64, u64)> = taken.iter().filter_map(|step| self.allowed(step)).collect();
            let cost = weights.iter().map(|weight| weight.0).sum();
            let left =
                weights.iter().map(|weight| i128::from(weight.1)).min().unwrap_or(i128::from(u64::MAX));
            let names = taken.iter().map(|step| (id(step.to), step.far)).collect();
            self.ways.push((cost, taken.len(), -left, names));
            return;
        }
        let limit = self.asked.constraints.hop_limit.unwrap_or(99) as usize;
        for place in 0..self.steps.len() {
            let step = &self.steps[place];
            let to = step.to;
            if step.from != at || path.len() >= limit || seen.contains(&to) || self.allowed(step).is_none() {
                continue;
            }
            path.push(place);
            seen.insert(to);
            self.go(to, path, seen);
            seen.remove(&to);
            path.pop();
        }
    }
}

impl Search<'_> {
    /// The steps of a path that was found.
    fn taken(&self, way: &Way) -> Vec<&Step<'_>> {
        let mut at = self.asked.ends[0];
        let mut next = |&(router, far): &(Ipv4Addr, Ipv4Addr)| {
            let step = self.steps.iter().find(|one| one.from == at && id(one.to) == router && one.far == far);
            let step = step.expect("a step of the path");
            at = step.to;
            step
        };
        way.3.iter().map(&mut next).collect()
    }

    /// The best path without anything in common with another: links of two are one link whichever way they are gone,
    /// and so are all links of a network.
    fn beside(&self, other: &Way, what: Disjoint) -> Option<Way> {
        let taken = self.taken(other);
        let on_network = |address: Ipv4Addr| address.octets()[1] == 17;
        let mut links: BTreeSet<Ipv4Addr> = taken.iter().flat_map(|step| [step.near, step.far]).collect();
        let networks: BTreeSet<u8> =
            links.iter().filter(|at| on_network(**at)).map(|at| at.octets()[2]).collect();
        let members = self.steps.iter().flat_map(|step| [step.near, step.far]);
        links.extend(members.filter(|at| on_network(*at) && networks.contains(&at.octets()[2])));
        let risks = taken.iter().flat_map(|step| step.risks.iter().copied()).collect();
        let between =
            taken.iter().map(|step| step.to).filter(|router| *router != self.asked.ends[1]).collect();
        let common = match what {
            Disjoint::Link => (links, BTreeSet::new(), BTreeSet::new()),
            Disjoint::Node => (links, BTreeSet::new(), between),
            Disjoint::Srlg => (links, risks, BTreeSet::new()),
        };
        let steps =
            self.steps.iter().map(|step| Step { risks: step.risks, said: step.said, ..*step }).collect();
        let (asked, banned, held) = (self.asked, self.banned.clone(), self.held.clone());
        let distrusted = self.distrusted.clone();
        let mut search = Search { steps, asked, banned, common, held, distrusted, ways: Vec::new() };
        search.go(asked.ends[0], &mut Vec::new(), &mut BTreeSet::from([asked.ends[0]]));
        search.ways.into_iter().min()
    }
}

fn way(path: &TePath) -> Way {
    let names = path.hops.iter().map(|hop| (hop.router, hop.far)).collect();
    (path.cost, path.hops.len(), -i128::from(path.left.0), names)
}

proptest! {
    #![proptest_config(testing::cases(1500))]
    #[test]
    fn paths_are_those_of_an_independent_search(area in areas(), mut asked in asked()) {
        asked.ends = asked.ends.map(|end| end % area.nodes);
        let mut database = area.database();
        let steps = area.steps();
        let known: BTreeSet<usize> = (0..area.nodes)
            .filter(|node| {
                area.links.iter().any(|(ends, said, _)| (0..2).any(|end| ends[end] == *node && said[end].is_said))
                    || area.networks.iter().flatten().any(|(one, said)| one == node && said.is_said)
            })
            .collect();
        let nodes: Vec<usize> = asked.nodes.iter().map(|node| node % area.nodes).filter(|n| known.contains(n)).collect();
        let links: Vec<Ipv4Addr> = asked.links.iter().filter_map(|link| area.end_of(*link)).collect();
        let held: BTreeSet<Ipv4Addr> = asked.held.iter().filter_map(|link| area.end_of(*link)).collect();
        let mut distrusted = BTreeMap::new();
        for (link, end, why) in &asked.distrusted {
            if let Some(near) = area.end_of((*link, *end)) {
                database.distrust(Time(5), near, *why);
                distrusted.insert(near, *why);
            }
        }
        // A router is excluded by either of its addresses.
        let routers = nodes.iter().map(|&node| if node % 2 == 0 { id(node) } else { always(node) });
        let mut constraints = asked.constraints.clone();
        constraints.exclude = routers.chain(links.iter().copied()).collect();
        constraints.held.links = held.iter().copied().collect();
        let banned = nodes.iter().map(|&node| id(node)).chain(links).collect();
        let common = Default::default();
        let mut search = Search { steps, asked: &asked, banned, common, held, distrusted, ways: Vec::new() };
        search.go(asked.ends[0], &mut Vec::new(), &mut BTreeSet::from([asked.ends[0]]));
        let mut expected = core::mem::take(&mut search.ways);
        expected.sort();
        expected.truncate(asked.count);
        let [from, to] = asked.ends;
        let found = database.paths(Time(6), id(from), always(to), &constraints, asked.count);
        let best = database.path(Time(6), always(from), id(to), &constraints);
        if asked.ends.iter().any(|end| !known.contains(end)) {
            prop_assert!(matches!(found, Err(NoPath::Unknown(_))) && best.is_err());
            return Ok(());
        }
        if expected.is_empty() {
            prop_assert!(found.is_err() && best.is_err(), "{:?}", found);
            return Ok(());
        }
        let found = found.expect("paths");
        prop_assert_eq!(found.iter().map(way).collect::<Vec<_>>(), expected.clone());
        let best = best.expect("a path");
        prop_assert_eq!(&best, &found[0]);
        // A pair without anything in common, as a head end that wants a standby chooses it.
        let what = [Disjoint::Link, Disjoint::Node, Disjoint::Srlg][asked.count % 3];
        let pair = expected.iter().find_map(|one| Some((one.clone(), search.beside(one, what)?)));
        let ends = (id(from), id(to));
        let chosen = database.alternatives(Time(6), ends, &constraints, asked.count, Some(what)).expect("paths");
        prop_assert_eq!(chosen.len(), found.len());
        let standby = database.path_beside(Time(6), ends, &constraints, &chosen[0].hops, what);
        // From a router to itself no path has anything, so each is disjoint from each.
        let is_pair = from == to || pair.as_ref().map(|pair| &pair.1) == standby.as_ref().ok().map(way).as_ref();
        prop_assert!(is_pair, "{:?} beside {:?}, expected {:?}", standby, chosen[0], pair);
        let first = pair.as_ref().map_or(&expected[0], |pair| &pair.0);
        prop_assert_eq!(&way(&chosen[0]), first);
        if let Ok(standby) = standby {
            let apart = database.apart(&chosen[0].hops, what);
            prop_assert!(database.is_apart(&standby.hops, &apart));
        }
        for path in &found {
            let now = database.cost_of(Time(6), id(from), &path.hops, &constraints);
            prop_assert_eq!(now, Some((path.cost, path.left)));
        }
    }
}
