//! Neighbour discovery (RFC 4861): messages of ICMPv6 by which nodes of a link find each other, and routers.
//!
//! What a message is beyond type, code and checksum is here; the header is [`crate::icmpv6`]'s.

pub mod option;
mod repr;
#[cfg(test)]
mod tests;

pub use option::{NdOption, Options, PrefixInformation};
pub use repr::Repr;

use base::MacAddr;
use core::net::Ipv6Addr;

/// The hop limit of every message: one that a router has forwarded is none (RFC 4861, 7.1.1).
pub const HOP_LIMIT: u8 = 255;
/// All nodes of a link, `ff02::1` (RFC 4291, 2.7.1).
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// All routers of a link, `ff02::2` (RFC 4291, 2.7.1).
pub const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);

/// The group of all nodes whose address ends like `address`: who asks for it, asks there (RFC 4291, 2.7.1).
pub const fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | a as u16, (b as u16) << 8 | c as u16)
}

/// The Ethernet address of an IPv6 group (RFC 2464, 7).
pub const fn group_mac(group: Ipv6Addr) -> MacAddr {
    let [.., a, b, c, d] = group.octets();
    MacAddr([0x33, 0x33, a, b, c, d])
}

/// The link-local address that an interface makes of its Ethernet address (RFC 2464, 4 and 5).
pub const fn link_local(mac: MacAddr) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    Ipv6Addr::new(
        0xfe80,
        0,
        0,
        0,
        ((a ^ 2) as u16) << 8 | b as u16,
        (c as u16) << 8 | 0xff,
        0xfe00 | d as u16,
        (e as u16) << 8 | f as u16,
    )
}
