use super::machine::Action;
use super::packets::{SIZE_MIN, Stamp, exact_1_0 as exact, exact_1_3, packet, stamp};
use super::report::Standing;
use super::*;
use base::{Rate, Span, Time};
use wire::openflow::message_len;
use wire::openflow::v1_0::{Body, Message, PacketIn, PacketInReason};
use wire::openflow::v1_3::{self, OxmField};
use wire::openflow::{NO_BUFFER, Rest};

fn settings(test: Test) -> Settings {
    Settings {
        test,
        version: Spoken::V1_0,
        rate: Rate(10_000_000),
        size: 1500,
        every: 1000,
        fill: false,
        duration: Span::from_secs(10),
        flows: 3,
        wait: Span::from_secs(2),
        lead: Span::from_us(500),
        confirm: false,
        timeout: 1,
        ports: [1, 2],
    }
}

fn bytes(body: Body) -> Vec<u8> {
    numbered(7, body)
}

fn numbered(xid: u32, body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    Message { xid, body }.emit(&mut bytes).expect("a short message");
    bytes
}

/// What a machine sends to the switch now, message by message, and by its ports.
fn sent(machine: &mut Machine) -> (Vec<Body>, Vec<Vec<u8>>) {
    let (mut bodies, mut frames) = (Vec::new(), Vec::new());
    while let Some(action) = machine.poll() {
        match action {
            Action::Transmit { bytes, .. } => frames.push(bytes),
            Action::Send(bytes) => {
                let mut rest = &bytes[..];
                while let Some(len) = message_len(rest) {
                    bodies.push(Message::parse(&rest[..len]).expect("a message").body);
                    rest = &rest[len..];
                }
                assert!(rest.is_empty());
            }
        }
    }
    (bodies, frames)
}

/// A machine whose switch is ready at time zero.
fn running(test: Test) -> Machine {
    let mut machine = Machine::new(settings(test));
    machine.opened();
    machine.received(Time::ZERO, &bytes(Body::Hello(Default::default())));
    let (before, _) = sent(&mut machine);
    assert!(matches!(before.first(), Some(Body::Hello(_))));
    assert!(matches!(before.last(), Some(Body::BarrierRequest)));
    let number = machine.barrier;
    machine.received(Time::ZERO, &answer(number));
    assert_eq!(machine.report().standing, Standing::Running);
    machine
}

/// The answer to a barrier.
fn answer(xid: u32) -> Vec<u8> {
    numbered(xid, Body::BarrierReply)
}

/// A HELLO whose header has a version, and perhaps a list of those that are spoken.
fn hello(version: u8, versions: Option<u32>) -> Vec<u8> {
    let mut bytes = vec![version, 0, 0, 8, 0, 0, 0, 1];
    if let Some(bits) = versions {
        bytes[3] = 16;
        bytes.extend([0, 1, 0, 8]);
        bytes.extend(bits.to_be_bytes());
    }
    bytes
}

#[test]
fn a_switch_that_speaks_later_versions_too_is_spoken_to_in_1_0() {
    for (version, versions) in [(1, None), (4, None), (6, None), (4, Some(1 << 1 | 1 << 4))] {
        let mut machine = Machine::new(settings(Test::Data));
        machine.opened();
        machine.received(Time::ZERO, &hello(version, versions));
        assert_eq!(
            (machine.report().standing, machine.report().errors),
            (Standing::Preparing, 0),
            "{version}"
        );
    }
    for (version, versions) in [(0, None), (4, Some(1 << 4))] {
        let mut machine = Machine::new(settings(Test::Data));
        machine.opened();
        machine.received(Time::ZERO, &hello(version, versions));
        assert_eq!((machine.report().standing, machine.report().errors), (Standing::Refused, 1), "{version}");
        let (told, _) = sent(&mut machine);
        let Some(Body::Error(error)) = told.last() else { panic!("{told:?}") };
        assert_eq!((error.kind, error.code), (0, 0));
    }
}

