//! RFC 3209, 5: Hellos between two transports.

use super::*;
use wire::rsvp::{Hello, HelloMessage, Packet};

fn greeting() -> Pair {
    Pair::new([0, 1].map(|side| {
        let mut config = config(side, 11);
        config.hello = Some(HelloConfig::default());
        Transport::new(config)
    }))
}

fn changes(pair: &Pair, side: usize) -> Vec<(Time, Option<bool>)> {
    pair.events(side, |event| match event {
        Incoming::NeighborUp(n) if *n == neighbor(side) => Some(None),
        Incoming::NeighborDown { neighbor: n, restarted } if *n == neighbor(side) => Some(Some(*restarted)),
        _ => None,
    })
}

fn kinds(pair: &Pair, side: usize) -> Vec<Option<bool>> {
    changes(pair, side).into_iter().map(|change| change.1).collect()
}

fn quick(_: usize, _: &Datagram) -> Vec<Span> {
    vec![Span::from_us(100)]
}

#[test]
fn comes_up_goes_down_and_comes_up_again() {
    let mut pair = greeting();
    pair.sides[0].track(ms(0), neighbor(0));
    pair.run(ms(100), &mut quick);
    assert_eq!((kinds(&pair, 0), kinds(&pair, 1)), (vec![None], vec![None]));
    assert!(
        pair.sent
            .iter()
            .all(|(_, side, datagram)| datagram.envelope == Envelope { ttl: 1, ..hop_by_hop(*side) })
    );
    let last = pair.sent.iter().rev().find(|s| s.1 == 1).map(|s| s.0).unwrap_or_default();
    pair.run(ms(150), &mut |_, _| Vec::new());
    assert_eq!((kinds(&pair, 0), kinds(&pair, 1)), (vec![None, Some(false)], vec![None, Some(false)]));
    // 3.5 intervals of 5 ms after the last that was heard.
    let lost = changes(&pair, 0)[1].0;
    assert_eq!(lost, last + Span::from_us(100) + Span::from_us(17_500));
    pair.run(ms(200), &mut quick);
    assert_eq!((kinds(&pair, 0).last(), kinds(&pair, 1).last()), (Some(&None), Some(&None)));
    assert!(pair.sides[0].neighbors().all(|n| n.hello_up == Some(true)));
}

#[test]
fn a_restart_is_told_from_silence() {
    let mut pair = greeting();
    pair.sides[0].track(ms(0), neighbor(0));
    pair.sides[1].track(ms(0), neighbor(1));
    pair.run(ms(100), &mut quick);
    pair.sides[1].restart(ms(100));
    pair.sides[1].track(ms(100), neighbor(1));
    pair.run(ms(200), &mut quick);
    assert_eq!(kinds(&pair, 0), [None, Some(true), None]);
    assert_eq!(kinds(&pair, 1), [None, None], "up, and after its own restart up again");
}

#[test]
fn some_loss_is_survived() {
    let mut pair = greeting();
    pair.sides[0].track(ms(0), neighbor(0));
    let mut count = 0u32;
    pair.run(ms(1_000), &mut |_, _| {
        count += 1;
        if count.is_multiple_of(4) { Vec::new() } else { vec![Span::from_us(100)] }
    });
    assert_eq!((kinds(&pair, 0), kinds(&pair, 1)), (vec![None], vec![None]));
}

/// RFC 3209, 5.3: one that was asked within the interval need not ask.
#[test]
fn one_side_asking_is_enough() {
    let mut pair = greeting();
    pair.sides[0].track(ms(0), neighbor(0));
    pair.run(ms(1_000), &mut quick);
    let requests = pair.sent.iter().filter(|(_, _, datagram)| {
        matches!(
            Packet::parse(&datagram.bytes),
            Ok(Packet { message: Message::Hello(HelloMessage { hello: Hello::Request { .. }, .. }), .. })
        )
    });
    let requests = requests.count();
    assert!((190..=220).contains(&requests), "{requests}");
}

