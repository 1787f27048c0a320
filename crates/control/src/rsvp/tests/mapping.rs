//! What tunnels carry: the same prefix twice, and filters in their order.

use super::bus::id;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::command::{Command, TunnelSpec, WhenDown};
use base::flow::FlowFilter;
use base::plane::{NextHop, Prefix};
use base::{PortId, Rate};
use core::net::Ipv4Addr;

const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];

/// The port by which the entry of `prefix` sends.
fn port_of(net: &Net, prefix: Prefix) -> Option<PortId> {
    port(net.tables[0].ftn.get(&prefix)?.next_hop)
}
fn port(next_hop: NextHop) -> Option<PortId> {
    match next_hop {
        NextHop::Via { port, .. } => Some(port),
        _ => None,
    }
}
/// The filters in force, in order: their protocol, and the port by which they send.
fn flows(net: &Net) -> Vec<(Option<u8>, Option<PortId>)> {
    net.tables[0].flows.values().map(|(filter, nhlfe)| (filter.protocol, port(nhlfe.next_hop))).collect()
}
fn protocol(number: u8) -> FlowFilter {
    FlowFilter { protocol: Some(number), ..FlowFilter::default() }
}

#[test]
fn a_prefix_that_two_tunnels_carry_goes_by_the_first_declared() {
    let mut net = Net::new(4, &DIAMOND);
    let prefix = Prefix::new(Ipv4Addr::new(192, 168, 0, 0), 24);
    let tunnel = |n: u16, route: &[usize]| TunnelSpec {
        carries: vec![prefix],
        retry_limit: None,
        ..spec(n, 3, &[route], 1)
    };
    // The ids are not in the order of declaration.
    let first = net.tunnel(0, tunnel(9, &[1, 3]));
    let second = net.tunnel(0, tunnel(1, &[2, 3]));
    net.run(100);
    let (over_1, over_2) = (Some(PortId(0)), Some(PortId(1)));
    assert_eq!(port_of(&net, prefix), over_1);
    // The first goes: the other takes over, and gives back.
    net.link(1, 3, false);
    net.run(100);
    assert_eq!(port_of(&net, prefix), over_2);
    net.link(1, 3, true);
    net.run(20_000);
    assert_eq!(port_of(&net, prefix), over_1);
    // The teardown of the other takes nothing away.
    net.command(0, Command::TunnelRemove(second));
    net.run(100);
    assert_eq!(port_of(&net, prefix), over_1);
    net.tunnel(0, tunnel(1, &[2, 3]));
    net.run(100);
    net.command(0, Command::TunnelRemove(first));
    net.run(100);
    assert_eq!(port_of(&net, prefix), over_2);
    net.command(0, Command::TunnelRemove(second));
    net.run(1_000);
    net.assert_clean();
}

#[test]
fn filters_keep_their_order_and_move_with_the_lsp() {
    let mut net = Net::new(4, &DIAMOND);
    let (over_1, over_2) = (Some(PortId(0)), Some(PortId(1)));
    let first = TunnelSpec { filters: vec![protocol(6), protocol(17)], ..spec(9, 3, &[&[1, 3], &[2, 3]], 1) };
    let second = TunnelSpec { filters: vec![protocol(1)], carries: vec![], ..spec(1, 3, &[&[2, 3]], 1) };
    let first_id = net.tunnel(0, first.clone());
    let second_id = net.tunnel(0, second.clone());
    net.run(100);
    assert_eq!(flows(&net), [(Some(6), over_1), (Some(17), over_1), (Some(1), over_2)]);
    // Make before break: the entries follow in one step, and keep their places.
    net.tunnel(0, TunnelSpec { routes: second.routes.clone(), ..first.clone() });
    net.run(100);
    assert_eq!(flows(&net), [(Some(6), over_2), (Some(17), over_2), (Some(1), over_2)]);
    // Others, without signalling.
    net.tunnel(
        0,
        TunnelSpec { routes: second.routes.clone(), filters: vec![protocol(132)], ..first.clone() },
    );
    net.run(100);
    assert_eq!(flows(&net), [(Some(132), over_2), (Some(1), over_2)]);
    // Others, with it.
    let faster = TunnelSpec { bandwidth: Rate::from_mbps(5), ..first };
    net.tunnel(0, TunnelSpec { filters: vec![protocol(6), protocol(132)], ..faster });
    net.run(3_000);
    assert_eq!(flows(&net), [(Some(6), over_1), (Some(132), over_1), (Some(1), over_2)]);
    // A restart declares them in the same order.
    net.tables[0] = super::bus::Tables::default();
    net.change(0, Change::Restart);
    net.run(60_000);
    assert_eq!(flows(&net), [(Some(6), over_1), (Some(132), over_1), (Some(1), over_2)]);
    // No LSP, no filter.
    net.command(0, Command::TunnelRemove(first_id));
    net.run(100);
    assert_eq!(flows(&net), [(Some(1), over_2)]);
    net.command(0, Command::TunnelRemove(second_id));
    net.run(400_000);
    assert_eq!(second_id.to, id(3));
    net.assert_clean();
}

#[test]
fn filters_drop_while_there_is_no_lsp_if_asked_for() {
    let mut net = Net::new(4, &DIAMOND);
    let dropped = |net: &Net| -> Vec<_> {
        let discards = |nhlfe: &&(FlowFilter, base::plane::Nhlfe)| nhlfe.1.next_hop == NextHop::Discard;
        net.tables[0].flows.values().filter(discards).map(|(filter, _)| filter.protocol).collect()
    };
    let tunnel = TunnelSpec {
        filters: vec![protocol(6), protocol(17)],
        when_down: WhenDown::Drop,
        retry_limit: None,
        ..spec(9, 3, &[&[1, 3]], 1)
    };
    // Before the first LSP, while it is there, and behind it.
    net.link(1, 3, false);
    let id = net.tunnel(0, tunnel.clone());
    net.run(100);
    assert_eq!(dropped(&net), [Some(6), Some(17)]);
    net.link(1, 3, true);
    net.run(20_000);
    assert_eq!(flows(&net), [(Some(6), Some(PortId(0))), (Some(17), Some(PortId(0)))]);
    assert!(dropped(&net).is_empty());
    net.link(1, 3, false);
    net.run(100);
    assert_eq!((dropped(&net), flows(&net).len()), (vec![Some(6), Some(17)], 2));
    // Other filters, and none: what is asked for last counts.
    net.tunnel(0, TunnelSpec { filters: vec![protocol(1)], ..tunnel.clone() });
    net.run(100);
    assert_eq!((dropped(&net), flows(&net).len()), (vec![Some(1)], 1));
    net.tunnel(0, TunnelSpec { when_down: WhenDown::Route, ..tunnel.clone() });
    net.run(100);
    assert!(flows(&net).is_empty());
    // A restart of the node forgets nothing that was asked for.
    net.tunnel(0, tunnel);
    net.run(100);
    net.tables[0] = super::bus::Tables::default();
    net.change(0, Change::Restart);
    net.run(100);
    assert_eq!(dropped(&net), [Some(6), Some(17)]);
    net.link(1, 3, true);
    net.run(60_000);
    assert_eq!(flows(&net).len(), 2);
    assert!(dropped(&net).is_empty());
    // A tunnel that nobody wants any more drops nothing.
    net.command(0, Command::TunnelRemove(id));
    net.run(1_000);
    assert!(flows(&net).is_empty());
    net.run(400_000);
    net.assert_clean();
}
