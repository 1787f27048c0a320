//! Conditioning and classifying a packet asks for no memory, whatever rules there are.

mod support;

use base::{Time, Verdict};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::*;
use twinplane_forwarding::conditioner::{Conditioner, ConditionerSpec};

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

/// A rule of each kind: all fields, all meters, all actions.
const RULES: &str = r#"{"accounting":{"layer":"ip"},"rules":[
    {"name":"port","inputs":[9],"mark":7},
    {"name":"label","labels":[100,100],"tc":[1,2],
        "meter":{"kind":"single-rate","cir":8000,"cbs":100,"ebs":100,"aware":true},
        "green":"mark 3","yellow":"remark AF12 below labels"},
    {"name":"labels","labels":[101,200],"labelled":true},
    {"name":"flow","dst":"10.9.0.0/24","protocol":17,"dst_ports":[0,9],
        "meter":{"kind":"token-bucket","rate":8000,"burst":100,"peakrate":9000,"mtu":100}},
    {"name":"code","dscp":[46],"phb":["EF"],
        "meter":{"kind":"two-rate","cir":8000,"cbs":100,"pir":9000,"pbs":200},
        "yellow":"remark CS1"}]}"#;

#[test]
fn conditioning_asks_for_no_memory() {
    let mut tables = node(&[]);
    // A prefix has a cache line of its own from its first packet on.
    let mut first = [frame(&[], Ip::default()), frame(&[], Ip { to: GATEWAY, ..Ip::default() })];
    tables.forward_batch(Time(0), P0, &mut first, &mut [Verdict::Punt; 2]);
    let spec: ConditionerSpec = serde_json::from_str(RULES).expect("well formed");
    tables.set_conditioner(P0, Some(Conditioner::new(&spec).expect("right")));
    tables.note_inputs(true);
    let mut frames: Vec<_> = (0..64u8)
        .map(|n| match n % 4 {
            0 => frame(&[(100, 1, 64)], Ip::default()),
            1 => frame(&[(150, 5, 64), (16, 0, 9)], Ip::default()),
            2 => frame(&[], Ip::default()),
            _ => frame(&[], Ip { to: GATEWAY, ..Ip::default() }),
        })
        .collect();
    // What holds marks and ports of arrival, a frame gets with the first one and keeps.
    for frame in &mut frames {
        frame.set_mark(1);
        frame.clear_tags();
    }
    let mut verdicts = vec![Verdict::Punt; frames.len()];
    let before = ALLOCATED.get();
    tables.forward_batch(Time(5), P0, &mut frames, &mut verdicts);
    assert_eq!(ALLOCATED.get() - before, 0);
    let rows = tables.conditioner(P0).expect("there").report();
    let counted = rows.iter().filter(|row| row.counted.packets > 0).count();
    assert!(counted >= 6, "{rows:#?}");
    assert!(ALLOCATED.get() > before, "the report asks for memory, so that the count counts");
}
