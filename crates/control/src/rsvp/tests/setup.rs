//! Setting up, refreshing and tearing down.

use super::bus::id;
use super::{Net, hops, spec};
use crate::rsvp::Event;
use crate::rsvp::command::{Command, ReservationStyle, RouteHop, TunnelSpec};
use crate::rsvp::{EgressLabel, Role};
use base::plane::{NextHop, Prefix};
use base::{PortId, Span};
use wire::rsvp::{MessageType, Style};

/// Four routers in a row.
const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

#[test]
fn an_lsp_over_three_hops_comes_and_goes() {
    let mut net = Net::new(4, &ROW);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 100));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    assert!(matches!(net.events[..], [(0, Event::LspUp { .. })]), "{:?}", net.events);
    for node in 0..3 {
        assert_eq!(net.reserved(node), 100, "node {node}");
    }
    assert_eq!(net.reserved(3), 0, "the egress takes nothing from its links");
    let roles: Vec<Role> = net.nodes.iter().flat_map(|node| node.lsps().map(|lsp| lsp.role)).collect();
    assert_eq!(roles, [Role::Head, Role::Transit, Role::Transit, Role::Egress]);
    // The label that each router gave is the label that the one before sends.
    let lsps: Vec<_> = net.nodes.iter().map(|node| node.lsps().next().expect("an LSP")).collect();
    for pair in lsps.windows(2) {
        assert_eq!(pair[0].out_label, pair[1].in_label);
        assert_eq!(pair[0].style, Some(Style::SharedExplicit));
    }
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
    assert_eq!(net.sent(2, MessageType::PathTear), 1);
}

#[test]
fn many_tunnels_between_two_routers() {
    let mut net = Net::new(4, &ROW);
    let tunnels: Vec<_> = (1..=50).map(|n| net.tunnel(0, spec(n, 3, &[&[1, 2, 3]], 10))).collect();
    net.run(100);
    assert!((1..=50).all(|n| net.trace(0, n) == Some(vec![0, 1, 2, 3])));
    assert_eq!((net.reserved(1), net.tables[1].ilm.len()), (500, 50));
    for tunnel in tunnels {
        net.command(0, Command::TunnelRemove(tunnel));
    }
    net.run(100);
    net.assert_clean();
}

#[test]
fn egress_labels() {
    for label in [EgressLabel::Real, EgressLabel::ImplicitNull, EgressLabel::ExplicitNull] {
        let mut net = Net::with(4, &ROW, |_, config| config.egress_label = label);
        let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]), "{label:?}");
        let entries = usize::from(label == EgressLabel::Real);
        assert_eq!(net.tables[3].ilm.len(), entries);
        let push: Vec<_> = net.tables[2].ilm.values().map(|nhlfe| nhlfe.push.as_slice().len()).collect();
        assert_eq!(push, [usize::from(label != EgressLabel::ImplicitNull)], "{label:?}");
        net.command(0, Command::TunnelRemove(tunnel));
        net.run(100);
        net.assert_clean();
    }
}

#[test]
fn one_hop_without_a_route_follows_the_neighbour() {
    let mut net = Net::new(2, &[(0, 1)]);
    net.tunnel(0, spec(1, 1, &[], 1));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1]));
}

#[test]
fn loose_hops_follow_the_routing_table() {
    let mut net = Net::new(4, &ROW);
    let gateway = |net: &Net, node: usize, port: usize| {
        net.nodes[node].config().interfaces[port].neighbor.expect("a neighbour")
    };
    for (node, port) in [(0, 0), (1, 1), (2, 1)] {
        let next_hop = NextHop::Via { port: PortId(port as u16), gateway: gateway(&net, node, port).into() };
        net.route(node, Prefix::host(id(3)), Some(next_hop));
    }
    let loose = RouteHop { prefix: Prefix::host(id(3)), loose: true };
    net.tunnel(0, TunnelSpec { routes: vec![vec![loose]], ..spec(1, 3, &[], 1) });
    net.tunnel(0, TunnelSpec { routes: vec![vec![hops(&[1])[0], loose]], ..spec(2, 3, &[], 1) });
    net.tunnel(0, spec(3, 3, &[], 1));
    net.run(100);
    for tunnel in 1..=3 {
        assert_eq!(net.trace(0, tunnel), Some(vec![0, 1, 2, 3]), "tunnel {tunnel}: {:?}", net.events);
    }
}

