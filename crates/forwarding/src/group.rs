//! Groups of next hops: which member a flow takes.
//!
//! Rendezvous hashing (Thaler and Ravishankar, 1998): flow and member together give a number, and the member with the
//! greatest wins. So a member that goes takes only its own flows along, one that comes draws from all alike, and what
//! was there before does not matter: there is no table of buckets to keep, and two nodes with the same members and seed
//! choose the same. The time is proportional to the number of members.

use crate::adjacency::{Adjacencies, State};
use crate::hash::{Seed, mix};
use crate::port::Ports;
use crate::tables::Forwarding;
use base::Label;
use base::device::DropReason;
use base::plane::{Backup, GroupId, LabelStack, Leg, MEMBERS_MAX, Member, TableError};
use base::random::fnv1a;
use core::hint::select_unpredictable;

/// A leg as it is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Place of the neighbour among the next hops.
    pub(crate) adjacency: u32,
    /// Labels put on above those of the entry.
    pub(crate) labels: LabelStack,
    /// What takes the place of the entry's outermost label.
    pub(crate) swap: Option<Label>,
}

/// The way that was found for a packet.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// Place of the neighbour among the next hops.
    pub(crate) adjacency: u32,
    /// Labels put on above those of the entry, the last of them outermost.
    pub(crate) labels: &'a [Label],
    /// What takes the place of the entry's outermost label.
    pub(crate) swap: Option<Label>,
}

/// What a choice between members reads.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// A number of the member's own, whatever its place.
    key: u64,
    adjacency: u32,
}

/// A member's leg, and its backup.
type Choice = (Way, Option<Way>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    id: GroupId,
    candidates: Vec<Candidate>,
    /// Primary leg and backup of each candidate.
    ways: Vec<Choice>,
}

/// An odd number whose bits are evenly spread: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Candidate {
    #[inline(always)]
    fn score(&self, flow: u64) -> u64 {
        mix(flow ^ self.key, SPREAD)
    }
}

impl Group {
    /// The adjacency of the member that a flow takes while all can be used.
    #[inline(always)]
    pub(crate) fn choose(&self, flow: u64) -> Option<u32> {
        let (first, others) = self.candidates.split_first()?;
        let (mut best, mut most) = (first.adjacency, first.score(flow));
        for candidate in others {
            let score = candidate.score(flow);
            best = select_unpredictable(score > most, candidate.adjacency, best);
            most = most.max(score);
        }
        Some(best)
    }

    /// Can the port of its first member be used?
    #[inline]
    pub(crate) fn is_primary_up(&self, adjacencies: &Adjacencies, ports: &Ports) -> bool {
        self.ways.first().is_some_and(|(way, _)| adjacencies.is_up(way.adjacency, ports))
    }

    /// The members, as the writer gave them but for their order.
    fn places(&self) -> core::ops::Range<usize> {
        0..self.candidates.len()
    }
}

