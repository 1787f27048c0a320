//! Test packets of IPv6 (RFC 8200) and their UDP checksum, which IPv6 requires (8.1).

use super::filler::{PATTERN, PERIOD};
use super::{Ports, Shape, Stamp, Template, filler, ip_len};
use base::frame::HEADER_ROOM;
use base::{Body, Frame, Time};
use core::net::Ipv6Addr;
use wire::{checksum, ethernet, ipv6, measurement, mpls, udp};

/// Ethernet, three labels, IPv6, UDP and the measurement payload fit in the header of a frame.
const _: () = assert!(
    ethernet::HEADER_LEN + 3 * mpls::ENTRY_LEN + ipv6::HEADER_LEN + udp::HEADER_LEN + measurement::LEN
        <= HEADER_ROOM
);
/// How many labels a test packet may have.
const LABELS_MAX: usize = 3;
impl Shape {
    /// The least frame of IPv6, in bytes, that takes the headers and the measurement payload.
    pub fn size_min6(labels: usize) -> u32 {
        Shape::size_over(ipv6::HEADER_LEN, labels)
    }
}

impl Template {
    /// The template of a shape with these addresses. Labels beyond three are left out.
    pub(super) fn new6(shape: &Shape, src: Ipv6Addr, dst: Ipv6Addr) -> Template {
        let labels = &shape.labels[..shape.labels.len().min(LABELS_MAX)];
        let mut bytes = [0u8; HEADER_ROOM];
        let ip = shape.emit_stack(labels, ethernet::EtherType::IPV6, &mut bytes);
        let mut at = ip;
        let header = ipv6::Repr {
            hop_limit: shape.ttl,
            dscp: shape.dscp,
            ..ipv6::Repr::new(src, dst, ipv6::Protocol::UDP, 0)
        };
        header.emit(&mut bytes[at..]);
        at += ipv6::HEADER_LEN;
        let mut datagram = udp::Packet::new_unchecked(&mut bytes[at..]);
        datagram.set_src_port(shape.ports.src);
        datagram.set_dst_port(shape.ports.dst);
        let payload = at + udp::HEADER_LEN;
        measurement::Packet::new_unchecked(&mut bytes[payload..]).set_stream(shape.stream);
        let len = payload + measurement::LEN;
        let mut made = Template { bytes, len, body: Body::Empty, ip, payload, sum6: Some(0) };
        made.set_size6(ip_len(shape.size.max(Shape::size_min6(labels.len())), ip));
        made
    }

    /// Lets the next packets have `total` bytes with their IPv6 header, as many as their headers need at least.
    pub(super) fn set_size6(&mut self, total: u16) {
        let len = total - ipv6::HEADER_LEN as u16;
        let mut ip = ipv6::Packet::new_unchecked(&mut self.bytes[self.ip..]);
        ip.set_payload_len(len);
        let (src, dst) = (ip.src(), ip.dst());
        let mut datagram = udp::Packet::new_unchecked(&mut self.bytes[self.payload - udp::HEADER_LEN..]);
        datagram.set_length(len);
        datagram.set_checksum(0);
        self.body = filler(self.ip + usize::from(total) - self.len);
        self.sum6 = Some(checksum::combine(&[
            checksum::pseudo_header_v6(src, dst, ipv6::Protocol::UDP.0, u32::from(len)),
            checksum::sum(&self.bytes[self.payload - udp::HEADER_LEN..self.payload]),
            body_sum(&self.body),
        ]));
    }

    /// The packet with this sequence number that is due at `departure`, of either family.
    pub fn frame_of_any(&mut self, sequence: u32, departure: Time) -> Frame {
        let Some(sum) = self.sum6 else { return self.frame(sequence, departure) };
        let mut payload = measurement::Packet::new_unchecked(&mut self.bytes[self.payload..]);
        payload.set_sequence(sequence);
        payload.set_departure(departure);
        let written = checksum::sum(&self.bytes[self.payload..self.payload + measurement::LEN]);
        // RFC 8200, 8.1: a checksum of zero is sent as all ones.
        let sum = match !checksum::combine(&[sum, written]) {
            0 => u16::MAX,
            sum => sum,
        };
        udp::Packet::new_unchecked(&mut self.bytes[self.payload - udp::HEADER_LEN..]).set_checksum(sum);
        Frame::from_room(&self.bytes, self.len, self.body.clone())
    }

    /// Are its packets of IPv6?
    pub const fn is_ipv6(&self) -> bool {
        self.sum6.is_some()
    }
}

/// The sum of a body. One that a source made is so many periods of its pattern and a part of one.
fn body_sum(body: &Body) -> u16 {
    match body {
        Body::Pattern { start: 0, len } => {
            let (periods, rest) = (*len as usize / PERIOD, *len as usize % PERIOD);
            let whole = u64::from(checksum::sum(&PATTERN)) * periods as u64;
            checksum::combine(&[(whole >> 16) as u16, whole as u16, checksum::sum(&PATTERN[..rest])])
        }
        Body::Pattern { .. } => {
            let mut bytes = Vec::new();
            body.write_to(&mut bytes);
            checksum::sum(&bytes)
        }
        other => checksum::sum(other.as_slice().unwrap_or_default()),
    }
}

