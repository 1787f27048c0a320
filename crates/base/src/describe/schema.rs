//! What may be written where, as data: generators make the editors' schema, the Python model and the reference page
//! from it.

use super::Value;
use core::fmt::Write;

/// What may stand at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// Anything: it is read by somebody else.
    Any,
    /// A truth, as YAML and JSON write it: `true` or `false`.
    Bool,
    /// A text of some form.
    Text {
        /// The form in words, such as "an IPv4 address".
        form: &'static str,
        /// A regular expression for editors, if the form has one that helps.
        pattern: Option<&'static str>,
    },
    /// A whole number within bounds.
    Int {
        /// The least number that is taken.
        least: i128,
        /// The greatest number that is taken.
        most: i128,
    },
    /// A finite number, whole or not.
    Number,
    /// A number in the base unit, or a text with a unit.
    Quantity {
        /// `time`, `rate` or `size`.
        kind: &'static str,
        /// The base unit: `s`, `bit/s` or `B`.
        unit: &'static str,
    },
    /// One of some words.
    Words(Vec<Word>),
    /// Elements alike, at least so many.
    List(Box<Schema>, usize),
    /// As many elements as there are schemas, each of its own kind.
    Tuple(Vec<Schema>),
    /// Values alike by name.
    Map(Box<Schema>),
    /// A value that one of these takes.
    OneOf(Vec<Schema>),
    /// A record or a choice among [`Schemas`], by name.
    Named(&'static str),
}

/// A word of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// As it is written.
    pub word: &'static str,
    /// What the word means: a sentence for users.
    pub meaning: String,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Key in files, and keyword in Python.
    pub key: &'static str,
    /// What it means, with its unit.
    pub meaning: String,
    /// What may stand there.
    pub schema: Schema,
    /// It cannot be left out.
    pub is_required: bool,
    /// What it is when it is left out, if that is a value.
    pub default: Option<Value>,
    /// What happens when it is left out, in words, if that is no value.
    pub absent: Option<&'static str>,
}

/// A mapping with known keys.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSchema {
    /// What it describes: a sentence for users.
    pub meaning: String,
    /// Its fields, in the order of their declaration.
    pub fields: Vec<Field>,
    /// Other forms in which it may be written.
    pub short: Vec<Schema>,
    /// The key of a field whose own fields may stand beside the others, instead of under it.
    pub flat: Option<&'static str>,
}

/// A variant of a [`Choice`].
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The value of the tag.
    pub word: &'static str,
    /// What the word means: a sentence for users.
    pub meaning: String,
    /// Its record among [`Schemas`].
    pub record: &'static str,
}

/// One of several records, told apart by the value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it describes: a sentence for users.
    pub meaning: String,
    /// The key whose value says which record it is, such as `kind`.
    pub tag: &'static str,
    /// The records, each with its word.
    pub variants: Vec<Variant>,
    /// Other forms in which it may be written.
    pub short: Vec<Schema>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// A mapping with known keys.
    Record(RecordSchema),
    /// A choice of records.
    Choice(Choice),
}

/// All types that have a name, in the order in which they were first met.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    entries: Vec<(&'static str, Option<Named>)>,
}

impl Schemas {
    /// Enters a type if it is not known yet, and returns the reference to it. Types may contain themselves.
    pub fn named(&mut self, name: &'static str, make: impl FnOnce(&mut Schemas) -> Named) -> Schema {
        if !self.entries.iter().any(|entry| entry.0 == name) {
            let place = self.entries.len();
            self.entries.push((name, None));
            let made = make(self);
            self.entries[place].1 = Some(made);
        }
        Schema::Named(name)
    }

    /// Changes the fields of a record that is known, for schemas whose parts come from several rooms.
    pub fn amend(&mut self, record: &str, mut change: impl FnMut(&mut Field)) {
        let known = self.entries.iter_mut().find(|entry| entry.0 == record);
        if let Some((_, Some(Named::Record(found)))) = known {
            found.fields.iter_mut().for_each(&mut change);
        }
    }

    /// The types with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Named)> {
        self.entries.iter().filter_map(|(name, entry)| Some((*name, entry.as_ref()?)))
    }

    /// All of it as a value: what generators outside of Rust read.
    pub fn write(&self) -> Value {
        Value::Map(self.iter().map(|(name, named)| (name.to_string(), written(named))).collect())
    }
}

