//! Which bypass an LSP takes (RFC 4090, 6 and 6.4.2), and what its Resv says of that (4.4).

use super::super::Rsvp;
use super::super::faults::Fault;
use super::super::lsp::{Lsp, Role};
use super::super::outbox::Sending;
use super::super::states::ProtectionEvent;
use super::super::transport::Neighbor;
use super::{Chosen, Protection};
use base::{Label, Rate};
use core::net::Ipv4Addr;
use wire::rsvp::{RroSubobject, SessionAttribute};

/// A bypass that would do for an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rsvp) struct Candidate {
    pub bypass: u32,
    pub swap: Option<Label>,
    pub node: bool,
    pub bandwidth: bool,
    pub committed: Rate,
}

/// What is asked of a backup beside that it leads around the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rsvp) struct Wish {
    /// Around the next router.
    pub node: bool,
    /// With bandwidth.
    pub bandwidth: bool,
    /// How much.
    pub rate: Rate,
}

/// Where a bypass ends, as seen from an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rsvp) enum End {
    /// Not on its way.
    Elsewhere,
    /// At a router on its way that is not known to take a label of the LSP on another port.
    Unlabelled,
    /// At one that does.
    Labelled {
        /// The label, where it is not that of the next hop.
        swap: Option<Label>,
        /// Behind the next router.
        node: bool,
    },
}

/// Does a router that recorded this label take it on every port (RFC 3209, 4.4.1.3)? The nulls and other reserved
/// labels mean the same everywhere (RFC 3032, 2.1).
const fn is_global(flags: u8, label: Label) -> bool {
    flags & RroSubobject::GLOBAL_LABEL != 0 || label.is_reserved()
}

/// Addresses that a Resv recorded, the next hop's first, with the labels behind them that are taken on every port of
/// their router.
pub(in crate::rsvp) fn recorded(rro: &[RroSubobject]) -> Vec<(Ipv4Addr, Option<Label>)> {
    let mut nodes: Vec<(Ipv4Addr, Option<Label>)> = Vec::new();
    for entry in rro {
        match *entry {
            RroSubobject::Ipv4 { address, .. } => nodes.push((address, None)),
            RroSubobject::Unnumbered { router_id, .. } => nodes.push((router_id, None)),
            RroSubobject::Label { flags, c_type: 1, label } => {
                let label = Label::truncate(label);
                if let Some((_, given)) = nodes.last_mut() {
                    *given = Some(label).filter(|label| is_global(flags, *label));
                }
            }
            _ => {}
        }
    }
    nodes
}

/// Does an LSP ask to be led around the next router, and is that not its last? RFC 4090, 6.2: nothing leads around the
/// egress.
pub(super) fn seeks_node(lsp: &Lsp) -> bool {
    let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
    let (node, ..) = lsp.wanted_protection();
    node && recorded(rro).len() != 1
}

/// Has an LSP less protection than it asks for?
pub(super) fn lacks_protection(lsp: &Lsp) -> bool {
    let chosen = lsp.protection().and_then(|protection| protection.chosen);
    let (_, bandwidth, _) = lsp.wanted_protection();
    let lacks =
        chosen.is_none_or(|chosen| (seeks_node(lsp) && !chosen.node) || (bandwidth && !chosen.bandwidth));
    lacks && lsp.wants_protection() && lsp.is_reserved() && !lsp.wants_detour()
}

/// Is what was found just what there is?
pub(in crate::rsvp) fn is_unchanged(before: Option<Chosen>, found: Option<Candidate>) -> bool {
    let known = |Chosen { bypass, swap, node, bandwidth, committed, .. }| Candidate {
        bypass,
        swap,
        node,
        bandwidth,
        committed,
    };
    before.map(known) == found
}

impl Rsvp {
    /// Does a bypass end where an LSP goes on, so that it would serve it if it was up?
    pub(super) fn could_serve(&self, bypass: u32, lsp: &Lsp) -> bool {
        let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
        let hop = lsp.next_hop.map(|hop| hop.address);
        let further = recorded(rro).into_iter().map(|(address, _)| address);
        hop.into_iter().chain(further).any(|address| self.is_at_end(bypass, address))
    }

    /// Where a bypass ends on the recorded way of an LSP whose next hop gave a label. RFC 4090, 6.4.1: the recorded
    /// label of the merge point serves only if that router takes it on every port; a Path through the bypass that asks
    /// for another is not sent.
    pub(in crate::rsvp) fn end_of(
        &self,
        bypass: u32,
        out_label: Label,
        hop: Neighbor,
        way: &[(Ipv4Addr, Option<Label>)],
    ) -> End {
        let is_there = |address: Ipv4Addr| self.is_at_end(bypass, address);
        let known = self.links.get(hop.port).and_then(|link| link.interface.neighbor_id);
        if is_there(hop.address) || known.is_some_and(is_there) {
            let is_next =
                |address: Ipv4Addr| address == hop.address || known == Some(address) || is_there(address);
            let own = Some(out_label).filter(|label| label.is_reserved());
            let mut labels =
                way.iter().filter(|(address, _)| is_next(*address)).filter_map(|(_, label)| *label);
            return match own.or_else(|| labels.next()) {
                Some(label) => {
                    End::Labelled { swap: Some(label).filter(|label| *label != out_label), node: false }
                }
                None => End::Unlabelled,
            };
        }
        let mut further = way.iter().skip(1).filter(|(address, _)| is_there(*address)).peekable();
        if further.peek().is_none() {
            return End::Elsewhere;
        }
        match further.find_map(|(_, label)| *label) {
            Some(label) => End::Labelled { swap: Some(label), node: true },
            None => End::Unlabelled,
        }
    }

