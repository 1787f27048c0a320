//! The sequence numbers under which a router's own advertisements were known last. The first one is for an
//! advertisement that nobody has (RFC 2328, 12.1.6): others may keep an instance that was taken back for a while, and
//! take anything that does not come behind it for older.

use super::database::Place;
use base::{Span, Time};
use std::collections::BTreeMap;
use wire::ospf::MAX_AGE;

/// So many are kept before those are looked for that nobody has any more.
const KEPT: usize = 256;

/// How an advertisement is known to others, as far as the router can tell.
#[derive(Clone, Copy, Debug)]
struct Known {
    sequence: i32,
    /// When this router learnt of it or made it.
    at: Time,
    /// How often an instance has come that is newer than the router's own.
    heard: u32,
}

/// Sequence numbers by advertisement.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    known: BTreeMap<Place, Known>,
    /// How many there may be until old ones are looked for.
    room: usize,
}

impl Default for Sequences {
    fn default() -> Sequences {
        Sequences { known: BTreeMap::new(), room: KEPT }
    }
}

impl Sequences {
    /// The router has made an instance with this number.
    pub(super) fn made(&mut self, place: Place, sequence: i32, now: Time) {
        self.note(place, sequence, now);
    }

    /// An instance with this number has come under the router's id that is newer than its own. How often was that?
    pub(super) fn heard(&mut self, place: Place, sequence: i32, now: Time) -> u32 {
        let known = self.note(place, sequence, now);
        known.heard = known.heard.saturating_add(1);
        known.heard
    }

    fn note(&mut self, place: Place, sequence: i32, now: Time) -> &mut Known {
        if self.known.len() >= self.room {
            // Instances are nowhere known any more when they are too old, and own ones are made again before that.
            self.known.retain(|_, known| now - known.at < Span::from_secs(i64::from(MAX_AGE)));
            self.room = (2 * self.known.len()).max(KEPT);
        }
        let known = self.known.entry(place).or_insert(Known { sequence, at: now, heard: 0 });
        (known.sequence, known.at) = (sequence, now);
        known
    }

    /// The number that an advertisement was known under last, if somebody may have it still.
    pub(super) fn last(&self, place: &Place) -> Option<i32> {
        self.known.get(place).map(|known| known.sequence)
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
        known.made(place(0), 7, Time(0));
        // A thousand others that nobody has any more, for an hour each.
        for number in 1..1000 {
            known.made(place(number), 1, Time(u64::from(number) * hour));
        }
        assert!(known.known.len() <= KEPT, "{}", known.known.len());
        assert_eq!((known.last(&place(0)), known.last(&place(999))), (None, Some(1)));
        // All of ten thousand that are.
        (1..10_000).for_each(|number| known.made(place(number), 2, Time(1000 * hour)));
        assert!((1..10_000).all(|number| known.last(&place(number)) == Some(2)));
    }

    #[test]
    fn what_comes_is_counted_and_what_is_made_is_not() {
        let mut known = Sequences::default();
        known.made(place(1), 1, Time(0));
        let counts = [2, 4, 6].map(|sequence| {
            let count = known.heard(place(1), sequence, Time(5));
            known.made(place(1), sequence + 1, Time(5));
            count
        });
        assert_eq!((counts, known.last(&place(1))), ([1, 2, 3], Some(7)));
        assert_eq!(known.heard(place(2), 9, Time(6)), 1);
    }
}
