//! Sessions come up, agree, and find that packets are lost.

use super::super::Discard;
use super::super::authentication::Key;
use super::super::session::Terms;
use super::super::states::SessionState;
use super::pair::{DELAY, Pair, session, terms};
use crate::services::Verdict;
use base::{Span, Time};
use proptest::prelude::*;
use wire::bfd::{Algorithm, Auth, Diag, Repr, State};

#[test]
fn both_come_up_and_the_slower_says_how_often_packets_come() {
    let mut pair = Pair::new(terms(50, 3), terms(100, 5));
    pair.run(Span::from_secs(1));
    assert!(pair.is_up());
    // Three packets up: Down, Init, Up, and who began is answered.
    assert!(
        pair.changes.iter().all(|change| change.0 <= Time::ZERO + Span(DELAY.0 * 3)),
        "{:?}",
        pair.changes
    );
    assert_eq!([0, 1].map(|side| pair.sides[side].interval()), [Span::from_ms(100); 2]);
    // RFC 5880, 6.8.4: the multiplier is the neighbour's.
    assert_eq!([0, 1].map(|side| pair.sides[side].detection()), [500, 300].map(Span::from_ms));
    assert_eq!([0, 1].map(|side| pair.sides[side].verdict), [Verdict::Alive; 2]);
    // RFC 5880, 6.5: the polls about the new intervals are answered, and over.
    let last = |side| pair.sent.iter().rev().find(|sent| sent.from == side).expect("a packet").packet();
    assert!([0, 1].iter().all(|side| !last(*side).poll));
    assert!(pair.sent.iter().all(|sent| !(sent.packet().poll && sent.packet().is_final)));
    assert_eq!((last(0).desired_min_tx_us, last(1).desired_min_tx_us), (50_000, 100_000));
}

/// RFC 5880, 6.8.3 and 6.8.7.
#[test]
fn packets_come_a_random_part_of_a_quarter_earlier() {
    let mut pair = Pair::new(terms(100, 3), terms(100, 1));
    pair.run(Span::from_secs(1));
    let since = pair.now;
    pair.run(Span::from_secs(60));
    for (side, most) in [(0, 100), (1, 90)] {
        let gaps = pair.gaps(side, since);
        let of = |percent: i64| Span(Span::from_ms(100).0 / 100 * percent);
        assert!(gaps.iter().all(|gap| (of(75)..=of(most)).contains(gap)), "{gaps:?}");
        let mean = gaps.iter().map(|gap| gap.0).sum::<i64>() / gaps.len() as i64;
        let middle = of((75 + most) / 2).0;
        assert!((mean - middle).abs() < of(1).0, "{mean} beside {middle}");
    }
    // Who is alone says Down once a second at most.
    let mut alone = Pair::new(terms(10, 3), terms(10, 3));
    alone.cut = [true; 2];
    alone.run(Span::from_secs(30));
    let gaps = alone.gaps(0, Time::ZERO);
    assert!(gaps.iter().all(|gap| (Span::from_ms(750)..=Span::from_secs(1)).contains(gap)), "{gaps:?}");
    assert!(alone.sent.iter().all(|sent| sent.packet().state == State::Down));
}

#[test]
fn a_failure_of_one_direction_takes_both_down() {
    let mut pair = Pair::new(terms(50, 3), terms(50, 3));
    pair.run(Span::from_secs(1));
    pair.cut[0] = true;
    let since = pair.now;
    pair.run(Span::from_ms(400));
    assert_eq!([0, 1].map(|side| pair.sides[side].diag), [Diag::NEIGHBOR_DOWN, Diag::TIME_EXPIRED]);
    assert_eq!([0, 1].map(|side| pair.sides[side].verdict), [Verdict::Dead; 2]);
    let downs: Vec<_> = pair.changes.iter().filter(|change| change.0 > since).collect();
    // The neighbour is told at once.
    assert_eq!((downs.len(), downs[1].0), (2, downs[0].0 + DELAY));
    // Who is heard and does not hear: the one goes to Init, and the other stays Down.
    pair.run(Span::from_secs(5));
    assert!(!pair.is_up());
    assert_eq!(pair.sides[1].remote.discriminator, 0, "RFC 5880, 6.8.1");
    pair.cut[0] = false;
    pair.run(Span::from_secs(3));
    assert!(pair.is_up());
    assert_eq!([0, 1].map(|side| pair.sides[side].counts.downs), [1; 2]);
}

