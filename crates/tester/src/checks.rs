//! Is a packet that arrived the one that was sent? Its LSP, its TTL, its TC and all of its bytes are checked.

use crate::packet::{Stamp, is_intact};
use base::{Frame, Label};
use core::net::{IpAddr, Ipv4Addr};
use network::tunnels::TunnelKey;
use node::Router;
use wire::{ethernet, mpls};

/// What the packets of a stream are to look like when they arrive.
#[derive(Clone, Debug)]
pub struct Expected {
    /// IP address that they are sent to.
    pub dst: IpAddr,
    /// Bytes of the frames that the source sends, with frame check sequence, if all are alike.
    pub size: Option<u32>,
    /// TTL that the source writes.
    pub ttl: u8,
    /// Routers between source and sink that count TTL, if that is known.
    pub hops: Option<u8>,
    /// TC that an edge writes to the label; absent where another device puts the label on.
    pub tc: Option<u8>,
    /// The LSP that they take; absent if they take none.
    pub lsp: Option<Taken>,
}

impl Expected {
    /// Of packets that take no LSP, of whose size nothing is known.
    pub fn plain(dst: IpAddr, ttl: u8) -> Expected {
        Expected { dst, size: None, ttl, hops: None, tc: None, lsp: None }
    }

    /// Has a packet that its sender made the length that the IP header says? Labels that the source put on take from
    /// it: none to three.
    #[inline]
    fn has_len(&self, ip_len: usize) -> bool {
        let least = base::frame::FCS_LEN as usize + ethernet::HEADER_LEN;
        match self.size {
            None => true,
            Some(size) => {
                (size as usize).wrapping_sub(least).wrapping_sub(ip_len) & !(3 * mpls::ENTRY_LEN) == 0
            }
        }
    }
}

/// The LSP that a stream takes, as its tail knows it.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Router id of its head end.
    from: Ipv4Addr,
    /// Its tunnel, as the head end calls it.
    tunnel: TunnelKey,
    /// The label that was last found to be one of this LSP, and in which state of the tail's signalling that was.
    known: (Label, u64),
}

impl Taken {
    /// The LSP of a tunnel from the head end with this router id.
    pub const fn new(from: Ipv4Addr, tunnel: TunnelKey) -> Taken {
        Taken { from, tunnel, known: (Label::EXPLICIT_NULL, 0) }
    }

    /// Is `label` one that `tail` gave to the head end for this LSP? `state` is a number, at least 1, that changes
    /// whenever the tail may have given or withdrawn a label.
    #[inline]
    pub fn has(&mut self, label: Label, state: u64, tail: &Router) -> bool {
        self.known == (label, state) || self.ask(label, state, tail)
    }

    #[inline(never)]
    fn ask(&mut self, label: Label, state: u64, tail: &Router) -> bool {
        let has = network::tunnels::has_label(tail, self.from, self.tunnel, label);
        if has {
            self.known = (label, state);
        }
        has
    }
}

/// Whose the outermost label of a packet is that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It has no label, or one that is no LSP's own: which LSP it took can't be known.
    Unknown,
    /// It is that of the LSP that the packet was sent over.
    Right,
    /// It is that of another LSP.
    Other,
    /// Nobody gave it.
    Nobody,
}

/// What was found wrong with packets that arrived, and what could not be checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Packets that came with the label of another LSP.
    pub misdelivered: u64,
    /// Packets whose bytes are not those that were sent.
    pub damaged: u64,
    /// Packets with another TTL than routers leave.
    pub ttl_wrong: u64,
    /// Packets whose label had another TC than the source wrote.
    pub tc_changed: u64,
    /// Packets over an LSP that came without a label of it.
    pub label_unchecked: u64,
    /// Packets whose TTL could not be checked, or only that it had become less.
    pub ttl_unchecked: u64,
}

impl Checks {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: &Checks) {
        self.misdelivered += other.misdelivered;
        self.damaged += other.damaged;
        self.ttl_wrong += other.ttl_wrong;
        self.tc_changed += other.tc_changed;
        self.label_unchecked += other.label_unchecked;
        self.ttl_unchecked += other.ttl_unchecked;
    }

    /// Looks at a packet that was not misdelivered.
    #[inline]
    pub(crate) fn look(&mut self, expected: &Expected, whose: Whose, stamp: &Stamp, frame: &Frame) {
        let header = frame.header();
        let ip = usize::from(stamp.ip);
        if ip > ethernet::HEADER_LEN {
            // Traffic class and TTL are in the third and the fourth byte of the outermost entry.
            let (class, ttl) = (header[ethernet::HEADER_LEN + 2], header[ethernet::HEADER_LEN + 3]);
            match expected.hops {
                Some(hops) => self.ttl_wrong += u64::from(expected.ttl.wrapping_sub(hops) != ttl),
                None if ttl < expected.ttl => self.ttl_unchecked += 1,
                None => self.ttl_wrong += 1,
            }
            if expected.tc.is_some_and(|tc| tc != class >> 1 & 7) {
                self.tc_changed += 1;
            }
            self.label_unchecked += u64::from(whose == Whose::Unknown && expected.lsp.is_some());
        } else {
            self.ttl_unchecked += 1;
            self.label_unchecked += u64::from(expected.lsp.is_some());
        }
        if !is_as_sent(expected, ip, frame) {
            self.damaged += 1;
        }
    }
}

/// Are destination, lengths and filler those that were sent? Of IPv6, the host has verified the checksum over them.
#[inline]
fn is_as_sent(expected: &Expected, ip: usize, frame: &Frame) -> bool {
    let IpAddr::V4(dst) = expected.dst else { return true };
    let Some(header) = frame.header()[ip..].first_chunk::<28>() else { return false };
    let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let datagram = usize::from(u16::from_be_bytes([header[24], header[25]]));
    header[16..20] == dst.octets()
        && datagram + 20 == len
        && expected.has_len(len)
        && is_intact(frame, ip, ip + len)
}
