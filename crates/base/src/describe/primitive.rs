//! Simple values: truth, numbers, names, addresses, what may be absent, lists.

use super::problem::{malformed, wrong_type};
use super::{Describe, DescribeProblem, Schema, Schemas, Value};
use crate::diagnostic::{At, Diagnostic};
use crate::label::Dscp;
use crate::phb::Phb;
use crate::plane::Prefix;
use core::net::Ipv4Addr;
use std::sync::Arc;

impl Describe for Value {
    fn read(value: &Value) -> Result<Value, Diagnostic> {
        Ok(value.clone())
    }
    fn write(&self) -> Value {
        self.clone()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Any
    }
}

impl Describe for bool {
    fn read(value: &Value) -> Result<bool, Diagnostic> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => Err(wrong_type(other, "true or false")),
        }
    }
    fn write(&self) -> Value {
        (*self).into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Bool
    }
}

macro_rules! int {
    ($($int:ty),*) => {
        $(impl Describe for $int {
            fn read(value: &Value) -> Result<$int, Diagnostic> {
                let number = match value {
                    Value::Int(number) => *number,
                    // A whole number that a language without integers wrote.
                    Value::Float(number) if *number == number.trunc() && number.abs() < 1e15 => *number as i128,
                    other => return Err(wrong_type(other, "a whole number")),
                };
                <$int>::try_from(number).map_err(|_| {
                    let [value, least, most] = [number, <$int>::MIN as i128, <$int>::MAX as i128].map(|n| n.to_string());
                    DescribeProblem::OutOfRange { value, least, most }.into()
                })
            }
            fn write(&self) -> Value {
                (*self).into()
            }
            fn schema(_: &mut Schemas) -> Schema {
                Schema::Int { least: <$int>::MIN as i128, most: <$int>::MAX as i128 }
            }
        })*
    };
}
int!(u8, u16, u32, u64, usize, i64);

impl Describe for f64 {
    fn read(value: &Value) -> Result<f64, Diagnostic> {
        match value {
            Value::Float(value) if value.is_finite() => Ok(*value),
            Value::Int(value) => Ok(*value as f64),
            other => Err(wrong_type(other, "a number")),
        }
    }
    fn write(&self) -> Value {
        (*self).into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Number
    }
}

impl Describe for String {
    fn read(value: &Value) -> Result<String, Diagnostic> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            other => Err(wrong_type(other, "a text")),
        }
    }
    fn write(&self) -> Value {
        self.as_str().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: "any text", pattern: None }
    }
}

/// A name of a node, an LSP, a class: it becomes part of names of files and namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub Arc<str>);

/// The most characters of a name: it is a part of names of network namespaces.
const NAME_MAX: usize = 32;

/// Is a text of the form of names? Letters, digits, `-`, `_`, `.` and what `more` allows, the first of them a letter or a digit.
pub fn named(text: &str, more: &[char]) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c) || more.contains(&c);
    (1..=NAME_MAX).contains(&text.len())
        && text.chars().all(inside)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

impl Describe for Name {
    fn read(value: &Value) -> Result<Name, Diagnostic> {
        let text = match value {
            Value::Text(text) => text.clone(),
            // A number in a file where a word is meant: a node called 1.
            Value::Int(number) => number.to_string(),
            other => return Err(wrong_type(other, "a name")),
        };
        if named(&text, &[]) {
            return Ok(Name(text.into()));
        }
        let form =
            "a name: it has up to 32 letters, digits, '-', '_' and '.', and begins with a letter or a digit";
        Err(malformed(&text.into(), form))
    }
    fn write(&self) -> Value {
        (&*self.0).into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: "a name", pattern: Some("^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$") }
    }
}

impl core::ops::Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}
impl core::fmt::Display for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}
impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.into())
    }
}

macro_rules! parsed {
    ($type:ty, $form:literal, $example:literal) => {
        impl Describe for $type {
            fn read(value: &Value) -> Result<$type, Diagnostic> {
                let Value::Text(text) = value else { return Err(malformed(value, $form)) };
                text.parse().map_err(|_| malformed(value, $form))
            }
            fn write(&self) -> Value {
                self.to_string().into()
            }
            fn schema(_: &mut Schemas) -> Schema {
                Schema::Text { form: $form, pattern: None }
            }
            fn example() -> Option<&'static str> {
                Some($example)
            }
        }
    };
}
parsed!(Ipv4Addr, "an IPv4 address such as 10.1.0.1", "10.1.0.1");

