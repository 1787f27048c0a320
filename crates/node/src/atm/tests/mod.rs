//! A switch by itself: whose cells are whose, in which order they leave, and what is dropped for which reason.

mod ends;
mod losses;
mod paths;

use super::*;
use base::{MacAddr, Rate, Span};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use wire::atm::{CELL_LEN, Encapsulation, HEADER_LEN, Header, PAYLOAD_LEN, Pti, hec};

/// 1000 cells/s: a cell in a millisecond.
const RATE: Rate = Rate(424_000);
const MS: u64 = 1_000_000_000;

fn cells() -> PortConfig {
    cells_with(Format::Nni)
}

/// The same with headers of this format.
fn cells_with(format: Format) -> PortConfig {
    PortConfig::Cells { rate: RATE, is_shaped: false, clock_ppb: 0, format, ubr_cells: None, labels: None }
}

fn channel(port: u16, vci: u16) -> Channel {
    Channel { port: PortId(port), vpi: 0, vci }
}

fn traffic(service: Service) -> Traffic {
    Traffic { service, peak: None, tolerance: None }
}

fn cross(from: Channel, to: Channel, service: Service) -> Cross {
    Cross { from, to, traffic: traffic(service) }
}

fn station(last: u8) -> Station {
    Station { mac: MacAddr([2, 0, 0, 0, 0, last]), address: Ipv4Addr::new(10, 0, 0, last) }
}

/// An end of a circuit with channel 40 at port 0.
fn end_config(encapsulation: Encapsulation, peak: Option<Rate>) -> EndConfig {
    EndConfig {
        channel: channel(0, 40),
        traffic: Traffic { peak, ..traffic(Service::Ubr) },
        shaped: true,
        encapsulation,
        mtu: 9_180,
        own: station(1),
        peer: station(2),
        map: Map::Static,
    }
}

fn end(encapsulation: Encapsulation, peak: Option<Rate>) -> PortConfig {
    PortConfig::Packets(end_config(encapsulation, peak))
}

/// A frame of IPv4 with so many bytes behind its Ethernet header: ends do not look at what they are.
fn packet(len: usize) -> Frame {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    bytes.resize(14 + len, 7);
    Frame::from_bytes(&bytes)
}

fn switch(ports: Vec<PortConfig>, crosses: Vec<Cross>) -> AtmSwitch {
    AtmSwitch::new(&config(ports, crosses))
}

fn config(ports: Vec<PortConfig>, crosses: Vec<Cross>) -> AtmConfig {
    AtmConfig { ports, crosses, paths: Vec::new(), cbr_cells: 8, ubr_cells: 100, epd_cells: None }
}

/// A cell, of the end of a packet if `last`; its first byte of payload is `mark`.
fn cell(vci: u16, last: bool, mark: u8) -> Frame {
    let pti = if last { Pti::USER_LAST } else { Pti::USER };
    let mut bytes = [0; CELL_LEN];
    bytes[..HEADER_LEN].copy_from_slice(&Header { gfc: 0, vpi: 0, vci, pti, clp: false }.emit(Format::Nni));
    bytes[HEADER_LEN] = mark;
    Frame::from_bytes(&bytes)
}

/// VCI and mark of a cell.
fn read(frame: &Frame) -> (u16, u8) {
    let bytes = frame.to_vec();
    let [a, b, c, d, e] = *bytes.first_chunk().expect("a header");
    assert_eq!(hec([a, b, c, d]), e);
    (Header::parse(Format::Nni, [a, b, c, d]).vci, bytes[HEADER_LEN])
}

/// Gives a frame to a switch; what leaves, and what is dropped for which reason, is added.
fn give(switch: &mut AtmSwitch, now: u64, port: u16, mut frame: Frame, found: &mut Found) {
    match switch.forward_one(Time(now), PortId(port), &mut frame) {
        Verdict::Transmit { port, .. } => found.left.push((now, port.0, frame)),
        Verdict::Drop(reason) => found.dropped.push(reason),
        Verdict::Consume => {}
        Verdict::Punt | Verdict::Replicate => {
            switch.handle_packet(Time(now), PortId(port), frame);
            drain(switch, now, found);
        }
    }
}

#[derive(Default)]
struct Found {
    left: Vec<(u64, u16, Frame)>,
    dropped: Vec<DropReason>,
}

fn drain(switch: &mut AtmSwitch, now: u64, found: &mut Found) {
    while let Some(output) = switch.poll_output() {
        match output {
            Output::Transmit { port, frame, .. } => found.left.push((now, port.0, frame)),
            Output::Discard { reason, .. } => found.dropped.push(reason),
            _ => {}
        }
    }
}

