//! Groups at leaves: packets that come off a P2MP LSP go to the hosts that want them.

use crate::rsvp::Rsvp;
use base::plane::{GroupKey, Incoming, LabelStack, NextHop, Nhlfe};
use std::collections::BTreeSet;

impl Rsvp {
    /// Is this router a leaf of a tree now? The first one, and the last, change what is done with groups.
    pub(super) fn p2mp_note_leaf(&mut self, tree: u32) {
        let Some(state) = self.p2mp.trees.get(tree) else { return };
        let is_leaf = self.p2mp.subs_of(state).any(|sub| sub.ends_here);
        let Some(state) = self.p2mp.trees.get_mut(tree) else { return };
        let was_leaf = core::mem::replace(&mut state.is_leaf, is_leaf);
        let before = self.p2mp.leaves;
        match (was_leaf, is_leaf) {
            (false, true) => self.p2mp.leaves += 1,
            (true, false) => self.p2mp.leaves -= 1,
            _ => return,
        }
        if before == 0 || self.p2mp.leaves == 0 {
            let wanted = self.services.multicast.all_wanted().map(|(key, _, _)| key);
            let known = self.services.multicast.ways(Rsvp::ID).into_iter();
            let below = known.filter(|(_, incoming)| *incoming == Incoming::Label).map(|(key, _)| key);
            let keys: BTreeSet<GroupKey> = wanted.chain(below).collect();
            keys.into_iter().for_each(|key| self.p2mp_wanted(key));
        }
    }

    /// Other ports than before want packets of a group.
    pub(in crate::rsvp) fn p2mp_wanted(&mut self, key: GroupKey) {
        let ports = if self.p2mp.leaves > 0 { self.services.multicast.wanted(key) } else { Vec::new() };
        let branch = |port| Nhlfe {
            push: LabelStack::EMPTY,
            next_hop: NextHop::Via { port, gateway: key.group },
            ttl: self.config.ttl,
            tc: self.config.tc,
        };
        let branches = ports.into_iter().map(branch).collect();
        // Another tree may bring the group to this router: it has the way then.
        self.services.multicast.set(Rsvp::ID, (key, Incoming::Label), branches);
    }
}
