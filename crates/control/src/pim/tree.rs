//! A source-specific tree at this router, and what follows from its state (RFC 7761, 4.1).

use super::link::Link;
use super::machines::{AssertState, DownstreamState, UpstreamState};
use super::metric::Metric;
use super::section::PimSpec;
use base::plane::{GroupKey, LabelStack, NextHop, Nhlfe, TcSource, TtlModel};
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// Names a tree: a group, and a sender to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TreeId {
    pub group: Ipv4Addr,
    pub source: Ipv4Addr,
}

impl TreeId {
    /// As the service of groups has it.
    pub(super) fn key(self) -> GroupKey {
        GroupKey { group: self.group.into(), source: Some(self.source.into()) }
    }
}

/// The way to the sender, by the routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rpf {
    /// The interface: packets are taken from it alone.
    pub port: PortId,
    /// The router there, as the routing table knows it; nothing if the sender is on the link.
    pub next_hop: Option<Ipv4Addr>,
    /// The same by the address of its Hellos; nothing as long as it has sent none.
    pub neighbor: Option<Ipv4Addr>,
    /// Preference and metric of the route.
    pub rank: (u32, u32),
}

/// What is known of an interface for a tree.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub state: DownstreamState,
    /// When what was joined is forgotten; `Time::MAX` for never.
    pub expires: Option<Time>,
    /// When a Prune comes into force.
    pub pending: Option<Time>,
    /// Has the Prune to be repeated for the link when it comes into force: were there several routers?
    pub echoes: bool,
    /// Do hosts there want the packets?
    pub local: bool,
    pub assert: AssertState,
    /// Who forwards onto the link, and its metric, if anybody was elected.
    pub winner: Option<Metric>,
    pub assert_timer: Option<Time>,
    /// Was it the way to the sender when this was last looked at?
    pub was_rpf: bool,
}

impl Leg {
    pub(super) const NEW: Leg = Leg {
        state: DownstreamState::NoInfo,
        expires: None,
        pending: None,
        echoes: false,
        local: false,
        assert: AssertState::NoInfo,
        winner: None,
        assert_timer: None,
        was_rpf: false,
    };

    /// Is the interface among joins(S,G)?
    pub(super) fn is_joined(&self) -> bool {
        self.state != DownstreamState::NoInfo
    }

    /// Is nothing known that would have to be kept?
    pub(super) fn is_empty(&self) -> bool {
        !self.is_joined() && !self.local && self.assert == AssertState::NoInfo
    }

    pub(super) fn next(&self) -> Option<Time> {
        [self.expires, self.pending, self.assert_timer].into_iter().flatten().min()
    }
}

/// A tree at this router.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub state: UpstreamState,
    pub rpf: Option<Rpf>,
    /// The router that is joined: RPF'(S,G), the winner of an Assert in place of the one that routes lead to.
    pub upstream: Option<(PortId, Ipv4Addr)>,
    pub join_timer: Option<Time>,
    pub legs: BTreeMap<PortId, Leg>,
    /// Does the way to the sender follow that to a gateway, so that it may move though the route stays?
    pub is_through: bool,
    /// When something of it is due, as the list of all says.
    pub due: Option<Time>,
}

/// What the state of an interface follows from.
pub(super) struct Around<'a> {
    pub spec: &'a PimSpec,
    pub links: &'a BTreeMap<PortId, Link>,
}

impl Tree {
    pub(super) const NEW: Tree = Tree {
        state: UpstreamState::NotJoined,
        rpf: None,
        upstream: None,
        join_timer: None,
        legs: BTreeMap::new(),
        is_through: false,
        due: None,
    };

    pub(super) fn is_rpf(&self, port: PortId) -> bool {
        self.rpf.is_some_and(|rpf| rpf.port == port)
    }

    /// The own metric on an interface if this router forwards: spt_assert_metric(S,I).
    pub(super) fn spt_metric(&self, around: &Around<'_>, port: PortId) -> Metric {
        match (self.rpf, around.links.get(&port)) {
            (Some(Rpf { rank: (preference, metric), .. }), Some(link)) => {
                Metric { rpt: false, preference, metric, address: link.own }
            }
            _ => Metric::INFINITE,
        }
    }

