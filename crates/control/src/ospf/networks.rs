//! The networks of an area: which vertices announce each, and what the best ways there are.

use super::hops::{NOWHERE, Sets};
use super::spf::{FAR, NONE, Paths};
use base::Map;
use base::plane::Prefix;

/// Cost of a network, and the set of next hops there.
pub(super) type Found = (u32, u32);

/// No way.
pub(super) const LOST: Found = (FAR, NOWHERE);

/// The networks that vertices announce, by dense numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Networks {
    numbers: Map<Prefix, u32>,
    prefixes: Vec<Prefix>,
    /// The numbers of all in the order of the prefixes, found when they are asked for.
    order: Vec<u32>,
    /// The best way to each.
    found: Vec<Found>,
    /// Of each network two of the vertices that announce it, which most have.
    first: Vec<[u32; 2]>,
    /// And all others.
    more: Map<u32, Vec<u32>>,
    /// Of each vertex the networks that it announces, and what they cost behind it.
    said: Vec<Box<[(u32, u32)]>>,
    /// Those of the router itself.
    own: Map<u32, Found>,
    own_numbers: Vec<u32>,
    /// How many are announced by others.
    announced: usize,
}

/// Takes a way if it is better, or joins one that is as good.
fn offer(sets: &mut Sets, found: &mut Found, (cost, set): Found) {
    if cost < found.0 {
        *found = (cost, set);
    } else if cost == found.0 {
        found.1 = sets.union(found.1, set);
    }
}

impl Networks {
    pub(super) fn prefix(&self, number: u32) -> Prefix {
        self.prefixes[number as usize]
    }

    /// How many there are, with those that nobody announces any more.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// How many of them are announced by others.
    pub(super) fn announced(&self) -> usize {
        self.announced
    }

