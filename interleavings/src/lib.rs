//! Every order in which threads of the engine may come to a meeting, and see what others wrote before it, as the memory
//! model of Rust allows. loom runs each test again and again until there is no other order left. The code under test is
//! the engine's own file: only atomics, locks and threads are loom's.

#![cfg(test)]

#[allow(dead_code)]
#[path = "../../crates/engine/src/virtual_time/sharing/exchange.rs"]
mod exchange;

/// Stands for the module of this name beside the engine's file.
mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub use loom::sync::{Mutex, MutexGuard};

    /// loom has no time: who waits lets another thread go on.
    pub fn wait(_looks: u32) {
        loom::thread::yield_now();
    }
}

use base::Time;
use exchange::{Exchange, Sum};
use loom::sync::Arc;
use loom::thread;

fn sum(next: u64, events: u64) -> Sum {
    Sum { next: Time(next), events, last: false }
}

/// A world that says in each round which it is, and hands all others a number that tells who sent it, when and to whom.
fn work(all: &Exchange<(u64, usize, usize)>, worlds: usize, number: usize, rounds: u64) {
    assert!(all.meet(0).is_some());
    for round in 1..=rounds {
        let mut parcels: Vec<Vec<_>> =
            (0..worlds).map(|to| if to == number { Vec::new() } else { vec![(round, number, to)] }).collect();
        all.tell(round, number, &sum(round * 10 + number as u64, round), &mut parcels);
        let told = all.meet(round).expect("nobody gives up");
        assert_eq!((told.next, told.events), (Time(round * 10), round * worlds as u64));
        let mut fetched = Vec::new();
        all.fetch(round, number, &mut |parcel| fetched.push(parcel));
        let expected: Vec<_> =
            (0..worlds).filter(|from| *from != number).map(|from| (round, from, number)).collect();
        assert_eq!(fetched, expected);
    }
}

/// Runs one world in this thread, and each other in a thread of its own.
fn with_worlds(worlds: usize, rounds: u64) {
    loom::model(move || {
        let all = Arc::new(Exchange::new(worlds));
        let others: Vec<_> = (1..worlds)
            .map(|number| {
                let all = all.clone();
                thread::spawn(move || work(&all, worlds, number, rounds))
            })
            .collect();
        work(&all, worlds, 0, rounds);
        others.into_iter().for_each(|other| other.join().expect("a thread that ends"));
    });
}

/// What is told and handed over in a round is what all see after it, over both turns of the places and back again. With
/// three worlds loom does not come to an end: two that wait let each other go on, again and again.
#[test]
fn two_worlds_see_what_was_told_in_each_round() {
    with_worlds(2, 3);
}

/// A world that panics at any time leaves nobody waiting.
#[test]
fn nobody_waits_for_a_world_that_has_given_up() {
    loom::model(|| {
        let all: Arc<Exchange<u8>> = Arc::new(Exchange::new(2));
        let other = {
            let all = all.clone();
            thread::spawn(move || {
                assert!(all.meet(0).is_some());
                all.give_up();
            })
        };
        // It may have given up before this one sees that both were there.
        if all.meet(0).is_some() {
            all.tell(1, 0, &sum(0, 0), &mut [Vec::new(), Vec::new()]);
            assert!(all.meet(1).is_none());
        }
        other.join().expect("a thread that ends");
    });
}
