//! Branches that meet again, and those that cross (RFC 4875, 18).

use super::super::Net;
use super::super::bus::id;
use super::*;
use crate::rsvp::Remerge;
use wire::rsvp::error_code::{ROUTING, routing};
use wire::rsvp::{Message, MessageType};

/// Two ways to 3, and what lies behind it: 0 - 1 - 3, 0 - 2 - 3, 3 - 4 - 5, 4 - 6, 3 - 7.
const MEET: [(usize, usize); 8] = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 5), (4, 6), (3, 7)];

fn allowing(policy: Remerge) -> Net {
    Net::with(8, &MEET, |_, config| config.p2mp_remerge = policy)
}

fn one_path_each(leaves: Vec<Leaf>) -> P2mpSpec {
    P2mpSpec { signalling: Signalling::Separate, ..tree(leaves, 10) }
}

/// RFC 4875, 18.1.1: the branch that comes later is refused, and the error names leaves of both.
#[test]
fn a_branch_that_meets_another_is_refused() {
    let mut net = allowing(Remerge::Refuse);
    set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5])]));
    net.run(50);
    set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5]), leaf(&[2, 3, 4, 6])]));
    net.run(50);
    assert_reached(&net, 0, &[5]);
    let refused = net.log.iter().find_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 3 => Some(error),
        _ => None,
    });
    let refused = refused.expect("a PathErr of the node where they meet");
    assert_eq!((refused.error_spec.code, refused.error_spec.value), (ROUTING, routing::RE_MERGE));
    let named: Vec<_> = refused.common.sub_lsps().expect("a list").iter().map(|leaf| leaf.leaf).collect();
    assert_eq!(named, [id(6), id(5)]);
    // Its route leaves the root no choice: the user is told so.
    assert_eq!(
        errors(&net).first().map(|error| (error.0, error.2, error.3)),
        Some((id(6), ROUTING, routing::ERO_RE_MERGE))
    );
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 18.1.1: the branch stays, and packets by all ways but one are dropped: no way out gets them twice.
#[test]
fn a_branch_that_may_meet_another_brings_nothing_twice() {
    let mut net = allowing(Remerge::Allow);
    set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5]), leaf(&[2, 3, 4, 6])]));
    net.run(50);
    assert!(errors(&net).is_empty());
    assert_reached(&net, 0, &[5, 6]);
    assert_eq!(net.tables[3].ilm.len(), 2, "a label for each way in");
    // The way that fed them goes, and the other takes over.
    set(&mut net, 0, &one_path_each(vec![leaf(&[2, 3, 4, 6])]));
    net.run(50);
    assert_reached(&net, 0, &[6]);
    set(&mut net, 0, &one_path_each(vec![leaf(&[2, 3, 4, 6]), leaf(&[1, 3, 4, 5])]));
    net.run(50);
    assert_reached(&net, 0, &[5, 6]);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 18: branches that cross have other ways out, and each feeds its own leaves.
#[test]
fn branches_may_cross() {
    for policy in [Remerge::Refuse, Remerge::Allow] {
        let mut net = allowing(policy);
        set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5]), leaf(&[2, 3, 7])]));
        net.run(50);
        assert!(errors(&net).is_empty());
        assert_reached(&net, 0, &[5, 7]);
        net.command(0, Command::P2mpRemove(ID));
        net.run(200);
        net.assert_clean();
    }
}

/// RFC 4875, 18.1: the same leaf by another way is no re-merge: it has been rerouted.
#[test]
fn a_leaf_that_is_rerouted_moves() {
    for policy in [Remerge::Refuse, Remerge::Allow] {
        let mut net = allowing(policy);
        set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5])]));
        net.run(50);
        // The PathTear of the old way is late.
        net.lose =
            Some(Box::new(|from, message| from == 1 && message.message_type() == MessageType::PathTear));
        set(&mut net, 0, &one_path_each(vec![leaf(&[2, 3, 4, 5])]));
        net.run(50);
        assert!(errors(&net).is_empty());
        assert_reached(&net, 0, &[5]);
        net.run(400_000);
        assert_reached(&net, 0, &[5]);
        net.lose = None;
        net.command(0, Command::P2mpRemove(ID));
        net.run(400_000);
        net.assert_clean();
    }
}

