//! Which leaves may send: sets of them, a bit each.

use super::build::BANDS;
use super::{NO_CUTOFF, Node};

/// A range of words.
#[derive(Clone, Debug, Default)]
pub struct Words {
    first: usize,
    words: Vec<u64>,
}

/// Of 64 leaves, what does not depend on levels.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Those that have packets, by priority.
    backlogged: [u64; BANDS],
    /// Those whose own queue holds back what it has.
    stalled: u64,
    /// Those that are under their limit.
    under: u64,
    /// Those that have been told that they are over it.
    delayed: u64,
}

/// Of 64 leaves, and for one level.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// Those that may borrow from a class of this level that is under its limit. Classes of one level have no leaf in
    /// common.
    lent: u64,
    /// Those whose chain of lenders ends at this level or below.
    ends: u64,
}

/// Sets of leaves. A decision reads one bit of each per leaf, 64 leaves at a time, instead of visiting the leaves.
///
/// A leaf may send if it is under its limit, or one of those is that it may borrow from: at a level that is not above
/// the cutoff.
#[derive(Debug)]
pub struct Leaves {
    rows: Vec<Row>,
    /// All levels of the first row, then those of the second, and so on.
    levels: Vec<Level>,
    /// Levels of a row.
    depth: usize,
    /// Leaves with packets, by priority.
    waiting: [u32; BANDS],
    /// Priorities with a packet.
    bands: u8,
    /// The leaf whose turn it is, by priority.
    turns: [usize; BANDS],
}

#[inline]
fn bit(at: usize) -> u64 {
    1 << (at % 64)
}

#[inline]
fn put(word: &mut u64, at: usize, value: bool) {
    *word = if value { *word | bit(at) } else { *word & !bit(at) };
}

impl Leaves {
    /// All leaves of the classes, which are all under their limits; computes what every class lends to.
    pub fn new(count: usize, nodes: &[Node]) -> Leaves {
        let depth = nodes.iter().map(|node| usize::from(node.level)).max().unwrap_or(0) + 1;
        let width = count.div_ceil(64);
        let (mut rows, mut levels) = (vec![Row::default(); width], vec![Level::default(); width * depth]);
        for leaf in 0..count {
            let mut level = 0;
            let mut next = nodes[leaf].borrow;
            while let Some(node) = next.and_then(|at| nodes.get(at as usize)) {
                (level, next) = (usize::from(node.level), node.borrow);
            }
            let row = leaf / 64;
            put(&mut rows[row].under, leaf, true);
            levels[row * depth..][level..depth].iter_mut().for_each(|level| put(&mut level.ends, leaf, true));
        }
        Leaves { rows, levels, depth, waiting: [0; BANDS], bands: 0, turns: [0; BANDS] }
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
            leaves.iter().for_each(|leaf| put(&mut words[leaf / 64 - first], *leaf, true));
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
        let Some(row) = self.rows.get_mut(leaf / 64) else { return };
        let band = usize::from(band) % BANDS;
        let set = &mut row.backlogged[band];
        if (*set & bit(leaf) != 0) == value {
            return;
        }
        *set ^= bit(leaf);
        let waiting = &mut self.waiting[band];
        *waiting = if value { *waiting + 1 } else { *waiting - 1 };
        let any = u8::from(*waiting > 0);
        self.bands = self.bands & !(1 << band) | any << band;
    }

    /// The leaf's own queue holds back what it has, or does not any more.
    #[inline]
    pub fn set_stalled(&mut self, leaf: usize, value: bool) {
        if let Some(row) = self.rows.get_mut(leaf / 64) {
            put(&mut row.stalled, leaf, value);
        }
    }

    /// Does the leaf's own queue hold back what it has, so that the leaf must not be asked?
    #[inline]
    pub fn stalled(&self, leaf: usize) -> bool {
        self.rows.get(leaf / 64).is_some_and(|row| row.stalled & bit(leaf) != 0)
    }

    /// The leaf is under its limit, or over.
    #[inline]
    pub fn set_under(&mut self, leaf: usize, value: bool) {
        if let Some(row) = self.rows.get_mut(leaf / 64) {
            put(&mut row.under, leaf, value);
        }
    }

    /// The leaf has been told that it is over its limit.
    #[inline]
    pub fn set_delayed(&mut self, leaf: usize, value: bool) {
        if let Some(row) = self.rows.get_mut(leaf / 64) {
            put(&mut row.delayed, leaf, value);
        }
    }

    /// A class of `level` that lends to `reach` is under its limit, or over.
    #[inline]
    pub fn set_lent(&mut self, level: u8, reach: &Words, value: bool) {
        let first = reach.first * self.depth + usize::from(level);
        let levels = self.levels.get_mut(first..).unwrap_or_default().iter_mut().step_by(self.depth);
        for (level, mask) in levels.zip(&reach.words) {
            level.lent = if value { level.lent | mask } else { level.lent & !mask };
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
        self.turns[band] = if leaf + 1 < self.rows.len() * 64 { leaf + 1 } else { 0 };
    }

    /// Words of each set.
    #[inline]
    pub fn width(&self) -> usize {
        self.rows.len()
    }

    /// Of 64 leaves with packets in the band: those that may send when nobody may borrow from above level `cutoff`,
    /// and those that would find by asking that they and all their lenders are over their limits.
    #[inline]
    pub fn candidates(&self, band: usize, word: usize, cutoff: u8) -> (u64, u64) {
        let row = &self.rows[word];
        let waiting = row.backlogged[band % BANDS] & !row.stalled;
        let own = waiting & row.under;
        if own == waiting {
            return (own, 0);
        }
        let levels = &self.levels[word * self.depth..][..self.depth];
        let top = if cutoff == NO_CUTOFF { self.depth - 1 } else { usize::from(cutoff).min(self.depth - 1) };
        let may = levels[..=top].iter().fold(row.under, |may, level| may | level.lent);
        (waiting & may, waiting & !may & !row.delayed & levels[top].ends)
    }

    /// Nobody has packets, or has been told that it is over its limit.
    pub fn reset(&mut self) {
        for row in &mut self.rows {
            *row = Row { under: row.under, ..Row::default() };
        }
        (self.waiting, self.bands, self.turns) = ([0; BANDS], 0, [0; BANDS]);
    }
}
