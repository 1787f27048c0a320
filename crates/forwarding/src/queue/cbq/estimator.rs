//! Is a class over its limit? CBQ's estimator of idle time.

use super::super::cost::Cost;
use base::{Rate, Span};

/// Under its limit, since nobody knows when.
pub const UNDER: u64 = 0;

/// Deeper than any average gets, and far from overflow.
const UNLIMITED: i64 = i64::MIN / 4;

/// What tc derives from the parameters of a class, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most that the average may be: how long a burst after idleness may be.
    pub maxidle: i64,
    /// The least that the average may be: how long excess is remembered.
    pub minidle: i64,
    /// What a class waits for in addition when it goes over its limit.
    pub offtime: i64,
}

impl Limits {
    /// For a class of `rate` on a link of `bandwidth`, packets of `avpkt` bytes on average, averages over
    /// `2^ewma_log` packets.
    ///
    /// With `g = 1 - 2^-ewma_log`, `s` the time of an average packet on the link and `t` at the class's rate, the
    /// average idle time that lets `n` more packets follow each other on the link before it is zero is `(t - s)(g^-n
    /// - 1)` (Floyd, Notes on Class-Based Queueing: Setting Parameters, 1996). Averages are kept multiplied by
    /// `2^ewma_log`.
    pub fn new(
        (bandwidth, rate): (Rate, Rate),
        avpkt: u32,
        ewma_log: u8,
        (maxburst, minburst): (u32, u32),
        minidle: Option<Span>,
    ) -> Limits {
        let scale = f64::from(1u32 << ewma_log.min(31));
        let gain = 1.0 - 1.0 / scale;
        let time = |rate: Rate| f64::from(avpkt) * 8e12 / rate.0.max(1) as f64;
        let (on_link, beyond) = (time(bandwidth), (time(rate) - time(bandwidth)).max(0.0));
        let grown = |packets: u32| libm::pow(gain, -f64::from(packets));
        let burst = if maxburst > 0 { beyond * (grown(maxburst) - 1.0) } else { 0.0 };
        let maxidle = burst.max(on_link * (1.0 - gain)) * scale;
        let offtime = match minburst {
            0 => 0.0,
            1 => beyond * (grown(1) - 1.0),
            more => beyond * (1.0 + (grown(more - 1) - 1.0) / (1.0 - gain)),
        };
        let most = i64::MAX as f64 / 4.0;
        let minidle = minidle.map_or(UNLIMITED, |span| {
            let scaled = i128::from(span.0) << ewma_log.min(31);
            -i64::try_from(scaled).unwrap_or(i64::MAX).min(-UNLIMITED)
        });
        Limits { maxidle: maxidle.min(most) as i64, minidle, offtime: offtime.min(most) as i64 }
    }
}

/// Picoseconds from `from` to `to`, which may be before.
#[inline]
fn between(from: u64, to: u64) -> i64 {
    // More than the longest span, 106 days, is as good as that.
    let apart = i64::try_from(from.abs_diff(to)).unwrap_or(i64::MAX);
    if to < from { -apart } else { apart }
}

/// A class's estimator.
///
/// Idle is what passes between the ends of two packets beyond the time that the second takes at the class's rate. The
/// average of that, with weight `2^-ewma_log` for the newest, is at most zero when the class has used its rate or
/// more: then it is over its limit until the time at which a packet would bring the average back to zero.
#[derive(Debug)]
pub struct Estimator {
    /// End of its last packet.
    last: u64,
    /// Until when it is over its limit.
    pub undertime: u64,
    /// Average idle time times `2^ewma_log`.
    pub avgidle: i64,
    limits: Limits,
    cost: Cost,
    ewma_log: u8,
    /// Has it ever sent?
    started: bool,
    /// Has it been told that it is over its limit, and not been under since?
    pub delayed: bool,
}

impl Estimator {
    /// A class that has been idle for ever.
    pub fn new(rate: Rate, ewma_log: u8, limits: Limits) -> Estimator {
        let (cost, avgidle) = (Cost::new(rate), limits.maxidle);
        Estimator {
            last: 0,
            undertime: UNDER,
            avgidle,
            limits,
            cost,
            ewma_log,
            started: false,
            delayed: false,
        }
    }

    /// Forgets all that it has seen.
    pub fn reset(&mut self) {
        (self.last, self.undertime, self.avgidle) = (0, UNDER, self.limits.maxidle);
        (self.started, self.delayed) = (false, false);
    }

