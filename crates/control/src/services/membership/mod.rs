//! Who wants which groups on the links of a router: what IGMP and MLD have in common. Their tables and machines are the
//! same (RFC 3376, 6; RFC 3810, 7); addresses, messages and names differ.
//!
//! - `querier`: who asks on a link, as a state machine
//! - `link`: a link with its questions and its groups; `group`: filter mode and sources of one
//! - `timing`: how often is asked, and how long an answer holds
//! - `shown`: what tables show of groups
//! - [`Listeners`]: all links of a router, and what the service of groups is told

mod group;
mod link;
mod querier;
mod shown;
mod timing;

pub(crate) use group::Speaks;
#[cfg(test)]
pub(crate) use group::{Ask, Group};
pub(crate) use link::{Link, Query};
pub(crate) use querier::QuerierState;
pub(crate) use timing::Timing;

use crate::services::{Beyond, Interface, Interfaces, Services};
use base::plane::GroupKey;
use base::{PortId, ProtocolId, Time};
use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet};
use wire::membership::Address;

/// The links of a router, and what is wanted there.
#[derive(Debug)]
pub(crate) struct Listeners<A> {
    pub links: BTreeMap<PortId, Link<A>>,
    /// What is wanted whatever hosts say, and on which links.
    pub static_groups: BTreeSet<(PortId, GroupKey)>,
    /// What the service of groups was told.
    told: BTreeSet<(PortId, GroupKey)>,
    begun: bool,
    next: Option<Time>,
}

impl<A: Address + Ord + Into<IpAddr>> Listeners<A> {
    /// The links with hosts, none of which is up yet; `own` is the router's address on one.
    pub(crate) fn new(
        interfaces: &Interfaces,
        own: impl Fn(&Interface) -> Option<A>,
        static_groups: BTreeSet<(PortId, GroupKey)>,
    ) -> Listeners<A> {
        let speaks = |port: PortId| match interfaces.attached(port) {
            Some(attached) => matches!(attached.beyond, Beyond::Host | Beyond::Segment),
            None => false,
        };
        let all = interfaces.ports().filter(|(port, _)| speaks(*port));
        let links = all.filter_map(|(port, interface)| Some((port, Link::new(own(interface)?)))).collect();
        Listeners { links, static_groups, told: BTreeSet::new(), begun: false, next: Some(Time::ZERO) }
    }

    /// Does what is due, tells what is wanted now, and says which queries are to be sent: by which port, and from which
    /// address.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        timing: &Timing,
        services: &mut Services,
        owner: ProtocolId,
    ) -> Vec<(PortId, A, Query<A>)> {
        let mut queries = Vec::new();
        let mut wanted = BTreeSet::new();
        for (port, link) in &mut self.links {
            queries.extend(link.advance(now, timing).into_iter().map(|query| (*port, link.own, query)));
            let key = |(group, source): (A, Option<A>)| {
                (*port, GroupKey { group: group.into(), source: source.map(Into::into) })
            };
            wanted.extend(link.wanted().map(key));
        }
        self.next = self.links.values().filter_map(Link::next).min();
        let interfaces = &services.interfaces;
        let is_up = |port: PortId| interfaces.of_port(port).is_some_and(|interface| interface.up);
        wanted.extend(self.static_groups.iter().filter(|(port, _)| is_up(*port)));
        let groups = &mut services.multicast;
        for (port, key) in wanted.difference(&self.told) {
            groups.want(*key, *port, owner, true);
        }
        for (port, key) in self.told.difference(&wanted) {
            groups.want(*key, *port, owner, false);
        }
        self.told = wanted;
        queries
    }

    /// The first time something is due: links that are up are begun with.
    pub(crate) fn begin(&mut self, now: Time, timing: &Timing, interfaces: &Interfaces) {
        if core::mem::replace(&mut self.begun, true) {
            return;
        }
        let up = |port: &PortId| interfaces.of_port(*port).is_some_and(|interface| interface.up);
        self.links.iter_mut().filter(|(port, _)| up(port)).for_each(|(_, link)| link.begin(now, timing));
    }

    /// A port has come up, or has gone down. Before the first timeout nothing has begun, and false is returned: that
    /// looks at all interfaces as they are then.
    pub(crate) fn port_changed(&mut self, now: Time, timing: &Timing, port: PortId, up: bool) -> bool {
        if let Some(link) = self.links.get_mut(&port).filter(|_| self.begun) {
            if up { link.begin(now, timing) } else { link.lose() }
        }
        self.begun
    }

    /// Groups that hosts want, on all links.
    pub(crate) fn state_count(&self) -> usize {
        self.links.values().map(|link| link.groups.len()).sum()
    }

    /// When something is due.
    pub(crate) const fn next(&self) -> Option<Time> {
        self.next
    }
}
