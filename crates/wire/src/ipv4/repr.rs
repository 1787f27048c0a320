//! The IPv4 header as a value.

use super::{LAYER, MAX_TOTAL_LEN, MIN_HEADER_LEN, Options, Packet, Protocol, field};
use crate::error::{Error, Reason};
use base::Dscp;
use core::net::Ipv4Addr;

/// An IPv4 header as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Address of the node that made the packet.
    pub src: Ipv4Addr,
    /// Address that the packet is for.
    pub dst: Ipv4Addr,
    /// What the payload is.
    pub protocol: Protocol,
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    pub ttl: u8,
    /// Differentiated-services code point (RFC 2474).
    pub dscp: Dscp,
    /// The two bits of explicit congestion notification.
    pub ecn: u8,
    /// The identification that fragments share.
    pub ident: u16,
    /// May no router fragment it?
    pub dont_fragment: bool,
    /// True in all fragments but the last.
    pub more_fragments: bool,
    /// Where in the original payload this fragment starts, in units of eight bytes.
    pub fragment_offset: u16,
    /// Bytes of payload; with the header at most 65,535.
    pub payload_len: u16,
    /// The options behind the fixed header; mostly none.
    pub options: Options,
}

impl Repr {
    /// A whole packet without options, default forwarding, time to live 64, identification zero.
    pub const fn new(src: Ipv4Addr, dst: Ipv4Addr, protocol: Protocol, payload_len: u16) -> Repr {
        Repr {
            src,
            dst,
            protocol,
            ttl: 64,
            dscp: Dscp::DEFAULT,
            ecn: 0,
            ident: 0,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            payload_len,
            options: Options::NONE,
        }
    }

    /// Reads the header; its checksum must be right.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        packet.verify_checksum()?;
        Repr::parse_unverified(packet)
    }

    /// Reads the header whatever its checksum. The reserved flag is ignored.
    pub fn parse_unverified<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        let options = Options::from_bytes(packet.options()).map_err(|e| e.at(field::OPTIONS))?;
        Ok(Repr {
            src: packet.src(),
            dst: packet.dst(),
            protocol: packet.protocol(),
            ttl: packet.ttl(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            ident: packet.ident(),
            dont_fragment: packet.dont_fragment(),
            more_fragments: packet.more_fragments(),
            fragment_offset: packet.fragment_offset(),
            payload_len: packet.total_len() - packet.header_len() as u16,
            options,
        })
    }

    /// Is this a fragment of a larger packet?
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset != 0
    }

    /// Bytes of the header with its options.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        MIN_HEADER_LEN + self.options.len()
    }

    /// Bytes of header and payload.
    pub const fn total_len(&self) -> usize {
        self.buffer_len() + self.payload_len as usize
    }

    /// `Ok` if every field fits its bits.
    pub fn check(&self) -> Result<(), Error> {
        let fields = [
            (field::TOTAL_LEN, "total length", self.total_len(), MAX_TOTAL_LEN),
            (field::TOS, "ECN", self.ecn.into(), 3),
            (field::FRAGMENT, "fragment offset", self.fragment_offset.into(), 0x1fff),
        ];
        match fields.into_iter().find(|&(_, _, found, max)| found > max) {
            Some((at, field, found, max)) => {
                let reason = Reason::OutOfRange { field, found: found as u64, min: 0, max: max as u64 };
                Err(Error::new(LAYER, at, reason))
            }
            None => Ok(()),
        }
    }

    /// Writes the header and its checksum to the first [`Repr::buffer_len`] bytes of `buffer`. Panics if it is
    /// shorter. Fields that don't fit their bits are cut; see [`Repr::check`].
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(buffer);
        packet.set_header_len(self.buffer_len());
        packet.set_tos(self.dscp, self.ecn);
        packet.set_total_len(self.total_len() as u16);
        packet.set_ident(self.ident);
        packet.set_fragment(self.dont_fragment, self.more_fragments, self.fragment_offset);
        packet.set_ttl(self.ttl);
        packet.set_protocol(self.protocol);
        packet.set_src(self.src);
        packet.set_dst(self.dst);
        packet.options_mut().copy_from_slice(self.options.as_bytes());
        packet.fill_checksum();
    }
}
