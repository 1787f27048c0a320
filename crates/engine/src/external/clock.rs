//! The monotonic clock as time of a run, and the calendar time of the kernel's stamps in the same terms.

use base::Time;
use std::cell::Cell;
use std::mem::zeroed;

const NS_PER_S: u64 = 1_000_000_000;
const PS_PER_NS: u64 = 1000;
/// How long the difference between calendar and monotonic clock is taken to be the same.
const OFFSET_HOLDS_NS: u64 = 100_000_000;

/// Time since an epoch by `CLOCK_MONOTONIC`, which all processes of a machine share.
#[derive(Clone, Debug)]
pub struct Clock {
    epoch: u64,
    /// Calendar time minus monotonic time, and when that was found.
    offset: Cell<(u64, u64)>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

impl Clock {
    /// A clock that begins now.
    pub fn new() -> Clock {
        Clock::starting_at(read(libc::CLOCK_MONOTONIC))
    }

    /// A clock that began at `epoch_ns` of `CLOCK_MONOTONIC`.
    pub fn starting_at(epoch_ns: u64) -> Clock {
        Clock { epoch: epoch_ns, offset: Cell::new(offset()) }
    }

    /// When it began, by `CLOCK_MONOTONIC`.
    pub fn epoch_ns(&self) -> u64 {
        self.epoch
    }

    /// What `CLOCK_MONOTONIC` says, in nanoseconds.
    pub fn monotonic_ns() -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }

    /// Calendar time, in nanoseconds since 1970, as the kernel stamps frames.
    pub(crate) fn calendar_ns() -> u64 {
        read(libc::CLOCK_REALTIME)
    }

    /// Calendar time at its epoch, in nanoseconds since 1970.
    pub fn calendar_at_epoch_ns(&self) -> u64 {
        self.epoch.saturating_add(self.offset.get().0)
    }

    /// The time since its epoch; zero before.
    #[inline]
    pub fn now(&self) -> Time {
        let now = read(libc::CLOCK_MONOTONIC);
        if now.saturating_sub(self.offset.get().1) > OFFSET_HOLDS_NS {
            self.offset.set(offset());
        }
        Time(now.saturating_sub(self.epoch).saturating_mul(PS_PER_NS))
    }

    /// A calendar time, in nanoseconds since 1970, as time since the epoch; zero before.
    #[inline]
    pub fn of_realtime(&self, ns: u64) -> Time {
        let monotonic = ns.saturating_sub(self.offset.get().0);
        Time(monotonic.saturating_sub(self.epoch).saturating_mul(PS_PER_NS))
    }
}

/// Nanoseconds of a clock of the system.
#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    // SAFETY: the kernel fills one structure of integers.
    let time = unsafe {
        let mut time: libc::timespec = zeroed();
        libc::clock_gettime(clock, &mut time);
        time
    };
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// Calendar time minus monotonic time, by the quickest of a few readings, and when that was.
fn offset() -> (u64, u64) {
    let once = || {
        let before = read(libc::CLOCK_MONOTONIC);
        let calendar = read(libc::CLOCK_REALTIME);
        let after = read(libc::CLOCK_MONOTONIC);
        (after - before, calendar.saturating_sub(before + (after - before) / 2), after)
    };
    let (_, offset, at) = (0..3).map(|_| once()).min().unwrap_or_default();
    (offset, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_tell_the_same_time() {
        let clock = Clock::new();
        let before = clock.now();
        let stamp = clock.of_realtime(read(libc::CLOCK_REALTIME));
        let after = clock.now();
        // A calendar that is being adjusted may differ by a little.
        let slack = 1_000_000_000;
        assert!(before.0 <= stamp.0 + slack && stamp.0 <= after.0 + slack, "{before:?} {stamp:?} {after:?}");
        assert_eq!(Clock::starting_at(u64::MAX).now(), Time::ZERO);
    }
}
