//! Checks that several disciplines share.

use super::classify::{Match, shadowed};
use super::problem::QueueProblem;
use super::spec::ClassFilter;
use base::describe::{ClassName, Describe, Value, near};
use base::diagnostic::{At, Diagnostic};

/// Names are listed in errors up to so many.
const LISTED_MAX: usize = 16;

/// A quantity as its owner would write it.
pub fn shown(quantity: &impl Describe) -> String {
    match quantity.write() {
        Value::Text(text) => text,
        other => other.shown(),
    }
}

/// Refuses a mapping without anything in it.
pub fn some(count: usize, key: &'static str) -> Result<(), Diagnostic> {
    if count == 0 { Err(QueueProblem::NoneThere {}.into()).at(key) } else { Ok(()) }
}

/// Refuses a name that nothing has.
pub fn known<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
    noun: &'static str,
) -> Result<(), Diagnostic> {
    let known: Vec<&str> = known.collect();
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match near(name, &known) {
        hint if hint.is_empty() && (1..=LISTED_MAX).contains(&known.len()) => {
            format!(" (one of {})", known.join(", "))
        }
        hint => hint,
    };
    Err(QueueProblem::Unknown { noun, name: name.to_string(), hint }.into())
}

/// Refuses filters and a default that name a class that is not there.
pub fn flat<T>(
    classes: &[(ClassName, T)],
    filters: &[ClassFilter],
    default: Option<&ClassName>,
) -> Result<(), Diagnostic> {
    let names = || classes.iter().map(|class| &*class.0);
    for (index, filter) in filters.iter().enumerate() {
        known(&filter.class, names(), "class").at("class").at(index).at("filters")?;
    }
    default.map_or(Ok(()), |default| known(default, names(), "class").at("default"))
}

/// Refuses filters that can take nothing, since those before them take it all.
pub fn order(filters: &[ClassFilter]) -> Result<(), Diagnostic> {
    in_order(filters.iter().map(|filter| &filter.matches), "filter").at("filters")
}

/// The same of anything with a match; errors begin with the index of the one that is hidden.
pub fn in_order<'a>(matches: impl Iterator<Item = &'a Match>, noun: &str) -> Result<(), Diagnostic> {
    let Some(hidden) = shadowed(matches).into_iter().next() else { return Ok(()) };
    let by: Vec<String> = hidden.by.iter().map(|place| format!("{noun} {}", place + 1)).collect();
    let (by, verb) = match &by[..] {
        [one] => (one.clone(), "takes"),
        [others @ .., last] => (format!("{} and {last}", others.join(", ")), "take"),
        [] => (format!("every {noun}"), "takes"),
    };
    Err(Diagnostic::new(QueueProblem::Shadowed { by, verb }).at(hidden.filter))
}
