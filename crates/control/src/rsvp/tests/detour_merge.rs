//! Detours where they come together, with their LSP and with each other (RFC 4090, 7.1 and 8.1), and DETOUR objects
//! that are not as they should be.

use super::bus::id;
use super::detours::{LADDER, asking, last_detour, pairs};
use super::messages::{first_address, packet, path};
use super::te::know_links;
use super::{Net, spec};
use crate::rsvp::Discard;
use crate::rsvp::command::{Command, TunnelId, TunnelSpec};
use base::PortId;
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{
    Common, Detour, EroHop, Message, MessageType, Object, Path, PathTear, RsvpHop, SenderDescriptor,
    SenderTemplate, SessionAttribute, Unknown, class,
};

fn ladder() -> Net {
    let mut net = Net::new(7, &LADDER);
    net.route_all();
    know_links(&mut net, &LADDER);
    net
}

#[test]
fn detours_of_two_routers_that_meet_go_on_as_one() {
    let mut net = ladder();
    net.tunnel(0, asking(1, true, false));
    net.run(1_000);
    // That of 1 leads around 2, by 6 to 3; that of 2 around the link to 3, back by 1 and by 6 to 3.
    assert_eq!(net.nodes[6].lsps().count(), 1, "one block for both");
    let both = pairs(&last_detour(&net, 6)).expect("DETOUR");
    assert_eq!(both.len(), 2, "8.1: the pairs of both: {both:?}");
    let avoided: Vec<Ipv4Addr> = both.iter().map(|pair| pair.1).collect();
    let next = |link: u8| Ipv4Addr::new(10, 0, link, 2);
    assert!(avoided.contains(&next(1)) && avoided.contains(&next(2)), "{avoided:?}");
    // Both are answered: at 1 that of 2 has a reservation, and its own is ready.
    assert!(net.nodes[1].lsps().all(|lsp| lsp.installed || lsp.in_label.is_none()));
    assert_eq!(net.nodes[1].lsps().filter(|lsp| lsp.out_label.is_some()).count(), 3);
    // 7.2: either failure, and both one after the other.
    net.link(2, 3, false);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 1, 6, 3, 4]));
    net.run(1_000_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 1, 6, 3, 4]));
    net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: 1 }));
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn one_of_two_that_ends_is_taken_out_of_what_goes_on() {
    for silent in [false, true] {
        let mut net = ladder();
        net.tunnel(0, asking(1, true, false));
        net.run(1_000);
        let both = pairs(&last_detour(&net, 6)).expect("DETOUR");
        // The detour that router 1 begins, or else what it passes on of the other, is heard of no more.
        let own = |message: &Message| match message {
            Message::Path(path) => pairs(path).is_some_and(|pairs| pairs[0].1 == Ipv4Addr::new(10, 0, 1, 2)),
            _ => false,
        };
        if silent {
            net.lose = Some(Box::new(move |from, message| from == 1 && own(message)));
            net.run(200_000);
        } else {
            let first = net.nodes[6].lsps().next().expect("a detour");
            let tear = PathTear {
                common: Common::default(),
                session: wire::rsvp::Session::LspTunnelIpv4 {
                    end_point: id(4),
                    tunnel_id: 1,
                    extended_tunnel_id: id(0),
                },
                hop: RsvpHop { address: Ipv4Addr::new(10, 0, 6, 1).into(), lih: 2 },
                sender: Some(SenderDescriptor::of(SenderTemplate::LspTunnelIpv4 {
                    sender: first.sender,
                    lsp_id: 1,
                })),
            };
            net.inject(6, PortId(0), Ipv4Addr::new(10, 0, 6, 1), &packet(Message::PathTear(tear)));
        }
        // 7.1.3: nothing is torn down further on, and DETOUR says what is left.
        assert_eq!(net.sent(6, MessageType::PathTear), 0);
        let left = pairs(&last_detour(&net, 6)).expect("DETOUR");
        assert_eq!((both.len(), left.len()), (2, 1), "{left:?}");
        net.lose = None;
        net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: 1 }));
        net.run(400_000);
        net.assert_clean();
    }
}

/// What node 1 answers a Path from node 0 with that has these objects more.
fn answer(objects: Vec<Unknown>) -> (Option<(u8, u16)>, u64) {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)]);
    let mut message = path(&net, 3, &[1, 2, 3]);
    message.common.unknown.extend(objects);
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    net.run(1);
    let error = net.log.iter().find_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    });
    assert_eq!(net.nodes[1].lsps().count(), usize::from(error.is_none()), "a refused Path leaves nothing");
    (error, net.nodes[1].counters().discarded_for(Discard::Malformed))
}

fn detour(pairs: &[(Ipv4Addr, Ipv4Addr)]) -> Unknown {
    Unknown::of(&Object::Detour(Detour::Ipv4(pairs.to_vec()))).expect("an object")
}

