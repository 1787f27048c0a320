//! IPv4 prefixes: an address and how many of its leading bits count.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::Ipv4Addr;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// An IPv4 prefix in canonical form: no bits beyond its length.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    address: Ipv4Addr,
    len: u8,
}

impl Prefix {
    /// The prefix of `address` with `len` bits (at most 32); bits beyond are cleared.
    pub fn new(address: Ipv4Addr, len: u8) -> Prefix {
        let len = len.min(32);
        Prefix { address: Ipv4Addr::from_bits(address.to_bits() & Prefix::mask_of(len)), len }
    }
    /// The prefix of one address.
    pub fn host(address: Ipv4Addr) -> Prefix {
        Prefix::new(address, 32)
    }
    /// Address and length as one number, in the order of prefixes.
    const fn rank(self) -> u64 {
        (self.address.to_bits() as u64) << 8 | self.len as u64
    }
    fn mask_of(len: u8) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0)
    }
    /// The first address of the prefix: the bits after its length are zero.
    pub const fn address(self) -> Ipv4Addr {
        self.address
    }
    /// Number of leading bits that count: 0 to 32.
    #[expect(clippy::len_without_is_empty, reason = "a prefix length is not a size")]
    pub const fn len(self) -> u8 {
        self.len
    }
    /// Is `address` within the prefix?
    pub fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & Prefix::mask_of(self.len) == self.address.to_bits()
    }
}

/// By address, then by length. Tables of many prefixes compare them all the time, so that it takes one comparison.
impl Ord for Prefix {
    #[inline]
    fn cmp(&self, other: &Prefix) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}
impl PartialOrd for Prefix {
    #[inline]
    fn partial_cmp(&self, other: &Prefix) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Hash for Prefix {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.rank());
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}
impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Prefix, String> {
        let (address, len) = text.split_once('/').unwrap_or((text, "32"));
        match (address.parse(), len.parse::<u8>()) {
            (Ok(address), Ok(len)) if len <= 32 => Ok(Prefix::new(address, len)),
            _ => Err(format!("'{text}' is not an IPv4 prefix such as 10.1.0.0/24")),
        }
    }
}
impl TryFrom<String> for Prefix {
    type Error = String;
    fn try_from(text: String) -> Result<Prefix, String> {
        text.parse()
    }
}
impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_canonical() {
        let p: Prefix = "10.1.2.3/16".parse().expect("a prefix");
        assert_eq!(p.to_string(), "10.1.0.0/16");
        assert!(p.contains(Ipv4Addr::new(10, 1, 255, 1)) && !p.contains(Ipv4Addr::new(10, 2, 0, 0)));
        assert!(Prefix::new(Ipv4Addr::UNSPECIFIED, 0).contains(Ipv4Addr::BROADCAST));
        assert!("10.1.2.3/33".parse::<Prefix>().is_err() && "x/8".parse::<Prefix>().is_err());
    }
}
