//! What a kernel left undone, done here: partial checksums completed, super-frames cut into real frames.
//!
//! A kernel that sends by TCP hands down up to 64 KiB with one set of headers and leaves it to the interface to cut
//! them into segments and to finish the checksums. Between interfaces that can do so, the super-frame travels whole.
//! Where the way out can't, this does what the interface would have done; headers are looked for below VLAN tags and
//! label stack entries. Bodies of segments are slices of the super-frame's: payload is never copied.

use base::frame::{Offload, Segment};
use base::{Body, Frame};
use core::net::Ipv4Addr;
use wire::checksum;
use wire::ethernet::EtherType;

/// Bytes of an Ethernet header with two tags.
pub const LINK_HEADER_MAX: usize = 22;
/// The longest headers that are looked through: Ethernet, tags, labels, IP and TCP with all their options.
const HEADERS_MAX: usize = 256;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Where TCP and UDP keep their checksum.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
/// The shortest TCP header, and the UDP header.
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// TCP flags of the last segment only: FIN and PSH (RFC 9293, 3.1).
const LAST_ONLY: u8 = 0x09;
/// TCP flag of the first segment only: CWR (RFC 3168, 6.1.2).
const FIRST_ONLY: u8 = 0x80;

/// Gives `out` the real frames that `frame` stands for, in order, and returns how many they are: one if nothing is left
/// undone but a checksum; none if the headers are not those of the super-frame that it says it is.
pub fn real_frames(mut frame: Frame, out: &mut dyn FnMut(Frame)) -> usize {
    match frame.offload() {
        Some(offload) if offload.segment != Segment::None => match Headers::find(&frame, offload) {
            Some(headers) => headers.cut(&frame, offload.segment_size, out),
            None => 0,
        },
        Some(offload) => {
            if !complete_checksum(&mut frame, offload) {
                return 0;
            }
            frame.set_offload(None);
            out(frame);
            1
        }
        None => {
            out(frame);
            1
        }
    }
}

/// Finishes the checksum whose field holds the sum of the pseudo header so far.
fn complete_checksum(frame: &mut Frame, offload: Offload) -> bool {
    let start = usize::from(offload.checksum_start);
    let field = start + usize::from(offload.checksum_offset);
    if !offload.needs_checksum {
        return true;
    }
    if field + 2 > frame.len() as usize {
        return false;
    }
    let in_header = field + 2 <= frame.header().len();
    let even = frame.header().len().checked_sub(start).is_some_and(|len| len % 2 == 0);
    let sum = match (in_header && even, frame.body().as_slice()) {
        (true, Some(body)) => {
            checksum::combine(&[checksum::sum(&frame.header()[start..]), checksum::sum(body)])
        }
        _ => checksum::sum(&frame.to_vec()[start..]),
    };
    let value = finished(sum).to_be_bytes();
    if in_header {
        frame.header_mut()[field..field + 2].copy_from_slice(&value);
    } else {
        let mut bytes = frame.to_vec();
        bytes[field..field + 2].copy_from_slice(&value);
        let arrived = frame.arrived();
        *frame = Frame::from_bytes(&bytes);
        if let Some(at) = arrived {
            frame.set_arrived(at);
        }
    }
    true
}

/// Completes the TCP or UDP checksum of an IP packet, below tags and labels, if its field holds the sum of the pseudo
/// header and nothing else: a sender that left it undone did not say so on the way here.
pub fn complete_if_partial(frame: &mut Frame) {
    let header = frame.header();
    let found = || {
        let ip = network_offset(header)?;
        let address = |at: usize| {
            let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
            Some(Ipv4Addr::from(bytes))
        };
        let word = |at: usize| Some(u16::from_be_bytes([*header.get(at)?, *header.get(at + 1)?]));
        let first = *header.get(ip)?;
        let (transport, protocol, len, addresses) = match first >> 4 {
            4 => {
                let fragment = word(ip + 6)? & 0x3fff != 0;
                let own = u16::from(first & 15) * 4;
                let len = word(ip + 2)?.checked_sub(own).filter(|_| !fragment)?;
                let sum = checksum::pseudo_header(address(ip + 12)?, address(ip + 16)?, 0, 0);
                (ip + usize::from(own), *header.get(ip + 9)?, len, sum)
            }
            6 => {
                let sum = checksum::sum(header.get(ip + 8..ip + 40)?);
                (ip + 40, *header.get(ip + 6)?, word(ip + 4)?, sum)
            }
            _ => return None,
        };
        let offset = match protocol {
            TCP => TCP_CHECKSUM,
            UDP => UDP_CHECKSUM,
            _ => return None,
        };
        let partial = checksum::combine(&[addresses, u16::from(protocol), len]);
        let undone = word(transport + offset)? == partial && partial != 0;
        undone.then_some(Offload {
            needs_checksum: true,
            checksum_start: transport as u16,
            checksum_offset: offset as u8,
            segment: Segment::None,
            segment_size: 0,
            header_len: 0,
        })
    };
    if let Some(offload) = found() {
        complete_checksum(frame, offload);
    }
}

