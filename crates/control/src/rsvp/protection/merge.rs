//! The merge point: a router on the way of a protected LSP, to which others lead it around a failure (RFC 4090, 7).
//!
//! The LSP is one block of state here, with the backups that are merged into it. Its Path goes on as before (7.1.1),
//! its label is the same for all of them, and a Resv goes to each.

use super::super::Rsvp;
use super::super::counters::Discard;
use super::super::diffserv;
use super::super::error::Problem;
use super::super::faults::Fault;
use super::super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::super::outbox::Sending;
use super::super::states::{PathEvent, ResvEvent};
use super::super::transport::{Arrival, Delivery, Neighbor};
use super::detour_merge::{Merging, Pairs};
use super::is_fast_reroute;
use base::{Rate, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::rsvp::{
    Common, Flowspec, Message, Path, PathErr, ResvTear, RroSubobject, RsvpHop, SenderDescriptor, SenderTspec,
    SessionAttribute, TokenBucket,
};

/// Backups of one LSP that are kept.
pub(in crate::rsvp) const BACKUPS_MAX: usize = 64;

/// A backup that is merged into an LSP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rsvp) struct Merged {
    /// It has the LSP id of the LSP, and an address of the router that repairs it (RFC 4090, 6.1.1).
    pub sender: SenderKey,
    /// That router: Resvs go there, unless it is a detour.
    pub plr: Ipv4Addr,
    /// Of a detour: the neighbour that its Paths come from, to which Resvs go.
    pub from: Option<Neighbor>,
    pub lih: u32,
    pub expires: Time,
    /// Of a detour: which detours it is (RFC 4090, 4.2.1).
    pub pairs: Pairs,
    /// Its traffic as its Path says it: a detour may reserve less than its LSP.
    pub tspec: SenderTspec,
}

/// What has become of a Path that may be one of a backup.
pub(in crate::rsvp) enum Joined {
    /// It is a part of an LSP, or was refused.
    Done,
    /// It is the one that goes on; the detour that this block has been gives way, once the Path has been looked at.
    Over(u32),
    /// It is an LSP like others.
    Alone,
}

/// Does a Path ask for protection? One of a backup does not (RFC 4090, 7.1.1).
pub(in crate::rsvp) fn asks(path: &Path) -> bool {
    let flagged =
        path.session_attribute.as_ref().is_some_and(|a| a.flags & SessionAttribute::LOCAL_PROTECTION != 0);
    flagged || path.common.unknown.iter().any(is_fast_reroute)
}

impl Rsvp {
    /// The LSP that a Path of a backup goes on with along the same route (RFC 4090, 7.1.1): the protected one, else, if
    /// it is a detour, another detour of it. A detour for more bandwidth than that is asked for goes on by itself, so
    /// that it is reserved.
    pub(super) fn joins(&self, path: &Path, first: u32, sender: &SenderKey, detour: bool) -> Option<u32> {
        let rest = |hops: Option<Vec<wire::rsvp::EroHop>>| {
            let hops = hops.unwrap_or_default();
            let own = hops.iter().take_while(|hop| self.links.is_self(&hop.node)).count();
            hops.into_iter().skip(own).collect::<Vec<_>>()
        };
        let come = rest(path.ero.clone());
        let rate = Rate::from_bytes_per_s(path.sender_tspec.0.rate);
        let same = |lsp: &Lsp| {
            let is_enough = !detour || rate <= lsp.requested_rate();
            is_enough && (come == rest(lsp.ero.hops()) || come == rest(lsp.ero.outgoing()))
        };
        let mut found = self.store.chain(Some(first)).filter(|index| {
            self.store.get(*index).is_some_and(|lsp| {
                lsp.sender.lsp_id == sender.lsp_id && lsp.role() != Role::Head && same(lsp)
            })
        });
        let protected = |index: &u32| self.store.get(*index).is_some_and(Lsp::wants_protection);
        let all: Vec<u32> = found.by_ref().collect();
        let other = || {
            let is_detour = |index: &&u32| self.store.get(**index).is_some_and(|lsp| !lsp.pairs().is_empty());
            all.iter().find(is_detour).filter(|_| detour)
        };
        all.iter().find(|index| protected(index)).or_else(other).copied()
    }

