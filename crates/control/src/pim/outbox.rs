//! Joins and Prunes on their way out: what is said to one neighbour at one time goes together (RFC 7761, 4.9.5.2).

use base::PortId;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::pim::{GroupSet, JoinPrune, SourceEntry};

/// The sources of a group: joined, and pruned.
type Sources = [BTreeSet<Ipv4Addr>; 2];

/// What is to be said, by port and the neighbour that it is for.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox(BTreeMap<(PortId, Ipv4Addr), BTreeMap<Ipv4Addr, Sources>>);

impl Outbox {
    /// Joins a source of a group, or prunes it. What was to be said of it before is not said.
    pub(super) fn say(&mut self, to: (PortId, Ipv4Addr), group: Ipv4Addr, source: Ipv4Addr, is_join: bool) {
        let [joined, pruned] = self.0.entry(to).or_default().entry(group).or_default();
        let (into, other) = if is_join { (joined, pruned) } else { (pruned, joined) };
        into.insert(source);
        other.remove(&source);
    }

    /// The messages, each with its port, on which Joins hold for so long. None is longer than the port takes, as `room`
    /// says in bytes.
    pub(super) fn take(
        &mut self,
        holdtime_s: impl Fn(PortId) -> u16,
        room: impl Fn(PortId) -> usize,
    ) -> Vec<(PortId, JoinPrune)> {
        let mut all = Vec::new();
        for ((port, neighbor), groups) in core::mem::take(&mut self.0) {
            let holdtime_s = holdtime_s(port);
            let begin = || JoinPrune { upstream: neighbor.into(), holdtime_s, groups: Vec::new() };
            let (mut message, mut left) = (begin(), room(port).saturating_sub(JoinPrune::LEN));
            for (group, [joined, pruned]) in groups {
                let entries = joined.into_iter().map(|one| (one, true));
                let entries = entries.chain(pruned.into_iter().map(|one| (one, false)));
                // The next entry begins a set of its own: of another group, or in another message.
                let mut is_new = true;
                for (source, is_join) in entries {
                    let len = SourceEntry::LEN + if is_new { GroupSet::LEN } else { 0 };
                    let is_full = left < len || (is_new && message.groups.len() == JoinPrune::GROUPS_MAX);
                    if is_full && !message.groups.is_empty() {
                        all.push((port, core::mem::replace(&mut message, begin())));
                        left = room(port).saturating_sub(JoinPrune::LEN);
                        is_new = true;
                    }
                    if core::mem::replace(&mut is_new, false) {
                        let (group, joined, pruned) = (group.into(), Vec::new(), Vec::new());
                        message.groups.push(GroupSet { group, joined, pruned });
                        left = left.saturating_sub(GroupSet::LEN);
                    }
                    if let Some(set) = message.groups.last_mut() {
                        let list = if is_join { &mut set.joined } else { &mut set.pruned };
                        list.push(SourceEntry::of(source.into()));
                        left = left.saturating_sub(SourceEntry::LEN);
                    }
                }
            }
            all.push((port, message));
        }
        all.retain(|(_, message)| !message.groups.is_empty());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_one_neighbour_goes_together_and_is_split_where_it_is_long() {
        let address = |n: u8| Ipv4Addr::new(10, 0, 0, n);
        let group = |n: u8| Ipv4Addr::new(232, 0, 1, n);
        let mut outbox = Outbox::default();
        let to = (PortId(3), address(1));
        outbox.say(to, group(1), address(7), true);
        outbox.say(to, group(1), address(8), false);
        outbox.say(to, group(2), address(7), false);
        outbox.say(to, group(2), address(7), true);
        let messages = outbox.clone().take(|_| 210, |_| 1480);
        let entry = |n: u8| SourceEntry::of(address(n).into());
        let sets = vec![
            GroupSet { group: group(1).into(), joined: vec![entry(7)], pruned: vec![entry(8)] },
            GroupSet { group: group(2).into(), joined: vec![entry(7)], pruned: Vec::new() },
        ];
        let whole = JoinPrune { upstream: address(1).into(), holdtime_s: 210, groups: sets };
        assert_eq!(messages, [(PortId(3), whole)]);
        // Room for a set of one entry.
        let messages = outbox.take(|_| 210, |_| JoinPrune::LEN + GroupSet::LEN + SourceEntry::LEN);
        assert_eq!(messages.len(), 3);
        // No message has more groups than it can count, and none is longer than there is room.
        let mut outbox = Outbox::default();
        for n in 0..=255 {
            (1..4).for_each(|m| outbox.say(to, group(n), address(m), true));
        }
        for (room, least) in [(usize::MAX, 2), (1480, 7)] {
            let messages = outbox.clone().take(|_| 210, |_| room);
            assert!(messages.len() >= least, "{} messages", messages.len());
            let count: usize =
                messages.iter().flat_map(|(_, one)| &one.groups).map(|set| set.joined.len()).sum();
            assert_eq!(count, 3 * 256);
            for (_, message) in messages {
                assert!(message.groups.len() <= 255);
                assert!(wire::pim::Repr::JoinPrune(message).emit().len() <= room);
            }
        }
    }
}
