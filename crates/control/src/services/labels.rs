//! Labels of a node: each space hands them out in turn, so that one that was just released is used again as late as
//! possible. A space that has all labels gives them in blocks, a space that has some gives them one by one: its labels
//! may be fewer than those of two blocks, and then one protocol would leave nothing to another.

use super::InterfaceId;
use base::plane::ChannelRange;
use base::{Label, ProtocolId};
use std::collections::{BTreeMap, BTreeSet};

/// Labels of a block: those of one word of the bitmap.
const BLOCK: u32 = 64;

/// Where a label has a meaning (RFC 3031, 3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabelSpace {
    /// Whatever interface a packet comes by.
    Platform,
    /// For packets that come by one interface.
    Interface(InterfaceId),
}

/// The labels of a node, by space. They are numbers and nothing else here: what one stands for, its owner knows.
#[derive(Clone, Debug)]
pub struct Labels {
    range: (Label, Label),
    platform: Space,
    interfaces: BTreeMap<InterfaceId, Space>,
}

/// The labels of one space.
#[derive(Clone, Debug)]
struct Space {
    first: u32,
    count: u32,
    /// One bit for each label, set while it is taken; the bits past the end are set for good. Only words up to the
    /// last that was ever taken from stand here: nothing is taken in the others.
    taken: Vec<u64>,
    /// Whose each word is: the place of its owner among the owners, from one; zero if it is nobody's. A space that has
    /// some labels has no blocks.
    blocks: Vec<u8>,
    /// Whose each label is that is taken, of a space that has some labels: the place of its owner, from one.
    holders: BTreeMap<u32, u8>,
    owners: Vec<Owner>,
    used: u32,
    /// Of a space that does not have all labels from the first on: which it has.
    limits: Option<Limits>,
    /// Labels that are taken and that it would not give any more.
    stray: BTreeSet<u32>,
}

/// Which labels an interface may give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From which to which, in order and apart from each other; none of them is reserved.
    pub ranges: Vec<(Label, Label)>,
    /// Are only odd ones among them, or only even ones?
    pub odd: Option<bool>,
}

impl Limits {
    /// Channels of a link whose paths with labels begin at the first one of these.
    fn of(range: &ChannelRange) -> Limits {
        let label = |vpi: u16, vci: u16| ChannelRange::label(0, (vpi, vci));
        let (least, most) = range.vci;
        let of_path = |vpi: u16| Some((label(vpi, least)?, label(vpi, most)?));
        Limits { ranges: (range.vpi.0..=range.vpi.1).filter_map(of_path).collect(), odd: None }
    }
}

/// Who has labels of a space.
#[derive(Clone, Debug)]
struct Owner {
    id: ProtocolId,
    /// Where its next search begins.
    cursor: u32,
    used: u32,
}

impl Labels {
    /// Spaces of which each has the labels from `first` to `last`; reserved ones are never handed out.
    pub fn new(first: Label, last: Label) -> Labels {
        Labels { range: (first, last), platform: Space::new(first, last), interfaces: BTreeMap::new() }
    }

    fn space(&mut self, space: LabelSpace) -> &mut Space {
        match space {
            LabelSpace::Platform => &mut self.platform,
            LabelSpace::Interface(interface) => {
                let (first, last) = self.range;
                self.interfaces.entry(interface).or_insert_with(|| Space::new(first, last))
            }
        }
    }

    /// Says which labels an interface gives from now on. Labels that are taken stay so, also those that it would not
    /// give any more.
    pub fn limit(&mut self, interface: InterfaceId, limits: Limits) {
        let space = self.interfaces.entry(interface).or_insert_with(|| Space::limited(&limits));
        space.limit(limits);
    }

    /// Says which labels an interface gives, as channels of its link, unless that was said before.
    pub fn begin(&mut self, interface: InterfaceId, range: &ChannelRange) {
        self.interfaces.entry(interface).or_insert_with(|| Space::limited(&Limits::of(range)));
    }

    /// The next free label after the one that the owner got last, from a block of its own or a new one. Nothing if none
    /// is left for it.
    pub fn allocate(&mut self, space: LabelSpace, owner: ProtocolId) -> Option<Label> {
        self.space(space).allocate(owner)
    }

    /// Gives a label back. Was it the owner's?
    pub fn release(&mut self, space: LabelSpace, owner: ProtocolId, label: Label) -> bool {
        self.space(space).release(owner, label)
    }

