//! What must never happen: broken invariants of RSVP-TE, asserted where code is debugged and counted everywhere.
//!
//! A router goes on after one, as a router of a network must; the count says that what it did then is not to be relied
//! on.

use crate::machine::State;
use serde::{Deserialize, Serialize};

/// An invariant that did not hold: a fault of this program, whatever a neighbour or a user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Something happened in a state whose machine has no step for it; the state was kept.
    NoStep,
    /// A state block of an LSP that must be there is not.
    NoLsp,
    /// A tunnel that must be there is not.
    NoTunnel,
    /// A link that path state or a reservation is about is not there.
    NoLink,
    /// What the transport holds of a neighbour is not there.
    NoNeighbor,
    /// A copy that waits for its acknowledgement is not where its queue says.
    NoCopy,
    /// A part of a state that its other parts ask for is not there.
    Incomplete,
}

impl Fault {
    /// All of them, in the order of their declaration.
    pub const ALL: [Fault; 7] = [
        Fault::NoStep,
        Fault::NoLsp,
        Fault::NoTunnel,
        Fault::NoLink,
        Fault::NoNeighbor,
        Fault::NoCopy,
        Fault::Incomplete,
    ];
}

/// How often each invariant did not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults([u64; Fault::ALL.len()]);

impl Faults {
    /// Every kind of fault that occurred, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        Fault::ALL.into_iter().map(|fault| (fault, self.0[fault as usize])).filter(|(_, count)| *count > 0)
    }

    /// Counts a fault, and stops where assertions are on.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(super) fn note(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
        debug_assert!(false, "an invariant of RSVP-TE does not hold: {fault:?}");
    }

    #[cold]
    #[inline(never)]
    fn no_step<S: State>(&mut self, state: S, event: S::Event) {
        self.0[Fault::NoStep as usize] += 1;
        debug_assert!(false, "{}: {event:?} in state {state:?}", S::CHART.title);
    }

    /// Takes a machine to the state that an event leads to. Where it has no step for that, it stays as it is.
    #[inline]
    pub(super) fn step<S: State>(&mut self, state: &mut S, event: S::Event) {
        match state.next(event) {
            Some(next) => *state = next,
            None => self.no_step(*state, event),
        }
    }
}

impl core::ops::AddAssign for Faults {
    fn add_assign(&mut self, other: Faults) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, more)| *mine += more);
    }
}
