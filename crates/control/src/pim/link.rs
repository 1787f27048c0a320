//! Who speaks PIM on a link: neighbours, what they agree on, and the designated router (RFC 7761, 4.3).

use super::section::PimSpec;
use base::random::{Rng, Stream};
use base::{Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use wire::pim::{FOREVER, Hello, HelloOption};

/// A router that is new on a link is answered within so long (RFC 7761, 4.11: Triggered_Hello_Delay).
const TRIGGERED_HELLO_DELAY: Span = Span::from_secs(5);
/// A neighbour that does not say how long it stays is kept for so long (RFC 7761, 4.11: Default_Hello_Holdtime).
const DEFAULT_HOLDTIME_S: u16 = 105;
/// The delays of a link on which not all routers say theirs (RFC 7761, 4.11).
const PROPAGATION_DELAY: Span = Span::from_ms(500);
const OVERRIDE_INTERVAL: Span = Span::from_ms(2_500);

/// A router on a link that has said that it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Neighbor {
    /// When it is gone unless it is heard again; never if nothing stands here.
    pub expires: Option<Time>,
    pub generation_id: Option<u32>,
    pub dr_priority: Option<u32>,
    /// Whether it tracks joins, and its delays: propagation and override.
    pub delay: Option<(bool, Span, Span)>,
    /// Its further addresses on the link.
    pub addresses: Vec<Ipv4Addr>,
}

/// What a Hello has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing but times and options.
    Known,
    /// The router was not known.
    New,
    /// It has begun anew.
    Restarted,
    /// It is gone.
    Gone,
    /// It was not known, and says that it goes.
    Nothing,
}

/// A link of the router.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The router's own address there, the source of what it sends.
    pub own: Ipv4Addr,
    /// Its further addresses there.
    pub addresses: Vec<Ipv4Addr>,
    /// Can it be used?
    pub up: bool,
    /// Joins at most two routers.
    pub is_point_to_point: bool,
    pub generation_id: u32,
    /// When the next Hello is sent, by the period.
    pub hello: Option<Time>,
    /// When a Hello is sent to answer one that is new.
    pub triggered: Option<Time>,
    /// Has a Hello been sent since the link came up?
    pub said: bool,
    pub neighbors: BTreeMap<Ipv4Addr, Neighbor>,
    /// The designated router, as the user was told.
    pub dr: Option<Ipv4Addr>,
}

impl Link {
    /// A link that is not up yet.
    pub(super) fn new(own: Ipv4Addr, addresses: Vec<Ipv4Addr>, is_point_to_point: bool) -> Link {
        Link {
            own,
            addresses,
            up: false,
            is_point_to_point,
            generation_id: 0,
            hello: None,
            triggered: None,
            said: false,
            neighbors: BTreeMap::new(),
            dr: None,
        }
    }

    /// The link can be used: the router begins there anew.
    pub(super) fn begin(&mut self, now: Time, random: &mut Stream) {
        self.lose();
        self.up = true;
        self.generation_id = random.next_u32();
        // RFC 7761, 4.3.1: so that routers which start together do not speak together.
        self.hello = Some(now + below(random, TRIGGERED_HELLO_DELAY));
    }

    /// The link can't be used any more.
    pub(super) fn lose(&mut self) {
        (self.up, self.said, self.hello, self.triggered, self.dr) = (false, false, None, None, None);
        self.neighbors.clear();
    }

    /// The own Hello.
    pub(super) fn hello(&self, spec: &PimSpec) -> Hello {
        let ms = |span: Span| u16::try_from(span.0 / 1_000_000_000).unwrap_or(u16::MAX);
        let (propagation_ms, override_ms) = (ms(spec.propagation_delay), ms(spec.override_interval));
        let tracking = !spec.join_suppression;
        let mut options = vec![
            HelloOption::Holdtime(spec.hello_holdtime_s()),
            HelloOption::LanPruneDelay { tracking, propagation_ms, override_ms },
            HelloOption::DrPriority(spec.dr_priority),
            HelloOption::GenerationId(self.generation_id),
        ];
        if !self.addresses.is_empty() {
            // RFC 7761, 4.3.4: without the primary address.
            options.push(HelloOption::AddressList(self.addresses.iter().map(|one| (*one).into()).collect()));
        }
        Hello { options }
    }

