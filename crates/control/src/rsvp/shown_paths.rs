//! The paths of tunnels that have several at hand, as a table.

use super::Rsvp;
use super::states::StandbyState;
use super::tunnel::Tunnel;
use crate::services::te::TeHop;
use base::table::{RowsOf, Table};
use core::net::Ipv4Addr;

base::table! {
    /// The paths of each LSP whose head end looks for several at once (`k` of `path`) or keeps a standby: those found
    /// by the last search, in the order in which they are tried, and behind them those that LSPs have and the search
    /// did not give.
    pub struct LspPathRow<'a> in "lsp_paths" key ["node", "to", "tunnel", "path"] {
        /// The router: the head end.
        node: &'a str,
        /// Address of the egress.
        to: Ipv4Addr,
        /// Number of the tunnel at its head end.
        tunnel: u16,
        /// The name of the LSP.
        name: String,
        /// The path, counted from 1.
        path: u32,
        /// `active` for the path that carries traffic, `signalling` for one that is being set up to carry it, `standby`
        /// and `standby-signalling` for that of the standby, `failed` for one that was tried since the search, `next`
        /// for those that are left.
        state: &'static str,
        /// Number of the LSP on it within the tunnel; absent where there is none.
        lsp_id: Option<u16>,
        /// The sum of the costs of its links at the search; absent if the search did not give it.
        cost: Option<u64>,
        /// The address at the far end of each link, as an explicit route has it.
        hops: String,
    }
}

/// The paths that LSPs of a tunnel have, with what they are to it, and their LSPs.
fn taken(tunnel: &Tunnel) -> Vec<(&'static str, &[TeHop], Option<u32>)> {
    let Some(computed) = tunnel.computed.as_deref() else { return Vec::new() };
    let standby = match computed.standby.state {
        StandbyState::Absent => None,
        StandbyState::Signalling => Some("standby-signalling"),
        StandbyState::Ready => Some("standby"),
    };
    let active = tunnel.active.map(|lsp| ("active", &computed.active[..], Some(lsp)));
    let candidate = tunnel.candidate.map(|lsp| ("signalling", &computed.candidate[..], Some(lsp)));
    let standby = standby.map(|state| (state, &computed.standby.way[..], computed.standby.lsp));
    [active, candidate, standby].into_iter().flatten().filter(|(_, hops, _)| !hops.is_empty()).collect()
}

impl RowsOf<Rsvp> for LspPathRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let asking =
            |tunnel: &&Tunnel| tunnel.is_computed() && (tunnel.k() > 1 || tunnel.wanted_standby().is_some());
        for tunnel in rsvp.tunnels.iter().map(|(_, tunnel)| tunnel).filter(asking) {
            let mut taken = taken(tunnel);
            let found = tunnel.computed.iter().flat_map(|computed| &computed.alternatives);
            let mut rows = Vec::new();
            for one in found {
                let of = taken.iter().position(|(_, hops, _)| *hops == one.path.hops);
                let (state, lsp) = match of.map(|of| taken.remove(of)) {
                    Some((state, _, lsp)) => (state, lsp),
                    None => (if one.is_tried { "failed" } else { "next" }, None),
                };
                rows.push((state, &one.path.hops[..], lsp, Some(one.path.cost)));
            }
            rows.extend(taken.into_iter().map(|(state, hops, lsp)| (state, hops, lsp, None)));
            for (path, (state, hops, lsp, cost)) in (1..).zip(rows) {
                let hops: Vec<String> = hops.iter().map(|hop| hop.far.to_string()).collect();
                to.push(LspPathRow {
                    node,
                    to: tunnel.spec.to,
                    tunnel: tunnel.spec.tunnel_id,
                    name: tunnel.spec.name.clone(),
                    path,
                    state,
                    lsp_id: lsp.and_then(|lsp| rsvp.store.get(lsp)).map(|lsp| lsp.sender.lsp_id),
                    cost,
                    hops: hops.join(" "),
                });
            }
        }
    }
}
