//! ResvConf (RFC 4875, 8.2): who asked for it, whom this router asks in turn, and who is told.

use super::around::Around;
use super::shares::Leaves;
use super::tree::{Branch, Sub, Tree, Waiting};
use super::{P2mpKey, TreeKey, keys, template};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::faults::Fault;
use crate::rsvp::lsp::SenderKey;
use crate::rsvp::outbox::{Sending, ipv4};
use crate::rsvp::transport::{Arrival, Delivery};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use wire::rsvp::{Common, Filter, FilterSpec, FlowDescriptor, Message, ResvConf, error_code};

/// What a ResvConf of the previous hop confirms.
#[derive(Clone, Copy)]
pub(super) struct Confirmed<'a> {
    /// The receiver that it is for; absent if that is this router, which confirms to all that asked.
    only: Option<IpAddr>,
    /// The leaves that it names; none if it is about all.
    leaves: &'a BTreeSet<Ipv4Addr>,
    /// It came around a failure, and others may confirm the other leaves of a Resv.
    is_part: bool,
}

impl Confirmed<'_> {
    fn names(&self, leaf: Ipv4Addr) -> bool {
        self.leaves.is_empty() || self.leaves.contains(&leaf)
    }
}

/// Splits who waits for a ResvConf into who is told now, and who goes on waiting.
fn divide(
    waiting: Vec<Waiting>,
    known: &BTreeSet<Ipv4Addr>,
    confirmed: Option<Confirmed<'_>>,
) -> (Vec<IpAddr>, Vec<Waiting>) {
    let (mut told, mut left) = (Vec::new(), Vec::new());
    for mut one in waiting {
        let Some(said) = confirmed else {
            told.push(one.receiver);
            continue;
        };
        one.leaves.retain(|leaf| known.contains(leaf));
        let is_whole = one.leaves.iter().all(|leaf| said.names(*leaf));
        let is_any = one.leaves.iter().any(|leaf| said.names(*leaf));
        let is_told = match said.only {
            Some(only) => only == one.receiver && (is_any || !said.is_part),
            None => is_whole || (is_any && said.is_part),
        };
        if is_told {
            told.push(one.receiver);
        }
        if !is_told {
            left.push(one);
        } else if said.is_part && !is_whole {
            one.leaves.retain(|leaf| !said.names(*leaf));
            left.push(one);
        }
    }
    (told, left)
}

impl Rsvp {
    /// The receiver that a ResvConf for a sub-group is to go to, if any is asked for.
    pub(super) fn p2mp_asked_by(&self, index: u32, sub: &Sub) -> Option<IpAddr> {
        let tree = self.p2mp.trees.get(sub.tree)?;
        let is_leaf = sub.leaves.values().any(|at| at.branch.is_none());
        self.p2mp_receiver(tree, is_leaf, |branch| {
            let reserved = branch.reserved.as_ref().filter(|_| branch.sub == index)?;
            reserved.confirm.last()
        })
    }

    /// The same for leaves that a router leads around a failure to this one.
    pub(super) fn p2mp_asked_around(&self, tree: &Tree, around: &Around) -> Option<IpAddr> {
        let is_here = |sub: &Sub| {
            let mut own = sub.leaves.iter().filter(|(_, at)| at.branch.is_none());
            own.any(|(leaf, _)| around.leaves.contains(leaf))
        };
        let is_leaf = self.p2mp.subs_of(tree).any(is_here);
        self.p2mp_receiver(tree, is_leaf, |branch| {
            let mut asked = branch.reserved.as_ref()?.confirm.iter().rev();
            asked.find(|waiting| !waiting.leaves.is_disjoint(&around.leaves))
        })
    }

    /// RFC 4875, 8.2: who asked, if that is one alone; else, and where this router has given the sub-group its name, it
    /// is this router.
    fn p2mp_receiver<'a>(
        &'a self,
        tree: &'a Tree,
        is_leaf: bool,
        asked: impl Fn(&'a Branch) -> Option<&'a Waiting>,
    ) -> Option<IpAddr> {
        let own = IpAddr::V4(self.config.router_id);
        let mut asking = (is_leaf && self.config.confirm).then_some(own);
        for branch in self.p2mp.branches_of(tree) {
            let Some(waiting) = asked(branch) else { continue };
            let is_kept = self.p2mp.subs.get(branch.sub).is_some_and(|sub| sub.key == branch.key)
                && !self.p2mp_is_diverted(branch.tree, branch.to);
            asking = Some(if asking.is_none() && is_kept { waiting.receiver } else { own });
        }
        asking
    }

