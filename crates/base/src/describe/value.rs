//! What a user wrote, before anybody has read anything into it.

use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A value of a YAML or JSON file, or of a Python call. Mappings keep the order in which they were written: nodes are
/// numbered by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing: `null`, or a key without a value.
    #[default]
    Null,
    /// A truth, as YAML and JSON write it: `true` or `false`.
    Bool(bool),
    /// A whole number, however it was written.
    Int(i128),
    /// A number with a fraction, or one that no integer holds.
    Float(f64),
    /// Words, and quantities with a unit.
    Text(String),
    /// Elements in the order in which they were written.
    List(Vec<Value>),
    /// Values by key, in the order in which they were written; no key is there twice.
    Map(Vec<(String, Value)>),
}

/// The longest text of a value that an error shows whole, in characters.
const SHOWN_MAX: usize = 60;

impl Value {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().find(|entry| entry.0 == key).map(|entry| &entry.1),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match self {
            Value::Map(entries) => entries.iter_mut().find(|entry| entry.0 == key).map(|entry| &mut entry.1),
            _ => None,
        }
    }

    /// The element at a place, if this is a list that has it.
    pub fn element(&self, index: usize) -> Option<&Value> {
        match self {
            Value::List(elements) => elements.get(index),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Sets the value of a key of a mapping; a value that is none becomes one.
    pub fn set(&mut self, key: &str, value: Value) {
        if !matches!(self, Value::Map(_)) {
            *self = Value::Map(Vec::new());
        }
        let Value::Map(entries) = self else { return };
        match entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => entries.push((key.to_string(), value)),
        }
    }

    /// A text or a number as errors show it: `'1 Gbit/s'`, `-3`, at most 60 characters; of the others what they are.
    pub fn shown(&self) -> String {
        match self {
            Value::Null => "nothing".into(),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
            Value::Text(text) if text.chars().count() > SHOWN_MAX => {
                format!("'{}...'", text.chars().take(SHOWN_MAX - 3).collect::<String>())
            }
            Value::Text(text) => format!("'{text}'"),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
        }
    }
}

macro_rules! from_int {
    ($($int:ty),*) => {
        $(impl From<$int> for Value {
            fn from(value: $int) -> Value {
                Value::Int(value as i128)
            }
        })*
    };
}
from_int!(u8, u16, u32, u64, usize, i32, i64);
impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}
impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_string())
    }
}
impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_unit(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => to.serialize_i64(value),
                (_, Ok(value)) => to.serialize_u64(value),
                _ => to.serialize_f64(*value as f64),
            },
            Value::Float(value) => to.serialize_f64(*value),
            Value::Text(value) => to.serialize_str(value),
            Value::List(elements) => {
                let mut list = to.serialize_seq(Some(elements.len()))?;
                elements.iter().try_for_each(|element| list.serialize_element(element))?;
                list.end()
            }
            Value::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(Reading)
    }
}

/// Reads a described type out of a file that `serde` reads, such as a recording.
pub fn deserialize<'de, D: Deserializer<'de>, T: super::Describe>(from: D) -> Result<T, D::Error> {
    T::read(&Value::deserialize(from)?).map_err(D::Error::custom)
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = from.next_element()? {
            elements.push(element);
        }
        Ok(Value::List(elements))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = from.next_entry::<String, Value>()? {
            entries.push((key, value));
        }
        Ok(Value::Map(entries))
    }
}
