//! What is dropped, where it is counted, and what restarts, policing and ageing do.

use super::*;

/// 4750 cells/s: a cell is no whole number of picoseconds.
const ODD: Rate = Rate(4_750 * 424);

/// Cells that came and were made are those sent, dropped, taken and waiting: by what a switch shows alone.
pub(super) fn check_balance(switch: &AtmSwitch) {
    let (mut came, mut gone) = (0, 0);
    for port in switch.cell_ports() {
        came += port.input.cells;
        gone += port.output.sent.iter().sum::<u64>() + port.output.dropped.total() + port.held;
        gone += port.headers.1 + port.input.unknown + port.input.refused;
    }
    gone += switch.crosses().map(|cross| cross.counters.dropped.total()).sum::<u64>();
    gone += switch.paths().map(|path| path.counters.dropped.total()).sum::<u64>();
    for end in switch.ends() {
        came += end.counters.cells_sent;
        gone += end.counters.cells_received + end.counters.cells_dropped.total() + end.waiting_cells;
    }
    assert_eq!(came, gone);
}

#[test]
fn what_waits_is_counted_exactly_at_odd_rates() {
    let ports = vec![
        PortConfig::Cells {
            rate: ODD,
            is_shaped: false,
            clock_ppb: 0,
            format: Format::Nni,
            ubr_cells: None,
            labels: None,
        },
        end(Encapsulation::VcMultiplexed, None),
    ];
    // A packet of 32 cells: one leaves, 31 wait.
    let config = AtmConfig { ubr_cells: 31, ..config(ports, vec![]) };
    let mut switch = AtmSwitch::new(&config);
    let mut found = Found::default();
    give(&mut switch, 0, 1, packet(1_500), &mut found);
    assert_eq!((found.left.len(), found.dropped.len()), (32, 0));
    assert_eq!(switch.cell_ports().map(|port| port.output.waiting_max).collect::<Vec<_>>(), [31]);
}

#[test]
fn an_end_that_does_not_shape_is_policed() {
    // 100 cells/s, and cells up to 25 ms early: three of those that come at once conform.
    let config = end_config(Encapsulation::VcMultiplexed, Some(Rate(42_400)));
    let traffic = Traffic { tolerance: Some(Span(25 * MS as i64)), ..config.traffic };
    let end = PortConfig::Packets(EndConfig { traffic, shaped: false, ..config });
    let mut switch = switch(vec![cells(), end], vec![]);
    let mut found = Found::default();
    give(&mut switch, 0, 1, packet(400), &mut found);
    assert_eq!((found.left.len(), &found.dropped[..]), (3, &[DropReason::Policed; 6][..]));
    check_balance(&switch);
}

#[test]
fn a_restart_counts_what_it_forgets() {
    let end = end(Encapsulation::VcMultiplexed, Some(Rate(42_400)));
    let crosses = vec![
        cross(channel(0, 41), channel(2, 41), Service::Cbr),
        cross(channel(0, 42), channel(2, 42), Service::Ubr),
    ];
    let mut switch = switch(vec![cells(), end, cells()], crosses);
    let mut found = Found::default();
    give(&mut switch, 0, 1, packet(400), &mut found);
    (0..3).for_each(|mark| give(&mut switch, 0, 0, cell(42, false, mark), &mut found));
    switch.handle_command(Time(1), Command::Restart);
    drain(&mut switch, 1, &mut found);
    check_balance(&switch);
    // Eight cells of the end, and two that waited at the port.
    let by = |reason| switch.drops().iter().find(|(one, _)| *one == reason).map_or(0, |(_, count)| count);
    assert_eq!((by(DropReason::NodeDown), by(DropReason::PortDown)), (10, 0));
    let port = switch.cell_ports().nth(1).expect("a port");
    assert_eq!(port.output.dropped.iter().collect::<Vec<_>>(), [(DropReason::NodeDown, 2)]);
    assert_eq!(switch.poll_timeout(), None);
}

#[test]
fn cells_balance_where_ends_meet_full_ports() {
    let mut ports = vec![PortConfig::Cells {
        is_shaped: false,
        rate: RATE,
        clock_ppb: 0,
        format: Format::Nni,
        ubr_cells: Some(3),
        labels: None,
    }];
    let config = end_config(Encapsulation::LlcSnap, Some(RATE));
    let of = |vci| PortConfig::Packets(EndConfig { channel: channel(0, vci), ..config });
    ports.extend((40..44).map(of));
    let mut switch = switch(ports, vec![]);
    let mut found = Found::default();
    for port in 1..5 {
        give(&mut switch, 0, port, packet(300), &mut found);
        check_balance(&switch);
    }
    // A cell of operation and maintenance, one of nobody, and what is no cell.
    let pti = Pti::new(5).expect("an indicator");
    let header = Header { gfc: 0, vpi: 0, vci: 40, pti, clp: false }.emit(Format::Nni);
    let oam = [&header[..], &[0; PAYLOAD_LEN]].concat();
    for frame in [Frame::from_bytes(&oam), cell(99, true, 0), Frame::from_bytes(&[0; 9])] {
        give(&mut switch, 1, 0, frame, &mut found);
        check_balance(&switch);
    }
    switch.handle_command(Time(2), Command::PortDown(PortId(0)));
    settle(&mut switch, &mut found);
    check_balance(&switch);
    let end = switch.ends().next().expect("an end");
    assert_eq!((end.counters.dropped.total(), end.counters.cells_dropped.total()), (0, 1));
}