    /// Confirms to receivers behind a branch that asked for it (RFC 4875, 8.2): at the root to all; elsewhere as the
    /// previous hop has confirmed.
    pub(super) fn p2mp_confirm(&mut self, index: u32, confirmed: Option<Confirmed<'_>>) {
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        let sub = branch.sub;
        let Some(reserved) = &mut branch.reserved else { return };
        let known: BTreeSet<Ipv4Addr> = reserved.leaves.keys().copied().collect();
        let (told, left) = divide(core::mem::take(&mut reserved.confirm), &known, confirmed);
        reserved.confirm = left;
        let is_named = |leaf: &Ipv4Addr| confirmed.is_none_or(|said| said.names(*leaf));
        let leaves: Vec<Ipv4Addr> = known.into_iter().filter(is_named).collect();
        if told.is_empty() || leaves.is_empty() {
            return;
        }
        if let Some(sub) = self.p2mp.subs.get_mut(sub)
            && sub.asked.iter().filter(|leaf| sub.leaves.contains_key(leaf)).all(is_named)
        {
            sub.confirm = None;
        }
        for to in told.into_iter().filter_map(ipv4) {
            self.p2mp_send_conf(index, to, &leaves);
        }
    }

    /// Sends a ResvConf for leaves of a branch towards its receiver: along the link, or, while that has failed, through
    /// the bypass tunnels, under the names that merge points know (RFC 4090, 6.4.3).
    fn p2mp_send_conf(&mut self, index: u32, to: Ipv4Addr, leaves: &[Ipv4Addr]) {
        let Some(branch) = self.p2mp.branches.get(index) else { return };
        let (sub, hop, key) = (branch.sub, branch.to, branch.key);
        let Some(tree) = self.p2mp.trees.get(branch.tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let sender = tree.key.sender;
        let (is_diverted, ends) = (self.p2mp_is_diverted(branch.tree, hop), (self.config.router_id, to));
        let ttl = self.p2mp.subs.get(sub).map_or(self.config.message_ttl, |sub| sub.ttl);
        if !is_diverted {
            let Some(confirmation) = self.p2mp_build_conf(index, to, template(sender, key), leaves) else {
                return;
            };
            let mut message = Message::ResvConf(confirmation);
            return self.send_end_to_end(hop, ends, ttl, &mut message, Delivery::Plain);
        }
        for (share, known, sender) in self.p2mp_known_around(index) {
            let mine: Vec<Ipv4Addr> =
                leaves.iter().filter(|leaf| share.leaves.has(**leaf)).copied().collect();
            if mine.is_empty() {
                continue;
            }
            let filter = template(sender, known.key);
            if let Some(confirmation) = self.p2mp_build_conf(index, to, filter, &mine) {
                self.send_into_bypass(known.bypass, ends, ttl, Message::ResvConf(confirmation));
            }
        }
    }

    fn p2mp_build_conf(
        &mut self,
        index: u32,
        to: Ipv4Addr,
        filter_spec: FilterSpec,
        leaves: &[Ipv4Addr],
    ) -> Option<ResvConf> {
        let branch = self.p2mp.branches.get(index)?;
        let (tree, reserved) = (self.p2mp.trees.get(branch.tree)?, branch.reserved.as_ref()?);
        let filter = Filter { filter_spec, label: None, rro: None };
        let mut confirmation = ResvConf {
            common: Common::default(),
            session: tree.key.session.to_wire(),
            error_spec: self.error_spec(0, error_code::CONFIRMATION, 0),
            resv_confirm: IpAddr::V4(to),
            style: reserved.style,
            flow_descriptors: vec![FlowDescriptor { flowspec: reserved.flowspec, filters: vec![filter] }],
        };
        if confirmation.common.add_sub_lsps(&Rsvp::p2mp_leaves(leaves)).is_err() {
            self.counters.faults.note(Fault::Incomplete);
        }
        Some(confirmation)
    }

    /// A ResvConf: if it is for this router, whoever asked behind it gets one, and nobody else; else it goes on to
    /// where its receiver asked from (RFC 4875, 8.2).
    pub(in crate::rsvp) fn p2mp_resv_conf(&mut self, arrival: &Arrival, confirmation: &ResvConf) {
        let receiver = confirmation.resv_confirm;
        let session = P2mpKey::of(&confirmation.session);
        let listed = confirmation.common.sub_lsps().unwrap_or_default();
        let Some(named) = Rsvp::p2mp_named(&listed) else { return self.counters.discard(Discard::Malformed) };
        let filters: Vec<_> = confirmation.flow_descriptors.iter().flat_map(|flow| &flow.filters).collect();
        let mut is_known = false;
        for filter in filters {
            // RFC 4875, 8.2: the state is that of SESSION and FILTER_SPEC.
            let said = session.zip(keys(&filter.filter_spec));
            let found = said.and_then(|(session, (sender, key))| {
                let tree = self.p2mp.trees.get(self.p2mp.tree(&TreeKey { session, sender })?)?;
                let is = |&&sub: &&u32| self.p2mp.subs.get(sub).is_some_and(|sub| sub.key == key);
                Some(vec![(*tree.subs.iter().find(is)?, Leaves::All)])
            });
            let around = || said.and_then(|(session, said)| self.p2mp_meant_around(session, said));
            let Some(subs) = found.or_else(around) else { continue };
            is_known = true;
            let is_own = ipv4(receiver).is_some_and(|receiver| self.links.is_own(receiver));
            self.counters.confirmed += u64::from(is_own);
            if arrival.ip.ttl <= 1 && !is_own {
                self.counters.discard(Discard::TtlExpired);
                continue;
            }
            let only = (!is_own).then_some(receiver);
            if let (Some((session, said)), Some((_, Leaves::These(_)))) = (said, subs.first()) {
                self.p2mp_confirmed_around(session, said, &named);
            }
            for (sub, taken) in subs {
                let (leaves, is_part) = match &taken {
                    Leaves::All => (named.clone(), false),
                    Leaves::These(mine) if named.is_empty() => ((**mine).clone(), true),
                    Leaves::These(mine) => (mine.intersection(&named).copied().collect(), true),
                };
                if is_part && leaves.is_empty() {
                    continue;
                }
                for branch in self.p2mp_branches(sub) {
                    self.p2mp_confirm(branch, Some(Confirmed { only, leaves: &leaves, is_part }));
                }
                // Receivers that have come since the previous hop was asked wait for another answer.
                self.p2mp_answer(sub, Sending::Refresh);
            }
        }
        if !is_known {
            self.counters.discard(Discard::NoState);
        }
    }

    /// A router that leads leaves around a failure has confirmed: it may be asked again.
    fn p2mp_confirmed_around(
        &mut self,
        session: P2mpKey,
        said: (SenderKey, super::SubKey),
        named: &BTreeSet<Ipv4Addr>,
    ) {
        for tree in self.p2mp.session(session).collect::<Vec<_>>() {
            let Some(tree) = self.p2mp.trees.get_mut(tree) else { continue };
            for around in tree.around.iter_mut().filter(|around| around.is(said.0, said.1)) {
                if named.is_empty() || around.announced.is_subset(named) {
                    around.confirm = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_several_leaves_is_told_of_each_part_that_comes_around_a_failure() {
        let leaf = |n: u8| Ipv4Addr::new(10, 0, 0, n);
        let set = |all: &[u8]| all.iter().map(|n| leaf(*n)).collect::<BTreeSet<_>>();
        let receiver = IpAddr::V4(leaf(9));
        let (known, part) = (set(&[1, 2]), set(&[1]));
        let waiting = || vec![Waiting { receiver, leaves: known.clone() }];
        for only in [None, Some(receiver)] {
            let said = Confirmed { only, leaves: &part, is_part: true };
            let (told, left) = divide(waiting(), &known, Some(said));
            assert_eq!((told, left), (vec![receiver], vec![Waiting { receiver, leaves: set(&[2]) }]));
        }
        let along = Confirmed { only: None, leaves: &part, is_part: false };
        assert_eq!(divide(waiting(), &known, Some(along)), (Vec::new(), waiting()));
        assert_eq!(divide(waiting(), &known, None), (vec![receiver], Vec::new()));
    }
}
