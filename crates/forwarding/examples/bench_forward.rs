//! How fast one core forwards labelled frames from memory to memory.
//!
//! 64-byte Ethernet frames (60 bytes without the check sequence) lie in a source ring as large as that of a network
//! card; their labels, every one once and in random order, are written into it a few slots ahead, as the card would.
//! Each frame is copied in, a batch goes through `forward_batch` (parse, ILM look-up, TTL, traffic class, swap,
//! Ethernet rewrite, counters), and each is copied out to a destination ring. All of that is timed. Prints one JSON
//! line: the median of the rounds, and beside it the best one.
//!
//! With `--rules N` there is a conditioner at the ingress port with a rule for each of N equal ranges of labels, each
//! with a two-rate meter that finds every packet green, and one that would remark it if not: then frames take the
//! long way, through the same tables.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_forward -- --labels 1000 [--batch 64] [--rounds 25]
//! [--rules 0]`

use base::describe::{ClassName, LabelRange, Size};
use base::diagnostic::Diagnostic;
use base::plane::{LabelStack, NextHop, Nhlfe, PortConfig, TableOp, TcSource, TtlModel};
use base::{Frame, Label, MacAddr, NodeId, Phb, PortId, Rate, Time, Verdict};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::conditioner::{
    ActionSpec, Conditioner, ConditionerSpec, MeterSpec, RuleSpec, TwoRate,
};
use twinplane_forwarding::queue::classify::Match;
use twinplane_forwarding::{Config, Forwarding};

/// Bytes of a 64-byte frame that are held in memory.
const HELD: usize = 60;
/// A slot of a ring: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Slot([u8; 64]);
/// Slots of a ring, as many as a network card's ring has at most.
const RING: usize = 4096;
/// How many slots ahead of reading the source ring is written.
const AHEAD: usize = 1024;
/// The first label that is bound.
const FIRST: u32 = 16;
const PORTS: u16 = 2;

struct Options {
    labels: u32,
    batch: usize,
    rounds: usize,
    rules: u32,
}

fn options() -> Result<Options, String> {
    let mut options = Options { labels: 1000, batch: 64, rounds: 25, rules: 0 };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value: u32 =
            args.next().and_then(|v| v.parse().ok()).ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--labels" if (1..=1_000_000).contains(&value) => options.labels = value,
            "--labels" => return Err(format!("--labels {value}: 1 to 1000000")),
            "--batch" if (1..=1024).contains(&value) => options.batch = value as usize,
            "--batch" => return Err(format!("--batch {value}: 1 to 1024")),
            "--rounds" if (1..=1000).contains(&value) => options.rounds = value as usize,
            "--rounds" => return Err(format!("--rounds {value}: 1 to 1000")),
            "--rules" if value <= 100_000 => options.rules = value,
            "--rules" => return Err(format!("--rules {value}: 0 to 100000")),
            _ => return Err(format!("{name}: the options are --labels, --batch, --rounds and --rules")),
        }
    }
    Ok(options)
}

fn tables(labels: u32) -> Result<Forwarding, base::plane::TableError> {
    let mut tables = Forwarding::new(Config::default());
    for port in (0..PORTS).map(PortId) {
        let config = PortConfig { mac: MacAddr::of_port(NodeId(1), port), mtu: 1500, up: true };
        tables.apply(&TableOp::PortSet { port, config })?;
        let mac = MacAddr::of_port(NodeId(2), port);
        tables.apply(&TableOp::AdjacencySet { port, gateway: gateway(port).into(), mac })?;
    }
    for i in 0..labels {
        let push = LabelStack::one(Label::truncate(FIRST + (i * 7 + 3) % labels));
        let port = PortId(i as u16 % PORTS);
        let next_hop = NextHop::Via { port, gateway: gateway(port).into() };
        let nhlfe = Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy };
        tables.apply(&TableOp::IlmSet { label: Label::truncate(FIRST + i), nhlfe })?;
    }
    Ok(tables)
}

/// A rule for each of so many ranges that the labels are divided into.
fn conditioner(labels: u32, rules: u32) -> Result<Conditioner, Diagnostic> {
    let step = labels.div_ceil(rules);
    let (rate, burst) = (Rate::from_gbps(400), Size(1_000_000));
    let meter = MeterSpec::TwoRate(TwoRate { cir: rate, cbs: burst, pir: rate, pbs: burst, aware: false });
    let red = ActionSpec::Remark { phb: Phb::DEFAULT, below_labels: false, tc: None };
    let rule = |n: u32| RuleSpec {
        name: ClassName(n.to_string().into()),
        matches: Match {
            labels: Some(LabelRange { first: FIRST + n * step, last: FIRST + (n + 1) * step - 1 }),
            ..Match::default()
        },
        meter: Some(meter),
        green: ActionSpec::Pass,
        yellow: red,
        red,
    };
    let rules = (0..rules.min(labels)).map(rule).collect();
    Conditioner::new(&ConditionerSpec { rules, ..ConditionerSpec::default() })
}

