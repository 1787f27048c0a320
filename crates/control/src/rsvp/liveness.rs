//! Neighbours are watched, and what depends on one that does not answer any more is given up, as after the loss of
//! Hellos.

use super::Rsvp;
use super::event::Event;
use super::transport::Neighbor;
use crate::services::WatchedPath;

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
            let path = WatchedPath { port: Some(at.port), local: at.address, remote };
            self.services.liveness.watch(Rsvp::ID, path, pace);
        }
    }

    /// A path is dead.
    pub(super) fn on_dead(&mut self, dead: WatchedPath) {
        let (Some(port), true) = (dead.port, self.config.bfd.is_some()) else { return };
        let gone = Neighbor { port, address: dead.remote };
        self.event(Event::NeighborDown { neighbor: dead.remote, restarted: false });
        self.lost_beyond(|hop| hop == gone);
    }
}
