//! Neighbours with a session are watched, and that of one that does not answer any more ends (RFC 5882, 4.2.1).

use super::peers::shared_link;
use super::session::SessionStep;
use super::{Bgp, Peer};
use crate::protocol::Context;
use crate::services::{Services, WatchedPath, Way};
use base::Time;
use std::collections::BTreeMap;
use wire::bgp::Notification;
use wire::bgp::notification::Code;

/// Why a session ends.
const DEAD: &str = "BFD: the neighbour does not answer any more";

/// The way to a neighbour: a single hop (RFC 5881) if it is on a link of the router, else several (RFC 5883).
fn path(services: &Services, peer: &Peer) -> WatchedPath {
    let (local, remote) = (peer.local, peer.config.address);
    let shared = shared_link(services, remote).filter(|(.., own)| *own == local);
    let way = shared.map_or(Way::Routed, |(port, ..)| Way::Hop(port));
    WatchedPath { way, local, remote }
}

impl Bgp {
    /// Has those neighbours watched with which routes are exchanged, and LSPs, where the settings say so.
    pub(super) fn watch(&mut self, context: &mut Context<'_>) {
        if !core::mem::take(&mut self.is_watch_due) {
            return;
        }
        let up = self.peers.iter().filter(|peer| peer.is_established());
        let wanted = up.filter_map(|peer| Some((path(context.services, peer), peer.config.bfd?)));
        let lsp_pace = self.config.lsp_watch.iter().map(|watch| watch.pace);
        let lsps = lsp_pace.flat_map(|pace| self.lsps.wanted(context.services, pace));
        let wanted: BTreeMap<_, _> = wanted.chain(lsps).collect();
        context.services.liveness.watch_only(Bgp::ID, &wanted);
    }

    /// A path is dead: sessions with the neighbour at its end do not wait for the hold time.
    pub(super) fn on_dead(&mut self, now: Time, context: &mut Context<'_>, dead: WatchedPath) {
        let behind = |peer: &Peer| {
            peer.config.bfd.is_some() && peer.is_established() && path(context.services, peer) == dead
        };
        let behind: Vec<_> = self.peers.iter().filter(|peer| behind(peer)).collect();
        let sessions: Vec<_> =
            behind.iter().flat_map(|peer| peer.connections()).filter_map(|one| one.session).collect();
        for id in sessions {
            self.end_because(now, context, id, (SessionStep::Stop, Notification::new(Code::Cease)), DEAD);
        }
    }
}
