//! Groups: lists of actions that entries and other groups share, and which of them a packet gets.

use base::Time;
use std::collections::{BTreeMap, BTreeSet};
use wire::openflow::v1_3::{Action, Bucket, Counter, Fault, GroupType, groups, ports};

/// Groups that a switch has at most.
pub const GROUPS_MAX: usize = 65_536;
/// Actions that the buckets of all its groups have at most, buckets counted likewise.
pub const GROUP_ACTIONS_MAX: usize = 1 << 20;

/// All groups of a switch.
#[derive(Clone, Debug, Default)]
pub struct GroupTable {
    groups: BTreeMap<u32, Group>,
    /// Buckets and actions of them all.
    size: usize,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What it does with a packet.
    pub kind: GroupType,
    /// Its lists of actions.
    pub buckets: Vec<Bucket>,
    /// When it was added.
    pub created: Time,
    /// All packets.
    pub total: Counter,
    /// Those that each bucket got.
    pub counters: Vec<Counter>,
}

const ZERO: Counter = Counter { packets: 0, bytes: 0 };

impl Group {
    fn new(kind: GroupType, buckets: Vec<Bucket>, created: Time) -> Group {
        let counters = vec![ZERO; buckets.len()];
        Group { kind, buckets, created, total: ZERO, counters }
    }

    /// The groups that its buckets give packets to, one as often as there are actions that do.
    pub fn next_groups(&self) -> impl Iterator<Item = u32> {
        next_groups(&self.buckets)
    }
}

fn count(counter: &mut Counter, bytes: u32) {
    counter.packets += 1;
    counter.bytes += u64::from(bytes);
}

/// The groups that a bucket gives packets to.
fn next_groups(buckets: &[Bucket]) -> impl Iterator<Item = u32> {
    buckets.iter().flat_map(|bucket| &bucket.actions).filter_map(|action| match action {
        Action::Group { group } => Some(*group),
        _ => None,
    })
}

/// How much room they take: buckets and their actions.
fn size_of(buckets: &[Bucket]) -> usize {
    buckets.iter().map(|bucket| 1 + bucket.actions.len()).sum()
}

/// Has a bucket something that it is alive with?
fn is_watching(bucket: &Bucket) -> bool {
    bucket.watch_port != ports::ANY || bucket.watch_group != groups::ANY
}