/// RFC 5880, 6.8.1 and 6.8.7: what a session says first, and what it believes before it has heard anything.
#[test]
fn a_session_begins_as_the_rfc_says() {
    let key = || Some(keys().remove(3));
    let mut one = session(5, terms(50, 3), key());
    let remote = one.remote;
    assert_eq!((one.state, remote.state, remote.discriminator), (SessionState::Down, State::Down, 0));
    assert_eq!((remote.receive_us, remote.demand), (1, false));
    let bytes = one.poll_packet(Time::ZERO).expect("it says Down");
    let first = Repr::parse(&bytes).expect("a packet");
    let Some(Auth::Keyed { sequence, .. }) = first.auth else { panic!("{first:?}") };
    let expected = Repr {
        diag: Diag::NONE,
        state: State::Down,
        poll: false,
        is_final: false,
        independent: false,
        demand: false,
        multipoint: false,
        detect_mult: 3,
        my_discriminator: 5,
        your_discriminator: 0,
        // A second at least as long as it is not up (6.8.3).
        desired_min_tx_us: 1_000_000,
        required_min_rx_us: 50_000,
        required_min_echo_rx_us: 0,
        auth: None,
    };
    assert_eq!(Repr { auth: None, ..first }, expected);
    // Sequence numbers begin at a random one.
    let other = session(6, terms(50, 3), key()).poll_packet(Time::ZERO).expect("it says Down");
    let Some(Auth::Keyed { sequence: theirs, .. }) = Repr::parse(&other).expect("a packet").auth else {
        return;
    };
    assert!(sequence != theirs && sequence > 1 && theirs > 1);
}

/// RFC 5880, 6.5: a poll is in packets that are sent anyway; only what is new is said between them (6.8.7).
#[test]
fn polls_are_in_packets_that_are_sent_anyway() {
    let mut pair = Pair::new(terms(50, 3), terms(50, 3));
    pair.run(Span::from_secs(2));
    // The second change is while the first one's poll runs, so that another poll follows.
    pair.with(0, |session, now| session.set_terms(now, terms(60, 3)));
    pair.with(0, |session, now| session.set_terms(now, terms(70, 3)));
    pair.run(Span::from_secs(2));
    let own: Vec<_> = pair.sent.iter().filter(|sent| sent.from == 0 && !sent.packet().is_final).collect();
    let said = |sent: &super::pair::Sent| Repr { poll: false, ..sent.packet() };
    let polls = own.iter().filter(|sent| sent.packet().poll).count();
    assert!(polls >= 3, "{polls}");
    let least = Span(Span::from_ms(50).0 / 4 * 3);
    for two in own.windows(2).filter(|two| said(two[0]) == said(two[1])) {
        assert!(two[1].at - two[0].at >= least, "{two:?}");
    }
}

/// RFC 5880, 6.7.3: without "meticulous", a new number comes with new contents at least; with it, in every packet.
#[test]
fn sequence_numbers_grow_with_what_is_new() {
    for key in keys().split_off(1) {
        let is_strict = matches!(key, Key::Keyed { meticulous: true, .. });
        let mut pair = Pair::with_keys([terms(50, 3); 2], [Some(key.clone()), Some(key)]);
        pair.run(Span::from_secs(2));
        let own: Vec<_> = pair.sent.iter().filter(|sent| sent.from == 0).map(|sent| sent.packet()).collect();
        let number = |packet: &Repr| match &packet.auth {
            Some(Auth::Keyed { sequence, .. }) => *sequence,
            other => panic!("{other:?}"),
        };
        let said = |packet: &Repr| Repr { poll: false, is_final: false, auth: None, ..packet.clone() };
        for two in own.windows(2) {
            let is_more = number(&two[1]) == number(&two[0]).wrapping_add(1);
            assert_eq!(is_more, is_strict || said(&two[0]) != said(&two[1]));
        }
    }
}

