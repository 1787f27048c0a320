//! How fast one core takes frames through a flow table.
//!
//! Frames of UDP, 64 bytes on the wire, lie in memory: each is copied in, taken through one table by
//! `Datapath::process` (parse, look-up, counters, actions), and what leaves is dropped. Prints one JSON line, medians
//! of the rounds:
//!
//! - `cached_mpps`: 1,000 entries of five fields, and a flow for each, so that each packet looks like an earlier one.
//! - `masks_N_mpps`: 10 entries each of N masks of the same priority, and 65,536 flows one after the other, so that all
//!   masks are there for each packet: the cache has 8,192 places.
//! - `adds_first_mps`, `adds_last_mps`: million entries a second that are added to one table, of the first 100,000 and
//!   of the last of a million, with five fields and one mask.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_openflow [-- --rounds 11]`

use base::{Frame, Time};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use twinplane_forwarding::openflow::{Datapath, NewEntry, Pattern, PortSetting};
use wire::openflow::v1_3::{Action, Instruction, Match, Oxm, OxmField};

/// Bytes of a 64-byte frame that are held in memory.
const HELD: usize = 60;
const PRIORITY: u16 = 100;
/// Frames of a round.
const FRAMES: usize = 400_000;
const FLOWS: u32 = 65_536;
const ENTRIES: u32 = 1000;
const SOURCE: u32 = 0xc000_0201;

/// The frame of a flow to an address from a port.
fn bytes(to: u32, from: u16) -> [u8; HELD] {
    let mut frame = [0; HELD];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14..24].copy_from_slice(&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    frame[26..30].copy_from_slice(&SOURCE.to_be_bytes());
    frame[30..34].copy_from_slice(&to.to_be_bytes());
    frame[34..36].copy_from_slice(&from.to_be_bytes());
    frame[36..40].copy_from_slice(&[7, 208, 0, 26]);
    let sum: u32 = frame[14..34].chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    frame[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
    frame
}

fn datapath() -> Datapath {
    let mut datapath = Datapath::new(1, 1_000_000, Default::default());
    for port in 1..=2 {
        datapath.set_port(port, PortSetting { config: 0, is_up: true });
    }
    datapath
}

fn add(datapath: &mut Datapath, fields: Vec<Oxm>) -> Result<(), String> {
    let output = Action::Output { port: 2, max_len: 0 };
    let new = NewEntry {
        pattern: Pattern::from(&Match { fields }),
        priority: PRIORITY,
        cookie: 0,
        idle_timeout: 0,
        hard_timeout: 0,
        flags: 0,
        instructions: Box::new([Instruction::ApplyActions { actions: vec![output] }]),
    };
    datapath.tables[0].add(new, Time::ZERO).map(drop).map_err(|refusal| format!("{refusal:?}"))
}

fn udp() -> Vec<Oxm> {
    vec![Oxm::exact(OxmField::EthType, 0x0800), Oxm::exact(OxmField::IpProto, 17)]
}

/// Million frames per second, of these flows in turn.
fn measure(datapath: &mut Datapath, rounds: usize, flows: &[[u8; HELD]]) -> Result<f64, String> {
    let (mut leaving, mut rates, mut next) = (Vec::new(), Vec::new(), flows.iter().cycle());
    // The first round warms the caches and is not counted.
    for round in 0..=rounds {
        let (begun, mut left) = (Instant::now(), 0);
        for flow in next.by_ref().take(FRAMES) {
            let frame = Frame::from_bytes(black_box(flow));
            datapath.process(Time::ZERO, 1, frame, &mut leaving).map_err(|reason| format!("{reason:?}"))?;
            left += leaving.len();
            leaving.clear();
        }
        if left != FRAMES {
            return Err(format!("{left} frames of {FRAMES} left"));
        }
        if round > 0 {
            rates.push(FRAMES as f64 / begun.elapsed().as_secs_f64() / 1e6);
        }
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates[rates.len() / 2])
}

fn five_fields(datapath: &mut Datapath, number: u32) -> Result<(), String> {
    let mut fields = udp();
    fields.push(Oxm::exact(OxmField::Ipv4Src, SOURCE.into()));
    fields.push(Oxm::exact(OxmField::Ipv4Dst, (0x0a00_0000 + number).into()));
    fields.push(Oxm::exact(OxmField::UdpSrc, 1000));
    fields.push(Oxm::exact(OxmField::UdpDst, 2000));
    add(datapath, fields)
}

fn cached(rounds: usize) -> Result<f64, String> {
    let mut datapath = datapath();
    for number in 0..ENTRIES {
        five_fields(&mut datapath, number)?;
    }
    let flows: Vec<_> = (0..ENTRIES).map(|entry| bytes(0x0a00_0000 + entry, 1000)).collect();
    measure(&mut datapath, rounds, &flows)
}

/// Masks are prefixes of both addresses. Packets are for entries of all of them in turn.
fn masks(count: u32, rounds: usize) -> Result<f64, String> {
    let mut datapath = datapath();
    let ones = |length: u32| u128::from(u32::MAX << (32 - length));
    let lengths = |mask: u32| (23 + mask % 10, 23 + mask / 10 % 10);
    let to = |mask: u32, entry: u32| 0x0a00_0000 + ((mask * 10 + entry) << 10);
    for mask in 0..count {
        let (src, dst) = lengths(mask);
        for entry in 0..10 {
            let mut fields = udp();
            let source = (u128::from(SOURCE), ones(src));
            let address = (u128::from(to(mask, entry)), ones(dst));
            for (field, (value, mask)) in [(OxmField::Ipv4Src, source), (OxmField::Ipv4Dst, address)] {
                fields.push(Oxm { field, value: value & mask, mask: Some(mask) });
            }
            add(&mut datapath, fields)?;
        }
    }
    let of = |flow: u32| bytes(to(flow % count, flow / count % 10), (flow / (10 * count)) as u16);
    let flows: Vec<_> = (0..FLOWS).map(of).collect();
    measure(&mut datapath, rounds, &flows)
}

/// Million entries of five fields a second, with one mask: the first tenth of a million, and the last.
fn additions() -> Result<(f64, f64), String> {
    const TENTH: u32 = ENTRIES * 100;
    let mut datapath = datapath();
    let mut rates = Vec::new();
    for tenth in 0..10 {
        let begun = Instant::now();
        for number in 0..TENTH {
            five_fields(&mut datapath, tenth * TENTH + number)?;
        }
        rates.push(f64::from(TENTH) / begun.elapsed().as_secs_f64() / 1e6);
    }
    Ok((rates[0], rates[9]))
}

fn run() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => 11,
        ["--rounds", value] => {
            value.parse().ok().filter(|rounds| (1..=1000).contains(rounds)).ok_or("--rounds: 1 to 1000")?
        }
        _ => return Err("the option is --rounds".into()),
    };
    let cached = cached(rounds)?;
    let (one, hundred) = (masks(1, rounds)?, masks(100, rounds)?);
    let (first, last) = additions()?;
    println!(
        "{{\"cached_mpps\": {cached:.3}, \"masks_1_mpps\": {one:.3}, \"masks_100_mpps\": {hundred:.3}, \
         \"adds_first_mps\": {first:.3}, \"adds_last_mps\": {last:.3}}}"
    );
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench_openflow: {message}");
            ExitCode::from(2)
        }
    }
}