/// As [`super::read_stamp`] does, where the IP header is that of IPv6, at `at`.
#[inline(never)]
pub(super) fn read_stamp(header: &[u8], at: usize, now: Time) -> Option<Stamp> {
    let ip = header.get(at..)?.first_chunk::<{ ipv6::HEADER_LEN + udp::HEADER_LEN }>()?;
    let labelled = at > ethernet::HEADER_LEN;
    if !(labelled || header[12..14] == [0x86, 0xdd]) || ip[0] >> 4 != 6 || ip[6] != ipv6::Protocol::UDP.0 {
        return None;
    }
    let port = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
    let payload = measurement::Packet::new_checked(header.get(at + ip.len()..)?).ok()?;
    Some(Stamp {
        ports: Ports { src: port(ipv6::HEADER_LEN), dst: port(ipv6::HEADER_LEN + 2) },
        stream: payload.stream(),
        sequence: payload.sequence(),
        departure: payload.departure(now),
        ip: at as u16,
    })
}

/// Is the UDP checksum of an IPv6 packet right, whose header is at `at`? A receiver discards what has another (RFC
/// 8200, 8.1).
pub fn is_checksum_right(frame: &Frame, at: usize) -> bool {
    let header = frame.header();
    let Some(ip) = header.get(at..) else { return false };
    let Ok(view) = ipv6::Packet::new_header_checked(ip) else { return false };
    let inline = &ip[ipv6::HEADER_LEN..];
    let len = usize::from(view.payload_len());
    if len > inline.len() + frame.body().len() as usize {
        return false;
    }
    // What lies behind the packet is padding.
    let here = &inline[..inline.len().min(len)];
    let behind = frame.body().slice(0, (len - here.len()) as u32);
    if here.len() % 2 == 1 && !behind.is_empty() {
        let mut whole = here.to_vec();
        behind.write_to(&mut whole);
        return is_right(view.src(), view.dst(), checksum::sum(&whole), len);
    }
    let sum = checksum::combine(&[checksum::sum(here), body_sum(&behind)]);
    is_right(view.src(), view.dst(), sum, len)
}

fn is_right(src: Ipv6Addr, dst: Ipv6Addr, sum: u16, len: usize) -> bool {
    let pseudo = checksum::pseudo_header_v6(src, dst, ipv6::Protocol::UDP.0, len as u32);
    checksum::combine(&[pseudo, sum]) == u16::MAX
}

#[cfg(test)]
mod tests {
    use super::super::{Addresses, read_stamp};
    use super::*;
    use base::{Dscp, Label, MacAddr, StreamId, TrafficClass};

    fn shape(labels: &[u32], size: u32) -> Shape {
        let address = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
        Shape {
            stream: StreamId(77),
            dst_mac: MacAddr([2, 0, 0, 0, 0, 2]),
            src_mac: MacAddr([2, 0, 0, 0, 0, 1]),
            labels: labels.iter().map(|&label| Label::truncate(label)).collect(),
            class: TrafficClass::default(),
            addresses: Addresses::V6(address(1), address(2)),
            ports: Ports { src: 49_999, dst: 5_060 },
            dscp: Dscp::EF,
            ttl: 64,
            size,
        }
    }

    #[test]
    fn packets_are_read_as_they_were_written_and_have_the_right_checksum() {
        assert_eq!(Shape::size_min6(0), 80);
        for labels in [&[][..], &[100], &[100, 200, 300]] {
            let mut varying = Template::new(&shape(labels, 512));
            for size in [0, 80, 81, 92, 93, 337, 338, 1_518, 9_018, 65_535, Shape::SIZE_MAX] {
                varying.set_size(size);
                let frame = Template::new(&shape(labels, size)).frame_of_any(9, Time(1 << 40));
                assert!(varying.frame_of_any(9, Time(1 << 40)) == frame, "{size}");
                assert_eq!(frame.wire_len(), size.max(Shape::size_min6(labels.len())));
                let expected = Stamp {
                    ports: Ports { src: 49_999, dst: 5_060 },
                    stream: StreamId(77),
                    sequence: 9,
                    departure: Time(1 << 40),
                    ip: (14 + 4 * labels.len()) as u16,
                };
                assert_eq!(read_stamp(frame.header(), Time(1 << 41)), Some(expected));
                let at = ethernet::HEADER_LEN + 4 * labels.len();
                let bytes = frame.to_vec();
                let ip = ipv6::Packet::new_checked(&bytes[at..]).expect("an IPv6 packet");
                assert_eq!((ip.dscp(), ip.hop_limit(), ip.total_len()), (Dscp::EF, 64, bytes.len() - at));
                let datagram = udp::Packet::new_checked(ip.payload()).expect("a datagram");
                assert!(datagram.verify_checksum(ip.src(), ip.dst()).is_ok(), "{size}");
                assert!(is_checksum_right(&frame, at));
                assert!(is_checksum_right(&Frame::from_bytes(&bytes), at));
                for place in [at + 9, at + 45, bytes.len() - 1] {
                    let mut wrong = bytes.clone();
                    wrong[place] ^= 4;
                    assert!(!is_checksum_right(&Frame::from_bytes(&wrong), at), "{place}");
                }
            }
        }
    }
}
