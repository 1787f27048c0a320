//! Label VCs: labels that are channels of ATM links, given on demand, one for each request (RFC 3035, 8).
//!
//! A speaker owns one of these for its neighbours on such links, beside a
//! [`Distribution`](super::distribution::Distribution), which asks for the labels of its own packets. Both ends of an
//! LSP are frames: where it ends here, what the distribution has for the prefix carries packets on.
//!
//! - [`up`](UpVc): what neighbours have asked for, and were given
//! - `down`: what is asked of next hops for them; without VC merge one label for each, with it one for all (8.2, 8.3)
//! - `way`: where a label VC goes on, by the route of its prefix
//! - `writes`: entries of tables, and labels that are free again
//!
//! A label is told when the next hop has given one (ordered control), and when its entry is in force. If the way on is
//! lost, the label stays, and a new way is asked for where the route leads now: those before this router need not know
//! (8.2). As long as there is a route, a next hop that refuses is asked again; only without one it is taken back.

mod down;
#[cfg(test)]
mod tests;
mod up;
mod way;
mod writes;

pub use up::{UpVc, VcState};

use super::distribution::{Attributes, PeerKey, Refusal, Say};
use super::{LabelSpace, Limits, Services, Switching};
use base::plane::Prefix;
use base::{Label, PortId, ProtocolId, Time};
use core::net::Ipv4Addr;
use down::DownVc;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use writes::Writes;

/// How label VCs are made at a node.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The protocol that carries them: it owns their labels.
    pub owner: ProtocolId,
    /// The router, as path vectors name it.
    pub router_id: Ipv4Addr,
    /// Are loops looked for by path vectors (RFC 3035, 11)?
    pub loop_detection: bool,
    /// Routers on a way at most (MAXHOP).
    pub hops_max: u8,
    /// What the node does with cells.
    pub switching: Switching,
    /// Ports on whose links labels are channels.
    pub ports: BTreeSet<PortId>,
}

/// A neighbour on a link of ATM.
#[derive(Clone, Debug)]
struct Link {
    port: PortId,
    /// It was told that there is no label left on this link.
    was_refused: bool,
    /// It was told so for want of labels behind this router, or of the router's own.
    was_refused_beyond: bool,
    /// It has none left: nothing is asked of it until it says that it has (RFC 5036, 3.5.8.1).
    is_exhausted: bool,
}

/// What is asked of the distribution of labels at the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A label for packets to a prefix, by this number.
    Want(Prefix, u32),
    /// It is not needed any more.
    Leave(Prefix, u32),
}

/// Label VCs that end here, to one prefix.
#[derive(Clone, Debug)]
struct Here {
    /// By which the distribution was asked.
    number: u32,
    /// The label that it has given; explicit null if what is below is to be looked at.
    label: Option<Label>,
    users: BTreeSet<u32>,
}

/// Where a label VC goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    /// It ends here.
    Here,
    /// By a label of the next hop.
    Down(u32),
}

/// The label VCs of a node.
#[derive(Debug)]
pub struct LabelVcs {
    settings: Settings,
    links: BTreeMap<PeerKey, Link>,
    ups: BTreeMap<u32, UpVc>,
    downs: BTreeMap<u32, DownVc>,
    here: BTreeMap<Prefix, Here>,
    /// Those whose next hop has refused to go on, and when it is asked again.
    again: BTreeMap<u32, Time>,
    next: u32,
    writes: Writes,
    said: VecDeque<(PeerKey, Say, Option<u32>)>,
    asks: VecDeque<Ask>,
}

impl LabelVcs {
    /// One that knows nothing yet.
    pub fn new(settings: Settings) -> LabelVcs {
        LabelVcs {
            settings,
            links: BTreeMap::new(),
            ups: BTreeMap::new(),
            downs: BTreeMap::new(),
            here: BTreeMap::new(),
            again: BTreeMap::new(),
            next: 0,
            writes: Writes::default(),
            said: VecDeque::new(),
            asks: VecDeque::new(),
        }
    }

    /// All that neighbours have asked for and have not given back, in the order in which they did.
    pub fn ups(&self) -> impl Iterator<Item = &UpVc> {
        self.ups.values()
    }

    /// By which neighbour, port and label one goes on, and how many hops that neighbour says that it is from there;
    /// nothing if it ends here or has no way.
    pub fn onward(&self, up: &UpVc) -> Option<(PeerKey, PortId, Label, Option<u8>)> {
        let Some(Via::Down(down)) = up.via else { return None };
        let down = self.downs.get(&down)?;
        Some((down.key, self.links.get(&down.key)?.port, down.label?, down.hops))
    }

    /// How many labels a next hop has given.
    pub fn given_by(&self, key: PeerKey) -> usize {
        self.downs.values().filter(|down| down.key == key && down.label.is_some()).count()
    }

    /// How many requests wait for an answer of a next hop.
    pub fn asked_of(&self, key: PeerKey) -> usize {
        self.downs.values().filter(|down| down.key == key && down.label.is_none()).count()
    }

