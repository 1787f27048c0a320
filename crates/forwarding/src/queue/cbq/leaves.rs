//! Which leaves may send: sets of them, a bit each.

use super::build::BANDS;
use super::{NO_CUTOFF, Node};

/// A range of words.
#[derive(Clone, Debug, Default)]
pub struct Words {
    first: usize,
    words: Vec<u64>,
}

/// Sets of leaves. A decision reads one bit of each per leaf, 64 leaves at a time, instead of visiting the leaves.
///
/// A leaf may send if it is under its limit, or one of those is that it may borrow from: at a level that is not above the cutoff.
#[derive(Debug)]
pub struct Leaves {
    /// Those that have packets, by priority.
    backlogged: [Vec<u64>; BANDS],
    /// Priorities with a packet.
    bands: u8,
    /// The leaf whose turn it is, by priority.
    turns: [usize; BANDS],
    /// Those whose own queue holds back what it has.
    stalled: Vec<u64>,
    /// Those that are under their limit.
    under: Vec<u64>,
    /// Those that have been told that they are over it.
    delayed: Vec<u64>,
    /// Those that may borrow from a class of this level that is under its limit. Classes of one level have no leaf in common.
    lent: Vec<Vec<u64>>,
    /// Those whose chain of lenders ends at this level or below.
    ends: Vec<Vec<u64>>,
}

#[inline]
fn bit(at: usize) -> u64 {
    1 << (at % 64)
}

#[inline]
fn put(set: &mut [u64], at: usize, value: bool) {
    if let Some(word) = set.get_mut(at / 64) {
        *word = if value { *word | bit(at) } else { *word & !bit(at) };
    }
}

impl Leaves {
    /// All leaves of the classes, which are all under their limits; computes what every class lends to.
    pub fn new(count: usize, nodes: &[Node]) -> Leaves {
        let width = count.div_ceil(64);
        let levels = nodes.iter().map(|node| usize::from(node.level)).max().unwrap_or(0) + 1;
        let mut ends = vec![vec![0; width]; levels];
        for leaf in 0..count {
            let mut level = 0;
            let mut next = nodes[leaf].borrow;
            while let Some(node) = next.and_then(|at| nodes.get(at as usize)) {
                (level, next) = (usize::from(node.level), node.borrow);
            }
            ends[level..].iter_mut().for_each(|set| put(set, leaf, true));
        }
        let all = || vec![0; width];
        Leaves {
            backlogged: core::array::from_fn(|_| all()),
            bands: 0,
            turns: [0; BANDS],
            stalled: all(),
            under: (0..width)
                .map(|word| if (word + 1) * 64 <= count { u64::MAX } else { bit(count) - 1 })
                .collect(),
            delayed: all(),
            lent: vec![all(); levels],
            ends,
        }
    }

    /// What each class lends to.
    pub fn reaches(count: usize, nodes: &[Node]) -> Vec<Words> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for leaf in 0..count {
            let mut next = nodes[leaf].borrow;
            while let Some(at) = next {
                members[at as usize].push(leaf);
                next = nodes[at as usize].borrow;
            }
        }
        let reach = |leaves: &Vec<usize>| {
            let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else { return Words::default() };
            let (first, last) = (first / 64, last / 64);
            let mut words = vec![0; last - first + 1];
            leaves.iter().for_each(|leaf| put(&mut words, leaf - first * 64, true));
            Words { first, words }
        };
        members.iter().map(reach).collect()
    }

    /// Has any of them a packet, and which priorities?
    #[inline]
    pub fn bands(&self) -> u8 {
        self.bands
    }

    /// The leaf has packets, or has none.
    #[inline]
    pub fn set_backlogged(&mut self, leaf: usize, band: u8, value: bool) {
        let Some(set) = self.backlogged.get_mut(usize::from(band)) else { return };
        put(set, leaf, value);
        if value {
            self.bands |= 1 << band;
        } else if set.iter().all(|word| *word == 0) {
            self.bands &= !(1 << band);
        }
    }

    /// The leaf's own queue holds back what it has, or does not any more.
    #[inline]
    pub fn set_stalled(&mut self, leaf: usize, value: bool) {
        put(&mut self.stalled, leaf, value);
    }

    /// Does it?
    #[inline]
    pub fn stalled(&self, leaf: usize) -> bool {
        self.stalled.get(leaf / 64).is_some_and(|word| word & bit(leaf) != 0)
    }

    /// The leaf is under its limit, or over.
    #[inline]
    pub fn set_under(&mut self, leaf: usize, value: bool) {
        put(&mut self.under, leaf, value);
    }

    /// The leaf has been told that it is over its limit.
    #[inline]
    pub fn set_delayed(&mut self, leaf: usize, value: bool) {
        put(&mut self.delayed, leaf, value);
    }

    /// A class of `level` that lends to `reach` is under its limit, or over.
    #[inline]
    pub fn set_lent(&mut self, level: u8, reach: &Words, value: bool) {
        let Some(set) = self.lent.get_mut(usize::from(level)) else { return };
        let range = set.get_mut(reach.first..).unwrap_or_default();
        for (word, mask) in range.iter_mut().zip(&reach.words) {
            *word = if value { *word | mask } else { *word & !mask };
        }
    }

    /// The leaf of the band whose turn it is, or the first after it.
    #[inline]
    pub fn turn(&self, band: usize) -> usize {
        self.turns[band]
    }

    /// The leaf's turn is over.
    #[inline]
    pub fn pass_turn(&mut self, band: usize, leaf: usize) {
        self.turns[band] = if leaf + 1 < self.under.len() * 64 { leaf + 1 } else { 0 };
    }

    /// Words of each set.
    #[inline]
    pub fn width(&self) -> usize {
        self.under.len()
    }

    /// Of 64 leaves with packets in the band: those that may send when nobody may borrow from above level `cutoff`, and those that would
    /// find by asking that they and all their lenders are over their limits.
    #[inline]
    pub fn candidates(&self, band: usize, word: usize, cutoff: u8) -> (u64, u64) {
        let waiting = self.backlogged[band][word] & !self.stalled[word];
        if waiting == 0 {
            return (0, 0);
        }
        let top = if cutoff == NO_CUTOFF {
            self.lent.len() - 1
        } else {
            usize::from(cutoff).min(self.lent.len() - 1)
        };
        let may = self.lent[..=top].iter().fold(self.under[word], |may, set| may | set[word]);
        (waiting & may, waiting & !may & !self.delayed[word] & self.ends[top][word])
    }

    /// Nobody has packets; all are under their limits.
    pub fn reset(&mut self) {
        self.backlogged.iter_mut().for_each(|set| set.fill(0));
        self.bands = 0;
        self.turns = [0; BANDS];
        self.stalled.fill(0);
        self.delayed.fill(0);
    }
}
