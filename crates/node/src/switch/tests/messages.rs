//! What controllers say, and what is answered.

use super::*;

#[test]
fn a_controller_of_1_3_writes_the_tables_and_reads_them() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let Some(v1_3::Body::FeaturesReply(features)) = bench.ask(one, v1_3::Body::FeaturesRequest).pop() else {
        panic!("features")
    };
    assert_eq!((features.datapath_id, features.tables, features.buffers), (0x1234, 4, 4));
    assert_eq!(bench.frame(1), [0; 0], "without an entry nothing leaves");
    let in_port = Oxm::exact(OxmField::InPort, 1);
    assert_eq!(bench.fault(one, add(vec![in_port], vec![to(2)])), None);
    assert_eq!(bench.frame(1), [2]);
    assert_eq!(bench.fault(one, add(vec![], vec![to(ports::FLOOD)])), None);
    assert_eq!(bench.frame(2), [1, 3]);
    let ask = v1_3::FlowStatsRequest {
        table: 0xff,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let ReplyBody::Flow(rows) = bench.stats(one, RequestBody::Flow(ask)) else { panic!("flows") };
    assert_eq!((rows.len(), rows[0].packets, rows[0].bytes), (2, 1, 200));
    assert_eq!((&rows[0].matching.fields, &rows[0].instructions), (&vec![in_port], &apply(vec![to(2)])));
    let ReplyBody::PortDescription(all) = bench.stats(one, RequestBody::PortDescription) else {
        panic!("ports")
    };
    assert_eq!((all.len(), all[0].name.0.as_str(), all[0].current_speed), (3, "s1-eth1", 1_000_000));
    assert_eq!(bench.ask(one, v1_3::Body::BarrierRequest), [v1_3::Body::BarrierReply]);
}

#[test]
fn every_question_is_answered() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let flows = || v1_3::FlowStatsRequest {
        table: 0xff,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let all = [
        RequestBody::Description,
        RequestBody::Flow(flows()),
        RequestBody::Aggregate(flows()),
        RequestBody::Table,
        RequestBody::PortStats(v1_3::PortRequest { port: ports::ANY }),
        RequestBody::Queue(v1_3::QueueRequest { port: ports::ANY, queue: u32::MAX }),
        RequestBody::Group(v1_3::GroupRequest { group: groups::ALL }),
        RequestBody::GroupDescription,
        RequestBody::GroupFeatures,
        RequestBody::Meter(v1_3::MeterRequest { meter: u32::MAX }),
        RequestBody::MeterConfig(v1_3::MeterRequest { meter: u32::MAX }),
        RequestBody::MeterFeatures,
        RequestBody::TableFeatures(Vec::new()),
        RequestBody::PortDescription,
    ];
    for body in all {
        bench.stats(one, body);
    }
    let two = bench.connect(Version::V1_0);
    let flows =
        || v1_0::FlowStatsRequest { matching: v1_0::Match::ANY, table: 0xff, out_port: v1_0::ports::NONE };
    let all = [
        v1_0::StatsRequestBody::Description,
        v1_0::StatsRequestBody::Flow(flows()),
        v1_0::StatsRequestBody::Aggregate(flows()),
        v1_0::StatsRequestBody::Table,
        v1_0::StatsRequestBody::Port(v1_0::PortStatsRequest { port: v1_0::ports::NONE }),
        v1_0::StatsRequestBody::Queue(v1_0::QueueStatsRequest { port: v1_0::ports::ALL, queue: u32::MAX }),
    ];
    for body in all {
        let ask = v1_0::StatsRequest { more: false, body };
        let answer = bench.ask_1_0(two, v1_0::Body::StatsRequest(ask));
        assert!(matches!(answer[..], [v1_0::Body::StatsReply(_)]), "{answer:?}");
    }
}

