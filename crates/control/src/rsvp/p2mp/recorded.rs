//! Recorded routes to several leaves in one message: whole, and from where each leaves another (RFC 4875, 6.1).

use crate::rsvp::record_route;
use base::Map;
use core::net::Ipv4Addr;
use wire::rsvp::{RroSubobject, SubLsp};

/// The node that an entry is about, if it is one and not a label.
const fn place(entry: &RroSubobject) -> Option<Ipv4Addr> {
    match *entry {
        RroSubobject::Ipv4 { address, .. } => Some(address),
        _ => None,
    }
}

/// The nodes of the route of a leaf, from a place on, are known to stand there, if they have not been known before.
fn note(known: &mut Map<Ipv4Addr, (usize, usize)>, (at, from): (usize, usize), entries: &[RroSubobject]) {
    for (there, entry) in entries.iter().enumerate() {
        if let Some(address) = place(entry) {
            known.get_or_insert_with(address, || (at, from + there));
        }
    }
}

/// The whole recorded route to each leaf: a secondary one begins at a node of one before it (RFC 4875, 6.1). `None` if
/// one has more than `most` entries.
pub(super) fn expand(
    first: Option<&[RroSubobject]>,
    leaves: &[&SubLsp],
    most: usize,
) -> Option<Vec<Option<Vec<RroSubobject>>>> {
    // Where each node stands first: the leaf and the place in its route.
    let mut known: Map<Ipv4Addr, (usize, usize)> = Map::new();
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
        if let Some((way, rest)) = route {
            // The nodes on the way there are known from the route that it begins in.
            note(&mut known, (at, way.len()), rest);
        }
        let route = route.map(|(way, rest)| [way, rest].concat());
        routes.push(route);
    }
    Some(routes)
}

/// Bytes of recorded routes on the wire, each from where it is written, with the head of its object.
pub(super) fn recorded_len(routes: &[Option<Vec<RroSubobject>>], begins: &[usize]) -> usize {
    let len = |(route, from): (&Option<Vec<RroSubobject>>, &usize)| {
        route.as_ref().map_or(0, |route| 4 + record_route::wire_len(route.get(*from..).unwrap_or_default()))
    };
    routes.iter().zip(begins).map(len).sum()
}

/// From which entry on each recorded route is written: from the last node on that it has in common with one before it,
/// the first from its beginning. [`expand`] finds the same routes.
pub(super) fn compress(routes: &[Option<Vec<RroSubobject>>]) -> Vec<usize> {
    // Where each node stands first: the leaf and the place in its route.
    let mut known: Map<Ipv4Addr, (usize, usize)> = Map::new();
    let mut begins = Vec::with_capacity(routes.len());
    for (at, route) in routes.iter().enumerate() {
        let route = route.as_deref().unwrap_or_default();
        let is_shared = |there: &usize| {
            let found = route.get(*there).and_then(place).and_then(|node| known.get(&node));
            let way = found.and_then(|&(earlier, place)| routes.get(earlier)?.as_ref()?.get(..place));
            way.is_some_and(|way| Some(way) == route.get(..*there))
        };
        let from = (0..route.len()).rev().find(is_shared).unwrap_or(0);
        note(&mut known, (at, from), route.get(from..).unwrap_or_default());
        begins.push(from);
    }
    begins
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
        let begins = compress(&whole);
        let rest =
            |(route, from): (&Option<Vec<RroSubobject>>, &usize)| Some(route.as_ref()?[*from..].to_vec());
        let short: Vec<_> = whole.iter().zip(&begins).map(rest).collect();
        let lengths: Vec<usize> = short.iter().flatten().map(Vec::len).collect();
        assert_eq!(lengths, [8, 4, 4, 2, 2]);
        assert!(recorded_len(&whole, &begins) < recorded_len(&whole, &[0; 6]));
        let leaf = |(at, route): (usize, &Option<Vec<RroSubobject>>)| {
            let recorded_route = route.clone().filter(|_| at > 0);
            SubLsp { recorded_route, ..SubLsp::of(IpAddr::V4(Ipv4Addr::new(10, 1, 0, at as u8))) }
        };
        let leaves: Vec<SubLsp> = short.iter().enumerate().map(leaf).collect();
        let leaves: Vec<&SubLsp> = leaves.iter().collect();
        assert_eq!(expand(short[0].as_deref(), &leaves, 64), Some(whole));
    }
}
