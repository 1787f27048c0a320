//! Names, and values by name.

use super::problem::{malformed, wrong_type};
use super::{Describe, DescribeProblem, Schema, Schemas, Value};
use crate::diagnostic::{At, Diagnostic};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most characters of a name: it is a part of names of network namespaces.
const NAME_MAX: usize = 32;

/// Is a text of the form of names? Letters, digits, `-`, `_`, `.` and what `more` allows, the first of them a letter or
/// a digit.
pub fn named(text: &str, more: &[char]) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c) || more.contains(&c);
    (1..=NAME_MAX).contains(&text.len())
        && text.chars().all(inside)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// A type whose values are keys of mappings.
pub trait Key: Describe {
    /// The key as it is written.
    fn text(&self) -> &str;
}

macro_rules! names {
    ($(#[doc = $doc:literal])* $name:ident, $is:expr, $form:expr, $pattern:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Arc<str>);

        impl Describe for $name {
            fn read(value: &Value) -> Result<$name, Diagnostic> {
                let text = match value {
                    Value::Text(text) => text.clone(),
                    // A number in a file where a word is meant: a node called 1.
                    Value::Int(number) => number.to_string(),
                    other => return Err(wrong_type(other, "a name")),
                };
                if $is(&text) { Ok($name(text.into())) } else { Err(malformed(&text.into(), $form)) }
            }
            fn write(&self) -> Value {
                (&*self.0).into()
            }
            fn schema(_: &mut Schemas) -> Schema {
                Schema::Text { form: "a name", pattern: Some($pattern) }
            }
        }

        impl Key for $name {
            fn text(&self) -> &str {
                &self.0
            }
        }
        impl core::ops::Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.into())
            }
        }
    };
}
/// What a name in a file is like.
const FORM: &str =
    "a name: it has up to 32 letters, digits, '-', '_' and '.', and begins with a letter or a digit";

names! {
    /// A name of a node or an LSP. A program may give any; of files more is asked: see [`Name::check`].
    Name, |text: &str| !text.is_empty(), FORM,
    "^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$"
}

impl Name {
    /// Refuses what cannot become part of the names of files and network namespaces.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if named(&self.0, &[]) { Ok(()) } else { Err(malformed(&self.write(), FORM)) }
    }
}

names! {
    /// A name of a class, a rule, a virtual queue: it may look like tc's `1:10`.
    ClassName, |text: &str| named(text, &[':']),
    "a name: it has up to 32 letters, digits, '-', '_', '.' and ':', and begins with a letter or a digit",
    "^[A-Za-z0-9][A-Za-z0-9_.:-]{0,31}$"
}

/// Values by name, in the order in which they were written.
impl<K: Key, T: Describe> Describe for Vec<(K, T)> {
    fn read(value: &Value) -> Result<Vec<(K, T)>, Diagnostic> {
        let Value::Map(entries) = value else { return Err(wrong_type(value, "a mapping by name")) };
        let mut found: Vec<(K, T)> = Vec::with_capacity(entries.len());
        let mut seen = BTreeSet::new();
        for (key, value) in entries {
            let name = K::read(&key.as_str().into()).map_err(Diagnostic::on_key).at(key.as_str())?;
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
        Value::Map(self.iter().map(|(name, value)| (name.text().to_string(), value.write())).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::Map(Box::new(T::schema(known)))
    }
}
