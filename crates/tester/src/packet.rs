//! Test packets: a header made once, of which each packet rewrites the measurement payload.

use base::frame::{FCS_LEN, HEADER_ROOM};
use base::{Body, Dscp, Frame, Label, MacAddr, StreamId, Time, TrafficClass};
use core::net::Ipv4Addr;
use wire::{ethernet, ipv4, measurement, mpls, udp};

/// Source port of test packets, in the dynamic range like the destination port.
const SOURCE_PORT: u16 = measurement::PORT;
/// Ethernet, four labels, IPv4, UDP and the measurement payload fit in the header of a frame.
const _: () = assert!(
    ethernet::HEADER_LEN + 4 * mpls::ENTRY_LEN + 20 + udp::HEADER_LEN + measurement::LEN <= HEADER_ROOM
);

/// What the packets of a stream look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which stream.
    pub stream: StreamId,
    /// Ethernet destination: the next hop.
    pub dst_mac: MacAddr,
    /// Ethernet source: the sending port.
    pub src_mac: MacAddr,
    /// Labels, the last of them outermost.
    pub labels: Vec<Label>,
    /// Traffic class in each label.
    pub class: TrafficClass,
    /// IP source.
    pub src: Ipv4Addr,
    /// IP destination.
    pub dst: Ipv4Addr,
    /// Code point.
    pub dscp: Dscp,
    /// Time to live in the IP header and in each label.
    pub ttl: u8,
    /// Bytes of the Ethernet frame from the destination address to the frame check sequence, both included.
    pub size: u32,
}

impl Shape {
    /// The least frame, in bytes, that takes the headers and the measurement payload.
    pub fn size_min(labels: usize) -> u32 {
        let headers =
            ethernet::HEADER_LEN + labels * mpls::ENTRY_LEN + 20 + udp::HEADER_LEN + measurement::LEN;
        (headers as u32 + FCS_LEN).max(base::frame::MIN_FRAME_LEN)
    }
}

/// The packets of a stream, but for what changes from one to the next.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: [u8; HEADER_ROOM],
    len: usize,
    body: Body,
    payload: usize,
}

impl Template {
    /// The template of `shape`. A size below [`Shape::size_min`] is raised to it; labels beyond four are left out.
    pub fn new(shape: &Shape) -> Template {
        let labels = &shape.labels[..shape.labels.len().min(4)];
        let size = shape.size.max(Shape::size_min(labels.len()));
        let mut bytes = [0u8; HEADER_ROOM];
        let ethertype = if labels.is_empty() { ethernet::EtherType::IPV4 } else { ethernet::EtherType::MPLS };
        ethernet::Repr::untagged(shape.dst_mac, shape.src_mac, ethertype).emit(&mut bytes);
        let mut at = ethernet::HEADER_LEN;
        for (i, &label) in labels.iter().rev().enumerate() {
            let entry = mpls::Repr { label, tc: shape.class, bottom: i + 1 == labels.len(), ttl: shape.ttl };
            entry.emit(&mut bytes[at..]);
            at += mpls::ENTRY_LEN;
        }
        let ip_len = size as usize - FCS_LEN as usize - at;
        let ip = ipv4::Repr {
            src: shape.src,
            dst: shape.dst,
            protocol: ipv4::Protocol::UDP,
            ttl: shape.ttl,
            dscp: shape.dscp,
            ecn: 0,
            ident: 0, // RFC 6864, 4.1: atomic datagrams need none
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: (ip_len - 20) as u16,
            options: ipv4::Options::NONE,
        };
        ip.emit(&mut bytes[at..]);
        at += 20;
        let mut datagram = udp::Packet::new_unchecked(&mut bytes[at..]);
        datagram.set_src_port(SOURCE_PORT);
        datagram.set_dst_port(measurement::PORT);
        datagram.set_length((ip_len - 20) as u16);
        datagram.set_checksum(0); // RFC 768: the sender made none
        at += udp::HEADER_LEN;
        let payload = at;
        measurement::Packet::new_unchecked(&mut bytes[at..]).set_stream(shape.stream);
        at += measurement::LEN;
        let rest = size - FCS_LEN - at as u32;
        let body = if rest == 0 { Body::Empty } else { Body::Pattern { start: 0, len: rest } };
        Template { bytes, len: at, body, payload }
    }

    /// The packet with this sequence number that is due at `departure`.
    #[inline]
    pub fn frame(&mut self, sequence: u32, departure: Time) -> Frame {
        let mut payload = measurement::Packet::new_unchecked(&mut self.bytes[self.payload..]);
        payload.set_sequence(sequence);
        payload.set_departure(departure);
        Frame::from_room(&self.bytes, self.len, self.body.clone())
    }
}

/// What the measurement payload of a received test packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Which stream.
    pub stream: StreamId,
    /// The lowest 32 bits of the sequence number.
    pub sequence: u32,
    /// When it was due to leave.
    pub departure: Time,
}

/// Reads the measurement payload of a frame that starts with Ethernet, any labels, IPv4 without options and UDP.
#[inline]
pub fn read_stamp(header: &[u8], now: Time) -> Option<Stamp> {
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
        _ => return None,
    }
    let ip = header.get(at..at + 28)?;
    let is_test = ip[0] == 0x45 && ip[9] == 17 && ip[22..24] == measurement::PORT.to_be_bytes();
    if !is_test {
        return None;
    }
    let payload = measurement::Packet::new_checked(header.get(at + 28..)?).ok()?;
    Some(Stamp { stream: payload.stream(), sequence: payload.sequence(), departure: payload.departure(now) })
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
            src: Ipv4Addr::new(198, 18, 0, 1),
            dst: Ipv4Addr::new(198, 18, 0, 2),
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
                assert_eq!(stamp, Stamp { stream: StreamId(77), sequence: 9, departure: Time(1 << 40) });
            }
        }
        assert_eq!(read_stamp(&[0; 60], Time(0)), None);
        assert_eq!(read_stamp(&[], Time(0)), None);
    }
}
