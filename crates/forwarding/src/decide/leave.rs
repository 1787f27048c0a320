//! How a packet leaves: the labels that go on, the neighbour it goes to, and whether the egress takes it.

use super::{By, Bytes, Plan};
use crate::adjacency::{Adjacency, State};
use crate::entry::{BOTTOM, Entry, Kind, TC};
use crate::packet::LABEL;
use crate::phb::tc_bits;
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{LabelStack, TtlModel};
use base::{Dscp, Label, Phb};
use core::net::IpAddr;

impl Forwarding {
    /// Puts the labels of `entry` on what has TC bits `tc` and the outgoing time to live `ttl`; `own` is the PHB that
    /// the label tells whose place the first of them takes.
    pub(super) fn push(
        &self,
        plan: &mut Plan,
        entry: &Entry,
        tc: u32,
        ttl: u8,
        own: Option<Phb>,
    ) -> Result<(), DropReason> {
        let labels = self.stacks.labels(entry);
        let tc = entry.pushed_tc(tc);
        let depth = usize::from(entry.depth).min(LabelStack::MAX);
        // RFC 3443, 4.4: a uniform label copies the TTL from what is below, a pipe label takes the configured one.
        let pushed = if entry.ttl() == TtlModel::Uniform { ttl } else { self.config.pipe_ttl };
        // The first label of an ILM entry takes the place of the one taken off: a swap (RFC 3443, 4.3 (1) and (2)).
        let first = if plan.pop > 0 && plan.by == By::Label { ttl } else { pushed };
        plan.context = entry.context();
        let context = plan.context.and_then(|place| self.contexts.get(place));
        for (place, label) in labels[..depth].iter().enumerate() {
            let ttl = if place == 0 { first } else { pushed };
            let tc = match context {
                None => tc,
                Some(context) => {
                    // RFC 3270, 2.4: a label that is swapped goes on with its own marking, one that is pushed gets
                    // that of the treatment.
                    let phb = if place == 0 { own.or(plan.phb) } else { plan.phb };
                    let phb = phb.unwrap_or_default();
                    let (own_tc, meant) = context.tc(phb).ok_or(DropReason::NoPhb)?;
                    if plan.phb == Some(phb) {
                        plan.phb = Some(meant);
                    }
                    tc_bits(own_tc)
                }
            };
            plan.stack[place] = label.value() << 12 | tc | u32::from(ttl);
        }
        plan.depth = depth;
        Ok(())
    }

    /// Puts the labels of the way out on, above those of the entry. What lies below, or what they take the place of,
    /// has TC bits `tc` and the outgoing time to live `ttl`.
    #[inline(never)]
    pub(super) fn push_outer(&self, plan: &mut Plan, labels: &[Label], entry: &Entry, tc: u32, ttl: u8) {
        // RFC 3443, 4.4.
        let ttl = if entry.ttl() == TtlModel::Uniform { ttl } else { self.config.pipe_ttl };
        let tc = if plan.depth > 0 { plan.stack[plan.depth - 1] & TC } else { tc };
        for label in labels {
            plan.stack[plan.depth] = label.value() << 12 | tc | u32::from(ttl);
            plan.depth += 1;
        }
    }

    /// Labels and adjacency for an IP packet of a flow that leaves with time to live `ttl`.
    pub(crate) fn encapsulate(
        &self,
        plan: &mut Plan,
        entry: &Entry,
        to: IpAddr,
        tos: u8,
        ttl: u8,
        flow: impl FnOnce() -> u64,
    ) -> Result<(), Exception> {
        let precedence = u32::from(tos >> 5) << 9;
        let (mut outer, mut swap): (&[Label], _) = (&[], None);
        if entry.kind == Kind::Connected {
            plan.adjacency = self.neighbour(entry, to)?;
        } else {
            let way = self.way(entry.next_hop, flow)?;
            (plan.adjacency, outer, swap) = (way.adjacency, way.labels, way.swap);
        }
        if entry.depth > 0 {
            if entry.context().is_some() {
                plan.phb = plan.phb.or(Some(Phb::of_dscp(Dscp::of_tos(tos))));
            }
            self.push(plan, entry, precedence, ttl, None)?;
        }
        if let Some(swap) = swap {
            replace_outermost(plan, swap);
        }
        if !outer.is_empty() {
            self.push_outer(plan, outer, entry, precedence, ttl);
        }
        if plan.depth > 0 {
            plan.stack[0] |= BOTTOM;
        }
        Ok(())
    }

    /// The adjacency with the neighbour `to` on the connected network of `entry`.
    pub(super) fn neighbour(&self, entry: &Entry, to: IpAddr) -> Result<u32, Exception> {
        let network = self.adjacencies.get(entry.next_hop).ok_or(DropReason::NoAdjacency)?;
        if !self.ports.get(network.port).is_some_and(|port| port.up) {
            return Err(DropReason::PortDown.into());
        }
        let broadcast = matches!(to, IpAddr::V4(to) if self.is_broadcast(to));
        if broadcast || to.is_multicast() {
            // RFC 2644: directed broadcasts are not forwarded.
            return Err(DropReason::Discard.into());
        }
        let port = network.port;
        self.adjacencies.find(port, to).ok_or(PuntReason::NoAdjacency { port, gateway: to }.into())
    }

    /// The MTU of the neighbour's port, if frames can leave to the neighbour at `index` now. Whether the port is
    /// trusted
    /// matters where there is a choice, which is in groups.
    #[inline(always)]
    pub(crate) fn usable(&self, index: u32, adjacency: &Adjacency) -> Result<u32, Exception> {
        let port = adjacency.port;
        let record = self.ports.get(port).ok_or(DropReason::PortDown)?;
        let config = record.config();
        match adjacency.state {
            _ if !record.up => Err(DropReason::PortDown.into()),
            State::Ready => Ok(config.mtu),
            _ => Err(PuntReason::NoAdjacency { port, gateway: self.adjacencies.gateway(index) }.into()),
        }
    }

    /// Does the egress take the packet, which has `len` bytes on a wire without the labels pushed?
    #[inline]
    pub(super) fn egress(&self, bytes: Bytes, plan: &Plan, len: u32) -> Result<(), Exception> {
        let adjacency = self.adjacencies.get(plan.adjacency).ok_or(DropReason::NoAdjacency)?;
        let mtu = self.usable(plan.adjacency, adjacency)?;
        if len + (plan.depth * LABEL) as u32 > mtu {
            let labels = bytes.labels();
            let leaving = (usize::from(labels) - plan.pop.min(usize::from(labels)) + plan.depth) * LABEL;
            return Err(PuntReason::TooBig { mtu: mtu.saturating_sub(leaving as u32), labels }.into());
        }
        Ok(())
    }
}

/// Puts a label in the place of the outermost that the entry put on, if it put one on; implicit null takes that off.
pub(super) fn replace_outermost(plan: &mut Plan, label: Label) {
    let Some(last) = plan.depth.checked_sub(1) else { return };
    if label == Label::IMPLICIT_NULL {
        plan.depth = last;
    } else {
        plan.stack[last] = label.value() << 12 | plan.stack[last] & 0xfff;
    }
}
