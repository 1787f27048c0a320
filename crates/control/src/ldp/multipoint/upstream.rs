//! Which neighbour leads to a root, and by which link a neighbour gets copies (RFC 6388, 2.4.1.1 and 2.4.1.2).

use super::{Multipoint, Peer};
use crate::services::Services;
use crate::services::distribution::PeerKey;
use base::PortId;
use base::plane::NextHop;
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use wire::ldp::P2mp;

/// CRC-32 as Ethernet has it, bit by bit: opaque values are short.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

impl Peer {
    /// Does a next hop lead to it? The address is one that it has said, whatever its Hellos come from (RFC 5036, 2.7).
    pub(super) fn is_at(&self, port: PortId, address: Ipv4Addr) -> bool {
        self.links.contains_key(&port) && self.addresses.contains(&address)
    }
}

impl Multipoint {
    /// The upstream LSR: the neighbour that the best path to the root leads to. Of several one is chosen by the hash of
    /// RFC 6388, 2.4.1.1, so that LSPs are spread over equal paths, and all routers of a segment choose the same.
    pub(super) fn upstream_of(&self, services: &Services, lsp: &P2mp) -> Option<PeerKey> {
        let IpAddr::V4(root) = lsp.root else { return None };
        let (_, hops) = services.rib.lookup(root)?;
        let all: BTreeSet<PeerKey> = hops.iter().filter_map(|hop| self.peer_at(hop, root)).collect();
        let count = u32::try_from(all.len()).ok().filter(|count| *count > 0)?;
        all.into_iter().nth((crc32(&lsp.opaque.0) % count) as usize)
    }

    /// The neighbour at a next hop to the root, if it may be told labels of LSPs.
    fn peer_at(&self, hop: &NextHop, root: Ipv4Addr) -> Option<PeerKey> {
        let NextHop::Via { port, gateway: IpAddr::V4(gateway) } = *hop else { return None };
        // The root may be right there.
        let gateway = if gateway.is_unspecified() { root } else { gateway };
        let found = self.peers.iter().find(|(_, peer)| peer.is_capable && peer.is_at(port, gateway));
        found.map(|(key, _)| *key)
    }

    /// Can the neighbour be told a label of an LSP, after a request or without one? If not, that is counted: the LSP
    /// goes no further up.
    pub(super) fn can_be_told(&mut self, key: PeerKey, lsp: &P2mp) -> bool {
        let fits = self.peers.get(&key).is_some_and(|peer| lsp.opaque.0.len() <= peer.opaque_max);
        let Some(tree) = self.trees.get_mut(lsp) else { return false };
        if !core::mem::replace(&mut tree.is_too_long, !fits) && !fits {
            let why = "an opaque value that does not fit the PDUs of the next router to the root";
            *self.declined.entry(why).or_default() += 1;
        }
        fits
    }

    /// The link by which a neighbour gets copies, of several the one by which its router id is routed, and by the
    /// address that the route names. Nothing if it is heard on none.
    pub(super) fn link_to(&self, services: &Services, key: PeerKey) -> Option<(PortId, Ipv4Addr)> {
        let peer = self.peers.get(&key)?;
        let hops = services.rib.lookup(key.0).map_or(&[][..], |(_, hops)| hops);
        let routed = hops.iter().find_map(|hop| match *hop {
            NextHop::Via { port, gateway: IpAddr::V4(gateway) } => {
                peer.is_at(port, gateway).then_some((port, gateway))
            }
            _ => None,
        });
        routed.or_else(|| peer.links.iter().next().map(|(port, address)| (*port, *address)))
    }
}
