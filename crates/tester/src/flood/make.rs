//! How each kind of frame is made.

use super::{Flood, Kind};
use base::MacAddr;
use core::net::{Ipv4Addr, Ipv6Addr};
use wire::{checksum, icmp, icmpv6, ipv4, ipv6, nd};

const IPV4: u16 = 0x0800;
const MPLS: u16 = 0x8847;

impl Flood {
    /// Appends a frame of a kind to the empty buffer.
    pub(super) fn make(&mut self, kind: Kind) {
        match kind {
            Kind::Noise => {
                let len = self.random.below(200);
                self.random.fill(&mut self.frame, len);
                if self.frame.len() >= 6 && !self.random.once_in(4) {
                    self.frame[..6].copy_from_slice(&self.target.mac.0);
                }
            }
            Kind::Foreign => self.foreign(),
            Kind::Tagged => self.tagged(),
            Kind::Ipv6 => self.ipv6(),
            Kind::Arp => self.arp(),
            Kind::Ipv4 => {
                self.ethernet(IPV4);
                let (protocol, len) = (self.random.byte(), self.random.below(600));
                self.ip(protocol, len, None);
            }
            Kind::Fragments => {
                self.ethernet(IPV4);
                let protocol = self.random.pick(&[1, 6, 17, 46, 132]).unwrap_or(17);
                let word = self.random.word() as u16 & if self.random.once_in(2) { 0x3fff } else { 0xe00f };
                let len = self.random.below(400);
                self.ip(protocol, len, Some(word));
            }
            Kind::Mpls => self.labels(),
            Kind::Icmp => self.icmp(),
            Kind::Rsvp => self.rsvp(),
            Kind::Mutated => self.mutated(),
            Kind::Truncated => {
                self.valid();
                let len = self.random.below(self.frame.len().max(1));
                self.frame.truncate(len);
            }
            Kind::Oversized => {
                self.ethernet(IPV4);
                let len = 1_480 + self.random.below(8_000);
                let dont_fragment = if self.random.once_in(2) { 0x4000 } else { 0 };
                self.ip(17, len, Some(dont_fragment));
            }
        }
    }

    /// An Ethernet header, mostly to the router.
    fn ethernet(&mut self, ethertype: u16) {
        let to = match self.random.below(40) {
            0 => MacAddr::BROADCAST.0,
            1 => [1, 0, 0x5e, 0, 0, self.random.byte()],
            2 => self.random.word().to_le_bytes().first_chunk().copied().unwrap_or_default(),
            _ => self.target.mac.0,
        };
        self.frame.extend(to);
        self.frame.extend([2, 0x66, 0, 0, 0, 1]);
        self.frame.extend(ethertype.to_be_bytes());
    }

    fn address(&mut self, from: bool) -> Ipv4Addr {
        let any = Ipv4Addr::from_bits(self.random.word() as u32);
        let odd = [
            Ipv4Addr::UNSPECIFIED,
            Ipv4Addr::BROADCAST,
            Ipv4Addr::LOCALHOST,
            Ipv4Addr::new(224, 0, 0, 1),
            Ipv4Addr::new(240, 0, 0, 1),
            Ipv4Addr::from_bits(self.target.address.to_bits() | 3),
            self.target.address,
        ];
        match self.random.below(8) {
            0 => any,
            1 => self.random.pick(&odd).unwrap_or(any),
            2 | 3 if !from => self.random.pick(&self.target.beyond).unwrap_or(any),
            _ if from => self.target.neighbor,
            _ => self.target.address,
        }
    }

    /// An IPv4 packet with `len` bytes of payload; its header is right, or nearly.
    fn ip(&mut self, protocol: u8, len: usize, fragment: Option<u16>) {
        let start = self.frame.len();
        let options = if self.random.once_in(6) { self.random.below(11) * 4 } else { 0 };
        let header_len = ipv4::MIN_HEADER_LEN + options;
        let word = fragment.unwrap_or(0x4000);
        let (from, to) = (self.address(true), self.address(false));
        self.frame.push(0x40 | (header_len / 4) as u8);
        let tos = self.random.byte();
        self.frame.push(tos);
        self.frame.extend(((header_len + len).min(65_535) as u16).to_be_bytes());
        self.frame.extend((self.random.word() as u16).to_be_bytes());
        self.frame.extend(word.to_be_bytes());
        let ttl = if self.random.once_in(4) { self.random.byte() & 3 } else { 64 };
        self.frame.extend([ttl, protocol, 0, 0]);
        self.frame.extend(from.octets());
        self.frame.extend(to.octets());
        if options > 0 && self.random.once_in(2) {
            // Router alert, and no operation.
            self.frame.extend([148, 4, 0, 0]);
            self.frame.resize(start + header_len, 1);
        } else {
            self.random.fill(&mut self.frame, options);
        }
        if self.random.once_in(8) {
            let at = start + self.random.below(header_len);
            self.frame[at] ^= 1 << self.random.below(8);
        }
        if !self.random.once_in(10) {
            self.right_header(start, header_len);
        }
        self.random.fill(&mut self.frame, len);
    }

