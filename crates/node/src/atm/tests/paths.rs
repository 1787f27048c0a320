//! Paths that are switched as a whole, ends of paths that are shaped, and headers of both formats.

use super::losses::check_balance;
use super::*;

/// A cell with a header of this format.
fn cell_of(format: Format, header: Header, mark: u8) -> Frame {
    let mut bytes = [0; CELL_LEN];
    bytes[..HEADER_LEN].copy_from_slice(&header.emit(format));
    bytes[HEADER_LEN] = mark;
    Frame::from_bytes(&bytes)
}

fn header(vpi: u16, vci: u16) -> Header {
    Header { gfc: 0, vpi, vci, pti: Pti::USER, clp: false }
}

/// The header of a cell, whose control byte is right.
fn header_of(format: Format, frame: &Frame) -> Header {
    let bytes = frame.to_vec();
    let [a, b, c, d, e] = *bytes.first_chunk().expect("a header");
    assert_eq!(hec([a, b, c, d]), e);
    Header::parse(format, [a, b, c, d])
}

fn path(from: (u16, u16), to: (u16, u16), traffic: Traffic) -> PathCross {
    let path = |(port, vpi): (u16, u16)| Path { port: PortId(port), vpi };
    PathCross { from: path(from), to: path(to), traffic }
}

fn shaped(rate: Rate) -> PortConfig {
    PortConfig::Cells {
        rate,
        is_shaped: true,
        clock_ppb: 0,
        format: Format::Nni,
        ubr_cells: None,
        labels: None,
    }
}

#[test]
fn a_path_is_switched_and_its_channels_stay() {
    let paths =
        vec![path((0, 7), (1, 300), traffic(Service::Cbr)), path((1, 300), (0, 7), traffic(Service::Cbr))];
    let crosses = vec![cross(channel(0, 40), channel(1, 50), Service::Ubr)];
    let mut switch = AtmSwitch::new(&AtmConfig { paths, ..config(vec![cells(), cells()], crosses) });
    let mut found = Found::default();
    // Every channel of the path, those of operation and maintenance too; beside it a channel of path 0.
    let all = [0, 3, 40, 65_535];
    for (mark, vci) in all.into_iter().enumerate() {
        let time = mark as u64 * 2 * MS;
        give(&mut switch, time, 0, cell_of(Format::Nni, header(7, vci), mark as u8), &mut found);
        give(&mut switch, time, 1, cell_of(Format::Nni, header(300, vci), mark as u8), &mut found);
    }
    give(&mut switch, 8 * MS, 0, cell(40, false, 9), &mut found);
    give(&mut switch, 9 * MS, 0, cell_of(Format::Nni, header(8, 40), 0), &mut found);
    settle(&mut switch, &mut found);
    let left: Vec<_> = found
        .left
        .iter()
        .map(|(_, port, frame)| (*port, header_of(Format::Nni, frame)))
        .map(|(port, header)| (port, header.vpi, header.vci))
        .collect();
    let mut expected: Vec<_> = all.iter().flat_map(|&vci| [(1, 300, vci), (0, 7, vci)]).collect();
    expected.push((1, 0, 50));
    assert_eq!((left, &found.dropped[..]), (expected, &[DropReason::UnknownVc][..]));
    let counted: Vec<_> = switch.paths().map(|path| (path.counters.received, path.counters.passed)).collect();
    assert_eq!(counted, [(4, 4), (4, 4)]);
    check_balance(&switch);
}

#[test]
fn a_path_is_policed_whatever_the_channel() {
    // 100 cells/s and 2 ms: the cells of all channels together.
    let policed =
        Traffic { peak: Some(Rate(42_400)), tolerance: Some(Span(2 * MS as i64)), ..traffic(Service::Cbr) };
    let paths = vec![path((0, 7), (1, 7), policed)];
    let mut switch = AtmSwitch::new(&AtmConfig { paths, ..config(vec![cells(), cells()], vec![]) });
    let mut found = Found::default();
    for (vci, at) in [(40, 0), (41, 8), (42, 15), (40, 18), (41, 30)] {
        give(&mut switch, at * MS, 0, cell_of(Format::Nni, header(7, vci), at as u8), &mut found);
    }
    let passed: Vec<u8> = found.left.iter().map(|(_, _, frame)| read(frame).1).collect();
    assert_eq!((passed, &found.dropped[..]), (vec![0, 8, 18, 30], &[DropReason::Policed][..]));
    check_balance(&switch);
}

/// What a shaped end sends conforms with no tolerance at all, at a rate that is no whole number of picoseconds.
#[test]
fn a_shaped_end_sends_at_its_rate() {
    let rate = Rate(4_750 * 424);
    let crosses = vec![
        cross(channel(0, 40), channel(1, 40), Service::Ubr),
        cross(channel(0, 41), channel(1, 41), Service::Cbr),
    ];
    for crosses in [crosses[..1].to_vec(), crosses] {
        let mut switch = switch(vec![cells(), shaped(rate)], crosses.clone());
        let mut found = Found::default();
        for burst in [0, 500 * MS] {
            while let Some(at) = switch.poll_timeout().filter(|at| at.0 <= burst) {
                switch.handle_timeout(at);
                drain(&mut switch, at.0, &mut found);
            }
            for mark in 0..60 {
                give(&mut switch, burst, 0, cell(40, false, mark), &mut found);
            }
            if crosses.len() > 1 {
                give(&mut switch, burst, 0, cell(41, false, 99), &mut found);
            }
        }
        settle(&mut switch, &mut found);
        let times: Vec<u64> = found.left.iter().map(|(at, ..)| *at).collect();
        assert_eq!(times.len(), 120 + 2 * (crosses.len() - 1));
        let mut gcra =
            Gcra::of(&Traffic { peak: Some(rate), tolerance: Some(Span::ZERO), ..traffic(Service::Cbr) })
                .expect("a rate and a tolerance");
        assert!(times.iter().all(|at| gcra.conforms(Time(*at))), "{times:?}");
        // It is no slower either: the last one of a burst leaves when it has to.
        let theory = 59.0 * 1e12 / 4_750.0;
        assert!((times[59] as f64 - theory).abs() < 2.0, "{} of {theory}", times[59]);
        if crosses.len() > 1 {
            assert_eq!(read(&found.left[1].2), (41, 99), "constant bit rate leaves first");
        }
        check_balance(&switch);
    }
}

