//! What kind of address an IPv6 address is, as far as a router asks (RFC 4291, 2.5 and 2.7).

use core::net::Ipv6Addr;

/// Is it an address of 127/8 as IPv6 has it, to which is sent what tests an LSP (RFC 8029, 2.1)?
#[inline]
pub fn is_mapped_loopback(address: Ipv6Addr) -> bool {
    // ::ffff:127.0.0.0/104.
    address.to_bits() >> 24 == 0x00ff_ff7f
}

/// Link-local, loopback and unspecified addresses are for no other link (RFC 4291, 2.5.2, 2.5.3, 2.5.6), nor are those
/// of 127/8 (RFC 8029, 2.1), and no packet comes from a group (RFC 4291, 2.7).
#[inline]
pub(crate) fn may_be_forwarded(from: Ipv6Addr, to: Ipv6Addr) -> bool {
    let near = |address: Ipv6Addr| address.segments()[0] & 0xffc0 == 0xfe80;
    // All of these begin with 80 zeros, as no other address does that is used.
    let nobody = |address: Ipv6Addr| {
        address.to_bits() >> 48 == 0 && (address.to_bits() <= 1 || is_mapped_loopback(address))
    };
    !(nobody(from) || nobody(to) || near(from) || near(to) || from.is_multicast())
}

/// Does the address name one node, as far as anyone can tell (RFC 4443, 2.4 (e.6))?
pub fn is_single_node(address: Ipv6Addr) -> bool {
    !address.is_multicast() && address.to_bits() > 1
}