/// RFC 4875, 18.1.1: where a router has led leaves another way that meets the first again, and their route leaves the
/// choice to it, it takes the first.
#[test]
fn a_router_takes_back_what_it_led_astray() {
    let mut net = led_astray(hops(&[1]));
    assert!(errors(&net).is_empty(), "{:?}", errors(&net));
    assert_reached(&net, 0, &[6, 7]);
    assert!(net.sent(4, MessageType::PathErr) > 0);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// A strict hop behind a loose one is not lost on the way: the root is told.
#[test]
fn a_router_takes_back_nothing_with_strict_hops_beyond() {
    let loose = |node: usize| {
        hops(&[node]).into_iter().map(|hop| crate::rsvp::command::RouteHop { loose: true, ..hop })
    };
    let net = led_astray(hops(&[1]).into_iter().chain(loose(5)).chain(hops(&[7])).collect());
    let said = errors(&net).first().map(|error| (error.0, error.2, error.3));
    assert_eq!(said, Some((id(7), ROUTING, routing::ERO_RE_MERGE)));
    assert_reached(&net, 0, &[6]);
}

/// A net with leaf 6 by one way and leaf 7 with this route by another that meets the first.
fn led_astray(route: Vec<crate::rsvp::command::RouteHop>) -> Net {
    // 0 - 1, 1 - 2 - 4, 1 - 3 - 4, 4 - 5 - 6, 5 - 7: at 1 the ways part, at 4 they meet.
    let links = [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4), (4, 5), (5, 6), (5, 7)];
    let mut net = Net::new(8, &links);
    net.route_all();
    let astray = Leaf { address: id(7), route };
    let by = |net: &Net, node: usize| match net.nodes[1].services.rib.first_hop(id(node)) {
        Some((_, base::plane::NextHop::Via { port, .. })) => port,
        other => panic!("{other:?}"),
    };
    let astray_port = if by(&net, 7).0 == 1 { 3 } else { 2 };
    set(&mut net, 0, &one_path_each(vec![leaf(&[1, astray_port, 4, 5, 6])]));
    net.run(50);
    set(&mut net, 0, &one_path_each(vec![leaf(&[1, astray_port, 4, 5, 6]), astray]));
    net.run(200);
    net
}

/// RFC 4875, 5.2.1 and 18.1.1: all Paths of an LSP say the same of it.
#[test]
fn a_branch_with_other_attributes_is_refused() {
    for policy in [Remerge::Refuse, Remerge::Allow] {
        let mut net = allowing(policy);
        set(&mut net, 0, &one_path_each(vec![leaf(&[1, 3, 4, 5])]));
        net.run(50);
        let sent = net.log.iter().find_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 1 => Some(path.clone()),
            _ => None,
        });
        let mut path = sent.expect("a Path");
        path.sender_tspec.0.rate *= 2.0;
        path.hop.address = std::net::Ipv4Addr::new(10, 0, 3, 1).into();
        if let wire::rsvp::SenderTemplate::P2mpLspTunnelIpv4 { subgroup_id, .. } = &mut path.sender_template {
            *subgroup_id = 77;
        }
        net.log.clear();
        let packet = wire::rsvp::Packet::new(64, Message::Path(path));
        net.inject(3, base::PortId(1), std::net::Ipv4Addr::new(10, 0, 3, 1), &packet);
        let answered = net.log.iter().find_map(|sent| match &sent.message {
            Message::PathErr(error) => Some((error.error_spec.code, error.error_spec.value)),
            _ => None,
        });
        assert_eq!(answered, Some((ROUTING, routing::RE_MERGE_MISMATCH)));
        assert_reached(&net, 0, &[5]);
    }
}

/// Two previous hops may give leaves of one sub-group, which go on by one neighbour: under names that differ, for it
/// would take one Path for the other (RFC 4875, 10.2).
#[test]
fn a_name_from_two_previous_hops_goes_on_once() {
    let mut net = allowing(Remerge::Allow);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4, 5]), leaf(&[2, 3, 4, 6])], 10));
    net.run(50);
    assert_reached(&net, 0, &[5, 6]);
    net.run(200_000);
    assert_reached(&net, 0, &[5, 6]);
    assert!(net.sent(3, MessageType::Path) < 20, "{}", net.sent(3, MessageType::Path));
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 18.1: a sub-group that comes by another previous hop has left the old one, which is told so: its label is
/// free.
#[test]
fn a_previous_hop_that_is_left_is_told() {
    let mut net = allowing(Remerge::Allow);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4, 5])], 10));
    net.run(50);
    let sent = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 1 => Some(path.clone()),
        _ => None,
    });
    let mut path = sent.expect("a Path");
    path.hop.address = std::net::Ipv4Addr::new(10, 0, 3, 1).into();
    let packet = wire::rsvp::Packet::new(62, Message::Path(path));
    net.honest = false;
    net.inject(3, base::PortId(1), std::net::Ipv4Addr::new(10, 0, 3, 1), &packet);
    assert_eq!(net.sent(3, MessageType::ResvTear), 1);
    net.run(5);
    assert_eq!(net.tables[3].ilm.len(), 1);
}
