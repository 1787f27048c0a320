//! What a change around a tree leads to: elections that are void, this router's own joins, and tables.

use super::Pim;
use super::machines::{AssertEvent, AssertState, UpstreamEvent, UpstreamState};
use super::metric::Metric;
use super::tree::{Leg, Rpf, Tree, TreeId};
use crate::machine::State;
use crate::protocol::Context;
use crate::services::{Route, RouteHop, Services};
use base::plane::{Incoming, NextHop, Prefix};
use base::{PortId, Time};
use core::net::{IpAddr, Ipv4Addr};

/// Preference and metric of a route that is as good as a static one.
const STATIC: (u32, u32) = (crate::services::Source::STATIC as u32, 0);

/// Gateways behind gateways that are followed to a port.
const GATEWAYS_MAX: u8 = 4;

/// The rank of a route, and its ports with the gateways there.
type Native = ((u32, u32), Vec<(PortId, Ipv4Addr)>);

/// Ports and gateways by which packets come that go to an address without a tunnel, with the rank of the route: trees
/// follow the links themselves, and not what routes over tunnels say (RFC 3906, 2).
fn native(services: &Services, to: Ipv4Addr, left: u8) -> Option<Native> {
    let via = |hop: &NextHop| match *hop {
        NextHop::Via { port, gateway: IpAddr::V4(gateway) } => Some((port, gateway)),
        _ => None,
    };
    let rank = |route: &Route| (route.preference.into(), route.metric);
    let Some((prefix, hops)) = services.rib.lookup(to) else {
        let hops: Vec<_> = services.rib.hops_to(to)?.iter().filter_map(via).collect();
        return Some((STATIC, hops));
    };
    let hops: Vec<_> = hops.iter().filter_map(via).collect();
    if !hops.is_empty() {
        return Some((services.rib.best(prefix).map_or(STATIC, rank), hops));
    }
    let mut all: Vec<&Route> = services.rib.routes(prefix).iter().collect();
    all.sort_by_key(|route| rank(route));
    all.into_iter().find_map(|route| {
        let mut hops = Vec::new();
        for hop in route.hops.as_slice() {
            match hop {
                RouteHop::Direct(hop) => hops.extend(via(hop)),
                RouteHop::Through(gateway) => {
                    let further = left.checked_sub(1).and_then(|left| native(services, *gateway, left));
                    // The gateway on a link is itself the next hop.
                    let own = |(port, next): (PortId, Ipv4Addr)| {
                        (port, if next.is_unspecified() { *gateway } else { next })
                    };
                    hops.extend(further.into_iter().flat_map(|(_, hops)| hops).map(own));
                }
            }
        }
        (!hops.is_empty()).then(|| (rank(route), hops))
    })
}

/// Does the best route to an address name a gateway, so that it moves with the route to that?
fn is_through(services: &Services, to: Ipv4Addr) -> bool {
    let best = services.rib.lookup(to).and_then(|(prefix, _): (Prefix, _)| services.rib.best(prefix));
    best.is_some_and(|best| best.hops.as_slice().iter().any(|hop| matches!(hop, RouteHop::Through(_))))
}

/// Goes on by the machine of the router on a tree. Did anything happen?
pub(super) fn upstream_step(tree: &mut Tree, event: UpstreamEvent) -> bool {
    let next = tree.state.next(event);
    tree.state = next.unwrap_or(tree.state);
    next.is_some()
}

impl Pim {
    /// The way to a sender: RPF_interface(S), and the neighbour there. Of several ways as good the first is taken whose
    /// router speaks PIM. A sender may be on a link on which nobody does.
    fn rpf(&self, services: &Services, source: Ipv4Addr) -> Option<Rpf> {
        let (rank, hops) = native(services, source, GATEWAYS_MAX)?;
        let is_up = |port: PortId| services.interfaces.of_port(port).is_some_and(|interface| interface.up);
        let ways = hops.into_iter().filter_map(|(port, gateway)| {
            let next_hop = (!gateway.is_unspecified() && gateway != source).then_some(gateway);
            let link = self.links.get(&port).filter(|link| link.up);
            let is_there = link.is_some() || next_hop.is_none() && is_up(port);
            let neighbor = next_hop.zip(link).and_then(|(address, link)| link.neighbor_of(address));
            is_there.then_some(Rpf { port, next_hop, neighbor, rank })
        });
        let ways: Vec<Rpf> = ways.collect();
        let speaks = |rpf: &&Rpf| rpf.next_hop.is_none() || rpf.neighbor.is_some();
        ways.iter().find(speaks).or(ways.first()).copied()
    }

