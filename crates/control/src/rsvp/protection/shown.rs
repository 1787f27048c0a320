//! Bypass tunnels and protected LSPs, as tables.

use super::super::Rsvp;
use super::super::lsp::{Lsp, Role};
use super::super::states::ProtectionState;
use super::Guard;
use super::select::seeks_node;
use base::table::{RowsOf, Table, word};
use base::{Label, PortId, Rate};
use core::net::Ipv4Addr;

base::table! {
    /// The bypass tunnels that begin at each router, declared or made for LSPs that ask for protection (RFC 4090, 3.2).
    pub struct BypassRow<'a> in "bypasses" key ["node", "bypass"] {
        /// The router: the point of local repair.
        node: &'a str,
        /// The name of the tunnel.
        bypass: String,
        /// The port whose link is protected.
        port: PortId,
        /// Where the tunnel ends, and LSPs go on: router id of the merge point.
        merge_point: Ipv4Addr,
        /// What it leads around: `link`, or `node` for the router at the far end of the link, too.
        protects: &'static str,
        /// Was it made by the router itself?
        automatic: bool,
        /// Is it set up?
        up: bool,
        /// The port by which it leaves; absent while it is down.
        out_port: Option<PortId>,
        /// The label with which packets enter it; absent while it is down, and if the next router is its end.
        out_label: Option<Label>,
        /// What it has reserved.
        bandwidth: Rate = "bit/s",
        /// What of that LSPs have been promised that ask for bandwidth.
        committed: Rate = "bit/s",
        /// LSPs whose backup it is, those with several leaves counted once.
        lsps: u32 = "LSPs",
        /// LSPs among them whose traffic goes through it now.
        diverted: u32 = "LSPs",
    }
}

base::table! {
    /// LSPs that ask for protection, at each router that could repair them: all on their way but the last.
    pub struct ProtectedLspRow<'a> in "protected_lsps" key ["node", "sender", "tunnel_id", "end_point", "lsp_id"] {
        /// The router: the point of local repair.
        node: &'a str,
        /// The name of the tunnel.
        tunnel: String,
        /// Address of the ingress.
        sender: Ipv4Addr,
        /// Address of the egress.
        end_point: Ipv4Addr,
        /// Number of the tunnel at its ingress.
        tunnel_id: u16,
        /// Number of the LSP within its tunnel.
        lsp_id: u16,
        /// `unprotected`, `available`, `in-use`, or `reverting` while it is signalled along a link that is back.
        state: String,
        /// The port that it leaves by as long as nothing fails.
        port: Option<PortId>,
        /// The bypass that is its backup; absent if it has none, or a detour (table `detours`).
        bypass: Option<String>,
        /// Does the backup lead around the next router, and not only around the link to it?
        node_protection: bool,
        /// Has the backup bandwidth for it, as it asks for?
        bandwidth_protection: bool,
        /// The label by which the merge point of the bypass knows it; absent without a bypass.
        merge_label: Option<Label>,
        /// Why it has no backup, or less than it asks for; absent if it has all.
        lacks: Option<&'static str>,
    }
}

