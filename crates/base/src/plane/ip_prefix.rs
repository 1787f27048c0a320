//! Prefixes of both families, where people write them.

use super::{Prefix, Prefix6};
use core::fmt;
use core::str::FromStr;

/// A prefix of either family. Tables keep the families apart; people need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpPrefix {
    /// One of IPv4.
    V4(Prefix),
    /// One of IPv6.
    V6(Prefix6),
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IpPrefix::V4(prefix) => prefix.fmt(f),
            IpPrefix::V6(prefix) => prefix.fmt(f),
        }
    }
}

impl FromStr for IpPrefix {
    type Err = String;
    fn from_str(text: &str) -> Result<IpPrefix, String> {
        if text.contains(':') { text.parse().map(IpPrefix::V6) } else { text.parse().map(IpPrefix::V4) }
    }
}
