//! Random programmes of grafting, pruning, failures and repair, restarts and loss of messages. While nothing fails,
//! each leaf gets every packet once, and nobody else any; never does a packet go in circles; and when everything is
//! healed and removed, nothing is left anywhere.

use super::super::Net;
use super::super::bus::spec;
use super::*;
use crate::protocol::Change;
use crate::rsvp::command::{TunnelId, TunnelSpec};
use crate::rsvp::transport::RefreshReduction;
use crate::rsvp::{Bypass, Config, ProtectionConfig, ProtectionRequest, Remerge};
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
            if state.spec.protection.is_some() {
                // Merge points answer by the routing table.
                net.route_all();
            }
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

/// Bypass tunnels around the links of both ways, each by three sides of a square of the grid.
const AROUND: [[usize; 4]; 18] = [
    [0, 3, 4, 1],
    [1, 4, 5, 2],
    [0, 1, 4, 3],
    [1, 0, 3, 4],
    [2, 1, 4, 5],
    [3, 4, 7, 6],
    [4, 3, 6, 7],
    [5, 4, 7, 8],
    [3, 0, 1, 4],
    [4, 1, 2, 5],
    [6, 3, 4, 7],
    [7, 4, 5, 8],
    [1, 2, 5, 4],
    [4, 5, 8, 7],
    [3, 6, 7, 4],
    [4, 7, 8, 5],
    [2, 5, 4, 1],
    [5, 2, 1, 4],
];

/// The address of a node on the link to another one.
fn on(from: usize, to: usize) -> Ipv4Addr {
    let place = GRID.iter().position(|ends| [(from, to), (to, from)].contains(ends)).expect("a link");
    Ipv4Addr::new(10, 0, place as u8, if GRID[place].0 == from { 1 } else { 2 })
}

fn tunnels() -> Vec<(usize, TunnelSpec)> {
    let tunnel = |(place, &[from, a, b, to]): (usize, &[usize; 4])| {
        let ends = GRID.iter().filter_map(|&(x, y)| match (x == to, y == to) {
            (true, _) => Some(on(to, y)),
            (_, true) => Some(on(to, x)),
            _ => None,
        });
        let bypass = Bypass { link: on(from, to), merge_point: ends.collect(), node: false };
        let routes = vec![hops(&[a, b, to])];
        let carries = Vec::new();
        let bypass = Some(Box::new(bypass));
        (
            from,
            TunnelSpec { routes, carries, bypass, retry_limit: None, ..spec(50 + place as u16, to, &[], 0) },
        )
    };
    AROUND.iter().enumerate().map(tunnel).collect()
}

const ASKED: ProtectionRequest = ProtectionRequest { node: false, bandwidth: false, one_to_one: false };

fn reverting(config: &mut Config) {
    config.protection = ProtectionConfig { automatic: false, reversion: Some(Span::from_secs(2)) };
}

fn programme(
    seed: u64,
    steps: &[Step],
    (is_together, reduces, is_lossy, allows, is_protected): (bool, bool, bool, bool, bool),
) {
    let mut net = Net::with(9, &GRID, |_, config| {
        config.refresh_reduction = reduces.then(RefreshReduction::default);
        config.p2mp_remerge = if allows { Remerge::Allow } else { Remerge::Refuse };
        reverting(config);
    });
    if is_protected {
        tunnels().into_iter().for_each(|(node, spec)| _ = net.tunnel(node, spec));
        net.run(100);
    }
    if is_lossy {
        let mut random = Streams::new(seed).stream("loss");
        net.lose = Some(Box::new(move |_, _| random.next_u32().is_multiple_of(8)));
    }
    let signalling = if is_together { Signalling::Together } else { Signalling::Separate };
    let protection = is_protected.then_some(ASKED);
    let spec =
        P2mpSpec { signalling, record_route: seed.is_multiple_of(2), protection, ..tree(Vec::new(), 10) };
    let mut state = State { net, spec };
    for step in steps {
        apply(&mut state, step);
    }
    // Everything heals. Ways that meet again are allowed or refused; those down and those along are a tree each.
    state.net.lose = None;
    GRID.iter().for_each(|&(a, b)| state.net.link(a, b, true));
    state.net.route_all();
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
    // Nor does another bandwidth, or another way to all leaves.
    for (across, mbps) in [(u16::MAX, 600), (0, 700), (0, seed % 1_000)] {
        state.spec.leaves = leaves(seed as u16 >> 3, across);
        state.spec.bandwidth = Rate::from_mbps(mbps);
        set(&mut state.net, 0, &state.spec);
        for ms in [1; 40].into_iter().chain([100; 15]) {
            state.net.run(ms);
            assert_reached(&state.net, 0, &before);
        }
    }
    clean(state.net);
}

fn clean(mut net: Net) {
    net.command(0, Command::P2mpRemove(ID));
    net.run(2_000);
    for (node, spec) in tunnels() {
        net.command(node, Command::TunnelRemove(TunnelId { to: spec.to, id: spec.tunnel_id }));
    }
    net.run(400_000);
    net.assert_clean();
}

/// What happens to a protected tree in which one link at a time fails.
#[derive(Clone, Debug)]
enum Turn {
    Leaves(u16),
    Fails { link: usize, ms: u64 },
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        any::<u16>().prop_map(Turn::Leaves),
        (0usize..12, prop_oneof![0u64..50, 0u64..8_000, 0u64..300_000])
            .prop_map(|(link, ms)| Turn::Fails { link, ms }),
    ]
}

/// Each leaf gets each packet once at any time, whichever link fails.
fn protected(turns: &[Turn], (is_together, reduces): (bool, bool)) {
    let mut net = Net::with(9, &GRID, |_, config| {
        config.refresh_reduction = reduces.then(RefreshReduction::default);
        reverting(config);
    });
    net.route_all();
    tunnels().into_iter().for_each(|(node, spec)| _ = net.tunnel(node, spec));
    net.run(100);
    let signalling = if is_together { Signalling::Together } else { Signalling::Separate };
    let mut spec = P2mpSpec { signalling, protection: Some(ASKED), ..tree(Vec::new(), 10) };
    let mut wanted: Vec<usize> = Vec::new();
    for turn in turns {
        match *turn {
            Turn::Leaves(some) => {
                spec.leaves = leaves(some, 0);
                set(&mut net, 0, &spec);
                net.run(1_000);
                wanted = (1..9).filter(|node| some >> node & 1 != 0).collect();
                assert_reached(&net, 0, &wanted);
            }
            Turn::Fails { link, ms } => {
                let (a, b) = GRID[link];
                net.link(a, b, false);
                assert_reached(&net, 0, &wanted);
                net.route_all();
                for _ in 0..20 {
                    net.run(ms / 20);
                    assert_reached(&net, 0, &wanted);
                }
                net.link(a, b, true);
                net.route_all();
                // Bypass tunnels that took the link are tried again after 10 s at most.
                for _ in 0..24 {
                    net.run(500);
                    assert_reached(&net, 0, &wanted);
                }
            }
        }
    }
    clean(net);
}

proptest! {
    #![proptest_config(testing::cases(24))]

    #[test]
    fn programmes_end_clean(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..40),
        how in any::<(bool, bool, bool, bool, bool)>(),
    ) {
        programme(seed, &steps, how);
    }

    #[test]
    fn a_protected_tree_loses_and_doubles_nothing(
        turns in prop::collection::vec(turn(), 1..12),
        how in any::<(bool, bool)>(),
    ) {
        protected(&turns, how);
    }
}
