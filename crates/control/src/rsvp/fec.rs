//! What RSVP-TE has bound to an LSP, as whoever tests LSPs wants to know (RFC 8029, 3.2.3 and 4.4.1; RFC 6425, 3.1.1).

use super::Rsvp;
use super::lsp::{Role, SenderKey, SessionKey};
use super::p2mp::{P2mpKey, TreeKey};
use crate::inquiry::{Fec, FecMapping, GivenBy};
use base::plane::{LabelStack, Leg};
use core::net::Ipv4Addr;

impl Rsvp {
    /// What is bound to an LSP; nothing if there is no such LSP here.
    pub(super) fn fec_mapping(&self, fec: &Fec) -> Option<FecMapping> {
        if let Fec::RsvpP2mpIpv4 { p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id } = *fec {
            let session = P2mpKey { p2mp_id, tunnel_id, extended: extended_tunnel_id.into() };
            return self.p2mp_mapping(&TreeKey { session, sender: SenderKey { address: sender, lsp_id } });
        }
        let Fec::RsvpIpv4 { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id } = *fec else {
            return None;
        };
        let extended = Ipv4Addr::from(extended_tunnel_id);
        let session = SessionKey { end_point: endpoint, tunnel_id, extended };
        let lsp = self.store.get(self.store.find(&session, &SenderKey { address: sender, lsp_id })?)?;
        let role = lsp.role();
        if role == Role::Egress {
            return Some(FecMapping::egress(GivenBy::RsvpTe, lsp.entry_label()));
        }
        let direct = lsp.next_hop.filter(|_| lsp.is_reserved() && !lsp.is_diverted()).map(|hop| Leg {
            labels: LabelStack::one(lsp.out_label),
            port: hop.port,
            gateway: hop.address.into(),
        });
        let leg = direct.or_else(|| self.way_around(lsp));
        let legs = leg.into_iter().collect();
        Some(FecMapping::transit(GivenBy::RsvpTe, lsp.entry_label(), legs))
    }

    /// The LSP that carries the traffic of the tunnel that was declared as number `sequence`.
    pub(super) fn carrier_by(&self, sequence: u64) -> Option<Fec> {
        let (_, tunnel) = self.tunnels.iter().find(|(_, tunnel)| tunnel.sequence == sequence)?;
        let lsp = self.store.get(tunnel.active?)?;
        Some(Fec::RsvpIpv4 {
            endpoint: lsp.session.end_point,
            tunnel_id: lsp.session.tunnel_id,
            extended_tunnel_id: lsp.session.extended.to_bits(),
            sender: lsp.sender.address,
            lsp_id: lsp.sender.lsp_id,
        })
    }
}
