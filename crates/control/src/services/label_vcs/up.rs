//! Label VCs as neighbours before this router know them.

use super::{LabelVcs, Link, Via, space};
use crate::machine;
use crate::machine::State;
use crate::services::Services;
use crate::services::distribution::{Attributes, Meant, PeerKey, Refusal, Say};
use base::plane::{CircuitTo, Prefix};
use base::{Label, PortId};

machine! {
    /// From the request of a neighbour to the release of its label (RFC 3035, 8).
    machine "A label VC";
    /// What has become of a request.
    pub enum VcState {
        /// The next hop has given no label yet.
        Waiting,
        /// The way on is known, and its entry is being written.
        Writing,
        /// The neighbour has the label.
        Given,
        /// The neighbour has the label, and there is no way on at present.
        Broken,
        /// The label was taken back, and the neighbour has not given it back yet.
        Withdrawn,
        /// It is over.
        Ended,
    }
    /// What happens to a label VC.
    pub enum VcStep {
        /// The way on is known, perhaps another than before.
        Found,
        /// Its entry is in force.
        Written,
        /// The way on is lost.
        Lost,
        /// The label is taken back.
        Withdraw,
        /// The neighbour has given the label or the request back, was refused, or has no session any more.
        End,
    }
    begins { Waiting }
    steps {
        Waiting: Found => Writing, End => Ended;
        Writing: Found => Writing, Written => Given, Lost => Waiting, End => Ended;
        Given: Found | Written => Given, Lost => Broken, Withdraw => Withdrawn, End => Ended;
        Broken: Found => Given, Withdraw => Withdrawn, End => Ended;
        Withdrawn: End => Ended;
    }
}

impl VcState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            VcState::Waiting => "waiting",
            VcState::Writing => "writing",
            VcState::Given => "given",
            VcState::Broken => "broken",
            VcState::Withdrawn => "withdrawn",
            VcState::Ended => "ended",
        }
    }
}

/// A label VC, from the request of the neighbour that packets come from.
#[derive(Clone, Debug)]
pub struct UpVc {
    pub(super) id: u32,
    /// The neighbour.
    pub key: PeerKey,
    /// The port by which its cells come.
    pub port: PortId,
    /// Where they go.
    pub prefix: Prefix,
    /// The neighbour's number for its request.
    pub number: u32,
    /// The label that they come with, told or not.
    pub label: Label,
    /// What has become of the request.
    pub state: VcState,
    /// Hop count and path of the request.
    pub(super) asked: Attributes,
    /// The hop count that was told; zero if it was said to be unknown.
    pub told: Option<u8>,
    pub(super) via: Option<Via>,
    /// Its entry, if it has one.
    pub to: Option<CircuitTo>,
}

impl UpVc {
    /// Takes a step; a machine without that step stays where it is.
    pub(super) fn step(&mut self, step: VcStep) {
        self.state = self.state.next(step).unwrap_or(self.state);
    }
}

impl LabelVcs {
    /// A neighbour asks for a label (RFC 3035, 8.1 to 8.3). Each request gets one of its own.
    pub fn requested(
        &mut self,
        services: &mut Services,
        key: PeerKey,
        prefix: Prefix,
        number: u32,
        attributes: Attributes,
    ) {
        let Some(&Link { port, .. }) = self.links.get(&key) else { return };
        // RFC 5036, A.1.1, LRq.6: a duplicate is dropped.
        if self.ups.values().any(|up| up.key == key && up.number == number) {
            return;
        }
        let refuse = |why| Say::Refuse { request: number, why };
        if self.is_loop(&attributes) {
            return self.say(key, refuse(Refusal::Loop));
        }
        if let Some(why) = self.obstacle(services, prefix, port) {
            return self.say(key, refuse(why));
        }
        let Some(label) = services.labels.allocate(space(port), self.settings.owner) else {
            if let Some(link) = self.links.get_mut(&key) {
                link.was_refused = true;
            }
            return self.say(key, refuse(Refusal::NoLabels));
        };
        let id = self.new_id();
        let up = UpVc {
            id,
            key,
            port,
            prefix,
            number,
            label,
            state: VcState::Waiting,
            asked: attributes,
            told: None,
            via: None,
            to: None,
        };
        self.ups.insert(id, up);
        self.lead(services, id);
    }