    /// Takes a Path that is one with an LSP which goes on from here: sent around a failure, or one of a detour.
    pub(in crate::rsvp) fn merge_path(&mut self, arrival: &Arrival, path: &Path, pairs: &Pairs) -> Joined {
        let keys = SessionKey::of(&path.session).zip(SenderKey::of(&path.sender_template));
        let Some((session, sender)) = keys else { return Joined::Alone };
        let from = (!pairs.is_empty()).then_some(arrival.from);
        let index = match self.merging(path, pairs, (&session, &sender), arrival.from) {
            Merging::Into(index) => index,
            Merging::Refused => {
                self.refuse_detour(arrival, path, Rsvp::UNMERGEABLE);
                self.unmerge_if(&session, &sender, |known| known == Some(arrival.from));
                return Joined::Done;
            }
            Merging::Over(index) => return Joined::Over(index),
            Merging::Alone => {
                if from.is_some() {
                    // It has another route than before, and is one with nothing any more.
                    self.unmerge(&session, &sender, arrival.from);
                }
                return Joined::Alone;
            }
        };
        let IpAddr::V4(plr) = path.hop.address else { return Joined::Alone };
        if let Err(why) = self.check_merged(arrival, path, &session, from.is_none()) {
            self.answer_merged(arrival, path, why, from.is_none().then_some(plr));
            return Joined::Done;
        }
        let expires = self.now + self.lifetime(path.time_values.refresh_ms);
        let (lih, tspec) = (path.hop.lih, path.sender_tspec);
        let merged = Merged { sender, plr, from, lih, expires, pairs: pairs.clone(), tspec };
        let Some(is_new) = self.enter_merged(index, merged) else { return Joined::Done };
        // Around a failure each Path is answered: nothing else tells the router up there that it has come.
        if (is_new || from.is_none()) && self.store.get(index).is_some_and(|lsp| lsp.resv.is_installed()) {
            self.send_resv_around(index, Sending::Trigger);
        }
        if is_new && from.is_some() {
            self.tell_pairs(index);
        }
        self.arm(index);
        Joined::Done
    }

    /// What can be wrong with the Path of a backup: all that can be with one of an LSP, but its way, which is that of
    /// the LSP. Around a failure its TTL need not be the one that it was sent with (RFC 4090, 7).
    fn check_merged(
        &self,
        arrival: &Arrival,
        path: &Path,
        session: &SessionKey,
        is_around: bool,
    ) -> Result<(), Problem> {
        diffserv::check_path(self.config.diffserv.as_ref(), path)?;
        let send_ttl = if is_around { arrival.ip.ttl } else { arrival.send_ttl };
        self.check_sender(&Arrival { send_ttl, ..*arrival }, path)?;
        self.check_limits(path, session, false)
    }

    /// Answers the Path of a backup that is not taken: to the router that repairs, if it has come around a failure.
    fn answer_merged(&mut self, arrival: &Arrival, path: &Path, why: Problem, around: Option<Ipv4Addr>) {
        match (why, around) {
            (Problem::Silent(why), _) => self.counters.discard(why),
            (Problem::Error(..), None) => self.refuse_detour(arrival, path, why),
            (Problem::Error(code, value), Some(plr)) => {
                self.counters.discard(Discard::Refused);
                self.counters.error_sent(code, value);
                let error = PathErr {
                    common: Common::default(),
                    session: path.session,
                    error_spec: self.error_spec(0, code, value),
                    policy_data: Vec::new(),
                    sender: Some(SenderDescriptor::of(path.sender_template)),
                    ero: None,
                };
                self.send_far(plr, &Message::PathErr(error));
            }
        }
    }

