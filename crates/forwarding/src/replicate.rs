//! Replication lists: a packet leaves by every branch, each copy with labels of its own (RFC 3031, 3.10, lets an ILM
//! entry name several NHLFEs; RFC 4875 and multicast need them).
//!
//! The fast path only finds out that a packet is to be replicated and leaves it as it came. The owner then asks for one
//! copy after another by [`Forwarding::copy`]: each is decided on like a packet with an entry of its own, so that a
//! copy may wait for a neighbour, be cut, or end here while the others leave.

use crate::adjacency::State;
use crate::entry::{Entry, Kind};
use crate::packet::{ETHERNET, ETHERTYPE_MPLS, LABEL};
use crate::punt::{Exception, PuntReason, ip_offset, labels_of};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{NextHop, Nhlfe, ReplicationId, TableError};
use base::{Frame, Map, PortId};
use std::collections::{BTreeMap, VecDeque};

/// Which copy of a frame is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    at: u16,
    /// The branch of the list that the packet comes to below the label which ends here.
    below: Option<u16>,
}

impl Branch {
    /// The copy for a branch of the first list that a frame comes to.
    pub const fn first(at: u16) -> Branch {
        Branch { at, below: None }
    }

    /// The copy for a branch of the list that this copy comes to in turn. There is no third list.
    pub const fn then(self, below: u16) -> Option<Branch> {
        match self.below {
            None => Some(Branch { at: self.at, below: Some(below) }),
            Some(_) => None,
        }
    }

    /// What is asked for below the label of this branch.
    pub(crate) fn below(self) -> Option<Branch> {
        self.below.map(Branch::first)
    }
}

#[derive(Clone, Debug, Default)]
struct List {
    id: ReplicationId,
    /// Entries that name it.
    uses: u32,
    branches: Vec<Entry>,
    /// How many branches there are before those that stand by, if those are all at the end.
    always: usize,
}

/// The replication lists of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<List>,
    free: Vec<u32>,
    by_id: BTreeMap<ReplicationId, u32>,
}

impl Lists {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The list for one more entry; nothing if there is no such list.
    pub(crate) fn acquire(&mut self, id: ReplicationId) -> Option<u32> {
        let place = *self.by_id.get(&id)?;
        self.lists[place as usize].uses += 1;
        Some(place)
    }

    pub(crate) fn release(&mut self, place: u32) {
        if let Some(list) = self.lists.get_mut(place as usize) {
            list.uses = list.uses.saturating_sub(1);
        }
    }

    pub(crate) fn id(&self, place: u32) -> Option<ReplicationId> {
        self.lists.get(place as usize).map(|list| list.id)
    }

    pub(crate) fn branch_mut(&mut self, place: u32, branch: usize) -> Option<&mut Entry> {
        self.lists.get_mut(place as usize)?.branches.get_mut(branch)
    }

    /// Lists in order of their numbers, with their branches.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ReplicationId, &[Entry])> {
        self.by_id.iter().map(|(id, place)| (*id, &*self.lists[*place as usize].branches))
    }
}

/// The most branches of a list.
const BRANCHES_MAX: usize = u16::MAX as usize;

impl Forwarding {
    /// Does an entry give a packet, or a copy of it, to this node?
    pub(crate) fn is_for_node(&self, entry: &Entry) -> bool {
        let list = || self.lists.lists.get(entry.next_hop as usize);
        match entry.kind {
            Kind::Local => true,
            Kind::Replicate => {
                list().is_some_and(|list| list.branches.iter().any(|branch| branch.kind == Kind::Local))
            }
            _ => false,
        }
    }

    /// Does a copy leave by a port, of what an entry replicates?
    pub(crate) fn branches_to(&self, entry: &Entry, port: PortId) -> bool {
        let list = self.lists.lists.get(entry.next_hop as usize).filter(|_| entry.kind == Kind::Replicate);
        let leaves = |branch: &Entry| {
            matches!(branch.kind, Kind::One | Kind::Via)
                && self.adjacencies.get(branch.next_hop).is_some_and(|known| known.port == port)
        };
        list.is_some_and(|list| list.branches.iter().any(leaves))
    }

