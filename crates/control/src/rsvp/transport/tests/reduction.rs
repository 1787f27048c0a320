//! RFC 2961: reliable delivery, bundles, summaries, epochs.

use super::*;
use wire::rsvp::{MessageId, Packet};

fn message_id(datagram: &Datagram) -> Option<MessageId> {
    Packet::parse(&datagram.bytes).ok()?.message.common()?.message_id
}

fn is_summary(datagram: &Datagram) -> bool {
    matches!(Packet::parse(&datagram.bytes), Ok(Packet { message: Message::Srefresh(_), .. }))
}

fn sent_by(pair: &Pair, side: usize) -> Vec<(Time, &Datagram)> {
    pair.sent.iter().filter(|s| s.1 == side).map(|s| (s.0, &s.2)).collect()
}

/// RFC 2961, 6.2 and 6.3: Rf = 500 ms, Delta = 1, Rl = 3 transmissions.
#[test]
fn backs_off_exponentially_and_gives_up() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.run(ms(200_000), &mut |_, _| Vec::new());
    let times: Vec<Time> = sent_by(&pair, 0).iter().map(|s| s.0).collect();
    assert_eq!(times, [0, 500, 1500].map(ms));
    let ids: Vec<_> = sent_by(&pair, 0).iter().map(|s| message_id(s.1)).collect();
    assert!(ids.iter().all(|id| id.is_some_and(|id| id.flags == MessageId::ACK_DESIRED) && *id == ids[0]));
    let lost = |event: &Incoming| match event {
        Incoming::Lost { handle, .. } => Some(*handle),
        _ => None,
    };
    assert_eq!(pair.events(0, lost), [(ms(3500), Some(Handle(5)))]);
    // From now on it is only refreshed, until an acknowledgement comes after all.
    assert!(!pair.refresh(0, 5, 1));
    pair.run(ms(300_000), &mut perfect);
    assert_eq!(pair.layers[1].held, BTreeMap::from([(5, (1, 1))]));
    assert!(pair.refresh(0, 5, 1));
    pair.run(ms(400_000), &mut perfect);
    assert_eq!(pair.layers[1].refreshed, BTreeMap::from([(5, 1)]));
}

#[test]
fn an_acknowledgement_ends_retransmission() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.send(0, &mut path_tear(0, 6), Delivery::Reliable);
    pair.run(ms(100_000), &mut perfect);
    assert_eq!(sent_by(&pair, 0).len(), 2);
    let acks = sent_by(&pair, 1);
    assert_eq!(acks.len(), 1, "both in one Ack message");
    assert_eq!(acks[0].0, ms(51), "after the delay");
    let counters = pair.sides[0].counters();
    assert_eq!((counters.acks_received, counters.acks_unknown, counters.retransmitted), (2, 0, 0));
    assert_eq!(pair.sides[0].audit().copies, 0);
    pair.sides[0].forget(Handle(5));
    pair.sides[1].unbind(Handle(5));
    for side in &pair.sides {
        assert!(side.audit().is_empty(), "{:?}", side.audit());
        assert_eq!(side.poll_timeout(), None);
    }
}

#[test]
fn a_new_trigger_takes_the_place_of_the_old_one() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.run(ms(100), &mut |_, _| Vec::new());
    pair.trigger(0, 5, 2);
    pair.run(ms(10_000), &mut perfect);
    assert_eq!(sent_by(&pair, 0).len(), 2);
    assert_eq!(pair.layers[1].held, BTreeMap::from([(5, (2, 1))]));
}

/// RFC 2961, 4.5: a message with an older identifier than the state's is out of order.
#[test]
fn what_arrives_too_late_is_dropped() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.trigger(0, 5, 2);
    pair.tear(0, 6);
    let mut slow = [20, 10, 1].into_iter();
    let mut fate = move |side: usize, _: &Datagram| {
        vec![Span::from_ms(if side == 0 { slow.next().unwrap_or(1) } else { 1 })]
    };
    pair.run(ms(10_000), &mut fate);
    assert_eq!(pair.layers[1].held, BTreeMap::from([(5, (2, 1))]));
    // A late copy of what was torn down does not come back to life.
    let old = pair.sent[1].2.clone();
    pair.tear(0, 5);
    pair.run(ms(20_000), &mut perfect);
    assert!(pair.layers[1].held.is_empty());
    let mut out = Vec::new();
    pair.sides[1].receive(pair.now, &arrived(old.envelope), &old.bytes, &mut out);
    assert_eq!(out, []);
    assert_eq!(pair.sides[1].counters().duplicates, 1);
}

