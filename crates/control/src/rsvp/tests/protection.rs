//! Fast reroute by bypass tunnels (RFC 4090): chosen, used, told of, given back.

use super::bus::{Sent, hops, id};
use super::reliability::greeting;
use super::te::know_links;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::command::{Command, TunnelId, TunnelSpec, WhenDown};
use crate::rsvp::{Bypass, Config, Event, ProtectionRequest};
use crate::services::{Avoidance, WatchedPath};
use base::{PortId, Rate, Span};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{NOTIFY, notify};
use wire::rsvp::{Message, RroSubobject, SenderTemplate, SessionAttribute, class};

/// Five routers in a row, 0 to 4; 5 leads around the link from 1 to 2, 6 around router 2.
const LADDER: [(usize, usize); 8] = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 2), (1, 6), (6, 3)];

/// The address of a router on a link of the ladder.
pub(super) fn on(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, if LADDER[link].0 == node { 1 } else { 2 })
}

pub(super) fn ladder() -> Net {
    let mut net = Net::new(7, &LADDER);
    net.route_all();
    net
}

/// A tunnel from 0 to 4 along the row that asks for protection.
pub(super) fn asking(tunnel_id: u16, node: bool, bandwidth: bool) -> TunnelSpec {
    let protection = Some(ProtectionRequest { node, bandwidth, one_to_one: false });
    TunnelSpec { protection, retry_limit: None, ..spec(tunnel_id, 4, &[&[1, 2, 3, 4]], 1) }
}

/// A bypass from 1 around the link to 2, or around 2.
pub(super) fn bypass(tunnel_id: u16, node: bool, mbps: u64) -> TunnelSpec {
    let (to, route) = if node { (3, vec![6, 3]) } else { (2, vec![5, 2]) };
    let ends: Vec<Ipv4Addr> =
        (0..LADDER.len()).filter(|n| LADDER[*n].0 == to || LADDER[*n].1 == to).map(|n| on(n, to)).collect();
    TunnelSpec {
        routes: vec![hops(&route)],
        carries: Vec::new(),
        bypass: Some(Box::new(Bypass { link: on(1, 1), merge_point: ends, node })),
        retry_limit: None,
        ..spec(tunnel_id, to, &[], mbps)
    }
}

/// The flags that a router has set in the recorded route that the head end got last.
pub(super) fn flags(net: &Net, link: usize, node: usize) -> Option<u8> {
    let resv = net.log.iter().rev().filter(|sent| sent.from == 1).find_map(|sent| match &sent.message {
        Message::Resv(resv) => resv.flow_descriptors[0].filters[0].rro.clone(),
        _ => None,
    })?;
    resv.iter().find_map(|entry| match *entry {
        RroSubobject::Ipv4 { address, flags, .. } if address == on(link, node) => Some(flags),
        _ => None,
    })
}

pub(super) const AVAILABLE: u8 = RroSubobject::PROTECTION_AVAILABLE;
const IN_USE: u8 = RroSubobject::PROTECTION_IN_USE;
pub(super) const NODE: u8 = RroSubobject::NODE_PROTECTION;
const BANDWIDTH: u8 = RroSubobject::BANDWIDTH_PROTECTION;

#[test]
fn a_head_end_asks_as_rfc_4090_5_says() {
    let mut net = ladder();
    net.tunnel(0, asking(1, true, true));
    net.run(100);
    let path = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 2 => Some(path.clone()),
        _ => None,
    });
    let path = path.expect("a Path that has come to the third router");
    let asked = path.session_attribute.expect("SESSION_ATTRIBUTE").flags;
    let wanted = SessionAttribute::LOCAL_PROTECTION
        | SessionAttribute::LABEL_RECORDING
        | SessionAttribute::NODE_PROTECTION
        | SessionAttribute::BANDWIDTH_PROTECTION
        | SessionAttribute::SE_STYLE;
    assert_eq!(asked, wanted);
    assert!(
        path.common.unknown.iter().any(|object| object.class == class::FAST_REROUTE),
        "stored and sent on"
    );
    // RFC 4090, 6: without a backup the flags are clear.
    assert_eq!(flags(&net, 0, 1), Some(0));
}

