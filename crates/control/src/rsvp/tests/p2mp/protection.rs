//! Fast reroute of trees by bypass tunnels (RFC 4875, 15.1): link and router, what is signalled, both ways back.

use super::super::bus::spec;
use super::*;
use crate::rsvp::command::{TunnelId, TunnelSpec};
use crate::rsvp::{Bypass, ProtectionRequest};
use crate::rsvp::{Config, ProtectionConfig};
use base::PortId;
use core::net::IpAddr;
use wire::rsvp::error_code::{NOTIFY, ROUTING, notify};
use wire::rsvp::{Message, RroSubobject, SenderTemplate, SessionAttribute, class};

/// 0 is the root. 6 leads around the link from 1 to 2, and 7 around router 2 to 3. 3 and 4 lie behind 2, 8 and 9 behind
/// 3; 5 is a leaf of 1.
const LADDER: [(usize, usize); 11] =
    [(0, 1), (1, 2), (2, 3), (2, 4), (1, 5), (1, 6), (6, 2), (1, 7), (7, 3), (3, 8), (3, 9)];

fn on(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, if LADDER[link].0 == node { 1 } else { 2 })
}

fn reverting(_: usize, config: &mut Config) {
    config.protection = ProtectionConfig { automatic: false, reversion: Some(Span::from_secs(5)) };
}

fn ladder(adapt: impl Fn(usize, &mut Config)) -> Net {
    let mut net = Net::with(10, &LADDER, adapt);
    net.route_all();
    net
}

/// A bypass from 1 around the link to 2, or around 2.
fn bypass(tunnel_id: u16, node: bool) -> TunnelSpec {
    let (to, route) = if node { (3, vec![7, 3]) } else { (2, vec![6, 2]) };
    let ends: Vec<Ipv4Addr> =
        (0..LADDER.len()).filter(|n| LADDER[*n].0 == to || LADDER[*n].1 == to).map(|n| on(n, to)).collect();
    TunnelSpec {
        routes: vec![hops(&route)],
        carries: Vec::new(),
        bypass: Some(Box::new(Bypass { link: on(1, 1), merge_point: ends, node })),
        retry_limit: None,
        ..spec(tunnel_id, to, &[], 0)
    }
}

fn asking(leaves: &[&[usize]], node: bool) -> P2mpSpec {
    let protection = Some(ProtectionRequest { node, bandwidth: false, one_to_one: false });
    P2mpSpec { protection, ..tree(leaves.iter().map(|route| leaf(route)).collect(), 1) }
}

/// Leaves of a tree that branches before, at, and behind the link that is protected.
const WIDE: [&[usize]; 4] = [&[1, 2, 3, 8], &[1, 2, 3, 9], &[1, 2, 4], &[1, 5]];
/// Leaves behind 2 that all come through 3.
const NARROW: [&[usize]; 3] = [&[1, 2, 3, 8], &[1, 2, 3, 9], &[1, 5]];

fn ends(leaves: &[&[usize]]) -> Vec<usize> {
    leaves.iter().map(|route| *route.last().expect("a leaf")).collect()
}

/// Paths that were sent under another sender than the root: by whom, with its sub-group's leaves.
fn around(net: &Net) -> Vec<(usize, Ipv4Addr)> {
    let sender = |sent: &super::super::bus::Sent| match &sent.message {
        Message::Path(path) => match path.sender_template {
            SenderTemplate::P2mpLspTunnelIpv4 { sender, .. } if sender != id(0) => Some((sent.from, sender)),
            _ => None,
        },
        _ => None,
    };
    net.log.iter().filter_map(sender).collect()
}

