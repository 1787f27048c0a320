//! How long the frames of a source are, one after the other.

use base::random::Stream as Random;
use rand_distr::{Distribution, Exp1};
use std::sync::Arc;

/// How many numbers there are in 64 bits.
const RANGE: f64 = 18_446_744_073_709_551_616.0;

/// Sizes of frames in bytes, with frame check sequence.
#[derive(Debug)]
pub enum Sizes {
    /// Each size in a range equally often.
    Uniform {
        /// Size of the shortest frame in bytes.
        min: u32,
        /// Size of the longest frame in bytes.
        max: u32,
        /// The source's own random stream.
        random: Box<Random>,
    },
    /// Some sizes by weight.
    Empirical {
        /// The sizes, each with the random number up to which it is taken, in order of that.
        table: Vec<(u64, u32)>,
        /// The source's own random stream.
        random: Box<Random>,
    },
    /// Exponential, cut off at both bounds.
    Exponential {
        /// Mean without the bounds.
        mean: f64,
        /// Size of the shortest frame in bytes.
        min: u32,
        /// Size of the longest frame in bytes.
        max: u32,
        /// The source's own random stream.
        random: Box<Random>,
    },
    /// As listed, over and over.
    Listed {
        /// Sizes in bytes, in the order in which frames are sent.
        sizes: Arc<[u32]>,
        /// Place of the next.
        at: usize,
    },
}

impl Sizes {
    /// `sizes` as often as their `weights` say; all alike where weights are missing.
    pub fn empirical(sizes: &[u32], weights: &[f64], random: Random) -> Sizes {
        let weight = |place: usize| weights.get(place).copied().unwrap_or(1.0).max(0.0);
        let total: f64 = (0..sizes.len()).map(weight).sum();
        let mut sum = 0.0;
        let mut table: Vec<(u64, u32)> = Vec::new();
        for (place, &size) in sizes.iter().enumerate().filter(|(place, _)| weight(*place) > 0.0) {
            sum += weight(place);
            // A float becomes the nearest integer within the range.
            table.push(((sum / total * RANGE) as u64, size));
        }
        if let Some(last) = table.last_mut() {
            last.0 = u64::MAX;
        }
        Sizes::Empirical { table, random: Box::new(random) }
    }

    /// The size of the next frame; zero if there is none to choose from.
    pub fn draw(&mut self) -> u32 {
        match self {
            Sizes::Uniform { min, max, random } => {
                let count = u128::from(max.saturating_sub(*min)) + 1;
                *min + ((u128::from(bits(random)) * count) >> 64) as u32
            }
            Sizes::Empirical { table, random } => {
                let drawn = bits(random);
                let place = table.partition_point(|&(up_to, _)| up_to < drawn);
                table.get(place).map_or(0, |entry| entry.1)
            }
            Sizes::Exponential { mean, min, max, random } => {
                let drawn: f64 = Exp1.sample(&mut **random);
                (libm::round(drawn * *mean) as u32).clamp(*min, (*max).max(*min))
            }
            Sizes::Listed { sizes, at } => {
                let size = sizes.get(*at).copied().unwrap_or(0);
                *at = if *at + 1 < sizes.len() { *at + 1 } else { 0 };
                size
            }
        }
    }
}

fn bits(random: &mut Random) -> u64 {
    use rand::Rng;
    random.next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;
    use proptest::prelude::*;

    fn random(seed: u64) -> Random {
        Streams::new(seed).stream("flow/test/sizes")
    }

    /// Mean and its standard error of `n` draws.
    fn measured(mut sizes: Sizes, n: u32) -> (f64, f64) {
        let drawn: Vec<f64> = (0..n).map(|_| f64::from(sizes.draw())).collect();
        let mean = drawn.iter().sum::<f64>() / f64::from(n);
        let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n - 1);
        (mean, (variance / f64::from(n)).sqrt())
    }

    proptest! {
        #![proptest_config(testing::cases(20))]

        #[test]
        fn means_are_those_asked_for(seed in 0u64..1 << 40, min in 64u32..700, more in 0u32..9_000, weight in 0.1f64..10.0) {
            let n = 20_000;
            let max = min + more;
            let uniform = Sizes::Uniform { min, max, random: Box::new(random(seed)) };
            let (mean, error) = measured(uniform, n);
            // Five standard errors: a deviation beyond them has odds of one in 1.7 million.
            prop_assert!((mean - f64::from(min + max) / 2.0).abs() <= 5.0 * error, "{} {} {}", mean, min, max);
            let empirical = Sizes::empirical(&[min, max, 9_999], &[weight, 1.0, 0.0], random(seed));
            let expected = (weight * f64::from(min) + f64::from(max)) / (weight + 1.0);
            let (mean, error) = measured(empirical, n);
            prop_assert!((mean - expected).abs() <= 5.0 * error, "{} {}", mean, expected);
            let exponential = Sizes::Exponential { mean: 600.0, min, max, random: Box::new(random(seed)) };
            let part = |x: u32| (-f64::from(x) / 600.0).exp();
            let expected = f64::from(min) + 600.0 * (part(min) - part(max));
            let (mean, error) = measured(exponential, n);
            prop_assert!((mean - expected).abs() <= 5.0 * error + 0.01, "{} {}", mean, expected);
        }

        #[test]
        fn bounds_hold(seed in 0u64..1 << 40, min in 64u32..1_000, more in 0u32..3) {
            let max = min + more;
            let mut seen = [false; 3];
            let mut sizes = Sizes::Uniform { min, max, random: Box::new(random(seed)) };
            for _ in 0..200 {
                seen[(sizes.draw() - min) as usize] = true;
            }
            prop_assert!(seen[..=more as usize].iter().all(|s| *s), "each occurs");
        }
    }

    #[test]
    fn a_list_begins_again() {
        let mut sizes = Sizes::Listed { sizes: [70, 80, 90].into(), at: 0 };
        assert_eq!((0..7).map(|_| sizes.draw()).collect::<Vec<_>>(), [70, 80, 90, 70, 80, 90, 70]);
    }
}
