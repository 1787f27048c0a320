use super::*;
use base::Streams;
use proptest::prelude::*;

fn random(seed: u64) -> Random {
    Streams::new(seed).stream("flow/test/gaps")
}

fn times(arrivals: &mut Arrivals, n: usize) -> Vec<u64> {
    let mut next = || {
        let at = arrivals.next();
        arrivals.advance();
        at.0
    };
    (0..n).map(|_| next()).collect()
}

/// Mean and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

proptest! {
    #![proptest_config(testing::cases(20))]

    #[test]
    fn poisson_gaps_have_mean_and_variance_of_exponentials(seed in 0u64..1 << 40, mean_us in 1i64..1_000) {
        let mut arrivals = Arrivals::Poisson(Poisson::new(Time(5), Span::from_us(mean_us), random(seed)));
        let times = times(&mut arrivals, 20_000);
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e6 / mean_us as f64).collect();
        let (first, error) = mean(&gaps);
        prop_assert!((first - 1.0).abs() <= 5.0 * error, "{}", first);
        let squares: Vec<f64> = gaps.iter().map(|gap| gap * gap).collect();
        let (second, error) = mean(&squares);
        prop_assert!((second - 2.0).abs() <= 5.0 * error, "{}", second);
    }

    #[test]
    fn periods_have_their_means_and_tails(seed in 0u64..1 << 40, shape in 2.5f64..5.0) {
        let (mut source, n) = (random(seed), 20_000);
        let exponential: Vec<f64> = (0..n).map(|_| Period::Exponential(Span(1 << 30)).draw(&mut source) as f64).collect();
        let (first, error) = mean(&exponential);
        prop_assert!((first - (1u64 << 30) as f64).abs() <= 5.0 * error);
        let pareto = Period::pareto(Span(1 << 30), shape);
        let drawn: Vec<f64> = (0..n).map(|_| pareto.draw(&mut source) as f64).collect();
        // Hill's estimator with all values, which is the maximum-likelihood estimate of the shape: the logarithms of
        // what exceeds the shortest are exponential.
        let Period::Pareto { shortest, .. } = pareto else { unreachable!() };
        prop_assert!(drawn.iter().all(|x| *x >= shortest - 1.0));
        let logarithms: Vec<f64> = drawn.iter().map(|x| (x / shortest).ln()).collect();
        let (first, error) = mean(&logarithms);
        prop_assert!((first - 1.0 / shape).abs() <= 5.0 * error, "{} for {}", 1.0 / first, shape);
    }

    /// Whatever the periods are, packets come at the source's own clock: so many in all the time that it was on.
    #[test]
    fn on_off_sources_keep_their_rate(seed in 0u64..1 << 40, gap in 1u64..5_000, on in 1i64..20_000, off in 0i64..20_000) {
        let periods = [Period::Constant(Span(on)), Period::Exponential(Span(on)), Period::pareto(Span(on), 1.5)];
        for period in periods {
            let pacer = Pacer::every(Time::ZERO, u128::from(gap), 1);
            let off = Period::Constant(Span(off));
            let mut on_off = OnOff::new(Time(77), pacer, period, off, random(seed));
            let mut k = 0;
            while k < 500 {
                // The k-th packet is due when the source has been on for k gaps.
                prop_assert_eq!(on_off.clock + (on_off.next.0 - on_off.begins.0), k * gap);
                prop_assert!(on_off.next.0 - on_off.begins.0 < on_off.lasts);
                on_off.advance();
                k += 1;
            }
        }
    }

    #[test]
    fn traces_replay_exactly(gaps in proptest::collection::vec(0u64..1_000, 1..50), start in 0u64..1_000) {
        let total: u64 = gaps.iter().sum();
        let expected = |k: usize| start + (k / gaps.len()) as u64 * total + gaps[..=k % gaps.len()].iter().sum::<u64>();
        let mut once = Arrivals::Trace(Trace::new(Time(start), gaps.clone().into(), false));
        let all = times(&mut once, gaps.len());
        prop_assert_eq!(&all, &(0..gaps.len()).map(expected).collect::<Vec<_>>());
        prop_assert_eq!(once.next(), Time::MAX);
        if total > 0 {
            let n = 3 * gaps.len();
            let mut again = Arrivals::Trace(Trace::new(Time(start), gaps.clone().into(), true));
            prop_assert_eq!(times(&mut again, n), (0..n).map(expected).collect::<Vec<_>>());
        }
    }
}

#[test]
fn constant_periods_are_where_arithmetic_puts_them() {
    // On for 10, off for 100; a packet each 4 of the time that it is on.
    let pacer = Pacer::every(Time::ZERO, 4, 1);
    let (on, off) = (Period::Constant(Span(10)), Period::Constant(Span(100)));
    let mut arrivals = Arrivals::OnOff(Box::new(OnOff::new(Time(0), pacer, on, off, random(1))));
    assert_eq!(times(&mut arrivals, 6), [0, 4, 8, 112, 116, 220]);
}