#[test]
fn a_detour_object_that_can_not_be_read_is_counted_and_answered() {
    let pair = (id(1), id(2));
    assert_eq!(answer(vec![detour(&[pair])]), (None, 0));
    assert_eq!(answer(vec![detour(&[pair, (id(2), id(3))])]), (None, 0));
    let raw = |c_type: u8, bytes: usize| Unknown {
        class: class::DETOUR,
        c_type,
        position: Unknown::LAST,
        data: vec![10; bytes],
    };
    let rejected =
        |c_type: u8| Some((error_code::UNKNOWN_C_TYPE, u16::from_be_bytes([class::DETOUR, c_type])));
    // Half a pair; no pair; two objects.
    assert_eq!(answer(vec![raw(7, 4)]), (rejected(7), 1));
    assert_eq!(answer(vec![raw(7, 12)]), (rejected(7), 1));
    assert_eq!(answer(vec![raw(7, 0)]), (rejected(7), 1));
    assert_eq!(answer(vec![detour(&[pair]), detour(&[pair])]), (rejected(7), 1));
    // 4.2: unknown C-Types as RFC 2205, 3.10, has it. IPv6 is one here.
    assert_eq!(answer(vec![raw(8, 32)]), (rejected(8), 0));
    assert_eq!(answer(vec![raw(9, 8)]), (rejected(9), 0));
    // More pairs than are kept for one LSP.
    assert_eq!(answer(vec![detour(&[pair; 200])]), (Some((error_code::RSVP_SYSTEM, 0)), 0));
}

#[test]
fn a_fast_reroute_object_that_is_not_known_or_can_not_be_read_is_answered() {
    let raw = |c_type: u8, bytes: usize| {
        answer(vec![Unknown {
            class: class::FAST_REROUTE,
            c_type,
            position: Unknown::LAST,
            data: vec![0; bytes],
        }])
    };
    let rejected =
        |c_type: u8| Some((error_code::UNKNOWN_C_TYPE, u16::from_be_bytes([class::FAST_REROUTE, c_type])));
    assert_eq!((raw(1, 20), raw(7, 16)), ((None, 0), (None, 0)));
    // RFC 4090, 4.1: unknown C-Types as RFC 2205, 3.10, has it.
    assert_eq!((raw(2, 20), raw(99, 20)), ((rejected(2), 0), (rejected(99), 0)));
    // Lengths of the other form, and of none.
    assert_eq!((raw(1, 16), raw(7, 20)), ((rejected(1), 1), (rejected(7), 1)));
    assert_eq!((raw(1, 0), raw(7, 12), raw(1, 24)), ((rejected(1), 1), (rejected(7), 1), (rejected(1), 1)));
}

/// A star: node 1 in the middle, with 0 and 4 before it, 2 behind it, then 3; and 5 beside 2.
pub(super) const STAR: [(usize, usize); 6] = [(0, 1), (4, 1), (1, 2), (2, 3), (1, 5), (5, 3)];

/// A Path of session 9 from 0 to 3, as a neighbour of node 1 sends it along these nodes.
pub(super) fn of(
    net: &Net,
    from: usize,
    route: &[usize],
    avoids: Option<(Ipv4Addr, Ipv4Addr)>,
) -> (Path, PortId, Ipv4Addr) {
    let mut message = path(net, 3, route);
    let address = first_address(net, from);
    message.hop = RsvpHop { address: address.into(), lih: 5 };
    match avoids {
        Some(pair) => message.common.unknown.push(detour(&[pair])),
        None => {
            message.session_attribute = Some(SessionAttribute {
                affinities: None,
                setup_priority: 7,
                holding_priority: 7,
                flags: SessionAttribute::LOCAL_PROTECTION | SessionAttribute::SE_STYLE,
                name: b"by hand".to_vec(),
            });
        }
    }
    (message, PortId(if from == 0 { 0 } else { 1 }), address)
}

pub(super) fn send(net: &mut Net, (message, port, address): (Path, PortId, Ipv4Addr)) {
    net.inject(1, port, address, &packet(Message::Path(message)));
    net.run(50);
}

/// The LSPs of node 1 by where they came from.
pub(super) fn blocks(net: &Net) -> Vec<Option<PortId>> {
    net.nodes[1].lsps().map(|lsp| lsp.previous_hop.map(|hop| hop.port)).collect()
}

