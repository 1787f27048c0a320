//! Hello (RFC 3209, 5): is the neighbour there, and is it the same instance as before?

use super::super::faults::Faults;
use super::super::states::{HelloEvent, HelloState};
use super::config::HelloConfig;
use base::random::Stream;
use base::{Span, Time};
use rand::Rng;
use wire::rsvp::Hello;

/// What a Hello, or the lack of one, has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing that was not known before.
    None,
    /// Both sides return each other's instance.
    Up,
    /// Communication is lost: no answer in time, too many wrong instances, or another instance.
    Down {
        /// Because another instance of the neighbour answers.
        restarted: bool,
    },
}

/// The Hellos with one neighbour.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// Our instance: the same until communication is lost (RFC 3209, 5.3).
    own: u32,
    /// The neighbour's, or zero as long as none is known.
    other: u32,
    /// The neighbour still returned an instance of ours from before a restart: it will take another one itself once it
    /// has seen the new one, and has not restarted for that.
    outdated: bool,
    state: HelloState,
    /// Requests in a row that returned an instance other than ours.
    mismatches: u8,
    /// When to ask next.
    ask: Time,
    /// How long to wait for an answer before asking again, while communication is not up; it doubles each time, up to
    /// the interval.
    patience: Span,
    /// When the neighbour last asked.
    asked: Option<Time>,
    /// When communication is lost, unless the neighbour is heard.
    dead: Time,
}

/// The first Hello is sent within this time. A neighbour that restarts before it was heard is not missed.
const BEGIN_WITHIN: Span = Span::from_ms(50);
/// If there is no answer to it, the next follows after this time: a neighbour that began a moment later did not hear
/// the first.
const PATIENCE: Span = Span::from_ms(500);

/// An instance other than `before`, and not zero (RFC 3209, 5.2).
fn instance(random: &mut Stream, before: u32) -> u32 {
    loop {
        let value = random.next_u32();
        if value != 0 && value != before {
            return value;
        }
    }
}

impl Session {
    /// Begins to ask, some time within the first interval, but soon: a neighbour that knew an earlier instance of
    /// this node shall see that it has lost its state.
    pub(super) fn new(now: Time, config: &HelloConfig, random: &mut Stream) -> Session {
        let interval = config.interval.0.clamp(1, BEGIN_WITHIN.0);
        let offset = (random.next_u64() % interval as u64) as i64;
        Session {
            own: instance(random, 0),
            other: 0,
            outdated: false,
            state: HelloState::Unknown,
            mismatches: 0,
            ask: now + Span(offset),
            patience: PATIENCE,
            asked: None,
            dead: Time::MAX,
        }
    }
    /// True while both sides return each other's instance.
    pub(super) const fn is_up(&self) -> bool {
        matches!(self.state, HelloState::Up)
    }
    /// When [`Session::expire`] is to be called.
    pub(super) fn next(&self) -> Time {
        if self.is_up() { self.ask.min(self.dead) } else { self.ask }
    }

    /// A HELLO came. Returns the answer to a request.
    pub(super) fn receive(
        &mut self,
        now: Time,
        hello: Hello,
        config: &HelloConfig,
        random: &mut Stream,
        faults: &mut Faults,
    ) -> (Option<Hello>, Change) {
        let (src_instance, dst_instance, request) = match hello {
            Hello::Request { src_instance, dst_instance } => (src_instance, dst_instance, true),
            Hello::Ack { src_instance, dst_instance } => (src_instance, dst_instance, false),
        };
        if request {
            self.asked = Some(now);
        }
        self.dead = now + config.interval.mul_f64(config.dead_intervals);
        let event = self.shown(src_instance, dst_instance, request, config);
        let known = dst_instance != 0 && dst_instance != self.own;
        self.outdated = known && !self.is_up() && (self.other == 0 || self.outdated);
        if event == HelloEvent::Restarted {
            // Ask the new instance at once, so that it is in use again after one round trip.
            (self.ask, self.asked) = (now, None);
        }
        let wrong = event == HelloEvent::NotReflected && dst_instance != 0;
        let change = self.step(event, src_instance, random, faults);
        self.mismatches = if wrong && self.is_up() { self.mismatches + 1 } else { 0 };
        let answer = request.then_some(Hello::Ack { src_instance: self.own, dst_instance: self.other });
        (answer, change)
    }

