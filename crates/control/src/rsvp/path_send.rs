//! Path messages on their way to the next hop.

use super::Rsvp;
use super::config::Interface;
use super::faults::Fault;
use super::lsp::Lsp;
use super::outbox::Sending;
use super::path::path_handle;
use super::record_route;
use super::transport::Neighbor;
use base::Time;
use wire::rsvp::{Adspec, DiffServ, Message, Path, SessionAttribute};

impl Rsvp {
    /// Sends the Path of an LSP to its next hop, and sets the time of the next one.
    pub(super) fn send_path(&mut self, index: u32, sending: Sending) {
        let next = self.next_refresh();
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(hop) = lsp.next_hop else {
            lsp.path_refresh_at = Time::MAX;
            return;
        };
        lsp.path_refresh_at = next;
        let (ends, ttl) = ((lsp.sender.address, lsp.session.end_point), lsp.ttl);
        // RFC 2209, 2, PATH REFRESH: none is sent whose TTL would be zero, nor a summary in its place.
        if ttl == 0 {
            return self.arm(index);
        }
        let (diverted, reverting) = (lsp.is_diverted(), self.is_reverting(index));
        let has_detour = self.store.get(index).is_some_and(Lsp::has_detour);
        if diverted
            && !has_detour
            && let Some(message) = self.build_path(index, hop)
        {
            self.send_path_around(index, message);
        }
        if (!diverted || reverting) && !self.summarised(hop, sending, path_handle(index)) {
            let mut built = self.build_path(index, hop);
            let Some(message) = &mut built else {
                return self.counters.faults.note(Fault::NoLink);
            };
            let delivery = sending.delivery(path_handle(index));
            self.send_end_to_end(hop, ends, ttl, message, delivery);
        }
        self.arm(index);
    }

    fn build_path(&mut self, index: u32, hop: Neighbor) -> Option<Message> {
        let own = self.own_hop(hop, u32::from(hop.port.0));
        let link = self.links.get(hop.port)?;
        let (address, mtu) = (link.interface.address, link.interface.mtu);
        let lsp = self.store.get(index)?;
        let rare = lsp.rare.as_deref();
        let recorded = rare.and_then(|rare| rare.path_rro.as_ref());
        let mut rro = recorded.map(|rest| record_route::push(address, None, rest));
        let ero = lsp.ero.outgoing();
        let mut dropped = false;
        if let Some(entries) = &rro {
            // 256 bytes hold all else that a Path carries here, MESSAGE_ID and INTEGRITY included.
            let mapped = match lsp.diffserv() {
                Some(DiffServ::ELsp(map)) => 8 + 4 * map.len(),
                Some(DiffServ::LLsp(_)) => 8,
                None => 0,
            };
            let rest = 256 + mapped + lsp.name.len() + 8 * ero.as_ref().map_or(0, Vec::len);
            if rest + record_route::wire_len(entries) > mtu as usize {
                (rro, dropped) = (None, true);
            }
        }
        let session_attribute = lsp.has_attribute.then(|| SessionAttribute {
            affinities: rare.and_then(|rare| rare.affinities),
            setup_priority: lsp.setup_priority,
            holding_priority: lsp.holding_priority,
            flags: lsp.attribute_flags,
            name: lsp.name.to_vec(),
        });
        let mut common = wire::rsvp::Common::default();
        let mut policy_data = Vec::new();
        let adspec = lsp.adspec.to_wire().map(|adspec| through(adspec, &link.interface));
        let mut diffserv = None;
        if let Some(rare) = rare {
            common.unknown.clone_from(&rare.path_unknown);
            super::protection::combine(rare, self.now, &mut common.unknown);
            policy_data.clone_from(&rare.path_policy);
            diffserv.clone_from(&rare.diffserv);
        }
        // Put together where it stays: it is long.
        let message = Message::Path(Path {
            common,
            session: lsp.session.to_wire(),
            hop: own,
            time_values: self.time_values(),
            ero,
            label_request: Some(self.label_request(hop.port, lsp.l3pid)),
            session_attribute,
            diffserv,
            policy_data,
            sender_template: lsp.sender.to_wire(),
            sender_tspec: lsp.tspec,
            adspec,
            rro,
        });
        if dropped {
            self.rro_dropped(index);
        }
        Some(message)
    }
}

/// ADSPEC as it leaves a hop (RFC 2210, 3.3; RFC 2215).
///
/// Controlled load is what this router does. Of guaranteed service it exports no C and D, and of other services it
/// knows nothing: their fragments pass unchanged but for the break bit.
pub(super) fn through(mut adspec: Adspec, out: &Interface) -> Adspec {
    let (bandwidth, mtu) = (out.reservable.as_bytes_per_s(), out.mtu);
    let general = &mut adspec.general;
    general.hops = general.hops.saturating_add(1);
    general.bandwidth = general.bandwidth.min(bandwidth);
    general.mtu = general.mtu.min(mtu);
    if let Some(fragment) = &mut adspec.controlled_load {
        // What a fragment says of its own service overrides the general value (RFC 2210, 3.3.5).
        let own = &mut fragment.overrides;
        own.hops = own.hops.map(|hops| hops.saturating_add(1));
        own.bandwidth = own.bandwidth.map(|own| own.min(bandwidth));
        own.mtu = own.mtu.map(|own| own.min(mtu));
    }
    if let Some(fragment) = &mut adspec.guaranteed {
        fragment.break_bit = true;
    }
    for fragment in &mut adspec.others {
        fragment.break_bit = true;
    }
    adspec
}
