//! Student's t distribution.

use core::f64::consts::FRAC_2_PI;

/// Probability that Student's t lies within -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, freedom: u32) -> f64 {
    let angle = libm::atan(t / libm::sqrt(f64::from(freedom)));
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2 == 1;
    let first = if odd { cosine } else { 1.0 };
    let step = |term: f64, k: u32| term * cosine * cosine * f64::from(k - 1) / f64::from(k);
    let (mut term, mut total) = (first, if freedom == 1 { 0.0 } else { first });
    for k in (if odd { 3 } else { 2 }..freedom.max(1) - 1).step_by(2) {
        term = step(term, k);
        total += term;
    }
    if odd { FRAC_2_PI * (angle + sine * total) } else { sine * total }
}

/// The t that encloses 95 % of the distribution, by bisection; of one degree of freedom at least.
pub fn t_quantile(freedom: u32) -> f64 {
    let freedom = freedom.max(1);
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < 0.95 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::t_quantile;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let known =
            [(1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (29, 2.045), (30, 2.042), (120, 1.980)];
        for (freedom, expected) in known {
            assert!((t_quantile(freedom) - expected).abs() < 6e-4, "{freedom}: {}", t_quantile(freedom));
        }
    }
}
