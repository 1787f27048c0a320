//! Errors of some leaves, which leave the others as they are (RFC 4875, 11).

use super::super::Net;
use super::super::bus::{MS, id};
use super::*;
use crate::rsvp::EgressLabel;
use crate::services::{CellLabels, Switching};
use base::PortId;
use base::plane::{ChannelRange, NextHop};
use wire::rsvp::error_code::{ADMISSION, ROUTING, UNKNOWN_C_TYPE, routing};
use wire::rsvp::{LabelRequest, Message, MessageType, Packet, SubLsp, class};

#[test]
fn a_leaf_that_cannot_be_reached_impacts_no_other() {
    let mut net = Net::new(6, &SQUARE);
    // RFC 4875, 5.2.2: 5 has no way to 4.
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4]), leaf(&[1, 5, 4])], 10));
    // The address is the same: the tree would have one leaf twice. It counts once.
    net.run(200);
    assert_reached(&net, 0, &[4, 5]);
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 5, 3])], 10));
    net.run(50);
    assert_reached(&net, 0, &[5]);
    assert_eq!(errors(&net).first(), Some(&(id(3), id(5), ROUTING, routing::BAD_STRICT_NODE)));
    // RFC 4875, 11.1: the root knows the error by the sub-group that it named.
    net.run(60_000);
    assert!(errors(&net).len() > 3, "it is tried again");
    assert_reached(&net, 0, &[5]);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// The Path that 0 has sent to 1, to be changed.
fn sent(net: &Net) -> wire::rsvp::Path {
    let path = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 0 => Some(path.clone()),
        _ => None,
    });
    path.expect("a Path")
}

/// Node 1 gets a Path as if from 0, and these errors go back.
fn answered(change: impl Fn(&mut wire::rsvp::Path)) -> Vec<(u8, u16)> {
    answered_in(Net::new(6, &SQUARE), |_| {}, change)
}

/// The same in a network that is another one by then.
fn answered_in(
    mut net: Net,
    then: impl Fn(&mut Net),
    change: impl Fn(&mut wire::rsvp::Path),
) -> Vec<(u8, u16)> {
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    let mut path = sent(&net);
    net.command(0, Command::P2mpRemove(ID));
    net.run(50);
    net.log.clear();
    then(&mut net);
    change(&mut path);
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::Path(path)));
    net.run(1);
    let errors = net.log.iter().filter_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    });
    errors.collect()
}

/// RFC 3209, 4.2.5: trees have labels of the whole platform, and no channels.
#[test]
fn a_tree_that_asks_for_a_channel_is_refused() {
    let range = ChannelRange { vpi: (0, 0), vci: (40, 200) };
    let cells = CellLabels { range, is_path: false, is_unidirectional: false, switching: Switching::Packets };
    let request = LabelRequest::Atm {
        l3pid: LabelRequest::IPV4,
        merge: true,
        min_vpi: 0,
        min_vci: 40,
        max_vpi: 0,
        max_vci: 200,
    };
    let told = answered_in(
        Net::new(6, &SQUARE),
        |net| net.cells(1, [Some(cells)]),
        |path| path.label_request = Some(request),
    );
    assert_eq!(told, [(UNKNOWN_C_TYPE, u16::from_be_bytes([class::LABEL_REQUEST, 2]))]);
}

#[test]
fn paths_are_checked() {
    assert_eq!(answered(|_| {}), []);
    // RFC 4875, 5.2.4: LSP integrity is not to be had.
    let integrity = wire::rsvp::Unknown {
        class: 67,
        c_type: 1,
        position: wire::rsvp::Unknown::LAST,
        data: vec![0, 1, 0, 8, 0x10, 0, 0, 0],
    };
    assert_eq!(
        answered(|path| path.common.unknown.push(integrity.clone())),
        [(ROUTING, routing::UNSUPPORTED_LSP_INTEGRITY)]
    );
    // RFC 2205, 3.10: a leaf of a kind that nobody knows.
    let other = wire::rsvp::Unknown {
        class: wire::rsvp::class::S2L_SUB_LSP,
        c_type: 9,
        position: wire::rsvp::Unknown::LAST,
        data: vec![0; 4],
    };
    assert_eq!(
        answered(|path| path.common.unknown.push(other.clone())),
        [(UNKNOWN_C_TYPE, u16::from_be_bytes([wire::rsvp::class::S2L_SUB_LSP, 9]))]
    );
    // RFC 4875, 5.2.2: a secondary route goes with a route of the first leaf.
    assert_eq!(answered(|path| path.ero = None), [(ROUTING, routing::BAD_EXPLICIT_ROUTE)]);
    // What has no leaf signals nothing.
    assert_eq!(answered(|path| path.common.unknown.clear()), []);
    // A secondary route that begins nowhere, for its leaf alone (RFC 4875, 5.2.2).
    let lost = |path: &mut wire::rsvp::Path| {
        let mut leaves = path.common.sub_lsps().expect("a list");
        path.common.unknown.clear();
        leaves[1].explicit_route = Some(vec![wire::rsvp::EroHop::strict(id(99))]);
        path.common.add_sub_lsps(&leaves).expect("short");
    };
    assert_eq!(answered(lost), [(ROUTING, routing::BAD_EXPLICIT_ROUTE)]);
    // RFC 3209, 4.2.4; RFC 2205, 3.8 and 3.10.
    let l3pid = |path: &mut wire::rsvp::Path| {
        path.label_request = Some(wire::rsvp::LabelRequest::Generic { l3pid: 7 });
    };
    assert_eq!(answered(l3pid), [(ROUTING, routing::UNSUPPORTED_L3PID)]);
}

