//! Which of many tuples can have a pattern that a packet has: one look-up for each mask that a word has in any of
//! them, instead of one for each tuple.
//!
//! Tuples with the same mask of a word are a lane of that word. A lane has rows, and a value of the word belongs to one
//! of them by its hash. A row has a bit for each tuple that has a pattern with such a value. A packet can only have
//! patterns of tuples whose bit is set for each word. A bit may be set for nothing, which costs a search in that tuple:
//! values share rows, and bits of patterns that are gone stay until the lanes are made anew.

use super::Fields;
use super::fields::WORDS;
use crate::hash::{Seed, mix};
use std::collections::BTreeMap;

/// Bits of a number in a row.
const BITS: usize = u64::BITS as usize;
/// Numbers of a row, at the most: of more tuples there are no lanes.
const WIDEST: usize = 16;
/// Rows of a lane, at the least.
const FEWEST: usize = 8;

/// So many patterns may be gone, whatever is left, before the lanes are made anew.
const SLACK: usize = 64;

/// Tuples, as bits by their places.
pub(super) type Bits = [u64; WIDEST];

/// All lanes of a classifier.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    seed: Seed,
    /// Numbers in use of [`Bits`], and of each row: 1, 2, 4, 8 or 16.
    width: usize,
    /// In the order of their words.
    lanes: Vec<Lane>,
    /// By word: where its lanes end.
    ends: [u16; WORDS],
    /// By word: tuples that don't look at it.
    careless: [Bits; WORDS],
    /// Tuples that have patterns.
    tuples: Bits,
    /// Patterns that are there, and those that are gone since the lanes were made.
    patterns: usize,
    gone: usize,
}

/// One mask of a word.
#[derive(Clone, Debug)]
struct Lane {
    word: u8,
    mask: u64,
    /// Which tuples have it.
    tuples: Bits,
    /// Patterns of these tuples.
    patterns: usize,
    /// How far a hash is shifted to be a row.
    shift: u32,
    rows: Box<[u64]>,
}

impl Lane {
    fn new(word: usize, mask: u64, patterns: usize, width: usize) -> Lane {
        let rows = patterns.next_power_of_two().max(FEWEST);
        let shift = u64::BITS - rows.trailing_zeros();
        let rows = vec![0; rows * width].into();
        Lane { word: word as u8, mask, tuples: [0; WIDEST], patterns: 0, shift, rows }
    }

    /// Where the row of a value begins.
    #[inline(always)]
    fn at(&self, seed: Seed, value: u64, width: usize) -> usize {
        (mix(value & self.mask ^ seed.0, seed.1 | 1) >> self.shift) as usize * width
    }

    fn is_full(&self, width: usize) -> bool {
        self.patterns > self.rows.len() / width
    }
}

const fn bit(place: u32) -> (usize, u64) {
    (place as usize / BITS, 1 << (place as usize % BITS))
}

impl Lanes {
    /// Lanes without patterns for tuples with places below `places`: of each its place, its mask and how many patterns
    /// it has. Nothing where there are too many places.
    pub(super) fn new<'a>(
        seed: Seed,
        places: usize,
        tuples: impl Iterator<Item = (u32, &'a Fields, usize)>,
    ) -> Option<Lanes> {
        let width = places.div_ceil(BITS).next_power_of_two();
        if width > WIDEST {
            return None;
        }
        let (lanes, ends, careless) = (Vec::new(), [0; WORDS], [[0; WIDEST]; WORDS]);
        let mut made =
            Lanes { seed, width, lanes, ends, careless, tuples: [0; WIDEST], patterns: 0, gone: 0 };
        let tuples: Vec<_> = tuples.collect();
        let mut rooms = BTreeMap::<(usize, u64), usize>::new();
        for (_, mask, patterns) in &tuples {
            for (word, mask) in mask.0.into_iter().enumerate().filter(|(_, mask)| *mask != 0) {
                *rooms.entry((word, mask)).or_default() += patterns;
            }
        }
        for ((word, mask), patterns) in rooms {
            // Twice as many may come before the lanes are made anew.
            made.lanes.push(Lane::new(word, mask, 2 * patterns, width));
            made.ends[word..].fill(made.lanes.len() as u16);
        }
        for (place, mask, _) in tuples {
            made.add_tuple(place, mask);
        }
        Some(made)
    }

    /// Is there a bit for this place?
    pub(super) fn has_place(&self, place: u32) -> bool {
        place as usize / BITS < self.width
    }

    /// There is another tuple.
    pub(super) fn add_tuple(&mut self, place: u32, mask: &Fields) {
        let (at, bit) = bit(place);
        self.tuples[at] |= bit;
        // A lane that is full has all lanes made anew: in a table of many patterns it begins with some room.
        let room = self.patterns / 16;
        for (word, mask) in mask.0.into_iter().enumerate() {
            if mask == 0 {
                self.careless[word][at] |= bit;
                continue;
            }
            let lane = match self.position(word, mask) {
                Ok(lane) => lane,
                Err(lane) => {
                    self.lanes.insert(lane, Lane::new(word, mask, room, self.width));
                    self.ends[word..].iter_mut().for_each(|end| *end += 1);
                    lane
                }
            };
            self.lanes[lane].tuples[at] |= bit;
        }
    }

