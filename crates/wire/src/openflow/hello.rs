//! HELLO, the first message of both ends. Version 1.0 has no elements; what follows the header is left
//! alone there.

use super::fields::{align, set_len};
use super::{Code, Field, Malformed, Reader, Rest, Version};
use serde::{Deserialize, Serialize};

/// The type of the element that lists versions.
const VERSION_BITMAP: u16 = 1;
/// A HELLO that can't be read has no code of its own: a bad length is the one that fits.
const BAD: Code = Code::BAD_LEN;

/// What an end says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Elements in their order. Without a list of versions all up to that in the header are meant.
    pub elements: Vec<Element>,
}

/// A part of a HELLO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Element {
    /// The versions that are spoken: bit n of the first word stands for version n.
    Versions(Vec<u32>),
    /// An element that is not known, which is left alone.
    Other {
        /// Its type.
        kind: u16,
        /// What it holds.
        data: Rest,
    },
}

impl Hello {
    /// Says which versions are spoken.
    pub fn with(versions: &[Version]) -> Hello {
        let bits = versions.iter().fold(0, |bits, version| bits | 1 << *version as u8);
        Hello { elements: vec![Element::Versions(vec![bits])] }
    }

    /// The version that two ends speak: the highest that both list, or else the lower one of their headers, if it is
    /// spoken here. `theirs` is the version in the header of the other end's HELLO.
    pub fn agree(&self, theirs: u8, ours: &[Version]) -> Option<Version> {
        let bits = self.elements.iter().find_map(|element| match element {
            Element::Versions(words) => Some(words.first().copied().unwrap_or(0)),
            Element::Other { .. } => None,
        });
        match bits {
            Some(bits) => ours.iter().copied().filter(|version| bits >> *version as u8 & 1 == 1).max(),
            None => {
                let highest = ours.iter().copied().max()?;
                let lower = theirs.min(highest as u8);
                ours.iter().copied().find(|version| *version as u8 == lower)
            }
        }
    }
}

impl Field for Hello {
    fn read(from: &mut Reader<'_>) -> Result<Hello, Malformed> {
        let elements = Vec::read(&mut from.or(BAD))?;
        from.rest();
        Ok(Hello { elements })
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.elements.write(to);
    }
}

impl Field for Element {
    fn read(from: &mut Reader<'_>) -> Result<Element, Malformed> {
        let (start, kind, len) = (from.at(), u16::read(from)?, u16::read(from)?);
        let mut part = from.split_from(start, len.into())?;
        let element = match kind {
            VERSION_BITMAP => Element::Versions(Vec::read(&mut part)?),
            _ => Element::Other { kind, data: Rest::read(&mut part)? },
        };
        // The length leaves out the zeros behind the element, and the last one may go without them.
        from.take((usize::from(len).next_multiple_of(8) - usize::from(len)).min(from.len()))?;
        Ok(element)
    }
    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        let kind = match self {
            Element::Versions(_) => VERSION_BITMAP,
            Element::Other { kind, .. } => *kind,
        };
        kind.write(to);
        0u16.write(to);
        match self {
            Element::Versions(words) => words.write(to),
            Element::Other { data, .. } => data.write(to),
        }
        set_len(to, start, start + 2);
        align(to, start);
    }
}