    /// Is no label left for the owner?
    pub fn is_exhausted(&self, space: LabelSpace, owner: ProtocolId) -> bool {
        match space {
            LabelSpace::Platform => self.platform.is_exhausted(owner),
            LabelSpace::Interface(interface) => match self.interfaces.get(&interface) {
                Some(space) => space.is_exhausted(owner),
                None => self.platform.count == 0,
            },
        }
    }

    /// How many labels an owner has in all spaces.
    pub fn used(&self, owner: ProtocolId) -> u32 {
        let spaces = core::iter::once(&self.platform).chain(self.interfaces.values());
        spaces.flat_map(|space| &space.owners).filter(|each| each.id == owner).map(|each| each.used).sum()
    }

    /// Whose a label of the platform is; nothing if it is not taken.
    pub fn owner(&self, label: Label) -> Option<ProtocolId> {
        self.platform.owner_of(label)
    }

    /// How many labels are taken, by owner and space: those that have or had any.
    pub fn owners(&self) -> impl Iterator<Item = (LabelSpace, ProtocolId, u32)> {
        let interfaces = self.interfaces.iter().map(|(id, space)| (LabelSpace::Interface(*id), space));
        let all = core::iter::once((LabelSpace::Platform, &self.platform)).chain(interfaces);
        all.flat_map(|(name, space)| space.owners.iter().map(move |owner| (name, owner.id, owner.used)))
    }

    /// All labels are free again after a restart. The search goes on where it was: neighbours that have not noticed the
    /// restart go on sending with old labels, which must stand for nothing, rather than for another LSP, for as long
    /// as possible.
    pub(crate) fn restart(&mut self) {
        self.platform.clear();
        self.interfaces.values_mut().for_each(Space::clear);
    }
}

impl Space {
    fn owner_of(&self, label: Label) -> Option<ProtocolId> {
        let place = label.value().checked_sub(self.first)?;
        let block = (place / BLOCK) as usize;
        let is_taken = self.taken.get(block)? >> (place % BLOCK) & 1 == 1;
        let owner = self.holder(place).checked_sub(1)?;
        self.owners.get(usize::from(owner)).filter(|_| is_taken).map(|owner| owner.id)
    }

    /// The place of the owner of a label that is taken, from one.
    fn holder(&self, index: u32) -> u8 {
        match self.limits {
            Some(_) => self.holders.get(&index).copied().unwrap_or(0),
            None => self.block((index / BLOCK) as usize),
        }
    }

    fn new(first: Label, last: Label) -> Space {
        // Labels 0 to 15 are reserved (RFC 3032, 2.1).
        let first = first.max(Label::FIRST_UNRESERVED).value();
        let count = (last.value() + 1).saturating_sub(first);
        Space { first, count, ..Space::empty() }
    }

    /// A space of some of all labels.
    fn limited(limits: &Limits) -> Space {
        Space { count: limits.count(), limits: Some(limits.clone()), ..Space::empty() }
    }

    /// A space that has no label.
    fn empty() -> Space {
        let (taken, blocks, owners) = (Vec::new(), Vec::new(), Vec::new());
        let (holders, stray) = (BTreeMap::new(), BTreeSet::new());
        Space { first: 0, count: 0, taken, blocks, holders, owners, used: 0, limits: None, stray }
    }

    /// Gives other labels than before.
    fn limit(&mut self, limits: Limits) {
        if self.limits.as_ref() == Some(&limits) {
            return;
        }
        debug_assert!(
            self.limits.is_some() || self.used == 0,
            "an interface is limited before it gives labels"
        );
        let bits = |word: usize, set: u64| {
            (0..BLOCK).filter(move |bit| set >> bit & 1 == 1).map(move |bit| word as u32 * BLOCK + bit)
        };
        let mut held = core::mem::take(&mut self.stray);
        for (word, taken) in self.taken.iter().enumerate() {
            held.extend(bits(word, taken & !self.past_the_end(word)));
        }
        self.count = limits.count();
        self.limits = Some(limits);
        self.taken = (0..self.taken.len()).map(|word| self.past_the_end(word)).collect();
        for label in held {
            let (word, mask) = ((label / BLOCK) as usize, 1u64 << (label % BLOCK));
            match self.past_the_end(word) & mask {
                0 => self.taken[word] |= mask,
                _ => {
                    self.stray.insert(label);
                }
            }
        }
    }

    /// Labels that are taken of those that it gives.
    fn used(&self) -> u32 {
        self.used - self.stray.len() as u32
    }

    /// How many words there are.
    fn words(&self) -> usize {
        let last = self.limits.as_ref().map(|limits| limits.last().value() + 1);
        last.unwrap_or(self.count).div_ceil(BLOCK) as usize
    }