    /// The entry that decides on a packet which `entry` takes: itself, or if it replicates its `branch`. Without one
    /// the packet is punted, so that a copy is made for each.
    pub(crate) fn branch_of<'a>(
        &'a self,
        entry: &'a Entry,
        branch: Option<Branch>,
    ) -> Result<&'a Entry, Exception> {
        if entry.kind != Kind::Replicate {
            return Ok(entry);
        }
        let list = self.lists.lists.get(entry.next_hop as usize).ok_or(DropReason::Discard)?;
        match branch {
            Some(branch) => {
                let place = self.live(list).nth(usize::from(branch.at)).ok_or(DropReason::Discard)?;
                Ok(&list.branches[place])
            }
            None => match self.live(list).count() {
                0 => Err(DropReason::Discard.into()),
                branches => Err(PuntReason::Replicate { branches: branches as u16 }.into()),
            },
        }
    }

    /// Is a branch without a copy now, since what it stands by for can be used?
    fn is_idle(&self, branch: &Entry) -> bool {
        branch.kind == Kind::Standby && self.is_primary_up(branch.next_hop)
    }

    /// Places of the branches that a copy leaves by now.
    fn live<'a>(&'a self, list: &'a List) -> impl Iterator<Item = usize> + 'a {
        let late = list.branches.iter().enumerate().skip(list.always);
        (0..list.always).chain(late.filter(|(_, branch)| !self.is_idle(branch)).map(|(place, _)| place))
    }

    /// Makes `frame`, which arrived by `port` and is to be replicated, the copy for one branch, and returns its egress
    /// port. On an exception the frame is as it came. Drops are not counted here. Router alert and IP options do not
    /// stop it: they were looked at before it came to be copied.
    pub fn copy(&mut self, port: PortId, frame: &mut Frame, branch: Branch) -> Result<PortId, Exception> {
        let admitted = self.admit(port, frame.header())?;
        let plan = match self.decide_copy(admitted, frame, branch) {
            Err(Exception::Punt(reason @ PuntReason::Replicate { .. })) => {
                self.count_grouped(port, frame, ip_offset(labels_of(frame)));
                return Err(reason.into());
            }
            Err(Exception::Punt(PuntReason::NoRoute { labels })) if self.has_unused(frame, labels) => {
                self.decide_copy(admitted, frame, branch)?
            }
            decision => decision?,
        };
        let egress = self.rewrite(frame, &plan)?;
        // The list that the copy came to last.
        let last = branch.below.unwrap_or(branch.at);
        let place =
            plan.list.and_then(|list| self.live(self.lists.lists.get(list as usize)?).nth(last.into()));
        if let Some(branch) = plan.list.zip(place).and_then(|(list, at)| self.lists.branch_mut(list, at)) {
            branch.count(frame.wire_len());
        }
        Ok(egress)
    }

    /// The common case of [`Forwarding::copy`], for all branches at once: a frame with a label that each branch swaps
    /// for another, to a neighbour that can be reached. Hands over each copy with its egress port, in the order of the
    /// branches; what lies behind the header is shared. In all other cases it returns false and has done nothing.
    #[inline]
    pub fn copies(&mut self, port: PortId, frame: &Frame, mut give: impl FnMut(PortId, Frame)) -> bool {
        self.all_copies(port, frame, &mut give).is_some()
    }

    #[inline(always)]
    fn all_copies(
        &mut self,
        port: PortId,
        frame: &Frame,
        give: &mut impl FnMut(PortId, Frame),
    ) -> Option<()> {
        let key = self.ports.get(port)?.short;
        let lengths = frame.lengths();
        let old = frame.header().first_chunk::<{ ETHERNET + LABEL }>()?;
        let [a, b, c, d, e, f, g, h, ..] = *old;
        let to = u64::from_le_bytes([a, b, c, d, e, f, g, h]) << 16;
        if to != key || u16::from_be_bytes([old[12], old[13]]) != ETHERTYPE_MPLS {
            return None;
        }
        let word = u32::from_be_bytes([old[14], old[15], old[16], old[17]]);
        let entry = self.ilm.get(word >> 12)?;
        if entry.kind != Kind::Replicate || word & 0xff <= 1 {
            return None;
        }
        let list = self.lists.lists.get_mut(entry.next_hop as usize)?;
        let len = lengths.segment - ETHERNET as u32;
        let is_plain = |branch: &Entry| {
            let adjacency = self.adjacencies.get(branch.next_hop)?;
            let room = self.ports.get(adjacency.port)?.room;
            let is_known = adjacency.state == State::Ready && adjacency.addresses[0] & 1 == 0;
            (branch.kind == Kind::One && is_known && len <= room).then_some(())
        };
        let (always, standing_by) = list.branches.split_at_mut(list.always);
        always.iter().try_for_each(is_plain)?;
        if !standing_by.is_empty() {
            let is_up = |branch: &Entry| {
                let place = self.adjacencies.get(branch.next_hop)?.group()?;
                let group = self.groups.get(place as usize)?;
                group.is_primary_up(&self.adjacencies, &self.ports).then_some(())
            };
            standing_by.iter().try_for_each(is_up)?;
        }
        for branch in always {
            let adjacency = self.adjacencies.get(branch.next_hop)?;
            let mut copy = frame.clone();
            let header = copy.header_mut().first_chunk_mut::<{ ETHERNET + LABEL }>()?;
            let new = branch.word | (word & branch.keep) | ((word & 0xff) - 1);
            header[..12].copy_from_slice(&adjacency.addresses);
            header[14..].copy_from_slice(&new.to_be_bytes());
            branch.count(lengths.wire);
            self.ports.count_tx(adjacency.port, u64::from(lengths.wire));
            give(adjacency.port, copy);
        }
        Some(())
    }

    pub(crate) fn replication_set(
        &mut self,
        id: ReplicationId,
        branches: &[Nhlfe],
    ) -> Result<(), TableError> {
        if branches.iter().any(|branch| matches!(branch.next_hop, NextHop::Replicate(_))) {
            return Err(TableError::Nested);
        }
        let known = self.lists.by_id.get(&id).copied();
        if branches.len() > BRANCHES_MAX || known.is_none() && self.lists.len() >= self.config.lists_max {
            return Err(TableError::Full);
        }
        let mut compiled = Vec::with_capacity(branches.len());
        for branch in branches {
            match self.compile_branch(branch) {
                Ok(entry) => compiled.push(entry),
                Err(error) => {
                    compiled.iter().for_each(|entry| self.release(entry));
                    return Err(error);
                }
            }
        }
        let place = known.unwrap_or_else(|| {
            let place = self.lists.free.pop().unwrap_or_else(|| {
                self.lists.lists.push(List::default());
                (self.lists.lists.len() - 1) as u32
            });
            self.lists.by_id.insert(id, place);
            place
        });
        let old = core::mem::take(&mut self.lists.lists[place as usize].branches);
        self.go_on_counting(&old, &mut compiled);
        let list = &mut self.lists.lists[place as usize];
        let stands_by = |entry: &Entry| entry.kind == Kind::Standby;
        let first = compiled.iter().position(stands_by).unwrap_or(compiled.len());
        // Where others come behind, each is asked.
        let is_apart = compiled[first..].iter().all(stands_by);
        list.always = if is_apart { first } else { 0 };
        (list.id, list.branches) = (id, compiled);
        old.iter().for_each(|entry| self.release(entry));
        Ok(())
    }

    fn compile_branch(&mut self, branch: &Nhlfe) -> Result<Entry, TableError> {
        let NextHop::Standby(group) = branch.next_hop else { return self.compile(branch) };
        let mut entry = self.compile(&Nhlfe { next_hop: NextHop::Group(group), ..*branch })?;
        entry.kind = Kind::Standby;
        Ok(entry)
    }

    /// A branch that stays goes on counting: that of the same place if it is equal, else the first equal one that no
    /// other took.
    fn go_on_counting(&self, old: &[Entry], new: &mut [Entry]) {
        let stays = |at: usize, entry: &Entry| {
            old.get(at).is_some_and(|before| self.nhlfe(before) == self.nhlfe(entry))
        };
        let stayed: Vec<bool> = new.iter().enumerate().map(|(at, entry)| stays(at, entry)).collect();
        let mut moved: Map<Nhlfe, VecDeque<&Entry>> = Map::new();
        for (at, before) in old.iter().enumerate() {
            if !stayed.get(at).copied().unwrap_or(false) {
                moved.get_or_insert_with(self.nhlfe(before), VecDeque::new).push_back(before);
            }
        }
        for (at, entry) in new.iter_mut().enumerate() {
            let before = match stayed[at] {
                true => old.get(at),
                false => moved.get_mut(&self.nhlfe(entry)).and_then(VecDeque::pop_front),
            };
            if let Some(before) = before {
                (entry.packets, entry.bytes) = (before.packets, before.bytes);
            }
        }
    }

    pub(crate) fn replication_remove(&mut self, id: ReplicationId) -> Result<(), TableError> {
        let place = *self.lists.by_id.get(&id).ok_or(TableError::NoGroup)?;
        if self.lists.lists[place as usize].uses > 0 {
            return Err(TableError::InUse);
        }
        let list = core::mem::take(&mut self.lists.lists[place as usize]);
        list.branches.iter().for_each(|entry| self.release(entry));
        self.lists.by_id.remove(&id);
        self.lists.free.push(place);
        Ok(())
    }
}
