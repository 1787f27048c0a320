//! Each error with its code, and what is done with objects and messages that are not understood.

use super::bus::id;
use super::messages::{bucket, first_address, packet, path, resv, sender, session};
use super::{Net, hops, spec};
use crate::protocol::{IpArrival, Over};
use crate::rsvp::command::{Command, RouteHop, TunnelSpec};
use crate::rsvp::{Config, Discard};
use base::plane::Prefix;
use base::{Label, PortId, Rate};
use wire::rsvp::bundle::emit_bundle;
use wire::rsvp::error_code::{self, routing, traffic_control};
use wire::rsvp::{
    Adspec, AdspecFragment, EroHop, EroSubobject, Flowspec, LabelRequest, Message, MessageType, Path, Resv,
    RroSubobject, SenderTspec, Session, Style, Unknown,
};

const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

/// The code and value that node 1 answers a Path from node 0 with.
fn answer_with(
    adapt: impl Fn(usize, &mut Config),
    change: impl FnOnce(&Net, &mut Path),
) -> Option<(u8, u16)> {
    answer_where(adapt, |_| {}, change)
}

fn answer_where(
    adapt: impl Fn(usize, &mut Config),
    prepare: impl FnOnce(&mut Net),
    change: impl FnOnce(&Net, &mut Path),
) -> Option<(u8, u16)> {
    let mut net = Net::with(4, &ROW, adapt);
    prepare(&mut net);
    let mut message = path(&net, 3, &[1, 2, 3]);
    change(&net, &mut message);
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    net.run(1);
    let left = net.nodes[1].lsps().count();
    let error = net.log.iter().find_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => {
            assert_eq!(error.error_spec.node, std::net::IpAddr::V4(id(1)));
            Some((error.error_spec.code, error.error_spec.value))
        }
        _ => None,
    });
    assert_eq!(left, usize::from(error.is_none()), "a refused Path leaves nothing");
    error
}

fn answer(change: impl FnOnce(&Net, &mut Path)) -> Option<(u8, u16)> {
    answer_with(|_, _| {}, change)
}

#[test]
fn each_routing_problem_has_its_value() {
    let problem = |value| Some((error_code::ROUTING, value));
    assert_eq!(answer(|_, _| {}), None);
    let with_ero = |ero: Vec<EroHop>| answer(move |_, path| path.ero = Some(ero));
    assert_eq!(with_ero(Vec::new()), problem(routing::BAD_EXPLICIT_ROUTE));
    assert_eq!(with_ero(vec![EroHop::strict(id(2))]), problem(routing::BAD_INITIAL_SUBOBJECT));
    let skipping = vec![EroHop::strict(id(1)), EroHop::strict(id(3))];
    assert_eq!(with_ero(skipping), problem(routing::BAD_STRICT_NODE));
    let loose = vec![EroHop::strict(id(1)), EroHop::loose(id(3))];
    assert_eq!(with_ero(loose), problem(routing::BAD_LOOSE_NODE));
    assert_eq!(with_ero(vec![EroHop::strict(id(1))]), problem(routing::NO_ROUTE));
    let comes_round = |net: &Net, path: &mut Path| {
        path.rro = Some(vec![RroSubobject::address(first_address(net, 0)), RroSubobject::address(id(1))]);
    };
    assert_eq!(answer(comes_round), problem(routing::LOOP));
    let ipx = |_: &Net, path: &mut Path| path.label_request = Some(LabelRequest::Generic { l3pid: 0x8137 });
    assert_eq!(answer(ipx), problem(routing::UNSUPPORTED_L3PID));
    let no_label = |net: &mut Net| net.labels(1, 100, 99);
    assert_eq!(answer_where(|_, _| {}, no_label, |_, _| {}), problem(routing::LABEL_ALLOCATION));
}

