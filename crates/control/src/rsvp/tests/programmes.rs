//! Random programmes of set-ups, teardowns, re-optimisations, link failures, restarts and loss. Then every fault is
//! healed and every tunnel removed, and nothing may be left anywhere.

use super::bus::id;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::Config;
use crate::rsvp::command::{Command, ReservationStyle, TunnelId, TunnelSpec};
use crate::rsvp::transport::RefreshReduction;
use base::Label;
use base::random::Streams;
use base::{Rate, Span};
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;

/// Two squares that share a side: 0 1 2 above, 3 4 5 below.
const LINKS: [(usize, usize); 7] = [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5)];
/// Ways from 0 to 5, and from 3 to 2.
const WAYS: [&[&[usize]]; 4] = [
    &[&[1, 2, 5], &[3, 4, 5]],
    &[&[3, 4, 5], &[1, 4, 5], &[1, 2, 5]],
    &[&[1, 4, 3, 0, 1, 2, 5], &[1, 4, 5]],
    &[&[4, 5]],
];
const BACK: [&[&[usize]]; 2] = [&[&[4, 5, 2], &[0, 1, 2]], &[&[4, 1, 2], &[0, 1, 4, 5, 2]]];

#[derive(Clone, Debug)]
enum Step {
    Set { tunnel: u16, back: bool, way: usize, mbps: u64, setup: u8, fixed: bool, record: bool },
    Remove { tunnel: u16, back: bool },
    Reoptimise { tunnel: u16, back: bool },
    Link { link: usize, up: bool },
    Restart { node: usize },
    Run { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let tunnel = || (1u16..6, any::<bool>());
    prop_oneof![
        6 => (tunnel(), 0usize..4, 0u64..700, 0u8..8, any::<bool>(), any::<bool>()).prop_map(
            |((tunnel, back), way, mbps, setup, fixed, record)| {
                Step::Set { tunnel, back, way, mbps, setup, fixed, record }
            }
        ),
        2 => tunnel().prop_map(|(tunnel, back)| Step::Remove { tunnel, back }),
        2 => tunnel().prop_map(|(tunnel, back)| Step::Reoptimise { tunnel, back }),
        3 => (0usize..7, any::<bool>()).prop_map(|(link, up)| Step::Link { link, up }),
        1 => (0usize..6).prop_map(|node| Step::Restart { node }),
        6 => prop_oneof![0u64..20, 0u64..2_000, 0u64..100_000].prop_map(|ms| Step::Run { ms }),
    ]
}

fn ends(back: bool) -> (usize, usize) {
    if back { (3, 2) } else { (0, 5) }
}

fn apply(net: &mut Net, step: &Step) {
    match *step {
        Step::Set { tunnel, back, way, mbps, setup, fixed, record } => {
            let (from, to) = ends(back);
            let ways = if back { BACK[way % 2] } else { WAYS[way] };
            let style = if fixed { ReservationStyle::FixedFilter } else { ReservationStyle::SharedExplicit };
            let id = if back { tunnel + 100 } else { tunnel };
            let spec = TunnelSpec {
                setup_priority: setup,
                holding_priority: setup / 2,
                style,
                record_route: record,
                record_labels: record,
                retry_limit: None,
                ..spec(id, to, ways, mbps)
            };
            net.tunnel(from, spec);
        }
        Step::Remove { tunnel, back } => {
            let (from, to) = ends(back);
            net.command(from, Command::TunnelRemove(name(tunnel, back, to)));
        }
        Step::Reoptimise { tunnel, back } => {
            let (from, to) = ends(back);
            net.command(from, Command::TunnelReoptimise(name(tunnel, back, to)));
        }
        Step::Link { link, up } => net.link(LINKS[link].0, LINKS[link].1, up),
        Step::Restart { node } => {
            net.tables[node] = Default::default();
            net.change(node, Change::Restart);
        }
        Step::Run { ms } => net.run(ms),
    }
}

fn name(tunnel: u16, back: bool, to: usize) -> TunnelId {
    TunnelId { to: id(to), id: if back { tunnel + 100 } else { tunnel } }
}

/// No link over its capacity, no packet in circles (`trace` sees to that).
fn check(net: &Net) -> Result<(), TestCaseError> {
    for node in &net.nodes {
        for link in node.links() {
            let reserved: u64 = link.reserved.iter().map(|rate| rate.0).sum();
            prop_assert!(reserved <= link.reservable.0, "{link:?}");
        }
        // What is counted on the links is what the LSPs hold: never more than their sum.
        let held: u64 = node.links().flat_map(|l| l.reserved).map(|rate| rate.0).sum();
        let asked: u64 = node.lsps().filter(|lsp| lsp.next_hop.is_some()).map(|lsp| lsp.reserved.0).sum();
        prop_assert!(held <= asked, "{held} held, {asked} asked for");
    }
    for tunnel in 1..6 {
        let _ = (net.trace(0, tunnel), net.trace(3, tunnel + 100));
    }
    Ok(())
}

fn programme(
    steps: &[Step],
    reduced: bool,
    loss: u32,
    last_label: u32,
    adapt: impl Fn(&mut Config),
) -> Result<(), TestCaseError> {
    let mut net = Net::with(6, &LINKS, |_, config| {
        adapt(config);
        if reduced {
            let config_of = RefreshReduction { assume_capable: true, ..RefreshReduction::default() };
            config.refresh_reduction = Some(config_of);
        }
    });
    (0..6).for_each(|node| net.labels(node, 16, last_label));
    if loss > 0 {
        let mut random = Streams::new(u64::from(loss)).stream("loss");
        net.lose = Some(Box::new(move |_, _| random.next_u32() % 100 < loss));
    }
    for step in steps {
        apply(&mut net, step);
        check(&net)?;
    }
    // Every fault is healed: what can be up comes up, and delivers.
    net.lose = None;
    for link in LINKS {
        net.link(link.0, link.1, true);
    }
    net.run(400_000);
    check(&net)?;
    for (from, to, first) in [(0, 5, 0), (3, 2, 100)] {
        let up: Vec<u16> =
            net.nodes[from].tunnels().filter(|t| t.active.is_some()).map(|t| t.id.id).collect();
        for id in up.into_iter().filter(|id| (first..first + 100).contains(id)) {
            let path = net.trace(from, id);
            prop_assert_eq!(
                path.as_ref().and_then(|p| p.last().copied()),
                Some(to),
                "tunnel {}: {:?}",
                id,
                path
            );
        }
    }
    for back in [false, true] {
        let (from, to) = ends(back);
        for tunnel in 1..6 {
            net.command(from, Command::TunnelRemove(name(tunnel, back, to)));
        }
    }
    // Teardown is explicit; what a restart or a loss left behind times out.
    net.run(400_000);
    for (n, node) in net.nodes.iter().enumerate() {
        let audit = node.audit();
        prop_assert!(audit.is_empty(), "node {}: {:?} {:?}", n, audit, node.lsps().collect::<Vec<_>>());
        prop_assert!(
            net.tables[n].ilm.is_empty() && net.tables[n].ftn.is_empty(),
            "node {}: {:?}",
            n,
            net.tables[n]
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 5_000, ..testing::cases(1_000) })]

    #[test]
    fn nothing_is_left(steps in proptest::collection::vec(step(), 1..40), reduced in any::<bool>(), loss in prop_oneof![Just(0u32), 1u32..40]) {
        programme(&steps, reduced, loss, Label::MAX.value(), |_| {})?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 5_000, ..testing::cases(200) })]

    /// Labels, links and state blocks that run out.
    #[test]
    fn nothing_is_left_where_everything_is_scarce(steps in proptest::collection::vec(step(), 1..40), reduced in any::<bool>()) {
        programme(&steps, reduced, 0, 18, |config| {
            config.limits.lsps = 6;
            config.limits.lsps_per_session = 2;
            config.linger = Span::from_ms(50);
            config.interfaces.iter_mut().for_each(|interface| interface.reservable = Rate::from_mbps(800));
        })?;
    }
}