#[test]
fn a_repeated_message_only_refreshes() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.tear(0, 6);
    pair.run(ms(10_000), &mut |_, _| vec![Span::from_ms(1); 3]);
    assert_eq!(pair.layers[1].held, BTreeMap::from([(5, (1, 1))]));
    assert_eq!((pair.layers[1].refreshed.get(&5), pair.layers[1].tears), (Some(&2), 1));
}

#[test]
fn acknowledgements_ride_on_messages_to_the_neighbour() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 5, 1);
    pair.run(ms(10), &mut perfect);
    // A Path is not addressed to the neighbour, an error is.
    pair.send(1, &mut path(1, 9, 1), Delivery::Plain);
    let mut error = path_err(1, 1, 2);
    pair.send(1, &mut error, Delivery::Reliable);
    pair.run(ms(20), &mut perfect);
    let acks: Vec<usize> = sent_by(&pair, 1)
        .iter()
        .filter_map(|s| Packet::parse(&s.1.bytes).ok()?.message.common().map(|c| c.acks.len()))
        .collect();
    assert_eq!(acks, [0, 1]);
    pair.run(ms(10_000), &mut perfect);
    assert_eq!(pair.sides[0].audit().copies + pair.sides[1].audit().copies, 0);
}

#[test]
fn bundles_are_filled_and_taken_apart() {
    let mut pair = Pair::new(reduced(|_, config| {
        if let Some(reduction) = &mut config.refresh_reduction {
            (reduction.bundle_delay, reduction.mtu) = (Some(Span::ZERO), 500);
        }
    }));
    for tunnel in 0..40 {
        pair.trigger(0, tunnel, u32::from(tunnel) + 1);
    }
    pair.run(ms(10_000), &mut perfect);
    let sent = sent_by(&pair, 0);
    let one = Packet::new(63, path(0, 1, 1));
    let mut bytes = Vec::new();
    assert!(one.emit(&mut bytes).is_ok());
    let per_bundle = (480 - 8) / (bytes.len() + 12);
    assert!(per_bundle >= 2);
    assert_eq!(sent.len(), 40usize.div_ceil(per_bundle));
    for (_, datagram) in &sent {
        assert!(datagram.bytes.len() <= 480);
        assert!(Packet::parse(&datagram.bytes).is_ok(), "checksums and lengths are right");
        assert_eq!(datagram.envelope, hop_by_hop(0));
    }
    assert_eq!(pair.layers[1].held.len(), 40);
    assert!(pair.layers[1].held.iter().all(|(tunnel, state)| *state == (u32::from(*tunnel) + 1, 1)));
    // TTL as if each had travelled alone: no node in between.
    assert!(pair.layers[1].events.iter().all(|(_, event)| match event {
        Incoming::Message(arrival, _) => arrival.send_ttl == arrival.ip.ttl,
        _ => true,
    }));
    let counters = pair.sides[0].counters();
    assert_eq!((counters.messages_sent, counters.bundles_sent), (40, sent.len() as u64));
    // One message is not worth a Bundle.
    pair.trigger(0, 50, 1);
    pair.run(ms(20_000), &mut perfect);
    assert_eq!(sent_by(&pair, 0).last().map(|s| s.1.envelope), Some(end_to_end()));
}

