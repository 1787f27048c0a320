//! What the routing table needs to know of prefixes of a family.

use base::plane::{IpPrefix, NextHop, Prefix, Prefix6, TableOp};
use core::fmt::Debug;
use core::hash::Hash;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A prefix of one family.
pub trait RoutePrefix: Copy + Debug + Eq + Ord + Hash + Into<IpPrefix> {
    /// An address of the family.
    type Address: Copy + Debug + Eq + Ord + Hash + Into<IpAddr>;
    /// Bits of an address.
    const BITS: u8;

    /// The prefix of an address; bits beyond its length are cleared.
    fn of(address: Self::Address, len: u8) -> Self;
    /// The lowest address that the prefix covers.
    fn first(self) -> Self::Address;
    /// The highest address that the prefix covers.
    fn last(self) -> Self::Address;
    /// How many leading bits of an address it fixes: 0 to 32 of IPv4, 0 to 128 of IPv6.
    fn bits(self) -> u8;
    /// The write of a route.
    fn set(self, next_hop: NextHop) -> TableOp;
    /// The write that takes it out.
    fn unset(self) -> TableOp;
}

impl RoutePrefix for Prefix {
    type Address = Ipv4Addr;
    const BITS: u8 = 32;

    fn of(address: Ipv4Addr, len: u8) -> Prefix {
        Prefix::new(address, len)
    }
    fn first(self) -> Ipv4Addr {
        self.address()
    }
    fn last(self) -> Ipv4Addr {
        let beyond = u32::MAX.checked_shr(u32::from(self.len())).unwrap_or(0);
        Ipv4Addr::from_bits(self.address().to_bits() | beyond)
    }
    fn bits(self) -> u8 {
        self.len()
    }
    fn set(self, next_hop: NextHop) -> TableOp {
        TableOp::RouteSet { prefix: self, next_hop }
    }
    fn unset(self) -> TableOp {
        TableOp::RouteRemove { prefix: self }
    }
}

impl RoutePrefix for Prefix6 {
    type Address = Ipv6Addr;
    const BITS: u8 = 128;

    fn of(address: Ipv6Addr, len: u8) -> Prefix6 {
        Prefix6::new(address, len)
    }
    fn first(self) -> Ipv6Addr {
        self.address()
    }
    fn last(self) -> Ipv6Addr {
        let beyond = u128::MAX.checked_shr(u32::from(self.len())).unwrap_or(0);
        Ipv6Addr::from_bits(self.address().to_bits() | beyond)
    }
    fn bits(self) -> u8 {
        self.len()
    }
    fn set(self, next_hop: NextHop) -> TableOp {
        TableOp::Route6Set { prefix: self, next_hop }
    }
    fn unset(self) -> TableOp {
        TableOp::Route6Remove { prefix: self }
    }
}
