//! Simple values: truth, numbers, names, addresses, what may be absent, lists.

use super::problem::{malformed, wrong_type};
use super::{Describe, DescribeProblem, Schema, Schemas, Value};
use crate::diagnostic::{At, Diagnostic};
use crate::label::{Dscp, TrafficClass};
use crate::phb::Phb;
use crate::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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
int!(u8, u16, u32, u64, usize, i32, i64);

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
parsed!(IpAddr, "an IPv4 or IPv6 address such as 10.1.0.1", "10.1.0.1");
parsed!(Ipv6Addr, "an IPv6 address such as 2001:db8::1", "2001:db8::1");

impl Describe for IpPrefix {
    fn read(value: &Value) -> Result<IpPrefix, Diagnostic> {
        if !value.as_text().is_some_and(|text| text.contains(':')) {
            return Prefix::read(value).map(IpPrefix::V4);
        }
        let form = "an IPv6 prefix such as 2001:db8:2::/64";
        let text = value.as_text().unwrap_or_default();
        let prefix: Prefix6 = text.parse().map_err(|_| malformed(value, form))?;
        let address = text.split_once('/').map_or(text, |(address, _)| address);
        if address.parse() == Ok(prefix.address()) {
            return Ok(IpPrefix::V6(prefix));
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
        Schema::Text { form: "an IPv4 or IPv6 prefix such as 10.2.0.0/24", pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("10.2.0.0/24")
    }
}

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

const CODE_POINTS: &str = "a code point: EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63";
const PHBS: &str = "a PHB: EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63";

/// A PHB by its name or the number of its code point; `form` says what is needed.
fn code_point(value: &Value, form: &'static str) -> Result<Phb, Diagnostic> {
    let found = match value {
        Value::Int(code) => u8::try_from(*code).ok().and_then(Phb::new),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| malformed(value, form))
}

impl Describe for Dscp {
    fn read(value: &Value) -> Result<Dscp, Diagnostic> {
        code_point(value, CODE_POINTS).map(Phb::dscp)
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

impl Describe for TrafficClass {
    fn read(value: &Value) -> Result<TrafficClass, Diagnostic> {
        let found = match value {
            Value::Int(tc) => u8::try_from(*tc).ok().and_then(TrafficClass::new),
            _ => None,
        };
        found.ok_or_else(|| malformed(value, "a TC: the bits of a label are 0 to 7"))
    }
    fn write(&self) -> Value {
        self.value().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Int { least: 0, most: 7 }
    }
}

impl Describe for Phb {
    fn read(value: &Value) -> Result<Phb, Diagnostic> {
        code_point(value, PHBS)
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Schema::Text { form: PHBS, pattern: None }, Schema::Int { least: 0, most: 63 }])
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
        // Collected as results it would grow by doubling, and keep what it has too much.
        let mut read = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            read.push(T::read(element).at(index)?);
        }
        Ok(read)
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
