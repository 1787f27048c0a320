//! How a packet leaves: the labels that go on, the neighbour it goes to, and whether the egress takes it.

use super::{By, Bytes, Plan};
use crate::adjacency::State;
use crate::entry::{BOTTOM, Entry, Kind};
use crate::packet::LABEL;
use crate::phb::tc_bits;
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{LabelStack, TtlModel};
use base::{Dscp, Phb};
use core::net::Ipv4Addr;

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

    /// Labels and adjacency for an IP packet that leaves with time to live `ttl`.
    pub(crate) fn encapsulate(
        &self,
        plan: &mut Plan,
        entry: &Entry,
        to: Ipv4Addr,
        tos: u8,
        ttl: u8,
    ) -> Result<(), Exception> {
        plan.adjacency =
            if entry.kind == Kind::Connected { self.neighbour(entry, to)? } else { entry.adjacency };
        if entry.depth > 0 {
            if entry.context().is_some() {
                plan.phb = plan.phb.or(Some(Phb::of_dscp(Dscp::of_tos(tos))));
            }
            self.push(plan, entry, u32::from(tos >> 5) << 9, ttl, None)?;
            plan.stack[0] |= BOTTOM;
        }
        Ok(())
    }

    /// The adjacency with the neighbour `to` on the connected network of `entry`.
    pub(super) fn neighbour(&self, entry: &Entry, to: Ipv4Addr) -> Result<u32, Exception> {
        let network = self.adjacencies.get(entry.adjacency).ok_or(DropReason::NoAdjacency)?;
        if network.state == State::Down {
            return Err(DropReason::PortDown.into());
        }
        if self.is_broadcast(to) || to.is_multicast() {
            // RFC 2644: directed broadcasts are not forwarded.
            return Err(DropReason::Discard.into());
        }
        let port = network.port;
        self.adjacencies.find(port, to).ok_or(PuntReason::NoAdjacency { port, gateway: to }.into())
    }

    /// Does the egress take the packet, which has `len` bytes on a wire without the labels pushed?
    #[inline]
    pub(super) fn egress(&self, bytes: Bytes, plan: &Plan, len: u32) -> Result<(), Exception> {
        let adjacency = self.adjacencies.get(plan.adjacency).ok_or(DropReason::NoAdjacency)?;
        match adjacency.state {
            State::Ready => {}
            State::Down => return Err(DropReason::PortDown.into()),
            State::Unresolved => {
                let (port, gateway) = (adjacency.port, adjacency.gateway());
                return Err(PuntReason::NoAdjacency { port, gateway }.into());
            }
        }
        if len + (plan.depth * LABEL) as u32 > adjacency.mtu {
            let labels = bytes.labels();
            let leaving = (usize::from(labels) - plan.pop.min(usize::from(labels)) + plan.depth) * LABEL;
            return Err(
                PuntReason::TooBig { mtu: adjacency.mtu.saturating_sub(leaving as u32), labels }.into()
            );
        }
        Ok(())
    }
}
