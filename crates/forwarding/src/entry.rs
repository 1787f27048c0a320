//! A next-hop label forwarding entry as the fast path reads it: half a cache line with its counters.

use crate::classes::Contexts;
use crate::recent::Counted;
use base::plane::{Nhlfe, TcSource, TtlModel};
use base::{Label, TrafficClass};

/// Bit of a label stack entry: bottom of stack.
pub(crate) const BOTTOM: u32 = 0x100;
/// Bits of a label stack entry: TC, formerly EXP (RFC 5462).
pub(crate) const TC: u32 = 0xe00;

/// What an entry does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// There is no entry.
    #[default]
    Empty,
    /// Puts one label on, whose TC does not depend on a PHB, and sends to a next hop: in the ILM, the common swap.
    One,
    /// Puts any other number of labels on, or one by PHB, and sends to a next hop.
    Via,
    /// A branch of a list: nothing leaves while the port of the group's member can be used.
    Standby,
    /// Leaves in copies: the branches of a list say how.
    Replicate,
    /// Puts no label on and sends to the neighbour that has the destination address.
    Connected,
    /// Keeps the packet at this node: the next label, or the IP header, is looked up.
    Local,
    /// The same, if the IP header is what is looked up. With a label below, the packet is dropped.
    Unlabelled,
    /// The packet is dropped, and counted.
    Discard,
    /// Keeps the packet at this node if a selector takes the packets of its label.
    Selected,
}

impl Kind {
    /// Is a label with such an entry taken off here, and what is below it looked up?
    pub(crate) fn is_popped(self) -> bool {
        matches!(self, Kind::Local | Kind::Unlabelled | Kind::Selected)
    }
}

/// The compiled form of an [`Nhlfe`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Entry {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// With one label: that label in its place in a label stack entry, with the TC bits if they are set by the
    /// entry. With more: where they are among the [`Stacks`].
    pub(crate) word: u32,
    /// Bits that a swap keeps of the old label stack entry: bottom of stack, and the TC bits if they are copied.
    pub(crate) keep: u32,
    /// Place among the next hops: of a neighbour, of a group, or of the entry without a neighbour of a connected
    /// network. Of an entry that replicates, place of the replication list; of one with a selector, place of that.
    pub(crate) next_hop: u32,
    pub(crate) kind: Kind,
    /// How many labels to put on: at most [`LabelStack::MAX`](base::plane::LabelStack::MAX).
    pub(crate) depth: u8,
    /// The TC to set, or [`Entry::COPY`], or the place of a context from [`Entry::CONTEXT`] on.
    tc: u8,
    ttl: u8,
}

const _: () = assert!(size_of::<Entry>() == 32);

impl Entry {
    const COPY: u8 = 8;

    /// The first of the values of `tc` that name a context.
    const CONTEXT: u8 = 9;

    /// The entry without its labels and next hop; `context` is the place of its context, if it has one.
    pub(crate) fn new(kind: Kind, nhlfe: &Nhlfe, context: u8) -> Entry {
        let (tc, keep) = match nhlfe.tc {
            TcSource::Copy => (Entry::COPY, BOTTOM | TC),
            TcSource::Set(tc) => (tc.value(), BOTTOM),
            TcSource::DiffServ(_) => (Entry::CONTEXT + context, BOTTOM),
        };
        let ttl = match nhlfe.ttl {
            TtlModel::Uniform => 0,
            TtlModel::Pipe => 1,
            TtlModel::ShortPipe => 2,
        };
        let depth = nhlfe.push.as_slice().len() as u8;
        Entry { keep, kind, depth, tc, ttl, next_hop: u32::MAX, ..Entry::default() }
    }

    /// The TC to set and the model of the time to live, as numbers that only mean something here.
    pub(crate) const fn rest(&self) -> (u8, u8) {
        (self.tc, self.ttl)
    }

    /// The model of the time to live.
    #[inline]
    pub(crate) fn ttl(&self) -> TtlModel {
        match self.ttl {
            0 => TtlModel::Uniform,
            1 => TtlModel::Pipe,
            _ => TtlModel::ShortPipe,
        }
    }

    /// Where the TC of pushed labels comes from.
    pub(crate) fn tc_source(&self, contexts: &Contexts) -> TcSource {
        match self.context().and_then(|place| contexts.get(place)) {
            Some(context) => TcSource::DiffServ(context.classes),
            None if self.tc < Entry::COPY => TcSource::Set(TrafficClass::truncate(self.tc)),
            None => TcSource::Copy,
        }
    }

    /// The place of its DiffServ context, if it has one.
    #[inline]
    pub(crate) fn context(&self) -> Option<u8> {
        self.tc.checked_sub(Entry::CONTEXT)
    }

    /// The TC bits of pushed labels when `below` are those of what they are pushed on.
    #[inline]
    pub(crate) fn pushed_tc(&self, below: u32) -> u32 {
        if self.tc < Entry::COPY { u32::from(self.tc) << 9 } else { below & TC }
    }

    /// Counts packets and the bytes of their frames.
    pub(crate) fn count_all(&mut self, counted: Counted) {
        self.packets += counted.packets;
        self.bytes += counted.bytes;
    }

    /// Counts a packet and the `bytes` of its frame.
    #[inline]
    pub(crate) fn count(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// Label stacks of two labels and more, which are rare.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    slots: Vec<[Label; 4]>,
    free: Vec<u32>,
}

impl Stacks {
    pub(crate) fn insert(&mut self, labels: &[Label]) -> u32 {
        let mut slot = [Label::EXPLICIT_NULL; 4];
        slot.iter_mut().zip(labels).for_each(|(s, l)| *s = *l);
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        }
    }
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }
    /// The labels of `entry`, the last of them outermost, in the first places of an array.
    #[inline]
    pub(crate) fn labels(&self, entry: &Entry) -> [Label; 4] {
        match entry.depth {
            0 => [Label::EXPLICIT_NULL; 4],
            1 => {
                let mut labels = [Label::EXPLICIT_NULL; 4];
                labels[0] = Label::truncate(entry.word >> 12);
                labels
            }
            _ => self.slots.get(entry.word as usize).copied().unwrap_or_default(),
        }
    }
}
