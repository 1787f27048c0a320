//! Checks of parameters that several disciplines share.

use super::spec::SpecError;
use base::Rate;
use std::collections::BTreeSet;

/// Refuses a list of classes that is empty, or names one twice or in a way that would be ambiguous in a path.
pub fn names<'a>(names: impl IntoIterator<Item = &'a str>, what: &str, path: &str) -> Result<(), SpecError> {
    let plural = if what.ends_with('s') { format!("{what}es") } else { format!("{what}s") };
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() || name.contains('/') {
            return Err(SpecError::new(
                path,
                format!("{what} '{name}': a name has at least one letter, and no '/'"),
            ));
        }
        if !seen.insert(name) {
            return Err(SpecError::new(
                path,
                format!("there are two {plural} '{name}': each needs a name of its own"),
            ));
        }
    }
    if seen.is_empty() {
        return Err(SpecError::new(path, format!("there is no {what}: at least one is needed")));
    }
    Ok(())
}

/// The value, or an error that names `field` if it is zero.
pub fn positive(value: u64, field: &str, path: &str) -> Result<u64, SpecError> {
    if value == 0 {
        return Err(SpecError::new(path, format!("{field}=0: it must be at least 1")));
    }
    Ok(value)
}

/// Refuses a rate of zero.
pub fn rate(rate: Rate, field: &str, path: &str) -> Result<Rate, SpecError> {
    if rate.0 == 0 {
        return Err(SpecError::new(
            path,
            format!("{field}=0: nothing would ever be sent; give a rate above zero"),
        ));
    }
    Ok(rate)
}
