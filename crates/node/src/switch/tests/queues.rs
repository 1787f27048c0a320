//! Queues of ports: what controllers are told of them, and which of them packets take.

use super::*;
use base::QueueCount;
use forwarding::queue::spec::MarkedClass;
use wire::openflow::v1_3::{QueueProperty, QueueRequest};

/// The second port has queues 0 to 2, of which 1 has from a quarter to half of its rate; the third has queue 7 alone.
fn bench() -> Bench {
    let mut config = switch(FailMode::Secure).config().clone();
    let queue = |mark: u32, path: &str, rates: Option<(u64, u64)>| MarkedClass {
        mark,
        path: format!("root/{path}"),
        min_rate: rates.map(|(least, _)| Rate(least)),
        max_rate: rates.map(|(_, most)| Rate(most)),
    };
    config.ports[1].queues = vec![
        queue(0, "rest", None),
        queue(1, "gold", Some((250_000_000, 500_000_000))),
        queue(2, "dust", Some((1_000_000, 1_000_000_000))),
    ];
    config.ports[2].queues = vec![queue(7, "only", None)];
    Bench { switch: Switch::new(config, Time::ZERO), now: seconds(3) }
}

/// Answers what the switch asks of its ports' queues: they have counted their port and their place.
fn answer(bench: &mut Bench) -> Vec<u16> {
    let outputs: Vec<Output> = core::iter::from_fn(|| bench.switch.poll_output()).collect();
    let mut asked = Vec::new();
    for output in outputs {
        let Output::AskQueue { port } = output else { panic!("{output:?}") };
        asked.push(port.0 + 1);
        let paths = ["root", "root/rest", "root/gold", "root/dust", "root/only"].iter().zip(0u64..);
        let queues = paths.map(|(path, place)| QueueCount {
            path: path.to_string(),
            sent_packets: 10 * u64::from(port.0) + place,
            sent_bytes: 1000 * place,
            dropped_packets: place,
        });
        let command = Command::QueueCounted { port, queues: queues.collect() };
        bench.switch.handle_command(bench.now, command);
    }
    asked
}

fn leaves(bench: &mut Bench) -> Vec<(u16, u32)> {
    let mut frame = [Frame::from_bytes(&FRAME)];
    let mut verdict = [Verdict::Punt];
    bench.switch.forward_batch(bench.now, PortId(0), &mut frame, &mut verdict);
    let [frame] = frame;
    match verdict[0] {
        Verdict::Transmit { port, .. } => return vec![(port.0 + 1, frame.mark())],
        Verdict::Replicate => bench.switch.handle_packet(bench.now, PortId(0), frame),
        _ => {}
    }
    let outputs = core::iter::from_fn(|| bench.switch.poll_output());
    outputs
        .filter_map(|output| match output {
            Output::Transmit { port, frame, .. } => Some((port.0 + 1, frame.mark())),
            _ => None,
        })
        .collect()
}

