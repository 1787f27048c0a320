//! A link of ATM, whose labels are channels (RFC 3035, and RFC 5036, 2.2.1, 3.4.2.2 and 3.5.3).

use super::super::Config;
use super::super::session::SessionState;
use super::answers::{Bench, OTHER, OWN, THEIRS, fec, generic};
use crate::services::sessions::SessionEvent;
use crate::services::{CellLabels, Switching};
use base::plane::{ChannelRange, CircuitTo, TableOp};
use base::{Label, PortId};
use core::net::{Ipv4Addr, SocketAddr};
use wire::ldp::*;

const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

fn cells(switching: Switching) -> CellLabels {
    let range = ChannelRange { vpi: (0, 1), vci: (40, 1_000) };
    CellLabels { range, is_path: false, is_unidirectional: false, switching }
}

/// A router with a link of cells, and a neighbour there that has said Hello.
fn bench(switching: Switching, change: impl FnOnce(&mut Config)) -> Bench {
    let mut bench = Bench::with(|config| {
        config.cells.insert(PortId(0), cells(switching));
        change(config);
    });
    bench.space = 5;
    bench.greet();
    bench
}

fn atm(vpi: u16, vci: u16) -> AnyLabel {
    AnyLabel::Atm(AtmLabel { counts: Counts::Both, vpi, vci }.word())
}

/// How the neighbour wants the session.
fn wanted(atm: Option<AtmSession>) -> Body {
    let Body::Initialization(usual) = Bench::initialization(9, OWN) else { panic!("it is one") };
    let receiver = LdpId { router: OWN, space: 1 };
    Body::Initialization(Initialization { receiver, atm: atm.map(|atm| atm.emit()), ..usual })
}

fn said(ranges: &[ChannelRange], is_unidirectional: bool) -> Option<AtmSession> {
    Some(AtmSession { merge: Merge::Nothing, is_unidirectional, ranges: ranges.to_vec() })
}

fn whole() -> ChannelRange {
    ChannelRange { vpi: (0, 4), vci: (33, 500) }
}

/// A session that is established, and what was said when it was.
fn established(switching: Switching, change: impl FnOnce(&mut Config)) -> (Bench, Vec<Body>) {
    let mut bench = bench(switching, change);
    let said_ = connect(&mut bench, wanted(said(&[whole()], false)));
    assert_eq!(bench.state(), Some(SessionState::OpenRec));
    bench.say(Body::KeepAlive);
    assert_eq!(bench.state(), Some(SessionState::Operational));
    (bench, said_)
}

/// The neighbour connects and says how it wants the session; what is answered.
fn connect(bench: &mut Bench, initialization: Body) -> Vec<Body> {
    let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
    bench.event(SessionEvent::Accepted { local, remote });
    bench.say(initialization);
    bench.heard()
}

fn request(hops: u8) -> Body {
    Body::Request { fec: fec(FAR), hops: Some(hops), path: None }
}

#[test]
fn a_link_of_cells_has_a_label_space_of_its_own() {
    let mut bench = bench(Switching::Cells, |_| {});
    assert_eq!(bench.ldp.ignored, 1, "a Hello of the whole router's labels is nothing there");
    // The session is with the space of the link.
    let [Body::Initialization(init), Body::KeepAlive] =
        &connect(&mut bench, wanted(said(&[whole()], false)))[..]
    else {
        panic!("it is accepted")
    };
    assert_eq!(init.receiver, LdpId { router: OTHER, space: 5 });
    let session = bench.ldp.sessions().next().expect("a session");
    assert_eq!(session.own, LdpId { router: OWN, space: 1 });
    // One with the whole router is not.
    let mut bench = self::bench(Switching::Cells, |_| {});
    let answer = connect(&mut bench, Bench::initialization(9, OWN));
    assert!(
        matches!(answer[..], [Body::Notification { notice, .. }] if notice.code == Status::RejectedNoHello.code())
    );
}

#[test]
fn labels_are_given_on_demand_whatever_both_say() {
    let (bench, said) = established(Switching::Cells, |_| {});
    let [Body::Initialization(init), Body::KeepAlive] = &said[..] else { panic!("{said:?}") };
    assert!(init.on_demand);
    let atm = AtmSession::parse(init.atm.as_ref().expect("channels")).expect("well-formed");
    assert_eq!((atm.merge, atm.ranges), (Merge::Nothing, vec![cells(Switching::Cells).range]));
    let session = bench.ldp.sessions().next().expect("a session");
    assert!(session.on_demand, "the neighbour has not said so");
    let (mut bench, _) = established(Switching::MergedCells, |_| {});
    assert!(bench.heard().iter().all(|body| !matches!(body, Body::Mapping { .. })), "nobody has asked");
}

