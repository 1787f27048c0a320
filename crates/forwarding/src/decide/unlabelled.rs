//! Decisions by an IP header (RFC 1812): what is no packet for others, and the route of what is.

use super::{By, Bytes, Plan, Popped};
use crate::addresses::may_be_forwarded;
use crate::entry::Kind;
use crate::flow::flow_at;
use crate::hash;
use crate::packet::{ETHERNET, IPV4};
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::{Dscp, Phb};
use core::net::Ipv4Addr;
use wire::checksum;

impl Forwarding {
    pub(super) fn unlabelled<const AGAIN: bool>(
        &self,
        bytes: Bytes,
        mut popped: Popped,
    ) -> Result<Plan, Exception> {
        let at = popped.at;
        let rest = bytes.header.get(at..).unwrap_or_default();
        let ip = rest.first_chunk::<IPV4>().ok_or_else(|| bytes.missing(at + IPV4))?;
        if ip[0] >> 4 != 4 {
            let labelled = at > ETHERNET;
            return Err(if labelled { DropReason::UnknownProtocol } else { DropReason::Malformed }.into());
        }
        // RFC 1812, 5.2.2: the checks that a router makes.
        let header_len = usize::from(ip[0] & 15) * 4;
        if header_len < IPV4 {
            return Err(DropReason::Malformed.into());
        }
        let options = rest.get(..header_len).ok_or_else(|| bytes.missing(at + header_len))?;
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        if total < header_len {
            return Err(DropReason::Malformed.into());
        }
        if total > bytes.len as usize - at {
            return Err(DropReason::Truncated.into());
        }
        let sum = if header_len == IPV4 { checksum::sum_header(ip) } else { checksum::sum(options) };
        if sum != 0xffff {
            return Err(DropReason::BadChecksum.into());
        }
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        let known = self.fib.find(to);
        let plain = self.fib.plain(known, to);
        let entry = plain.and_then(|place| self.fib.get(place)).map(|k| k.active());
        let labels = popped.count() as u8;
        let ours = entry.is_some_and(|e| e.kind == Kind::Local);
        if to.is_multicast() && self.multicast.is_some() {
            return self.to_group::<AGAIN>(bytes, popped, options, total);
        }
        if ours || to.is_multicast() || to.is_broadcast() || self.is_network_broadcast(plain, to) {
            return Err(PuntReason::Local { labels }.into());
        }
        // RFC 1812, 5.3.4: what came to a group address on the link and is no group packet isn't forwarded.
        if bytes.group {
            return Err(DropReason::NotForUs.into());
        }
        // RFC 1812, 5.3.7: addresses that no packet which is forwarded can have.
        let from = Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]);
        if !may_be_forwarded(from, to) {
            // RFC 8029, 2.1 and 4.4: what tests an LSP is sent to such an address, so that it gets no further than to
            // the router where it leaves the LSP.
            if to.is_loopback() && self.is_single_host(from) {
                return Err(PuntReason::Local { labels }.into());
            }
            return Err(DropReason::Malformed.into());
        }
        if !AGAIN && header_len > IPV4 {
            let alert = has_router_alert(&options[IPV4..]);
            return Err(if alert {
                PuntReason::RouterAlert { labels }
            } else {
                PuntReason::Options { labels }
            }
            .into());
        }
        let ttl = popped.ttl.unwrap_or(ip[8]);
        if ttl <= 1 {
            return Err(PuntReason::TtlExpired { labels }.into());
        }
        let filtered = if self.filters.len() > 0 && entry.is_none_or(|e| e.kind != Kind::Connected) {
            flow_at(bytes.frame, at).and_then(|flow| self.filters.find(&flow))
        } else {
            None
        };
        popped.known.note(self.phb_of_tos(ip[1]));
        let treatment = popped.known.treatment;
        let (by, entry) = match filtered.and_then(|place| Some((place, self.filters.get(place)?))) {
            Some((place, filtered)) => (By::Filter(place), &filtered.entry),
            None => {
                let phb = treatment.unwrap_or(Phb::of_dscp(Dscp::of_tos(ip[1])));
                known.and_then(|place| self.choose(place, to, phb)).ok_or(PuntReason::NoRoute { labels })?
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
        let mut plan =
            Plan { pop: popped.count(), by, list, below_is_ip: true, phb: treatment, ..Plan::default() };
        plan.below_dscp = popped.known.imposed.and_then(|phb| self.dscp_for(phb, ip[1]));
        plan.below_ttl = Some(ttl - 1);
        plan.excess = bytes.len - (at + total) as u32;
        let flow = || hash::ip(self.config.seed, rest, at, Some(bytes.frame)).unwrap_or_default();
        self.encapsulate(&mut plan, entry, to.into(), ip[1], ttl - 1, flow)?;
        // A frame that is to be cut is as long as the longest of its pieces; others may have padding behind the packet.
        let whole = bytes.longest == bytes.len;
        let len = if whole { total as u32 } else { bytes.longest.saturating_sub(at as u32) };
        self.egress(bytes, &plan, len)?;
        Ok(plan)
    }
}

/// Is there a router alert option (RFC 2113, 2.1) among `options`?
pub(super) fn has_router_alert(mut options: &[u8]) -> bool {
    while let [kind, rest @ ..] = options {
        options = match kind {
            0 => return false,
            1 => rest,
            148 => return true,
            _ => match rest.first() {
                Some(len) if *len >= 2 => options.get(usize::from(*len)..).unwrap_or_default(),
                _ => return false,
            },
        };
    }
    false
}
