//! The merge point: a router on the way of a protected LSP, to which others lead it around a failure (RFC 4090, 7).
//!
//! The LSP is one block of state here, with the backups that are merged into it. Its Path goes on as before (7.1.1),
//! its label is the same for all of them, and a Resv goes to each.

use super::super::Rsvp;
use super::super::counters::Discard;
use super::super::faults::Fault;
use super::super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::super::states::{PathEvent, ResvEvent};
use base::Time;
use core::net::{IpAddr, Ipv4Addr};
use wire::rsvp::{Common, Message, Path, ResvTear, RsvpHop, SessionAttribute, class};

/// Backups of one LSP that are kept.
const BACKUPS_MAX: usize = 16;

/// A backup that is merged into an LSP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rsvp) struct Merged {
    /// It has the LSP id of the LSP, and an address of the router that repairs it (RFC 4090, 6.1.1).
    pub sender: SenderKey,
    /// That router: Resvs go there.
    pub plr: Ipv4Addr,
    pub lih: u32,
    pub expires: Time,
}

/// Does a Path ask for protection? One of a backup does not (RFC 4090, 7.1.1).
fn asks(path: &Path) -> bool {
    let flagged =
        path.session_attribute.as_ref().is_some_and(|a| a.flags & SessionAttribute::LOCAL_PROTECTION != 0);
    flagged || path.common.unknown.iter().any(|object| object.class == class::FAST_REROUTE)
}

impl Rsvp {
    /// The protected LSP that a Path of a backup is merged into; nothing if it is none, or leads elsewhere from here.
    fn merges_into(&self, path: &Path, session: &SessionKey, sender: &SenderKey) -> Option<u32> {
        let first = self.store.first(session)?;
        if asks(path)
            || self.links.is_own(sender.address)
            || self.store.find_from(Some(first), sender).is_some()
        {
            return None;
        }
        let index = self.store.chain(Some(first)).find(|index| {
            self.store.get(*index).is_some_and(|lsp| {
                lsp.sender.lsp_id == sender.lsp_id && lsp.role() != Role::Head && lsp.wants_protection()
            })
        })?;
        let lsp = self.store.get(index)?;
        // RFC 4090, 7.1.1: only what goes on along the same route can be merged.
        let rest = |hops: Option<Vec<wire::rsvp::EroHop>>| {
            let hops = hops.unwrap_or_default();
            let own = hops.iter().take_while(|hop| self.links.is_self(&hop.node)).count();
            hops.into_iter().skip(own).collect::<Vec<_>>()
        };
        let come = rest(path.ero.clone());
        (come == rest(lsp.ero.hops()) || come == rest(lsp.ero.outgoing())).then_some(index)
    }

    /// Takes a Path that a router further up sent around a failure. Was it one?
    ///
    /// Its TTL need not be the one that it was sent with (RFC 4090, 7).
    pub(in crate::rsvp) fn merge_path(&mut self, path: &Path) -> bool {
        let keys = SessionKey::of(&path.session).zip(SenderKey::of(&path.sender_template));
        let Some((session, sender)) = keys else { return false };
        let Some(index) = self.merges_into(path, &session, &sender) else { return false };
        let IpAddr::V4(plr) = path.hop.address else { return false };
        let expires = self.now + self.lifetime(path.time_values.refresh_ms);
        let Some(lsp) = self.store.get_mut(index) else { return false };
        let rare = lsp.rare_mut();
        rare.backups.retain(|known| known.expires > self.now);
        let merged = Merged { sender, plr, lih: path.hop.lih, expires };
        let known = rare.backups.iter().position(|known| known.sender == sender);
        match known {
            Some(place) => rare.backups[place] = merged,
            None if rare.backups.len() >= BACKUPS_MAX => {
                self.counters.discard(Discard::Limit);
                return true;
            }
            None => rare.backups.push(merged),
        }
        if rare.is_cut_off {
            // Nothing else refreshes it.
            lsp.path_expires = lsp.path_expires.max(expires);
        }
        // Each Path is answered: nothing else tells the router up there that it has come.
        if self.store.get(index).is_some_and(|lsp| lsp.resv.is_installed()) {
            self.send_resv_around(index);
        }
        self.arm(index);
        true
    }

    /// Sends the Resv of an LSP to the routers that lead it around failures (RFC 4090, 7.2).
    pub(in crate::rsvp) fn send_resv_around(&mut self, index: u32) {
        let now = self.now;
        let Some(lsp) = self.store.get(index) else { return };
        let Some(rare) = lsp.rare.as_ref().filter(|rare| !rare.backups.is_empty()) else { return };
        let backups: Vec<Merged> =
            rare.backups.iter().filter(|merged| merged.expires > now).cloned().collect();
        for merged in backups {
            let Some((Message::Resv(mut resv), _)) = self.build_resv(index, &[index]) else {
                return self.counters.faults.note(Fault::Incomplete);
            };
            resv.hop = RsvpHop { address: IpAddr::V4(self.far_address()), lih: merged.lih };
            resv.resv_confirm = None;
            for filter in resv.flow_descriptors.iter_mut().flat_map(|descriptor| &mut descriptor.filters) {
                filter.filter_spec = merged.sender.to_wire();
            }
            self.send_far(merged.plr, &Message::Resv(resv));
        }
    }

    /// Tells the routers that lead an LSP around failures that its reservation is gone.
    pub(in crate::rsvp) fn send_resv_tear_around(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else { return };
        let Some(style) = lsp.style else { return };
        let Some(rare) = lsp.rare.as_ref().filter(|rare| !rare.backups.is_empty()) else { return };
        let (backups, session) = (rare.backups.clone(), lsp.session.to_wire());
        for merged in backups {
            let tear = ResvTear {
                common: Common::default(),
                session,
                hop: RsvpHop { address: IpAddr::V4(self.far_address()), lih: merged.lih },
                scope: None,
                style,
                filters: vec![merged.sender.to_wire()],
            };
            self.send_far(merged.plr, &Message::ResvTear(tear));
        }
    }

    /// A PathTear of a backup: it is merged no more. What nothing else refreshes goes with it. Was it about one?
    pub(in crate::rsvp) fn unmerge(&mut self, session: &SessionKey, sender: &SenderKey) -> bool {
        let found = self.store.session(session).find(|index| {
            let rare = self.store.get(*index).and_then(|lsp| lsp.rare.as_ref());
            rare.is_some_and(|rare| rare.backups.iter().any(|merged| merged.sender == *sender))
        });
        let Some(index) = found else { return false };
        let Some(rare) = self.store.get_mut(index).and_then(|lsp| lsp.rare.as_mut()) else { return false };
        rare.backups.retain(|merged| merged.sender != *sender);
        // RFC 4090, 7.1.3: downstream learns it when all that was merged is torn down.
        if rare.is_cut_off && rare.backups.is_empty() {
            self.send_path_tear(index);
            self.remove_lsp(index, PathEvent::Torn);
        }
        true
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
