//! How fast one core forwards labelled frames from memory to memory.
//!
//! 64-byte Ethernet frames (60 bytes without the check sequence) lie in a source ring, one for each label in random
//! order. Each is copied into a frame, a batch goes through `forward_batch` (parse, ILM look-up, TTL, traffic class, swap,
//! Ethernet rewrite, counters), and each is copied out to a destination ring. Prints one JSON line.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_forward -- --labels 1000 [--batch 64] [--rounds 9]`

use base::plane::{ClassSource, LabelStack, NextHop, Nhlfe, PortConfig, TableOp, TtlModel};
use base::{Frame, Label, MacAddr, NodeId, PortId, Time, Verdict};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};

/// Bytes of a 64-byte frame that are held in memory.
const HELD: usize = 60;
/// A slot of a ring: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Slot([u8; 64]);
/// Slots of the destination ring, as many as a network card's ring has at most.
const DESTINATION: usize = 4096;
/// The first label that is bound.
const FIRST: u32 = 16;
const PORTS: u16 = 2;

struct Options {
    labels: u32,
    batch: usize,
    rounds: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options { labels: 1000, batch: 64, rounds: 9 };
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
            _ => return Err(format!("{name}: the options are --labels, --batch and --rounds")),
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
        tables.apply(&TableOp::AdjacencySet { port, gateway: gateway(port), mac })?;
    }
    for i in 0..labels {
        let push = LabelStack::one(Label::truncate(FIRST + (i * 7 + 3) % labels));
        let port = PortId(i as u16 % PORTS);
        let next_hop = NextHop::Via { port, gateway: gateway(port) };
        let nhlfe = Nhlfe { push, next_hop, ttl: TtlModel::Uniform, class: ClassSource::Copy };
        tables.apply(&TableOp::IlmSet { label: Label::truncate(FIRST + i), nhlfe })?;
    }
    Ok(tables)
}

fn gateway(port: PortId) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port.0 as u8, 2)
}

/// One frame for each label, in random order.
fn source(labels: u32) -> Vec<Slot> {
    let mut order: Vec<u32> = (0..labels).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..order.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        order.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    let frame = |i: u32| {
        let mut slot = Slot([0; 64]);
        slot.0[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), PortId(0)).0);
        slot.0[6..12].copy_from_slice(&MacAddr::of_port(NodeId(3), PortId(0)).0);
        slot.0[12..14].copy_from_slice(&[0x88, 0x47]);
        let word = (FIRST + i) << 12 | 5 << 9 | 0x100 | 64;
        slot.0[14..18].copy_from_slice(&word.to_be_bytes());
        slot.0[18..22].copy_from_slice(&[0x45, 0, 0, 42]);
        slot
    };
    order.into_iter().map(frame).collect()
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
    let source = source(options.labels);
    let mut destination = vec![Slot([0; 64]); DESTINATION];
    let mut frames = vec![Frame::from_bytes(&[0; HELD]); options.batch];
    let mut verdicts = vec![Verdict::Punt; options.batch];
    let batches = (4_000_000usize.max(2 * source.len())).div_ceil(options.batch);
    let (mut from, mut to, mut now) = (0, 0, 0);
    let mut nanos = Vec::new();
    let mut transmitted = 0u64;
    // The first round warms the caches and is not counted.
    for round in 0..=options.rounds {
        let begin = Instant::now();
        for _ in 0..batches {
            for frame in &mut frames {
                frame.refill(&source[from].0[..HELD]);
                from = if from + 1 == source.len() { 0 } else { from + 1 };
            }
            now += 1;
            tables.forward_batch(Time(now), PortId(0), &mut frames, &mut verdicts);
            for (frame, verdict) in frames.iter().zip(&verdicts) {
                if let Verdict::Transmit { .. } = verdict {
                    let header = frame.header();
                    let slot = &mut destination[to % DESTINATION].0;
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
    nanos.sort_by(f64::total_cmp);
    let median = nanos[nanos.len() / 2];
    let mpps = 1000.0 / median;
    println!("{{\"labels\":{},\"mpps\":{mpps:.2},\"ns_per_packet\":{median:.2}}}", options.labels);
    ExitCode::SUCCESS
}
