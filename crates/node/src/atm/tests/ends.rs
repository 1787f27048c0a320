//! Ends of circuits: packets become cells and packets again, and stations are found.

use super::*;

/// The station at this end asks by ARP for another.
fn ask(target: u8) -> Frame {
    crate::neighbors::arp_frame(&wire::arp::Repr {
        operation: wire::arp::Operation::REQUEST,
        sender_mac: station(1).mac,
        sender_ip: station(1).address,
        target_mac: MacAddr::default(),
        target_ip: station(target).address,
    })
}

#[test]
fn packets_become_cells_and_packets_again() {
    for encapsulation in Encapsulation::ALL {
        for size in [20usize, 28, 40, 41, 48, 1_500, 9_180] {
            let mut near = switch(vec![cells(), end(encapsulation, None)], vec![]);
            let mut far = switch(vec![cells(), end(encapsulation, None)], vec![]);
            let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
            bytes.extend((2..size).map(|byte| byte as u8));
            let (mut sent, mut came) = (Found::default(), Found::default());
            // 192 cells do not find room at once: the switch takes 100.
            let frame = Frame::from_bytes(&bytes);
            give(&mut near, 0, 1, frame, &mut sent);
            let cells = encapsulation.cells_for(size);
            if cells > 101 {
                assert_eq!((sent.left.len(), &sent.dropped[..]), (0, &[DropReason::BufferFull][..]));
                continue;
            }
            assert_eq!(sent.left.len(), cells, "{encapsulation:?}, {size}");
            for (_, _, cell) in sent.left {
                give(&mut far, 0, 0, cell, &mut came);
            }
            let [(_, 1, frame)] = &came.left[..] else { panic!("{:?}", came.dropped) };
            let got = frame.to_vec();
            // To the station there, from the one here.
            assert_eq!((got[5], got[11], &got[12..]), (1, 2, &bytes[12..]));
        }
    }
}

#[test]
fn a_lost_cell_costs_its_packet_and_no_other() {
    let mut near = switch(vec![cells(), end(Encapsulation::LlcSnap, None)], vec![]);
    let mut far = switch(vec![cells(), end(Encapsulation::LlcSnap, None)], vec![]);
    for (lost, packets) in [(2, 1), (4, 0)] {
        // Five cells each: without its last one a packet runs into the next.
        let (mut sent, mut came) = (Found::default(), Found::default());
        give(&mut near, 0, 1, packet(186), &mut sent);
        give(&mut near, 0, 1, packet(186), &mut sent);
        sent.left.remove(lost);
        for (_, _, cell) in sent.left {
            give(&mut far, 0, 0, cell, &mut came);
        }
        assert_eq!((came.left.len(), &came.dropped[..]), (packets, &[DropReason::PduCrc][..]));
        near.handle_command(Time(0), Command::Restart);
    }
}

#[test]
fn a_shaped_end_sends_at_its_peak_rate() {
    // 100 cells/s on a port of 1000.
    let peak = Some(Rate(42_400));
    let mut switch = switch(vec![cells(), end(Encapsulation::LlcSnap, peak)], vec![]);
    let mut found = Found::default();
    give(&mut switch, 5 * MS, 1, packet(86), &mut found);
    give(&mut switch, 5 * MS, 1, packet(86), &mut found);
    settle(&mut switch, &mut found);
    let times: Vec<u64> = found.left.iter().map(|(at, ..)| *at / MS).collect();
    assert_eq!(times, [5, 15, 25, 35, 45, 55]);
}

#[test]
fn who_asks_for_the_other_station_is_answered_here() {
    let mut switch = switch(vec![cells(), end(Encapsulation::LlcSnap, None)], vec![]);
    let mut found = Found::default();
    give(&mut switch, 0, 1, ask(3), &mut found);
    assert!(found.left.is_empty(), "nobody is there");
    give(&mut switch, 0, 1, ask(2), &mut found);
    let [(_, 1, answer)] = &found.left[..] else { panic!("an answer") };
    let packet = wire::arp::Packet::new_checked(&answer.to_vec()[14..])
        .map(|packet| (packet.operation(), packet.sender_mac(), packet.sender_ip(), packet.target_mac()));
    let (own, peer) = (station(1), station(2));
    assert_eq!(packet, Ok((wire::arp::Operation::REPLY, peer.mac, peer.address, own.mac)));
}

/// Each end asks who is at the other one, answers, and is answered; the station is told then, and again after 15
/// minutes.
#[test]
fn inatmarp_finds_the_other_station() {
    let learned = |own: u8, peer: u8| {
        let end = end_config(Encapsulation::LlcSnap, None);
        let config = EndConfig { own: station(own), peer: station(peer), map: Map::Learned, ..end };
        switch(vec![cells(), PortConfig::Packets(config)], vec![])
    };
    let (mut near, mut far) = (learned(1, 2), learned(2, 1));
    let mut exchange = |now: u64, target: u8| {
        let (mut request, mut reply, mut answer) = (Found::default(), Found::default(), Found::default());
        give(&mut near, now, 1, ask(target), &mut request);
        let asked = request.left.len();
        for (_, port, frame) in request.left {
            if port == 1 {
                return (0, Some(frame));
            }
            give(&mut far, now, 0, frame, &mut reply);
        }
        for (_, _, frame) in reply.left {
            give(&mut near, now, 0, frame, &mut answer);
        }
        (asked, answer.left.pop().map(|(_, _, frame)| frame))
    };
    let (asked, answer) = exchange(0, 2);
    let bytes = answer.expect("an answer").to_vec();
    let packet = wire::arp::Packet::new_checked(&bytes[14..]).expect("ARP");
    assert_eq!((asked, packet.sender_ip(), packet.sender_mac()), (1, station(2).address, station(2).mac));
    assert!(matches!(exchange(1, 2), (0, Some(_))), "it is known");
    assert!(matches!(exchange(2, 3), (0, None)), "another is not there");
    assert!(matches!(exchange(901_000 * MS, 2), (1, Some(_))), "it is asked for again");
    assert_eq!(far.ends().map(|end| end.counters.packets_received).collect::<Vec<_>>(), [2]);
}
