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
        for number in [63, 64, 1000, 4095] {
            assert_eq!(set.first(), Some(number));
            set.remove(number);
        }
        set.insert(7);
        set.clear();
        assert_eq!((set.first(), BitSet::new(0).first()), (None, None));
    }
}
