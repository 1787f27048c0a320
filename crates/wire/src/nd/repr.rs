//! Messages of neighbour discovery as values.

use super::{HOP_LIMIT, Options};
use crate::error::{Error, Reason};
use crate::icmpv6::{HEADER_LEN, Type};
use crate::ipv6;
use core::net::Ipv6Addr;

const LAYER: &str = "icmpv6";
/// Bytes of an address.
const ADDRESS: usize = 16;

/// A message as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repr<'a> {
    /// Asks the routers of the link to advertise themselves now.
    RouterSolicitation {
        /// With the sender's Ethernet address, if it has an address.
        options: Options<'a>,
    },
    /// A router says that it is there, and what holds on the link.
    RouterAdvertisement {
        /// Hop limit for hosts to send with; zero says nothing of it.
        hop_limit: u8,
        /// Are addresses to be had by DHCPv6?
        managed: bool,
        /// Is other configuration to be had by DHCPv6?
        other: bool,
        /// Seconds for which the router is a default router; zero: it is none.
        lifetime_s: u16,
        /// Milliseconds for which a neighbour is reachable after it was confirmed; zero says nothing of it.
        reachable_ms: u32,
        /// Milliseconds between solicitations; zero says nothing of it.
        retransmit_ms: u32,
        /// Prefixes and MTU of the link, and the router's Ethernet address.
        options: Options<'a>,
    },
    /// Asks who has an address.
    NeighborSolicitation {
        /// The address asked for.
        target: Ipv6Addr,
        /// With the sender's Ethernet address, unless it has no address yet.
        options: Options<'a>,
    },
    /// Says who has an address.
    NeighborAdvertisement {
        /// Is the sender a router?
        router: bool,
        /// Does it answer a solicitation?
        solicited: bool,
        /// Does its Ethernet address replace one that is known?
        replaces: bool,
        /// The address that the sender has.
        target: Ipv6Addr,
        /// With its Ethernet address.
        options: Options<'a>,
    },
    /// A router names a better first hop.
    Redirect {
        /// The better first hop; the destination itself, if that is a neighbour.
        target: Ipv6Addr,
        /// What is better reached by it.
        destination: Ipv6Addr,
        /// With the target's Ethernet address and the packet that was redirected.
        options: Options<'a>,
    },
}