/// Does what is due until nothing is.
fn settle(switch: &mut AtmSwitch, found: &mut Found) {
    while let Some(at) = switch.poll_timeout() {
        switch.handle_timeout(at);
        drain(switch, at.0, found);
    }
}

#[test]
fn cells_leave_by_the_channel_that_the_table_says() {
    let crosses = vec![
        cross(channel(0, 40), channel(1, 50), Service::Ubr),
        cross(channel(1, 40), channel(0, 60), Service::Ubr),
    ];
    let mut switch = switch(vec![cells(), cells()], crosses);
    let mut found = Found::default();
    give(&mut switch, 0, 0, cell(40, false, 1), &mut found);
    give(&mut switch, 0, 1, cell(40, true, 2), &mut found);
    let left: Vec<_> = found.left.iter().map(|(_, port, frame)| (*port, read(frame))).collect();
    assert_eq!(left, [(1, (50, 1)), (0, (60, 2))]);
}

#[test]
fn what_nobody_has_and_wrong_headers_are_counted() {
    let mut switch =
        switch(vec![cells(), cells()], vec![cross(channel(0, 40), channel(1, 50), Service::Ubr)]);
    let mut found = Found::default();
    give(&mut switch, 0, 0, cell(41, false, 0), &mut found);
    let flipped = |bits: [usize; 2]| {
        let mut frame = cell(40, false, 0);
        bits.iter().for_each(|bit| frame.header_mut()[bit / 8] ^= 0x80 >> (bit % 8));
        frame
    };
    // One wrong bit is put right, two are not; behind an error a cell with one is dropped, too.
    give(&mut switch, 0, 0, flipped([9, 60]), &mut found);
    give(&mut switch, 0, 0, flipped([9, 60]), &mut found);
    give(&mut switch, 0, 0, cell(40, false, 0), &mut found);
    give(&mut switch, 0, 0, flipped([9, 11]), &mut found);
    give(&mut switch, 0, 0, Frame::from_bytes(&[0; 52]), &mut found);
    assert_eq!(
        found.dropped,
        [DropReason::UnknownVc, DropReason::HeaderError, DropReason::HeaderError, DropReason::Truncated]
    );
    assert_eq!(found.left.len(), 2);
    let port = switch.cell_ports().next().expect("a port");
    assert_eq!((port.input.cells, port.input.unknown, port.headers), (6, 1, (1, 2)));
}

#[test]
fn cells_of_constant_bit_rate_leave_first() {
    let crosses = vec![
        cross(channel(0, 40), channel(2, 40), Service::Ubr),
        cross(channel(1, 41), channel(2, 41), Service::Cbr),
    ];
    let mut switch = switch(vec![cells(), cells(), cells()], crosses);
    let mut found = Found::default();
    for mark in 0..3 {
        give(&mut switch, 0, 0, cell(40, false, mark), &mut found);
    }
    give(&mut switch, MS / 2, 1, cell(41, false, 9), &mut found);
    settle(&mut switch, &mut found);
    let left: Vec<_> = found.left.iter().map(|(at, _, frame)| (*at, read(frame).1)).collect();
    // The one that has begun is not interrupted.
    assert_eq!(left, [(0, 0), (MS, 9), (2 * MS, 1), (3 * MS, 2)]);
}

#[test]
fn early_packet_discard_drops_packets_whole() {
    let crosses = vec![cross(channel(0, 40), channel(1, 40), Service::Ubr)];
    let config = AtmConfig { ubr_cells: 6, epd_cells: Some(4), ..config(vec![cells(), cells()], crosses) };
    let mut switch = AtmSwitch::new(&config);
    let mut found = Found::default();
    let packet = |switch: &mut AtmSwitch, found: &mut Found, cells: u8| {
        (0..cells).for_each(|mark| give(switch, 0, 0, cell(40, mark + 1 == cells, mark), found));
    };
    // One leaves, two wait; the second packet begins below the threshold and fills what is left, and its end passes
    // since the receiver needs it, if there is room.
    packet(&mut switch, &mut found, 3);
    packet(&mut switch, &mut found, 6);
    packet(&mut switch, &mut found, 2);
    assert_eq!(found.left.len(), 7);
    let count = |reason| found.dropped.iter().filter(|one| **one == reason).count();
    assert_eq!(count(DropReason::BufferFull), 2, "{:?}", found.dropped);
    assert_eq!(count(DropReason::EarlyPacketDiscard), 2);
}