    /// Looks at all trees again.
    pub(super) fn settle_all(&mut self, now: Time, context: &mut Context<'_>) {
        for id in self.trees.keys().copied().collect::<Vec<_>>() {
            self.settle(now, context, id);
        }
    }

    /// Has everything follow that follows from the state of a tree and of what is around it.
    pub(super) fn settle(&mut self, now: Time, context: &mut Context<'_>, id: TreeId) {
        let rpf = self.rpf(context.services, id.source);
        let wanting = context.services.multicast.wanted(id.key());
        let links = &self.links;
        let local: Vec<PortId> = wanting.into_iter().filter(|port| links.contains_key(port)).collect();
        if local.is_empty() && !self.trees.contains_key(&id) {
            return;
        }
        let tree = self.trees.entry(id).or_insert(Tree::NEW);
        let before = core::mem::replace(&mut tree.rpf, rpf);
        tree.is_through = is_through(context.services, id.source);
        for port in &local {
            tree.legs.entry(*port).or_insert(Leg::NEW);
        }
        tree.legs.iter_mut().for_each(|(port, leg)| leg.local = local.contains(port));
        let is_desired = self.end_elections(now, id);
        self.join(now, id, before, is_desired);
        self.write(context, id, before);
        self.tidy(id);
    }

    /// Ends elections that are void by now. Would packets leave by any interface then: JoinDesired(S,G)?
    fn end_elections(&mut self, now: Time, id: TreeId) -> bool {
        let ports = |tree: &Tree| tree.legs.keys().copied().collect::<Vec<_>>();
        // What this router wants follows from the interfaces that packets leave by. Whether it matters who forwards
        // onto the link towards the sender follows from that, and changes nothing of it.
        for port in self.trees.get(&id).map(ports).unwrap_or_default() {
            self.end_election(now, id, port, true);
        }
        let Some(tree) = self.trees.get(&id) else { return false };
        let is_desired = tree.outgoing(&self.around()).next().is_some();
        if let Some(rpf) = tree.rpf {
            self.end_election(now, id, rpf.port, is_desired);
        }
        is_desired
    }

    fn end_election(&mut self, now: Time, id: TreeId, port: PortId, is_desired: bool) {
        let around = super::Around { spec: &self.spec, links: &self.links };
        let Some(tree) = self.trees.get_mut(&id) else { return };
        let is_rpf = tree.is_rpf(port);
        let Some(leg) = tree.legs.get_mut(&port) else { return };
        let was_rpf = core::mem::replace(&mut leg.was_rpf, is_rpf);
        let (state, winner) = (leg.assert, leg.winner.unwrap_or(Metric::INFINITE));
        let event = match state {
            AssertState::NoInfo => None,
            AssertState::Winner => (!tree.could_assert(&around, port)).then_some(AssertEvent::CannotAssert),
            AssertState::Loser if was_rpf && !is_rpf => Some(AssertEvent::RpfElsewhere),
            AssertState::Loser if !tree.is_tracking(&around, port, is_desired) => {
                Some(AssertEvent::Untracked)
            }
            AssertState::Loser => {
                tree.own_metric(&around, port).is_better(&winner).then_some(AssertEvent::MetricBetter)
            }
        };
        if let Some(event) = event {
            self.assert_step(now, id, port, event, None);
        }
    }

