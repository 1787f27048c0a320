//! Trees that are led around a router by several bypass tunnels, to one router behind it each (RFC 4875, 15.1.2).

use super::super::bus::spec;
use super::*;
use crate::protocol::Change;
use crate::rsvp::command::{TunnelId, TunnelSpec};
use crate::rsvp::outbox::ipv4;
use crate::rsvp::{Bypass, Config, ProtectionConfig, ProtectionRequest};
use base::PortId;
use base::plane::NextHop;
use proptest::prelude::*;
use std::collections::BTreeSet;
use wire::rsvp::error_code::{NOTIFY, ROUTING, notify};
use wire::rsvp::{Message, SenderTemplate, SubLsp};

/// 0 is the root, 1 repairs, and 2 fails. 3 and 4 lie behind 2; 5 leads around 2 to both, 10 to 4. 6 and 9 are
/// leaves behind 3, 7 one behind 4, and 8 one of 1.
const LINKS: [(usize, usize); 14] = [
    (0, 1),
    (1, 2),
    (2, 3),
    (2, 4),
    (1, 5),
    (5, 3),
    (5, 4),
    (3, 6),
    (3, 9),
    (4, 7),
    (1, 8),
    (1, 10),
    (10, 4),
    (5, 10),
];

/// The port of 1 to 2.
const PORT: PortId = PortId(1);

const ALL: [&[usize]; 5] = [&[1, 2, 3, 6], &[1, 2, 3, 9], &[1, 2, 4, 7], &[1, 2, 4], &[1, 8]];

fn on(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, if LINKS[link].0 == node { 1 } else { 2 })
}

fn bypass(tunnel_id: u16, route: &[usize]) -> TunnelSpec {
    let to = *route.last().expect("a merge point");
    let ends =
        (0..LINKS.len()).filter(|n| LINKS[*n].0 == to || LINKS[*n].1 == to).map(|n| on(n, to)).collect();
    TunnelSpec {
        routes: vec![hops(route)],
        carries: Vec::new(),
        bypass: Some(Box::new(Bypass { link: on(1, 1), merge_point: ends, node: true })),
        retry_limit: None,
        ..spec(tunnel_id, to, &[], 0)
    }
}

