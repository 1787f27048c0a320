//! IEEE 802.3 with LLC: every frame says its length, and an EtherType lies behind LLC and SNAP (RFC 1042).

#[cfg(test)]
mod tests;

use super::{Carries, Conversion, Ends, Medium, Outside};
use crate::capture::pcapng;
use base::Frame;
use base::frame::{ETHERTYPE_MIN, FCS_LEN, Framing};
use wire::ethernet::{EtherType, HEADER_LEN};
use wire::llc::{self, LENGTH_MAX, Repr, SAP_SNAP, SNAP_LEN, SnapRepr};

/// Bytes of LLC and SNAP in front of a packet.
const ADDED: usize = llc::HEADER_LEN + SNAP_LEN;

/// IEEE 802.3 with LLC.
pub const LLC: Medium = Medium {
    name: "llc",
    meaning: "IEEE 802.3 with LLC: IP, ARP and MPLS behind SNAP (RFC 1042).",
    framing: Framing {
        typed: ADDED as i32,
        llc: 0,
        most: HEADER_LEN as u32 + LENGTH_MAX as u32 + FCS_LEN,
        ..Framing::ETHERNET
    },
    conversion: Some(Conversion { encode, decode }),
    carries: Carries::Packets,
    link_type: pcapng::ETHERNET,
    has_addresses: true,
    outside: Outside::Routers,
};

fn encode(frame: &mut Frame) {
    let Some(&header) = frame.header().first_chunk::<HEADER_LEN>() else { return };
    let ethertype = u16::from_be_bytes([header[12], header[13]]);
    if ethertype < ETHERTYPE_MIN {
        return;
    }
    let len = frame.len() as usize - HEADER_LEN + ADDED;
    debug_assert!(len <= usize::from(LENGTH_MAX), "a frame of {len} bytes, which the port refuses");
    let mut new = [0; HEADER_LEN + ADDED];
    new[..12].copy_from_slice(&header[..12]);
    new[12..HEADER_LEN].copy_from_slice(&(len as u16).to_be_bytes());
    Repr::datagram(SAP_SNAP).emit(&mut new[HEADER_LEN..]);
    let snap = SnapRepr { oui: llc::OUI_ETHERTYPE, protocol: ethertype };
    new[HEADER_LEN + llc::HEADER_LEN..].copy_from_slice(&snap.emit());
    frame.replace_front(HEADER_LEN, &new);
}

/// A frame with LLC that is not SNAP stays as it is, since who listens to it listens to LLC. So does one of Ethernet
/// II, which no station on a cable of both kinds refuses. A number that is neither length nor EtherType is refused.
fn decode(frame: &mut Frame, _: Ends) -> bool {
    let Some((&header, rest)) = frame.header().split_first_chunk::<HEADER_LEN>() else { return false };
    let len = u16::from_be_bytes([header[12], header[13]]);
    if len >= ETHERTYPE_MIN {
        return true;
    }
    if len > LENGTH_MAX || u32::from(len) > frame.len() - HEADER_LEN as u32 {
        return false;
    }
    let above = &rest[..rest.len().min(usize::from(len))];
    let Ok(packet) = llc::Packet::new_checked(above) else { return false };
    if !packet.is_snap() {
        return true;
    }
    let Ok(snap) = SnapRepr::parse(packet.payload()) else { return false };
    let Some(EtherType(ethertype)) = snap.ethertype().filter(|ethertype| ethertype.0 >= ETHERTYPE_MIN) else {
        return true;
    };
    let mut new = header;
    new[12..].copy_from_slice(&ethertype.to_be_bytes());
    frame.replace_front(HEADER_LEN + ADDED, &new);
    true
}
