//! Detours as a table.

use super::super::Rsvp;
use super::detour::Detour;
use base::table::{RowsOf, Table, word};
use base::{Label, PortId, Rate};
use core::net::Ipv4Addr;

base::table! {
    /// Detours of LSPs that ask for one-to-one backup, at each router that could repair them (RFC 4090, 3.1). Where
    /// detours come together, and with their LSP, they are one with it: from there on they are no rows.
    pub struct DetourRow<'a> in "detours" key ["node", "sender", "tunnel_id", "end_point", "lsp_id"] {
        /// The router: the point of local repair, where the detour begins.
        node: &'a str,
        /// The name of the tunnel.
        tunnel: String,
        /// Address of the ingress of the LSP.
        sender: Ipv4Addr,
        /// Address of the egress.
        end_point: Ipv4Addr,
        /// Number of the tunnel at its ingress.
        tunnel_id: u16,
        /// Number of the LSP within its tunnel, and of its detours.
        lsp_id: u16,
        /// `waiting` for a way or the next attempt, `signalled`, or `ready`.
        state: String,
        /// Does the traffic of the LSP take it now?
        in_use: bool,
        /// What it leads around: `link`, or `node` for the router at the far end of the link, too; absent while it is
        /// waiting.
        protects: Option<&'static str>,
        /// The sender that it is signalled with: an address of the router; absent while it is waiting.
        detour_sender: Option<Ipv4Addr>,
        /// The port by which it leaves; absent while it is waiting.
        out_port: Option<PortId>,
        /// The label with which packets enter it; absent until it is ready.
        out_label: Option<Label>,
        /// Links until it meets its LSP; absent while it is waiting.
        links: Option<usize> = "links",
        /// Where it meets its LSP: router id of the merge point; absent while it is waiting.
        merge_point: Option<Ipv4Addr>,
        /// What it has reserved on each of them.
        bandwidth: Rate = "bit/s",
        /// Attempts in a row that failed.
        failures: u32 = "attempts",
        /// Why there is none, in words for people; absent if there is one.
        lacks: Option<String>,
    }
}

impl Rsvp {
    fn detour_row<'a>(&self, node: &'a str, index: u32, detour: &Detour) -> Option<DetourRow<'a>> {
        let lsp = self.store.get(index)?;
        let own = detour.lsp.and_then(|place| self.store.get(place));
        let around = |node: bool| if node { "node" } else { "link" };
        Some(DetourRow {
            node,
            tunnel: String::from_utf8_lossy(&lsp.name).into_owned(),
            sender: lsp.sender.address,
            end_point: lsp.session.end_point,
            tunnel_id: lsp.session.tunnel_id,
            lsp_id: lsp.sender.lsp_id,
            state: word(&detour.state),
            in_use: lsp.is_diverted() && lsp.has_detour(),
            protects: detour.taken.map(|taken| around(taken.node)),
            detour_sender: own.map(|own| own.sender.address),
            out_port: own.and_then(|own| own.next_hop).map(|hop| hop.port),
            out_label: own.filter(|own| own.is_reserved()).map(|own| own.out_label),
            links: own.map(|_| detour.way.len()),
            merge_point: detour.way.last().map(|hop| hop.router),
            bandwidth: self.detour_rate(detour.lsp),
            failures: detour.failures,
            lacks: detour.lacks.clone(),
        })
    }
}

impl RowsOf<Rsvp> for DetourRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        for (index, detour) in &rsvp.protections.detours {
            if let Some(row) = rsvp.detour_row(node, *index, detour) {
                to.push(row);
            }
        }
    }
}
