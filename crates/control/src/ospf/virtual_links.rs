//! Virtual links join pieces of the backbone through other areas (RFC 2328, 15). Whether one can be used, what it costs
//! and the addresses of its ends follow from the paths of the area that it leads through. Packets of users do not
//! follow it: their next hops are those of the best way through that area (16.3).

use super::Ospf;
use super::areas::BACKBONE;
use super::hops::{Hop, Hops};
use super::interface::{Interface, InterfaceConfig, InterfaceName, InterfaceState, VirtualLink};
use super::neighbor::NeighborState;
use super::tree::{Way, join};
use base::Time;
use core::cmp::Ordering;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use wire::ospf::{LsaKey, LsaKind};

/// Longest IP packet of OSPF on a virtual link: nobody says what the links on its way take (RFC 2328, A.1).
const MTU: u16 = 576;

/// How a virtual link leads to its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    cost: u16,
    address: Ipv4Addr,
    peer: Ipv4Addr,
}

impl Interface {
    /// The end of a virtual link, of which it is not known yet whether it can be used.
    pub(super) fn virtual_link(link: VirtualLink, config: InterfaceConfig) -> Interface {
        let address = (Ipv4Addr::UNSPECIFIED, 0);
        Interface::new(InterfaceName::Virtual(link), address, MTU.into(), config)
    }

    /// Is the other end of a virtual link through this area adjacent?
    fn joins_through(&self, area: Ipv4Addr) -> bool {
        match self.name {
            InterfaceName::Virtual(link) => link.area == area && self.count(NeighborState::Full) > 0,
            InterfaceName::Port(_) => false,
        }
    }

    fn ends(&self) -> Ends {
        Ends { cost: self.config.cost, address: self.address, peer: self.peer }
    }

    fn set_ends(&mut self, ends: Ends) {
        let Ends { cost, address, peer } = ends;
        (self.config.cost, self.address, self.peer) = (cost, address, peer);
        self.neighbors.values_mut().for_each(|neighbor| neighbor.address = peer);
    }
}

impl Ospf {
    /// Is this router the end of a virtual link through an area, with an adjacent neighbour at the other end (bit V of
    /// RFC 2328, 12.4.1)?
    pub(super) fn is_end_through(&self, area: Ipv4Addr) -> bool {
        self.interfaces.values().any(|one| one.joins_through(area))
    }

    /// The ends of a virtual link, if it can be used: there is a way inside its area to its other end, a border router,
    /// that costs no more than a link can (RFC 2328, 15 and 16.1, step 4).
    fn ends_of(&self, link: VirtualLink) -> Option<Ends> {
        let tree = self.trees.get(&link.area)?;
        let (cost, hops) = tree.borders.get(&link.router)?;
        let leaves = InterfaceName::Port(hops.first()?.port);
        let address = self.interfaces.get(&leaves)?.address;
        Some(Ends { cost: u16::try_from(*cost).ok()?, address, peer: tree.facing(link.router)? })
    }

    /// Has virtual links follow the paths of the areas that they lead through (RFC 2328, 16.7).
    pub(super) fn follow_virtual_links(&mut self, now: Time) {
        let mut is_any = false;
        for link in self.config.virtual_links.keys().copied().collect::<Vec<_>>() {
            let (name, ends) = (InterfaceName::Virtual(link), self.ends_of(link));
            let Some(interface) = self.interfaces.get_mut(&name) else { continue };
            let is_up = interface.state != InterfaceState::Down;
            match ends {
                Some(ends) if is_up && interface.ends() == ends => continue,
                Some(ends) => {
                    interface.set_ends(ends);
                    (self.is_stale, self.is_reach_other) = (true, true);
                    self.is_watch_due = true;
                    if !is_up {
                        self.raise(now, name);
                    }
                }
                None if is_up => {
                    self.lower(now, name);
                    if let Some(interface) = self.interfaces.get_mut(&name) {
                        (interface.address, interface.peer) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
                    }
                }
                None => continue,
            }
            is_any = true;
        }
        if is_any {
            self.settle(now);
        }
    }

    /// The port from which packets have this address: those of a virtual link leave by it, as long as the table of
    /// routes does not say something else.
    pub(super) fn port_of(&self, address: Ipv4Addr) -> Option<base::PortId> {
        self.interfaces.values().filter(|one| one.address == address).find_map(|one| one.name.port())
    }

    /// Areas through which this border router may send what neither begins nor ends there: those in which there is an
    /// end of a virtual link (TransitCapability of RFC 2328, 16.1).
    pub(super) fn find_transit_areas(&self) -> BTreeSet<Ipv4Addr> {
        let transit = self.trees.iter().filter(|(area, tree)| **area != BACKBONE && tree.is_transit);
        if self.is_border() { transit.map(|(area, _)| *area).collect() } else { BTreeSet::new() }
    }

    /// The way to something that the backbone leads to: if there is one through a transit area that is as good or
    /// better, by that (RFC 2328, 16.3). By the best of these, too, if it leads by a virtual link alone; nothing if no
    /// transit area knows of it.
    pub(super) fn past_transit_areas(
        &self,
        now: Time,
        mut way: Way,
        kind: LsaKind,
        ids: (Ipv4Addr, Ipv4Addr),
        is_meant: impl Fn(&LsaKey, Ipv4Addr) -> bool,
    ) -> Option<Way> {
        if self.transit_areas.is_empty() && self.config.virtual_links.is_empty() {
            return Some(way);
        }
        let mut best: Option<Way> = None;
        for area in &self.transit_areas {
            let Some(through) = self.by_summaries(now, *area, kind, ids, &is_meant) else { continue };
            match through.0.cmp(&way.0) {
                Ordering::Less => way = through.clone(),
                Ordering::Equal => join(&mut way.1, &through.1),
                Ordering::Greater => {}
            }
            if best.as_ref().is_none_or(|best| through.0 < best.0) {
                best = Some(through);
            }
        }
        if !way.1.contains(&Hop::OPEN) {
            return Some(way);
        }
        let known: Hops = way.1.iter().copied().filter(|hop| *hop != Hop::OPEN).collect();
        if !known.is_empty() {
            return Some((way.0, known));
        }
        // RFC 2328, 16.3 discards what is left. So it would be with a network of another area that the other end is in,
        // too: the other end has a path inside that area, which costs more than what the backbone leads by, and
        // announces that. Its way is as good as its announcement.
        best
    }

    /// Does one of these next hops lead into an area? Then its routers hear of the destination from others (RFC 2328,
    /// 12.4.3: split horizon). That is so only where packets of others go through the area.
    pub(super) fn leads_into(&self, area: Ipv4Addr, hops: &[Hop]) -> bool {
        let area_by = |hop: &Hop| self.interfaces.get(&InterfaceName::Port(hop.port))?.config.area;
        self.transit_areas.contains(&area) && hops.iter().any(|hop| area_by(hop) == Some(area))
    }
}