fn gateway(port: PortId) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port.0 as u8, 2)
}

/// The label stack entry of every label, in random order.
fn order(labels: u32) -> Vec<[u8; 4]> {
    let mut order: Vec<u32> = (0..labels).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..order.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        order.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    order.into_iter().map(|i| ((FIRST + i) << 12 | 5 << 9 | 0x100 | 64).to_be_bytes()).collect()
}

/// A frame of the source ring; its label is written later.
fn template() -> Slot {
    let mut slot = Slot([0; 64]);
    slot.0[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), PortId(0)).0);
    slot.0[6..12].copy_from_slice(&MacAddr::of_port(NodeId(3), PortId(0)).0);
    slot.0[12..14].copy_from_slice(&[0x88, 0x47]);
    slot.0[18..22].copy_from_slice(&[0x45, 0, 0, 42]);
    slot
}

/// The source ring and what writes it.
struct Wire {
    ring: Vec<Slot>,
    order: Vec<[u8; 4]>,
    next: usize,
    write: usize,
    read: usize,
}

impl Wire {
    fn new(labels: u32) -> Wire {
        let mut wire =
            Wire { ring: vec![template(); RING], order: order(labels), next: 0, write: 0, read: 0 };
        (0..AHEAD).for_each(|_| wire.arrive());
        wire
    }

    #[inline(always)]
    fn arrive(&mut self) {
        self.ring[self.write % RING].0[14..18].copy_from_slice(&self.order[self.next]);
        self.write += 1;
        self.next = if self.next + 1 == self.order.len() { 0 } else { self.next + 1 };
    }

    #[inline(always)]
    fn receive(&mut self, frame: &mut Frame) {
        self.arrive();
        frame.refill(&self.ring[self.read % RING].0[..HELD]);
        self.read += 1;
    }
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("bench_forward: {message}");
            return ExitCode::from(2);
        }
    };
    let mut tables = match tables(options.labels) {
        Ok(tables) => tables,
        Err(error) => {
            eprintln!("bench_forward: {error}");
            return ExitCode::from(1);
        }
    };
    if options.rules > 0 {
        match conditioner(options.labels, options.rules) {
            Ok(conditioner) => tables.set_conditioner(PortId(0), Some(conditioner)),
            Err(error) => {
                eprintln!("bench_forward: {error}");
                return ExitCode::from(1);
            }
        }
    }
    let mut wire = Wire::new(options.labels);
    let mut destination = vec![Slot([0; 64]); RING];
    let mut frames = vec![Frame::from_bytes(&[0; HELD]); options.batch];
    let mut verdicts = vec![Verdict::Punt; options.batch];
    let batches = 1_000_000usize.div_ceil(options.batch);
    let (mut to, mut now) = (0, 0);
    let mut nanos = Vec::new();
    let mut transmitted = 0u64;
    // The first round warms the caches and is not counted.
    for round in 0..=options.rounds {
        let begin = Instant::now();
        for _ in 0..batches {
            for frame in &mut frames {
                wire.receive(frame);
            }
            // A nanosecond and a quarter for each: as at 400 Gbit/s.
            now += 1_250 * options.batch as u64;
            tables.forward_batch(Time(now), PortId(0), &mut frames, &mut verdicts);
            for (frame, verdict) in frames.iter().zip(&verdicts) {
                if let Verdict::Transmit { .. } = verdict {
                    let header = frame.header();
                    let slot = &mut destination[to % RING].0;
                    match header.first_chunk::<HELD>() {
                        Some(whole) => slot[..HELD].copy_from_slice(whole),
                        None => slot[..header.len()].copy_from_slice(header),
                    }
                    to += 1;
                    transmitted += 1;
                }
            }
        }
        let span = begin.elapsed().as_nanos() as f64;
        if round > 0 {
            nanos.push(span / (batches * options.batch) as f64);
        }
    }
    black_box(&destination);
    let all = (batches * options.batch * (options.rounds + 1)) as u64;
    let counted: u64 = tables.ilm().map(|row| row.packets).sum();
    if transmitted != all || counted != all {
        eprintln!("bench_forward: {all} packets in, {transmitted} out, {counted} counted");
        return ExitCode::from(1);
    }
    if let Some(conditioner) = tables.conditioner(PortId(0)) {
        let metered: u64 = conditioner.report().iter().map(|row| row.counted.packets).sum();
        if metered != all {
            eprintln!("bench_forward: {all} packets in, {metered} metered");
            return ExitCode::from(1);
        }
    }
    nanos.sort_by(f64::total_cmp);
    let median = nanos[nanos.len() / 2];
    let mpps = 1000.0 / median;
    let (labels, best) = (options.labels, nanos[0]);
    println!(
        "{{\"labels\":{labels},\"mpps\":{mpps:.2},\"ns_per_packet\":{median:.2},\"ns_best\":{best:.2}}}"
    );
    ExitCode::SUCCESS
}
