//! Admission control: bandwidth per link and priority, sharing within a tunnel, preemption (RFC 3209, 2.5 and 4.7.3).

use super::Rsvp;
use super::faults::Fault;
use super::link::{ByPriority, sum};
use super::lsp::{Lsp, SessionKey};
use super::slab::NIL;
use super::store::Store;
use base::{PortId, Rate};
use wire::rsvp::{Flowspec, Style};

/// What the LSPs of the session whose first LSP is `first` hold on a link; those that `keep` refuses are left out.
///
/// FF reservations add up. An SE reservation is one for all its senders: the largest of them counts, once (RFC 3209,
/// 2.5).
pub(super) fn share(
    store: &Store,
    first: Option<u32>,
    port: PortId,
    mut keep: impl FnMut(u32, &Lsp) -> bool,
) -> ByPriority {
    let mut held: ByPriority = [0; 8];
    let mut shared: Option<(u64, usize)> = None;
    for index in store.chain(first) {
        let Some(lsp) = store.get(index) else { continue };
        let on_link = lsp.next_hop.is_some_and(|hop| hop.port == port);
        if !on_link || !lsp.is_reserved() || !keep(index, lsp) {
            continue;
        }
        let rate = lsp.reserved_rate().0;
        if lsp.style == Some(Style::SharedExplicit) {
            let (most, holding) = shared.unwrap_or((0, 7));
            shared = Some((most.max(rate), holding.min(lsp.holding())));
        } else {
            held[lsp.holding()] = held[lsp.holding()].saturating_add(rate);
        }
    }
    if let Some((rate, holding)) = shared {
        held[holding] = held[holding].saturating_add(rate);
    }
    held
}

impl Rsvp {
    /// Could the LSP have its bandwidth on the link that its Path is about to take (RFC 3209, 4.7.3)?
    pub(super) fn is_admissible(
        &self,
        session: &SessionKey,
        port: PortId,
        bandwidth: Rate,
        setup: u8,
    ) -> bool {
        let shared = |_: u32, lsp: &Lsp| lsp.style == Some(Style::SharedExplicit);
        let held = sum(&share(&self.store, self.store.first(session), port, shared));
        let more = bandwidth.0.saturating_sub(held);
        self.links.get(port).is_some_and(|link| more <= link.available(setup))
    }

    /// Notes that bandwidth is refused on a port.
    pub(super) fn note_refusal(&mut self, port: PortId) {
        self.services.bandwidth.refuse(port);
    }

    /// Replaces one share of a link by another, and says what is left of it if anybody wants to know.
    pub(super) fn exchange(&mut self, port: PortId, before: &ByPriority, after: &ByPriority) {
        let Some(link) = self.links.get_mut(port) else { return };
        link.exchange(before, after);
        if self.services.bandwidth.is_watched() {
            self.services
                .bandwidth
                .set(port, core::array::from_fn(|setup| Rate(link.available(setup as u8))));
        }
    }