    /// Joins the neighbour towards the sender, changes it, or leaves it (RFC 7761, figure 6).
    fn join(&mut self, now: Time, id: TreeId, before: Option<Rpf>, is_desired: bool) {
        let Some(tree) = self.trees.get_mut(&id) else { return };
        let wanted = tree.wanted_upstream();
        let way = |rpf: Option<Rpf>| rpf.map(|rpf| (rpf.port, rpf.neighbor));
        let is_asserted = way(before) == way(tree.rpf);
        let old = tree.upstream;
        let event = match (tree.state, is_desired) {
            (UpstreamState::NotJoined, true) => UpstreamEvent::Desired,
            (UpstreamState::Joined, false) => UpstreamEvent::Undesired,
            (UpstreamState::Joined, true) if wanted != old && is_asserted => UpstreamEvent::RpfAsserted,
            (UpstreamState::Joined, true) if wanted != old => UpstreamEvent::RpfChanged,
            _ => return,
        };
        if event == UpstreamEvent::RpfAsserted {
            tree.upstream = wanted;
            return self.join_soon(now, id, event);
        }
        if !upstream_step(tree, event) {
            return;
        }
        let is_joined = tree.state == UpstreamState::Joined;
        tree.upstream = wanted.filter(|_| is_joined);
        tree.join_timer = is_joined.then(|| now + self.spec.join_interval);
        let is_there = |(port, neighbor): &(PortId, Ipv4Addr)| {
            self.links.get(port).is_some_and(|link| link.neighbors.contains_key(neighbor))
        };
        if let Some(old) = old.filter(is_there) {
            self.outbox.say(old, id.group, id.source, false);
        }
        if let Some(new) = wanted.filter(|_| is_joined) {
            self.outbox.say(new, id.group, id.source, true);
        }
    }

    /// Has the tables follow: packets come by the way to the sender, and leave by all other interfaces.
    fn write(&self, context: &mut Context<'_>, id: TreeId, before: Option<Rpf>) {
        let Some(tree) = self.trees.get(&id) else { return };
        let groups = &mut context.services.multicast;
        let (key, way) = (id.key(), tree.rpf.map(|rpf| Incoming::Port(rpf.port)));
        for port in self.links.keys().copied().chain(before.map(|before| before.port)) {
            let incoming = Incoming::Port(port);
            if Some(incoming) != way {
                groups.set(Pim::ID, (key, incoming), Vec::new());
            }
        }
        if let Some(incoming) = way {
            groups.set(Pim::ID, (key, incoming), tree.branches(&self.around(), id.group));
        }
    }

    /// Forgets what is empty, and notes when the rest is due.
    fn tidy(&mut self, id: TreeId) {
        let Some(tree) = self.trees.get_mut(&id) else { return };
        tree.legs.retain(|_, leg| !leg.is_empty());
        if tree.legs.is_empty() && tree.state == UpstreamState::NotJoined {
            if let Some(due) = tree.due {
                self.due.remove(&(due, id));
            }
            self.trees.remove(&id);
            return;
        }
        self.note_due(id);
    }

    /// Notes when something of a tree is due.
    pub(super) fn note_due(&mut self, id: TreeId) {
        let Some(tree) = self.trees.get_mut(&id) else { return };
        if let Some(due) = tree.due {
            self.due.remove(&(due, id));
        }
        tree.due = tree.next();
        self.due.extend(tree.due.map(|due| (due, id)));
    }

    /// What keeps trees from their senders, a clause each.
    pub(super) fn lacking(&self) -> Vec<String> {
        let clause = |(id, tree): (&TreeId, &Tree)| {
            let TreeId { group, source } = id;
            if tree.state != UpstreamState::Joined || tree.upstream.is_some() {
                return None;
            }
            match tree.rpf {
                None => Some(format!("no route leads to {source}, whose packets to {group} are wanted")),
                Some(Rpf { next_hop: None, .. }) => None,
                Some(Rpf { next_hop: Some(hop), .. }) => Some(format!(
                    "{hop}, the next hop to {source}, does not speak PIM: packets of {source} to {group} are wanted"
                )),
            }
        };
        self.trees.iter().filter_map(clause).take(3).collect()
    }
}
