//! Sets that are written as one element or as a list of them: per-hop behaviours, code points, prefixes.

use super::problem::{DescribeProblem, malformed, wrong_type};
use super::{Describe, Schema, Schemas, Value};
use crate::diagnostic::{At, Diagnostic};
use crate::label::Dscp;
use crate::phb::{Phb, PhbSet, SchedulingClass};

crate::problems! {
    /// What can be wrong with a set.
    pub enum SetProblem {
        /// A list without an element, which would mean nothing.
        Empty { what: String } is OutOfRange, "empty-set", "the list is empty: at least one {what} is needed";
    }
}

/// The elements of a list, or the one value that stands for a list of one, each with its step.
fn elements(value: &Value) -> Vec<(Option<usize>, &Value)> {
    match value {
        Value::List(elements) => elements.iter().enumerate().map(|(index, one)| (Some(index), one)).collect(),
        one => vec![(None, one)],
    }
}

fn each<T>(
    value: &Value,
    what: &str,
    mut read: impl FnMut(&Value) -> Result<T, Diagnostic>,
) -> Result<Vec<T>, Diagnostic> {
    let found = elements(value).into_iter().map(|(index, one)| match index {
        Some(index) => read(one).at(index),
        None => read(one),
    });
    let found: Vec<T> = found.collect::<Result<_, _>>()?;
    if found.is_empty() { Err(SetProblem::Empty { what: what.into() }.into()) } else { Ok(found) }
}

/// The assured-forwarding class that `AF1` to `AF4` name (RFC 2597, 2).
fn class(value: &Value) -> Option<SchedulingClass> {
    let text = value.as_text()?.trim().to_ascii_uppercase();
    let digit = text.strip_prefix("AF")?.parse::<u8>().ok()?;
    (text.len() == 3).then_some(())?;
    Phb::assured(digit, 1).map(Phb::scheduling_class)
}

fn of_class(class: SchedulingClass) -> PhbSet {
    let count = if class.is_group() { 3 } else { 1 };
    (1..=count).map(|precedence| class.with_precedence(precedence)).collect()
}

/// One or several; `AF1` is all of its class.
impl Describe for PhbSet {
    fn read(value: &Value) -> Result<PhbSet, Diagnostic> {
        let one = |value: &Value| match class(value) {
            Some(class) => Ok(of_class(class)),
            None => Phb::read(value).map(|phb| [phb].into_iter().collect()),
        };
        Ok(each(value, "per-hop behaviour", one)?.into_iter().fold(PhbSet::default(), PhbSet::union))
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(|phb| phb.write()).collect())
    }
    fn schema(known: &mut Schemas) -> Schema {
        one_or_more(Phb::schema(known))
    }
    fn example() -> Option<&'static str> {
        Some("EF")
    }
}

/// A scheduling class, by its name or that of one of its behaviours.
impl Describe for SchedulingClass {
    fn read(value: &Value) -> Result<SchedulingClass, Diagnostic> {
        if let Some(class) = class(value) {
            return Ok(class);
        }
        let phb = Phb::read(value).map_err(|_| malformed(value, "one scheduling class, such as EF or AF1"));
        phb.map(Phb::scheduling_class)
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(known: &mut Schemas) -> Schema {
        Phb::schema(known)
    }
    fn example() -> Option<&'static str> {
        Some("AF1")
    }
}

/// Elements of which a single one need not be written as a list. There is at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Several<T>(pub Vec<T>);

impl<T: Describe> Describe for Several<T> {
    fn read(value: &Value) -> Result<Several<T>, Diagnostic> {
        each(value, "element", T::read).map(Several)
    }
    fn write(&self) -> Value {
        self.0.write()
    }
    fn schema(known: &mut Schemas) -> Schema {
        one_or_more(T::schema(known))
    }
    fn example() -> Option<&'static str> {
        T::example()
    }
}

fn one_or_more(element: Schema) -> Schema {
    Schema::OneOf(vec![element.clone(), Schema::List(Box::new(element), 1)])
}

