//! Test packets: a header made once, of which each packet rewrites the measurement payload and, where sizes differ, the
//! lengths. Those of IPv6 have a UDP checksum besides, which IPv6 requires: [`v6`].

mod filler;
mod v6;

pub use filler::is_intact;
pub use v6::is_checksum_right;

use base::frame::{FCS_LEN, HEADER_ROOM};
use base::{Body, Dscp, Frame, Label, MacAddr, StreamId, Time, TrafficClass};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{checksum, ethernet, ipv4, measurement, mpls, udp};

/// Ethernet, four labels, IPv4, UDP and the measurement payload fit in the header of a frame.
const _: () = assert!(
    ethernet::HEADER_LEN + 4 * mpls::ENTRY_LEN + 20 + udp::HEADER_LEN + measurement::LEN <= HEADER_ROOM
);

/// UDP ports of the packets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ports {
    /// UDP port that the sender uses.
    pub src: u16,
    /// UDP port that the packets are sent to.
    pub dst: u16,
}

impl Ports {
    /// From `src` to the port of test packets.
    pub const fn from(src: u16) -> Ports {
        Ports { src, dst: measurement::PORT }
    }
}

/// The IP addresses of a packet: source and destination, of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Of IPv4.
    V4(Ipv4Addr, Ipv4Addr),
    /// Of IPv6.
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// From a node that has these addresses to `dst`; nothing if it has none of that family.
    pub fn towards(own: Ipv4Addr, own6: Option<Ipv6Addr>, dst: IpAddr) -> Option<Addresses> {
        match dst {
            IpAddr::V4(dst) => Some(Addresses::V4(own, dst)),
            IpAddr::V6(dst) => Some(Addresses::V6(own6?, dst)),
        }
    }
}

/// What the packets of a stream look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of the stream, which stands in every packet.
    pub stream: StreamId,
    /// Ethernet destination: the next hop.
    pub dst_mac: MacAddr,
    /// Ethernet source: the sending port.
    pub src_mac: MacAddr,
    /// Labels, the last of them outermost.
    pub labels: Vec<Label>,
    /// Traffic class in each label.
    pub class: TrafficClass,
    /// IP addresses of the sending instrument and of where the packets are sent to; over an LSP, its test address.
    pub addresses: Addresses,
    /// UDP ports, by which a sink knows a stream's packets.
    pub ports: Ports,
    /// Code point of the IP header: the PHB that the packets ask for.
    pub dscp: Dscp,
    /// Time to live in the IP header and in each label.
    pub ttl: u8,
    /// Bytes of the Ethernet frame from the destination address to the frame check sequence, both included.
    pub size: u32,
}

impl Shape {
    /// The longest frame, in bytes, without labels: that of the longest IP packet.
    pub const SIZE_MAX: u32 = 65_535 + ethernet::HEADER_LEN as u32 + FCS_LEN;

    /// The least frame, in bytes, that takes the headers and the measurement payload.
    pub fn size_min(labels: usize) -> u32 {
        Shape::size_over(20, labels)
    }

    /// Writes the Ethernet header and these labels, the last of them outermost. Returns where the IP header begins;
    /// `ip` is its EtherType.
    fn emit_stack(&self, labels: &[Label], ip: ethernet::EtherType, bytes: &mut [u8]) -> usize {
        let ethertype = if labels.is_empty() { ip } else { ethernet::EtherType::MPLS };
        ethernet::Repr::untagged(self.dst_mac, self.src_mac, ethertype).emit(bytes);
        let mut at = ethernet::HEADER_LEN;
        for (i, &label) in labels.iter().rev().enumerate() {
            let entry = mpls::Repr { label, tc: self.class, bottom: i + 1 == labels.len(), ttl: self.ttl };
            entry.emit(&mut bytes[at..]);
            at += mpls::ENTRY_LEN;
        }
        at
    }

    /// The least frame over an IP header of `ip` bytes below so many labels.
    fn size_over(ip: usize, labels: usize) -> u32 {
        let headers =
            ethernet::HEADER_LEN + labels * mpls::ENTRY_LEN + ip + udp::HEADER_LEN + measurement::LEN;
        (headers as u32 + FCS_LEN).max(base::frame::MIN_FRAME_LEN)
    }
}

/// The packets of a stream, but for what changes from one to the next.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: [u8; HEADER_ROOM],
    len: usize,
    body: Body,
    /// Where the IP header and the measurement payload begin.
    ip: usize,
    payload: usize,
    /// Of IPv6: the sum of all that the UDP checksum covers but the measurement payload.
    sum6: Option<u16>,
}