    /// Keeps a backup. Does it say anything new? Nothing if there are too many.
    fn enter_merged(&mut self, index: u32, merged: Merged) -> Option<bool> {
        let (now, expires) = (self.now, merged.expires);
        let lsp = self.store.get_mut(index)?;
        let rare = lsp.rare_mut();
        rare.backups.retain(|known| known.expires > now);
        let same = |known: &Merged| known.sender == merged.sender && known.from == merged.from;
        let is_new = match rare.backups.iter().position(same) {
            Some(place) => {
                let known = &mut rare.backups[place];
                let said =
                    (known.lih, &known.pairs, known.tspec) != (merged.lih, &merged.pairs, merged.tspec);
                *known = merged;
                said
            }
            None if rare.backups.len() >= BACKUPS_MAX => {
                self.counters.discard(Discard::Limit);
                return None;
            }
            None => {
                rare.backups.push(merged);
                true
            }
        };
        if rare.is_cut_off {
            // Nothing else refreshes it.
            lsp.path_expires = lsp.path_expires.max(expires);
        }
        Some(is_new)
    }

    /// Sends the Resv of an LSP to the routers that lead it around failures (RFC 4090, 7.2), and to those that its
    /// detours come from.
    pub(in crate::rsvp) fn send_resv_around(&mut self, index: u32, sending: Sending) {
        let now = self.now;
        let Some(lsp) = self.store.get(index) else { return };
        let Some(rare) = lsp.rare.as_ref().filter(|rare| !rare.backups.is_empty()) else { return };
        let backups: Vec<Merged> =
            rare.backups.iter().filter(|merged| merged.expires > now).cloned().collect();
        for merged in backups {
            let Some((Message::Resv(mut resv), _)) = self.build_resv(index, &[index]) else {
                return self.counters.faults.note(Fault::Incomplete);
            };
            resv.hop = self.hop_towards(&merged);
            resv.resv_confirm = None;
            for descriptor in resv.flow_descriptors.iter_mut().filter(|_| merged.from.is_some()) {
                // Nobody is promised more than is reserved from here on.
                let (asked, reserved) = (merged.tspec.0, *descriptor.flowspec.bucket());
                let least = if asked.rate > reserved.rate { reserved } else { asked };
                let max_packet = asked.max_packet.min(reserved.max_packet);
                descriptor.flowspec = Flowspec::ControlledLoad(TokenBucket { max_packet, ..least });
            }
            for filter in resv.flow_descriptors.iter_mut().flat_map(|descriptor| &mut descriptor.filters) {
                filter.filter_spec = merged.sender.to_wire();
                let own = filter.rro.as_mut().and_then(|rro| rro.first_mut());
                if let (Some(RroSubobject::Ipv4 { address, .. }), IpAddr::V4(towards), Some(_)) =
                    (own, resv.hop.address, merged.from)
                {
                    *address = towards;
                }
            }
            match merged.from {
                Some(neighbor) => {
                    // Nothing of the transport stands for it: what is new is acknowledged, and repeated in full.
                    let is_new = sending == Sending::Trigger;
                    let delivery = if is_new { Delivery::Reliable } else { Delivery::Plain };
                    self.send_to_neighbor(neighbor, &mut Message::Resv(resv), delivery);
                }
                None => self.send_far(merged.plr, &Message::Resv(resv)),
            }
        }
    }

    /// RSVP_HOP of what goes to the router that a backup comes from.
    fn hop_towards(&self, merged: &Merged) -> RsvpHop {
        match merged.from {
            Some(neighbor) => self.own_hop(neighbor, merged.lih),
            None => RsvpHop { address: IpAddr::V4(self.far_address()), lih: merged.lih },
        }
    }

