//! When packets are due: constant bit rate without drift.

use base::{Span, Time};

/// Departures at a constant rate: the k-th packet is due at `start + k * interval`, rounded down to the picosecond, where the
/// interval is a fraction. Nothing accumulates.
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
        let denominator = bits_per_s.max(1);
        let whole = if bits_per_s == 0 { u128::from(u64::MAX) } else { numerator / u128::from(denominator) };
        Pacer {
            whole: u64::try_from(whole).unwrap_or(u64::MAX),
            rest: (numerator % u128::from(denominator)) as u64,
            denominator,
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
        #[test]
        fn the_kth_packet_is_where_arithmetic_puts_it(bits in 1u64..80_000, rate in 1_000u64..100_000_000_000, k in 0u64..2_000) {
            let mut p = Pacer::new(Time(7), bits, rate);
            (0..k).for_each(|_| p.advance());
            let exact = 7 + u128::from(k) * u128::from(bits) * 1_000_000_000_000 / u128::from(rate);
            prop_assert_eq!(u128::from(p.next().0), exact);
        }
    }
}
