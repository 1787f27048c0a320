//! Decoding allocates in proportion to the frame, whatever its bytes say.

use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use twinplane_wire::{icmp, icmpv6, ipv4, ipv6, mpls, rsvp, tree, udp};

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
    let starts: [&[u8]; 11] = [
        &[],
        &[0x88, 0x47],
        &[0x08, 0x06, 0, 1, 8, 0, 6, 4],
        &[8, 0, 0x4f, 0, 0, 80, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
        &[8, 0, 0x45, 0, 0, 200, 0, 0, 0, 0, 64, 1, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 11, 0, 0, 0, 0, 32, 0, 0],
        &[8, 0, 0x45, 0, 0, 200, 0, 0, 0, 0, 64, 46, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0x10],
        // IPv6 with hop-by-hop options, with neighbour discovery, and with an error that quotes 128 bytes.
        &[
            0x86, 0xdd, 0x60, 0, 0, 0, 0, 200, 0, 64, 0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 20,
        ],
        &[
            0x86, 0xdd, 0x60, 0, 0, 0, 0, 200, 58, 255, 0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 133, 0, 0, 0, 0, 0, 0, 0,
        ],
        &[
            0x86, 0xdd, 0x60, 0, 0, 0, 0, 200, 58, 255, 0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 16, 0, 0, 0,
        ],
        // RSVP of 1,000 bytes, a Path and a Bundle.
        &[
            8, 0, 0x45, 0, 4, 0, 0, 0, 0, 0, 64, 46, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0x10, 1, 0, 0, 255, 0, 3,
            232,
        ],
        &[
            8, 0, 0x45, 0, 4, 0, 0, 0, 0, 0, 64, 46, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0x10, 12, 0, 0, 255, 0, 3,
            232,
        ],
    ];
    // The smallest things that can be packed: options, label stack entries, objects, messages of a Bundle.
    let patterns: [&[u8]; 8] = [
        &[],
        &[0],
        &[1],
        &[4],
        &[0, 4, 9, 1],
        &[0, 8, 20, 1, 1, 8, 1, 1],
        &[0x10, 1, 0, 0, 1, 0, 0, 8],
        &[0, 4, 200, 1],
    ];
    let rest = proptest::collection::vec(any::<u8>(), 0..1500);
    (any::<[u8; 12]>(), 0..starts.len(), rest, 0..patterns.len()).prop_map(
        move |(addresses, start, mut rest, pattern)| {
            for (byte, &value) in rest.iter_mut().zip(patterns[pattern].iter().cycle()) {
                *byte = value;
            }
            [&addresses[..], starts[start], &rest].concat()
        },
    )
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn decoding_is_bounded(frame in frames()) {
        let mut tree = tree::Tree::default();
        let bytes = allocated(|| tree = tree::decode(&frame));
        // The most for a byte are RSVP objects of four bytes, in a vector that doubles as it grows: 80 bytes, counting
        // those that it gave back. The constant part is for the layers themselves and for the options of a header.
        prop_assert!(bytes <= 8192 + 128 * frame.len(), "{bytes} for {}", frame.len());
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
            let _ = ipv6::Packet::new_checked(data).and_then(|packet| {
                let repr = ipv6::Repr::parse(&packet)?;
                ipv6::upper(repr.next_header, packet.payload())
            });
            let message = data.get(40..).unwrap_or_default();
            let _ = icmpv6::Packet::new_checked(message).and_then(|p| icmpv6::Repr::parse_unverified(&p).map(|_| ()));
        });
        prop_assert_eq!(bytes, 0);
    }
}

/// RSVP messages of one object over and over, good or bad.
fn rsvp_messages() -> impl Strategy<Value = Vec<u8>> {
    let filter = [0, 12, 10, 7, 10, 0, 0, 1, 0, 0, 0, 5];
    let flowspec = [
        0, 36, 9, 2, 0, 0, 0, 7, 5, 0, 0, 6, 127, 0, 0, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1,
    ];
    let start = [&[0, 8, 8, 1, 0, 0, 0, 18][..], &flowspec].concat();
    let objects: Vec<Vec<u8>> = vec![
        vec![0, 4, 14, 1],
        vec![0, 4, 99, 1],
        vec![0, 8, 25, 1, 0, 0, 0, 0],
        vec![0, 12, 24, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        filter.to_vec(),
        flowspec.to_vec(),
        [&flowspec[..], &filter].concat(),
        [&filter[..], &[0, 4, 21, 1], &[0, 8, 16, 1, 0, 0, 0, 17]].concat(),
        vec![0, 16, 21, 1, 99, 4, 0, 0, 32, 4, 0, 0, 99, 4, 0, 0],
    ];
    (1..30u8, 0..objects.len(), 0..400usize).prop_map(move |(kind, which, count)| {
        let body = [&start[..], &objects[which].repeat(count)].concat();
        let [high, low] = ((body.len() + 8) as u16).to_be_bytes();
        [&[0x10, kind, 0, 0, 64, 0, high, low], &body[..]].concat()
    })
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn typed_rsvp_is_bounded(message in rsvp_messages()) {
        let bytes = allocated(|| {
            if let Err(error) = rsvp::Packet::parse(&message) {
                let _ = rsvp::Reply::to(&message, &error, std::net::Ipv4Addr::LOCALHOST.into());
            }
        });
        prop_assert!(bytes <= 4096 + 64 * message.len(), "{bytes} for {}", message.len());
    }
}
