//! What it costs to get to the next hops of routes.

use super::labels::mapped;
use super::routes::cost_of;
use crate::services::Services;
use base::plane::IpPrefix;
use core::net::IpAddr;
use std::collections::BTreeMap;

/// What is known of the way to a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nobody has asked yet.
    Unasked,
    /// What it costs; nothing where no route leads there.
    Known(Option<u32>),
}

/// The next hops that routes have, each with a place.
#[derive(Clone, Debug, Default)]
pub(super) struct NextHops {
    all: Vec<(IpAddr, Way)>,
    places: BTreeMap<IpAddr, u32>,
}

impl NextHops {
    /// The place of no next hop.
    pub const NONE: u32 = u32::MAX;

    /// The place of an address.
    pub fn place(&mut self, address: IpAddr) -> u32 {
        *self.places.entry(address).or_insert_with(|| {
            self.all.push((address, Way::Unasked));
            self.all.len() as u32 - 1
        })
    }

    /// The address at a place.
    pub fn address(&self, place: u32) -> Option<IpAddr> {
        self.all.get(place as usize).map(|(address, _)| *address)
    }

    /// What it costs to get there; nothing where no route leads there.
    pub fn cost(&mut self, services: &Services, place: u32) -> Option<u32> {
        let (address, way) = self.all.get_mut(place as usize)?;
        if let Way::Known(cost) = way {
            return *cost;
        }
        let cost = cost_of(services, *address);
        *way = Way::Known(cost);
        cost
    }

    /// The same as far as somebody has asked.
    pub fn known(&self, place: u32) -> Option<u32> {
        match self.all.get(place as usize)?.1 {
            Way::Known(cost) => cost,
            Way::Unasked => None,
        }
    }

    /// The route to a prefix has changed: the places of next hops that cost something else now.
    pub fn moved(&mut self, services: &Services, prefix: IpPrefix) -> Vec<u32> {
        // RFC 4798, 2: an IPv4 address may stand as an IPv6 address, and is reached by routes of IPv4.
        let is_within = |address: IpAddr| prefix.contains(mapped(address).map_or(address, IpAddr::V4));
        let mut moved = Vec::new();
        for (place, (address, way)) in (0..).zip(&mut self.all) {
            if *way != Way::Unasked && is_within(*address) {
                let new = Way::Known(cost_of(services, *address));
                if core::mem::replace(way, new) != new {
                    moved.push(place);
                }
            }
        }
        moved
    }
}
