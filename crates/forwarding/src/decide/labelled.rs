//! Decisions by the label on top (RFC 3032): labels that end here, and the one that is swapped or popped.

use super::leave::replace_outermost;
use super::{Bytes, Plan, Popped};
use crate::entry::{BOTTOM, Entry, Kind, TC};
use crate::hash;
use crate::packet::{ETHERNET, IPV4, IPV6, LABEL, address6, class6, u32_at};
use crate::phb::tc_of;
use crate::punt::{Exception, PuntReason};
use crate::replicate::Branch;
use crate::tables::Forwarding;
use base::Label;
use base::device::DropReason;
use base::plane::{TtlModel, TunnelModel};
use core::net::Ipv4Addr;

impl Forwarding {
    pub(super) fn labelled<const AGAIN: bool>(
        &self,
        mut bytes: Bytes,
        mut popped: Popped,
    ) -> Result<Plan, Exception> {
        loop {
            let at = popped.at;
            let word = u32_at(bytes.header, at).ok_or_else(|| bytes.missing(at + LABEL))?;
            let bottom = word & BOTTOM != 0;
            let ttl = popped.ttl.unwrap_or(word as u8);
            match Label::truncate(word >> 12) {
                // RFC 3032, 2.1: popped, then "forwarding of the packet must then be based on" what is below. RFC 4182
                // allows it anywhere in the stack.
                label @ (Label::EXPLICIT_NULL | Label::EXPLICIT_NULL_V6) => {
                    popped = popped.pop(self.config.explicit_null_ttl, ttl);
                    self.note_pop(&mut popped.known, word, None)?;
                    // RFC 3032, 2.1: what is below is IPv6 with the one, IPv4 with the other.
                    if bottom {
                        return if label == Label::EXPLICIT_NULL_V6 {
                            self.unlabelled6::<AGAIN>(bytes, popped)
                        } else {
                            self.unlabelled::<AGAIN>(bytes, popped)
                        };
                    }
                }
                // RFC 3032, 2.1: "legal anywhere in the label stack except at the bottom".
                Label::ROUTER_ALERT if !bottom => {
                    if !AGAIN {
                        return Err(PuntReason::RouterAlert { labels: bytes.labels() }.into());
                    }
                    popped = Popped { alert: true, ..popped.pop(TtlModel::Pipe, ttl) };
                }
                label if label.is_reserved() => return Err(DropReason::ReservedLabel.into()),
                label => {
                    let unknown = || unknown(bytes, ttl);
                    let entry = self.ilm.get(label.value()).ok_or_else(unknown)?;
                    match entry.kind {
                        Kind::Empty => return Err(unknown()),
                        Kind::Discard | Kind::Standby => return Err(DropReason::Discard.into()),
                        Kind::Unlabelled if !bottom => return Err(DropReason::LabelBelow.into()),
                        Kind::Local | Kind::Unlabelled => {
                            popped = popped.pop(entry.ttl(), ttl);
                            self.note_pop(&mut popped.known, word, Some(entry))?;
                        }
                        Kind::Selected => {
                            let is_test = || bottom && is_for_node(bytes.header, at + LABEL);
                            if !self.selectors.takes(entry.next_hop, label) && !is_test() {
                                return Err(DropReason::Unselected.into());
                            }
                            popped = popped.pop(entry.ttl(), ttl);
                            self.note_pop(&mut popped.known, word, Some(entry))?;
                        }
                        Kind::Replicate if ttl <= 1 => {
                            return Err(PuntReason::TtlExpired { labels: bytes.labels() }.into());
                        }
                        Kind::Replicate => {
                            let branch = self.branch_of(entry, bytes.branch)?;
                            match branch.kind {
                                Kind::Local => {
                                    // What is below the label may be replicated in turn.
                                    bytes.branch = bytes.branch.and_then(Branch::below);
                                    popped = popped.pop(branch.ttl(), ttl);
                                    self.note_pop(&mut popped.known, word, Some(branch))?;
                                }
                                Kind::One | Kind::Via | Kind::Connected | Kind::Standby => {
                                    let list = Some(entry.next_hop);
                                    let plan = self.switched(bytes, popped, word, ttl, branch)?;
                                    return Ok(Plan { list, ..plan });
                                }
                                _ => return Err(DropReason::Discard.into()),
                            }
                        }
                        Kind::One | Kind::Via | Kind::Connected => {
                            return self.switched(bytes, popped, word, ttl, entry);
                        }
                    }
                }
            }
            if bottom {
                return if self.is_ipv6_below(bytes.header, popped.at) {
                    self.unlabelled6::<AGAIN>(bytes, popped)
                } else {
                    self.unlabelled::<AGAIN>(bytes, popped)
                };
            }
        }
    }

    /// The flow of a frame that came with labels.
    fn flow_of_stack(&self, bytes: Bytes) -> u64 {
        let (top, below) = bytes.header.split_at(bytes.header.len().min(ETHERNET + LABEL));
        let word = u32_at(top, ETHERNET).unwrap_or(BOTTOM);
        hash::labelled(self.config.seed, word, below, Some(bytes.frame)).unwrap_or_default()
    }

