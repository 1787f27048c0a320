//! One-to-one backup (RFC 4090, 3.1) at the point of local repair: detours set up, taken, told of, given back.

use super::bus::{hops, id};
use super::te::{know_link, know_links};
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::command::{Command, TunnelId, TunnelSpec};
use crate::rsvp::transport::RefreshReduction;
use crate::rsvp::{Event, ProtectionRequest};
use crate::services::WatchedPath;
use base::{PortId, Rate, Span};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{NOTIFY, notify};
use wire::rsvp::{
    Detour, FastReroute, Message, MessageType, Object, Path, RroSubobject, SenderTemplate, SessionAttribute,
    class,
};

/// Five routers in a row, 0 to 4; 5 leads around the link from 1 to 2, 6 around router 2.
pub(super) const LADDER: [(usize, usize); 8] =
    [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 2), (1, 6), (6, 3)];

/// The address of a router on a link of the ladder.
pub(super) fn on(link: usize, node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, if LADDER[link].0 == node { 1 } else { 2 })
}

pub(super) fn ladder() -> Net {
    let mut net = Net::new(7, &LADDER);
    net.route_all();
    know_links(&mut net, &LADDER);
    net
}

/// A tunnel from 0 to 4 along the row that asks for detours.
pub(super) fn asking(tunnel_id: u16, node: bool, bandwidth: bool) -> TunnelSpec {
    let protection = Some(ProtectionRequest { node, bandwidth, one_to_one: true });
    TunnelSpec { protection, retry_limit: None, ..spec(tunnel_id, 4, &[&[1, 2, 3, 4]], 10) }
}

fn remove(net: &mut Net, node: usize, tunnel: u16) {
    net.command(node, Command::TunnelRemove(TunnelId { to: id(4), id: tunnel }));
}

/// The pairs of DETOUR in a Path.
pub(super) fn pairs(path: &Path) -> Option<Vec<(Ipv4Addr, Ipv4Addr)>> {
    path.common.unknown.iter().find_map(|object| match object.read() {
        Object::Detour(Detour::Ipv4(pairs)) => Some(pairs),
        _ => None,
    })
}

/// The last Path of a detour that a node has sent.
pub(super) fn last_detour(net: &Net, node: usize) -> Path {
    let sent = net.log.iter().rev().filter(|sent| sent.from == node);
    let mut paths = sent.filter_map(|sent| match &sent.message {
        Message::Path(path) if pairs(path).is_some() => Some(path.clone()),
        _ => None,
    });
    paths.next().expect("a Path with DETOUR")
}

