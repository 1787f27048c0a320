//! Whatever the channel loses, doubles and reorders: in the end one side holds exactly what the other advertises, each
//! version was set once, and when all is forgotten nothing is left.

use super::*;
use proptest::prelude::*;
use wire::rsvp::KeyId;

#[derive(Clone, Debug)]
enum Step {
    Set(u16),
    Tear(u16),
    Refresh(u16),
    Wait(u32),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u16..12).prop_map(Step::Set),
        2 => (0u16..12).prop_map(Step::Tear),
        3 => (0u16..12).prop_map(Step::Refresh),
        3 => (0u32..3_000).prop_map(Step::Wait),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(testing::cases(192))]

    #[test]
    fn everything_arrives_exactly_once(
        steps in proptest::collection::vec(step(), 1..40),
        fates in proptest::collection::vec((0u8..10, 0u8..10, 0i64..60), 1..64),
        bundle in any::<bool>(),
        signed in any::<bool>(),
    ) {
        let mut pair = Pair::new(reduced(|_, config| {
            if let Some(reduction) = &mut config.refresh_reduction {
                reduction.bundle_delay = bundle.then_some(Span::from_ms(2));
                reduction.mtu = 400;
                // Whoever gives up sooner leaves a lost tear to the cleanup timers, which are not the transport's.
                reduction.retry_limit = 7;
            }
            if signed {
                let keys = vec![Key::new(KeyId([3; 6]), b"key".to_vec())];
                config.integrity = vec![PortKeys { port: PORT, keys, handshake: true, window: 64 }];
            }
        }));
        let mut turn = 0usize;
        let mut fate = |_: usize, _: &Datagram| {
            turn += 1;
            let (lose, double, delay) = fates[turn % fates.len()];
            let delay = Span::from_ms(1 + delay);
            match (lose, double) {
                (0..3, _) => Vec::new(),
                (_, 0..2) => vec![delay, Span(delay.0 * 2)],
                _ => vec![delay],
            }
        };
        let mut wanted = BTreeMap::new();
        let (mut version, mut now) = (0, ms(0));
        for step in steps {
            match step {
                Step::Set(tunnel) => {
                    version += 1;
                    wanted.insert(tunnel, version);
                    pair.trigger(0, tunnel, version);
                }
                Step::Tear(tunnel) => {
                    if wanted.remove(&tunnel).is_some() {
                        pair.tear(0, tunnel);
                    }
                }
                Step::Refresh(tunnel) => {
                    if let Some(&version) = wanted.get(&tunnel) {
                        pair.refresh(0, tunnel, version);
                    }
                }
                Step::Wait(span) => {
                    now += Span::from_ms(span.into());
                    pair.run(now, &mut fate);
                }
                Step::Restart => {
                    pair.sides[1].restart(now);
                    pair.layers[1] = Layer::default();
                    // It shows itself, and with that its epoch, by something of its own.
                    pair.send(1, &mut path(1, 99, 1), Delivery::Trigger(Handle(99)));
                }
            }
        }
        // Safety is over: the channel heals, and refreshes bring back what restarts lost.
        for _ in 0..3 {
            now += Span::from_secs(70);
            pair.run(now, &mut perfect);
            for (&tunnel, &version) in &wanted {
                pair.refresh(0, tunnel, version);
            }
        }
        now += Span::from_secs(70);
        pair.run(now, &mut perfect);
        let held: BTreeMap<u16, u32> = pair.layers[1].held.iter().map(|(t, s)| (*t, s.0)).collect();
        prop_assert_eq!(&held, &wanted);
        prop_assert!(wanted.keys().all(|tunnel| pair.layers[1].refreshed.contains_key(&u32::from(*tunnel))));
        for side in 0..2 {
            for handle in 0..100 {
                pair.sides[side].forget(Handle(handle));
                pair.sides[side].unbind(Handle(handle));
            }
        }
        now += Span::from_secs(70);
        pair.run(now, &mut perfect);
        for side in &pair.sides {
            prop_assert!(side.audit().is_empty(), "{:?}", side.audit());
            prop_assert_eq!(side.poll_timeout(), None);
        }
    }

    /// Arbitrary bytes, and damaged messages of every kind, are refused without panic, and leave bounded state.
    #[test]
    fn any_bytes_are_survived(
        datagrams in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 1..40),
        kind in prop_oneof![Just(1u8), Just(2), Just(3), Just(12), Just(13), Just(15), Just(20), Just(25), Just(26)],
    ) {
        let [mut a, _] = reduced(|_, config| {
            config.hello = Some(HelloConfig::default());
            config.neighbors_max = 8;
        });
        let mut out = Vec::new();
        for (number, body) in datagrams.iter().enumerate() {
            let mut bytes = vec![0x11, kind, 0, 0, 255, 0, 0, (8 + body.len()) as u8];
            bytes.extend_from_slice(body);
            let src = Ipv4Addr::from_bits(number as u32);
            a.receive(ms(number as u64), &arrived(Envelope { src, ..hop_by_hop(1) }), &bytes, &mut out);
            a.receive(ms(number as u64), &arrived(hop_by_hop(1)), body, &mut out);
            a.handle_timeout(ms(number as u64), &mut out);
            while a.poll_output().is_some() {}
        }
        prop_assert!(a.audit().neighbors <= 8);
    }
}