type Way = (u16, &'static [usize]);

const TO_3: Way = (9, &[5, 3]);
const TO_4: Way = (10, &[5, 4]);
const TO_4_BY_10: Way = (11, &[10, 4]);
/// Another way by the same port.
const TO_4_BY_5_AND_10: Way = (12, &[5, 10, 4]);

fn asking(leaves: &[&[usize]]) -> P2mpSpec {
    let protection = Some(ProtectionRequest { node: true, bandwidth: false, one_to_one: false });
    let (retry_first, retry_max) = (Span::from_secs(3600), Span::from_secs(3600));
    P2mpSpec {
        protection,
        retry_first,
        retry_max,
        ..tree(leaves.iter().map(|route| leaf(route)).collect(), 1)
    }
}

fn ends(leaves: &[&[usize]]) -> Vec<usize> {
    leaves.iter().map(|route| *route.last().expect("a leaf")).collect()
}

fn net(bypasses: &[Way]) -> Net {
    let mut net = Net::with(11, &LINKS, |_, config: &mut Config| {
        config.protection = ProtectionConfig { automatic: false, reversion: Some(Span::from_secs(5)) };
    });
    net.route_all();
    for &(id, route) in bypasses {
        net.tunnel(1, bypass(id, route));
    }
    net.run(100);
    net
}

fn clean(mut net: Net) {
    net.command(0, Command::P2mpRemove(ID));
    net.run(2_000);
    for (id, route) in [TO_3, TO_4, TO_4_BY_10, TO_4_BY_5_AND_10] {
        let to = super::id(*route.last().expect("a merge point"));
        net.command(1, Command::TunnelRemove(TunnelId { to, id }));
    }
    net.run(400_000);
    net.assert_clean();
}

fn fail(net: &mut Net) {
    for other in [1, 3, 4] {
        net.link(2, other, false);
    }
    net.tables[2] = Default::default();
    net.change(2, Change::Restart);
}

fn heal(net: &mut Net) {
    for other in [1, 3, 4] {
        net.link(2, other, true);
    }
    net.route_all();
}

/// The ports and copies of packets of the tree at the router that repairs, by labels put on.
fn labels_at_1(net: &Net) -> Vec<(PortId, usize)> {
    let fec = net.nodes[0].p2mp_fec(7, 1).expect("an LSP");
    let legs = net.nodes[1].fec_mapping(&fec).expect("what is bound").legs;
    legs.iter().map(|leg| (leg.port, leg.labels.as_slice().len())).collect()
}

/// Entries that stand by at the router that repairs.
fn standing_by(net: &Net) -> usize {
    let all = net.tables[1].lists.values().flat_map(|branches| branches.iter());
    all.filter(|branch| matches!(branch.next_hop, NextHop::Standby(_))).count()
}

#[test]
fn a_router_behind_which_the_tree_branches_is_led_around_by_several() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = net(&[TO_3, TO_4]);
        set(&mut net, 0, &P2mpSpec { signalling, ..asking(&ALL) });
        net.run(40_000);
        assert_reached(&net, 0, &ends(&ALL));
        assert_eq!((net.tables[1].groups.len(), standing_by(&net)), (2, 1));
        assert_eq!(labels_at_1(&net), [(PORT, 1), (PortId(3), 1)], "what stands by carries nothing");
        // Before a message has gone anywhere, by the one write of the port.
        let lists = net.tables[1].lists.clone();
        net.log.clear();
        fail(&mut net);
        assert_reached(&net, 0, &ends(&ALL));
        let after = core::mem::replace(&mut net.tables[1].lists, lists);
        assert_reached(&net, 0, &ends(&ALL));
        net.tables[1].lists = after;
        net.route_all();
        for _ in 0..100 {
            net.run(5_000);
            assert_reached(&net, 0, &ends(&ALL));
        }
        assert_eq!(standing_by(&net), 0);
        assert_eq!(labels_at_1(&net), [(PortId(2), 2), (PortId(2), 2), (PortId(3), 1)]);
        // Each merge point is told of the leaves behind it, and of no others.
        let behind: [BTreeSet<Ipv4Addr>; 2] = [[id(6), id(9)].into(), [id(4), id(7)].into()];
        let mut told = BTreeSet::new();
        for sent in net.log.iter().filter(|sent| sent.from == 1) {
            let Message::Path(path) = &sent.message else { continue };
            let SenderTemplate::P2mpLspTunnelIpv4 { sender, .. } = path.sender_template else { continue };
            let leaf = |listed: SubLsp| ipv4(listed.leaf).expect("IPv4");
            let leaves = path.common.sub_lsps().expect("leaves").into_iter().map(leaf);
            let leaves: BTreeSet<Ipv4Addr> = leaves.filter(|_| sender != id(0)).collect();
            assert!(behind.iter().any(|behind| leaves.is_subset(behind)), "{leaves:?}");
            told.extend(leaves);
        }
        assert_eq!(told, behind.into_iter().flatten().collect());
        // The root is told of each leaf once.
        let mut heard: Vec<Ipv4Addr> = Vec::new();
        for (leaf, node, code, value) in errors(&net) {
            assert_eq!((node, code, value), (id(1), NOTIFY, notify::LOCALLY_REPAIRED));
            heard.push(leaf);
        }
        heard.sort_unstable();
        assert_eq!(heard, [id(4), id(6), id(7), id(9)]);
        // And back.
        heal(&mut net);
        for _ in 0..100 {
            net.run(500);
            assert_reached(&net, 0, &ends(&ALL));
        }
        assert!(!net.nodes[1].p2mp_is_diverted_from(PORT));
        assert_eq!(standing_by(&net), 1);
        clean(net);
    }
}

#[test]
fn without_a_bypass_for_each_router_behind_it_there_is_none() {
    let mut net = net(&[TO_3]);
    set(&mut net, 0, &asking(&ALL));
    net.run(40_000);
    assert_eq!((net.tables[1].groups.len(), standing_by(&net)), (0, 0));
    // The other one comes; then leaves behind 4 go, and one is enough.
    net.tunnel(1, bypass(TO_4.0, TO_4.1));
    net.run(1_000);
    assert_eq!((net.tables[1].groups.len(), standing_by(&net)), (2, 1));
    set(&mut net, 0, &asking(&ALL[..2]));
    net.run(1_000);
    assert_eq!((net.tables[1].groups.len(), standing_by(&net)), (1, 0));
    assert_reached(&net, 0, &[6, 9]);
    set(&mut net, 0, &asking(&ALL));
    net.run(1_000);
    assert_eq!((net.tables[1].groups.len(), standing_by(&net)), (2, 1));
    clean(net);
}