/// The flags that a router has set in the recorded route that the head end got last.
pub(super) fn flags(net: &Net, link: usize, node: usize) -> Option<u8> {
    let resv = net.log.iter().rev().filter(|sent| sent.from == 1).find_map(|sent| match &sent.message {
        Message::Resv(resv) if resv.hop.address == on(0, 1) => {
            resv.flow_descriptors[0].filters[0].rro.clone()
        }
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
pub(super) const BANDWIDTH: u8 = RroSubobject::BANDWIDTH_PROTECTION;

#[test]
fn a_detour_is_signalled_as_rfc_4090_6_3_says() {
    let mut net = ladder();
    net.tunnel(0, asking(1, true, true));
    net.run(1_000);
    let asked = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 0 => Some(path.clone()),
        _ => None,
    });
    let asked = asked.expect("a Path of the head end");
    let wanted = asked.common.unknown.iter().find_map(|object| match object.read() {
        Object::FastReroute(asked) => Some(asked),
        _ => None,
    });
    let wanted = wanted.expect("FAST_REROUTE");
    assert_eq!(wanted.flags, FastReroute::ONE_TO_ONE);
    assert_eq!(wanted.bandwidth.to_bits(), Rate::from_mbps(10).as_bytes_per_s().to_bits());
    let path = last_detour(&net, 1);
    // 6.1.1: session and LSP id are those of the LSP, the sender is an address of the router.
    let SenderTemplate::LspTunnelIpv4 { sender, lsp_id: 1 } = path.sender_template else {
        panic!("{path:?}")
    };
    assert_eq!((path.session, sender), (asked.session, on(6, 1)));
    assert_eq!(
        pairs(&path),
        Some(vec![(on(6, 1), on(1, 2))]),
        "the address that the next router is known by"
    );
    let attribute = path.session_attribute.as_ref().expect("SESSION_ATTRIBUTE");
    assert_eq!(attribute.flags, SessionAttribute::SE_STYLE | SessionAttribute::LABEL_RECORDING);
    assert!(path.common.unknown.iter().all(|object| object.class != class::FAST_REROUTE));
    assert_eq!(path.sender_tspec.0.rate.to_bits(), wanted.bandwidth.to_bits());
    assert_eq!(path.hop.address, on(6, 1));
    // It goes to router 3, and from there as its LSP does.
    let route: Vec<_> = path.ero.clone().expect("a route").iter().map(|hop| hop.node.clone()).collect();
    let v4 = |address| wire::rsvp::EroSubobject::Ipv4 { address, prefix_length: 32 };
    assert_eq!(route, [v4(on(6, 6)), v4(on(7, 3)), v4(id(4))]);
    // The route is recorded from here on.
    assert_eq!(path.rro.as_ref().map(Vec::len), Some(1));
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE | BANDWIDTH));
    // Where it has come together with its LSP, no Path of it goes on.
    assert_eq!(net.nodes[4].lsps().count(), 1);
    assert_eq!(net.nodes[3].lsps().count(), 1);
    remove(&mut net, 0, 1);
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn a_link_that_fails_takes_one_write_for_each_lsp() {
    let mut net = ladder();
    for tunnel in 1..=20 {
        net.tunnel(0, asking(tunnel, false, false));
    }
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1).map(|flags| flags & AVAILABLE), Some(AVAILABLE));
    assert!(net.tables[1].groups.is_empty());
    let before = net.writes[1];
    net.link(1, 2, false);
    // Before a message has gone anywhere; behind them the labels go of detours that came over the link, those of 2.
    assert_eq!(net.writes[1] - before, 20 + 20);
    for tunnel in 1..=20 {
        assert_eq!(net.trace(0, tunnel), Some(vec![0, 1, 6, 3, 4]));
    }
    let diverted = Event::LspsDiverted { bypass: None, port: PortId(1), lsps: 20 };
    assert!(net.events.contains(&(1, diverted)));
    net.run(2_000);
    assert_eq!(flags(&net, 0, 1).map(|flags| flags & (AVAILABLE | IN_USE)), Some(AVAILABLE | IN_USE));
    let told = net.events.iter().filter(|(node, event)| {
        *node == 0 && matches!(event, Event::LspRepaired { node, .. } if *node == id(1))
    });
    assert_eq!(told.count(), 20);
    let error = |message: &Message| match message {
        Message::PathErr(error) => {
            (error.error_spec.code, error.error_spec.value) == (NOTIFY, notify::LOCALLY_REPAIRED)
        }
        _ => false,
    };
    assert!(net.log.iter().any(|sent| sent.from == 1 && error(&sent.message)));
    // The detour is refreshed for as long as the failure lasts, and with it what it is merged into.
    net.run(1_000_000);
    assert_eq!(net.trace(0, 7), Some(vec![0, 1, 6, 3, 4]));
    assert!(!net.events.iter().any(|(_, event)| matches!(event, Event::LspDown { .. })));
    // 6.3.2: the PathTear of the head end ends both.
    (1..=20).for_each(|tunnel| remove(&mut net, 0, tunnel));
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn a_router_that_fails_is_led_around_without_bandwidth_where_none_is_left() {
    let mut net = Net::with(7, &LADDER, |node, config| {
        let small = |address: Ipv4Addr| [on(6, 6), on(7, 6)].contains(&address);
        for interface in config.interfaces.iter_mut().filter(|i| node == 6 && small(i.address)) {
            interface.reservable = Rate::from_mbps(5);
        }
    });
    net.route_all();
    know_links(&mut net, &LADDER);
    net.tunnel(0, asking(1, true, true));
    net.run(10_000);
    // Router 6 has refused it once (RFC 4090, 6: then without a guarantee).
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    for (a, b) in [(1, 2), (2, 3), (5, 2)] {
        net.link(a, b, false);
    }
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]), "7.2: router 3 keeps what its detour refreshes");
    remove(&mut net, 0, 1);
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn who_has_no_way_gets_a_detour_when_there_is_one() {
    let mut net = ladder();
    for link in 4..8 {
        know_link(&mut net, &LADDER, link, false);
    }
    net.tunnel(0, asking(1, false, false));
    net.run(100_000);
    // RFC 4090, 6: without a backup the flags are clear. Attempts go on (6.2).
    assert_eq!(flags(&net, 0, 1), Some(0));
    for link in 4..6 {
        know_link(&mut net, &LADDER, link, true);
    }
    net.change(1, Change::Engineering { is_lost: false });
    net.run(2_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
    net.link(1, 2, false);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    // The router behind the link is there: it is where the LSP goes on.
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    remove(&mut net, 0, 1);
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn a_detour_that_fails_is_made_again_along_another_way() {
    let mut net = ladder();
    net.tunnel(0, asking(1, false, false));
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    let first = last_detour(&net, 1).sender_template;
    net.link(6, 3, false);
    net.run(100);
    assert_eq!(flags(&net, 0, 1), Some(0));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]), "nobody has lost a packet");
    net.run(5_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE));
    // 6.3.1: under another address, so that nobody takes it for the one that went.
    assert_ne!(last_detour(&net, 1).sender_template, first);
    net.link(1, 2, false);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 5, 2, 3, 4]));
    remove(&mut net, 0, 1);
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn without_the_head_end_the_link_is_taken_again_when_it_is_back() {
    let mut net = Net::with(7, &LADDER, |_, config| config.protection.reversion = Some(Span::from_secs(5)));
    net.route_all();
    know_links(&mut net, &LADDER);
    net.tunnel(0, TunnelSpec { retry_limit: Some(0), ..asking(1, true, false) });
    net.run(1_000);
    for round in 0..3 {
        net.link(1, 2, false);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]), "round {round}");
        net.run(if round == 1 { 400_000 } else { 10_000 });
        net.link(1, 2, true);
        net.run(4_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]), "it waits for the link to last");
        net.run(2_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
        net.run(500_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    }
    assert!(!net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
    remove(&mut net, 0, 1);
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn a_head_end_moves_its_lsp_and_the_detours_go_with_the_old_one() {
    let mut net = ladder();
    let routes = vec![hops(&[1, 2, 3, 4]), hops(&[1, 6, 3, 4])];
    net.tunnel(0, TunnelSpec { routes, ..asking(1, false, false) });
    net.run(1_000);
    net.link(1, 2, false);
    // 7.2: router 2 keeps the old one, and its detour, for the lifetime of a Path.
    net.run(200_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    let rerouted = |(node, event): &(usize, Event)| *node == 0 && matches!(event, Event::LspRerouted { .. });
    assert!(net.events.iter().any(rerouted), "{:?}", net.events);
    // Router 1 has the new LSP, a detour of it by 5 and 2 to 3, and that of 6, which has come back; the two meet at 5.
    let at = |net: &Net, node: usize| net.nodes[node].lsps().map(|lsp| lsp.lsp_id).collect::<Vec<_>>();
    assert_eq!((at(&net, 1), at(&net, 5)), (vec![2, 2, 2], vec![2]));
    remove(&mut net, 0, 1);
    net.run(400_000);
    net.assert_clean();
}

/// RFC 4090, 6.3.2: so it is with a ResvTear, and with a PathErr that is no notification.
#[test]
fn what_ends_further_down_is_not_told_upstream_as_long_as_a_detour_is_up() {
    use wire::rsvp::{
        Common, ErrorSpec, PathErr, ResvTear, RsvpHop, SenderDescriptor, Session, Style, error_code,
    };
    let session = Session::LspTunnelIpv4 { end_point: id(4), tunnel_id: 1, extended_tunnel_id: id(0) };
    let sender = SenderTemplate::LspTunnelIpv4 { sender: id(0), lsp_id: 1 };
    let torn = Message::ResvTear(ResvTear {
        common: Common::default(),
        session,
        hop: RsvpHop { address: on(1, 2).into(), lih: 1 },
        scope: None,
        style: Style::SharedExplicit,
        filters: vec![sender],
    });
    let code = error_code::ROUTING;
    let refused = Message::PathErr(PathErr {
        common: Common::default(),
        session,
        error_spec: ErrorSpec { node: on(1, 2).into(), flags: 0, code, value: error_code::routing::NO_ROUTE },
        policy_data: Vec::new(),
        sender: Some(SenderDescriptor::of(sender)),
        ero: None,
    });
    for (message, kind) in [(torn, MessageType::ResvTear), (refused, MessageType::PathErr)] {
        let mut net = ladder();
        net.tunnel(0, TunnelSpec { retry_limit: Some(0), ..asking(1, true, false) });
        net.run(1_000);
        let told = net.sent(1, kind);
        net.inject(1, PortId(1), on(1, 2), &wire::rsvp::Packet::new(64, message));
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]), "{kind:?}");
        net.run(1_000);
        // A PathErr of router 1 itself says that it repairs.
        let notified = usize::from(kind == MessageType::PathErr);
        assert_eq!(net.sent(1, kind), told + notified, "{kind:?}");
        assert!(!net.events.iter().any(|(node, event)| *node == 0 && matches!(event, Event::LspDown { .. })));
    }
}