    fn right_header(&mut self, start: usize, header_len: usize) {
        let Some(header) = self.frame.get_mut(start..start + header_len) else { return };
        header[10..12].fill(0);
        let sum = !checksum::sum(header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    fn foreign(&mut self) {
        let known = [
            0x0027, 0x0101, 0x05dc, 0x0805, 0x0806, 0x22f3, 0x6003, 0x8035, 0x809b, 0x8137, 0x8808, 0x8809,
            0x8848, 0x8863, 0x8864, 0x888e, 0x88cc, 0x88e5, 0x88f7, 0x8902, 0x9000, 0xffff,
        ];
        let any = self.random.word() as u16;
        let ethertype = self.random.pick(&known).filter(|_| any & 1 == 0).unwrap_or(any);
        self.ethernet(ethertype);
        let len = self.random.below(300);
        self.random.fill(&mut self.frame, len);
    }

    fn tagged(&mut self) {
        let outer = self.random.pick(&[0x8100, 0x88a8, 0x9100]).unwrap_or(0x8100);
        self.ethernet(outer);
        for _ in 0..self.random.below(3) {
            self.frame.extend((self.random.word() as u16).to_be_bytes());
            self.frame.extend([0x81, 0]);
        }
        self.frame.extend((self.random.word() as u16).to_be_bytes());
        let inner = self.random.pick(&[IPV4, MPLS, 0x0806, 0x86dd]).unwrap_or(IPV4);
        self.frame.extend(inner.to_be_bytes());
        let len = self.random.below(100);
        self.ip(17, len, None);
    }

    fn ipv6(&mut self) {
        self.ethernet(0x86dd);
        let start = self.frame.len();
        let next = match self.random.below(4) {
            0 => self.random.byte(),
            1 => self.random.pick(&[0, 6, 17, 43, 44, 51, 59, 60]).unwrap_or(17),
            _ => ipv6::Protocol::ICMPV6.0,
        };
        let (src, dst) = (self.address6(), self.address6());
        let hop_limit = if self.random.once_in(4) { self.random.byte() } else { 255 };
        let len = self.random.below(200);
        self.frame.resize(start + ipv6::HEADER_LEN, 0);
        let header = ipv6::Repr::new(src, dst, ipv6::Protocol(next), len as u16);
        ipv6::Repr { hop_limit, ..header }.emit(&mut self.frame[start..]);
        self.random.fill(&mut self.frame, len);
        let message = &mut self.frame[start + ipv6::HEADER_LEN..];
        if next != ipv6::Protocol::ICMPV6.0 || message.len() < 48 {
            return;
        }
        // Mostly echo and neighbour discovery, for an address that is asked about, with options that are some.
        message[0] =
            self.random.pick(&[1, 2, 3, 4, 128, 129, 133, 134, 135, 135, 136, 136, 137]).unwrap_or(135);
        message[1] = 0;
        let target = self.address6();
        let known = self.random.byte() % 3;
        let message = &mut self.frame[start + ipv6::HEADER_LEN..];
        message[8..24].copy_from_slice(&target.octets());
        (message[24], message[25]) = (known, 1 + known % 2);
        if !self.random.once_in(8) {
            icmpv6::Packet::new_unchecked(&mut self.frame[start + ipv6::HEADER_LEN..])
                .fill_checksum(src, dst);
        }
    }

    /// An address of the router, of one of its groups, of a neighbour, from beyond it, or none of these.
    fn address6(&mut self) -> Ipv6Addr {
        let own = nd::link_local(self.target.mac);
        let near = |host: u8| Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, host.into());
        match self.random.below(8) {
            0 => own,
            1 => nd::solicited_node(own),
            2 => nd::ALL_NODES,
            3 => near(2),
            4 => near(self.random.byte()),
            5 => Ipv6Addr::new(0x2001, 0xdb8, 3, 0, 0, 0, 0, 2),
            6 => Ipv6Addr::UNSPECIFIED,
            _ => Ipv6Addr::from_bits(u128::from(self.random.word()) << 64 | u128::from(self.random.word())),
        }
    }

    fn arp(&mut self) {
        self.ethernet(0x0806);
        let start = self.frame.len();
        let operation =
            if self.random.once_in(4) { self.random.byte() & 15 } else { 1 + self.random.byte() % 2 };
        self.frame.extend([0, 1, 8, 0, 6, 4, 0, operation]);
        let sender = if self.random.once_in(3) { self.random.word() } else { 0x0100_0000_6602 };
        self.frame.extend(&sender.to_le_bytes()[..6]);
        let same_net = self.target.address.to_bits() & !0xff | u32::from(self.random.byte());
        let from = match self.random.below(4) {
            0 => self.target.neighbor,
            1 => Ipv4Addr::from_bits(same_net),
            _ => self.address(true),
        };
        self.frame.extend(from.octets());
        self.frame.extend([0; 6]);
        let to = self.address(false);
        self.frame.extend(to.octets());
        if self.random.once_in(5) {
            let at = start + self.random.below(self.frame.len() - start);
            self.frame[at] = self.random.byte();
        }
        if self.random.once_in(8) {
            let len = start + self.random.below(28);
            self.frame.truncate(len);
        }
    }

    fn labels(&mut self) {
        self.ethernet(MPLS);
        let depth = if self.random.once_in(8) { self.random.below(60) } else { 1 + self.random.below(4) };
        for place in 0..depth {
            let label = match self.random.below(4) {
                0 => self.random.below(16),
                1 => self.random.below(1 << 20),
                // Where routers begin to hand labels out.
                _ => 16 + self.random.below(32),
            } as u32;
            let bottom = place + 1 == depth && !self.random.once_in(10);
            let ttl = if self.random.once_in(3) { u32::from(self.random.byte() & 3) } else { 64 };
            let class = u32::from(self.random.byte() & 7);
            let word = label << 12 | class << 9 | u32::from(bottom) << 8 | ttl;
            self.frame.extend(word.to_be_bytes());
        }
        let longest = if self.random.once_in(5) { 1_500 } else { 200 };
        let len = self.random.below(longest);
        if self.random.once_in(6) {
            self.random.fill(&mut self.frame, len);
        } else {
            self.ip(17, len, None);
        }
    }

    fn icmp(&mut self) {
        self.ethernet(IPV4);
        let len = 8 + self.random.below(200);
        self.ip(1, len, None);
        let Some(start) = self.frame.len().checked_sub(len) else { return };
        let kind = self.random.pick(&[0, 3, 5, 8, 8, 8, 11, 12, 13, 17, 42]).unwrap_or(8);
        self.frame[start] = kind;
        self.frame[start + 1] &= 1;
        if !self.random.once_in(4) {
            let message = &mut self.frame[start..];
            icmp::Packet::new_unchecked(message).fill_checksum();
        }
    }

    fn rsvp(&mut self) {
        self.ethernet(IPV4);
        let len = 8 + self.random.below(400);
        self.ip(46, len, None);
        let Some(start) = self.frame.len().checked_sub(len) else { return };
        if !self.random.once_in(5) {
            let kind = self.random.byte() % 24;
            let ttl = self.random.byte();
            self.frame[start..start + 8].copy_from_slice(&[0x10, kind, 0, 0, ttl, 0, 0, 0]);
            // Objects of likely classes and lengths.
            let mut at = start + 8;
            while at + 4 <= self.frame.len() && !self.random.once_in(12) {
                let length = 4 + 4 * self.random.below(8);
                let (class, ctype) = (self.random.byte() % 26, self.random.byte() % 9);
                self.frame[at..at + 4].copy_from_slice(&[0, length as u8, class, ctype]);
                at += length;
            }
            self.right_message(start);
        }
    }

    /// Gives the RSVP message at `start` its length and checksum.
    fn right_message(&mut self, start: usize) {
        let Some(message) = self.frame.get_mut(start..).filter(|m| m.len() >= 8) else { return };
        let len = message.len() as u16;
        message[6..8].copy_from_slice(&len.to_be_bytes());
        message[2..4].fill(0);
        let sum = !checksum::sum(message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }

    /// A valid frame, addressed to the router's port.
    fn valid(&mut self) {
        if self.corpus.is_empty() {
            return self.make(Kind::Ipv4);
        }
        let at = self.random.below(self.corpus.len());
        self.frame.extend_from_slice(&self.corpus[at]);
        if let Some(to) = self.frame.first_chunk_mut::<6>() {
            *to = self.target.mac.0;
        }
        // What was addressed to a neighbour on a link is addressed to this one; the rest (Path) goes through.
        if self.frame.get(12..14) == Some(&[8, 0]) && self.frame.len() >= 34 && self.random.once_in(2) {
            self.frame[26..30].copy_from_slice(&self.target.neighbor.octets());
            self.frame[30..34].copy_from_slice(&self.target.address.octets());
            let header_len = usize::from(self.frame[14] & 15) * 4;
            self.right_header(14, header_len);
        }
    }

    fn mutated(&mut self) {
        self.valid();
        if self.frame.len() <= 14 {
            return;
        }
        for _ in 0..1 + self.random.below(4) {
            let at = 12 + self.random.below(self.frame.len() - 12);
            match self.random.below(3) {
                0 => self.frame[at] ^= 1 << self.random.below(8),
                1 => self.frame[at] = self.random.pick(&[0, 1, 0x7f, 0x80, 0xff]).unwrap_or(0),
                _ => self.frame[at] = self.random.byte(),
            }
        }
        if self.random.once_in(8) {
            let len = self.random.below(64);
            self.random.fill(&mut self.frame, len);
        }
        let ip = self.frame.get(12..14) == Some(&[8, 0]);
        if ip && self.frame.len() >= 34 && !self.random.once_in(6) {
            let header_len = usize::from(self.frame[14] & 15) * 4;
            if header_len >= ipv4::MIN_HEADER_LEN {
                self.right_header(14, header_len);
            }
            if self.frame[23] == 46 && !self.random.once_in(6) {
                self.right_message(14 + header_len);
            }
        }
    }
}
