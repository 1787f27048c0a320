//! How well the mean of delays is known: its 95 % confidence interval, by batch means.
//!
//! Delays of packets in succession are alike, most of all behind a queue that is nearly full. So the spread of single
//! packets, or of streams that share a queue, says little about the error of the mean. What says more are means over
//! batches of packets that are longer than the memory of the queue. Batches grow with the number of packets, and then
//! until neighbours hardly resemble each other. The likeness that is left widens the interval as it would for a
//! first-order autoregression; the skewness of the batches shifts it (Tafazzoli, Steiger and Wilson, "N-Skart", IEEE
//! Transactions on Automatic Control 56, 2011).

use crate::student::t_quantile;
use base::Span;

/// Batches that are kept at least, once there are as many packets; at twice as many, each two become one.
const KEPT: usize = 64;
/// Batches that are left at least where neighbours become one because they are alike.
const LEFT: usize = 16;
/// Independent delays that an interval needs at least, as the correlation between the batches tells.
const INDEPENDENT: f64 = 12.0;
/// Independent delays for each degree of freedom of the variance: it is known the less, the longer the correlation.
const PER_FREEDOM: f64 = 4.0;

base::words! {
    /// Why a mean has no interval. It depends on the number of packets and on their correlation alone.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NoInterval {
        /// Fewer packets than batches that are needed.
        TooFew = "too few packets",
        /// The delays are so alike over so long that they count for less than a dozen independent ones.
        TooAlike = "correlated for too long",
    }
}

/// Delays in order of arrival, summed over batches of equal length.
#[derive(Clone, Debug)]
pub struct Batches {
    /// Sums of the batches that are full, in picoseconds.
    sums: Vec<f64>,
    /// Packets in a batch.
    length: u64,
    /// The sum of the batch that is being filled, and how many packets it lacks.
    open: (f64, u64),
}

impl Default for Batches {
    fn default() -> Self {
        Batches { sums: Vec::new(), length: 1, open: (0.0, 1) }
    }
}

impl Batches {
    /// Takes note of the next delay; a negative one (clocks that differ) counts as zero.
    #[inline]
    pub fn record(&mut self, delay: Span) {
        self.open.0 += delay.0.max(0) as f64;
        self.open.1 -= 1;
        if self.open.1 == 0 {
            self.close();
        }
    }

    #[cold]
    fn close(&mut self) {
        self.sums.push(self.open.0);
        if self.sums.len() == 2 * KEPT {
            self.sums = pairs(&self.sums);
            self.length *= 2;
        }
        self.open = (0.0, self.length);
    }

    /// The interval that holds the expected mean with 95 % confidence, in seconds, around the mean of all packets.
    pub fn interval_s(&self, mean_s: f64) -> Result<[f64; 2], NoInterval> {
        if self.sums.len() < KEPT {
            return Err(NoInterval::TooFew);
        }
        // In picoseconds: sums of whole numbers below 2^53 are exact, so that equal delays give equal means.
        let mut means: Vec<f64> = self.sums.iter().map(|sum| sum / self.length as f64).collect();
        let independent = independent(&means);
        if independent < INDEPENDENT {
            return Err(NoInterval::TooAlike);
        }
        while means.len() >= 2 * LEFT && correlation(&means, 1) >= 1.0 / libm::sqrt(means.len() as f64) {
            means = pairs(&means).into_iter().map(|sum| sum / 2.0).collect();
        }
        let count = means.len() as f64;
        // In so short a series the estimate is too low by (1 + 4 r) / n (Kendall, Biometrika 41, 1954).
        let found = correlation(&means, 1);
        let likeness = (found + (1.0 + 4.0 * found) / count).clamp(0.0, 0.9);
        let error = libm::sqrt(variance(&means) / count * (1.0 + likeness) / (1.0 - likeness));
        let freedom = ((independent / PER_FREEDOM) as u32).min(means.len() as u32 - 1);
        let (t, shift) = (t_quantile(freedom), skewness(&means) / (6.0 * libm::sqrt(count)));
        Ok([t, -t].map(|t| mean_s - skewed(t, shift) * error / 1e12))
    }
}

/// Sums of each two values in succession; an odd one at the end is left out.
fn pairs(values: &[f64]) -> Vec<f64> {
    values.chunks_exact(2).map(|two| two[0] + two[1]).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of a power of the deviations from the mean.
fn moment(values: &[f64], power: i32) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(power)).sum()
}

