//! Labels that neighbours give, take back and give back (RFC 5036, A.1.2, A.1.4 and A.1.5).

use super::loops::Attributes;
use super::requests::RETRY;
use super::{Cause, Distribution, LabelAdvertisement, LabelControl, Peer, PeerKey, Say, Settings};
use crate::services::{Hops, Services};
use base::plane::Prefix;
use base::{Dense, Label, Time};
use std::collections::BTreeSet;

/// The labels that others give, and what may be done with them (RFC 3032, 2.1).
fn is_usable(label: Label) -> bool {
    matches!(label, Label::EXPLICIT_NULL | Label::IMPLICIT_NULL) || !label.is_reserved()
}

/// Which labels are meant: of a prefix or of all, and one label or all.
#[derive(Clone, Copy, Debug)]
pub struct Meant {
    /// The prefix, or all prefixes.
    pub prefix: Option<Prefix>,
    /// The label, or whatever it is.
    pub label: Option<Label>,
}

impl Meant {
    pub(crate) fn is(&self, prefix: Prefix, label: Label) -> bool {
        self.prefix.is_none_or(|of| of == prefix) && self.label.is_none_or(|of| of == label)
    }

    /// The prefixes of those labels that are meant, in their order.
    fn among(&self, labels: &Dense<Prefix, Label>) -> Vec<Prefix> {
        let of = |prefix: Prefix, label: &Label| self.is(prefix, *label).then_some(prefix);
        match self.prefix {
            Some(prefix) => labels.get(&prefix).and_then(|label| of(prefix, label)).into_iter().collect(),
            None => labels.iter().filter_map(|(prefix, label)| of(prefix, label)).collect(),
        }
    }
}

/// A label that a neighbour gives.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The prefix that it is for.
    pub prefix: Prefix,
    /// The label; implicit null where packets are to come without one.
    pub label: Label,
    /// The request that it answers.
    pub request: Option<u32>,
    /// Hop count and path vector.
    pub attributes: Attributes,
}

impl Distribution {
    /// A neighbour has given a label (RFC 5036, A.1.2). Steps as there.
    pub fn mapped(&mut self, now: Time, services: &mut Services, key: PeerKey, mapped: Mapped) {
        let Mapped { prefix, label, request, attributes } = mapped;
        let is_loop = self.is_loop(&attributes);
        let hops = Hops::of(services.rib.next_hops(prefix));
        let is_next = self.is_next(key, hops.as_slice());
        let is_cells = self.peers.get(&key).is_some_and(|peer| peer.is_on(&self.settings.cells));
        let is_kept = self.is_liberal() && !is_cells || is_next;
        let Some(peer) = self.peers.get_mut(&key) else { return };
        // LMp.1, LMp.2
        if peer.asked.get(&prefix).is_some_and(|asked| asked.number.is_some() && asked.number == request) {
            peer.asked.remove(&prefix);
        }
        if !is_usable(label) {
            return self.say(key, Say::Release { prefix, label, is_loop: false });
        }
        let before = peer.given.get(&prefix).copied();
        if is_loop {
            // LMp.4 to LMp.8. A next hop is asked again later: routes may be others then.
            peer.loops += 1;
            if is_next {
                self.retries.insert((key, prefix), now + RETRY);
            }
            let was_it = before == Some(label);
            if was_it {
                peer.forget(prefix);
            }
            self.say(key, Say::Release { prefix, label, is_loop: true });
            if was_it {
                self.update(now, services, prefix, Cause::Lost);
            }
            return;
        }
        // LMp.9 to LMp.10a: a neighbour has one label for a prefix, since ways are merged here.
        if let Some(before) = before.filter(|before| *before != label) {
            // RFC 3478, 3.3: one from before the session is just replaced, as nobody waits for its release.
            let is_stale = peer.stale.contains(&prefix);
            peer.forget(prefix);
            if !is_stale {
                self.say(key, Say::Release { prefix, label: before, is_loop: false });
            }
        }
        let Some(peer) = self.peers.get_mut(&key) else { return };
        if is_kept {
            // LMp.13 to LMp.16
            self.retries.remove(&(key, prefix));
            peer.let_go.remove(&prefix);
            peer.stale.remove(&prefix);
            peer.given.insert(prefix, label);
            match attributes == Attributes::default() {
                true => peer.attributes.remove(&prefix),
                false => peer.attributes.insert(prefix, attributes),
            };
        } else {
            // LMp.13, LMp.32
            peer.forget(prefix);
            peer.let_go.insert(prefix);
            self.say(key, Say::Release { prefix, label, is_loop: false });
        }
        if !is_next && self.follows_next_hops_alone() && !hops.as_slice().is_empty() {
            return;
        }
        self.update_by_hops(now, services, prefix, hops.as_slice(), Cause::Neighbor);
    }

    /// Does nothing follow from a label of a neighbour that is no next hop? With liberal retention and independent
    /// control most labels that come are such, and nothing else waits for anybody here.
    fn follows_next_hops_alone(&self) -> bool {
        let Settings { control, advertise, cells, .. } = &self.settings;
        let is_usual = *control == LabelControl::Independent
            && *advertise == LabelAdvertisement::Unsolicited
            && self.is_liberal()
            && cells.is_empty();
        let waits = |peer: &Peer| peer.on_demand || !peer.requests.is_empty();
        is_usual
            && self.lacking.is_empty()
            && self.stale.is_empty()
            && self.away.is_empty()
            && !self.peers.values().any(waits)
    }

    /// A neighbour takes labels back (RFC 5036, A.1.5). The speaker has released them (LWd.2).
    pub fn withdrawn(&mut self, now: Time, services: &mut Services, key: PeerKey, meant: Meant) {
        let is_ordered = self.settings.control == LabelControl::Ordered;
        let Some(peer) = self.peers.get_mut(&key) else { return };
        let gone = meant.among(&peer.given);
        peer.let_go.retain(|prefix| meant.prefix.is_some_and(|of| of != *prefix));
        for prefix in &gone {
            peer.forget(*prefix);
            // With independent control it is asked again at once (LWd.7), else later, when there may be a label.
            if is_ordered && peer.on_demand {
                self.retries.insert((key, *prefix), now + RETRY);
            }
        }
        gone.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Lost));
    }

    /// A neighbour needs labels no more (RFC 5036, A.1.4), perhaps because it has found a circle.
    pub fn released(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        meant: Meant,
        is_loop: bool,
    ) {
        if !self.peers.contains_key(&key) {
            return;
        }
        // LRl.3 and LRl.4: a release of one label answers one withdrawal of it, if there was any.
        let (mut concerned, is_single) = (BTreeSet::new(), meant.label.is_some());
        for prefix in self.fecs.keys_where(|known| !known.old.is_empty()) {
            let Some(known) = self.fecs.get_mut(&prefix) else { continue };
            let withdrawn = known.old.iter_mut().filter(|(label, _)| meant.is(prefix, *label));
            let mut answered = withdrawn.filter_map(|(_, who)| who.remove(&key).then_some(prefix));
            match is_single {
                true => concerned.extend(answered.next()),
                false => concerned.extend(answered),
            }
        }
        let Some(peer) = self.peers.get_mut(&key) else { return };
        for prefix in meant.among(&peer.sent) {
            // Implicit null may have been given again since: that was not released.
            if is_single && concerned.contains(&prefix) {
                continue;
            }
            concerned.insert(prefix);
            peer.sent.remove(&prefix);
            // What went in a circle is told again when it has another way.
            if !is_loop && !peer.on_demand {
                peer.declined.insert(prefix);
            }
        }
        concerned.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Neighbor));
    }
}