#[test]
fn a_link_that_fails_is_led_around_and_the_head_end_is_told() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(0, asking(1, false, false));
    net.run(100);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
    let entry = *net.tables[1]
        .ilm
        .values()
        .find(|n| matches!(n.next_hop, base::plane::NextHop::Group(_)))
        .expect("one");
    net.link(1, 2, false);
    // Before a message has gone anywhere, and with the entries as they were.
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    net.tables[1].ilm.iter_mut().filter(|(_, n)| n.push == entry.push).for_each(|(_, n)| *n = entry);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]), "by the backup of the group");
    net.run(2_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | IN_USE));
    let told = net.events.iter().any(|(node, event)| {
        *node == 0 && matches!(event, Event::LspRepaired { node, .. } if *node == id(1))
    });
    assert!(told);
    let error = net.log.iter().any(|sent| match &sent.message {
        Message::PathErr(error) => {
            (error.error_spec.code, error.error_spec.value) == (NOTIFY, notify::LOCALLY_REPAIRED)
        }
        _ => false,
    });
    assert!(error);
    let diverted = Event::LspsDiverted { bypass: Some("t9".into()), port: PortId(1), lsps: 1 };
    assert!(net.events.contains(&(1, diverted)));
    // The routing protocol has found new ways: the merge point's answers go by them.
    net.route_all();
    // State lives on for as long as the failure lasts: through the bypass it is refreshed.
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    let lost = net.events.iter().filter(|(_, event)| matches!(event, Event::LspDown { .. })).count();
    assert_eq!(lost, 0);
    // The Path that went around: RFC 4090, 6.4.3 and 6.4.4.
    let around = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path)
            if sent.from == 1
                && matches!(path.sender_template, SenderTemplate::LspTunnelIpv4 { sender, .. } if sender == on(4, 1)) =>
        {
            Some(path.clone())
        }
        _ => None,
    });
    let around = around.expect("a Path of the backup");
    assert_eq!(around.hop.address, on(4, 1));
    assert_eq!(around.session_attribute.as_ref().expect("it").flags & SessionAttribute::LOCAL_PROTECTION, 0);
    assert!(around.common.unknown.iter().all(|object| object.class != class::FAST_REROUTE));
    let hops: Vec<_> = around.ero.expect("a route").iter().map(|hop| hop.node.clone()).collect();
    assert_eq!(hops.len(), 3);
    net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: 1 }));
    net.run(400_000);
    net.command(1, Command::TunnelRemove(TunnelId { to: id(2), id: 9 }));
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn a_router_that_fails_is_led_around() {
    let mut net = ladder();
    net.tunnel(1, bypass(8, false, 0));
    net.tunnel(1, bypass(9, true, 10));
    net.run(100);
    net.tunnel(0, asking(1, true, true));
    net.run(100);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE | BANDWIDTH));
    for (a, b) in [(1, 2), (2, 3), (5, 2)] {
        net.link(a, b, false);
    }
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    net.run(1_000);
    net.route_all();
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | IN_USE | NODE | BANDWIDTH));
    assert!(!net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
}

#[test]
fn a_bypass_that_fails_in_use_gives_way_to_another_to_its_merge_point() {
    let links: Vec<(usize, usize)> = LADDER.into_iter().chain([(1, 7), (7, 3)]).collect();
    let mut net = Net::new(8, &links);
    net.route_all();
    net.tunnel(1, bypass(9, true, 0));
    net.tunnel(1, TunnelSpec { routes: vec![hops(&[7, 3])], ..bypass(10, true, 0) });
    net.run(100);
    net.tunnel(0, asking(1, true, false));
    net.run(100);
    net.link(1, 2, false);
    net.link(2, 3, false);
    net.route_all();
    net.run(1_000);
    let first = net.trace(0, 1).expect("a way around");
    let around = first[2];
    assert!([6, 7].contains(&around) && first == [0, 1, around, 3, 4]);
    // The merge point has answered by now, and the recorded route begins there.
    net.run(100_000);
    net.link(1, around, false);
    net.route_all();
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 13 - around, 3, 4]));
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 13 - around, 3, 4]));
    assert!(!net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
}

#[test]
fn a_bypass_serves_as_many_as_it_has_bandwidth_for() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 2));
    net.run(100);
    for tunnel in 1..=3 {
        net.tunnel(0, asking(tunnel, false, true));
        net.run(100);
        let expected = if tunnel == 3 { AVAILABLE } else { AVAILABLE | BANDWIDTH };
        assert_eq!(flags(&net, 0, 1), Some(expected), "tunnel {tunnel}");
    }
    // Who does not ask is promised nothing, since nothing is kept for it.
    net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: 1 }));
    net.run(100_000);
    net.tunnel(0, asking(4, false, false));
    net.run(100);
    assert_eq!(flags(&net, 0, 4), Some(AVAILABLE));
    // One group for all of them.
    assert_eq!(net.tables[1].groups.len(), 1);
}

