//! What BGP has bound to a prefix, as whoever tests LSPs wants to know (RFC 8029, 3.2.13 to 3.2.16 and 4.4.1).

use super::Bgp;
use super::labels::far;
use super::table::{Entry, Path};
use crate::inquiry::{Fec, FecMapping, GivenBy};
use crate::services::{Services, ways_to};
use base::Label;
use base::plane::{IpPrefix, LabelStack, Leg, Prefix, Prefix6};
use core::net::IpAddr;
use std::collections::BTreeMap;
use wire::bgp::Labels;

/// The prefix of an FEC whose label may be of BGP.
fn prefix_of(fec: &Fec) -> Option<IpPrefix> {
    Some(match *fec {
        Fec::BgpIpv4 { prefix, length } | Fec::GenericIpv4 { prefix, length } => {
            IpPrefix::V4(Prefix::new(prefix, length))
        }
        Fec::BgpIpv6 { prefix, length } | Fec::GenericIpv6 { prefix, length } => {
            IpPrefix::V6(Prefix6::new(prefix, length))
        }
        _ => return None,
    })
}

/// The label of this router that neighbours have been told for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    given: Label,
    /// Does an LSP with it end here?
    ends: bool,
}

impl Bgp {
    /// What is bound to each destination for which neighbours have been told a label.
    pub(super) fn all_bound(&self) -> BTreeMap<IpPrefix, Bound> {
        let of = |(prefix, entry): (IpPrefix, &Entry)| {
            let given = entry.told.as_slice().iter().find_map(Path::label)?;
            let best = entry.best()?;
            let ends = best.place().is_none() || self.sets.sequences.get(best.label).is_empty();
            Some((prefix, Bound { given, ends }))
        };
        // That of a restart which is not over has not been told again.
        let mut all = self.bound_before.clone();
        all.retain(|prefix, _| self.is_deferred(*prefix));
        all.extend(self.prefixes.iter().filter_map(of));
        all
    }

    /// What is bound to a prefix; nothing if it has a label neither here nor at the next router of BGP.
    pub(super) fn fec_mapping(&self, services: &Services, fec: &Fec) -> Option<FecMapping> {
        let prefix = prefix_of(fec)?;
        let before = self.bound_before.get(&prefix);
        if self.is_deferred(prefix) {
            // RFC 4724, 4.1: packets go by the entries from before the restart.
            return before.map(|bound| FecMapping {
                is_egress: bound.ends,
                ..FecMapping::transit(GivenBy::Bgp, Some(bound.given), Vec::new())
            });
        }
        let entry = self.prefixes.get(prefix)?;
        let told = entry.told.as_slice().iter().find_map(Path::label);
        // After a restart neighbours are told again the label that they have.
        let given = told.or(before.map(|bound| bound.given));
        let best = entry.best()?;
        let labels = best.place().map_or(Labels::NONE, |_| self.sets.sequences.get(best.label));
        if labels.is_empty() {
            // This router reaches it without a label: whoever was told one sends packets on an LSP that ends here.
            return given.map(|given| FecMapping::egress(GivenBy::Bgp, Some(given)));
        }
        let gateway = far(self.sets.hops.address(self.sets.brief(best.set).gateway)?);
        let ribs = (&services.rib, &services.rib6);
        let ways = ways_to(gateway, Bgp::ID, &services.interfaces, ribs, &services.bindings);
        let below = |leg: Leg| {
            let labels: Vec<Label> =
                labels.iter().rev().chain(leg.labels.as_slice().iter().copied()).collect();
            Some(Leg { labels: LabelStack::new(&labels)?, ..leg })
        };
        let legs = ways.into_iter().filter_map(below).collect();
        // No LSP to an IPv6 address is known by an FEC.
        let far = match gateway {
            IpAddr::V4(gateway) => Some(gateway),
            IpAddr::V6(_) => None,
        };
        Some(FecMapping { far, ..FecMapping::transit(GivenBy::Bgp, given, legs) })
    }
}