/// Flags of router 1 in the recorded routes to leaves that the root got last, by leaf.
fn flags(net: &Net) -> BTreeMap<Ipv4Addr, u8> {
    let mut last = BTreeMap::new();
    for sent in net.log.iter().filter(|sent| sent.from == 1) {
        let Message::Resv(resv) = &sent.message else { continue };
        let leaves = resv.common.sub_lsps().expect("leaves");
        let first = resv.flow_descriptors[0].filters[0].rro.clone();
        for (at, leaf) in leaves.into_iter().enumerate() {
            let route = if at == 0 { first.clone() } else { leaf.recorded_route };
            let own = route.into_iter().flatten().find_map(|entry| match entry {
                RroSubobject::Ipv4 { address, flags, .. } if address == on(0, 1) => Some(flags),
                _ => None,
            });
            if let (IpAddr::V4(leaf), Some(own)) = (leaf.leaf, own) {
                last.insert(leaf, own);
            }
        }
    }
    last
}

/// The same flags for these leaves, and none for those that are not among them.
fn assert_flags(net: &Net, flagged: &[usize], wanted: u8) {
    for (leaf, flags) in flags(net) {
        let is_flagged = flagged.iter().any(|node| id(*node) == leaf);
        assert_eq!(flags, if is_flagged { wanted } else { 0 }, "{leaf}");
    }
}

const AVAILABLE: u8 = RroSubobject::PROTECTION_AVAILABLE;
const IN_USE: u8 = RroSubobject::PROTECTION_IN_USE;
const NODE: u8 = RroSubobject::NODE_PROTECTION;

fn clean(mut net: Net) {
    net.command(0, Command::P2mpRemove(ID));
    net.run(2_000);
    for (tunnel_id, to) in [(9, 2), (10, 3)] {
        net.command(1, Command::TunnelRemove(TunnelId { to: id(to), id: tunnel_id }));
    }
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn a_root_asks_in_every_path() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = ladder(|_, _| {});
        set(&mut net, 0, &P2mpSpec { signalling, ..asking(&WIDE, true) });
        net.run(100);
        let paths = net.log.iter().filter_map(|sent| match &sent.message {
            Message::Path(path) => Some(path.clone()),
            _ => None,
        });
        let paths: Vec<_> = paths.collect();
        assert!(paths.len() >= 4);
        for path in paths {
            let asked = path.session_attribute.expect("SESSION_ATTRIBUTE").flags;
            let wanted = SessionAttribute::LOCAL_PROTECTION
                | SessionAttribute::LABEL_RECORDING
                | SessionAttribute::NODE_PROTECTION
                | SessionAttribute::SE_STYLE;
            assert_eq!(asked, wanted);
            assert!(path.common.unknown.iter().any(|object| object.class == class::FAST_REROUTE));
        }
        assert_flags(&net, &[], 0);
        clean(net);
    }
}

#[test]
fn a_link_that_fails_is_led_around_for_all_leaves_beyond_it() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = ladder(|_, _| {});
        net.tunnel(1, bypass(9, false));
        net.run(100);
        set(&mut net, 0, &P2mpSpec { signalling, ..asking(&WIDE, false) });
        net.run(2_000);
        assert_reached(&net, 0, &ends(&WIDE));
        let groups = net.tables[1].groups.len();
        assert_eq!(groups, 1, "one for all leaves beyond the link");
        // Before a message has gone anywhere, by the backup of the group alone.
        let lists = net.tables[1].lists.clone();
        net.log.clear();
        net.link(1, 2, false);
        assert_reached(&net, 0, &ends(&WIDE));
        let after = core::mem::replace(&mut net.tables[1].lists, lists);
        assert_reached(&net, 0, &ends(&WIDE));
        net.tables[1].lists = after;
        // The routing protocol has found new ways: the merge point's answers go by them.
        net.route_all();
        net.run(3_000);
        assert_reached(&net, 0, &ends(&WIDE));
        let sent = around(&net);
        assert!(!sent.is_empty() && sent.iter().all(|sent| *sent == (1, on(5, 1))), "{sent:?}");
        // Who tests the LSP is told the way that packets take.
        let fec = net.nodes[0].p2mp_fec(7, 1).expect("an LSP");
        let legs = net.nodes[1].fec_mapping(&fec).expect("what is bound").legs;
        let ports: Vec<PortId> = legs.iter().map(|leg| leg.port).collect();
        assert_eq!(ports, [PortId(3), PortId(2)]);
        assert_eq!(legs[0].labels.as_slice().len(), 2);
        // The root is told of all three leaves, and of no other.
        let told: BTreeMap<Ipv4Addr, usize> =
            errors(&net).into_iter().fold(BTreeMap::new(), |mut all, (leaf, node, code, value)| {
                assert_eq!((node, code, value), (id(1), NOTIFY, notify::LOCALLY_REPAIRED));
                *all.entry(leaf).or_default() += 1;
                all
            });
        assert_eq!(told, BTreeMap::from([(id(8), 1), (id(9), 1), (id(4), 1)]));
        // Soft state lives on, however long it takes.
        net.run(1_000_000);
        assert_reached(&net, 0, &ends(&WIDE));
        assert!(!net.events.iter().any(|(_, event)| matches!(event, Event::LeafDown { .. })));
        clean(net);
    }
}

