//! Routers that are heard on a link are watched, and one that does not answer any more is heard no more (RFC 5882,
//! 4.2.1). So are LSPs that begin here, if the settings say so (RFC 5884).
//!
//! A neighbour that restarts is watched on while it is not heard, and so are those that have not been heard since LDP
//! has restarted here. If BFD goes on at both ends while control planes restart, silence means that packets do not get
//! through, and labels are not kept any longer (RFC 5882, 4.3.1). Otherwise it may be a part of the restart, and
//! nothing follows from it (4.3.2), unless it lasts when the restart is over.

use super::said::key_of;
use super::{Config, Ldp};
use crate::protocol::Context;
use crate::services::{Interface, Services, Verdict, WatchedLsp, WatchedPath, Way};
use base::plane::Prefix;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ldp::LdpId;

/// The path to a neighbour on a link.
fn path(services: &Services, ((port, _), remote): ((PortId, LdpId), Ipv4Addr)) -> Option<WatchedPath> {
    let (local, _) = services.interfaces.of_port(port).and_then(Interface::ipv4)?;
    Some(WatchedPath::hop(port, local, remote))
}

impl Ldp {
    /// Has those watched that are heard, and LSPs, if the settings say so.
    pub(super) fn watch(&mut self, context: &mut Context<'_>) {
        let Config { bfd, lsp_watch, .. } = self.config;
        let is_due = core::mem::take(&mut self.is_watch_due) | self.labels.take_moved();
        let trees: Vec<_> = self.multipoint.watched().collect();
        if !is_due || bfd.or(lsp_watch).is_none() && trees.is_empty() {
            return;
        }
        let known: Vec<_> = self.known().filter_map(|one| path(context.services, one)).collect();
        let neighbors = bfd.into_iter().flat_map(|pace| known.iter().map(move |path| (*path, pace)));
        let local = context.services.interfaces.router_id.into();
        let lsp = |prefix: Prefix| {
            let way = Way::Lsp(WatchedLsp::Ldp(prefix));
            WatchedPath { way, local, remote: prefix.address().into() }
        };
        let lsps = lsp_watch.into_iter().flat_map(|pace| self.labels.lsps().map(move |one| (lsp(one), pace)));
        let trees = trees
            .into_iter()
            .map(|(lsp, pace)| (WatchedPath { way: Way::Lsp(lsp), local, remote: local }, pace));
        let wanted: BTreeMap<_, _> = neighbors.chain(lsps).chain(trees).collect();
        self.labels.dead_only(context.services, |prefix| wanted.contains_key(&lsp(prefix)));
        context.services.liveness.watch_only(Ldp::ID, &wanted);
    }

    /// An LSP has come to life, or its end is not heard any more: its packets take its label, or go without.
    pub(super) fn on_lsp(&mut self, context: &mut Context<'_>, lsp: WatchedLsp, is_alive: bool) {
        if let WatchedLsp::Ldp(prefix) = lsp
            && self.config.lsp_watch.is_some()
        {
            self.labels.set_dead(context.services, prefix, !is_alive);
        }
    }

    /// Who is watched, by port and label space, with addresses.
    fn known(&self) -> impl Iterator<Item = ((PortId, LdpId), Ipv4Addr)> {
        let heard = self.adjacencies.iter().map(|(key, one)| (*key, one.address));
        heard.chain(self.bridged.iter().map(|(key, address)| (*key, *address)))
    }

    /// A neighbour is not heard on a link any more. If that is because it restarts, it is watched on.
    pub(super) fn bridge(&mut self, key: (PortId, LdpId), address: Ipv4Addr) {
        if self.config.bfd.is_some() && self.stale_until.contains_key(&key.1) {
            self.bridged.insert(key, address);
        }
    }

    /// A path is dead: who is behind it is gone from its link, as without Hellos.
    pub(super) fn on_dead(&mut self, now: Time, context: &mut Context<'_>, dead: WatchedPath) {
        if self.config.bfd.is_none() {
            return;
        }
        let is_gone = |((port, _), address): &((PortId, LdpId), Ipv4Addr)| {
            Some(*port) == dead.port() && *address == dead.remote
        };
        let is_independent = context.services.liveness.is_independent(dead);
        for (key, _) in self.known().filter(is_gone).collect::<Vec<_>>() {
            if self.is_restarting(key) && !is_independent {
                // RFC 5882, 4.3.2: its BFD may have restarted with it.
                self.excused.insert(key);
                continue;
            }
            self.give_up(now, context, key);
        }
    }

    /// LDP begins, perhaps after a restart: nobody has told it of paths that died meanwhile.
    pub(super) fn look_again(&mut self, now: Time, context: &mut Context<'_>) {
        let paths = self.known().filter_map(|one| path(context.services, one));
        let dead = paths.filter(|path| context.services.liveness.verdict(*path) == Verdict::Dead);
        dead.collect::<Vec<_>>().into_iter().for_each(|path| self.on_dead(now, context, path));
    }

    /// Does a neighbour restart and has not given all its labels again, or has it not been heard on a link since LDP
    /// has restarted here?
    fn is_restarting(&self, key: (PortId, LdpId)) -> bool {
        let (_, peer) = key;
        // One that has a session again and no label to confirm has restarted, however long it may still take.
        let is_back = || {
            let is_up = self.sessions.values().any(|one| one.peer == Some(peer) && one.is_operational());
            is_up && self.labels.stale_of(key_of(peer)) == 0
        };
        self.bridged.contains_key(&key) || self.stale_until.contains_key(&peer) && !is_back()
    }

    /// Restarts that are over excuse nobody any more who does not answer BFD.
    pub(super) fn excuse_no_more(&mut self, now: Time, context: &mut Context<'_>) {
        if self.excused.is_empty() {
            return;
        }
        let mut excused = core::mem::take(&mut self.excused);
        let is_dead = |key: (PortId, LdpId)| {
            let known = self.known().filter(|(one, _)| *one == key);
            let mut paths = known.filter_map(|one| path(context.services, one));
            paths.any(|path| context.services.liveness.verdict(path) == Verdict::Dead)
        };
        let due = excused.due(now, is_dead, |key| self.is_restarting(key));
        self.excused = excused;
        due.into_iter().for_each(|key| self.give_up(now, context, key));
    }

    /// The path to a neighbour on a link is dead, whatever restarts.
    fn give_up(&mut self, now: Time, context: &mut Context<'_>, key: (PortId, LdpId)) {
        let (_, peer) = key;
        let heard = self.adjacencies.get(&key).map(|one| one.address);
        if heard.is_some() {
            self.part(now, context, key);
        }
        let (port, address) = (key.0, self.bridged.remove(&key).or(heard));
        self.is_watch_due = true;
        if let Some(address) = address {
            // What packets went by there before a restart of LDP here leads nowhere.
            self.labels.forget_preserved(now, context.services, port, address);
        }
        // Over other links it may still be there.
        if !self.is_heard(peer) && !self.bridged.keys().any(|(_, id)| *id == peer) {
            // RFC 5882, 4.3.1, and 4.3.2.2 of one that did not seem to restart: its labels are not kept.
            self.drop_stale(now, context, peer);
            self.update_links(now, context, peer);
        } else {
            self.labels.part_at(now, context.services, key_of(peer), port);
        }
    }
}
