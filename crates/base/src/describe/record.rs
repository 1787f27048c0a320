//! Declarations of described types.

/// Declares a struct that users describe by a mapping. Of each field it says the meaning (its doc comment), the type,
/// and then, each if it applies and in this order: the key where it differs from the name, the default, the range, what
/// its absence means, its former name.
///
/// ```
/// use twinplane_base as base;
///
/// base::record! {
///     /// A link between two nodes.
///     #[derive(Clone, Debug, PartialEq)]
///     pub struct Link {
///         /// Propagation delay.
///         pub delay: base::Span = base::Span::ZERO;
///         /// Longest packet in bytes, labels included.
///         pub mtu: Option<u32>, in 68..=65_535, absent "9216";
///         /// Cost for shortest paths.
///         pub metric as "cost": u32 = 1, in 1..=65_535, was "weight";
///     }
/// }
/// ```
///
/// A `check path::to::function;` behind the fields names a function from `&Self` to `Result<(), Diagnostic>` that looks
/// at fields together. With `read by hand;` only [`Record`](crate::describe::Record) is implemented, for types that may
/// also be written in other forms. With `read by switch;` users may write `true` for a mapping in which nothing is
/// said; this is the type's default, too, so every field has one.
///
/// A `called "Link"` behind the struct's name says what schemas, and so Python and the documentation, call it, where
/// that is another name.
///
/// A `beside { pub inner: Other }` behind the fields adds a record whose fields users write among those of this one: a
/// rule is a match with a name and actions.
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis struct $name:ident $(called $called:literal)? {
            $(
                $(#[doc = $field_doc:literal])*
                $field_vis:vis $field:ident $(as $key:literal)? : $ty:ty
                $(= $default:expr)? $(, in $least:literal ..= $most:literal)? $(, absent $absent:literal)? $(, was $was:literal)? ;
            )*
        }
        $(beside { $(#[doc = $beside_doc:literal])* $beside_vis:vis $beside:ident : $beside_ty:ty })?
        $(check $check:path;)?
        $(read by $hand:ident;)?
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis struct $name {
            $( $(#[doc = $field_doc])* $field_vis $field: $ty, )*
            $( $(#[doc = $beside_doc])* $beside_vis $beside: $beside_ty, )?
        }

        impl $crate::describe::Record for $name {
            fn keys() -> Vec<&'static str> {
                #[allow(unused_mut, reason = "only records with others beside them have more")]
                let mut keys = vec![$($crate::key_of!($field $(as $key)?)),*];
                $( keys.extend(<$beside_ty as $crate::describe::Record>::keys()); )?
                keys
            }

            fn was() -> Vec<$crate::describe::Was> {
                #[allow(unused_mut, reason = "only records with others beside them have more")]
                let mut was = vec![$(($crate::optional!($($was)?), $crate::key_of!($field $(as $key)?))),*];
                $( was.extend(<$beside_ty as $crate::describe::Record>::was()); )?
                was
            }

            fn read_record(
                value: &$crate::describe::Value,
                tag: &str,
            ) -> Result<$name, $crate::diagnostic::Diagnostic> {
                const KEYS: &[&str] = &[$($crate::key_of!($field $(as $key)?)),*];
                const WAS: &[(Option<&str>, &str)] =
                    &[$(($crate::optional!($($was)?), $crate::key_of!($field $(as $key)?))),*];
                const COUNT: usize = KEYS.len();
                $(
                    let (own, others) = $crate::describe::parted::<$beside_ty>(value, KEYS, WAS, tag)?;
                    let value = &own;
                )?
                #[allow(unused_variables, unused_mut, reason = "a record may have no field")]
                let mut fields = $crate::describe::Fields::<COUNT>::of(
                    value,
                    KEYS.first_chunk::<COUNT>().unwrap_or(&[""; COUNT]),
                    WAS,
                    tag,
                )?;
                $(
                    let key = $crate::key_of!($field $(as $key)?);
                    let $field: Result<$ty, $crate::diagnostic::Diagnostic> =
                        fields.read(key, $crate::optional!($(|| $default)?));
                    $( let $field = $crate::describe::within($field, $least, $most); )?
                    let $field: $ty = $field?;
                    $( $crate::diagnostic::At::at($crate::describe::Ranged::check_range(&$field, $least, $most), key)?; )?
                    let _ = key;
                )*
                $( let $beside = <$beside_ty as $crate::describe::Record>::read_record(&others, "")?; )?
                let made = $name { $($field,)* $($beside,)? };
                $( $check(&made)?; )?
                Ok(made)
            }

            fn record_schema(known: &mut $crate::describe::Schemas) -> $crate::describe::RecordSchema {
                let _ = &known;
                #[allow(unused_mut, reason = "only records with others beside them have more")]
                let mut made = $crate::describe::RecordSchema {
                    meaning: $crate::describe::meaning(&[$($doc),*]),
                    fields: vec![$({
                        let default: Option<$ty> = $crate::optional!($($default)?);
                        let schema = <$ty as $crate::describe::Describe>::schema(known);
                        $( let schema = schema.within($least, $most); )?
                        $crate::describe::Field {
                            key: $crate::key_of!($field $(as $key)?),
                            meaning: $crate::describe::meaning(&[$($field_doc),*]),
                            schema,
                            is_required: default.is_none() && <$ty as $crate::describe::Describe>::absent().is_none(),
                            default: default.as_ref().map($crate::describe::Describe::write),
                            absent: $crate::optional!($($absent)?),
                        }
                    }),*],
                    short: Vec::new(),
                    flat: None,
                };
                $( made.fields.extend(<$beside_ty as $crate::describe::Record>::record_schema(known).fields); )?
                made
            }
        }

        impl $name {
            /// All of its fields that are not absent, by their keys.
            #[allow(dead_code, reason = "types that are written by hand may not need it")]
            fn write_record(&self) -> $crate::describe::Value {
                #[allow(unused_mut, reason = "a record may have no field")]
                let mut entries: Vec<(String, $crate::describe::Value)> = Vec::new();
                $(
                    match $crate::describe::Describe::write(&self.$field) {
                        $crate::describe::Value::Null => {}
                        value => entries.push(($crate::key_of!($field $(as $key)?).to_string(), value)),
                    }
                )*
                $(
                    if let $crate::describe::Value::Map(others) = $crate::describe::Describe::write(&self.$beside) {
                        entries.extend(others);
                    }
                )?
                $crate::describe::Value::Map(entries)
            }
        }

        $crate::record_read!($name, $crate::called!($name $($called)?) $(, $hand)?);
    };
}

/// What is there or not, as an option.
#[doc(hidden)]
#[macro_export]
macro_rules! optional {
    () => {
        None
    };
    ($given:expr) => {
        Some($given)
    };
}

/// The key of a field: what is said behind `as`, else its name.
#[doc(hidden)]
#[macro_export]
macro_rules! key_of {
    ($field:ident as $key:literal) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}

/// What schemas call a type: what is said behind `called`, else its name.
#[doc(hidden)]
#[macro_export]
macro_rules! called {
    ($name:ident $called:literal) => {
        $called
    };
    ($name:ident) => {
        stringify!($name)
    };
}

/// [`Describe`](crate::describe::Describe) of a record that has one form, or `true` for all of its defaults.
#[doc(hidden)]
#[macro_export]
macro_rules! record_read {
    ($name:ident, $called:expr, hand) => {};
    ($name:ident, $called:expr, switch) => {
        impl Default for $name {
            fn default() -> $name {
                let nothing = $crate::describe::Value::Map(Vec::new());
                <$name as $crate::describe::Record>::read_record(&nothing, "")
                    .expect("every field has a default")
            }
        }

        impl $crate::describe::Describe for $name {
            fn read(value: &$crate::describe::Value) -> Result<$name, $crate::diagnostic::Diagnostic> {
                match value {
                    $crate::describe::Value::Bool(true) => Ok(<$name>::default()),
                    $crate::describe::Value::Map(_) => {
                        <$name as $crate::describe::Record>::read_record(value, "")
                    }
                    other => Err($crate::describe::wrong_type(other, "true, or a mapping")),
                }
            }
            fn write(&self) -> $crate::describe::Value {
                self.write_record()
            }
            fn schema(known: &mut $crate::describe::Schemas) -> $crate::describe::Schema {
                known.named($called, |known| {
                    $crate::describe::Named::Record($crate::describe::RecordSchema {
                        short: vec![$crate::describe::Schema::Bool],
                        ..<$name as $crate::describe::Record>::record_schema(known)
                    })
                })
            }
        }
    };
    ($name:ident, $called:expr) => {
        impl $crate::describe::Describe for $name {
            fn read(value: &$crate::describe::Value) -> Result<$name, $crate::diagnostic::Diagnostic> {
                <$name as $crate::describe::Record>::read_record(value, "")
            }
            fn write(&self) -> $crate::describe::Value {
                self.write_record()
            }
            fn schema(known: &mut $crate::describe::Schemas) -> $crate::describe::Schema {
                known.named($called, |known| {
                    $crate::describe::Named::Record(<$name as $crate::describe::Record>::record_schema(known))
                })
            }
        }
    };
}

/// Declares an enum of records that a key tells apart: `Variant(Record) = "word",` for each; behind `or` another word
/// may stand that is taken for it.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis enum $name:ident $(called $called:literal)? by $tag:literal {
            $( $(#[doc = $variant_doc:literal])* $variant:ident($record:ty) = $word:literal $(or $alias:literal)?, )*
        }
        $(read by $hand:ident;)?
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis enum $name { $( $(#[doc = $variant_doc])* $variant($record) ),* }

        impl $name {
            /// The words that tell the variants apart.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word of this variant.
            pub fn word(&self) -> &'static str {
                match self { $( $name::$variant(_) => $word ),* }
            }

            /// Reads it from a mapping.
            #[allow(dead_code, reason = "types that are read by hand may not need it")]
            fn read_choice(value: &$crate::describe::Value) -> Result<$name, $crate::diagnostic::Diagnostic> {
                let word = $crate::describe::tag_of(value, $tag, $name::WORDS)?;
                match word {
                    $(
                        $word $(| $alias)? =>
                            <$record as $crate::describe::Record>::read_record(value, $tag).map($name::$variant),
                    )*
                    _ => Err($crate::describe::unknown_tag(value, $tag, $name::WORDS)),
                }
            }

            /// The mapping, the tag first.
            #[allow(dead_code, reason = "types that are written by hand may not need it")]
            fn write_choice(&self) -> $crate::describe::Value {
                let record = match self { $( $name::$variant(record) => $crate::describe::Describe::write(record) ),* };
                let mut entries = vec![($tag.to_string(), $crate::describe::Value::from(self.word()))];
                if let $crate::describe::Value::Map(fields) = record {
                    entries.extend(fields);
                }
                $crate::describe::Value::Map(entries)
            }

            /// The choice with its records.
            #[allow(dead_code, reason = "types that are read by hand may not need it")]
            fn choice_schema(known: &mut $crate::describe::Schemas) -> $crate::describe::Choice {
                $crate::describe::Choice {
                    meaning: $crate::describe::meaning(&[$($doc),*]),
                    tag: $tag,
                    variants: vec![$( $crate::describe::Variant {
                        word: $word,
                        meaning: $crate::describe::meaning(&[$($variant_doc),*]),
                        record: $crate::describe::named_of::<$record>(known),
                    } ),*],
                    short: Vec::new(),
                }
            }
        }

        $crate::choice_read!($name, $crate::called!($name $($called)?) $(, $hand)?);
    };
}

/// [`Describe`](crate::describe::Describe) of a choice that has one form only.
#[doc(hidden)]
#[macro_export]
macro_rules! choice_read {
    ($name:ident, $called:expr, hand) => {};
    ($name:ident, $called:expr) => {
        impl $crate::describe::Describe for $name {
            fn read(value: &$crate::describe::Value) -> Result<$name, $crate::diagnostic::Diagnostic> {
                $name::read_choice(value)
            }
            fn write(&self) -> $crate::describe::Value {
                self.write_choice()
            }
            fn schema(known: &mut $crate::describe::Schemas) -> $crate::describe::Schema {
                known.named($called, |known| $crate::describe::Named::Choice($name::choice_schema(known)))
            }
        }
    };
}

/// Declares an enum whose variants are words: `Variant = "word",` for each. A former word is named behind `was`; behind
/// the variants `default Variant;` may say which is the default. In recordings it is its word, too.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),* $(,)?)])?
        $vis:vis enum $name:ident {
            $( $(#[doc = $word_doc:literal])* $variant:ident = $word:literal $(was $was:literal)? , )*
        }
        $(default $default:ident;)?
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis enum $name { $( $(#[doc = $word_doc])* $variant ),* }

        impl $name {
            /// Every word, in the order of the declaration.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word as users write it.
            pub const fn word(self) -> &'static str {
                match self { $( $name::$variant => $word ),* }
            }
        }

        $(impl Default for $name {
            fn default() -> $name {
                $name::$default
            }
        })?

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl $crate::describe::serde::Serialize for $name {
            fn serialize<S: $crate::describe::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.word())
            }
        }

        impl<'de> $crate::describe::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::describe::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                $crate::describe::deserialize(from)
            }
        }

        impl $crate::describe::Describe for $name {
            fn read(value: &$crate::describe::Value) -> Result<$name, $crate::diagnostic::Diagnostic> {
                match value.as_text() {
                    $( Some($word) => Ok($name::$variant), )*
                    $( $( Some($was) => Err($crate::describe::DescribeProblem::RenamedWord {
                        word: $was.into(),
                        new: $word.into(),
                    }.into()), )? )*
                    _ => Err($crate::describe::unknown_word(value, $name::WORDS)),
                }
            }
            fn write(&self) -> $crate::describe::Value {
                self.word().into()
            }
            fn schema(_: &mut $crate::describe::Schemas) -> $crate::describe::Schema {
                $crate::describe::Schema::Words(vec![$( $crate::describe::Word {
                    word: $word,
                    meaning: $crate::describe::meaning(&[$($word_doc),*]),
                } ),*])
            }
        }
    };
}

use super::problem::{unknown_word, wrong_type};
use super::{Describe, DescribeProblem, Schema, Schemas, Value, listed};
use crate::diagnostic::{At, Diagnostic};

/// The word under the tag of a choice.
pub fn tag_of<'a>(value: &'a Value, tag: &'static str, words: &[&str]) -> Result<&'a str, Diagnostic> {
    if !matches!(value, Value::Map(_)) {
        return Err(wrong_type(value, format!("a mapping with a {tag}")));
    }
    match value.get(tag) {
        Some(Value::Text(word)) => Ok(word),
        Some(other) => Err(unknown_word(other, words)).at(tag),
        None => {
            let example = format!(": {}", listed(words));
            Err(DescribeProblem::Missing { field: tag.to_string(), example }.into())
        }
    }
}

/// The error of a tag whose word is not known.
pub fn unknown_tag(value: &Value, tag: &'static str, words: &[&str]) -> Diagnostic {
    unknown_word(value.get(tag).unwrap_or(&Value::Null), words).at(tag)
}

/// The name under which a type enters itself among the known ones.
pub fn named_of<T: Describe>(known: &mut Schemas) -> &'static str {
    match T::schema(known) {
        Schema::Named(name) => name,
        _ => "",
    }
}

/// Lets a described type stand in recordings and commands: it is written as users write it.
#[macro_export]
macro_rules! described {
    ($($name:ty),* $(,)?) => {
        $(
            impl $crate::describe::serde::Serialize for $name {
                fn serialize<S: $crate::describe::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    $crate::describe::serde::Serialize::serialize(&$crate::describe::Describe::write(self), to)
                }
            }

            impl<'de> $crate::describe::serde::Deserialize<'de> for $name {
                fn deserialize<D: $crate::describe::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                    $crate::describe::deserialize(from)
                }
            }
        )*
    };
}
