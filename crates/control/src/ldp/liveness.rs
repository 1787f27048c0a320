//! Routers that are heard on a link are watched, and one that does not answer any more is heard no more (RFC 5882,
//! 4.2.1).

use super::Ldp;
use crate::protocol::Context;
use crate::services::{Interface, WatchedPath};
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

impl Ldp {
    /// Has those watched that are heard, if the settings say so.
    pub(super) fn watch(&mut self, context: &mut Context<'_>) {
        let Some(pace) = self.config.bfd.filter(|_| core::mem::take(&mut self.is_watch_due)) else { return };
        let interfaces = &context.services.interfaces;
        let path = |port: PortId, remote: Ipv4Addr| {
            let (local, _) = interfaces.of_port(port).and_then(Interface::ipv4)?;
            Some(WatchedPath { port: Some(port), local, remote })
        };
        let heard = self.adjacencies.iter().filter_map(|((port, _), one)| path(*port, one.address));
        let wanted: BTreeMap<_, _> = heard.map(|path| (path, pace)).collect();
        context.services.liveness.watch_only(Ldp::ID, &wanted);
    }

    /// A path is dead: who is behind it is gone from its link, as without Hellos.
    pub(super) fn on_dead(&mut self, now: Time, context: &mut Context<'_>, dead: WatchedPath) {
        if self.config.bfd.is_none() {
            return;
        }
        let gone = self
            .adjacencies
            .iter()
            .filter(|((port, _), one)| Some(*port) == dead.port && one.address == dead.remote);
        for key in gone.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.part(now, context, key);
        }
    }
}
