//! What names a control protocol wherever the crates know none: in commands, in events, in profiles.

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest name of a protocol, in bytes.
const LONGEST: usize = 15;

/// Identifies a control protocol by its name, such as `rsvp-te`: lower-case letters, digits and hyphens, at most 15.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolId([u8; LONGEST]);

impl ProtocolId {
    /// The id of a name that is known when this program is compiled.
    ///
    /// # Panics
    /// If it is no name of a protocol; in a constant, compilation fails.
    pub const fn new(name: &str) -> ProtocolId {
        match ProtocolId::read(name.as_bytes()) {
            Some(id) => id,
            None => panic!("the name of a protocol: 1 to 15 lower-case letters, digits and hyphens"),
        }
    }

    /// Before all ids that name a protocol, in their order.
    pub const LEAST: ProtocolId = ProtocolId([0; LONGEST]);

    const fn read(name: &[u8]) -> Option<ProtocolId> {
        let mut text = [0; LONGEST];
        if name.is_empty() || name.len() > LONGEST {
            return None;
        }
        let mut at = 0;
        while at < name.len() {
            if !matches!(name[at], b'a'..=b'z' | b'0'..=b'9' | b'-') {
                return None;
            }
            text[at] = name[at];
            at += 1;
        }
        Some(ProtocolId(text))
    }

    /// The name.
    pub fn name(&self) -> &str {
        let len = self.0.iter().position(|&byte| byte == 0).unwrap_or(LONGEST);
        core::str::from_utf8(&self.0[..len]).unwrap_or_default()
    }
}

impl fmt::Display for ProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
impl fmt::Debug for ProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProtocolId {
    type Err = String;
    fn from_str(text: &str) -> Result<ProtocolId, String> {
        ProtocolId::read(text.as_bytes())
            .ok_or_else(|| format!("'{text}' is no name of a protocol, such as rsvp-te"))
    }
}

impl Serialize for ProtocolId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}
impl<'de> Deserialize<'de> for ProtocolId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<ProtocolId, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_what_they_print() {
        const ID: ProtocolId = ProtocolId::new("rsvp-te");
        assert_eq!((ID.to_string().parse(), ID.name()), (Ok(ID), "rsvp-te"));
        for wrong in ["", "RSVP", "a b", "sixteen-letters-"] {
            assert!(wrong.parse::<ProtocolId>().is_err(), "{wrong}");
        }
        let text = serde_json::to_string(&ID).expect("text");
        assert_eq!(serde_json::from_str::<ProtocolId>(&text).ok(), Some(ID));
    }
}