    /// The bits of a word that are no labels of the space.
    fn past_the_end(&self, word: usize) -> u64 {
        if let Some(limits) = &self.limits {
            return !limits.bits(word);
        }
        let is_last = word + 1 == self.words() && !self.count.is_multiple_of(BLOCK);
        if is_last { u64::MAX << (self.count % BLOCK) } else { 0 }
    }

    /// What is taken of a word.
    fn taken(&self, word: usize) -> u64 {
        self.taken.get(word).copied().unwrap_or_else(|| self.past_the_end(word))
    }

    /// Whose a word is.
    fn block(&self, word: usize) -> u8 {
        self.blocks.get(word).copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.taken.clear();
        self.blocks.clear();
        self.holders.clear();
        self.stray.clear();
        self.used = 0;
        self.owners.iter_mut().for_each(|owner| owner.used = 0);
    }

    /// The place of an owner among the owners, from one; it becomes one if it is none.
    fn owner(&mut self, id: ProtocolId) -> u8 {
        let place = self.owners.iter().position(|owner| owner.id == id).unwrap_or_else(|| {
            debug_assert!(self.owners.len() < usize::from(u8::MAX), "a node has at most 128 protocols");
            self.owners.push(Owner { id, cursor: 0, used: 0 });
            self.owners.len() - 1
        });
        place as u8 + 1
    }

    /// Is nothing of a block taken?
    fn is_idle(&self, word: usize) -> bool {
        self.taken(word) == self.past_the_end(word)
    }

    fn allocate(&mut self, id: ProtocolId) -> Option<Label> {
        if self.used() >= self.count {
            return None;
        }
        let owner = self.owner(id);
        if self.limits.is_some() {
            return self.search(owner, |_, _| true);
        }
        // Blocks of others in which nothing is taken any more come last.
        self.search(owner, |space, word| [0, owner].contains(&space.block(word)))
            .or_else(|| self.search(owner, |space, word| space.is_idle(word)))
    }

    fn search(&mut self, owner: u8, may: impl Fn(&Space, usize) -> bool) -> Option<Label> {
        let words = self.words();
        let cursor = self.owners[usize::from(owner) - 1].cursor;
        let mut word = (cursor / BLOCK) as usize % words;
        // The bits before the cursor wait for the next turn.
        let mut free = !self.taken(word) & u64::MAX << (cursor % BLOCK);
        for _ in 0..=words {
            if free != 0 && may(self, word) {
                let bit = free.trailing_zeros();
                let index = word as u32 * BLOCK + bit;
                while self.taken.len() <= word {
                    self.taken.push(self.past_the_end(self.taken.len()));
                }
                self.taken[word] |= 1 << bit;
                self.give(owner, index);
                self.used += 1;
                let end = words as u32 * BLOCK;
                let end = if self.limits.is_some() { end } else { self.count };
                let owner = &mut self.owners[usize::from(owner) - 1];
                owner.used += 1;
                owner.cursor = (index + 1) % end;
                return Some(Label::truncate(self.first + index));
            }
            word = (word + 1) % words;
            free = !self.taken(word);
        }
        None
    }

    /// Notes whose a label is from now on, or its block.
    fn give(&mut self, owner: u8, index: u32) {
        if self.limits.is_some() {
            self.holders.insert(index, owner);
            return;
        }
        let word = (index / BLOCK) as usize;
        if self.blocks.len() <= word {
            self.blocks.resize(word + 1, 0);
        }
        self.blocks[word] = owner;
    }

    fn release(&mut self, id: ProtocolId, label: Label) -> bool {
        let end = if self.limits.is_some() { u32::MAX } else { self.count };
        let index = label.value().checked_sub(self.first).filter(|&index| index < end);
        let place = self.owners.iter().position(|owner| owner.id == id);
        let (Some(index), Some(place)) = (index, place) else { return false };
        let (word, mask) = ((index / BLOCK) as usize, 1u64 << (index % BLOCK));
        let is_own = usize::from(self.holder(index)) == place + 1;
        let is_stray = is_own && self.stray.remove(&index);
        let held = is_stray || is_own && self.taken(word) & mask & !self.past_the_end(word) != 0;
        if held {
            if !is_stray {
                self.taken[word] &= !mask;
            }
            self.holders.remove(&index);
            self.used -= 1;
            self.owners[place].used -= 1;
        }
        held
    }

