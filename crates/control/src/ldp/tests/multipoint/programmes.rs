//! Random programmes: leaves join and leave, links fail and are repaired, routers restart, tables refuse writes, in
//! random networks. After each quiet time each leaf that can be reached gets each packet once, and nobody else any;
//! while nothing fails, that is so at every moment for those who stay; and in the end nothing is left.

use super::net::{Net, lsp};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Join {
        tree: usize,
        node: usize,
        joins: bool,
    },
    Link {
        link: usize,
        up: bool,
    },
    Restart {
        node: usize,
        is_alone: bool,
    },
    /// Tables refuse writes from now on, or not any more.
    Fail(bool),
    /// So many things that are under way happen.
    Run(usize),
    /// All of them do, and what there is is looked at.
    Quiet,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<usize>(), any::<usize>(), any::<bool>())
            .prop_map(|(tree, node, joins)| Step::Join { tree, node, joins }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(link, up)| Step::Link { link, up }),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(node, is_alone)| Step::Restart { node, is_alone }),
        1 => any::<bool>().prop_map(Step::Fail),
        6 => (0usize..30).prop_map(Step::Run),
        3 => Just(Step::Quiet),
    ]
}

/// A random network: a tree of links that joins all routers, and more, of which some are parallel.
fn network() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (3usize..9).prop_flat_map(|count| {
        let joined =
            (1..count).map(|node| (0..node).prop_map(move |other| (other, node))).collect::<Vec<_>>();
        let more = prop::collection::vec((0..count, 1..count), 0..7);
        (joined, more).prop_map(move |(mut links, more)| {
            links.extend(more.into_iter().map(|(a, far)| (a, (a + far) % count)));
            (count, links)
        })
    })
}

/// LSPs, by root and identifier, with their leaves.
struct Trees(Vec<(usize, u32, BTreeSet<usize>)>);

impl Trees {
    fn assert_reached(&self, net: &Net) {
        for (root, lsp_id, leaves) in &self.0 {
            net.assert_reached(*root, *lsp_id, &net.reachable(*root, leaves));
        }
        net.assert_kept();
    }

    /// Whatever tables refuse, nobody gets packets who is no leaf, or gets them twice.
    fn assert_no_more(&self, net: &Net) {
        for (root, lsp_id, leaves) in &self.0 {
            let (out, _) = net.copies(*root, *lsp_id).expect("no circle");
            assert!(out.iter().all(|(leaf, copies)| leaves.contains(leaf) && *copies == 1), "{out:?}");
        }
    }

    fn join(&mut self, net: &mut Net, (tree, node, joins): (usize, usize, bool)) {
        let tree = tree % self.0.len();
        let node = node % net.nodes.len();
        let (root, lsp_id, leaves) = &mut self.0[tree];
        if node == *root {
            return;
        }
        if joins {
            leaves.insert(node)
        } else {
            leaves.remove(&node)
        };
        net.join(node, &lsp(*root, *lsp_id), joins);
    }
}

/// Tables take what is tried again.
fn heal(net: &mut Net) {
    net.is_failing = false;
    net.settle();
    while net.nodes.iter().any(|node| node.trees.poll_timeout().is_some()) {
        net.retry();
        net.settle();
    }
}

fn programme((count, links): (usize, Vec<(usize, usize)>), seed: u64, steps: &[Step]) {
    let mut net = Net::new(count, &links);
    net.seed(seed);
    // Two of one root, and one of another.
    let mut trees =
        Trees(vec![(0, 1, BTreeSet::new()), (0, 2, BTreeSet::new()), (count - 1, 1, BTreeSet::new())]);
    trees.0.iter().for_each(|(root, lsp_id, _)| net.root(*root, *lsp_id));
    for step in steps {
        match *step {
            Step::Join { tree, node, joins } => trees.join(&mut net, (tree, node, joins)),
            Step::Link { link, up } => net.set(link % links.len(), up),
            Step::Restart { node, is_alone } => net.restart(node % count, is_alone),
            Step::Fail(fails) => net.is_failing = fails,
            Step::Run(steps) => drop((0..steps).all(|_| net.step())),
            Step::Quiet => {
                net.settle();
                trees.assert_no_more(&net);
                heal(&mut net);
                trees.assert_reached(&net);
            }
        }
    }
    // Everything heals.
    (0..links.len()).for_each(|link| net.set(link, true));
    heal(&mut net);
    trees.assert_reached(&net);
    // Without failures those who stay lose nothing and get nothing twice, at any moment.
    for round in 0..6 {
        let before = trees.0.iter().map(|(_, _, leaves)| leaves.clone()).collect::<Vec<_>>();
        let mut touched = BTreeSet::new();
        for bit in 0..3 {
            let bits = seed.rotate_left(round * 9 + bit);
            let (tree, node) = (bits as usize % 3, (bits >> 8) as usize % count);
            touched.insert((tree, node));
            trees.join(&mut net, (tree, node, bits >> 20 & 1 == 1));
        }
        let mut goes_on = true;
        while goes_on {
            for (tree, (root, lsp_id, leaves)) in trees.0.iter().enumerate() {
                let (out, _) = net.copies(*root, *lsp_id).expect("no circle");
                let before = &before[tree];
                assert!(out.values().all(|copies| *copies == 1), "twice: {out:?}");
                let has_to_do = |node: &usize| {
                    leaves.contains(node) || before.contains(node) || touched.contains(&(tree, *node))
                };
                assert!(out.keys().all(has_to_do), "{out:?}");
                let mut stay = leaves.intersection(before).filter(|node| !touched.contains(&(tree, **node)));
                assert!(stay.all(|leaf| out.contains_key(leaf)), "{out:?}: {before:?}, {leaves:?}");
            }
            goes_on = net.step();
        }
        trees.assert_reached(&net);
    }
    for (root, lsp_id, leaves) in &trees.0 {
        leaves.iter().for_each(|leaf| net.join(*leaf, &lsp(*root, *lsp_id), false));
    }
    net.settle();
    net.assert_empty();
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn programmes_end_clean(
        network in network(),
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        programme(network, seed, &steps);
    }
}
