//! A queue of vertices by distance for searches that never go back (a radix heap: Ahuja, Mehlhorn, Orlin and Tarjan,
//! 1990): what is put in is never nearer than what was taken out last.

/// Numbers of vertices by their keys.
#[derive(Debug)]
pub(super) struct Radix {
    /// The key that was taken out last.
    last: u32,
    /// By the highest bit in which a key differs from the last one; those that are the same come first.
    buckets: [Vec<(u32, u32)>; 33],
    /// Which buckets there is something in.
    used: u64,
}

impl Default for Radix {
    fn default() -> Radix {
        Radix { last: 0, buckets: [const { Vec::new() }; 33], used: 0 }
    }
}

impl Radix {
    /// Puts a vertex in, by a key that is not less than the last that was taken out. A network behind a link that costs
    /// nothing stands before the router that the link leads from: it comes next (RFC 2328, 16.1, step 3).
    pub(super) fn push(&mut self, key: u32, vertex: u32) {
        debug_assert!(key >> 2 >= self.last >> 2, "a search never goes back");
        let key = key.max(self.last);
        let place = 32 - (key ^ self.last).leading_zeros();
        self.buckets[place as usize].push((key, vertex));
        self.used |= 1 << place;
    }

    /// Takes out one of those with the least key.
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        if self.used & 1 == 0 {
            if self.used == 0 {
                return None;
            }
            let place = self.used.trailing_zeros() as usize;
            let mut all = core::mem::take(&mut self.buckets[place]);
            self.used &= !(1 << place);
            self.last = all.iter().map(|(key, _)| *key).min()?;
            for (key, vertex) in all.drain(..) {
                self.push(key, vertex);
            }
            self.buckets[place] = all;
        }
        let next = self.buckets[0].pop();
        if self.buckets[0].is_empty() {
            self.used &= !1;
        }
        next
    }
}