#[test]
fn in_version_1_3_all_messages_are_of_it_and_an_entry_asks_for_packets_without_one() {
    let settings = Settings { version: Spoken::V1_3, ..settings(Test::PacketIn) };
    for (version, versions, standing) in
        [(1, None, Standing::Refused), (4, Some(1 << 1), Standing::Refused), (6, None, Standing::Preparing)]
    {
        let mut machine = Machine::new(settings);
        machine.opened();
        machine.received(Time::ZERO, &hello(version, versions));
        assert_eq!(machine.report().standing, standing, "{version}");
    }
    let mut machine = Machine::new(settings);
    machine.opened();
    machine.received(Time::ZERO, &hello(4, None));
    let mut bodies = Vec::new();
    while let Some(Action::Send(bytes)) = machine.poll() {
        let mut rest = &bytes[..];
        while let Some(len) = message_len(rest) {
            bodies.push(v1_3::Message::parse(&rest[..len]).expect("a message of 1.3").body);
            rest = &rest[len..];
        }
    }
    let [
        v1_3::Body::Hello(_),
        v1_3::Body::FlowMod(all),
        v1_3::Body::SetConfig(_),
        v1_3::Body::FlowMod(miss),
        v1_3::Body::BarrierRequest,
    ] = &bodies[..]
    else {
        panic!("{bodies:?}")
    };
    assert_eq!((all.command, all.table), (v1_3::Command::Delete, 0xff));
    assert_eq!((miss.priority, miss.matching.fields.len()), (0, 0));
}

#[test]
fn the_longest_interval_is_one_packet_and_an_end() {
    let settings = Settings { rate: Rate(1_000), size: 1514, every: 1_000_000, ..settings(Test::PacketIn) };
    let mut machine = Machine::new(settings);
    machine.start(Time::ZERO);
    for _ in 0..3 {
        let Some(at) = machine.poll_timeout() else { break };
        machine.handle_timeout(at);
    }
    assert_eq!((machine.report().standing, machine.report().sent), (Standing::Done, 1));
}

#[test]
fn what_comes_twice_or_by_another_way_is_not_received() {
    for test in [Test::Data, Test::PacketIn, Test::Control] {
        let mut machine = running(test);
        let at = machine.poll_timeout().expect("a packet");
        machine.handle_timeout(at);
        let (_, frames) = sent(&mut machine);
        let own = Stamp { entry: 2, number: 0, sent: at };
        let frame = frames.first().cloned().unwrap_or_else(|| packet(&settings(test), own));
        let never = packet(&settings(test), Stamp { number: 5, ..own });
        for bytes in [&frame, &frame, &never] {
            machine.packet(at + Span::from_us(9), 1, bytes);
        }
        assert_eq!(machine.report().received, u64::from(test == Test::Data), "{test:?}");
    }
}

#[test]
fn a_round_begins_when_the_one_before_is_undone_and_not_before() {
    let mut machine = running(Test::FlowAdd);
    while machine.report().rounds.is_empty() {
        let at = machine.poll_timeout().expect("something due");
        machine.handle_timeout(at);
        sent(&mut machine);
    }
    let begun = machine.report().rounds[0].begun;
    // The next packet of the stream.
    let at = machine.poll_timeout().expect("a packet");
    machine.handle_timeout(at);
    let (_, frames) = sent(&mut machine);
    machine.packet(at + Span::from_us(9), 1, &frames[0]);
    assert!(machine.report().rounds[0].delay.is_some());
    sent(&mut machine);
    let number = machine.xid;
    // Another barrier's answer is none.
    machine.received(at + Span::from_ms(1), &answer(number - 1));
    assert_eq!(machine.report().errors, 1);
    // Deleting takes three seconds: packets still leave by the old entry, and nothing begins.
    let late = begun + Span::from_secs(4);
    while let Some(at) = machine.poll_timeout().filter(|at| *at < late) {
        machine.handle_timeout(at);
        for frame in sent(&mut machine).1 {
            machine.packet(at + Span::from_us(9), 1, &frame);
        }
    }
    assert_eq!(machine.report().rounds.len(), 1);
    machine.received(late, &answer(number));
    while machine.report().rounds.len() == 1 {
        let at = machine.poll_timeout().expect("something due");
        machine.handle_timeout(at);
    }
    // A wait of two seconds from the answer on.
    assert!(machine.report().rounds[1].begun >= late + Span::from_secs(2));
}

