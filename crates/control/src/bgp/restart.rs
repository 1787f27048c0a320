//! Neighbours that restart and go on forwarding (RFC 4724, 4.2): their routes are kept until they have told them again.
//! This router itself forwards nothing while it restarts, and says so.

use super::Bgp;
use super::routes::family_of;
use super::session::Restart;
use crate::protocol::Context;
use crate::services::sessions::SessionId;
use base::plane::IpPrefix;
use base::{Span, Time};
use std::collections::BTreeSet;
use wire::bgp::{Capability, Family, Open};

/// How long a neighbour that is back may take to tell its routes again.
const STALE: Span = Span::from_secs(360);
/// The flag that forwarding of a family has gone on (RFC 4724, 3).
const FORWARDING: u8 = 0x80;

/// What an OPEN says of restarts.
pub(super) fn restart_of(open: &Open) -> Option<Restart> {
    open.capabilities.iter().find_map(|capability| {
        let Capability::GracefulRestart { time_s, families, .. } = capability else { return None };
        let known = families
            .iter()
            .filter_map(|&(afi, safi, flags)| Some((Family::of(afi, safi)?, flags & FORWARDING != 0)));
        Some(Restart { time: Span::from_secs(i64::from(*time_s)), families: known.collect() })
    })
}

impl Bgp {
    /// A neighbour seems to restart: its routes are in force on.
    pub(super) fn keep(&mut self, now: Time, context: &mut Context<'_>, place: usize, restart: &Restart) {
        let peer = &mut self.peers[place];
        let is_kept = |prefix: &IpPrefix| restart.families.iter().any(|(of, _)| *of == family_of(*prefix));
        let (kept, lost): (BTreeSet<IpPrefix>, BTreeSet<IpPrefix>) = peer.received.keys().partition(is_kept);
        (peer.stale, peer.stale_until) = (kept, now + restart.time);
        for prefix in lost {
            self.peers[place].received.remove(&prefix);
            self.decide(context, prefix);
        }
    }

    /// A neighbour's routes are gone.
    pub(super) fn forget(&mut self, context: &mut Context<'_>, place: usize) {
        let peer = &mut self.peers[place];
        peer.stale = BTreeSet::new();
        let lost = core::mem::take(&mut peer.received);
        lost.keys().for_each(|prefix| self.decide(context, prefix));
    }

    /// A neighbour is back: what it has not kept is gone, and for the rest it has a while (RFC 4724, 4.2).
    pub(super) fn resume(&mut self, now: Time, context: &mut Context<'_>, place: usize, id: SessionId) {
        let peer = &mut self.peers[place];
        let found = peer.connections().find(|one| one.session == Some(id));
        let has_kept =
            found.and_then(|one| one.restart.clone()).map(|restart| restart.families).unwrap_or_default();
        peer.stale_until = now + STALE;
        for family in [Family::Ipv4, Family::Ipv6] {
            if !has_kept.contains(&(family, true)) {
                self.drop_stale(context, place, Some(family));
            }
        }
    }

    /// What a neighbour has told before its restart and not since is gone, of one family or of all.
    pub(super) fn drop_stale(&mut self, context: &mut Context<'_>, place: usize, family: Option<Family>) {
        let stale = core::mem::take(&mut self.peers[place].stale);
        let is_meant = |prefix: &IpPrefix| family.is_none_or(|family| family == family_of(*prefix));
        let (gone, left): (BTreeSet<IpPrefix>, BTreeSet<IpPrefix>) = stale.into_iter().partition(is_meant);
        self.peers[place].stale = left;
        for prefix in gone {
            self.peers[place].received.remove(&prefix);
            self.decide(context, prefix);
        }
    }
}