/// RFC 3209, 4.3.6: a subobject that is not known is refused by the router that comes to it, whose PathErr holds the
/// route from there on; the others pass it on.
#[test]
fn an_unknown_subobject_counts_where_a_router_comes_to_it() {
    let label = EroSubobject::Label { upstream: false, c_type: 1, label: 20 };
    let other = EroSubobject::Unknown { kind: 99, data: vec![1, 2, 3, 4, 5, 6] };
    for node in [label, other] {
        let strange = EroHop { loose: false, node };
        let mut net = Net::new(4, &ROW);
        let mut message = path(&net, 3, &[1, 2, 3]);
        let hops = message.ero.as_mut().expect("a route");
        hops.insert(2, strange.clone());
        let from = first_address(&net, 0);
        net.inject(1, PortId(0), from, &packet(Message::Path(message)));
        net.run(100);
        let errors: Vec<_> = net
            .log
            .iter()
            .filter_map(|sent| match &sent.message {
                Message::PathErr(error) => Some((sent.from, error.error_spec.node, error.ero.clone())),
                _ => None,
            })
            .collect();
        let rest = vec![strange, EroHop::strict(id(3))];
        let at = std::net::IpAddr::V4(id(2));
        assert_eq!(errors, [(2, at, Some(rest.clone())), (1, at, Some(rest))]);
        let problem =
            net.nodes[2].counters().errors_sent_of(error_code::ROUTING, routing::BAD_EXPLICIT_ROUTE);
        assert_eq!(problem, 1);
    }
    // Other errors need no route.
    let mut net = Net::new(4, &ROW);
    let mut message = path(&net, 3, &[1, 2, 3]);
    message.ero = Some(vec![EroHop::strict(id(2))]);
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    let bare =
        |sent: &super::bus::Sent| matches!(&sent.message, Message::PathErr(error) if error.ero.is_none());
    assert!(net.log.iter().any(bare));
}

#[test]
fn other_errors_have_their_codes() {
    let busy = |_: usize, config: &mut Config| {
        config.interfaces.iter_mut().for_each(|interface| interface.reservable = Rate::from_mbps(9));
    };
    assert_eq!(answer_with(busy, |_, _| {}), Some((error_code::ADMISSION, error_code::admission::BANDWIDTH)));
    let unsound = |_: &Net, path: &mut Path| {
        path.sender_tspec = SenderTspec(wire::rsvp::TokenBucket { rate: f32::NAN, ..bucket(1) });
    };
    assert_eq!(answer(unsound), Some((error_code::TRAFFIC_CONTROL, traffic_control::BAD_TSPEC)));
    let full = |_: usize, config: &mut Config| config.limits.lsps = 0;
    assert_eq!(answer_with(full, |_, _| {}), Some((error_code::RSVP_SYSTEM, 0)));
    // Services of an ADSPEC that are not known are kept, as unknown objects are: up to 1024 bytes of both.
    let services = |each: usize| {
        move |_: &Net, path: &mut Path| {
            let fragment = |service| AdspecFragment { service, break_bit: false, data: vec![0; each] };
            let others = (10..14).map(fragment).collect();
            let general = wire::rsvp::General::default();
            path.adspec = Some(Adspec { general, guaranteed: None, controlled_load: None, others });
        }
    };
    assert_eq!((answer(services(256)), answer(services(260))), (None, Some((error_code::RSVP_SYSTEM, 0))));
    let classic = |_: &Net, path: &mut Path| {
        path.session = Session::Ipv4 { destination: id(3), protocol: 17, flags: 0, port: 5 };
    };
    assert_eq!(answer(classic), Some((error_code::UNKNOWN_C_TYPE, 0x0101)));
}

#[test]
fn a_router_that_does_not_speak_rsvp_is_noticed() {
    let mut net = Net::new(4, &ROW);
    let mut bytes = Vec::new();
    packet(Message::Path(path(&net, 3, &[1, 2, 3]))).emit(&mut bytes).expect("a message");
    let arrival = IpArrival {
        over: Over::Ip(46),
        port: PortId(0),
        src: id(0),
        dst: id(3),
        ttl: 63,
        router_alert: true,
    };
    net.nodes[1].handle_message(net.now, &arrival, &bytes);
    assert_eq!(net.nodes[1].counters().errors_sent_of(error_code::ROUTING, routing::NON_RSVP_ROUTER), 1);
    assert_eq!(net.nodes[1].lsps().count(), 0);
}

