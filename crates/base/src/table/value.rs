//! Cells one by one: how a table becomes JSON, or objects of another language.

use super::{Column, Data, Type};
use core::ops::Range;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A cell. Times and spans are picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// The cell is absent.
    Null,
    /// A truth.
    Bool(bool),
    /// A whole number, or a time.
    U64(u64),
    /// A whole number with a sign, or a span.
    I64(i64),
    /// A number.
    F64(f64),
    /// A text.
    Str(&'a str),
    /// A value with fields of its own, as JSON.
    Json(&'a str),
    /// A list: these items of a column.
    List(&'a Column, Range<usize>),
    /// Values by name: these of two columns.
    Map(&'a Column, &'a Column, Range<usize>),
}

impl Column {
    /// The cell at a place.
    pub fn get(&self, place: usize) -> Value<'_> {
        let between = |offsets: &[i64]| offsets[place] as usize..offsets[place + 1] as usize;
        if self.is_null(place) {
            return Value::Null;
        }
        match self.data() {
            Data::Bool(bits) => Value::Bool(bits.get(place)),
            Data::U32(values) => Value::U64(u64::from(values[place])),
            Data::U64(values) => Value::U64(values[place]),
            Data::I64(values) => Value::I64(values[place]),
            Data::F64(values) => Value::F64(values[place]),
            Data::Utf8 { offsets, bytes } => {
                let text = core::str::from_utf8(&bytes[between(offsets)]).unwrap_or_default();
                if self.kind() == Type::Json { Value::Json(text) } else { Value::Str(text) }
            }
            Data::List { offsets, items } => Value::List(items, between(offsets)),
            Data::Map { offsets, keys, values } => Value::Map(keys, values, between(offsets)),
        }
    }

    /// All cells, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        (0..self.len()).map(|place| self.get(place))
    }
}

/// The cells of a column as an array.
impl Serialize for Column {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut cells = to.serialize_seq(Some(self.len()))?;
        for cell in self.iter() {
            cells.serialize_element(&cell)?;
        }
        cells.end()
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_unit(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::U64(value) => to.serialize_u64(*value),
            Value::I64(value) => to.serialize_i64(*value),
            Value::F64(value) => to.serialize_f64(*value),
            Value::Str(value) => to.serialize_str(value),
            Value::Json(text) => {
                let value: serde_json::Value =
                    serde_json::from_str(text).map_err(serde::ser::Error::custom)?;
                value.serialize(to)
            }
            Value::List(items, range) => {
                let mut cells = to.serialize_seq(Some(range.len()))?;
                for place in range.clone() {
                    cells.serialize_element(&items.get(place))?;
                }
                cells.end()
            }
            Value::Map(keys, values, range) => {
                let mut pairs = to.serialize_map(Some(range.len()))?;
                for place in range.clone() {
                    pairs.serialize_entry(&keys.get(place), &values.get(place))?;
                }
                pairs.end()
            }
        }
    }
}
