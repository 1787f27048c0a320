//! The switch test cases that os-ken carries, on the switch of this project and on Open vSwitch. They are read out of
//! an installed package of Python by `tests/os_ken/cases.py`. Each case has messages, which have to be answered without
//! an error and to be found again in the answers to questions about tables; then a frame, of which it is said that it
//! leaves, that the controller gets it, or that no entry matches; or a flow of frames, and how much of it leaves.

use super::ovs::{Ovs, PROGRAMS};
use super::run::Runner;
use super::subject::{Ours, Subject};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use wire::Hex;
use wire::openflow::Version;
use wire::openflow::v1_3::{
    Body, Command as FlowCommand, FlowStatsRequest, GroupCommand, Match, Message, MeterCommand, MeterRequest,
    PacketInReason, ReplyBody, RequestBody, groups, meters, ports,
};

/// How many cases of which file fail here (`-`) or with Open vSwitch (`+`), and why.
const FAILING: &str = include_str!("os_ken.txt");
/// Folders whose cases are flows; those of this switch pass.
const FLOWS: [&str; 2] = [" group/", " meter/"];
/// A flow of frames comes in bursts that are so far apart.
const BURST_MS: u64 = 50;
/// Bytes of the shortest frame of Ethernet, without its check sequence.
const LEAST: usize = 60;
/// By how much of it a rate may be missed.
const TOLERANCE: f64 = 0.1;

#[derive(Deserialize)]
struct Case {
    file: String,
    messages: Vec<Hex>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    frame: Option<Hex>,
    flow: Option<Flow>,
    egress: Option<Hex>,
    packet_in: Option<Hex>,
    miss: Option<Vec<u8>>,
    rates: Option<Vec<Rate>>,
}

#[derive(Deserialize)]
struct Flow {
    /// How they begin; all end with bytes of value 0x11.
    frames: Vec<Hex>,
    len: usize,
    per_second: u64,
    seconds: u32,
}

#[derive(Deserialize)]
struct Rate {
    fields: Vec<(String, u64)>,
    kbps: Option<f64>,
    pktps: Option<f64>,
}

/// The ways of the cases: frames come by the first port, and leave by the second, if not by others, too.
const IN: u32 = 1;
const OUT: u32 = 2;

fn python() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    if own.exists() { own.to_string_lossy().into_owned() } else { "python3".into() }
}

/// All cases; nothing if os-ken is not installed.
fn cases() -> Option<Vec<Case>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/os_ken/cases.py");
    let output = Command::new(python()).arg(script).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect())
}