    /// A tuple has lost its last pattern.
    pub(super) fn remove_tuple(&mut self, place: u32) {
        let (at, bit) = bit(place);
        self.tuples[at] &= !bit;
        self.careless.iter_mut().for_each(|tuples| tuples[at] &= !bit);
        for lane in &mut self.lanes {
            lane.tuples[at] &= !bit;
        }
        let mut word = 0;
        let (mut kept, mut ends) = (Vec::with_capacity(self.lanes.len()), [0; WORDS]);
        for lane in self.lanes.drain(..).filter(|lane| lane.tuples != [0; WIDEST]) {
            while word < usize::from(lane.word) {
                ends[word] = kept.len() as u16;
                word += 1;
            }
            kept.push(lane);
        }
        ends[word..].fill(kept.len() as u16);
        (self.lanes, self.ends) = (kept, ends);
    }

    /// A tuple that is there has got a pattern. Says whether the lanes are to be made anew, with more room.
    pub(super) fn insert(&mut self, place: u32, mask: &Fields, value: &Fields) -> bool {
        let (number, bit) = bit(place);
        let (seed, width, mut is_full) = (self.seed, self.width, false);
        self.patterns += 1;
        self.each_lane(mask, |lane| {
            lane.patterns += 1;
            is_full |= lane.is_full(width);
            let at = lane.at(seed, value.0[usize::from(lane.word)], width);
            lane.rows[at + number] |= bit;
        });
        is_full
    }

    /// A tuple has lost a pattern. Says whether the lanes are to be made anew, since the greater part of the bits are
    /// of patterns that are gone.
    pub(super) fn remove(&mut self, mask: &Fields) -> bool {
        self.each_lane(mask, |lane| lane.patterns = lane.patterns.saturating_sub(1));
        self.patterns = self.patterns.saturating_sub(1);
        self.gone += 1;
        self.gone > self.patterns + SLACK
    }

    /// Tuples in which a packet may have a pattern.
    #[inline]
    pub(super) fn narrow(&self, packet: &Fields) -> Bits {
        match self.width {
            1 => self.narrowed::<1>(packet),
            2 => self.narrowed::<2>(packet),
            4 => self.narrowed::<4>(packet),
            8 => self.narrowed::<8>(packet),
            _ => self.narrowed::<WIDEST>(packet),
        }
    }

    fn narrowed<const WIDTH: usize>(&self, packet: &Fields) -> Bits {
        let first = |bits: &Bits| -> [u64; WIDTH] { core::array::from_fn(|at| bits[at]) };
        let (mut left, mut begin) = (first(&self.tuples), 0);
        for (word, end) in self.ends.iter().enumerate() {
            let end = usize::from(*end);
            if begin == end {
                continue;
            }
            let mut having = first(&self.careless[word]);
            for lane in &self.lanes[begin..end] {
                let at = lane.at(self.seed, packet.0[word], WIDTH);
                let row = &lane.rows[at..at + WIDTH];
                for number in 0..WIDTH {
                    having[number] |= row[number] & lane.tuples[number];
                }
            }
            for number in 0..WIDTH {
                left[number] &= having[number];
            }
            if left == [0; WIDTH] {
                break;
            }
            begin = end;
        }
        let mut bits = [0; WIDEST];
        bits[..WIDTH].copy_from_slice(&left);
        bits
    }

    /// Where the lane of a word's mask is, or belongs.
    fn position(&self, word: usize, mask: u64) -> Result<usize, usize> {
        let begin = if word == 0 { 0 } else { usize::from(self.ends[word - 1]) };
        let lanes = &self.lanes[begin..usize::from(self.ends[word])];
        let found = lanes.binary_search_by_key(&mask, |lane| lane.mask);
        found.map(|at| begin + at).map_err(|at| begin + at)
    }

    /// Numbers of all rows.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.lanes.iter().map(|lane| lane.rows.len()).sum()
    }

    fn each_lane(&mut self, mask: &Fields, mut of: impl FnMut(&mut Lane)) {
        for word in (0..WORDS).filter(|word| mask.0[*word] != 0) {
            if let Ok(lane) = self.position(word, mask.0[word]) {
                of(&mut self.lanes[lane]);
            }
        }
    }
}

/// How many are set?
pub(super) fn count(bits: &Bits) -> u32 {
    bits.iter().map(|number| number.count_ones()).sum()
}

/// Is that of this place set?
pub(super) fn has(bits: &Bits, place: u32) -> bool {
    let (at, bit) = bit(place);
    bits[at] & bit != 0
}

/// The places of all that are set.
pub(super) fn places(bits: &Bits) -> impl Iterator<Item = u32> + '_ {
    bits.iter().enumerate().flat_map(|(at, number)| {
        let mut left = *number;
        core::iter::from_fn(move || {
            let low = left.checked_ilog2().map(|_| left.trailing_zeros())?;
            left &= left - 1;
            Some((at * BITS) as u32 + low)
        })
    })
}
