//! What is to become of a frame: a pure function of tables and bytes, so that a frame which is not transmitted stays as
//! it came, and so that the control processor gets the same answer as the fast path.
//!
//! - here: which frames are looked at, and by what
//! - `plan`: what is decided
//! - `labelled`, `unlabelled`, `unlabelled6`: by the label on top, by the header of IPv4 or IPv6
//! - `groups`: packets to groups
//! - `leave`: labels to push, neighbour, and whether the egress takes the packet

mod groups;
mod labelled;
mod leave;
mod plan;
mod unlabelled;
mod unlabelled6;

pub(crate) use plan::{By, Plan};

use crate::packet::{
    ETHERNET, ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, LABEL, labels_in, u16_at,
};
use crate::phb::KnownPhb;
use crate::port::mac_key;
use crate::punt::{Exception, PuntReason};
use crate::replicate::Branch;
use crate::tables::Forwarding;
use base::device::DropReason;
use base::plane::{TtlModel, is_label_mac};
use base::{Frame, MacAddr, PortId};

/// A frame that this node has to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    ethertype: u16,
    /// Did it come to a group address?
    group: bool,
    /// Did it come to an address that labelled packets are sent to on a link (RFC 5332, 8)?
    label_group: bool,
    /// By which it arrived.
    port: PortId,
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
    port: PortId,
    /// Which branch is asked for, of a packet that is to be replicated.
    branch: Option<Branch>,
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
    /// What is known of its PHB (RFC 3270, 2.2).
    known: KnownPhb,
}

impl Popped {
    fn count(&self) -> usize {
        (self.at - ETHERNET) / LABEL
    }
    /// After the label at `at`, with incoming time to live `ttl`, was popped here.
    fn pop(self, model: TtlModel, ttl: u8) -> Popped {
        // RFC 3443, 4.2: of a uniform LSP the TTL of the popped label counts on, of a pipe LSP that of the exposed
        // header.
        let ttl = if model == TtlModel::Uniform { Some(ttl) } else { None };
        Popped { at: self.at + LABEL, ttl, ..self }
    }
}

impl Forwarding {
    /// Is the frame for this node, on Ethernet's level?
    #[inline]
    pub(crate) fn admit(&self, port: PortId, header: &[u8]) -> Result<Admitted, DropReason> {
        let ingress = self.ports.get(port).ok_or(DropReason::NotForUs)?;
        if !ingress.up {
            return Err(DropReason::PortDown);
        }
        let ethernet = header.first_chunk::<ETHERNET>().ok_or(DropReason::Truncated)?;
        let [a, b, c, d, e, f, ..] = *ethernet;
        let to = MacAddr([a, b, c, d, e, f]);
        if mac_key(to) != ingress.key && !to.is_group() {
            return Err(DropReason::NotForUs);
        }
        let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
        let (group, label_group) = (to.is_group(), is_label_mac(to));
        Ok(Admitted { ethertype, group, label_group, port })
    }

    /// Decides on an admitted frame. With `AGAIN`, router alert and options do not stop it any more.
    #[inline]
    pub(crate) fn decide<const AGAIN: bool>(
        &self,
        admitted: Admitted,
        frame: &Frame,
    ) -> Result<Plan, Exception> {
        self.decide_as::<AGAIN>(admitted, frame, None)
    }

    /// Decides on the copy of a frame for one branch of the replication list that it comes to.
    pub(crate) fn decide_copy(
        &self,
        admitted: Admitted,
        frame: &Frame,
        branch: Branch,
    ) -> Result<Plan, Exception> {
        self.decide_as::<true>(admitted, frame, Some(branch))
    }

    #[inline(always)]
    fn decide_as<const AGAIN: bool>(
        &self,
        admitted: Admitted,
        frame: &Frame,
        branch: Option<Branch>,
    ) -> Result<Plan, Exception> {
        let (len, longest) = (frame.len(), frame.segment_len());
        let Admitted { group, port, .. } = admitted;
        let bytes = Bytes { header: frame.header(), frame, len, longest, group, port, branch };
        let popped = Popped { at: ETHERNET, known: KnownPhb::new(frame.phb()), ..Popped::default() };
        match admitted.ethertype {
            // RFC 5332, 8: an LSR must not filter frames to such an address.
            ETHERTYPE_MPLS if admitted.group && !admitted.label_group => Err(DropReason::NotForUs.into()),
            ETHERTYPE_MPLS => self.labelled::<AGAIN>(bytes, popped),
            ETHERTYPE_IPV4 => self.unlabelled::<AGAIN>(bytes, popped),
            ETHERTYPE_IPV6 => self.unlabelled6::<AGAIN>(bytes, popped),
            ETHERTYPE_ARP => Err(PuntReason::Arp.into()),
            other => Err(self.unknown(other)),
        }
    }

    #[cold]
    fn unknown(&self, ethertype: u16) -> Exception {
        // IEEE 802.3, 3.2.6: up to 1500 it is a length, and LLC follows.
        if self.config.llc && ethertype <= 1500 {
            return PuntReason::Llc.into();
        }
        // Among them VLAN tags: no port has a tagged interface yet.
        DropReason::UnknownProtocol.into()
    }
}

/// The EtherType of a frame, if it has one.
pub(crate) fn ethertype(header: &[u8]) -> Option<u16> {
    u16_at(header, 12)
}