/// The checksum field for a sum: never zero, which UDP takes for "no checksum" (RFC 768) and TCP for the same number.
fn finished(sum: u16) -> u16 {
    match !sum {
        0 => 0xffff,
        value => value,
    }
}

/// The headers of a super-frame and where they lie.
struct Headers {
    bytes: [u8; HEADERS_MAX],
    /// Where the IP header begins.
    ip: usize,
    v6: bool,
    /// Where the TCP or UDP header begins.
    transport: usize,
    tcp: bool,
    /// Where the payload begins.
    len: usize,
}

impl Headers {
    fn find(frame: &Frame, offload: Offload) -> Option<Headers> {
        let mut bytes = [0; HEADERS_MAX];
        let head = frame.header().len().min(HEADERS_MAX);
        bytes[..head].copy_from_slice(&frame.header()[..head]);
        let body = frame.body().slice(0, (HEADERS_MAX - head) as u32);
        let mut rest = Vec::new();
        body.write_to(&mut rest);
        bytes[head..head + rest.len()].copy_from_slice(&rest);
        let held = &bytes[..head + rest.len()];

        let ip = network_offset(held)?;
        let first = *held.get(ip)?;
        let (v6, udp) = (first >> 4 == 6, offload.segment == Segment::UdpL4);
        let fits = match offload.segment {
            Segment::TcpV4 => first >> 4 == 4,
            Segment::TcpV6 => v6,
            Segment::UdpL4 => matches!(first >> 4, 4 | 6),
            Segment::None => false,
        };
        let protocol = if udp { UDP } else { TCP };
        let transport = if v6 {
            // Extension headers may come first; the checksum's start says where they end.
            let plain = *held.get(ip + 6)? == protocol;
            if offload.needs_checksum {
                usize::from(offload.checksum_start)
            } else {
                plain.then_some(ip + 40)?
            }
        } else {
            (*held.get(ip + 9)? == protocol).then_some(ip + usize::from(first & 15) * 4)?
        };
        let shortest = ip + if v6 { 40 } else { 20 };
        let transport_len = if udp { UDP_HEADER } else { usize::from(*held.get(transport + 12)? >> 4) * 4 };
        let len = transport + transport_len;
        let enough = transport_len >= if udp { UDP_HEADER } else { TCP_HEADER };
        let whole = transport >= shortest && len <= held.len() && enough && offload.segment_size > 0;
        (fits && whole).then_some(Headers { bytes, ip, v6, transport, tcp: !udp, len })
    }

    /// One frame for each `size` bytes of payload.
    fn cut(mut self, frame: &Frame, size: u16, out: &mut dyn FnMut(Frame)) -> usize {
        let payload = frame.len() as usize - self.len;
        let size = usize::from(size);
        let original = self.bytes;
        let count = payload.div_ceil(size).max(1);
        for i in 0..count {
            let from = i * size;
            let len = size.min(payload - from);
            self.bytes = original;
            self.rewrite(i, from, len, i + 1 == count);
            let (front, body) = piece(frame, self.len + from, len);
            self.sum(front, &body);
            let mut header = [0; HEADERS_MAX * 2];
            header[..self.len].copy_from_slice(&self.bytes[..self.len]);
            header[self.len..self.len + front.len()].copy_from_slice(front);
            let mut segment = Frame::new(&header[..self.len + front.len()], body);
            if let Some(at) = frame.arrived() {
                segment.set_arrived(at);
            }
            out(segment);
        }
        count
    }

