//! What summaries and repeated messages refresh (RFC 2961, 5.3): as much as the full message, and no more.

use super::Net;
use super::bus::{Sent, id};
use super::messages::{bucket, first_address, path, resv, sender, session};
use crate::rsvp::Discard;
use crate::rsvp::transport::RefreshReduction;
use base::plane::{NextHop, Prefix};
use base::{Label, PortId};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, admission, routing};
use wire::rsvp::{
    Common, ErrorSpec, Filter, FlowDescriptor, Flowspec, Message, MessageId, MessageIdList, MessageType,
    Packet, PathErr, PathTear, Resv, ResvErr, ResvTear, RsvpHop, SenderDescriptor, Srefresh, Style,
    TimeValues,
};

const EPOCH: u32 = 77;

/// The second of four routers; its neighbours are played by hand.
pub(super) fn alone() -> Net {
    let mut net = Net::with(4, &[(0, 1), (1, 2), (2, 3)], |node, config| {
        if node == 1 {
            config.refresh_reduction = Some(RefreshReduction::default());
        }
    });
    net.lose = Some(Box::new(|_, _| true));
    net
}

/// A message of a neighbour that is capable of refresh reduction.
pub(super) fn say(net: &mut Net, from: Ipv4Addr, port: u16, number: u32, mut message: Message) {
    if let (Some(common), false) = (message.common_mut(), number == 0) {
        common.message_id = Some(MessageId { flags: MessageId::ACK_DESIRED, epoch: EPOCH, id: number });
    }
    let packet = Packet { flags: Packet::REFRESH_REDUCTION_CAPABLE, ..Packet::new(64, message) };
    net.inject(1, PortId(port), from, &packet);
    net.run(1);
}

/// A Path of LSP `lsp_id` that lives for some hours.
pub(super) fn lasting(net: &Net, lsp_id: u16) -> Message {
    let mut message = path(net, 3, &[1, 2, 3]);
    message.sender_template = sender(lsp_id);
    message.time_values = TimeValues { refresh_ms: 3_600_000 };
    Message::Path(message)
}

pub(super) fn summary(ids: &[u32]) -> Message {
    let list = MessageIdList::List { flags: 0, epoch: EPOCH, ids: ids.to_vec() };
    Message::Srefresh(Srefresh { common: Common::default(), lists: vec![list] })
}

/// LSP ids that are reserved at the router.
fn reserved(net: &Net) -> Vec<u16> {
    let mut found: Vec<u16> = net.nodes[1].lsps().filter(|lsp| lsp.installed).map(|lsp| lsp.lsp_id).collect();
    found.sort_unstable();
    found
}

/// One Resv for several LSPs, each with a label of its own.
fn of_several(from: Ipv4Addr, style: Style, lsp_ids: &[u16]) -> Resv {
    let flowspec = Flowspec::ControlledLoad(bucket(10));
    let filter = |&lsp_id: &u16| Filter {
        filter_spec: sender(lsp_id),
        label: Label::new(100 + u32::from(lsp_id)),
        rro: None,
    };
    let filters: Vec<Filter> = lsp_ids.iter().map(filter).collect();
    let flow_descriptors = match style {
        Style::SharedExplicit => vec![FlowDescriptor { flowspec, filters }],
        _ => filters.into_iter().map(|filter| FlowDescriptor { flowspec, filters: vec![filter] }).collect(),
    };
    Resv { flow_descriptors, ..resv(3, from, style, &[], 0) }
}

/// All that the message set is refreshed, and nothing else; by a summary, and by the same message again.
#[test]
fn a_resv_with_several_senders_is_refreshed_as_a_whole_and_alone() {
    for style in [Style::SharedExplicit, Style::FixedFilter] {
        for summarised in [true, false] {
            let mut net = alone();
            let (west, east) = (first_address(&net, 0), first_address(&net, 2));
            for lsp_id in 1..=3 {
                let message = lasting(&net, lsp_id);
                say(&mut net, west, 0, u32::from(lsp_id), message);
            }
            let pair = Message::Resv(of_several(east, style, &[1, 2]));
            say(&mut net, east, 1, 10, pair.clone());
            say(&mut net, east, 1, 11, Message::Resv(of_several(east, style, &[3])));
            assert_eq!(reserved(&net), [1, 2, 3], "{style:?}");
            // R is 30 s, and a lifetime 157.5 s.
            for _ in 0..8 {
                net.run(30_000);
                let again = if summarised { (0, summary(&[10])) } else { (10, pair.clone()) };
                say(&mut net, east, 1, again.0, again.1);
            }
            assert_eq!(reserved(&net), [1, 2], "{style:?}, by summary: {summarised}");
            // One of them goes on under another identifier.
            say(&mut net, east, 1, 12, Message::Resv(of_several(east, style, &[2])));
            for _ in 0..8 {
                net.run(30_000);
                say(&mut net, east, 1, 0, summary(&[12]));
            }
            assert_eq!(reserved(&net), [2], "{style:?}, by summary: {summarised}");
        }
    }
}

/// Codes of the errors that the router sent upstream.
fn path_errors(net: &Net) -> Vec<(u8, u16)> {
    let error = |sent: &Sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    };
    net.log.iter().filter_map(error).collect()
}

