//! Random programmes: a network, tunnels, and what is done to them. As data, so that one that fails can be kept, cut
//! down and repeated.

use crate::common::faults::{Impairment, Random};
use network::paths::{Arc, Graph};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Programme {
    pub seed: u64,
    pub nodes: usize,
    pub links: Vec<LinkPlan>,
    /// Label asked for by egresses.
    pub egress: String,
    pub refresh_reduction: bool,
    pub hello: bool,
    pub integrity: bool,
    /// Control processors and table writes take time.
    pub slow: bool,
    pub tunnels: Vec<TunnelPlan>,
    pub steps: Vec<Step>,
    /// Tear down while faults are still there, and heal them after.
    pub tear_under_faults: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkPlan {
    pub a: usize,
    pub b: usize,
    pub reservable_mbps: u64,
    pub delay_us: u64,
    pub detection_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TunnelPlan {
    pub from: usize,
    pub to: usize,
    pub routes: Vec<Vec<Hop>>,
    pub bandwidth_mbps: u64,
    pub setup: u8,
    pub holding: u8,
    pub fixed_filter: bool,
    pub record: bool,
    /// It can be set up when nothing is broken and nobody else reserves anything.
    pub possible: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hop {
    /// Over this link to its far end.
    Link(usize),
    /// To this node, by whatever way.
    Loose(usize),
    /// To an address that nobody has.
    Nowhere,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub after_ms: u64,
    pub action: Action,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Sets a tunnel up, or changes it to this plan: make before break.
    Set(usize, TunnelPlan),
    Tear(usize),
    Reoptimise(usize),
    Down(usize),
    Up(usize),
    Impair {
        link: usize,
        kind: Impairment,
        thousandths: u64,
        for_ms: u64,
    },
    Restart {
        node: usize,
        for_ms: u64,
    },
    /// Heals everything, waits until all is settled, and checks that everything works.
    Quiet,
}

impl Programme {
    pub fn generate(seed: u64) -> Programme {
        let mut r = Random(seed);
        let nodes = 3 + r.below(6);
        let mut links: Vec<LinkPlan> = (1..nodes).map(|b| link(&mut r, b, nodes)).collect();
        for _ in 0..1 + r.below(nodes) {
            let b = r.below(nodes);
            links.push(link(&mut r, b, nodes));
        }
        let graph = graph(nodes, &links);
        let tunnels: Vec<TunnelPlan> =
            (0..2 + r.below(7)).map(|_| tunnel(&mut r, nodes, &links, &graph, None)).collect();
        let mut steps = Vec::new();
        for (index, plan) in tunnels.iter().cloned().enumerate() {
            steps.push(Step { after_ms: r.of(&[0, 0, 1, 20, 200]), action: Action::Set(index, plan) });
        }
        for _ in 0..4 + r.below(22) {
            let action = action(&mut r, nodes, &links, &graph, &tunnels);
            steps.push(Step { after_ms: r.of(&[0, 1, 7, 30, 150, 400, 900]), action });
        }
        if r.one_in(2) {
            steps.push(Step { after_ms: 10, action: Action::Quiet });
        }
        Programme {
            seed,
            nodes,
            links,
            egress: r.of(&["real", "real", "implicit-null", "explicit-null"]).into(),
            refresh_reduction: r.one_in(2),
            hello: r.one_in(3),
            integrity: r.one_in(6),
            slow: r.one_in(3),
            tunnels,
            steps,
            tear_under_faults: r.one_in(2),
        }
    }
}

fn graph(nodes: usize, links: &[LinkPlan]) -> Graph {
    let arc = |l: &LinkPlan| Arc { a: l.a, b: l.b, metric: 1, delay: l.delay_us * 1_000_000 };
    Graph::new(vec![true; nodes], links.iter().map(arc).collect())
}

fn link(r: &mut Random, b: usize, nodes: usize) -> LinkPlan {
    // The first links make a tree; the others may be parallel.
    let a = if b > 0 { r.below(b) } else { 1 + r.below(nodes - 1) };
    LinkPlan {
        a,
        b,
        reservable_mbps: r.of(&[100, 100, 60]),
        delay_us: r.of(&[0, 10, 500, 4_000]),
        detection_ms: r.of(&[0, 0, 5, 300]),
    }
}

/// A walk from `from` along random links; one that never comes back to a node unless `again`.
fn walk(r: &mut Random, links: &[LinkPlan], from: usize, length: usize, again: bool) -> (Vec<usize>, usize) {
    let (mut at, mut seen, mut walk) = (from, vec![from], Vec::new());
    for _ in 0..length {
        let far = |l: &LinkPlan| {
            if l.a == at {
                Some(l.b)
            } else if l.b == at {
                Some(l.a)
            } else {
                None
            }
        };
        let ways: Vec<(usize, usize)> = links
            .iter()
            .enumerate()
            .filter_map(|(i, l)| Some((i, far(l)?)))
            .filter(|way| again || !seen.contains(&way.1))
            .collect();
        if ways.is_empty() {
            break;
        }
        let (link, next) = r.of(&ways);
        walk.push(link);
        seen.push(next);
        at = next;
    }
    (walk, at)
}

fn tunnel(
    r: &mut Random,
    nodes: usize,
    links: &[LinkPlan],
    graph: &Graph,
    ends: Option<(usize, usize)>,
) -> TunnelPlan {
    let from = ends.map_or_else(|| r.below(nodes), |ends| ends.0);
    let (along, end) = loop {
        let length = 1 + r.below(nodes);
        let (along, end) = walk(r, links, from, length, false);
        if end != from {
            break (along, end);
        }
    };
    let to = ends.map_or(end, |ends| ends.1);
    let shortest = || graph.tree(from).links_to(to).unwrap_or_default();
    let strict = |links: &[usize]| links.iter().map(|&link| Hop::Link(link)).collect::<Vec<_>>();
    let mut possible = true;
    let mut routes = match r.below(10) {
        0..4 => vec![strict(if end == to { &along } else { &[] })],
        4..6 => vec![strict(&shortest())],
        6 => vec![Vec::new()],
        7 => {
            possible = false; // the way there may cross itself
            vec![vec![Hop::Loose(r.below(nodes)), Hop::Loose(to)]]
        }
        8 => vec![strict(&shortest()), Vec::new()],
        _ => {
            possible = false;
            let length = 1 + r.below(2 * nodes);
            let mut wrong = strict(&walk(r, links, from, length, true).0);
            let place = r.below(wrong.len() + 1);
            if r.one_in(2) {
                wrong.insert(place, Hop::Nowhere);
            } else {
                wrong.insert(place, Hop::Link(r.below(links.len())));
            }
            vec![wrong]
        }
    };
    if !possible && r.one_in(2) {
        routes.push(strict(&shortest()));
        possible = true;
    }
    let holding = r.below(8) as u8;
    TunnelPlan {
        from,
        to,
        routes,
        bandwidth_mbps: r.of(&[0, 0, 10, 30, 60, 100, 150]),
        setup: holding + r.below(8 - holding as usize) as u8,
        holding,
        fixed_filter: r.one_in(5),
        record: r.one_in(3),
        possible,
    }
}

fn action(r: &mut Random, nodes: usize, links: &[LinkPlan], graph: &Graph, tunnels: &[TunnelPlan]) -> Action {
    let index = r.below(tunnels.len());
    let link = r.below(links.len());
    match r.below(20) {
        0..4 => {
            let known = &tunnels[index];
            let mut plan = tunnel(r, nodes, links, graph, Some((known.from, known.to)));
            if r.one_in(2) {
                plan.fixed_filter = known.fixed_filter;
            }
            Action::Set(index, plan)
        }
        4..7 => Action::Tear(index),
        7..10 => Action::Reoptimise(index),
        10..12 => Action::Down(link),
        12..14 => Action::Up(link),
        14..17 => {
            use Impairment::*;
            let kind = r.of(&[Loss, Loss, Corruption, Duplication, Reordering, Delay]);
            let thousandths = r.of(&[50, 300, 1_000]);
            Action::Impair { link, kind, thousandths, for_ms: r.of(&[5, 100, 1_000, 6_000]) }
        }
        17 => Action::Restart { node: r.below(nodes), for_ms: r.of(&[0, 10, 500, 4_000]) },
        18 => Action::Set(index, tunnels[index].clone()),
        _ => Action::Quiet,
    }
}