    /// The best way to each network to which there is one.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix, Found)> {
        let all = self.prefixes.iter().zip(&self.found);
        all.filter(|(_, found)| found.0 != FAR).map(|(prefix, found)| (*prefix, *found))
    }

    pub(super) fn get(&self, prefix: Prefix) -> Option<Found> {
        let number = *self.numbers.get(&prefix)?;
        Some(self.found[number as usize]).filter(|found| found.0 != FAR)
    }

    /// The same by a walk over all networks, from a place on behind which it is, if it is there.
    pub(super) fn get_in_turn(&self, place: &mut usize, prefix: Prefix) -> Option<Found> {
        if self.order.len() != self.prefixes.len() {
            return self.get(prefix);
        }
        let rest = self.order[*place..].iter();
        *place += rest.take_while(|number| self.prefix(**number) < prefix).count();
        let number = *self.order.get(*place).filter(|number| self.prefix(**number) == prefix)?;
        Some(self.found[number as usize]).filter(|found| found.0 != FAR)
    }

    fn number(&mut self, prefix: Prefix) -> u32 {
        if let Some(&known) = self.numbers.get(&prefix) {
            return known;
        }
        let number = self.prefixes.len() as u32;
        self.numbers.insert(prefix, number);
        self.prefixes.push(prefix);
        self.found.push(LOST);
        self.first.push([NONE; 2]);
        number
    }

    /// What a vertex announces, and what each costs behind it.
    pub(super) fn said(&self, vertex: u32) -> &[(u32, u32)] {
        self.said.get(vertex as usize).map_or(&[], |said| &said[..])
    }

    /// From now on a vertex announces these networks and no others. Which of them are others than before?
    pub(super) fn set(&mut self, vertex: u32, said: impl Iterator<Item = (Prefix, u32)>) -> Vec<u32> {
        let mut new: Vec<(u32, u32)> = said.map(|(prefix, cost)| (self.number(prefix), cost)).collect();
        new.sort_unstable();
        new.dedup();
        if self.said.len() <= vertex as usize {
            self.said.resize(vertex as usize + 1, Box::default());
        }
        let old = core::mem::replace(&mut self.said[vertex as usize], new.clone().into());
        let mut changed = Vec::new();
        let is_in = |all: &[(u32, u32)], number: u32| {
            let place = all.partition_point(|one| one.0 < number);
            all.get(place).is_some_and(|one| one.0 == number)
        };
        for &(number, cost) in &old {
            // One that it announces twice is forgotten once.
            if !is_in(&new, number) && self.sayers(number).any(|known| known == vertex) {
                self.forget(number, vertex);
            }
            if new.binary_search(&(number, cost)).is_err() {
                changed.push(number);
            }
        }
        for &(number, cost) in &new {
            if !is_in(&old, number) && !self.sayers(number).any(|known| known == vertex) {
                self.remember(number, vertex);
            }
            if old.binary_search(&(number, cost)).is_err() {
                changed.push(number);
            }
        }
        changed
    }

    fn sayers(&self, number: u32) -> impl Iterator<Item = u32> {
        let more = self.more.get(&number).into_iter().flatten();
        self.first[number as usize].iter().chain(more).copied().filter(|vertex| *vertex != NONE)
    }

    fn remember(&mut self, number: u32, vertex: u32) {
        let is_new = self.sayers(number).next().is_none();
        self.announced += usize::from(is_new);
        match self.first[number as usize].iter_mut().find(|place| **place == NONE) {
            Some(place) => *place = vertex,
            None => self.more.get_or_insert_with(number, Vec::new).push(vertex),
        }
    }

    fn forget(&mut self, number: u32, vertex: u32) {
        for place in self.first[number as usize].iter_mut().filter(|place| **place == vertex) {
            *place = NONE;
        }
        if let Some(more) = self.more.get_mut(&number) {
            more.retain(|known| *known != vertex);
        }
        let is_gone = self.sayers(number).next().is_none();
        self.announced -= usize::from(is_gone);
    }

    /// What the router itself has: stub networks of the tree, too, at its root (RFC 2328, 16.1, stage 2).
    pub(super) fn set_own(&mut self, sets: &mut Sets, own: impl Iterator<Item = (Prefix, Found)>) {
        for number in core::mem::take(&mut self.own_numbers) {
            self.own.remove(&number);
        }
        for (prefix, found) in own {
            let number = self.number(prefix);
            match self.own.get_mut(&number) {
                Some(known) => offer(sets, known, found),
                None => {
                    self.own.insert(number, found);
                    self.own_numbers.push(number);
                }
            }
        }
    }

    /// Finds the ways to all networks anew. To which are they others than before? In the order of the prefixes.
    pub(super) fn find_all(&mut self, paths: &mut Paths) -> Vec<u32> {
        let mut found = vec![LOST; self.prefixes.len()];
        for (vertex, said) in (0u32..).zip(&self.said) {
            let Some((distance, set)) = paths.at(vertex).filter(|_| vertex != paths.root) else { continue };
            for &(number, cost) in said {
                let way = (distance.saturating_add(cost), set);
                offer(&mut paths.hops, &mut found[number as usize], way);
            }
        }
        for number in &self.own_numbers {
            let own = self.own.get(number).copied().unwrap_or(LOST);
            offer(&mut paths.hops, &mut found[*number as usize], own);
        }
        let old = core::mem::replace(&mut self.found, found);
        let is_other = |number: &&u32| old[**number as usize] != self.found[**number as usize];
        if self.order.len() != self.prefixes.len() {
            self.order = (0..self.prefixes.len() as u32).collect();
            self.order.sort_unstable_by_key(|number| self.prefixes[*number as usize]);
        }
        self.order.iter().filter(is_other).copied().collect()
    }

    /// Finds the way to a network anew. Is it another than before?
    pub(super) fn find(&mut self, paths: &mut Paths, number: u32) -> bool {
        let mut best = LOST;
        for vertex in self.sayers(number) {
            let Some((distance, set)) = paths.at(vertex).filter(|_| vertex != paths.root) else { continue };
            let said = self.said(vertex);
            let first = said.partition_point(|one| one.0 < number);
            // Of several costs that one vertex announces the first is the least.
            if let Some((_, cost)) = said.get(first) {
                offer(&mut paths.hops, &mut best, (distance.saturating_add(*cost), set));
            }
        }
        if let Some(own) = self.own.get(&number) {
            offer(&mut paths.hops, &mut best, *own);
        }
        core::mem::replace(&mut self.found[number as usize], best) != best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn what_a_vertex_announces_twice_is_counted_once() {
        let prefix = Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8);
        let mut networks = Networks::default();
        networks.set(0, [(prefix, 1), (prefix, 2)].into_iter());
        assert_eq!(networks.announced(), 1);
        networks.set(0, [(prefix, 2), (prefix, 3)].into_iter());
        assert_eq!(networks.announced(), 1);
        networks.set(1, [(prefix, 2)].into_iter());
        networks.set(0, core::iter::empty());
        assert_eq!(networks.announced(), 1, "another announces it");
        networks.set(1, core::iter::empty());
        assert_eq!(networks.announced(), 0);
        networks.set(0, [(prefix, 1), (prefix, 2)].into_iter());
        networks.set(0, core::iter::empty());
        assert_eq!(networks.announced(), 0);
    }
}
