//! What the worlds that share a network tell each other between two rounds.

use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, wait};
use base::Time;

/// What a world has come to. Only that world writes it, and all read it after they have met.
#[derive(Default)]
#[repr(align(64))]
struct Told {
    next: AtomicU64,
    events: AtomicU64,
    last: AtomicBool,
}

/// What all worlds have come to together.
pub(super) struct Sum {
    /// Nothing happens before this.
    pub next: Time,
    /// What has been done by now.
    pub events: u64,
    /// No round comes after this: a device has failed, or a trial has taken too long.
    pub last: bool,
}

/// The place where the worlds meet after each round. All there is of it there is twice, for the rounds in turn: a world
/// may be in the next round when others still look at what was told after the last. `P` is what worlds hand each other.
pub(super) struct Exchange<P> {
    worlds: usize,
    told: [Vec<Told>; 2],
    /// For each world the parcels from each.
    boxes: [Vec<Mutex<Vec<P>>>; 2],
    arrived: AtomicUsize,
    meetings: AtomicU64,
    /// One of them comes to no meeting any more.
    given_up: AtomicBool,
}

impl<P> Exchange<P> {
    pub fn new(worlds: usize) -> Exchange<P> {
        let told = || (0..worlds).map(|_| Told::default()).collect();
        let boxes = || (0..worlds * worlds).map(|_| Mutex::new(Vec::new())).collect();
        Exchange {
            worlds,
            told: [told(), told()],
            boxes: [boxes(), boxes()],
            arrived: AtomicUsize::new(0),
            meetings: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
        }
    }

    /// Says what world `from` has come to, and leaves its parcels for the others.
    pub fn tell(&self, round: u64, from: usize, sum: &Sum, parcels: &mut [Vec<P>]) {
        let turn = (round % 2) as usize;
        for (to, parcels) in parcels.iter_mut().enumerate().filter(|(_, parcels)| !parcels.is_empty()) {
            let mut there = lock(&self.boxes[turn][to * self.worlds + from]);
            debug_assert!(there.is_empty(), "parcels of two rounds ago have not been fetched");
            core::mem::swap(&mut *there, parcels);
        }
        let told = &self.told[turn][from];
        told.next.store(sum.next.0, Ordering::Relaxed);
        told.events.store(sum.events, Ordering::Relaxed);
        told.last.store(sum.last, Ordering::Relaxed);
    }

    /// From now on no world waits for another.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Release);
    }

    /// Does the work of one world. If that panics, others do not wait for it.
    pub fn attended<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Attended<'a, P>(&'a Exchange<P>);
        impl<P> Drop for Attended<'_, P> {
            fn drop(&mut self) {
                self.0.give_up();
            }
        }
        let attended = Attended(self);
        let done = work();
        core::mem::forget(attended);
        done
    }

    /// Waits until all worlds have told what they have come to in this round, and returns it. Nothing if one of them
    /// can't come.
    pub fn meet(&self, round: u64) -> Option<Sum> {
        // What is told is seen by whoever sees that all have come.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.worlds {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(round + 1, Ordering::Release);
        } else {
            let mut looks = 0;
            while self.meetings.load(Ordering::Acquire) <= round {
                if self.given_up.load(Ordering::Acquire) {
                    return None;
                }
                looks += 1;
                wait(looks);
            }
        }
        let mut sum = Sum { next: Time::MAX, events: 0, last: false };
        for told in &self.told[(round % 2) as usize] {
            sum.next = sum.next.min(Time(told.next.load(Ordering::Relaxed)));
            sum.events += told.events.load(Ordering::Relaxed);
            sum.last |= told.last.load(Ordering::Relaxed);
        }
        Some(sum)
    }

    /// Takes the parcels for a world.
    pub fn fetch(&self, round: u64, to: usize, take: &mut impl FnMut(P)) {
        for from in 0..self.worlds {
            if from != to {
                lock(&self.boxes[(round % 2) as usize][to * self.worlds + from])
                    .drain(..)
                    .for_each(&mut *take);
            }
        }
    }
}

/// Nobody panics while there is a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
