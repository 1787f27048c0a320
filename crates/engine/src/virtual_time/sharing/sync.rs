//! What threads share, from the standard library. The crate `interleavings` has a module of this name in its place.

pub(super) use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
pub(super) use std::sync::{Mutex, MutexGuard};

/// Looks of a thread that waits before it lets others have its processor.
const SPINS: u32 = 2_000;
/// Looks beyond those, after each of which others may have the processor. After that a thread sleeps between two looks:
/// where there are more threads than free processors, one that goes on looking takes time from those that it waits for.
const YIELDS: u32 = 100;
/// How long it sleeps at least; Linux adds some 50 us. That reads no clock and changes no result.
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