    /// What the instances in a HELLO show.
    fn shown(&self, src: u32, dst: u32, request: bool, config: &HelloConfig) -> HelloEvent {
        // RFC 3209, 5.3: from instance zero no communication is possible.
        if src == 0 {
            return HelloEvent::Unidentified;
        }
        // RFC 3209, 5.3: another Src_Instance than before means that the neighbour has reset, also if it had not
        // returned our instance yet.
        if self.other != 0 && self.other != src && !self.outdated {
            return HelloEvent::Restarted;
        }
        // RFC 3209, 5.3: the neighbour must reflect our instance. A request may return a wrong one a few times, and
        // none without end; an answer to what we asked must not.
        let tolerated = request && (dst == 0 || self.mismatches + 1 < config.mismatches_max);
        if dst == self.own {
            HelloEvent::Reflected
        } else if self.is_up() && !tolerated {
            HelloEvent::Mismatched
        } else {
            HelloEvent::NotReflected
        }
    }

    /// Goes on to the next state. `other` is the neighbour's instance from now on: zero if none is known.
    fn step(&mut self, event: HelloEvent, other: u32, random: &mut Stream, faults: &mut Faults) -> Change {
        let was_up = self.is_up();
        faults.step(&mut self.state, event);
        // RFC 3209, 5.3: where communication is lost no instance is known, unless a new one was received.
        self.other = if matches!(self.state, HelloState::Unknown) { 0 } else { other };
        let restarted = event == HelloEvent::Restarted;
        match (was_up, self.is_up()) {
            (true, false) => {
                // RFC 3209, 5.3: Hellos go on under another instance.
                self.own = instance(random, self.own);
                (self.dead, self.patience) = (Time::MAX, PATIENCE);
                Change::Down { restarted }
            }
            // Ours stays: the neighbour has not lost us. If both changed theirs whenever the other did, they might do
            // so for ever.
            (false, false) if restarted => Change::Down { restarted },
            (false, true) => Change::Up,
            _ => Change::None,
        }
    }

