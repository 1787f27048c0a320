//! Recorded routes to several leaves in one message: whole, and from where each leaves another (RFC 4875, 6.1).

use crate::rsvp::record_route;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::rsvp::{RroSubobject, SubLsp};

/// The node that an entry is about, if it is one and not a label.
const fn place(entry: &RroSubobject) -> Option<Ipv4Addr> {
    match *entry {
        RroSubobject::Ipv4 { address, .. } => Some(address),
        _ => None,
    }
}

/// The whole recorded route to each leaf: a secondary one begins at a node of one before it (RFC 4875, 6.1). `None` if
/// one has more than `most` entries.
pub(super) fn expand(
    first: Option<&[RroSubobject]>,
    leaves: &[SubLsp],
    most: usize,
) -> Option<Vec<Option<Vec<RroSubobject>>>> {
    // Where each node stands first: the leaf and the place in its route.
    let mut known: BTreeMap<Ipv4Addr, (usize, usize)> = BTreeMap::new();
    let mut routes: Vec<Option<Vec<RroSubobject>>> = Vec::with_capacity(leaves.len());
    for (at, leaf) in leaves.iter().enumerate() {
        let said = if at == 0 { first } else { leaf.recorded_route.as_deref() };
        let route = said.map(|rest| {
            let way = rest.first().filter(|_| at > 0).and_then(place).and_then(|node| known.get(&node));
            let way = way.and_then(|&(earlier, place)| routes.get(earlier)?.as_ref()?.get(..place));
            (way.unwrap_or_default(), rest)
        });
        if route.is_some_and(|(way, rest)| way.len() + rest.len() > most) {
            return None;
        }
        let route = route.map(|(way, rest)| [way, rest].concat());
        for (there, entry) in route.iter().flatten().enumerate() {
            if let Some(address) = place(entry) {
                known.entry(address).or_insert((at, there));
            }
        }
        routes.push(route);
    }
    Some(routes)
}

/// Bytes of recorded routes on the wire, each with the head of its object.
pub(super) fn recorded_len(routes: &[Option<Vec<RroSubobject>>]) -> usize {
    routes.iter().flatten().map(|route| 4 + record_route::wire_len(route)).sum()
}

/// Recorded routes as they are written: each but the first from the last node on that it has in common with one before
/// it. [`expand`] finds the same routes.
pub(super) fn compress(routes: Vec<Option<Vec<RroSubobject>>>) -> Vec<Option<Vec<RroSubobject>>> {
    // Where each node stands first: the leaf and the place in its route.
    let mut known: BTreeMap<Ipv4Addr, (usize, usize)> = BTreeMap::new();
    let mut short = Vec::with_capacity(routes.len());
    for (at, route) in routes.iter().enumerate() {
        let Some(route) = route else {
            short.push(None);
            continue;
        };
        let is_shared = |there: &usize| {
            let found = route.get(*there).and_then(place).and_then(|node| known.get(&node));
            let way = found.and_then(|&(earlier, place)| routes.get(earlier)?.as_ref()?.get(..place));
            way.is_some_and(|way| Some(way) == route.get(..*there))
        };
        let from = (0..route.len()).rev().find(is_shared).unwrap_or(0);
        short.push(Some(route.get(from..).unwrap_or_default().to_vec()));
        for (there, entry) in route.iter().enumerate() {
            if let Some(address) = place(entry) {
                known.entry(address).or_insert((at, there));
            }
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Label;
    use std::net::IpAddr;

    fn route(nodes: &[u8]) -> Vec<RroSubobject> {
        let entries = nodes.iter().flat_map(|&node| {
            let address = Ipv4Addr::new(10, 0, 0, node);
            [
                RroSubobject::address(address),
                RroSubobject::global_label(Label::truncate(100 + u32::from(node))),
            ]
        });
        entries.collect()
    }

    #[test]
    fn routes_are_written_from_where_they_leave_another_and_come_back_whole() {
        let whole = [&[1, 2, 3, 4][..], &[1, 2, 5], &[1, 2, 5, 6], &[7], &[1]];
        let whole: Vec<_> = whole.iter().map(|nodes| Some(route(nodes))).chain([None]).collect();
        let short = compress(whole.clone());
        let lengths: Vec<usize> = short.iter().flatten().map(Vec::len).collect();
        assert_eq!(lengths, [8, 4, 4, 2, 2]);
        assert!(recorded_len(&short) < recorded_len(&whole));
        let leaf = |(at, route): (usize, &Option<Vec<RroSubobject>>)| {
            let recorded_route = route.clone().filter(|_| at > 0);
            SubLsp { recorded_route, ..SubLsp::of(IpAddr::V4(Ipv4Addr::new(10, 1, 0, at as u8))) }
        };
        let leaves: Vec<SubLsp> = short.iter().enumerate().map(leaf).collect();
        assert_eq!(expand(short[0].as_deref(), &leaves, 64), Some(whole));
    }
}