#[test]
fn flags_say_what_protects_each_leaf() {
    let mut net = ladder(reverting);
    net.tunnel(1, bypass(9, false));
    net.run(100);
    set(&mut net, 0, &asking(&WIDE, false));
    net.run(40_000);
    assert_flags(&net, &[4, 8, 9], AVAILABLE);
    net.link(1, 2, false);
    net.route_all();
    net.run(100);
    assert_flags(&net, &[4, 8, 9], AVAILABLE | IN_USE);
    net.link(1, 2, true);
    net.run(20_000);
    assert_flags(&net, &[4, 8, 9], AVAILABLE);
    // The bypass goes: what is told of it is told at once.
    net.command(1, Command::TunnelRemove(TunnelId { to: id(2), id: 9 }));
    net.run(100);
    assert_flags(&net, &[], 0);
    clean(net);
}

#[test]
fn a_link_that_is_back_is_taken_again_without_loss() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = ladder(reverting);
        net.tunnel(1, bypass(9, false));
        net.run(100);
        set(&mut net, 0, &P2mpSpec { signalling, ..asking(&WIDE, false) });
        net.run(2_000);
        for _ in 0..3 {
            net.link(1, 2, false);
            net.route_all();
            net.run(60_000);
            assert_reached(&net, 0, &ends(&WIDE));
            net.link(1, 2, true);
            for _ in 0..400 {
                net.run(50);
                assert_reached(&net, 0, &ends(&WIDE));
            }
            // By the link again: the bypass carries nothing.
            assert!(!net.nodes[1].p2mp_is_diverted_from(PortId(1)));
        }
        clean(net);
    }
}

#[test]
fn a_router_that_fails_is_led_around_if_all_leaves_come_through_the_next_one() {
    let mut net = ladder(reverting);
    net.tunnel(1, bypass(9, false));
    net.tunnel(1, bypass(10, true));
    net.run(100);
    set(&mut net, 0, &asking(&NARROW, true));
    net.run(40_000);
    assert_flags(&net, &[8, 9], AVAILABLE | NODE);
    // The router: all of its links, and what it knows.
    for other in [1, 3, 4, 6] {
        net.link(2, other, false);
    }
    net.tables[2] = Default::default();
    net.change(2, crate::protocol::Change::Restart);
    assert_reached(&net, 0, &ends(&NARROW));
    net.route_all();
    for _ in 0..100 {
        net.run(5_000);
        assert_reached(&net, 0, &ends(&NARROW));
    }
    for other in [1, 3, 4, 6] {
        net.link(2, other, true);
    }
    net.route_all();
    for _ in 0..100 {
        net.run(500);
        assert_reached(&net, 0, &ends(&NARROW));
    }
    assert!(!net.nodes[1].p2mp_is_diverted_from(PortId(1)));
    clean(net);
}