#[test]
fn gaps_are_those_of_the_study() {
    let with = |rate, size| Settings { rate: Rate(rate), size, ..settings(Test::PacketIn) };
    // 1500 x 8,000,000 / (10 x 1024 x 1024) us.
    assert_eq!(with(10_000_000, 1500).gap(), Span(1_144_409_179));
    assert_eq!(with(1_000_000_000, 100).gap(), Span(762_939));
    assert_eq!(with(200_000_000, 400).interval(), Span(15_258_789_000));
}

#[test]
fn stamps_are_read_as_they_are_written_and_entries_have_packets_of_their_own() {
    let settings = settings(Test::Data);
    for entry in [0, 1, 32_767, 32_768, 999_999] {
        let own = Stamp { entry, number: 5, sent: Time(77) };
        let bytes = packet(&settings, own);
        assert_eq!(bytes.len(), 1500);
        assert_eq!(stamp(&bytes), Some(own));
        assert_eq!(exact(entry, 1).tp_dst.to_be_bytes(), bytes[36..38]);
        assert_eq!(exact(entry, 1).nw_dst.octets(), bytes[30..34]);
        let later = exact_1_3(entry, 1);
        let field = |wanted| later.fields.iter().find(|oxm| oxm.field == wanted).map(|oxm| oxm.value);
        assert_eq!(field(OxmField::UdpDst), Some(exact(entry, 1).tp_dst.into()));
        assert_eq!(field(OxmField::Ipv4Dst), Some(exact(entry, 1).nw_dst.to_bits().into()));
    }
    assert_ne!(exact(0, 1), exact(32_768, 1));
    assert_eq!(stamp(&[0; SIZE_MIN as usize]), None);
    assert_eq!(stamp(&[1, 2, 3]), None);
}

#[test]
fn packets_that_come_back_have_a_delay_and_late_ones_are_counted_apart() {
    let mut machine = running(Test::PacketIn);
    let first = machine.poll_timeout().expect("a packet");
    machine.handle_timeout(first);
    let (_, frames) = sent(&mut machine);
    let told = |data: &[u8]| {
        let total_len = data.len() as u16;
        let reason = PacketInReason::NoMatch;
        let data = Rest::from(data);
        bytes(Body::PacketIn(PacketIn { buffer_id: NO_BUFFER, total_len, in_port: 1, reason, data }))
    };
    let message = told(&frames[0]);
    // In two pieces, as TCP may bring it.
    machine.received(first + Span::from_us(600), &message[..30]);
    assert_eq!(machine.report().received, 0);
    machine.received(first + Span::from_us(600), &message[30..]);
    assert_eq!(machine.report().delays, [Span::from_us(600)]);
    while let Some(at) = machine.poll_timeout() {
        machine.handle_timeout(at);
    }
    assert_eq!((machine.report().standing, machine.report().sent), (Standing::Done, 9));
    // The last packet, and the first once more.
    let (_, frames) = sent(&mut machine);
    for message in [told(frames.last().expect("a packet")), message] {
        machine.received(first + Span::from_secs(11), &message);
    }
    assert_eq!((machine.report().received, machine.report().late), (1, 1));
}

