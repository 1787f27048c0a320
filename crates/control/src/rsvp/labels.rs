//! The label manager: hands labels out in turn, so that one that was just released is used again as late as possible.

use base::Label;

/// Labels of one platform-wide space (RFC 3031, 3.14).
#[derive(Clone, Debug)]
pub(super) struct Labels {
    first: u32,
    count: u32,
    /// One bit for each label, set while it is taken; the bits past the end are set for good.
    taken: Vec<u64>,
    /// Where the next search begins.
    cursor: u32,
    used: u32,
}

impl Labels {
    pub(super) fn new(first: Label, last: Label) -> Labels {
        // Labels 0 to 15 are reserved (RFC 3032, 2.1).
        let first = first.max(Label::FIRST_UNRESERVED).value();
        let count = (last.value() + 1).saturating_sub(first);
        let mut taken = vec![0u64; count.div_ceil(64) as usize];
        if let (Some(last), 1..) = (taken.last_mut(), count % 64) {
            *last = u64::MAX << (count % 64);
        }
        Labels { first, count, taken, cursor: 0, used: 0 }
    }

    /// All labels are free again after a restart. The cursor stays where it was: neighbours that have not noticed the
    /// restart go on sending with old labels, which must stand for nothing, rather than for another LSP, for as long
    /// as possible.
    pub(super) fn clear(&mut self) {
        let cursor = self.cursor;
        let last = Label::truncate((self.first + self.count).saturating_sub(1));
        *self = Labels { cursor, ..Labels::new(Label::truncate(self.first), last) };
    }

    /// The next free label after the one handed out last.
    pub(super) fn allocate(&mut self) -> Option<Label> {
        if self.used >= self.count {
            return None;
        }
        let words = self.taken.len();
        let mut word = (self.cursor / 64) as usize % words;
        // The bits before the cursor wait for the next turn.
        let mut free = !self.taken[word] & u64::MAX << (self.cursor % 64);
        for _ in 0..=words {
            if free != 0 {
                let bit = free.trailing_zeros();
                self.taken[word] |= 1 << bit;
                self.used += 1;
                let index = word as u32 * 64 + bit;
                self.cursor = (index + 1) % self.count;
                return Some(Label::truncate(self.first + index));
            }
            word = (word + 1) % words;
            free = !self.taken[word];
        }
        None
    }

    /// Gives a label back; one that was not taken is left alone.
    pub(super) fn release(&mut self, label: Label) {
        let Some(index) = label.value().checked_sub(self.first).filter(|&index| index < self.count) else {
            return;
        };
        let mask = 1u64 << (index % 64);
        if let Some(word) = self.taken.get_mut((index / 64) as usize)
            && *word & mask != 0
        {
            *word &= !mask;
            self.used -= 1;
        }
    }

    /// How many labels are taken and not given back.
    pub(super) const fn used(&self) -> u32 {
        self.used
    }

    /// Is there none left?
    pub(super) const fn is_exhausted(&self) -> bool {
        self.used >= self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_go_round() {
        let mut labels = Labels::new(Label::truncate(0), Label::truncate(18));
        let got: Vec<_> = (0..4).map(|_| labels.allocate().map(Label::value)).collect();
        assert_eq!(got, [Some(16), Some(17), Some(18), None]);
        labels.release(Label::truncate(16));
        labels.release(Label::truncate(18));
        labels.release(Label::truncate(18));
        assert_eq!(labels.used(), 1);
        assert_eq!(labels.allocate().map(Label::value), Some(16));
        labels.release(Label::truncate(16));
        assert_eq!(labels.allocate().map(Label::value), Some(18), "the one released last comes last");
    }

    #[test]
    fn labels_from_before_a_restart_come_last() {
        let mut labels = Labels::new(Label::truncate(16), Label::truncate(18));
        labels.allocate();
        labels.clear();
        assert_eq!(labels.used(), 0);
        let got: Vec<_> = (0..4).map(|_| labels.allocate().map(Label::value)).collect();
        assert_eq!(got, [Some(17), Some(18), Some(16), None]);
    }

    #[test]
    fn an_empty_range_gives_nothing() {
        assert_eq!(Labels::new(Label::MAX, Label::truncate(20)).allocate(), None);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn no_label_is_handed_out_twice(count in 1u32..200, steps in proptest::collection::vec(any::<bool>(), 1..600)) {
            let mut labels = Labels::new(Label::truncate(100), Label::truncate(99 + count));
            let mut held = Vec::new();
            for take in steps {
                if take {
                    match labels.allocate() {
                        Some(label) => {
                            prop_assert!(!held.contains(&label) && (100..100 + count).contains(&label.value()));
                            held.push(label);
                        }
                        None => prop_assert_eq!(held.len() as u32, count),
                    }
                } else if !held.is_empty() {
                    labels.release(held.remove(0));
                }
                prop_assert_eq!(labels.used() as usize, held.len());
            }
        }
    }
}
