//! Prefixes of both families, where people write them.

use super::{Prefix, Prefix6};
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// A prefix of either family. Tables keep the families apart; people need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum IpPrefix {
    /// One of IPv4.
    V4(Prefix),
    /// One of IPv6.
    V6(Prefix6),
}

impl IpPrefix {
    /// The first address of the prefix: the bits after its length are zero.
    pub const fn address(self) -> IpAddr {
        match self {
            IpPrefix::V4(prefix) => IpAddr::V4(prefix.address()),
            IpPrefix::V6(prefix) => IpAddr::V6(prefix.address()),
        }
    }

    /// Is `address` within the prefix? One of the other family never is.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self, address) {
            (IpPrefix::V4(prefix), IpAddr::V4(address)) => prefix.contains(address),
            (IpPrefix::V6(prefix), IpAddr::V6(address)) => prefix.contains(address),
            _ => false,
        }
    }
}

impl From<Prefix> for IpPrefix {
    fn from(prefix: Prefix) -> IpPrefix {
        IpPrefix::V4(prefix)
    }
}

impl From<Prefix6> for IpPrefix {
    fn from(prefix: Prefix6) -> IpPrefix {
        IpPrefix::V6(prefix)
    }
}

impl TryFrom<String> for IpPrefix {
    type Error = String;
    fn try_from(text: String) -> Result<IpPrefix, String> {
        text.parse()
    }
}

impl From<IpPrefix> for String {
    fn from(prefix: IpPrefix) -> String {
        prefix.to_string()
    }
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
