//! Neighbours are watched, and one that does not answer any more is lost at once (RFC 5882, 4.2.1).

use super::Ospf;
use super::interface::Interface;
use super::neighbor::{Neighbor, NeighborEvent};
use crate::protocol::Context;
use crate::services::{WatchedPath, Way};
use base::Time;
use std::collections::BTreeMap;

/// How a neighbour is watched: across the link, or by the tables where a virtual link leads to it (RFC 5882, 10.1.3).
fn path(at: &Interface, neighbor: &Neighbor) -> WatchedPath {
    match at.name.port() {
        Some(port) => WatchedPath::hop(port, at.address, neighbor.address),
        None => WatchedPath { way: Way::Routed, local: at.address.into(), remote: neighbor.address.into() },
    }
}

impl Ospf {
    /// Has those neighbours watched that hear this router, where the settings say so.
    pub(super) fn watch(&mut self, context: &mut Context<'_>) {
        if !core::mem::take(&mut self.is_watch_due) {
            return;
        }
        let mut wanted = BTreeMap::new();
        for at in self.interfaces.values() {
            let Some(pace) = at.config.bfd else { continue };
            let heard = at.neighbors.values().filter(|neighbor| neighbor.state.is_two_way());
            wanted.extend(heard.map(|neighbor| (path(at, neighbor), pace)));
        }
        context.services.liveness.watch_only(Ospf::ID, &wanted);
    }

    /// A path is dead: the neighbour behind it is gone, as if it had been silent for too long.
    pub(super) fn on_dead(&mut self, now: Time, dead: WatchedPath) {
        let watched = self.interfaces.values().filter(|at| at.config.bfd.is_some());
        let gone = watched.flat_map(|at| {
            let of_path = at.neighbors.iter().filter(|(_, neighbor)| path(at, neighbor) == dead);
            of_path.map(|(name, _)| (at.name, *name))
        });
        for neighbor in gone.collect::<Vec<_>>() {
            self.step(now, neighbor, NeighborEvent::Gone);
        }
    }
}
