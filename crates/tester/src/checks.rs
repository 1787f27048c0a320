//! Is a packet that arrived the one that was sent? Its LSP, its TTL, its TC and all of its bytes are checked.

use crate::packet::{Stamp, is_intact};
use base::{Body, Frame, Label};
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

/// What the last packet of a stream looked like that was as it was sent: one that looks the same is so as well, and is
/// not looked at further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The state of signalling in which its label was the right one.
    state: u64,
    /// Bytes of the frame; none has zero.
    len: u32,
    /// How many of them are header bytes of the frame.
    inline: u8,
    /// What could not be checked: [`Seen::TTL`], [`Seen::LABEL`].
    unchecked: u8,
    /// The last two of the bytes that are compared.
    end: u16,
    /// EtherType, one label or none, and what the headers of IPv4 and UDP say; behind that the stream.
    words: [u64; 4],
}

impl Seen {
    /// Of a stream of which no packet has come.
    pub(crate) const NOTHING: Seen =
        Seen { state: 0, len: 0, inline: 0, unchecked: 0, end: 0, words: [0; 4] };
    /// From the EtherType to the end of the UDP header behind a label and an IPv4 header.
    const LEN: usize = 2 + mpls::ENTRY_LEN + 20 + wire::udp::HEADER_LEN;
    /// Where the EtherType is.
    const START: usize = ethernet::HEADER_LEN - 2;
    /// The TTL could not be checked.
    const TTL: u8 = 1;
    /// The label could not be checked.
    const LABEL: u8 = 2;

    /// Does a packet look like the one that was seen? `state` is that of signalling. The rest of the frame has to be
    /// the filler that the source made, or nothing: other bytes would have to be read.
    #[inline]
    pub(crate) fn is_like(&self, state: u64, header: &[u8], frame: &Frame) -> bool {
        let Some((words, end)) = Seen::looks(header) else { return false };
        let differ = words.iter().zip(&self.words).fold(0, |differ, (a, b)| differ | a ^ b);
        let len = frame.len();
        differ | u64::from(end ^ self.end) | (state ^ self.state) == 0
            && self.len == len
            && usize::from(self.inline) == header.len()
            && (len as usize == header.len() || matches!(frame.body(), Body::Pattern { start: 0, .. }))
    }

    /// The bytes of a header that are compared, as words: the processor reads each of them at once.
    #[inline(always)]
    fn looks(header: &[u8]) -> Option<([u64; 4], u16)> {
        let bytes = header.get(Seen::START..)?.first_chunk::<{ Seen::LEN }>()?;
        let (words, end) = bytes.as_chunks::<8>();
        let &[a, b, c, d] = words.first_chunk()?;
        Some(([a, b, c, d].map(u64::from_ne_bytes), u16::from_ne_bytes(*end.first_chunk()?)))
    }

    /// A packet whose IP header begins at `ip`, and of which nothing was found wrong but that it could not be checked
    /// for some things.
    fn of(state: u64, ip: usize, found: &Checks, frame: &Frame) -> Option<Seen> {
        let header = frame.header();
        let (words, end) = Seen::looks(header)?;
        let flag = |found: u64, flag: u8| if found > 0 { flag } else { 0 };
        let unchecked = flag(found.ttl_unchecked, Seen::TTL) | flag(found.label_unchecked, Seen::LABEL);
        let is_right = Checks { ttl_unchecked: 0, label_unchecked: 0, ..*found } == Checks::default();
        let inline = u8::try_from(header.len()).ok()?;
        let fits = ip + 20 + wire::udp::HEADER_LEN <= Seen::START + Seen::LEN;
        (is_right && fits).then_some(Seen { state, len: frame.len(), inline, unchecked, end, words })
    }
}

