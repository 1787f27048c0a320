//! Message identifiers (RFC 2961, 4): those that we chose for what we advertise, and those that neighbours chose for
//! what they advertise to us.

use super::table::{Slot, Table};
use super::types::{Handle, ReceivedId};
use base::Map;
use base::random::Stream;
use rand::Rng;

/// No slot, no neighbour.
pub(super) const NONE: u32 = u32::MAX;

/// Is `new` less than `old`, where the numbers wrap (RFC 2961, 4.5)?
pub(super) const fn older(new: u32, old: u32) -> bool {
    (old.wrapping_sub(new) as i32) > 0
}

/// State that we advertise to a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advertised {
    /// The neighbour, by its index among the peers.
    pub(super) peer: u32,
    /// The Message_Identifier under which the neighbour knows it.
    pub(super) id: u32,
    /// The neighbour's session in which it was acknowledged; the neighbour has lost it if that has changed.
    pub(super) session: u32,
    /// The copy that is retransmitted until it is acknowledged, or [`NONE`].
    pub(super) slot: u32,
    /// Whether the neighbour has it, as far as is known.
    pub(super) standing: Standing,
}

/// Does the neighbour have it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Neither an acknowledgement nor the retry limit has come yet.
    Unknown,
    /// The neighbour acknowledged it: a summary can refresh it.
    Acknowledged,
    /// It was retransmitted up to the limit and never acknowledged.
    GivenUp,
}

impl Slot for Advertised {
    const VACANT: Advertised =
        Advertised { peer: NONE, id: 0, session: 0, slot: NONE, standing: Standing::Unknown };
    fn is_vacant(&self) -> bool {
        self.peer == NONE
    }
}

/// What one of our identifiers stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A state that is advertised to a neighbour.
    State(Handle),
    /// A message without state that awaits its acknowledgement, by its index among the copies.
    Copy(u32),
}

/// Our own identifiers: one epoch and one range for all neighbours, so that an identifier is never used twice.
pub(super) struct Own {
    /// 24 bits, another value after each restart (RFC 2961, 4.5).
    pub(super) epoch: u32,
    last: u32,
    names: Map<u32, (u32, bool)>,
    /// Outgoing state by handle.
    pub(super) states: Table<Advertised>,
}

impl Own {
    pub(super) fn new(random: &mut Stream) -> Own {
        let mut own = Own { epoch: 0, last: 0, names: Map::new(), states: Table::new() };
        own.restart(random);
        own
    }
    /// Forgets everything and begins another epoch.
    pub(super) fn restart(&mut self, random: &mut Stream) {
        let before = self.epoch;
        while self.epoch == before {
            self.epoch = random.next_u32() & 0x00ff_ffff;
        }
        self.last = 0;
        self.names = Map::new();
        self.states.clear();
    }
    /// Is anything advertised to a neighbour?
    pub(super) fn is_of(&self, peer: u32) -> bool {
        self.states.any(|state| state.peer == peer)
    }
    /// An identifier greater than all before it, for `named` (RFC 2961, 4.5).
    pub(super) fn assign(&mut self, named: Named) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.names.contains_key(&self.last) {
                break;
            }
        }
        self.rename(self.last, named);
        self.last
    }
    /// From now on `id` stands for `named`.
    pub(super) fn rename(&mut self, id: u32, named: Named) {
        let value = match named {
            Named::State(Handle(handle)) => (handle, true),
            Named::Copy(slot) => (slot, false),
        };
        self.names.insert(id, value);
    }
    /// What `id` stands for.
    pub(super) fn named(&self, id: u32) -> Option<Named> {
        self.names
            .get(&id)
            .map(|&(value, state)| if state { Named::State(Handle(value)) } else { Named::Copy(value) })
    }
    /// The identifier stands for nothing any more.
    pub(super) fn release(&mut self, id: u32) {
        self.names.remove(&id);
        if self.names.is_empty() {
            self.names.shrink_to_fit();
        }
    }
    /// Has the identifier been in use for so long that the comparison of wrapped numbers is in danger?
    pub(super) fn is_old(&self, id: u32) -> bool {
        self.last.wrapping_sub(id) > 1 << 30
    }
    /// How many identifiers stand for something.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

/// State that a neighbour advertises to us: which identifier it has.
#[derive(Clone, Copy, Debug)]
struct Bound {
    peer: u32,
    generation: u32,
    id: u32,
    /// Another handle that the same message set: a Resv can be about several LSPs. They form a ring, mostly of one.
    next: u32,
}

impl Bound {
    const fn is_of(&self, id: ReceivedId) -> bool {
        self.peer == id.peer && self.generation == id.generation && self.id == id.id
    }
}

impl Slot for Bound {
    const VACANT: Bound = Bound { peer: NONE, generation: 0, id: 0, next: NONE };
    fn is_vacant(&self) -> bool {
        self.peer == NONE
    }
}

/// Identifiers of neighbours, bound to incoming state.
pub(super) struct Bindings {
    handles: Map<(u32, u32), u32>,
    states: Table<Bound>,
}

