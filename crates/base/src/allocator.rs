//! Where the memory of programs comes from.
//!
//! Signalling takes and gives back memory for each message, object and state. With the allocator of the C library that
//! was a tenth of its instructions (decision 0060). Each program that is run for its results says that it takes this
//! one; tests take that of the system, which the thread sanitizer can watch.

pub use mimalloc::MiMalloc as Allocator;
