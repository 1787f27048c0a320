//! Delays against closed forms and against an independent recursion over departure times.

use crate::common::{Forwarder, Sink, Source};
use base::{Rate, Span, Time};
use proptest::prelude::*;
use twinplane_engine::{LinkSpec, PortSpec, World};

/// Serialisation from a standing start, from the definition and nothing else.
fn serialisation(bytes: u64, rate: u64, ppb: i64) -> u64 {
    let bits_ps = u128::from(bytes) * 8 * 1_000_000_000_000 * 1_000_000_000;
    (bits_ps / (u128::from(rate) * (1_000_000_000 + i128::from(ppb)) as u128)) as u64
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// A lone stream: every packet's delay is the sum of serialisations, latencies and propagations, to the picosecond.
    #[test]
    fn lone_stream_closed_form(
        hops in proptest::collection::vec((1_000_000u64..100_000_000_000, -200_000i64..200_000, 0i64..1_000_000_000, 0i64..50_000_000), 1..9),
        size in 64u32..9000,
    ) {
        let mut world = World::new(1);
        let gap = Span::from_ms(80); // longer than the slowest frame
        let source = world.add_device(Box::new(Source::cbr(5, Time(7), gap, 6, size)));
        let (mut last, mut expected) = (source, 0u64);
        for (i, &(rate, ppb, propagation, latency)) in hops.iter().enumerate() {
            let port = PortSpec { rate: Rate(rate), clock_offset_ppb: ppb, ..PortSpec::default() };
            let end = i + 1 == hops.len();
            let next = if end {
                world.add_device(Box::new(Sink::default()))
            } else {
                let mut device = Forwarder::transit();
                device.latency = Span(latency);
                device.punts = i % 3 == 2;
                expected += latency as u64;
                world.add_device(Box::new(device))
            };
            world.add_link(LinkSpec { a: last, b: next, ports: [port.clone(), port], delay: Span(propagation) }).unwrap();
            expected += serialisation(u64::from(size), rate, ppb) + propagation as u64;
            last = next;
        }
        world.run_until(Time::MAX).unwrap();
        let got = &world.device::<Sink>(last).unwrap().got;
        prop_assert_eq!(got.len(), 6);
        for &(at, _, _, number) in got {
            prop_assert_eq!(at.0 - (7 + number * gap.0 as u64), expected);
        }
        prop_assert!(world.audit().is_empty());
    }

    /// Several sources of random traffic meet at the first of several hops. Against Lindley's recursion, written
    /// hop by hop over sorted lists in exact fractions of a picosecond.
    #[test]
    fn many_streams_against_lindley(
        streams in proptest::collection::vec(proptest::collection::vec((0u64..3_000_000, 64u32..1519), 1..40), 1..6),
        hops in proptest::collection::vec((100_000_000u64..3_000_000_000, 0u64..3_000_000, 0u64..2_000_000), 1..5),
        access in 1_000_000_000u64..10_000_000_000,
    ) {
        let mut world = World::new(1);
        let n = streams.len();
        let mut arrivals: Vec<(u128, usize, (u32, u64), u32)> = Vec::new(); // time in units of 1/U ps, port, packet, size
        let mut sources = Vec::new();
        for (s, packets) in streams.iter().enumerate() {
            let mut at = 0;
            let times: Vec<Time> = packets.iter().map(|p| { at += p.0; Time(at) }).collect();
            let sizes: Vec<u32> = packets.iter().map(|p| p.1).collect();
            let jobs: Vec<_> = times.iter().zip(&sizes).enumerate()
                .map(|(k, (t, &size))| (t.0, s, (s as u32, k as u64), size)).collect();
            arrivals.extend(port(&jobs, access, 0).into_iter().map(|(t, s, id, size)| (u128::from(t), s, id, size)));
            sources.push(world.add_device(Box::new(Source::at(s as u32, times, sizes))));
        }
        let merge = world.add_device(Box::new(Forwarder::new(&vec![n as u16; n])));
        for &source in &sources {
            world.add_link(LinkSpec::new(source, merge, Rate(access), Span::ZERO)).unwrap();
        }
        arrivals.sort_by_key(|a| (a.0, a.1)); // time, then port: the stated rule for ties
        let mut jobs: Vec<_> = arrivals.iter().map(|&(t, s, id, size)| (t as u64, s, id, size)).collect();
        let mut last = merge;
        for (i, &(rate, propagation, latency)) in hops.iter().enumerate() {
            let next = if i + 1 == hops.len() { world.add_device(Box::new(Sink::default())) } else {
                let mut device = Forwarder::transit();
                device.latency = Span(latency as i64);
                world.add_device(Box::new(device))
            };
            world.add_link(LinkSpec::new(last, next, Rate(rate), Span(propagation as i64))).unwrap();
            jobs = port(&jobs, rate, propagation);
            if i + 1 < hops.len() { jobs.iter_mut().for_each(|j| j.0 += latency); }
            last = next;
        }
        world.run_until(Time::MAX).unwrap();
        let got: Vec<_> = world.device::<Sink>(last).unwrap().got.iter().map(|g| (g.0.0, (g.2, g.3))).collect();
        let expected: Vec<_> = jobs.iter().map(|j| (j.0, j.2)).collect();
        prop_assert_eq!(got, expected);
        prop_assert!(world.audit().is_empty());
    }
}

/// What a FIFO port of `rate` does to jobs in order: when each has arrived behind `propagation`. Departure `d(k)`
/// with `w(k) = max(a(k), w(k-1) + (size + 20) / rate)`; fractions of a picosecond are kept within a busy period.
fn port(
    jobs: &[(u64, usize, (u32, u64), u32)],
    rate: u64,
    propagation: u64,
) -> Vec<(u64, usize, (u32, u64), u32)> {
    let rate = u128::from(rate);
    let bits = |bytes: u32| u128::from(bytes) * 8 * 1_000_000_000_000;
    let mut free = 0u128; // in picoseconds times rate
    let mut out = Vec::new();
    for &(at, from, id, size) in jobs {
        let start = if free / rate >= u128::from(at) { free } else { u128::from(at) * rate };
        free = start + bits(size + 20);
        out.push((((start + bits(size)) / rate) as u64 + propagation, from, id, size));
    }
    out
}
