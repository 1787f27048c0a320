//! The end of a tunnel whose LSPs carry the same packets (protection 1+1): it takes those of one of them.
//!
//! Which tunnels these are, the end is told by a command: no RFC that is read here signals it. The LSPs of a session
//! are taken as one set. They get labels of their own, and the entries of these name one selector, so that the choice
//! is one write. The end changes it by itself, without a word to the head end, when an LSP ends (its port is down, it
//! is torn down or not refreshed) or BFD does not hear the head end by it any more (RFC 5884).

use super::Rsvp;
use super::Timer;
use super::command::{SelectorSpec, TunnelId};
use super::event::Event;
use super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::states::{SelectorEvent, SelectorState};
use super::tables::Purpose;
use crate::services::{Pace, WatchedLsp, WatchedPath};
use base::plane::{NextHop, SelectorId, TableOp};
use base::{Label, Time, TimerId};
use core::net::Ipv4Addr;

/// An LSP of which packets can be taken.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its place in the store.
    pub lsp: u32,
    pub lsp_id: u16,
    pub label: Label,
    pub heard: Heard,
}

/// What BFD says of the head end by an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing: nobody asks for it, or it has not begun.
    Unknown,
    /// It is heard.
    Alive,
    /// It was heard, and is not any more.
    Dead,
}

/// What the end of a tunnel keeps to choose between its LSPs.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    pub spec: SelectorSpec,
    /// The LSPs that come from now on have it, too.
    is_wanted: bool,
    pub id: SelectorId,
    pub state: SelectorState,
    /// Its LSPs, in the order in which they came.
    pub members: Vec<Member>,
    /// Place in the store of the working LSP.
    pub working: Option<u32>,
    /// Place in the store of the LSP of which packets are taken.
    pub selected: Option<u32>,
    /// When the working LSP is taken again.
    pub restore_at: Time,
    /// LSP id of the LSP that was selected last, as long as there is any.
    pub taken: Option<u16>,
    /// How often another LSP was selected than before.
    pub switches: u64,
    /// When it was last.
    pub since: Option<Time>,
    timer: Option<TimerId>,
}

impl Selector {
    fn new(id: SelectorId, spec: SelectorSpec) -> Selector {
        Selector {
            spec,
            is_wanted: true,
            id,
            state: SelectorState::Idle,
            members: Vec::new(),
            working: None,
            selected: None,
            restore_at: Time::MAX,
            taken: None,
            switches: 0,
            since: None,
            timer: None,
        }
    }

    pub(super) fn member(&self, lsp: Option<u32>) -> Option<&Member> {
        self.members.iter().find(|member| Some(member.lsp) == lsp)
    }

    /// Is the LSP there, as far as is known? One by which nothing has been heard yet is not taken in the place of one
    /// that is heard.
    fn is_fit(&self, lsp: Option<u32>) -> bool {
        let is_known = || self.members.iter().any(|member| member.heard == Heard::Alive);
        self.member(lsp).is_some_and(|member| match member.heard {
            Heard::Alive => true,
            Heard::Unknown => lsp == self.selected || !is_known(),
            Heard::Dead => false,
        })
    }

    /// The LSP to be selected: the one that is as long as it is fit, else the working LSP, else another one; after the
    /// wait to restore the working LSP first. Of LSPs that are not fit it stays where it is.
    fn choice(&self, cause: Cause) -> Option<u32> {
        let [first, second] = match cause {
            Cause::Restored => [self.working, self.selected],
            _ => [self.selected, self.working],
        };
        let mut all = self.members.iter().map(|member| member.lsp);
        let fit = all.find(|lsp| self.is_fit(Some(*lsp)));
        let left = || self.member(self.selected).or(self.members.first()).map(|member| member.lsp);
        [first, second, fit].into_iter().find(|lsp| self.is_fit(*lsp)).flatten().or_else(left)
    }
}

/// Why another LSP is selected.
#[derive(Clone, Copy)]
enum Cause {
    /// One has come.
    Come,
    /// One has gone.
    Gone,
    /// Nothing is heard by one.
    Unheard,
    /// Something is heard by one again.
    Heard,
    /// The working LSP was fit for long enough.
    Restored,
}

