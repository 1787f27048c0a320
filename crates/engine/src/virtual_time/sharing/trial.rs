//! Whether several threads pay on this machine, now: found by trying, while the network runs.
//!
//! A network begins with one thread. When that has worked for a while ([`FIRST_NS`]), twice as many threads do what
//! comes next, for about a hundredth of that while. If they are not much slower, they go on for three times as long,
//! which counts; whoever is faster is kept. Later more are tried in the same way, and fewer. So the load, the machine
//! and what else it does may change.
//!
//! What was tried in vain takes no more than one part in [`VAIN`] of the time, whatever it is that is tried: the next
//! trial waits until that holds again. Only the choice comes from a clock; what is done, and in which order, does not.

/// Says how many nanoseconds have passed since whenever.
pub type Stopwatch = fn() -> u64;

/// So long one thread works before others are tried: what is over sooner needs none.
const FIRST_NS: u64 = 100_000_000;

/// So much of the time may be spent on what turned out to be slower: one part in so many.
const VAIN: u64 = 64;

/// A first look takes this share of what was measured so far, one part in so many.
const LOOK: u64 = 100;

/// It takes this at least, and at most.
const LOOK_NS: (u64, u64) = (1_000_000, 10_000_000);

/// A second look, which counts, takes so many times as long as the first.
const SECOND: u64 = 3;

/// Who has less than this part of the speed at the first look, in percent, has no second: caches were cold.
const HOPELESS: f64 = 0.80;

/// More threads are taken if they have this many times the speed: other programs want processors, too.
const WORTH: f64 = 1.05;

/// The speed is that of about the latest so many nanoseconds.
const RECENT_NS: u64 = 50_000_000;

/// The next trial begins after this share of what was measured so far, one part in so many, and after this at most: the
/// load may have changed.
const AGAIN: u64 = 4;
const AGAIN_NS: u64 = 2_000_000_000;

/// Events in how many nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    pub events: u64,
    pub ns: u64,
}

impl Pace {
    /// Events a nanosecond.
    fn speed(self) -> f64 {
        self.events as f64 / self.ns.max(1) as f64
    }

    fn add(&mut self, other: Pace) {
        self.events += other.events;
        self.ns += other.ns;
        while self.ns > 2 * RECENT_NS {
            self.events /= 2;
            self.ns /= 2;
        }
    }
}

/// What was found in a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// So many threads were compared with one, or with half or twice as many.
    pub tried: usize,
    pub kept: usize,
    /// The speed of the more threads, of that of the fewer.
    pub gain: f64,
}

/// How many threads work now, and how many are tried next.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub most: usize,
    pub stopwatch: Stopwatch,
    kept: usize,
    pace: Pace,
    looking: Option<Looking>,
    /// More are tried next, and not fewer.
    upwards: bool,
    /// What was measured in all, and what of it was in vain.
    whole_ns: u64,
    vain_ns: u64,
    /// What moving the devices took last.
    moved_ns: u64,
    /// No trial begins before so much was measured.
    next_ns: u64,
}

/// A trial that is going on.
#[derive(Clone, Copy, Debug)]
struct Looking {
    threads: usize,
    second: bool,
    /// So many events are to be done, but not for longer than so many nanoseconds.
    events: u64,
    ns: u64,
    done: Pace,
    /// All that it has taken.
    taken_ns: u64,
}

impl Trial {
    pub fn new(most: usize, stopwatch: Stopwatch) -> Trial {
        Trial {
            most,
            stopwatch,
            kept: 1,
            pace: Pace::default(),
            looking: None,
            upwards: true,
            whole_ns: 0,
            vain_ns: 0,
            moved_ns: 0,
            next_ns: FIRST_NS,
        }
    }

    /// So many threads are to work now.
    pub fn threads(&self) -> usize {
        self.looking.map_or(self.kept, |looking| looking.threads)
    }

    /// About so many events are to be done before the next look at the clock, if it is a trial.
    pub fn events(&self) -> Option<u64> {
        self.looking.map(|looking| looking.events.saturating_sub(looking.done.events).max(1))
    }

    /// A trial that goes on is over after so many nanoseconds.
    pub fn limit_ns(&self) -> Option<u64> {
        self.looking.map(|looking| looking.ns.saturating_sub(looking.done.ns))
    }

