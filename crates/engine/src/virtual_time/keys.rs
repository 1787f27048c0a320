//! Keys: when something is to be done and what it is, in one number.

use base::Time;

/// When something is to be done, then what it is: of a lower key is done first.
///
/// ```text
/// 63                        B B-1                                             0
/// | time since the epoch     | receiving port, or number of ports plus of node |
/// ```
///
/// As many bits are for what it is as the network needs ([`Scale`]). What is to be done so late that its time does not
/// fit has the latest that does: [`Scale::late`].
pub(super) type Key = u64;

/// Nothing is to be done.
pub(super) const NEVER: Key = Key::MAX;

/// What was done and when, as long as the network stays the same or not. The order is that of keys.
pub(super) type Done = (Time, u64);

const TIMEOUT: u64 = 1 << 32;

/// What is to be done first somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The first frame of this lane arrives.
    Arrival(u32),
    /// The device with this number asked to be called.
    Timeout(u32),
}

/// How keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// Nothing happens before.
    pub(super) epoch: u64,
    /// How many bits say what is to be done.
    bits: u32,
    /// How many ports there are.
    pub(super) ports: u32,
    /// The latest time that a key can have, since the epoch.
    latest: u64,
    /// That time: from then on keys do not tell when something is to be done.
    pub(super) late: Time,
    /// The bits that say what is to be done.
    mask: u64,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale::new(0, 0, 0)
    }
}

impl Scale {
    pub(super) fn new(epoch: u64, ports: usize, nodes: usize) -> Scale {
        let bits = ((ports + nodes) as u64 | 1).ilog2() + 1;
        // The next one would have the key of nothing.
        let latest = (u64::MAX >> bits) - 1;
        let late = Time(epoch.saturating_add(latest));
        Scale { epoch, bits, ports: ports as u32, latest, late, mask: (1 << bits) - 1 }
    }

    #[inline(always)]
    pub(super) fn key(&self, at: Time, what: u32) -> Key {
        debug_assert!(
            at.0 >= self.epoch,
            "something is to be done at a time that was over before anything happens"
        );
        at.0.saturating_sub(self.epoch).min(self.latest) << self.bits | u64::from(what)
    }

    /// The time of a key. Of one whose time does not fit, and of [`NEVER`], a time before.
    #[inline(always)]
    pub(super) fn time(&self, key: Key) -> Time {
        Time(self.epoch.saturating_add(key >> self.bits))
    }

    #[inline(always)]
    pub(super) fn what(&self, key: Key) -> u32 {
        (key & self.mask) as u32
    }

    #[inline(always)]
    pub(super) fn of(&self, due: Due) -> u32 {
        match due {
            Due::Arrival(g) => g ^ 1,
            Due::Timeout(number) => self.ports + number,
        }
    }

    #[inline(always)]
    pub(super) fn due(&self, key: Key) -> Due {
        let what = self.what(key);
        if what < self.ports { Due::Arrival(what ^ 1) } else { Due::Timeout(what - self.ports) }
    }

    /// What was done with a key; nothing with the least one, which comes before all others anyway.
    pub(super) fn done(&self, key: Key) -> Done {
        if key == 0 {
            return Done::default();
        }
        let what = match self.due(key) {
            Due::Arrival(g) => u64::from(g ^ 1),
            Due::Timeout(number) => TIMEOUT | u64::from(number),
        };
        (self.time(key), what)
    }

    /// The key of what was done; the least one if that is long ago.
    pub(super) fn key_of(&self, (at, what): Done) -> Key {
        let number = what as u32;
        let due = if what & TIMEOUT == 0 { Due::Arrival(number ^ 1) } else { Due::Timeout(number) };
        if at.0 < self.epoch { 0 } else { self.key(at, self.of(due)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// Keys have the order of times, then of arrivals by port, then of timeouts by device; and say what they were
        /// made of.
        #[test]
        fn keys_are_in_the_order_of_what_is_to_be_done(
            epoch in prop_oneof![Just(0u64), 0..1u64 << 63],
            (links, nodes) in (0usize..500, 1usize..500),
            what in proptest::collection::vec((any::<bool>(), any::<u32>(), prop_oneof![0u64..3, 0..1u64 << 40]), 2),
        ) {
            let scale = Scale::new(epoch, 2 * links, nodes);
            let made: Vec<(Key, Done, Due)> = what.into_iter().map(|(timeout, number, after)| {
                let due = if timeout || links == 0 {
                    Due::Timeout(number % nodes as u32)
                } else {
                    Due::Arrival(number % (2 * links as u32))
                };
                let key = scale.key(Time(epoch + after), scale.of(due));
                (key, scale.done(key), due)
            }).collect();
            for &(key, done, due) in &made {
                prop_assert!(key < NEVER && scale.time(key) < scale.late && scale.time(NEVER) > scale.late);
                prop_assert_eq!(scale.due(key), due);
                prop_assert_eq!(scale.key_of(done), key);
            }
            let (one, other) = (&made[0], &made[1]);
            if one.0 != 0 && other.0 != 0 {
                prop_assert_eq!(one.0.cmp(&other.0), one.1.cmp(&other.1));
            }
        }
    }

    #[test]
    fn what_is_too_late_for_a_key_is_late() {
        let scale = Scale::new(5, 100, 100);
        let key = scale.key(Time(u64::MAX - 1), 7);
        assert!(scale.time(key) == scale.late && key < NEVER);
        assert_eq!(scale.key_of((Time(4), 9)), 0);
        assert_eq!(scale.done(0), Done::default());
    }
}
