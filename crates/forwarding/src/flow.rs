//! The flow that an IPv4 packet belongs to, whatever is in front of it.

use crate::packet::{ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_MPLS, IPV4, LABEL, labels_in, u16_at};
use base::flow::{FlowFilter, FlowKey};
use base::{Body, Dscp, Frame};
use core::net::Ipv4Addr;

/// Where the IPv4 header is: behind the Ethernet header, or below a label stack whose bottom is followed by what
/// looks like one (version 4, a possible length): a label does not say what is below it.
#[inline]
pub(crate) fn ipv4_at(header: &[u8]) -> Option<usize> {
    let at = match u16_at(header, 12)? {
        ETHERTYPE_IPV4 => ETHERNET,
        ETHERTYPE_MPLS => {
            let labels = labels_in(header);
            let bottom = header.get(ETHERNET + LABEL * labels - 2)? & 1;
            if labels == 0 || bottom == 0 {
                return None;
            }
            ETHERNET + LABEL * labels
        }
        _ => return None,
    };
    let ip = header.get(at..at + IPV4)?;
    (0x45..=0x4f).contains(&ip[0]).then_some(at)
}

/// The flow of the packet whose IPv4 header is at `at`.
pub(crate) fn flow_at(frame: &Frame, at: usize) -> Option<FlowKey> {
    let ip = frame.header().get(at..)?.first_chunk::<IPV4>()?;
    let header_len = usize::from(ip[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    // RFC 791, 3.1: the fragment offset; a first fragment has the ports.
    let first = u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff == 0;
    let has_ports = first && FlowFilter::WITH_PORTS.contains(&ip[9]) && total >= header_len + 4;
    let ports = if has_ports { four_at(frame, at + header_len) } else { None };
    Some(FlowKey {
        src: Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]),
        dst: Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]),
        protocol: ip[9],
        ports: ports.map(|[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
        dscp: Dscp::of_tos(ip[1]),
    })
}

/// Four bytes of the frame, wherever they lie.
#[inline]
pub(crate) fn four_at(frame: &Frame, at: usize) -> Option<[u8; 4]> {
    match frame.header().get(at..at + 4) {
        Some(bytes) => bytes.first_chunk::<4>().copied(),
        None => four_across(frame, at),
    }
}

#[cold]
fn four_across(frame: &Frame, at: usize) -> Option<[u8; 4]> {
    let header = frame.header();
    let mut four = [0; 4];
    for (i, byte) in four.iter_mut().enumerate() {
        *byte = match header.get(at + i) {
            Some(byte) => *byte,
            None => byte_of(frame.body(), (at + i - header.len()) as u32)?,
        };
    }
    Some(four)
}

fn byte_of(body: &Body, at: u32) -> Option<u8> {
    match body {
        Body::Pattern { start, len } => (at < *len).then(|| start.wrapping_add(at) as u8),
        other => other.as_slice()?.get(at as usize).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ethernet(ethertype: u16) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend(ethertype.to_be_bytes());
        bytes
    }
    /// UDP from port 1000 to port 2000, with `options` bytes of options.
    fn packet(options: usize) -> Vec<u8> {
        let mut ip = vec![0x45 + (options / 4) as u8, 46 << 2, 0, 200, 0, 0, 0, 0, 64, 17, 0, 0];
        ip.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        ip.resize(20 + options, 1);
        ip.extend([3, 232, 7, 208]);
        ip
    }

    #[test]
    fn flows_are_found_below_labels_and_across_header_and_body() {
        for labels in 0..=3 {
            for options in [0, 8, 40] {
                let mut bytes = ethernet(if labels == 0 { 0x0800 } else { 0x8847 });
                for n in 1..=labels {
                    bytes.extend([0, 1, if n == labels { 1 } else { 0 }, 64]);
                }
                let at = bytes.len();
                bytes.extend(packet(options));
                for held in at + 20..=bytes.len() {
                    let frame = Frame::new(&bytes[..held], Body::owned(&bytes[held..]));
                    if ipv4_at(frame.header()).is_none() {
                        // What the frame does not keep among its header bytes is not looked for.
                        assert!(at + 20 > base::frame::HEADER_ROOM);
                        continue;
                    }
                    assert_eq!(ipv4_at(frame.header()), Some(at));
                    let flow = flow_at(&frame, at).expect("IPv4");
                    assert_eq!((flow.ports, flow.dscp), (Some((1000, 2000)), Dscp::EF));
                    assert_eq!(flow.dst, Ipv4Addr::new(10, 0, 0, 2));
                }
            }
        }
    }

    #[test]
    fn what_is_no_ipv4_has_no_flow() {
        let mut stack = ethernet(0x8847);
        assert_eq!(ipv4_at(&stack), None);
        stack.extend([0, 1, 0, 64]);
        stack.extend(packet(0));
        stack[16] = 0;
        // No bottom of stack within the bytes is no IPv4 header.
        stack.truncate(18);
        assert_eq!(ipv4_at(&stack), None);
        let mut other = ethernet(0x8847);
        other.extend([0, 1, 1, 64]);
        other.extend([0x60; 40]);
        assert_eq!(ipv4_at(&other), None);
        assert_eq!(ipv4_at(&ethernet(0x0806)), None);
        let mut later = ethernet(0x0800);
        later.extend(packet(0));
        later[14 + 7] = 9;
        assert_eq!(flow_at(&Frame::from_bytes(&later), 14).expect("IPv4").ports, None);
    }
}
