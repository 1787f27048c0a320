//! What a protocol is told and what it tells, carried through crates that know no protocol.

use crate::protocol::ProtocolId;
use core::any::Any;
use core::fmt::{self, Debug};
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

/// A type of which only one protocol knows what it means: its commands, or its events.
pub trait ProtocolType: Any + Clone + Debug + PartialEq + Send + Sync + Serialize {
    /// The protocol.
    const PROTOCOL: ProtocolId;
}

/// [`ProtocolType`] without its type.
trait Held: Any + Debug + Send + Sync {
    fn protocol(&self) -> ProtocolId;
    fn boxed(&self) -> Box<dyn Held>;
    fn is_same(&self, other: &dyn Any) -> bool;
    fn text(&self) -> serde_json::Result<Box<RawValue>>;
    fn write(&self, to: &mut dyn io::Write) -> serde_json::Result<()>;
}

impl<T: ProtocolType> Held for T {
    fn protocol(&self) -> ProtocolId {
        T::PROTOCOL
    }
    fn boxed(&self) -> Box<dyn Held> {
        Box::new(self.clone())
    }
    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
    fn text(&self) -> serde_json::Result<Box<RawValue>> {
        serde_json::value::to_raw_value(self)
    }
    fn write(&self, to: &mut dyn io::Write) -> serde_json::Result<()> {
        serde_json::to_writer(to, self)
    }
}

/// A value of a [`ProtocolType`]. It keeps its type within a process; one that was read from a recording, or came from
/// another process, takes it on when its protocol asks.
///
/// Written down it is a mapping of one entry, the protocol and the value: `{"rsvp-te": {…}}`.
pub struct ProtocolValue(Form);

enum Form {
    Typed(Box<dyn Held>),
    Written(Box<(ProtocolId, serde_json::Value)>),
}

// A run keeps each of its events, and most are of a protocol.
const _: () = assert!(size_of::<ProtocolValue>() == 16);

impl ProtocolValue {
    /// A value of its protocol.
    pub fn new<T: ProtocolType>(value: T) -> ProtocolValue {
        ProtocolValue(Form::Typed(Box::new(value)))
    }

    /// Whose it is.
    pub fn protocol(&self) -> ProtocolId {
        match &self.0 {
            Form::Typed(held) => held.protocol(),
            Form::Written(written) => written.0,
        }
    }

    /// The value, if it is of this type; nothing if it is another protocol's, or of another type of its protocol.
    pub fn get<T: ProtocolType>(&self) -> Option<&T> {
        match &self.0 {
            Form::Typed(held) => (&**held as &dyn Any).downcast_ref(),
            Form::Written(_) => None,
        }
    }

    /// The same for a value that may have been written down: nothing, too, if what was written is none of the type.
    pub fn read<T: ProtocolType + DeserializeOwned>(&self) -> Option<Cow<'_, T>> {
        match &self.0 {
            Form::Typed(_) => self.get().map(Cow::Borrowed),
            Form::Written(written) if written.0 != T::PROTOCOL => None,
            Form::Written(written) => T::deserialize(&written.1).ok().map(Cow::Owned),
        }
    }

    /// Writes the value without its protocol, as JSON, its entries in the order in which its type declares them.
    pub(crate) fn write_bare(&self, to: &mut dyn io::Write) -> serde_json::Result<()> {
        match &self.0 {
            Form::Typed(held) => held.write(to),
            Form::Written(written) => serde_json::to_writer(to, &written.1),
        }
    }

    /// The value as it was written, if it was read and has not become one of its type.
    pub(crate) fn written(&self) -> Option<&serde_json::Value> {
        match &self.0 {
            Form::Typed(_) => None,
            Form::Written(written) => Some(&written.1),
        }
    }

    /// Writes the value without its protocol.
    pub(crate) fn serialize_bare<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Form::Typed(held) => held.text().map_err(serde::ser::Error::custom)?.serialize(to),
            Form::Written(written) => written.1.serialize(to),
        }
    }
}

impl Serialize for ProtocolValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry(&self.protocol(), &self.0)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ProtocolValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ProtocolValue, D::Error> {
        let mut map = BTreeMap::<ProtocolId, serde_json::Value>::deserialize(from)?;
        match (map.pop_first(), map.is_empty()) {
            (Some(written), true) => Ok(ProtocolValue(Form::Written(Box::new(written)))),
            _ => Err(serde::de::Error::custom("a value of a protocol is a mapping of one entry")),
        }
    }
}

impl Clone for ProtocolValue {
    fn clone(&self) -> ProtocolValue {
        ProtocolValue(match &self.0 {
            Form::Typed(held) => Form::Typed((**held).boxed()),
            Form::Written(written) => Form::Written(written.clone()),
        })
    }
}

/// Values are the same if they are written the same, whether or not they have been.
impl PartialEq for ProtocolValue {
    fn eq(&self, other: &ProtocolValue) -> bool {
        let same = match (&self.0, &other.0) {
            (Form::Typed(a), Form::Typed(b)) => a.is_same(&**b as &dyn Any),
            (a, b) => match (serde_json::to_value(a), serde_json::to_value(b)) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            },
        };
        self.protocol() == other.protocol() && same
    }
}
impl Eq for ProtocolValue {}

impl Debug for ProtocolValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Typed(held) => write!(f, "{} {held:?}", self.protocol()),
            Form::Written(written) => write!(f, "{} {}", written.0, written.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Order {
        Greet { whom: u64 },
        Rest,
    }
    impl ProtocolType for Order {
        const PROTOCOL: ProtocolId = ProtocolId::new("greet");
    }
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Other;
    impl ProtocolType for Other {
        const PROTOCOL: ProtocolId = ProtocolId::new("other");
    }

    #[test]
    fn a_value_keeps_its_type_and_takes_it_on_again_when_it_was_written_down() {
        let order = Order::Greet { whom: u64::MAX };
        let value = ProtocolValue::new(order.clone());
        let text = serde_json::to_string(&value).expect("a text");
        assert_eq!(text, r#"{"greet":{"greet":{"whom":18446744073709551615}}}"#);
        let again: ProtocolValue = serde_json::from_str(&text).expect("a value");
        assert_eq!((again.read().as_deref(), value.get()), (Some(&order), Some(&order)));
        assert_eq!((&again, serde_json::to_string(&again).ok()), (&value, Some(text)));
        assert_eq!((again.get::<Order>(), again.read::<Other>(), value.read::<Other>()), (None, None, None));
        assert!(again != ProtocolValue::new(Order::Rest) && value != ProtocolValue::new(Order::Rest));
        assert_eq!(format!("{value:?} {again:?}"), format!("greet {order:?} {again:?}"));
    }

    #[test]
    fn a_value_is_of_one_protocol() {
        for wrong in ["{}", r#"{"a":1,"b":2}"#, r#"{"A":1}"#, "7"] {
            assert!(serde_json::from_str::<ProtocolValue>(wrong).is_err(), "{wrong}");
        }
        let wrong: ProtocolValue = serde_json::from_str(r#"{"greet":"sleep"}"#).expect("a value");
        assert_eq!(wrong.read::<Order>(), None, "its protocol has no such order");
    }
}
