//! The sequence numbers under which a router's own advertisements were known last. The first one is for an
//! advertisement that nobody has (RFC 2328, 12.1.6): others may keep an instance that was taken back for a while, and
//! take anything that does not come behind it for older.

use super::database::Place;
use base::{Span, Time};
use std::collections::BTreeMap;
use wire::ospf::MAX_AGE;

/// So many are kept before those are looked for that nobody has any more.
const KEPT: usize = 256;

/// Sequence numbers by advertisement.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    last: BTreeMap<Place, (i32, Time)>,
    /// How many there may be until old ones are looked for.
    room: usize,
}

impl Default for Sequences {
    fn default() -> Sequences {
        Sequences { last: BTreeMap::new(), room: KEPT }
    }
}

impl Sequences {
    /// An instance with this number was made here, or has come under this router's id.
    pub(super) fn note(&mut self, place: Place, sequence: i32, now: Time) {
        if self.last.len() >= self.room {
            // Instances are nowhere known any more when they are too old, and own ones are made again before that.
            self.last.retain(|_, (_, at)| now - *at < Span::from_secs(i64::from(MAX_AGE)));
            self.room = (2 * self.last.len()).max(KEPT);
        }
        self.last.insert(place, (sequence, now));
    }

    /// The number that an advertisement was known under last, if somebody may have it still.
    pub(super) fn last(&self, place: &Place) -> Option<i32> {
        self.last.get(place).map(|(sequence, _)| *sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::super::database::Scope;
    use super::*;
    use core::net::Ipv4Addr;
    use wire::ospf::{LsaKey, LsaKind};

    fn place(number: u32) -> Place {
        let id = Ipv4Addr::from(number);
        (Scope::As, LsaKey { kind: LsaKind::EXTERNAL, id, router: Ipv4Addr::LOCALHOST })
    }

    #[test]
    fn numbers_are_kept_as_long_as_instances_may_live() {
        let mut known = Sequences::default();
        let hour = u64::from(MAX_AGE) * 1_000_000_000_000;
        known.note(place(0), 7, Time(0));
        // A thousand others that nobody has any more, for an hour each.
        for number in 1..1000 {
            known.note(place(number), 1, Time(u64::from(number) * hour));
        }
        assert!(known.last.len() <= KEPT, "{}", known.last.len());
        assert_eq!((known.last(&place(0)), known.last(&place(999))), (None, Some(1)));
        // All of ten thousand that are.
        (1..10_000).for_each(|number| known.note(place(number), 2, Time(1000 * hour)));
        assert!((1..10_000).all(|number| known.last(&place(number)) == Some(2)));
    }
}
