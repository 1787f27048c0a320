//! Routers that are heard on a link are watched, and one that does not answer any more is heard no more (RFC 5882,
//! 4.2.1). So are LSPs that begin here, if the settings say so (RFC 5884).

use super::{Config, Ldp};
use crate::protocol::Context;
use crate::services::{Interface, WatchedLsp, WatchedPath, Way};
use base::plane::Prefix;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

impl Ldp {
    /// Has those watched that are heard, and LSPs, if the settings say so.
    pub(super) fn watch(&mut self, context: &mut Context<'_>) {
        let Config { bfd, lsp_watch, .. } = self.config;
        let is_due = core::mem::take(&mut self.is_watch_due) | self.labels.take_moved();
        if !is_due || bfd.or(lsp_watch).is_none() {
            return;
        }
        let interfaces = &context.services.interfaces;
        let path = |port: PortId, remote: Ipv4Addr| {
            let (local, _) = interfaces.of_port(port).and_then(Interface::ipv4)?;
            Some(WatchedPath::hop(port, local, remote))
        };
        let heard = self.adjacencies.iter().filter_map(|((port, _), one)| path(*port, one.address));
        let neighbors = bfd.into_iter().flat_map(|pace| heard.clone().map(move |path| (path, pace)));
        let local = interfaces.router_id.into();
        let lsp = |prefix: Prefix| {
            let way = Way::Lsp(WatchedLsp::Ldp(prefix));
            WatchedPath { way, local, remote: prefix.address().into() }
        };
        let lsps = lsp_watch.into_iter().flat_map(|pace| self.labels.lsps().map(move |one| (lsp(one), pace)));
        let wanted: BTreeMap<_, _> = neighbors.chain(lsps).collect();
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

    /// A path is dead: who is behind it is gone from its link, as without Hellos.
    pub(super) fn on_dead(&mut self, now: Time, context: &mut Context<'_>, dead: WatchedPath) {
        if self.config.bfd.is_none() {
            return;
        }
        let gone = self
            .adjacencies
            .iter()
            .filter(|((port, _), one)| Some(*port) == dead.port() && one.address == dead.remote);
        for key in gone.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.part(now, context, key);
        }
    }
}
