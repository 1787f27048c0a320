//! The filler behind the measurement payload, and whether a packet of IPv4 came as it was sent.

use base::{Body, Frame};
use wire::{checksum, measurement, udp};

/// Bytes after which the pattern in the body of a test packet begins again.
pub(super) const PERIOD: usize = 256;
/// One period of that pattern.
pub(super) const PATTERN: [u8; PERIOD] = {
    let mut bytes = [0; PERIOD];
    let mut at = 0;
    while at < PERIOD {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};
/// Two periods, so that one period from any byte on is a slice.
static TWICE: [u8; 2 * PERIOD] = {
    let mut bytes = [0; 2 * PERIOD];
    let mut at = 0;
    while at < 2 * PERIOD {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};
/// Bytes of an IPv4 header, of UDP's and of the measurement payload.
const HEADERS: usize = 20 + udp::HEADER_LEN + measurement::LEN;

/// Is the filler of a test packet of IPv4 as it was sent, and all there? The packet is between `ip` and `end` in the
/// frame; what lies behind is padding. Of a frame that came in from outside, the checksum of its IP header is verified
/// too: what the engine carries it carries as it is.
pub fn is_intact(frame: &Frame, ip: usize, end: usize) -> bool {
    let inline = frame.header().len();
    match frame.body() {
        Body::Pattern { start: 0, len } if inline == ip + HEADERS => inline + *len as usize >= end,
        body => is_intact_outside(frame.header(), body, ip, end),
    }
}

#[inline(never)]
fn is_intact_outside(header: &[u8], body: &Body, ip: usize, end: usize) -> bool {
    let filler = ip + HEADERS;
    if header.len() + (body.len() as usize) < end || header.len() < filler {
        return false;
    }
    let inline = &header[filler..header.len().min(end).max(filler)];
    let rest = end.saturating_sub(header.len());
    checksum::sum(&header[ip..ip + 20]) == u16::MAX
        && is_pattern(inline, 0)
        && match body {
            Body::Pattern { start, .. } => rest == 0 || *start as usize % PERIOD == inline.len() % PERIOD,
            other => is_pattern(&other.as_slice().unwrap_or_default()[..rest], inline.len()),
        }
}

/// Are these the bytes of the pattern from byte `start` on?
fn is_pattern(bytes: &[u8], start: usize) -> bool {
    let period = &TWICE[start % PERIOD..];
    bytes.chunks(PERIOD).all(|chunk| *chunk == period[..chunk.len()])
}

#[cfg(test)]
mod tests {
    use super::super::{Addresses, Ports, Shape, Template};
    use super::*;
    use base::{Dscp, Label, MacAddr, StreamId, Time, TrafficClass};
    use core::net::Ipv4Addr;

    #[test]
    fn every_byte_that_is_not_as_it_was_sent_is_found() {
        for labels in 0..3 {
            for size in [64, 100, 150, 400, 1_518] {
                let frame = Template::new(&Shape {
                    stream: StreamId(7),
                    dst_mac: MacAddr::default(),
                    src_mac: MacAddr::default(),
                    labels: (0..labels).map(|at| Label::truncate(100 + at)).collect(),
                    class: TrafficClass::default(),
                    addresses: Addresses::V4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
                    ports: Ports::from(49_152),
                    dscp: Dscp::DEFAULT,
                    ttl: 64,
                    size: size.max(Shape::size_min(labels as usize)),
                })
                .frame(1, Time(5));
                let ip = 14 + 4 * labels as usize;
                let bytes = frame.to_vec();
                assert!(is_intact(&frame, ip, bytes.len()));
                assert!(is_intact(&Frame::from_bytes(&bytes), ip, bytes.len()));
                let padded = [&bytes[..], &[9, 9, 9]].concat();
                assert!(is_intact(&Frame::from_bytes(&padded), ip, bytes.len()));
                assert!(!is_intact(&Frame::from_bytes(&bytes[..bytes.len() - 1]), ip, bytes.len()));
                for place in (ip..ip + 20).chain(ip + HEADERS..bytes.len()) {
                    let mut wrong = bytes.clone();
                    wrong[place] ^= 16;
                    assert!(
                        !is_intact(&Frame::from_bytes(&wrong), ip, bytes.len()),
                        "byte {place} of {size}"
                    );
                }
            }
        }
    }
}