/// RFC 5880, 6.8.16; RFC 5882, 3.2.
#[test]
fn what_is_shut_down_is_not_dead() {
    let mut pair = Pair::new(terms(50, 3), terms(50, 3));
    pair.run(Span::from_secs(1));
    pair.with(0, |session, now| session.disable(now, Diag::ADMIN_DOWN));
    pair.run(Span::from_secs(2));
    assert_eq!(pair.states(), [SessionState::AdminDown, SessionState::Down]);
    assert_eq!([0, 1].map(|side| pair.sides[side].diag), [Diag::ADMIN_DOWN, Diag::NEIGHBOR_DOWN]);
    assert_eq!([0, 1].map(|side| pair.sides[side].verdict), [Verdict::Unknown; 2]);
    // It says so for longer than the other's detection time, once a second.
    pair.run(Span::from_secs(10));
    assert_eq!(pair.sides[1].remote.state, State::AdminDown);
    pair.with(0, |session, now| session.enable(now));
    pair.run(Span::from_secs(1));
    assert!(pair.is_up());
}

/// RFC 5880, 6.8.3: packets do not come later before the neighbour knows, nor are they missed earlier.
#[test]
fn intervals_change_when_the_neighbour_has_agreed() {
    let mut pair = Pair::new(terms(50, 3), terms(50, 3));
    pair.run(Span::from_secs(1));
    pair.cut[1] = true;
    pair.with(0, |session, now| session.set_terms(now, terms(200, 3)));
    assert_eq!(pair.sides[0].interval(), Span::from_ms(50), "nobody has agreed");
    assert!(pair.sent.last().expect("a packet").packet().poll, "it asks at once");
    pair.cut[1] = false;
    pair.run(Span::from_secs(1));
    assert_eq!([0, 1].map(|side| pair.sides[side].interval()), [Span::from_ms(200); 2]);
    pair.cut[1] = true;
    pair.with(0, |session, now| session.set_terms(now, terms(10, 3)));
    let side = &pair.sides[0];
    assert_eq!((side.interval(), side.detection()), (Span::from_ms(50), Span::from_ms(600)));
    pair.cut[1] = false;
    pair.run(Span::from_secs(1));
    assert_eq!(pair.sides[0].detection(), Span::from_ms(150));
    assert_eq!(pair.changes.len(), 4, "{:?}: none went down", pair.changes);
}

/// A packet of a neighbour in state Up.
fn said(change: impl FnOnce(&mut Repr)) -> Repr {
    let mut packet = Repr {
        diag: Diag::NONE,
        state: State::Init,
        poll: false,
        is_final: false,
        independent: false,
        demand: false,
        multipoint: false,
        detect_mult: 3,
        my_discriminator: 77,
        your_discriminator: 5,
        desired_min_tx_us: 50_000,
        required_min_rx_us: 50_000,
        required_min_echo_rx_us: 0,
        auth: None,
    };
    change(&mut packet);
    packet
}

/// RFC 5880, 6.6 and 6.8.7.
#[test]
fn a_neighbour_in_demand_mode_is_sent_polls_and_answers_alone() {
    let mut one = session(5, terms(50, 3), None);
    let mut now = Time::ZERO;
    let hear = |one: &mut super::super::session::Session, now: Time, packet: Repr| {
        let bytes = packet.emit();
        one.receive(now, &packet, &bytes).expect("a packet that is taken");
        core::iter::from_fn(|| one.poll_packet(now))
            .map(|b| Repr::parse(&b).expect("one"))
            .collect::<Vec<_>>()
    };
    let first = hear(&mut one, now, said(|_| {}));
    assert!(one.state == SessionState::Up && first[0].poll, "its new interval is to be confirmed");
    hear(&mut one, now, said(|packet| (packet.state, packet.is_final) = (State::Up, true)));
    let quiet = said(|packet| (packet.state, packet.demand) = (State::Up, true));
    assert_eq!(hear(&mut one, now, quiet.clone()), []);
    // Nothing is due but the end of the detection time, since this end wants periodic packets.
    assert_eq!(one.due(), Some(now + Span::from_ms(150)));
    now += Span::from_ms(100);
    let answers = hear(&mut one, now, Repr { poll: true, ..quiet.clone() });
    assert_eq!(answers.iter().map(|one| (one.poll, one.is_final)).collect::<Vec<_>>(), [(false, true)]);
    // A change is told by a poll.
    one.set_terms(now, terms(50, 7));
    let told = Repr::parse(&one.poll_packet(now).expect("a packet")).expect("one");
    assert_eq!((told.poll, told.detect_mult), (true, 7));
    hear(&mut one, now, Repr { is_final: true, ..quiet.clone() });
    assert_eq!(one.due(), Some(now + Span::from_ms(150)));
    // It wants packets again, and gets one when it is time.
    assert_eq!(hear(&mut one, now, Repr { demand: false, ..quiet }), []);
    assert!(one.due().is_some_and(|due| due <= now + Span::from_ms(50)));
}