#[test]
fn a_bypass_around_a_router_does_not_do_for_leaves_that_come_by_several() {
    let mut net = ladder(|_, _| {});
    net.tunnel(1, bypass(10, true));
    net.run(100);
    set(&mut net, 0, &asking(&NARROW, true));
    net.run(40_000);
    assert_flags(&net, &[8, 9], AVAILABLE | NODE);
    // A leaf behind 2 that does not come through 3 (RFC 4875, 15.1.2: the flag is reset).
    set(&mut net, 0, &asking(&WIDE, true));
    net.run(40_000);
    assert_flags(&net, &[], 0);
    assert!(net.tables[1].groups.is_empty());
    set(&mut net, 0, &asking(&NARROW, true));
    net.run(40_000);
    assert_flags(&net, &[8, 9], AVAILABLE | NODE);
    clean(net);
}

#[test]
fn leaves_that_are_pruned_while_a_link_is_down_are_gone_behind_it() {
    let mut net = ladder(reverting);
    net.tunnel(1, bypass(9, false));
    net.run(100);
    set(&mut net, 0, &asking(&WIDE, false));
    net.run(2_000);
    net.link(1, 2, false);
    net.route_all();
    net.run(5_000);
    set(&mut net, 0, &asking(&WIDE[1..], false));
    net.run(5_000);
    assert_reached(&net, 0, &ends(&WIDE[1..]));
    assert!(net.nodes[8].audit().p2mp == [0; 4], "{:?}", net.nodes[8].audit());
    // All that lies beyond the link.
    set(&mut net, 0, &asking(&WIDE[3..], false));
    net.run(5_000);
    assert_reached(&net, 0, &[5]);
    assert!((2..5).all(|node| net.nodes[node].audit().p2mp == [0; 4]));
    clean(net);
}

#[test]
fn a_leaf_that_is_lost_behind_the_merge_point_is_told_around() {
    let mut net = ladder(|_, _| {});
    net.tunnel(1, bypass(9, false));
    net.run(100);
    set(
        &mut net,
        0,
        &P2mpSpec {
            retry_first: Span::from_secs(3600),
            retry_max: Span::from_secs(3600),
            ..asking(&WIDE, false)
        },
    );
    net.run(2_000);
    net.link(1, 2, false);
    net.route_all();
    net.run(5_000);
    net.link(2, 4, false);
    net.route_all();
    net.run(5_000);
    assert_reached(&net, 0, &[5, 8, 9]);
    assert!(
        errors(&net).iter().any(|(leaf, node, code, _)| (*leaf, *node, *code) == (id(4), id(2), ROUTING))
    );
    clean(net);
}

#[test]
fn a_merge_point_is_told_when_its_last_leaf_is_lost() {
    let mut net = ladder(|_, _| {});
    net.tunnel(1, bypass(9, false));
    net.run(100);
    let hour = Span::from_secs(3600);
    set(&mut net, 0, &P2mpSpec { retry_first: hour, retry_max: hour, ..asking(&WIDE[2..], false) });
    net.run(2_000);
    net.link(1, 2, false);
    net.route_all();
    net.run(5_000);
    net.link(2, 4, false);
    net.route_all();
    net.run(1_000);
    assert_reached(&net, 0, &[5]);
    assert_eq!(net.nodes[2].audit().p2mp, [0; 4]);
    clean(net);
}

#[test]
fn a_second_failure_takes_what_was_led_around_with_it() {
    let mut net = ladder(|_, _| {});
    net.tunnel(1, bypass(9, false));
    net.run(100);
    set(
        &mut net,
        0,
        &P2mpSpec {
            retry_first: Span::from_secs(3600),
            retry_max: Span::from_secs(3600),
            ..asking(&WIDE, false)
        },
    );
    net.run(2_000);
    net.link(1, 2, false);
    net.route_all();
    net.run(5_000);
    net.link(1, 6, false);
    net.route_all();
    net.run(5_000);
    assert_reached(&net, 0, &[5]);
    // Nobody refreshes what lies beyond.
    net.run(400_000);
    assert!((2..5).all(|node| net.nodes[node].audit().p2mp == [0; 4]));
    net.link(1, 6, true);
    net.link(1, 2, true);
    clean(net);
}