impl<'a> Repr<'a> {
    /// Reads what follows the checksum of a message of this type with code zero. Reserved bits are ignored.
    pub fn parse(icmp_type: Type, rest: [u8; 4], data: &'a [u8]) -> Result<Repr<'a>, Error> {
        let truncated = |needed| Error::truncated(LAYER, HEADER_LEN + needed, HEADER_LEN + data.len());
        let options = |at: usize| {
            let bytes = data.get(at..).ok_or_else(|| truncated(at))?;
            Options::parse(bytes, at)
        };
        let address = |at: usize| {
            let octets = data.get(at..).and_then(|data| data.first_chunk::<ADDRESS>());
            octets.map(|octets| Ipv6Addr::from(*octets)).ok_or_else(|| truncated(at + ADDRESS))
        };
        let word = |at: usize| {
            let octets = data.get(at..).and_then(|data| data.first_chunk::<4>());
            octets.map(|octets| u32::from_be_bytes(*octets)).ok_or_else(|| truncated(8))
        };
        let [flags, more, high, low] = rest;
        Ok(match icmp_type {
            Type::ROUTER_SOLICITATION => Repr::RouterSolicitation { options: options(0)? },
            Type::ROUTER_ADVERTISEMENT => Repr::RouterAdvertisement {
                hop_limit: flags,
                managed: more & 0x80 != 0,
                other: more & 0x40 != 0,
                lifetime_s: u16::from_be_bytes([high, low]),
                reachable_ms: word(0)?,
                retransmit_ms: word(4)?,
                options: options(8)?,
            },
            Type::NEIGHBOR_SOLICITATION => {
                Repr::NeighborSolicitation { target: address(0)?, options: options(ADDRESS)? }
            }
            Type::NEIGHBOR_ADVERTISEMENT => Repr::NeighborAdvertisement {
                router: flags & 0x80 != 0,
                solicited: flags & 0x40 != 0,
                replaces: flags & 0x20 != 0,
                target: address(0)?,
                options: options(ADDRESS)?,
            },
            Type::REDIRECT => Repr::Redirect {
                target: address(0)?,
                destination: address(ADDRESS)?,
                options: options(2 * ADDRESS)?,
            },
            other => {
                let (found, expected) = (other.0.into(), Type::NEIGHBOR_SOLICITATION.0.into());
                return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "type", found, expected }));
            }
        })
    }

    /// May a message with this IPv6 header be believed (RFC 4861, 6.1.1, 6.1.2, 7.1.1, 7.1.2 and 8.1)? What fails is
    /// silently discarded.
    pub fn check(&self, ip: &ipv6::Repr) -> Result<(), Error> {
        let invalid = |clause| Err(Error::invalid(LAYER, 0, clause));
        if ip.hop_limit != HOP_LIMIT {
            return invalid("a message of neighbour discovery has the hop limit 255");
        }
        match self {
            Repr::RouterSolicitation { options } => {
                if ip.src.is_unspecified() && options.source().is_some() {
                    return invalid("who has no address says no link-layer address");
                }
            }
            Repr::RouterAdvertisement { .. } | Repr::Redirect { .. } if !ip.src.is_unicast_link_local() => {
                return invalid("a router speaks from its link-local address");
            }
            Repr::NeighborSolicitation { target, options } => {
                if target.is_multicast() {
                    return invalid("the target is a group");
                }
                let anywhere = ip.dst != super::solicited_node(*target);
                if ip.src.is_unspecified() && (anywhere || options.source().is_some()) {
                    return invalid("who has no address asks the solicited-node group, and says no address");
                }
            }
            Repr::NeighborAdvertisement { solicited, target, .. } => {
                if target.is_multicast() {
                    return invalid("the target is a group");
                }
                if ip.dst.is_multicast() && *solicited {
                    return invalid("what goes to a group answers nobody");
                }
            }
            Repr::RouterAdvertisement { .. } => {}
            Repr::Redirect { target, destination, .. } => {
                if destination.is_multicast() || (target != destination && !target.is_unicast_link_local()) {
                    return invalid("a redirect names a host's address and a neighbour");
                }
            }
        }
        Ok(())
    }

    /// The type that the message has on the wire.
    pub const fn icmp_type(&self) -> Type {
        match self {
            Repr::RouterSolicitation { .. } => Type::ROUTER_SOLICITATION,
            Repr::RouterAdvertisement { .. } => Type::ROUTER_ADVERTISEMENT,
            Repr::NeighborSolicitation { .. } => Type::NEIGHBOR_SOLICITATION,
            Repr::NeighborAdvertisement { .. } => Type::NEIGHBOR_ADVERTISEMENT,
            Repr::Redirect { .. } => Type::REDIRECT,
        }
    }

    /// The options of the message.
    pub const fn options(&self) -> Options<'a> {
        match *self {
            Repr::RouterSolicitation { options }
            | Repr::RouterAdvertisement { options, .. }
            | Repr::NeighborSolicitation { options, .. }
            | Repr::NeighborAdvertisement { options, .. }
            | Repr::Redirect { options, .. } => options,
        }
    }

    /// Bytes in front of the options, behind the header of ICMPv6.
    const fn fixed_len(&self) -> usize {
        match self {
            Repr::RouterSolicitation { .. } => 0,
            Repr::RouterAdvertisement { .. } => 8,
            Repr::NeighborSolicitation { .. } | Repr::NeighborAdvertisement { .. } => ADDRESS,
            Repr::Redirect { .. } => 2 * ADDRESS,
        }
    }

    /// Bytes behind the header of ICMPv6.
    pub(crate) const fn payload_len(&self) -> usize {
        self.fixed_len() + self.options().as_bytes().len()
    }

    /// Writes what follows the header of ICMPv6 to all of `buffer`; returns the four bytes behind the checksum.
    pub(crate) fn emit(&self, buffer: &mut [u8]) -> [u8; 4] {
        let (fixed, options) = buffer.split_at_mut(self.fixed_len());
        options.copy_from_slice(self.options().as_bytes());
        match *self {
            Repr::RouterSolicitation { .. } => [0; 4],
            Repr::RouterAdvertisement {
                hop_limit,
                managed,
                other,
                lifetime_s,
                reachable_ms,
                retransmit_ms,
                ..
            } => {
                fixed[..4].copy_from_slice(&reachable_ms.to_be_bytes());
                fixed[4..].copy_from_slice(&retransmit_ms.to_be_bytes());
                let [high, low] = lifetime_s.to_be_bytes();
                [hop_limit, u8::from(managed) << 7 | u8::from(other) << 6, high, low]
            }
            Repr::NeighborSolicitation { target, .. } => {
                fixed.copy_from_slice(&target.octets());
                [0; 4]
            }
            Repr::NeighborAdvertisement { router, solicited, replaces, target, .. } => {
                fixed.copy_from_slice(&target.octets());
                [u8::from(router) << 7 | u8::from(solicited) << 6 | u8::from(replaces) << 5, 0, 0, 0]
            }
            Repr::Redirect { target, destination, .. } => {
                fixed[..ADDRESS].copy_from_slice(&target.octets());
                fixed[ADDRESS..].copy_from_slice(&destination.octets());
                [0; 4]
            }
        }
    }
}
