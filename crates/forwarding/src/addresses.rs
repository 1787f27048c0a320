//! What kind of address an IPv4 address is: of one host, of everybody on a link, of nobody.

use crate::entry::Kind;
use crate::fib::Fib;
use crate::tables::Forwarding;
use core::net::Ipv4Addr;

impl Forwarding {
    /// Is `to`, for which what is known at `place` is the longest prefix, the broadcast address of a connected
    /// network (RFC 1812, 4.2.3.1), in the form with ones or the obsolete one with zeros? Networks of two addresses
    /// have none (RFC 3021).
    #[inline]
    pub(crate) fn is_network_broadcast(&self, place: Option<u32>, to: Ipv4Addr) -> bool {
        let Some((place, known)) = place.and_then(|place| Some((place, self.fib.get(place)?))) else {
            return false;
        };
        known.active().kind == Kind::Connected && is_broadcast_in(Fib::len_at(place), to)
    }

    /// Do packets to this address go to everybody on one of the node's links?
    pub fn is_broadcast(&self, to: Ipv4Addr) -> bool {
        to.is_broadcast() || self.is_network_broadcast(self.fib.plain(self.fib.find(to), to), to)
    }

    /// Does the address name one host, as far as this node can tell (RFC 1812, 4.3.2.7)?
    pub fn is_single_host(&self, address: Ipv4Addr) -> bool {
        is_unicast(address) && !self.is_broadcast(address)
    }
}

/// Is `to` a broadcast address of its connected network, whose prefix has `len` bits?
#[inline]
pub(crate) fn is_broadcast_in(len: u8, to: Ipv4Addr) -> bool {
    if len > 30 {
        return false;
    }
    let hosts = u32::MAX >> len;
    let host = to.to_bits() & hosts;
    host == hosts || host == 0
}

/// Not on network 0 or 127, not a group, not reserved (RFC 1812, 5.3.7; RFC 6890, 2.2.2).
#[inline]
pub(crate) fn is_unicast(address: Ipv4Addr) -> bool {
    let first = address.octets()[0];
    first.wrapping_sub(1) < 223 && first != 127
}

/// May a packet with these addresses leave its link? The destination is no group address.
#[inline]
pub(crate) fn may_be_forwarded(from: Ipv4Addr, to: Ipv4Addr) -> bool {
    let first = to.octets()[0];
    is_unicast(from) && first != 0 && first != 127
}
