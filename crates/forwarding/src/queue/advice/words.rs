//! Lists and rates as people write them.

/// `a, b and c`; of many, the first few.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [all @ .., last] if all.len() < 8 => format!("{} and {last}", all.join(", ")),
        [a, b, c, rest @ ..] => format!("{a}, {b}, {c} and {} others", rest.len()),
        [a, ..] => (*a).to_string(),
    }
}

/// A rate as people write it.
pub(super) struct Bits(pub(super) u64);

impl core::fmt::Display for Bits {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        Wide(u128::from(self.0)).fmt(f)
    }
}

/// A sum of rates, exactly, in the largest unit that leaves at least one before the point.
pub(super) struct Wide(pub(super) u128);

impl core::fmt::Display for Wide {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let units = [(1_000_000_000, "Gbit/s", 9), (1_000_000, "Mbit/s", 6), (1000, "kbit/s", 3)];
        let Some((unit, name, digits)) = units.into_iter().find(|(unit, ..)| self.0 >= *unit) else {
            return write!(f, "{} bit/s", self.0);
        };
        let fraction = format!("{:0digits$}", self.0 % unit);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{} {name}", self.0 / unit),
            fraction => write!(f, "{}.{fraction} {name}", self.0 / unit),
        }
    }
}
