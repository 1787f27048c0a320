//! What threads share, from the standard library. The crate `interleavings` has a module of this name in its place.

pub(super) use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
pub(super) use std::sync::{Mutex, MutexGuard};

/// Looks of a thread that waits before it lets others have its processor.
const SPINS: u32 = 2_000;
/// Looks after which nobody else seems to need the processor, or the other has too little of one: then the thread
/// sleeps between two looks. That a wait of more than a tenth of a millisecond ends later by a part of itself is worth
/// it: a thread that looks on and on takes time from those that it waits for, where there are more threads than free
/// processors.
const YIELDS: u32 = 100;
/// How long it sleeps, which reads no clock and changes no result. Linux makes some 70 us of it.
const SLEEP: Duration = Duration::from_micros(20);

/// What a thread does between two looks at something that another has still to do.
pub(super) fn wait(looks: u32) {
    if looks < SPINS {
        core::hint::spin_loop();
    } else if looks < SPINS + YIELDS {
        std::thread::yield_now();
    } else {
        std::thread::sleep(SLEEP);
    }
}