impl Template {
    /// The template of `shape`. A size below [`Shape::size_min`] is raised to it; labels beyond four are left out.
    pub fn new(shape: &Shape) -> Template {
        let (src, dst) = match shape.addresses {
            Addresses::V4(src, dst) => (src, dst),
            Addresses::V6(src, dst) => return Template::new6(shape, src, dst),
        };
        let labels = &shape.labels[..shape.labels.len().min(4)];
        let size = shape.size.max(Shape::size_min(labels.len()));
        let mut bytes = [0u8; HEADER_ROOM];
        let mut at = shape.emit_stack(labels, ethernet::EtherType::IPV4, &mut bytes);
        let start = at;
        let ip_len = ip_len(size, at);
        let ip = ipv4::Repr {
            src,
            dst,
            protocol: ipv4::Protocol::UDP,
            ttl: shape.ttl,
            dscp: shape.dscp,
            ecn: 0,
            ident: 0, // RFC 6864, 4.1: atomic datagrams need none
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: ip_len - 20,
            options: ipv4::Options::NONE,
        };
        ip.emit(&mut bytes[at..]);
        at += 20;
        let mut datagram = udp::Packet::new_unchecked(&mut bytes[at..]);
        datagram.set_src_port(shape.ports.src);
        datagram.set_dst_port(shape.ports.dst);
        datagram.set_length(ip_len - 20);
        datagram.set_checksum(0); // RFC 768: the sender made none
        at += udp::HEADER_LEN;
        let payload = at;
        measurement::Packet::new_unchecked(&mut bytes[at..]).set_stream(shape.stream);
        at += measurement::LEN;
        let body = filler(start + usize::from(ip_len) - at);
        Template { bytes, len: at, body, ip: start, payload, sum6: None }
    }

    /// Lets the next frames have `size` bytes, with frame check sequence: as many as its headers need at least, as an
    /// IP packet can have at most.
    #[inline]
    pub fn set_size(&mut self, size: u32) {
        let least = (self.len as u32 + FCS_LEN).max(base::frame::MIN_FRAME_LEN);
        let ip_len = ip_len(size.max(least), self.ip);
        if self.sum6.is_some() {
            return self.set_size6(ip_len);
        }
        let mut ip = ipv4::Packet::new_unchecked(&mut self.bytes[self.ip..]);
        let old = ip.total_len();
        if old == ip_len {
            return;
        }
        // RFC 1624: only the length changes, and the checksum with it.
        let sum = checksum::update(ip.checksum(), old, ip_len);
        ip.set_total_len(ip_len);
        ip.set_checksum(sum);
        udp::Packet::new_unchecked(&mut self.bytes[self.ip + 20..]).set_length(ip_len - 20);
        self.body = filler(self.ip + usize::from(ip_len) - self.len);
    }

    /// The packet of IPv4 with this sequence number that is due at `departure`.
    #[inline(always)]
    pub fn frame(&mut self, sequence: u32, departure: Time) -> Frame {
        let mut payload = measurement::Packet::new_unchecked(&mut self.bytes[self.payload..]);
        payload.set_sequence(sequence);
        payload.set_departure(departure);
        Frame::from_room(&self.bytes, self.len, self.body.clone())
    }
}

/// Bytes of the IP packet in a frame of `size` bytes in which it begins at `at`.
#[inline]
fn ip_len(size: u32, at: usize) -> u16 {
    u16::try_from(size - FCS_LEN - at as u32).unwrap_or(u16::MAX)
}

#[inline]
fn filler(len: usize) -> Body {
    if len == 0 { Body::Empty } else { Body::Pattern { start: 0, len: len as u32 } }
}

/// What the measurement payload of a received test packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The UDP ports of the packet that it is in.
    pub ports: Ports,
    /// Number of the stream, which stands in every packet.
    pub stream: StreamId,
    /// The lowest 32 bits of the sequence number.
    pub sequence: u32,
    /// When it was due to leave.
    pub departure: Time,
    /// Where its IP header begins in the frame.
    pub ip: u16,
}

/// Reads what is a measurement payload if the frame is a test packet: it starts with Ethernet, any labels, IPv4 without
/// options or IPv6 without extension headers, and UDP. Whether it is one, its sink knows
/// ([`crate::sink::Sink::takes`]).
#[inline]
pub fn read_stamp(header: &[u8], now: Time) -> Option<Stamp> {
    read(header, now, |_| true)
}

