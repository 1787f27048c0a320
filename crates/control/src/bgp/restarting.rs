//! This router's BGP restarts and goes on forwarding (RFC 4724, 4.1), if the settings say so: its routes and labels in
//! the tables are what they were, and are stale. Neighbours are told so, and tell all their routes again. No route is
//! chosen before those have done so that had a session before the restart, or before time is up.
//!
//! Nothing of what neighbours said outlives the restart: only which destinations had routes, and the labels of this
//! router for destinations, so that these get the same labels again, and who tests LSPs is told what packets go by.

use super::Bgp;
use super::restart::{FORWARDING, RESTARTED};
use super::session::Connection;
use super::table::Entry;
use crate::protocol::Context;
use crate::services::LabelSpace;
use base::plane::IpPrefix;
use base::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use wire::bgp::{Capability, Family};

/// How this router goes on forwarding while BGP restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graceful {
    /// How long neighbours are asked to keep this router's routes: 1 to 4095 s.
    pub time_s: u16,
    /// How long routes are waited for after a restart (Selection_Deferral_Timer).
    pub deferral: Span,
}

/// What has outlived a restart, until routes are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Restarted {
    /// Routes are chosen then at the latest.
    until: Time,
    /// Neighbours, by their place, that have still to tell all routes of a family.
    awaited: BTreeSet<(usize, Family)>,
    /// Are routes of IPv4, and of IPv6, still not chosen?
    deferred: [bool; 2],
    /// Destinations that packets go to by what was known before the restart.
    stale: BTreeSet<IpPrefix>,
}

/// Where the families of a prefix's addresses stand in [`Restarted::deferred`].
const fn version(prefix: IpPrefix) -> usize {
    match prefix {
        IpPrefix::V4(_) => 0,
        IpPrefix::V6(_) => 1,
    }
}

const fn version_of(family: Family) -> usize {
    match family {
        Family::Ipv4 | Family::Ipv4Labelled => 0,
        Family::Ipv6 | Family::Ipv6Labelled => 1,
    }
}

impl Bgp {
    /// What a neighbour is told of restarts (RFC 4724, 3); nothing if this router knows of none.
    pub(super) fn restart_capability(&self, place: usize) -> Option<Capability> {
        if !self.config.keeps_routes {
            return None;
        }
        let Some(graceful) = self.config.graceful else {
            // No family, since this router takes all out as soon as BGP is back; but it helps others, and marks the
            // end of its routes.
            return Some(Capability::GracefulRestart { flags: 0, time_s: 0, families: Vec::new() });
        };
        let peer = &self.peers[place];
        // Who has heard so waits for nothing from this router: that must not end before routes are chosen, since this
        // router may be waiting for the neighbour. A neighbour that comes later has to hear it, too.
        let is_back = self.restarted.is_some() || peer.is_restart_untold;
        // A router that was started has lost its tables; one that has met the neighbour since has kept them.
        let flags = if peer.has_met { FORWARDING } else { 0 };
        let families = peer.config.families.iter().map(|family| {
            let (afi, safi) = family.numbers();
            (afi, safi, flags)
        });
        Some(Capability::GracefulRestart {
            flags: if is_back { RESTARTED } else { 0 },
            time_s: graceful.time_s,
            families: families.collect(),
        })
    }

    /// BGP alone has restarted: what neighbours said is forgotten. What stands in the tables stays if the settings say
    /// so, and else goes.
    pub(super) fn begin_anew(&mut self, now: Time, context: &mut Context<'_>) {
        let fresh = Bgp::new(self.router_id, self.config.clone(), self.random.clone());
        let before = core::mem::replace(self, fresh);
        if self.config.graceful.is_some() {
            self.bound_before = before.all_bound();
        }
        self.is_watch_due = true;
        let is_learnt = |entry: &Entry| entry.best().is_some_and(|best| best.place().is_some());
        let mut stale: BTreeSet<IpPrefix> = before.prefixes.keys_where(is_learnt).into_iter().collect();
        let mut awaited = BTreeSet::new();
        for (place, peer) in before.peers.iter().enumerate() {
            // RFC 4724, 4.1: who does not know of restarts marks no end.
            let connection = peer.established().filter(|one| one.restart.is_some());
            let families = connection.map(|one| one.families.as_slice()).unwrap_or_default();
            awaited.extend(families.iter().map(|family| (place, *family)));
        }
        if let Some(unfinished) = before.restarted {
            stale.extend(unfinished.stale);
            awaited.extend(unfinished.awaited);
        }
        self.labels = before.labels;
        match self.config.graceful {
            Some(graceful) => {
                let until = now + graceful.deferral;
                self.restarted = Some(Restarted { until, awaited, deferred: [true; 2], stale });
                self.keeps_labels = true;
                for (peer, before) in self.peers.iter_mut().zip(&before.peers) {
                    (peer.has_met, peer.is_restart_untold) = (before.has_met, true);
                    // It is watched on.
                    peer.local = before.local;
                }
            }
            None => {
                stale.into_iter().for_each(|prefix| self.take_out(context, prefix));
                for (_, label) in core::mem::take(&mut self.labels) {
                    // One of a destination that was no neighbour's any more has an entry as long as it was told.
                    context.services.label_arriving(Bgp::ID, label, None);
                    context.services.labels.release(LabelSpace::Platform, Bgp::ID, label);
                }
            }
        }
    }