/// The lines of a doc comment as one text: a line that begins with a blank goes on with the sentence before it.
pub fn meaning(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let line = line.trim();
        if line.is_empty() {
            text.push('\n');
            continue;
        }
        let glue = if text.is_empty() || text.ends_with('\n') { "" } else { " " };
        let _ = write!(text, "{glue}{line}");
    }
    text.trim_end().to_string()
}

fn map(entries: Vec<(&str, Value)>) -> Value {
    let said = entries.into_iter().filter(|entry| entry.1 != Value::Null);
    Value::Map(said.map(|(key, value)| (key.to_string(), value)).collect())
}

fn all(schemas: &[Schema]) -> Value {
    Value::List(schemas.iter().map(Schema::write).collect())
}

fn written(named: &Named) -> Value {
    match named {
        Named::Record(record) => {
            let field = |field: &Field| {
                map(vec![
                    ("key", field.key.into()),
                    ("meaning", field.meaning.clone().into()),
                    ("schema", field.schema.write()),
                    ("required", field.is_required.into()),
                    ("default", field.default.clone().unwrap_or_default()),
                    ("absent", field.absent.map_or(Value::Null, Value::from)),
                ])
            };
            map(vec![
                ("kind", "record".into()),
                ("meaning", record.meaning.clone().into()),
                ("fields", Value::List(record.fields.iter().map(field).collect())),
                ("short", all(&record.short)),
                ("flat", record.flat.map_or(Value::Null, Value::from)),
            ])
        }
        Named::Choice(choice) => {
            let variant = |variant: &Variant| {
                map(vec![
                    ("word", variant.word.into()),
                    ("meaning", variant.meaning.clone().into()),
                    ("record", variant.record.into()),
                ])
            };
            map(vec![
                ("kind", "choice".into()),
                ("meaning", choice.meaning.clone().into()),
                ("tag", choice.tag.into()),
                ("variants", Value::List(choice.variants.iter().map(variant).collect())),
                ("short", all(&choice.short)),
            ])
        }
    }
}

impl Schema {
    /// As a value: `{kind: int, least: 0, most: 7}`.
    pub fn write(&self) -> Value {
        match self {
            Schema::Any => map(vec![("kind", "any".into())]),
            Schema::Bool => map(vec![("kind", "bool".into())]),
            Schema::Text { form, pattern } => map(vec![
                ("kind", "text".into()),
                ("form", (*form).into()),
                ("pattern", pattern.map_or(Value::Null, Value::from)),
            ]),
            Schema::Int { least, most } => {
                map(vec![("kind", "int".into()), ("least", Value::Int(*least)), ("most", Value::Int(*most))])
            }
            Schema::Number => map(vec![("kind", "number".into())]),
            Schema::Quantity { kind, unit } => {
                map(vec![("kind", "quantity".into()), ("quantity", (*kind).into()), ("unit", (*unit).into())])
            }
            Schema::Words(words) => {
                let word = |word: &Word| {
                    map(vec![("word", word.word.into()), ("meaning", word.meaning.clone().into())])
                };
                map(vec![("kind", "words".into()), ("words", Value::List(words.iter().map(word).collect()))])
            }
            Schema::List(element, least) => {
                map(vec![("kind", "list".into()), ("element", element.write()), ("least", (*least).into())])
            }
            Schema::Tuple(elements) => map(vec![("kind", "tuple".into()), ("elements", all(elements))]),
            Schema::Map(element) => map(vec![("kind", "map".into()), ("element", element.write())]),
            Schema::OneOf(schemas) => map(vec![("kind", "one-of".into()), ("of", all(schemas))]),
            Schema::Named(name) => map(vec![("kind", "named".into()), ("name", (*name).into())]),
        }
    }

    /// The same with bounds on its numbers.
    pub fn within(self, least: i128, most: i128) -> Schema {
        match self {
            Schema::Int { .. } => Schema::Int { least, most },
            Schema::List(element, count) => Schema::List(Box::new(element.within(least, most)), count),
            other => other,
        }
    }
}