/// The same of a whole frame. One of IPv6 has the UDP checksum that it should have, too, unless a kernel is still to
/// make it.
#[inline]
pub fn read_frame(frame: &Frame, now: Time) -> Option<Stamp> {
    read(frame.header(), now, |at| frame.offload().is_some() || is_checksum_right(frame, at))
}

/// Reads a stamp; `is_right` looks at a packet of IPv6 by where it begins.
#[inline(always)]
fn read(header: &[u8], now: Time, is_right: impl Fn(usize) -> bool) -> Option<Stamp> {
    let read6 = |at: usize| v6::read_stamp(header, at, now).filter(|_| is_right(at));
    let mut at = ethernet::HEADER_LEN;
    match header.get(12..14)? {
        [0x88, 0x47] => loop {
            let entry = header.get(at..at + mpls::ENTRY_LEN)?;
            at += mpls::ENTRY_LEN;
            if entry[2] & 1 == 1 {
                break;
            }
        },
        [0x08, 0x00] => {}
        _ => return read6(at),
    }
    let ip = header.get(at..at + 28)?;
    if ip[0] != 0x45 || ip[9] != 17 {
        return read6(at);
    }
    let port = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
    let payload = measurement::Packet::new_checked(header.get(at + 28..)?).ok()?;
    Some(Stamp {
        ports: Ports { src: port(20), dst: port(22) },
        stream: payload.stream(),
        sequence: payload.sequence(),
        departure: payload.departure(now),
        ip: at as u16,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(labels: &[u32], size: u32) -> Shape {
        Shape {
            stream: StreamId(77),
            dst_mac: MacAddr([2, 0, 0, 0, 0, 2]),
            src_mac: MacAddr([2, 0, 0, 0, 0, 1]),
            labels: labels.iter().map(|&l| Label::truncate(l)).collect(),
            class: TrafficClass::default(),
            addresses: Addresses::V4(Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)),
            ports: Ports { src: 49_999, dst: 5_060 },
            dscp: Dscp::EF,
            ttl: 64,
            size,
        }
    }

    #[test]
    fn a_labelled_packet_fits_in_the_least_frame() {
        assert_eq!(Shape::size_min(1), 64);
        let frame = Template::new(&shape(&[100], 64)).frame(5, Time(123));
        assert_eq!((frame.len(), frame.wire_len()), (60, 64));
    }

    #[test]
    fn what_is_written_is_read() {
        for labels in [&[][..], &[100], &[100, 200, 300, 400]] {
            for size in [64, 90, 512, 1518] {
                let frame = Template::new(&shape(labels, size)).frame(9, Time(1 << 40));
                assert_eq!(frame.wire_len(), size.max(Shape::size_min(labels.len())));
                let stamp = read_stamp(frame.header(), Time(1 << 41)).expect("a stamp");
                let ports = Ports { src: 49_999, dst: 5_060 };
                let ip = (14 + 4 * labels.len()) as u16;
                let expected =
                    Stamp { ports, stream: StreamId(77), sequence: 9, departure: Time(1 << 40), ip };
                assert_eq!(stamp, expected);
            }
        }
        assert_eq!(read_stamp(&[0; 60], Time(0)), None);
    }

    #[test]
    fn frames_of_any_size_are_those_of_a_template_of_that_size() {
        for labels in [&[][..], &[100], &[100, 200, 300, 400]] {
            let mut varying = Template::new(&shape(labels, 512));
            for size in [0, 64, 65, 9_018, 9_017, 80, 65_535, Shape::SIZE_MAX, Shape::SIZE_MAX + 99, 1_518] {
                varying.set_size(size);
                let expected = Template::new(&shape(labels, size)).frame(1, Time(7));
                let frame = varying.frame(1, Time(7));
                assert!(frame == expected, "{size} bytes, {} labels", labels.len());
                let at = ethernet::HEADER_LEN + 4 * labels.len();
                let bytes = frame.to_vec();
                let ip = ipv4::Packet::new_checked(&bytes[at..]).expect("an IP packet");
                assert!(ip.verify_checksum().is_ok());
                let lengths = (usize::from(ip.total_len()), ip.payload().len());
                assert_eq!(lengths, (bytes.len() - at, bytes.len() - at - 20));
                let datagram = udp::Packet::new_checked(ip.payload()).expect("a datagram");
                assert_eq!(usize::from(datagram.length()), bytes.len() - at - 20);
            }
        }
        assert_eq!(read_stamp(&[], Time(0)), None);
    }
}
