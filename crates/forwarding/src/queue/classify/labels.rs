//! Ranges of labels: which is the first that a label is in.
//!
//! Steps over labels, each with the first range that covers it. Where there are many, the label's upper bits say
//! which page it is on: one that holds the same range throughout, or a list with an entry for each label. There are
//! no more lists than steps. (Only tables that are few have pages: those of cells in a hash table are searched.)

/// How many labels one page of the table covers.
const PAGE: u32 = 256;
/// Up to so many steps are searched.
const FEW: usize = 8;
/// Stands for the place of a range where there is none.
const NONE: u32 = u32::MAX;
/// The bit of a page that is a list.
const LIST: u32 = 1 << 31;

/// First ranges by label.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// From this label on up to that of the next step, this range is the first.
    steps: Vec<(u32, u32)>,
    /// By the label's upper bits: a range, or which list with [`LIST`].
    pages: Vec<u32>,
    /// The lists, one after another.
    lists: Vec<u32>,
}

impl Labels {
    /// The first range that the label is in.
    #[inline]
    pub(super) fn find(&self, label: u32) -> Option<u32> {
        let found = match self.pages.get((label / PAGE) as usize) {
            Some(&NONE) => NONE,
            Some(page) if page & LIST == 0 => *page,
            Some(page) => {
                let at = (page & !LIST) * PAGE + label % PAGE;
                self.lists.get(at as usize).copied().unwrap_or(NONE)
            }
            None => self.search(label),
        };
        (found != NONE).then_some(found)
    }

    fn search(&self, label: u32) -> u32 {
        let step = self.steps.partition_point(|step| step.0 <= label).checked_sub(1);
        step.and_then(|step| self.steps.get(step)).map_or(NONE, |step| step.1)
    }

    /// Enters range `n`, which comes after all that are in it.
    pub(super) fn enter(&mut self, (first, last): (u32, u32), n: u32) {
        let (begin, end) = (self.cut(first), self.cut(last + 1));
        for step in self.steps.get_mut(begin..end).unwrap_or_default() {
            if step.1 == NONE {
                step.1 = n;
            }
        }
    }

    /// Lets a step begin at `label`, and returns which.
    fn cut(&mut self, label: u32) -> usize {
        match self.steps.binary_search_by_key(&label, |step| step.0) {
            Ok(at) => at,
            Err(at) => {
                let before = at.checked_sub(1).map_or(NONE, |before| self.steps[before].1);
                self.steps.insert(at, (label, before));
                at
            }
        }
    }

    /// Makes pages of the steps, if there are many. After that nothing is entered any more.
    pub(super) fn finish(&mut self) {
        self.steps.dedup_by_key(|step| step.1);
        if self.steps.len() <= FEW {
            return;
        }
        for page in 0..(1 << 20) / PAGE {
            let first = page * PAGE;
            let begins = self.steps.partition_point(|step| step.0 <= first);
            let within = self.steps.get(begins).is_some_and(|step| step.0 < first + PAGE);
            if within {
                self.pages.push(LIST | (self.lists.len() as u32 / PAGE));
                let all: Vec<u32> = (first..first + PAGE).map(|label| self.search(label)).collect();
                self.lists.extend(all);
            } else {
                self.pages.push(self.search(first));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn finds_the_first_range(
            ranges in vec((0u32..2000, 0u32..600, any::<bool>()), 0..60),
            labels in vec(prop_oneof![0u32..3000, 0u32..1 << 20], 50),
        ) {
            let mut table = Labels::default();
            let ranges: Vec<_> = ranges
                .into_iter()
                .map(|(first, len, far)| if far { (first * 500, first * 500 + len) } else { (first, first + len) })
                .collect();
            ranges.iter().enumerate().for_each(|(n, range)| table.enter(*range, n as u32));
            let check = |table: &Labels| {
                let ends = ranges.iter().flat_map(|(a, b)| [a.saturating_sub(1), *a, *b, b + 1]);
                for label in labels.iter().copied().chain(ends) {
                    let naive = ranges.iter().position(|(a, b)| (*a..=*b).contains(&label));
                    prop_assert_eq!(table.find(label).map(|n| n as usize), naive, "{}", label);
                }
                Ok(())
            };
            check(&table)?;
            table.finish();
            check(&table)?;
        }
    }
}
