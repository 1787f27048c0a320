//! Saying that this router is there, and hearing that of others (RFC 7761, 4.3.1).

use super::link::{Heard, below};
use super::machines::{AssertEvent, UpstreamEvent};
use super::tree::TreeId;
use super::{Event, Pim};
use crate::protocol::Context;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use wire::pim::{Hello, Repr};

impl Pim {
    /// Sends a Hello now: what was to answer a new neighbour is answered by it.
    pub(super) fn say_hello(&mut self, port: PortId) {
        let spec = &self.spec;
        let Some(link) = self.links.get_mut(&port).filter(|link| link.up) else { return };
        (link.said, link.triggered) = (true, None);
        let hello = Repr::Hello(link.hello(spec));
        self.send(port, &hello);
    }

    /// Does what is due on links: Hellos, and neighbours that were not heard in time.
    pub(super) fn keep_links(&mut self, now: Time, context: &mut Context<'_>) {
        for port in self.links.keys().copied().collect::<Vec<_>>() {
            let Some(link) = self.links.get_mut(&port) else { continue };
            let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
            let (periodic, triggered) = (is_due(link.hello), is_due(link.triggered));
            if periodic {
                link.hello = Some(now + self.spec.hello_interval);
            }
            let gone = link.expire(now);
            if periodic || triggered {
                self.say_hello(port);
            }
            if !gone.is_empty() {
                for neighbor in gone {
                    self.lose_neighbor(now, port, neighbor);
                }
                self.link_changed(port);
                self.settle_all(now, context);
            }
        }
    }

    /// Takes the Hello of a router.
    pub(super) fn handle_hello(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        (port, from): (PortId, Ipv4Addr),
        hello: &Hello,
    ) {
        let Some(link) = self.links.get_mut(&port).filter(|link| link.up) else { return };
        let before = link.neighbors.get(&from).cloned();
        let heard = link.hear(now, &mut self.random, from, hello);
        match heard {
            Heard::Nothing => return,
            Heard::New => self.tell(Event::PimNeighborUp { port, neighbor: from }),
            Heard::Gone => self.lose_neighbor(now, port, from),
            Heard::Restarted => self.refresh(now, port, from),
            Heard::Known => {}
        }
        // What a Hello says again changes nothing but its time.
        let said = |link: &super::Link| {
            link.neighbors.get(&from).map(|one| (one.dr_priority, one.addresses.clone()))
        };
        let is_same =
            before.map(|one| (one.dr_priority, one.addresses)) == self.links.get(&port).and_then(said);
        if heard != Heard::Known || !is_same {
            self.link_changed(port);
            self.settle_all(now, context);
        }
    }

    /// A router is no neighbour any more: it forwards nothing.
    fn lose_neighbor(&mut self, now: Time, port: PortId, neighbor: Ipv4Addr) {
        self.tell(Event::PimNeighborDown { port, neighbor });
        self.void_elections(now, port, neighbor);
    }

    /// A neighbour has restarted and knows nothing any more: what it was asked for is asked for again soon, and what it
    /// was elected for is void (RFC 7761, 4.5.5 and 4.6.1).
    fn refresh(&mut self, now: Time, port: PortId, neighbor: Ipv4Addr) {
        let joined = self.trees.iter().filter(|(_, tree)| tree.upstream == Some((port, neighbor)));
        for id in joined.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.join_soon(now, id, UpstreamEvent::RpfRestarted);
        }
        self.void_elections(now, port, neighbor);
    }

    fn void_elections(&mut self, now: Time, port: PortId, winner: Ipv4Addr) {
        for id in self.trees.keys().copied().collect::<Vec<_>>() {
            let leg = self.trees.get(&id).and_then(|tree| tree.legs.get(&port));
            if leg.and_then(|leg| leg.winner).is_some_and(|metric| metric.address == winner) {
                self.assert_step(now, id, port, AssertEvent::WinnerGone, None);
            }
        }
    }

    /// Tells the user if another router speaks for the hosts of a link.
    pub(super) fn link_changed(&mut self, port: PortId) {
        let Some(link) = self.links.get_mut(&port) else { return };
        let router = link.up.then(|| link.designated(&self.spec));
        if core::mem::replace(&mut link.dr, router) != router
            && let Some(router) = router
        {
            self.tell(Event::PimDesignated { port, router });
        }
    }

    /// Has the next Join of a tree sent within the override interval of its link, if it was to be later
    /// (RFC 7761, 4.5.5: t_override).
    pub(super) fn join_soon(&mut self, now: Time, id: TreeId, event: UpstreamEvent) {
        let Some(tree) = self.trees.get_mut(&id) else { return };
        let Some(link) = tree.upstream.and_then(|(port, _)| self.links.get(&port)) else { return };
        let at = now + below(&mut self.random, link.override_interval(&self.spec));
        if super::settle::upstream_step(tree, event) {
            tree.join_timer = tree.join_timer.map(|timer| timer.min(at));
        }
        self.note_due(id);
    }
}