    /// Is a bypass up that would serve an LSP if the label of its merge point was known to be good for that?
    pub(super) fn lacks_label(&self, lsp: &Lsp) -> bool {
        let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
        let way = recorded(rro);
        let Some(hop) = lsp.next_hop else { return false };
        let mut all = self.protections.of_port(hop.port);
        all.any(|bypass| {
            let is_elsewhere = self.bypass_leg(bypass).is_some_and(|leg| leg.port != hop.port);
            is_elsewhere && self.end_of(bypass, lsp.out_label, hop, &way) == End::Unlabelled
        })
    }

    /// The best bypass for an LSP, among those that are up.
    pub(super) fn candidate(&self, lsp: &Lsp) -> Option<Candidate> {
        let asks = lsp.is_reserved() && lsp.wants_protection() && !lsp.wants_detour();
        let hop = lsp.next_hop.filter(|_| asks)?;
        let (node, bandwidth, rate) = lsp.wanted_protection();
        let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
        let way = recorded(rro);
        let own = lsp.protection().and_then(|protection| protection.chosen);
        let end = |bypass| self.end_of(bypass, lsp.out_label, hop, &way);
        self.best(hop, Wish { node, bandwidth, rate }, own, end)
    }

    /// The best bypass around a next hop, among those that are up, for who has `own` already and for whom each ends
    /// where `end` says.
    pub(in crate::rsvp) fn best(
        &self,
        hop: Neighbor,
        Wish { node, bandwidth, rate }: Wish,
        own: Option<Chosen>,
        end: impl Fn(u32) -> End,
    ) -> Option<Candidate> {
        let candidate = |bypass: u32| {
            let leg = self.bypass_leg(bypass)?;
            // It would fail together with what it protects.
            if leg.port == hop.port {
                return None;
            }
            let End::Labelled { swap, node: around } = end(bypass) else { return None };
            let guard = self.protections.guards.get(&bypass)?;
            // What this LSP has of it already is not in its own way.
            let mine = own.filter(|own| own.bypass == bypass).map_or(0, |own| own.committed.0);
            let left = self.bypass_rate(bypass).0.saturating_sub(guard.committed.saturating_sub(mine));
            // RFC 4090, 4.4: guaranteed is what was asked for, and what no other LSP can take.
            let guaranteed = bandwidth && rate.0 <= left;
            let committed = if guaranteed { rate } else { Rate(0) };
            Some(Candidate { bypass, swap, node: around, bandwidth: guaranteed, committed })
        };
        // The router first, then the bandwidth (RFC 4090, 6); what does not avoid more than it must; the fewest LSPs.
        let rank = |found: &Candidate| {
            let lsps = self.protections.guards.get(&found.bypass).map_or(0, |guard| guard.lsps);
            let mine = own.is_some_and(|own| own.bypass == found.bypass);
            let serves = (node && found.node, bandwidth && found.bandwidth, !node && !found.node);
            (serves, mine, core::cmp::Reverse(lsps), core::cmp::Reverse(found.bypass))
        };
        self.protections.of_port(hop.port).filter_map(candidate).max_by_key(rank)
    }

    /// Chooses the backup of an LSP anew, and has one made if there is none. Are its entries to be written again?
    pub(in crate::rsvp) fn protect(&mut self, index: u32) -> bool {
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        if lsp.is_diverted() || !lsp.is_reserved() || lsp.role() == Role::Egress {
            return false;
        }
        // What passes as cells has no packets here that could get another label, and a label of a link of cells is
        // good on that link alone.
        if lsp.next_hop.is_some_and(|hop| self.cells_at(hop.port).is_some()) {
            return false;
        }
        let (wants_detour, wants) = (lsp.wants_detour(), lsp.wants_protection());
        if wants_detour {
            // It may have had a bypass.
            let had = self.take(index, None);
            return self.seek_detour(index) || had;
        }
        let had = self.give_detour_up(index);
        let Some(lsp) = self.store.get(index).filter(|_| wants) else { return had };
        let found = self.candidate(lsp);
        let (node, bandwidth, rate) = lsp.wanted_protection();
        let lacks = found.is_none_or(|f| (seeks_node(lsp) && !f.node) || (bandwidth && !f.bandwidth));
        if let Some(hop) = lsp.next_hop.filter(|_| lacks) {
            let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
            let next = recorded(rro).get(1).map(|(address, _)| *address).filter(|_| node);
            self.make_bypass(hop, next, bandwidth.then_some(rate));
        }
        self.take(index, found) || had
    }

