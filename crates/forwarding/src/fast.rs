//! The one entry for packets: the benchmark, the virtual run and the live run call this same function.

use crate::adjacency::{Adjacencies, Adjacency, State};
use crate::decide::{By, Plan, ethertype};
use crate::entry::{BOTTOM, Entry, Kind};
use crate::group::Group;
use crate::hash::{self, Seed};
use crate::packet::{
    ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, IPV4, LABEL, set_ipv4_dscp, set_ipv4_ttl,
    set_ipv6_dscp, u32_at,
};
use crate::port::NO_KEY;
use crate::punt::{Exception, PuntReason};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::frame::Lengths;
use base::plane::label_mac;
use base::prefetch::prefetch;
use base::{Frame, Label, PortId, Time, Verdict};
use core::net::Ipv4Addr;

/// How many frames ahead header bytes are fetched.
const AHEAD_HEADER: usize = 32;
/// How many frames ahead ILM entries are fetched: with 12 fewer they come too late, with 28 more a core can't wait for
/// so many at once (a million labels: 27, 33 and 22 million frames a second).
const AHEAD_ENTRY: usize = 20;
/// Frames whose routes are looked up together, before their turn comes, in a large table.
const ROUTES: usize = 16;

impl Forwarding {
    /// Decides on frames that arrived by `port`, rewrites those that are transmitted, and counts. `verdicts` is as long
    /// as `frames`; a frame that is punted or to be replicated is unchanged, but for what a
    /// conditioner of the port wrote. `ready` is `now`: what latency the device has is added by it.
    #[inline]
    pub fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        if let ([frame], [verdict]) = (&mut *frames, &mut *verdicts) {
            *verdict = self.forward_one(now, port, frame);
        } else {
            self.forward_many(now, port, frames, verdicts);
        }
    }

    /// A batch of one, as events of the virtual clock bring: there is nothing to be fetched ahead. What is rare is
    /// asked for with the same arguments, so that nothing else has to be kept for it.
    #[inline(always)]
    pub fn forward_one(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let mut key = NO_KEY;
        let lengths = frame.lengths();
        if let Some(ingress) = self.ports.record(port) {
            key = ingress.short;
            ingress.counters.rx_packets += 1;
            ingress.counters.rx_bytes += u64::from(lengths.wire);
        }
        let out = if ethertype(frame.header()) == Some(ETHERTYPE_MPLS) {
            self.swap(key, lengths, frame)
        } else if self.filters.len() == 0 {
            self.route(key, lengths, frame)
        } else {
            // Filters look at more of a packet than plain routes do.
            None
        };
        match out {
            Some(port) => Verdict::Transmit { port, ready: now },
            None => self.forward_other(now, port, frame),
        }
    }

    fn forward_many(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        let key = self.ports.get(port).map_or(NO_KEY, |ingress| ingress.short);
        frames.iter().take(AHEAD_HEADER).for_each(Frame::prefetch);
        frames.iter().take(AHEAD_ENTRY).for_each(|frame| self.prefetch_entry(frame));
        let (mut packets, mut bytes) = (0, 0);
        let is_large = self.fib.is_large();
        if is_large {
            self.prefetch_routes(frames.get(..ROUTES.min(frames.len())));
        }
        for i in 0..frames.len().min(verdicts.len()) {
            if is_large && i % ROUTES == 0 {
                self.prefetch_routes(frames.get(i + ROUTES..frames.len().min(i + 2 * ROUTES)));
            }
            if let Some(frame) = frames.get(i + AHEAD_HEADER) {
                frame.prefetch();
            }
            if let Some(frame) = frames.get(i + AHEAD_ENTRY) {
                self.prefetch_entry(frame);
            }
            let frame = &mut frames[i];
            packets += 1;
            let lengths = frame.lengths();
            bytes += u64::from(lengths.wire);
            verdicts[i] = match self.swap(key, lengths, frame) {
                Some(port) => Verdict::Transmit { port, ready: now },
                None => self.forward(now, port, key, lengths, frame),
            };
        }
        if let Some(ingress) = self.ports.record(port) {
            ingress.counters.rx_packets += packets;
            ingress.counters.rx_bytes += bytes;
        }
    }

    /// Forwards a punted frame after all: router alert and options do not stop it, and what counted it on arrival does
    /// not count it again.
    pub fn forward_again(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let decision = self.again(port, frame);
        self.carry_out(now, port, frame, decision)
    }

    /// Forwards a frame of this node as if it had arrived by `port`: an ICMP error along an LSP. Drops are not
    /// counted here.
    pub fn forward_own(&mut self, port: PortId, frame: &mut Frame) -> Result<PortId, Exception> {
        let plan = match self.again(port, frame) {
            Err(Exception::Punt(PuntReason::NoRoute { labels })) if self.has_unused(frame, labels) => {
                self.again(port, frame)?
            }
            decision => decision?,
        };
        self.rewrite(frame, &plan)
    }

    /// Why `frame`, which arrived by `port`, was punted; nothing if it would be transmitted or dropped (now: the tables
    /// may have changed in between).
    pub fn classify_punt(&self, port: PortId, frame: &Frame) -> Option<PuntReason> {
        let admitted = self.admit(port, frame.header()).ok()?;
        match self.decide::<false>(admitted, frame) {
            Err(Exception::Punt(reason)) => Some(reason),
            _ => None,
        }
    }

    /// As [`Forwarding::classify_punt`], for a frame that router alert and options do not stop any more.
    pub fn classify_again(&self, port: PortId, frame: &Frame) -> Option<PuntReason> {
        match self.again(port, frame) {
            Err(Exception::Punt(reason)) => Some(reason),
            _ => None,
        }
    }

    pub(crate) fn again(&self, port: PortId, frame: &Frame) -> Result<Plan, Exception> {
        let admitted = self.admit(port, frame.header())?;
        self.decide::<true>(admitted, frame)
    }

    #[inline(always)]
    fn prefetch_entry(&self, frame: &Frame) {
        if let Some(word) = u32_at(frame.header(), ETHERNET) {
            self.ilm.prefetch(word >> 12);
        }
    }

    /// Fetches what is known of the prefixes that plain packets are for. Not inlined, since only large tables need it.
    #[inline(never)]
    fn prefetch_routes(&self, frames: Option<&[Frame]>) {
        let (mut to, mut found) = ([Ipv4Addr::UNSPECIFIED; ROUTES], [0; ROUTES]);
        let plain = frames.unwrap_or_default().iter().map(Frame::header);
        let plain = plain.filter(|header| ethertype(header) == Some(ETHERTYPE_IPV4));
        let addresses = plain.filter_map(|header| header.get(ETHERNET..)?.first_chunk::<IPV4>());
        let mut count = 0;
        for (ip, to) in addresses.zip(&mut to) {
            *to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
            count += 1;
        }
        self.fib.find_all(&to[..count], &mut found[..count]);
        for leaf in &found[..count] {
            if let Some(known) = self.fib.get(*leaf) {
                prefetch(known);
            }
        }
    }

    /// The common case, in one go: a label that is swapped for another. Returns nothing, and changes nothing, in all
    /// others.
    #[inline(always)]
    fn swap(&mut self, key: u64, lengths: Lengths, frame: &mut Frame) -> Option<PortId> {
        let (old, below) = frame.header_mut().split_first_chunk_mut::<{ ETHERNET + LABEL }>()?;
        let [a, b, c, d, e, f, g, h, ..] = *old;
        let to = u64::from_le_bytes([a, b, c, d, e, f, g, h]) << 16;
        if to != key || u16::from_be_bytes([old[12], old[13]]) != ETHERTYPE_MPLS {
            return None;
        }
        let word = u32::from_be_bytes([old[14], old[15], old[16], old[17]]);
        let entry = self.ilm.get_mut(word >> 12)?;
        if entry.kind != Kind::One || word & 0xff <= 1 {
            return None;
        }
        let mut adjacency = self.adjacencies.get(entry.next_hop)?;
        if adjacency.state != State::Ready {
            adjacency = balanced(&self.adjacencies, &self.groups, adjacency, self.config.seed, word, below)?;
        }
        let egress = self.ports.record(adjacency.port)?;
        if lengths.segment - ETHERNET as u32 > egress.room {
            return None;
        }
        let new = entry.word | (word & entry.keep) | ((word & 0xff) - 1);
        entry.count(lengths.wire);
        old[..12].copy_from_slice(&adjacency.addresses);
        old[14..].copy_from_slice(&new.to_be_bytes());
        egress.count_tx(u64::from(lengths.wire));
        Some(adjacency.port)
    }

    /// Frames that the common swap does not take: the plain route first, then everything else.
    #[inline(never)]
    pub(crate) fn forward(
        &mut self,
        now: Time,
        port: PortId,
        key: u64,
        lengths: Lengths,
        frame: &mut Frame,
    ) -> Verdict {
        if self.filters.len() == 0
            && let Some(port) = self.route(key, lengths, frame)
        {
            return Verdict::Transmit { port, ready: now };
        }
        self.forward_other(now, port, frame)
    }

    /// Frames that take neither the common swap nor the plain route of IPv4.
    #[inline(never)]
    fn forward_other(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        if self.filters.len() == 0 && self.fib6.is_some() {
            let key = self.ports.get(port).map_or(NO_KEY, |ingress| ingress.short);
            return self.forward6(now, port, key, frame.lengths(), frame);
        }
        self.forward_any(now, port, frame)
    }

    /// The plain route of IPv6, then everything else. Not inlined: where the routes of both families share the
    /// registers, that of IPv4 keeps half of what it knows on the stack.
    #[inline(never)]
    fn forward6(
        &mut self,
        now: Time,
        port: PortId,
        key: u64,
        lengths: Lengths,
        frame: &mut Frame,
    ) -> Verdict {
        match self.route6(key, lengths, frame) {
            Some(port) => Verdict::Transmit { port, ready: now },
            None => self.forward_any(now, port, frame),
        }
    }

    /// Any frame, by the general way: conditioner, labels, filters, FTN, FIB.
    #[inline(never)]
    pub(crate) fn forward_any(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let decision = match self.admit(port, frame.header()) {
            Ok(admitted) => match self.condition(now, port, frame) {
                Ok(()) => {
                    let decision = self.decide::<false>(admitted, frame);
                    if ethertype(frame.header()) == Some(ETHERTYPE_MPLS) {
                        self.count_labels(frame.header(), frame.wire_len());
                    }
                    decision
                }
                Err(reason) => Err(reason.into()),
            },
            Err(reason) => Err(reason.into()),
        };
        if let Err(Exception::Punt(PuntReason::Replicate { .. })) = decision
            && ethertype(frame.header()) != Some(ETHERTYPE_MPLS)
        {
            self.count_grouped(port, frame, ETHERNET);
        }
        self.carry_out(now, port, frame, decision)
    }

    fn carry_out(
        &mut self,
        now: Time,
        port: PortId,
        frame: &mut Frame,
        decision: Result<Plan, Exception>,
    ) -> Verdict {
        let done = decision.and_then(|plan| self.rewrite(frame, &plan));
        match done {
            Ok(port) => Verdict::Transmit { port, ready: now },
            Err(Exception::Punt(PuntReason::Replicate { .. })) => Verdict::Replicate,
            Err(Exception::Punt(PuntReason::NoRoute { labels })) if self.has_unused(frame, labels) => {
                // Options did not stop it the first time, or must not stop it any more.
                let decision = self.again(port, frame);
                self.carry_out(now, port, frame, decision)
            }
            Err(Exception::Punt(_)) => Verdict::Punt,
            Err(Exception::Drop(reason)) => {
                self.drops.count(reason);
                Verdict::Drop(reason)
            }
        }
    }

    /// Counts a labelled frame at every entry that it goes through here.
    fn count_labels(&mut self, header: &[u8], bytes: u32) {
        let mut at = ETHERNET;
        while let Some(word) = u32_at(header, at) {
            if word >> 12 > 2 {
                let Some(entry) = self.ilm.get_mut(word >> 12).filter(|e| e.kind != Kind::Empty) else {
                    return;
                };
                entry.count(bytes);
                if entry.kind != Kind::Local {
                    return;
                }
            }
            if word & BOTTOM != 0 {
                return;
            }
            at += LABEL;
        }
    }

    /// Rewrites a frame as planned and returns its egress port.
    #[inline(always)]
    pub(crate) fn rewrite(&mut self, frame: &mut Frame, plan: &Plan) -> Result<PortId, Exception> {
        let adjacency = *self.adjacencies.get(plan.adjacency).ok_or(DropReason::NoAdjacency)?;
        plan.write(frame, &adjacency)?;
        let bytes = frame.wire_len();
        let entry: Option<&mut Entry> = match plan.by {
            // An entry for a group counts what arrives.
            By::Label | By::Group(..) => None,
            By::Prefix(place, to) => {
                let place = self.fib.own(place, to);
                self.fib.get_mut(place).map(|known| known.active_mut())
            }
            By::Prefix6(place) => {
                self.fib6.as_mut().and_then(|fib| fib.get_mut(place)).map(|known| known.active_mut())
            }
            By::Class(place, at) => {
                let classed = self.fib.get(place).map_or(0, |known| known.classed);
                self.fib.class_list_mut(classed).and_then(|list| list.get_mut(at))
            }
            By::Filter(place) => self.filters.get_mut(place).map(|filtered| &mut filtered.entry),
        };
        if let Some(entry) = entry {
            entry.count(bytes);
        }
        if plan.phb.is_some() {
            frame.set_phb(plan.phb);
        }
        if self.conditioners.notes_encaps() {
            let context = plan.context.and_then(|place| self.contexts.get(place));
            frame.set_encaps(context.map(|context| context.classes.encaps));
        }
        self.ports.count_tx(adjacency.port, u64::from(bytes));
        Ok(adjacency.port)
    }

    /// Counts a drop that the node's control processor decided on.
    pub fn count_drop(&mut self, reason: DropReason) {
        self.drops.count(reason);
    }
}

