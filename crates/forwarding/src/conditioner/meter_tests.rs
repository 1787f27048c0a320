//! Every colour compared with references that share nothing with the meters: sums over all intervals of conforming
//! packets, buckets that are filled token by token as the RFCs write it, and buckets in fractions.

use super::*;
use crate::conditioner::{SingleRate, TokenBucket, TwoRate};
use base::describe::Size;
use proptest::collection::vec;
use proptest::prelude::*;

/// A packet: time since the one before, bytes, drop precedence.
type Arrival = (u64, u32, u8);

fn input(precedence: u8) -> Colour {
    Colour::of(Phb::assured(1, precedence).unwrap_or_default())
}

fn colours(spec: &MeterSpec, arrivals: &[Arrival]) -> Vec<Colour> {
    let mut meter = Meter::new(spec).expect("right");
    let mut now = Time(0);
    let colour = |&(gap, bytes, precedence): &Arrival| {
        now = Time(now.0 + gap);
        meter.colour(now, bytes, input(precedence))
    };
    arrivals.iter().map(colour).collect()
}

/// A profile of rate and burst: since any conforming packet, no more than `burst` and what `rate` gives in the time
/// since may have conformed, this packet included.
fn conforms(past: &[(u64, u32)], now: u64, bytes: u32, rate: u64, burst: u64) -> bool {
    let mut sum = u128::from(bytes);
    let mut within = sum <= u128::from(burst);
    for (at, bytes) in past.iter().rev() {
        sum += u128::from(*bytes);
        let brought = u128::from(rate) * u128::from(now - at);
        within &= sum * 8_000_000_000_000 <= u128::from(burst) * 8_000_000_000_000 + brought;
    }
    within
}

/// The definition of a token bucket by all intervals.
fn by_intervals(spec: &MeterSpec, arrivals: &[Arrival]) -> Vec<Colour> {
    let MeterSpec::TokenBucket(TokenBucket { rate, burst, peakrate, mtu }) = *spec else { return vec![] };
    let (mut past, mut now) = (Vec::new(), 0);
    let colour = |&(gap, bytes, _): &Arrival| {
        now += gap;
        let peak = peakrate.is_none_or(|p| conforms(&past, now, bytes, p.0, mtu.map_or(2047, |mtu| mtu.0)));
        if peak && conforms(&past, now, bytes, rate.0, burst.0) {
            past.push((now, bytes));
            Colour::Green
        } else {
            Colour::Red
        }
    };
    arrivals.iter().map(colour).collect()
}

/// The text of RFC 2697, 3 and RFC 2698, 3, with a token that is one bit. `cir` and `pir` are tokens in a tick; gaps
/// are ticks.
fn token_by_token(spec: &MeterSpec, tick: u64, arrivals: &[Arrival]) -> Vec<Colour> {
    let tokens = |rate: Rate| (u128::from(rate.0) * u128::from(tick) / 1_000_000_000_000) as u64;
    let mut out = Vec::new();
    match *spec {
        MeterSpec::SingleRate(SingleRate { cir, cbs, ebs, aware }) => {
            let (cbs, ebs) = (cbs.0 * 8, ebs.0 * 8);
            let (mut tc, mut te) = (cbs, ebs);
            for &(gap, bytes, precedence) in arrivals {
                for _ in 0..gap * tokens(cir) {
                    if tc < cbs {
                        tc += 1;
                    } else if te < ebs {
                        te += 1;
                    }
                }
                let (bits, input) = (u64::from(bytes) * 8, input(precedence));
                out.push(if (!aware || input == Colour::Green) && tc >= bits {
                    tc -= bits;
                    Colour::Green
                } else if (!aware || input == Colour::Green || input == Colour::Yellow) && te >= bits {
                    te -= bits;
                    Colour::Yellow
                } else {
                    Colour::Red
                });
            }
        }
        MeterSpec::TwoRate(TwoRate { cir, cbs, pir, pbs, aware }) => {
            let (cbs, pbs) = (cbs.0 * 8, pbs.0 * 8);
            let (mut tc, mut tp) = (cbs, pbs);
            for &(gap, bytes, precedence) in arrivals {
                for _ in 0..gap * tokens(pir) {
                    tp = (tp + 1).min(pbs);
                }
                for _ in 0..gap * tokens(cir) {
                    tc = (tc + 1).min(cbs);
                }
                let (bits, input) = (u64::from(bytes) * 8, input(precedence));
                out.push(if (aware && input == Colour::Red) || tp < bits {
                    Colour::Red
                } else if (aware && input == Colour::Yellow) || tc < bits {
                    tp -= bits;
                    Colour::Yellow
                } else {
                    tp -= bits;
                    tc -= bits;
                    Colour::Green
                });
            }
        }
        MeterSpec::TokenBucket(_) => {}
    }
    out
}

/// A fraction, never rounded.
#[derive(Clone, Copy, Debug)]
struct Ratio(i128, i128);

