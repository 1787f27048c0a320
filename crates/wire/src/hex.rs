//! Opaque bytes that people read and write as a string of hexadecimal digits.

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Owned bytes that print and serialise as hexadecimal digits, two a byte, without a separator.
///
/// ```
/// use twinplane_wire::Hex;
/// let bytes: Hex = "94040000".parse().unwrap();
/// assert_eq!(bytes.0, [0x94, 4, 0, 0]);
/// assert_eq!(bytes.to_string(), "94040000");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub Vec<u8>);

impl Hex {
    /// Are there no bytes?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&[u8]> for Hex {
    fn from(bytes: &[u8]) -> Hex {
        Hex(bytes.to_vec())
    }
}
impl AsRef<[u8]> for Hex {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hex({self})")
    }
}

impl FromStr for Hex {
    type Err = String;
    fn from_str(text: &str) -> Result<Hex, String> {
        let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
        let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes.map(Hex).ok_or_else(|| "bytes are written as pairs of hexadecimal digits".to_owned())
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Hex, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_or_foreign_digits_are_refused() {
        assert!("abc".parse::<Hex>().is_err());
        assert!("zz".parse::<Hex>().is_err());
        assert!("aé".parse::<Hex>().is_err());
        assert_eq!("".parse::<Hex>(), Ok(Hex::default()));
        assert_eq!("Ab".parse::<Hex>(), Ok(Hex(vec![0xab])));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn reads_what_it_prints(bytes: Vec<u8>) {
            let hex = Hex(bytes);
            prop_assert_eq!(hex.to_string().parse::<Hex>().unwrap(), hex.clone());
            let json = serde_json::to_string(&hex).unwrap();
            prop_assert_eq!(serde_json::from_str::<Hex>(&json).unwrap(), hex);
        }
    }
}