#[test]
fn leaves_that_are_pruned_meanwhile_are_gone_behind_their_merge_point() {
    let mut net = net(&[TO_3, TO_4]);
    set(&mut net, 0, &asking(&ALL));
    net.run(2_000);
    fail(&mut net);
    net.route_all();
    net.run(5_000);
    set(&mut net, 0, &asking(&[ALL[0], ALL[4]]));
    net.run(5_000);
    assert_reached(&net, 0, &[6, 8]);
    assert!([4, 7, 9].into_iter().all(|node| net.nodes[node].audit().p2mp == [0; 4]));
    net.run(400_000);
    assert_reached(&net, 0, &[6, 8]);
    heal(&mut net);
    net.run(60_000);
    assert_reached(&net, 0, &[6, 8]);
    clean(net);
}

#[test]
fn a_bypass_that_fails_in_use_gives_way_to_another_to_its_merge_point() {
    // By another port, and by the same, where the merge point sees no other sender; and there and back.
    for (other, leaves) in
        [(TO_4_BY_10, &ALL[..]), (TO_4_BY_5_AND_10, &ALL[..]), (TO_4_BY_5_AND_10, &ALL[2..3])]
    {
        let mut net = net(&[TO_3, TO_4, other]);
        set(&mut net, 0, &asking(leaves));
        net.run(2_000);
        fail(&mut net);
        net.route_all();
        net.run(5_000);
        for up in [false, true] {
            net.link(5, 4, up);
            net.route_all();
            // The bypass that is back is tried again.
            net.run(60_000);
            net.link(10, 4, !up);
            net.route_all();
            net.run(400_000);
            assert_reached(&net, 0, &ends(leaves));
            net.link(10, 4, true);
            net.route_all();
            net.run(60_000);
        }
        heal(&mut net);
        net.run(60_000);
        assert_reached(&net, 0, &ends(leaves));
        clean(net);
    }
}

#[test]
fn leaves_of_a_merge_point_that_is_out_of_reach_are_lost_alone() {
    for is_told in [true, false] {
        let mut net = net(&[TO_3, TO_4]);
        set(&mut net, 0, &asking(&ALL));
        net.run(2_000);
        fail(&mut net);
        net.route_all();
        net.run(5_000);
        if is_told {
            net.command(1, Command::TunnelRemove(TunnelId { to: id(4), id: TO_4.0 }));
        } else {
            // The merge point is silent: what it had is not refreshed.
            net.lose = Some(Box::new(|from, _| from == 4));
        }
        net.run(if is_told { 1_000 } else { 400_000 });
        let (out, _) = net.copies(0, destination());
        assert_eq!(out, BTreeMap::from([(6, 1), (8, 1), (9, 1)]), "{is_told}");
        let lost = errors(&net).into_iter().filter(|error| error.2 == ROUTING).map(|error| error.0);
        let lost: BTreeSet<Ipv4Addr> = lost.collect();
        assert!(!is_told || lost == [id(4), id(7)].into(), "{lost:?}");
        net.lose = None;
        clean(net);
    }
}

#[derive(Clone, Debug)]
enum Turn {
    Leaves(u8),
    /// The router fails, or the link to it; for so long.
    Fails {
        router: bool,
        ms: u64,
    },
}

fn turn() -> impl Strategy<Value = Turn> {
    let how_long = prop_oneof![0u64..50, 0u64..8_000, 0u64..300_000];
    prop_oneof![
        (0u8..32).prop_map(Turn::Leaves),
        (any::<bool>(), how_long).prop_map(|(router, ms)| Turn::Fails { router, ms }),
    ]
}

/// Each leaf gets each packet once at any time, whether the link or the router behind it fails.
fn programme(turns: &[Turn], is_together: bool) {
    let mut net = net(&[TO_3, TO_4]);
    let signalling = if is_together { Signalling::Together } else { Signalling::Separate };
    let mut wanted: Vec<usize> = Vec::new();
    for turn in turns {
        match *turn {
            Turn::Leaves(some) => {
                let leaves = (0..ALL.len()).filter(|place| some >> place & 1 != 0).map(|place| ALL[place]);
                let leaves: Vec<&[usize]> = leaves.collect();
                set(&mut net, 0, &P2mpSpec { signalling, ..asking(&leaves) });
                net.run(1_000);
                wanted = ends(&leaves);
                assert_reached(&net, 0, &wanted);
            }
            Turn::Fails { router, ms } => {
                if router {
                    fail(&mut net);
                } else {
                    net.link(1, 2, false);
                }
                assert_reached(&net, 0, &wanted);
                net.route_all();
                for _ in 0..20 {
                    net.run(ms / 20);
                    assert_reached(&net, 0, &wanted);
                }
                heal(&mut net);
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
    #![proptest_config(testing::cases(16))]

    #[test]
    fn nothing_is_lost_or_doubled(turns in prop::collection::vec(turn(), 1..8), is_together in any::<bool>()) {
        programme(&turns, is_together);
    }
}