#[test]
fn the_two_high_bits_of_an_unknown_class_decide() {
    let object = |class| Unknown { class, c_type: 9, position: Unknown::LAST, data: vec![1, 2, 3, 4] };
    let with = |class: u8| answer(move |_, path| path.common.unknown.push(object(class)));
    assert_eq!(with(0x7e), Some((error_code::UNKNOWN_CLASS, 0x7e09)));
    // A known class, another C-Type.
    use wire::rsvp::class::{ADSPEC, LABEL_REQUEST, MESSAGE_ID, POLICY_DATA, SESSION_ATTRIBUTE};
    for class in [LABEL_REQUEST, ADSPEC, POLICY_DATA, SESSION_ATTRIBUTE, MESSAGE_ID] {
        let value = u16::from_be_bytes([class, 9]);
        assert_eq!(with(class), Some((error_code::UNKNOWN_C_TYPE, value)));
    }
    for (class, forwarded) in [(0x9f, 0), (0xdf, 1)] {
        let mut net = Net::new(4, &ROW);
        let mut message = path(&net, 3, &[1, 2, 3]);
        message.common.unknown.push(object(class));
        let from = first_address(&net, 0);
        net.inject(1, PortId(0), from, &packet(Message::Path(message)));
        net.run(10);
        let onward = net.log.iter().find_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 2 => Some(path.common.unknown.len()),
            _ => None,
        });
        assert_eq!(onward, Some(forwarded), "class {class:#x}");
    }
}

#[test]
fn a_path_err_says_all_that_the_path_said_of_its_sender() {
    let mut net = Net::new(4, &ROW);
    let mut message = path(&net, 3, &[1]);
    let general = wire::rsvp::General { hops: 1, mtu: 1400, ..wire::rsvp::General::default() };
    let adspec = wire::rsvp::Adspec { general, guaranteed: None, controlled_load: None, others: Vec::new() };
    message.adspec = Some(adspec);
    message.rro = Some(vec![RroSubobject::address(first_address(&net, 0))]);
    let sent = message.clone();
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    let sender = net.log.iter().find_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => error.sender.clone(),
        _ => None,
    });
    let sender = sender.expect("a PathErr");
    assert_eq!(
        (sender.sender_template, sender.sender_tspec),
        (sent.sender_template, Some(sent.sender_tspec))
    );
    assert_eq!((sender.adspec, sender.rro), (sent.adspec, sent.rro));
}

#[test]
fn a_path_tear_is_passed_on_as_it_came() {
    let mut net = Net::new(4, &ROW);
    let message = path(&net, 3, &[1, 2, 3]);
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message.clone())));
    net.run(10);
    let object = |class| Unknown { class, c_type: 9, position: Unknown::LAST, data: vec![1, 2, 3, 4] };
    let tear = wire::rsvp::PathTear {
        common: wire::rsvp::Common { unknown: vec![object(0x9f), object(0xdf)], ..Default::default() },
        session: message.session,
        hop: message.hop,
        sender: Some(wire::rsvp::SenderDescriptor::of(message.sender_template)),
    };
    net.inject(1, PortId(0), from, &packet(Message::PathTear(tear.clone())));
    let passed = net.log.iter().find_map(|sent| match &sent.message {
        Message::PathTear(tear) if sent.from == 1 => Some(tear.clone()),
        _ => None,
    });
    let passed = passed.expect("a PathTear");
    assert_eq!(passed.sender, tear.sender);
    let classes: Vec<u8> = passed.common.unknown.iter().map(|object| object.class).collect();
    assert_eq!(classes, [0xdf], "what is to be forwarded unexamined");
    assert_ne!(passed.hop, tear.hop);
}

#[test]
fn a_bad_message_of_a_bundle_is_answered_as_if_it_had_come_alone() {
    let mut net = Net::new(4, &ROW);
    let good = path(&net, 3, &[1, 2, 3]);
    let mut bad = path(&net, 3, &[1, 2, 3]);
    bad.common.unknown.push(Unknown {
        class: 0x7e,
        c_type: 9,
        position: Unknown::LAST,
        data: vec![1, 2, 3, 4],
    });
    let emit = |message| {
        let mut bytes = Vec::new();
        packet(Message::Path(message)).emit(&mut bytes).expect("a message");
        bytes
    };
    let (good, bad) = (emit(good), emit(bad));
    let mut bundle = Vec::new();
    emit_bundle(0, 63, [&good[..], &bad[..]], &mut bundle).expect("a Bundle");
    let from = first_address(&net, 0);
    net.inject_bytes(1, PortId(0), from, 63, &bundle);
    let answers = net.log.iter().filter_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [(error_code::UNKNOWN_CLASS, 0x7e09)]);
    assert_eq!(net.nodes[1].lsps().count(), 1, "the good one counts");
}