impl GroupTable {
    /// A group.
    pub fn get(&self, id: u32) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// All groups, by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Group)> {
        self.groups.iter().map(|(id, group)| (*id, group))
    }

    /// Adds a group.
    pub fn add(&mut self, id: u32, kind: GroupType, buckets: Vec<Bucket>, now: Time) -> Result<(), Fault> {
        if self.groups.contains_key(&id) {
            return Err(Fault::GroupExists);
        }
        self.check(id, kind, &buckets)?;
        if self.groups.len() >= GROUPS_MAX {
            return Err(Fault::OutOfGroups);
        }
        self.size = self.size_with(0, &buckets)?;
        self.groups.insert(id, Group::new(kind, buckets, now));
        Ok(())
    }

    /// Gives a group another type and other buckets, which begin to count anew; what the group has counted goes on.
    pub fn modify(&mut self, id: u32, kind: GroupType, buckets: Vec<Bucket>) -> Result<(), Fault> {
        let old = self.groups.get(&id).ok_or(Fault::UnknownGroup)?;
        let (created, total, before) = (old.created, old.total.clone(), size_of(&old.buckets));
        self.check(id, kind, &buckets)?;
        self.size = self.size_with(before, &buckets)?;
        self.groups.insert(id, Group { total, ..Group::new(kind, buckets, created) });
        Ok(())
    }

    /// Deletes a group, or all: the numbers of those that were there. Entries that give to them go with them, which is
    /// for the owner of the tables to do. A group that is not there is no error.
    pub fn delete(&mut self, id: u32) -> Result<Vec<u32>, Fault> {
        if id == groups::ALL {
            self.size = 0;
            return Ok(core::mem::take(&mut self.groups).into_keys().collect());
        }
        if id > groups::MAX {
            return Err(Fault::InvalidGroup);
        }
        let is_chained = self
            .groups
            .iter()
            .any(|(other, group)| *other != id && next_groups(&group.buckets).any(|next| next == id));
        if is_chained && self.groups.contains_key(&id) {
            return Err(Fault::ChainedGroup);
        }
        let gone = self.groups.remove(&id);
        self.size -= gone.as_ref().map_or(0, |group| size_of(&group.buckets));
        Ok(gone.map(|_| id).into_iter().collect())
    }

    /// Buckets and actions of all groups, if so many go and these come.
    fn size_with(&self, going: usize, buckets: &[Bucket]) -> Result<usize, Fault> {
        let size = self.size - going + size_of(buckets);
        if size > GROUP_ACTIONS_MAX { Err(Fault::OutOfBuckets) } else { Ok(size) }
    }

    fn check(&self, id: u32, kind: GroupType, buckets: &[Bucket]) -> Result<(), Fault> {
        if id > groups::MAX || kind == GroupType::Indirect && buckets.len() != 1 {
            return Err(Fault::InvalidGroup);
        }
        if kind == GroupType::FastFailover && !buckets.iter().all(is_watching) {
            return Err(Fault::WatchUnsupported);
        }
        for next in next_groups(buckets) {
            if next != id && !self.groups.contains_key(&next) {
                return Err(Fault::BadOutGroup);
            }
            if next == id || self.reaches(next, id) {
                return Err(Fault::Loop);
            }
        }
        Ok(())
    }

    /// Can a packet that is given to `from` come to `to`? Groups that are there have no loop.
    fn reaches(&self, from: u32, to: u32) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(id) = open.pop() {
            if id == to {
                return true;
            }
            if let Some(group) = self.groups.get(&id).filter(|_| seen.insert(id)) {
                open.extend(next_groups(&group.buckets));
            }
        }
        false
    }

    /// The buckets that get a packet, which counts it. `flow` is the same number for all packets of a flow, so that
    /// groups that select keep them together; `is_live` says of a port whether it can send.
    pub fn take(&mut self, id: u32, bytes: u32, flow: u64, is_live: &impl Fn(u32) -> bool) -> Vec<usize> {
        let chosen = self.choose(id, flow, is_live);
        if let Some(group) = self.groups.get_mut(&id) {
            count(&mut group.total, bytes);
            chosen.iter().for_each(|place| count(&mut group.counters[*place], bytes));
        }
        chosen
    }

    fn choose(&self, id: u32, flow: u64, is_live: &impl Fn(u32) -> bool) -> Vec<usize> {
        let Some(group) = self.groups.get(&id) else { return Vec::new() };
        match group.kind {
            GroupType::All | GroupType::Indirect => (0..group.buckets.len()).collect(),
            GroupType::FastFailover => {
                let alive = |bucket: &Bucket| self.is_bucket_live(bucket, is_live);
                group.buckets.iter().position(alive).into_iter().collect()
            }
            GroupType::Select => {
                // Shares of the buckets that can send; one that watches nothing always can.
                let share = |bucket: &Bucket| {
                    let is_open = !is_watching(bucket) || self.is_bucket_live(bucket, is_live);
                    if is_open { u64::from(bucket.weight) } else { 0 }
                };
                let shares: Vec<u64> = group.buckets.iter().map(share).collect();
                let total: u64 = shares.iter().sum();
                // The upper bits of the product spread evenly, whatever the total.
                let mut left = ((u128::from(flow) * u128::from(total)) >> 64) as u64;
                for (place, share) in shares.into_iter().enumerate() {
                    if left < share {
                        return vec![place];
                    }
                    left -= share;
                }
                Vec::new()
            }
        }
    }

    /// A bucket is alive with its port, or with the group that it watches; a group with any bucket that is. Groups may
    /// watch each other in a circle, which no rule forbids: each is looked at once.
    fn is_bucket_live(&self, bucket: &Bucket, is_live: &impl Fn(u32) -> bool) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![bucket]);
        while let Some(bucket) = open.pop() {
            if bucket.watch_port != ports::ANY && is_live(bucket.watch_port) {
                return true;
            }
            let watched = self.groups.get(&bucket.watch_group);
            if let Some(group) = watched.filter(|_| seen.insert(bucket.watch_group)) {
                open.extend(&group.buckets);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(weight: u16, watch_port: u32, action: Action) -> Bucket {
        Bucket { weight, watch_port, watch_group: groups::ANY, actions: vec![action] }
    }

    fn to(port: u32) -> Action {
        Action::Output { port, max_len: 0 }
    }

    fn live(_: u32) -> bool {
        true
    }

    #[test]
    fn each_type_chooses_its_buckets() {
        let mut table = GroupTable::default();
        let buckets = || vec![bucket(1, 1, to(1)), bucket(3, 2, to(2))];
        for (id, kind) in [(1, GroupType::All), (2, GroupType::Select), (3, GroupType::FastFailover)] {
            table.add(id, kind, buckets(), Time::ZERO).expect("a group");
        }
        assert_eq!(table.take(1, 100, 0, &live), [0, 1]);
        assert_eq!(table.take(3, 100, 0, &live), [0]);
        assert_eq!(table.take(3, 100, 0, &|port| port == 2), [1]);
        assert_eq!(table.take(3, 100, 0, &|_| false), [0; 0]);
        let mut got = [0; 2];
        for flow in 0..4096u64 {
            got[table.take(2, 1, flow << 52, &live)[0]] += 1;
        }
        assert_eq!(got, [1024, 3072]);
        assert_eq!(table.take(2, 1, u64::MAX, &|port| port == 1), [0]);
        let group = table.get(2).expect("the group");
        assert_eq!((group.total.packets, group.counters[1].packets), (4097, 3072));
        table.modify(2, GroupType::All, buckets()).expect("the group");
        let group = table.get(2).expect("the group");
        assert_eq!((group.total.packets, group.counters[1].packets), (4097, 0));
    }

    #[test]
    fn what_a_group_can_not_be_is_refused() {
        let mut table = GroupTable::default();
        let one = || vec![bucket(0, ports::ANY, to(1))];
        let mut add = |id, kind, buckets| table.add(id, kind, buckets, Time::ZERO);
        assert_eq!(add(1, GroupType::All, one()), Ok(()));
        assert_eq!(add(1, GroupType::All, one()), Err(Fault::GroupExists));
        assert_eq!(add(groups::ALL, GroupType::All, one()), Err(Fault::InvalidGroup));
        assert_eq!(add(2, GroupType::Indirect, vec![]), Err(Fault::InvalidGroup));
        assert_eq!(add(2, GroupType::FastFailover, one()), Err(Fault::WatchUnsupported));
        let chain = |group| vec![bucket(0, ports::ANY, Action::Group { group })];
        assert_eq!(add(2, GroupType::All, chain(9)), Err(Fault::BadOutGroup));
        assert_eq!(add(2, GroupType::All, chain(2)), Err(Fault::Loop));
        assert_eq!(add(2, GroupType::All, chain(1)), Ok(()));
        assert_eq!(table.modify(1, GroupType::All, chain(2)), Err(Fault::Loop));
        assert_eq!(table.modify(7, GroupType::All, one()), Err(Fault::UnknownGroup));
        assert_eq!(table.delete(1), Err(Fault::ChainedGroup));
        assert_eq!(table.delete(7), Ok(vec![]));
        assert_eq!(table.delete(groups::ALL), Ok(vec![1, 2]));
    }

    #[test]
    fn there_is_room_for_so_many_groups_and_actions() {
        let mut table = GroupTable::default();
        for id in 0..GROUPS_MAX as u32 {
            table.add(id, GroupType::All, vec![], Time::ZERO).expect("room");
        }
        assert_eq!(table.add(1 << 20, GroupType::All, vec![], Time::ZERO), Err(Fault::OutOfGroups));
        assert_eq!(table.delete(7), Ok(vec![7]));
        // 2^14 times 64 is all that there is room for.
        let half = || vec![Bucket { actions: vec![to(1); 63], ..bucket(0, ports::ANY, to(1)) }; 1 << 13];
        assert_eq!(table.modify(1, GroupType::All, half()), Ok(()));
        assert_eq!(table.modify(1, GroupType::All, half()), Ok(()), "it takes its own place");
        assert_eq!(table.add(7, GroupType::All, half(), Time::ZERO), Ok(()));
        assert_eq!(table.modify(2, GroupType::All, half()), Err(Fault::OutOfBuckets));
        assert_eq!(table.delete(7), Ok(vec![7]));
        assert_eq!(table.modify(2, GroupType::All, half()), Ok(()));
        assert_eq!(table.delete(groups::ALL).map(|gone| gone.len()), Ok(GROUPS_MAX - 1));
        assert_eq!(table.add(7, GroupType::All, half(), Time::ZERO), Ok(()));
    }

    #[test]
    fn groups_that_watch_each_other_are_dead_together() {
        let mut table = GroupTable::default();
        for (id, watched) in [(1, 2), (2, 1)] {
            let bucket = Bucket { watch_group: watched, ..bucket(0, ports::ANY, to(1)) };
            table.add(id, GroupType::FastFailover, vec![bucket], Time::ZERO).expect("a group");
        }
        assert_eq!(table.take(1, 1, 0, &live), [0; 0]);
        // Each of these has many ways to the next: all ways together are more than can be gone.
        for id in 10..60 {
            let bucket = Bucket { watch_group: id + 1, ..bucket(1, ports::ANY, to(1)) };
            table.add(id, GroupType::Select, vec![bucket; 10], Time::ZERO).expect("a group");
        }
        assert_eq!(table.take(10, 1, 0, &live), [0; 0]);
        table.add(60, GroupType::All, vec![bucket(1, 4, to(1))], Time::ZERO).expect("a group");
        assert_eq!(table.take(10, 1, 0, &live), [0]);
        assert_eq!(table.take(10, 1, 0, &|_| false), [0; 0]);
    }
}
