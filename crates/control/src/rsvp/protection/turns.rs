//! LSPs that are signalled around a failure, or back along a link, or get another bypass, in turns.
//!
//! One write has led the packets of all LSPs around a link that is down, or whose other end is silent. What is said of
//! it takes a message or more for each LSP: routers on their way could not take all that at once, and would lose
//! packets of others for it. An LSP that waits to be led around waits no longer than the link is gone: the neighbour
//! may not know its label any more.

use super::super::lsp::{Role, SenderKey, SessionKey};
use super::super::{Rsvp, Timer};
use crate::rsvp::faults::Fault;
use base::{PortId, Span};
use std::collections::{BTreeSet, VecDeque};

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
    /// Its next hop by this port is gone: it is signalled through its bypass.
    Around(PortId),
    /// The link at this port is back: it is signalled along that again.
    Back(PortId),
    /// A bypass has come up, gone down or been moved: another one may be better, and others are told what it has.
    Protect,
}

/// An LSP that waits. Its place may be another's by the time of its turn, so its names are here, too.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: u32,
    session: SessionKey,
    sender: SenderKey,
    turn: Turn,
}

/// LSPs that wait for their turn, in order.
#[derive(Clone, Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// So many in each turn.
    each: usize,
    /// Are some being handled, or is the next turn coming?
    is_going: bool,
}

/// The LSPs that wait for their turn.
#[derive(Clone, Debug, Default)]
pub(in crate::rsvp) struct Turns {
    /// Those that are led around a link, or go back to it.
    led: Queue,
    /// Those that choose their backup anew: they don't keep the others waiting.
    choosing: Queue,
    /// These, each of which waits once.
    choosers: BTreeSet<u32>,
}

impl Turns {
    fn queue(&mut self, choosing: bool) -> &mut Queue {
        if choosing { &mut self.choosing } else { &mut self.led }
    }
}

impl Rsvp {
    /// An LSP is to be signalled when it is its turn.
    pub(in crate::rsvp) fn in_turn(&mut self, index: u32, turn: Turn) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let turns = &mut self.protections.turns;
        let choosing = turn == Turn::Protect;
        if choosing && !turns.choosers.insert(index) {
            return;
        }
        let queue = turns.queue(choosing);
        queue.waiting.push_back(Waiting { index, session: lsp.session, sender: lsp.sender, turn });
        queue.each = LEAST.max(queue.waiting.len() / TURNS);
    }

    /// Is an LSP to choose its backup anew?
    pub(in crate::rsvp) fn is_choosing(&self, index: u32) -> bool {
        self.protections.turns.choosers.contains(&index)
    }

    /// LSPs may have begun to wait: the first have their turn at once.
    pub(in crate::rsvp) fn first_turn(&mut self) {
        for choosing in [false, true] {
            if !self.protections.turns.queue(choosing).is_going {
                self.take_turns(choosing, FIRST);
            }
        }
    }

    /// It is the turn of some of those that wait: to choose their backup, or else to be signalled elsewhere.
    pub(in crate::rsvp) fn next_turn(&mut self, choosing: bool) {
        self.take_turns(choosing, 0);
    }

    /// So many LSPs have their turn, or as many as each turn has if that is more.
    fn take_turns(&mut self, choosing: bool, least: usize) {
        let queue = self.protections.turns.queue(choosing);
        queue.is_going = true;
        let count = queue.each.max(least).min(queue.waiting.len());
        let some: Vec<_> = queue.waiting.drain(..count).collect();
        for waiting in some {
            self.take_turn(waiting);
        }
        let queue = self.protections.turns.queue(choosing);
        queue.is_going = !queue.waiting.is_empty();
        if queue.is_going {
            self.wheel.schedule(self.now + TURN, Timer::Turn { choosing });
        }
    }

    /// Something is said of an LSP by others: if it waits, it is led around the failure first, and all goes on as if
    /// it had been from the beginning.
    pub(in crate::rsvp) fn hurry(&mut self, index: u32) {
        if self.protections.turns.led.waiting.is_empty() {
            return;
        }
        self.chooses_now(index);
        let Some(lsp) = self.store.get(index) else { return };
        let is_gone = lsp.next_hop.is_some_and(|hop| self.is_gone(hop.port));
        if is_gone && !lsp.is_diverted() && !lsp.has_detour() && self.is_repairable(lsp) {
            self.divert(index);
        }
    }

    /// Does no packet leave by this port, because one write leads all of them elsewhere?
    pub(in crate::rsvp) fn is_gone(&self, port: PortId) -> bool {
        self.links.get(port).is_some_and(|link| !link.leads_on())
    }

    /// A link is about to be there again: all LSPs that wait to be led around it have their turn now.
    pub(in crate::rsvp) fn end_waiting(&mut self, port: PortId) {
        let is_meant = |waiting: &Waiting| waiting.turn == Turn::Around(port);
        let (meant, others) =
            core::mem::take(&mut self.protections.turns.led.waiting).into_iter().partition(is_meant);
        self.protections.turns.led.waiting = others;
        let meant: VecDeque<Waiting> = meant;
        for waiting in meant {
            self.take_turn(waiting);
        }
    }

    /// What was to be signalled may be gone by now, or be signalled already.
    fn take_turn(&mut self, waiting: Waiting) {
        let Waiting { index, session, sender, turn } = waiting;
        if turn == Turn::Protect {
            self.protections.turns.choosers.remove(&index);
        }
        let Some(lsp) = self.store.get(index) else { return };
        let is_it = lsp.session == session && lsp.sender == sender;
        match turn {
            // The place may be another's by now, and no other turn of its own was noted.
            Turn::Protect => self.protect_again(index),
            Turn::Around(_) | Turn::Back(_) if !is_it => {}
            Turn::Around(_) if lsp.is_diverted() => {}
            Turn::Around(_) => {
                let is_head = lsp.role() == Role::Head;
                self.lose_beyond(index, is_head);
            }
            Turn::Back(port) => self.go_back(index, port),
        }
    }
}