#[test]
fn errors_reach_the_head_end() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, spec(1, 3, &[&[1, 3]], 1));
    net.tunnel(0, spec(2, 3, &[&[1, 2]], 1));
    net.tunnel(0, spec(3, 3, &[&[2, 3]], 1));
    let loose = RouteHop { prefix: Prefix::host(id(9)), loose: true };
    net.tunnel(
        0,
        TunnelSpec { routes: vec![vec![hops(&[1])[0], hops(&[2])[0], loose]], ..spec(4, 3, &[], 1) },
    );
    net.run(100);
    assert_eq!(
        net.errors(0),
        [
            (id(0), error_code::ROUTING, routing::BAD_STRICT_NODE),
            (id(1), error_code::ROUTING, routing::BAD_STRICT_NODE),
            (id(2), error_code::ROUTING, routing::BAD_LOOSE_NODE),
        ],
        "tunnel 2 is set up: the route may end before the tunnel does, if the end is the neighbour"
    );
    assert_eq!(net.trace(0, 2), Some(vec![0, 1, 2, 3]));
    for tunnel in 1..=4 {
        net.command(0, Command::TunnelRemove(crate::rsvp::command::TunnelId { to: id(3), id: tunnel }));
    }
    net.run(100);
    net.assert_clean();
}

/// The code and value that node 1 answers a Resv from node 2 with, when it has path state of two LSPs.
fn resv_answer(change: impl FnOnce(&mut Resv)) -> Option<(u8, u16)> {
    let mut net = Net::new(4, &ROW);
    // Node 2 answers nothing by itself.
    net.lose = Some(Box::new(|node, _| node == 1));
    let from = first_address(&net, 0);
    for lsp_id in [1, 2] {
        let message = Path { sender_template: sender(lsp_id), ..path(&net, 3, &[1, 2, 3]) };
        net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    }
    let next = first_address(&net, 2);
    net.inject(1, PortId(1), next, &packet(Message::Resv(resv(3, next, Style::FixedFilter, &[1], 500))));
    net.run(1);
    assert_eq!((net.reserved(1), net.sent(1, MessageType::Resv)), (10, 1));
    let mut message = resv(3, next, Style::FixedFilter, &[2], 501);
    change(&mut message);
    net.inject(1, PortId(1), next, &packet(Message::Resv(message)));
    net.run(1);
    net.log.iter().find_map(|sent| match &sent.message {
        Message::ResvErr(error) => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    })
}

#[test]
fn each_fault_of_a_resv_has_its_code() {
    assert_eq!(resv_answer(|_| {}), None);
    let elsewhere = |resv: &mut Resv| resv.session = session(2);
    assert_eq!(resv_answer(elsewhere), Some((error_code::NO_PATH, 0)));
    let stranger = |resv: &mut Resv| resv.flow_descriptors[0].filters[0].filter_spec = sender(3);
    assert_eq!(resv_answer(stranger), Some((error_code::NO_SENDER, 0)));
    let style = |resv: &mut Resv| resv.style = Style::SharedExplicit;
    assert_eq!(resv_answer(style), Some((error_code::CONFLICTING_STYLE, 0b01010)));
    let wildcard = |resv: &mut Resv| {
        resv.style = Style::WildcardFilter;
        resv.flow_descriptors[0].filters.clear();
    };
    assert_eq!(resv_answer(wildcard), Some((error_code::UNKNOWN_STYLE, 0)));
    let reserved = |resv: &mut Resv| resv.flow_descriptors[0].filters[0].label = Some(Label::ROUTER_ALERT);
    assert_eq!(resv_answer(reserved), Some((error_code::ROUTING, routing::UNACCEPTABLE_LABEL)));
    let negative = |resv: &mut Resv| {
        let bucket = wire::rsvp::TokenBucket { rate: -1.0, ..bucket(1) };
        resv.flow_descriptors[0].flowspec = Flowspec::ControlledLoad(bucket);
    };
    assert_eq!(resv_answer(negative), Some((error_code::TRAFFIC_CONTROL, traffic_control::BAD_FLOWSPEC)));
    let greedy =
        |resv: &mut Resv| resv.flow_descriptors[0].flowspec = Flowspec::ControlledLoad(bucket(2_000));
    assert_eq!(resv_answer(greedy), Some((error_code::ADMISSION, error_code::admission::BANDWIDTH)));
    let object = Unknown { class: 0x7e, c_type: 1, position: Unknown::LAST, data: vec![0; 4] };
    let unknown = |resv: &mut Resv| resv.common.unknown.push(object);
    assert_eq!(resv_answer(unknown), Some((error_code::UNKNOWN_CLASS, 0x7e01)));
}

