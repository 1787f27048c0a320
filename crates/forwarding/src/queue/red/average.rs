//! The average queue of random early detection, and the probability that follows from it.
//!
//! Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993: the paper's formulas, in bytes, without rounding but that of floating-point numbers.
//!
//! # Where Linux departs from the formulas, and this does not
//!
//! - *Wlog*: the weight of the average is a power of two, 2^-Wlog, found from the burst by tc. That is followed here,
//!   since it is part of what `burst` means: [`weight_log`].
//! - *Plog*: tc rounds `probability / (max - min)` down to a power of two, so that the greatest probability that
//!   Linux reaches may be but half of what was asked for. Here it is what was asked for.
//! - *Scell*: Linux takes the decay of an idle queue from a table of 256 entries with steps of a power of two of
//!   microseconds, and interpolates beyond it. Here it is `(1 - weight)^m`, with `m` not rounded either.
//! - The average of Linux is a whole number of 2^-Wlog bytes.
//! - Linux takes a queue as idle since it was asked in vain. A scheduler that knows that a queue is empty never asks,
//!   and its average never decays. Here, as in the paper, it is idle from the moment when the last packet leaves it.

use base::Time;

/// How the probability of a drop depends on the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Average, in bytes, below which nothing is dropped.
    pub min: f64,
    /// Average, in bytes, from which on everything is.
    pub max: f64,
    /// The probability just below `max`.
    pub probability: f64,
}

impl Curve {
    /// The paper's `p_b`: the probability by the average alone. 1 from `max` on.
    #[inline]
    pub fn probability(&self, average: f64) -> f64 {
        if average < self.min {
            0.0
        } else if average >= self.max {
            1.0
        } else {
            self.probability * (average - self.min) / (self.max - self.min)
        }
    }
}

/// The paper's `p_a`: the probability that this packet is dropped, when `count` have passed since the last one that
/// was, or since the average rose above the lower threshold.
///
/// It makes the number of packets from one drop to the next uniform on `1, 2, ... 1/p_b` (section 7 of the paper:
/// "method 2"), as long as the average stays the same.
#[inline]
pub fn spaced(base: f64, count: u64) -> f64 {
    let rest = 1.0 - count as f64 * base;
    if rest <= base { 1.0 } else { base / rest }
}

/// The mean number of packets from one drop to the next at a constant `p_b`: the inverse of the share of packets
/// dropped.
///
/// With `n` the whole part of `1/p_b`, each of `1, 2, ... n` has probability `p_b`, and `n + 1` what is left.
pub fn mean_spacing(base: f64) -> f64 {
    let whole = libm::floor(1.0 / base);
    base * whole * (whole + 1.0) / 2.0 + (whole + 1.0) * (1.0 - whole * base).max(0.0)
}

/// log2 of the inverse of the average's weight, such that a burst of `burst` packets of `avpkt` bytes to an empty
/// queue lets the average come to `min` at most; the smallest that does, from 1 to 31.
///
/// Equation 3 of the paper, as tc solves it: `burst + 1 - min/avpkt <= (1 - (1 - w)^burst) / w`. There is none if the
/// left side is below 1 (the burst alone is shorter than `min`), nor if `min` is shorter than a packet.
pub fn weight_log(min: u64, avpkt: u32, burst: u32) -> Option<u8> {
    let burst = f64::from(burst);
    let least = burst + 1.0 - min as f64 / f64::from(avpkt);
    if least < 1.0 {
        return None;
    }
    (1..32).find(|&log| {
        let weight = 1.0 / f64::from(1u32 << log);
        least <= (1.0 - libm::pow(1.0 - weight, burst)) / weight
    })
}

/// The exponentially weighted average of a queue's length.
#[derive(Clone, Debug)]
pub struct Average {
    /// Without the decay of `rested`.
    bytes: f64,
    weight: f64,
    /// Picoseconds that a packet of usual size takes to be sent.
    packet_ps: f64,
    /// How long it was idle since `bytes` was right, up to the last packet that came.
    rested: u64,
    /// Since when the queue is empty.
    idle: Option<Time>,
}

impl Average {
    /// Zero, of a queue that is empty. Its weight is `2^-weight_log`; when idle it decays by one step in every
    /// `packet_ps` picoseconds (zero: at once).
    pub fn new(weight_log: u8, packet_ps: f64) -> Average {
        let weight = 1.0 / f64::from(1u32 << weight_log.min(31));
        Average { bytes: 0.0, weight, packet_ps, rested: 0, idle: Some(Time::ZERO) }
    }

