//! IPv6 addresses of interfaces.

use base::describe::{Describe, Schema, Schemas, Value, malformed};
use base::diagnostic::Diagnostic;
use base::plane::Prefix6;
use core::fmt;
use core::net::Ipv6Addr;

/// An IPv6 address with the length of the prefix that it lies in, such as `2001:db8:1::2/64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress6 {
    /// The interface's own address, beside the link-local one that it makes itself.
    pub address: Ipv6Addr,
    /// Bits of the prefix, 0 to 128.
    pub len: u8,
}

const FORM: &str = "an IPv6 address with a prefix length such as 2001:db8:1::2/64";

impl InterfaceAddress6 {
    /// The prefix that the address lies in.
    pub fn prefix(self) -> Prefix6 {
        Prefix6::new(self.address, self.len)
    }
}

/// May an interface, or a router's loopback, have the address? It is no group, none of those that mean something else,
/// and none of a link's own, which interfaces make themselves (RFC 4291, 2.4).
pub fn is_usable(address: Ipv6Addr) -> bool {
    !(address.is_multicast() || address.is_unicast_link_local() || address.to_bits() <= 1)
}

impl fmt::Display for InterfaceAddress6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

impl Describe for InterfaceAddress6 {
    fn read(value: &Value) -> Result<InterfaceAddress6, Diagnostic> {
        let parts = value.as_text().and_then(|text| text.split_once('/'));
        let parsed = parts.and_then(|(address, len)| Some((address.parse().ok()?, len.parse().ok()?)));
        match parsed {
            Some((address, len)) if len <= 128 => Ok(InterfaceAddress6 { address, len }),
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
        Some("2001:db8:1::2/64")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_length() {
        let of = |text: &str| InterfaceAddress6::read(&text.into());
        assert_eq!(of("2001:db8::2/64").expect("an address").prefix().to_string(), "2001:db8::/64");
        for bad in ["2001:db8::2", "2001:db8::2/129", "10.0.0.1/8", "x/8", ""] {
            assert!(of(bad).is_err(), "{bad}");
        }
        let usable = |text: &str| is_usable(text.parse().expect("an address"));
        assert!(usable("2001:db8::2") && usable("fd00::1"));
        assert!(!usable("fe80::1") && !usable("ff02::1") && !usable("::1") && !usable("::"));
    }
}
