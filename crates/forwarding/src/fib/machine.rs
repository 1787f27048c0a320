//! What this machine can do for a large table: count bits, look at sixteen lines at once, and have large pages.
//!
//! All ways find the same. This file alone has unsafe code, for three reasons: instructions that not every processor
//! has are called where it says that it has them; they read from addresses that they are given; and the system is told
//! about memory.
#![allow(unsafe_code)]

use super::slot::{BUCKET, Held, MORE, NODE, NOTHING, Slot, at, bucket, count, is_leaf};
use super::wide::{BLOCK_BITS, LINES, Line, SLOTS, block_of, first};
use core::net::Ipv4Addr;

/// Addresses that are looked up at once.
pub(super) const LANES: usize = 64;
/// Leaves of a bucket that are looked at at once.
const ROW: usize = 8;
/// Slots that lead further and are followed without asking first how many there are.
const FOLLOWED: usize = 4;

/// What a large table consists of: lines, slots that did not fit in there, and the leaves of all buckets.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) lines: &'a [Line; LINES],
    pub(super) more: &'a [Slot],
    pub(super) held: &'a [Held],
}

/// How lines are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One after the other, with what all processors have.
    Plain,
    /// One after the other, with an instruction that counts bits.
    #[cfg(target_arch = "x86_64")]
    Counted,
    /// Sixteen at once, and the leaves of a bucket at once.
    #[cfg(target_arch = "x86_64")]
    Gathered,
}

impl Way {
    /// The fastest one that this processor has.
    pub(super) fn fastest() -> Way {
        *Way::all().last().unwrap_or(&Way::Plain)
    }

    /// All that this processor has, the fastest last.
    pub(super) fn all() -> Vec<Way> {
        let mut all = vec![Way::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("popcnt") && has!("bmi1") && has!("bmi2") {
                all.push(Way::Counted);
                if has!("avx512f") && has!("avx512bw") && has!("avx512vpopcntdq") {
                    all.push(Way::Gathered);
                }
            }
        }
        all
    }

    /// What the line of an address says of it. `self` is one of [`Way::all`].
    #[inline(always)]
    pub(super) fn first(self, lines: &[Line; LINES], bits: u32) -> Slot {
        match self {
            Way::Plain => first(lines, bits),
            // SAFETY: the processor has the instructions, or it would not be among `Way::all`.
            #[cfg(target_arch = "x86_64")]
            Way::Counted | Way::Gathered => unsafe { first_counted(lines, bits) },
        }
    }

