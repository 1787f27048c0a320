//! The common case of IPv6, in one go: a packet that came without labels and leaves without labels.

use crate::addresses6::may_be_forwarded;
use crate::adjacency::State;
use crate::entry::Kind;
use crate::fast::choose;
use crate::hash;
use crate::packet::{ETHERNET, ETHERTYPE_IPV6, IPV6, address6, class6};
use crate::port::mac_key;
use crate::tables::Forwarding;
use base::frame::Lengths;
use base::{Frame, MacAddr, PortId};

impl Forwarding {
    /// Routes a frame for the port with `key` that is an IPv6 packet with nothing behind it, by a route. As
    /// [`Forwarding::route`] does: nothing is changed where nothing is returned, and what is asked of the packet is
    /// what
    /// [`Forwarding::decide`] asks.
    #[inline]
    pub(crate) fn route6(&mut self, key: u64, lengths: Lengths, frame: &mut Frame) -> Option<PortId> {
        let len = frame.len();
        let conditioned = frame.phb();
        let (header, _) = frame.header_mut().split_first_chunk_mut::<{ ETHERNET + IPV6 }>()?;
        let (ethernet, ip) = header.split_first_chunk_mut::<ETHERNET>()?;
        let ip = ip.first_chunk_mut::<IPV6>()?;
        let [a, b, c, d, e, f, ..] = *ethernet;
        let to = MacAddr([a, b, c, d, e, f]);
        let known_type = u16::from_be_bytes([ethernet[12], ethernet[13]]) == ETHERTYPE_IPV6;
        if mac_key(to) != key || to.is_group() || !known_type || ip[0] >> 4 != 6 || ip[6] == 0 {
            return None;
        }
        let total = u32::from(u16::from_be_bytes([ip[4], ip[5]])) + IPV6 as u32;
        let (class, hop_limit) = (class6(ip), ip[7]);
        let (from, to) = (address6(ip, 8), address6(ip, 24));
        if total != len - ETHERNET as u32
            || to.is_multicast()
            || !may_be_forwarded(from, to)
            || hop_limit <= 1
        {
            return None;
        }
        let fib = self.fib6.as_mut()?;
        // Packets to one destination come in rows.
        let place = match fib.recent {
            Some((recent, place)) if recent == to => place,
            _ => {
                let place = fib.find(to)?;
                fib.recent = Some((to, place));
                place
            }
        };
        let entry = fib.get(place)?.active();
        let adjacency = match entry.kind {
            Kind::Via if entry.depth == 0 => entry.next_hop,
            Kind::Connected => {
                let network = self.adjacencies.get(entry.next_hop)?;
                self.adjacencies.find(network.port, to.into())?
            }
            _ => return None,
        };
        let mut adjacency = self.adjacencies.get(adjacency)?;
        if adjacency.state != State::Ready {
            let flow = || hash::ip(self.config.seed, frame.header().get(ETHERNET..)?, ETHERNET, Some(frame));
            adjacency = choose(&self.adjacencies, &self.groups, adjacency, flow)?;
        }
        let (port, addresses) = (adjacency.port, adjacency.addresses);
        let egress = self.ports.record(port)?;
        if lengths.segment - ETHERNET as u32 > egress.room {
            return None;
        }
        egress.count_tx(u64::from(lengths.wire));
        let phb = conditioned.or(self.phb_of_tos(class));
        let header = frame.header_mut().first_chunk_mut::<{ ETHERNET + IPV6 }>()?;
        header[..12].copy_from_slice(&addresses);
        header[ETHERNET + 7] = hop_limit - 1;
        if phb != conditioned {
            frame.set_phb(phb);
        }
        if let Some(known) = self.fib6.as_mut().and_then(|fib| fib.get_mut(place)) {
            known.active_mut().count(lengths.wire);
        }
        Some(port)
    }
}
