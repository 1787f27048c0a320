//! Hints to the processor about memory that is going to be needed. Nothing is ever the result of one.

const LINE: usize = 64;

/// Hints that `value`, or where it begins if it is longer than a cache line, is about to be read and written.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_bytes(value, 1);
}

/// The same of the first `bytes` bytes of a value, each cache line of them.
#[inline(always)]
pub fn prefetch_bytes<T: ?Sized>(value: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(value).cast::<i8>().wrapping_add(at);
        // SAFETY: a prefetch has no effect on memory and cannot fault, whatever the address.
        unsafe { _mm_prefetch(line, _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, bytes, LINE);
}