impl Plan {
    /// Writes what was decided into a frame that leaves by an adjacency.
    #[inline(always)]
    pub(crate) fn write(&self, frame: &mut Frame, adjacency: &Adjacency) -> Result<(), DropReason> {
        let pushed = self.depth * LABEL;
        let popped = self.pop * LABEL;
        let fits = if pushed > popped {
            frame.grow_front(pushed - popped)
        } else {
            frame.shrink_front(popped - pushed)
        };
        if !fits {
            return Err(DropReason::StackDepth);
        }
        if self.excess > 0 {
            // What lies behind the packet goes no further, so that a frame is no longer than the egress takes.
            let kept = frame.body().len().saturating_sub(self.excess);
            frame.set_body(frame.body().slice(0, kept));
        }
        let header = frame.header_mut();
        let (ethernet, rest) = header.split_at_mut_checked(ETHERNET).ok_or(DropReason::Truncated)?;
        let (labels, below) = rest.split_at_mut_checked(pushed).ok_or(DropReason::Truncated)?;
        match self.below_ttl {
            Some(ttl) if self.below_is_ipv6 => below.iter_mut().take(8).skip(7).for_each(|b| *b = ttl),
            Some(ttl) if self.below_is_ip => set_ipv4_ttl(below, ttl),
            Some(ttl) => below.iter_mut().take(LABEL).skip(LABEL - 1).for_each(|b| *b = ttl),
            None => {}
        }
        match self.below_dscp {
            Some(dscp) if self.below_is_ipv6 => set_ipv6_dscp(below, dscp),
            Some(dscp) => set_ipv4_dscp(below, dscp),
            None => {}
        }
        if let (Some(tc), Some(byte)) = (self.below_tc, below.get_mut(2)) {
            *byte = *byte & !0x0e | tc.value() << 1;
        }
        for (bytes, word) in labels.chunks_exact_mut(LABEL).zip(self.stack[..self.depth].iter().rev()) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let labelled = self.depth > 0 || !self.below_is_ip;
        let ethertype = match (labelled, self.below_is_ipv6) {
            (true, _) => ETHERTYPE_MPLS,
            (false, true) => ETHERTYPE_IPV6,
            (false, false) => ETHERTYPE_IPV4,
        };
        ethernet[..12].copy_from_slice(&adjacency.addresses);
        if labelled && adjacency.addresses[0] & 1 != 0 {
            let top = below.first_chunk::<LABEL>().map_or(0, |word| u32::from_be_bytes(*word));
            // RFC 5332, 8: the second label, or the only one.
            let word = match self.depth {
                0 => top,
                1 if !self.below_is_ip => top,
                1 => self.stack[0],
                depth => self.stack[depth - 2],
            };
            ethernet[..6].copy_from_slice(&label_mac(Label::truncate(word >> 12)).0);
        }
        ethernet[12..].copy_from_slice(&ethertype.to_be_bytes());
        Ok(())
    }
}

/// The neighbour that the flow of a labelled frame goes to by a group which the fast path can choose in, if it is one.
/// Not inlined: a swap to a single next hop is not to carry the hash along.
#[inline(never)]
fn balanced<'a>(
    adjacencies: &'a Adjacencies,
    groups: &[Group],
    next_hop: &Adjacency,
    seed: Seed,
    word: u32,
    below: &[u8],
) -> Option<&'a Adjacency> {
    choose(adjacencies, groups, next_hop, || hash::labelled(seed, word, below, None))
}

/// The neighbour that a flow goes to by a group which the fast path can choose in, if it is one.
#[inline(always)]
pub(crate) fn choose<'a>(
    adjacencies: &'a Adjacencies,
    groups: &[Group],
    next_hop: &Adjacency,
    flow: impl FnOnce() -> Option<u64>,
) -> Option<&'a Adjacency> {
    if next_hop.state != State::Balanced {
        return None;
    }
    let group = groups.get(next_hop.group()? as usize)?;
    adjacencies.get(group.choose(flow()?)?).filter(|chosen| chosen.state == State::Ready)
}