    /// Everything that differs between segments but the transport checksum.
    fn rewrite(&mut self, index: usize, from: usize, len: usize, last: bool) {
        let Headers { ip, transport, .. } = *self;
        let above = (self.len - ip + len) as u16;
        if self.v6 {
            self.put(ip + 4, (self.len - ip - 40 + len) as u16);
        } else {
            let id = u16::from_be_bytes([self.bytes[ip + 4], self.bytes[ip + 5]]);
            self.put(ip + 2, above);
            self.put(ip + 4, id.wrapping_add(index as u16));
            self.put(ip + 10, 0);
            let end = ip + usize::from(self.bytes[ip] & 15) * 4;
            self.put(ip + 10, !checksum::sum(&self.bytes[ip..end]));
        }
        if self.tcp {
            let at = transport + 4;
            let sequence: [u8; 4] = [0, 1, 2, 3].map(|i| self.bytes[at + i]);
            let sequence = u32::from_be_bytes(sequence).wrapping_add(from as u32);
            self.bytes[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
            let flags = &mut self.bytes[transport + 13];
            if !last {
                *flags &= !LAST_ONLY;
            }
            if index > 0 {
                *flags &= !FIRST_ONLY;
            }
        } else {
            self.put(transport + 4, (self.len - transport + len) as u16);
        }
    }

    /// The checksum over pseudo header, transport header and payload.
    fn sum(&mut self, front: &[u8], body: &Body) {
        let Headers { ip, transport, len, .. } = *self;
        let field = transport + if self.tcp { TCP_CHECKSUM } else { UDP_CHECKSUM };
        self.put(field, 0);
        let covered = (len - transport + front.len() + body.len() as usize) as u32;
        let protocol = if self.tcp { TCP } else { UDP };
        let pseudo = if self.v6 {
            // RFC 8200, 8.1: the two addresses, the length and the next header.
            let addresses = checksum::sum(&self.bytes[ip + 8..ip + 40]);
            let none = Ipv4Addr::UNSPECIFIED;
            checksum::combine(&[addresses, checksum::pseudo_header(none, none, protocol, covered)])
        } else {
            let address = |at: usize| Ipv4Addr::from([0, 1, 2, 3].map(|i| self.bytes[at + i]));
            checksum::pseudo_header(address(ip + 12), address(ip + 16), protocol, covered)
        };
        let headers = checksum::sum(&self.bytes[transport..len]);
        let payload = match body.as_slice() {
            Some(body) if front.len().is_multiple_of(2) => {
                checksum::combine(&[checksum::sum(front), checksum::sum(body)])
            }
            _ => {
                let mut bytes = front.to_vec();
                body.write_to(&mut bytes);
                checksum::sum(&bytes)
            }
        };
        self.put(field, finished(checksum::combine(&[pseudo, headers, payload])));
    }

    fn put(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
}

/// Bytes of a frame: as many as lie in its header buffer, and the rest as a slice of its body.
fn piece(frame: &Frame, from: usize, len: usize) -> (&[u8], Body) {
    let header = frame.header();
    let front = header.get(from..(from + len).min(header.len())).unwrap_or_default();
    let in_body = (from + front.len()).saturating_sub(header.len());
    (front, frame.body().slice(in_body as u32, (len - front.len()) as u32))
}

/// Where the network layer's header begins: behind the Ethernet header, its tags and the label stack. `None` if it does
/// not lie in `bytes`.
pub fn network_offset(bytes: &[u8]) -> Option<usize> {
    let (at, ethertype) = above_tags(bytes)?;
    match ethertype {
        EtherType::IPV4 | EtherType::IPV6 => Some(at),
        EtherType::MPLS | EtherType::MPLS_UPSTREAM => {
            // RFC 3032, 2.1: the S bit marks the bottom of the stack.
            (at..bytes.len())
                .step_by(4)
                .find(|&entry| bytes.get(entry + 2).is_some_and(|b| b & 1 == 1))
                .map(|e| e + 4)
        }
        _ => None,
    }
}

/// Where what is above the Ethernet header and its tags begins, and its type.
pub fn above_tags(bytes: &[u8]) -> Option<(usize, EtherType)> {
    let mut at = 12;
    loop {
        let ethertype = EtherType(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        if !ethertype.is_tag() || at >= LINK_HEADER_MAX - 2 {
            return Some((at + 2, ethertype));
        }
        at += 4;
    }
}

#[cfg(test)]
mod tests;
