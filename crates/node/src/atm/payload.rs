//! Packets in payloads of AAL5: what stands in front of them there, and in front of them in the node.

use base::device::DropReason;
use base::plane::{group_mac, group_mac6};
use base::{Label, MacAddr};
use core::net::{Ipv4Addr, Ipv6Addr};
use wire::atm::{Encapsulation, LLC_SNAP_LEN, SHIM_LEN, llc_snap, null_label};
use wire::ethernet::EtherType;
use wire::llc::{HEADER_LEN as LLC_LEN, OUI_ETHERTYPE, SAP_SNAP, SnapRepr, UI};
use wire::mpls;

/// The payload that carries a packet, or why the encapsulation can't carry it.
pub fn payload_of(
    encapsulation: Encapsulation,
    ethertype: EtherType,
    packet: &[u8],
) -> Result<Vec<u8>, DropReason> {
    match (encapsulation, ethertype) {
        (Encapsulation::LlcSnap, EtherType(0x600..)) => Ok([&llc_snap(ethertype)[..], packet].concat()),
        (Encapsulation::VcMultiplexed, EtherType::IPV4) => Ok(packet.to_vec()),
        (Encapsulation::Shim, EtherType::MPLS) => Ok(packet.to_vec()),
        (Encapsulation::Shim, EtherType::IPV4) => {
            let label = null_label(packet).ok_or(DropReason::Truncated)?;
            Ok([&label[..], packet].concat())
        }
        _ => Err(DropReason::UnknownProtocol),
    }
}

/// The packet that a payload carries, if it carries one.
pub fn packet_of(encapsulation: Encapsulation, payload: &[u8]) -> Option<(EtherType, &[u8])> {
    match encapsulation {
        Encapsulation::VcMultiplexed => Some((EtherType::IPV4, payload)),
        Encapsulation::LlcSnap => {
            let (header, packet) = payload.split_first_chunk::<LLC_SNAP_LEN>()?;
            let (llc, snap) = header.split_at(LLC_LEN);
            // RFC 2684, 5.1: LLC says that SNAP follows, and the OUI that an EtherType does.
            let snap = SnapRepr::parse(snap).ok()?;
            let is_routed = llc == [SAP_SNAP, SAP_SNAP, UI] && snap.oui == OUI_ETHERTYPE;
            is_routed.then_some((EtherType(snap.protocol), packet))
        }
        Encapsulation::Shim => {
            let (entry, packet) = payload.split_first_chunk::<SHIM_LEN>()?;
            // RFC 3032, 2.1: label 0, at the bottom, says that an IPv4 packet follows.
            let entry = mpls::Repr::from_word(u32::from_be_bytes(*entry));
            let is_null = entry.label == Label::EXPLICIT_NULL && entry.bottom;
            Some(if is_null { (EtherType::IPV4, packet) } else { (EtherType::MPLS, payload) })
        }
    }
}

/// The Ethernet address of the group that a packet is for (RFC 1112, 6.4, and RFC 2464, 7), if it is for one.
pub fn group_of(ethertype: EtherType, packet: &[u8]) -> Option<MacAddr> {
    match ethertype {
        EtherType::IPV4 => match Ipv4Addr::from(*packet.get(16..)?.first_chunk::<4>()?) {
            Ipv4Addr::BROADCAST => Some(MacAddr::BROADCAST),
            to => to.is_multicast().then(|| group_mac(to)),
        },
        EtherType::IPV6 => {
            let to = Ipv6Addr::from(*packet.get(24..)?.first_chunk::<16>()?);
            to.is_multicast().then(|| group_mac6(to))
        }
        _ => None,
    }
}
