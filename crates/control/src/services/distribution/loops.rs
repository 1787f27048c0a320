//! Hop counts and path vectors (RFC 5036, 2.8, 3.4.4, 3.4.5, A.2.6 to A.2.8). This router merges, so requests of its
//! own need no path vector.

use super::{Distribution, PeerKey};
use base::plane::Prefix;
use core::net::Ipv4Addr;

/// What a label or a request says of its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Routers on the way; zero if somebody on it does not know.
    pub hops: Option<u8>,
    /// These routers, the nearest first.
    pub path: Option<Vec<Ipv4Addr>>,
}

/// A hop more. What is unknown stays so (RFC 5036, 3.4.4.1).
pub(crate) const fn increment(hops: u8) -> u8 {
    if hops == 0 { 0 } else { hops.saturating_add(1) }
}

impl Distribution {
    /// Has a message gone in a circle (RFC 5036, A.2.6)?
    pub(super) fn is_loop(&self, attributes: &Attributes) -> bool {
        let settings = &self.settings;
        // RFC 5036, 3.4.4.1: hop counts are looked at in any case.
        if attributes.hops.is_some_and(|hops| hops > settings.hops_max) {
            return true;
        }
        // RFC 5036, 3.5.3: with this router the vector would be longer than the limit.
        let is_circle = |path: &Vec<Ipv4Addr>| {
            path.contains(&settings.router_id) || path.len() >= usize::from(settings.hops_max)
        };
        settings.loop_detection && attributes.path.as_ref().is_some_and(is_circle)
    }

    /// What this router says of its way to a prefix that leaves by the labels of these neighbours (RFC 5036, A.2.8).
    /// With loop detection the path is said wherever this router is not the last: that is permitted, and means that
    /// neighbours always know what has changed.
    pub(super) fn mapping_attributes(&self, prefix: Prefix, is_egress: bool, by: &[PeerKey]) -> Attributes {
        let is_on = self.settings.loop_detection;
        if is_egress {
            // RFC 5036, 2.8.2: the last router says 1, and no path.
            return Attributes { hops: is_on.then_some(1), path: None };
        }
        let says = |key: &PeerKey| self.known(*key).is_some_and(|peer| peer.attributes.contains_key(&prefix));
        if !is_on && !by.iter().any(says) {
            return Attributes::default();
        }
        let of = by.iter().filter_map(|key| self.known(*key)?.attributes.get(&prefix));
        let given: Vec<&Attributes> = of.collect();
        let counts: Vec<u8> = given.iter().filter_map(|one| one.hops).collect();
        // Of several ways the longest counts, and nobody knows it as long as one is unknown.
        let is_whole = counts.len() == by.len() && !counts.contains(&0);
        let hops = counts.iter().max().copied().filter(|_| is_whole).map_or(0, increment);
        let has_count = is_on || !counts.is_empty();
        let path = is_on.then(|| {
            let mut path = vec![self.settings.router_id];
            for router in given.iter().filter_map(|one| one.path.as_ref()).flatten() {
                if !path.contains(router) {
                    path.push(*router);
                }
            }
            path
        });
        Attributes { hops: has_count.then_some(hops), path }
    }

    /// What this router says in a request: of its own, or for a request that has come (RFC 5036, A.2.7).
    pub(super) fn request_attributes(&self, of: Option<&Attributes>) -> Attributes {
        let is_on = self.settings.loop_detection;
        match of {
            None => Attributes { hops: is_on.then_some(1), path: None },
            Some(of) => {
                let hops = of.hops.map_or(is_on.then_some(0), |hops| Some(increment(hops)));
                let longer = |path: &Vec<Ipv4Addr>| {
                    core::iter::once(self.settings.router_id).chain(path.iter().copied()).collect()
                };
                Attributes { hops, path: of.path.as_ref().filter(|_| is_on).map(longer) }
            }
        }
    }
}
