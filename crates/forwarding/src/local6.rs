//! Sending what the node itself originates over IPv6.

use crate::decide::{By, Plan};
use crate::entry::Kind;
use crate::hash;
use crate::packet::{ETHERNET, IPV6, address6, class6};
use crate::punt::{Exception, PuntReason};
use crate::replicate::Branch;
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::Nhlfe;
use base::{Frame, PortId};
use core::net::Ipv6Addr;

impl Forwarding {
    /// Does this node forward IPv6? It does from its first IPv6 route on.
    pub fn has_ipv6(&self) -> bool {
        self.fib6.is_some()
    }

    /// Sends an IPv6 packet of this node to its destination, by FTN or route: as [`Forwarding::originate`] does, which
    /// hands such packets on, and copies of them.
    pub(crate) fn originate6(
        &mut self,
        frame: &mut Frame,
        branch: Option<Branch>,
    ) -> Result<PortId, Exception> {
        let ip = frame.header().get(ETHERNET..).and_then(|ip| ip.first_chunk::<IPV6>());
        let ip = *ip.ok_or(DropReason::Truncated)?;
        let (to, class) = (address6(&ip, 24), class6(&ip));
        let find = |tables: &Forwarding| tables.fib6.as_ref().and_then(|fib| fib.find(to));
        let place = match find(self) {
            None if self.use_route_to6(to) => find(self),
            place => place,
        };
        let known = place.zip(self.fib6.as_ref()).and_then(|(place, fib)| Some((place, fib.get(place)?)));
        let (place, known) = known.ok_or(PuntReason::NoRoute { labels: 0 })?;
        let entry = self.branch_of(known.active(), branch)?;
        match entry.kind {
            Kind::Local | Kind::Unlabelled => return Err(PuntReason::Local { labels: 0 }.into()),
            Kind::Discard | Kind::Empty | Kind::Replicate | Kind::Selected => {
                return Err(DropReason::Discard.into());
            }
            Kind::One | Kind::Via | Kind::Connected | Kind::Standby => {}
        }
        let mut plan = Plan { by: By::Prefix6(place), phb: self.phb_of_tos(class), ..Plan::default() };
        (plan.below_is_ip, plan.below_is_ipv6) = (true, true);
        let flow = || hash::ip(self.config.seed, &ip, ETHERNET, Some(frame)).unwrap_or_default();
        self.encapsulate(&mut plan, entry, to.into(), class, ip[7], flow)?;
        self.leave(frame, &plan)
    }

    /// What a packet to `to` would meet: the entry in force for the longest prefix, FTN or route.
    pub fn route_local6(&self, to: Ipv6Addr) -> Option<Nhlfe> {
        let fib = self.fib6.as_ref()?;
        let Some(place) = fib.find(to) else { return self.unused_route6(to) };
        Some(self.nhlfe(fib.get(place)?.active()))
    }
}