#[test]
fn a_head_end_moves_its_lsp_and_the_old_one_is_torn_down_on_both_ways() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    let routes = vec![hops(&[1, 2, 3, 4]), hops(&[1, 6, 3, 4])];
    net.tunnel(0, TunnelSpec { routes, ..asking(1, false, false) });
    net.run(100);
    net.link(1, 2, false);
    net.run(200);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    assert!(net.events.iter().any(|(_, event)| matches!(event, Event::LspRerouted { .. })));
    net.run(400_000);
    // Only the LSP that carries traffic is left, and the bypass.
    let lsps: Vec<usize> = net.nodes.iter().map(|node| node.lsps().count()).collect();
    assert_eq!(lsps, [1, 2, 1, 1, 1, 1, 1]);
}

#[test]
fn without_the_head_end_the_link_is_taken_again_when_it_is_back() {
    let mut net = Net::with(7, &LADDER, |_, config| config.protection.reversion = Some(Span::from_secs(5)));
    net.route_all();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(0, TunnelSpec { retry_limit: Some(0), ..asking(1, false, false) });
    net.run(100);
    net.link(1, 2, false);
    net.run(10_000);
    net.link(1, 2, true);
    net.run(4_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]), "it waits for the link to last");
    net.run(2_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
    net.run(500_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
    assert!(!net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
}

/// The ladder, and how router 1 is told that router 2 answers or does not: by BFD, or by link probing.
fn watched(by_bfd: bool) -> (Net, impl Fn(&mut Net, bool)) {
    let net = Net::with(7, &LADDER, |_, config| config.bfd = by_bfd.then(crate::services::Pace::default));
    let probing = base::ProtocolId::new("probing");
    let tell = move |net: &mut Net, is_alive: bool| {
        let (path, port) = (WatchedPath::hop(PortId(1), on(1, 1), on(1, 2)), PortId(1));
        if by_bfd {
            return net.change(1, Change::Liveness { path, is_alive });
        }
        let why = (!is_alive).then_some(Avoidance::Silent);
        net.nodes[1].services.avoided.set(probing, port, why);
        net.change(1, Change::Avoided { port });
    };
    (net, tell)
}

#[test]
fn a_neighbour_that_does_not_answer_takes_one_write() {
    for by_bfd in [true, false] {
        let (mut net, tell) = watched(by_bfd);
        net.route_all();
        net.tunnel(1, bypass(9, false, 0));
        net.run(100);
        for tunnel in 1..=20 {
            net.tunnel(0, asking(tunnel, false, false));
        }
        net.run(100);
        let entries = net.tables[1].clone();
        tell(&mut net, false);
        assert!(net.tables[1].distrusted.contains(&PortId(1)));
        // What that write alone does.
        let written = core::mem::replace(&mut net.tables[1].ilm, entries.ilm);
        net.tables[1].groups = entries.groups;
        for tunnel in 1..=20 {
            assert_eq!(net.trace(0, tunnel), Some(vec![0, 1, 5, 2, 3, 4]));
        }
        net.tables[1].ilm = written;
        net.run(1_000);
        tell(&mut net, true);
        assert!(net.tables[1].distrusted.is_empty());
    }
}

/// A hundred LSPs of the ladder, with a bypass around the link that fails.
fn hundred(setting: impl Fn(usize, &mut Config)) -> Net {
    let mut net = Net::with(7, &LADDER, setting);
    net.route_all();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    for tunnel in 1..=100 {
        net.tunnel(0, asking(tunnel, false, false));
    }
    net.run(200);
    net
}

/// How many LSPs router 1 has said of that they were repaired locally.
fn repaired(net: &Net) -> usize {
    let is_it = |error: &wire::rsvp::PathErr| {
        (error.error_spec.code, error.error_spec.value) == (NOTIFY, notify::LOCALLY_REPAIRED)
    };
    let of = |message: &Message| matches!(message, Message::PathErr(error) if is_it(error));
    net.log.iter().filter(|sent| sent.from == 1 && of(&sent.message)).count()
}

#[test]
fn many_lsps_are_signalled_in_turns() {
    let mut net = hundred(|_, _| ());
    net.link(1, 2, false);
    // Packets of all take the bypass at once.
    let around = Some(vec![0, 1, 5, 2, 3, 4]);
    assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == around));
    assert_eq!(repaired(&net), 32);
    net.run(1);
    assert_eq!(repaired(&net), 40);
    net.run(100);
    assert_eq!(repaired(&net), 100);
    assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == around));
    let told_once = |event: &(usize, Event)| matches!(event, (1, Event::LspsDiverted { lsps: 100, .. }));
    assert!(net.events.iter().any(told_once));
}

