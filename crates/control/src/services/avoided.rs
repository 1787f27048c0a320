//! Links that are to be avoided: they work, and somebody else has to be ready before packets go by them, such as the
//! protocol that distributes labels (RFC 5443). Who finds routes makes them cost as much as can be.

use base::PortId;
use std::collections::{BTreeSet, VecDeque};

/// The ports of links that are to be avoided.
#[derive(Clone, Debug, Default)]
pub struct Avoided {
    ports: BTreeSet<PortId>,
    /// Those that have become so, or are so no more; nobody has been told yet.
    changed: VecDeque<PortId>,
}

impl Avoided {
    /// Is the link of a port to be avoided?
    pub fn is(&self, port: PortId) -> bool {
        self.ports.contains(&port)
    }

    /// Notes whether the link of a port is to be avoided.
    pub fn set(&mut self, port: PortId, is_avoided: bool) {
        let is_new = match is_avoided {
            true => self.ports.insert(port),
            false => self.ports.remove(&port),
        };
        if is_new {
            self.changed.push_back(port);
        }
    }

    /// Nothing is known after a restart.
    pub(crate) fn restart(&mut self) {
        *self = Avoided::default();
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A port that changed, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<PortId> {
        self.changed.pop_front()
    }
}
