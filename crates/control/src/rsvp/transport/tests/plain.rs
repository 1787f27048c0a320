//! Plain RFC 2205: messages go out as they are and come up as they were.

use super::*;
use wire::rsvp::Packet;

#[test]
fn nothing_is_added() {
    let mut pair = Pair::new([0, 1].map(|side| Transport::new(config(side, 1))));
    pair.trigger(0, 5, 30_000);
    pair.run(ms(100), &mut perfect);
    assert_eq!(pair.sent.len(), 1);
    let (_, _, datagram) = &pair.sent[0];
    let expected = Packet::new(63, path(0, 5, 30_000));
    assert_eq!(Packet::parse(&datagram.bytes), Ok(expected));
    assert_eq!((datagram.port, datagram.next, datagram.envelope), (PORT, Some(address(1)), end_to_end()));
    assert_eq!(pair.layers[1].held, BTreeMap::from([(5, (30_000, 1))]));
    assert!(matches!(
        &pair.layers[1].events[..],
        [(_, Incoming::Message(Arrival { id: None, from, send_ttl: 63, .. }, _))] if *from == neighbor(1)
    ));
    assert!(!pair.refresh(0, 5, 30_000));
    pair.run(ms(200), &mut perfect);
    for side in &pair.sides {
        assert!(side.audit().is_empty() && side.poll_timeout().is_none());
    }
}

#[test]
fn damaged_messages_are_counted() {
    let [mut a, mut b] = [0, 1].map(|side| Transport::new(config(side, 1)));
    a.send(ms(0), neighbor(0), end_to_end(), &mut path(0, 5, 1), Delivery::Plain);
    let mut bytes = a.poll_output().map(|datagram| datagram.bytes).unwrap_or_default();
    bytes[20] ^= 1;
    let mut out = Vec::new();
    b.receive(ms(0), &arrived(end_to_end()), &bytes, &mut out);
    b.receive(ms(0), &arrived(end_to_end()), &[0x10, 12, 0, 0, 1, 0, 0, 8], &mut out);
    assert!(matches!(out[0], Incoming::Malformed { reason: Malformed::Parse, error: Some(_), .. }));
    assert!(matches!(out[1], Incoming::Malformed { reason: Malformed::Bundle, .. }));
    assert_eq!((b.counters().malformed(Malformed::Parse), b.counters().malformed(Malformed::Bundle)), (1, 1));
}

/// Hellos to a group would be answered by a neighbour that is known by another name: each would take the other for one
/// that restarts all the time.
#[test]
fn a_hop_that_is_no_host_is_no_neighbour() {
    for hop in [[224, 0, 0, 5], [231, 24, 0, 2], [255, 255, 255, 255], [0, 0, 0, 0], [127, 0, 0, 1]] {
        let mut transport = Transport::new(config(1, 1));
        let mut message = path(0, 5, 1);
        let Message::Path(asked) = &mut message else { unreachable!("a Path") };
        asked.hop.address = Ipv4Addr::from(hop).into();
        let bytes = codec::emit(0, 64, &message).expect("a message");
        let mut out = Vec::new();
        transport.receive(ms(0), &arrived(end_to_end()), &bytes, &mut out);
        assert!(matches!(out[..], [Incoming::Malformed { reason: Malformed::Parse, error: Some(_), .. }]));
    }
}

#[test]
fn a_capable_node_falls_back_to_plain_messages() {
    let mut pair = Pair::new([0, 1].map(|side| {
        let mut config = config(side, 1);
        config.refresh_reduction = (side == 0).then(RefreshReduction::default);
        Transport::new(config)
    }));
    pair.trigger(0, 5, 1);
    pair.send(1, &mut path(1, 6, 1), Delivery::Trigger(Handle(6)));
    pair.run(ms(100), &mut perfect);
    assert!(!pair.refresh(0, 5, 1));
    pair.run(ms(70_000), &mut perfect);
    assert_eq!(pair.sent.len(), 3);
    assert!(pair.sent.iter().all(|(_, _, datagram)| {
        Packet::parse(&datagram.bytes)
            .is_ok_and(|p| p.message.common().is_some_and(|c| c.message_id.is_none()))
    }));
    assert!(pair.sides[0].audit().is_empty());
}
