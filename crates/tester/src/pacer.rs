//! When packets are due: constant bit rate without drift.

use base::{Span, Time};

/// Departures at a constant rate: the k-th packet is due at `start + k * interval`, rounded down to the picosecond,
/// where the interval is a fraction. Nothing accumulates.
#[derive(Clone, Debug)]
pub struct Pacer {
    whole: u64,
    rest: u64,
    denominator: u64,
    carry: u64,
    next: Time,
}

impl Pacer {
    /// One packet of `bits` whenever a source of `bits_per_s` has as many, the first at `start`.
    ///
    /// A rate of zero sends one packet and then waits for ever.
    pub fn new(start: Time, bits: u64, bits_per_s: u64) -> Pacer {
        let numerator = u128::from(bits) * u128::from(base::time::PS_PER_S);
        Pacer::every(start, numerator, u128::from(bits_per_s))
    }

    /// One packet each `numerator / denominator` picoseconds, the first at `start`; with a denominator of zero, one
    /// packet alone.
    ///
    /// Exact as long as the denominator is below 2^62; a greater one loses its lowest bits.
    pub fn every(start: Time, numerator: u128, denominator: u128) -> Pacer {
        if denominator == 0 {
            return Pacer { whole: u64::MAX, rest: 0, denominator: 1, carry: 0, next: start };
        }
        let beyond = 66u32.saturating_sub(denominator.leading_zeros());
        let (numerator, denominator) = (numerator >> beyond, denominator >> beyond);
        Pacer {
            whole: u64::try_from(numerator / denominator).unwrap_or(u64::MAX),
            rest: (numerator % denominator) as u64,
            denominator: denominator as u64,
            carry: 0,
            next: start,
        }
    }

    /// When the next packet is due.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Goes on to the packet after.
    #[inline]
    pub fn advance(&mut self) {
        let mut step = self.whole;
        self.carry += self.rest;
        if self.carry >= self.denominator {
            self.carry -= self.denominator;
            step += 1;
        }
        self.next = Time(self.next.0.saturating_add(step));
    }

    /// The interval, rounded down.
    pub fn interval(&self) -> Span {
        Span(i64::try_from(self.whole).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn the_kth_packet_is_where_arithmetic_puts_it(bits in 1u64..80_000, rate in 1_000u64..100_000_000_000, k in 0u64..2_000) {
            let mut p = Pacer::new(Time(7), bits, rate);
            (0..k).for_each(|_| p.advance());
            let exact = 7 + u128::from(k) * u128::from(bits) * 1_000_000_000_000 / u128::from(rate);
            prop_assert_eq!(u128::from(p.next().0), exact);
        }
    }
}
