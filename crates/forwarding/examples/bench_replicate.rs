//! What copies cost: labelled frames that leave by the branches of a replication list.
//!
//! Frames of 64 and of 1518 bytes arrive from memory; a copy for each branch has its own label, time to live and
//! Ethernet addresses, is handed over with its port, and is dropped. What lies behind the header is one memory for all
//! copies: a pattern, as in virtual time, or bytes with a count of their users, as from an interface. The cases take
//! turns within each round. Prints one JSON line: of each case the median of the rounds in million copies a second.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_replicate -- [--rounds 9] [--branches 64]`

use base::plane::{
    LabelStack, NextHop, Nhlfe, PortConfig, ReplicationId, TableError, TableOp, TcSource, TtlModel,
};
use base::{Body, Frame, Label, MacAddr, NodeId, PortId};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};

/// Copies of each case and round.
const COPIES: usize = 2_000_000;
/// Bytes of the header that is rewritten: Ethernet, a label, and as much of IP.
const HEADER: usize = 60;
const IN: PortId = PortId(0);
const CASES: [&str; 3] = ["64", "1518_pattern", "1518_owned"];

fn tables(branches: u16) -> Result<Forwarding, TableError> {
    let mut tables = Forwarding::new(Config::default());
    let mut all = Vec::new();
    for port in 0..=branches {
        let config = PortConfig { mac: MacAddr::of_port(NodeId(1), PortId(port)), mtu: 1504, up: true };
        tables.apply(&TableOp::PortSet { port: PortId(port), config })?;
        let gateway = Ipv4Addr::from_bits(0x0a00_0002 + (u32::from(port) << 8)).into();
        let mac = MacAddr::of_port(NodeId(2), PortId(port));
        tables.apply(&TableOp::AdjacencySet { port: PortId(port), gateway, mac })?;
        if port > 0 {
            all.push(Nhlfe {
                push: LabelStack::one(Label::truncate(1000 + u32::from(port))),
                next_hop: NextHop::Via { port: PortId(port), gateway },
                ttl: TtlModel::Uniform,
                tc: TcSource::Copy,
            });
        }
    }
    let list = ReplicationId(1);
    tables.apply(&TableOp::ReplicationSet { list, branches: all.into() })?;
    let (ttl, tc) = (TtlModel::Uniform, TcSource::Copy);
    let nhlfe = Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Replicate(list), ttl, tc };
    tables.apply(&TableOp::IlmSet { label: Label::truncate(100), nhlfe })?;
    Ok(tables)
}

fn frame(case: &str) -> Frame {
    let mut header = vec![0; HEADER];
    header[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), IN).0);
    header[12..14].copy_from_slice(&[0x88, 0x47]);
    header[14..18].copy_from_slice(&(100_u32 << 12 | 0x100 | 64).to_be_bytes());
    let len = 1514 - HEADER;
    let body = match case {
        "64" => Body::Empty,
        "1518_pattern" => Body::Pattern { start: 0, len: len as u32 },
        _ => Body::owned(vec![7; len]),
    };
    Frame::new(&header, body)
}

/// Million copies a second.
fn measure(tables: &mut Forwarding, frame: &Frame, branches: usize) -> f64 {
    let packets = COPIES / branches.max(1);
    let mut copies = Vec::with_capacity(branches);
    let begun = Instant::now();
    let mut made = 0;
    for _ in 0..packets {
        if !tables.copies(IN, black_box(frame), |port, copy| copies.push((port, copy))) {
            return 0.0;
        }
        made += copies.len();
        black_box(&mut copies).clear();
    }
    made as f64 / begun.elapsed().as_secs_f64() / 1e6
}

fn number(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> ExitCode {
    let (rounds, branches) = (number("--rounds", 9).max(1), number("--branches", 64).clamp(1, 1000));
    let Ok(mut tables) = tables(branches as u16) else {
        eprintln!("bench_replicate: the tables do not take the entries");
        return ExitCode::FAILURE;
    };
    let mut speeds = CASES.map(|_| Vec::new());
    for _ in 0..=rounds {
        for (case, speeds) in CASES.iter().zip(&mut speeds) {
            speeds.push(measure(&mut tables, &frame(case), branches));
        }
    }
    let shown: Vec<String> = CASES
        .iter()
        .zip(&mut speeds)
        .map(|(case, speeds)| {
            // The first round warms up.
            speeds.remove(0);
            speeds.sort_by(f64::total_cmp);
            format!("\"mcopies_{case}\": {:.1}", speeds[speeds.len() / 2])
        })
        .collect();
    println!("{{\"branches\": {branches}, {}}}", shown.join(", "));
    ExitCode::SUCCESS
}