#[test]
fn the_path_of_the_lsp_is_chosen_whichever_comes_first() {
    // 7.1.2: detours that have the sender of their LSP.
    for detour_first in [false, true] {
        let mut net = Net::new(6, &STAR);
        net.honest = false;
        let avoids = Some((id(4), id(0)));
        let mut both = [of(&net, 0, &[1, 2, 3], None), of(&net, 4, &[1, 2, 3], avoids)];
        if detour_first {
            both.reverse();
        }
        both.into_iter().for_each(|one| send(&mut net, one));
        assert_eq!(blocks(&net), [Some(PortId(0))], "one block, and its Paths are those of the LSP");
        let sent = net.log.iter().rev().find_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 1 => Some(path.clone()),
            _ => None,
        });
        assert_eq!(sent.as_ref().map(pairs), Some(None));
        // A Resv has gone to both.
        let mut to: Vec<_> = net
            .log
            .iter()
            .filter(|sent| sent.from == 1)
            .filter_map(|sent| match &sent.message {
                Message::Resv(resv) => Some(resv.hop.address),
                _ => None,
            })
            .collect();
        to.sort_unstable();
        to.dedup();
        assert_eq!(to.len(), 2, "{to:?}");
    }
}

#[test]
fn what_can_not_be_one_is_refused_and_harms_nobody() {
    let mut net = Net::new(6, &STAR);
    net.honest = false;
    let protected = of(&net, 0, &[1, 2, 3], None);
    send(&mut net, protected);
    let refused = |net: &Net| net.nodes[1].counters().errors_sent_of(error_code::ROUTING, routing::NO_ROUTE);
    // The same sender, and another next hop: it can't be told from its LSP.
    let other = of(&net, 4, &[1, 5, 3], Some((id(4), id(0))));
    send(&mut net, other);
    assert_eq!((refused(&net), blocks(&net)), (1, vec![Some(PortId(0))]));
    // The LSP comes to what the detour avoids.
    let touching = of(&net, 4, &[1, 2, 3], Some((id(4), id(2))));
    send(&mut net, touching);
    assert_eq!((refused(&net), blocks(&net)), (2, vec![Some(PortId(0))]));
}

#[test]
fn the_egress_is_avoided_by_any_of_its_addresses() {
    // 4.2.1. The session leads to its router id, the route to the address of its port.
    let (router_id, port_address) = (id(3), Ipv4Addr::new(10, 0, 3, 2));
    let refused = |net: &Net| net.nodes[1].counters().errors_sent_of(error_code::ROUTING, routing::NO_ROUTE);
    for avoided in [router_id, port_address] {
        for (detour_first, own_sender) in [(false, false), (true, false), (false, true)] {
            let mut net = Net::new(6, &STAR);
            net.honest = false;
            let mut both = [of(&net, 0, &[1, 2, 3], None), of(&net, 4, &[1, 2, 3], Some((id(4), avoided)))];
            for (message, ..) in &mut both {
                message.ero = Some([id(1), id(2), port_address].map(EroHop::strict).into());
            }
            if own_sender {
                both[1].0.sender_template = SenderTemplate::LspTunnelIpv4 { sender: id(4), lsp_id: 1 };
            }
            if detour_first {
                both.reverse();
            }
            both.into_iter().for_each(|one| send(&mut net, one));
            let case = (avoided, detour_first, own_sender);
            assert_eq!((refused(&net), blocks(&net)), (1, vec![Some(PortId(0))]), "{case:?}");
        }
    }
}

#[test]
fn of_detours_alone_that_goes_on_which_avoids_what_the_other_does() {
    let mut net = Net::new(6, &STAR);
    net.honest = false;
    // The first comes to 2, which the second avoids; both have the same next hop.
    let first = of(&net, 0, &[1, 2, 3], Some((id(0), id(5))));
    send(&mut net, first);
    let (mut second, port, address) = of(&net, 4, &[1, 2, 3], Some((id(4), id(2))));
    second.ero = Some([id(1), Ipv4Addr::new(10, 0, 2, 2), id(3)].map(EroHop::strict).into());
    send(&mut net, (second, port, address));
    assert_eq!(blocks(&net), [Some(PortId(1))], "7.1.2, 2");
    let both = pairs(&last_detour(&net, 1)).expect("DETOUR");
    assert_eq!(both, [(id(0), id(5)), (id(4), id(2))], "8.1");
}

#[test]
fn a_detour_leaves_the_bandwidth_of_its_lsp_alone_where_both_are() {
    let mut net = ladder();
    net.tunnel(0, TunnelSpec { bandwidth: base::Rate::from_mbps(600), ..asking(1, true, true) });
    net.tunnel(0, TunnelSpec { bandwidth: base::Rate::from_mbps(300), ..spec(2, 4, &[&[1, 2, 3, 4]], 1) });
    net.run(5_000);
    // From 3 on LSP and detours hold 600 Mbit/s once, which leaves 300 for the other tunnel.
    assert_eq!(net.reserved(3), 900);
    // 1 has the LSP, its own detour and that of 2 there: the two share one reservation on the link to 6.
    assert_eq!(net.reserved(1), 900 + 600);
    assert!(net.trace(0, 2).is_some());
}
