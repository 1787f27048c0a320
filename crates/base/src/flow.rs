//! Flows of IP packets, named by source, destination, protocol, ports and code point.

use crate::label::Dscp;
use crate::plane::IpPrefix;
use core::fmt;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// Which IP packets a filter takes: those that match every field given. One that gives an address takes packets of its
/// family; one with no field at all takes every packet.
///
/// A filter with ports takes no fragment but the first: the others have no ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlowFilter {
    /// Takes packets whose source lies in this prefix; from anywhere if absent.
    pub src: Option<IpPrefix>,
    /// Takes packets whose destination lies in this prefix; to anywhere if absent.
    pub dst: Option<IpPrefix>,
    /// IANA's number: 6 is TCP, 17 is UDP; any if absent.
    pub protocol: Option<u8>,
    /// First and last source port; if absent any, and packets without ports as well.
    pub src_ports: Option<(u16, u16)>,
    /// First and last destination port; if absent any, and packets without ports as well.
    pub dst_ports: Option<(u16, u16)>,
    /// Upper six bits of the second byte of the IPv4 header, or of IPv6's traffic class (RFC 2474, 3); any if absent.
    pub dscp: Option<Dscp>,
}

impl FlowFilter {
    /// Protocols whose headers begin with a source and a destination port: TCP, UDP, DCCP, SCTP, UDP-Lite.
    pub const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

    /// Is it for packets of IPv6 alone? One that gives no address is not.
    pub fn is_ipv6(&self) -> bool {
        [self.src, self.dst].into_iter().flatten().any(|prefix| matches!(prefix, IpPrefix::V6(_)))
    }

    /// Can the filter take any packet at all?
    pub fn check(&self) -> Result<(), FilterError> {
        if of_two_families(self.src, self.dst) {
            return Err(FilterError::TwoFamilies);
        }
        for (which, range) in [("source", self.src_ports), ("destination", self.dst_ports)] {
            let Some((first, last)) = range else { continue };
            if first > last {
                return Err(FilterError::ReversedPorts { which, first, last });
            }
            match self.protocol {
                None => return Err(FilterError::PortsWithoutProtocol),
                Some(protocol) if !FlowFilter::WITH_PORTS.contains(&protocol) => {
                    return Err(FilterError::NoPorts { protocol });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Does the filter take the packet?
    pub fn takes(&self, packet: &FlowKey) -> bool {
        let within = |range: Option<(u16, u16)>, port: Option<u16>| {
            range.is_none_or(|(first, last)| port.is_some_and(|port| (first..=last).contains(&port)))
        };
        self.src.is_none_or(|prefix| prefix.contains(packet.src))
            && self.dst.is_none_or(|prefix| prefix.contains(packet.dst))
            && self.protocol.is_none_or(|protocol| protocol == packet.protocol)
            && self.dscp.is_none_or(|dscp| dscp == packet.dscp)
            && within(self.src_ports, packet.ports.map(|ports| ports.0))
            && within(self.dst_ports, packet.ports.map(|ports| ports.1))
    }
}

/// Are source and destination of different families, so that no packet has both?
pub fn of_two_families(src: Option<IpPrefix>, dst: Option<IpPrefix>) -> bool {
    let is_ipv6 = |prefix: IpPrefix| matches!(prefix, IpPrefix::V6(_));
    src.zip(dst).is_some_and(|(src, dst)| is_ipv6(src) != is_ipv6(dst))
}

/// The fields that are given, or "all".
impl fmt::Display for FlowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = |range: Option<(u16, u16)>| {
            range.map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        };
        let fields = [
            ("from", self.src.map(|p| p.to_string())),
            ("to", self.dst.map(|p| p.to_string())),
            ("protocol", self.protocol.map(|p| p.to_string())),
            ("src-ports", ports(self.src_ports)),
            ("dst-ports", ports(self.dst_ports)),
            ("dscp", self.dscp.map(|d| d.value().to_string())),
        ];
        let mut first = true;
        for (name, value) in fields {
            let Some(value) = value else { continue };
            write!(f, "{}{name} {value}", if first { "" } else { " " })?;
            first = false;
        }
        if first { write!(f, "all") } else { Ok(()) }
    }
}

/// Why a [`FlowFilter`] can take no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// No packet has a source and a destination of different families.
    #[error("a source and a destination of different families: both are of IPv4, or both of IPv6")]
    TwoFamilies,
    /// The last port of a range is below its first.
    #[error("{which} ports {first} to {last}: the last is below the first")]
    ReversedPorts {
        /// The word `source` or `destination`, for the sentence.
        which: &'static str,
        /// Where the range should begin; above `last`.
        first: u16,
        /// Where the range should end; below `first`.
        last: u16,
    },
    /// Ports mean nothing unless the protocol is known.
    #[error("ports without a protocol: say which (6 is TCP, 17 is UDP)")]
    PortsWithoutProtocol,
    /// The protocol has no ports.
    #[error(
        "protocol {protocol} has no ports; TCP (6), UDP (17), DCCP (33), SCTP (132) and UDP-Lite (136) have"
    )]
    NoPorts {
        /// One whose header has no ports: not among [`FlowFilter::WITH_PORTS`].
        protocol: u8,
    },
}

/// What filters look at in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// As the IP header has it: below all labels.
    pub src: IpAddr,
    /// As the IP header has it: below all labels; of the same family.
    pub dst: IpAddr,
    /// IANA's number of what follows the IP header, and the extension headers of IPv6.
    pub protocol: u8,
    /// Source and destination port; nothing in a fragment after the first and in protocols without ports.
    pub ports: Option<(u16, u16)>,
    /// DSCP in the IP header, whatever the TC of a label above it is.
    pub dscp: Dscp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_that_can_take_nothing_are_refused() {
        let tcp = FlowFilter { protocol: Some(6), dst_ports: Some((80, 443)), ..FlowFilter::default() };
        assert_eq!((tcp.check(), FlowFilter::default().check()), (Ok(()), Ok(())));
        let refused = |filter: FlowFilter| filter.check().map_err(|e| e.to_string()).expect_err("refused");
        assert!(refused(FlowFilter { dst_ports: Some((443, 80)), ..tcp }).contains("443 to 80"));
        assert!(refused(FlowFilter { protocol: None, ..tcp }).contains("without a protocol"));
        let two = |src: &str, dst: &str| FlowFilter { src: src.parse().ok(), dst: dst.parse().ok(), ..tcp };
        assert!(refused(two("10.0.0.0/8", "2001:db8::/32")).contains("different families"));
        assert_eq!(two("2001:db8:1::/48", "2001:db8::/32").check(), Ok(()));
        assert!(refused(FlowFilter { protocol: Some(1), ..tcp }).contains("protocol 1 has no ports"));
        assert!(
            refused(FlowFilter { dscp: Some(Dscp::default()), src_ports: Some((2, 1)), ..tcp })
                .contains("source")
        );
    }
}