#[test]
fn what_can_not_be_done_is_refused_by_its_name() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let set = |field, value| Action::SetField { set: v1_3::Setting(Oxm::exact(field, value)) };
    let kind = |kind| Oxm::exact(OxmField::EthType, kind);
    let cases = [
        (add(vec![], vec![to(0)]), Fault::BadOutPort),
        (add(vec![], vec![to(ports::TABLE)]), Fault::BadOutPort),
        (add(vec![], vec![to(ports::LOCAL)]), Fault::BadOutPort),
        (add(vec![], vec![Action::Group { group: 9 }]), Fault::BadOutGroup),
        (add(vec![], vec![Action::SetQueue { queue: 1 }]), Fault::BadActionQueue),
        (add(vec![], vec![Action::PushVlan { ethertype: 0x0800 }]), Fault::BadArgument),
        (add(vec![], vec![set(OxmField::Ipv4Src, 1)]), Fault::MatchInconsistent),
        (add(vec![kind(0x0800)], vec![set(OxmField::TcpSrc, 1)]), Fault::MatchInconsistent),
        (add(vec![], vec![Action::PopVlan]), Fault::MatchInconsistent),
        (add(vec![], vec![Action::DecNwTtl]), Fault::MatchInconsistent),
        (
            v1_3::Body::FlowMod(flow(FlowCommand::Add, vec![], vec![Instruction::GotoTable { table: 0 }])),
            Fault::BadInstTableId,
        ),
        (
            v1_3::Body::FlowMod(flow(FlowCommand::Add, vec![], vec![Instruction::Meter { meter: 3 }])),
            Fault::UnknownMeter,
        ),
        (
            v1_3::Body::FlowMod(FlowMod { table: 4, ..flow(FlowCommand::Add, vec![], vec![]) }),
            Fault::BadTableId,
        ),
        (
            v1_3::Body::FlowMod(FlowMod { buffer_id: 77, ..flow(FlowCommand::Add, vec![], vec![]) }),
            Fault::BufferUnknown,
        ),
        (
            v1_3::Body::PortMod(v1_3::PortMod {
                number: 9,
                address: MacAddr([0; 6]),
                config: 0,
                mask: 0,
                advertise: 0,
            }),
            Fault::BadPort,
        ),
        (
            v1_3::Body::PortMod(v1_3::PortMod {
                number: 1,
                address: MacAddr([0; 6]),
                config: 0,
                mask: 0,
                advertise: 0,
            }),
            Fault::BadHwAddr,
        ),
        (v1_3::Body::TableMod(v1_3::TableMod { table: 9, config: 0 }), Fault::TableModBadTable),
        (v1_3::Body::BarrierReply, Fault::BadType),
    ];
    for (body, fault) in cases {
        assert_eq!(bench.fault(one, body.clone()), Some(fault), "{body:?}");
    }
    // With the tag or label that an action before puts on, it can be done.
    let tag = vec![Action::PushVlan { ethertype: 0x8100 }, set(OxmField::VlanVid, 0x1005)];
    assert_eq!(bench.fault(one, add(vec![], tag)), None);
    let label = vec![Action::PushMpls { ethertype: 0x8847 }, set(OxmField::MplsLabel, 5), Action::DecMplsTtl];
    assert_eq!(bench.fault(one, add(vec![kind(0x0800)], label)), None);
    assert!(bench.switch.errors().map(|(_, count)| count).sum::<u64>() >= 18);
}

#[test]
fn a_change_of_1_0_sets_the_cookie_and_one_of_1_3_does_not() {
    let mut bench = Bench::new();
    let (old, new) = (bench.connect(Version::V1_0), bench.connect(Version::V1_3));
    let change = |command, cookie| {
        v1_0::Body::FlowMod(v1_0::FlowMod {
            cookie,
            priority: 5,
            actions: vec![v1_0::Action::Output { port: 3, max_len: 0 }],
            ..v1_0::FlowMod::new(command, v1_0::Match::ANY)
        })
    };
    let cookie = |bench: &Bench| bench.switch.datapath.tables[0].entry(0).map(|entry| entry.cookie);
    let commands = [v1_0::Command::Add, v1_0::Command::Modify, v1_0::Command::ModifyStrict];
    for (command, number) in commands.into_iter().zip(1..) {
        assert_eq!(bench.ask_1_0(old, change(command, number)), []);
        assert_eq!(cookie(&bench), Some(number));
    }
    let change = FlowMod { cookie: 9, ..flow(FlowCommand::Modify, vec![], apply(vec![to(2)])) };
    assert_eq!(bench.fault(new, v1_3::Body::FlowMod(change)), None);
    assert_eq!((cookie(&bench), bench.frame(1)), (Some(3), vec![2]));
}

#[test]
fn entries_of_1_0_without_wildcards_have_the_highest_priority() {
    let mut bench = Bench::new();
    let old = bench.connect(Version::V1_0);
    let change = |matching, priority, port| {
        v1_0::Body::FlowMod(v1_0::FlowMod {
            priority,
            actions: vec![v1_0::Action::Output { port, max_len: 0 }],
            ..v1_0::FlowMod::new(v1_0::Command::Add, matching)
        })
    };
    let exact = v1_0::Match {
        wildcards: 0,
        in_port: 1,
        dl_dst: MacAddr([2, 7, 7, 7, 7, 7]),
        dl_src: MacAddr([2, 7, 7, 7, 7, 8]),
        dl_vlan: v1_0::VLAN_NONE,
        dl_type: 0x88b5,
        ..v1_0::Match::ANY
    };
    assert_eq!(bench.ask_1_0(old, change(v1_0::Match::ANY, 60_000, 2)), []);
    assert_eq!(bench.ask_1_0(old, change(exact, 1, 3)), []);
    assert_eq!(bench.frame(1), [3]);
}

