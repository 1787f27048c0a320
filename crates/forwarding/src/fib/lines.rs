//! The first 24 bits of a large table: a cache line for each /16, and the slots of its 256 /24 run by run.
//!
//! A table of a slot for each /24 would take 64 MB. Most neighbouring /24 lead to the same, so that only the first of
//! each run has a slot here, and bits say where runs begin. What a slot is, an address finds by counting bits: in a line
//! and a slot, whatever the length of its prefix, and a million prefixes take 12 MB.

use super::tree::{NOTHING, Slot};
use base::growth::make_room;

/// Bits that choose a line, and bits that a line decides on.
const LINES: usize = 1 << 16;
/// The /24 of a /16.
const PARTS: usize = 1 << 8;
/// Parts whose beginnings are in one word.
const WORD: usize = u16::BITS as usize;
const WORDS: usize = PARTS / WORD;
/// Blocks have room for a multiple of so many runs, so that those that became free fit others.
const STEP: usize = 4;

/// The runs of one /16.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    /// A bit for each part that begins a run; the first part does.
    starts: [u16; WORDS],
    /// How many runs begin in front of each word, less one, modulo 256.
    before: [u8; WORDS],
    /// Where the slots of its runs are.
    base: u32,
    runs: u16,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    slots: Vec<Slot>,
    /// Free blocks, by their room.
    free: [Vec<u32>; PARTS / STEP],
}

/// The number of steps of a block, less one.
const fn class(runs: usize) -> usize {
    runs.div_ceil(STEP) - 1
}

impl Lines {
    /// Nothing for all addresses.
    pub(super) fn new() -> Lines {
        let mut starts = [0; WORDS];
        starts[0] = 1;
        let mut before = [0; WORDS];
        before[0] = u8::MAX;
        let line = |place| Line { starts, before, base: place * STEP as u32, runs: 1 };
        Lines {
            lines: (0..LINES as u32).map(line).collect(),
            slots: vec![NOTHING; LINES * STEP],
            free: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Hints that the slot of an address is about to be asked for.
    #[inline(always)]
    pub(super) fn prefetch_line(&self, bits: u32) {
        if let Some(line) = self.lines.get((bits >> 16) as usize) {
            base::prefetch::prefetch(line);
        }
    }

    /// Where the slot of an address is.
    #[inline(always)]
    pub(super) fn place(&self, bits: u32) -> usize {
        let Some(line) = self.lines.get((bits >> 16) as usize) else { return usize::MAX };
        let part = bits >> 8;
        let word = part as usize / WORD % WORDS;
        let begun = u32::from(line.starts[word]) & ((2 << (part % WORD as u32)) - 1);
        let run = line.before[word].wrapping_add(begun.count_ones() as u8);
        line.base as usize + usize::from(run)
    }

    /// Hints that a slot is about to be read.
    #[inline(always)]
    pub(super) fn prefetch_slot(&self, place: usize) {
        if let Some(slot) = self.slots.get(place) {
            base::prefetch::prefetch(slot);
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> Slot {
        self.slots.get(place).copied().unwrap_or(NOTHING)
    }

    /// The slot of an address.
    #[inline(always)]
    pub(super) fn slot(&self, bits: u32) -> Slot {
        self.at(self.place(bits))
    }

    /// Changes the slots of all parts of `count` lines from `first` on, whose runs stay.
    pub(super) fn map_lines(&mut self, first: usize, count: usize, mut change: impl FnMut(Slot) -> Slot) {
        for line in &self.lines[first..first + count] {
            let block = &mut self.slots[line.base as usize..][..usize::from(line.runs)];
            block.iter_mut().for_each(|slot| *slot = change(*slot));
        }
    }

    /// Changes the slots of `count` parts from that of an address on, all of the same line.
    pub(super) fn map_parts(&mut self, bits: u32, count: usize, mut change: impl FnMut(Slot) -> Slot) {
        let mut parts = self.parts((bits >> 16) as usize);
        let first = (bits >> 8) as usize % PARTS;
        parts[first..first + count].iter_mut().for_each(|slot| *slot = change(*slot));
        self.store((bits >> 16) as usize, &parts);
    }

    /// The slots of all parts of a line.
    pub(super) fn parts(&self, line: usize) -> [Slot; PARTS] {
        let Line { starts, base, runs, .. } = self.lines[line];
        if runs == 1 {
            return [self.slots[base as usize]; PARTS];
        }
        let (mut parts, mut next, mut slot) = ([NOTHING; PARTS], base as usize, NOTHING);
        for (part, found) in parts.iter_mut().enumerate() {
            if starts[part / WORD] >> (part % WORD) & 1 != 0 {
                slot = self.slots[next];
                next += 1;
            }
            *found = slot;
        }
        parts
    }

    /// Has a line have these parts.
    pub(super) fn store(&mut self, place: usize, parts: &[Slot; PARTS]) {
        let old = self.lines[place];
        let (mut starts, mut before) = ([0; WORDS], [0; WORDS]);
        let (mut runs, mut found) = (0, [NOTHING; PARTS]);
        for (part, slot) in parts.iter().enumerate() {
            if part % WORD == 0 {
                before[part / WORD] = (runs as u8).wrapping_sub(1);
            }
            if part == 0 || *slot != found[runs - 1] {
                starts[part / WORD] |= 1 << (part % WORD);
                found[runs] = *slot;
                runs += 1;
            }
        }
        let (class, had) = (class(runs), class(usize::from(old.runs)));
        let mut base = old.base;
        if class != had {
            self.free[had].push(base);
            base = self.free[class].pop().unwrap_or_else(|| {
                let room = (class + 1) * STEP;
                make_room(&mut self.slots, room);
                self.slots.resize(self.slots.len() + room, NOTHING);
                (self.slots.len() - room) as u32
            });
        }
        self.slots[base as usize..][..runs].copy_from_slice(&found[..runs]);
        self.lines[place] = Line { starts, before, base, runs: runs as u16 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(64))]
        #[test]
        fn a_line_gives_what_was_stored(changes in proptest::collection::vec((0u32..3, 0u32..256, 0usize..256, 1u32..5), 1..40)) {
            let mut lines = Lines::new();
            let mut plain = vec![NOTHING; 3 * PARTS];
            for (line, part, count, slot) in changes {
                let first = line << 16 | part << 8;
                let count = count.min(PARTS - part as usize);
                lines.map_parts(first, count, |_| slot);
                plain[(line as usize) * PARTS + part as usize..][..count].fill(slot);
                for (at, slot) in plain.iter().enumerate() {
                    prop_assert_eq!(lines.slot((at as u32) << 8 | 77), *slot);
                }
            }
            lines.map_lines(1, 2, |slot| slot + 1);
            plain[PARTS..].iter_mut().for_each(|slot| *slot += 1);
            let found = (0..3).flat_map(|line| lines.parts(line));
            prop_assert!(found.eq(plain));
        }
    }
}
