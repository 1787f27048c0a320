//! Random programmes with detours: tunnels that come and go, links that fail and are repaired, routers that restart,
//! messages that are lost. After all is healed and removed, nothing may be left anywhere.

use super::bus::id;
use super::detours::{LADDER, asking};
use super::fuzz::{forge, forgery};
use super::te::know_links;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::ProtectionRequest;
use crate::rsvp::command::{Command, ReservationStyle, TunnelId, TunnelSpec};
use crate::rsvp::transport::RefreshReduction;
use base::Span;
use base::random::Streams;
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;
use wire::rsvp::Packet;

/// A ladder of two rows, 0 1 2 3 above and 4 5 6 7 below, and a way around it from 0 to 3 by 8.
const LINKS: [(usize, usize); 12] =
    [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 8), (8, 3)];
/// Ways from 0 to 3, and from 4 to 7.
const WAYS: [&[&[usize]]; 3] = [&[&[1, 2, 3], &[4, 5, 6, 7, 3]], &[&[1, 5, 6, 2, 3]], &[&[8, 3], &[1, 2, 3]]];
const BACK: [&[&[usize]]; 2] = [&[&[5, 6, 7]], &[&[0, 1, 2, 3, 7], &[5, 6, 7]]];

#[derive(Clone, Debug)]
enum Step {
    Set { tunnel: u16, back: bool, way: usize, mbps: u64, node: bool, bandwidth: bool, fixed: bool },
    Remove { tunnel: u16, back: bool },
    Reoptimise { tunnel: u16, back: bool },
    Link { link: usize, up: bool },
    Restart { node: usize },
    Run { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let tunnel = || (1u16..5, any::<bool>());
    let wants = || (any::<bool>(), any::<bool>(), proptest::bool::weighted(0.2));
    prop_oneof![
        6 => (tunnel(), 0usize..3, 0u64..500, wants()).prop_map(
            |((tunnel, back), way, mbps, (node, bandwidth, fixed))| {
                Step::Set { tunnel, back, way, mbps, node, bandwidth, fixed }
            }
        ),
        2 => tunnel().prop_map(|(tunnel, back)| Step::Remove { tunnel, back }),
        1 => tunnel().prop_map(|(tunnel, back)| Step::Reoptimise { tunnel, back }),
        5 => (0usize..12, any::<bool>()).prop_map(|(link, up)| Step::Link { link, up }),
        1 => (0usize..9).prop_map(|node| Step::Restart { node }),
        6 => prop_oneof![0u64..20, 0u64..2_000, 0u64..100_000].prop_map(|ms| Step::Run { ms }),
    ]
}

fn ends(back: bool) -> (usize, usize) {
    if back { (4, 7) } else { (0, 3) }
}

fn name(tunnel: u16, back: bool) -> TunnelId {
    TunnelId { to: id(ends(back).1), id: if back { tunnel + 100 } else { tunnel } }
}

fn apply(net: &mut Net, step: &Step) {
    match *step {
        Step::Set { tunnel, back, way, mbps, node, bandwidth, fixed } => {
            let (from, to) = ends(back);
            let ways = if back { BACK[way % 2] } else { WAYS[way] };
            let style = if fixed { ReservationStyle::FixedFilter } else { ReservationStyle::SharedExplicit };
            let protection = Some(ProtectionRequest { node, bandwidth, one_to_one: true });
            let number = name(tunnel, back).id;
            let asked = TunnelSpec { style, protection, retry_limit: None, ..spec(number, to, ways, mbps) };
            net.tunnel(from, asked);
        }
        Step::Remove { tunnel, back } => {
            net.command(ends(back).0, Command::TunnelRemove(name(tunnel, back)));
        }
        Step::Reoptimise { tunnel, back } => {
            net.command(ends(back).0, Command::TunnelReoptimise(name(tunnel, back)));
        }
        Step::Link { link, up } => net.link(LINKS[link].0, LINKS[link].1, up),
        Step::Restart { node } => {
            net.tables[node] = Default::default();
            net.change(node, Change::Restart);
            know_links(net, &LINKS);
        }
        Step::Run { ms } => net.run(ms),
    }
}

/// No link over its capacity, and no packet in circles (`trace` sees to that).
fn check(net: &Net) -> Result<(), TestCaseError> {
    for link in net.nodes.iter().flat_map(crate::rsvp::Rsvp::links) {
        let reserved: u64 = link.reserved.iter().map(|rate| rate.0).sum();
        prop_assert!(reserved <= link.reservable.0, "{link:?}");
    }
    for tunnel in 1..5 {
        let _ = (net.trace(0, tunnel), net.trace(4, tunnel + 100));
    }
    Ok(())
}

fn programme(steps: &[Step], reduced: bool, reverts: bool, loss: u32) -> Result<(), TestCaseError> {
    let mut net = Net::with(9, &LINKS, |_, config| {
        config.protection.reversion = reverts.then_some(Span::from_secs(5));
        if reduced {
            let reduction = RefreshReduction { assume_capable: true, ..RefreshReduction::default() };
            config.refresh_reduction = Some(reduction);
        }
    });
    know_links(&mut net, &LINKS);
    if loss > 0 {
        let mut random = Streams::new(u64::from(loss)).stream("loss");
        net.lose = Some(Box::new(move |_, _| random.next_u32() % 100 < loss));
    }
    for step in steps {
        apply(&mut net, step);
        check(&net)?;
    }
    net.lose = None;
    for (a, b) in LINKS {
        net.link(a, b, true);
    }
    net.run(400_000);
    check(&net)?;
    for back in [false, true] {
        let (from, to) = ends(back);
        let up = net.nodes[from].tunnels().filter(|tunnel| tunnel.active.is_some()).map(|t| t.id.id);
        for number in up.filter(|number| (*number > 100) == back).collect::<Vec<_>>() {
            let path = net.trace(from, number);
            prop_assert_eq!(
                path.as_ref().and_then(|p| p.last().copied()),
                Some(to),
                "{}: {:?}",
                number,
                path
            );
        }
        for tunnel in 1..5 {
            net.command(from, Command::TunnelRemove(name(tunnel, back)));
        }
    }
    net.run(400_000);
    for (n, node) in net.nodes.iter().enumerate() {
        let audit = node.audit();
        prop_assert!(audit.is_empty(), "node {}: {:?} {:?}", n, audit, node.lsps().collect::<Vec<_>>());
        prop_assert!(net.tables[n].ilm.is_empty() && net.tables[n].ftn.is_empty(), "node {}", n);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2_000, ..testing::cases(150) })]

    #[test]
    fn nothing_is_left_of_detours(
        steps in proptest::collection::vec(step(), 1..30),
        reduced in any::<bool>(),
        reverts in any::<bool>(),
        loss in prop_oneof![3 => Just(0u32), 1 => 1u32..40],
    ) {
        programme(&steps, reduced, reverts, loss)?;
    }
}

