//! What is to become of a frame: a pure function of tables and bytes, so that a frame which is not transmitted stays as
//! it came, and so that the control processor gets the same answer as the fast path.

use crate::addresses::may_be_forwarded;
use crate::adjacency::State;
use crate::behaviour::{Behaviours, exp_bits, exp_of};
use crate::entry::{BOTTOM, CLASS, Entry, Kind};
use crate::flow::flow_at;
use crate::packet::{
    ETHERNET, ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_MPLS, IPV4, LABEL, labels_in, u16_at, u32_at,
};
use crate::port::mac_key;
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{LabelStack, TtlModel, TunnelModel};
use base::{Dscp, Frame, Label, MacAddr, Phb, PortId, TrafficClass};
use core::net::Ipv4Addr;
use wire::checksum;

/// How to rewrite a frame that is transmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// Labels to take off.
    pub(crate) pop: usize,
    /// Label stack entries to put on; the last of the first `depth` is outermost. One more than an entry can push: the
    /// router alert label goes back on.
    pub(crate) stack: [u32; LabelStack::MAX + 1],
    pub(crate) depth: usize,
    /// The time to live to write into the header below those: a label stack entry or an IP header.
    pub(crate) below_ttl: Option<u8>,
    /// Is that header IP?
    pub(crate) below_is_ip: bool,
    /// The code point to write into that IP header.
    pub(crate) below_dscp: Option<Dscp>,
    /// The EXP bits to write into that label stack entry.
    pub(crate) below_exp: Option<TrafficClass>,
    /// The behaviour that the packet gets here, if it was determined.
    pub(crate) behaviour: Option<Phb>,
    pub(crate) adjacency: u32,
    pub(crate) by: By,
    /// Bytes behind the IP packet, which belong to nobody.
    pub(crate) excess: u32,
}

/// What decided on a packet, and where it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum By {
    /// A label, or the sender itself.
    #[default]
    Label,
    /// A prefix.
    Prefix(u32),
    /// A prefix, and a place among its LSPs for some behaviours.
    Class(u32, u8),
    /// A filter.
    Filter(u32),
}

/// A frame that this node has to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    ethertype: u16,
    /// Did it come to a group address?
    group: bool,
}

/// The bytes that are decided on.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    header: &'a [u8],
    frame: &'a Frame,
    /// Bytes of the whole frame.
    len: u32,
    /// Bytes of the longest frame that it becomes on a wire.
    longest: u32,
    group: bool,
}

impl Bytes<'_> {
    /// The reason for bytes that are not in the header, up to `end`.
    #[cold]
    fn missing(&self, end: usize) -> Exception {
        // What the frame has, but not among the bytes that nodes rewrite, lies below too many labels.
        let reason = if self.len as usize >= end { DropReason::StackDepth } else { DropReason::Truncated };
        Exception::Drop(reason)
    }
    #[cold]
    fn labels(&self) -> u8 {
        labels_in(self.header) as u8
    }
}

/// What was found out about the labels taken off so far.
#[derive(Clone, Copy, Default)]
struct Popped {
    /// Where the header is that is looked at now.
    at: usize,
    /// The time to live that replaces the one of that header (RFC 3443, 4.2).
    ttl: Option<u8>,
    /// Has the router alert label to go back on?
    alert: bool,
    /// What is known of its behaviour (RFC 3270, 2.2).
    known: Behaviours,
}

impl Popped {
    fn count(&self) -> usize {
        (self.at - ETHERNET) / LABEL
    }
    /// After the label at `at`, with incoming time to live `ttl`, was popped here.
    fn pop(self, model: TtlModel, ttl: u8) -> Popped {
        // RFC 3443, 4.2: of a uniform LSP the TTL of the popped label counts on, of a pipe LSP that of the exposed header.
        let ttl = if model == TtlModel::Uniform { Some(ttl) } else { None };
        Popped { at: self.at + LABEL, ttl, ..self }
    }
}

impl Forwarding {
    /// Is the frame for this node, on Ethernet's level?
    #[inline]
    pub(crate) fn admit(&self, port: PortId, header: &[u8]) -> Result<Admitted, DropReason> {
        let ingress = self.ports.get(port).ok_or(DropReason::NotForUs)?;
        if !ingress.config.up {
            return Err(DropReason::PortDown);
        }
        let ethernet = header.first_chunk::<ETHERNET>().ok_or(DropReason::Truncated)?;
        let [a, b, c, d, e, f, ..] = *ethernet;
        let to = MacAddr([a, b, c, d, e, f]);
        if mac_key(to) != ingress.key && !to.is_group() {
            return Err(DropReason::NotForUs);
        }
        Ok(Admitted { ethertype: u16::from_be_bytes([ethernet[12], ethernet[13]]), group: to.is_group() })
    }

