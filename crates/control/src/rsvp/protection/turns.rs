//! LSPs that are signalled around a failure, or back along a link, in turns.
//!
//! What packets do is decided by one write for all LSPs, at once. What is said of it takes a message or more for each
//! LSP: routers on their way could not take all that at once, and would lose packets of others for it.

use super::super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::super::{Rsvp, Timer};
use crate::rsvp::faults::Fault;
use base::{PortId, Span};
use std::collections::VecDeque;

/// Time from some LSPs to the next.
const TURN: Span = Span::from_ms(1);
/// So many LSPs have the first turn, if nobody waited before.
const FIRST: usize = 32;
/// So many have each further turn at least.
const LEAST: usize = 8;
/// All of them have had theirs after about so many.
const TURNS: usize = 2048;

/// What an LSP waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rsvp) enum Turn {
    /// Its next hop is gone: it is signalled through its bypass.
    Around,
    /// The link at this port is back: it is signalled along that again.
    Back(PortId),
}

/// An LSP that waits. Its place may be another's by the time of its turn, so its names are here, too.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: u32,
    session: SessionKey,
    sender: SenderKey,
    turn: Turn,
}

/// The LSPs that wait for their turn, in order.
#[derive(Clone, Debug, Default)]
pub(in crate::rsvp) struct Turns {
    waiting: VecDeque<Waiting>,
    /// So many in each turn.
    each: usize,
    is_armed: bool,
}

impl Rsvp {
    /// An LSP is to be signalled when it is its turn.
    pub(in crate::rsvp) fn in_turn(&mut self, index: u32, turn: Turn) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let turns = &mut self.protections.turns;
        turns.waiting.push_back(Waiting { index, session: lsp.session, sender: lsp.sender, turn });
        turns.each = LEAST.max(turns.waiting.len() / TURNS);
    }

    /// LSPs may have begun to wait: the first have their turn at once.
    pub(in crate::rsvp) fn first_turn(&mut self) {
        if !self.protections.turns.is_armed {
            self.take_turns(FIRST);
        }
    }

    /// It is the turn of some of those that wait.
    pub(in crate::rsvp) fn next_turn(&mut self) {
        self.protections.turns.is_armed = false;
        self.take_turns(0);
    }

    /// So many LSPs have their turn, or as many as each turn has if that is more.
    fn take_turns(&mut self, least: usize) {
        let turns = &mut self.protections.turns;
        let count = turns.each.max(least).min(turns.waiting.len());
        let some: Vec<_> = turns.waiting.drain(..count).collect();
        for waiting in some {
            self.take_turn(waiting);
        }
        let turns = &mut self.protections.turns;
        if !turns.waiting.is_empty() {
            turns.is_armed = true;
            self.wheel.schedule(self.now + TURN, Timer::Turn);
        }
    }

    /// Something is said of an LSP by others: if it waits, it is led around the failure first, and all goes on as if
    /// it had been from the beginning.
    pub(in crate::rsvp) fn hurry(&mut self, index: u32) {
        if self.protections.turns.waiting.is_empty() {
            return;
        }
        let Some(lsp) = self.store.get(index) else { return };
        let is_gone = lsp
            .next_hop
            .is_some_and(|hop| self.links.get(hop.port).is_none_or(|link| !link.up || link.is_silent()));
        if is_gone && !lsp.is_diverted() && !lsp.has_detour() && self.is_repairable(lsp) {
            self.divert(index);
        }
    }

    /// All that wait have their turn now.
    pub(super) fn divert_rest(&mut self) {
        let rest = core::mem::take(&mut self.protections.turns.waiting);
        for waiting in rest {
            self.take_turn(waiting);
        }
    }

    /// What was to be signalled may be gone by now, or be signalled already.
    fn take_turn(&mut self, waiting: Waiting) {
        let Waiting { index, session, sender, turn } = waiting;
        let is_it = |lsp: &&Lsp| lsp.session == session && lsp.sender == sender;
        let Some(lsp) = self.store.get(index).filter(is_it) else { return };
        match turn {
            Turn::Around if lsp.is_diverted() => {}
            Turn::Around => {
                let is_head = lsp.role() == Role::Head;
                self.lose_beyond(index, is_head);
            }
            Turn::Back(port) => self.go_back(index, port),
        }
    }
}