#[test]
fn version_1_3_is_told_of_queues_with_their_rates() {
    let mut bench = bench();
    let to = bench.connect(Version::V1_3);
    let ask = |port| v1_3::Body::QueueGetConfigRequest(v1_3::QueueConfigRequest { port });
    let of = |bench: &mut Bench, port| match &bench.ask(to, ask(port))[..] {
        [v1_3::Body::QueueGetConfigReply(reply)] if reply.port == port => reply
            .queues
            .iter()
            .map(|queue| (queue.port, queue.id, queue.properties.clone()))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let rates =
        |least, most| vec![QueueProperty::MinRate { rate: least }, QueueProperty::MaxRate { rate: most }];
    let second = [(2, 0, vec![]), (2, 1, rates(250, 500)), (2, 2, rates(1, 1000))];
    assert_eq!(of(&mut bench, 1), []);
    assert_eq!(of(&mut bench, 2), second);
    assert_eq!(of(&mut bench, ports::ANY), [&second[..], &[(3, 7, vec![])]].concat());
    assert_eq!(bench.fault(to, ask(4)), Some(Fault::QueueBadPort));
    assert_eq!(bench.fault(to, ask(ports::ALL)), Some(Fault::QueueBadPort));
}

#[test]
fn version_1_0_is_told_of_queues_with_their_least_rates() {
    let mut bench = bench();
    let to = bench.connect(Version::V1_0);
    let ask = |port| v1_0::Body::QueueGetConfigRequest(v1_0::QueueConfigRequest { port });
    match &bench.ask_1_0(to, ask(2))[..] {
        [v1_0::Body::QueueGetConfigReply(reply)] => {
            let told: Vec<_> = reply.queues.iter().map(|queue| (queue.id, &queue.properties[..])).collect();
            let least = |rate| v1_0::QueueProperty::MinRate { rate };
            assert_eq!(told, [(0, &[][..]), (1, &[least(250)]), (2, &[least(1)])]);
        }
        other => panic!("{other:?}"),
    }
    for port in [0, 4, v1_0::ports::ALL] {
        match &bench.ask_1_0(to, ask(port))[..] {
            [v1_0::Body::Error(error)] => {
                assert_eq!(v1_0::Fault::of(error.numbers()), Some(v1_0::Fault::QueueBadPort));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_queues_have_counted_comes_before_later_answers() {
    let mut bench = bench();
    let to = bench.connect(Version::V1_3);
    let request = |port, queue| {
        let body = RequestBody::Queue(QueueRequest { port, queue });
        v1_3::Body::MultipartRequest(MultipartRequest { more: false, body })
    };
    let rows = |heard: &[v1_3::Body]| match heard {
        [v1_3::Body::MultipartReply(reply), v1_3::Body::BarrierReply] => match &reply.body {
            ReplyBody::Queue(rows) => rows
                .iter()
                .map(|row| {
                    assert_eq!((row.duration_s, row.duration_ns), (3, 0));
                    (row.port, row.queue, row.tx_packets, row.tx_bytes, row.tx_errors)
                })
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let all = [(2, 0, 11, 1000, 1), (2, 1, 12, 2000, 2), (2, 2, 13, 3000, 3), (3, 7, 24, 4000, 4)];
    for (port, queue, asked, expected) in [
        (ports::ANY, u32::MAX, &[2, 3][..], &all[..]),
        (2, u32::MAX, &[2], &all[..3]),
        (2, 1, &[2], &all[1..2]),
        (ports::ANY, 7, &[3], &all[3..]),
    ] {
        assert_eq!(bench.ask(to, request(port, queue)), []);
        assert_eq!(bench.ask(to, v1_3::Body::BarrierRequest), [], "not before the answer");
        assert_eq!(answer(&mut bench), asked);
        assert_eq!(rows(&bench.heard(to)), expected);
    }
    assert_eq!(bench.ask(to, request(1, u32::MAX)).len(), 1, "no queue, no row");
    assert_eq!(bench.fault(to, request(9, u32::MAX)), Some(Fault::QueueBadPort));
    assert_eq!(bench.fault(to, request(2, 7)), Some(Fault::BadQueue));
    assert_eq!(bench.fault(to, request(ports::ANY, 9)), Some(Fault::BadQueue));
}

#[test]
fn an_answer_for_a_controller_that_is_gone_harms_nobody() {
    let mut bench = bench();
    let to = bench.connect(Version::V1_0);
    let body = v1_0::StatsRequestBody::Queue(v1_0::QueueStatsRequest { port: 2, queue: 1 });
    let request = v1_0::Body::StatsRequest(v1_0::StatsRequest { more: false, body });
    assert_eq!(bench.ask_1_0(to, request.clone()), []);
    bench.tell(ChannelInput::Closed { connection: to });
    assert_eq!(answer(&mut bench), [2]);
    let to = bench.connect(Version::V1_0);
    assert_eq!(bench.ask_1_0(to, request), []);
    assert_eq!(answer(&mut bench), [2]);
    match &bench.heard_1_0(to)[..] {
        [v1_0::Body::StatsReply(v1_0::StatsReply { body: v1_0::StatsReplyBody::Queue(rows), .. })] => {
            assert_eq!((rows[0].port, rows[0].queue, rows[0].tx_packets, rows[0].tx_errors), (2, 1, 12, 2));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn packets_carry_the_queue_as_their_mark_where_the_port_has_it() {
    let mut bench = bench();
    let to_1_3 = bench.connect(Version::V1_3);
    let through = |queue| Action::SetQueue { queue };
    let faults = |bench: &mut Bench, queue| bench.fault(to_1_3, add(vec![], vec![through(queue), to(2)]));
    assert_eq!(faults(&mut bench, 3), Some(Fault::BadActionQueue));
    assert_eq!(faults(&mut bench, u32::MAX), Some(Fault::BadActionQueue));
    assert_eq!(faults(&mut bench, 1), None);
    assert_eq!(leaves(&mut bench), [(2, 1)]);
    assert_eq!(bench.fault(to_1_3, add(vec![], vec![through(7), to(2), to(3)])), None);
    assert_eq!(leaves(&mut bench), [(2, 0), (3, 7)], "port 2 has no queue 7");
    let controller = bench.connect(Version::V1_0);
    let stats = v1_0::StatsRequestBody::Flow(v1_0::FlowStatsRequest {
        matching: v1_0::Match::ANY,
        table: 0xff,
        out_port: v1_0::ports::NONE,
    });
    let stats = v1_0::Body::StatsRequest(v1_0::StatsRequest { more: false, body: stats });
    let shown = |bench: &mut Bench| match &bench.ask_1_0(controller, stats.clone())[..] {
        [v1_0::Body::StatsReply(v1_0::StatsReply { body: v1_0::StatsReplyBody::Flow(rows), .. })] => {
            rows[0].actions.clone()
        }
        other => panic!("{other:?}"),
    };
    let enqueue = |port, queue| v1_0::Action::Enqueue { port, queue };
    assert_eq!(shown(&mut bench), [enqueue(2, 7), enqueue(3, 7)]);
    let output = v1_0::Action::Output { port: 3, max_len: 0 };
    let flow = |actions: Vec<v1_0::Action>| {
        v1_0::Body::FlowMod(v1_0::FlowMod {
            priority: 5,
            actions,
            ..v1_0::FlowMod::new(v1_0::Command::Modify, v1_0::Match::ANY)
        })
    };
    let fault = |bench: &mut Bench, actions| match &bench.ask_1_0(controller, flow(actions))[..] {
        [] => None,
        [v1_0::Body::Error(error)] => v1_0::Fault::of(error.numbers()),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(&mut bench, vec![enqueue(2, 7)]), Some(v1_0::Fault::BadActionQueue));
    assert_eq!(fault(&mut bench, vec![enqueue(1, 0)]), Some(v1_0::Fault::BadActionQueue));
    assert_eq!(fault(&mut bench, vec![enqueue(9, 1)]), Some(v1_0::Fault::BadOutPort));
    assert_eq!(fault(&mut bench, vec![enqueue(v1_0::ports::IN_PORT, 9)]), Some(v1_0::Fault::BadActionQueue));
    assert_eq!(fault(&mut bench, vec![enqueue(2, 2), output.clone()]), None);
    assert_eq!(leaves(&mut bench), [(2, 2), (3, 0)], "what is sent later takes no queue");
    assert_eq!(shown(&mut bench), [enqueue(2, 2), output]);
}
