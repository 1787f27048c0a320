//! Which Rust types may stand in a column, and as what.

use super::{Column, Type};
use crate::device::DropCounters;
use crate::{Label, MacAddr, PortId, Rate, Span, Time};
use core::fmt::{self, Display};
use core::net::{IpAddr, Ipv4Addr};
use std::borrow::Cow;

/// A value of a column.
pub trait Cell {
    /// What it is in a table.
    const TYPE: Type;
    /// May it be absent?
    const NULLABLE: bool = false;
    /// Appends it to a column of its type.
    fn put(self, to: &mut Column);
}

macro_rules! cells {
    ($($kind:ty => $as:ident, |$value:ident, $to:ident| $push:expr;)*) => {
        $(impl Cell for $kind {
            const TYPE: Type = Type::$as;
            fn put(self, $to: &mut Column) {
                let $value = self;
                $push
            }
        })*
    };
}

cells! {
    bool => Bool, |value, to| to.push_bool(value);
    u8 => U32, |value, to| to.push_u32(u32::from(value));
    u16 => U32, |value, to| to.push_u32(u32::from(value));
    u32 => U32, |value, to| to.push_u32(value);
    u64 => U64, |value, to| to.push_u64(value);
    usize => U64, |value, to| to.push_u64(value as u64);
    i64 => I64, |value, to| to.push_i64(value);
    f64 => F64, |value, to| to.push_f64(value);
    Time => Time, |value, to| to.push_u64(value.0);
    Span => Span, |value, to| to.push_i64(value.0);
    Rate => U64, |value, to| to.push_u64(value.0);
    Label => U32, |value, to| to.push_u32(value.value());
    PortId => U32, |value, to| to.push_u32(u32::from(value.0));
    String => Utf8, |value, to| to.push_str(&value);
    &str => Utf8, |value, to| to.push_str(value);
    Cow<'_, str> => Utf8, |value, to| to.push_str(&value);
    Ipv4Addr => Utf8, |value, to| to.push_text(value);
    IpAddr => Utf8, |value, to| to.push_text(value);
    MacAddr => Utf8, |value, to| to.push_text(value);
}

/// A value that stands in a table as the text that it is displayed as.
pub struct Shown<T>(pub T);

impl<T: Display> Cell for Shown<T> {
    const TYPE: Type = Type::Utf8;
    fn put(self, to: &mut Column) {
        to.push_text(self.0);
    }
}

/// A value that stands in a table with its fields, as JSON.
pub struct Fields<T>(pub T);

impl<T: serde::Serialize> Cell for Fields<T> {
    const TYPE: Type = Type::Json;
    fn put(self, to: &mut Column) {
        // What crosses to users can be written: it has neither maps with other keys than texts nor writers of its own.
        to.push_str(&serde_json::to_string(&self.0).unwrap_or_else(|_| "null".into()));
    }
}

impl<T: Cell> Cell for Option<T> {
    const TYPE: Type = T::TYPE;
    const NULLABLE: bool = true;
    fn put(self, to: &mut Column) {
        match self {
            Some(value) => value.put(to),
            None => to.push_null(),
        }
    }
}

impl<T: Cell> Cell for Vec<T> {
    const TYPE: Type = Type::List(&T::TYPE);
    fn put(self, to: &mut Column) {
        to.push_list(|items| self.into_iter().for_each(|item| item.put(items)));
    }
}

/// Packets dropped by reason: those reasons that occurred.
impl Cell for &DropCounters {
    const TYPE: Type = Type::Map { key: "reason", value: "packets", of: &Type::U64 };
    fn put(self, to: &mut Column) {
        to.push_map(|reasons, packets| {
            for (reason, count) in self.iter() {
                reasons.push_text(word(&reason));
                packets.push_u64(count);
            }
        });
    }
}

impl Cell for DropCounters {
    const TYPE: Type = <&DropCounters as Cell>::TYPE;
    fn put(self, to: &mut Column) {
        (&self).put(to);
    }
}

/// Counts by name: those names whose count is not zero.
pub struct Counts(pub Vec<(String, u64)>);

impl Cell for Counts {
    const TYPE: Type = Type::Map { key: "name", value: "count", of: &Type::U64 };
    fn put(self, to: &mut Column) {
        to.push_map(|names, counts| {
            for (name, count) in self.0.into_iter().filter(|entry| entry.1 > 0) {
                names.push_str(&name);
                counts.push_u64(count);
            }
        });
    }
}

/// Figures by name, for what only some rows of a table have.
pub struct Figures(pub Vec<(&'static str, f64)>);

impl Cell for Figures {
    const TYPE: Type = Type::Map { key: "name", value: "value", of: &Type::F64 };
    fn put(self, to: &mut Column) {
        to.push_map(|names, values| {
            for (name, value) in self.0 {
                names.push_str(name);
                values.push_f64(value);
            }
        });
    }
}

/// The word of a variant without fields, as it is serialised: `buffer-full` for `BufferFull`.
pub fn word(variant: &impl fmt::Debug) -> String {
    let name = format!("{variant:?}");
    let mut made = String::with_capacity(name.len() + 4);
    for (place, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && place > 0 {
            made.push('-');
        }
        made.push(letter.to_ascii_lowercase());
    }
    made
}
