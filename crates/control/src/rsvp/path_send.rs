//! Path messages on their way to the next hop.

use super::Rsvp;
use super::faults::Fault;
use super::outbox::Sending;
use super::path::path_handle;
use super::record_route;
use super::transport::Neighbor;
use base::{Rate, Time};
use wire::rsvp::{Adspec, DiffServ, LabelRequest, Message, Path, SessionAttribute};

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
        if !self.summarised(hop, sending, path_handle(index)) {
            let Some(path) = self.build_path(index, hop) else {
                return self.counters.faults.note(Fault::NoLink);
            };
            let delivery = sending.delivery(path_handle(index));
            self.send_end_to_end(hop, ends, ttl, Message::Path(path), delivery);
        }
        self.arm(index);
    }

    fn build_path(&mut self, index: u32, hop: Neighbor) -> Option<Path> {
        let own = self.own_hop(hop, u32::from(hop.port.0));
        let link = self.links.get(hop.port)?;
        let (address, mtu, reservable) =
            (link.interface.address, link.interface.mtu, link.interface.reservable);
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
        let (mut adspec, mut diffserv) = (None, None);
        if let Some(rare) = rare {
            common.unknown.clone_from(&rare.path_unknown);
            policy_data.clone_from(&rare.path_policy);
            diffserv.clone_from(&rare.diffserv);
            adspec = rare.adspec.clone().map(|adspec| through(adspec, reservable, mtu));
        }
        let path = Path {
            common,
            session: lsp.session.to_wire(),
            hop: own,
            time_values: self.time_values(),
            ero,
            label_request: Some(LabelRequest::Generic { l3pid: lsp.l3pid }),
            session_attribute,
            diffserv,
            policy_data,
            sender_template: lsp.sender.to_wire(),
            sender_tspec: lsp.tspec,
            adspec,
            rro,
        };
        if dropped {
            self.rro_dropped(index);
        }
        Some(path)
    }
}

/// ADSPEC as it leaves a hop (RFC 2210, 3.3; RFC 2215).
fn through(mut adspec: Adspec, reservable: Rate, mtu: u32) -> Adspec {
    let general = &mut adspec.general;
    general.hops = general.hops.saturating_add(1);
    general.bandwidth = general.bandwidth.min(reservable.as_bytes_per_s());
    general.mtu = general.mtu.min(mtu);
    adspec
}
