//! Addresses of interfaces.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use core::fmt;
use core::net::Ipv4Addr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An address with the length of the prefix that it lies in, such as `10.1.0.2/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The interface's own address.
    pub address: Ipv4Addr,
    /// Bits of the prefix, 0 to 32.
    pub len: u8,
}

const FORM: &str = "an IPv4 address with a prefix length such as 10.1.0.2/24";

impl InterfaceAddress {
    /// The prefix that the address lies in.
    pub fn prefix(self) -> Prefix {
        Prefix::new(self.address, self.len)
    }

    /// May an interface on its network have `address`? It lies in the prefix, and is neither its first nor its last
    /// address, unless the prefix has only two (RFC 3021).
    pub fn is_usable(self, address: Ipv4Addr) -> bool {
        let prefix = self.prefix();
        let last = prefix.address().to_bits() | u32::MAX.checked_shr(u32::from(self.len)).unwrap_or(0);
        let ends = [prefix.address().to_bits(), last];
        prefix.contains(address) && (self.len >= 31 || !ends.contains(&address.to_bits()))
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

impl Describe for InterfaceAddress {
    fn read(value: &Value) -> Result<InterfaceAddress, Diagnostic> {
        let parts = value.as_text().and_then(|text| text.split_once('/'));
        let parsed = parts.and_then(|(address, len)| Some((address.parse().ok()?, len.parse().ok()?)));
        match parsed {
            Some((address, len)) if len <= 32 => Ok(InterfaceAddress { address, len }),
            _ => Err(malformed(value, FORM)),
        }
    }
    fn write(&self) -> Value {
        self.to_string().into()
    }
    fn schema(_: &mut Schemas) -> Schema {
        Schema::Text { form: FORM, pattern: None }
    }
    fn example() -> Option<&'static str> {
        Some("10.1.0.2/24")
    }
}

/// In what processes tell each other of nodes, as people write it.
impl Serialize for InterfaceAddress {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for InterfaceAddress {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<InterfaceAddress, D::Error> {
        base::describe::deserialize(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_prefix_are_not_for_interfaces() {
        let of = |text: &str| InterfaceAddress::read(&text.into());
        let at = |last| Ipv4Addr::new(10, 1, 0, last);
        let usable = |text, last| of(text).expect("an address").is_usable(at(last));
        assert!(usable("10.1.0.2/24", 1) && usable("10.1.0.2/24", 254));
        assert!(!usable("10.1.0.2/24", 0) && !usable("10.1.0.2/24", 255));
        assert!(usable("10.1.0.2/31", 2) && usable("10.1.0.2/31", 3) && !usable("10.1.0.2/31", 4));
        assert!(usable("10.1.0.2/0", 0) && usable("10.1.0.2/32", 2));
        for bad in ["10.1.0.2", "10.1.0.2/33", "10.1.0/24", "x/8", ""] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