#[test]
fn a_round_is_one_piece_that_begins_after_a_packet_and_ends_with_the_last_entry() {
    let mut machine = running(Test::FlowAdd);
    let mut additions = Vec::new();
    let (mut begun, mut last) = (Time::ZERO, Vec::new());
    while additions.is_empty() {
        let at = machine.poll_timeout().expect("something due");
        machine.handle_timeout(at);
        let (bodies, frames) = sent(&mut machine);
        last = frames.into_iter().next().unwrap_or(last);
        (additions, begun) = (bodies, at);
    }
    assert_eq!(additions.len(), 3);
    assert!(additions.iter().all(|body| matches!(body, Body::FlowMod(_))));
    let departed = stamp(&last).expect("a stamp").sent;
    assert_eq!(begun - departed, Span::from_us(500));
    // What left before is no sign.
    machine.packet(begun + Span::from_us(1), 1, &last);
    assert_eq!(machine.report().rounds[0].delay, None);
    let own = Stamp { entry: 2, number: 0, sent: begun + Span::from_us(5) };
    machine.packet(begun + Span::from_ms(3), 1, &packet(&settings(Test::FlowAdd), own));
    assert_eq!(machine.report().rounds[0].delay, Some(Span::from_ms(3)));
    let (bodies, _) = sent(&mut machine);
    assert!(matches!(&bodies[..], [Body::FlowMod(_), Body::BarrierRequest]), "all is deleted again");
}

#[test]
fn a_switch_that_goes_has_reset_and_one_that_speaks_nonsense_is_counted() {
    let mut machine = running(Test::PacketOut);
    machine.received(Time(5), &[1, 99, 0, 8, 0, 0, 0, 0]);
    assert_eq!(machine.report().errors, 1);
    machine.closed();
    assert_eq!((machine.report().standing, machine.report().resets), (Standing::Reset, 1));
    assert_eq!(machine.poll_timeout(), None);
    machine.opened();
    machine.received(Time(6), &hello(1, None));
    assert!(
        matches!(&sent(&mut machine).0[..], [Body::Hello(_)]),
        "it is greeted again, but the test is over"
    );
}

#[test]
fn spreads_are_those_of_the_sample() {
    let delays = [1, 2, 3, 10].map(Span::from_secs).to_vec();
    let spread = Report { delays, ..Report::default() }.spread().expect("values");
    assert_eq!((spread.mean, spread.median, spread.min, spread.max), (4.0, 2.5, 1.0, 10.0));
    assert!((spread.sd.expect("several") - 4.082_483).abs() < 1e-6);
    assert_eq!(Report::default().spread(), None);
}

/// A switch that counts in pieces is behind, by what it has not counted of packets that had left.
#[test]
fn a_counter_that_is_behind_is_told_by_how_much() {
    let mut machine = Machine::new(Settings { every: 1, ..settings(Test::Statistics) });
    machine.opened();
    machine.received(Time::ZERO, &bytes(Body::Hello(Default::default())));
    let (before, _) = sent(&mut machine);
    assert!(matches!(before.last(), Some(Body::BarrierRequest)));
    let number = machine.barrier;
    machine.received(Time::ZERO, &answer(number));
    let mut behind = Vec::new();
    for _ in 0..4 {
        let now = machine.poll_timeout().expect("a packet");
        machine.handle_timeout(now);
        let xid = machine.xid;
        let (asked, frames) = sent(&mut machine);
        assert!(matches!(asked[..], [Body::StatsRequest(_)]) && frames.len() == 1);
        let later = now + Span::from_us(40);
        machine.packet(later, 1, &frames[0]);
        let all = wire::openflow::AggregateStats { packets: 1, bytes: 100, flows: 1 };
        let body = wire::openflow::v1_0::StatsReplyBody::Aggregate(all);
        let reply = wire::openflow::v1_0::StatsReply { more: false, body };
        machine.received(later, &numbered(xid, Body::StatsReply(reply)));
        behind.push(machine.report().behind);
    }
    // It has counted one: of none, one, two and three that had left.
    assert_eq!(behind, [0, 0, 1, 2].map(Some));
    assert_eq!(machine.report().delays, [Span::from_us(40); 4]);
    // An answer that nobody waits for says nothing.
    let all = wire::openflow::AggregateStats { packets: 0, bytes: 0, flows: 0 };
    let body = wire::openflow::v1_0::StatsReplyBody::Aggregate(all);
    let reply = wire::openflow::v1_0::StatsReply { more: false, body };
    machine.received(Time(1), &numbered(9_999, Body::StatsReply(reply)));
    assert_eq!(machine.report().behind, Some(2));
}