#[test]
fn untracked_neighbours_hold_no_timer() {
    let mut pair = greeting();
    pair.sides[0].track(ms(0), neighbor(0));
    pair.run(ms(50), &mut quick);
    for side in 0..2 {
        pair.sides[side].untrack(neighbor(side));
        assert_eq!((pair.sides[side].poll_timeout(), pair.sides[side].audit().hellos), (None, 0));
    }
}

/// RFC 3209, 5.2 and 5.3: the field is never to be zero; a request is answered all the same, and communication is lost.
#[test]
fn hellos_without_an_instance_are_malformed() {
    for (request, up) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut pair = greeting();
        if up {
            pair.sides[0].track(ms(0), neighbor(0));
            pair.run(ms(100), &mut quick);
        }
        let hello = match request {
            true => Hello::Request { src_instance: 0, dst_instance: 0 },
            false => Hello::Ack { src_instance: 0, dst_instance: 0 },
        };
        let message = Message::Hello(HelloMessage { common: Common::default(), hello });
        let mut bytes = Vec::new();
        assert!(Packet::new(1, message).emit(&mut bytes).is_ok());
        let mut out = Vec::new();
        let now = pair.now;
        pair.sides[0].receive(now, &arrived(hop_by_hop(1)), &bytes, &mut out);
        let malformed =
            |event: &Incoming| matches!(event, Incoming::Malformed { reason: Malformed::HelloInstance, .. });
        let lost = |event: &Incoming| matches!(event, Incoming::NeighborDown { restarted: false, .. });
        assert!(out.first().is_some_and(malformed), "{out:?}");
        assert_eq!((out.len(), out.iter().any(lost)), (1 + usize::from(up), up), "{out:?}");
        let answer = pair.sides[0].poll_output().and_then(|datagram| Packet::parse(&datagram.bytes).ok());
        let answered = answer.is_some_and(|packet| match packet.message {
            Message::Hello(HelloMessage { hello: Hello::Ack { dst_instance, .. }, .. }) => dst_instance == 0,
            _ => false,
        });
        assert_eq!(answered, request);
        // It comes back as soon as it says who it is.
        pair.run(now + Span::from_secs(3), &mut quick);
        assert_eq!(pair.sides[0].neighbors().map(|n| n.hello_up).collect::<Vec<_>>(), [Some(true)]);
    }
}

#[test]
fn who_does_not_ask_still_answers() {
    let mut transport = Transport::new(config(0, 11));
    let mut ask = |at, src_instance| {
        let hello = Hello::Request { src_instance, dst_instance: 0 };
        let message = Message::Hello(HelloMessage { common: Common::default(), hello });
        let mut bytes = Vec::new();
        assert!(Packet::new(1, message).emit(&mut bytes).is_ok());
        let mut out = Vec::new();
        transport.receive(ms(at), &arrived(hop_by_hop(1)), &bytes, &mut out);
        assert_eq!(out, []);
        if at == 1 {
            transport.restart(ms(at));
            return None;
        }
        let datagram = transport.poll_output()?;
        assert_eq!(datagram.envelope, Envelope { ttl: 1, ..hop_by_hop(0) });
        match Packet::parse(&datagram.bytes).map(|packet| packet.message) {
            Ok(Message::Hello(HelloMessage { hello: Hello::Ack { src_instance, dst_instance }, .. })) => {
                Some((src_instance, dst_instance))
            }
            _ => None,
        }
    };
    let [first, second, _, third] = [(0, 7), (0, 8), (1, 8), (2, 8)].map(|(at, src)| ask(at, src));
    let own = first.map(|answer| answer.0);
    assert_eq!((first.map(|a| a.1), second), (Some(7), own.map(|own| (own, 8))));
    assert!(third.is_some_and(|(instance, _)| Some(instance) != own && instance != 0));
}