proptest! {
    #![proptest_config(testing::cases(60))]

    /// Neighbours that send what they like where detours are: among it their Paths, which turn up elsewhere.
    #[test]
    fn forged_messages_leave_nothing_of_detours(
        forgeries in proptest::collection::vec((forgery(), 0usize..7, 0usize..4, any::<bool>()), 1..60),
    ) {
        let mut net = Net::with(7, &LADDER, |_, config| {
            config.limits.lsps = 40;
            config.limits.refresh_period_max = Span::from_secs(60);
        });
        know_links(&mut net, &LADDER);
        net.tunnel(0, asking(1, true, true));
        net.tunnel(0, asking(2, false, false));
        net.run(2_000);
        net.honest = false;
        let real: Vec<Vec<u8>> = net.log.iter().filter_map(|sent| {
            let mut bytes = Vec::new();
            Packet::new(255, sent.message.clone()).emit(&mut bytes).ok()?;
            Some(bytes)
        }).collect();
        for (forgery, node, port, is_whole) in &forgeries {
            let whole = &real[forgery.which % real.len()];
            let bytes = if *is_whole { whole.clone() } else { forge(whole, forgery) };
            let ttl = forgery.ttl.unwrap_or_else(|| bytes.get(4).copied().unwrap_or(255));
            let ports = &net.nodes[*node].config().interfaces;
            let interface = ports[port % ports.len()];
            let (port, src) = (interface.port, interface.neighbor.expect("a neighbour"));
            net.inject_bytes(*node, port, src, ttl, &bytes);
            net.run(u64::from(forgery.port) * 50);
            for node in &net.nodes {
                prop_assert!(node.audit().lsps <= 40);
            }
        }
        for tunnel in 1..=2 {
            net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: tunnel }));
        }
        net.run(1_200_000);
        for (n, node) in net.nodes.iter().enumerate() {
            prop_assert!(node.audit().is_empty(), "node {}: {:?} {:?}", n, node.audit(), node.lsps().collect::<Vec<_>>());
            prop_assert!(net.tables[n].ilm.is_empty() && net.tables[n].ftn.is_empty());
        }
    }
}
