//! What stands at the ends of a link: the same at both, or something at each, written there or known by a name.

use super::{Describe, Name, Schema, Schemas, Value, wrong_type};
use crate::diagnostic::{At, Diagnostic};

/// Something that is written where it is used, or the name under which a network has it.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedOr<T> {
    /// What the name stands for is looked up by whoever knows the network.
    Named(Name),
    /// The thing itself.
    Inline(T),
}

impl<T: Describe> Describe for NamedOr<T> {
    fn read(value: &Value) -> Result<NamedOr<T>, Diagnostic> {
        match value {
            Value::Text(_) => Name::read(value).map(NamedOr::Named),
            Value::Map(_) => T::read(value).map(NamedOr::Inline),
            other => Err(wrong_type(other, "a name, or a mapping that describes it")),
        }
    }
    fn write(&self) -> Value {
        match self {
            NamedOr::Named(name) => name.write(),
            NamedOr::Inline(inline) => inline.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Name::schema(known), T::schema(known)])
    }
}

/// Something for both ends of a link, or for each by the name of the node there.
#[derive(Clone, Debug, PartialEq)]
pub enum AtEnds<T> {
    /// The same at every end where such a thing may stand.
    Both(NamedOr<T>),
    /// By node; an end that is not named has none.
    Each(Vec<(Name, NamedOr<T>)>),
}

/// Keys of a tree of queues and of a conditioner: by them a mapping is told from one by node.
const OWN: [&str; 3] = ["discipline", "root", "rules"];

/// Is it a mapping by node, rather than the description of what stands there?
pub(super) fn is_by_end(value: &Value) -> bool {
    matches!(value, Value::Map(_)) && OWN.iter().all(|key| value.get(key).is_none())
}

impl<T: Describe> Describe for AtEnds<T> {
    fn read(value: &Value) -> Result<AtEnds<T>, Diagnostic> {
        let Value::Map(entries) = value else { return NamedOr::read(value).map(AtEnds::Both) };
        if !is_by_end(value) {
            return NamedOr::read(value).map(AtEnds::Both);
        }
        let entry = |(node, value): &(String, Value)| {
            let name = Name::read(&node.as_str().into()).map_err(Diagnostic::on_key);
            name.and_then(|name| Ok((name, NamedOr::read(value)?))).at(node.as_str())
        };
        entries.iter().map(entry).collect::<Result<_, _>>().map(AtEnds::Each)
    }
    fn write(&self) -> Value {
        match self {
            AtEnds::Both(one) => one.write(),
            AtEnds::Each(entries) => entries.write(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        let Schema::OneOf(mut forms) = NamedOr::<T>::schema(known) else { return Schema::Any };
        forms.push(Schema::Map(Box::new(Schema::OneOf(forms.clone()))));
        Schema::OneOf(forms)
    }
}

impl<T> AtEnds<T> {
    /// What stands at the end where this node is, with the key that it was written under if it was written by node.
    pub fn at(&self, node: &str) -> Option<(Option<&str>, &NamedOr<T>)> {
        match self {
            AtEnds::Both(one) => Some((None, one)),
            AtEnds::Each(entries) => {
                let entry = entries.iter().find(|entry| &*entry.0 == node)?;
                Some((Some(&*entry.0), &entry.1))
            }
        }
    }
}
