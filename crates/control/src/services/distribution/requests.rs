//! Labels on demand (RFC 5036, A.1.1, A.1.3, A.1.8 to A.1.13 and A.2.2).

use super::loops::Attributes;
use super::peer::{Asked, Pending};
use super::{Cause, Distribution, PeerKey, Refusal, Say};
use crate::services::Services;
use base::plane::{NextHop, Prefix};
use base::{Span, Time};

/// A request that was refused is made again after this, as long as it is needed ("Request Retry" of RFC 5036, A.1.10,
/// which leaves the time open): as the least time between two attempts at a session.
pub(super) const RETRY: Span = Span::from_secs(15);

impl Distribution {
    /// A neighbour asks for a label (RFC 5036, A.1.1). Steps as there.
    pub fn requested(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        prefix: Prefix,
        number: u32,
        attributes: Attributes,
    ) {
        let refuse = |why| Say::Refuse { request: number, why };
        let hops = services.rib.next_hops(prefix).to_vec();
        let is_next = self.is_next(key, &hops);
        let (is_loop, is_known) = (self.is_loop(&attributes), self.wants(services, prefix, &hops));
        let Some(peer) = self.peers.get_mut(&key) else { return };
        // LRq.1, LRq.3: whoever packets would go back to.
        if is_loop || (is_known && is_next) {
            peer.loops += u64::from(is_loop);
            return self.say(key, refuse(Refusal::Loop));
        }
        // LRq.2, and RFC 5036, 3.5.8.1: there has to be a route to the very prefix.
        if !is_known {
            return self.say(key, refuse(Refusal::NoRoute));
        }
        // LRq.6, LRq.7: a duplicate is dropped.
        if peer.requests.iter().any(|one| one.prefix == prefix && one.number == number) {
            return;
        }
        peer.declined.remove(&prefix);
        peer.requests.push(Pending { prefix, number, attributes });
        self.update(now, services, prefix, Cause::Neighbor);
    }

    /// A neighbour asks for all labels (RFC 5918, 4): it is told those that it may have, and that these are all (RFC
    /// 5919, 5.3).
    pub fn requested_all(&mut self, now: Time, services: &mut Services, key: PeerKey, number: u32) {
        let all: Vec<Prefix> = services.rib.active().map(|(prefix, _)| prefix).collect();
        for prefix in all {
            let hops = services.rib.next_hops(prefix).to_vec();
            // What there is no label for, or what would come back, is nothing that the neighbour may have.
            if self.wants(services, prefix, &hops) && !self.is_next(key, &hops) {
                self.requested(now, services, key, prefix, number, Attributes::default());
            }
        }
        if let Some(peer) = self.peers.get_mut(&key) {
            peer.is_complete = false;
        }
        self.complete();
    }

    /// A neighbour takes a request back. Was it still without an answer, so that this has to be confirmed (RFC 5036,
    /// A.1.3)?
    pub fn aborted(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        prefix: Prefix,
        number: u32,
    ) -> bool {
        let Some(peer) = self.peers.get_mut(&key) else { return false };
        let before = peer.requests.len();
        peer.requests.retain(|one| one.prefix != prefix || one.number != number);
        let was_there = peer.requests.len() < before;
        if was_there {
            // The label that was taken for it may be free. This router asks for itself, too, so that it goes on asking.
            self.update(now, services, prefix, Cause::Neighbor);
        }
        was_there
    }

    /// The number by which a request was sent.
    pub fn number_request(&mut self, key: PeerKey, prefix: Prefix, number: u32) {
        if let Some(asked) = self.peers.get_mut(&key).and_then(|peer| peer.asked.get_mut(&prefix)) {
            asked.number = Some(number);
        }
    }

    /// A request was refused (RFC 5036, A.1.9 to A.1.11). A notification about no request of this router says nothing.
    pub fn refused(&mut self, now: Time, key: PeerKey, number: u32, why: Refusal) {
        let Some(peer) = self.peers.get_mut(&key) else { return };
        let of = peer.asked.iter().find(|(_, asked)| asked.number == Some(number));
        let Some(prefix) = of.map(|(prefix, _)| *prefix) else { return };
        peer.asked.remove(&prefix);
        match why {
            Refusal::NoLabels => {
                peer.postponed.get_or_insert_default().insert(prefix);
            }
            Refusal::NoRoute | Refusal::Loop => {
                self.retries.insert((key, prefix), now + RETRY);
            }
        }
    }

