//! Decisions by an IPv6 header (RFC 8200): what is no packet for others, and the route of what is.

use super::{By, Bytes, Plan, Popped};
use crate::addresses6::{is_mapped_loopback, is_single_node, may_be_forwarded};
use crate::entry::Kind;
use crate::flow::flow_at;
use crate::hash;
use crate::packet::{ETHERNET, IPV6, address6, class6};
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use wire::ipv6;

impl Forwarding {
    /// Is there an IPv6 packet behind the label at whose end `at` is, and does this node forward such?
    #[inline]
    pub(super) fn is_ipv6_below(&self, header: &[u8], at: usize) -> bool {
        self.fib6.is_some() && header.get(at).is_some_and(|first| first >> 4 == 6)
    }

    pub(super) fn unlabelled6<const AGAIN: bool>(
        &self,
        bytes: Bytes,
        mut popped: Popped,
    ) -> Result<Plan, Exception> {
        let at = popped.at;
        let labelled = at > ETHERNET;
        let Some(fib) = &self.fib6 else { return Err(DropReason::UnknownProtocol.into()) };
        let rest = bytes.header.get(at..).unwrap_or_default();
        if rest.first().is_some_and(|first| first >> 4 != 6) {
            return Err(if labelled { DropReason::UnknownProtocol } else { DropReason::Malformed }.into());
        }
        let ip = rest.first_chunk::<IPV6>().ok_or_else(|| bytes.missing(at + IPV6))?;
        let total = IPV6 + usize::from(u16::from_be_bytes([ip[4], ip[5]]));
        if total > bytes.len as usize - at {
            return Err(DropReason::Truncated.into());
        }
        let (from, to) = (address6(ip, 8), address6(ip, 24));
        let labels = popped.count() as u8;
        let place = fib.find(to);
        let entry = place.and_then(|place| fib.get(place)).map(|known| known.active());
        if to.is_multicast() && self.multicast.is_some() {
            return self.to_group6::<AGAIN>(bytes, popped, ip, total);
        }
        if to.is_multicast() || entry.is_some_and(|e| e.kind == Kind::Local) {
            return Err(PuntReason::Local { labels }.into());
        }
        if bytes.group {
            return Err(DropReason::NotForUs.into());
        }
        if !may_be_forwarded(from, to) {
            // RFC 8029, 2.1 and 4.4: it gets no further than to the router where it leaves the LSP.
            if is_mapped_loopback(to) && is_single_node(from) && !is_mapped_loopback(from) {
                return Err(PuntReason::Local { labels }.into());
            }
            return Err(DropReason::Malformed.into());
        }
        // RFC 8200, 4: of the options for every node a router looks at one that it is configured for: Router Alert.
        if !AGAIN && ip[6] == ipv6::Protocol::HOP_BY_HOP.0 && has_router_alert(&rest[IPV6..]) {
            return Err(PuntReason::RouterAlert { labels }.into());
        }
        let hop_limit = popped.ttl.unwrap_or(ip[7]);
        if hop_limit <= 1 {
            return Err(PuntReason::TtlExpired { labels }.into());
        }
        let class = class6(ip);
        popped.known.note(self.phb_of_tos(class));
        let treatment = popped.known.treatment;
        // A filter that gives no address is for IPv4: an LSP that carries IPv6 has a label more, which says so.
        let filtered = if self.filters.len() > 0 && entry.is_none_or(|e| e.kind != Kind::Connected) {
            flow_at(bytes.frame, at).and_then(|flow| self.filters.find_by_address(&flow))
        } else {
            None
        };
        let (by, entry) = match filtered.and_then(|place| Some((place, self.filters.get(place)?))) {
            Some((place, filtered)) => (By::Filter(place), &filtered.entry),
            None => {
                let (place, entry) = place.zip(entry).ok_or(PuntReason::NoRoute { labels })?;
                (By::Prefix6(place), entry)
            }
        };
        let list = (entry.kind == Kind::Replicate).then_some(entry.next_hop);
        let entry = self.branch_of(entry, bytes.branch)?;
        match entry.kind {
            Kind::Discard | Kind::Empty | Kind::Replicate | Kind::Selected => {
                return Err(DropReason::Discard.into());
            }
            Kind::Local | Kind::Unlabelled => return Err(PuntReason::Local { labels }.into()),
            Kind::One | Kind::Via | Kind::Connected | Kind::Standby => {}
        }
        let mut plan = Plan { pop: popped.count(), by, list, phb: treatment, ..Plan::default() };
        (plan.below_is_ip, plan.below_is_ipv6) = (true, true);
        plan.below_dscp = popped.known.imposed.and_then(|phb| self.dscp_for(phb, class));
        plan.below_ttl = Some(hop_limit - 1);
        plan.excess = bytes.len - (at + total) as u32;
        let flow = || hash::ip(self.config.seed, rest, at, Some(bytes.frame)).unwrap_or_default();
        self.encapsulate(&mut plan, entry, to.into(), class, hop_limit - 1, flow)?;
        let whole = bytes.longest == bytes.len;
        let len = if whole { total as u32 } else { bytes.longest.saturating_sub(at as u32) };
        self.egress(bytes, &plan, len)?;
        Ok(plan)
    }
}

/// Is there a Router Alert option (RFC 2711) in the hop-by-hop options header that `bytes` begin with, as far as they
/// go?
pub(super) fn has_router_alert(bytes: &[u8]) -> bool {
    let len = bytes.get(1).map_or(0, |units| (usize::from(*units) + 1) * ipv6::extension::UNIT);
    let header = ipv6::extension::Header {
        kind: ipv6::Protocol::HOP_BY_HOP,
        offset: 0,
        bytes: &bytes[..len.min(bytes.len())],
    };
    header.options().map_while(Result::ok).any(|(_, option)| option.kind == ipv6::extension::ROUTER_ALERT)
}
