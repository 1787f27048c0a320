//! Random programmes of grafting, pruning, failures and repair, restarts and loss of messages. While nothing fails,
//! each leaf gets every packet once, and nobody else any; never does a packet go in circles; and when everything is
//! healed and removed, nothing is left anywhere.

use super::super::Net;
use super::*;
use crate::protocol::Change;
use crate::rsvp::Remerge;
use crate::rsvp::transport::RefreshReduction;
use base::random::Streams;
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;

/// Three rows of three, joined as a grid: 0 to 8, the root at a corner.
const GRID: [(usize, usize); 12] =
    [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)];

/// The way to each node that all trees without a choice of their own take: along the upper row, then down.
fn down(node: usize) -> Vec<usize> {
    let (row, column) = (node / 3, node % 3);
    (1..=column).chain((1..=row).map(|row| 3 * row + column)).collect()
}

/// Another way: down, then along.
fn along(node: usize) -> Vec<usize> {
    let (row, column) = (node / 3, node % 3);
    (1..=row).map(|row| 3 * row).chain((1..=column).map(|column| 3 * row + column)).collect()
}

#[derive(Clone, Debug)]
enum Step {
    /// The leaves, by bits; of some the way is another one.
    Leaves {
        leaves: u16,
        across: u16,
    },
    Bandwidth(u64),
    Remove,
    Link {
        link: usize,
        up: bool,
    },
    Restart(usize),
    Run(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<u16>(), any::<u16>()).prop_map(|(leaves, across)| Step::Leaves { leaves, across }),
        1 => (0u64..600).prop_map(Step::Bandwidth),
        1 => Just(Step::Remove),
        3 => (0usize..12, any::<bool>()).prop_map(|(link, up)| Step::Link { link, up }),
        1 => (0usize..9).prop_map(Step::Restart),
        8 => prop_oneof![0u64..20, 0u64..2_000, 0u64..100_000].prop_map(Step::Run),
    ]
}

/// What the programme has come to.
struct State {
    net: Net,
    spec: P2mpSpec,
}

fn leaves(leaves: u16, across: u16) -> Vec<Leaf> {
    let some = (1..9usize).filter(|node| leaves >> node & 1 != 0);
    some.map(|node| leaf(&if across >> node & 1 != 0 { along(node) } else { down(node) })).collect()
}

fn apply(state: &mut State, step: &Step) {
    let net = &mut state.net;
    match *step {
        Step::Leaves { leaves: some, across } => {
            state.spec.leaves = leaves(some, across);
            set(net, 0, &state.spec);
        }
        Step::Bandwidth(mbps) => {
            state.spec.bandwidth = Rate::from_mbps(mbps);
            set(net, 0, &state.spec);
        }
        Step::Remove => net.command(0, Command::P2mpRemove(ID)),
        Step::Link { link, up } => {
            let (a, b) = GRID[link];
            net.link(a, b, up);
        }
        Step::Restart(node) => {
            net.tables[node] = Default::default();
            net.change(node, Change::Restart);
        }
        Step::Run(ms) => net.run(ms),
    }
    // No loop at any time, whatever fails: this walks all copies.
    net.copies(0, destination());
}

fn programme(seed: u64, steps: &[Step], (is_together, reduces, is_lossy, allows): (bool, bool, bool, bool)) {
    let mut net = Net::with(9, &GRID, |_, config| {
        config.refresh_reduction = reduces.then(RefreshReduction::default);
        config.p2mp_remerge = if allows { Remerge::Allow } else { Remerge::Refuse };
    });
    if is_lossy {
        let mut random = Streams::new(seed).stream("loss");
        net.lose = Some(Box::new(move |_, _| random.next_u32().is_multiple_of(8)));
    }
    let signalling = if is_together { Signalling::Together } else { Signalling::Separate };
    let spec = P2mpSpec { signalling, record_route: seed.is_multiple_of(2), ..tree(Vec::new(), 10) };
    let mut state = State { net, spec };
    for step in steps {
        apply(&mut state, step);
    }
    // Everything heals. Ways that meet again are allowed or refused; those down and those along are a tree each.
    state.net.lose = None;
    GRID.iter().for_each(|&(a, b)| state.net.link(a, b, true));
    state.net.run(400_000);
    let some = seed as u16 | 0b100;
    state.spec.leaves = leaves(some, 0);
    state.spec.bandwidth = Rate::from_mbps(10);
    set(&mut state.net, 0, &state.spec);
    state.net.run(400_000);
    let wanted: Vec<usize> = (1..9).filter(|node| some >> node & 1 != 0).collect();
    assert_reached(&state.net, 0, &wanted);
    // Without failures grafting and pruning lose nothing, and double nothing.
    let mut before = wanted;
    for some in [0b1_0110_0100u16, 0b1_1111_0110, 0b0_0000_1000, seed as u16 >> 3] {
        state.spec.leaves = leaves(some, 0);
        set(&mut state.net, 0, &state.spec);
        let after: Vec<usize> = (1..9).filter(|node| some >> node & 1 != 0).collect();
        for _ in 0..60 {
            state.net.run(1);
            let (out, _) = state.net.copies(0, destination());
            assert!(out.values().all(|&copies| copies == 1), "twice: {out:?}");
            let stay = before.iter().filter(|node| after.contains(node));
            assert!(stay.clone().all(|node| out.contains_key(node)), "{out:?}, {before:?}, {after:?}");
        }
        assert_reached(&state.net, 0, &after);
        before = after;
    }
    state.net.command(0, Command::P2mpRemove(ID));
    state.net.run(400_000);
    state.net.assert_clean();
}

proptest! {
    #![proptest_config(testing::cases(24))]

    #[test]
    fn programmes_end_clean(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..40),
        how in any::<(bool, bool, bool, bool)>(),
    ) {
        programme(seed, &steps, how);
    }
}
