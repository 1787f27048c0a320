//! What a classifier costs: how long it takes to find the class of a frame, with 4 and with 1,000 filters of one kind.
//!
//! Each filter takes one value of a field (one label, one mark, one flow, ...), and has a class of its own; the
//! frames are of all of them in random order. Prints one JSON line for each kind: the median of the rounds, in
//! nanoseconds per frame.
//!
//! `cargo run --release -p twinplane-forwarding --example bench_classify`

use base::describe::{ClassName, Dscps, LabelRange, PortRange, Protocol, Several};
use base::plane::{IpPrefix, Prefix};
use base::{Dscp, Frame, Phb, PortId};
use core::net::Ipv4Addr;
use std::hint::black_box;
use std::time::Instant;
use twinplane_forwarding::queue::Input;
use twinplane_forwarding::queue::classify::{Classifier, Match};
use twinplane_forwarding::queue::spec::ClassFilter;

const FRAMES: usize = 1 << 10;
const PASSES: usize = 50;
const ROUNDS: usize = 31;

/// A kind: its name, the filter of a number, and how many there can be.
type Kind = (&'static str, fn(u32) -> Match, u32);

fn address(n: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + n)
}

const KINDS: [Kind; 7] = [
    ("phb", |n| Match { phb: Some(Phb::new(n as u8).into_iter().collect()), ..Match::default() }, 64),
    (
        "dscp",
        |n| Match { dscp: Some(Dscps(Dscp::new(n as u8).into_iter().collect())), ..Match::default() },
        64,
    ),
    (
        "label",
        |n| Match { labels: Some(LabelRange { first: 16 + n, last: 16 + n }), ..Match::default() },
        1000,
    ),
    (
        "labels",
        |n| Match { labels: Some(LabelRange { first: 16 + 10 * n, last: 25 + 10 * n }), ..Match::default() },
        1000,
    ),
    ("mark", |n| Match { mark: Some(n), ..Match::default() }, 1000),
    (
        "input",
        |n| Match { inputs: Some(Several(vec![Input::Port(PortId(n as u16))])), ..Match::default() },
        1000,
    ),
    (
        "flow",
        |n| {
            let [src, dst] = [0, n].map(|n| Some(IpPrefix::V4(Prefix::host(address(n)))));
            let dst_ports = Some(PortRange { first: 2000, last: 2000 });
            Match { src, dst, protocol: Some(Protocol(17)), dst_ports, ..Match::default() }
        },
        1000,
    ),
];

/// A frame that filter `n` of the kind takes.
fn frame(kind: &str, n: u32) -> Frame {
    let mut bytes = vec![2; 12];
    let label = match kind {
        "label" => Some(16 + n),
        "labels" => Some(19 + 10 * n),
        _ => None,
    };
    bytes.extend(if label.is_some() { [0x88, 0x47] } else { [8, 0] });
    bytes.extend(label.map_or(Vec::new(), |label| (label << 12 | 0x140).to_be_bytes().to_vec()));
    let tos = if kind == "dscp" { (n as u8) << 2 } else { 0 };
    bytes.extend([0x45, tos, 0, 100, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes.extend(address(0).octets());
    bytes.extend(address(n).octets());
    bytes.extend([0, 7, 0x07, 0xd0, 0, 80, 0, 0]);
    let mut frame = Frame::from_bytes(&bytes);
    match kind {
        "phb" => frame.set_phb(Phb::new(n as u8)),
        "mark" => frame.set_mark(n),
        "input" => frame.set_input(PortId(n as u16)),
        _ => {}
    }
    frame
}

/// Nanoseconds per frame.
fn run(kind: &Kind, filters: u32) -> f64 {
    let names: Vec<String> = (0..filters).map(|n| format!("c{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let specs: Vec<ClassFilter> = (0..filters)
        .map(|n| ClassFilter { matches: kind.1(n), class: ClassName(format!("c{n}").into()) })
        .collect();
    let classifier = match Classifier::new(&specs, None, &names) {
        Ok(classifier) => classifier,
        Err(error) => panic!("{error}"),
    };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut wanted = Vec::new();
    let frames: Vec<Frame> = (0..FRAMES)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let n = (state >> 33) as u32 % filters;
            wanted.push(Some(n));
            frame(kind.0, n)
        })
        .collect();
    let found: Vec<_> = frames.iter().map(|frame| classifier.find(frame)).collect();
    assert_eq!(found, wanted, "{}", kind.0);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..PASSES {
            for frame in &frames {
                black_box(classifier.find(black_box(frame)));
            }
        }
        rounds.push(begin.elapsed().as_nanos() as f64 / (PASSES * FRAMES) as f64);
    }
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn main() {
    for kind in &KINDS {
        let (few, many) = (run(kind, 4), run(kind, kind.2));
        println!(
            "{{\"kind\":\"{}\",\"ns_with_4\":{few:.1},\"filters\":{},\"ns\":{many:.1},\"ratio\":{:.2}}}",
            kind.0,
            kind.2,
            many / few
        );
    }
}
