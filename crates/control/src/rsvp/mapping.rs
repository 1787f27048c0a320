//! Which tunnels carry a prefix: several may, and one of them has the FTN entry.
//!
//! Of the tunnels with an LSP, the one that was declared first carries the prefix; when its LSP goes, the next takes
//! over in the same batch, and when it comes back, so does the traffic. Filters need none of this: each has a place
//! of its own.

use base::plane::Prefix;
use std::collections::BTreeMap;

/// What is left of a prefix after a tunnel gave it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Another tunnel carries it, as before.
    Same,
    /// The tunnel with this LSP takes over.
    Next(u32),
    /// No tunnel carries it.
    Nothing,
}

/// The LSPs that prefixes are mapped to, by prefix and by the order in which their tunnels were declared.
#[derive(Debug, Default)]
pub(super) struct Mappings(BTreeMap<(Prefix, u64), u32>);

impl Mappings {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn first(&self, prefix: Prefix) -> Option<(u64, u32)> {
        let mut all = self.0.range((prefix, 0)..=(prefix, u64::MAX));
        all.next().map(|(&(_, sequence), &lsp)| (sequence, lsp))
    }

    /// The tunnel declared as number `sequence` carries the prefix by `lsp`. Returns whether the entry is its own.
    pub(super) fn set(&mut self, prefix: Prefix, sequence: u64, lsp: u32) -> bool {
        self.0.insert((prefix, sequence), lsp);
        self.first(prefix).is_some_and(|first| first.0 == sequence)
    }

    /// That tunnel doesn't carry the prefix any more.
    pub(super) fn remove(&mut self, prefix: Prefix, sequence: u64) -> After {
        let was_first = self.first(prefix).is_some_and(|first| first.0 == sequence);
        self.0.remove(&(prefix, sequence));
        match self.first(prefix) {
            _ if !was_first => After::Same,
            Some((_, lsp)) => After::Next(lsp),
            None => After::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_declared_carries_and_the_next_takes_over() {
        let (mut mappings, prefix) = (Mappings::default(), Prefix::host([10, 0, 0, 1].into()));
        assert!(mappings.set(prefix, 7, 70));
        assert!(!mappings.set(prefix, 9, 90));
        assert!(mappings.set(prefix, 3, 30));
        assert_eq!(mappings.remove(prefix, 7), After::Same);
        assert_eq!(mappings.remove(prefix, 3), After::Next(90));
        assert_eq!(mappings.remove(prefix, 3), After::Same, "twice");
        assert_eq!(mappings.remove(prefix, 9), After::Nothing);
        assert_eq!(mappings.len(), 0);
    }
}
