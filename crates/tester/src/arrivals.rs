//! When the packets of a source are due.

use crate::pacer::Pacer;
use base::random::Stream as Random;
use base::{Span, Time};
use rand::Rng;
use rand_distr::{Distribution, Exp1};
use std::sync::Arc;

/// When the packets of a source are due. Gaps are drawn from a random stream of the source's own.
#[derive(Debug)]
pub enum Arrivals {
    /// Constant bit rate: packets are evenly spaced.
    Constant(Pacer),
    /// A Poisson process: independent, exponentially distributed gaps.
    Poisson(Poisson),
    /// Constant bit rate while on, nothing while off.
    OnOff(Box<OnOff>),
    /// The times of a list.
    Trace(Trace),
}

impl Arrivals {
    /// When the next packet is due; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        match self {
            Arrivals::Constant(pacer) => pacer.next(),
            Arrivals::Poisson(poisson) => poisson.next,
            Arrivals::OnOff(on_off) => on_off.next,
            Arrivals::Trace(trace) => trace.next,
        }
    }

    /// Goes on to the packet after.
    #[inline]
    pub fn advance(&mut self) {
        if let Arrivals::Constant(pacer) = self {
            pacer.advance();
        } else {
            self.advance_other();
        }
    }

    #[inline(never)]
    fn advance_other(&mut self) {
        match self {
            Arrivals::Constant(pacer) => pacer.advance(),
            Arrivals::Poisson(poisson) => poisson.advance(),
            Arrivals::OnOff(on_off) => on_off.advance(),
            Arrivals::Trace(trace) => trace.advance(),
        }
    }
}

fn later(at: Time, by: u64) -> Time {
    Time(at.0.saturating_add(by))
}

/// Independent gaps with an exponential distribution, so that arrivals are a Poisson process.
#[derive(Debug)]
pub struct Poisson {
    next: Time,
    mean: Span,
    random: Box<Random>,
}

impl Poisson {
    /// A process that begins at `start`: the first packet is due a gap later.
    pub fn new(start: Time, mean: Span, random: Random) -> Poisson {
        let mut poisson = Poisson { next: start, mean, random: Box::new(random) };
        poisson.advance();
        poisson
    }

    #[inline]
    fn advance(&mut self) {
        let gap: f64 = Exp1.sample(&mut *self.random);
        self.next = later(self.next, self.mean.mul_f64(gap).0.max(0) as u64);
    }
}

/// How long a period of an on-off source lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Period {
    /// Every period lasts as long as this.
    Constant(Span),
    /// Exponential, with this mean.
    Exponential(Span),
    /// Pareto: few periods are very long.
    Pareto {
        /// The shortest period, in picoseconds.
        shortest: f64,
        /// The power with which the tail falls.
        shape: f64,
    },
}

impl Period {
    /// Pareto with this mean; its shape is greater than one.
    pub fn pareto(mean: Span, shape: f64) -> Period {
        Period::Pareto { shortest: mean.0 as f64 * (shape - 1.0) / shape, shape }
    }

    /// The next period, in picoseconds.
    fn draw(self, random: &mut Random) -> u64 {
        match self {
            Period::Constant(span) => span.0.max(0) as u64,
            Period::Exponential(mean) => {
                let drawn: f64 = Exp1.sample(random);
                mean.mul_f64(drawn).0.max(0) as u64
            }
            Period::Pareto { shortest, shape } => {
                // The upper 53 bits: a number from 2^-53 to 1.
                let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
                // A float becomes the nearest integer within the range.
                (shortest * libm::pow(uniform, -1.0 / shape)) as u64
            }
        }
    }
}

/// A source that is on and off in turn. A clock of its own runs while it is on, and by that clock the packets are
/// evenly spaced.
#[derive(Debug)]
pub struct OnOff {
    /// By the source's clock.
    pacer: Pacer,
    on: Period,
    off: Period,
    random: Random,
    /// The period that is on: when it begins by the source's clock, when in time, and for how long it lasts.
    clock: u64,
    begins: Time,
    lasts: u64,
    next: Time,
}

impl OnOff {
    /// A source that is on from `start`, with packets as `pacer` says, which begins at time zero.
    pub fn new(start: Time, pacer: Pacer, on: Period, off: Period, mut random: Random) -> OnOff {
        let lasts = on.draw(&mut random);
        let mut on_off = OnOff { pacer, on, off, random, clock: 0, begins: start, lasts, next: start };
        on_off.find();
        on_off
    }

    fn advance(&mut self) {
        self.pacer.advance();
        self.find();
    }

    /// Goes on to the period in which the next packet is due.
    fn find(&mut self) {
        let due = self.pacer.next().0;
        while due - self.clock >= self.lasts {
            let off = self.off.draw(&mut self.random);
            self.begins = later(self.begins, self.lasts.saturating_add(off));
            if self.begins == Time::MAX {
                self.next = Time::MAX;
                return;
            }
            self.clock += self.lasts;
            self.lasts = self.on.draw(&mut self.random);
        }
        self.next = later(self.begins, due - self.clock);
    }
}

/// Packets one by one.
#[derive(Debug)]
pub struct Trace {
    gaps: Arc<[u64]>,
    /// The place of the next packet.
    at: usize,
    repeat: bool,
    next: Time,
}

impl Trace {
    /// Packets with these gaps, the first a gap after `start`; from the beginning again after the last with `repeat`.
    pub fn new(start: Time, gaps: Arc<[u64]>, repeat: bool) -> Trace {
        let next = gaps.first().map_or(Time::MAX, |gap| later(start, *gap));
        // Over and over in no time would be for ever.
        let repeat = repeat && gaps.iter().any(|gap| *gap > 0);
        Trace { gaps, at: 0, repeat, next }
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at >= self.gaps.len() && self.repeat {
            self.at = 0;
        }
        self.next = self.gaps.get(self.at).map_or(Time::MAX, |gap| later(self.next, *gap));
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