    /// Tells the routers that lead an LSP around failures, and those that its detours come from, that its reservation
    /// is gone (RFC 4090, 7.1.3).
    pub(in crate::rsvp) fn send_resv_tear_around(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else { return };
        let Some(style) = lsp.style else { return };
        let Some(rare) = lsp.rare.as_ref().filter(|rare| !rare.backups.is_empty()) else { return };
        let (backups, session) = (rare.backups.clone(), lsp.session.to_wire());
        for merged in backups {
            let tear = ResvTear {
                common: Common::default(),
                session,
                hop: self.hop_towards(&merged),
                scope: None,
                style,
                filters: vec![merged.sender.to_wire()],
            };
            match merged.from {
                Some(neighbor) => {
                    self.send_to_neighbor(neighbor, &mut Message::ResvTear(tear), Delivery::Reliable);
                }
                None => self.send_far(merged.plr, &Message::ResvTear(tear)),
            }
        }
    }

    /// A PathTear of a backup: it is merged no more. What nothing else refreshes goes with it. Was it about one?
    pub(in crate::rsvp) fn unmerge(
        &mut self,
        session: &SessionKey,
        sender: &SenderKey,
        from: Neighbor,
    ) -> bool {
        self.unmerge_if(session, sender, |known| known.is_none_or(|neighbor| neighbor == from))
    }

    /// The same of one whose Paths come from such a neighbour, or around a failure.
    fn unmerge_if(
        &mut self,
        session: &SessionKey,
        sender: &SenderKey,
        from: impl Fn(Option<Neighbor>) -> bool,
    ) -> bool {
        let is_it = |merged: &Merged| merged.sender == *sender && from(merged.from);
        let mut all = self.store.session(session);
        let found = all.find_map(|index| {
            let rare = self.store.get(index)?.rare.as_ref()?;
            Some((index, rare.backups.iter().find(|merged| is_it(merged))?.from))
        });
        drop(all);
        let Some((index, from)) = found else { return false };
        self.unmerge_one(index, sender, from);
        true
    }

    /// The same of one block. Has it gone, too?
    pub(super) fn unmerge_one(&mut self, index: u32, sender: &SenderKey, from: Option<Neighbor>) -> bool {
        let Some(rare) = self.store.get_mut(index).and_then(|lsp| lsp.rare.as_mut()) else { return false };
        rare.backups.retain(|merged| merged.sender != *sender || merged.from != from);
        // RFC 4090, 7.1.3: downstream learns it when all that was merged is torn down.
        if rare.is_cut_off && rare.backups.is_empty() {
            self.send_path_tear(index);
            self.remove_lsp(index, PathEvent::Torn);
            return true;
        }
        if from.is_some() {
            self.tell_pairs(index);
        }
        false
    }

    /// A PathTear of the LSP itself, or its Paths have stopped: does it go on for the sake of what is merged into it?
    pub(in crate::rsvp) fn goes_on_merged(&mut self, index: u32) -> bool {
        let now = self.now;
        let Some(lsp) = self.store.get_mut(index) else { return false };
        let Some(rare) = lsp.rare.as_mut() else { return false };
        rare.backups.retain(|merged| merged.expires > now);
        let Some(last) = rare.backups.iter().map(|merged| merged.expires).max() else { return false };
        rare.is_cut_off = true;
        lsp.path_expires = last;
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Unannounced);
        self.tell_pairs(index);
        self.arm(index);
        true
    }

    /// The previous hop of an LSP can't be reached. A protected one keeps its state, as if it had just been refreshed,
    /// for the time that a router further up needs to lead it around (RFC 4090, 7.2). Does it?
    pub(in crate::rsvp) fn holds(&mut self, index: u32) -> bool {
        let Some(lsp) = self.store.get(index) else { return false };
        if !lsp.wants_protection() || lsp.role() == Role::Head {
            return false;
        }
        let expires = self.now + self.lifetime(lsp.path_period_ms);
        let Some(lsp) = self.store.get_mut(index) else { return false };
        lsp.path_expires = lsp.path_expires.max(expires);
        lsp.rare_mut().is_cut_off = true;
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Unannounced);
        self.arm(index);
        true
    }

    /// A Path has come from the previous hop again.
    pub(in crate::rsvp) fn reconnected(lsp: &mut Lsp) {
        if let Some(rare) = &mut lsp.rare {
            rare.is_cut_off = false;
        }
    }
}
