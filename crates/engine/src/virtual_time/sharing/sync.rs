//! What threads share, from the standard library. The crate `interleavings` has a module of this name in its place.

pub(super) use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Mutex, MutexGuard};

/// Looks of a thread that waits before it lets others have its processor.
const SPINS: u32 = 2_000;

/// What a thread does between two looks at something that another has still to do.
pub(super) fn wait(looks: u32) {
    if looks < SPINS { core::hint::spin_loop() } else { std::thread::yield_now() }
}
