//! A frame on its way through the tables, and what actions change of it. Checksums are kept right by what has changed
//! (RFC 1624), so that a payload is never read; only SCTP, whose checksum is a CRC, is read whole.

use super::Fields;
use super::layout::{self, Layout, Network, protocols};
use base::Frame;
use wire::checksum;
use wire::openflow::v1_3::OxmField;

/// A frame, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) frame: Frame,
    pub(super) fields: Fields,
    pub(super) layout: Layout,
    /// Do the fields say less than the frame? They are read again before the next search.
    pub(super) is_stale: bool,
    /// The queue that it takes at its port, if an action has chosen one.
    pub(super) queue: Option<u32>,
    /// The port and queue by which it leaves as it is now, which is not done yet: if nothing else happens to it, it
    /// need not be copied.
    pub(super) owed: Option<(u32, Option<u32>)>,
}

impl Packet {
    /// A frame that came by a port.
    #[inline(always)]
    pub(super) fn new(frame: Frame, in_port: u32) -> Packet {
        let (fields, layout) = (Fields::NONE, Layout::default());
        let mut packet = Packet { frame, fields, layout, is_stale: false, queue: None, owed: None };
        packet.look();
        packet.fields.set(OxmField::InPort, in_port.into());
        packet.fields.set(OxmField::InPhyPort, in_port.into());
        packet
    }

    /// Reads a frame of which nothing is known.
    #[inline(always)]
    fn look(&mut self) {
        let header = self.frame.header();
        let is_short = layout::read(header, &mut self.fields, &mut self.layout);
        if is_short && self.frame.len() as usize > header.len() {
            (self.fields, self.layout) = (Fields::NONE, Layout::default());
            layout::read(&self.frame.to_vec(), &mut self.fields, &mut self.layout);
        }
    }

    /// What can be matched.
    #[inline]
    pub(super) fn fields(&mut self) -> &Fields {
        if self.is_stale {
            self.read();
        }
        &self.fields
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn in_port(&self) -> u32 {
        self.fields.get(OxmField::InPort) as u32
    }

    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Writes bits of the metadata.
    pub(super) fn write_metadata(&mut self, metadata: u64, mask: u64) {
        let old = self.fields.get(OxmField::Metadata) as u64;
        self.fields.set(OxmField::Metadata, (old & !mask | metadata & mask).into());
    }

    /// Reads the frame again. What does not come from it stays.
    pub(super) fn read(&mut self) {
        use OxmField::{InPhyPort, InPort, Metadata, TunnelId};
        let kept = [InPort, InPhyPort, Metadata, TunnelId].map(|field| (field, self.fields.get(field)));
        (self.fields, self.layout) = (Fields::NONE, Layout::default());
        self.look();
        kept.into_iter().for_each(|(field, value)| self.fields.set(field, value));
        self.is_stale = false;
    }

    /// Bytes of the frame, or fewer where it ends.
    pub(super) fn bytes(&self, at: usize, len: usize) -> Vec<u8> {
        match self.frame.header().get(at..at + len) {
            Some(bytes) => bytes.to_vec(),
            None => self.frame.to_vec().into_iter().skip(at).take(len).collect(),
        }
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes(at, 1).first().copied().unwrap_or(0)
    }

    pub(super) fn two(&self, at: usize) -> u16 {
        self.bytes(at, 2).iter().fold(0, |sum, byte| sum << 8 | u16::from(*byte))
    }

    /// Replaces bytes. Nothing happens where the frame is not so long.
    pub(super) fn put(&mut self, at: usize, new: &[u8]) {
        self.is_stale = true;
        if let Some(bytes) = self.frame.header_mut().get_mut(at..at + new.len()) {
            bytes.copy_from_slice(new);
            return;
        }
        let mut all = self.frame.to_vec();
        if let Some(bytes) = all.get_mut(at..at + new.len()) {
            bytes.copy_from_slice(new);
            self.refill(&all);
        }
    }

    /// Another frame with these bytes, and with what was noted on this one.
    pub(super) fn refill(&mut self, bytes: &[u8]) {
        let arrived = self.frame.arrived();
        self.frame = Frame::from_bytes(bytes);
        if let Some(at) = arrived {
            self.frame.set_arrived(at);
        }
    }

    /// Puts bytes in front of what is at `at`, which is in the header.
    pub(super) fn insert(&mut self, at: usize, new: &[u8]) {
        let len = new.len();
        if at <= self.frame.header().len() && self.frame.grow_front(len) {
            let header = self.frame.header_mut();
            header.copy_within(len..len + at, 0);
            header[at..at + len].copy_from_slice(new);
        } else {
            let mut all = self.frame.to_vec();
            let at = at.min(all.len());
            all.splice(at..at, new.iter().copied());
            self.refill(&all);
        }
        self.read();
    }

    /// Takes bytes out.
    pub(super) fn cut(&mut self, at: usize, len: usize) {
        let header = self.frame.header_mut();
        if at + len <= header.len() {
            header.copy_within(..at, len);
            self.frame.shrink_front(len);
        } else {
            let mut all = self.frame.to_vec();
            let (start, end) = (at.min(all.len()), (at + len).min(all.len()));
            all.drain(start..end);
            self.refill(&all);
        }
        self.read();
    }

    /// Replaces bytes that checksums cover. `at` and the length are even, as those sums count.
    pub(super) fn replace(&mut self, at: usize, new: &[u8], checksums: &[Option<usize>]) {
        let old = self.bytes(at, new.len());
        if old.len() < new.len() || old == new {
            return;
        }
        self.put(at, new);
        for &place in checksums.iter().flatten() {
            let old_sum = self.two(place);
            let is_udp =
                self.layout.transport.is_some_and(|(kind, udp)| kind == protocols::UDP && place == udp + 6);
            // RFC 768: a sum of zero says that there is none.
            if is_udp && old_sum == 0 && matches!(self.layout.network, Some((Network::Ipv4, _))) {
                continue;
            }
            let words = |bytes: &[u8]| -> Vec<u16> {
                bytes
                    .chunks(2)
                    .map(|two| two.iter().fold(0, |sum, byte| sum << 8 | u16::from(*byte)))
                    .collect()
            };
            let pairs = words(&old).into_iter().zip(words(new));
            let sum = pairs.fold(old_sum, |sum, (old, new)| checksum::update(sum, old, new));
            let sum = if is_udp && sum == 0 { 0xffff } else { sum };
            self.put(place, &sum.to_be_bytes());
        }
    }

    /// The checksum of the transport layer.
    pub(super) fn transport_checksum(&self) -> Option<usize> {
        let (protocol, at) = self.layout.transport?;
        Some(match protocol {
            protocols::TCP => at + 16,
            protocols::UDP => at + 6,
            protocols::ICMP | protocols::ICMPV6 => at + 2,
            _ => return None,
        })
    }

    /// The same, if it covers the addresses of IP.
    pub(super) fn pseudo_header_checksum(&self) -> Option<usize> {
        let is_icmp = self.layout.transport.is_some_and(|(protocol, _)| protocol == protocols::ICMP);
        self.transport_checksum().filter(|_| !is_icmp)
    }
}
