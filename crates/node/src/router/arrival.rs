//! IPv4 packets that reach the control processor: what their headers say is read here, once, and handed on.

use super::Router;
use base::device::DropReason;
use base::{Frame, PortId};
use control::protocol::{IpArrival, Over};
use core::ops::Range;
use forwarding::PuntReason;
use forwarding::punt::ip_offset;
use wire::ipv4;

/// An IPv4 packet for this node, or one that was taken out of the stream.
pub(super) struct Ipv4Arrival {
    /// The frame that it came in, in memory that [`Router::recycle`] takes back.
    pub(super) frame: Vec<u8>,
    /// What protocols are told of it.
    pub(super) ip: IpArrival,
    pub(super) protocol: ipv4::Protocol,
    /// Is it one of several fragments?
    pub(super) is_fragment: bool,
    /// Which bytes of the frame follow the IP header.
    pub(super) payload: Range<usize>,
}

impl Ipv4Arrival {
    /// What the packet carries.
    pub(super) fn payload(&self) -> &[u8] {
        self.frame.get(self.payload.clone()).unwrap_or_default()
    }
}

/// Is the packet marked for every router on its way to look at? The reason says so where the forwarding plane has
/// looked; it has not if the packet is for this node.
fn router_alert(reason: PuntReason, options: &[u8]) -> bool {
    match reason {
        PuntReason::RouterAlert { .. } => true,
        PuntReason::Options { .. } => false,
        _ => ipv4::Options::from_bytes(options).is_ok_and(|options| options.router_alert()),
    }
}

impl Router {
    /// Reads the IPv4 packet in a frame that came with so many labels. Nothing if it can't be read: then it is counted.
    pub(super) fn read_ipv4(
        &mut self,
        port: PortId,
        frame: &Frame,
        labels: u8,
        reason: PuntReason,
    ) -> Option<Ipv4Arrival> {
        let frame = self.bytes_of(frame);
        let at = ip_offset(labels);
        let Ok(packet) = ipv4::Packet::new_checked(frame.get(at..).unwrap_or_default()) else {
            self.drop_received(port, DropReason::Malformed);
            return None;
        };
        let protocol = packet.protocol();
        let ip = IpArrival {
            port,
            src: packet.src(),
            dst: packet.dst(),
            ttl: packet.ttl(),
            router_alert: router_alert(reason, packet.options()),
            over: Over::Ip(protocol.0),
        };
        let is_fragment = packet.fragment_offset() != 0 || packet.more_fragments();
        let start = at + packet.header_len();
        let payload = start..start + packet.payload().len();
        Some(Ipv4Arrival { frame, ip, protocol, is_fragment, payload })
    }
}