/// RFC 3035 leaves it to the interface: 8 bits of path and flow control, or 12 bits of path.
#[test]
fn headers_are_those_of_the_port() {
    let paths = vec![
        path((0, 200), (1, 3_000), traffic(Service::Cbr)),
        path((1, 3_000), (0, 200), traffic(Service::Cbr)),
    ];
    let crosses = vec![
        Cross {
            from: Channel { vpi: 255, ..channel(0, 40) },
            to: Channel { vpi: 4_095, ..channel(1, 50) },
            traffic: traffic(Service::Ubr),
        },
        Cross {
            from: Channel { vpi: 4_095, ..channel(1, 50) },
            to: Channel { vpi: 255, ..channel(0, 40) },
            traffic: traffic(Service::Ubr),
        },
    ];
    let ports = vec![cells_with(Format::Uni), cells_with(Format::Nni)];
    let mut switch = AtmSwitch::new(&AtmConfig { paths, ..config(ports, crosses) });
    let mut found = Found::default();
    // Flow control is read from no cell that comes, and stands in none that leaves.
    for (time, port, format, header) in [
        (0, 0, Format::Uni, Header { gfc: 9, ..header(200, 77) }),
        (MS, 0, Format::Uni, Header { gfc: 9, ..header(255, 40) }),
        (2 * MS, 1, Format::Nni, header(3_000, 77)),
        (3 * MS, 1, Format::Nni, header(4_095, 50)),
    ] {
        give(&mut switch, time, port, cell_of(format, header, 1), &mut found);
        settle(&mut switch, &mut found);
    }
    let left: Vec<_> = found
        .left
        .iter()
        .map(|(_, port, frame)| header_of(if *port == 0 { Format::Uni } else { Format::Nni }, frame))
        .map(|header| (header.gfc, header.vpi, header.vci))
        .collect();
    assert_eq!(left, [(0, 3_000, 77), (0, 4_095, 50), (0, 200, 77), (0, 255, 40)]);
    assert_eq!(found.dropped, []);
    // One wrong bit of either is put right.
    for (port, format, vpi) in [(0, Format::Uni, 200), (1, Format::Nni, 3_000)] {
        let mut frame = cell_of(format, header(vpi, 77), 1);
        frame.header_mut()[0] ^= 0x10;
        give(&mut switch, 10 * MS, port, frame, &mut found);
        settle(&mut switch, &mut found);
    }
    assert_eq!(switch.cell_ports().map(|port| port.headers).collect::<Vec<_>>(), [(1, 0), (1, 0)]);
    assert_eq!((found.left.len(), found.dropped.len()), (6, 0));
    check_balance(&switch);
}

proptest! {
    #![proptest_config(testing::cases(64))]
    /// Whatever comes, each cell leaves, waits, or is dropped for a reason; those of a path in their order.
    #[test]
    fn cells_of_paths_are_conserved(
        cells_of in proptest::collection::vec((0u64..3, 0u16..3, 6u16..10, 38u16..44), 1..200),
        limit in 1u32..20,
        tolerance in proptest::option::of(0i64..20),
    ) {
        let policed = Traffic {
            peak: Some(Rate(100_000)),
            tolerance: tolerance.map(|ms| Span(ms * MS as i64)),
            ..traffic(Service::Cbr)
        };
        let paths = vec![
            path((0, 7), (2, 7), policed),
            path((1, 8), (2, 8), traffic(Service::Ubr)),
            path((2, 9), (1, 9), traffic(Service::Ubr)),
        ];
        let crosses = vec![cross(channel(0, 40), channel(2, 40), Service::Ubr)];
        let ports = vec![cells(), cells(), shaped(RATE)];
        let config = AtmConfig { paths, ubr_cells: limit, ..config(ports, crosses) };
        let mut switch = AtmSwitch::new(&config);
        let (mut found, mut now) = (Found::default(), 0);
        for (place, (wait, port, vpi, vci)) in cells_of.iter().enumerate() {
            now += wait * MS / 2;
            while let Some(at) = switch.poll_timeout().filter(|at| at.0 <= now) {
                switch.handle_timeout(at);
                drain(&mut switch, at.0, &mut found);
            }
            let vpi = if *vpi == 6 { 0 } else { *vpi };
            give(&mut switch, now, *port, cell_of(Format::Nni, header(vpi, *vci), place as u8), &mut found);
            let held: u64 = switch.cell_ports().map(|port| port.held).sum();
            prop_assert_eq!(found.left.len() + found.dropped.len() + held as usize, place + 1);
            check_balance(&switch);
        }
        settle(&mut switch, &mut found);
        prop_assert_eq!(found.left.len() + found.dropped.len(), cells_of.len());
        for vpi in 7..10 {
            let of_path = found.left.iter().filter(|(_, _, frame)| header_of(Format::Nni, frame).vpi == vpi);
            let marks: Vec<u8> = of_path.map(|(_, _, frame)| read(frame).1).collect();
            prop_assert!(marks.is_sorted());
        }
    }
}
