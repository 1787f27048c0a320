//! What a neighbour tore down lately, so that a Path or Resv that was overtaken by its own tear does not set up state
//! that nobody will take down.
//!
//! RFC 2961, 4.5 orders messages by the identifier held with the state. After a tear there is no state to hold one;
//! this short memory takes its place.

use super::message_id::older;
use base::map::FixedHasher;
use core::hash::{Hash, Hasher};
use wire::rsvp::{FilterSpec, Message, SenderTemplate, Session};

/// Tears that are remembered of each neighbour.
const ROOM: usize = 256;

/// The last tears of a neighbour.
#[derive(Default)]
pub(super) struct Tombstones {
    /// Identifier of the tear, and which state it took down; a ring.
    stones: Vec<(u32, u64)>,
    next: usize,
}

fn key(path: bool, session: &Session, sender: Option<&SenderTemplate>) -> u64 {
    let mut hasher = FixedHasher::default();
    path.hash(&mut hasher);
    session.hash(&mut hasher);
    sender.hash(&mut hasher);
    hasher.finish()
}

fn keys<'a>(
    session: &'a Session,
    filters: impl Iterator<Item = &'a FilterSpec>,
) -> impl Iterator<Item = u64> {
    filters.map(move |filter| key(false, session, Some(filter)))
}

impl Tombstones {
    /// Remembers what a PathTear or ResvTear tears down, so that a late copy of an older message does not set it up
    /// again.
    pub(super) fn note(&mut self, id: u32, message: &Message) {
        match message {
            Message::PathTear(tear) => {
                let sender = tear.sender.as_ref().map(|sender| &sender.sender_template);
                self.put(id, key(true, &tear.session, sender));
            }
            Message::ResvTear(tear) => {
                keys(&tear.session, tear.filters.iter()).for_each(|key| self.put(id, key))
            }
            _ => {}
        }
    }
    fn put(&mut self, id: u32, key: u64) {
        if self.stones.len() < ROOM {
            self.stones.push((id, key));
        } else {
            self.stones[self.next] = (id, key);
            self.next = (self.next + 1) % ROOM;
        }
    }
    /// Was all that the message asks for torn down by a later message?
    pub(super) fn cover(&self, id: u32, message: &Message) -> bool {
        let covered = |key: u64| self.stones.iter().any(|&(tear, torn)| torn == key && older(id, tear));
        match message {
            Message::Path(path) => covered(key(true, &path.session, Some(&path.sender_template))),
            Message::Resv(resv) => {
                let filters = resv.flow_descriptors.iter().flat_map(|flow| &flow.filters);
                let mut keys = keys(&resv.session, filters.map(|filter| &filter.filter_spec)).peekable();
                keys.peek().is_some() && keys.all(covered)
            }
            _ => false,
        }
    }
    /// Forgets them: the neighbour's identifiers begin anew.
    pub(super) fn clear(&mut self) {
        *self = Tombstones::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{path, path_tear};
    use super::*;

    #[test]
    fn covers_what_is_older_than_its_tear_and_forgets_in_time() {
        let mut stones = Tombstones::default();
        stones.note(10, &path_tear(0, 5));
        assert!(stones.cover(9, &path(0, 5, 1)));
        assert!(!stones.cover(11, &path(0, 5, 1)) && !stones.cover(9, &path(0, 6, 1)));
        for id in 0..ROOM as u32 {
            stones.note(11 + id, &path_tear(0, 7));
        }
        assert!(!stones.cover(9, &path(0, 5, 1)) && stones.cover(9, &path(0, 7, 1)));
    }
}