    /// Swaps the label `word` at `popped.at`, or pops it for the next hop.
    fn switched(
        &self,
        bytes: Bytes,
        mut popped: Popped,
        word: u32,
        ttl: u8,
        entry: &Entry,
    ) -> Result<Plan, Exception> {
        // RFC 3443, 4.3; the check is made at the penultimate hop too, whatever becomes of the TTL.
        if ttl <= 1 {
            return Err(PuntReason::TtlExpired { labels: bytes.labels() }.into());
        }
        let ttl = ttl - 1;
        let bottom = word & BOTTOM != 0;
        let below = popped.at + LABEL;
        let way = self.way(entry.next_hop, || self.flow_of_stack(bytes))?;
        let mut plan = Plan { pop: popped.count() + 1, adjacency: way.adjacency, ..Plan::default() };
        plan.below_is_ip = bottom;
        let context = self.context(Some(entry));
        let own = match context {
            Some(context) => {
                let own = popped.known.note(context.phb(tc_of(word)));
                Some(own.ok_or(DropReason::NoPhb)?)
            }
            None => None,
        };
        plan.phb = popped.known.treatment;
        // RFC 3270, 2.6.3: at the penultimate hop of a uniform LSP its marking goes down into what is exposed.
        let imposed = own.filter(|_| context.is_some_and(|c| c.model() == TunnelModel::Uniform));
        if entry.depth == 0 {
            // RFC 3443, 4.3 (3): a uniform LSP's TTL goes down into the exposed header; a pipe's header stays as it is.
            plan.below_ttl = (entry.ttl() == TtlModel::Uniform).then_some(ttl);
            if bottom && self.is_ipv6_below(bytes.header, below) {
                let ip = bytes.header.get(below..).and_then(|rest| rest.first_chunk::<IPV6>());
                let ip = ip.ok_or_else(|| bytes.missing(below + IPV6))?;
                plan.below_is_ipv6 = true;
                plan.below_dscp = imposed.and_then(|phb| self.dscp_for(phb, class6(ip)));
                if entry.kind == Kind::Connected {
                    plan.adjacency = self.neighbour(entry, address6(ip, 24).into())?;
                }
            } else if bottom {
                let ip = bytes.header.get(below..below + IPV4).ok_or_else(|| bytes.missing(below + IPV4))?;
                if ip[0] >> 4 != 4 {
                    return Err(DropReason::UnknownProtocol.into());
                }
                plan.below_dscp = imposed.and_then(|phb| self.dscp_for(phb, ip[1]));
                if entry.kind == Kind::Connected {
                    plan.adjacency =
                        self.neighbour(entry, Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]).into())?;
                }
            } else {
                let exposed = u32_at(bytes.header, below).ok_or_else(|| bytes.missing(below + LABEL))?;
                plan.below_tc = imposed.and_then(|phb| self.tc_for(phb, tc_of(exposed)));
            }
        } else {
            self.push(&mut plan, entry, word & TC, ttl, own)?;
        }
        if let Some(swap) = way.swap {
            replace_outermost(&mut plan, swap);
            if plan.depth == 0 {
                // As at a penultimate hop; what is below has been looked at if it goes there without a label.
                plan.below_ttl = (entry.ttl() == TtlModel::Uniform).then_some(ttl);
                plan.below_is_ipv6 = bottom && self.is_ipv6_below(bytes.header, below);
            }
        }
        if !way.labels.is_empty() {
            self.push_outer(&mut plan, way.labels, entry, word & TC, ttl);
        }
        if bottom && plan.depth > 0 {
            plan.stack[0] |= BOTTOM;
        }
        if popped.alert && (plan.depth > 0 || !bottom) {
            // RFC 3032, 2.1: "should be pushed back onto the label stack before forwarding".
            let tc = if plan.depth > 0 { plan.stack[plan.depth - 1] } else { word } & TC;
            plan.stack[plan.depth] = Label::ROUTER_ALERT.value() << 12 | tc | u32::from(ttl);
            plan.depth += 1;
        }
        let len = bytes.longest.saturating_sub((ETHERNET + plan.pop * LABEL) as u32);
        self.egress(bytes, &plan, len)?;
        Ok(plan)
    }
}

/// A label without an entry. Whoever traces an LSP wants to know of it (RFC 8029, 4.4): what would not go on in any
/// case, since its time to live is over, is looked at.
#[cold]
fn unknown(bytes: Bytes, ttl: u8) -> Exception {
    if ttl <= 1 {
        return PuntReason::UnknownLabel { labels: bytes.labels() }.into();
    }
    DropReason::UnknownLabel.into()
}

/// Is the packet at `at` sent to 127/8, or to the same below ::ffff/96? What tests an LSP is: no router sends it on
/// (RFC 8029, 2.1; RFC 5884, 7).
#[cold]
fn is_for_node(header: &[u8], at: usize) -> bool {
    let rest = header.get(at..).unwrap_or_default();
    if let Some(ip) = rest.first_chunk::<IPV6>().filter(|ip| ip[0] >> 4 == 6) {
        return address6(ip, 24).to_ipv4_mapped().is_some_and(|to| to.is_loopback());
    }
    rest.first_chunk::<IPV4>().is_some_and(|ip| ip[0] >> 4 == 4 && ip[16] == 127)
}
