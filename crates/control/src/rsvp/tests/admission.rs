//! Bandwidth: admission by priority, preemption, shared reservations, blockade.

use super::bus::id;
use super::{Net, spec};
use crate::rsvp::Event;
use crate::rsvp::command::{Command, TunnelSpec};
use base::{Rate, Span};
use wire::rsvp::MessageType;
use wire::rsvp::error_code::{self, admission};

/// Two ways from 0 to 3: over 1 and over 2.
const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];
const REFUSED: (u8, u16) = (error_code::ADMISSION, admission::BANDWIDTH);

fn with_priority(spec: TunnelSpec, setup: u8, holding: u8) -> TunnelSpec {
    TunnelSpec { setup_priority: setup, holding_priority: holding, ..spec }
}

#[test]
fn a_link_takes_no_more_than_it_has() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    for n in 1..=4 {
        net.tunnel(0, spec(n, 2, &[&[1, 2]], 300));
        net.run(100);
    }
    assert_eq!(net.errors(0), [(id(0), REFUSED.0, REFUSED.1)]);
    assert_eq!((net.reserved(0), net.reserved(1)), (900, 900));
    let narrow = Net::with(3, &[(0, 1), (1, 2)], |n, config| {
        if n == 1 {
            config.interfaces[1].reservable = Rate::from_mbps(500);
        }
    });
    let mut net = narrow;
    for n in 1..=2 {
        net.tunnel(0, spec(n, 2, &[&[1, 2]], 300));
        net.run(100);
    }
    assert_eq!(net.errors(0), [(id(1), REFUSED.0, REFUSED.1)]);
    assert_eq!(net.reserved(0), 300, "what was refused further on holds nothing here");
}

#[test]
fn two_that_ask_at_once_do_not_both_get_it() {
    let mut net = Net::with(3, &[(0, 1), (1, 2)], |n, config| {
        if n == 1 {
            config.interfaces[1].reservable = Rate::from_mbps(500);
        }
    });
    net.tunnel(0, spec(1, 2, &[&[1, 2]], 300));
    net.tunnel(0, spec(2, 2, &[&[1, 2]], 300));
    net.run(1_000);
    let up = (1..=2).filter(|&n| net.trace(0, n).is_some()).count();
    assert_eq!((up, net.reserved(1)), (1, 300), "{:?}", net.events);
    assert_eq!(net.errors(0), [(id(1), REFUSED.0, REFUSED.1)]);
    // The one that was refused at the Resv left blockade state and a ResvErr.
    assert_eq!(net.sent(1, MessageType::ResvErr), 1);
}

#[test]
fn stronger_lsps_preempt_weaker_ones() {
    let mut net = Net::new(4, &DIAMOND);
    for n in 1..=3 {
        let weak = with_priority(spec(n, 3, &[&[1, 3], &[2, 3]], 300), 7, 8 - n as u8);
        net.tunnel(0, TunnelSpec { retry_limit: None, ..weak });
        net.run(50);
    }
    assert_eq!(net.reserved(1), 900);
    // 400 are needed, 100 are free: the weakest LSP goes (holding priority 7), and only that one.
    net.tunnel(0, with_priority(spec(4, 3, &[&[1, 3]], 400), 0, 0));
    net.run(50);
    assert_eq!(net.trace(0, 4), Some(vec![0, 1, 3]));
    assert_eq!(net.trace(0, 2), Some(vec![0, 1, 3]));
    assert_eq!(net.trace(0, 3), Some(vec![0, 1, 3]));
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "tunnel 1 found another way: {:?}", net.events);
    let preempted: u64 = net.nodes.iter().map(|node| node.counters().preempted).sum();
    assert!(preempted >= 1);
    let told = |(_, code, value): &(_, u8, u16)| (*code, *value) == (error_code::POLICY, 5);
    assert_eq!(net.errors(0).iter().filter(|e| told(e)).count(), 1, "{:?}", net.errors(0));
    for n in 1..=4 {
        net.command(0, Command::TunnelRemove(crate::rsvp::command::TunnelId { to: id(3), id: n }));
    }
    net.run(100);
    net.assert_clean();
}