/// Tables with how often packets were looked up and matched there.
fn tables(runner: &mut Runner<'_>) -> BTreeMap<u8, (u64, u64)> {
    let answers = runner.ask_all(RequestBody::Table);
    let rows = answers.into_iter().flat_map(|body| match body {
        Body::MultipartReply(reply) => match reply.body {
            ReplyBody::Table(rows) => rows,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    });
    rows.map(|row| (row.table, (row.lookups, row.matched))).collect()
}

/// Is what was written there, with all that it said?
fn is_there(runner: &mut Runner<'_>, message: &Body) -> bool {
    let question = match message {
        Body::FlowMod(_) => RequestBody::Flow(FlowStatsRequest {
            table: 0xff,
            out_port: ports::ANY,
            out_group: groups::ANY,
            cookie: 0,
            cookie_mask: 0,
            matching: Match::default(),
        }),
        Body::GroupMod(_) => RequestBody::GroupDescription,
        _ => RequestBody::MeterConfig(MeterRequest { meter: meters::ALL }),
    };
    runner.ask_all(question).iter().any(|answer| match (answer, message) {
        (Body::MultipartReply(reply), _) => match (&reply.body, message) {
            (ReplyBody::Flow(rows), Body::FlowMod(change)) => rows.iter().any(|row| {
                let (mut own, mut asked) = (row.matching.fields.clone(), change.matching.fields.clone());
                own.sort_by_key(|oxm| oxm.field);
                asked.sort_by_key(|oxm| oxm.field);
                asked.iter_mut().for_each(|oxm| oxm.mask = oxm.mask.filter(|mask| *mask != oxm.field.ones()));
                let (mut does, mut wanted) = (row.instructions.clone(), change.instructions.clone());
                does.sort_by_key(|one| format!("{one:?}"));
                wanted.sort_by_key(|one| format!("{one:?}"));
                own == asked
                    && does == wanted
                    && (row.cookie, row.priority, row.table) == (change.cookie, change.priority, change.table)
                    && (row.idle_timeout, row.hard_timeout) == (change.idle_timeout, change.hard_timeout)
            }),
            (ReplyBody::GroupDescription(rows), Body::GroupMod(change)) => rows.iter().any(|row| {
                (row.kind, row.group, &row.buckets) == (change.kind, change.group, &change.buckets)
            }),
            (ReplyBody::MeterConfig(rows), Body::MeterMod(change)) => rows
                .iter()
                .any(|row| (row.meter, row.flags, &row.bands) == (change.meter, change.flags, &change.bands)),
            _ => false,
        },
        _ => false,
    })
}

fn write(runner: &mut Runner<'_>, message: &Hex) -> Result<(), String> {
    let read = Message::parse(&message.0).map_err(|_| "the case can't be read".to_string())?;
    if let Some(error) = runner.say(&message.0).first() {
        return Err(format!("refused ({})", error.trim_start_matches("error Some(").trim_end_matches(')')));
    }
    let adds = match &read.body {
        Body::FlowMod(change) => change.command == FlowCommand::Add,
        Body::GroupMod(change) => change.command == GroupCommand::Add,
        Body::MeterMod(change) => change.command == MeterCommand::Add,
        _ => false,
    };
    if adds && !is_there(runner, &read.body) { Err("not found again".into()) } else { Ok(()) }
}

/// What a frame has of a field that rates are told apart by: its port, its EtherType, its DSCP.
fn value(port: u32, frame: &[u8], field: &str) -> u64 {
    let kind = u64::from(frame[12]) << 8 | u64::from(frame[13]);
    match field {
        "in_port" => port.into(),
        "eth_type" => kind,
        "ip_dscp" if kind == 0x86dd => u64::from(frame[14] & 0xf) << 2 | u64::from(frame[15] >> 6),
        "ip_dscp" => u64::from(frame[15] >> 2),
        other => panic!("a case has {other}"),
    }
}

/// Sends a flow, and compares the rate of what leaves.
fn flow(subject: &mut dyn Subject, flow: &Flow, rates: &[Rate]) -> Result<(), String> {
    let mut counted = vec![(0u64, 0u64); rates.len()];
    let whole = |frame: &Hex| {
        let mut whole = frame.0.clone();
        whole.resize(flow.len, 0x11);
        whole
    };
    let frames: Vec<Vec<u8>> = flow.frames.iter().map(whole).collect();
    let (mut sent, mut frames) = (0, frames.iter().cycle());
    for burst in 1..=u64::from(flow.seconds) * 1000 / BURST_MS {
        let due = burst * BURST_MS * flow.per_second / 1000;
        while sent < due {
            // Queues of Open vSwitch take a hundred.
            let some = (due - sent).min(50);
            let batch: Vec<&[u8]> = frames.by_ref().take(some as usize).map(Vec::as_slice).collect();
            subject.frames(IN, &batch);
            sent += some;
        }
        subject.advance(BURST_MS);
        for (port, frame) in subject.left() {
            for (rate, (packets, bytes)) in rates.iter().zip(&mut counted) {
                // The port that a frame leaves by has the number of that which it comes by at the tester.
                if rate.fields.iter().all(|(field, wanted)| value(port, &frame, field) == *wanted) {
                    *packets += 1;
                    *bytes += frame.len() as u64;
                }
            }
        }
    }
    for (rate, (packets, bytes)) in rates.iter().zip(counted) {
        let (got, wanted) = match (rate.kbps, rate.pktps) {
            (Some(kbps), _) => (bytes as f64 * 8.0 / 1024.0, kbps),
            (_, Some(pktps)) => (packets as f64, pktps),
            _ => return Err("the case names no rate".into()),
        };
        let got = got / f64::from(flow.seconds);
        if (got - wanted).abs() > wanted * TOLERANCE {
            return Err("another rate leaves".into());
        }
    }
    Ok(())
}

fn test(runner: &mut Runner<'_>, test: &Test) -> Result<(), String> {
    if let (Some(sent), Some(rates)) = (&test.flow, &test.rates) {
        return flow(runner.subject, sent, rates);
    }
    runner.subject.settle();
    let before = if test.miss.is_some() { tables(runner) } else { BTreeMap::new() };
    let frame = test.frame.as_ref().expect("a frame");
    runner.subject.frame(IN, &frame.0);
    let told = runner.hear_all();
    let mut left = runner.subject.left();
    // Ports of Ethernet fill what is short; those of this test don't.
    left.iter_mut().for_each(|(_, frame)| frame.resize(frame.len().max(LEAST), 0));
    let packet_in = told.iter().find_map(|body| match body {
        Body::PacketIn(told) => Some(told),
        _ => None,
    });
    if let Some(wanted) = &test.egress {
        return match left.iter().find(|(port, _)| *port == OUT) {
            None => Err("nothing leaves".into()),
            Some((_, frame)) if *frame != wanted.0 => Err("something else leaves".into()),
            Some(_) if packet_in.is_some() => Err("the controller gets it, too".into()),
            Some(_) => Ok(()),
        };
    }
    if let Some(wanted) = &test.packet_in {
        return match packet_in {
            None => Err("the controller gets nothing".into()),
            Some(told) if matches!(told.reason, PacketInReason::NoMatch | PacketInReason::InvalidTtl) => {
                Err(format!("the controller gets it as {:?}", told.reason))
            }
            Some(told) if told.data.0 != wanted.0 => Err("the controller gets something else".into()),
            Some(_) => Ok(()),
        };
    }
    runner.subject.settle();
    let after = tables(runner);
    let missed = test.miss.as_ref().expect("tables without an entry for it");
    let grown = missed.iter().filter(|table| before[*table].0 < after[*table].0).collect::<Vec<_>>();
    if grown.iter().any(|table| before[*table].1 < after[*table].1) {
        return Err("an entry matches".into());
    }
    if grown.is_empty() { Err("no table was looked up".into()) } else { Ok(()) }
}

fn run(subject: &mut dyn Subject, case: &Case) -> Result<(), String> {
    let mut runner = Runner::new(subject, Version::V1_3);
    case.messages.iter().try_for_each(|message| write(&mut runner, message))?;
    case.tests.iter().try_for_each(|one| test(&mut runner, one))
}

/// Is a case done, here or with Open vSwitch? Flows of many frames a second take long: slow ones are done here in
/// continuous integration, and all of them in longer campaigns, with those that are not too fast for Open vSwitch.
fn is_done(case: &Case, is_long: bool, is_here: bool) -> bool {
    let most = match (is_long, is_here) {
        (true, true) => u64::MAX,
        (true, false) => 2_000,
        (false, true) => 200,
        (false, false) => 0,
    };
    case.tests.iter().filter_map(|test| test.flow.as_ref()).all(|flow| flow.per_second <= most)
}

/// Failures of a file, counted by what is wrong.
type Failures = BTreeMap<(char, String), BTreeMap<String, u32>>;

fn lines(failures: &Failures) -> String {
    let line = |((sign, file), reasons): (&(char, String), &BTreeMap<String, u32>)| {
        let reasons: Vec<String> = reasons.iter().map(|(why, count)| format!("{count} {why}")).collect();
        format!("{sign} {file}: {}\n", reasons.join(", "))
    };
    failures.iter().map(line).collect()
}

#[test]
fn cases_of_os_ken_pass_but_for_those_that_are_explained() {
    if !PROGRAMS.into_iter().all(testing::available) {
        return;
    }
    let Some(cases) = cases() else {
        assert!(!testing::available("os_ken"));
        return;
    };
    let is_long = testing::runs(1).count() > 1;
    let (mut theirs, mut timed) = (Ovs::start("os-ken"), None);
    let mut failures = Failures::new();
    // Of each folder: cases done and passed here, and with Open vSwitch.
    let mut counts: BTreeMap<&str, [u32; 4]> = BTreeMap::new();
    for case in &cases {
        let count = counts.entry(case.file.split('/').next().unwrap_or_default()).or_default();
        for (place, sign) in [(0, '-'), (2, '+')] {
            if !is_done(case, is_long, sign == '-') {
                continue;
            }
            let is_timed = case.tests.iter().any(|test| test.flow.is_some());
            let result = match (sign, is_timed) {
                ('-', _) => run(&mut Ours::new(), case),
                (_, false) => run(&mut theirs, case),
                (_, true) => run(timed.get_or_insert_with(|| Ovs::start("os-ken-timed")), case),
            };
            count[place] += 1;
            match result {
                Ok(()) => count[place + 1] += 1,
                Err(why) => {
                    let of_file = failures.entry((sign, case.file.clone())).or_default();
                    *of_file.entry(why).or_default() += 1;
                }
            }
        }
    }
    println!("cases done and passed here, done and passed with Open vSwitch: {counts:?}");
    assert!(cases.len() > 900, "{} cases", cases.len());
    let seen = lines(&failures);
    let is_expected = |line: &&str| is_long || !FLOWS.iter().any(|folder| line.contains(folder));
    let expected: String = FAILING.lines().filter(is_expected).map(|line| format!("{line}\n")).collect();
    assert!(seen == expected, "os_ken.txt should be:\n{seen}");
}
