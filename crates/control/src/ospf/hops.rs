//! Sets of next hops, each kept once: there are far fewer than destinations.

use base::{Map, PortId};
use core::net::Ipv4Addr;
use std::sync::Arc;

/// Where packets leave the router that has computed the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// By which they leave.
    pub port: PortId,
    /// The neighbour's address; unspecified on a network that the router is itself connected to.
    pub gateway: Ipv4Addr,
}

impl Hop {
    /// Packets leave by a virtual link: the real hops are found in the area that it leads through (RFC 2328, 16.1.1 and
    /// 16.3), and until then this stands in their place. No port has its number.
    pub const OPEN: Hop = Hop { port: PortId(u16::MAX), gateway: Ipv4Addr::BROADCAST };
}

/// Next hops, each once and in their order.
pub(super) type Hops = Arc<[Hop]>;

/// The set of no next hops.
pub(super) const NOWHERE: u32 = 0;

/// Sets by number: the same hops have the same number.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    all: Vec<Hops>,
    numbers: Map<Hops, u32>,
    /// The unions that were asked for.
    unions: Map<(u32, u32), u32>,
}

impl Default for Sets {
    fn default() -> Sets {
        Sets { all: vec![Arc::default()], numbers: Map::default(), unions: Map::default() }
    }
}

impl Sets {
    pub(super) fn get(&self, number: u32) -> &Hops {
        &self.all[number as usize]
    }

    /// How many there are: those that nothing has any more stay.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Does one of the hops lead onto a network that the router is itself connected to?
    pub(super) fn is_near(&self, number: u32) -> bool {
        self.get(number).iter().any(|hop| hop.gateway.is_unspecified())
    }

    /// The number of these hops, which are in any order.
    pub(super) fn number(&mut self, mut hops: Vec<Hop>) -> u32 {
        hops.sort_unstable();
        hops.dedup();
        if hops.is_empty() {
            return NOWHERE;
        }
        let hops: Hops = hops.into();
        if let Some(&number) = self.numbers.get(&hops) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(hops.clone());
        self.numbers.insert(hops, number);
        number
    }

    /// The same hops, but to a router's address where they lead onto a network that this router is connected to.
    pub(super) fn through(&mut self, number: u32, address: Ipv4Addr) -> u32 {
        let through = |hop: &Hop| match hop.gateway.is_unspecified() {
            true => Hop { gateway: address, ..*hop },
            false => *hop,
        };
        let hops = self.get(number).iter().map(through).collect();
        self.number(hops)
    }

    pub(super) fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == NOWHERE {
            return a;
        }
        if a == NOWHERE {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&number) = self.unions.get(&key) {
            return number;
        }
        let number = self.number([&self.get(a)[..], self.get(b)].concat());
        self.unions.insert(key, number);
        number
    }
}
