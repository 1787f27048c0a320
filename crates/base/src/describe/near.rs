//! Suggestions for names that are nearly right.

use strsim::normalized_damerau_levenshtein;

/// From this likeness on, of 1, a known name is suggested.
const ALIKE: f64 = 0.5;

/// ` (did you mean 'x'?)` for the known name that is nearest to `name`, or nothing.
pub fn near<S: AsRef<str>>(name: &str, known: impl IntoIterator<Item = S>) -> String {
    let mut best: Option<(f64, String)> = None;
    for other in known {
        let other = other.as_ref();
        let alike = normalized_damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
        if alike >= ALIKE && best.as_ref().is_none_or(|(least, _)| alike > *least) {
            best = Some((alike, other.to_string()));
        }
    }
    best.map(|(_, other)| format!(" (did you mean '{other}'?)")).unwrap_or_default()
}

/// `a, b or c`.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [only] => only.as_ref().to_string(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", others.join(", "), last.as_ref())
        }
    }
}