impl Describe for Prefix {
    fn read(value: &Value) -> Result<Prefix, Diagnostic> {
        let form = "an IPv4 prefix such as 10.2.0.0/24";
        let text = value.as_text().ok_or_else(|| malformed(value, form))?;
        let prefix: Prefix = text.parse().map_err(|_| malformed(value, form))?;
        let address = text.split_once('/').map_or(text, |(address, _)| address);
        if address.parse() == Ok(prefix.address()) {
            return Ok(prefix);
        }
        Err(malformed(
            value,
            format!("a prefix: it has bits set beyond its length (did you mean '{prefix}'?)"),
        ))
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: "an IPv4 prefix such as 10.2.0.0/24", pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("10.2.0.0/24")
    }
}

/// Of a code point or a PHB.
const CODE_POINTS: &str = "a code point: EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63";

fn code_point(value: &Value) -> Result<Phb, Diagnostic> {
    let found = match value {
        Value::Int(code) => u8::try_from(*code).ok().and_then(Phb::new),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| malformed(value, CODE_POINTS))
}

impl Describe for Dscp {
    fn read(value: &Value) -> Result<Dscp, Diagnostic> {
        code_point(value).map(Phb::dscp)
    }
    fn write(&self) -> Value {
        Phb::of_dscp(*self).write()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::OneOf(vec![
            Schema::Text { form: CODE_POINTS, pattern: None },
            Schema::Int { least: 0, most: 63 },
        ])
    }
    fn example() -> Option<&'static str> {
        Some("EF")
    }
}

impl Describe for Phb {
    fn read(value: &Value) -> Result<Phb, Diagnostic> {
        code_point(value)
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(known: &mut Schemas) -> Schema {
        Dscp::schema(known)
    }
    fn example() -> Option<&'static str> {
        Some("EF")
    }
}

impl<T: Describe> Describe for Option<T> {
    fn read(value: &Value) -> Result<Option<T>, Diagnostic> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }
    fn schema(known: &mut Schemas) -> Schema {
        T::schema(known)
    }
    fn absent() -> Option<Option<T>> {
        Some(None)
    }
    fn example() -> Option<&'static str> {
        T::example()
    }
}

impl<T: Describe> Describe for Box<T> {
    fn read(value: &Value) -> Result<Box<T>, Diagnostic> {
        T::read(value).map(Box::new)
    }
    fn write(&self) -> Value {
        T::write(self)
    }
    fn schema(known: &mut Schemas) -> Schema {
        T::schema(known)
    }
}

impl<T: Describe> Describe for Vec<T> {
    fn read(value: &Value) -> Result<Vec<T>, Diagnostic> {
        let Value::List(elements) = value else { return Err(wrong_type(value, "a list")) };
        elements.iter().enumerate().map(|(index, element)| T::read(element).at(index)).collect()
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(T::write).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::List(Box::new(T::schema(known)), 0)
    }
}

impl<T: Describe + Clone> Describe for Arc<[T]> {
    fn read(value: &Value) -> Result<Arc<[T]>, Diagnostic> {
        Vec::read(value).map(Into::into)
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(T::write).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Vec::<T>::schema(known)
    }
}

impl<T: Describe> Describe for [T; 2] {
    fn read(value: &Value) -> Result<[T; 2], Diagnostic> {
        let Value::List(elements) = value else { return Err(wrong_type(value, "a list of two")) };
        match &elements[..] {
            [a, b] => Ok([T::read(a).at(0)?, T::read(b).at(1)?]),
            other => {
                Err(DescribeProblem::WrongLength { found: other.len(), needed: "two are needed".into() }
                    .into())
            }
        }
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(T::write).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        let element = T::schema(known);
        Schema::Tuple(vec![element.clone(), element])
    }
}

/// Values by name, in the order in which they were written.
impl<T: Describe> Describe for Vec<(Name, T)> {
    fn read(value: &Value) -> Result<Vec<(Name, T)>, Diagnostic> {
        let Value::Map(entries) = value else { return Err(wrong_type(value, "a mapping by name")) };
        let mut found: Vec<(Name, T)> = Vec::with_capacity(entries.len());
        let mut seen = std::collections::BTreeSet::new();
        for (key, value) in entries {
            let name = Name::read(&key.as_str().into()).map_err(Diagnostic::on_key).at(key.as_str())?;
            if !seen.insert(key.as_str()) {
                return Err(Diagnostic::new(DescribeProblem::Twice { name: key.clone() })
                    .at(key.as_str())
                    .on_key());
            }
            found.push((name, T::read(value).at(key.as_str())?));
        }
        Ok(found)
    }
    fn write(&self) -> Value {
        Value::Map(self.iter().map(|(name, value)| (name.to_string(), value.write())).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::Map(Box::new(T::schema(known)))
    }
}