impl Cause {
    const fn words(self) -> &'static str {
        match self {
            Cause::Come | Cause::Heard => "nothing is heard by the others (BFD)",
            Cause::Gone => "the other has ended",
            Cause::Unheard => "nothing is heard by the other any more (BFD)",
            Cause::Restored => "the working LSP is back",
        }
    }
}

fn path_of(lsp: &Lsp) -> Option<WatchedPath> {
    let SessionKey { end_point, tunnel_id, extended } = lsp.session;
    let SenderKey { address, lsp_id } = lsp.sender;
    WatchedPath::end(WatchedLsp::Rsvp {
        endpoint: end_point,
        tunnel_id,
        extended_tunnel_id: extended,
        sender: address,
        lsp_id,
    })
}

impl Rsvp {
    /// The LSPs of somebody's tunnel carry the same packets, or do not any more. It is to be said before they come:
    /// what has a label keeps what was done with it.
    pub(super) fn selector_set(&mut self, from: Ipv4Addr, tunnel: TunnelId, spec: Option<SelectorSpec>) {
        let session = SessionKey { end_point: tunnel.to, tunnel_id: tunnel.id, extended: from };
        let Some(spec) = spec else {
            if let Some(known) = self.selectors.get_mut(&session) {
                known.is_wanted = false;
            }
            return self.selector_forget(&session);
        };
        if let Some(known) = self.selectors.get_mut(&session) {
            (known.spec, known.is_wanted) = (spec, true);
            return;
        }
        self.selector_ids = self.selector_ids.wrapping_add(1);
        self.selectors.insert(session, Selector::new(SelectorId(self.selector_ids), spec));
    }

    /// Nobody wants it, and it has no LSP.
    fn selector_forget(&mut self, session: &SessionKey) {
        let is_over = |selector: &Selector| !selector.is_wanted && selector.members.is_empty();
        if self.selectors.get(session).is_some_and(is_over) {
            self.selectors.remove(session);
        }
    }

    /// Is an LSP one of several that carry the same packets, and ends here?
    pub(super) fn is_selected_of(&self, lsp: &Lsp) -> bool {
        let is_wanted = self.selectors.get(&lsp.session).is_some_and(|selector| selector.is_wanted);
        lsp.role() == Role::Egress && is_wanted
    }

    /// What the tables do with the packets of an LSP that ends here, if it is one of several that carry the same: the
    /// write that makes the selector, and where its entry sends them.
    pub(super) fn selector_join(&mut self, lsp: u32, label: Label) -> Option<(TableOp, NextHop)> {
        let state = self.store.get(lsp).filter(|state| self.is_selected_of(state))?;
        let (session, lsp_id, path) = (state.session, state.sender.lsp_id, path_of(state));
        let selector = self.selectors.get_mut(&session)?;
        match selector.members.iter_mut().find(|member| member.lsp == lsp) {
            Some(member) => member.label = label,
            None => {
                selector.members.push(Member { lsp, lsp_id, label, heard: Heard::Unknown });
                selector.working = selector.working.or(Some(lsp));
                if let Some(path) = path {
                    self.services.liveness.watch(Rsvp::ID, path, Pace::default());
                }
            }
        }
        self.select(session, Cause::Come, false);
        let selector = self.selectors.get(&session)?;
        let taken = selector.member(selector.selected).map(|member| member.label);
        Some((TableOp::SelectorSet { selector: selector.id, label: taken }, NextHop::Selected(selector.id)))
    }

    /// An LSP ends: packets of another are taken from now on, if they were those of this one.
    pub(super) fn selector_leave(&mut self, lsp: u32) {
        let Some(state) = self.store.get(lsp) else { return };
        let (session, path) = (state.session, path_of(state));
        let Some(selector) = self.selectors.get_mut(&session) else { return };
        let before = selector.members.len();
        selector.members.retain(|member| member.lsp != lsp);
        if selector.members.len() == before {
            return;
        }
        if selector.working == Some(lsp) {
            if selector.state == SelectorState::Restoring {
                self.counters.faults.step(&mut selector.state, SelectorEvent::Failed);
            }
            // Of several that are left the last has come in its place: the head end has moved.
            let moved = selector.members.last().filter(|_| selector.members.len() > 1);
            selector.working = moved.map(|member| member.lsp);
        }
        if let Some(path) = path {
            self.services.liveness.unwatch(Rsvp::ID, path);
        }
        self.select(session, Cause::Gone, true);
    }

