//! Routes as their sources know them.

use super::prefix::RoutePrefix;
use base::ProtocolId;
use base::plane::{NextHop, Prefix};
use core::cmp::Ordering;

/// Whence a route comes. In their order sources win where all else is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The node's own addresses, and the networks of its interfaces.
    Connected,
    /// Written down by a user in the description or as a command.
    Static,
    /// What a protocol has learnt.
    Protocol(ProtocolId),
}

impl Source {
    /// The preference of connected routes.
    pub const CONNECTED: u8 = 0;
    /// The preference of static routes.
    pub const STATIC: u8 = 1;

    /// As tables have it.
    pub fn word(&self) -> &str {
        match self {
            Source::Connected => "connected",
            Source::Static => "static",
            Source::Protocol(id) => id.name(),
        }
    }
}

/// A next hop as a source of routes knows it; `P` is the prefix of the routes' family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouteHop<P: RoutePrefix = Prefix> {
    /// It is known by which port packets leave.
    Direct(NextHop),
    /// An address, to which another route leads.
    Through(P::Address),
}

/// Next hops: mostly one, so that a route needs no memory of its own for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hops<T> {
    /// There is none: a route without next hops is not used.
    #[default]
    None,
    /// The usual case, which takes no memory of its own.
    One(T),
    /// There are several, all as good, in the order in which they were given.
    Many(Box<[T]>),
}

impl<T> Hops<T> {
    /// All next hops, in the order in which they were announced.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Hops::None => &[],
            Hops::One(one) => core::slice::from_ref(one),
            Hops::Many(all) => all,
        }
    }
}

impl<T: Clone> Hops<T> {
    /// These next hops.
    pub fn of(all: &[T]) -> Hops<T> {
        match all {
            [] => Hops::None,
            [one] => Hops::One(one.clone()),
            several => Hops::Many(several.into()),
        }
    }
}

impl<T> From<Vec<T>> for Hops<T> {
    fn from(mut all: Vec<T>) -> Hops<T> {
        match (all.pop(), all.is_empty()) {
            (None, _) => Hops::None,
            (Some(one), true) => Hops::One(one),
            (Some(last), false) => {
                all.push(last);
                Hops::Many(all.into())
            }
        }
    }
}

/// A route to a prefix of a family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route<P: RoutePrefix = Prefix> {
    /// Whence it comes; each source has one route to a prefix.
    pub source: Source,
    /// Administrative distance: the least wins, whatever the metrics.
    pub preference: u8,
    /// The least wins among routes of one preference.
    pub metric: u32,
    /// A number that means something to those who pass routes on, and nothing here.
    pub tag: u32,
    /// The next hops that packets are sent to, of equal cost.
    pub hops: Hops<RouteHop<P>>,
}

/// Source, metric and tag of a route.
pub(super) type Value = (Source, u32, u32);

impl<P: RoutePrefix> Route<P> {
    /// A route to a network that an interface is in.
    pub const fn connected(next_hop: NextHop) -> Route<P> {
        Route::direct(Source::Connected, Source::CONNECTED, next_hop)
    }
    /// A route that a user wrote down.
    pub const fn fixed(next_hop: NextHop) -> Route<P> {
        Route::direct(Source::Static, Source::STATIC, next_hop)
    }
    /// A route with one next hop, without metric and tag.
    pub const fn direct(source: Source, preference: u8, next_hop: NextHop) -> Route<P> {
        Route { source, preference, metric: 0, tag: 0, hops: Hops::One(RouteHop::Direct(next_hop)) }
    }

    /// What those go by who pass it on, beside its next hops.
    pub(super) const fn value(&self) -> Value {
        (self.source, self.metric, self.tag)
    }

    pub(super) fn order(&self, other: &Route<P>) -> Ordering {
        let rank = |route: &Route<P>| (route.preference, route.metric, route.source);
        rank(self).cmp(&rank(other))
    }

    /// Is there an address that it is resolved through?
    pub(super) fn leads_through(&self) -> bool {
        self.hops.as_slice().iter().any(|hop| matches!(hop, RouteHop::Through(_)))
    }

    /// The addresses that it is resolved through.
    pub(super) fn gateways(&self) -> impl Iterator<Item = P::Address> {
        self.hops.as_slice().iter().filter_map(|hop| match hop {
            RouteHop::Direct(_) => None,
            RouteHop::Through(gateway) => Some(*gateway),
        })
    }
}