    /// A destination has no route, and no entry with labels.
    fn take_out(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
        self.route(context.services, prefix, None);
        self.route_labelled(context.services, prefix, None);
    }

    /// Is it too early to choose a route to a destination?
    pub(super) fn is_deferred(&self, prefix: IpPrefix) -> bool {
        self.restarted.as_ref().is_some_and(|restarted| restarted.deferred[version(prefix)])
    }

    /// Is this router waiting for the neighbour to tell all its routes?
    pub fn awaits(&self, place: usize) -> bool {
        self.restarted.as_ref().is_some_and(|one| one.awaited.iter().any(|(of, _)| *of == place))
    }

    /// A neighbour has a session: it is waited for if it marks the end of its routes and has not restarted itself.
    /// Which of its families can be told their end at once?
    pub(super) fn met_again(&mut self, place: usize) -> Vec<Family> {
        let Some(connection) = self.peers[place].established() else { return Vec::new() };
        let families = connection.families.clone();
        let marks_end = connection.restart.as_ref().is_some_and(|restart| !restart.has_restarted);
        let Some(restarted) = &mut self.restarted else { return families };
        restarted.awaited.retain(|(of, family)| *of != place || marks_end && families.contains(family));
        families.into_iter().filter(|family| !restarted.deferred[version_of(*family)]).collect()
    }

    /// The session with a neighbour has ended that may have told all its routes: it has to tell them again.
    pub(super) fn lost_again(&mut self, place: usize, connection: &Connection) {
        if let Some(restarted) = self.restarted.as_mut().filter(|_| connection.restart.is_some()) {
            let deferred = restarted.deferred;
            let open = connection.families.iter().filter(|family| deferred[version_of(**family)]);
            restarted.awaited.extend(open.map(|family| (place, *family)));
        }
    }

    /// A neighbour has told all its routes of a family.
    pub(super) fn end_came(&mut self, place: usize, family: Family) {
        if let Some(restarted) = &mut self.restarted {
            restarted.awaited.remove(&(place, family));
        }
    }

    /// A neighbour can't be waited for any longer.
    pub(super) fn await_no_more(&mut self, place: usize) {
        if let Some(restarted) = &mut self.restarted {
            restarted.awaited.retain(|(of, _)| *of != place);
            self.is_watch_due = true;
        }
    }

    /// Chooses routes if all of a family have come that are waited for, or time is up.
    pub(super) fn choose_due(&mut self, now: Time, context: &mut Context<'_>) {
        for at in 0..2 {
            let Some(restarted) = &mut self.restarted else { return };
            let is_awaited = restarted.awaited.iter().any(|(_, family)| version_of(*family) == at);
            if restarted.deferred[at] && (!is_awaited || restarted.until <= now) {
                restarted.deferred[at] = false;
                self.is_watch_due = true;
                self.choose_all(context, at);
            }
        }
        if self.restarted.as_ref().is_some_and(|restarted| restarted.deferred == [false; 2]) {
            self.restarted = None;
        }
    }

    /// Chooses all routes of a version of IP, takes out what is left from before the restart, and has neighbours told.
    fn choose_all(&mut self, context: &mut Context<'_>, at: usize) {
        let known = self.prefixes.keys_where(|_| true).into_iter();
        known.filter(|prefix| version(*prefix) == at).for_each(|prefix| self.decide(context, prefix));
        let stale = self.restarted.as_mut().map(|restarted| {
            restarted.stale.extract_if(.., |prefix| version(*prefix) == at).collect::<Vec<_>>()
        });
        for prefix in stale.unwrap_or_default() {
            if self.prefixes.get(prefix).and_then(Entry::best).is_none() {
                self.take_out(context, prefix);
            }
        }
        for peer in &mut self.peers {
            let families = peer.established().map(|one| one.families.clone()).unwrap_or_default();
            peer.ends_due.extend(families.into_iter().filter(|family| version_of(*family) == at));
        }
    }

    /// Labels from before a restart that nobody was told again are free, once everybody has been told everything.
    pub(super) fn tidy_labels(&mut self, context: &mut Context<'_>) {
        let is_told = self.peers.iter().all(|peer| !peer.is_established() || peer.pending.is_empty());
        if self.keeps_labels && self.restarted.is_none() && is_told {
            self.keeps_labels = false;
            self.bound_before = BTreeMap::new();
            let all: Vec<IpPrefix> = self.labels.keys().copied().collect();
            all.into_iter().for_each(|prefix| self.tidy_label(context, prefix));
        }
    }

    /// When routes are chosen at the latest.
    pub(super) fn deferral_timeout(&self) -> Option<Time> {
        self.restarted.as_ref().map(|restarted| restarted.until)
    }
}