#[test]
fn a_full_table_is_a_label_that_cannot_be_had() {
    let mut net = Net::new(4, &ROW);
    net.tables[2].full = true;
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    assert_eq!(net.errors(0), [(id(2), error_code::ROUTING, routing::LABEL_ALLOCATION)]);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

#[test]
fn what_cannot_be_read_is_counted() {
    let mut net = Net::new(2, &[(0, 1)]);
    let arrival = IpArrival {
        over: Over::Ip(46),
        port: PortId(0),
        src: id(0),
        dst: id(1),
        ttl: 64,
        router_alert: true,
    };
    let mut bytes = Vec::new();
    packet(Message::Path(path(&net, 1, &[1]))).emit(&mut bytes).expect("a message");
    for cut in 0..bytes.len() {
        net.nodes[1].handle_message(net.now, &arrival, &bytes[..cut]);
    }
    assert_eq!(net.nodes[1].counters().discarded_for(Discard::Malformed), bytes.len() as u64);
    assert!(net.nodes[1].audit().is_empty());
    // An object with a C-Type that nobody knows makes the Path unreadable, and is answered.
    let mut message = path(&net, 1, &[1]);
    message.label_request = None;
    let object =
        Unknown { class: wire::rsvp::class::LABEL_REQUEST, c_type: 9, position: 4, data: vec![0; 4] };
    message.common.unknown.push(object);
    bytes.clear();
    if packet(Message::Path(message)).emit(&mut bytes).is_ok() {
        net.nodes[1].handle_message(net.now, &arrival, &bytes);
        let counters = net.nodes[1].counters();
        assert_eq!(counters.errors_sent_of(error_code::UNKNOWN_C_TYPE, 0x1309), 1);
    }
}

#[test]
fn messages_from_the_wrong_side_change_nothing() {
    let mut net = Net::new(4, &ROW);
    net.tunnel(0, spec(9, 3, &[&[1, 2, 3]], 10));
    net.run(100);
    let wrong = first_address(&net, 2);
    let tear = wire::rsvp::PathTear {
        common: wire::rsvp::Common::default(),
        session: session(3),
        hop: wire::rsvp::RsvpHop { address: wrong.into(), lih: 0 },
        sender: Some(wire::rsvp::SenderDescriptor::of(sender(1))),
    };
    net.inject(1, PortId(1), wrong, &packet(Message::PathTear(tear)));
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Resv(resv(3, from, Style::SharedExplicit, &[1], 99))));
    // By the right port, but of a hop that the Path did not go to (RFC 2205, 3.1.4).
    let foreign = std::net::Ipv4Addr::new(192, 0, 2, 66);
    let message = resv(3, foreign, Style::SharedExplicit, &[1], 99);
    let tear = wire::rsvp::ResvTear {
        common: wire::rsvp::Common::default(),
        session: session(3),
        hop: message.hop,
        scope: None,
        style: Style::SharedExplicit,
        filters: vec![sender(1)],
    };
    net.inject(1, PortId(1), wrong, &packet(Message::Resv(message)));
    net.inject(1, PortId(1), wrong, &packet(Message::ResvTear(tear)));
    net.run(100);
    assert_eq!(net.trace(0, 9), Some(vec![0, 1, 2, 3]));
    assert_eq!(net.nodes[1].counters().discarded_for(Discard::WrongHop), 4);
}