    fn is_exhausted(&self, id: ProtocolId) -> bool {
        if self.used() >= self.count {
            return true;
        }
        // One who is alone has them all, and there are no blocks of others where labels are some.
        if self.limits.is_some() || self.owners.iter().all(|owner| owner.id == id) {
            return false;
        }
        let place = self.owners.iter().position(|owner| owner.id == id).map_or(0, |place| place as u8 + 1);
        let open = |word: usize| {
            self.taken(word) != u64::MAX && [0, place].contains(&self.block(word)) || self.is_idle(word)
        };
        !(0..self.words()).any(open)
    }
}

impl Limits {
    /// Is there no label at all?
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many labels they are.
    fn count(&self) -> u32 {
        let of = |&(first, last): &(Label, Label)| {
            let all = (last.value() + 1).saturating_sub(first.value());
            let odd = last.value().div_ceil(2) - first.value() / 2;
            self.odd.map_or(all, |is_odd| if is_odd { odd } else { all - odd })
        };
        self.ranges.iter().map(of).sum()
    }

    fn last(&self) -> Label {
        self.ranges.iter().map(|range| range.1).max().unwrap_or(Label::EXPLICIT_NULL)
    }

    /// Which labels of a word are among them.
    fn bits(&self, word: usize) -> u64 {
        let (begin, mut bits) = (word as u32 * BLOCK, 0);
        for (first, last) in &self.ranges {
            let (from, to) = (first.value().max(begin), (last.value() + 1).min(begin + BLOCK));
            if from < to {
                bits |= u64::MAX >> (BLOCK - (to - from)) << (from - begin);
            }
        }
        match self.odd {
            None => bits,
            Some(true) => bits & 0xaaaa_aaaa_aaaa_aaaa,
            Some(false) => bits & 0x5555_5555_5555_5555,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: ProtocolId = ProtocolId::new("a");
    const B: ProtocolId = ProtocolId::new("b");
    const ALL: LabelSpace = LabelSpace::Platform;

    fn labels(first: u32, last: u32) -> Labels {
        Labels::new(Label::truncate(first), Label::truncate(last))
    }
    fn take(labels: &mut Labels, owner: ProtocolId, count: usize) -> Vec<Option<u32>> {
        (0..count).map(|_| labels.allocate(ALL, owner).map(Label::value)).collect()
    }

    #[test]
    fn labels_go_round() {
        let mut labels = labels(0, 18);
        assert_eq!(take(&mut labels, A, 4), [Some(16), Some(17), Some(18), None]);
        assert!(labels.is_exhausted(ALL, A));
        for (label, held) in [(16, true), (18, true), (18, false), (15, false), (19, false)] {
            assert_eq!(labels.release(ALL, A, Label::truncate(label)), held);
        }
        assert_eq!((labels.used(A), labels.is_exhausted(ALL, A)), (1, false));
        assert_eq!(take(&mut labels, A, 1), [Some(16)]);
        labels.release(ALL, A, Label::truncate(16));
        assert_eq!(take(&mut labels, A, 1), [Some(18)], "the one released last comes last");
    }

    #[test]
    fn labels_from_before_a_restart_come_last() {
        let mut labels = labels(16, 18);
        take(&mut labels, A, 1);
        labels.restart();
        assert_eq!(labels.used(A), 0);
        assert_eq!(take(&mut labels, A, 4), [Some(17), Some(18), Some(16), None]);
    }

    #[test]
    fn an_interface_gives_what_it_is_limited_to() {
        let mut labels = labels(16, 100);
        let interface = InterfaceId(3);
        let range = |first: u32, last: u32| (Label::truncate(first), Label::truncate(last));
        let ranges = vec![range(33, 36), range(65_569, 65_571)];
        labels.limit(interface, Limits { ranges: ranges.clone(), odd: None });
        let space = LabelSpace::Interface(interface);
        let take = |labels: &mut Labels| -> Vec<u32> {
            core::iter::from_fn(|| labels.allocate(space, A).map(Label::value)).collect()
        };
        assert_eq!(take(&mut labels), [33, 34, 35, 36, 65_569, 65_570, 65_571]);
        assert!(labels.is_exhausted(space, A) && labels.release(space, A, Label::truncate(35)));
        assert_eq!(take(&mut labels), [35]);
        // RFC 5036, 3.5.3: a link may have odd channels in one direction and even ones in the other. What is taken
        // stays.
        for label in [33, 34, 65_570] {
            assert!(labels.release(space, A, Label::truncate(label)));
        }
        labels.limit(interface, Limits { ranges, odd: Some(false) });
        assert_eq!(labels.owners().find(|(of, ..)| *of == space).map(|(.., used)| used), Some(4));
        for label in [35, 36, 65_569, 65_571] {
            assert!(labels.release(space, A, Label::truncate(label)));
        }
        assert!(!labels.release(space, A, Label::truncate(35)), "twice");
        assert_eq!(take(&mut labels), [36, 65_570, 34], "it goes on behind the last one");
    }

    #[test]
    fn an_empty_range_gives_nothing() {
        let mut labels = labels(20, 19);
        let interface = LabelSpace::Interface(InterfaceId(0));
        assert_eq!((labels.allocate(ALL, A), labels.allocate(interface, A)), (None, None));
        assert!(labels.is_exhausted(ALL, A) && labels.is_exhausted(interface, A));
    }

    #[test]
    fn owners_have_blocks_of_their_own_and_spaces_labels_of_their_own() {
        let mut labels = labels(16, 16 + 3 * 64 - 1);
        assert_eq!(take(&mut labels, A, 2), [Some(16), Some(17)]);
        assert_eq!(take(&mut labels, B, 2), [Some(80), Some(81)]);
        assert_eq!(take(&mut labels, A, 63)[61..], [Some(79), Some(144)], "the block of another is left out");
        assert!(!labels.release(ALL, A, Label::truncate(80)), "it is another's");
        assert_eq!(take(&mut labels, B, 63)[61..], [Some(143), None]);
        assert!(labels.is_exhausted(ALL, B) && !labels.is_exhausted(ALL, A));
        // What another has given back altogether can be had.
        for label in 80..144 {
            assert!(labels.release(ALL, B, Label::truncate(label)));
        }
        assert_eq!(take(&mut labels, A, 64)[62..], [Some(207), Some(80)]);
        assert_eq!((labels.used(A), labels.used(B)), (129, 0));
        let inner = LabelSpace::Interface(InterfaceId(7));
        assert_eq!(labels.allocate(inner, B).map(Label::value), Some(16));
        let owners: Vec<_> = labels.owners().collect();
        assert_eq!(owners, [(ALL, A, 129), (ALL, B, 0), (inner, B, 1)]);
    }

    #[test]
    fn protocols_share_an_interface_of_few_labels() {
        let mut labels = labels(16, 100);
        let interface = InterfaceId(3);
        let ranges = vec![(Label::truncate(33), Label::truncate(38))];
        labels.limit(interface, Limits { ranges: ranges.clone(), odd: None });
        let space = LabelSpace::Interface(interface);
        let mut next = |owner| labels.allocate(space, owner).map(Label::value);
        assert_eq!([A, B, B, A].map(&mut next), [33, 34, 35, 36].map(Some), "one word has labels of both");
        assert!(!labels.release(space, A, Label::truncate(34)), "it is another's");
        // One that was given back is anybody's.
        assert!(labels.release(space, B, Label::truncate(34)));
        let mut next = |owner| labels.allocate(space, owner).map(Label::value);
        assert_eq!([A, A, A, B].map(&mut next), [Some(37), Some(38), Some(34), None]);
        assert!(labels.is_exhausted(space, A) && labels.is_exhausted(space, B));
        // Those that are not to be given any more go on belonging to who has them.
        labels.limit(interface, Limits { ranges, odd: Some(true) });
        assert!(
            !labels.release(space, B, Label::truncate(36)) && labels.release(space, A, Label::truncate(36))
        );
        assert_eq!((labels.used(A), labels.used(B)), (4, 1));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn no_label_is_handed_out_twice(
            count in 1u32..300,
            steps in proptest::collection::vec(any::<(bool, bool)>(), 1..900),
        ) {
            let mut labels = labels(100, 99 + count);
            let mut held = Vec::new();
            for (take, first) in steps {
                let owner = if first { A } else { B };
                if take {
                    let exhausted = labels.is_exhausted(ALL, owner);
                    match labels.allocate(ALL, owner) {
                        Some(label) => {
                            let known = held.iter().any(|&(other, _)| other == label);
                            prop_assert!(!known && (100..100 + count).contains(&label.value()) && !exhausted);
                            held.push((label, owner));
                        }
                        None => prop_assert!(exhausted),
                    }
                } else if !held.is_empty() {
                    let (label, owner) = held.remove(0);
                    prop_assert!(labels.release(ALL, owner, label));
                }
                prop_assert_eq!((labels.used(A) + labels.used(B)) as usize, held.len());
            }
        }
    }
}