    /// Time has passed. Returns a request that is due.
    pub(super) fn expire(
        &mut self,
        now: Time,
        config: &HelloConfig,
        random: &mut Stream,
        faults: &mut Faults,
    ) -> (Option<Hello>, Change) {
        let silent = self.is_up() && self.dead <= now;
        let change = if silent { self.step(HelloEvent::Silent, 0, random, faults) } else { Change::None };
        if self.ask > now {
            return (None, change);
        }
        let interval = Span(config.interval.0.max(1));
        let pause = if self.is_up() { interval } else { interval.min(self.patience) };
        self.patience = interval.min(self.patience + self.patience);
        let due = self.ask;
        self.ask = if due + pause > now { due + pause } else { now + pause };
        // RFC 3209, 5.3: no need to ask if the neighbour did within the interval. Before communication is up it shall
        // return our instance, which only an answer does.
        let quiet = self.asked.take().is_some_and(|asked| asked + interval > due) && self.is_up();
        let request = (!quiet).then_some(Hello::Request { src_instance: self.own, dst_instance: self.other });
        (request, change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;

    struct Pair {
        random: Stream,
        config: HelloConfig,
        now: Time,
        sides: [Session; 2],
        faults: Faults,
    }

    impl Pair {
        fn new() -> Pair {
            let config = HelloConfig::default();
            let mut random = Streams::new(3).stream("hello");
            let sides = [(); 2].map(|()| Session::new(Time::ZERO, &config, &mut random));
            Pair { random, config, now: Time::ZERO, sides, faults: Faults::default() }
        }
        /// One millisecond; what is said arrives at once, if `heard` says that the other side hears.
        fn step(&mut self, heard: [bool; 2]) -> Vec<(usize, Change)> {
            self.now += Span::from_ms(1);
            let mut changes = Vec::new();
            for side in 0..2 {
                let (mut said, change) =
                    self.sides[side].expire(self.now, &self.config, &mut self.random, &mut self.faults);
                changes.push((side, change));
                let mut from = side;
                while let Some(hello) = said.take() {
                    let to = 1 - from;
                    if heard[to] {
                        let (answer, change) = self.sides[to].receive(
                            self.now,
                            hello,
                            &self.config,
                            &mut self.random,
                            &mut self.faults,
                        );
                        changes.push((to, change));
                        said = answer;
                        from = to;
                    }
                }
            }
            changes.retain(|(_, change)| *change != Change::None);
            changes
        }
        fn run(&mut self, ms: u32, heard: [bool; 2]) -> Vec<(usize, Change)> {
            (0..ms).flat_map(|_| self.step(heard)).collect()
        }
    }

    #[test]
    fn comes_up_on_both_sides_and_stays() {
        let mut pair = Pair::new();
        let mut changes = pair.run(20, [true; 2]);
        changes.sort_by_key(|c| c.0);
        assert_eq!(changes, [(0, Change::Up), (1, Change::Up)]);
        assert_eq!(pair.run(1000, [true; 2]), []);
    }

    #[test]
    fn silence_is_noticed_after_three_and_a_half_intervals() {
        let mut pair = Pair::new();
        pair.run(20, [true; 2]);
        assert_eq!(pair.run(12, [false; 2]), []);
        let mut changes = pair.run(6, [false; 2]);
        changes.sort_by_key(|c| c.0);
        assert_eq!(changes, [(0, Change::Down { restarted: false }), (1, Change::Down { restarted: false })]);
        let mut changes = pair.run(20, [true; 2]);
        changes.sort_by_key(|c| c.0);
        assert_eq!(changes, [(0, Change::Up), (1, Change::Up)]);
    }

    #[test]
    fn a_restart_is_noticed_by_the_other_side() {
        let mut pair = Pair::new();
        pair.run(20, [true; 2]);
        pair.sides[0] = Session::new(pair.now, &pair.config, &mut pair.random);
        let changes = pair.run(20, [true; 2]);
        let of = |side| changes.iter().filter(|c| c.0 == side).map(|c| c.1).collect::<Vec<_>>();
        assert_eq!(of(0), [Change::Up]);
        assert_eq!(of(1), [Change::Down { restarted: true }, Change::Up]);
    }

    #[test]
    fn a_restart_is_noticed_before_communication_was_up() {
        let config = HelloConfig { interval: Span::from_secs(9), ..HelloConfig::default() };
        let mut pair = Pair { config, ..Pair::new() };
        pair.sides = [(); 2].map(|()| Session::new(Time::ZERO, &pair.config, &mut pair.random));
        // The first side is not heard until it has asked, and has not heard the other by then.
        let mut changes = Vec::new();
        while pair.sides[1].other == 0 {
            changes.extend(pair.step([false, true]));
        }
        assert_eq!(changes, []);
        assert!(!pair.sides[1].is_up());
        pair.sides[0] = Session::new(pair.now, &pair.config, &mut pair.random);
        let changes = pair.run(501, [true; 2]);
        let of = |side| changes.iter().filter(|c| c.0 == side).map(|c| c.1).collect::<Vec<_>>();
        assert_eq!(of(0), [Change::Up]);
        assert_eq!(of(1), [Change::Down { restarted: true }, Change::Up]);
        assert_eq!(pair.run(40_000, [true; 2]), []);
    }

    #[test]
    fn who_does_not_answer_is_asked_less_and_less_often() {
        let config = HelloConfig { interval: Span::from_secs(9), ..HelloConfig::default() };
        let (mut random, mut faults) = (Streams::new(3).stream("hello"), Faults::default());
        let mut session = Session::new(Time::ZERO, &config, &mut random);
        let first = session.next();
        assert!(first <= Time::ZERO + Span::from_ms(50));
        let mut asked = Vec::new();
        while asked.len() < 8 {
            let now = session.next();
            asked.push((now - first).0 / Span::from_ms(1).0);
            assert!(session.expire(now, &config, &mut random, &mut faults).0.is_some());
        }
        assert_eq!(asked, [0, 500, 1_500, 3_500, 7_500, 15_500, 24_500, 33_500]);
    }

    /// What side 0 of a pair that is up answers to Hellos, and what they change. They are made of its instance and of
    /// its neighbour's.
    fn heard(hellos: &[fn(u32, u32) -> Hello]) -> Vec<(Option<u32>, Change)> {
        let mut pair = Pair::new();
        pair.run(20, [true; 2]);
        let mut faults = Faults::default();
        let (own, other) = (pair.sides[0].own, pair.sides[0].other);
        let mut hear =
            |hello| pair.sides[0].receive(pair.now, hello, &pair.config, &mut pair.random, &mut faults);
        let mut said = Vec::new();
        for hello in hellos {
            let (answer, change) = hear(hello(own, other));
            let answer = answer.map(|answer| {
                let Hello::Ack { src_instance, dst_instance } = answer else {
                    panic!("an answer: {answer:?}")
                };
                assert_eq!(src_instance == own, change == Change::None, "another instance after a loss");
                dst_instance
            });
            assert!(answer.is_none_or(|dst| dst == if change == Change::None { other } else { 0 }));
            said.push((answer, change));
        }
        said
    }

    const LOST: Change = Change::Down { restarted: false };

    /// RFC 3209, 5.3: an answer that does not return our instance means loss at once, a request only if others follow.
    #[test]
    fn a_neighbour_that_forgets_our_instance_is_lost() {
        let changes = |hellos: &[fn(u32, u32) -> Hello]| -> Vec<Change> {
            heard(hellos).into_iter().map(|heard| heard.1).collect()
        };
        let answer: fn(u32, u32) -> Hello =
            |own, other| Hello::Ack { src_instance: other, dst_instance: own ^ 1 };
        let empty: fn(u32, u32) -> Hello = |_, other| Hello::Ack { src_instance: other, dst_instance: 0 };
        assert_eq!((changes(&[answer]), changes(&[empty])), (vec![LOST], vec![LOST]));
        let wrong: fn(u32, u32) -> Hello =
            |own, other| Hello::Request { src_instance: other, dst_instance: own ^ 1 };
        let right: fn(u32, u32) -> Hello =
            |own, other| Hello::Request { src_instance: other, dst_instance: own };
        let none: fn(u32, u32) -> Hello = |_, other| Hello::Request { src_instance: other, dst_instance: 0 };
        assert_eq!(changes(&[wrong, wrong, wrong]), [Change::None, Change::None, LOST]);
        assert_eq!(changes(&[wrong, wrong, right, wrong, wrong]), [Change::None; 5]);
        assert_eq!(changes(&[none; 9]), [Change::None; 9], "zero is not wrong: it has heard nothing");
    }

    /// RFC 3209, 5.3: what says that it has no instance is lost; a request is answered.
    #[test]
    fn an_instance_of_zero_is_a_loss() {
        let request: fn(u32, u32) -> Hello = |own, _| Hello::Request { src_instance: 0, dst_instance: own };
        let answer: fn(u32, u32) -> Hello = |own, _| Hello::Ack { src_instance: 0, dst_instance: own };
        assert_eq!(heard(&[request]), [(Some(0), LOST)]);
        assert_eq!(heard(&[answer]), [(None, LOST)]);
        // Before communication is up there is nothing to be lost, and nothing is known of it then.
        let mut pair = Pair::new();
        let mut faults = Faults::default();
        for src_instance in [7, 0, 9] {
            let hello = Hello::Request { src_instance, dst_instance: 0 };
            let own = pair.sides[0].own;
            let heard = pair.sides[0].receive(pair.now, hello, &pair.config, &mut pair.random, &mut faults);
            let expected = Hello::Ack { src_instance: own, dst_instance: src_instance };
            assert_eq!(heard, (Some(expected), Change::None));
        }
        assert_eq!(faults.iter().count(), 0);
    }
}