impl Rsvp {
    fn bypass_row<'a>(&self, node: &'a str, place: u32, guard: &Guard) -> Option<BypassRow<'a>> {
        let tunnel = self.tunnels.get(place)?;
        let bypass = tunnel.spec.bypass.as_deref()?;
        let leg = self.bypass_leg(place);
        let is_in = |lsp: &Lsp| {
            let chosen = lsp.protection().and_then(|protection| protection.chosen);
            lsp.is_diverted() && chosen.is_some_and(|chosen| chosen.bypass == place)
        };
        Some(BypassRow {
            node,
            bypass: tunnel.spec.name.clone(),
            port: guard.port,
            merge_point: tunnel.spec.to,
            protects: if bypass.node { "node" } else { "link" },
            automatic: guard.automatic,
            up: leg.is_some(),
            out_port: leg.map(|leg| leg.port),
            out_label: leg.and_then(|leg| leg.labels.as_slice().last().copied()),
            bandwidth: self.bypass_rate(place),
            committed: Rate(guard.committed),
            lsps: guard.lsps,
            diverted: (self.store.iter().filter(|(_, lsp)| is_in(lsp)).count() + self.p2mp_diverted_by(place))
                as u32,
        })
    }

    /// Why an LSP has less protection than it asks for.
    pub(in crate::rsvp) fn lacks(&self, lsp: &Lsp) -> Option<&'static str> {
        let chosen = lsp.protection().and_then(|protection| protection.chosen);
        let (_, bandwidth, _) = lsp.wanted_protection();
        let port = lsp.next_hop.map(|hop| hop.port);
        if lsp.wants_detour() {
            return match lsp.protection().and_then(|protection| protection.detour) {
                Some(taken) if seeks_node(lsp) && !taken.node => {
                    Some("no detour leads around the next router")
                }
                Some(taken) if bandwidth && !self.is_guaranteed(taken) => {
                    Some("the detour has no bandwidth for it")
                }
                Some(_) => None,
                None if !lsp.is_reserved() => Some("it is not set up"),
                None => Some("it has no detour"),
            };
        }
        let unlabelled =
            || Some("the recorded label of the merge point is not known to be good on its other ports");
        match chosen {
            Some(chosen) if seeks_node(lsp) && !chosen.node && self.lacks_label(lsp) => unlabelled(),
            Some(chosen) if seeks_node(lsp) && !chosen.node => Some("no bypass leads around the next router"),
            Some(chosen) if bandwidth && !chosen.bandwidth => Some("the bypass has no bandwidth for it"),
            Some(_) => None,
            None if !lsp.is_reserved() => Some("it is not set up"),
            None if self.lacks_label(lsp) => unlabelled(),
            None if port.is_some_and(|port| self.protections.of_port(port).next().is_some()) => {
                Some("no bypass of the port is up that leads to a router on its way")
            }
            None if self.config.protection.automatic => Some("there is no other way"),
            None => Some("no bypass protects the port"),
        }
    }

    fn protected_row<'a>(&self, node: &'a str, lsp: &Lsp) -> ProtectedLspRow<'a> {
        let protection = lsp.protection();
        let chosen = protection.and_then(|protection| protection.chosen);
        let taken = protection.and_then(|protection| protection.detour);
        let state = protection.map_or(ProtectionState::Unprotected, |protection| protection.state);
        let name = |place| self.tunnels.get(place).map(|tunnel| tunnel.spec.name.clone());
        ProtectedLspRow {
            node,
            tunnel: String::from_utf8_lossy(&lsp.name).into_owned(),
            sender: lsp.sender.address,
            end_point: lsp.session.end_point,
            tunnel_id: lsp.session.tunnel_id,
            lsp_id: lsp.sender.lsp_id,
            state: word(&state),
            port: lsp.next_hop.map(|hop| hop.port),
            bypass: chosen.and_then(|chosen| name(chosen.bypass)),
            node_protection: chosen.map_or(taken.is_some_and(|taken| taken.node), |chosen| chosen.node),
            bandwidth_protection: chosen
                .map_or(taken.is_some_and(|taken| self.is_guaranteed(taken)), |chosen| chosen.bandwidth),
            merge_label: chosen.map(|chosen| chosen.swap.unwrap_or(lsp.out_label)),
            lacks: self.lacks(lsp),
        }
    }
}

impl RowsOf<Rsvp> for BypassRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        for (place, guard) in &rsvp.protections.guards {
            if let Some(row) = rsvp.bypass_row(node, *place, guard) {
                to.push(row);
            }
        }
    }
}

impl RowsOf<Rsvp> for ProtectedLspRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let asking =
            rsvp.store.iter().filter(|(_, lsp)| lsp.wants_protection() && lsp.role() != Role::Egress);
        for (_, lsp) in asking {
            to.push(rsvp.protected_row(node, lsp));
        }
    }
}
