//! Links that fail, nodes that restart, loops.

use super::bus::id;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::Event;
use crate::rsvp::command::{Command, RouteHop, TunnelSpec};
use base::PortId;
use base::plane::{NextHop, Prefix};
use wire::rsvp::error_code::{self, routing};

const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];
const ROW: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 4)];

#[test]
fn a_link_in_the_middle_fails_and_all_state_goes() {
    let mut net = Net::new(5, &ROW);
    let tunnel = net.tunnel(0, spec(1, 4, &[&[1, 2, 3, 4]], 100));
    net.run(100);
    net.link(2, 3, false);
    net.run(100);
    for (n, node) in net.nodes.iter().enumerate() {
        assert_eq!(node.lsps().count(), 0, "node {n}");
        assert_eq!(net.reserved(n), 0);
        assert!(net.tables[n].ilm.is_empty() && net.tables[n].ftn.is_empty());
    }
    assert_eq!(net.errors(0)[0], (id(2), error_code::ROUTING, routing::NO_ROUTE));
    assert!(net.events.iter().any(|(_, event)| matches!(event, Event::LspDown { .. })));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

#[test]
fn the_head_end_takes_the_fallback_route() {
    for failing in [(0, 1), (1, 3)] {
        let mut net = Net::new(4, &DIAMOND);
        net.tunnel(0, spec(1, 3, &[&[1, 3], &[2, 3]], 100));
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
        net.link(failing.0, failing.1, false);
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "{failing:?}: {:?}", net.events);
        assert_eq!(net.reserved(1), 0);
        assert_eq!(net.nodes[1].lsps().count(), 0);
    }
}

#[test]
fn a_loose_hop_is_repaired_locally() {
    // 0 - 1 - {2, 3} - 4; node 1 goes over 2, and over 3 when its routing table says so.
    let mut net = Net::new(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
    let loose = RouteHop { prefix: Prefix::host(id(4)), loose: true };
    let via = |net: &Net, node: usize, port: usize| NextHop::Via {
        port: PortId(port as u16),
        gateway: net.nodes[node].config().interfaces[port].neighbor.expect("a neighbour").into(),
    };
    for (node, port) in [(0, 0), (1, 1), (2, 1), (3, 1)] {
        let next_hop = via(&net, node, port);
        net.route(node, Prefix::host(id(4)), Some(next_hop));
    }
    net.tunnel(0, TunnelSpec { routes: vec![vec![loose]], ..spec(1, 4, &[], 10) });
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 4]));
    let next_hop = via(&net, 1, 2);
    net.route(1, Prefix::host(id(4)), Some(next_hop));
    net.link(1, 2, false);
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3, 4]), "{:?}", net.events);
    assert_eq!(net.nodes[2].lsps().count(), 0);
}

#[test]
fn a_routing_loop_is_found_by_the_recorded_route() {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 0)]);
    let far = Prefix::host(id(3));
    for (node, port) in [(0, 0), (1, 1), (2, 1)] {
        let gateway = net.nodes[node].config().interfaces[port].neighbor.expect("a neighbour");
        let next_hop = NextHop::Via { port: PortId(port as u16), gateway: gateway.into() };
        net.route(node, far, Some(next_hop));
    }
    let tunnel = net.tunnel(0, TunnelSpec { record_route: true, ..spec(1, 3, &[], 1) });
    net.run(1_000);
    assert_eq!(net.errors(0), [(id(0), error_code::ROUTING, routing::LOOP)]);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn a_restarted_head_end_signals_its_tunnels_again() {
    let mut net = Net::new(5, &ROW);
    let tunnel = net.tunnel(0, spec(1, 4, &[&[1, 2, 3, 4]], 600));
    net.run(100);
    net.tables[0] = Default::default();
    net.change(0, Change::Restart);
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]), "{:?}", net.events);
    net.command(0, Command::TunnelRemove(tunnel));
    // What the head end forgot is not torn down, it times out.
    net.run(300_000);
    net.assert_clean();
}

#[test]
fn a_restarted_transit_router_gets_its_state_back_from_refreshes() {
    let mut net = Net::new(5, &ROW);
    net.tunnel(0, spec(1, 4, &[&[1, 2, 3, 4]], 600));
    net.run(100);
    net.tables[2] = Default::default();
    net.change(2, Change::Restart);
    net.run(1_000);
    assert_eq!(net.trace(0, 1), None);
    net.run(100_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]), "{:?}", net.events);
}

#[test]
fn a_link_that_flaps_faster_than_anyone_notices_does_no_lasting_harm() {
    let mut net = Net::new(4, &DIAMOND);
    let spec = TunnelSpec { retry_limit: None, ..spec(1, 3, &[&[1, 3], &[2, 3]], 100) };
    let tunnel = net.tunnel(0, spec);
    for n in 0..20 {
        net.run(n % 5);
        net.link(1, 3, false);
        net.run(n % 3);
        net.link(1, 3, true);
    }
    net.run(5_000);
    assert!(net.trace(0, 1).is_some());
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(5_000);
    net.assert_clean();
}
