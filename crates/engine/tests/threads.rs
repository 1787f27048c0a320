//! What several threads do when devices fail, or when there is too little for them to do.

use crate::common::{Forwarder, Sink, Source};
use base::{Command, Device, Frame, Output, PortId, Rate, Span, Time, Verdict};
use core::sync::atomic::{AtomicU64, Ordering};

use twinplane_engine::{EngineError, LinkSpec, Progress, Shared, ThreadsFor, World};

fn us(us: u64) -> Time {
    Time(us * 1_000_000)
}

/// Fails at a time: panics, or asks to be called again and again.
struct Failing {
    at: Time,
    panics: bool,
}

impl Device for Failing {
    fn forward_batch(&mut self, _: Time, _: PortId, _: &mut [Frame], verdicts: &mut [Verdict]) {
        verdicts.fill(Verdict::Consume);
    }
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, now: Time) {
        assert!(!self.panics, "out of order at {now:?}");
    }
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        Some(self.at)
    }
}

/// Pairs of a source and a sink, each sink beside the next source, so that all is one network.
fn pairs(count: usize, delay: Span, times: impl Fn(usize) -> Vec<Time>) -> (World, Vec<base::NodeId>) {
    let mut world = World::new(1);
    let mut sinks = Vec::new();
    let mut before = None;
    for number in 0..count {
        let times = times(number);
        let sizes = vec![100; times.len()];
        let source = world.add_device(Box::new(Source::at(number as u32, times, sizes)));
        let middle = world.add_device(Box::new(Forwarder::transit()));
        let sink = world.add_device(Box::new(Sink::default()));
        for (a, b) in [(source, middle), (middle, sink)] {
            world.add_link(LinkSpec::new(a, b, Rate::from_gbps(1), delay)).unwrap();
        }
        if let Some(before) = before.replace(sink) {
            world.add_link(LinkSpec::new(before, middle, Rate::from_gbps(1), delay)).unwrap();
        }
        sinks.push(sink);
    }
    (world, sinks)
}

fn with_failing(failing: &[(Time, bool)], threads: usize) -> World {
    let every = |number: usize| (0..400).map(|k| us(10 * k + number as u64)).collect();
    let (mut world, sinks) = pairs(6, Span::from_us(100), every);
    for (&(at, panics), sink) in failing.iter().zip([&sinks[5], &sinks[0]]) {
        let bad = world.add_device(Box::new(Failing { at, panics }));
        world.add_link(LinkSpec::new(*sink, bad, Rate::from_gbps(1), Span::from_us(100))).unwrap();
    }
    world.set_threads(ThreadsFor { most: threads, least_events: 0 });
    world
}

/// All errors of a run, one after the other, and its digest in the end.
fn errors(world: &mut World, until: Time, mut between: impl FnMut(&mut World)) -> Vec<String> {
    let mut errors = Vec::new();
    loop {
        match world.step(until, 1_000) {
            Ok(Progress::Reached) => return errors,
            Ok(Progress::More) => {}
            Err(error) => {
                errors.push(error.to_string());
                between(world);
            }
        }
    }
}

#[test]
fn failures_are_reported_in_the_order_of_time_by_any_number_of_threads() {
    for failing in [[(us(1_020), true), (us(1_010), true)], [(us(1_010), true), (us(1_010), false)]] {
        let mut one = with_failing(&failing, 1);
        let told = errors(&mut one, us(6_000), |_| {});
        assert_eq!(told.len(), 2);
        for threads in [2, 3, 8] {
            let mut several = with_failing(&failing, threads);
            assert_eq!(errors(&mut several, us(6_000), |_| {}), told, "{threads} threads");
            assert_eq!(several.digest(), one.digest());
            // Who has seen the first failure and goes on with one thread still learns of the second.
            let mut several = with_failing(&failing, threads);
            let alone = |world: &mut World| world.set_threads(ThreadsFor::most(1));
            assert_eq!(errors(&mut several, us(6_000), alone), told, "{threads} threads, then one");
            assert_eq!(several.digest(), one.digest());
        }
    }
}

#[test]
fn a_failure_that_lies_behind_the_end_of_a_run_waits() {
    let mut world = with_failing(&[(us(1_060), true), (us(1_010), true)], 3);
    let first = world.run_until(us(1_030));
    assert!(matches!(&first, Err(EngineError::DevicePanicked { at, .. }) if *at == us(1_010)), "{first:?}");
    world.run_until(us(1_050)).unwrap();
    let second = world.run_until(us(2_000));
    assert!(matches!(&second, Err(EngineError::DevicePanicked { at, .. }) if *at == us(1_060)), "{second:?}");
    world.run_until(us(2_000)).unwrap();
}