#[test]
fn many_entries_come_in_several_messages() {
    let mut bench = Bench::new();
    bench.switch.config.max_entries = 5_000;
    bench.switch.datapath.clear(5_000);
    let one = bench.connect(Version::V1_3);
    for port in 0..1_000 {
        let fields = vec![Oxm::exact(OxmField::Metadata, port)];
        assert_eq!(bench.fault(one, add(fields, vec![to(2)])), None);
    }
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let answers = bench.ask(one, v1_3::Body::MultipartRequest(body));
    let (mut rows, mut more) = (0, Vec::new());
    for answer in answers {
        let v1_3::Body::MultipartReply(reply) = answer else { panic!("an answer") };
        let ReplyBody::Flow(part) = reply.body else { panic!("flows") };
        rows += part.len();
        more.push(reply.more);
    }
    assert_eq!((rows, more.pop(), more.iter().all(|more| *more)), (1_000, Some(false), true));
}

#[test]
fn long_rows_come_in_as_many_messages_as_they_need() {
    let mut bench = Bench::new();
    let (old, new) = (bench.connect(Version::V1_0), bench.connect(Version::V1_3));
    // Entries of 1.3 can be too long for an answer of 1.3, and as long as an answer of 1.0.
    let counts = [10, 4095, 3000, 3000, 4088, 10, 4095];
    for (port, count) in (0u8..).zip(counts) {
        let entry = flow(FlowCommand::Add, vec![Oxm::exact(OxmField::Metadata, port.into())], vec![]);
        assert_eq!(bench.fault(new, v1_3::Body::FlowMod(entry.clone())), None);
        let mut filter = Filter::covered(Pattern::from(&entry.matching));
        filter.priority = Some(5);
        bench.switch.datapath.tables[0].modify(&filter, &apply(vec![to(2); count]), None, false);
    }
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let parts: Vec<_> = bench
        .ask(new, v1_3::Body::MultipartRequest(body))
        .into_iter()
        .map(|answer| match answer {
            v1_3::Body::MultipartReply(v1_3::MultipartReply { more, body: ReplyBody::Flow(rows) }) => {
                (more, rows.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts, [(true, 1), (true, 1), (true, 1), (true, 1), (true, 1), (false, 0)]);
    let too_long = |bench: &Bench, id| {
        bench.switch.connections().find(|one| one.connection == id).map(|one| one.too_long)
    };
    assert_eq!(too_long(&bench, new), Some(2));
    let ask = v1_0::FlowStatsRequest { matching: v1_0::Match::ANY, table: 0xff, out_port: v1_0::ports::NONE };
    let ask = v1_0::StatsRequest { more: false, body: v1_0::StatsRequestBody::Flow(ask) };
    let parts: Vec<_> = bench
        .ask_1_0(old, v1_0::Body::StatsRequest(ask))
        .into_iter()
        .map(|answer| match answer {
            v1_0::Body::StatsReply(v1_0::StatsReply { more, body: v1_0::StatsReplyBody::Flow(rows) }) => {
                (more, rows.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts.iter().map(|(_, rows)| rows).sum::<usize>(), 7);
    assert!(parts.iter().rev().skip(1).all(|(more, _)| *more) && parts.last().is_some_and(|(more, _)| !more));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn arbitrary_messages_harm_nobody(
        version in 0usize..2, kind in any::<u8>(), bodies in vec(vec(any::<u8>(), 0..120), 1..6),
    ) {
        let mut bench = Bench::new();
        let version = Version::ALL[version];
        let (other, one) = (bench.connect(Version::V1_3), bench.connect(version));
        for body in bodies {
            let len = (8 + body.len()) as u8;
            let header = [version as u8, kind % 31, 0, len, 0, 0, 0, 5];
            bench.give(one, [&header[..], &body].concat());
            bench.frame(1);
        }
        let got = bench.ask(other, v1_3::Body::BarrierRequest);
        prop_assert!(got.contains(&v1_3::Body::BarrierReply));
    }
}
