//! Decoding allocates in proportion to the frame, whatever its bytes say.

use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use twinplane_wire::{icmp, ipv4, mpls, tree, udp};

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes that each thread asks for; what it gives back is not taken off.
struct Counting;

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATED.try_with(|total| total.set(total.get() + layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes that `work` asks for.
fn allocated(work: impl FnOnce()) -> usize {
    let before = ALLOCATED.get();
    work();
    ALLOCATED.get() - before
}

/// Frames whose outer layers are right, so that the inner ones are reached.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let starts: [&[u8]; 6] = [
        &[],
        &[0x88, 0x47],
        &[0x08, 0x06, 0, 1, 8, 0, 6, 4],
        &[8, 0, 0x4f, 0, 0, 80, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
        &[8, 0, 0x45, 0, 0, 200, 0, 0, 0, 0, 64, 1, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 11, 0, 0, 0, 0, 32, 0, 0],
        &[8, 0, 0x45, 0, 0, 200, 0, 0, 0, 0, 64, 46, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0x10],
    ];
    let fill = prop_oneof![Just(None), Just(Some(0u8)), Just(Some(1)), Just(Some(4)), Just(Some(0x40))];
    let rest = proptest::collection::vec(any::<u8>(), 0..1500);
    (any::<[u8; 12]>(), 0..starts.len(), rest, fill).prop_map(move |(addresses, start, mut rest, fill)| {
        if let Some(byte) = fill {
            rest.fill(byte);
        }
        [&addresses[..], starts[start], &rest].concat()
    })
}

proptest! {
    #[test]
    fn decoding_is_bounded(frame in frames()) {
        let mut tree = tree::Tree::default();
        let bytes = allocated(|| tree = tree::decode(&frame));
        // A vector that grows asks for twice its final size, at four layers at first; layers, options and objects are
        // a few tens of bytes for at least one byte of a header (at most 40 of options) or four of an object.
        prop_assert!(bytes <= 8192 + 64 * frame.len(), "{bytes} for {}", frame.len());
        prop_assert_eq!(tree::encode(&tree), Ok(frame));
    }

    #[test]
    fn views_and_values_allocate_nothing(frame in frames()) {
        let bytes = allocated(|| {
            let data = &frame[14.min(frame.len())..];
            let _ = ipv4::Packet::new_checked(data).and_then(|packet| ipv4::Repr::parse(&packet));
            let _ = udp::Packet::new_checked(data).map(|packet| packet.payload().len());
            let _ = icmp::Packet::new_checked(data).and_then(|packet| icmp::Repr::parse(&packet).map(|_| ()));
            let _ = mpls::Stack::new(data).count();
        });
        prop_assert_eq!(bytes, 0);
    }
}
