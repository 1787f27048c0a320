//! The header of every packet (RFC 2328, A.3.1).

use super::{LAYER, address, short};
use crate::checksum;
use crate::error::{Error, Reason, need};
use core::net::Ipv4Addr;

/// Bytes of the header.
pub const HEADER_LEN: usize = 24;
/// The version of this protocol.
pub(super) const VERSION: u8 = 2;
/// Authentication type: none (RFC 2328, D.1).
pub const AU_NULL: u16 = 0;
/// Authentication type: a password (RFC 2328, D.2).
pub const AU_SIMPLE: u16 = 1;
/// Authentication type: a digest behind the packet (RFC 2328, D.3; RFC 5709).
pub const AU_CRYPTOGRAPHIC: u16 = 2;

/// Bits of the Options field (RFC 2328, A.2; RFC 3101, 2.4; RFC 5250, 4).
pub mod options {
    /// AS-external advertisements are flooded here.
    pub const E: u8 = 0x02;
    /// Multicast datagrams are forwarded (RFC 1584).
    pub const MC: u8 = 0x04;
    /// In a Hello: the area is not so stubby. In an advertisement of type 7: translate it at the border.
    pub const NP: u8 = 0x08;
    /// Data of the link-local kind follow the packet (RFC 5613).
    pub const L: u8 = 0x10;
    /// Advertisements that do not age are understood (RFC 1793).
    pub const DC: u8 = 0x20;
    /// Opaque advertisements are understood.
    pub const O: u8 = 0x40;
}

/// Types of packets (RFC 2328, A.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Finds neighbours and keeps them.
    Hello,
    /// Says what is in a database.
    Description,
    /// Asks for advertisements that a neighbour has described.
    Request,
    /// Floods advertisements, or answers a request.
    Update,
    /// Acknowledges advertisements by their headers.
    Ack,
}

impl Kind {
    /// All types, in the order of their numbers.
    pub const ALL: [Kind; 5] = [Kind::Hello, Kind::Description, Kind::Request, Kind::Update, Kind::Ack];

    /// The type of a number, 1 to 5.
    pub fn of(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Its usual short name.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Hello => "Hello",
            Kind::Description => "DD",
            Kind::Request => "LSR",
            Kind::Update => "LSU",
            Kind::Ack => "LSAck",
        }
    }
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the packet.
    pub kind: Kind,
    /// Bytes of the packet with this header, without a digest behind it.
    pub length: u16,
    /// Router id of the sender.
    pub router_id: Ipv4Addr,
    /// The area that the packet is of.
    pub area: Ipv4Addr,
    /// Checksum over the packet without the authentication field; zero with a digest.
    pub checksum: u16,
    /// How the packet is authenticated.
    pub au_type: u16,
    /// What the authentication type makes of these eight bytes.
    pub authentication: [u8; 8],
}

impl Header {
    /// Reads the header of a packet whose bytes may be more than its length, but not fewer.
    pub fn parse(data: &[u8]) -> Result<Header, Error> {
        need(LAYER, HEADER_LEN, data.len())?;
        if data[0] != VERSION {
            let (found, expected) = (data[0].into(), VERSION.into());
            return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "version", found, expected }));
        }
        let Some(kind) = Kind::of(data[1]) else {
            let reason = Reason::OutOfRange { field: "type", found: data[1].into(), min: 1, max: 5 };
            return Err(Error::new(LAYER, 1, reason));
        };
        let length = short(data, 2);
        if usize::from(length) < HEADER_LEN {
            let (min, max) = (HEADER_LEN as u64, u16::MAX.into());
            let reason = Reason::OutOfRange { field: "length", found: length.into(), min, max };
            return Err(Error::new(LAYER, 2, reason));
        }
        need(LAYER, length.into(), data.len())?;
        let mut authentication = [0; 8];
        authentication.copy_from_slice(&data[16..HEADER_LEN]);
        Ok(Header {
            kind,
            length,
            router_id: address(data, 4),
            area: address(data, 8),
            checksum: short(data, 12),
            au_type: short(data, 14),
            authentication,
        })
    }

    /// The header as it stands, its checksum too: nothing is computed.
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..2].copy_from_slice(&[VERSION, self.kind.number()]);
        bytes[2..4].copy_from_slice(&self.length.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.router_id.octets());
        bytes[8..12].copy_from_slice(&self.area.octets());
        bytes[12..14].copy_from_slice(&self.checksum.to_be_bytes());
        bytes[14..16].copy_from_slice(&self.au_type.to_be_bytes());
        bytes[16..].copy_from_slice(&self.authentication);
        bytes
    }
}

/// The checksum that a whole packet should have: over all of it but the authentication field.
pub(super) fn packet_checksum(packet: &[u8]) -> u16 {
    let (front, rest) = packet.split_at(packet.len().min(12));
    let (au_type, body) = (rest.get(2..4).unwrap_or(&[]), rest.get(12..).unwrap_or(&[]));
    !checksum::combine(&[checksum::sum(front), checksum::sum(au_type), checksum::sum(body)])
}
