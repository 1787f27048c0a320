//! The first 24 bits of a large table: a cache line for each /18, with a bit for each /24 and a slot for each run of them.
//!
//! A table with a slot for each /24 would take 64 MB. Most neighbouring /24 lead to the same, so that only the first of
//! each run has a slot here, and a bit says that a run begins. An address finds its slot by counting bits, in the one
//! cache line of its /18 (16 MB for all), or in one more where that has many runs.

use super::tree::{NOTHING, Slot};
use base::growth::make_room;

/// Bits of an address that choose a line.
pub(super) const LINE_BITS: u8 = 18;
const LINES: usize = 1 << LINE_BITS;
/// The /24 of a /18.
pub(super) const PARTS: usize = 1 << (24 - LINE_BITS);

/// Runs for which there is room in a line.
const INLINE: usize = 14;
/// Those of other lines are elsewhere if the first bit, which would always be set, is not.
const IS_INLINE: u64 = 1;

/// The runs of one /18.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    /// A bit for each part that begins a run.
    starts: u64,
    /// The slots of its runs, or first where they are among those of all lines.
    slots: [Slot; INLINE],
}

impl Line {
    fn runs(&self) -> usize {
        (self.starts | IS_INLINE).count_ones() as usize
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The slots of lines with many runs.
    slots: Vec<Slot>,
    /// Blocks of them that are free, by their number of slots less one.
    free: Vec<Vec<u32>>,
}

/// The line of an address.
#[inline(always)]
const fn line_of(bits: u32) -> usize {
    (bits >> (32 - LINE_BITS)) as usize
}

/// The part of an address in its line.
#[inline(always)]
const fn part_of(bits: u32) -> usize {
    (bits >> 8) as usize % PARTS
}

impl Lines {
    /// Nothing for all addresses.
    pub(super) fn new() -> Lines {
        let line = Line { starts: IS_INLINE, slots: [NOTHING; INLINE] };
        Lines { lines: vec![line; LINES], slots: Vec::new(), free: vec![Vec::new(); PARTS] }
    }

    /// Hints that the slot of an address is about to be asked for.
    #[inline(always)]
    pub(super) fn prefetch_line(&self, bits: u32) {
        if let Some(line) = self.lines.get(line_of(bits)) {
            base::prefetch::prefetch(line);
        }
    }

    /// The slot of an address.
    #[inline(always)]
    pub(super) fn slot(&self, bits: u32) -> Slot {
        let Some(line) = self.lines.get(line_of(bits)) else { return NOTHING };
        // The bit of its part is on top.
        let begun = (line.starts | IS_INLINE) << (PARTS - 1 - part_of(bits));
        let run = begun.count_ones() as usize - 1;
        let slots = if line.starts & IS_INLINE != 0 { &line.slots[..] } else { self.elsewhere(line) };
        slots.get(run).copied().unwrap_or(NOTHING)
    }

    #[inline(always)]
    fn elsewhere(&self, line: &Line) -> &[Slot] {
        self.slots.get(line.slots[0] as usize..).unwrap_or_default()
    }

    /// The slots of the runs of a line.
    fn of(&self, line: usize) -> &[Slot] {
        let line = &self.lines[line];
        let slots = if line.starts & IS_INLINE != 0 { &line.slots[..] } else { self.elsewhere(line) };
        &slots[..line.runs()]
    }

    /// Changes all slots.
    pub(super) fn map(&mut self, mut change: impl FnMut(Slot) -> Slot) {
        for line in &mut self.lines {
            let runs = line.runs();
            let slots = match line.starts & IS_INLINE {
                0 => &mut self.slots[line.slots[0] as usize..],
                _ => &mut line.slots[..],
            };
            slots[..runs].iter_mut().for_each(|slot| *slot = change(*slot));
        }
    }

    /// Changes the slots of `count` parts from that of an address on: all of one line, or whole lines.
    pub(super) fn map_parts(&mut self, bits: u32, count: usize, mut change: impl FnMut(Slot) -> Slot) {
        let (first, line) = (part_of(bits), line_of(bits));
        for line in line..line + count.div_ceil(PARTS) {
            let mut parts = self.parts(line);
            parts[first..PARTS.min(first + count)].iter_mut().for_each(|slot| *slot = change(*slot));
            self.store(line, &parts);
        }
    }

    /// The slots of all parts of a line.
    pub(super) fn parts(&self, line: usize) -> [Slot; PARTS] {
        let mut starts = self.lines[line].starts | IS_INLINE;
        let mut parts = [NOTHING; PARTS];
        for slot in self.of(line) {
            // From each beginning to the end: what is behind the run is overwritten by the next one.
            parts[starts.trailing_zeros() as usize..].fill(*slot);
            starts &= starts - 1;
        }
        parts
    }

    /// Has a line have these parts.
    pub(super) fn store(&mut self, place: usize, parts: &[Slot; PARTS]) {
        let (mut starts, mut runs, mut found) = (IS_INLINE, 1, [NOTHING; PARTS]);
        found[0] = parts[0];
        for (part, slot) in parts.iter().enumerate() {
            if *slot != found[runs - 1] {
                starts |= 1 << part;
                found[runs] = *slot;
                runs += 1;
            }
        }
        let line = &mut self.lines[place];
        let had = line.runs();
        if runs > INLINE && had == runs {
            self.slots[line.slots[0] as usize..][..runs].copy_from_slice(&found[..runs]);
            line.starts = starts & !IS_INLINE;
            return;
        }
        if had > INLINE {
            self.free[had - 1].push(line.slots[0]);
        }
        if runs <= INLINE {
            line.slots.copy_from_slice(&found[..INLINE]);
            line.starts = starts;
            return;
        }
        let base = self.free[runs - 1].pop().unwrap_or_else(|| {
            make_room(&mut self.slots, runs);
            self.slots.resize(self.slots.len() + runs, NOTHING);
            (self.slots.len() - runs) as u32
        });
        self.slots[base as usize..][..runs].copy_from_slice(&found[..runs]);
        line.starts = starts & !IS_INLINE;
        line.slots[0] = base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(64))]
        #[test]
        fn a_line_gives_what_was_stored(
            changes in proptest::collection::vec((0usize..3, 0usize..PARTS, 0usize..PARTS, 1u32..5), 1..40),
        ) {
            let mut lines = Lines::new();
            let mut plain = vec![NOTHING; 3 * PARTS];
            for (line, part, count, slot) in changes {
                let first = line * PARTS + part;
                let count = count.min(PARTS - part);
                lines.map_parts((first as u32) << 8, count, |_| slot);
                plain[first..first + count].fill(slot);
                for (at, slot) in plain.iter().enumerate() {
                    prop_assert_eq!(lines.slot((at as u32) << 8 | 77), *slot);
                }
            }
            lines.map_parts((PARTS as u32) << 8, 2 * PARTS, |slot| slot + 1);
            plain[PARTS..].iter_mut().for_each(|slot| *slot += 1);
            let found = (0..3).flat_map(|line| lines.parts(line));
            prop_assert!(found.eq(plain));
        }
    }
}