impl Bindings {
    pub(super) fn new() -> Bindings {
        Bindings { handles: Map::new(), states: Table::new() }
    }
    /// From now on `id` stands for `handle`, beside those that it stands for already. Returns the identifier of the
    /// same neighbour and epoch that it replaces, if that stands for nothing any more.
    pub(super) fn bind(&mut self, id: ReceivedId, handle: Handle) -> Option<u32> {
        if self.states.get(handle.0).is_some_and(|bound| bound.is_of(id)) {
            return None;
        }
        let replaced = self.unbind(handle);
        let mut bound = Bound { peer: id.peer, generation: id.generation, id: id.id, next: handle.0 };
        if let Some(other) = self.handles.insert((id.peer, id.id), handle.0)
            && let Some(other) = self.states.get_mut(other).filter(|other| other.is_of(id))
        {
            bound.next = core::mem::replace(&mut other.next, handle.0);
        }
        self.states.set(handle.0, bound);
        replaced.filter(|old| old.peer == id.peer && old.generation == id.generation).map(|old| old.id)
    }
    /// Does anything of a neighbour stand for state?
    pub(super) fn is_of(&self, peer: u32) -> bool {
        self.states.any(|bound| bound.peer == peer)
    }
    /// The handle stands for nothing any more. Returns its identifier, if no other handle has that.
    pub(super) fn unbind(&mut self, handle: Handle) -> Option<ReceivedId> {
        let bound = self.states.take(handle.0)?;
        let alone = bound.next == handle.0;
        let mut before = bound.next;
        while !alone && let Some(other) = self.states.get_mut(before) {
            if other.next == handle.0 {
                other.next = bound.next;
                break;
            }
            before = other.next;
        }
        let key = (bound.peer, bound.id);
        // After a change of epoch the same number may stand for other state.
        if let Some(named) = self.handles.get_mut(&key).filter(|named| **named == handle.0) {
            if alone {
                self.handles.remove(&key);
                if self.handles.is_empty() {
                    self.handles.shrink_to_fit();
                }
            } else {
                *named = bound.next;
            }
        }
        alone.then_some(ReceivedId { peer: bound.peer, generation: bound.generation, id: bound.id })
    }
    /// The next of the handles that were set by the same message, in a ring.
    pub(super) fn beside(&self, handle: Handle) -> Handle {
        self.states.get(handle.0).map_or(handle, |bound| Handle(bound.next))
    }
    /// What `id` stands for, or one of the handles that it stands for.
    pub(super) fn find(&self, id: ReceivedId) -> Option<Handle> {
        let handle = *self.handles.get(&(id.peer, id.id))?;
        let bound = self.states.get(handle)?;
        (bound.generation == id.generation).then_some(Handle(handle))
    }
    /// Is a message with `id` out of order, given what was received for `handle` before (RFC 2961, 4.5)?
    pub(super) fn out_of_order(&self, id: ReceivedId, handle: Handle) -> bool {
        self.states.get(handle.0).is_some_and(|bound| {
            bound.peer == id.peer && bound.generation == id.generation && older(id.id, bound.id)
        })
    }
    /// How many handles are bound.
    pub(super) const fn len(&self) -> usize {
        self.states.len()
    }
    /// Forgets all bindings, as a node that restarts does.
    pub(super) fn clear(&mut self) {
        *self = Bindings::new();
    }
}

const WINDOW: u32 = 4096;

/// Which of the last identifiers of a neighbour were received, and which of them stand for nothing any more, so that
/// a late copy of a message does not do its work twice.
pub(super) struct History {
    largest: u32,
    seen: Box<[u64; (WINDOW / 64) as usize]>,
    dead: Box<[u64; (WINDOW / 64) as usize]>,
}

