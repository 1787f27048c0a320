//! Neighbours with a session are watched, and that of one that does not answer any more ends (RFC 5882, 4.2.1).
//!
//! A neighbour that restarts is watched on, and so is one that this router waits for since its own restart. If BFD
//! goes on at both ends while control planes restart, silence means that packets do not get through, and nobody waits
//! any more (4.3.1). Otherwise it may be a part of the restart, and nothing follows from it (4.3.2), unless it lasts
//! when the restart is over.

use super::peers::shared_link;
use super::session::SessionStep;
use super::{Bgp, Peer};
use crate::protocol::Context;
use crate::services::{Services, Verdict, WatchedPath, Way};
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
        let places = self.peers.iter().enumerate();
        let kept = places.filter(|(place, peer)| peer.is_established() || self.is_restarting(*place));
        let wanted = kept.filter_map(|(_, peer)| Some((path(context.services, peer), peer.config.bfd?)));
        let lsp_pace = self.config.lsp_watch.iter().map(|watch| watch.pace);
        let lsps = lsp_pace.flat_map(|pace| self.lsps.wanted(context.services, pace));
        let wanted: BTreeMap<_, _> = wanted.chain(lsps).collect();
        context.services.liveness.watch_only(Bgp::ID, &wanted);
    }

    /// Does a neighbour restart and has not told all its routes again, or does this router wait for it since its own
    /// restart (RFC 4724, 4)?
    fn is_restarting(&self, place: usize) -> bool {
        self.peers[place].stale > 0 || self.awaits(place)
    }

    /// A path is dead: sessions with the neighbour at its end do not wait for the hold time.
    pub(super) fn on_dead(&mut self, now: Time, context: &mut Context<'_>, dead: WatchedPath) {
        for place in 0..self.peers.len() {
            let peer = &self.peers[place];
            if peer.config.bfd.is_none() || path(context.services, peer) != dead {
                continue;
            }
            if self.is_restarting(place) && !context.services.liveness.is_independent(dead) {
                // RFC 5882, 4.3.2: its BFD may have restarted with it.
                self.excused.insert(place);
                continue;
            }
            self.give_up(now, context, place);
        }
    }

    /// BGP begins, perhaps after a restart: nobody has told it of paths that died meanwhile.
    pub(super) fn look_again(&mut self, now: Time, context: &mut Context<'_>) {
        let awaited = (0..self.peers.len()).filter(|place| self.is_restarting(*place));
        let paths = awaited.map(|place| path(context.services, &self.peers[place]));
        let dead = paths.filter(|path| context.services.liveness.verdict(*path) == Verdict::Dead);
        dead.collect::<Vec<_>>().into_iter().for_each(|path| self.on_dead(now, context, path));
    }

    /// Restarts that are over excuse nobody any more who does not answer BFD.
    pub(super) fn excuse_no_more(&mut self, now: Time, context: &mut Context<'_>) {
        if self.excused.is_empty() {
            return;
        }
        let mut excused = core::mem::take(&mut self.excused);
        let is_dead = |place: usize| {
            let path = path(context.services, &self.peers[place]);
            context.services.liveness.verdict(path) == Verdict::Dead
        };
        let due = excused.due(now, is_dead, |place| self.is_restarting(place));
        self.excused = excused;
        due.into_iter().for_each(|place| self.give_up(now, context, place));
    }

    /// The path to a neighbour is dead, whatever restarts.
    fn give_up(&mut self, now: Time, context: &mut Context<'_>, place: usize) {
        let is_up = self.peers[place].is_established();
        let sessions = self.peers[place].connections().filter_map(|one| one.session).filter(|_| is_up);
        for id in sessions.collect::<Vec<_>>() {
            self.end_because(now, context, id, (SessionStep::Stop, Notification::new(Code::Cease)), DEAD);
        }
        if context.services.liveness.is_independent(path(context.services, &self.peers[place])) {
            // RFC 5882, 10.2: as if the restart timer had expired.
            self.drop_stale(context, place, None);
            self.await_no_more(place);
        }
    }
}
