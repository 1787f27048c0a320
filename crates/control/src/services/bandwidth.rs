//! How much bandwidth is left on ports: who reserves it says so, and who announces it is told.

use base::{PortId, Rate};
use std::collections::{BTreeMap, VecDeque};

/// Bandwidth that a setup priority could still get, 0 the most tenacious, by preemption if need be.
pub type Unreserved = [Rate; 8];

/// What is left of the bandwidth that may be reserved, port by port.
#[derive(Debug, Default)]
pub struct Bandwidth {
    /// Does anybody want to know?
    is_watched: bool,
    left: BTreeMap<PortId, Unreserved>,
    /// Ports of which something is to be told, and whether bandwidth was refused there.
    changed: VecDeque<(PortId, bool)>,
}

impl Bandwidth {
    /// From now on somebody wants to know.
    pub(crate) fn watch(&mut self) {
        self.is_watched = true;
    }

    /// Does anybody want to know? Else nothing has to be said.
    pub const fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// What is left on a port; nothing if nobody has reserved there yet.
    pub fn left(&self, port: PortId) -> Option<Unreserved> {
        self.left.get(&port).copied()
    }

    /// Notes what is left on a port.
    pub fn set(&mut self, port: PortId, left: Unreserved) {
        if self.is_watched && self.left.insert(port, left) != Some(left) {
            self.changed.push_back((port, false));
        }
    }

    /// Notes that bandwidth was refused on a port, because too little is left there.
    pub fn refuse(&mut self, port: PortId) {
        if self.is_watched {
            self.changed.push_back((port, true));
        }
    }

    /// What was reserved is lost: the node restarts.
    pub(crate) fn restart(&mut self) {
        self.left.clear();
        self.changed.clear();
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// What is to be told next: the port, and whether bandwidth was refused there.
    pub(crate) fn poll_change(&mut self) -> Option<(PortId, bool)> {
        self.changed.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_that_nobody_wants_to_know() {
        let (port, mut all) = (PortId(3), Bandwidth::default());
        all.set(port, [Rate(1); 8]);
        all.refuse(port);
        assert_eq!((all.left(port), all.is_changed()), (None, false));
        all.watch();
        all.set(port, [Rate(1); 8]);
        all.set(port, [Rate(1); 8]);
        all.refuse(port);
        assert_eq!((all.poll_change(), all.poll_change()), (Some((port, false)), Some((port, true))));
        assert_eq!((all.left(port), all.poll_change()), (Some([Rate(1); 8]), None));
        all.restart();
        assert_eq!((all.left(port), all.is_watched()), (None, true));
    }
}
