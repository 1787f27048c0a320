//! Routes that are in force and stand in no table yet.
//!
//! In a network of so many routers every router has as many routes, most of which no packet ever takes. Where the
//! routes of a node follow from the network alone, its tables can be given the source instead of the routes: they put a
//! route in when it is first used, and all of them before anything happens that could tell the difference.

use super::{NextHop, Prefix};
use core::fmt::Debug;

/// The routes of one node to prefixes that are all different, and what they lead to. The answers never change.
pub trait Unwritten<P = Prefix>: Debug + Send + Sync {
    /// The longest prefix around this one, itself among them, that there is a route to, and where that leads.
    fn route(&self, to: P) -> Option<(P, NextHop)>;

    /// Where the route to exactly this prefix leads; nothing if there is none.
    fn next_hop(&self, prefix: P) -> Option<NextHop>;

    /// Prefixes that may have a route and lie within this one, itself among them.
    fn within(&self, prefix: P) -> Vec<P>;

    /// Prefixes that may have a route and that this one lies in, itself not among them.
    fn around(&self, prefix: P) -> Vec<P>;

    /// All routes, each made now: as many as `count` says.
    fn all(&self) -> Vec<(P, NextHop)>;

    /// How many there are.
    fn count(&self) -> u64;
}
