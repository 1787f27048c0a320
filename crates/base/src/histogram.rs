//! A histogram whose bins are narrow in proportion to their values: so many to an octave, each value below that
//! number by itself.
//!
//! Only octaves in which something was counted take memory (512 bytes each with the usual 128 bins), and those
//! between them. A count touches one cache line: a sink keeps hundreds of histograms at a time.

/// How often something was counted: an integer that stays at its greatest value.
pub trait Count: Copy + Default + Into<u64> {
    /// A count of one.
    const ONE: Self;
    /// The sum, or the greatest value.
    fn plus(self, other: Self) -> Self;
}

impl Count for u32 {
    const ONE: u32 = 1;
    #[inline]
    fn plus(self, other: u32) -> u32 {
        self.saturating_add(other)
    }
}

impl Count for u64 {
    const ONE: u64 = 1;
    #[inline]
    fn plus(self, other: u64) -> u64 {
        self.saturating_add(other)
    }
}

/// Counts of values, in `SUB` bins to an octave, a power of two.
#[derive(Clone, Debug, Default)]
pub struct Histogram<N = u32, const SUB: usize = 128> {
    /// The octave of the first row.
    low: usize,
    rows: Vec<[N; SUB]>,
}

impl<N: Count, const SUB: usize> Histogram<N, SUB> {
    const SUB_BITS: u32 = {
        assert!(SUB.is_power_of_two());
        SUB.ilog2()
    };

    /// Octave and place in it of a value. Octave zero has the values below `SUB`; octave `k` begins at `SUB` / 2 * 2^k.
    #[inline]
    fn bin_of(value: u64) -> (usize, usize) {
        let shift = (63 - Self::SUB_BITS).saturating_sub((value | 1).leading_zeros());
        let octave = shift as usize + usize::from(value >= SUB as u64);
        (octave, (value >> shift) as usize & (SUB - 1))
    }

    /// The greatest value of a bin.
    fn last_of(octave: usize, place: usize) -> u64 {
        match octave.checked_sub(1) {
            None => place as u64,
            Some(shift) => ((((SUB + place) as u128 + 1) << shift) - 1) as u64,
        }
    }

    /// Counts a value. A bin that has counted as many as its number holds counts no further.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let (octave, place) = Self::bin_of(value);
        // An octave below the first row wraps to a place beyond the last.
        let count = match self.rows.get_mut(octave.wrapping_sub(self.low)) {
            Some(row) => &mut row[place],
            None => &mut self.row(octave)[place],
        };
        *count = count.plus(N::ONE);
    }

    /// The row of an octave, made if there is none.
    #[cold]
    fn row(&mut self, octave: usize) -> &mut [N; SUB] {
        if self.rows.is_empty() {
            self.low = octave;
        }
        let missing = self.low.saturating_sub(octave);
        self.rows.splice(0..0, core::iter::repeat_n([N::default(); SUB], missing));
        self.low -= missing;
        let row = octave - self.low;
        if self.rows.len() <= row {
            self.rows.resize(row + 1, [N::default(); SUB]);
        }
        &mut self.rows[row]
    }

    /// Adds what `other` has counted.
    pub fn add(&mut self, other: &Self) {
        for (octave, counts) in (other.low..).zip(&other.rows) {
            for (a, b) in self.row(octave).iter_mut().zip(counts) {
                *a = a.plus(*b);
            }
        }
    }

    /// Forgets everything, but keeps its memory.
    pub fn clear(&mut self) {
        self.rows.iter_mut().for_each(|row| row.fill(N::default()));
    }

    /// The least value, up to the width of a bin, that a fraction `q` of all values does not exceed; nothing if there
    /// are none.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let counts = || self.rows.iter().flatten().map(|count| (*count).into());
        let total: u64 = counts().sum();
        let rank = (libm::ceil(q.clamp(0.0, 1.0) * total as f64) as u64).max(1);
        let mut so_far = 0;
        let bin = counts().position(|count| {
            so_far += count;
            so_far >= rank
        })?;
        Some(Self::last_of(self.low + bin / SUB, bin % SUB))
    }

    /// The bins that have counted something, in order: the greatest value that falls into each, and how many have.
    pub fn bins(&self) -> impl Iterator<Item = (u64, N)> {
        let rows = (self.low..).zip(&self.rows);
        let bins = rows.flat_map(|(octave, row)| {
            (0..).zip(row).map(move |(place, n)| (Self::last_of(octave, place), *n))
        });
        bins.filter(|(_, count)| (*count).into() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn are_in_order_and_narrow<const SUB: usize>() {
        let (bin_of, last_of) = (Histogram::<u32, SUB>::bin_of, Histogram::<u32, SUB>::last_of);
        for value in (0..63).flat_map(|bit| [-1i64, 0, 1].map(|d| (1u64 << bit).saturating_add_signed(d))) {
            let (octave, place) = bin_of(value);
            let last = last_of(octave, place);
            assert!(value <= last && last - value <= value / SUB as u64, "{value}: up to {last}");
            assert!(bin_of(last + 1) > (octave, place), "{value}");
        }
        let (octave, place) = bin_of(u64::MAX);
        assert_eq!(last_of(octave, place), u64::MAX);
    }

    #[test]
    fn bins_are_in_order_and_narrow() {
        are_in_order_and_narrow::<128>();
        are_in_order_and_narrow::<16>();
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn quantiles_are_those_of_the_sorted_values(values in proptest::collection::vec(0u64..1 << 40, 1..200), scale in 0u32..40, q in 0.0f64..1.0, split in 0usize..200) {
            let values: Vec<u64> = values.iter().map(|v| v >> scale).collect();
            let (mut all, mut rest) = (Histogram::<u32>::default(), Histogram::default());
            for (i, &value) in values.iter().enumerate() {
                if i < split { all.record(value) } else { rest.record(value) }
            }
            all.add(&rest);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let rank = (libm::ceil(q * values.len() as f64) as usize).max(1);
            let exact = sorted[rank - 1];
            let found = all.quantile(q).expect("values");
            prop_assert!(exact <= found && found - exact <= exact / 128, "{exact} {found}");
            let bins: Vec<(u64, u32)> = all.bins().collect();
            prop_assert!(bins.is_sorted() && bins.iter().any(|bin| bin.0 == found));
            prop_assert_eq!(bins.iter().map(|bin| bin.1 as usize).sum::<usize>(), values.len());
            all.clear();
            prop_assert_eq!(all.quantile(q), None);
        }
    }
}
