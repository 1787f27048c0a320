//! Neighbours that restart and go on forwarding (RFC 4724, 4.2): their routes are kept until they have told them again.

use super::Bgp;
use super::session::Restart;
use super::table::{Path, is_labelled, is_of};
use crate::protocol::Context;
use crate::services::sessions::SessionId;
use base::plane::IpPrefix;
use base::{Span, Time};
use wire::bgp::{Capability, Family, Open};

/// How long a neighbour that is back may take to tell its routes again.
const STALE: Span = Span::from_secs(360);
/// The flag that forwarding of a family has gone on (RFC 4724, 3).
pub(super) const FORWARDING: u8 = 0x80;
/// The flag that the speaker has restarted, among the four in front of its time (RFC 4724, 3).
pub(super) const RESTARTED: u8 = 0x8;

/// What an OPEN says of restarts.
pub(super) fn restart_of(open: &Open) -> Option<Restart> {
    // Of several the last one counts.
    open.capabilities.iter().rev().find_map(|capability| {
        let Capability::GracefulRestart { flags, time_s, families } = capability else { return None };
        let known = families
            .iter()
            .filter_map(|&(afi, safi, flags)| Some((Family::of(afi, safi)?, flags & FORWARDING != 0)));
        Some(Restart {
            time: Span::from_secs(i64::from(*time_s)),
            has_restarted: flags & RESTARTED != 0,
            families: known.collect(),
        })
    })
}

impl Bgp {
    /// A neighbour seems to restart: its routes are in force on.
    pub(super) fn keep(&mut self, now: Time, context: &mut Context<'_>, place: usize, restart: &Restart) {
        let is_kept = |prefix: IpPrefix, path: &Path| {
            restart
                .families
                .iter()
                .any(|(of, _)| is_of(*of, prefix) && is_labelled(*of) == path.is_labelled())
        };
        self.peers[place].stale_until = now + restart.time;
        for prefix in self.prefixes_of(place) {
            // RFC 4724, 4.2: what was stale already is not kept once more.
            self.lose_paths(context, place, prefix, |path| path.is_stale || !is_kept(prefix, path));
            if let Some(entry) = self.prefixes.get_mut(prefix) {
                let own = entry.paths.as_mut_slice().iter_mut().filter(|path| path.place() == Some(place));
                for path in own {
                    self.peers[place].stale += 1;
                    path.is_stale = true;
                }
            }
        }
    }

    /// A neighbour's routes are gone.
    pub(super) fn forget(&mut self, context: &mut Context<'_>, place: usize) {
        for prefix in self.prefixes_of(place) {
            self.lose_paths(context, place, prefix, |_| true);
        }
        debug_assert_eq!((self.peers[place].received, self.peers[place].stale), (0, 0));
    }

    /// A neighbour is back: what it has not kept is gone, and for the rest it has a while (RFC 4724, 4.2).
    pub(super) fn resume(&mut self, now: Time, context: &mut Context<'_>, place: usize, id: SessionId) {
        let peer = &mut self.peers[place];
        let found = peer.connections().find(|one| one.session == Some(id));
        let has_kept =
            found.and_then(|one| one.restart.clone()).map(|restart| restart.families).unwrap_or_default();
        peer.stale_until = now + STALE;
        for family in Family::ALL {
            if !has_kept.contains(&(*family, true)) {
                self.drop_stale(context, place, Some(*family));
            }
        }
    }

    /// What a neighbour has told before its restart and not since is gone, of one family or of all.
    pub(super) fn drop_stale(&mut self, context: &mut Context<'_>, place: usize, family: Option<Family>) {
        if self.peers[place].stale == 0 {
            return;
        }
        self.is_watch_due = true;
        for prefix in self.prefixes_of(place) {
            let is_meant = |path: &Path| {
                let is_family =
                    |family: Family| is_of(family, prefix) && is_labelled(family) == path.is_labelled();
                path.is_stale && family.is_none_or(is_family)
            };
            self.lose_paths(context, place, prefix, is_meant);
        }
    }

    /// Prefixes of which a neighbour has told something, in their order.
    fn prefixes_of(&self, place: usize) -> Vec<IpPrefix> {
        let is_its = |path: &Path| path.place() == Some(place);
        self.prefixes.keys_where(|entry| entry.paths.as_slice().iter().any(is_its))
    }

    /// A neighbour's paths to a prefix are gone, as far as they are meant.
    fn lose_paths(
        &mut self,
        context: &mut Context<'_>,
        place: usize,
        prefix: IpPrefix,
        is_meant: impl Fn(&Path) -> bool,
    ) {
        let Some(entry) = self.prefixes.get_mut(prefix) else { return };
        let mut is_any = false;
        for at in (0..entry.paths.as_slice().len()).rev() {
            let path = entry.paths.as_slice()[at];
            if path.place() == Some(place) && is_meant(&path) {
                entry.remove(at, &mut self.sets);
                self.peers[place].received -= 1;
                self.peers[place].stale -= usize::from(path.is_stale);
                is_any = true;
            }
        }
        if is_any {
            self.decide(context, prefix);
        }
    }

    /// A neighbour that is gone has been told nothing.
    pub(super) fn untell(&mut self, context: &mut Context<'_>, place: usize) {
        let is_its = |path: &Path| path.place() == Some(place);
        let mut gone = Vec::new();
        for prefix in self.prefixes.keys_where(|entry| entry.told.as_slice().iter().any(is_its)) {
            let Some(entry) = self.prefixes.get_mut(prefix) else { continue };
            for at in (0..entry.told.as_slice().len()).rev() {
                if is_its(&entry.told.as_slice()[at]) {
                    gone.push(entry.told.remove(at));
                }
            }
            for old in gone.drain(..) {
                self.note_several(place, prefix, &old);
                self.sets.release_path(&old);
                self.peers[place].sent -= 1;
            }
            self.prefixes.tidy(prefix);
            self.tidy_label(context, prefix);
        }
        debug_assert_eq!(self.peers[place].sent, 0);
    }
}
