//! Decisions on packets to groups: for this node, for nobody, or a copy for each branch of the group's list.

use super::unlabelled::has_router_alert;
use super::{Bytes, Plan, Popped, unlabelled6};
use crate::entry::{Entry, Kind};
use crate::hash;
use crate::multicast::Grouped;
use crate::packet::{ETHERNET, IPV4, IPV6, address6, class6};
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{Incoming, is_link_local_group};
use core::net::{IpAddr, Ipv4Addr};
use wire::ipv6;

/// What the header of a packet to a group says, of either family.
struct Header {
    from: IpAddr,
    group: IpAddr,
    ttl: u8,
    tos: u8,
    /// Bytes of the whole packet.
    total: usize,
}

impl Forwarding {
    /// An IPv4 packet to a group, of a node that forwards such; `options` are its header with them.
    pub(super) fn to_group<const AGAIN: bool>(
        &self,
        bytes: Bytes,
        popped: Popped,
        options: &[u8],
        total: usize,
    ) -> Result<Plan, Exception> {
        let labels = popped.count() as u8;
        let ip = options.first_chunk::<IPV4>().ok_or(DropReason::Malformed)?;
        let [from, to] = [12, 16].map(|at| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]));
        if !AGAIN && options.len() > IPV4 {
            // Routers listen to what is marked so, whatever the group: IGMP (RFC 2236, 2).
            let alert = has_router_alert(&options[IPV4..]);
            let reason =
                if alert { PuntReason::RouterAlert { labels } } else { PuntReason::Options { labels } };
            return Err(reason.into());
        }
        let header = Header { from: from.into(), group: to.into(), ttl: ip[8], tos: ip[1], total };
        let mut plan = self.grouped_plan(bytes, popped, &header)?;
        plan.below_dscp = popped.known.imposed.and_then(|phb| self.dscp_for(phb, ip[1]));
        Ok(plan)
    }

    /// The same of IPv6; `ip` is its fixed header.
    pub(super) fn to_group6<const AGAIN: bool>(
        &self,
        bytes: Bytes,
        popped: Popped,
        ip: &[u8; IPV6],
        total: usize,
    ) -> Result<Plan, Exception> {
        let labels = popped.count() as u8;
        let rest = bytes.header.get(popped.at + IPV6..).unwrap_or_default();
        if !AGAIN && ip[6] == ipv6::Protocol::HOP_BY_HOP.0 && unlabelled6::has_router_alert(rest) {
            return Err(PuntReason::RouterAlert { labels }.into());
        }
        let (from, to) = (address6(ip, 8), address6(ip, 24));
        let header = Header { from: from.into(), group: to.into(), ttl: ip[7], tos: class6(ip), total };
        let mut plan = self.grouped_plan(bytes, popped, &header)?;
        plan.below_is_ipv6 = true;
        plan.below_dscp = popped.known.imposed.and_then(|phb| self.dscp_for(phb, class6(ip)));
        Ok(plan)
    }

    fn grouped_plan(&self, bytes: Bytes, mut popped: Popped, header: &Header) -> Result<Plan, Exception> {
        let Header { from, group, tos, total, .. } = *header;
        let (at, labels) = (popped.at, popped.count() as u8);
        if is_link_local_group(group) {
            // RFC 1812, 4.2.2.11 (for 224.0.0.0/24) and RFC 4291, 2.7: never forwarded.
            return Err(PuntReason::Local { labels }.into());
        }
        if from.is_multicast() || from.is_loopback() || from.is_unspecified() {
            return Err(DropReason::Malformed.into());
        }
        let incoming = if at > ETHERNET { Incoming::Label } else { Incoming::Port(bytes.port) };
        let (by, entry) = match self.grouped(from, group, incoming) {
            Grouped::Unknown => return Err(PuntReason::Local { labels }.into()),
            Grouped::Wrong(key) => {
                let is_both = at == ETHERNET && self.sends_to(key, bytes.port);
                return Err(match is_both {
                    true => PuntReason::WrongInterface.into(),
                    false => DropReason::WrongInterface.into(),
                });
            }
            Grouped::Known(by, entry) => (by, entry),
        };
        let ttl = popped.ttl.unwrap_or(header.ttl);
        if ttl <= 1 && !self.is_for_node(entry) {
            // RFC 1112, 6.1: no ICMP error is sent about a packet to a group.
            return Err(DropReason::TtlExpired.into());
        }
        let list = (entry.kind == Kind::Replicate).then_some(entry.next_hop);
        let entry = self.branch_of(entry, bytes.branch)?;
        match entry.kind {
            Kind::One | Kind::Via | Kind::Standby if ttl <= 1 => return Err(DropReason::TtlExpired.into()),
            Kind::One | Kind::Via | Kind::Standby => {}
            Kind::Local | Kind::Unlabelled => return Err(PuntReason::Local { labels }.into()),
            _ => return Err(DropReason::Discard.into()),
        }
        popped.known.note(self.phb_of_tos(tos));
        let phb = popped.known.treatment;
        let mut plan = Plan { pop: popped.count(), by, list, below_is_ip: true, phb, ..Plan::default() };
        plan.below_ttl = Some(ttl - 1);
        plan.excess = bytes.len - (at + total) as u32;
        self.leave_as_copy(bytes, &mut plan, entry, header, ttl, at)?;
        Ok(plan)
    }

    fn leave_as_copy(
        &self,
        bytes: Bytes,
        plan: &mut Plan,
        entry: &Entry,
        header: &Header,
        ttl: u8,
        at: usize,
    ) -> Result<(), Exception> {
        let rest = bytes.header.get(at..).unwrap_or_default();
        let flow = || hash::ip(self.config.seed, rest, at, Some(bytes.frame)).unwrap_or_default();
        self.encapsulate(plan, entry, header.group, header.tos, ttl - 1, flow)?;
        let adjacency = self.adjacencies.get(plan.adjacency).ok_or(DropReason::NoAdjacency)?;
        self.is_above_threshold(adjacency.port, ttl)?;
        let whole = bytes.longest == bytes.len;
        let len = if whole { header.total as u32 } else { bytes.longest.saturating_sub(at as u32) };
        self.egress(bytes, plan, len)
    }
}