/// RFC 4090, 7.1.3: the router that a bypass leads around gives the tree up in the end, and says so to the merge point,
/// whose leaves go on for all that.
#[test]
fn leaves_stay_when_the_router_that_is_passed_by_lets_go() {
    let mut net = ladder(|_, _| {});
    net.tunnel(1, bypass(10, true));
    net.run(100);
    set(&mut net, 0, &asking(&NARROW, true));
    net.run(2_000);
    // The link fails, and the router behind it lives on.
    net.link(1, 2, false);
    net.route_all();
    for _ in 0..8 {
        net.run(60_000);
        assert_reached(&net, 0, &ends(&NARROW));
    }
    assert!(net.tables[2].ilm.is_empty(), "{:?}", net.tables[2].ilm);
    clean(net);
}

/// Branches to two neighbours have the same sub-group, and each has its own around its failure.
#[test]
fn two_links_of_a_branch_are_led_around_each_by_its_own() {
    const FORK: [(usize, usize); 9] =
        [(0, 1), (1, 2), (1, 3), (1, 4), (4, 2), (1, 5), (5, 3), (2, 6), (3, 7)];
    let at =
        |link: usize, node: usize| Ipv4Addr::new(10, 0, link as u8, if FORK[link].0 == node { 1 } else { 2 });
    let leaves: [&[usize]; 2] = [&[1, 2, 6], &[1, 3, 7]];
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = Net::with(8, &FORK, |_, _| {});
        net.route_all();
        for (tunnel_id, link, route) in [(9, 1, [4, 2]), (10, 2, [5, 3])] {
            let to = route[1];
            let merge_point = (0..FORK.len()).filter(|n| FORK[*n].0 == to || FORK[*n].1 == to);
            let merge_point = merge_point.map(|n| at(n, to)).collect();
            let bypass = Bypass { link: at(link, 1), merge_point, node: false };
            let tunnel = TunnelSpec {
                routes: vec![hops(&route)],
                carries: Vec::new(),
                bypass: Some(Box::new(bypass)),
                retry_limit: None,
                ..spec(tunnel_id, to, &[], 0)
            };
            net.tunnel(1, tunnel);
        }
        net.run(100);
        set(&mut net, 0, &P2mpSpec { signalling, ..asking(&leaves, false) });
        net.run(2_000);
        for neighbor in [2, 3] {
            net.link(1, neighbor, false);
            net.route_all();
            net.run(1_000);
            assert_reached(&net, 0, &[6, 7]);
        }
        net.run(400_000);
        assert_reached(&net, 0, &[6, 7]);
        clean(net);
    }
}

/// More leaves than routers may repair an LSP, each in a Path of its own.
#[test]
fn many_leaves_are_led_around_one_by_one() {
    let many: Vec<usize> = (10..90).collect();
    let links: Vec<(usize, usize)> = LADDER.into_iter().chain(many.iter().map(|leaf| (2, *leaf))).collect();
    let mut net = Net::with(90, &links, |_, _| {});
    net.route_all();
    // The merge point has more addresses than the ladder's, and the bypass names those that count.
    net.tunnel(1, bypass(9, false));
    net.run(100);
    let routes: Vec<[usize; 3]> = many.iter().map(|leaf| [1, 2, *leaf]).collect();
    let routes: Vec<&[usize]> = routes.iter().map(|route| &route[..]).collect();
    set(&mut net, 0, &P2mpSpec { signalling: Signalling::Separate, ..asking(&routes, false) });
    net.run(2_000);
    assert_reached(&net, 0, &many);
    net.link(1, 2, false);
    net.route_all();
    net.run(200_000);
    assert_reached(&net, 0, &many);
}