fn variance(values: &[f64]) -> f64 {
    moment(values, 2) / (values.len() as f64 - 1.0)
}

/// The correlation of values so many places apart; zero if all are equal.
fn correlation(values: &[f64], lag: usize) -> f64 {
    let (mean, all) = (mean(values), moment(values, 2));
    let both: f64 = values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum();
    if all > 0.0 { both / all } else { 0.0 }
}

/// How many independent values would tell as much about the mean: the number of values by the integrated correlation
/// time, over lags of up to five times that time (Sokal, "Monte Carlo methods in statistical mechanics", 1997, 3).
fn independent(values: &[f64]) -> f64 {
    let mut time = 1.0;
    for lag in 1..values.len() / 2 {
        time += 2.0 * correlation(values, lag);
        if lag as f64 >= 5.0 * time {
            break;
        }
    }
    values.len() as f64 / time.max(1.0)
}

/// The skewness of a population, as its sample tells it.
fn skewness(values: &[f64]) -> f64 {
    let (count, spread) = (values.len() as f64, variance(values));
    let third = moment(values, 3) * count / ((count - 1.0) * (count - 2.0));
    if spread > 0.0 { third / (spread * libm::sqrt(spread)) } else { 0.0 }
}

/// A quantile of Student's t for means of a skewed population (Willink, "A confidence interval and test for the mean
/// of an asymmetric distribution", Communications in Statistics 34, 2005).
fn skewed(t: f64, shift: f64) -> f64 {
    // Below this the formula loses all its digits, and equals t in the first six.
    if shift.abs() < 1e-7 { t } else { (libm::cbrt(1.0 + 6.0 * shift * (t - shift)) - 1.0) / (2.0 * shift) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;
    use rand::RngExt;

    /// Delays behind a queue with Poisson arrivals and constant service of a microsecond (Lindley, 1952).
    fn queue(load: f64, packets: usize, seed: u64) -> (f64, Batches) {
        let mut random = Streams::new(seed).stream("queue");
        let (mut batches, mut waited, mut sum) = (Batches::default(), 0.0f64, 0.0);
        for _ in 0..packets {
            let gap = -libm::log(1.0 - random.random::<f64>()) / load;
            waited = (waited + 1.0 - gap).max(0.0);
            let delay = Span(((waited + 1.0) * 1e6) as i64);
            batches.record(delay);
            sum += delay.0 as f64;
        }
        (sum / packets as f64 / 1e12, batches)
    }

    #[test]
    fn means_of_a_queue_lie_in_their_intervals() {
        for load in [0.3, 0.6, 0.9] {
            // Pollaczek and Khinchine.
            let truth = 1e-6 * (1.0 + load / (2.0 * (1.0 - load)));
            let intervals: Vec<[f64; 2]> = (0..300)
                .map(|seed| {
                    let (mean, batches) = queue(load, 40_000, seed);
                    batches.interval_s(mean).expect("long enough")
                })
                .collect();
            let covered = intervals.iter().filter(|[low, high]| (*low..=*high).contains(&truth)).count();
            // 95 % of 300 is 285; three and a half standard deviations are 13.
            assert!((272..=298).contains(&covered), "load {load}: {covered} of 300");
        }
    }

    #[test]
    fn what_is_too_short_or_too_alike_has_no_interval() {
        let mut batches = Batches::default();
        (0..63).for_each(|us| batches.record(Span::from_us(us)));
        assert_eq!(batches.interval_s(31e-6), Err(NoInterval::TooFew));
        // A delay that only grows never repeats itself.
        (63..100_000).for_each(|us| batches.record(Span::from_us(us)));
        assert_eq!(batches.interval_s(0.05), Err(NoInterval::TooAlike));
    }

    #[test]
    fn delays_that_are_all_equal_have_an_interval_of_no_width() {
        let mut batches = Batches::default();
        (0..1_000).for_each(|_| batches.record(Span::from_us(7)));
        assert_eq!(batches.interval_s(7e-6), Ok([7e-6, 7e-6]));
    }

    #[test]
    fn an_interval_lies_the_further_up_the_more_skewed_its_batches_are() {
        let (mean, batches) = queue(0.9, 20_000, 1);
        let [low, high] = batches.interval_s(mean).expect("long enough");
        assert!(high - mean > mean - low, "{low} {mean} {high}");
    }
}