    /// Begins a trial if it is time for one, when to move the devices takes about as long as so many events.
    pub fn begin(&mut self, moves: u64) {
        if self.looking.is_some() || self.whole_ns < self.next_ns || self.pace.events == 0 {
            return;
        }
        let moved_ns = self.moved_ns.max((moves as f64 / self.pace.speed()) as u64);
        if (self.vain_ns + moved_ns).saturating_mul(VAIN) > self.whole_ns {
            return;
        }
        let more = (2 * self.kept).min(self.most);
        let fewer = if self.kept == 1 { 1 } else { self.kept.next_power_of_two() / 2 };
        let (first, other) = if self.upwards { (more, fewer) } else { (fewer, more) };
        let threads = if first == self.kept { other } else { first };
        if threads != self.kept {
            self.looking = Some(self.look_of(threads, self.look_ns()));
        }
    }

    fn look_ns(&self) -> u64 {
        (self.whole_ns / LOOK).clamp(LOOK_NS.0, LOOK_NS.1)
    }

    /// What those who are kept do in so many nanoseconds, to be done by others.
    fn look_of(&self, threads: usize, ns: u64) -> Looking {
        let events = (self.pace.speed() * ns as f64) as u64 + 1;
        Looking { threads, second: false, events, ns: ns * 3 / 2, done: Pace::default(), taken_ns: 0 }
    }

    /// As many threads as were to work did so much. It took `taken_ns` in all, with what it took to move devices. Says
    /// what was found, at the end of a trial.
    pub fn handle_stretch(&mut self, done: Pace, taken_ns: u64) -> Option<Found> {
        self.whole_ns += taken_ns;
        let Some(mut looking) = self.looking else {
            // Whoever is kept pays for moves as well.
            self.pace.add(Pace { events: done.events, ns: taken_ns });
            return None;
        };
        if looking.threads > 1 {
            self.moved_ns = taken_ns.saturating_sub(done.ns);
        }
        looking.taken_ns += taken_ns;
        looking.done.events += done.events;
        looking.done.ns += done.ns;
        self.looking = Some(looking);
        if looking.done.events < looking.events && looking.done.ns < looking.ns {
            return None;
        }
        let part = looking.done.speed() / self.pace.speed();
        if !looking.second && part >= HOPELESS {
            let second = self.look_of(looking.threads, SECOND * self.look_ns());
            self.looking = Some(Looking { second: true, taken_ns: looking.taken_ns, ..second });
            return None;
        }
        let is_more = looking.threads > self.kept;
        let (gain, taken) = if is_more { (part, part >= WORTH) } else { (1.0 / part, part * WORTH >= 1.0) };
        // Whoever was right goes on in that direction.
        self.upwards = is_more == taken;
        if taken {
            (self.kept, self.pace) = (looking.threads, looking.done);
        } else {
            self.vain_ns += looking.taken_ns;
        }
        self.end_look();
        Some(Found { tried: looking.threads, kept: self.kept, gain })
    }

    /// One thread did something else that only one can do.
    pub fn handle_other(&mut self, taken_ns: u64) {
        self.whole_ns += taken_ns;
    }

    /// Those that were to work can't, which it took so long to find out. Says whether one does from now on.
    pub fn handle_refusal(&mut self, taken_ns: u64) -> bool {
        self.whole_ns += taken_ns;
        self.vain_ns += taken_ns + self.looking.map_or(0, |looking| looking.taken_ns);
        match self.looking {
            Some(looking) => self.upwards = looking.threads < self.kept,
            None => (self.kept, self.pace, self.upwards) = (1, Pace::default(), true),
        }
        self.end_look();
        self.kept == 1
    }

    fn end_look(&mut self) {
        self.looking = None;
        self.next_ns = self.whole_ns + (self.whole_ns / AGAIN).min(AGAIN_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which so many threads do so many events a microsecond, and devices take as long to move.
    struct Machine<'a> {
        speed: &'a dyn Fn(usize) -> f64,
        move_ns: u64,
    }

    impl Machine<'_> {
        /// A stretch of a run, and how much longer it took than it would have with one thread.
        fn go(&self, trial: &mut Trial) -> (u64, Option<Found>) {
            trial.begin(1_000);
            let threads = trial.threads();
            let usual = if threads == 1 { 20_000 } else { 500_000 };
            let events = trial.events().unwrap_or(usual).min(usual);
            let speed = (self.speed)(threads) / 1e3;
            let ns = ((events as f64 / speed) as u64).min(trial.limit_ns().unwrap_or(u64::MAX)).max(1_000);
            let events = (ns as f64 * speed) as u64;
            let taken = ns + if threads == 1 { 0 } else { self.move_ns };
            (taken, trial.handle_stretch(Pace { events, ns }, taken))
        }

        /// Runs for so many milliseconds; returns what was found, and the share of the time that threads worked that
        /// were not kept in the end.
        fn run(&self, trial: &mut Trial, ms: u64) -> (Vec<Found>, f64) {
            let (mut left, mut found, mut by) = (ms * 1_000_000, Vec::new(), [0u64; 64]);
            while left > 0 {
                let threads = trial.threads_next();
                let (taken, told) = self.go(trial);
                by[threads] += taken;
                left = left.saturating_sub(taken);
                found.extend(told);
            }
            let kept = by[trial.kept];
            (found, 1.0 - kept as f64 / by.iter().sum::<u64>() as f64)
        }
    }

