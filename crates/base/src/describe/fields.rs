//! Fields of a record while it is read: which keys were given, and what stands for those that were not.

use super::problem::{DescribeProblem, wrong_type};
use super::quantity::Size;
use super::{Describe, Record, Value, near};
use crate::diagnostic::{Argument, At, Diagnostic};
use crate::time::{Rate, Span, Time};

/// The values that were given for the fields of a record, in the order of its declaration.
pub struct Fields<'a, const N: usize> {
    found: [Option<&'a Value>; N],
    next: usize,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Sorts the keys of a mapping to the fields. `tag` belongs to whoever chose this record; `was` has former names
    /// with the new ones.
    pub fn of(
        value: &'a Value,
        keys: &[&'static str; N],
        was: &[Was],
        tag: &str,
    ) -> Result<Fields<'a, N>, Diagnostic> {
        let Value::Map(entries) = value else {
            let needed = if *value == Value::Null { "a mapping, {} if all is as usual" } else { "a mapping" };
            return Err(wrong_type(value, needed));
        };
        let mut found = [None; N];
        for (key, given) in entries {
            match keys.iter().position(|known| known == key) {
                Some(place) if found[place].is_none() => found[place] = Some(given),
                Some(_) => {
                    let twice = DescribeProblem::Twice { name: key.clone() };
                    return Err(Diagnostic::new(twice).at(key.as_str()).on_key());
                }
                None if !tag.is_empty() && key == tag => {}
                None => return Err(unknown_field(key, keys, was)),
            }
        }
        Ok(Fields { found, next: 0 })
    }

    /// Was the next field given?
    fn take(&mut self) -> Option<&'a Value> {
        let found = self.found[self.next];
        self.next += 1;
        found
    }

    /// Reads the next field, whose key is `key`; what was not given is `default`, or what its type has for that.
    pub fn read<T: Describe>(
        &mut self,
        key: &'static str,
        default: Option<fn() -> T>,
    ) -> Result<T, Diagnostic> {
        match self.take() {
            Some(given) => T::read(given).at(key),
            None => match default.map(|default| default()).or_else(T::absent) {
                Some(value) => Ok(value),
                None => {
                    let example = T::example().map(|text| format!(", such as {text}")).unwrap_or_default();
                    Err(DescribeProblem::Missing { field: key.to_string(), example }.into())
                }
            },
        }
    }
}

/// A former name of a field, if it had one, and its name.
pub type Was = (Option<&'static str>, &'static str);

/// The entries of a mapping that belong to a record, and those that belong to the record beside it. An unknown key is
/// refused with the keys of both.
pub fn parted<Beside: Record>(
    value: &Value,
    keys: &[&'static str],
    was: &[Was],
    tag: &str,
) -> Result<(Value, Value), Diagnostic> {
    let Value::Map(entries) = value else { return Ok((value.clone(), value.clone())) };
    let (beside, beside_was) = (Beside::keys(), Beside::was());
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (key, given) in entries {
        let entry = (key.clone(), given.clone());
        if keys.contains(&key.as_str()) || (!tag.is_empty() && key == tag) {
            own.push(entry);
        } else if beside.contains(&key.as_str()) {
            others.push(entry);
        } else {
            return Err(unknown_field(key, &[keys, &beside].concat(), &[was, &beside_was].concat()));
        }
    }
    Ok((Value::Map(own), Value::Map(others)))
}

/// A key that is none of `keys`; `was` says what keys of earlier versions are called now.
pub fn unknown_field(key: &str, keys: &[&str], was: &[(Option<&str>, &str)]) -> Diagnostic {
    let problem = match was.iter().find(|(old, _)| *old == Some(key)) {
        Some((_, new)) => DescribeProblem::RenamedField { field: key.into(), new: (*new).into() },
        None => {
            let known = keys.join(", ");
            let hint = match near(key, keys) {
                hint if hint.is_empty() && !keys.is_empty() => format!(" (one of {known})"),
                hint => hint,
            };
            DescribeProblem::UnknownField { field: key.into(), known, hint }
        }
    };
    Diagnostic::new(problem).at(key).on_key()
}

/// A number that a field may hold within bounds.
pub trait Ranged {
    /// Refuses what is outside, in the unit of the type.
    fn check_range(&self, least: i128, most: i128) -> Result<(), Diagnostic>;
}

fn check(value: i128, least: i128, most: i128) -> Result<(), Diagnostic> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let [value, least, most] = [value, least, most].map(|number| number.to_string());
    Err(DescribeProblem::OutOfRange { value, least, most }.into())
}

/// A number that the type of a field cannot hold is outside of the field's bounds, too: those are said.
pub fn within<T>(read: Result<T, Diagnostic>, least: i128, most: i128) -> Result<T, Diagnostic> {
    read.map_err(|found| match found.arguments().as_slice() {
        [("value", Argument::Text(value)), ("least", _), ("most", _)] => {
            let (value, [least, most]) = (value.clone(), [least, most].map(|number| number.to_string()));
            found.with(DescribeProblem::OutOfRange { value, least, most })
        }
        _ => found,
    })
}

macro_rules! ranged {
    ($($int:ty),*) => {
        $(impl Ranged for $int {
            fn check_range(&self, least: i128, most: i128) -> Result<(), Diagnostic> {
                check(*self as i128, least, most)
            }
        })*
    };
}
ranged!(u8, u16, u32, u64, usize, i32, i64);

macro_rules! ranged_quantity {
    ($($quantity:ident),*) => {
        $(impl Ranged for $quantity {
            fn check_range(&self, least: i128, most: i128) -> Result<(), Diagnostic> {
                let value = self.0 as i128;
                if value == 0 && least == 1 {
                    return Err(DescribeProblem::NotAboveZero { value: self.write().shown() }.into());
                }
                if (least..=most).contains(&value) {
                    return Ok(());
                }
                let shown = |number: i128| match $quantity(number as _).write() {
                    Value::Text(text) => text,
                    other => other.shown(),
                };
                Err(DescribeProblem::OutOfRange { value: shown(value), least: shown(least), most: shown(most) }.into())
            }
        })*
    };
}
ranged_quantity!(Rate, Size, Span, Time);

impl<T: Ranged> Ranged for Option<T> {
    fn check_range(&self, least: i128, most: i128) -> Result<(), Diagnostic> {
        self.as_ref().map_or(Ok(()), |value| value.check_range(least, most))
    }
}

impl<T: Ranged> Ranged for Vec<T> {
    fn check_range(&self, least: i128, most: i128) -> Result<(), Diagnostic> {
        self.iter().enumerate().try_for_each(|(index, value)| value.check_range(least, most).at(index))
    }
}