#[test]
fn routes_and_labels_are_recorded() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, TunnelSpec { record_labels: true, ..spec(1, 3, &[&[1, 2, 3]], 1) });
    net.run(100);
    let head = net.nodes[0].lsps().next().expect("an LSP");
    // Each router records its address on the link towards the ingress, and the label that it gave.
    let towards: Vec<_> = (1..4).map(|node| net.nodes[node].config().interfaces[0].address).collect();
    assert_eq!(head.recorded_downstream, towards);
    let given: Vec<_> = (1..4).map(|node| net.nodes[node].lsps().next().and_then(|l| l.in_label)).collect();
    assert_eq!(head.recorded_labels.into_iter().map(Some).collect::<Vec<_>>(), given);
    let tail = net.nodes[3].lsps().next().expect("an LSP");
    let from: Vec<_> =
        [(2, 1), (1, 1), (0, 0)].map(|(n, p)| net.nodes[n].config().interfaces[p].address).into();
    assert_eq!(tail.recorded_upstream, from);
    match &net.events[..] {
        [(0, Event::LspUp { route, .. })] => assert_eq!(*route, towards),
        other => panic!("{other:?}"),
    }
}

#[test]
fn refreshes_keep_state_and_silence_ends_it() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(600_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    // R is 30 s: about twenty in ten minutes.
    for (node, kind) in [(0, MessageType::Path), (2, MessageType::Path), (3, MessageType::Resv)] {
        let sent = net.sent(node, kind);
        assert!((15..=30).contains(&sent), "node {node} sent {sent} {kind:?}");
    }
    // Node 1 falls silent: all others clean up by themselves.
    net.lose = Some(Box::new(|node, _| node == 1));
    net.run(400_000);
    assert_eq!(net.nodes[2].lsps().count() + net.nodes[3].lsps().count(), 0);
    assert!(net.nodes[2].audit().is_empty() && net.nodes[3].audit().is_empty());
    assert!(
        net.events.iter().any(|(n, e)| *n == 0 && matches!(e, Event::LspDown { .. })),
        "{:?}",
        net.events
    );
    assert_eq!(net.trace(0, 1), None);
}

#[test]
fn a_few_lost_refreshes_do_no_harm() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    let mut count = 0;
    net.lose = Some(Box::new(move |_, _| {
        count += 1;
        count % 4 == 0
    }));
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    assert_eq!(net.events.len(), 1);
}

#[test]
fn a_lost_path_or_resv_is_made_good_by_a_refresh() {
    for kind in [MessageType::Path, MessageType::Resv] {
        let mut net = Net::new(4, &ROW);
        let mut first = true;
        net.lose = Some(Box::new(move |node, message| {
            node == 1 && message.message_type() == kind && std::mem::take(&mut first)
        }));
        net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
        net.run(1_000);
        assert_eq!(net.trace(0, 1), None);
        net.run(60_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]), "{kind:?}");
    }
}

#[test]
fn a_lost_teardown_is_made_good_by_time() {
    let mut net = Net::new(4, &ROW);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    net.lose = Some(Box::new(|node, message| node == 1 && message.message_type() == MessageType::PathTear));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(1_000);
    assert_eq!(net.nodes[2].lsps().count(), 1);
    net.run(300_000);
    net.assert_clean();
}

#[test]
fn no_label_goes_upstream_before_its_entry_is_in_force() {
    let mut net = Net::new(4, &ROW);
    net.ack_delay = Span::from_ms(500);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(400);
    assert_eq!(net.sent(3, MessageType::Resv), 0);
    net.run(1_400);
    assert!(net.events.is_empty(), "{:?}", net.events);
    net.run(1_000);
    assert_eq!(net.events.len(), 1);
}

#[test]
fn fixed_filter_tunnels_and_confirmations() {
    let mut net = Net::with(4, &ROW, |_, config| config.confirm = true);
    net.tunnel(0, TunnelSpec { style: ReservationStyle::FixedFilter, ..spec(1, 3, &[&[1, 2, 3]], 1) });
    net.run(100);
    assert_eq!(net.nodes[1].lsps().next().and_then(|lsp| lsp.style), Some(Style::FixedFilter));
    assert_eq!(net.nodes[3].counters().confirmed, 1);
}

#[test]
fn commands_may_come_at_any_time() {
    let mut net = Net::new(4, &ROW);
    for n in 1..=20 {
        let tunnel = spec(n, 3, &[&[1, 2, 3]], 1);
        let id = crate::rsvp::command::TunnelId { to: tunnel.to, id: n };
        net.command_at(u64::from(n), 0, Command::TunnelSet(tunnel.into()));
        net.command_at(u64::from(n) * 2, 0, Command::TunnelRemove(id));
    }
    net.run(200);
    net.assert_clean();
}
