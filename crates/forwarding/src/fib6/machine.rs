//! What this machine can do for buckets of IPv6: compare an address with all prefixes of one at once.
//!
//! All ways find the same. This file alone has unsafe code, for two reasons: instructions that not every processor has
//! are called where it says that it has them, and they read from addresses that they are given.
#![allow(unsafe_code)]

use super::row::Row;
use super::slot::Slot;
use crate::fib::places;

/// Addresses that are looked up together.
pub(super) const LANES: usize = u64::BITS as usize;

/// How buckets are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One prefix after the other, with what all processors have.
    Plain,
    /// All prefixes at once.
    #[cfg(target_arch = "x86_64")]
    Together,
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
            if has!("popcnt") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("avx512f") {
                all.push(Way::Together);
            }
        }
        all
    }

    /// Finds what those of 64 addresses lead to that are at a bucket: one bit of `which` for each, the lowest first.
    /// Says likewise of which the bits in the bucket were not enough. `self` is one of [`Way::all`].
    #[inline(always)]
    pub(super) fn find(self, rows: &[u32], all: &[u128; LANES], which: u64, slots: &mut [Slot]) -> u64 {
        match self {
            Way::Plain => plain(rows, all, which, slots),
            // SAFETY: the processor has the instructions, or it would not be among `Way::all`.
            #[cfg(target_arch = "x86_64")]
            Way::Together => unsafe { together(rows, all, which, slots) },
        }
    }
}

fn plain(rows: &[u32], all: &[u128; LANES], which: u64, slots: &mut [Slot]) -> u64 {
    let mut unsure = 0;
    for lane in places(which) {
        let (found, is_sure) = Row::at(rows, slots[lane]).find(all[lane]);
        slots[lane] = found;
        unsure |= u64::from(!is_sure) << lane;
    }
    unsure
}

/// The same without a guess what the memory will say: a wrong one would keep the next addresses waiting, too.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt,avx512f")]
fn together(rows: &[u32], all: &[u128; LANES], which: u64, slots: &mut [Slot]) -> u64 {
    use super::row::{WINDOW, is_long, window};
    use super::slot::WHERE_BITS;
    use core::arch::x86_64::*;

    let mut unsure = 0;
    for lane in places(which) {
        let row = Row::at(rows, slots[lane]);
        let (keys, leaves) = (row.keys(), row.leaves());
        let is_there = ((1_u32 << keys.len()) - 1) as __mmask16;
        // SAFETY: no more words are read than there are.
        let (key, leaf) = unsafe {
            (
                _mm512_maskz_loadu_epi32(is_there, keys.as_ptr().cast()),
                _mm512_maskz_loadu_epi32(is_there, leaves.as_ptr().cast()),
            )
        };
        let differs = _mm512_xor_si512(key, _mm512_set1_epi32(window(all[lane], row.depth) as i32));
        // Of the address count as many bits as the prefix has, but no more than there are.
        let base = _mm512_set1_epi32(i32::from(row.depth + WINDOW + 1));
        let rest = _mm512_sub_epi32(base, _mm512_srli_epi32::<WHERE_BITS>(leaf));
        let counted = _mm512_srlv_epi32(differs, _mm512_max_epi32(rest, _mm512_setzero_si512()));
        let within = u32::from(_mm512_mask_testn_epi32_mask(is_there, counted, counted));
        let longest = leaves.get(31_u32.wrapping_sub(within.leading_zeros()) as usize);
        let found = longest.copied().unwrap_or(row.cover());
        unsure |= u64::from(is_long(found, row.depth)) << lane;
        slots[lane] = found;
    }
    unsure
}