/// RFC 2961, 5.3: what a Path would do, its identifier does: the LSP finds another way.
#[test]
fn a_summary_finds_another_way_for_an_lsp_without_one() {
    for summarised in [true, false] {
        let mut net = alone();
        let (west, east) = (first_address(&net, 0), first_address(&net, 2));
        let far = Prefix::host(id(3));
        let next = NextHop::Via { port: PortId(1), gateway: east.into() };
        net.route(1, far, Some(next));
        let mut message = path(&net, 3, &[]);
        message.ero = None;
        let message = Message::Path(message);
        say(&mut net, west, 0, 5, message.clone());
        let again = |net: &mut Net| {
            let (number, message) = if summarised { (0, summary(&[5])) } else { (5, message.clone()) };
            say(net, west, 0, number, message);
        };
        assert_eq!(net.sent(1, MessageType::Path), 1);
        net.link(1, 2, false);
        let lost = (error_code::ROUTING, routing::NO_ROUTE);
        assert_eq!(path_errors(&net), [lost]);
        again(&mut net);
        assert_eq!(path_errors(&net), [lost; 2], "refused as a Path is");
        net.link(1, 2, true);
        assert_eq!(net.sent(1, MessageType::Path), 1);
        again(&mut net);
        let paths = net.sent(1, MessageType::Path);
        assert!(paths > 1, "by summary: {summarised}");
        let hop = net.nodes[1].lsps().next().and_then(|lsp| lsp.next_hop);
        assert_eq!(hop.map(|hop| hop.address), Some(east));
        // Refused refreshes keep nothing alive.
        net.link(1, 2, false);
        for _ in 0..8 {
            again(&mut net);
            net.run(30_000);
        }
        assert_eq!(net.nodes[1].lsps().count(), 0, "by summary: {summarised}");
    }
}

/// RFC 2961, 4.5: a tear or an error that is older than the state is not followed.
#[test]
fn tears_and_errors_that_come_too_late_change_nothing() {
    let mut net = alone();
    let (west, east) = (first_address(&net, 0), first_address(&net, 2));
    let message = lasting(&net, 1);
    say(&mut net, west, 0, 7, message);
    say(&mut net, east, 1, 17, Message::Resv(of_several(east, Style::FixedFilter, &[1])));
    let hop = |address: Ipv4Addr| RsvpHop { address: address.into(), lih: 77 };
    let filter_spec = sender(1);
    let spec = |node: Ipv4Addr, code, value| ErrorSpec { node: node.into(), flags: 0, code, value };
    let path_err = Message::PathErr(PathErr {
        common: Common::default(),
        session: session(3),
        error_spec: spec(east, error_code::ROUTING, routing::NO_ROUTE),
        policy_data: Vec::new(),
        sender: Some(SenderDescriptor::of(sender(1))),
        ero: None,
    });
    let filter = Filter { filter_spec, label: None, rro: None };
    let flowspec = Flowspec::ControlledLoad(bucket(10));
    let resv_err = Message::ResvErr(ResvErr {
        common: Common::default(),
        session: session(3),
        hop: hop(west),
        error_spec: spec(west, error_code::ADMISSION, admission::BANDWIDTH),
        scope: None,
        policy_data: Vec::new(),
        style: Style::FixedFilter,
        flow_descriptor: Some(FlowDescriptor { flowspec, filters: vec![filter] }),
    });
    let resv_tear = Message::ResvTear(ResvTear {
        common: Common::default(),
        session: session(3),
        hop: hop(east),
        scope: None,
        style: Style::FixedFilter,
        filters: vec![filter_spec],
    });
    let path_tear = Message::PathTear(PathTear {
        common: Common::default(),
        session: session(3),
        hop: hop(west),
        sender: Some(SenderDescriptor::of(sender(1))),
    });
    // From the west, where a Path was number 7; from the east, where a Resv was number 17.
    let said = [
        (east, 1, 17, path_err, MessageType::PathErr),
        (west, 0, 7, resv_err, MessageType::ResvErr),
        (east, 1, 17, resv_tear, MessageType::ResvTear),
        (west, 0, 7, path_tear, MessageType::PathTear),
    ];
    for (step, (from, port, last, message, kind)) in said.into_iter().enumerate() {
        let before = net.nodes[1].counters().discarded_for(Discard::OutOfOrder);
        let (passed, kept) = (net.sent(1, kind), (reserved(&net), net.nodes[1].lsps().count()));
        say(&mut net, from, port, last - 1 - step as u32, message.clone());
        assert_eq!(net.nodes[1].counters().discarded_for(Discard::OutOfOrder), before + 1, "{kind:?}");
        assert_eq!(net.sent(1, kind), passed, "{kind:?}");
        assert_eq!((reserved(&net), net.nodes[1].lsps().count()), kept, "{kind:?}");
        say(&mut net, from, port, last + 1 + step as u32, message);
        assert_eq!(net.sent(1, kind), passed + 1, "{kind:?}");
    }
    assert_eq!(net.nodes[1].lsps().count(), 0);
}

/// RFC 2209, 2, PATH REFRESH: a Path whose TTL would be zero does not go on, nor does a summary in its place.
#[test]
fn paths_do_not_go_on_with_a_ttl_of_zero() {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)]);
    net.lose = Some(Box::new(|_, _| true));
    let west = first_address(&net, 0);
    let message = Message::Path(path(&net, 3, &[1, 2, 3]));
    let mut hear = |ttl| {
        let before = net.sent(1, MessageType::Path);
        for _ in 0..10 {
            net.inject(1, PortId(0), west, &Packet::new(ttl, message.clone()));
            net.run(30_000);
        }
        assert_eq!(net.nodes[1].lsps().count(), 1, "TTL {ttl}");
        net.sent(1, MessageType::Path) - before
    };
    assert!(hear(64) > 5);
    assert_eq!(hear(1), 0);
    assert!(hear(2) > 5);
}
