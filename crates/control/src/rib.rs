//! The control plane's own routing table: static routes with a longest-prefix look-up.

use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// Static routes by prefix; no other source of routes exists yet.
#[derive(Clone, Debug, Default)]
pub struct Rib {
    routes: BTreeMap<(u8, Ipv4Addr), NextHop>,
    /// How many routes there are of each prefix length.
    lengths: Vec<u32>,
}

impl Rib {
    /// Puts a route in, in place of the one that was there.
    pub fn set(&mut self, prefix: Prefix, next_hop: NextHop) {
        self.lengths.resize(33, 0);
        if self.routes.insert((prefix.len(), prefix.address()), next_hop).is_none() {
            self.lengths[usize::from(prefix.len())] += 1;
        }
    }

    /// Takes a route out.
    pub fn remove(&mut self, prefix: Prefix) -> Option<NextHop> {
        let removed = self.routes.remove(&(prefix.len(), prefix.address()));
        if removed.is_some() {
            self.lengths[usize::from(prefix.len())] -= 1;
        }
        removed
    }

    /// The most specific route for `destination`.
    pub fn lookup(&self, destination: Ipv4Addr) -> Option<(Prefix, NextHop)> {
        (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0).find_map(
            |len| {
                let prefix = Prefix::new(destination, len);
                self.routes.get(&(len, prefix.address())).map(|&next_hop| (prefix, next_hop))
            },
        )
    }

    /// All routes, the least specific first.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix, NextHop)> + '_ {
        self.routes.iter().map(|(&(len, address), &next_hop)| (Prefix::new(address, len), next_hop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins() {
        let mut rib = Rib::default();
        let at = |text: &str| text.parse::<Prefix>().expect("a prefix");
        rib.set(at("0.0.0.0/0"), NextHop::Discard);
        rib.set(at("10.0.0.0/8"), NextHop::Local);
        rib.set(at("10.1.0.0/16"), NextHop::Discard);
        assert_eq!(rib.lookup(Ipv4Addr::new(10, 1, 2, 3)), Some((at("10.1.0.0/16"), NextHop::Discard)));
        assert_eq!(rib.lookup(Ipv4Addr::new(10, 2, 2, 3)), Some((at("10.0.0.0/8"), NextHop::Local)));
        rib.remove(at("0.0.0.0/0"));
        assert_eq!(rib.lookup(Ipv4Addr::new(11, 0, 0, 1)), None);
        assert_eq!(rib.iter().count(), 2);
    }
}