#[test]
fn a_bad_message_in_a_bundle_costs_no_other() {
    let [mut a, mut b] = reduced(|_, config| {
        if let Some(reduction) = &mut config.refresh_reduction {
            reduction.bundle_delay = Some(Span::ZERO);
        }
    });
    for tunnel in 0..3 {
        a.send(ms(0), neighbor(0), end_to_end(), &mut path(0, tunnel, 1), Delivery::Plain);
    }
    let mut bytes = a.poll_output().map(|datagram| datagram.bytes).unwrap_or_default();
    let second = 8 + usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
    bytes[second + 20] ^= 1;
    let checksum = wire::rsvp::header::checksum(&bytes);
    bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut out = Vec::new();
    b.receive(ms(1), &arrived(hop_by_hop(0)), &bytes, &mut out);
    assert_eq!(out.len(), 3);
    let Incoming::Malformed { reason: Malformed::Parse, error: Some(error), .. } = &out[1] else {
        panic!("{:?}", out[1])
    };
    assert_eq!((error.offset, error.object), (second + 2, None), "the checksum of the second message");
    assert!(matches!((&out[0], &out[2]), (Incoming::Message(..), Incoming::Message(..))));
}

#[test]
fn summaries_are_split_and_spaced() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    for tunnel in 0..1000 {
        pair.trigger(0, tunnel, 1);
    }
    pair.run(ms(5_000), &mut perfect);
    pair.sent.clear();
    for tunnel in 0..1000 {
        assert!(pair.refresh(0, tunnel, 1));
    }
    pair.run(ms(10_000), &mut perfect);
    // (1480 - 8 - 8) / 4 identifiers fit.
    let sent = sent_by(&pair, 0);
    assert!(sent.iter().all(|s| is_summary(s.1) && s.1.bytes.len() <= 1480));
    let times: Vec<Time> = sent.iter().map(|s| s.0).collect();
    assert_eq!(times, [5_000, 5_001, 5_002].map(ms));
    assert_eq!(pair.layers[1].refreshed.len(), 1000);
    assert_eq!(sent_by(&pair, 1).len(), 0, "nothing is to be answered");
}

#[test]
fn what_is_not_full_waits_for_company() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 1, 1);
    pair.trigger(0, 2, 1);
    pair.run(ms(5_000), &mut perfect);
    pair.sent.clear();
    assert!(pair.refresh(0, 1, 1));
    pair.run(ms(5_400), &mut perfect);
    assert!(pair.refresh(0, 2, 1));
    // What was forgotten in the meantime is not refreshed.
    pair.sides[0].forget(Handle(1));
    pair.run(ms(10_000), &mut perfect);
    assert_eq!(sent_by(&pair, 0).iter().map(|s| s.0).collect::<Vec<_>>(), [ms(6_000)]);
    assert_eq!(pair.layers[1].refreshed, BTreeMap::from([(2, 1)]));
}

/// RFC 2961, 5.4: a NACK names an identifier that its sender does not know; the message is then sent in full.
#[test]
fn a_nack_asks_for_the_message_in_full() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 1, 1);
    pair.trigger(0, 2, 1);
    pair.run(ms(1_000), &mut perfect);
    pair.sides[1].unbind(Handle(1));
    pair.layers[1].held.remove(&1);
    assert!(pair.refresh(0, 1, 1) && pair.refresh(0, 2, 1));
    pair.run(ms(3_000), &mut perfect);
    let full = |event: &Incoming| match event {
        Incoming::SendFull(handle) => Some(*handle),
        _ => None,
    };
    assert_eq!(pair.events(0, full), [(ms(2_002), Handle(1))]);
    assert!(!pair.refresh(0, 1, 1), "not covered until it is acknowledged again");
    pair.run(ms(4_000), &mut perfect);
    assert_eq!(pair.layers[1].held.get(&1), Some(&(1, 1)));
    assert!(pair.refresh(0, 1, 1));
}

/// RFC 2961, 4.5: another epoch means that the neighbour restarted.
#[test]
fn a_new_epoch_voids_what_was_known() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    for tunnel in 0..300 {
        pair.trigger(0, tunnel, 1);
    }
    pair.trigger(1, 7, 1);
    pair.run(ms(1_000), &mut perfect);
    let now = pair.now;
    pair.sides[1].restart(now);
    pair.layers[1] = Layer::default();
    assert!(pair.sides[1].audit().is_empty());
    pair.trigger(1, 7, 2);
    pair.run(ms(1_500), &mut perfect);
    assert_eq!(pair.layers[0].held.get(&7), Some(&(2, 2)), "fully processed, whatever its identifier");
    let full = |event: &Incoming| match event {
        Incoming::SendFull(handle) => Some(handle.0),
        _ => None,
    };
    let told: Vec<u32> = pair.events(0, full).into_iter().map(|e| e.1).collect();
    assert_eq!(told, (0..300).collect::<Vec<_>>());
    for tunnel in 0..300 {
        assert!(!pair.refresh(0, tunnel, 1));
    }
    pair.run(ms(3_000), &mut perfect);
    assert_eq!(pair.layers[1].held.len(), 300);
    assert!(pair.refresh(0, 5, 1));
    assert_eq!(pair.sides[0].counters().epoch_changes, 1);
}

