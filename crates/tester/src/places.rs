//! Places of streams, by their numbers.

use base::StreamId;

/// Where streams are kept, by their numbers. One look for each packet, so it is simpler than a [`base::Map`]: a table
/// of a power of two places, at most half of which are taken, and a multiplication that spreads numbers over it.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Number of a stream and its place; [`Places::FREE`] where there is none.
    slots: Box<[(u32, u32)]>,
    len: usize,
}

impl Places {
    /// No stream has this number.
    const FREE: u32 = u32::MAX;

    /// The slots in the order in which a stream is looked for.
    #[inline(always)]
    fn slot(&self, stream: u32, step: u32) -> usize {
        let spread = stream.wrapping_mul(0x9e37_79b9);
        (spread >> 8).wrapping_add(step) as usize & self.slots.len().wrapping_sub(1)
    }

    /// The place of a stream; nothing if it is not there.
    #[inline(always)]
    pub(crate) fn get(&self, stream: StreamId) -> Option<u32> {
        let mut step = 0;
        loop {
            let (number, place) = *self.slots.get(self.slot(stream.0, step))?;
            if number == stream.0 {
                return Some(place);
            }
            if number == Places::FREE {
                return None;
            }
            step += 1;
        }
    }

    /// Puts a stream in that is not there yet.
    pub(crate) fn insert(&mut self, stream: StreamId, place: u32) {
        if 2 * (self.len + 1) > self.slots.len() {
            let bigger = vec![(Places::FREE, 0); (4 * (self.len + 1)).next_power_of_two()];
            let old = core::mem::replace(&mut self.slots, bigger.into());
            old.iter().filter(|slot| slot.0 != Places::FREE).for_each(|slot| self.put(*slot));
        }
        self.put((stream.0, place));
        self.len += 1;
    }

    fn put(&mut self, slot: (u32, u32)) {
        let free = (0..).map(|step| self.slot(slot.0, step)).find(|at| self.slots[*at].0 == Places::FREE);
        if let Some(free) = free {
            self.slots[free] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_has_its_place() {
        let mut places = Places::default();
        assert_eq!(places.get(StreamId(7)), None);
        for n in 0..1_000 {
            places.insert(StreamId(n * n), n);
        }
        assert!((0..1_000).all(|n| places.get(StreamId(n * n)) == Some(n)));
        assert_eq!([2, 3, 0xff_ffff].map(|stream| places.get(StreamId(stream))), [None; 3]);
    }
}
