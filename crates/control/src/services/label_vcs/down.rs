//! Labels that are asked of next hops, and what they answer.

use super::up::VcState;
use super::{Ask, Here, LabelVcs, Via};
use crate::services::Services;
use crate::services::distribution::{Attributes, Mapped, Meant, PeerKey, Refusal, Say, increment};
use base::plane::Prefix;
use base::{Label, Span, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

/// A next hop that has refused to carry on what has a label already is asked again after this: its routes may be others
/// by then. The time is ours (RFC 5036, A.1.10, leaves it open).
const AGAIN: Span = Span::from_secs(2);

/// A label that is asked of a next hop, or that it has given.
#[derive(Clone, Debug)]
pub(super) struct DownVc {
    pub id: u32,
    pub key: PeerKey,
    pub prefix: Prefix,
    /// The number of the request, once it was sent.
    pub number: Option<u32>,
    pub label: Option<Label>,
    /// What the next hop says of the way from it.
    pub hops: Option<u8>,
    pub path: Option<Vec<Ipv4Addr>>,
    /// Those that go on by it: several with VC merge only. None if the request was taken back.
    pub users: BTreeSet<u32>,
}

impl LabelVcs {
    /// The number by which a request was sent.
    pub fn number(&mut self, down: u32, number: u32) {
        if let Some(down) = self.downs.get_mut(&down) {
            down.number = Some(number);
        }
    }

    /// A label VC is to go on by a neighbour.
    pub(super) fn go_by(&mut self, id: u32, key: PeerKey) {
        let Some(up) = self.ups.get(&id) else { return };
        let prefix = up.prefix;
        if self.merges() {
            // RFC 3035, 8.3: one label for all.
            let is_it = |down: &&DownVc| down.key == key && down.prefix == prefix && !down.users.is_empty();
            if let Some(down) = self.downs.values().find(is_it).map(|down| down.id) {
                return self.join(id, down);
            }
        }
        let hops = up.asked.hops.map(increment);
        if hops.is_some_and(|hops| hops > self.settings.hops_max) {
            // RFC 3035, 8.2: it must not be sent.
            return self.give_up(id, Refusal::Loop);
        }
        if self.links.get(&key).is_none_or(|link| link.is_exhausted) {
            return self.give_up(id, Refusal::NoLabels);
        }
        // RFC 3035, 11.1: who does not merge says by which routers the request has come.
        let path = (self.settings.loop_detection && !self.merges()).then(|| {
            let before = up.asked.path.clone().unwrap_or_default();
            core::iter::once(self.settings.router_id).chain(before).collect()
        });
        let down = self.new_id();
        let users = BTreeSet::new();
        let (number, label) = (None, None);
        self.downs
            .insert(down, DownVc { id: down, key, prefix, number, label, hops: None, path: None, users });
        let request = Say::Request { prefix, attributes: Attributes { hops: hops.or(Some(0)), path } };
        self.said.push_back((key, request, Some(down)));
        self.join(id, down);
    }

    fn join(&mut self, id: u32, down: u32) {
        if let (Some(up), Some(down)) = (self.ups.get_mut(&id), self.downs.get_mut(&down)) {
            up.via = Some(Via::Down(down.id));
            down.users.insert(id);
        }
        self.found(id);
    }

    /// A label VC does not go on by this label any more: one that nobody needs is given back (RFC 3035, 8.2).
    pub(super) fn leave_down(&mut self, down: u32, id: u32) {
        let Some(found) = self.downs.get_mut(&down) else { return };
        found.users.remove(&id);
        if !found.users.is_empty() {
            return;
        }
        let (key, prefix) = (found.key, found.prefix);
        match (found.label, found.number) {
            (Some(label), _) => {
                self.downs.remove(&down);
                self.say(key, Say::Release { prefix, label, is_loop: false });
            }
            (None, Some(request)) => self.say(key, Say::Abort { prefix, request }),
            (None, None) => {
                // The request was not sent yet.
                self.downs.remove(&down);
                self.said.retain(|(.., of)| *of != Some(down));
            }
        }
    }

    /// A next hop has given a label, or says that its way is longer or shorter than it was.
    pub fn mapped(&mut self, key: PeerKey, mapped: Mapped) {
        let Mapped { prefix, label, request, attributes } = mapped;
        let is_it = |down: &&super::DownVc| {
            let answers = request.is_some() && down.number == request && down.label.is_none();
            down.key == key && down.prefix == prefix && (answers || down.label == Some(label))
        };
        let is_loop = self.is_loop(&attributes);
        let Some(id) = self.downs.values().find(is_it).map(|down| down.id) else {
            // Nobody has asked: RFC 5036, A.1.2, has it released.
            return self.say(key, Say::Release { prefix, label, is_loop: false });
        };
        let Some(down) = self.downs.get_mut(&id) else { return };
        if down.users.is_empty() || is_loop {
            let users = core::mem::take(&mut down.users);
            self.downs.remove(&id);
            self.say(key, Say::Release { prefix, label, is_loop });
            users.into_iter().for_each(|user| self.fail(user, Refusal::Loop, None));
            return;
        }
        (down.label, down.hops, down.path) = (Some(label), attributes.hops, attributes.path);
        let users: Vec<u32> = down.users.iter().copied().collect();
        users.into_iter().for_each(|user| self.found(user));
    }

    /// A next hop has refused a request.
    pub fn refused(&mut self, now: Time, key: PeerKey, number: u32, why: Refusal) {
        let is_it = |down: &&DownVc| down.key == key && down.number == Some(number) && down.label.is_none();
        let Some(id) = self.downs.values().find(is_it).map(|down| down.id) else { return };
        if let (Refusal::NoLabels, Some(link)) = (why, self.links.get_mut(&key)) {
            link.is_exhausted = true;
        }
        let users = self.downs.remove(&id).map(|down| down.users).unwrap_or_default();
        users.into_iter().for_each(|user| self.fail(user, why, Some(now)));
    }

    /// That a request was taken back is confirmed (RFC 5036, A.1.8).
    pub fn abort_confirmed(&mut self, key: PeerKey, number: u32) {
        self.downs
            .retain(|_, down| !(down.key == key && down.number == Some(number) && down.users.is_empty()));
    }

    /// A next hop takes labels back (RFC 5036, A.1.5). The speaker has released them.
    pub fn withdrawn(&mut self, now: Time, key: PeerKey, meant: Meant) {
        let is_it =
            |down: &&DownVc| down.key == key && down.label.is_some_and(|label| meant.is(down.prefix, label));
        for id in self.downs.values().filter(is_it).map(|down| down.id).collect::<Vec<_>>() {
            let users = self.downs.remove(&id).map(|down| down.users).unwrap_or_default();
            users.into_iter().for_each(|user| self.fail(user, Refusal::NoRoute, Some(now)));
        }
    }

    /// A next hop has labels again (RFC 5036, A.1.12): those before who were refused for want of them may ask again.
    pub fn labels_available(&mut self, key: PeerKey) {
        if let Some(link) = self.links.get_mut(&key) {
            link.is_exhausted = false;
        }
        self.labels_available_beyond();
    }

    /// The next hop does not carry a label VC on. One that has a label already waits for another route, and asks again
    /// meanwhile, if another answer can come.
    fn fail(&mut self, id: u32, why: Refusal, now: Option<Time>) {
        let Some(up) = self.ups.get_mut(&id) else { return };
        let is_known = up.told.is_some() && up.state != VcState::Withdrawn;
        match now.filter(|_| is_known && why != Refusal::NoLabels) {
            Some(now) => {
                self.lose_way(id);
                self.again.insert(id, now + AGAIN);
            }
            None => self.give_up(id, why),
        }
    }

    /// A label VC ends here.
    pub(super) fn go_here(&mut self, id: u32) {
        let Some(up) = self.ups.get_mut(&id) else { return };
        up.via = Some(Via::Here);
        let prefix = up.prefix;
        if !self.here.contains_key(&prefix) {
            let number = self.new_id();
            self.here.insert(prefix, Here { number, label: None, users: BTreeSet::new() });
            self.asks.push_back(Ask::Want(prefix, number));
        }
        if let Some(here) = self.here.get_mut(&prefix) {
            here.users.insert(id);
        }
        self.found(id);
    }

    pub(super) fn leave_here(&mut self, prefix: Prefix, id: u32) {
        let Some(here) = self.here.get_mut(&prefix) else { return };
        here.users.remove(&id);
        if here.users.is_empty() {
            let number = here.number;
            self.here.remove(&prefix);
            self.asks.push_back(Ask::Leave(prefix, number));
        }
    }

    /// The distribution of labels at this node has a label for a prefix.
    pub fn given_here(&mut self, prefix: Prefix, label: Label) {
        let Some(here) = self.here.get_mut(&prefix) else { return };
        // What is below is looked at: RFC 3035, 9, has this label in the shim, too.
        here.label = Some(if label == Label::IMPLICIT_NULL { Label::EXPLICIT_NULL } else { label });
        let users: Vec<u32> = here.users.iter().copied().collect();
        users.into_iter().for_each(|id| self.found(id));
    }

    /// It has none, and why.
    pub fn refused_here(&mut self, number: u32, why: Refusal) {
        let Some(prefix) =
            self.here.iter().find(|(_, here)| here.number == number).map(|(prefix, _)| *prefix)
        else {
            return;
        };
        let users = self.here.remove(&prefix).map(|here| here.users).unwrap_or_default();
        users.into_iter().for_each(|id| self.give_up(id, why));
    }

    /// It takes the label of a prefix back: perhaps it has another one.
    pub fn withdrawn_here(&mut self, services: &Services, prefix: Prefix) {
        let users = self.here.remove(&prefix).map(|here| here.users).unwrap_or_default();
        for id in users {
            self.lose_way(id);
            self.lead(services, id);
        }
    }
}
