//! How fast one core forwards unlabelled frames from memory to memory, of IPv4 and of IPv6.
//!
//! As `bench_forward` does it: 64-byte Ethernet frames (60 bytes without the check sequence) lie in a source ring, and
//! their destinations, one in each of N prefixes (/24 of IPv4, /64 of IPv6) in random order, are written into it a few
//! slots ahead. Each frame is copied in, a batch goes through `forward_batch`, and each is copied out to a destination
//! ring. All of that is timed, the families in turn. Prints one JSON line: the medians of the rounds.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_routes -- --prefixes 10000 [--rounds 25]`

use base::plane::{NextHop, PortConfig, Prefix, Prefix6, TableError, TableOp};
use base::{Frame, MacAddr, NodeId, PortId, Time, Verdict};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::{Config, Forwarding};
use wire::{ethernet, ipv4, ipv6};

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
const BATCH: usize = 64;
const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

/// What differs between the families.
struct Family {
    gateway: IpAddr,
    ethertype: ethernet::EtherType,
    /// The route to a prefix, by its number.
    route: fn(u32, NextHop) -> TableOp,
    /// The IP header of a packet into a prefix, by its number.
    header: fn(u32, &mut [u8]),
}

fn v4_address(prefix: u32, host: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0b00_0000 + (prefix << 8) + host)
}

fn v6_address(prefix: u32, host: u128) -> Ipv6Addr {
    Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(prefix) << 64 | host)
}

fn v4_header(prefix: u32, buffer: &mut [u8]) {
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 7), v4_address(prefix, 9));
    ipv4::Repr::new(src, dst, ipv4::Protocol::UDP, (HELD - 34) as u16).emit(buffer);
}

fn v6_header(prefix: u32, buffer: &mut [u8]) {
    let (src, dst) = (v6_address(0xffff_ffff, 7), v6_address(prefix, 9));
    ipv6::Repr::new(src, dst, ipv6::Protocol::UDP, (HELD - 54) as u16).emit(buffer);
}

const FAMILIES: [Family; 2] = [
    Family {
        gateway: IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2)),
        ethertype: ethernet::EtherType::IPV4,
        route: |prefix, next_hop| TableOp::RouteSet {
            prefix: Prefix::new(v4_address(prefix, 0), 24),
            next_hop,
        },
        header: v4_header,
    },
    Family {
        gateway: IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2)),
        ethertype: ethernet::EtherType::IPV6,
        route: |prefix, next_hop| TableOp::Route6Set {
            prefix: Prefix6::new(v6_address(prefix, 0), 64),
            next_hop,
        },
        header: v6_header,
    },
];

fn tables(family: &Family, prefixes: u32) -> Result<Forwarding, TableError> {
    let mut tables = Forwarding::new(Config::default());
    for port in [IN, OUT] {
        let config = PortConfig { mac: MacAddr::of_port(NodeId(1), port), mtu: 1500, up: true };
        tables.apply(&TableOp::PortSet { port, config })?;
    }
    let (gateway, mac) = (family.gateway, MacAddr::of_port(NodeId(2), OUT));
    tables.apply(&TableOp::AdjacencySet { port: OUT, gateway, mac })?;
    for prefix in 0..prefixes {
        tables.apply(&(family.route)(prefix, NextHop::Via { port: OUT, gateway }))?;
    }
    Ok(tables)
}

/// The frames of all prefixes in random order.
fn frames(family: &Family, prefixes: u32) -> Vec<Slot> {
    let mut order: Vec<u32> = (0..prefixes).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..order.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    let slot = |prefix: u32| {
        let mut slot = Slot([0; 64]);
        let macs = (MacAddr::of_port(NodeId(1), IN), MacAddr::of_port(NodeId(3), IN));
        ethernet::Repr::untagged(macs.0, macs.1, family.ethertype).emit(&mut slot.0);
        (family.header)(prefix, &mut slot.0[ethernet::HEADER_LEN..HELD]);
        slot
    };
    order.into_iter().map(slot).collect()
}

/// Nanoseconds for a packet of one round; an error if one was not transmitted.
fn round(tables: &mut Forwarding, order: &[Slot], packets: usize) -> Result<f64, String> {
    let mut ring = vec![Slot([0; 64]); RING];
    let mut destination = vec![Slot([0; 64]); RING];
    let mut batch = vec![Frame::from_bytes(&[0; HELD]); BATCH];
    let mut verdicts = vec![Verdict::Punt; BATCH];
    let (mut next, mut write, mut to, mut transmitted) = (0, 0, 0, 0);
    let mut arrive = |ring: &mut Vec<Slot>| {
        ring[write % RING] = order[next];
        write += 1;
        next = if next + 1 == order.len() { 0 } else { next + 1 };
    };
    (0..AHEAD).for_each(|_| arrive(&mut ring));
    let mut read = 0;
    let begin = Instant::now();
    for _ in 0..packets / BATCH {
        for frame in &mut batch {
            arrive(&mut ring);
            frame.refill(&ring[read % RING].0[..HELD]);
            read += 1;
        }
        tables.forward_batch(Time(1), IN, &mut batch, &mut verdicts);
        for (frame, verdict) in batch.iter().zip(&verdicts) {
            if let Verdict::Transmit { .. } = verdict {
                let header = frame.header();
                destination[to % RING].0[..header.len()].copy_from_slice(header);
                to += 1;
                transmitted += 1;
            }
        }
    }
    let span = begin.elapsed().as_nanos() as f64;
    black_box(&destination);
    if transmitted != read {
        return Err(format!("{read} packets in, {transmitted} out"));
    }
    Ok(span / read as f64)
}

fn measure(prefixes: u32, rounds: usize) -> Result<[f64; 2], String> {
    let mut tables = FAMILIES.each_ref().map(|family| tables(family, prefixes));
    let orders = FAMILIES.each_ref().map(|family| frames(family, prefixes));
    let mut nanos = [Vec::new(), Vec::new()];
    // The first round warms the caches and is not counted.
    for count in 0..=rounds {
        for family in 0..FAMILIES.len() {
            let tables = tables[family].as_mut().map_err(|error| error.to_string())?;
            let span = round(tables, &orders[family], 1_000_000)?;
            if count > 0 {
                nanos[family].push(span);
            }
        }
    }
    Ok(nanos.map(|mut all| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }))
}

fn main() -> ExitCode {
    let (mut prefixes, mut rounds) = (10_000, 25);
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value: Option<u32> = args.next().and_then(|value| value.parse().ok());
        match (name.as_str(), value) {
            ("--prefixes", Some(value @ 1..=1_000_000)) => prefixes = value,
            ("--rounds", Some(value @ 1..=1000)) => rounds = value as usize,
            _ => {
                eprintln!("bench_routes: {name}: --prefixes 1 to 1000000, or --rounds 1 to 1000");
                return ExitCode::from(2);
            }
        }
    }
    match measure(prefixes, rounds) {
        Ok([v4, v6]) => {
            let (ipv4, ipv6) = (1000.0 / v4, 1000.0 / v6);
            println!(
                "{{\"prefixes\":{prefixes},\"ipv4_mpps\":{ipv4:.2},\"ipv6_mpps\":{ipv6:.2},\"ratio\":{:.3}}}",
                v4 / v6
            );
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("bench_routes: {message}");
            ExitCode::from(1)
        }
    }
}
