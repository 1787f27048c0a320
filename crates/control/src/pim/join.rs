//! What neighbours join and prune: for this router, or seen on the link (RFC 7761, 4.5.2 and 4.5.5).

use super::Pim;
use super::discard::Discard;
use super::link::below;
use super::machines::{AssertEvent, DownstreamEvent, DownstreamState, UpstreamEvent};
use super::settle::upstream_step;
use super::tree::{Leg, Tree, TreeId};
use crate::machine::State;
use crate::protocol::Context;
use base::{PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::pim::{FOREVER, JoinPrune};

/// A host that could send.
fn is_host(address: Ipv4Addr) -> bool {
    !(address.is_multicast() || address.is_unspecified() || address.is_broadcast() || address.is_loopback())
}

impl Pim {
    /// Takes a Join/Prune of a neighbour, each of its entries by itself.
    pub(super) fn handle_join_prune(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        (port, _): (PortId, Ipv4Addr),
        message: &JoinPrune,
    ) {
        let IpAddr::V4(upstream) = message.upstream else { return self.discards.count(Discard::Malformed) };
        let Some(link) = self.links.get(&port) else { return };
        // RFC 7761, 4.5.2: zeros, too, where there is nobody else that could be meant.
        let is_mine = upstream == link.own || (upstream.is_unspecified() && link.is_point_to_point);
        for set in &message.groups {
            // RFC 7761, 4.9.5: of two families that of the neighbour counts.
            let IpAddr::V4(group) = set.group else { continue };
            if !self.spec.takes(group) {
                self.discards.count(Discard::OutsideRange);
                continue;
            }
            let joined = set.joined.iter().map(|entry| (entry, true));
            for (entry, is_join) in joined.chain(set.pruned.iter().map(|entry| (entry, false))) {
                let IpAddr::V4(source) = entry.source else { continue };
                let id = TreeId { group, source };
                if entry.wildcard || entry.rpt {
                    // RFC 7761, 4.8.1: nothing is forwarded by such state.
                    self.discards.count(Discard::NotSpecific);
                    if !is_join && !is_mine {
                        self.override_all(now, id, entry.wildcard, (port, upstream));
                    }
                } else if !is_host(source) {
                    self.discards.count(Discard::Malformed);
                } else if is_mine {
                    self.hear_downstream(now, id, port, is_join, message.holdtime_s);
                    self.settle(now, context, id);
                } else {
                    self.see_upstream(now, id, (port, upstream), is_join, message.holdtime_s);
                }
            }
        }
    }

    /// Another router on the link prunes trees from a rendezvous point, by which older routers prune those of senders,
    /// too: it is overridden (RFC 7761, 4.5.5). A Prune of all senders is about each of the group.
    fn override_all(&mut self, now: Time, pruned: TreeId, is_of_all: bool, upstream: (PortId, Ipv4Addr)) {
        let is_meant = |id: &TreeId| id.group == pruned.group && (is_of_all || id.source == pruned.source);
        let trees = self.trees.iter().filter(|(id, tree)| is_meant(id) && tree.upstream == Some(upstream));
        for id in trees.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.join_soon(now, id, UpstreamEvent::PruneSeen);
        }
    }

    /// A neighbour beyond a port wants packets of this router, or no more (RFC 7761, figure 3).
    fn hear_downstream(&mut self, now: Time, id: TreeId, port: PortId, is_join: bool, holdtime_s: u16) {
        let Some(link) = self.links.get(&port) else { return };
        let (wait, is_shared) = (link.prune_wait(&self.spec), link.neighbors.len() > 1);
        if !is_join && !self.trees.contains_key(&id) {
            return;
        }
        let tree = self.trees.entry(id).or_insert(Tree::NEW);
        let leg = tree.legs.entry(port).or_insert(Leg::NEW);
        let event = if is_join { DownstreamEvent::Join } else { DownstreamEvent::Prune };
        let was = leg.state;
        let Some(next) = leg.state.next(event) else { return };
        leg.state = next;
        match (event, was) {
            (DownstreamEvent::Join, _) => {
                let end = match holdtime_s {
                    FOREVER => Time::MAX,
                    s => now + Span::from_secs(s.into()),
                };
                leg.expires = Some(leg.expires.map_or(end, |before| before.max(end)));
                leg.pending = None;
                self.assert_step(now, id, port, AssertEvent::JoinHeard, None);
            }
            (_, DownstreamState::Join) => {
                // RFC 7761, 4.5.2: with a single neighbour nobody could override it.
                leg.pending = Some(if is_shared { now + wait } else { now });
                leg.echoes = is_shared;
            }
            _ => {}
        }
        self.expire(now, id);
    }

    /// Another router on the link of the way to a sender joins or prunes the router that this one has joined, too
    /// (RFC 7761, 4.5.5).
    fn see_upstream(
        &mut self,
        now: Time,
        id: TreeId,
        upstream: (PortId, Ipv4Addr),
        is_join: bool,
        holdtime_s: u16,
    ) {
        let Some(tree) = self.trees.get_mut(&id).filter(|tree| tree.upstream == Some(upstream)) else {
            return;
        };
        if !is_join {
            return self.join_soon(now, id, UpstreamEvent::PruneSeen);
        }
        let Some(link) = self.links.get(&upstream.0).filter(|link| link.suppresses(&self.spec)) else {
            return;
        };
        debug_assert!(link.up, "who is joined is beyond a link that is up");
        // t_suppressed: between 1.1 and 1.4 periods (RFC 7761, 4.11).
        let period = self.spec.join_interval.0;
        let suppressed = Span(period / 10 * 11) + below(&mut self.random, Span(period / 10 * 3));
        let at = now + suppressed.min(Span::from_secs(holdtime_s.into()));
        if upstream_step(tree, UpstreamEvent::JoinSeen) {
            tree.join_timer = tree.join_timer.map(|timer| timer.max(at));
        }
        self.note_due(id);
    }

    /// Lets timers of a tree end.
    pub(super) fn expire(&mut self, now: Time, id: TreeId) {
        let Some(tree) = self.trees.get_mut(&id) else { return };
        let is_over = |end: Option<Time>| end.is_some_and(|end| end <= now);
        let mut ended = Vec::new();
        for (port, leg) in &mut tree.legs {
            let (expired, pruned) = (is_over(leg.expires), is_over(leg.pending));
            for (is_so, event) in
                [(expired, DownstreamEvent::Expires), (pruned, DownstreamEvent::PrunePendingEnds)]
            {
                let Some(next) = leg.state.next(event).filter(|_| is_so) else { continue };
                leg.state = next;
                (leg.expires, leg.pending) = (None, None);
                let Some(link) = self.links.get(port) else { continue };
                if event == DownstreamEvent::PrunePendingEnds && (leg.echoes || link.neighbors.len() > 1) {
                    // RFC 7761, 4.5.2: PruneEcho, in case that a Join was lost which overrides the Prune.
                    self.outbox.say((*port, link.own), id.group, id.source, false);
                }
            }
            if is_over(leg.assert_timer) {
                ended.push(*port);
            }
        }
        if is_over(tree.join_timer) && upstream_step(tree, UpstreamEvent::TimerEnds) {
            tree.join_timer = Some(now + self.spec.join_interval);
            if let Some(upstream) = tree.upstream {
                self.outbox.say(upstream, id.group, id.source, true);
            }
        }
        ended.into_iter().for_each(|port| self.assert_step(now, id, port, AssertEvent::TimerEnds, None));
    }
}