    /// Finds what 64 addresses, of which the first `count` are asked for, lead to, and says which of their slots are no
    /// leaves, but lead further: a bit for each, the lowest first. `self` is one of [`Way::all`].
    #[inline(always)]
    pub(super) fn look(
        self,
        table: Table,
        addresses: &[Ipv4Addr; LANES],
        count: usize,
        slots: &mut [Slot; LANES],
    ) -> u64 {
        match self {
            Way::Plain => one_by_one(table.lines, addresses, count, slots),
            // SAFETY: the processor has the instructions, or it would not be among `Way::all`.
            #[cfg(target_arch = "x86_64")]
            Way::Counted => unsafe { counted(table.lines, addresses, count, slots) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Way::Gathered => unsafe { gathered(table, addresses, count, slots) },
        }
    }
}

/// Asks for the lines of addresses.
#[inline(always)]
fn fetch(lines: &[Line; LINES], bits: &[u32]) {
    for bits in bits {
        base::prefetch::prefetch(&lines[block_of(*bits)]);
    }
}

#[inline(always)]
fn one_by_one(
    lines: &[Line; LINES],
    addresses: &[Ipv4Addr; LANES],
    count: usize,
    slots: &mut [Slot; LANES],
) -> u64 {
    let bits = addresses.map(Ipv4Addr::to_bits);
    fetch(lines, &bits[..count.min(LANES)]);
    let mut further = 0;
    for (lane, (bits, slot)) in bits.iter().zip(slots).enumerate().take(count) {
        *slot = first(lines, *bits);
        further |= u64::from(!is_leaf(*slot)) << lane;
    }
    further
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn counted(
    lines: &[Line; LINES],
    addresses: &[Ipv4Addr; LANES],
    count: usize,
    slots: &mut [Slot; LANES],
) -> u64 {
    one_by_one(lines, addresses, count, slots)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn first_counted(lines: &[Line; LINES], bits: u32) -> Slot {
    first(lines, bits)
}

/// The same of sixteen addresses at a time. Nothing depends on a guess what the memory will say: a wrong one would keep
/// the next addresses waiting, too.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512vpopcntdq")]
fn gathered(table: Table, addresses: &[Ipv4Addr; LANES], count: usize, slots: &mut [Slot; LANES]) -> u64 {
    use core::arch::x86_64::*;
    let bits = addresses.map(Ipv4Addr::to_bits);
    fetch(table.lines, &bits[..count.min(LANES)]);
    let mut further = 0;
    let steps = bits.as_chunks::<16>().0.iter().zip(slots.as_chunks_mut::<16>().0).enumerate();
    for (step, (bits, slots)) in steps.take(count.div_ceil(16)) {
        // SAFETY: sixteen words are read and written where there are as many.
        let is_further = unsafe {
            let found = first_sixteen(table.lines, _mm512_loadu_si512(bits.as_ptr().cast()));
            _mm512_storeu_si512(slots.as_mut_ptr().cast(), found);
            _mm512_cmpge_epu32_mask(found, _mm512_set1_epi32(BUCKET as i32))
        };
        further |= u64::from(is_further) << (16 * step);
    }
    if count < LANES {
        further &= (1 << count) - 1;
    }
    let mut deeper = 0;
    loop {
        for _ in 0..FOLLOWED {
            // Where there are fewer, the first address is followed once more, which changes nothing.
            let lane = further.trailing_zeros() as usize % LANES;
            further &= further.wrapping_sub(1);
            slots[lane] = followed(table, bits[lane], slots[lane]);
            deeper |= u64::from(!is_leaf(slots[lane])) << lane;
        }
        if further == 0 {
            return deeper;
        }
    }
}

/// The same as [`first`] of sixteen addresses.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn first_sixteen(lines: &[Line; LINES], bits: core::arch::x86_64::__m512i) -> core::arch::x86_64::__m512i {
    use core::arch::x86_64::*;
    use core::mem::offset_of;
    const WORD: i32 = size_of::<Slot>() as i32;
    const PAIR: i32 = 2 * WORD;
    const WORDS: u32 = (size_of::<Line>() / WORD as usize).trailing_zeros();

    let base: *const u8 = lines.as_ptr().cast();
    let starts: *const i64 = base.wrapping_add(offset_of!(Line, starts)).cast();
    let present: *const i64 = base.wrapping_add(offset_of!(Line, present)).cast();
    let inside: *const i32 = base.wrapping_add(offset_of!(Line, slots)).cast();
    let line = _mm512_srli_epi32::<{ 32 - BLOCK_BITS as u32 }>(bits);
    // How far the bit of the /24 has to move to be the highest.
    let place = _mm512_and_si512(_mm512_srli_epi32::<8>(bits), _mm512_set1_epi32(63));
    let shift = _mm512_sub_epi32(_mm512_set1_epi32(63), place);
    let half = |line: __m256i, shift: __m256i| {
        let pair = _mm256_slli_epi32::<{ WORDS as i32 - 1 }>(line);
        let shift = _mm512_cvtepu32_epi64(shift);
        // SAFETY: a line is chosen by the first bits of an address, and there are as many lines.
        let (starts, present) = unsafe {
            (_mm512_i32gather_epi64::<PAIR>(pair, starts), _mm512_i32gather_epi64::<PAIR>(pair, present))
        };
        let present = _mm512_sllv_epi64(present, shift);
        let is_present = _mm512_cmplt_epi64_mask(present, _mm512_setzero_si512());
        let rank = _mm512_popcnt_epi64(_mm512_sllv_epi64(starts, shift));
        _mm512_maskz_cvtepi64_epi32(is_present, rank)
    };
    let low = half(_mm512_castsi512_si256(line), _mm512_castsi512_si256(shift));
    let high = half(_mm512_extracti64x4_epi64::<1>(line), _mm512_extracti64x4_epi64::<1>(shift));
    let rank = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    let rank = _mm512_min_epu32(rank, _mm512_set1_epi32(SLOTS as i32 - 1));
    let word = _mm512_add_epi32(_mm512_slli_epi32::<WORDS>(line), rank);
    // SAFETY: likewise, and a line has as many slots.
    unsafe { _mm512_i32gather_epi32::<WORD>(word, inside) }
}

/// The leaf of an address whose slot leads to a bucket of at most eight leaves. Of another slot the same slot.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f")]
fn followed(table: Table, bits: u32, slot: Slot) -> Slot {
    use core::arch::x86_64::*;
    const PLACE: u32 = super::slot::WHERE_BITS;
    let line = &table.lines[block_of(bits)];
    let is_more = (MORE..NODE).contains(&slot);
    let outside = table.more.get(if is_more { line.outside(slot, bits) } else { 0 });
    let slot = if is_more { outside.copied().unwrap_or(NOTHING) } else { slot };
    let is_row = (BUCKET..bucket(ROW + 1, 0)).contains(&slot);
    let (row, count) = if is_row { (at(slot), count(slot)) } else { (0, 0) };
    let count = if row + count <= table.held.len() { count } else { 0 };
    let is_there = ((1_u32 << count) - 1) as __mmask8;
    // SAFETY: what is read are leaves from `row` on, as many as there are; nothing if there are none.
    let all = unsafe { _mm512_maskz_loadu_epi64(is_there, table.held.as_ptr().wrapping_add(row).cast()) };
    let differs = _mm512_xor_si512(_mm512_slli_epi64::<32>(all), _mm512_set1_epi64(i64::from(bits) << 32));
    // Of the address count as many bits as the prefix has. What is not there has a leaf of zero.
    let rank = _mm512_srli_epi64::<{ 32 + PLACE }>(all);
    let counted = _mm512_srlv_epi64(differs, _mm512_sub_epi64(_mm512_set1_epi64(65), rank));
    let is_within = _mm512_testn_epi64_mask(counted, counted);
    let longest = _mm512_reduce_max_epu64(_mm512_maskz_srli_epi64::<32>(is_within, all)) as Slot;
    let found = if is_row { longest } else { slot };
    if found == NOTHING { line.slots[0] } else { found }
}

/// Bytes of a large page.
const PAGE: usize = 1 << 21;

/// The lines of a table, in large pages where the system has them: with ordinary ones nearly every look-up would also
/// wait for the page to be found.
#[derive(Debug)]
pub(super) struct Lines {
    /// With some before the first one, so that this is where a page begins.
    all: Vec<Line>,
    first: usize,
}

impl Lines {
    pub(super) fn new() -> Lines {
        let mut all: Vec<Line> = Vec::with_capacity(LINES + PAGE / size_of::<Line>());
        let room = all.spare_capacity_mut();
        let first = room.as_ptr().align_offset(PAGE);
        let first = if first <= room.len() - LINES { first } else { 0 };
        #[cfg(target_os = "linux")]
        {
            let lines = &mut room[first..first + LINES];
            // SAFETY: the memory is ours, and stays what it is. Where the system does not do it, nothing is different.
            unsafe { libc::madvise(lines.as_mut_ptr().cast(), size_of_val(lines), libc::MADV_HUGEPAGE) };
        }
        all.resize(first + LINES, Line::default());
        Lines { all, first }
    }
}

impl Clone for Lines {
    fn clone(&self) -> Lines {
        let mut lines = Lines::new();
        lines.copy_from_slice(&**self);
        lines
    }
}

impl core::ops::Deref for Lines {
    type Target = [Line; LINES];
    #[inline(always)]
    fn deref(&self) -> &[Line; LINES] {
        let lines = self.all.get(self.first..).and_then(<[Line]>::first_chunk);
        lines.unwrap_or_else(|| unreachable!("as many as were made"))
    }
}

impl core::ops::DerefMut for Lines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Line; LINES] {
        let lines = self.all.get_mut(self.first..).and_then(<[Line]>::first_chunk_mut);
        lines.unwrap_or_else(|| unreachable!("as many as were made"))
    }
}