    /// That a request was taken back is confirmed (RFC 5036, A.1.8). If it is needed again, it is made again.
    pub fn abort_confirmed(&mut self, now: Time, services: &mut Services, key: PeerKey, number: u32) {
        let Some(peer) = self.peers.get_mut(&key) else { return };
        let of = peer.asked.iter().find(|(_, asked)| asked.is_aborted && asked.number == Some(number));
        let Some(prefix) = of.map(|(prefix, _)| *prefix) else { return };
        peer.asked.remove(&prefix);
        self.update(now, services, prefix, Cause::Route);
    }

    /// A neighbour has labels again (RFC 5036, A.1.12).
    pub fn labels_available(&mut self, now: Time, services: &mut Services, key: PeerKey) {
        let Some(postponed) = self.peers.get_mut(&key).and_then(|peer| peer.postponed.take()) else { return };
        postponed.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Retry));
    }

    /// Makes requests again that are due.
    pub fn retry(&mut self, now: Time, services: &mut Services) {
        self.end_rests(now, services);
        let due = self.retries.extract_if(.., |_, at| *at <= now).map(|((_, prefix), _)| prefix);
        let due: Vec<Prefix> = due.collect();
        due.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Retry));
    }

    /// Asks the next hops of a prefix for a label as far as they have given none and are to be asked (RFC 5036, A.1.6
    /// FEC.4, A.1.7 NH.13 to NH.15, A.2.2).
    pub(super) fn ask(&mut self, prefix: Prefix, hops: &[NextHop], cause: Cause) {
        let is_liberal = self.is_liberal();
        if is_liberal && cause != Cause::Retry && !self.peers.values().any(|peer| peer.on_demand) {
            return;
        }
        let waiting = self.peers.values().flat_map(|peer| &peer.requests).find(|one| one.prefix == prefix);
        let attributes = self.request_attributes(waiting.map(|one| &one.attributes));
        for key in self.next_peers(hops) {
            let Some(peer) = self.peers.get_mut(&key) else { continue };
            // What was put off waits for its time, unless the route has changed.
            let is_put_off = self.retries.contains_key(&(key, prefix)) && cause != Cause::Route;
            if peer.given.contains(&prefix) || peer.asked.contains_key(&prefix) || is_put_off {
                continue;
            }
            let is_new = cause == Cause::Route || (cause == Cause::Neighbor && peer.let_go.contains(&prefix));
            if !(peer.on_demand || cause == Cause::Retry || (!is_liberal && is_new)) {
                continue;
            }
            if let Some(postponed) = &mut peer.postponed {
                postponed.insert(prefix);
                continue;
            }
            peer.let_go.remove(&prefix);
            self.retries.remove(&(key, prefix));
            peer.asked.insert(prefix, Asked::default());
            // RFC 3035, 8.1 and 11.1: here begins the way through cells of all packets to the prefix.
            let attributes = match peer.is_on(&self.settings.cells) {
                true => Attributes {
                    hops: Some(1),
                    path: self.settings.loop_detection.then(|| vec![self.settings.router_id]),
                },
                false => attributes.clone(),
            };
            self.said.push_back((key, Say::Request { prefix, attributes }));
        }
    }

    /// With conservative retention, gives back the labels of who is no next hop, and takes requests to them back (RFC
    /// 5036, A.1.7 NH.3 to NH.9).
    pub(super) fn tidy(&mut self, prefix: Prefix, hops: &[NextHop]) {
        let is_liberal = self.is_liberal();
        if is_liberal && self.settings.cells.is_empty() {
            return;
        }
        let (next, cells) = (self.next_peers(hops), &self.settings.cells);
        let is_concerned = |peer: &super::Peer| !is_liberal || peer.is_on(cells);
        for (key, peer) in self.peers.iter_mut().filter(|(key, _)| !next.contains(key)) {
            if !is_concerned(peer) {
                continue;
            }
            if let Some(label) = peer.forget(prefix) {
                peer.let_go.insert(prefix);
                self.said.push_back((*key, Say::Release { prefix, label, is_loop: false }));
            }
            if let Some(asked) = peer.asked.get_mut(&prefix).filter(|asked| !asked.is_aborted)
                && let Some(request) = asked.number
            {
                asked.is_aborted = true;
                self.said.push_back((*key, Say::Abort { prefix, request }));
            }
            self.retries.remove(&(*key, prefix));
        }
    }

    /// Refuses whoever waits for a label of a prefix.
    pub(super) fn refuse_all(&mut self, prefix: Prefix, why: Refusal) {
        for (key, peer) in &mut self.peers {
            for one in peer.requests.extract_if(.., |one| one.prefix == prefix) {
                peer.was_refused |= why == Refusal::NoLabels;
                self.said.push_back((*key, Say::Refuse { request: one.number, why }));
            }
        }
    }
}
