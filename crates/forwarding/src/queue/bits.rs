//! A set of small numbers whose least is found at once.

/// Numbers below [`BitSet::CAPACITY`], in two levels of 64-bit words.
#[derive(Debug, Default)]
pub struct BitSet {
    /// Which of `words` are not zero.
    summary: u64,
    words: Vec<u64>,
}

impl BitSet {
    /// The first number that does not fit.
    pub const CAPACITY: usize = 64 * 64;

    /// An empty set of numbers below `count`, at most [`BitSet::CAPACITY`].
    pub fn new(count: usize) -> BitSet {
        BitSet { summary: 0, words: vec![0; count.min(Self::CAPACITY).div_ceil(64)] }
    }

    /// Puts a number in.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
        self.summary |= 1 << (number / 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        let word = &mut self.words[number / 64];
        *word &= !(1 << (number % 64));
        if *word == 0 {
            self.summary &= !(1 << (number / 64));
        }
    }

    /// The least number in it.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        let at = self.summary.trailing_zeros() as usize;
        let word = self.words.get(at)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    /// The least number in it that is not below `from`.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        let at = from / 64;
        let word = self.words.get(at)? & (u64::MAX << (from % 64));
        if word != 0 {
            return Some(at * 64 + word.trailing_zeros() as usize);
        }
        let above = self.summary & u64::MAX.checked_shl(at as u32 + 1).unwrap_or(0);
        let at = above.trailing_zeros() as usize;
        Some(at * 64 + self.words.get(at)?.trailing_zeros() as usize)
    }

    /// Is no number in it?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.summary == 0
    }

    /// Takes all numbers out.
    pub fn clear(&mut self) {
        self.summary = 0;
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_found() {
        let mut set = BitSet::new(BitSet::CAPACITY);
        assert_eq!(set.first(), None);
        for number in [4095, 64, 63, 1000] {
            set.insert(number);
        }
        let seen: Vec<_> = [0, 64, 65, 1001, 4095, 4096].iter().map(|from| set.next(*from)).collect();
        assert_eq!(seen, [Some(63), Some(64), Some(1000), Some(4095), Some(4095), None]);
        for number in [63, 64, 1000, 4095] {
            assert_eq!(set.first(), Some(number));
            set.remove(number);
        }
        set.insert(7);
        set.clear();
        assert_eq!((set.first(), BitSet::new(0).first()), (None, None));
    }
}
