//! Things that happen so long after each other that keys of the queue do not tell when.

use crate::common::{Forwarder, Sink, Source, frame};
use base::{PortId, Rate, Span, Time};
use proptest::prelude::*;
use twinplane_engine::{LinkSpec, World};

const DAY: u64 = 86_400_000_000_000_000;

proptest! {
    #![proptest_config(testing::cases(64))]
    /// Frames arrive when they should and in the order that is stated, whether others came a moment or a hundred days
    /// before, and however long each run is.
    #[test]
    fn they_come_at_their_time(
        mut sent in proptest::collection::vec(
            (0usize..40, prop_oneof![0..150 * DAY, (0..150u64).prop_map(|day| day * DAY), 0..DAY / 1000]), 1..80),
        mut injected in proptest::collection::vec(0..200 * DAY, 0..4),
        stops in proptest::collection::vec(0..200 * DAY, 0..6),
        events in prop_oneof![Just(u64::MAX), 1u64..9],
    ) {
        sent.sort_unstable();
        injected.sort_unstable();
        let mut world = World::new(1);
        let sink = world.add_device(Box::new(Sink::default()));
        let transit: Vec<_> = (0..40).map(|_| world.add_device(Box::new(Forwarder::transit()))).collect();
        for &middle in &transit {
            world.add_link(LinkSpec::new(middle, sink, Rate::from_gbps(1), Span::from_us(5))).expect("a link");
        }
        for (number, &middle) in transit.iter().enumerate() {
            let times: Vec<Time> = sent.iter().filter(|s| s.0 == number).map(|s| Time(s.1)).collect();
            let sizes = vec![64; times.len()];
            let source = world.add_device(Box::new(Source::at(number as u32, times, sizes)));
            world.add_link(LinkSpec::new(source, middle, Rate(0), Span::from_us(7))).expect("a link");
        }
        for at in &injected {
            world.inject(Time(*at), sink, PortId(0), frame(99, 0, 64)).expect("a frame to come");
        }
        let mut stops = stops;
        stops.sort_unstable();
        for until in stops.into_iter().chain([u64::MAX]) {
            while world.step(Time(until), events).expect("a run") == twinplane_engine::Progress::More {}
        }
        // A port that was idle sends at once; frames of one port wait for each other.
        let mut expected: Vec<(u64, u32)> = injected.iter().map(|at| (*at, 99)).collect();
        let mut free = [0u64; 40];
        for (number, at) in sent {
            let start = free[number].max(at + 7_000_000);
            free[number] = start + 84 * 8_000;
            expected.push((start + 64 * 8_000 + 5_000_000, number as u32));
        }
        // An injected frame comes before others of its time.
        expected.sort_by_key(|(at, number)| (*at, *number != 99, *number));
        let got: Vec<_> = world.device::<Sink>(sink).expect("a sink").got.iter().map(|g| (g.0.0, g.2)).collect();
        prop_assert_eq!(got, expected);
    }
}