#[test]
fn ranges_are_what_both_ends_have() {
    let ranges = |bench: &Bench| -> Vec<ChannelRange> {
        bench.ldp.sessions().filter_map(|one| one.channels.clone()).flat_map(|one| one.ranges).collect()
    };
    let of = |vpi, vci| ChannelRange { vpi, vci };
    let mut one = bench(Switching::Cells, |_| {});
    connect(&mut one, wanted(said(&[of((1, 9), (0, 99)), of((0, 0), (900, 2_000))], false)));
    assert_eq!(ranges(&one), [of((1, 1), (40, 99)), of((0, 0), (900, 1_000))]);
    // RFC 3035, 7.1: VCI 0 to 32 are no labels, though both ends should say so.
    let mut low = bench(Switching::Cells, |config| {
        config.cells.get_mut(&PortId(0)).expect("cells").range.vci = (5, 60);
    });
    connect(&mut low, wanted(said(&[of((0, 0), (0, 50))], false)));
    assert_eq!(ranges(&low), [of((0, 0), (33, 50))]);
    let nothing = [
        (said(&[of((2, 9), (40, 99))], false), Status::RejectedLabelRange),
        (said(&[of((0, 0), (10, 39))], false), Status::RejectedLabelRange),
        (None, Status::RejectedLabelRange),
        (said(&[of((0, 0), (60, 50))], false), Status::MalformedTlvValue),
    ];
    for (said, status) in nothing {
        let mut bench = bench(Switching::Cells, |_| {});
        let answer = connect(&mut bench, wanted(said));
        let [Body::Notification { notice, .. }] = answer[..] else { panic!("{answer:?}") };
        assert_eq!((Status::of(notice.code), bench.state(), bench.is_closed), (Some(status), None, true));
    }
}

#[test]
fn a_channel_may_be_a_label_in_one_direction_alone() {
    // The neighbour's router id is the greater one, so that this router gives even channels.
    let mut bench = bench(Switching::Packets, |_| {});
    connect(&mut bench, wanted(said(&[whole()], true)));
    bench.say(Body::KeepAlive);
    bench.heard();
    for _ in 0..3 {
        bench.say(Body::Request { fec: fec(OWN), hops: Some(1), path: None });
    }
    let session = bench.ldp.sessions().next().expect("a session");
    assert_eq!(session.channels.as_ref().map(|one| one.gives()), Some("even"));
    let given: Vec<AnyLabel> = bench
        .heard()
        .iter()
        .filter_map(|body| match body {
            Body::Mapping { label, .. } => Some(*label),
            _ => None,
        })
        .collect();
    // All three have the number of one request, of which the second and third are duplicates.
    assert_eq!(given, [atm(0, 40)]);
}

#[test]
fn labels_of_a_link_are_channels_in_its_range() {
    let (mut bench, _) = established(Switching::Packets, |_| {});
    bench.heard();
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.route(FAR, true);
    let mapping =
        |label| Body::Mapping { fecs: vec![fec(FAR)], label, request: None, hops: Some(3), path: None };
    let release = |label| Body::Release { fec: fec(FAR), label: Some(label), notice: None };
    bench.heard();
    let path_alone = AnyLabel::Atm(AtmLabel { counts: Counts::Vpi, vpi: 1, vci: 0 }.word());
    for label in [atm(0, 39), atm(0, 501), atm(2, 50), path_alone, generic(50)] {
        bench.say(mapping(label));
        assert_eq!(bench.heard(), [release(label)], "it is none that both ends have");
    }
    bench.ops.clear();
    bench.say(mapping(atm(1, 50)));
    assert_eq!(bench.heard(), []);
    let label = Label::truncate(1 << 16 | 50);
    assert_eq!(bench.ops.first(), Some(&TableOp::CircuitHops { port: PortId(0), label, hops: Some(3) }));
    // RFC 3035, 7.2: over a virtual path the channel alone counts.
    let channel_alone = AnyLabel::Atm(AtmLabel { counts: Counts::Vci, vpi: 0, vci: 51 }.word());
    bench.say(mapping(channel_alone));
    assert_eq!(
        bench.heard(),
        [release(atm(1, 50))],
        "a router that puts packets together has one for each prefix"
    );
}

