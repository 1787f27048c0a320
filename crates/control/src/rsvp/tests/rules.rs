//! Rules that are seldom met: what a ResvTear must match, errors that leave a reservation in place, recorded routes
//! that do not fit.

use super::messages::{bucket, first_address, packet, sender, session};
use super::{Net, spec};
use crate::rsvp::Event;
use crate::rsvp::command::TunnelSpec;
use base::PortId;
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, admission, notify};
use wire::rsvp::{
    Common, ErrorSpec, Filter, FlowDescriptor, Flowspec, Message, MessageType, Path, Resv, ResvErr, ResvTear,
    RsvpHop, Style,
};

/// Four routers in a row, and the address of the third towards the second.
const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

fn third(net: &Net) -> Ipv4Addr {
    first_address(net, 2)
}

/// RFC 2205, 3.1.6.
#[test]
fn a_resv_tear_of_another_style_tears_nothing_down() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, spec(9, 3, &[&[1, 2, 3]], 10));
    net.run(100);
    let from = third(&net);
    for (style, left) in [(Style::FixedFilter, Some(vec![0, 1, 2, 3])), (Style::SharedExplicit, None)] {
        let tear = ResvTear {
            common: Common::default(),
            session: session(3),
            hop: RsvpHop { address: from.into(), lih: 1 },
            scope: None,
            style,
            filters: vec![sender(1)],
        };
        net.inject(1, PortId(1), from, &packet(Message::ResvTear(tear)));
        assert_eq!(net.reserved(1), if left.is_some() { 10 } else { 0 }, "{style:?}");
    }
}

/// RFC 2205, 3.5: the existing reservation stays, and who asked for less has nothing to do with it.
#[test]
fn an_error_in_place_goes_to_those_who_asked_for_as_much() {
    for (refused, passed) in [(10, 1), (20, 0)] {
        let mut net = Net::new(4, &ROW);
        net.tunnel(0, spec(9, 3, &[&[1, 2, 3]], 10));
        net.run(100);
        let before = net.sent(1, MessageType::ResvErr);
        let from = first_address(&net, 0);
        let filter = Filter { filter_spec: sender(1), label: None, rro: None };
        let error = ResvErr {
            common: Common::default(),
            session: session(3),
            hop: RsvpHop { address: from.into(), lih: 0 },
            error_spec: ErrorSpec {
                node: from.into(),
                flags: ErrorSpec::IN_PLACE,
                code: error_code::ADMISSION,
                value: admission::BANDWIDTH,
            },
            scope: None,
            policy_data: Vec::new(),
            style: Style::SharedExplicit,
            flow_descriptor: Some(FlowDescriptor {
                flowspec: Flowspec::ControlledLoad(bucket(refused)),
                filters: vec![filter],
            }),
        };
        net.inject(1, PortId(0), from, &packet(Message::ResvErr(error)));
        assert_eq!(net.sent(1, MessageType::ResvErr) - before, passed, "{refused} Mbit/s refused");
        assert_eq!(net.trace(0, 9), Some(vec![0, 1, 2, 3]));
    }
}

fn recording() -> TunnelSpec {
    TunnelSpec { record_route: true, record_labels: true, ..spec(1, 3, &[&[1, 2, 3]], 10) }
}

/// The last Path of a node, and the last Resv.
fn last(net: &Net, node: usize) -> (Option<&Path>, Option<&Resv>) {
    let (mut path, mut resv) = (None, None);
    for sent in net.log.iter().filter(|sent| sent.from == node) {
        match &sent.message {
            Message::Path(message) => path = Some(message),
            Message::Resv(message) => resv = Some(message),
            _ => {}
        }
    }
    (path, resv)
}

/// RFC 3209, 4.4.3: the Path goes on without it, and its head end leaves it out from then on.
#[test]
fn a_recorded_route_that_a_path_has_no_room_for_is_left_out() {
    let mut net = Net::with(4, &ROW, |node, config| {
        if node == 2 {
            config.interfaces[1].mtu = 270;
        }
    });
    net.tunnel(0, recording());
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    let notified = |(node, event): &(usize, Event)| {
        let Event::LspError { code, value, .. } = event else { return false };
        *node == 0 && (*code, *value) == (error_code::NOTIFY, notify::RRO_TOO_LARGE)
    };
    assert_eq!(net.events.iter().filter(|event| notified(event)).count(), 1, "{:?}", net.events);
    for node in 0..3 {
        assert!(last(&net, node).0.is_some_and(|path| path.rro.is_none()), "node {node}");
    }
    // It is not said again with every refresh.
    net.run(200_000);
    assert_eq!(net.events.iter().filter(|event| notified(event)).count(), 1, "{:?}", net.events);
}

/// The same of a Resv: the egress is told, and the LSP comes up without.
#[test]
fn a_recorded_route_that_a_resv_has_no_room_for_is_left_out() {
    let mut net = Net::with(4, &ROW, |node, config| {
        if node == 1 {
            config.interfaces[0].mtu = 310;
        }
    });
    net.tunnel(0, recording());
    net.run(200_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    let recorded =
        |node| last(&net, node).1.map(|resv| resv.flow_descriptors[0].filters[0].rro.as_ref().map(Vec::len));
    assert_eq!([recorded(1), recorded(2), recorded(3)], [Some(None), Some(Some(4)), Some(Some(2))]);
    let errors = net.log.iter().filter_map(|sent| match &sent.message {
        Message::ResvErr(error) => Some((sent.from, error.error_spec.code, error.error_spec.value)),
        _ => None,
    });
    let too_large = |node| (node, error_code::NOTIFY, notify::RRO_TOO_LARGE);
    assert_eq!(errors.collect::<Vec<_>>(), [too_large(1), too_large(2)]);
}
