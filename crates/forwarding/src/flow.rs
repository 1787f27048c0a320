//! The flow that an IP packet belongs to, whatever is in front of it.

use crate::packet::{
    ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, IPV4, IPV6, LABEL, address6, class6, labels_in,
    u16_at,
};
use base::flow::{FlowFilter, FlowKey};
use base::{Body, Dscp, Frame};
use core::net::Ipv4Addr;
use wire::ipv6;

/// Where the IP header is: behind the Ethernet header, or below a label stack whose bottom is followed by what looks
/// like one (version 4 and a possible length, or version 6): a label does not say what is below it.
#[inline]
pub(crate) fn ip_at(header: &[u8]) -> Option<usize> {
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
        ETHERTYPE_IPV6 => return ip6_at(header, ETHERNET),
        _ => return None,
    };
    let ip = header.get(at..at + IPV4)?;
    if (0x45..=0x4f).contains(&ip[0]) { Some(at) } else { ip6_at(header, at).filter(|_| at > ETHERNET) }
}

#[cold]
fn ip6_at(header: &[u8], at: usize) -> Option<usize> {
    let ip = header.get(at..at + IPV6)?;
    (ip[0] >> 4 == 6).then_some(at)
}

/// The second byte of the IPv4 header at `at`, or the traffic class of the IPv6 header there.
#[inline]
pub(crate) fn class_at(header: &[u8], at: usize) -> Option<u8> {
    let [first, second, ..] = *header.get(at..)? else { return None };
    Some(if first >> 4 == 6 { first << 4 | second >> 4 } else { second })
}

/// The flow of the packet whose IP header is at `at`.
#[inline]
pub(crate) fn flow_at(frame: &Frame, at: usize) -> Option<FlowKey> {
    let ip = frame.header().get(at..)?.first_chunk::<IPV4>()?;
    if ip[0] >> 4 == 6 {
        return flow6_at(frame, at);
    }
    let header_len = usize::from(ip[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    // RFC 791, 3.1: the fragment offset; a first fragment has the ports.
    let first = u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff == 0;
    let has_ports = first && FlowFilter::WITH_PORTS.contains(&ip[9]) && total >= header_len + 4;
    let ports = if has_ports { four_at(frame, at + header_len) } else { None };
    Some(FlowKey {
        src: Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]).into(),
        dst: Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]).into(),
        protocol: ip[9],
        ports: ports.map(|[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
        dscp: Dscp::of_tos(ip[1]),
    })
}

/// The flow of an IPv6 packet. Extension headers are gone over as far as they lie in the frame's header bytes; what
/// lies behind them has no ports for a filter.
#[inline(never)]
fn flow6_at(frame: &Frame, at: usize) -> Option<FlowKey> {
    let (ip, rest) = frame.header().get(at..)?.split_first_chunk::<IPV6>()?;
    let len = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
    let next = ipv6::Protocol(ip[6]);
    let (protocol, offset, first) = if next.is_extension() {
        match ipv6::upper(next, rest.get(..len).unwrap_or(rest)) {
            Ok(upper) => (upper.protocol, upper.offset, upper.fragment.is_none_or(|f| f.offset == 0)),
            Err(_) => (next, 0, false),
        }
    } else {
        (next, 0, true)
    };
    let has_ports = first && FlowFilter::WITH_PORTS.contains(&protocol.0) && len >= offset + 4;
    let ports = if has_ports { four_at(frame, at + IPV6 + offset) } else { None };
    Some(FlowKey {
        src: address6(ip, 8).into(),
        dst: address6(ip, 24).into(),
        protocol: protocol.0,
        ports: ports.map(|[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
        dscp: Dscp::of_tos(class6(ip)),
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
                    if ip_at(frame.header()).is_none() {
                        // What the frame does not keep among its header bytes is not looked for.
                        assert!(at + 20 > base::frame::HEADER_ROOM);
                        continue;
                    }
                    assert_eq!(ip_at(frame.header()), Some(at));
                    let flow = flow_at(&frame, at).expect("IPv4");
                    assert_eq!((flow.ports, flow.dscp), (Some((1000, 2000)), Dscp::EF));
                    assert_eq!(flow.dst, Ipv4Addr::new(10, 0, 0, 2));
                }
            }
        }
    }

    #[test]
    fn what_is_no_ip_has_no_flow() {
        let mut stack = ethernet(0x8847);
        assert_eq!(ip_at(&stack), None);
        stack.extend([0, 1, 0, 64]);
        stack.extend(packet(0));
        stack[16] = 0;
        // No bottom of stack within the bytes is no IPv4 header.
        stack.truncate(18);
        assert_eq!(ip_at(&stack), None);
        let mut other = ethernet(0x8847);
        other.extend([0, 1, 1, 64]);
        other.extend([0x50; 40]);
        assert_eq!(ip_at(&other), None);
        assert_eq!(ip_at(&ethernet(0x0806)), None);
        let mut later = ethernet(0x0800);
        later.extend(packet(0));
        later[14 + 7] = 9;
        assert_eq!(flow_at(&Frame::from_bytes(&later), 14).expect("IPv4").ports, None);
    }

    /// An IPv6 packet with these extension headers in front of UDP from port 1000 to port 2000.
    fn packet6(extensions: &[&[u8]], first: u8) -> Vec<u8> {
        let behind: Vec<u8> = extensions.concat();
        let mut ip = vec![0x6b, 0x80, 0, 0, 0, (behind.len() + 8) as u8, first, 64];
        ip.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        ip.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        ip.extend(behind);
        ip.extend([3, 232, 7, 208, 0, 8, 0, 0]);
        ip
    }

    #[test]
    fn flows_of_ipv6_have_addresses_class_and_ports_behind_extension_headers() {
        let options: &[u8] = &[17, 0, 1, 4, 0, 0, 0, 0];
        let fragment = |offset: u8| [17, 0, 0, offset << 3, 0, 0, 0, 9];
        let (whole, later) = (fragment(0), fragment(1));
        let all = Some((1000, 2000));
        for (packet, ports) in [
            (packet6(&[], 17), all),
            (packet6(&[options], 60), all),
            (packet6(&[&whole], 44), all),
            (packet6(&[&later], 44), None),
        ] {
            for labelled in [false, true] {
                let mut bytes = ethernet(if labelled { 0x8847 } else { 0x86dd });
                bytes.extend_from_slice(if labelled { &[0, 0, 0x21, 64] } else { &[] });
                let at = bytes.len();
                bytes.extend(&packet);
                let frame = Frame::from_bytes(&bytes);
                assert_eq!(ip_at(frame.header()), Some(at));
                assert_eq!(class_at(frame.header(), at), Some(46 << 2));
                let flow = flow_at(&frame, at).expect("IPv6");
                assert_eq!((flow.protocol, flow.ports, flow.dscp), (17, ports, Dscp::EF));
                assert_eq!(flow.dst.to_string(), "2001:db8::2");
            }
        }
    }
}
