//! IPv6 prefixes: an address and how many of its leading bits count.
//!
//! A type of its own beside [`Prefix`](super::Prefix): tables, filters and the fast path of IPv4 keep their size.

use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// An IPv6 prefix in canonical form: no bits beyond its length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix6 {
    address: Ipv6Addr,
    len: u8,
}

impl Prefix6 {
    /// The prefix of `address` with `len` bits (at most 128); bits beyond are cleared.
    pub fn new(address: Ipv6Addr, len: u8) -> Prefix6 {
        let len = len.min(128);
        Prefix6 { address: Ipv6Addr::from_bits(address.to_bits() & Prefix6::mask_of(len)), len }
    }
    /// The prefix of one address.
    pub fn host(address: Ipv6Addr) -> Prefix6 {
        Prefix6::new(address, 128)
    }
    fn mask_of(len: u8) -> u128 {
        u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0)
    }
    /// The first address of the prefix: the bits after its length are zero.
    pub const fn address(self) -> Ipv6Addr {
        self.address
    }
    /// Number of leading bits that count: 0 to 128.
    #[expect(clippy::len_without_is_empty, reason = "a prefix length is not a size")]
    pub const fn len(self) -> u8 {
        self.len
    }
    /// Is `address` within the prefix?
    pub fn contains(self, address: Ipv6Addr) -> bool {
        address.to_bits() & Prefix6::mask_of(self.len) == self.address.to_bits()
    }
}

impl fmt::Display for Prefix6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}
impl fmt::Debug for Prefix6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl FromStr for Prefix6 {
    type Err = String;
    fn from_str(text: &str) -> Result<Prefix6, String> {
        let (address, len) = text.split_once('/').unwrap_or((text, "128"));
        match (address.parse(), len.parse::<u8>()) {
            (Ok(address), Ok(len)) if len <= 128 => Ok(Prefix6::new(address, len)),
            _ => Err(format!("'{text}' is not an IPv6 prefix such as 2001:db8:1::/64")),
        }
    }
}
impl TryFrom<String> for Prefix6 {
    type Error = String;
    fn try_from(text: String) -> Result<Prefix6, String> {
        text.parse()
    }
}
impl From<Prefix6> for String {
    fn from(prefix: Prefix6) -> String {
        prefix.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_canonical() {
        let p: Prefix6 = "2001:db8:1:2::3/48".parse().expect("a prefix");
        assert_eq!(p.to_string(), "2001:db8:1::/48");
        let within = |text: &str| p.contains(text.parse().expect("an address"));
        assert!(within("2001:db8:1:ffff::1") && !within("2001:db8:2::1"));
        assert!(Prefix6::new(Ipv6Addr::UNSPECIFIED, 0).contains(Ipv6Addr::LOCALHOST));
        assert_eq!("::1".parse::<Prefix6>().expect("a prefix"), Prefix6::host(Ipv6Addr::LOCALHOST));
        assert!("::1/129".parse::<Prefix6>().is_err() && "10.0.0.0/8".parse::<Prefix6>().is_err());
    }
}
