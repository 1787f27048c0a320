//! Getting on a tree, and off it (RFC 2189, 4.2 to 4.4).

use super::tree::{Limb, TreeEvent, TreeState};
use super::{Cbt, leads_to_routers};
use crate::protocol::Context;
use base::plane::NextHop;
use base::{Label, PortId, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::cbt::Repr;

impl Cbt {
    /// Looks whether somebody wants a group, joins its tree or leaves it, and writes what follows.
    pub(super) fn look(&mut self, now: Time, context: &mut Context<'_>, group: Ipv4Addr) {
        let Some(tree) = self.trees.get_mut(&group) else { return };
        tree.hosts = context.services.multicast.wanting(group.into());
        let (is_wanted, core, state) = (tree.is_wanted(), tree.core, tree.state);
        match (is_wanted, state) {
            (true, TreeState::Off) if self.is_own(context.services, core) => {
                self.step(group, TreeEvent::WantedAtCore);
                self.admit(now, context, group);
            }
            (true, TreeState::Off) => self.join(now, context, group),
            (false, TreeState::Joining | TreeState::OnTree) => self.quit(now, context, group),
            _ => {}
        }
        self.write(context, group, Vec::new());
    }

    /// Asks the neighbour on the way to the core (RFC 2189, 4.2.1).
    fn join(&mut self, now: Time, context: &mut Context<'_>, group: Ipv4Addr) {
        let Some(core) = self.trees.get(&group).map(|tree| tree.core) else { return };
        let Some((port, address)) = self.towards(context, core) else {
            // Nobody leads there: tried again when routes change.
            return;
        };
        if !self.step(group, TreeEvent::Wanted) {
            return;
        }
        let limb = self.limb(context, port, address);
        let (own, wait) = (self.router_id, (self.spec.retransmit_interval, self.spec.join_timeout()));
        let Some(tree) = self.trees.get_mut(&group) else { return };
        tree.parent = Some(limb);
        // A join of a child goes on as it came; RFC 2189, 4.2.2.
        tree.origin = match tree.waiting.values().next() {
            Some((_, origin)) if tree.hosts.is_empty() => *origin,
            _ => own,
        };
        tree.again = Some((now + wait.0, now + wait.1));
        self.ask(context, group);
    }

    /// Sends the join of a group whose parent is known, as soon as the label that it announces is in force.
    pub(super) fn ask(&mut self, context: &mut Context<'_>, group: Ipv4Addr) {
        let Some(tree) = self.trees.get(&group) else { return };
        let Some(parent) = tree.parent else { return };
        let (core, origin, label) = (tree.core, tree.origin, parent.mine);
        let repr = Repr::JoinRequest { group, core, origin, label };
        let message = self.message(context.services, parent.port, &repr);
        self.write(context, group, message.into_iter().collect());
    }

    /// The port and the neighbour on the way to an address: another link if that is to be avoided.
    fn towards(&self, context: &Context<'_>, to: Ipv4Addr) -> Option<(PortId, Ipv4Addr)> {
        let services = &context.services;
        services.rib.hops_to(to)?.into_iter().find_map(|hop| match hop {
            NextHop::Via { port, gateway: IpAddr::V4(gateway) } => {
                let neighbor = if gateway.is_unspecified() { to } else { gateway };
                let is_up = services.interfaces.of_port(port).is_some_and(|interface| interface.up);
                let usable = is_up && !services.avoided.is(port) && leads_to_routers(services, port);
                usable.then_some((port, neighbor))
            }
            _ => None,
        })
    }

    /// A neighbour asks to be a child (RFC 2189, 4.2.2).
    pub(super) fn handle_join(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        (port, from): (PortId, Ipv4Addr),
        (group, core, origin): (Ipv4Addr, Ipv4Addr, Ipv4Addr),
        label: Option<Label>,
    ) {
        // Every router of a tree has to know its core; a join for another core would grow a second tree.
        let Some(tree) = self.trees.get(&group).filter(|tree| tree.core == core) else {
            self.malformed += 1;
            return;
        };
        if tree.parent.is_some_and(|parent| parent.port == port) {
            // From the upstream interface: both would be each other's parent.
            return;
        }
        let known = tree.children.get(&port).or_else(|| tree.waiting.get(&port).map(|(limb, _)| limb));
        let limb = match known.filter(|limb| limb.address == from).copied() {
            Some(limb) => Limb { theirs: label, ..limb },
            None => Limb { theirs: label, ..self.limb(context, port, from) },
        };
        if let Some(tree) = self.trees.get_mut(&group) {
            tree.children.remove(&port);
            tree.waiting.insert(port, (limb, origin));
        }
        self.look(now, context, group);
        self.admit(now, context, group);
    }

    /// Makes those who wait children, and acknowledges their joins, if this router is on the tree (RFC 2189, 4.3.1).
    fn admit(&mut self, _: Time, context: &mut Context<'_>, group: Ipv4Addr) {
        let Some(tree) = self.trees.get_mut(&group).filter(|tree| tree.state == TreeState::OnTree) else {
            return;
        };
        let waiting = core::mem::take(&mut tree.waiting);
        tree.children.extend(waiting.iter().map(|(port, (limb, _))| (*port, *limb)));
        let answers: Vec<_> = waiting
            .into_values()
            .filter_map(|(limb, target)| {
                let repr = Repr::JoinAck { group, target, label: limb.mine };
                self.message(context.services, limb.port, &repr)
            })
            .collect();
        if !answers.is_empty() {
            self.write(context, group, answers);
        }
    }

    /// The parent has answered (RFC 2189, 4.3.2).
    pub(super) fn handle_join_ack(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        (port, from): (PortId, Ipv4Addr),
        group: Ipv4Addr,
        label: Option<Label>,
    ) {
        let expires = now + self.spec.expire_time();
        let Some(tree) = self.trees.get_mut(&group) else { return };
        let Some(parent) = tree.parent.as_mut().filter(|parent| parent.port == port) else { return };
        (parent.address, parent.theirs) = (from, label);
        if !self.step(group, TreeEvent::Acknowledged) {
            return;
        }
        if let Some(tree) = self.trees.get_mut(&group) {
            (tree.again, tree.expires) = (None, Some(expires));
        }
        self.admit(now, context, group);
        self.write(context, group, Vec::new());
    }

    /// Nobody wants the group any more: the parent is told (RFC 2189, 4.4.1).
    pub(super) fn quit(&mut self, _: Time, context: &mut Context<'_>, group: Ipv4Addr) {
        let child = self.router_id;
        if !self.step(group, TreeEvent::Unwanted) {
            return;
        }
        if let Some(parent) = self.trees.get(&group).and_then(|tree| tree.parent) {
            self.say(context.services, parent.port, &Repr::QuitNotification { group, child });
        }
        self.forget_parent(group);
        self.write(context, group, Vec::new());
    }

    pub(super) fn forget_parent(&mut self, group: Ipv4Addr) {
        if let Some(tree) = self.trees.get_mut(&group) {
            (tree.parent, tree.again, tree.expires) = (None, None, None);
        }
    }

    /// A child leaves (RFC 2189, 4.4.2). On links between two routers nobody else can want what it leaves.
    pub(super) fn handle_quit(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        port: PortId,
        group: Ipv4Addr,
    ) {
        let Some(tree) = self.trees.get_mut(&group) else { return };
        if tree.children.remove(&port).is_some() | tree.waiting.remove(&port).is_some() {
            self.look(now, context, group);
        }
    }
}