#[test]
fn a_preempted_transit_lsp_tells_both_ends() {
    // Two ingresses, 0 and 4, meet at 1.
    let mut net = Net::new(5, &[(0, 1), (1, 2), (2, 3), (4, 1)]);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 800));
    net.run(100);
    net.tunnel(4, with_priority(spec(2, 3, &[&[1, 2, 3]], 500), 3, 3));
    net.run(100);
    assert_eq!(net.trace(4, 2), Some(vec![4, 1, 2, 3]));
    assert_eq!(net.trace(0, 1), None);
    assert_eq!(net.errors(0), [(id(2), error_code::POLICY, 5)]);
    assert_eq!(
        net.nodes[3].counters().errors_received().map(|(e, ..)| e).collect::<Vec<_>>(),
        [(error_code::POLICY, 5)]
    );
    assert_eq!((net.reserved(1), net.reserved(0)), (500, 0));
}

#[test]
fn equals_do_not_preempt_each_other() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    net.tunnel(0, with_priority(spec(1, 2, &[&[1, 2]], 800), 4, 4));
    net.run(100);
    net.tunnel(0, with_priority(spec(2, 2, &[&[1, 2]], 800), 4, 4));
    net.run(100);
    assert!(net.trace(0, 1).is_some() && net.trace(0, 2).is_none());
}

#[test]
fn the_lsps_of_a_tunnel_share_bandwidth() {
    let mut net = Net::new(4, &DIAMOND);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 3]], 600));
    net.run(100);
    // The new LSP takes the same links: 1,200 Mbit/s would not fit.
    net.command(0, Command::TunnelReoptimise(tunnel));
    net.run(100);
    assert_eq!((net.reserved(0), net.reserved(1)), (600, 600));
    assert_eq!(net.nodes[1].lsps().count(), 2, "the old LSP lingers");
    let rerouted =
        |(_, event): &(usize, Event)| matches!(event, Event::LspRerouted { from_lsp: 1, to_lsp: 2, .. });
    assert!(net.events.iter().any(rerouted), "{:?}", net.events);
    net.run(2_000);
    assert_eq!((net.reserved(0), net.reserved(1), net.nodes[1].lsps().count()), (600, 600, 1));
    // More bandwidth: the difference is what counts.
    net.tunnel(0, spec(1, 3, &[&[1, 3]], 900));
    net.run(100);
    assert_eq!((net.reserved(1), net.trace(0, 1)), (900, Some(vec![0, 1, 3])));
    net.run(2_000);
    assert_eq!(net.reserved(1), 900);
    net.tunnel(0, spec(1, 3, &[&[1, 3]], 100));
    net.run(2_000);
    assert_eq!((net.reserved(1), net.nodes[1].lsps().count()), (100, 1));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

#[test]
fn one_resv_speaks_for_all_shared_lsps() {
    let mut net = Net::with(4, &DIAMOND, |_, config| config.linger = Span::from_secs(600));
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 3]], 600));
    net.run(100);
    net.command(0, Command::TunnelReoptimise(tunnel));
    net.run(100);
    let before = net.sent(3, MessageType::Resv);
    net.run(300_000);
    let resvs = net.sent(3, MessageType::Resv) - before;
    assert!((6..=16).contains(&resvs), "{resvs} refreshes in ten periods");
    assert_eq!(net.nodes[1].lsps().filter(|lsp| lsp.reserved > Rate(0)).count(), 2);
}

#[test]
fn two_tunnels_do_not_share() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    net.tunnel(0, spec(1, 2, &[&[1, 2]], 300));
    net.tunnel(0, spec(2, 2, &[&[1, 2]], 300));
    net.run(100);
    assert_eq!((net.reserved(0), net.reserved(1)), (600, 600));
}
