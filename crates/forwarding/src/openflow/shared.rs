//! Lists of instructions that entries of a table share: most of a million entries do one of a few things.

use base::FixedHasher;
use core::hash::{Hash, Hasher};
use std::sync::Arc;
use wire::openflow::v1_3::Instruction;

/// Lists that are remembered; a power of two.
const SLOTS: usize = 256;

/// The lists that were used last, by a hash. It takes no memory until the first list.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Vec<Option<Arc<[Instruction]>>>);

impl Shared {
    /// A list that is the same, and perhaps another entry's, too.
    pub(super) fn of(&mut self, list: Box<[Instruction]>) -> Arc<[Instruction]> {
        let mut hasher = FixedHasher::default();
        list.hash(&mut hasher);
        if self.0.is_empty() {
            self.0.resize(SLOTS, None);
        }
        let slot = &mut self.0[hasher.finish() as usize & (SLOTS - 1)];
        match slot {
            Some(own) if **own == *list => own.clone(),
            _ => slot.insert(list.into()).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_list_is_there_once() {
        let list = |table: u32| -> Box<[Instruction]> {
            Box::new([Instruction::WriteMetadata { metadata: table.into(), mask: u64::MAX }])
        };
        let mut shared = Shared::default();
        let first = shared.of(list(1));
        assert!(Arc::ptr_eq(&first, &shared.of(list(1))));
        // Others may take its place; what it says stays.
        for table in 0..1000 {
            assert_eq!(*shared.of(list(table)), *list(table));
        }
        assert_eq!(*first, *list(1));
    }
}
