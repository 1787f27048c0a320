//! Neighbours are watched by BFD or by link probing, and what depends on one that does not answer any more is given up,
//! as after the loss of Hellos. So is an LSP whose end is not heard any more, where its tunnel has it watched (RFC
//! 5884).

use super::Rsvp;
use super::command::TunnelId;
use super::event::Event;
use super::faults::Fault;
use super::head::Loss;
use super::link::{Link, Watch};
use super::lsp::{Lsp, SenderKey, SessionKey};
use super::transport::Neighbor;
use super::tunnel::Tunnel;
use crate::services::{WatchedLsp, WatchedPath, Way};
use base::PortId;
use core::net::IpAddr;

impl Rsvp {
    /// Are neighbours to be watched, and nobody has been told?
    pub(super) fn is_watch_due(&self) -> bool {
        self.config.bfd.is_some() && !self.is_watching
    }

    /// Has the neighbours watched that are known, if the settings say so.
    pub(super) fn watch(&mut self) {
        let Some(pace) = self.config.bfd.filter(|_| !self.is_watching) else { return };
        self.is_watching = true;
        for at in &self.config.interfaces {
            let Some(remote) = at.neighbor else { continue };
            let path = WatchedPath::hop(at.port, at.address, remote);
            self.services.liveness.watch(Rsvp::ID, path, pace);
        }
    }

    /// Has the LSP watched that carries the traffic of a tunnel, if its settings say so.
    pub(super) fn watch_lsp(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let (before, pace) = (tunnel.watched.clone(), tunnel.spec.watch);
        if before.is_empty() && pace.is_none() {
            return;
        }
        // Where both LSPs carry the packets, the end has to know of both.
        let standby = tunnel.ready_standby().filter(|_| tunnel.is_one_plus_one());
        // The one that is left of two becomes a candidate before it is the active one.
        let candidate = tunnel.candidate.filter(|_| tunnel.is_one_plus_one());
        let candidate = candidate.filter(|lsp| self.store.get(*lsp).is_some_and(Lsp::is_reserved));
        let all = [tunnel.active, standby, candidate].into_iter().flatten();
        let all = all.filter_map(|lsp| self.store.get(lsp));
        let all = all.filter(|_| pace.is_some()).map(|lsp| {
            let SessionKey { end_point, tunnel_id, extended } = lsp.session;
            let SenderKey { address, lsp_id } = lsp.sender;
            let way = Way::Lsp(WatchedLsp::Rsvp {
                endpoint: end_point,
                tunnel_id,
                extended_tunnel_id: extended,
                sender: address,
                lsp_id,
            });
            WatchedPath { way, local: self.config.router_id.into(), remote: end_point.into() }
        });
        let wanted: Vec<WatchedPath> = all.collect();
        let liveness = &mut self.services.liveness;
        for gone in before.into_iter().filter(|before| !wanted.contains(before)) {
            liveness.unwatch(Rsvp::ID, gone);
        }
        if let Some(pace) = pace {
            wanted.iter().for_each(|path| liveness.watch(Rsvp::ID, *path, pace));
        }
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.watched = wanted;
        }
    }

    /// A path is dead.
    pub(super) fn on_dead(&mut self, dead: WatchedPath) {
        match dead.way {
            Way::Lsp(WatchedLsp::Rsvp { endpoint, tunnel_id, lsp_id, .. }) => {
                let index = self.tunnels.find(TunnelId { to: endpoint, id: tunnel_id });
                let tunnel = index.and_then(|index| self.tunnels.get(index));
                let tunnel = tunnel.filter(|tunnel| tunnel.watched.contains(&dead));
                let is_it = |lsp: &u32| self.store.get(*lsp).is_some_and(|lsp| lsp.sender.lsp_id == lsp_id);
                let lsps =
                    tunnel.map(|one| [one.active, one.ready_standby()]).into_iter().flatten().flatten();
                let dead_lsp = lsps.into_iter().find(is_it);
                let is_pinged = tunnel.and_then(|one| one.spec.watch).is_some_and(|pace| !pace.is_of_bfd());
                let why = match self.services.liveness.why_misled(dead) {
                    Some(words) => Loss::Misled(words),
                    None if is_pinged => Loss::Unanswered,
                    None => Loss::Unheard,
                };
                // That nothing comes back says nothing of the way there: the end, which hears BFD, selects.
                let is_left_to_end =
                    tunnel.is_some_and(Tunnel::is_one_plus_one) && matches!(why, Loss::Unheard);
                if let Some(lsp) = dead_lsp.filter(|_| !is_left_to_end) {
                    self.lose(lsp, why);
                }
            }
            Way::Hop(port) if self.config.bfd.is_some() => {
                let IpAddr::V4(address) = dead.remote else { return };
                let gone = Neighbor { port, address };
                // First of all: what was sent there so far is lost.
                let was_silent = self.links.get(port).is_some_and(Link::is_silent);
                if self.links.set_silent(gone, Watch::Bfd, true) {
                    self.distrust_port(port);
                    self.not_restored(port);
                }
                if !was_silent {
                    self.event(Event::NeighborDown { neighbor: address, restarted: false });
                }
                self.lost_beyond(|hop| hop == gone);
            }
            Way::End(lsp) => self.selector_hears(lsp, false),
            Way::Hop(_) | Way::Routed | Way::Lsp(_) => {}
        }
    }

    /// It is not dead any more.
    pub(super) fn on_alive(&mut self, path: WatchedPath) {
        if let Way::End(lsp) = path.way {
            self.selector_hears(lsp, true);
        }
        if let (Way::Hop(port), true, IpAddr::V4(address)) =
            (path.way, self.config.bfd.is_some(), path.remote)
        {
            self.links.set_silent(Neighbor { port, address }, Watch::Bfd, false);
            self.heard_again(port);
        }
    }

    /// Link probing may say something else of a link than before: that all neighbours there have gone silent, or that
    /// they are back.
    pub(super) fn on_avoided(&mut self, port: PortId) {
        let is_silent = self.services.avoided.is_silent(port);
        let Some(link) =
            self.links.get_mut(port).filter(|link| link.is_silent_to(Watch::Probes) != is_silent)
        else {
            return;
        };
        let was_silent = link.is_silent();
        link.set_silent(Watch::Probes, is_silent);
        let neighbor = link.interface.neighbor.filter(|_| !was_silent);
        if !is_silent {
            return self.heard_again(port);
        }
        // First of all: what was sent there so far is lost.
        self.distrust_port(port);
        self.not_restored(port);
        if let Some(neighbor) = neighbor {
            self.event(Event::NeighborDown { neighbor, restarted: false });
        }
        self.lost_beyond(|hop| hop.port == port);
    }

    /// Somebody is heard again by a port: it is trusted once no other watch says that it is silent.
    fn heard_again(&mut self, port: PortId) {
        if !self.links.get(port).is_some_and(Link::is_silent) {
            self.end_waiting(port);
            self.trust_port(port);
        }
    }
}
