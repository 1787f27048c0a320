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

/// A next hop.
#[derive(Clone, Debug)]
struct NextHop {
    address: IpAddr,
    way: Way,
    /// Has a route led there since somebody has it?
    was_reached: bool,
    /// How many sets have it; zero at a place that is free.
    users: u32,
}

/// The next hops that routes have, each with a place.
#[derive(Clone, Debug, Default)]
pub(super) struct NextHops {
    all: Vec<NextHop>,
    places: BTreeMap<IpAddr, u32>,
    /// Places of next hops that nobody has any more.
    free: Vec<u32>,
}

impl NextHops {
    /// The place of no next hop.
    pub const NONE: u32 = u32::MAX;

    /// The place of an address, which somebody else has from now on.
    pub fn hold(&mut self, address: IpAddr) -> u32 {
        let place = *self.places.entry(address).or_insert_with(|| {
            let new = NextHop { address, way: Way::Unasked, was_reached: false, users: 0 };
            match self.free.pop() {
                Some(place) => {
                    self.all[place as usize] = new;
                    place
                }
                None => {
                    self.all.push(new);
                    self.all.len() as u32 - 1
                }
            }
        });
        self.all[place as usize].users += 1;
        place
    }

    /// Somebody has the address at a place no more.
    pub fn release(&mut self, place: u32) {
        let Some(known) = self.all.get_mut(place as usize) else { return };
        debug_assert!(known.users > 0, "a next hop that nobody has");
        known.users -= 1;
        if known.users == 0 {
            known.way = Way::Unasked;
            self.places.remove(&known.address);
            self.free.push(place);
        }
    }

    /// How many next hops there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The next hops to which no route has ever led, in their order.
    pub fn never_reached(&self) -> impl Iterator<Item = IpAddr> {
        let of = |place: &u32| self.all.get(*place as usize);
        let known = self.places.values().filter_map(of);
        known.filter(|one| !one.was_reached && one.way == Way::Known(None)).map(|one| one.address)
    }

    /// The address at a place.
    pub fn address(&self, place: u32) -> Option<IpAddr> {
        self.all.get(place as usize).map(|known| known.address)
    }

    /// What it costs to get there; nothing where no route leads there.
    pub fn cost(&mut self, services: &Services, place: u32) -> Option<u32> {
        let known = self.all.get_mut(place as usize)?;
        if let Way::Known(cost) = known.way {
            return cost;
        }
        let cost = cost_of(services, known.address);
        (known.way, known.was_reached) = (Way::Known(cost), known.was_reached || cost.is_some());
        cost
    }

    /// The same as far as somebody has asked.
    pub fn known(&self, place: u32) -> Option<u32> {
        match self.all.get(place as usize)?.way {
            Way::Known(cost) => cost,
            Way::Unasked => None,
        }
    }

    /// The route to a prefix has changed: the places of next hops that cost something else now.
    pub fn moved(&mut self, services: &Services, prefix: IpPrefix) -> Vec<u32> {
        let known = |first: IpAddr| self.places.range(first..).map(|(address, place)| (*address, *place));
        let mut within: Vec<u32> = known(prefix.address())
            .take_while(|(address, _)| prefix.contains(*address))
            .filter(|(address, _)| mapped(*address).is_none())
            .map(|(_, place)| place)
            .collect();
        if let IpAddr::V4(first) = prefix.address() {
            // RFC 4798, 2: an IPv4 address may stand as an IPv6 address, and is reached by routes of IPv4.
            let is_within = |address| mapped(address).is_some_and(|address| prefix.contains(address.into()));
            let behind = known(first.to_ipv6_mapped().into()).take_while(|(address, _)| is_within(*address));
            within.extend(behind.map(|(_, place)| place));
        }
        within.sort_unstable();
        within.retain(|place| {
            let known = &mut self.all[*place as usize];
            let cost = cost_of(services, known.address);
            let new = Way::Known(cost);
            known.was_reached |= known.way != Way::Unasked && cost.is_some();
            known.way != Way::Unasked && core::mem::replace(&mut known.way, new) != new
        });
        within
    }
}

#[cfg(test)]
mod tests {
    use super::NextHops;
    use core::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_next_hop_goes_with_the_last_who_has_it() {
        let at = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        let mut hops = NextHops::default();
        let (one, other) = (hops.hold(at(1)), hops.hold(at(2)));
        assert_eq!(hops.hold(at(1)), one);
        hops.release(one);
        assert_eq!((hops.address(one), hops.len()), (Some(at(1)), 2));
        hops.release(one);
        assert_eq!(hops.len(), 1);
        assert_eq!(hops.hold(at(3)), one, "its place is used again");
        assert_eq!((hops.address(one), hops.address(other)), (Some(at(3)), Some(at(2))));
        hops.release(NextHops::NONE);
    }
}