impl Checks {
    /// Counts a packet that looks like the one that was seen.
    #[inline]
    pub(crate) fn again(&mut self, seen: &Seen) {
        if seen.unchecked != 0 {
            self.ttl_unchecked += u64::from(seen.unchecked & Seen::TTL);
            self.label_unchecked += u64::from(seen.unchecked / Seen::LABEL);
        }
    }

    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: &Checks) {
        self.misdelivered += other.misdelivered;
        self.damaged += other.damaged;
        self.ttl_wrong += other.ttl_wrong;
        self.tc_changed += other.tc_changed;
        self.label_unchecked += other.label_unchecked;
        self.ttl_unchecked += other.ttl_unchecked;
    }

    /// Looks at a packet that was not misdelivered. `state` is that of signalling; `seen` is what its stream has seen.
    pub(crate) fn look(
        &mut self,
        expected: &Expected,
        seen: &mut Seen,
        (whose, state): (Whose, u64),
        stamp: &Stamp,
        frame: &Frame,
    ) {
        let mut found = Checks::default();
        found.look_at(expected, whose, stamp, frame);
        self.add(&found);
        if let Some(new) = Seen::of(state, usize::from(stamp.ip), &found, frame) {
            *seen = new;
        }
    }

    fn look_at(&mut self, expected: &Expected, whose: Whose, stamp: &Stamp, frame: &Frame) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Addresses, Ports, Shape, Template, read_stamp};
    use base::{Dscp, MacAddr, StreamId, Time, TrafficClass};

    /// Looks at a packet as a sink does: at length only if it does not look like the one before.
    fn look(checks: &mut Checks, seen: &mut Seen, expected: &Expected, state: u64, frame: &Frame) -> bool {
        let stamp = read_stamp(frame.header(), Time(9)).expect("a test packet");
        let known = seen.is_like(state, frame.header(), frame);
        if known {
            checks.again(seen);
        } else {
            checks.look(expected, seen, (Whose::Right, state), &stamp, frame);
        }
        known
    }

    #[test]
    fn a_packet_like_the_one_before_counts_alike_and_one_that_differs_is_looked_at() {
        for (labels, size) in [(0, 64), (1, 64), (1, 200), (0, 1_518)] {
            let mut template = Template::new(&Shape {
                stream: StreamId(7),
                dst_mac: MacAddr::default(),
                src_mac: MacAddr::default(),
                labels: (0..labels).map(|at| Label::truncate(100 + at)).collect(),
                class: TrafficClass::default(),
                addresses: Addresses::V4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
                ports: Ports::from(49_152),
                dscp: Dscp::DEFAULT,
                ttl: 64,
                size,
            });
            let expected = Expected {
                size: Some(size),
                lsp: Some(Taken::new(
                    Ipv4Addr::LOCALHOST,
                    control::rsvp::command::TunnelId { to: Ipv4Addr::LOCALHOST, id: 1 }.into(),
                )),
                ..Expected::plain(Ipv4Addr::LOCALHOST.into(), 65)
            };
            let (mut checks, mut slow) = (Checks::default(), Checks::default());
            let mut seen = Seen::NOTHING;
            for number in 0..4 {
                let frame = template.frame(number, Time(u64::from(number)));
                assert_eq!(look(&mut checks, &mut seen, &expected, 1, &frame), number > 0);
                look(&mut slow, &mut Seen::NOTHING.clone(), &expected, 1, &frame);
            }
            assert_eq!(checks, slow);
            assert!(!look(&mut checks, &mut seen, &expected, 2, &template.frame(4, Time(4))), "a new state");
            // Each byte from the EtherType to the ports, but for those without which it is no test packet.
            let good = template.frame(5, Time(5));
            let ip = 14 + 4 * labels as usize;
            for place in (14..ip + 28).filter(|at| ![ip, ip + 9, 16].contains(at)) {
                let mut frame = good.clone();
                frame.header_mut()[place] ^= 16;
                assert!(!look(&mut checks.clone(), &mut seen.clone(), &expected, 2, &frame), "byte {place}");
            }
            let bytes = good.to_vec();
            for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[1]].concat()] {
                let frame = Frame::from_bytes(wrong);
                assert!(!seen.is_like(2, frame.header(), &frame), "{} bytes of {size}", wrong.len());
            }
            if size > 64 {
                // Filler that came in from outside is read, each time.
                let mut bytes = bytes;
                *bytes.last_mut().expect("bytes") ^= 1;
                let before = checks.damaged;
                assert!(!look(&mut checks, &mut seen, &expected, 2, &Frame::from_bytes(&bytes)));
                assert_eq!(checks.damaged, before + 1);
            }
        }
    }
}
