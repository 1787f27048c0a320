//! The IPv6 header as a value.

use super::{HEADER_LEN, LAYER, Packet, Protocol, field};
use crate::error::{Error, Reason};
use base::Dscp;
use core::net::Ipv6Addr;

/// An IPv6 header as a value, without extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Address of the node that made the packet.
    pub src: Ipv6Addr,
    /// Address that the packet is for.
    pub dst: Ipv6Addr,
    /// What follows the header: an extension header, or the payload.
    pub next_header: Protocol,
    /// How many more nodes may forward the packet.
    pub hop_limit: u8,
    /// Differentiated-services code point (RFC 2474).
    pub dscp: Dscp,
    /// The two bits of explicit congestion notification.
    pub ecn: u8,
    /// The flow label, 20 bits; zero says that the sender gave none.
    pub flow_label: u32,
    /// Bytes behind the header, extension headers included.
    pub payload_len: u16,
}

impl Repr {
    /// A header with default forwarding, hop limit 64 and no flow label.
    pub const fn new(src: Ipv6Addr, dst: Ipv6Addr, next_header: Protocol, payload_len: u16) -> Repr {
        Repr { src, dst, next_header, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: 0, flow_label: 0, payload_len }
    }

    /// Reads all fields of a checked packet.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr {
            src: packet.src(),
            dst: packet.dst(),
            next_header: packet.next_header(),
            hop_limit: packet.hop_limit(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            flow_label: packet.flow_label(),
            payload_len: packet.payload_len(),
        })
    }

    /// Bytes of the header.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Bytes of header and payload.
    pub const fn total_len(&self) -> usize {
        HEADER_LEN + self.payload_len as usize
    }

    /// `Ok` if every field fits its bits.
    pub fn check(&self) -> Result<(), Error> {
        let fields = [
            (field::CLASS.start, "ECN", u64::from(self.ecn), 3),
            (field::FLOW.start, "flow label", u64::from(self.flow_label), 0xf_ffff),
        ];
        match fields.into_iter().find(|&(_, _, found, max)| found > max) {
            Some((at, field, found, max)) => {
                Err(Error::new(LAYER, at, Reason::OutOfRange { field, found, min: 0, max }))
            }
            None => Ok(()),
        }
    }

    /// Writes the header to the first 40 bytes of `buffer`. Panics if it is shorter. Fields that don't fit their bits
    /// are cut; see [`Repr::check`].
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(buffer);
        packet.set_traffic_class(self.dscp.to_tos(self.ecn));
        packet.set_flow_label(self.flow_label);
        packet.set_payload_len(self.payload_len);
        packet.set_next_header(self.next_header);
        packet.set_hop_limit(self.hop_limit);
        packet.set_src(self.src);
        packet.set_dst(self.dst);
    }
}