    /// Takes the Hello of a router.
    pub(super) fn hear(&mut self, now: Time, random: &mut Stream, from: Ipv4Addr, hello: &Hello) -> Heard {
        let holdtime_s = hello.holdtime_s().unwrap_or(DEFAULT_HOLDTIME_S);
        if holdtime_s == 0 {
            return if self.neighbors.remove(&from).is_some() { Heard::Gone } else { Heard::Nothing };
        }
        let span = |ms: u16| Span::from_ms(ms.into());
        let v4 = |address: &IpAddr| match address {
            IpAddr::V4(address) => Some(*address).filter(|address| *address != from),
            IpAddr::V6(_) => None,
        };
        let neighbor = Neighbor {
            expires: (holdtime_s != FOREVER).then(|| now + Span::from_secs(holdtime_s.into())),
            generation_id: hello.generation_id(),
            dr_priority: hello.dr_priority(),
            delay: hello.lan_prune_delay().map(|(tracking, a, b)| (tracking, span(a), span(b))),
            addresses: hello.addresses().iter().filter_map(v4).collect(),
        };
        // RFC 7761, 4.3.4: an address belongs to who has said so last.
        for (_, other) in self.neighbors.iter_mut().filter(|(address, _)| **address != from) {
            other.addresses.retain(|address| *address != from && !neighbor.addresses.contains(address));
        }
        let id = neighbor.generation_id;
        let heard = match self.neighbors.insert(from, neighbor) {
            None => Heard::New,
            Some(before) if before.generation_id != id => Heard::Restarted,
            Some(_) => Heard::Known,
        };
        if heard != Heard::Known {
            let at = now + below(random, TRIGGERED_HELLO_DELAY);
            self.triggered = Some(self.triggered.map_or(at, |before| before.min(at)));
        }
        heard
    }

    /// Routers that were not heard in time: they are no neighbours any more.
    pub(super) fn expire(&mut self, now: Time) -> Vec<Ipv4Addr> {
        let over = |neighbor: &Neighbor| neighbor.expires.is_some_and(|end| end <= now);
        let gone: Vec<Ipv4Addr> =
            self.neighbors.iter().filter(|(_, one)| over(one)).map(|(address, _)| *address).collect();
        gone.iter().for_each(|address| drop(self.neighbors.remove(address)));
        gone
    }

    /// The neighbour that has an address, by the address of its Hellos: NBR of RFC 7761, 4.1.5.
    pub(super) fn neighbor_of(&self, address: Ipv4Addr) -> Option<Ipv4Addr> {
        if self.neighbors.contains_key(&address) {
            return Some(address);
        }
        let mut all = self.neighbors.iter();
        all.find(|(_, one)| one.addresses.contains(&address)).map(|(primary, _)| *primary)
    }

    /// The router that speaks for the hosts of the link (RFC 7761, 4.3.2).
    pub(super) fn designated(&self, spec: &PimSpec) -> Ipv4Addr {
        let by_priority = self.neighbors.values().all(|one| one.dr_priority.is_some());
        let rank = |priority: Option<u32>, address: Ipv4Addr| {
            (if by_priority { priority.unwrap_or_default() } else { 0 }, address)
        };
        let others = self.neighbors.iter().map(|(address, one)| rank(one.dr_priority, *address));
        others.chain([rank(Some(spec.dr_priority), self.own)]).max().map_or(self.own, |(_, address)| address)
    }

    /// What all routers of the link say, if they all do: whether one of them wants joins to be suppressed, and the
    /// greatest delays (RFC 7761, 4.3.3).
    fn agreed(&self, spec: &PimSpec) -> Option<(bool, Span, Span)> {
        let own = (!spec.join_suppression, spec.propagation_delay, spec.override_interval);
        self.neighbors.values().map(|one| one.delay).try_fold(own, |(tracking, a, b), said| {
            let (tracks, c, d) = said?;
            Some((tracking && tracks, a.max(c), b.max(d)))
        })
    }

    /// Within so long others override a Prune: Effective_Override_Interval.
    pub(super) fn override_interval(&self, spec: &PimSpec) -> Span {
        self.agreed(spec).map_or(OVERRIDE_INTERVAL, |(_, _, interval)| interval)
    }

    /// So long a Prune waits: J/P_Override_Interval.
    pub(super) fn prune_wait(&self, spec: &PimSpec) -> Span {
        let delay = self.agreed(spec).map_or(PROPAGATION_DELAY, |(_, delay, _)| delay);
        delay + self.override_interval(spec)
    }

    /// How long a Join holds that is sent on the link: as long as is said, and longer than a Prune waits (RFC 7761,
    /// 4.9.5), whatever delays the others have.
    pub(super) fn join_holdtime_s(&self, spec: &PimSpec) -> u16 {
        let wait = self.prune_wait(spec).0.div_euclid(Span::from_secs(1).0) + 1;
        spec.join_holdtime_s().max(u16::try_from(wait).unwrap_or(u16::MAX - 1))
    }

    /// Is a Join not sent that another router has just sent?
    pub(super) fn suppresses(&self, spec: &PimSpec) -> bool {
        self.agreed(spec).is_none_or(|(tracking, ..)| !tracking)
    }

    /// When something is due.
    pub(super) fn next(&self) -> Option<Time> {
        let neighbors = self.neighbors.values().filter_map(|one| one.expires);
        neighbors.chain(self.hello).chain(self.triggered).min()
    }
}

/// A random time from zero to a span.
pub(super) fn below(random: &mut Stream, span: Span) -> Span {
    let drawn = (i128::from(span.0) * i128::from(random.next_u32())) >> 32;
    Span(i64::try_from(drawn).unwrap_or(span.0))
}