impl Ratio {
    fn whole(value: u64) -> Ratio {
        Ratio(i128::from(value), 1)
    }
    fn reduced(self) -> Ratio {
        let (mut a, mut b) = (self.0.abs(), self.1);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Ratio(self.0 / a.max(1), self.1 / a.max(1))
    }
    fn plus(self, other: Ratio) -> Ratio {
        Ratio(self.0 * other.1 + other.0 * self.1, self.1 * other.1).reduced()
    }
    fn minus(self, other: Ratio) -> Ratio {
        self.plus(Ratio(-other.0, other.1))
    }
    fn at_least(self, other: Ratio) -> bool {
        self.0 * other.1 >= other.0 * self.1
    }
    fn min(self, other: Ratio) -> Ratio {
        if self.at_least(other) { other } else { self }
    }
}

/// The same in bytes, as fractions: any rate, any time.
fn in_fractions(spec: &MeterSpec, arrivals: &[Arrival]) -> Vec<Colour> {
    let brought =
        |rate: Rate, gap: u64| Ratio(i128::from(rate.0) * i128::from(gap), 8_000_000_000_000).reduced();
    let mut out = Vec::new();
    match *spec {
        MeterSpec::SingleRate(SingleRate { cir, cbs, ebs, aware }) => {
            let (cbs, ebs) = (Ratio::whole(cbs.0), Ratio::whole(ebs.0));
            let (mut tc, mut te) = (cbs, ebs);
            for &(gap, bytes, precedence) in arrivals {
                let all = tc.plus(brought(cir, gap));
                tc = all.min(cbs);
                te = te.plus(all.minus(tc)).min(ebs);
                let (need, input) = (Ratio::whole(bytes.into()), input(precedence));
                out.push(if (!aware || input == Colour::Green) && tc.at_least(need) {
                    tc = tc.minus(need);
                    Colour::Green
                } else if (!aware || input != Colour::Red) && te.at_least(need) {
                    te = te.minus(need);
                    Colour::Yellow
                } else {
                    Colour::Red
                });
            }
        }
        MeterSpec::TwoRate(TwoRate { cir, cbs, pir, pbs, aware }) => {
            let (cbs, pbs) = (Ratio::whole(cbs.0), Ratio::whole(pbs.0));
            let (mut tc, mut tp) = (cbs, pbs);
            for &(gap, bytes, precedence) in arrivals {
                tc = tc.plus(brought(cir, gap)).min(cbs);
                tp = tp.plus(brought(pir, gap)).min(pbs);
                let (need, input) = (Ratio::whole(bytes.into()), input(precedence));
                out.push(if (aware && input == Colour::Red) || !tp.at_least(need) {
                    Colour::Red
                } else if (aware && input == Colour::Yellow) || !tc.at_least(need) {
                    tp = tp.minus(need);
                    Colour::Yellow
                } else {
                    (tp, tc) = (tp.minus(need), tc.minus(need));
                    Colour::Green
                });
            }
        }
        MeterSpec::TokenBucket(_) => {}
    }
    out
}

fn bytes() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..200, 40u32..1600]
}
/// Gaps in ticks, often none.
fn ticks(n: usize) -> impl Strategy<Value = Vec<Arrival>> {
    vec((prop_oneof![Just(0u64), 1u64..10, 1u64..1500], bytes(), 0u8..4), 1..n)
}
/// Gaps in picoseconds, many of about the time of a packet at 1 Mbit/s.
fn picoseconds(n: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0u64), 1u64..1000, 1u64..12_000_000_000, 1_000_000_000u64..100_000_000_000];
    vec((gap, bytes(), 0u8..4), 1..n)
}
fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![1_000u64..10_000_000, Just(760_000), Just(999_983), Just(3_000_017)]
}
/// A rate that is a whole number of bits in a tick of a microsecond.
fn even() -> impl Strategy<Value = u64> {
    (1u64..30).prop_map(|n| n * 1_000_000)
}
const TICK: u64 = 1_000_000;

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn token_buckets_are_what_all_intervals_allow(
        arrivals in picoseconds(120),
        rate in rate(),
        burst in 40u64..6000,
        peak in proptest::option::of((1u64..4_000_000, proptest::option::of(40u64..3000))),
    ) {
        let spec = MeterSpec::TokenBucket(TokenBucket {
            rate: Rate(rate),
            burst: Size(burst),
            peakrate: peak.map(|(more, _)| Rate(rate + more)),
            mtu: peak.and_then(|(_, mtu)| mtu).map(Size),
        });
        prop_assert_eq!(colours(&spec, &arrivals), by_intervals(&spec, &arrivals));
    }

    #[test]
    fn three_colours_are_those_of_the_rfcs_token_by_token(
        arrivals in ticks(40),
        cir in even(),
        more in 0u64..30,
        (cbs, other) in (0u64..4000, 1u64..4000),
        aware in any::<bool>(),
    ) {
        let arrived: Vec<Arrival> = arrivals.iter().map(|&(gap, bytes, p)| (gap * TICK, bytes, p)).collect();
        let spec = MeterSpec::SingleRate(SingleRate { cir: Rate(cir), cbs: Size(cbs), ebs: Size(other), aware });
        prop_assert_eq!(colours(&spec, &arrived), token_by_token(&spec, TICK, &arrivals));
        let (cbs, pbs, pir) = (Size(cbs.max(1)), Size(other), Rate(cir + more * 1_000_000));
        let spec = MeterSpec::TwoRate(TwoRate { cir: Rate(cir), cbs, pir, pbs, aware });
        prop_assert_eq!(colours(&spec, &arrived), token_by_token(&spec, TICK, &arrivals));
    }

    #[test]
    fn three_colours_are_exact_at_any_rate(
        arrivals in picoseconds(60),
        cir in rate(),
        more in 0u64..4_000_000,
        (cbs, other) in (0u64..4000, 1u64..4000),
        aware in any::<bool>(),
    ) {
        let spec = MeterSpec::SingleRate(SingleRate { cir: Rate(cir), cbs: Size(cbs), ebs: Size(other), aware });
        prop_assert_eq!(colours(&spec, &arrivals), in_fractions(&spec, &arrivals));
        let (cbs, pbs, pir) = (Size(cbs.max(1)), Size(other), Rate(cir + more));
        let spec = MeterSpec::TwoRate(TwoRate { cir: Rate(cir), cbs, pir, pbs, aware });
        prop_assert_eq!(colours(&spec, &arrivals), in_fractions(&spec, &arrivals));
    }
}

