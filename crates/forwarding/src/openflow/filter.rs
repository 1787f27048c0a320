//! Which entries a change or a question is about.

use super::{Entry, Pattern};

/// Entries of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Entries whose packets all have this pattern; with a priority, the one entry that has exactly this pattern.
    pub pattern: Pattern,
    /// The priority of a strict change; nothing where all entries are meant that the pattern covers.
    pub priority: Option<u16>,
    /// Bits that the cookie has to have ...
    pub cookie: u64,
    /// ... where this mask has them.
    pub cookie_mask: u64,
    /// Only entries that send to this port.
    pub out_port: Option<u32>,
    /// Only entries that give to this group.
    pub out_group: Option<u32>,
}

impl Filter {
    /// All entries that a pattern covers.
    pub fn covered(pattern: Pattern) -> Filter {
        Filter { pattern, ..Filter::default() }
    }

    /// The one entry with exactly this pattern and priority.
    pub fn strict(pattern: Pattern, priority: u16) -> Filter {
        Filter { pattern, priority: Some(priority), ..Filter::default() }
    }

    /// Has the entry the cookie, port and group that are asked for?
    pub(super) fn admits(&self, entry: &Entry) -> bool {
        (entry.cookie ^ self.cookie) & self.cookie_mask == 0
            && self.out_port.is_none_or(|port| entry.sends_to(port))
            && self.out_group.is_none_or(|group| entry.groups().any(|one| one == group))
    }
}
