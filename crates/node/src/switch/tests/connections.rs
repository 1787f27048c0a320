//! Who is connected, with which role, and who reads too slowly.

use super::*;

#[test]
fn a_length_that_is_less_than_a_header_is_answered_and_ends_the_connection() {
    for version in Version::ALL {
        let mut bench = Bench::new();
        let one = bench.connect(version);
        bench.give(one, vec![version as u8, 5, 0, 3, 0, 0, 0, 5, version as u8, 5, 0, 8, 0, 0, 0, 6]);
        let outputs: Vec<_> = core::iter::from_fn(|| bench.switch.poll_channel()).collect();
        let [ChannelOutput::Send { bytes, .. }, ChannelOutput::Close { connection }] = &outputs[..] else {
            panic!("{outputs:?}")
        };
        // An ERROR of type BAD_REQUEST and code BAD_LEN that quotes the header.
        let quoted = [version as u8, 5, 0, 3, 0, 0, 0, 5];
        assert_eq!(bytes[..], [&[version as u8, 1, 0, 20, 0, 0, 0, 5, 0, 1, 0, 6], &quoted[..]].concat());
        assert_eq!((*connection, bench.switch.errors().count()), (one, 1));
    }
}

#[test]
fn there_is_one_master_and_slaves_only_read() {
    let mut bench = Bench::new();
    let (a, b) = (bench.connect(Version::V1_3), bench.connect(Version::V1_3));
    let role = |role, generation| v1_3::Body::RoleRequest(RoleMessage { role, generation });
    let answered = |answer: Vec<v1_3::Body>| match &answer[..] {
        [v1_3::Body::RoleReply(reply)] => reply.role,
        other => panic!("{other:?}"),
    };
    assert_eq!(answered(bench.ask(a, role(Role::Master, 5))), Role::Master);
    assert_eq!(answered(bench.ask(b, role(Role::Master, 6))), Role::Master);
    assert_eq!(answered(bench.ask(a, role(Role::NoChange, 0))), Role::Slave);
    assert_eq!(bench.fault(a, role(Role::Master, 5)), Some(Fault::RoleStale));
    assert_eq!(bench.fault(a, add(vec![], vec![to(2)])), Some(Fault::IsSlave));
    assert_eq!(bench.fault(b, add(vec![], vec![to(ports::CONTROLLER)])), None);
    bench.frame(1);
    let mut streams = (0, 0);
    while let Some(output) = bench.switch.poll_channel() {
        match output {
            ChannelOutput::Send { connection, .. } if connection == a => streams.0 += 1,
            ChannelOutput::Send { connection, .. } if connection == b => streams.1 += 1,
            _ => {}
        }
    }
    assert_eq!(streams, (0, 1), "a slave gets no packets");
}

#[test]
fn it_connects_by_itself_and_again_when_the_connection_ends() {
    let mut bench = Bench::new();
    bench.switch.handle_timeout(Time::ZERO);
    assert_eq!(bench.switch.poll_channel(), Some(ChannelOutput::Open { connection: 0 }));
    bench.tell(ChannelInput::Closed { connection: 0 });
    assert_eq!(bench.switch.poll_timeout(), Some(seconds(1)));
    bench.switch.handle_timeout(seconds(1));
    assert_eq!(bench.switch.poll_channel(), Some(ChannelOutput::Open { connection: 0 }));
    bench.tell(ChannelInput::Opened { connection: 0 });
    assert_eq!(bench.sent(0).len(), 1, "HELLO");
    // Something else than HELLO.
    bench.give(0, vec![4, 5, 0, 8, 0, 0, 0, 1]);
    let outputs: Vec<_> = core::iter::from_fn(|| bench.switch.poll_channel()).collect();
    assert!(matches!(outputs[..], [ChannelOutput::Send { .. }, ChannelOutput::Close { .. }]), "{outputs:?}");
    // What comes of it later does not put off the next attempt.
    let due = bench.switch.poll_timeout();
    bench.now = seconds(2);
    bench.give(0, vec![4, 0, 0, 8, 0, 0, 0, 1]);
    bench.tell(ChannelInput::Closed { connection: 0 });
    assert_eq!((bench.switch.poll_timeout(), bench.switch.poll_channel()), (due, None));
}

