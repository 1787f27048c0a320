//! Neighbours are watched, and one that does not answer any more is lost at once (RFC 5882, 4.2.1).

use super::Ospf;
use super::interface::{Interface, InterfaceName};
use super::neighbor::{Neighbor, NeighborEvent};
use crate::protocol::Context;
use crate::services::WatchedPath;
use base::Time;
use std::collections::BTreeMap;

fn path(at: &Interface, neighbor: &Neighbor) -> Option<WatchedPath> {
    Some(WatchedPath::hop(at.name.port()?, at.address, neighbor.address))
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
            wanted.extend(heard.filter_map(|neighbor| Some((path(at, neighbor)?, pace))));
        }
        context.services.liveness.watch_only(Ospf::ID, &wanted);
    }

    /// A path is dead: the neighbour behind it is gone, as if it had been silent for too long.
    pub(super) fn on_dead(&mut self, now: Time, dead: WatchedPath) {
        let name = dead.port().map(InterfaceName::Port);
        let Some(at) = name.and_then(|name| self.interfaces.get(&name)) else { return };
        if at.config.bfd.is_none() {
            return;
        }
        let by = at.name;
        let gone = at.neighbors.iter().filter(|(_, neighbor)| path(at, neighbor) == Some(dead));
        for name in gone.map(|(name, _)| *name).collect::<Vec<_>>() {
            self.step(now, (by, name), NeighborEvent::Gone);
        }
    }
}
