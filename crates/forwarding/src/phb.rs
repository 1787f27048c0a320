//! Which PHB a packet gets here: told by the encapsulation by which it came (RFC 3270, 2.2).

use crate::classes::Context;
use crate::entry::{BOTTOM, Entry, Kind, TC};
use crate::packet::{ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, IPV4, LABEL, u16_at, u32_at};
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::TunnelModel;
use base::{Dscp, Frame, Label, Phb, TrafficClass};

/// TC of a label stack entry.
#[inline]
pub(crate) fn tc_of(word: u32) -> TrafficClass {
    TrafficClass::truncate(((word & TC) >> 9) as u8)
}

/// `tc` in its place in a label stack entry: bits 20 to 22 from the left (RFC 3032, 2.1).
#[inline]
pub(crate) fn tc_bits(tc: TrafficClass) -> u32 {
    u32::from(tc.value()) << 9
}

/// What is known of a packet's PHB while its labels are taken off, outermost first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownPhb {
    /// PHB that a conditioner decided on; it takes the place of the first that a label or header identifies.
    conditioned: Option<Phb>,
    /// The treatment at this node, once it is known.
    pub(crate) treatment: Option<Phb>,
    /// The marking that the header below takes over, of a uniform LSP that ends (RFC 3270, 2.6.3).
    pub(crate) imposed: Option<Phb>,
}

impl KnownPhb {
    pub(crate) fn new(conditioned: Option<Phb>) -> KnownPhb {
        KnownPhb { conditioned, ..KnownPhb::default() }
    }

    /// The PHB of a label or header that identifies `told`, unless something outside it has identified one already.
    #[inline]
    fn own(&mut self, told: Option<Phb>) -> Option<Phb> {
        let outside = self.imposed.or(self.conditioned);
        self.conditioned = None;
        outside.or(told)
    }

    /// As that; and it is the treatment here, unless something outside is.
    #[inline]
    pub(crate) fn note(&mut self, told: Option<Phb>) -> Option<Phb> {
        let own = self.own(told);
        self.treatment = self.treatment.or(own);
        own
    }

    /// After a label that identifies `told` was taken off where its LSP ends. Returns whether its TC had a meaning.
    #[inline]
    fn pop(&mut self, model: TunnelModel, told: Option<Phb>) -> bool {
        match model {
            // RFC 3270, 2.6.2: the egress forwards by the LSP's marking, and leaves that inside as it is.
            TunnelModel::Pipe => {
                let own = self.note(told);
                self.imposed = None;
                own.is_some()
            }
            // RFC 3270, 2.6.2.1: by the marking inside. What a conditioner decided on, it made of that marking, and
            // it is written there.
            TunnelModel::ShortPipe => {
                self.imposed = self.conditioned;
                true
            }
            // RFC 3270, 2.6.3: the LSP's marking is written inside.
            TunnelModel::Uniform => {
                self.imposed = self.own(told);
                self.imposed.is_some()
            }
        }
    }
}

impl Forwarding {
    /// The context of a label that is bound by `entry`, or by none (explicit null). Where no context was given, a
    /// node that supports DiffServ takes the LSP for an E-LSP with the preconfigured mapping (RFC 3270, 3.2.1).
    #[inline]
    pub(crate) fn context(&self, entry: Option<&Entry>) -> Option<&Context> {
        let own = entry.and_then(Entry::context).and_then(|place| self.contexts.get(place));
        own.or(self.preconfigured.as_deref())
    }

    /// Takes note of a label `word` of `entry` that ends here.
    #[inline]
    pub(crate) fn note_pop(
        &self,
        known: &mut KnownPhb,
        word: u32,
        entry: Option<&Entry>,
    ) -> Result<(), DropReason> {
        if let Some(context) = self.context(entry)
            && !known.pop(context.model(), context.phb(tc_of(word)))
        {
            return Err(DropReason::NoPhb);
        }
        Ok(())
    }

    /// The PHB that a code point stands for here; none if the node does not support DiffServ.
    #[inline]
    pub(crate) fn phb_of_tos(&self, tos: u8) -> Option<Phb> {
        let config = self.config.diffserv.as_ref()?;
        Some(config.dscp.phb(Dscp::of_tos(tos)))
    }

    /// The code point that an IP header with `tos` takes to be marked as `phb`; none if it is already.
    pub(crate) fn dscp_for(&self, phb: Phb, tos: u8) -> Option<Dscp> {
        let map = self.config.diffserv.map(|config| config.dscp).unwrap_or_default();
        (map.phb(Dscp::of_tos(tos)) != phb).then(|| map.dscp(phb))
    }

    /// The TC bits that a label of another LSP takes, which now has `tc`, to be marked as `phb`. Its context is that
    /// of the node beyond: this one takes it for the preconfigured one. None if they are right already, or nobody can
    /// tell.
    pub(crate) fn tc_for(&self, phb: Phb, tc: TrafficClass) -> Option<TrafficClass> {
        let context = self.preconfigured.as_deref()?;
        if context.phb(tc) == Some(phb) { None } else { context.tc(phb).map(|(tc, _)| tc) }
    }

    /// The PHB of a frame as the encapsulation tells it by which it arrived (RFC 3270, 2.2): that of the outermost
    /// label which is not the end of a short-pipe LSP, or that of the code point. None if it has none here: the node
    /// does not support DiffServ, or nobody can tell.
    pub fn incoming_phb(&self, frame: &Frame) -> Option<Phb> {
        let header = frame.header();
        let mut known = KnownPhb::default();
        let mut at = ETHERNET;
        if u16_at(header, 12)? == ETHERTYPE_MPLS {
            loop {
                let word = u32_at(header, at)?;
                let entry = match Label::truncate(word >> 12) {
                    Label::ROUTER_ALERT | Label::EXPLICIT_NULL => None,
                    Label::EXPLICIT_NULL_V6 if self.has_ipv6() => None,
                    label if label.is_reserved() => return None,
                    label => Some(self.ilm.get(label.value()).filter(|e| e.kind != Kind::Empty)?),
                };
                if word >> 12 != Label::ROUTER_ALERT.value() {
                    let context = self.context(entry)?;
                    let told = context.phb(tc_of(word));
                    if entry.is_some_and(|e| !e.kind.is_popped()) {
                        return known.note(told);
                    }
                    if !known.pop(context.model(), told) || known.treatment.is_some() {
                        return known.treatment;
                    }
                }
                at += LABEL;
                if word & BOTTOM != 0 {
                    break;
                }
            }
        } else if !matches!(u16_at(header, 12)?, ETHERTYPE_IPV4 | ETHERTYPE_IPV6) {
            return None;
        }
        let ip = header.get(at..at + IPV4)?;
        match ip[0] >> 4 {
            4 => known.note(self.phb_of_tos(ip[1])),
            6 if self.has_ipv6() => known.note(self.phb_of_tos(ip[0] << 4 | ip[1] >> 4)),
            _ => None,
        }
    }
}
