//! Noticing that a parent or a link is gone, and joining again (RFC 2189, 4.5 to 4.7).

use super::Cbt;
use super::tree::{Tree, TreeEvent, TreeState};
use crate::protocol::Context;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use wire::cbt::Repr;

impl Cbt {
    /// Does what is due: repeats joins, asks for parents, and gives up those that do not answer.
    pub(super) fn keep(&mut self, now: Time, context: &mut Context<'_>) {
        if self.echo <= now {
            self.echo = now + self.spec.echo_interval;
            let on = self.trees.values().filter(|tree| tree.state == TreeState::OnTree);
            let parents: BTreeSet<PortId> = on.filter_map(|tree| Some(tree.parent?.port)).collect();
            for port in parents {
                self.say(context.services, port, &Repr::EchoRequest { child: self.router_id });
            }
        }
        let is_due = |end: Option<Time>| end.is_some_and(|end| end <= now);
        for group in self.trees.keys().copied().collect::<Vec<_>>() {
            let Some(tree) = self.trees.get_mut(&group) else { continue };
            match tree.again {
                Some((_, end)) if end <= now => {
                    // RFC 2189, 4.2.1: it is an error; hosts that go on wanting the group have it tried again.
                    self.lose(now, context, group, TreeEvent::TimedOut);
                }
                Some((due, end)) if due <= now => {
                    tree.again = Some((now + self.spec.retransmit_interval, end));
                    self.ask(context, group);
                }
                _ if is_due(tree.expires) => self.lose(now, context, group, TreeEvent::Lost),
                _ => {}
            }
        }
    }

    /// When something is due.
    pub(super) fn next(&self) -> Option<Time> {
        let of = |tree: &Tree| [tree.again.map(|(due, end)| due.min(end)), tree.expires];
        let trees = self.trees.values().flat_map(of).flatten();
        let asks = self.trees.values().any(|tree| tree.expires.is_some());
        trees.chain(asks.then_some(self.echo)).min()
    }

    /// The parent is gone: children are told (RFC 2189, 4.7.1), and the router joins again if somebody wants the group.
    fn lose(&mut self, now: Time, context: &mut Context<'_>, group: Ipv4Addr, event: TreeEvent) {
        if !self.step(group, event) {
            return;
        }
        self.forget_parent(group);
        let Some(tree) = self.trees.get_mut(&group) else { return };
        tree.waiting.clear();
        let children = core::mem::take(&mut tree.children);
        for port in children.into_keys() {
            self.say(context.services, port, &Repr::FlushTree { groups: vec![group] });
        }
        self.look(now, context, group);
    }

    /// A child asks whether its parent is there (RFC 2189, 4.5.2).
    pub(super) fn handle_echo(&mut self, context: &mut Context<'_>, port: PortId) {
        let has = |tree: &Tree| tree.children.contains_key(&port);
        let groups: Vec<_> =
            self.trees.iter().filter(|(_, tree)| has(tree)).map(|(group, _)| *group).collect();
        if !groups.is_empty() {
            self.say(context.services, port, &Repr::EchoReply { parent: self.router_id, groups });
        }
    }

    /// The parent is there, and has these groups (RFC 2189, 4.6.2).
    pub(super) fn handle_echo_reply(&mut self, now: Time, port: PortId, groups: &[Ipv4Addr]) {
        let expires = now + self.spec.expire_time();
        for group in groups {
            if let Some(tree) = self.trees.get_mut(group)
                && tree.expires.is_some()
                && tree.parent.is_some_and(|parent| parent.port == port)
            {
                tree.expires = Some(expires);
            }
        }
    }

    /// The parent has lost the tree (RFC 2189, 4.7.2).
    pub(super) fn handle_flush(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        port: PortId,
        groups: &[Ipv4Addr],
    ) {
        let of_parent = |tree: &Tree| tree.parent.is_some_and(|parent| parent.port == port);
        let meant = |group: &Ipv4Addr| groups.is_empty() || groups.contains(group);
        let all = self.trees.iter().filter(|(group, tree)| meant(group) && of_parent(tree));
        for group in all.map(|(group, _)| *group).collect::<Vec<_>>() {
            self.lose(now, context, group, TreeEvent::Lost);
        }
    }

    /// A link can be used again, or can't.
    pub(super) fn port_changed(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        for group in self.trees.keys().copied().collect::<Vec<_>>() {
            let Some(tree) = self.trees.get_mut(&group) else { continue };
            let is_parent = tree.parent.is_some_and(|parent| parent.port == port);
            if !up {
                tree.children.remove(&port);
                tree.waiting.remove(&port);
            }
            if !up && is_parent {
                self.lose(now, context, group, TreeEvent::Lost);
            } else {
                self.look(now, context, group);
            }
        }
    }

    /// Who waits for a way to the core may have one now.
    pub(super) fn routes_changed(&mut self, now: Time, context: &mut Context<'_>) {
        let waits = |tree: &Tree| tree.state == TreeState::Off && tree.is_wanted();
        let all = self.trees.iter().filter(|(_, tree)| waits(tree)).map(|(group, _)| *group);
        for group in all.collect::<Vec<_>>() {
            self.look(now, context, group);
        }
    }
}
