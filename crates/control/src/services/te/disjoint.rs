//! Paths beside paths: what a path may not have in common with another that is to live on when the other fails.

use super::constraints::Constraints;
use super::link::{TeLink, Towards};
use super::{Engineering, NoPath, TeHop, TePath};
use base::Time;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

base::words! {
    /// What two paths have not in common. Their ends they always have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Disjoint {
        /// Links, in either direction. A network of several routers counts as one link.
        Link = "link",
        /// Links, and the routers between the ends.
        Node = "node",
        /// Links, and shared risk link groups.
        Srlg = "srlg",
    }
}

/// What a path keeps away from to be disjoint from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Addresses of links, of both ends.
    links: Vec<Ipv4Addr>,
    routers: Vec<Ipv4Addr>,
}

impl Apart {
    /// Is there nothing to keep away from?
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.routers.is_empty()
    }

    /// Is a link, by the addresses of its ends, to be kept away from?
    pub(super) fn has_link(&self, near: Ipv4Addr, far: Ipv4Addr) -> bool {
        self.links.iter().any(|one| *one == near || *one == far)
    }

    /// Is a router, by its router id?
    pub(super) fn has_router(&self, id: Ipv4Addr) -> bool {
        self.routers.contains(&id)
    }
}

impl Engineering {
    /// What a path keeps away from that is disjoint from the path of these links.
    pub fn apart(&self, hops: &[TeHop], what: Disjoint) -> Apart {
        let mut apart = Apart::default();
        let ends = |hop: &TeHop| [hop.near, hop.far];
        apart.links = hops.iter().flat_map(ends).collect();
        let taken = self.known.iter().flatten().filter(|known| apart.links.contains(&known.link.local));
        let networks: Vec<Towards> = taken
            .map(|known| known.link.towards)
            .filter(|towards| matches!(towards, Towards::Network(_)))
            .collect();
        // All links of a network are one.
        let members = self.known.iter().flatten().filter(|known| networks.contains(&known.link.towards));
        let members: Vec<Ipv4Addr> = members.map(|known| known.link.local).collect();
        apart.links.extend(members);
        match what {
            Disjoint::Link => {}
            Disjoint::Node => {
                let between = hops.split_last().map_or(&[][..], |(_, before)| before);
                apart.routers = between.iter().map(|hop| hop.router).collect();
            }
            Disjoint::Srlg => {
                // Either end may tell of the risks of a link.
                let risks: BTreeSet<u32> =
                    hops.iter().flat_map(ends).flat_map(|end| self.srlgs_of(end)).collect();
                let is_shared = |link: &TeLink| link.srlgs.iter().any(|srlg| risks.contains(srlg));
                let shared = self.known.iter().flatten().filter(|known| is_shared(&known.link));
                apart.links.extend(shared.map(|known| known.link.local));
            }
        }
        apart.links.sort_unstable();
        apart.links.dedup();
        apart
    }

    /// Does a path keep away from all that?
    pub fn is_apart(&self, hops: &[TeHop], apart: &Apart) -> bool {
        let between = hops.split_last().map_or(&[][..], |(_, before)| before);
        hops.iter().all(|hop| !apart.has_link(hop.near, hop.far))
            && between.iter().all(|hop| !apart.has_router(hop.router))
    }

    /// The best path that is disjoint from the path of these links, and does what is asked of it.
    pub fn path_beside(
        &mut self,
        now: Time,
        (from, to): (Ipv4Addr, Ipv4Addr),
        constraints: &Constraints,
        hops: &[TeHop],
        what: Disjoint,
    ) -> Result<TePath, NoPath> {
        let constraints = Constraints { apart: self.apart(hops, what), ..constraints.clone() };
        self.path(now, from, to, &constraints)
    }

    /// The best paths, at most `count`, in the order in which a head end tries them. If a standby is wanted, those
    /// come first that have a disjoint path beside them: the best path may be one that leaves no room for another.
    pub fn alternatives(
        &mut self,
        now: Time,
        (from, to): (Ipv4Addr, Ipv4Addr),
        constraints: &Constraints,
        count: usize,
        standby: Option<Disjoint>,
    ) -> Result<Vec<TePath>, NoPath> {
        let paths = self.paths(now, from, to, constraints, count)?;
        let Some(what) = standby else { return Ok(paths) };
        let is_accompanied =
            |path: &TePath| self.path_beside(now, (from, to), constraints, &path.hops, what).is_ok();
        let (accompanied, alone): (Vec<TePath>, Vec<TePath>) = paths.into_iter().partition(is_accompanied);
        Ok([accompanied, alone].concat())
    }
}