impl Forwarding {
    /// The way that a packet takes by the next hop at `index`: that neighbour, or in a group the member that the flow
    /// chooses.
    #[inline(always)]
    pub(crate) fn way(&self, index: u32, flow: impl FnOnce() -> u64) -> Result<Chosen<'_>, DropReason> {
        let next_hop = self.adjacencies.get(index).ok_or(DropReason::NoAdjacency)?;
        match next_hop.group() {
            None => Ok(Chosen { adjacency: index, labels: &[], swap: None }),
            Some(place) => {
                let way = self.way_of_group(place, flow())?;
                Ok(Chosen { adjacency: way.adjacency, labels: way.labels.as_slice(), swap: way.swap })
            }
        }
    }

    /// Can the port of the first member of the group be used whose next hop is at `index`?
    pub(crate) fn is_primary_up(&self, index: u32) -> bool {
        let place = self.adjacencies.get(index).and_then(|next_hop| next_hop.group());
        let group = place.and_then(|place| self.groups.get(place as usize));
        group.is_some_and(|group| group.is_primary_up(&self.adjacencies, &self.ports))
    }

    /// The way of a flow by a group. Of a member whose port is down it is the backup, if that can be used; else that of
    /// the member that the flow chooses among those that can.
    #[inline(never)]
    fn way_of_group(&self, place: u32, flow: u64) -> Result<&Way, DropReason> {
        let group = self.groups.get(place as usize).ok_or(DropReason::NoAdjacency)?;
        let is_up = |way: &&Way| self.adjacencies.is_up(way.adjacency, &self.ports);
        let best = |usable: &dyn Fn(&Choice) -> bool| {
            let usable = group.places().filter(|place| usable(&group.ways[*place]));
            let best = usable.max_by_key(|place| (group.candidates[*place].score(flow), usize::MAX - place));
            best.map(|place| &group.ways[place])
        };
        let (way, backup) = best(&|_| true).ok_or(DropReason::Discard)?;
        if is_up(&way) {
            return Ok(way);
        }
        if let Some(backup) = backup.as_ref().filter(is_up) {
            return Ok(backup);
        }
        match best(&|(way, _)| is_up(&way)) {
            Some((other, _)) => Ok(other),
            None => {
                let other = best(&|(_, backup)| backup.as_ref().is_some_and(|backup| is_up(&backup)));
                other.and_then(|(_, backup)| backup.as_ref()).ok_or(DropReason::PortDown)
            }
        }
    }

    pub(crate) fn group_set(&mut self, id: GroupId, members: &[Member]) -> Result<(), TableError> {
        let legs = || {
            members.iter().flat_map(|member| {
                core::iter::once(&member.leg).chain(member.backup.as_ref().map(|backup| &backup.leg))
            })
        };
        let twice = members.iter().enumerate().any(|(n, one)| members[..n].iter().any(|m| m.leg == one.leg));
        if members.is_empty()
            || members.len() > MEMBERS_MAX
            || twice
            || legs().any(|l| l.gateway.is_unspecified())
        {
            return Err(TableError::Group);
        }
        if legs().any(|leg| leg.labels.as_slice().contains(&Label::IMPLICIT_NULL)) {
            return Err(TableError::ReservedLabel);
        }
        let swaps = members.iter().filter_map(|member| member.backup?.swap);
        let odd = |label: &Label| {
            label.is_reserved() && ![Label::IMPLICIT_NULL, Label::EXPLICIT_NULL].contains(label)
        };
        if swaps.into_iter().any(|label| odd(&label)) {
            return Err(TableError::ReservedLabel);
        }
        for leg in legs() {
            self.port_config(leg.port)?;
        }
        let seed = self.config.seed;
        let mut group = Group { id, ..Group::default() };
        for member in members {
            let way = self.take_leg(&member.leg)?;
            let backup = member.backup.as_ref();
            let backup =
                backup.map(|backup| self.take_leg(&backup.leg).map(|way| Way { swap: backup.swap, ..way }));
            let backup = backup.transpose()?;
            group.candidates.push(Candidate { key: key_of(&member.leg, seed), adjacency: way.adjacency });
            group.ways.push((way, backup));
        }
        let index = match self.adjacencies.find_group(id) {
            Some(index) => index,
            None if self.adjacencies.groups() >= self.config.groups_max => {
                self.give_legs_back(&group);
                return Err(TableError::Full);
            }
            None => {
                let place = self.free_groups.pop().unwrap_or_else(|| {
                    self.groups.push(Group::default());
                    (self.groups.len() - 1) as u32
                });
                self.adjacencies.add_group(id, place)
            }
        };
        let labels = group.ways.iter().any(|(way, _)| !way.labels.as_slice().is_empty());
        let shown = match &*group.ways {
            _ if labels => Err(State::Several),
            [(way, _)] => Ok(way.adjacency),
            _ => Err(State::Balanced),
        };
        let place = self.adjacencies.get(index).and_then(|a| a.group()).unwrap_or_default();
        let old = core::mem::replace(&mut self.groups[place as usize], group);
        self.give_up(&old, index);
        self.adjacencies.show_group(index, shown);
        Ok(())
    }

    pub(crate) fn group_remove(&mut self, id: GroupId) -> Result<(), TableError> {
        let index = self.adjacencies.find_group(id).ok_or(TableError::NoGroup)?;
        let removed = self.adjacencies.remove_group(id).ok_or(TableError::NoGroup)?;
        let place = removed.map_err(|()| TableError::InUse)?;
        let old = core::mem::take(&mut self.groups[place as usize]);
        self.give_up(&old, index);
        self.free_groups.push(place);
        Ok(())
    }

    /// Ends what a group whose next hop is at `index` has of neighbours.
    fn give_up(&mut self, old: &Group, index: u32) {
        if let [(only, _)] = &*old.ways {
            self.adjacencies.unfollow(only.adjacency, index);
        }
        self.give_legs_back(old);
    }

    fn give_legs_back(&mut self, group: &Group) {
        for (way, backup) in &group.ways {
            self.adjacencies.release(way.adjacency);
            backup.iter().for_each(|backup| self.adjacencies.release(backup.adjacency));
        }
    }

    fn take_leg(&mut self, leg: &Leg) -> Result<Way, TableError> {
        let config = self.port_config(leg.port)?;
        let adjacency = self.adjacencies.acquire(leg.port, leg.gateway, &config);
        Ok(Way { adjacency, labels: leg.labels, swap: None })
    }

    /// The group that the next hop at `index` is, if it is one.
    pub(crate) fn group_at(&self, index: u32) -> Option<GroupId> {
        let place = self.adjacencies.get(index)?.group()?;
        self.groups.get(place as usize).map(|group| group.id)
    }

    fn leg_of(&self, way: &Way) -> Option<Leg> {
        let port = self.adjacencies.get(way.adjacency)?.port;
        Some(Leg { labels: way.labels, port, gateway: self.adjacencies.gateway(way.adjacency) })
    }

    /// The members of the group whose next hop is at `index`, in the order in which they were given.
    pub(crate) fn members_of(&self, index: u32) -> Vec<Member> {
        let place = self.adjacencies.get(index).and_then(|a| a.group());
        let Some(group) = place.and_then(|place| self.groups.get(place as usize)) else { return Vec::new() };
        let member = |(way, backup): &Choice| {
            let other = |way: &Way| Some(Backup { leg: self.leg_of(way)?, swap: way.swap });
            Some(Member { leg: self.leg_of(way)?, backup: backup.as_ref().and_then(other) })
        };
        group.ways.iter().filter_map(member).collect()
    }
}

/// A number of the member's own: of what it is, not of its place, and another at each node.
fn key_of(leg: &Leg, seed: Seed) -> u64 {
    let mut text = format!("{} {}", leg.port.0, leg.gateway);
    leg.labels.as_slice().iter().for_each(|label| text.push_str(&format!(" {}", label.value())));
    mix(fnv1a(text.as_bytes()) ^ seed.1, SPREAD)
}