/// The neighbour may not know the labels any more, so that no packet is sent there before a Resv has come.
#[test]
fn no_lsp_waits_for_its_turn_once_the_link_is_back() {
    let mut net = hundred(|_, config| config.protection.reversion = Some(Span::from_secs(5)));
    // Head ends would choose the link again.
    net.lose = Some(Box::new(|node, message| node == 1 && matches!(message, Message::PathErr(_))));
    net.link(1, 2, false);
    assert_eq!(repaired(&net), 32);
    net.link(1, 2, true);
    assert_eq!(repaired(&net), 100);
    let around = Some(vec![0, 1, 5, 2, 3, 4]);
    assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == around));
    net.run(4_900);
    assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == around));
    net.run(1_000);
    assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == Some(vec![0, 1, 2, 3, 4])));
}

#[test]
fn backups_are_chosen_anew_in_turns_or_when_they_are_needed() {
    for (ms, having) in [(0, 32), (1, 40), (100, 100)] {
        let mut net = hundred(|_, _| ());
        net.tunnel(1, bypass(10, true, 0));
        net.run(200);
        net.log.clear();
        net.link(1, 5, false);
        net.run(ms);
        // Each tells the head end that it has another backup.
        let told = |sent: &&Sent| sent.from == 1 && matches!(sent.message, Message::Resv(_));
        assert_eq!(net.log.iter().filter(told).count(), having);
        net.link(1, 2, false);
        assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == Some(vec![0, 1, 6, 3, 4])));
        net.run(1_000);
        assert!(!net.events.iter().any(|event| matches!(event, (0, Event::LspDown { .. }))));
    }
}

/// LSPs that wait to be led into a bypass that is gone by then have another one.
#[test]
fn a_bypass_that_goes_while_lsps_wait_for_it_gives_way_to_another() {
    for ms in [0, 1, 5] {
        let mut net = hundred(|_, _| ());
        net.tunnel(1, bypass(10, true, 0));
        net.run(200);
        net.link(1, 2, false);
        net.run(ms);
        net.link(1, 5, false);
        net.run(100);
        assert!((1..=100).all(|tunnel| net.trace(0, tunnel) == Some(vec![0, 1, 6, 3, 4])), "{ms} ms");
        net.run(1_000);
        assert!(!net.events.iter().any(|event| matches!(event, (0, Event::LspDown { .. }))));
    }
}

/// Nothing else leads packets around a neighbour whose Hellos stay away: each LSP has its entries written at once.
#[test]
fn no_lsp_has_to_wait_where_its_own_entries_lead_it_around() {
    let mut net = hundred(greeting);
    net.run(1_000);
    net.lose = Some(Box::new(|node, message| node == 2 && matches!(message, Message::Hello(_))));
    let is_down = |event: &(usize, Event)| matches!(event, (1, Event::NeighborDown { .. }));
    for _ in 0..1_000 {
        if net.events.iter().any(is_down) {
            break;
        }
        net.run(1);
    }
    assert!(net.events.iter().any(is_down));
    assert_eq!(repaired(&net), 100);
}

/// A link that is avoided because labels are missing there carries packets: LSPs stay on it.
#[test]
fn a_link_that_is_avoided_and_heard_is_trusted() {
    let (mut net, tell) = watched(false);
    net.route_all();
    net.tunnel(1, bypass(9, false, 0));
    net.tunnel(0, asking(1, false, false));
    net.run(200);
    let why = Some(Avoidance::Unready);
    net.nodes[1].services.avoided.set(base::ProtocolId::new("ldp"), PortId(1), why);
    net.change(1, Change::Avoided { port: PortId(1) });
    assert!(net.tables[1].distrusted.is_empty());
    tell(&mut net, false);
    assert!(net.tables[1].distrusted.contains(&PortId(1)));
}

/// What BFD has found dead is not trusted because probes come again, and the other way round.
#[test]
fn a_link_is_trusted_when_both_watches_hear_it() {
    for first in [true, false] {
        let (mut net, by_bfd) = watched(true);
        let (_, by_probes) = watched(false);
        net.route_all();
        net.tunnel(1, bypass(9, false, 0));
        net.tunnel(0, asking(1, false, false));
        net.run(200);
        by_bfd(&mut net, false);
        by_probes(&mut net, false);
        let tell = |net: &mut Net, bfd: bool| if bfd { by_bfd(net, true) } else { by_probes(net, true) };
        tell(&mut net, first);
        assert!(net.tables[1].distrusted.contains(&PortId(1)));
        tell(&mut net, !first);
        assert!(net.tables[1].distrusted.is_empty());
    }
}

