//! What is asked of a path, and which links do.

use super::disjoint::Apart;
use super::link::{Distrust, Known};
use base::{Rate, Time};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

base::words! {
    /// Which cost of links paths are compared by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Metric {
        /// That of traffic engineering; where a link has none, the other.
        Te = "te",
        /// That of the routing protocol; where a link has none, the other.
        Igp = "igp",
    }
    default Te;
}

/// Which administrative groups links must have, one a bit (RFC 3209, 4.7.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affinities {
    /// Links of any of these are not used.
    pub exclude_any: u32,
    /// Only links of at least one of these are used; all are if there is none.
    pub include_any: u32,
    /// Only links of all of these are used.
    pub include_all: u32,
}

impl Affinities {
    /// Does a link with these groups do (RFC 3209, 4.7.4)?
    pub const fn accept(&self, groups: u32) -> bool {
        groups & self.exclude_any == 0
            && (self.include_any == 0 || groups & self.include_any != 0)
            && groups & self.include_all == self.include_all
    }

    /// Is there nothing that a link could fail?
    pub const fn is_empty(&self) -> bool {
        self.exclude_any | self.include_any | self.include_all == 0
    }
}

/// What the asking tunnel has reserved already, and would share with the new LSP (RFC 3209, 2.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// How much.
    pub rate: Rate,
    /// With this holding priority.
    pub priority: u8,
    /// The near addresses of the links on which it is.
    pub links: Vec<Ipv4Addr>,
    /// The same of an LSP that is to be replaced, on links that are not among these: it may have reserved otherwise.
    pub replaced: Option<Replaced>,
}

/// What an LSP has reserved that another one is to replace, and shares it with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// How much.
    pub rate: Rate,
    /// The near addresses of the links on which it is.
    pub links: BTreeSet<Ipv4Addr>,
}

impl Held {
    /// What of it is on a link.
    fn on(&self, link: Ipv4Addr) -> Rate {
        if self.links.contains(&link) {
            return self.rate;
        }
        let replaced = self.replaced.as_ref().filter(|replaced| replaced.links.contains(&link));
        replaced.map_or(Rate(0), |replaced| replaced.rate)
    }
}

/// What a path must do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// What each link must have left.
    pub bandwidth: Rate,
    /// For this setup priority, 0 to 7.
    pub priority: u8,
    /// By what paths are compared.
    pub metric: Metric,
    /// Which administrative groups links must have.
    pub affinities: Affinities,
    /// No more links than this.
    pub hop_limit: Option<u32>,
    /// Links of these shared risk link groups are not used.
    pub exclude_srlgs: Vec<u32>,
    /// Addresses of routers that the path does not touch, and of links, at either end, that it does not take.
    pub exclude: Vec<Ipv4Addr>,
    /// Near addresses of links that are not taken from there; the other way they may be.
    pub exclude_from: Vec<Ipv4Addr>,
    /// What is already reserved and can be shared.
    pub held: Held,
    /// What another path has, from which this one is to be disjoint.
    pub apart: Apart,
}

/// Why a link can't be in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Too little is left of its bandwidth.
    Bandwidth,
    /// Its administrative groups.
    Affinity,
    /// Its shared risk link groups.
    Srlg,
    /// It, or the router at one of its ends, was excluded by its address.
    Excluded,
    /// It has refused an LSP lately, or failed one.
    Distrusted,
    /// Nothing is known of its cost.
    Metric,
    /// The path from which this one is to be disjoint has it, or fails with it.
    Common,
}

/// How many reasons there are.
pub(super) const REASONS: usize = 7;

impl Constraints {
    /// What a link has to offer: its cost, and the bandwidth that is left there. `addresses` are those of both ends.
    pub(super) fn weigh(&self, known: &Known, far: Ipv4Addr, now: Time) -> Result<(u64, u64), Reason> {
        let link = &known.link;
        let priority = usize::from(self.priority.min(7));
        let mut left = link.unreserved[priority].0;
        let held = &self.held;
        // What a weaker holder has is counted as left already.
        let shared = held.on(link.local).0;
        if shared > 0 && held.priority <= self.priority {
            left = left.saturating_add(shared).min(link.reservable.0);
        }
        if left < self.bandwidth.0 {
            return Err(Reason::Bandwidth);
        }
        if !self.affinities.accept(link.groups) {
            return Err(Reason::Affinity);
        }
        if link.srlgs.iter().any(|srlg| self.exclude_srlgs.contains(srlg)) {
            return Err(Reason::Srlg);
        }
        let excluded = self.exclude.iter().any(|one| *one == link.local || *one == far);
        if excluded || self.exclude_from.contains(&link.local) {
            return Err(Reason::Excluded);
        }
        if !self.apart.is_empty() && self.apart.has_link(link.local, far) {
            return Err(Reason::Common);
        }
        if let Some((distrust, _)) = known.distrust.filter(|(_, until)| now < *until) {
            let counts = match distrust {
                Distrust::Failed => true,
                Distrust::Refused { priority, rate } => {
                    self.priority >= priority && self.bandwidth >= rate && !held.links.contains(&link.local)
                }
            };
            if counts {
                return Err(Reason::Distrusted);
            }
        }
        let cost = match self.metric {
            Metric::Te => link.te_metric.or(link.igp_metric),
            Metric::Igp => link.igp_metric.or(link.te_metric),
        };
        Ok((cost.ok_or(Reason::Metric)?.into(), left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities_are_tested_as_the_rfc_has_it() {
        let all = Affinities::default();
        assert!(all.accept(0) && all.accept(u32::MAX) && all.is_empty());
        let not = Affinities { exclude_any: 0b110, ..all };
        assert!(not.accept(0b001) && !not.accept(0b010) && !not.accept(0b111) && not.accept(0));
        let any = Affinities { include_any: 0b110, ..all };
        assert!(!any.accept(0) && any.accept(0b010) && any.accept(0b111) && !any.accept(0b1001));
        let every = Affinities { include_all: 0b110, ..all };
        assert!(!every.accept(0b010) && every.accept(0b110) && every.accept(0b111) && !every.accept(0));
    }
}
