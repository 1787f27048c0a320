//! How long random campaigns are, and which ones are drawn.

use proptest::test_runner::{Config, RngSeed};
use std::env;
use std::ops::Range;
use std::thread;

/// Environment variable with the length of every random campaign: `ci` or absent, `long`, or a factor such as `0.2` or
/// `50`.
const CAMPAIGN: &str = "TWINPLANE_CAMPAIGN";
/// Environment variable with the seed of every random campaign: a whole number; 1 if absent.
const SEED: &str = "TWINPLANE_SEED";
/// How many times as long as in `make test` `long` is.
const LONG: f64 = 20.0;

/// Settings of a property test that draws `count` cases in `make test`.
///
/// They are the same cases every time unless `TWINPLANE_SEED` says otherwise. The line that repeats the campaign is
/// printed; the test harness shows it if the test fails.
#[must_use]
pub fn cases(count: u32) -> Config {
    let cases = u32::try_from(scaled(count.into())).unwrap_or(u32::MAX);
    println!("{cases} cases; to repeat them: {}", command());
    Config { cases, rng_seed: RngSeed::Fixed(seed()), ..Config::default() }
}

/// Numbers of the runs of a campaign that has `count` in `make test`: each run is drawn from its number.
///
/// They begin at the seed, and the line that repeats the campaign is printed as by [`cases`].
#[must_use]
pub fn runs(count: u64) -> Range<u64> {
    let (first, count) = (seed(), scaled(count));
    println!("{count} runs from number {first}; to repeat them: {}", command());
    first..first.saturating_add(count)
}

/// The seed of all campaigns of this process.
///
/// # Panics
///
/// If `TWINPLANE_SEED` is not a whole number.
#[must_use]
pub fn seed() -> u64 {
    let Ok(text) = env::var(SEED) else { return 1 };
    text.parse().unwrap_or_else(|_| panic!("{SEED}={text}: a whole number is needed"))
}

fn scaled(count: u64) -> u64 {
    let text = env::var(CAMPAIGN).unwrap_or_default();
    let factor = factor(&text).unwrap_or_else(|said| panic!("{CAMPAIGN}={text}: {said}"));
    times(count, factor)
}

/// At least one run, however short a campaign is.
fn times(count: u64, factor: f64) -> u64 {
    ((count as f64 * factor).ceil() as u64).max(1)
}

fn factor(text: &str) -> Result<f64, &'static str> {
    match text {
        "" | "ci" => Ok(1.0),
        "long" => Ok(LONG),
        number => match number.parse::<f64>() {
            Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
            _ => Err("'ci', 'long' or a factor above 0 is needed"),
        },
    }
}

/// The command that runs the calling test again with the same cases.
fn command() -> String {
    let length = env::var(CAMPAIGN).unwrap_or_else(|_| "ci".into());
    let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "PACKAGE".into());
    let current = thread::current();
    let test = current.name().unwrap_or_default();
    format!("{CAMPAIGN}={length} {SEED}={} cargo test -p {package} {test}", seed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(factor("ci"), factor(""));
        assert_eq!((times(256, factor("ci").unwrap()), times(256, factor("long").unwrap())), (256, 5120));
        assert_eq!((times(256, factor("0.1").unwrap()), times(3, factor("0.1").unwrap())), (26, 1));
        for wrong in ["0", "-1", "nan", "inf", "longer"] {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_campaign_says_how_it_is_repeated() {
        assert!(command().ends_with("campaign::tests::a_campaign_says_how_it_is_repeated"), "{}", command());
        assert!(
            command().contains(&format!("{SEED}={} cargo test -p twinplane-testing ", seed())),
            "{}",
            command()
        );
    }
}