    /// The metric that this router says on an interface: my_assert_metric(S,G,I).
    pub(super) fn own_metric(&self, around: &Around<'_>, port: PortId) -> Metric {
        if self.could_assert(around, port) { self.spt_metric(around, port) } else { Metric::INFINITE }
    }

    /// Has another router been elected to forward onto the link: lost_assert(S,G,I)?
    pub(super) fn has_lost(&self, around: &Around<'_>, port: PortId) -> bool {
        let leg = self.legs.get(&port).filter(|leg| leg.assert == AssertState::Loser);
        let winner = leg.filter(|_| !self.is_rpf(port)).and_then(|leg| leg.winner);
        winner.is_some_and(|winner| winner.is_better(&self.spt_metric(around, port)))
    }

    fn is_designated(around: &Around<'_>, port: PortId) -> bool {
        around.links.get(&port).is_some_and(|link| link.up && link.designated(around.spec) == link.own)
    }

    /// Are packets for hosts on the link this router's business: is the interface in pim_include(S,G)?
    fn includes(&self, around: &Around<'_>, port: PortId, leg: &Leg) -> bool {
        let is_chosen = Tree::is_designated(around, port) && !self.has_lost(around, port);
        leg.local && (is_chosen || leg.assert == AssertState::Winner)
    }

    /// Would packets be sent to the interface if nobody else was elected: CouldAssert(S,G,I)?
    pub(super) fn could_assert(&self, around: &Around<'_>, port: PortId) -> bool {
        let is_out = |leg: &Leg| leg.is_joined() || self.includes(around, port, leg);
        self.rpf.is_some_and(|rpf| rpf.port != port) && self.legs.get(&port).is_some_and(is_out)
    }

    /// Does it matter to this router who forwards onto the link: AssertTrackingDesired(S,G,I)?
    pub(super) fn is_tracking(&self, around: &Around<'_>, port: PortId, is_desired: bool) -> bool {
        let local =
            |leg: &Leg| leg.local && (Tree::is_designated(around, port) || leg.assert == AssertState::Winner);
        let out = self.legs.get(&port).is_some_and(|leg| leg.is_joined() || local(leg));
        out || (self.is_rpf(port) && is_desired)
    }

    /// The interfaces that packets are to leave by: immediate_olist(S,G).
    pub(super) fn outgoing<'a>(&'a self, around: &'a Around<'_>) -> impl Iterator<Item = PortId> + 'a {
        let is_out = |port: PortId, leg: &Leg| {
            (leg.is_joined() || self.includes(around, port, leg)) && !self.has_lost(around, port)
        };
        self.legs.iter().filter(move |(port, leg)| is_out(**port, leg)).map(|(port, _)| *port)
    }

    /// The router that is to be joined: RPF'(S,G).
    pub(super) fn wanted_upstream(&self) -> Option<(PortId, Ipv4Addr)> {
        let rpf = self.rpf?;
        let leg = self.legs.get(&rpf.port).filter(|leg| leg.assert == AssertState::Loser);
        let neighbor = leg.and_then(|leg| leg.winner).map(|winner| winner.address).or(rpf.neighbor)?;
        Some((rpf.port, neighbor))
    }

    /// Where packets go that come by the way to the sender: to all interfaces but that.
    pub(super) fn branches(&self, around: &Around<'_>, group: Ipv4Addr) -> Vec<Nhlfe> {
        if self.state != UpstreamState::Joined {
            return Vec::new();
        }
        self.outgoing(around).filter(|port| !self.is_rpf(*port)).map(|port| branch(port, group)).collect()
    }

    /// When something is due.
    pub(super) fn next(&self) -> Option<Time> {
        let times = self.legs.values().filter_map(Leg::next).chain(self.join_timer);
        times.filter(|time| *time != Time::MAX).min()
    }
}

/// Onto a link as it is, to the group's own Ethernet address.
fn branch(port: PortId, group: Ipv4Addr) -> Nhlfe {
    let next_hop = NextHop::Via { port, gateway: group.into() };
    Nhlfe { push: LabelStack::EMPTY, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}