    /// Decides on an admitted frame. With `AGAIN`, router alert and options do not stop it any more.
    #[inline]
    pub(crate) fn decide<const AGAIN: bool>(
        &self,
        admitted: Admitted,
        frame: &Frame,
    ) -> Result<Plan, Exception> {
        let (len, longest) = (frame.len(), frame.segment_len());
        let bytes = Bytes { header: frame.header(), frame, len, longest, group: admitted.group };
        let popped = Popped { at: ETHERNET, known: Behaviours::new(frame.behaviour()), ..Popped::default() };
        match admitted.ethertype {
            ETHERTYPE_MPLS if admitted.group => Err(DropReason::NotForUs.into()),
            ETHERTYPE_MPLS => self.labelled::<AGAIN>(bytes, popped),
            ETHERTYPE_IPV4 => self.unlabelled::<AGAIN>(bytes, popped),
            ETHERTYPE_ARP => Err(PuntReason::Arp.into()),
            // Among them VLAN tags: no port has a tagged interface yet.
            _ => Err(DropReason::UnknownProtocol.into()),
        }
    }

    fn labelled<const AGAIN: bool>(&self, bytes: Bytes, mut popped: Popped) -> Result<Plan, Exception> {
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
                    if bottom && label == Label::EXPLICIT_NULL_V6 {
                        return Err(DropReason::UnknownProtocol.into());
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
                    let entry = self.ilm.get(label.value()).ok_or(DropReason::UnknownLabel)?;
                    match entry.kind {
                        Kind::Empty => return Err(DropReason::UnknownLabel.into()),
                        Kind::Discard => return Err(DropReason::Discard.into()),
                        Kind::Local => {
                            popped = popped.pop(entry.ttl(), ttl);
                            self.note_pop(&mut popped.known, word, Some(entry))?;
                        }
                        Kind::One | Kind::Via | Kind::Connected => {
                            return self.switched(bytes, popped, word, ttl, entry);
                        }
                    }
                }
            }
            if bottom {
                return self.unlabelled::<AGAIN>(bytes, popped);
            }
        }
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
        let mut plan = Plan { pop: popped.count() + 1, adjacency: entry.adjacency, ..Plan::default() };
        plan.below_is_ip = bottom;
        let context = self.context(Some(entry));
        let own = match context {
            Some(context) => {
                let own = popped.known.note(context.behaviour(exp_of(word)));
                Some(own.ok_or(DropReason::NoBehaviour)?)
            }
            None => None,
        };
        plan.behaviour = popped.known.treatment;
        // RFC 3270, 2.6.3: at the penultimate hop of a uniform LSP its marking goes down into what is exposed.
        let imposed = own.filter(|_| context.is_some_and(|c| c.model() == TunnelModel::Uniform));
        if entry.depth == 0 {
            // RFC 3443, 4.3 (3): a uniform LSP's TTL goes down into the exposed header; a pipe's header stays as it is.
            plan.below_ttl = (entry.ttl() == TtlModel::Uniform).then_some(ttl);
            if bottom {
                let ip = bytes.header.get(below..below + IPV4).ok_or_else(|| bytes.missing(below + IPV4))?;
                if ip[0] >> 4 != 4 {
                    return Err(DropReason::UnknownProtocol.into());
                }
                plan.below_dscp = imposed.and_then(|phb| self.dscp_for(phb, ip[1]));
                if entry.kind == Kind::Connected {
                    plan.adjacency = self.neighbour(entry, Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]))?;
                }
            } else {
                let exposed = u32_at(bytes.header, below).ok_or_else(|| bytes.missing(below + LABEL))?;
                plan.below_exp = imposed.and_then(|phb| self.exp_for(phb, exp_of(exposed)));
            }
        } else {
            self.push(&mut plan, entry, word & CLASS, ttl, own)?;
            if bottom {
                plan.stack[0] |= BOTTOM;
            }
        }
        if popped.alert && (plan.depth > 0 || !bottom) {
            // RFC 3032, 2.1: "should be pushed back onto the label stack before forwarding".
            let class = if plan.depth > 0 { plan.stack[plan.depth - 1] } else { word } & CLASS;
            plan.stack[plan.depth] = Label::ROUTER_ALERT.value() << 12 | class | u32::from(ttl);
            plan.depth += 1;
        }
        let len = bytes.longest.saturating_sub((ETHERNET + plan.pop * LABEL) as u32);
        self.egress(bytes, &plan, len)?;
        Ok(plan)
    }

    /// Puts the labels of `entry` on what has class bits `class` and the outgoing time to live `ttl`; `own` is the behaviour that the
    /// label tells whose place the first of them takes.
    fn push(
        &self,
        plan: &mut Plan,
        entry: &Entry,
        class: u32,
        ttl: u8,
        own: Option<Phb>,
    ) -> Result<(), DropReason> {
        let labels = self.stacks.labels(entry);
        let class = entry.class_bits(class);
        let depth = usize::from(entry.depth).min(LabelStack::MAX);
        // RFC 3443, 4.4: a uniform label copies the TTL from what is below, a pipe label takes the configured one.
        let pushed = if entry.ttl() == TtlModel::Uniform { ttl } else { self.config.pipe_ttl };
        // The first label of an ILM entry takes the place of the one taken off: a swap (RFC 3443, 4.3 (1) and (2)).
        let first = if plan.pop > 0 && plan.by == By::Label { ttl } else { pushed };
        let context = entry.context().and_then(|place| self.contexts.get(place));
        for (place, label) in labels[..depth].iter().enumerate() {
            let ttl = if place == 0 { first } else { pushed };
            let class = match context {
                None => class,
                Some(context) => {
                    // RFC 3270, 2.4: a label that is swapped goes on with its own marking, one that is pushed gets that of the treatment.
                    let phb = if place == 0 { own.or(plan.behaviour) } else { plan.behaviour };
                    let phb = phb.unwrap_or_default();
                    let (exp, meant) = context.exp(phb).ok_or(DropReason::NoBehaviour)?;
                    if plan.behaviour == Some(phb) {
                        plan.behaviour = Some(meant);
                    }
                    exp_bits(exp)
                }
            };
            plan.stack[place] = label.value() << 12 | class | u32::from(ttl);
        }
        plan.depth = depth;
        Ok(())
    }

    fn unlabelled<const AGAIN: bool>(&self, bytes: Bytes, mut popped: Popped) -> Result<Plan, Exception> {
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
        if checksum::sum(options) != 0xffff {
            return Err(DropReason::BadChecksum.into());
        }
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        let known = self.fib.find(to);
        let plain = self.fib.plain(known, to);
        let entry = plain.and_then(|place| self.fib.get(place)).map(|k| k.active());
        let labels = popped.count() as u8;
        let ours = entry.is_some_and(|e| e.kind == Kind::Local);
        if ours || to.is_multicast() || to.is_broadcast() || self.is_network_broadcast(plain, to) {
            return Err(PuntReason::Local { labels }.into());
        }
        // RFC 1812, 5.3.4: what came to a group address on the link and is no group packet isn't forwarded.
        if bytes.group {
            return Err(DropReason::NotForUs.into());
        }
        // RFC 1812, 5.3.7: addresses that no packet which is forwarded can have.
        if !may_be_forwarded(Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]), to) {
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
        popped.known.note(self.behaviour_of_tos(ip[1]));
        let behaviour = popped.known.treatment;
        let (by, entry) = match filtered.and_then(|place| Some((place, self.filters.get(place)?))) {
            Some((place, filtered)) => (By::Filter(place), &filtered.entry),
            None => {
                let phb = behaviour.unwrap_or(Phb::of_dscp(Dscp::of_tos(ip[1])));
                known.and_then(|place| self.choose(place, to, phb)).ok_or(PuntReason::NoRoute { labels })?
            }
        };
        match entry.kind {
            Kind::Discard | Kind::Empty => return Err(DropReason::Discard.into()),
            Kind::Local => return Err(PuntReason::Local { labels }.into()),
            Kind::One | Kind::Via | Kind::Connected => {}
        }
        let mut plan = Plan { pop: popped.count(), by, below_is_ip: true, behaviour, ..Plan::default() };
        plan.below_dscp = popped.known.imposed.and_then(|phb| self.dscp_for(phb, ip[1]));
        plan.below_ttl = Some(ttl - 1);
        plan.excess = bytes.len - (at + total) as u32;
        self.encapsulate(&mut plan, entry, to, ip[1], ttl - 1)?;
        // A frame that is to be cut is as long as the longest of its pieces; others may have padding behind the packet.
        let whole = bytes.longest == bytes.len;
        let len = if whole { total as u32 } else { bytes.longest.saturating_sub(at as u32) };
        self.egress(bytes, &plan, len)?;
        Ok(plan)
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
                plan.behaviour = plan.behaviour.or(Some(Phb::of_dscp(Dscp::of_tos(tos))));
            }
            self.push(plan, entry, u32::from(tos >> 5) << 9, ttl, None)?;
            plan.stack[0] |= BOTTOM;
        }
        Ok(())
    }

    /// The adjacency with the neighbour `to` on the connected network of `entry`.
    fn neighbour(&self, entry: &Entry, to: Ipv4Addr) -> Result<u32, Exception> {
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
    fn egress(&self, bytes: Bytes, plan: &Plan, len: u32) -> Result<(), Exception> {
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

/// Is there a router alert option (RFC 2113, 2.1) among `options`?
fn has_router_alert(mut options: &[u8]) -> bool {
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

/// The EtherType of a frame, if it has one.
pub(crate) fn ethertype(header: &[u8]) -> Option<u16> {
    u16_at(header, 12)
}