    /// Rate allotted to the class, in bits per second.
    pub fn rate(&self) -> Rate {
        self.cost.rate()
    }

    /// What the average is multiplied by.
    pub fn scale(&self) -> f64 {
        f64::from(1u32 << self.ewma_log.min(31))
    }

    /// Is it over its limit at `now`?
    #[inline]
    pub fn over(&self, now: u64) -> bool {
        self.undertime > now
    }

    /// What is left of an average that nothing is added to for as long as it is negative.
    #[inline]
    fn debt(&self) -> i64 {
        -self.avgidle - (-self.avgidle >> self.ewma_log)
    }

    /// A packet of `len` bytes ends at `end`, which takes `on_link` on the link.
    #[inline]
    pub fn sent(&mut self, end: u64, len: u32, on_link: i64) {
        let at_rate = self.cost.of(len);
        let average = if self.started {
            let idle = between(self.last, end).saturating_sub(at_rate);
            (self.avgidle - (self.avgidle >> self.ewma_log)).saturating_add(idle)
        } else {
            self.limits.maxidle
        };
        self.avgidle = average.clamp(self.limits.minidle, self.limits.maxidle);
        self.undertime = if average > 0 {
            UNDER
        } else {
            let wait = self.debt().saturating_add(at_rate).saturating_sub(on_link);
            end.saturating_add_signed(wait)
        };
        self.last = self.last.max(end);
        self.started = true;
    }

    /// Linux's overlimit action `classic`: the class will wait. What its average has fallen below zero is forgiven,
    /// so that it goes on at its rate however much it has borrowed. Does so once until [`Estimator::delayed`] is
    /// cleared.
    pub fn delay(&mut self, now: u64) {
        if self.delayed {
            return;
        }
        let mut delay = between(now, self.undertime).saturating_add(self.limits.offtime);
        if self.avgidle < 0 {
            delay = delay.saturating_sub(self.debt());
        }
        self.avgidle = self.avgidle.max(self.limits.minidle);
        self.undertime = now.saturating_add_signed(delay.max(1));
        self.delayed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Rate = Rate::from_mbps(100);
    const CLASS: Rate = Rate(2_800_000);

    #[test]
    fn limits_are_those_of_tc() {
        // tc-cbq(8), and Floyd 1996: 1000 bytes take 80 us on the link, 2857 us at the rate.
        let limits = Limits::new((LINK, CLASS), 1000, 5, (10, 0), None);
        let expected = (8e9 / 2.8 - 80e6) * (libm::pow(31.0 / 32.0, -10.0) - 1.0) * 32.0;
        assert!((limits.maxidle as f64 - expected).abs() < 2.0, "{limits:?}");
        assert_eq!((limits.offtime, limits.minidle), (0, UNLIMITED));
        let limits = Limits::new((LINK, LINK), 1000, 5, (10, 2), Some(Span(10)));
        assert_eq!((limits.maxidle, limits.offtime, limits.minidle), (80_000_000, 0, -320));
        let limits = Limits::new((LINK, Rate(1)), 1500, 5, (9000, 9000), Some(Span(i64::MAX)));
        assert!(limits.maxidle > 0 && limits.offtime > 0 && limits.minidle < 0);
    }

    #[test]
    fn a_class_that_was_idle_for_months_is_under_its_limit() {
        let limits = Limits::new((LINK, CLASS), 1000, 5, (10, 0), None);
        let mut class = Estimator::new(CLASS, 5, limits);
        for days in [1, 100, 107, 200] {
            let end = days * 86_400_000_000_000_000;
            class.sent(end, 1000, 80_000_000);
            assert!(!class.over(end) && class.avgidle == limits.maxidle, "{days} days");
            class.last = 1;
        }
    }

    #[test]
    fn a_burst_after_idleness_has_maxburst_packets_beyond_the_first() {
        for burst in [1, 5, 10, 20, 50] {
            let limits = Limits::new((LINK, CLASS), 1000, 5, (burst, 0), None);
            let mut class = Estimator::new(CLASS, 5, limits);
            let (mut end, mut sent) = (1_000_000_000, 0);
            while !class.over(end) {
                end += 80_000_000;
                class.sent(end, 1000, 80_000_000);
                sent += 1;
            }
            assert!((burst + 1..=burst + 2).contains(&sent), "{burst}: {sent}");
        }
    }
}