#[test]
fn no_new_lsp_is_sent_to_a_neighbour_that_is_not_heard() {
    for by_bfd in [true, false] {
        let (mut net, tell) = watched(by_bfd);
        tell(&mut net, false);
        net.tunnel(0, asking(1, false, false));
        net.run(10);
        let refused = |(node, event): &(usize, Event)| *node == 0 && matches!(event, Event::LspError { .. });
        assert!(net.events.iter().any(refused), "{:?}", net.events);
        tell(&mut net, true);
        net.run(20_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
    }
}

#[test]
fn whoever_does_not_ask_is_given_up_as_before() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(
        0,
        TunnelSpec { when_down: WhenDown::Route, bandwidth: Rate(0), ..spec(1, 4, &[&[1, 2, 3, 4]], 1) },
    );
    net.run(100);
    net.link(1, 2, false);
    net.run(1_000);
    assert_eq!(net.trace(0, 1), None);
    assert!(net.tables[1].groups.is_empty());
}

#[test]
fn the_flags_are_clear_while_the_bypass_is_down() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(0, asking(1, false, false));
    net.run(100);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
    net.link(1, 5, false);
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(0));
    net.link(1, 5, true);
    net.run(60_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
}

#[test]
fn a_head_end_repairs_its_own_lsp_under_another_address() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    let own = TunnelSpec { routes: vec![hops(&[2, 3, 4])], ..asking(1, false, false) };
    net.tunnel(1, own);
    net.run(100);
    net.link(1, 2, false);
    assert_eq!(net.trace(1, 1), Some(vec![1, 5, 2, 3, 4]));
    net.run(1_000);
    net.route_all();
    net.run(500_000);
    assert_eq!(net.trace(1, 1), Some(vec![1, 5, 2, 3, 4]));
    let senders = net.log.iter().filter(|sent| sent.from == 1).filter_map(|sent| match &sent.message {
        Message::Path(path) => match path.sender_template {
            SenderTemplate::LspTunnelIpv4 { sender, .. } if sender != id(1) => Some(sender),
            _ => None,
        },
        _ => None,
    });
    assert!(senders.into_iter().any(|sender| sender == on(4, 1)));
}

#[test]
fn a_reservation_that_ends_below_the_merge_point_ends_at_the_ingress() {
    let mut net = ladder();
    net.tunnel(1, bypass(9, false, 0));
    net.run(100);
    net.tunnel(0, TunnelSpec { retry_limit: Some(0), ..asking(1, false, false) });
    net.run(100);
    net.link(1, 2, false);
    net.route_all();
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    net.link(3, 4, false);
    net.run(1_000);
    assert!(net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
    net.run(400_000);
    let lsps: Vec<usize> = net.nodes.iter().map(|node| node.lsps().count()).collect();
    assert_eq!(lsps, [0, 1, 1, 0, 0, 1, 0], "the bypass is left");
}

#[test]
fn state_that_nobody_refreshes_around_a_failure_goes_in_its_time() {
    let mut net = ladder();
    let tunnel = net.tunnel(0, TunnelSpec { retry_limit: Some(0), ..asking(1, false, false) });
    net.run(100);
    net.link(1, 2, false);
    net.run(1_000);
    // RFC 4090, 7.2: the routers below wait for a repair that does not come; nothing is torn down there.
    let lsps = |net: &Net| net.nodes.iter().map(|node| node.lsps().count()).collect::<Vec<_>>();
    assert_eq!(lsps(&net)[2..5], [1, 1, 1]);
    net.run(400_000);
    assert_eq!(lsps(&net)[2..5], [0, 0, 0]);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn bypass_tunnels_are_made_for_who_asks_and_go_with_the_last() {
    let mut net = Net::with(7, &LADDER, |_, config| config.protection.automatic = true);
    net.route_all();
    know_links(&mut net, &LADDER);
    let tunnel = net.tunnel(0, asking(1, true, true));
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE | BANDWIDTH));
    // RFC 4090, 6.2: it ends at the merge point, and touches neither what fails nor more than it must.
    let made: Vec<String> = net.nodes[1].tunnels().map(|tunnel| tunnel.name).collect();
    assert_eq!(made, [format!("bypass-node-{}-{}", on(1, 1), id(3))]);
    net.link(1, 2, false);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    net.link(1, 2, true);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(500_000);
    net.assert_clean();
}