#[test]
fn a_controller_that_reads_slowly_waits_and_loses_packets_only() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    for port in 1..=90 {
        assert_eq!(bench.fault(one, add(vec![Oxm::exact(OxmField::Metadata, port)], vec![to(2)])), None);
    }
    let whole = Action::Output { port: ports::CONTROLLER, max_len: 0xffff };
    assert_eq!(bench.fault(one, add(vec![], vec![whole])), None);
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let mut bytes = Vec::new();
    for _ in 0..400 {
        let body = v1_3::Body::MultipartRequest(body.clone());
        v1_3::Message { xid: 5, body }.emit(&mut bytes).expect("a message");
    }
    bench.give(one, bytes);
    let backlog = |is_full| ChannelInput::Backlog { connection: one, is_full, is_taking: true };
    let (mut answers, mut rounds) = (0, 0);
    while answers < 400 {
        bench.frame(1);
        let sent = bench.sent(one);
        let len: usize = sent.iter().map(Vec::len).sum();
        assert!(!sent.is_empty() && len < OUTPUT_MAX + (1 << 16), "{len}");
        answers += sent.len();
        bench.tell(backlog(true));
        bench.frame(1);
        assert_eq!(bench.sent(one), [[0; 0]; 0]);
        rounds += 1;
        bench.tell(backlog(false));
    }
    // The last answers were less than the limit: one frame was told of after them.
    assert!(rounds > 2, "{rounds}");
    assert_eq!((answers, bench.switch.packet_ins_left_out()), (401, 2 * rounds - 1));
}

/// Bytes of a message of version 1.3.
fn bytes_of(body: v1_3::Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    v1_3::Message { xid: 5, body }.emit(&mut bytes).expect("a message");
    bytes
}

#[test]
fn a_controller_that_dies_stops_floods_or_lies_harms_nobody_else() {
    let mut bench = Bench::new();
    let well = bench.connect(Version::V1_3);
    let is_well = |bench: &mut Bench| {
        assert_eq!(bench.ask(well, v1_3::Body::BarrierRequest), [v1_3::Body::BarrierReply]);
        assert_eq!(bench.fault(well, add(vec![], vec![to(2)])), None);
        assert_eq!(bench.frame(1), [2]);
    };
    // It dies in the middle of a message.
    let dying = bench.connect(Version::V1_3);
    let whole = bytes_of(add(vec![], vec![to(3)]));
    bench.give(dying, whole[..whole.len() / 2].to_vec());
    bench.tell(ChannelInput::Closed { connection: dying });
    is_well(&mut bench);
    // It stops there, and goes on later.
    let slow = bench.connect(Version::V1_3);
    bench.give(slow, whole[..11].to_vec());
    is_well(&mut bench);
    bench.give(slow, whole[11..].to_vec());
    assert_eq!(bench.frame(1), [3]);
    is_well(&mut bench);
    // It floods: ten thousand entries are asked for in one go, of which the table has room for a hundred.
    let many: Vec<u8> = (0..10_000)
        .flat_map(|port| bytes_of(add(vec![Oxm::exact(OxmField::Metadata, port)], vec![to(3)])))
        .collect();
    bench.give(slow, many);
    let full = bench.heard(slow);
    let is_full = |body: &v1_3::Body| match body {
        v1_3::Body::Error(error) => Fault::of(error.numbers()) == Some(Fault::TableFull),
        _ => false,
    };
    assert!(full.len() >= 9_900 && full.iter().all(is_full), "{}", full.len());
    is_well(&mut bench);
    // It says more than it sends: what follows is part of that message, until it has said all.
    let lying = bench.connect(Version::V1_3);
    let mut message = bytes_of(v1_3::Body::EchoRequest(Rest::from(&[][..])));
    message[2..4].copy_from_slice(&24u16.to_be_bytes());
    bench.give(lying, message);
    bench.give(lying, bytes_of(v1_3::Body::BarrierRequest));
    assert_eq!(bench.heard(lying), []);
    is_well(&mut bench);
    bench.give(lying, bytes_of(v1_3::Body::BarrierRequest));
    assert!(matches!(&bench.heard(lying)[..], [v1_3::Body::EchoReply(data)] if data.0.len() == 16));
    // The lengths inside of a message are wrong, one after the other: all are answered, or are what they say.
    for at in 8..whole.len() {
        let mut wrong = whole.clone();
        wrong[at] ^= 0xff;
        bench.give(lying, wrong);
        assert!(bench.heard(lying).len() <= 1, "{at}");
        is_well(&mut bench);
    }
}

