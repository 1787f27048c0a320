//! What a cell costs in an ATM switch: instructions, counted by callgrind, of cells that change their channel.
//!
//! A switch with two ports has `--circuits N` channels from one to the other, on path 0 from VCI 32 on, and is given
//! `--cells N` cells of them in turn, each a cell's time behind the one before. Two runs of different length under
//! `valgrind --tool=callgrind` differ by what the cells of one more than the other cost. One line of JSON says how many
//! cells were passed on.

use base::{Device, Frame, PortId, Rate, Time, Verdict};
use serde_json::json;
use twinplane_node::AtmSwitch;
use twinplane_node::atm::{AtmConfig, Channel, Cross, PortConfig, Service, Traffic};
use wire::atm::{CELL_LEN, Format, HEADER_LEN, Header, Pti};

/// Picoseconds of a cell at the rate of the ports, 424 Mbit/s.
const CELL_PS: u64 = 1_000_000;
/// VCI of the first circuit: those below are the network's own.
const FIRST: u16 = 32;

fn switch(circuits: u16) -> AtmSwitch {
    let cells = PortConfig::Cells {
        rate: Rate(424_000_000),
        is_shaped: false,
        clock_ppb: 0,
        format: Format::Nni,
        ubr_cells: None,
        labels: None,
    };
    let channel = |port: u16, vci: u16| Channel { port: PortId(port), vpi: 0, vci };
    let traffic = Traffic { service: Service::Ubr, peak: None, tolerance: None };
    let cross = |vci: u16| Cross { from: channel(0, vci), to: channel(1, vci), traffic };
    AtmSwitch::new(&AtmConfig {
        ports: vec![cells; 2],
        crosses: (FIRST..FIRST + circuits).map(cross).collect(),
        paths: Vec::new(),
        cbr_cells: 100,
        ubr_cells: 1_000,
        epd_cells: None,
    })
}

fn cell(vci: u16) -> Frame {
    let mut bytes = [0; CELL_LEN];
    let header = Header { gfc: 0, vpi: 0, vci, pti: Pti::USER, clp: false };
    bytes[..HEADER_LEN].copy_from_slice(&header.emit(Format::Nni));
    Frame::from_bytes(&bytes)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, absent: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        place.and_then(|place| arguments.get(place + 1)?.parse().ok()).unwrap_or(absent)
    };
    let circuits = number("--circuits", 100).clamp(1, 60_000);
    let cells = number("--cells", 1_000_000);
    let mut switch = switch(circuits as u16);
    let mut frames: Vec<Frame> = (0..circuits).map(|circuit| cell(FIRST + circuit as u16)).collect();
    let mut passed = 0;
    for count in 0..cells {
        let frame = &mut frames[(count % circuits) as usize];
        let verdict = switch.forward_one(Time(count * CELL_PS), PortId(0), frame);
        passed += u64::from(matches!(verdict, Verdict::Transmit { .. }));
    }
    println!("{}", json!({"circuits": circuits, "cells": cells, "passed": passed}));
}