/// First and last of some numbers: `80`, `8000-8999`, or a list of both.
fn range(value: &Value, most: u32, form: &'static str) -> Result<(u32, u32), Diagnostic> {
    let number = |value: &Value| match value {
        Value::Int(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    let found = match value {
        Value::Int(_) => number(value).map(|one| (one, one)),
        Value::Text(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            first.trim().parse().ok().zip(last.trim().parse().ok())
        }
        Value::List(ends) if ends.len() == 2 => number(&ends[0]).zip(number(&ends[1])),
        Value::List(ends) if ends.len() == 1 => number(&ends[0]).map(|one| (one, one)),
        _ => None,
    };
    found.filter(|(first, last)| first <= last && *last <= most).ok_or_else(|| malformed(value, form))
}

macro_rules! ranges {
    ($(#[doc = $doc:literal])* $name:ident, $number:ty, $most:expr, $form:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            /// The lowest that belongs to it.
            pub first: $number,
            /// The highest that belongs to it.
            pub last: $number,
        }

        impl Describe for $name {
            fn read(value: &Value) -> Result<$name, Diagnostic> {
                let (first, last) = range(value, $most as u32, $form)?;
                Ok($name { first: first as $number, last: last as $number })
            }
            fn write(&self) -> Value {
                let $name { first, last } = *self;
                if first == last { first.into() } else { format!("{first}-{last}").into() }
            }
            fn schema(_: &mut Schemas) -> Schema {
                let number = Schema::Int { least: 0, most: $most as i128 };
                Schema::OneOf(vec![
                    number.clone(),
                    Schema::Text { form: $form, pattern: Some("^[0-9]+(-[0-9]+)?$") },
                    Schema::Tuple(vec![number.clone(), number]),
                ])
            }
        }
    };
}
ranges! {
    /// UDP or TCP ports.
    PortRange, u16, u16::MAX, "a port of 0 to 65535, or two such as 8000-8999 with the lower first"
}
ranges! {
    /// Labels of an MPLS stack entry (RFC 3032, 2.1: 20 bits).
    LabelRange, u32, (1 << 20) - 1, "a label of 0 to 1048575, or two such as 100-199 with the lower first"
}

/// An IP protocol, by number or by one of the usual names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(pub u8);

/// Names of IP protocols (IANA).
const PROTOCOLS: [(&str, u8); 6] =
    [("icmp", 1), ("tcp", 6), ("udp", 17), ("dccp", 33), ("sctp", 132), ("udplite", 136)];
const PROTOCOL_FORM: &str = "an IP protocol: icmp, tcp, udp, dccp, sctp, udplite or 0 to 255";

impl Describe for Protocol {
    fn read(value: &Value) -> Result<Protocol, Diagnostic> {
        let found = match value {
            Value::Int(number) => u8::try_from(*number).ok(),
            Value::Text(text) => {
                let name = text.to_ascii_lowercase();
                let known = PROTOCOLS.iter().find(|known| known.0 == name).map(|known| known.1);
                known.or_else(|| name.parse().ok())
            }
            other => return Err(wrong_type(other, "a number of 0 to 255 or a name such as tcp")),
        };
        found.map(Protocol).ok_or_else(|| malformed(value, PROTOCOL_FORM))
    }
    fn write(&self) -> Value {
        let known = PROTOCOLS.iter().find(|known| known.1 == self.0);
        known.map_or_else(|| self.0.into(), |known| known.0.into())
    }
    fn schema(_: &mut Schemas) -> Schema {
        let text = Schema::Text { form: PROTOCOL_FORM, pattern: None };
        Schema::OneOf(vec![text, Schema::Int { least: 0, most: 255 }])
    }
}

/// By code point, the lowest first; each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dscps(pub Vec<Dscp>);

impl Describe for Dscps {
    fn read(value: &Value) -> Result<Dscps, Diagnostic> {
        let mut found = each(value, "code point", Dscp::read)?;
        found.sort_unstable();
        found.dedup();
        Ok(Dscps(found))
    }
    fn write(&self) -> Value {
        self.0.write()
    }
    fn schema(known: &mut Schemas) -> Schema {
        one_or_more(Dscp::schema(known))
    }
}

/// Refuses a name that an earlier element of the same list has.
pub fn refuse_twice<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), Diagnostic> {
    let mut seen = std::collections::BTreeSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            return Err(Diagnostic::new(DescribeProblem::Twice { name: name.into() }).at("name").at(index));
        }
    }
    Ok(())
}