#[test]
fn lists_that_cannot_be_read_are_counted() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    let mut path = sent(&net);
    path.common.unknown.insert(
        0,
        wire::rsvp::Unknown {
            class: wire::rsvp::class::S2L_SUB_LSP,
            c_type: 9,
            position: 40,
            data: vec![0; 4],
        },
    );
    let before = net.nodes[1].counters().discarded().map(|(_, count)| count).sum::<u64>();
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::Path(path)));
    let after = net.nodes[1].counters().discarded().map(|(_, count)| count).sum::<u64>();
    assert_eq!(after, before + 1);
    assert_reached(&net, 0, &[4, 5]);
}

/// A leaf takes a label of its own, whatever the router asks for as the end of a tunnel with one end: without a label
/// the packets of different trees could not be told apart at a leaf with ways on.
#[test]
fn the_router_before_a_leaf_pops_nothing() {
    let mut net = Net::with(6, &SQUARE, |_, config| config.egress_label = EgressLabel::ImplicitNull);
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    assert!(matches!(net.tables[5].ilm.values().next().expect("an entry").next_hop, NextHop::Local));
    assert_reached(&net, 0, &[4, 5]);
}

/// RFC 4875, 11.2: a ResvErr about some leaves goes to where they are, under the names that the Paths had.
#[test]
fn reservation_errors_reach_the_leaves_that_they_name() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    let resv = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 1 => Some(resv.clone()),
        _ => None,
    });
    let resv = resv.expect("a Resv");
    let mut error = wire::rsvp::ResvErr {
        common: wire::rsvp::Common::default(),
        session: resv.session,
        hop: wire::rsvp::RsvpHop { address: Ipv4Addr::new(10, 0, 0, 1).into(), lih: 0 },
        error_spec: wire::rsvp::ErrorSpec { node: id(0).into(), flags: 0, code: ADMISSION, value: 2 },
        scope: None,
        policy_data: Vec::new(),
        style: resv.style,
        flow_descriptor: resv.flow_descriptors.first().cloned(),
    };
    error.common.add_sub_lsps(&[SubLsp::of(id(4).into())]).expect("short");
    net.log.clear();
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::ResvErr(error)));
    net.run(50);
    let told = [1, 2, 3, 4, 5].map(|node| net.sent(node, MessageType::ResvErr));
    assert_eq!(told, [1, 0, 1, 0, 0]);
    assert!(net.now.0 > 50 * MS);
}

/// What links account for follows the priorities of a tree, and all of its branches say what is new.
#[test]
fn other_attributes_reach_all_branches_and_the_links() {
    let mut net = Net::new(6, &SQUARE);
    let spec = tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10);
    set(&mut net, 0, &P2mpSpec { signalling: Signalling::Separate, ..spec });
    net.run(50);
    let mut path = sent(&net);
    path.session_attribute.as_mut().expect("a session attribute").holding_priority = 2;
    net.log.clear();
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::Path(path)));
    assert_eq!(net.sent(1, MessageType::Path), 2);
    net.run(50);
    let held: Vec<usize> = net.nodes[1]
        .links()
        .flat_map(|link| (0..8).filter(|&at| link.reserved[at].0 > 0).collect::<Vec<_>>())
        .collect();
    assert_eq!((held, net.reserved(1)), (vec![2, 2], 20));
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    assert_eq!(net.reserved(1), 0);
    net.assert_clean();
}

