//! The numbers by which neighbours are told several paths (RFC 7911, 3): one for each neighbour that has told paths,
//! and number there.

use super::table::Prefixes;
use std::collections::{BTreeMap, BTreeSet};

/// Who has told a path, whether with labels, and by which number.
type Key = (u16, bool, u32);
/// So many are kept at least before those that nobody needs are looked for.
const LEAST: usize = 1_024;

/// The numbers of paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PathIds {
    known: BTreeMap<Key, u32>,
    /// The number that was given last. None is given twice, so that what is withdrawn late means nothing else.
    last: u32,
    /// When so many are known, those that no path has any more are forgotten.
    limit: usize,
}

impl PathIds {
    /// The number of a path, which it gets now if it has none.
    pub fn number(&mut self, key: Key, prefixes: &Prefixes) -> u32 {
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        if self.known.len() >= self.limit.max(LEAST) {
            self.tidy(prefixes);
        }
        self.last = self.last.wrapping_add(1).max(1);
        self.known.insert(key, self.last);
        self.last
    }

    /// Forgets numbers of paths that are in no entry any more. All paths are looked at, so it is done only after as
    /// many new numbers as were left the last time, and one for every 16 paths.
    fn tidy(&mut self, prefixes: &Prefixes) {
        let mut count = 0;
        let entries = prefixes.iter().flat_map(|(_, entry)| entry.paths.as_slice());
        let live: BTreeSet<Key> = entries.inspect(|_| count += 1).map(|path| path.key()).collect();
        self.known.retain(|key, _| live.contains(key));
        self.limit = 2 * self.known.len() + count / 16;
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Path;
    use super::*;
    use base::Interned;
    use base::plane::{IpPrefix, Prefix};
    use core::net::Ipv4Addr;

    #[test]
    fn numbers_of_paths_that_are_gone_are_forgotten_and_not_used_again() {
        let (mut ids, prefixes) = (PathIds::default(), Prefixes::default());
        assert_eq!([ids.number((0, false, 7), &prefixes), ids.number((1, true, 7), &prefixes)], [1, 2]);
        assert_eq!(ids.number((0, false, 7), &prefixes), 1);
        for id in 0..10_000 {
            let number = ids.number((2, false, id), &prefixes);
            assert_eq!(number, id + 3);
            assert!(ids.known.len() <= LEAST);
        }
    }

    #[test]
    fn a_path_that_is_there_keeps_its_number() {
        let (mut ids, mut prefixes) = (PathIds::default(), Prefixes::default());
        let prefix = IpPrefix::V4(Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8));
        let path = Path { set: Interned::NONE, id: 7, label: Path::UNLABELLED, peer: 3, is_stale: false };
        prefixes.get_or_new(prefix).paths.put(path);
        let number = ids.number(path.key(), &prefixes);
        for id in 0..10_000 {
            ids.number((2, false, id), &prefixes);
        }
        assert_eq!(ids.number(path.key(), &prefixes), number);
    }
}
