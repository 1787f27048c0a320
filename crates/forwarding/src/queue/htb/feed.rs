//! Which classes take turns at whose expense.
//!
//! A class that can send, and in which (itself or a leaf in it) a packet of a priority waits, is in the *row* of its
//! level and that priority. One that may borrow is in the *feed* of the class that it is in, for that priority; so a
//! class in a row is the root of a tree of those that would send at its expense. Rows of lower levels are served
//! first, so that nobody borrows what a class nearer to a packet has.

use super::super::bits::BitSet;
use super::bucket::Mode;
use super::{Htb, PRIORITIES};

/// A set of classes, and whose turn it is.
#[derive(Debug, Default)]
pub struct Feed {
    set: BitSet,
    turn: usize,
}

impl Feed {
    /// An empty feed for `count` classes.
    pub fn new(count: usize) -> Feed {
        Feed { set: BitSet::new(count), turn: 0 }
    }

    /// Takes every class out.
    pub fn clear(&mut self) {
        self.set.clear();
        self.turn = 0;
    }
}

/// A feed for each priority.
pub type Feeds = [Feed; PRIORITIES];

/// The levels of Linux: leaves are 0, classes that are in none are 7.
pub const LEVELS: usize = 8;

/// Rows of all levels, and the feeds of all inner classes.
#[derive(Debug)]
pub struct Rows {
    pub rows: [Feeds; LEVELS],
    /// Priorities with a class, by level.
    pub masks: [u8; LEVELS],
    /// Feeds of each inner class: its children that may borrow from it.
    pub feeds: Vec<Feeds>,
    /// Classes in each inner class, by rank.
    pub children: Vec<Vec<u32>>,
}

fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = (mask != 0).then_some(mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}

impl Htb {
    /// Puts a class, for the priorities at which it has packets, into the row or feeds that its mode says.
    pub(super) fn activate(&mut self, mut at: usize) {
        let leaves = self.leaves.len();
        let mut mask = self.nodes[at].activity;
        while self.nodes[at].mode == Mode::MayBorrow && mask != 0 {
            let Some(parent) = self.nodes[at].parent.map(|parent| parent as usize) else { return };
            let rank = self.nodes[at].rank as usize;
            for priority in bits(mask) {
                let feed = &mut self.rows.feeds[parent - leaves][priority];
                // If the parent feeds on others it is where it has to be.
                if !feed.set.is_empty() {
                    mask &= !(1 << priority);
                }
                feed.set.insert(rank);
            }
            self.nodes[parent].activity |= mask;
            at = parent;
        }
        if self.nodes[at].mode == Mode::CanSend {
            let (level, place) = (usize::from(self.nodes[at].level), self.place(at));
            bits(mask).for_each(|priority| self.rows.rows[level][priority].set.insert(place));
            self.rows.masks[level] |= mask;
        }
    }

    /// Takes a class out of where [`Htb::activate`] put it; its mode must still be the same.
    pub(super) fn deactivate(&mut self, mut at: usize) {
        let leaves = self.leaves.len();
        let mut mask = self.nodes[at].activity;
        while self.nodes[at].mode == Mode::MayBorrow && mask != 0 {
            let Some(parent) = self.nodes[at].parent.map(|parent| parent as usize) else { return };
            let rank = self.nodes[at].rank as usize;
            for priority in bits(mask) {
                let feed = &mut self.rows.feeds[parent - leaves][priority];
                feed.set.remove(rank);
                if !feed.set.is_empty() {
                    mask &= !(1 << priority);
                }
            }
            self.nodes[parent].activity &= !mask;
            at = parent;
        }
        if self.nodes[at].mode == Mode::CanSend {
            let (level, place) = (usize::from(self.nodes[at].level), self.place(at));
            for priority in bits(mask) {
                let row = &mut self.rows.rows[level][priority];
                row.set.remove(place);
                if row.set.is_empty() {
                    self.rows.masks[level] &= !(1 << priority);
                }
            }
        }
    }

    /// The place of a class in the rows of its level.
    #[inline]
    fn place(&self, at: usize) -> usize {
        if at < self.leaves.len() { at } else { at - self.leaves.len() }
    }

    /// The leaf whose turn it is in a row: that of the row's turn, or that of the turns in the feeds below it. When
    /// all classes in a feed have had their turn, the turn of the class that they feed on is over, too.
    pub(super) fn lookup(&mut self, level: usize, priority: usize) -> Option<usize> {
        let leaves = self.leaves.len();
        let mut path = [0; LEVELS + 1];
        let mut depth = 0;
        if self.rows.rows[level][priority].set.is_empty() {
            return None;
        }
        loop {
            let feed = match depth {
                0 => &mut self.rows.rows[level][priority],
                _ => &mut self.rows.feeds[path[depth] - leaves][priority],
            };
            match feed.set.next(feed.turn) {
                Some(found) => {
                    feed.turn = found;
                    let at = match (depth, level) {
                        (0, 0) => found,
                        (0, _) => leaves + found,
                        _ => self.rows.children[path[depth] - leaves][found] as usize,
                    };
                    if at < leaves {
                        return Some(at);
                    }
                    depth += 1;
                    *path.get_mut(depth)? = at;
                }
                None => {
                    feed.turn = 0;
                    if depth > 0 {
                        depth -= 1;
                        match depth {
                            0 => self.rows.rows[level][priority].turn += 1,
                            _ => self.rows.feeds[path[depth] - leaves][priority].turn += 1,
                        }
                    }
                }
            }
        }
    }

    /// A leaf's turn in a row of that level is over.
    #[inline]
    pub(super) fn pass_turn(&mut self, leaf: usize, level: usize, priority: usize) {
        let node = &self.nodes[leaf];
        match node.parent.filter(|_| level > 0) {
            None => self.rows.rows[0][priority].turn = leaf + 1,
            Some(parent) => {
                self.rows.feeds[parent as usize - self.leaves.len()][priority].turn = node.rank as usize + 1;
            }
        }
    }
}
