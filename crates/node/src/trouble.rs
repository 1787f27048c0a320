//! ICMP errors about TCP segments: what they say, and of which segment.

use control::services::sessions::Trouble;
use core::net::{IpAddr, Ipv4Addr};
use wire::{icmp, icmpv6, ipv4, ipv6};

/// An error about a segment.
pub(crate) struct About<'a> {
    /// Where the segment came from, and where it went.
    pub(crate) ends: (IpAddr, IpAddr),
    /// As much of it as is quoted, from the TCP header on.
    pub(crate) segment: &'a [u8],
    /// What is wrong.
    pub(crate) what: Trouble,
}

/// What a message of ICMP says about a segment, if it says something about one.
pub(crate) fn about<'a>(message: &icmp::Repr<'a>) -> Option<About<'a>> {
    let icmp::Repr::DestinationUnreachable { code, next_hop_mtu, quote } = message else { return None };
    let what = match *code {
        icmp::unreachable::FRAGMENTATION_NEEDED => Trouble::TooBig(*next_hop_mtu),
        icmp::unreachable::PROTOCOL | icmp::unreachable::PORT => Trouble::Unreachable,
        _ => return None,
    };
    // What is quoted need not be the whole packet: a view of one would be refused.
    let &[first, _, _, _, _, _, _, _, _, protocol, _, _, a, b, c, d, e, f, g, h] =
        quote.original.first_chunk()?;
    let ends = (Ipv4Addr::new(a, b, c, d).into(), Ipv4Addr::new(e, f, g, h).into());
    let segment = quote.original.get(usize::from(first & 15) * 4..).unwrap_or_default();
    (protocol == ipv4::Protocol::TCP.0).then_some(About { ends, segment, what })
}

/// The same of ICMPv6.
pub(crate) fn about6<'a>(message: &icmpv6::Repr<'a>) -> Option<About<'a>> {
    let (what, quote) = match message {
        icmpv6::Repr::PacketTooBig { mtu, quote } => {
            (Trouble::TooBig(u16::try_from(*mtu).unwrap_or(u16::MAX)), *quote)
        }
        icmpv6::Repr::DestinationUnreachable { code: icmpv6::unreachable::PORT, quote } => {
            (Trouble::Unreachable, quote.original)
        }
        _ => return None,
    };
    // What is quoted need not be the whole packet.
    let ip = ipv6::Packet::new_header_checked(quote).ok()?;
    let segment = quote.get(ipv6::HEADER_LEN..).unwrap_or_default();
    let ends = (ip.src().into(), ip.dst().into());
    (ip.next_header() == ipv6::Protocol::TCP).then_some(About { ends, segment, what })
}