/// RFC 5880, 6.8.7.
#[test]
fn a_neighbour_that_wants_no_packets_gets_none_but_answers() {
    let mut one = session(5, terms(50, 3), None);
    one.poll_packet(Time::ZERO).expect("it says Down");
    let packet = said(|packet| packet.required_min_rx_us = 0);
    one.receive(Time::ZERO, &packet, &packet.emit()).expect("taken");
    one.poll_packet(Time::ZERO).expect("it says Up");
    assert_eq!(one.due(), Some(Time::ZERO + one.detection()));
    let packet = Repr { poll: true, ..packet };
    one.receive(Time::ZERO, &packet, &packet.emit()).expect("taken");
    let answer = Repr::parse(&one.poll_packet(Time::ZERO).expect("an answer")).expect("one");
    assert!(answer.is_final);
    // RFC 5880, 6.8.18: after a Detection Time of silence what it wanted counts no more; and likewise if it wanted one
    // packet an hour.
    let packet = said(|packet| packet.required_min_rx_us = u32::MAX);
    one.receive(Time::ZERO, &packet, &packet.emit()).expect("taken");
    one.poll_packet(Time::ZERO);
    assert!(one.interval() > Span::from_secs(3600));
    let later = Time::ZERO + one.detection();
    one.expire(later);
    one.poll_packet(later).expect("it says Down");
    assert!(one.due().is_some_and(|due| due <= later + Span::from_secs(1)), "and goes on saying so");
}

fn keys() -> Vec<Key> {
    let keyed = |algorithm, meticulous| Key::Keyed { algorithm, meticulous, id: 7, secret: b"secret".into() };
    vec![
        Key::Simple { id: 7, password: b"secret".to_vec() },
        keyed(Algorithm::Md5, false),
        keyed(Algorithm::Md5, true),
        keyed(Algorithm::Sha1, false),
        keyed(Algorithm::Sha1, true),
    ]
}

/// RFC 5880, 6.7.
#[test]
fn those_with_the_same_key_hear_each_other_and_nobody_else() {
    let fast = [terms(50, 3); 2];
    for (place, key) in keys().into_iter().enumerate() {
        let mut pair = Pair::with_keys(fast, [Some(key.clone()), Some(key.clone())]);
        pair.run(Span::from_secs(5));
        assert!(pair.is_up() && pair.discards.is_empty(), "{key:?}");
        let other = match key.clone() {
            Key::Simple { id, .. } => Key::Simple { id, password: b"secreu".to_vec() },
            Key::Keyed { algorithm, meticulous, id, .. } => {
                Key::Keyed { algorithm, meticulous, id, secret: b"secreu".to_vec() }
            }
        };
        let next = keys()[(place + 1) % 5].clone();
        let wrong = [
            (Some(other), Discard::WrongKey),
            (Some(next), Discard::WrongType),
            (None, Discard::Authenticated),
        ];
        for (theirs, why) in wrong {
            let is_none = theirs.is_none();
            let mut pair = Pair::with_keys(fast, [theirs, Some(key.clone())]);
            pair.run(Span::from_secs(5));
            assert_eq!(pair.states(), [SessionState::Down; 2]);
            assert!(pair.discards.contains(&why), "{why:?} in {:?}", pair.discards);
            assert!(!is_none || pair.discards.contains(&Discard::Unauthenticated));
        }
    }
}

/// RFC 5880, 6.7.3, and bfd.AuthSeqKnown of 6.8.1.
#[test]
fn packets_are_not_taken_twice_and_numbers_begin_anew_after_silence() {
    for key in keys().split_off(1) {
        let is_strict = matches!(key, Key::Keyed { meticulous: true, .. });
        let mut pair = Pair::with_keys([terms(50, 3); 2], [Some(key.clone()), Some(key.clone())]);
        pair.run(Span::from_secs(2));
        let own: Vec<_> = pair.sent.iter().filter(|sent| sent.from == 0).collect();
        let (first, last) = (own[0].clone(), own[own.len() - 1].clone());
        let mut hear =
            |sent: &super::pair::Sent, now| pair.sides[1].receive(now, &sent.packet(), &sent.bytes).err();
        let now = Time::ZERO + Span::from_secs(2);
        hear(&last, now);
        assert_eq!(hear(&last, now), is_strict.then_some(Discard::Replayed), "{key:?}");
        assert_eq!(hear(&first, now), Some(Discard::Replayed), "it is older");
        // Twice the detection time without a packet: the neighbour has begun again.
        let later = now + Span::from_secs(10);
        pair.sides[1].expire(later);
        assert_eq!(pair.sides[1].receive(later, &first.packet(), &first.bytes), Ok(()));
    }
}