/// What the switch has told of controllers.
fn told(bench: &mut Bench) -> Vec<ControllerEvent> {
    let outputs = core::iter::from_fn(|| bench.switch.poll_output());
    let of = |output: Output| match output {
        Output::Event(event) => event.of::<ControllerEvent>().cloned(),
        _ => None,
    };
    outputs.filter_map(of).collect()
}

#[test]
fn why_a_controller_is_not_there_is_told_once_and_kept_until_it_is() {
    let mut bench = Bench::new();
    let why = |bench: &Bench| bench.switch.connections().next().and_then(|view| view.why);
    let failed = |why: &str| ChannelInput::Failed { connection: 0, why: why.into() };
    for (at, reason, news) in [(0, "expired", 1), (1, "expired", 0), (3, "unknown", 1)] {
        bench.now = seconds(at);
        bench.switch.handle_timeout(bench.now);
        bench.tell(failed(reason));
        let controller = "tcp:10.0.0.9:6653".to_string();
        let expected = ControllerEvent::ControllerFailed { controller, why: reason.into() };
        assert_eq!(told(&mut bench), vec![expected; news]);
        assert_eq!(why(&bench).as_deref(), Some(reason));
        // The end of what is over already says nothing.
        bench.tell(failed("late"));
        assert_eq!((told(&mut bench), why(&bench).as_deref()), (vec![], Some(reason)));
    }
    // Nobody answers the fourth attempt, and the fifth finds one that is well.
    for at in [7, 15] {
        bench.now = seconds(at);
        bench.switch.handle_timeout(bench.now);
    }
    assert_eq!(why(&bench).as_deref(), Some("there was no answer in time"));
    bench.now = seconds(23);
    bench.switch.handle_timeout(bench.now);
    bench.tell(ChannelInput::Opened { connection: 0 });
    bench.give(0, bytes_of(v1_3::Body::Hello(Hello::with(&Version::ALL))));
    assert_eq!((bench.switch.connections().count(), why(&bench)), (1, None));
}

#[test]
fn those_who_are_turned_away_are_counted_and_told_of_once_a_second() {
    let mut bench = Bench::new();
    let turned = |from: u16| ChannelInput::Refused {
        listener: 0,
        from: ([10, 0, 0, 7], from).into(),
        why: "its certificate has expired".into(),
    };
    let mut events = Vec::new();
    for tenth in 0..25 {
        bench.now = Time(tenth * PS_PER_S / 10);
        bench.tell(turned(tenth as u16));
        events.extend(told(&mut bench));
    }
    let counts: Vec<u64> = events
        .iter()
        .map(|event| match event {
            ControllerEvent::ControllerRefused { refused, .. } => *refused,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(counts, [1, 11, 21]);
    let (listener, all) = bench.switch.refused_connections().next().expect("one listener");
    assert_eq!((listener, all.count, all.last.0.port()), (0, 25, 24));
    // Nobody listens there: nothing is known of it.
    bench.tell(ChannelInput::Refused { listener: 9, from: all.last.0, why: String::new() });
    assert_eq!((told(&mut bench), bench.switch.refused_connections().count()), (vec![], 1));
}