#[test]
fn a_packet_that_was_not_begun_is_refused_to_its_last_cell() {
    let crosses = vec![cross(channel(0, 40), channel(1, 40), Service::Ubr)];
    let config = AtmConfig { ubr_cells: 2, epd_cells: Some(100), ..config(vec![cells(), cells()], crosses) };
    let mut switch = AtmSwitch::new(&config);
    let mut found = Found::default();
    (0..3).for_each(|mark| give(&mut switch, 0, 0, cell(40, true, mark), &mut found));
    // No room for the first cell of this one; when its end comes there is.
    give(&mut switch, 0, 0, cell(40, false, 3), &mut found);
    give(&mut switch, 2 * MS, 0, cell(40, true, 4), &mut found);
    assert_eq!(found.dropped, [DropReason::BufferFull, DropReason::EarlyPacketDiscard]);
    assert_eq!(found.left.len(), 3);
    check_balance(&switch);
}

#[test]
fn of_a_packet_that_lost_a_cell_only_the_end_passes() {
    let crosses = vec![cross(channel(0, 40), channel(1, 40), Service::Ubr)];
    let config = AtmConfig { ubr_cells: 2, epd_cells: Some(100), ..config(vec![cells(), cells()], crosses) };
    let mut switch = AtmSwitch::new(&config);
    let mut found = Found::default();
    (0..4).for_each(|mark| give(&mut switch, 0, 0, cell(40, false, mark), &mut found));
    give(&mut switch, 2 * MS, 0, cell(40, false, 4), &mut found);
    give(&mut switch, 2 * MS, 0, cell(40, true, 5), &mut found);
    assert_eq!(found.dropped, [DropReason::BufferFull, DropReason::PartialPacket]);
    assert_eq!(found.left.last().map(|(_, _, frame)| read(frame).1), Some(5));
    check_balance(&switch);
}

/// RFC 2225, 8.5.1: what InATMARP told is asked for again before its 15 minutes are over, if packets come; and no
/// packet goes there once they are.
#[test]
fn what_inatmarp_told_is_asked_for_again() {
    let config = EndConfig { map: Map::Learned, ..end_config(Encapsulation::LlcSnap, None) };
    let mut switch = switch(vec![cells(), PortConfig::Packets(config)], vec![]);
    let tell = |switch: &mut AtmSwitch, now: u64, operation: u16| {
        let mut repr = wire::atm::inatmarp::Repr::request(station(2).address).reply(station(2).address);
        repr.operation = wire::atm::inatmarp::Operation(operation);
        let payload =
            [&wire::atm::llc_snap(wire::ethernet::EtherType::ARP)[..], &repr.emit().expect("bytes")].concat();
        let pdu = wire::atm::aal5::pdu(&payload, Default::default()).expect("a PDU");
        let mut found = Found::default();
        for cell in wire::atm::aal5::cells(&pdu, Format::Nni, 0, 40) {
            give(switch, now, 0, Frame::from_bytes(&cell), &mut found);
        }
        found.dropped
    };
    let send = |switch: &mut AtmSwitch, now: u64| {
        let mut found = Found::default();
        give(switch, now, 1, packet(20), &mut found);
        (found.left.len(), found.dropped)
    };
    let second = 1_000 * MS;
    assert_eq!(tell(&mut switch, 0, 9), []);
    assert_eq!(send(&mut switch, second), (1, vec![]));
    // A packet of one cell, and a request of one; another request only when the answer stays away.
    assert_eq!(send(&mut switch, 850 * second), (2, vec![]));
    assert_eq!(send(&mut switch, 850 * second + 1), (1, vec![]));
    assert_eq!(send(&mut switch, 900 * second), (1, vec![DropReason::NoAdjacency]));
    // A refusal of a server is no answer.
    assert_eq!(tell(&mut switch, 900 * second, 10), [DropReason::UnknownProtocol]);
    assert_eq!(send(&mut switch, 900 * second + 1), (0, vec![DropReason::NoAdjacency]));
    assert_eq!(tell(&mut switch, 900 * second + 2, 9), []);
    assert_eq!(send(&mut switch, 901 * second), (1, vec![]));
}
