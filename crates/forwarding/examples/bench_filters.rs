//! What filters cost at an ingress: how long an unlabelled packet takes when so many filters are there, and a label is
//! pushed on what they take.
//!
//! Filters give source, destination, protocol and destination port (every fourth a range); packets are of random
//! flows, half of which a filter takes. Prints one JSON line for each number of filters: the median of the rounds.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_filters`

use base::flow::FlowFilter;
use base::plane::{Fec, LabelStack, NextHop, Nhlfe, PortConfig, Prefix, TableOp, TcSource, TtlModel};
use base::{Frame, Label, MacAddr, NodeId, PortId, Time, Verdict};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};
use wire::ipv4;

const PORT: PortId = PortId(0);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const FLOWS: usize = 4096;
const BATCH: usize = 64;
const ROUNDS: usize = 51;

fn tables(filters: u32) -> Result<Forwarding, base::plane::TableError> {
    let mut tables = Forwarding::new(Config::default());
    let config = PortConfig { mac: MacAddr::of_port(NodeId(1), PORT), mtu: 1500, up: true };
    tables.apply(&TableOp::PortSet { port: PORT, config })?;
    let mac = MacAddr::of_port(NodeId(2), PORT);
    tables.apply(&TableOp::AdjacencySet { port: PORT, gateway: GATEWAY.into(), mac })?;
    let next_hop = NextHop::Via { port: PORT, gateway: GATEWAY.into() };
    tables.apply(&TableOp::RouteSet { prefix: Prefix::new(Ipv4Addr::new(10, 9, 0, 0), 16), next_hop })?;
    for i in 0..filters {
        let push = LabelStack::one(Label::truncate(16 + i));
        let nhlfe = Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy };
        let port = 1000 + (i % 512) as u16 * 8;
        let filter = FlowFilter {
            src: Some(Prefix::new(Ipv4Addr::new(10, 1, 0, 0), 24).into()),
            dst: Some(Prefix::host(Ipv4Addr::new(10, 9, 0, (i / 512) as u8)).into()),
            protocol: Some(17),
            dst_ports: Some((port, port + if i % 4 == 0 { 7 } else { 0 })),
            ..FlowFilter::default()
        };
        tables.apply(&TableOp::FtnSet { fec: Fec::Flow { order: u64::from(i), filter }, nhlfe })?;
    }
    Ok(tables)
}

/// 60 bytes of frame for each flow; every other one is of a filter, if there is one.
fn packets(filters: u32) -> Vec<[u8; 60]> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let flow = |place: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let filter = (state >> 33) as u32 % filters.max(1);
        let source = if place.is_multiple_of(2) { [10, 1, 0, 7] } else { [10, 2, 0, 7] };
        let mut bytes = [0; 60];
        bytes[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), PORT).0);
        bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 7, 0, 0, 64, 17]);
        bytes[26..30].copy_from_slice(&source);
        bytes[30..34].copy_from_slice(&[10, 9, 0, (filter / 512) as u8]);
        ipv4::Packet::new_unchecked(&mut bytes[14..34]).fill_checksum();
        bytes[36..38].copy_from_slice(&(1000 + (filter % 512) as u16 * 8).to_be_bytes());
        bytes
    };
    (0..FLOWS).map(flow).collect()
}

fn run(filters: u32) -> Result<f64, base::plane::TableError> {
    let mut tables = tables(filters)?;
    let packets = packets(filters);
    let mut frames = vec![Frame::from_bytes(&[0; 60]); BATCH];
    let mut verdicts = vec![Verdict::Punt; BATCH];
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for batch in packets.chunks_exact(BATCH) {
            frames.iter_mut().zip(batch).for_each(|(frame, bytes)| frame.refill(bytes));
            tables.forward_batch(Time(1), PORT, &mut frames, &mut verdicts);
            black_box(&verdicts);
        }
        rounds.push(begin.elapsed().as_nanos() as f64 / FLOWS as f64);
    }
    rounds.sort_by(f64::total_cmp);
    let taken: u64 = tables.filters().map(|row| row.packets).sum();
    assert_eq!(taken > 0, filters > 0, "filters take packets");
    Ok(rounds[ROUNDS / 2])
}

fn main() -> ExitCode {
    for filters in [0, 1, 10, 100, 1_000, 10_000] {
        match run(filters) {
            Ok(ns) => println!("{{\"filters\":{filters},\"ns_per_packet\":{ns:.1}}}"),
            Err(error) => {
                eprintln!("bench_filters: {error}");
                return ExitCode::from(1);
            }
        }
    }
    ExitCode::SUCCESS
}