    /// Gives an LSP this backup. Is it another one than before?
    pub(super) fn take(&mut self, index: u32, found: Option<Candidate>) -> bool {
        let Some(lsp) = self.store.get(index) else { return false };
        let (before, hop) = (lsp.protection().and_then(|protection| protection.chosen), lsp.next_hop);
        if is_unchanged(before, found) {
            return false;
        }
        let chosen = found.zip(hop).map(|(new, hop)| self.enter(hop, new));
        let event = if chosen.is_some() { ProtectionEvent::Chosen } else { ProtectionEvent::Withdrawn };
        if let Some(lsp) = self.store.get_mut(index) {
            let protection = lsp.rare_mut().protection.get_or_insert(Protection::NONE);
            protection.chosen = chosen;
            self.counters.faults.step(&mut protection.state, event);
        }
        if let Some(old) = before {
            self.let_go(old);
        }
        true
    }

    /// One more takes a bypass: what is kept of its choice.
    pub(in crate::rsvp) fn enter(&mut self, hop: Neighbor, new: Candidate) -> Chosen {
        let Candidate { bypass, swap, node, bandwidth, committed } = new;
        let group = self.enter_group(hop, bypass, swap);
        self.count_user(bypass, true, committed);
        Chosen { hop, bypass, swap, node, bandwidth, committed, group }
    }

    /// An LSP gives its backup up: it goes, or has another next hop. Its entries lead elsewhere from now on.
    pub(in crate::rsvp) fn unprotect(&mut self, index: u32) {
        self.drop_detour(index);
        let Some(lsp) = self.store.get_mut(index) else { return };
        let Some(protection) = lsp.rare.as_mut().and_then(|rare| rare.protection.take()) else { return };
        if let Some(old) = protection.chosen {
            self.let_go(old);
        }
    }

    /// An LSP counts as one of a bypass, or not any more.
    pub(in crate::rsvp) fn count_user(&mut self, bypass: u32, comes: bool, committed: Rate) {
        let now = self.now;
        let Some(guard) = self.protections.guards.get_mut(&bypass) else { return };
        if comes {
            guard.lsps += 1;
            guard.committed = guard.committed.saturating_add(committed.0);
            guard.idle = None;
            return;
        }
        guard.lsps = guard.lsps.saturating_sub(1);
        guard.committed = guard.committed.saturating_sub(committed.0);
        if guard.lsps == 0 {
            guard.idle = Some(now);
            self.sweep_later();
        }
    }

    /// Chooses the backup of an LSP anew, and tells whoever is to know.
    pub(super) fn protect_again(&mut self, index: u32) {
        if !self.protect(index) {
            return;
        }
        self.install(index);
        let is_known = |lsp: &Lsp| lsp.role() != Role::Head && lsp.resv.is_announced();
        if self.store.get(index).is_some_and(is_known) {
            self.send_resv(index, Sending::Trigger);
        }
    }

    /// What the address of this router in a recorded route says of the LSP's protection (RFC 4090, 4.4 and 6).
    pub(in crate::rsvp) fn rro_flags(&self, lsp: &Lsp) -> u8 {
        lsp.protection().map_or(0, |protection| self.flags_of(protection))
    }

    /// The same of a protection.
    pub(in crate::rsvp) fn flags_of(&self, protection: &Protection) -> u8 {
        let by_bypass = protection.chosen.map(|chosen| (chosen.node, chosen.bandwidth));
        let by_detour = protection.detour.map(|taken| (taken.node, self.is_guaranteed(taken)));
        let Some((node, bandwidth)) = by_bypass.or(by_detour) else { return 0 };
        let mut flags = RroSubobject::PROTECTION_AVAILABLE;
        if protection.state.is_diverted() {
            flags |= RroSubobject::PROTECTION_IN_USE;
        }
        if node {
            flags |= RroSubobject::NODE_PROTECTION;
        }
        if bandwidth {
            flags |= RroSubobject::BANDWIDTH_PROTECTION;
        }
        flags
    }
}

/// The flags of SESSION_ATTRIBUTE that ask for protection.
pub(in crate::rsvp) const ASKING: u8 = SessionAttribute::LOCAL_PROTECTION
    | SessionAttribute::NODE_PROTECTION
    | SessionAttribute::BANDWIDTH_PROTECTION;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_one_port_takes_are_not_known() {
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let label = |flags, c_type, label| RroSubobject::Label { flags, c_type, label };
        let read = |label| recorded(&[RroSubobject::address(address), label])[0];
        assert_eq!(read(label(1, 1, 17)), (address, Some(Label::truncate(17))));
        assert_eq!(read(label(0, 1, 17)), (address, None));
        assert_eq!(read(label(0, 1, 3)), (address, Some(Label::IMPLICIT_NULL)));
        assert_eq!(read(label(1, 2, 17)), (address, None), "a generalized label");
    }
}
