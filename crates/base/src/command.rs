//! What a user (or the engine, for the state of links) tells a device.

use crate::ids::PortId;
use crate::label::Dscp;
use crate::plane::{NextHop, Prefix};
use crate::time::{Rate, Span};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// A hop of an explicit route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RouteHop {
    /// An address of the next node, or a prefix that it lies in.
    pub prefix: Prefix,
    /// May there be other nodes in between (RFC 3209, 4.3.3.1)?
    pub loose: bool,
}

/// Which reservation style the egress is asked for (RFC 2205, 1.3; RFC 3209, 2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReservationStyle {
    /// One reservation per sender.
    FixedFilter,
    /// One reservation shared by the LSPs of a tunnel: what make-before-break needs.
    #[default]
    SharedExplicit,
}

/// Which IPv4 packets a filter takes: those that match every field given. A filter with no field at all takes every packet.
///
/// A filter with ports takes no fragment but the first: the others have no ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlowFilter {
    /// Source addresses.
    pub src: Option<Prefix>,
    /// Destination addresses.
    pub dst: Option<Prefix>,
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// First and last source port.
    pub src_ports: Option<(u16, u16)>,
    /// First and last destination port.
    pub dst_ports: Option<(u16, u16)>,
    /// Differentiated-services code point.
    pub dscp: Option<Dscp>,
}

impl FlowFilter {
    /// Protocols whose headers begin with a source and a destination port: TCP, UDP, DCCP, SCTP, UDP-Lite.
    pub const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

    /// Can the filter take any packet at all?
    pub fn check(&self) -> Result<(), FilterError> {
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
}

/// Why a [`FlowFilter`] can take no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The last port of a range is below its first.
    #[error("{which} ports {first} to {last}: the last is below the first")]
    ReversedPorts {
        /// Source or destination.
        which: &'static str,
        /// First port.
        first: u16,
        /// Last port.
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
        /// IP protocol number.
        protocol: u8,
    },
}

/// A point-to-point tunnel as its head end is asked for it. A tunnel is named by its id and its egress (RFC 3209, 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelSpec {
    /// Name, for people.
    pub name: String,
    /// Tunnel id, unique at the head end towards this egress.
    pub tunnel_id: u16,
    /// The egress's address (its router id).
    pub to: Ipv4Addr,
    /// Explicit routes in order of preference, each without this node itself; an empty one follows the routing table.
    pub routes: Vec<Vec<RouteHop>>,
    /// Bandwidth to reserve.
    pub bandwidth: Rate,
    /// Setup priority, 0 the most urgent (RFC 3209, 4.7).
    pub setup_priority: u8,
    /// Holding priority, 0 the most tenacious; not greater than the setup priority.
    pub holding_priority: u8,
    /// Reservation style.
    pub style: ReservationStyle,
    /// Record the route (RFC 3209, 4.4).
    pub record_route: bool,
    /// Record labels too.
    pub record_labels: bool,
    /// Destinations whose packets take the tunnel.
    pub carries: Vec<Prefix>,
    /// Packets that take the tunnel whatever their destination's route or prefix: looked at before those, while the tunnel
    /// has an LSP.
    #[serde(default)]
    pub filters: Vec<FlowFilter>,
    /// How many times to try again after a failure; without limit if absent.
    pub retry_limit: Option<u32>,
    /// Time before the first retry; it doubles up to `retry_max`.
    pub retry_first: Span,
    /// Longest time between retries.
    pub retry_max: Span,
}

/// Tells a tunnel at its head end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TunnelId {
    /// The egress's address.
    pub to: Ipv4Addr,
    /// The tunnel id.
    pub id: u16,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// The port can be used from now on.
    PortUp(PortId),
    /// The port can't be used from now on.
    PortDown(PortId),
    /// Puts a static route in.
    RouteSet {
        /// Destination.
        prefix: Prefix,
        /// Where to.
        next_hop: NextHop,
    },
    /// Takes a static route out.
    RouteRemove {
        /// Destination.
        prefix: Prefix,
    },
    /// Sets a tunnel up, or changes it: make before break (RFC 3209, 2.5).
    TunnelSet(Box<TunnelSpec>),
    /// Tears a tunnel down and forgets it.
    TunnelRemove(TunnelId),
    /// Signals a new LSP of the tunnel along its preferred route and moves the traffic over when it is up.
    TunnelReoptimise(TunnelId),
    /// Pings, or traces the route to, an address.
    Probe {
        /// Destination.
        to: Ipv4Addr,
        /// Time to live of the request.
        ttl: u8,
        /// Distinguishes this probe from others.
        sequence: u16,
    },
    /// Restarts the device: all state is lost; what was configured is done again.
    Restart,
    /// Begins the programme that a test device was made with.
    Start,
    /// Ends the programme of a test device.
    Stop,
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
        assert!(refused(FlowFilter { protocol: Some(1), ..tcp }).contains("protocol 1 has no ports"));
        assert!(
            refused(FlowFilter { dscp: Some(Dscp::default()), src_ports: Some((2, 1)), ..tcp })
                .contains("source")
        );
    }
}