/// RFC 3035, 7.2, and RFC 5036, 3.5.3: the path is called 7 here, and what it is called there is of no interest.
#[test]
fn over_a_virtual_path_labels_are_in_the_vci() {
    let (mut bench, said) = established(Switching::Packets, |config| {
        let cells = config.cells.get_mut(&PortId(0)).expect("cells");
        (cells.range.vpi, cells.is_path) = ((7, 7), true);
    });
    let [Body::Initialization(init), Body::KeepAlive] = &said[..] else { panic!("{said:?}") };
    let atm = AtmSession::parse(init.atm.as_ref().expect("channels")).expect("well-formed");
    assert_eq!(atm.ranges, [ChannelRange { vpi: (0, 0), vci: (40, 1_000) }]);
    let session = bench.ldp.sessions().next().expect("a session");
    let agreed = session.channels.as_ref().map(|channels| channels.ranges.clone());
    assert_eq!(agreed, Some(vec![ChannelRange { vpi: (7, 7), vci: (40, 500) }]));
    bench.heard();
    bench.ops.clear();
    // A label that is given.
    let channel = |vpi, vci| AnyLabel::Atm(AtmLabel { counts: Counts::Vci, vpi, vci }.word());
    bench.say(Body::Request { fec: fec(OWN), hops: Some(4), path: None });
    let given = bench.heard();
    assert!(matches!(given[..], [Body::Mapping { label, .. }] if label == channel(0, 40)), "{given:?}");
    let (port, to) = (PortId(0), CircuitTo::Here(Label::EXPLICIT_NULL));
    assert_eq!(bench.ops, [TableOp::CircuitSet { port, label: Label::truncate(40), to }]);
    bench.ops.clear();
    // And one that is taken, which comes with a path of the other end.
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.route(FAR, true);
    bench.heard();
    let label = channel(5, 51);
    bench.say(Body::Mapping { fecs: vec![fec(FAR)], label, request: None, hops: Some(3), path: None });
    let label = Label::truncate(51);
    assert_eq!(bench.ops.first(), Some(&TableOp::CircuitHops { port, label, hops: Some(3) }));
}

#[test]
fn an_edge_asks_with_a_hop_count_of_one() {
    for is_on in [false, true] {
        let (mut bench, _) = established(Switching::Packets, |config| config.loop_detection = is_on);
        bench.heard();
        bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
        bench.route(FAR, true);
        let path = is_on.then(|| vec![OWN]);
        assert_eq!(bench.heard(), [Body::Request { fec: fec(FAR), hops: Some(1), path }]);
    }
}

#[test]
fn an_edge_gives_labels_back_of_who_is_no_next_hop() {
    let (mut bench, _) = established(Switching::Packets, |_| {});
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.route(FAR, true);
    let request = *bench.numbers.last().expect("a request");
    let (label, hops) = (atm(0, 77), Some(2));
    bench.say(Body::Mapping { fecs: vec![fec(FAR)], label, request: Some(request), hops, path: None });
    bench.heard();
    bench.ops.clear();
    bench.route(FAR, false);
    // Though labels of other links are kept.
    assert_eq!(bench.heard(), [Body::Release { fec: fec(FAR), label: Some(label), notice: None }]);
    let gone = TableOp::CircuitHops { port: PortId(0), label: Label::truncate(77), hops: None };
    assert!(bench.ops.contains(&gone), "{:?}", bench.ops);
}

#[test]
fn an_edge_that_is_asked_has_the_channel_mean_its_own_label() {
    let (mut bench, _) = established(Switching::Packets, |_| {});
    bench.heard();
    bench.ops.clear();
    bench.say(Body::Request { fec: fec(OWN), hops: Some(4), path: None });
    let mapping = Body::Mapping {
        fecs: vec![fec(OWN)],
        label: atm(0, 40),
        request: Some(7),
        hops: Some(1),
        path: None,
    };
    let (port, label) = (PortId(0), Label::truncate(40));
    let to = CircuitTo::Here(Label::EXPLICIT_NULL);
    assert_eq!(bench.ops, [TableOp::CircuitSet { port, label, to }]);
    assert_eq!(bench.heard(), [mapping]);
    bench.say(Body::Release { fec: fec(OWN), label: Some(atm(0, 40)), notice: None });
    assert_eq!(bench.ops.last(), Some(&TableOp::CircuitRemove { port, label }));
    // There is no route to it.
    bench.say(request(1));
    assert_eq!(bench.status(), Status::NoRoute);
}