fn any_terms() -> impl Strategy<Value = Terms> {
    (10u32..400, 10u32..400, 1u8..6).prop_map(|(send, receive, multiplier)| Terms {
        send_us: send * 1000,
        receive_us: receive * 1000,
        multiplier,
    })
}

proptest! {
    /// Whatever is lost on the way: when nothing is lost any more both come up; when everything is, both are down no
    /// later than a detection time after the last packet that was heard, and not earlier.
    #[test]
    fn two_sessions_agree_whatever_is_lost(
        one in any_terms(),
        other in any_terms(),
        lost in proptest::collection::vec(any::<bool>(), 1..200),
        ms in 0i64..5000,
    ) {
        let mut pair = Pair::new(one, other);
        let mut rest = lost.into_iter();
        pair.lost = Box::new(move |_| rest.next().unwrap_or(false));
        // Each packet that is lost may take a second, and it takes three to come up.
        pair.run(Span::from_secs(220));
        prop_assert!(pair.is_up(), "{:?}", pair.sides);
        pair.run(Span::from_ms(ms));
        let detection = [0, 1].map(|side| pair.sides[side].detection());
        let last = [0, 1].map(|side| {
            let heard = pair.sent.iter().rev().filter(|sent| sent.from != side);
            heard.map(|sent| sent.at + DELAY).next().expect("a packet")
        });
        pair.cut = [true; 2];
        let changes = pair.changes.len();
        pair.run(detection[0].max(detection[1]) + Span::from_ms(10));
        prop_assert_eq!(pair.states(), [SessionState::Down; 2]);
        for (at, side, _) in &pair.changes[changes..] {
            prop_assert_eq!(*at, last[*side] + detection[*side]);
        }
    }

    /// Without loss no change of terms takes a session down.
    #[test]
    fn terms_change_without_a_failure(
        changes in proptest::collection::vec((any::<bool>(), any_terms(), 0i64..800), 1..20),
    ) {
        let mut pair = Pair::new(terms(50, 2), terms(50, 2));
        pair.run(Span::from_secs(1));
        for (side, terms, ms) in changes {
            pair.with(usize::from(side), |session, now| session.set_terms(now, terms));
            pair.run(Span::from_ms(ms));
        }
        pair.run(Span::from_secs(5));
        prop_assert!(pair.is_up());
        prop_assert_eq!(pair.changes.len(), 4, "twice Init, twice Up: {:?}", pair.changes);
        for side in [0, 1] {
            let (own, far) = (pair.sides[side].terms, pair.sides[1 - side].terms);
            let agreed = own.send_us.max(far.receive_us);
            prop_assert_eq!(pair.sides[side].interval(), Span::from_us(agreed.into()));
            let heard = far.send_us.max(own.receive_us);
            prop_assert_eq!(pair.sides[side].detection(), Span::from_us(i64::from(heard) * i64::from(far.multiplier)));
        }
    }

    /// Whatever comes, nothing panics, and time goes on.
    #[test]
    fn any_packet_does_no_harm(
        packets in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 24), 0i64..500), 0..40),
    ) {
        let mut one = session(5, terms(50, 3), None);
        let mut now = Time::ZERO;
        for (mut bytes, ms) in packets {
            (bytes[0], bytes[1], bytes[3]) = (bytes[0] & 0x1f | 0x20, bytes[1] & !5, 24);
            if let Ok(packet) = Repr::parse(&bytes) {
                let _ = one.receive(now, &packet, &bytes);
            }
            let end = now + Span::from_ms(ms);
            let mut calls = 0;
            loop {
                while one.poll_packet(now).is_some() {}
                let Some(due) = one.due().filter(|due| *due <= end) else { break };
                now = now.max(due);
                one.expire(now);
                calls += 1;
                prop_assert!(calls < 10_000, "{one:?}");
            }
            now = end;
        }
    }
}
