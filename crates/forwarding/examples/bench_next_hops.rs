//! What several next hops cost: packets over groups of next hops beside the same packets over a single one.
//!
//! Frames of 64 bytes of many flows are forwarded from memory to memory in batches, with labels that are swapped and by
//! IPv4 routes, over a single next hop, a protected one (a group of one member with a backup) and groups of 2, 4 and 8.
//! The cases take turns within each round, so that what slows the machine down slows all of them. Prints one JSON line:
//! of each case the median of the rounds in Mpps.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_next_hops -- [--rounds 25]`

use base::plane::{
    GroupId, LabelStack, Leg, Member, NextHop, Nhlfe, PortConfig, Prefix, TableError, TableOp, TcSource,
    TtlModel,
};
use base::{Frame, Label, MacAddr, NodeId, PortId, Time, Verdict};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};

/// Bytes of a 64-byte frame that are held in memory.
const HELD: usize = 60;
const FLOWS: usize = 4096;
const BATCH: usize = 64;
const PREFIXES: u32 = 1000;
const FIRST: u32 = 16;
const MEMBERS_MAX: u16 = 8;

/// Over what packets go.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Single,
    Protected,
    Group(u16),
}

const CASES: [(&str, Over); 5] = [
    ("single", Over::Single),
    ("protected", Over::Protected),
    ("ecmp2", Over::Group(2)),
    ("ecmp4", Over::Group(4)),
    ("ecmp8", Over::Group(8)),
];

fn leg(port: u16) -> Leg {
    let gateway = Ipv4Addr::new(10, 0, port as u8, 2).into();
    Leg { labels: LabelStack::EMPTY, port: PortId(port), gateway }
}

fn tables(over: Over) -> Result<Forwarding, TableError> {
    let mut tables = Forwarding::new(Config::default());
    for port in 0..=MEMBERS_MAX {
        let config = PortConfig { mac: MacAddr::of_port(NodeId(1), PortId(port)), mtu: 1500, up: true };
        tables.apply(&TableOp::PortSet { port: PortId(port), config })?;
        let mac = MacAddr::of_port(NodeId(2), PortId(port));
        let gateway = leg(port).gateway;
        tables.apply(&TableOp::AdjacencySet { port: PortId(port), gateway, mac })?;
    }
    let members: Box<[Member]> = match over {
        Over::Single => Box::new([]),
        Over::Protected => Box::new([Member { leg: leg(1), backup: Some(leg(2).into()) }]),
        Over::Group(count) => (1..=count).map(|port| Member { leg: leg(port), backup: None }).collect(),
    };
    let group = GroupId(1);
    let next_hop = if over == Over::Single {
        NextHop::Via { port: PortId(1), gateway: leg(1).gateway }
    } else {
        tables.apply(&TableOp::GroupSet { group, members })?;
        NextHop::Group(group)
    };
    for n in 0..PREFIXES {
        let push = LabelStack::one(Label::truncate(FIRST + (n * 7 + 3) % PREFIXES));
        let nhlfe = Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy };
        tables.apply(&TableOp::IlmSet { label: Label::truncate(FIRST + n), nhlfe })?;
        let prefix = Prefix::new(Ipv4Addr::from_bits(0x1400_0000 + (n << 8)), 24);
        tables.apply(&TableOp::RouteSet { prefix, next_hop })?;
    }
    Ok(tables)
}

/// A frame of a UDP flow to one of the prefixes, with a label in front or without.
fn frame(n: usize, labelled: bool) -> [u8; HELD] {
    let mut bytes = [0; HELD];
    bytes[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), PortId(0)).0);
    bytes[6..12].copy_from_slice(&MacAddr::of_port(NodeId(3), PortId(0)).0);
    let spread = (n as u32).wrapping_mul(0x9e37_79b9) >> 8;
    let mut at = 14;
    bytes[12..14].copy_from_slice(if labelled { &[0x88, 0x47] } else { &[8, 0] });
    if labelled {
        bytes[14..18].copy_from_slice(&((FIRST + spread % PREFIXES) << 12 | 0x100 | 64).to_be_bytes());
        at = 18;
    }
    let ip = &mut bytes[at..];
    ip[..4].copy_from_slice(&[0x45, 0, 0, (HELD - at) as u8]);
    (ip[8], ip[9]) = (64, 17);
    ip[12..16].copy_from_slice(&(0x1e00_0000 + n as u32 % 61).to_be_bytes());
    ip[16..20].copy_from_slice(&(0x1400_0000 + ((spread % PREFIXES) << 8) + 9).to_be_bytes());
    let check = !wire::checksum::sum(&ip[..20]);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    ip[20..24].copy_from_slice(&[(n >> 8) as u8, n as u8, 0, 80]);
    bytes
}

/// Nanoseconds per packet of one round; nothing if a packet is not transmitted.
fn round(tables: &mut Forwarding, sources: &[[u8; HELD]], frames: &mut [Frame]) -> Option<f64> {
    let mut verdicts = [Verdict::Punt; BATCH];
    let mut sent = 0;
    let begin = Instant::now();
    for _ in 0..16 {
        for batch in sources.chunks_exact(BATCH) {
            for (frame, source) in frames.iter_mut().zip(batch) {
                frame.refill(source);
            }
            tables.forward_batch(Time(1), PortId(0), frames, &mut verdicts);
            sent += verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Transmit { .. })).count();
            black_box(frames.last().map(|frame| frame.header()[0]));
        }
    }
    let nanos = begin.elapsed().as_nanos() as f64;
    (sent == 16 * sources.len()).then(|| nanos / sent as f64)
}

fn run(rounds: usize) -> Result<String, String> {
    let mut frames = vec![Frame::from_bytes(&[0; HELD]); BATCH];
    let mut out = Vec::new();
    for (name, labelled) in [("mpls", true), ("ipv4", false)] {
        let sources: Vec<_> = (0..FLOWS).map(|n| frame(n, labelled)).collect();
        let mut cases = Vec::new();
        for (_, over) in CASES {
            cases.push((tables(over).map_err(|error| error.to_string())?, Vec::new()));
        }
        // The first round warms the caches and is not counted.
        for number in 0..=rounds {
            for (tables, nanos) in &mut cases {
                let taken = round(tables, &sources, &mut frames).ok_or("a packet was not transmitted")?;
                if number > 0 {
                    nanos.push(taken);
                }
            }
        }
        for ((case, _), (_, nanos)) in CASES.iter().zip(&mut cases) {
            nanos.sort_by(f64::total_cmp);
            out.push(format!("\"{name}_{case}_mpps\":{:.2}", 1000.0 / nanos[nanos.len() / 2]));
        }
    }
    Ok(format!("{{{}}}", out.join(",")))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match &args[..] {
        [] => Some(25),
        [name, count] if name == "--rounds" => count.parse().ok().filter(|count| (1..=1000).contains(count)),
        _ => None,
    };
    let Some(rounds) = rounds else {
        eprintln!("bench_next_hops: the only option is --rounds 1 to 1000");
        return ExitCode::from(2);
    };
    match run(rounds) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("bench_next_hops: {message}");
            ExitCode::from(1)
        }
    }
}