    /// A neighbour takes a request back. Was it still without an answer (RFC 5036, A.1.3)?
    pub fn aborted(&mut self, key: PeerKey, prefix: Prefix, number: u32) -> bool {
        let is_it =
            |up: &&UpVc| up.key == key && up.prefix == prefix && up.number == number && up.told.is_none();
        let Some(id) = self.ups.values().find(is_it).map(|up| up.id) else { return false };
        self.remove(id);
        true
    }

    /// A neighbour needs labels no more (RFC 3035, 8.2).
    pub fn released(&mut self, key: PeerKey, meant: Meant) {
        let is_it = |up: &&UpVc| up.key == key && up.told.is_some() && meant.is(up.prefix, up.label);
        for id in self.ups.values().filter(is_it).map(|up| up.id).collect::<Vec<_>>() {
            self.remove(id);
        }
    }

    /// Its way on is known: the entry is written, and the neighbour told how long the way is if it thinks otherwise.
    pub(super) fn found(&mut self, id: u32) {
        let Some((to, hops)) = self.ups.get(&id).and_then(|up| self.onward_of(up)) else { return };
        if hops.is_some_and(|hops| hops > self.settings.hops_max) {
            // RFC 3035, 8.2: too far.
            return self.give_up(id, Refusal::Loop);
        }
        let Some(up) = self.ups.get_mut(&id) else { return };
        let is_other = up.to != Some(to);
        up.to = Some(to);
        let (port, label, is_known) = (up.port, up.label, up.told.is_some());
        up.step(VcStep::Found);
        if is_other {
            self.writes.set(id, port, label, to, !is_known);
        }
        if is_known {
            self.tell(id);
        }
    }

    /// Tells the neighbour the label, or another hop count than before.
    pub(super) fn tell(&mut self, id: u32) {
        let Some(up) = self.ups.get(&id) else { return };
        let Some((_, hops)) = self.onward_of(up) else { return };
        let hops = hops.unwrap_or(0);
        if up.told == Some(hops) {
            return;
        }
        let path = self.path_for(up, hops);
        let request = up.told.is_none().then_some(up.number);
        let (key, prefix, label) = (up.key, up.prefix, up.label);
        let attributes = Attributes { hops: Some(hops), path };
        if let Some(up) = self.ups.get_mut(&id) {
            up.told = Some(hops);
        }
        self.say(key, Say::Map { prefix, label, request, attributes });
    }

    /// RFC 3035, 11.2: who merges says by which routers the way goes, unless it ends here or is shorter than before.
    fn path_for(&self, up: &UpVc, hops: u8) -> Option<Vec<core::net::Ipv4Addr>> {
        let Some(Via::Down(down)) = up.via else { return None };
        let is_shorter = up.told.is_some_and(|told| told != 0 && hops != 0 && hops < told);
        if !self.settings.loop_detection || !self.merges() || is_shorter {
            return None;
        }
        let behind = self.downs.get(&down).and_then(|down| down.path.clone()).unwrap_or_default();
        Some(core::iter::once(self.settings.router_id).chain(behind).collect())
    }

    /// Its way on is lost, or it goes another one from now on.
    pub(super) fn lose_way(&mut self, id: u32) {
        let Some(up) = self.ups.get_mut(&id) else { return };
        let (via, to) = (up.via.take(), up.to.take());
        let (port, label, prefix) = (up.port, up.label, up.prefix);
        if via.is_some() && matches!(up.state, VcState::Writing | VcState::Given) {
            up.step(VcStep::Lost);
        }
        if to.is_some() {
            self.writes.remove(port, label);
        }
        match via {
            Some(Via::Here) => self.leave_here(prefix, id),
            Some(Via::Down(down)) => self.leave_down(down, id),
            None => {}
        }
    }

    /// It is over: its label is free when its entry is gone.
    pub(super) fn remove(&mut self, id: u32) {
        self.lose_way(id);
        self.again.remove(&id);
        if let Some(mut up) = self.ups.remove(&id) {
            up.step(VcStep::End);
            self.writes.free(up.port, up.label);
        }
    }
}
