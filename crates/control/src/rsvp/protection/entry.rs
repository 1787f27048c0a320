//! Entries of protected LSPs: the group of next hops whose backup is a bypass, and the way through the bypass itself.
//!
//! LSPs to the same next hop share one group per bypass where the merge point is that next hop: it knows each LSP by
//! the label that the entry puts on anyway. A merge point further down knows each by a label of its own, so that each
//! has a group; the port's record is one for all of them.

use super::super::Rsvp;
use super::super::lsp::Lsp;
use super::super::tables::Purpose;
use super::super::transport::Neighbor;
use super::{Chosen, GroupKey, Protection};
use crate::services::FIRST_OF_PROTECTION;
use base::Label;
use base::plane::{Backup, GroupId, LabelStack, Leg, Member, NextHop, Nhlfe, TableOp};

impl Rsvp {
    /// The members of a group: the next hop, and the bypass behind it as long as that is up.
    fn guarded(&self, (hop, bypass, swap): GroupKey) -> Box<[Member]> {
        let leg = Leg { labels: LabelStack::EMPTY, port: hop.port, gateway: hop.address.into() };
        let backup = self.bypass_leg(bypass).map(|leg| Backup { leg, swap });
        [Member { leg, backup }].into()
    }

    /// One more LSP takes a bypass: the group that its entries name, which is written first if it is new.
    pub(in crate::rsvp) fn enter_group(
        &mut self,
        hop: Neighbor,
        bypass: u32,
        swap: Option<Label>,
    ) -> GroupId {
        let key = (hop, bypass, swap);
        if let Some((group, users)) = self.protections.groups.get_mut(&key) {
            *users += 1;
            return *group;
        }
        let mut group = GroupId(FIRST_OF_PROTECTION + self.protections.made);
        while self.protections.groups.values().any(|(taken, _)| *taken == group) && self.protections.wrapped {
            self.advance_group();
            group = GroupId(FIRST_OF_PROTECTION + self.protections.made);
        }
        self.advance_group();
        self.protections.groups.insert(key, (group, 1));
        let members = self.guarded(key);
        self.write(vec![TableOp::GroupSet { group, members }], false, Purpose::Nothing);
        group
    }

    fn advance_group(&mut self) {
        self.protections.made += 1;
        if FIRST_OF_PROTECTION.checked_add(self.protections.made).is_none() {
            (self.protections.made, self.protections.wrapped) = (0, true);
        }
    }

    /// An LSP has given its backup up, and its entries have been written again, or go. The group goes behind the last
    /// of them.
    pub(in crate::rsvp) fn let_go(&mut self, old: Chosen) {
        self.count_user(old.bypass, false, old.committed);
        let key = (old.hop, old.bypass, old.swap);
        let Some((group, users)) = self.protections.groups.get_mut(&key) else { return };
        *users -= 1;
        if *users == 0 {
            let group = *group;
            self.protections.groups.remove(&key);
            self.protections.ended.push(group);
        }
    }

    /// Takes the groups out of the tables that no entry names any more, behind the writes of those entries.
    pub(in crate::rsvp) fn end_groups(&mut self) {
        if self.protections.ended.is_empty() {
            return;
        }
        let ended = core::mem::take(&mut self.protections.ended);
        for group in &ended {
            self.services.bindings.forget_group(*group);
        }
        let ops = ended.into_iter().map(|group| TableOp::GroupRemove { group }).collect();
        self.write(ops, true, Purpose::Nothing);
    }

    /// A bypass takes another way, is up or down: its groups say so.
    pub(super) fn rewrite_groups(&mut self, bypass: u32) {
        let of_bypass = self.protections.groups.iter().filter(|((_, own, _), _)| *own == bypass);
        let groups: Vec<(GroupKey, GroupId)> = of_bypass.map(|(key, (group, _))| (*key, *group)).collect();
        let ops: Vec<TableOp> = groups
            .into_iter()
            .map(|(key, group)| TableOp::GroupSet { group, members: self.guarded(key) })
            .collect();
        if !ops.is_empty() {
            self.write(ops, true, Purpose::Nothing);
        }
    }

    /// The members of the group that an entry names, if it names one.
    pub(in crate::rsvp) fn members_for(&self, lsp: &Lsp) -> Option<(GroupId, Box<[Member]>)> {
        let chosen = lsp.protection()?.chosen.filter(|_| !lsp.is_diverted())?;
        Some((chosen.group, self.guarded((chosen.hop, chosen.bypass, chosen.swap))))
    }

    /// The labels and the leg by which a diverted LSP goes on: that by which the merge point knows it, and above it
    /// those of the bypass.
    pub(in crate::rsvp) fn way_around(&self, lsp: &Lsp) -> Option<Leg> {
        let chosen = lsp.protection()?.chosen.filter(|_| lsp.is_diverted())?;
        self.leg_around(&chosen, lsp.out_label)
    }

    /// The same for whoever took this bypass, and whom the next hop knows by a label.
    pub(in crate::rsvp) fn leg_around(&self, chosen: &Chosen, out_label: Label) -> Option<Leg> {
        let leg = self.bypass_leg(chosen.bypass)?;
        let own = chosen.swap.unwrap_or(out_label);
        let own = (own != Label::IMPLICIT_NULL).then_some(own);
        let labels: Vec<Label> = own.into_iter().chain(leg.labels.as_slice().iter().copied()).collect();
        Some(Leg { labels: LabelStack::new(&labels)?, ..leg })
    }

    /// The entry of an LSP whose entry without protection is `plain`.
    pub(in crate::rsvp) fn protected(&self, lsp: &Lsp, plain: Nhlfe) -> Nhlfe {
        if let Some(taken) = lsp.protection().and_then(|protection| protection.detour) {
            // RFC 4090, 6.3.3: the label of the detour stands in the place of that of the LSP.
            return match self.detour_leg(taken).filter(|_| lsp.is_diverted()) {
                Some(Leg { labels, port, gateway }) => {
                    Nhlfe { push: labels, next_hop: NextHop::Via { port, gateway }, ..plain }
                }
                None => plain,
            };
        }
        lsp.protection().map_or(plain, |protection| self.by_bypass(protection, lsp.out_label, plain))
    }

    /// The entry of what a bypass protects, whose entry without it is `plain`, and which the next hop knows by a label.
    pub(in crate::rsvp) fn by_bypass(
        &self,
        protection: &Protection,
        out_label: Label,
        plain: Nhlfe,
    ) -> Nhlfe {
        let Some(chosen) = protection.chosen else { return plain };
        if !protection.state.is_diverted() {
            return Nhlfe { next_hop: NextHop::Group(chosen.group), ..plain };
        }
        match self.leg_around(&chosen, out_label) {
            Some(leg) => {
                let next_hop = NextHop::Via { port: leg.port, gateway: leg.gateway };
                Nhlfe { push: leg.labels, next_hop, ..plain }
            }
            None => Nhlfe { next_hop: NextHop::Discard, ..plain },
        }
    }
}