impl History {
    /// A history that begins with `id`, not yet received.
    pub(super) fn new(id: u32) -> History {
        History { largest: id, seen: Box::new([0; 64]), dead: Box::new([0; 64]) }
    }
    const fn place(id: u32) -> (usize, u64) {
        let bit = id % WINDOW;
        ((bit / 64) as usize, 1 << (bit % 64))
    }
    fn covers(&self, id: u32) -> bool {
        !older(self.largest, id) && self.largest.wrapping_sub(id) < WINDOW
    }
    /// Notes that `id` was received. Was it received before, as far back as the history goes?
    pub(super) fn receive(&mut self, id: u32) -> bool {
        if older(self.largest, id) {
            let steps = id.wrapping_sub(self.largest).min(WINDOW);
            for step in 0..steps {
                let (word, bit) = History::place(id.wrapping_sub(step));
                self.seen[word] &= !bit;
                self.dead[word] &= !bit;
            }
            self.largest = id;
        }
        if !self.covers(id) {
            return false;
        }
        let (word, bit) = History::place(id);
        let before = self.seen[word] & bit != 0;
        self.seen[word] |= bit;
        before
    }
    /// Have later identifiers been received?
    pub(super) const fn is_overtaken(&self, id: u32) -> bool {
        older(id, self.largest)
    }
    /// The neighbour will not use `id` again: copies that arrive later are to be dropped.
    pub(super) fn bury(&mut self, id: u32) {
        if self.covers(id) {
            let (word, bit) = History::place(id);
            self.dead[word] |= bit;
        }
    }
    /// The neighbour uses `id` after all, and is asked to send again what it stands for.
    pub(super) fn exhume(&mut self, id: u32) {
        if self.covers(id) {
            let (word, bit) = History::place(id);
            self.dead[word] &= !bit;
        }
    }
    /// Is `id` known not to be used again?
    pub(super) fn is_dead(&self, id: u32) -> bool {
        let (word, bit) = History::place(id);
        self.covers(id) && self.dead[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Streams;

    #[test]
    fn numbers_wrap() {
        assert!(older(1, 2) && !older(2, 1) && !older(2, 2));
        assert!(older(u32::MAX, 0) && !older(0, u32::MAX));
    }

    #[test]
    fn identifiers_rise_and_skip_those_in_use() {
        let mut own = Own::new(&mut Streams::new(1).stream("rsvp"));
        let a = own.assign(Named::State(Handle(7)));
        let b = own.assign(Named::Copy(3));
        assert!(older(a, b));
        assert_eq!((own.named(a), own.named(b)), (Some(Named::State(Handle(7))), Some(Named::Copy(3))));
        own.last = a.wrapping_sub(1);
        assert!(older(b, own.assign(Named::Copy(4))));
        own.release(a);
        assert_eq!(own.named(a), None);
        let epoch = own.epoch;
        own.restart(&mut Streams::new(1).stream("rsvp"));
        assert!(own.epoch != epoch && own.len() == 0);
    }

    #[test]
    fn bindings_follow_epochs() {
        let id = |generation, id| ReceivedId { peer: 0, generation, id };
        let mut bindings = Bindings::new();
        assert_eq!(bindings.bind(id(0, 5), Handle(1)), None);
        assert_eq!(bindings.bind(id(0, 9), Handle(1)), Some(5));
        assert_eq!((bindings.find(id(0, 9)), bindings.find(id(0, 5))), (Some(Handle(1)), None));
        assert!(bindings.out_of_order(id(0, 8), Handle(1)) && !bindings.out_of_order(id(0, 9), Handle(1)));
        assert!(!bindings.out_of_order(id(1, 8), Handle(1)));
        assert_eq!(bindings.find(id(1, 9)), None);
        bindings.bind(id(1, 9), Handle(2));
        bindings.unbind(Handle(1));
        assert_eq!(bindings.find(id(1, 9)), Some(Handle(2)));
        bindings.unbind(Handle(2));
        assert!(bindings.len() == 0 && bindings.handles.is_empty());
    }

    #[test]
    fn an_identifier_can_stand_for_several_handles() {
        let id = |id| ReceivedId { peer: 3, generation: 0, id };
        let mut bindings = Bindings::new();
        let ring = |bindings: &Bindings, of: u32| {
            let mut ring = vec![of];
            while let Some(next) = Some(bindings.beside(Handle(ring[ring.len() - 1]))).filter(|n| n.0 != of) {
                ring.push(next.0);
            }
            ring.sort_unstable();
            ring
        };
        for handle in [1, 5, 9, 5] {
            assert_eq!(bindings.bind(id(7), Handle(handle)), None);
        }
        assert_eq!(bindings.find(id(7)).map(|Handle(found)| ring(&bindings, found)), Some(vec![1, 5, 9]));
        // One goes on under another identifier: the old one is still of use.
        assert_eq!(bindings.bind(id(8), Handle(9)), None);
        assert_eq!((ring(&bindings, 1), ring(&bindings, 9)), (vec![1, 5], vec![9]));
        assert_eq!(bindings.unbind(Handle(5)), None);
        assert_eq!(bindings.find(id(7)), Some(Handle(1)));
        assert_eq!(bindings.bind(id(8), Handle(1)), Some(7), "the last one");
        assert_eq!((bindings.find(id(7)), ring(&bindings, 1)), (None, vec![1, 9]));
        assert_eq!(bindings.unbind(Handle(9)), None);
        assert_eq!(bindings.unbind(Handle(1)), Some(id(8)));
        assert!(bindings.len() == 0 && bindings.handles.is_empty());
    }

    #[test]
    fn history_remembers_a_window() {
        let mut history = History::new(10);
        assert!(!history.receive(10) && history.receive(10));
        assert!(!history.receive(5) && history.receive(5));
        history.bury(5);
        assert!(history.is_dead(5) && !history.is_dead(10));
        history.exhume(5);
        assert!(!history.is_dead(5) && history.receive(5));
        history.bury(5);
        assert!(!history.receive(5 + WINDOW) && !history.is_dead(5 + WINDOW) && !history.is_dead(5));
        assert!(!history.receive(5) && !history.receive(5), "beyond the window nothing is remembered");
        assert!(!history.receive(6 + 3 * WINDOW) && !history.receive(10));
    }
}