#[test]
fn cells_that_are_early_are_policed() {
    let policed =
        Traffic { peak: Some(Rate(42_400)), tolerance: Some(Span(2 * MS as i64)), ..traffic(Service::Ubr) };
    let from = Cross { traffic: policed, ..cross(channel(0, 40), channel(1, 40), Service::Ubr) };
    let mut switch = switch(vec![cells(), cells()], vec![from]);
    let mut found = Found::default();
    for at in [0, 8, 15, 18, 30] {
        give(&mut switch, at * MS, 0, cell(40, true, at as u8), &mut found);
    }
    let passed: Vec<u8> = found.left.iter().map(|(_, _, frame)| read(frame).1).collect();
    assert_eq!((passed, &found.dropped[..]), (vec![0, 8, 18, 30], &[DropReason::Policed][..]));
}

#[test]
fn a_port_that_goes_down_drops_what_waits() {
    let crosses = vec![
        cross(channel(0, 40), channel(1, 40), Service::Ubr),
        cross(channel(0, 41), channel(1, 41), Service::Cbr),
    ];
    let mut switch = switch(vec![cells(), cells()], crosses);
    let mut found = Found::default();
    for mark in 0..4 {
        give(&mut switch, 0, 0, cell(40, false, mark), &mut found);
    }
    switch.handle_command(Time(1), Command::PortDown(PortId(1)));
    drain(&mut switch, 1, &mut found);
    give(&mut switch, 2, 0, cell(40, false, 9), &mut found);
    assert_eq!((found.left.len(), &found.dropped[..]), (1, &[DropReason::PortDown; 4][..]));
    assert_eq!(switch.poll_timeout(), None);
    switch.handle_command(Time(3), Command::PortUp(PortId(1)));
    give(&mut switch, 3, 0, cell(40, false, 9), &mut found);
    assert_eq!(found.left.len(), 2);
}

proptest! {
    #![proptest_config(testing::cases(64))]
    /// Whatever comes, each cell leaves, waits, or is dropped for a reason; those of a channel in their order.
    #[test]
    fn cells_are_conserved(
        cells_of in proptest::collection::vec((0u64..3, 0u16..3, 39u16..44, any::<bool>()), 1..200),
        limit in 1u32..20,
        epd in proptest::option::of(0u32..20),
    ) {
        let crosses = vec![
            cross(channel(0, 40), channel(2, 40), Service::Ubr),
            cross(channel(1, 41), channel(2, 41), Service::Cbr),
            cross(channel(1, 42), channel(0, 42), Service::Ubr),
        ];
        let ports = vec![cells(), cells(), cells()];
        let config = AtmConfig { ubr_cells: limit, epd_cells: epd, ..config(ports, crosses) };
        let mut switch = AtmSwitch::new(&config);
        let (mut found, mut now) = (Found::default(), 0);
        for (place, (wait, port, vci, last)) in cells_of.iter().enumerate() {
            now += wait * MS / 2;
            while let Some(at) = switch.poll_timeout().filter(|at| at.0 <= now) {
                switch.handle_timeout(at);
                drain(&mut switch, at.0, &mut found);
            }
            give(&mut switch, now, *port, cell(*vci, *last, place as u8), &mut found);
            let held: u64 = switch.cell_ports().map(|port| port.held).sum();
            prop_assert_eq!(found.left.len() + found.dropped.len() + held as usize, place + 1);
        }
        settle(&mut switch, &mut found);
        prop_assert_eq!(found.left.len() + found.dropped.len(), cells_of.len());
        for vci in 40..43 {
            let marks = found.left.iter().map(|(_, _, frame)| read(frame)).filter(|one| one.0 == vci);
            let marks: Vec<u8> = marks.map(|one| one.1).collect();
            prop_assert!(marks.is_sorted());
        }
        let (received, sent): (u64, u64) = switch
            .cell_ports()
            .fold((0, 0), |(a, b), port| (a + port.input.cells, b + port.output.sent.iter().sum::<u64>()));
        prop_assert_eq!((received as usize, sent as usize), (cells_of.len(), found.left.len()));
    }

    #[test]
    fn any_bytes_are_cells_or_refused(
        frames in proptest::collection::vec((0u16..2, proptest::collection::vec(any::<u8>(), 0..120)), 1..40),
    ) {
        for encapsulation in Encapsulation::ALL {
            let mut switch = switch(vec![cells(), end(encapsulation, None)], vec![]);
            let mut found = Found::default();
            for (port, bytes) in &frames {
                give(&mut switch, 0, *port, Frame::from_bytes(bytes), &mut found);
            }
            losses::check_balance(&switch);
        }
    }
}