#[test]
fn one_thread_goes_on_where_little_happens_between_two_exchanges() {
    // Much in the first 20 ms, and after that something each 10 ms, of one source after the other.
    let times = |number: usize| {
        let busy = (0..20_000).map(us);
        let quiet = (0..40_000).map(move |k| us(30_000 + 10_000 * k + 150 * number as u64));
        busy.chain(quiet).collect::<Vec<_>>()
    };
    let run = |threads: usize| {
        let (mut world, sinks) = pairs(6, Span::from_us(500), times);
        world.set_threads(ThreadsFor { most: threads, least_events: 150 });
        world.run_until(us(20_000)).unwrap();
        let busy = world.threads();
        world.run_until(us(400_000_000)).unwrap();
        let got: Vec<_> = sinks.iter().map(|&id| world.device::<Sink>(id).unwrap().got.clone()).collect();
        (busy, world.threads(), world.digest(), got)
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(two.0.count(), 2, "{}", two.0);
    assert!(matches!(two.1, Shared::TooShort { .. }), "{}", two.1);
    assert!(one.2 == two.2 && one.3 == two.3);
}

/// A clock that is so much later at each look at it as the test says.
fn told() -> u64 {
    CLOCK.fetch_add(STEP.load(Ordering::Relaxed), Ordering::Relaxed)
}

static CLOCK: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicU64 = AtomicU64::new(0);

#[test]
fn what_a_trial_finds_changes_no_result() {
    let times = |number: usize| (0..60_000).map(|k| us(2 * k) + Span(number as i64)).collect::<Vec<_>>();
    let run = |most: usize, fast: u64| {
        let (mut world, sinks) = pairs(6, Span::from_us(500), times);
        world.try_threads(most, told);
        let mut threads = Vec::new();
        for slice in 1..=60 {
            STEP.store([20_000_000, 20_000_000, fast][slice % 3], Ordering::Relaxed);
            while world.step(us(2_050 * slice as u64), 100_000).unwrap() == Progress::More {}
            threads.push(world.threads());
        }
        let got: Vec<_> = sinks.iter().map(|&id| world.device::<Sink>(id).unwrap().got.clone()).collect();
        (threads, world.digest(), world.events_done(), got)
    };
    let one = run(1, 1_000);
    assert!(one.0.iter().all(|told| *told == Shared::NotAsked));
    for (most, fast) in [(2, 1_000), (3, 1_000), (8, 1_000), (2, 20_000_000)] {
        let tried = run(most, fast);
        // Who is looked at when the clock is fast seems to pay, and nobody does if it always goes the same.
        let expected = |told: &Shared| match told {
            Shared::Several { gain, .. } => fast == 1_000 && gain.is_some(),
            Shared::Tried { .. } => fast > 1_000,
            _ => false,
        };
        assert!(tried.0.iter().any(expected), "{:?}", tried.0);
        assert!((tried.1, tried.2) == (one.1, one.2) && tried.3 == one.3, "{most}");
    }
}

#[test]
fn a_short_run_is_not_disturbed_by_a_trial() {
    fn stopped() -> u64 {
        0
    }
    let (mut world, _) = pairs(6, Span::from_us(500), |_| (0..20_000).map(us).collect());
    world.try_threads(2, stopped);
    world.run_until(us(30_000)).unwrap();
    assert_eq!(world.threads(), Shared::Unknown);
}

/// Sends what it gets back at once, for ever.
struct Mirror(Option<Frame>, u64);

impl Device for Mirror {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        self.1 += frames.len() as u64;
        verdicts.fill(Verdict::Transmit { port, ready: now });
    }
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        let frame = self.0.take()?;
        Some(Output::Transmit { port: PortId(0), frame, ready: Time::ZERO })
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

#[test]
fn a_step_ends_though_two_devices_let_no_time_pass() {
    let (mut world, sinks) = pairs(2, Span::from_us(100), |_| vec![us(1)]);
    let made = crate::common::frame(9, 9, 100);
    let first = world.add_device(Box::new(Mirror(Some(made), 0)));
    let second = world.add_device(Box::new(Mirror(None, 0)));
    world.add_link(LinkSpec::new(first, second, Rate(0), Span::ZERO)).unwrap();
    world.add_link(LinkSpec::new(sinks[0], second, Rate::from_gbps(1), Span::from_us(100))).unwrap();
    world.set_threads(ThreadsFor { most: 2, least_events: 0 });
    for _ in 0..2 {
        assert_eq!(world.step(us(1_000), 10_000).unwrap(), Progress::More);
    }
    assert!(world.now() <= us(100));
}