#[test]
fn a_head_end_repairs_its_own_lsp_under_another_address() {
    let mut net = ladder();
    let own = TunnelSpec { routes: vec![hops(&[2, 3, 4])], ..asking(1, false, false) };
    net.tunnel(1, own);
    net.run(1_000);
    net.link(1, 2, false);
    assert_eq!(net.trace(1, 1), Some(vec![1, 6, 3, 4]));
    net.run(500_000);
    assert_eq!(net.trace(1, 1), Some(vec![1, 6, 3, 4]));
    let SenderTemplate::LspTunnelIpv4 { sender, .. } = last_detour(&net, 1).sender_template else { panic!() };
    assert_ne!(sender, id(1));
    remove(&mut net, 1, 1);
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn a_neighbour_that_does_not_answer_is_led_around() {
    let mut net = Net::with(7, &LADDER, |_, config| config.bfd = Some(crate::services::Pace::default()));
    net.route_all();
    know_links(&mut net, &LADDER);
    net.tunnel(0, asking(1, false, false));
    net.run(1_000);
    let path = WatchedPath::hop(PortId(1), on(1, 1), on(1, 2));
    net.change(1, Change::Liveness { path, is_alive: false });
    assert!(net.tables[1].distrusted.is_empty(), "no group depends on it");
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    net.change(1, Change::Liveness { path, is_alive: true });
    net.run(1_000);
    remove(&mut net, 0, 1);
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn summaries_refresh_detours_too() {
    let mut net = Net::with(7, &LADDER, |_, config| {
        let reduction = RefreshReduction { assume_capable: true, ..RefreshReduction::default() };
        config.refresh_reduction = Some(reduction);
    });
    net.route_all();
    know_links(&mut net, &LADDER);
    net.tunnel(0, asking(1, true, false));
    net.run(1_000);
    let first = last_detour(&net, 1).sender_template;
    net.run(600_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    assert_eq!(last_detour(&net, 1).sender_template, first, "none was lost and made again");
    net.link(1, 2, false);
    net.run(600_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 6, 3, 4]));
    assert!(!net.events.iter().any(|(_, event)| matches!(event, Event::LspDown { .. })));
    remove(&mut net, 0, 1);
    net.run(400_000);
    net.assert_clean();
}
