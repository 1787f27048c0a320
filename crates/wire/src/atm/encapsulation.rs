//! What stands between a packet and AAL5, which says what the packet is.

use super::aal5;
use crate::ethernet::EtherType;
use crate::llc::{HEADER_LEN, OUI_ETHERTYPE, SAP_SNAP, SNAP_LEN, SnapRepr, UI};

/// Bytes of LLC and SNAP in front of a routed packet (RFC 2684, 5.1).
pub const LLC_SNAP_LEN: usize = HEADER_LEN + SNAP_LEN;
/// Bytes of a label stack with one entry (RFC 3032, 2.1).
pub const SHIM_LEN: usize = 4;

/// How packets are put into PDUs of AAL5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// Nothing in front: configuration says what the channel carries (RFC 2684, 6.1).
    VcMultiplexed,
    /// LLC and SNAP with the EtherType in front (RFC 2684, 5.1).
    LlcSnap,
    /// A label stack of one entry in front, whose label is in the cell header (RFC 3035, 9).
    Shim,
}

impl Encapsulation {
    /// All of them.
    pub const ALL: [Encapsulation; 3] =
        [Encapsulation::VcMultiplexed, Encapsulation::Shim, Encapsulation::LlcSnap];

    /// Bytes in front of the packet.
    pub const fn header_len(self) -> usize {
        match self {
            Encapsulation::VcMultiplexed => 0,
            Encapsulation::LlcSnap => LLC_SNAP_LEN,
            Encapsulation::Shim => SHIM_LEN,
        }
    }

    /// How many cells a packet of so many bytes takes.
    pub const fn cells_for(self, packet_len: usize) -> usize {
        aal5::cells_for(packet_len + self.header_len())
    }
}

/// A label stack of one entry in front of an IPv4 packet: the label is in the cell header, and the entry says null,
/// with the time to live of the packet (RFC 3035, 9).
pub fn null_label(packet: &[u8]) -> Option<[u8; SHIM_LEN]> {
    let ttl = *packet.get(8)?;
    Some([0, 0, 1, ttl])
}

/// LLC and SNAP in front of a packet of this type: AA-AA-03, 00-00-00 and the EtherType (RFC 2684, 5.1).
pub fn llc_snap(ethertype: EtherType) -> [u8; LLC_SNAP_LEN] {
    let mut header = [0; LLC_SNAP_LEN];
    header[..HEADER_LEN].copy_from_slice(&[SAP_SNAP, SAP_SNAP, UI]);
    header[HEADER_LEN..].copy_from_slice(&SnapRepr { oui: OUI_ETHERTYPE, protocol: ethertype.0 }.emit());
    header
}