    /// Reserves, or changes the reservation of, an LSP on its outgoing link. Preempts weaker LSPs if it must.
    /// Nothing has changed if it fails.
    pub(super) fn reserve(&mut self, index: u32, style: Style, flowspec: Flowspec) -> Result<(), Refused> {
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return Err(Refused);
        };
        if lsp.style == Some(style) && lsp.flowspec() == flowspec {
            return Ok(());
        }
        let (session, setup) = (lsp.session, lsp.setup_priority);
        let (old_style, old_flowspec) = (lsp.style, lsp.flowspec());
        let Some(port) = lsp.next_hop.map(|hop| hop.port) else {
            // The egress takes from no link of its own.
            self.set_reservation(index, Some(style), flowspec);
            return Ok(());
        };
        let first = self.store.first(&session);
        let before = share(&self.store, first, port, |_, _| true);
        self.set_reservation(index, Some(style), flowspec);
        let after = share(&self.store, first, port, |_, _| true);
        let more = sum(&after).saturating_sub(sum(&before));
        let free =
            self.links.get(port).map_or(0, |link| link.interface.reservable.0.saturating_sub(link.total()));
        if more > free {
            let victims = self.victims(&session, port, setup, more - free);
            let Some(victims) = victims else {
                self.set_reservation(index, old_style, old_flowspec);
                self.note_refusal(port);
                return Err(Refused);
            };
            for victim in victims {
                self.preempt(victim);
            }
        }
        self.exchange(port, &before, &after);
        // Those who hold nothing need not be looked at when bandwidth is short.
        if self.store.get(index).is_some_and(|lsp| lsp.reserved_rate() > Rate(0)) {
            self.hold(index);
        } else {
            self.unhold(index);
        }
        Ok(())
    }

    /// Gives the bandwidth of an LSP's reservation back.
    pub(super) fn unreserve(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if !lsp.is_reserved() {
            return;
        }
        let session = lsp.session;
        let flowspec = lsp.flowspec();
        let Some(port) = lsp.next_hop.map(|hop| hop.port) else {
            self.set_reservation(index, None, flowspec);
            return;
        };
        self.unhold(index);
        let first = self.store.first(&session);
        let before = share(&self.store, first, port, |_, _| true);
        self.set_reservation(index, None, flowspec);
        let after = share(&self.store, first, port, |_, _| true);
        self.exchange(port, &before, &after);
    }

    /// Changes the priorities of an LSP, and where its bandwidth is accounted for.
    pub(super) fn set_priorities(&mut self, index: u32, setup: u8, holding: u8) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (session, port) = (lsp.session, lsp.next_hop.map(|hop| hop.port));
        let held = port.filter(|_| lsp.is_reserved());
        let first = self.store.first(&session);
        let before = held.map(|port| share(&self.store, first, port, |_, _| true));
        if held.is_some() {
            self.unhold(index);
        }
        if let Some(lsp) = self.store.get_mut(index) {
            (lsp.setup_priority, lsp.holding_priority) = (setup, holding);
        }
        if let (Some(port), Some(before)) = (held, before) {
            let after = share(&self.store, first, port, |_, _| true);
            self.exchange(port, &before, &after);
            if self.store.get(index).is_some_and(|lsp| lsp.reserved_rate() > Rate(0)) {
                self.hold(index);
            }
        }
    }

    fn set_reservation(&mut self, index: u32, style: Option<Style>, flowspec: Flowspec) {
        if let Some(lsp) = self.store.get_mut(index) {
            lsp.style = style;
            if style.is_some() {
                lsp.set_flowspec(flowspec);
            } else if let Some(rare) = &mut lsp.rare {
                rare.flowspec = None;
            }
        }
    }

    /// Which LSPs must go so that `needed` more bandwidth becomes free: weakest first, latest first among equals.
    pub(super) fn victims(
        &self,
        asking: &SessionKey,
        port: PortId,
        setup: u8,
        needed: u64,
    ) -> Option<Vec<u32>> {
        let link = self.links.get(port)?;
        let (mut freed, mut victims) = (0u64, Vec::new());
        for priority in (usize::from(setup) + 1..8).rev() {
            let mut index = link.holders[priority];
            while let Some(lsp) = self.store.get(index) {
                let session = lsp.session;
                if session != *asking && !victims.contains(&index) {
                    // All weaker LSPs of a shared reservation go together: one alone would free nothing.
                    let shared = lsp.style == Some(Style::SharedExplicit);
                    let goes = |i: u32, l: &Lsp| i == index || shared && l.holding() > usize::from(setup);
                    let first = self.store.first(&session);
                    let kept = |victims: &[u32], i: u32| !victims.contains(&i);
                    let before = share(&self.store, first, port, |i, _| kept(&victims, i));
                    let after = share(&self.store, first, port, |i, l| kept(&victims, i) && !goes(i, l));
                    let gain = sum(&before).saturating_sub(sum(&after));
                    if gain > 0 {
                        freed = gain.saturating_add(freed);
                        let group = self.store.session(&session).filter(|&i| {
                            self.store.get(i).is_some_and(|l| {
                                l.is_reserved()
                                    && l.next_hop.is_some_and(|hop| hop.port == port)
                                    && goes(i, l)
                            })
                        });
                        let group: Vec<u32> = group.filter(|i| !victims.contains(i)).collect();
                        victims.extend(group);
                    }
                    if freed >= needed {
                        return Some(victims);
                    }
                }
                index = lsp.link_next;
            }
        }
        None
    }

    /// Puts an LSP in front of the list of those who hold bandwidth at its priority.
    fn hold(&mut self, index: u32) {
        self.unhold(index);
        // An LSP that ends here takes from no link.
        let Some((port, holding)) = self.held_at(index) else { return };
        let Some(link) = self.links.get_mut(port) else {
            return self.counters.faults.note(Fault::NoLink);
        };
        let head = std::mem::replace(&mut link.holders[holding], index);
        if let Some(lsp) = self.store.get_mut(index) {
            (lsp.link_prev, lsp.link_next) = (NIL, head);
        }
        if let Some(next) = self.store.get_mut(head) {
            next.link_prev = index;
        }
    }

    fn unhold(&mut self, index: u32) {
        // An LSP that ends here takes from no link.
        let Some((port, holding)) = self.held_at(index) else { return };
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (prev, next) = (lsp.link_prev, lsp.link_next);
        (lsp.link_prev, lsp.link_next) = (NIL, NIL);
        match self.store.get_mut(prev) {
            Some(prev) => prev.link_next = next,
            None => {
                if let Some(link) = self.links.get_mut(port).filter(|link| link.holders[holding] == index) {
                    link.holders[holding] = next;
                }
            }
        }
        if let Some(next) = self.store.get_mut(next) {
            next.link_prev = prev;
        }
    }

    fn held_at(&self, index: u32) -> Option<(PortId, usize)> {
        let lsp = self.store.get(index)?;
        Some((lsp.next_hop?.port, lsp.holding()))
    }
}

/// The bandwidth is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;