    /// A packet comes when `backlog` bytes wait.
    #[inline]
    pub fn arrive(&mut self, now: Time, backlog: u64) {
        match &mut self.idle {
            None => {
                let before = self.settle();
                self.bytes = before + self.weight * (backlog as f64 - before);
            }
            Some(since) => {
                // What it decays by is found out when it matters: powers are dear.
                self.rested = self.rested.saturating_add(now.0.saturating_sub(since.0));
                *since = now;
            }
        }
    }

    /// The packet that came is queued.
    #[inline]
    pub fn wake(&mut self) {
        self.idle = None;
    }

    /// The average after the decay of the time that it was idle.
    fn decayed(&self) -> f64 {
        let packets = self.rested as f64 / self.packet_ps;
        self.bytes * libm::pow(1.0 - self.weight, packets)
    }

    /// The average, as of the last packet that came; it is not computed again until another comes.
    #[inline]
    pub fn settle(&mut self) -> f64 {
        if self.rested > 0 {
            self.bytes = self.bytes();
            self.rested = 0;
        }
        self.bytes
    }

    /// The average if that is `least` or more; else something that is below `least`, too.
    #[inline]
    pub fn from(&mut self, least: f64) -> f64 {
        if self.bytes < least { self.bytes } else { self.settle() }
    }

    /// The queue is empty as of `now`: the next packet finds that it was idle. Nothing if that is known.
    #[inline]
    pub fn rest(&mut self, now: Time) {
        self.idle.get_or_insert(now);
    }

    /// Does the queue stand empty, as far as this knows?
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.idle.is_some()
    }

    /// The average, as of the last packet that came.
    #[inline]
    pub fn bytes(&self) -> f64 {
        if self.rested > 0 && self.bytes > 0.0 { self.decayed() } else { self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_is_that_of_tc() {
        // The published testbed: min 10 kB, burst of 11 packets; min 30 kB, 35 packets. tc-red(8): min 30000, burst
        // 55 of 1000.
        assert_eq!(weight_log(10_000, 1000, 11), Some(2));
        assert_eq!(weight_log(30_000, 1000, 35), Some(3));
        assert_eq!(weight_log(30_000, 1000, 55), Some(5));
        assert_eq!(weight_log(30_000, 1000, 29), None, "the burst is shorter than min");
        assert_eq!(weight_log(900, 1000, 20), None, "min is shorter than a packet");
        assert_eq!(weight_log(30_000, 1000, 30), Some(1));
    }

    #[test]
    fn a_burst_as_long_as_asked_for_stays_below_the_lower_threshold() {
        for (min, burst) in [(10_000, 11u64), (30_000, 35), (30_000, 55), (5_000, 400)] {
            let log = weight_log(min, 1000, burst as u32).expect("a weight");
            let mut average = Average::new(log, 1e9);
            average.wake();
            (1..=burst).for_each(|packet| average.arrive(Time(0), packet * 1000));
            assert!(average.bytes() <= min as f64 + 1e-6, "{min} {burst}: {}", average.bytes());
        }
    }

    #[test]
    fn probabilities_follow_the_formulas() {
        let curve = Curve { min: 10.0, max: 30.0, probability: 0.1 };
        let of = |average| curve.probability(average);
        assert_eq!([of(9.9), of(10.0), of(20.0), of(30.0), of(99.0)], [0.0, 0.0, 0.05, 1.0, 1.0]);
        assert_eq!(
            [spaced(0.25, 0), spaced(0.25, 1), spaced(0.25, 3), spaced(0.25, 9)],
            [0.25, 1.0 / 3.0, 1.0, 1.0]
        );
        assert_eq!((spaced(0.0, 1000), mean_spacing(0.25), mean_spacing(1.0)), (0.0, 2.5, 1.0));
        // 0.4: one or two packets with 0.4 each, three with 0.2.
        assert!((mean_spacing(0.4) - 1.8).abs() < 1e-12);
    }

    #[test]
    fn an_idle_queue_decays_by_a_step_a_packet() {
        let mut average = Average::new(2, 1000.0);
        average.wake();
        (0..100).for_each(|_| average.arrive(Time(0), 8000));
        let before = average.bytes();
        average.rest(Time(5000));
        average.rest(Time(6000));
        assert!(average.is_idle());
        average.arrive(Time(6500), 0);
        average.arrive(Time(7500), 0);
        assert!((average.bytes() - before * libm::pow(0.75, 2.5)).abs() < 1e-9);
        average.wake();
        assert!(!average.is_idle());
    }
}