    impl Trial {
        /// Those who work next.
        fn threads_next(&self) -> usize {
            let mut next = self.clone();
            next.begin(1_000);
            next.threads()
        }
    }

    fn stopped() -> u64 {
        0
    }

    #[test]
    fn two_that_are_faster_are_kept() {
        let machine = Machine { speed: &|threads| [0.0, 8.0, 15.0][threads], move_ns: 100_000 };
        let mut trial = Trial::new(2, stopped);
        let (found, _) = machine.run(&mut trial, 150);
        assert_eq!(found.first().map(|found| (found.tried, found.kept)), Some((2, 2)), "{found:?}");
        assert!((found[0].gain - 15.0 / 8.0).abs() < 0.01);
        let (_, other) = machine.run(&mut trial, 10_000);
        assert_eq!(trial.kept, 2);
        assert!(other < 0.02, "{other}");
    }

    #[test]
    fn two_that_are_slower_cost_little() {
        for speed in [0.1, 2.0, 6.0, 7.9, 8.2] {
            let machine = Machine { speed: &|threads| [0.0, 8.0, speed][threads], move_ns: 100_000 };
            for ms in [50, 110, 150, 300, 1_000, 20_000] {
                let mut trial = Trial::new(2, stopped);
                let (found, other) = machine.run(&mut trial, ms);
                assert!(found.iter().all(|found| found.kept == 1), "{found:?}");
                let lost = other * (1.0 - speed / 8.0);
                assert!(lost < 0.03, "{ms} ms at {speed}: {lost}");
                assert!(ms > 100 || found.is_empty(), "a short run is not disturbed");
            }
        }
    }

    #[test]
    fn sixteen_are_reached_and_as_many_as_pay_are_kept() {
        let up_to = |best: usize| {
            move |threads: usize| if threads <= best { threads as f64 } else { 0.7 * threads as f64 / 2.0 }
        };
        for (best, most) in [(16, 16), (4, 16), (12, 12)] {
            let speed = up_to(best);
            let machine = Machine { speed: &speed, move_ns: 200_000 };
            let mut trial = Trial::new(most, stopped);
            machine.run(&mut trial, 2_000);
            assert_eq!(trial.kept, best, "{trial:?}");
        }
    }

    #[test]
    fn who_is_kept_changes_with_the_load() {
        let light = Machine { speed: &|threads| [0.0, 8.0, 4.0][threads], move_ns: 100_000 };
        let heavy = Machine { speed: &|threads| [0.0, 4.0, 7.5][threads], move_ns: 100_000 };
        let mut trial = Trial::new(2, stopped);
        for (machine, kept) in [(&light, 1), (&heavy, 2), (&light, 1), (&heavy, 2)] {
            machine.run(&mut trial, 5_000);
            assert_eq!(trial.kept, kept);
        }
    }

    #[test]
    fn two_are_kept_where_four_cannot_work() {
        let machine = Machine { speed: &|threads| [0.0, 8.0, 15.0][threads], move_ns: 100_000 };
        let mut trial = Trial::new(4, stopped);
        for _ in 0..1_000 {
            trial.begin(1_000);
            if trial.threads() == 4 {
                assert!(!trial.handle_refusal(10_000));
            }
            machine.go(&mut trial);
        }
        assert_eq!(trial.kept, 2);
    }

    #[test]
    fn those_who_cannot_work_are_not_asked_all_the_time() {
        let machine = Machine { speed: &|_| 8.0, move_ns: 0 };
        let mut trial = Trial::new(2, stopped);
        let mut refused = 0;
        for _ in 0..4_000 {
            trial.begin(1_000);
            if trial.threads() > 1 {
                refused += 1;
                assert!(trial.handle_refusal(1_000_000));
                assert_eq!(trial.threads(), 1);
            }
            machine.go(&mut trial);
        }
        assert!((5..50).contains(&refused), "{refused}");
    }
}