#[test]
fn nothing_drifts() {
    // 125 bytes at 3 Mbit/s are 333,333,333 1/3 ps. Packets that come at the first whole picosecond at which their
    // tokens are there all conform, and after any three of them no token is left, not even a millionth of one.
    let spec = MeterSpec::TokenBucket(TokenBucket {
        rate: Rate(3_000_000),
        burst: Size(250),
        peakrate: None,
        mtu: None,
    });
    let mut meter = Meter::new(&spec).expect("right");
    assert_eq!(meter.colour(Time(0), 250, Colour::Green), Colour::Green);
    for n in 1..=300_000u64 {
        let at = Time((u128::from(n) * 1_000_000_000_000).div_ceil(3000) as u64);
        assert_eq!(meter.colour(at, 125, Colour::Green), Colour::Green, "packet {n}");
        if n % 3 == 0 {
            assert_eq!(meter.colour(at, 1, Colour::Green), Colour::Red, "after packet {n}");
        }
    }
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let (most, max) = (Rate(u64::MAX), Size(u64::MAX));
    for spec in [
        MeterSpec::TokenBucket(TokenBucket {
            rate: Rate(most.0 - 1),
            burst: max,
            peakrate: Some(most),
            mtu: Some(max),
        }),
        MeterSpec::SingleRate(SingleRate { cir: most, cbs: max, ebs: max, aware: true }),
        MeterSpec::TwoRate(TwoRate { cir: most, cbs: max, pir: most, pbs: max, aware: true }),
    ] {
        let mut meter = Meter::new(&spec).expect("right");
        assert_eq!(meter.colour(Time(1), u32::MAX, Colour::Green), Colour::Green);
        assert_eq!(meter.colour(Time::MAX, u32::MAX, Colour::Green), Colour::Green);
        assert_eq!(meter.colour(Time(5), u32::MAX, Colour::Green), Colour::Green);
    }
}

#[test]
fn what_can_not_meter_is_refused() {
    let refused = |json: &str| crate::queue::testing::spec::<MeterSpec>(json).expect_err(json);
    for (json, part) in [
        (r#"{"kind":"token-bucket","rate":0,"burst":1}"#, "rate: 0: it is not above zero"),
        (r#"{"kind":"token-bucket","rate":1,"burst":0}"#, "burst: 0: it is not above zero"),
        (
            r#"{"kind":"token-bucket","rate":9,"burst":1,"peakrate":8}"#,
            "peakrate: 8 bit/s has to be above rate=9 bit/s",
        ),
        (
            r#"{"kind":"token-bucket","rate":9,"burst":1,"mtu":8}"#,
            "mtu: it is the size of the peak rate's bucket",
        ),
        (r#"{"kind":"single-rate","cir":9,"cbs":0,"ebs":0}"#, "both 0"),
        (
            r#"{"kind":"two-rate","cir":9,"cbs":1,"pir":8,"pbs":1}"#,
            "pir: 8 bit/s has to be at least cir=9 bit/s",
        ),
        (r#"{"kind":"two-rate","cir":9,"cbs":1,"pir":9,"pbs":0}"#, "pbs: 0: it is not above zero"),
    ] {
        assert!(refused(json).contains(part), "{json}: {}", refused(json));
    }
}
