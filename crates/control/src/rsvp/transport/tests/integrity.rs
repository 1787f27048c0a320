//! RFC 2747: signed messages between two transports.

use super::*;
use wire::rsvp::KeyId;

const ID: KeyId = KeyId([0, 0, 0, 0, 0, 1]);

fn keyed(secrets: [&str; 2], handshake: bool, window: usize, reduce: bool) -> Pair {
    Pair::new([0, 1].map(|side| {
        let mut config = config(side, 5);
        let keys = vec![Key::new(ID, secrets[side].as_bytes().to_vec())];
        config.integrity = vec![PortKeys { port: PORT, keys, handshake, window }];
        config.refresh_reduction =
            reduce.then(|| RefreshReduction { assume_capable: true, ..RefreshReduction::default() });
        Transport::new(config)
    }))
}

fn held(pair: &Pair) -> Vec<u16> {
    pair.layers[1].held.keys().copied().collect()
}

#[test]
fn signed_messages_are_taken_once() {
    let mut pair = keyed(["secret"; 2], false, 1, false);
    pair.trigger(0, 1, 1);
    pair.trigger(0, 2, 1);
    pair.run(ms(10), &mut perfect);
    assert_eq!(held(&pair), [1, 2]);
    for number in [0, 1] {
        let old = pair.sent[number].2.clone();
        let mut out = Vec::new();
        pair.sides[1].receive(ms(20), &arrived(old.envelope), &old.bytes, &mut out);
        assert!(matches!(out[..], [Incoming::Malformed { reason: Malformed::Replay, .. }]));
    }
    assert_eq!(pair.sides[1].counters().malformed(Malformed::Replay), 2);
}

#[test]
fn other_keys_damage_and_lack_of_a_signature_are_refused() {
    let mut pair = keyed(["secret", "other"], false, 1, false);
    pair.trigger(0, 1, 1);
    pair.run(ms(10), &mut perfect);
    assert_eq!((held(&pair), pair.sides[1].counters().malformed(Malformed::Digest)), (vec![], 1));

    let mut pair = keyed(["secret"; 2], false, 1, false);
    pair.trigger(0, 1, 1);
    pair.run(ms(0), &mut |_, _| Vec::new());
    let mut bytes = pair.sent[0].2.bytes.clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let mut plain = Vec::new();
    assert!(wire::rsvp::Packet::new(63, path(0, 1, 1)).emit(&mut plain).is_ok());
    let mut out = Vec::new();
    pair.sides[1].receive(ms(1), &arrived(end_to_end()), &bytes, &mut out);
    pair.sides[1].receive(ms(1), &arrived(end_to_end()), &plain, &mut out);
    let reasons: Vec<_> = out
        .iter()
        .map(|event| if let Incoming::Malformed { reason, .. } = event { Some(*reason) } else { None })
        .collect();
    assert_eq!(reasons, [Some(Malformed::Digest), Some(Malformed::IntegrityMissing)]);
}

/// RFC 2747, 4.3: nothing is believed before the challenge is answered; retransmission brings what was lost to that.
#[test]
fn the_handshake_comes_first() {
    let mut pair = keyed(["secret"; 2], true, 1, true);
    pair.trigger(0, 1, 1);
    pair.run(ms(400), &mut perfect);
    assert_eq!(held(&pair), Vec::<u16>::new());
    assert_eq!(pair.sides[1].counters().malformed(Malformed::Unsynchronised), 1);
    assert_eq!(
        (pair.sides[1].counters().challenges_sent, pair.sides[0].counters().challenges_received),
        (1, 1)
    );
    pair.run(ms(5_000), &mut perfect);
    assert_eq!(held(&pair), [1]);
    assert_eq!(pair.sides[0].audit().copies, 0);
    // A recording of all that was said is of no use.
    for (_, _, old) in pair.sent.clone() {
        let mut out = Vec::new();
        pair.sides[1].receive(ms(6_000), &arrived(old.envelope), &old.bytes, &mut out);
        assert!(out.iter().all(|event| matches!(event, Incoming::Malformed { .. })), "{out:?}");
    }
}

#[test]
fn a_restart_of_the_receiver_begins_with_a_handshake() {
    let mut pair = keyed(["secret"; 2], true, 1, true);
    pair.trigger(0, 1, 1);
    pair.run(ms(5_000), &mut perfect);
    let recording = pair.sent.clone();
    pair.sides[1].restart(ms(5_000));
    pair.layers[1] = Layer::default();
    for (_, side, old) in recording {
        if side == 0 {
            let mut out = Vec::new();
            pair.sides[1].receive(ms(5_000), &arrived(old.envelope), &old.bytes, &mut out);
            assert!(out.iter().all(|event| matches!(event, Incoming::Malformed { .. })), "{out:?}");
        }
    }
    pair.trigger(0, 2, 1);
    pair.run(ms(10_000), &mut perfect);
    assert_eq!(held(&pair), [2]);
}

#[test]
fn bundles_of_signed_messages_keep_their_order() {
    let mut pair = keyed(["secret"; 2], false, 1, true);
    for tunnel in 0..100 {
        pair.trigger(0, tunnel, 1);
    }
    pair.run(ms(10_000), &mut perfect);
    assert_eq!(held(&pair).len(), 100);
    assert!(pair.sides[0].counters().bundles_sent > 5);
    assert!(pair.sent.iter().all(|s| s.2.bytes.len() <= 1480));
    for tunnel in 0..100 {
        assert!(pair.refresh(0, tunnel, 1));
    }
    pair.run(ms(20_000), &mut perfect);
    assert_eq!(pair.layers[1].refreshed.len(), 100);
    assert_eq!(pair.sides.iter().map(|side| side.counters().malformed.iter().sum::<u64>()).sum::<u64>(), 0);
}
