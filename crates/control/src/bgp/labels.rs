//! Labels of destinations (RFC 8277), and IPv6 over a core of IPv4 (RFC 4798): what packets get, and what becomes of
//! packets that come with a label of this router.
//!
//! A destination that is reached by a label of another router has one of this router, too, as long as neighbours are
//! told that label: packets with it are given the other. One that this router reaches without a label needs none: of
//! IPv4 neighbours are told implicit null, of IPv6 explicit null, which says to the router at the end of the LSP what
//! is below (RFC 4798, 3).

use super::several::pushed;
use super::table::{Entry, Path};
use super::{Bgp, EXTERNAL_PREFERENCE, INTERNAL_PREFERENCE};
use crate::protocol::Context;
use crate::services::{Beneath, Binder, Incoming, LabelSpace, Services, Source};
use base::Label;
use base::plane::IpPrefix;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IPv4 address that an IPv6 address stands for (RFC 4291, 2.5.5.2).
pub(super) fn mapped(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => address.to_ipv4_mapped(),
    }
}

/// Where packets go by a next hop: an IPv6 address may stand for an IPv4 address (RFC 4798, 2).
pub(super) fn far(address: IpAddr) -> IpAddr {
    mapped(address).map_or(address, IpAddr::V4)
}

/// An IPv4 address where IPv6 addresses are wanted (RFC 4798, 2).
pub(super) fn as_ipv6(address: Ipv4Addr) -> Ipv6Addr {
    address.to_ipv6_mapped()
}

/// Have packets to a destination a better route than one of BGP with this preference?
fn yields(services: &Services, prefix: IpPrefix, preference: u8) -> bool {
    let own = Source::Protocol(Bgp::ID);
    match prefix {
        IpPrefix::V4(prefix) => services.rib.best(prefix).is_some_and(|route| route.source != own),
        // What goes by LSPs of IPv4 has no route in the table of IPv6, and is compared as if it had.
        IpPrefix::V6(prefix) => services
            .rib6
            .best(prefix)
            .is_some_and(|route| (route.preference, route.source) < (preference, own)),
    }
}

impl Bgp {
    /// How packets get to a destination by a path with a label; nothing if it has none.
    pub(super) fn beneath(&self, path: &Path) -> Option<Beneath> {
        path.place()?;
        if !path.is_labelled() {
            return None;
        }
        let push = pushed(&self.sets.sequences.get(path.label));
        let gateway = far(self.sets.hops.address(self.sets.brief(path.set).gateway)?);
        Some(Beneath { gateway, push })
    }

    /// Has packets to a destination, and those with its label, take the path that was chosen; packets without a label
    /// only as long as no other source has a better route to it.
    pub(super) fn route_labelled(&self, services: &mut Services, prefix: IpPrefix, best: Option<&Path>) {
        let way = best.and_then(|path| self.beneath(path));
        let is_external = best.and_then(Path::place).is_some_and(|place| self.is_external(place));
        let preference = if is_external { EXTERNAL_PREFERENCE } else { INTERNAL_PREFERENCE };
        let binder = Binder { preference, owner: Bgp::ID, rank: 0 };
        // Without a label a packet takes its route, which follows LSPs, too; IPv6 over LSPs of IPv4 has none.
        let has_route = |way: &Beneath| matches!(prefix, IpPrefix::V4(_)) || way.gateway.is_ipv6();
        let needed = way.filter(|way| !way.push.as_slice().is_empty() || !has_route(way));
        let is_silent = best.is_some_and(|path| self.lsps.is_silent(prefix, path));
        let needed = needed.filter(|_| !is_silent && !yields(services, prefix, preference));
        services.label_prefix(binder, prefix, needed);
        if let Some(label) = self.labels.get(&prefix) {
            let what = best.map(|_| way.map_or(Incoming::Pop, Incoming::Swap));
            services.label_arriving(Bgp::ID, *label, what);
        }
    }

    /// The label by which neighbours reach a destination through this router; nothing if none is left.
    pub(super) fn local_label(
        &mut self,
        context: &mut Context<'_>,
        prefix: IpPrefix,
        best: &Path,
    ) -> Option<Label> {
        let Some(way) = self.beneath(best) else {
            return Some(match prefix {
                IpPrefix::V4(_) => Label::IMPLICIT_NULL,
                IpPrefix::V6(_) => Label::EXPLICIT_NULL_V6,
            });
        };
        if let Some(label) = self.labels.get(&prefix) {
            return Some(*label);
        }
        let label = context.services.labels.allocate(LabelSpace::Platform, Bgp::ID)?;
        context.services.label_arriving(Bgp::ID, label, Some(Incoming::Swap(way)));
        self.labels.insert(prefix, label);
        Some(label)
    }

    /// Gives the label of a destination back if no neighbour is told it any more.
    pub(super) fn tidy_label(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
        let Some(label) = self.labels.get(&prefix).copied().filter(|_| !self.keeps_labels) else { return };
        let is_told = |entry: &Entry| entry.told.as_slice().iter().any(|path| path.label() == Some(label));
        if self.prefixes.get(prefix).is_some_and(is_told) {
            return;
        }
        self.labels.remove(&prefix);
        context.services.label_arriving(Bgp::ID, label, None);
        context.services.labels.release(LabelSpace::Platform, Bgp::ID, label);
    }

    /// Of each path to a prefix that a neighbour has told, the outermost label if it has any.
    pub fn labels_from(&self, place: usize, prefix: IpPrefix) -> Vec<Option<Label>> {
        let all = self.prefixes.get(prefix).map_or(&[][..], |entry| entry.paths.as_slice());
        let own = all.iter().filter(|path| path.place() == Some(place));
        own.map(|path| self.sets.sequences.get(path.label).first()).collect()
    }

    /// The label of this router for a destination.
    pub fn label_of(&self, prefix: IpPrefix) -> Option<Label> {
        self.labels.get(&prefix).copied()
    }
}