/// RFC 2961, 2: the bit is learnt from what the neighbour sends, and unlearnt.
#[test]
fn capability_is_learnt() {
    let mut pair = Pair::new(reduced(|_, config| {
        if let Some(reduction) = &mut config.refresh_reduction {
            reduction.assume_capable = false;
        }
    }));
    pair.trigger(0, 1, 1);
    pair.run(ms(100), &mut perfect);
    assert_eq!(message_id(&pair.sent[0].2), None);
    pair.trigger(1, 2, 1);
    pair.run(ms(200), &mut perfect);
    assert!(message_id(&pair.sent[1].2).is_some(), "side 1 has heard side 0");
    assert!(!pair.refresh(0, 1, 1), "in full once, with an identifier");
    pair.run(ms(1_000), &mut perfect);
    assert!(pair.refresh(0, 1, 1));
    let mut bytes = Vec::new();
    assert!(Packet::new(63, path(1, 3, 1)).emit(&mut bytes).is_ok());
    let mut out = Vec::new();
    pair.sides[0].receive(pair.now, &arrived(end_to_end()), &bytes, &mut out);
    assert!(!pair.refresh(0, 1, 1));
    assert_eq!(pair.sides[0].neighbors().map(|n| n.capable).collect::<Vec<_>>(), [false]);
}

/// RFC 2961, 4.8: a node that does not know the class of MESSAGE_ID answers with an error; it is sent none any more.
#[test]
fn a_neighbour_that_refuses_identifiers_gets_none() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 1, 1);
    pair.run(ms(10), &mut |_, _| Vec::new());
    let value = u16::from_be_bytes([wire::rsvp::class::MESSAGE_ID, 1]);
    let mut error = path_err(1, wire::rsvp::error_code::UNKNOWN_CLASS, value);
    pair.send(1, &mut error, Delivery::Plain);
    pair.run(ms(20), &mut perfect);
    assert_eq!(pair.layers[1].held.get(&1), Some(&(1, 1)), "sent again without");
    assert!(!pair.refresh(0, 1, 1));
    pair.run(ms(100_000), &mut perfect);
    assert_eq!(pair.sent.iter().filter(|s| s.1 == 0).count(), 3);
    assert_eq!(pair.sent.last().and_then(|s| message_id(&s.2)), None);
    assert!(pair.sides[0].audit().is_empty());
}

#[test]
fn an_error_can_stand_for_an_acknowledgement() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 1, 1);
    pair.run(ms(10), &mut |_, _| Vec::new());
    pair.sides[0].acknowledge(Handle(1));
    assert_eq!(pair.sides[0].audit().copies, 0);
    assert!(pair.refresh(0, 1, 1));
}

#[test]
fn a_port_that_goes_down_drops_what_waits() {
    let mut pair = Pair::new(reduced(|_, _| {}));
    pair.trigger(0, 1, 1);
    pair.tear(0, 2);
    pair.trigger(1, 3, 1);
    pair.run(ms(10), &mut perfect);
    for side in 0..2 {
        let now = pair.now;
        pair.sides[side].port_down(now, PORT);
    }
    for side in &mut pair.sides {
        let audit = side.audit();
        assert_eq!((audit.copies, audit.acks, audit.timers), (0, 0, 0));
        assert_eq!(side.poll_timeout(), None);
    }
    pair.tear(0, 2);
    pair.run(ms(10), &mut |_, _| Vec::new());
    assert_eq!(pair.sides[0].audit().copies, 0, "nothing is kept for a port that is down");
    pair.sides[0].port_up(ms(10), PORT);
    assert!(!pair.refresh(0, 1, 1));
    pair.run(ms(1_000), &mut perfect);
    assert!(pair.refresh(0, 1, 1));
}