#[test]
fn a_refresh_of_which_no_leaf_can_be_had_takes_back_the_label() {
    let mut net = Net::new(6, &SQUARE);
    let spec = tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 10);
    set(&mut net, 0, &P2mpSpec { signalling: Signalling::Separate, ..spec });
    net.run(50);
    let mut path = sent(&net);
    // 1 has no link to the last of them.
    let ero = path.ero.as_mut().expect("a route");
    *ero = vec![ero[0].clone(), wire::rsvp::EroHop::strict(id(2))];
    net.log.clear();
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::Path(path)));
    assert_eq!((net.sent(1, MessageType::PathErr), net.sent(1, MessageType::ResvTear)), (1, 1));
    net.run(5);
    assert_eq!(
        net.tables[1].ilm.values().filter(|entry| matches!(entry.next_hop, NextHop::Via { .. })).count(),
        1
    );
    assert!(net.tables[1].lists.is_empty(), "one leaf needs no list");
}

/// A PathErr about some leaves is older than the Resv for the others. It counts when it is sent again, too.
#[test]
fn an_error_that_is_late_counts() {
    let mut net = Net::with(6, &SQUARE, |_, config| {
        config.refresh_reduction = Some(crate::rsvp::transport::RefreshReduction::default());
    });
    let mut lost = 0;
    net.lose = Some(Box::new(move |from, message| {
        let is_first = from == 5 && matches!(message, Message::PathErr(_)) && lost == 0;
        lost += u32::from(is_first);
        is_first
    }));
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 5, 3])], 10));
    net.run(3_000);
    assert_eq!(errors(&net).first(), Some(&(id(3), id(5), ROUTING, routing::BAD_STRICT_NODE)));
    assert_reached(&net, 0, &[5]);
}

/// A list of leaves that have nothing to do with the session is not a list of all.
#[test]
fn leaves_of_ipv6_tear_down_nothing() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    let path = sent(&net);
    let mut tear = wire::rsvp::PathTear {
        common: wire::rsvp::Common::default(),
        session: path.session,
        hop: path.hop,
        sender: Some(wire::rsvp::SenderDescriptor::of(path.sender_template)),
    };
    tear.common.add_sub_lsps(&[SubLsp::of(std::net::Ipv6Addr::LOCALHOST.into())]).expect("a list");
    net.inject(1, PortId(0), Ipv4Addr::new(10, 0, 0, 1), &Packet::new(64, Message::PathTear(tear)));
    net.run(50);
    assert_reached(&net, 0, &[4, 5]);
}

/// A reservation that says something else of the same leaves goes up at once.
#[test]
fn another_flowspec_goes_up_at_once() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4])], 10));
    net.run(50);
    let sent = net.log.iter().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 3 => Some(resv.clone()),
        _ => None,
    });
    let mut resv = sent.expect("a Resv");
    if let wire::rsvp::Flowspec::ControlledLoad(bucket) = &mut resv.flow_descriptors[0].flowspec {
        bucket.rate *= 2.0;
    }
    net.log.clear();
    net.inject(1, PortId(1), Ipv4Addr::new(10, 0, 1, 2), &Packet::new(63, Message::Resv(resv)));
    net.run(3);
    assert_eq!((net.sent(1, MessageType::Resv), net.reserved(0), net.reserved(1)), (1, 20, 20));
}

/// RFC 4875, 6.3.1: the RRO is that of the first leaf that is listed, also if nobody wants that one any more. RFC 4875,
/// 6.2.1: another route alone waits for the next refresh.
#[test]
fn a_recorded_route_stays_with_its_leaf() {
    let mut net = Net::new(6, &SQUARE);
    let spec = |leaves| P2mpSpec { record_route: true, ..tree(leaves, 10) };
    set(&mut net, 0, &spec(vec![leaf(&[1, 3]), leaf(&[1, 3, 4])]));
    net.run(50);
    let sent = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 3 => Some(resv.clone()),
        _ => None,
    });
    let both = sent.expect("a Resv");
    assert_eq!(both.common.sub_lsps().expect("a list")[0].leaf, id(3));
    set(&mut net, 0, &spec(vec![leaf(&[1, 3, 4])]));
    net.run(50);
    net.lose = Some(Box::new(|from, message| from == 3 && matches!(message, Message::Resv(_))));
    net.log.clear();
    net.inject(1, PortId(1), Ipv4Addr::new(10, 0, 1, 2), &Packet::new(63, Message::Resv(both)));
    assert_eq!(net.sent(1, MessageType::Resv), 0);
    net.run(60_000);
    let routes: Vec<usize> = net
        .log
        .iter()
        .filter_map(|sent| match &sent.message {
            Message::Resv(resv) if sent.from == 1 => {
                resv.flow_descriptors[0].filters[0].rro.as_ref().map(Vec::len)
            }
            _ => None,
        })
        .collect();
    assert!(!routes.is_empty() && routes.iter().all(|&hops| hops == 3), "{routes:?}");
}
