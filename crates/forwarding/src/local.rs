//! Sending what the node itself originates.

use crate::decide::Plan;
use crate::entry::Kind;
use crate::hash;
use crate::packet::{ETHERNET, IPV4, LABEL};
use crate::punt::{Exception, PuntReason};
use crate::replicate::Branch;
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::Nhlfe;
use base::{Dscp, Frame, Phb, PortId};
use core::net::{IpAddr, Ipv4Addr};

impl Forwarding {
    /// Sends an IP packet of this node to its destination, by FTN or route: pushes labels and writes the Ethernet
    /// header, into the first 14 bytes of `frame`, which the IP header follows. The time to live is not decremented.
    ///
    /// Filters are for packets in transit: what the node itself sends follows prefixes and routes.
    ///
    /// Returns the egress port; the frame is unchanged otherwise. [`PuntReason::Local`] means that the packet is for
    /// this node itself, and [`PuntReason::Replicate`] that it leaves in copies, by [`Forwarding::originate_copy`].
    /// Drops are not counted here: the caller may have a use for the packet.
    pub fn originate(&mut self, frame: &mut Frame) -> Result<PortId, Exception> {
        self.originate_as(frame, None)
    }

    /// The same of the copy for one branch of the list that the packet comes to.
    pub fn originate_copy(&mut self, frame: &mut Frame, branch: Branch) -> Result<PortId, Exception> {
        self.originate_as(frame, Some(branch))
    }

    fn originate_as(&mut self, frame: &mut Frame, branch: Option<Branch>) -> Result<PortId, Exception> {
        if is_ipv6(frame) {
            return self.originate6(frame, branch);
        }
        let ip = ip_header(frame)?;
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        let place = match self.fib.find(to) {
            None if self.use_route_to(to) => self.fib.find(to),
            place => place,
        };
        let place = place.ok_or(PuntReason::NoRoute { labels: 0 })?;
        let treatment = self.phb_of_tos(ip[1]);
        let phb = treatment.unwrap_or(Phb::of_dscp(Dscp::of_tos(ip[1])));
        let (by, entry) = self.choose(place, to, phb).ok_or(PuntReason::NoRoute { labels: 0 })?;
        let entry = self.branch_of(entry, branch)?;
        match entry.kind {
            Kind::Local | Kind::Unlabelled => return Err(PuntReason::Local { labels: 0 }.into()),
            Kind::Discard | Kind::Empty | Kind::Replicate | Kind::Selected => {
                return Err(DropReason::Discard.into());
            }
            Kind::One | Kind::Via | Kind::Connected | Kind::Standby => {}
        }
        let mut plan = Plan { by, below_is_ip: true, phb: treatment, ..Plan::default() };
        let flow = || {
            let ip = frame.header().get(ETHERNET..).unwrap_or_default();
            hash::ip(self.config.seed, ip, ETHERNET, Some(frame)).unwrap_or_default()
        };
        self.encapsulate(&mut plan, entry, to.into(), ip[1], ip[8], flow)?;
        self.leave(frame, &plan)
    }

    /// Sends an IP packet of this node, without labels, to the neighbour `gateway` beyond `port`, whatever the routes
    /// say: signalling follows explicit routes. The rest is as in [`Forwarding::originate`].
    pub fn transmit_via(
        &mut self,
        port: PortId,
        gateway: IpAddr,
        frame: &mut Frame,
    ) -> Result<PortId, Exception> {
        let ip = ip_header(frame)?;
        let missing = PuntReason::NoAdjacency { port, gateway };
        if !self.ports.get(port).ok_or(missing)?.up {
            return Err(DropReason::PortDown.into());
        }
        let adjacency = self.adjacencies.find(port, gateway).ok_or(missing)?;
        let below_is_ipv6 = is_ipv6(frame);
        let class = if below_is_ipv6 { ip[0] << 4 | ip[1] >> 4 } else { ip[1] };
        let treatment = self.phb_of_tos(class);
        let plan = Plan { adjacency, below_is_ip: true, below_is_ipv6, phb: treatment, ..Plan::default() };
        self.leave(frame, &plan)
    }

    /// What a packet to `to` would meet: the entry in force for the longest prefix, FTN or route. Of LSPs chosen by
    /// PHB, that of default forwarding.
    pub fn route_local(&self, to: Ipv4Addr) -> Option<Nhlfe> {
        let Some(place) = self.fib.find(to) else { return self.unused_route(to) };
        let (_, entry) = self.choose(place, to, Phb::DEFAULT)?;
        Some(self.nhlfe(entry))
    }

    pub(crate) fn leave(&mut self, frame: &mut Frame, plan: &Plan) -> Result<PortId, Exception> {
        let adjacency = self.adjacencies.get(plan.adjacency).ok_or(DropReason::NoAdjacency)?;
        let mtu = self.usable(plan.adjacency, adjacency)?;
        let pushed = (plan.depth * LABEL) as u32;
        if frame.segment_len() - ETHERNET as u32 + pushed > mtu {
            return Err(PuntReason::TooBig { mtu: mtu.saturating_sub(pushed), labels: 0 }.into());
        }
        self.rewrite(frame, plan)
    }
}

/// Is the packet behind the room for Ethernet one of IPv6?
fn is_ipv6(frame: &Frame) -> bool {
    frame.header().get(ETHERNET).is_some_and(|first| first >> 4 == 6)
}

fn ip_header(frame: &Frame) -> Result<[u8; IPV4], Exception> {
    let ip = frame.header().get(ETHERNET..).and_then(|ip| ip.first_chunk::<IPV4>());
    Ok(*ip.ok_or(DropReason::Truncated)?)
}