    /// Is a neighbour one of a link of ATM?
    pub fn has(&self, key: PeerKey) -> bool {
        self.links.contains_key(&key)
    }

    /// What a neighbour is to be told next; of a request the number that [`LabelVcs::number`] is to be told.
    pub fn poll_say(&mut self) -> Option<(PeerKey, Say, Option<u32>)> {
        self.said.pop_front()
    }

    /// What the distribution of labels is to be asked next.
    pub fn poll_ask(&mut self) -> Option<Ask> {
        self.asks.pop_front()
    }

    /// When a next hop is asked again.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.again.values().min().copied()
    }

    /// Labels are exchanged with a neighbour from now on. The labels of the link are those that both ends can do with.
    pub fn begin(&mut self, services: &mut Services, key: PeerKey, port: PortId, limits: Limits) {
        let LabelSpace::Interface(interface) = space(port) else { return };
        services.labels.limit(interface, limits);
        self.links
            .insert(key, Link { port, was_refused: false, was_refused_beyond: false, is_exhausted: false });
        self.lead_lost(services);
    }

    /// No labels are exchanged any more (RFC 3035, 8.2): what it was given is taken back, what it gave is forgotten.
    pub fn end(&mut self, services: &mut Services, key: PeerKey) {
        if self.links.remove(&key).is_none() {
            return;
        }
        self.said.retain(|(to, ..)| *to != key);
        let of = |up: &&UpVc| up.key == key;
        for id in self.ups.values().filter(of).map(|up| up.id).collect::<Vec<_>>() {
            self.remove(id);
        }
        let gone: Vec<u32> = self.downs.values().filter(|one| one.key == key).map(|one| one.id).collect();
        for down in gone {
            let Some(down) = self.downs.remove(&down) else { continue };
            down.users.iter().for_each(|id| self.lose_way(*id));
        }
        self.lead_lost(services);
    }

    /// The route of a prefix may be another.
    pub fn route_changed(&mut self, services: &Services, prefix: Prefix) {
        let of = |up: &&UpVc| up.prefix == prefix;
        for id in self.ups.values().filter(of).map(|up| up.id).collect::<Vec<_>>() {
            self.lead(services, id);
        }
    }

    /// Asks next hops again that had refused.
    pub fn retry(&mut self, now: Time, services: &Services) {
        let due: Vec<u32> = self.again.extract_if(.., |_, at| *at <= now).map(|(id, _)| id).collect();
        due.into_iter().for_each(|id| self.lead(services, id));
    }

    /// Those without a way may have one now.
    fn lead_lost(&mut self, services: &Services) {
        let lost: Vec<u32> = self.ups.values().filter(|up| up.via.is_none()).map(|up| up.id).collect();
        lost.into_iter().for_each(|id| self.lead(services, id));
    }

    /// The speaker has restarted: all is forgotten, and entries are taken out.
    pub fn restart(&mut self) {
        let all: Vec<u32> = self.ups.keys().copied().collect();
        all.into_iter().for_each(|id| self.remove(id));
        let fresh = LabelVcs::new(self.settings.clone());
        let before = core::mem::replace(self, fresh);
        self.writes = before.writes;
        // Numbers go on, so that an answer to a write of before is about nobody.
        self.next = before.next;
    }

    fn say(&mut self, key: PeerKey, say: Say) {
        self.said.push_back((key, say, None));
    }

    fn new_id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Has a message gone in a circle, or too far (RFC 3035, 8.2 and 11)?
    fn is_loop(&self, attributes: &Attributes) -> bool {
        let settings = &self.settings;
        let is_circle = |path: &Vec<Ipv4Addr>| path.contains(&settings.router_id);
        attributes.hops.is_some_and(|hops| hops > settings.hops_max)
            || settings.loop_detection && attributes.path.as_ref().is_some_and(is_circle)
    }

    fn merges(&self) -> bool {
        self.settings.switching == Switching::MergedCells
    }

    /// Refuses what a neighbour has asked for, or takes back what it was given.
    fn give_up(&mut self, id: u32, why: Refusal) {
        self.lose_way(id);
        let Some(up) = self.ups.get_mut(&id) else { return };
        let (key, prefix, label, number) = (up.key, up.prefix, up.label, up.number);
        if up.state == VcState::Withdrawn {
            return;
        }
        if up.told.is_some() {
            up.step(up::VcStep::Withdraw);
            self.again.remove(&id);
            return self.say(key, Say::Withdraw { prefix, label });
        }
        if let Some(link) = self.links.get_mut(&key) {
            link.was_refused_beyond |= why == Refusal::NoLabels;
        }
        self.say(key, Say::Refuse { request: number, why });
        self.remove(id);
    }
}

/// The labels of a port.
fn space(port: PortId) -> LabelSpace {
    LabelSpace::Interface(super::InterfaceId::of(port))
}