    /// The last LSP that a selector was for has no entry any more: nor has the selector.
    pub(super) fn selector_end(&mut self, session: &SessionKey) {
        let gone = self.selectors.get(session).filter(|selector| selector.members.is_empty());
        if let Some(selector) = gone.map(|selector| selector.id) {
            self.write(vec![TableOp::SelectorRemove { selector }], true, Purpose::Nothing);
        }
        self.selector_forget(session);
    }

    /// BFD says whether the head end is heard by an LSP that ends here.
    pub(super) fn selector_hears(&mut self, lsp: WatchedLsp, is_alive: bool) {
        let WatchedLsp::Rsvp { endpoint, tunnel_id, extended_tunnel_id, lsp_id, .. } = lsp else { return };
        let session = SessionKey { end_point: endpoint, tunnel_id, extended: extended_tunnel_id };
        let members = self.selectors.get_mut(&session).into_iter().flat_map(|one| &mut one.members);
        for member in members.filter(|member| member.lsp_id == lsp_id) {
            member.heard = if is_alive { Heard::Alive } else { Heard::Dead };
        }
        self.select(session, if is_alive { Cause::Heard } else { Cause::Unheard }, true);
    }

    /// The wait to restore is over.
    pub(super) fn selector_timeout(&mut self, id: SelectorId) {
        let found = self.selectors.iter_mut().find(|(_, selector)| selector.id == id);
        let Some((&session, selector)) = found else { return };
        selector.timer = None;
        if selector.state == SelectorState::Restoring {
            self.select(session, Cause::Restored, true);
        }
    }

    /// Selects an LSP, by what is known of them. If it is another than before that is told, and written if
    /// `is_written`.
    fn select(&mut self, session: SessionKey, cause: Cause, is_written: bool) {
        let now = self.now;
        let Some(selector) = self.selectors.get_mut(&session) else { return };
        let (choice, faults) = (selector.choice(cause), &mut self.counters.faults);
        let is_new = choice != selector.selected;
        selector.selected = choice;
        match choice {
            None if selector.state != SelectorState::Idle => {
                faults.step(&mut selector.state, SelectorEvent::Emptied);
                selector.taken = None;
            }
            // The one that is selected may have become the working LSP.
            Some(_) if choice == selector.working && (is_new || selector.state != SelectorState::Working) => {
                faults.step(&mut selector.state, SelectorEvent::SelectedWorking);
            }
            Some(_) if is_new => faults.step(&mut selector.state, SelectorEvent::SelectedOther),
            _ => {}
        }
        match (selector.state, selector.spec.revert_after) {
            (SelectorState::Protecting, Some(wait)) if selector.is_fit(selector.working) => {
                faults.step(&mut selector.state, SelectorEvent::Mended);
                selector.restore_at = now + wait;
            }
            (SelectorState::Restoring, _) if selector.is_fit(selector.working) => {}
            (SelectorState::Restoring, _) => {
                faults.step(&mut selector.state, SelectorEvent::Failed);
                selector.restore_at = Time::MAX;
            }
            _ => selector.restore_at = Time::MAX,
        }
        if let Some(timer) = selector.timer.take() {
            self.wheel.cancel(timer);
        }
        if selector.restore_at < Time::MAX {
            selector.timer = Some(self.wheel.schedule(selector.restore_at, Timer::Selector(selector.id)));
        }
        let Some(member) = selector.member(choice).filter(|_| is_new) else { return };
        let (lsp_id, label, id) = (member.lsp_id, member.label, selector.id);
        let before = selector.taken.replace(lsp_id);
        selector.switches += u64::from(before.is_some());
        selector.since = Some(now);
        let tunnel = TunnelId { to: session.end_point, id: session.tunnel_id };
        let reason = before.map_or("it is the first", |_| cause.words()).into();
        self.event(Event::LspSelected { from: session.extended, tunnel, lsp_id, before, reason });
        if is_written {
            let op = TableOp::SelectorSet { selector: id, label: Some(label) };
            // Two writes of one entry must not overtake each other.
            self.write(vec![op], true, Purpose::Nothing);
        }
    }

    /// Forgets the LSPs: the node restarts.
    pub(super) fn selectors_restart(&mut self) {
        self.selectors.retain(|_, selector| selector.is_wanted);
        for selector in self.selectors.values_mut() {
            *selector = Selector::new(selector.id, selector.spec);
        }
    }
}
