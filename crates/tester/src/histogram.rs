//! A histogram whose bins are narrow in proportion to their values: 128 to an octave, each value below 128 by itself.
//!
//! Only octaves in which something was counted take memory (512 bytes each), and those between them. A count touches one
//! cache line: a sink keeps hundreds of histograms at a time.

/// Bins in an octave, as a power of two.
const SUB_BITS: u32 = 7;
const SUB: usize = 1 << SUB_BITS;

/// Counts of values.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The octave of the first row.
    low: usize,
    rows: Vec<[u32; SUB]>,
}

/// Octave and place in it of a value. Octave zero has the values below 128; octave `k` begins at 64 * 2^k.
#[inline]
fn bin_of(value: u64) -> (usize, usize) {
    let shift = (63 - SUB_BITS).saturating_sub((value | 1).leading_zeros());
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

impl Histogram {
    /// Counts a value. A bin that has counted 2^32 - 1 of them counts no further.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let (octave, place) = bin_of(value);
        // An octave below the first row wraps to a place beyond the last.
        let count = match self.rows.get_mut(octave.wrapping_sub(self.low)) {
            Some(row) => &mut row[place],
            None => &mut self.row(octave)[place],
        };
        *count = count.saturating_add(1);
    }

    /// The row of an octave, made if there is none.
    #[cold]
    fn row(&mut self, octave: usize) -> &mut [u32; SUB] {
        if self.rows.is_empty() {
            self.low = octave;
        }
        let missing = self.low.saturating_sub(octave);
        self.rows.splice(0..0, core::iter::repeat_n([0; SUB], missing));
        self.low -= missing;
        let row = octave - self.low;
        if self.rows.len() <= row {
            self.rows.resize(row + 1, [0; SUB]);
        }
        &mut self.rows[row]
    }

    /// Adds what `other` has counted.
    pub fn add(&mut self, other: &Histogram) {
        for (octave, counts) in (other.low..).zip(&other.rows) {
            for (a, b) in self.row(octave).iter_mut().zip(counts) {
                *a = a.saturating_add(*b);
            }
        }
    }

    /// Forgets everything, but keeps its memory.
    pub fn clear(&mut self) {
        self.rows.iter_mut().for_each(|row| row.fill(0));
    }

    /// The least value, up to the width of a bin, that a fraction `q` of all values does not exceed; nothing if there
    /// are none.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let counts = || self.rows.iter().flatten().map(|count| u64::from(*count));
        let total: u64 = counts().sum();
        let rank = (libm::ceil(q.clamp(0.0, 1.0) * total as f64) as u64).max(1);
        let mut so_far = 0;
        let bin = counts().position(|count| {
            so_far += count;
            so_far >= rank
        })?;
        Some(last_of(self.low + bin / SUB, bin % SUB))
    }

    /// The bins that have counted something, in order: the greatest value that falls into each, and how many have.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u32)> {
        let rows = (self.low..).zip(&self.rows);
        let bins =
            rows.flat_map(|(octave, row)| (0..).zip(row).map(move |(place, n)| (last_of(octave, place), *n)));
        bins.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_are_in_order_and_narrow() {
        for value in (0..63).flat_map(|bit| [-1i64, 0, 1].map(|d| (1u64 << bit).saturating_add_signed(d))) {
            let (octave, place) = bin_of(value);
            let last = last_of(octave, place);
            assert!(value <= last && last - value <= value / 128, "{value}: up to {last}");
            assert!(bin_of(last + 1) > (octave, place), "{value}");
        }
        let (octave, place) = bin_of(u64::MAX);
        assert_eq!(last_of(octave, place), u64::MAX);
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(values in proptest::collection::vec(0u64..1 << 40, 1..200), scale in 0u32..40, q in 0.0f64..1.0, split in 0usize..200) {
            let values: Vec<u64> = values.iter().map(|v| v >> scale).collect();
            let (mut all, mut rest) = (Histogram::default(), Histogram::default());
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
