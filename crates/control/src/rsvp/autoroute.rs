//! Tunnels that routes take (RFC 3906): destinations behind the end of a tunnel are reached through it, as long as it
//! has an LSP.
//!
//! Such a tunnel is a group of one next hop in the tables, which puts the label of its LSP on. When the traffic moves
//! to another LSP, the group does; the routes stay.

use super::Rsvp;
use super::lsp::Lsp;
use crate::services::{FIRST_OF_TUNNELS, Route, Source};
use base::Label;
use base::plane::{GroupId, LabelStack, Leg, Member, NextHop, Prefix, TableOp};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// Better than any route of a routing protocol, and not as good as what a user has written down.
const PREFERENCE: u8 = 7;

/// The group of the tunnel that was declared as number `sequence`.
pub(super) const fn group(sequence: u64) -> GroupId {
    GroupId(FIRST_OF_TUNNELS + (sequence % (1 << 27)) as u32)
}

impl Rsvp {
    /// The write by which the group of a tunnel leads along an LSP.
    pub(super) fn lead(&self, sequence: u64, lsp: &Lsp) -> Option<TableOp> {
        let nhlfe = self.nhlfe_of(lsp);
        let (leg, backup) = match nhlfe.next_hop {
            NextHop::Via { port, gateway } => (Leg { labels: nhlfe.push, port, gateway }, None),
            // The group that protects it, with its labels put on here: a group has no group below it.
            NextHop::Group(_) => {
                let (_, members) = self.members_for(lsp)?;
                let member = members.first()?;
                let below = |leg: Leg, swap: Option<Label>| {
                    let own = swap.or_else(|| nhlfe.push.as_slice().last().copied());
                    let own = own.filter(|label| *label != Label::IMPLICIT_NULL);
                    let labels: Vec<Label> =
                        own.into_iter().chain(leg.labels.as_slice().iter().copied()).collect();
                    Some(Leg { labels: LabelStack::new(&labels)?, ..leg })
                };
                let backup = member.backup.and_then(|backup| below(backup.leg, backup.swap));
                (below(member.leg, None)?, backup.map(Into::into))
            }
            _ => return None,
        };
        Some(TableOp::GroupSet { group: group(sequence), members: [Member { leg, backup }].into() })
    }

    /// The write that takes the group of a tunnel out; no route leads there any more.
    pub(super) fn unlead(sequence: u64) -> TableOp {
        TableOp::GroupRemove { group: group(sequence) }
    }

    /// Has routes follow the tunnels that have LSPs, and what lies behind them. Of several tunnels to one router the
    /// one that was declared first is taken.
    pub(super) fn autoroute(&mut self) {
        // Mostly no tunnel is meant: then none is looked at.
        if self.autorouted.is_empty() && self.services.shortcuts.tails().next().is_none() {
            return;
        }
        let mut first: BTreeMap<Ipv4Addr, u64> = BTreeMap::new();
        for index in self.tunnels.indices() {
            let Some(tunnel) = self.tunnels.get(index) else { continue };
            let is_led = tunnel.carried.as_ref().is_some_and(|carried| carried.autoroute);
            if is_led && tunnel.active.is_some() {
                let known = first.entry(tunnel.spec.to).or_insert(tunnel.sequence);
                *known = tunnel.sequence.min(*known);
            }
        }
        let behind = self.services.shortcuts.behind();
        let wanted: BTreeMap<Prefix, u64> =
            behind.filter_map(|(prefix, tail)| Some((prefix, *first.get(&tail)?))).collect();
        let before = core::mem::replace(&mut self.autorouted, wanted.clone());
        let (source, rib) = (Source::Protocol(Rsvp::ID), &mut self.services.rib);
        for prefix in before.keys().filter(|prefix| !wanted.contains_key(prefix)) {
            rib.remove(*prefix, source);
        }
        for (prefix, sequence) in wanted.iter().filter(|(prefix, to)| before.get(prefix) != Some(to)) {
            rib.set(*prefix, Route::direct(source, PREFERENCE, NextHop::Group(group(*sequence))));
        }
    }
}
