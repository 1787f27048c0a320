//! ICMP errors that quote the label stack (RFC 792, RFC 1812, RFC 4884, RFC 4950).

use crate::packet::{ETHERNET, IPV4, LABEL, labels_in, ones_sum, set_ipv4_checksum, u32_at};
use base::Frame;
use core::net::Ipv4Addr;

/// Which error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// Time to live exceeded in transit (type 11, code 0).
    TimeExceeded,
    /// Fragmentation needed (type 3, code 4); `mtu` is the longest IP packet that fits (RFC 1191, 4).
    FragmentationNeeded {
        /// In bytes.
        mtu: u32,
    },
    /// Network unreachable (type 3, code 0).
    NetworkUnreachable,
    /// Host unreachable (type 3, code 1).
    HostUnreachable,
    /// Protocol unreachable (type 3, code 2).
    ProtocolUnreachable,
    /// Port unreachable (type 3, code 3).
    PortUnreachable,
}

/// Bytes of the offending packet that are quoted in front of an extension: no fewer (RFC 4884, 4.5), and no more, which
/// receivers from before the extensions were defined expect (RFC 4884, 5.3).
const QUOTED: usize = 128;
/// The longest error message (RFC 1812, 4.3.2.3).
const LONGEST: usize = 576;

/// The IPv4 packet, without Ethernet, that reports `error` on the packet in `frame` to its sender, from `source`.
///
/// Quotes the label stack, as it was received, if there is one. Nothing if the packet is one that no error may be sent
/// for: RFC 1812, 4.3.2.7.
pub fn icmp_error(frame: &Frame, error: IcmpError, source: Ipv4Addr) -> Option<Vec<u8>> {
    let header = frame.header();
    let labels = labels_in(header);
    let at = ETHERNET + labels * LABEL;
    let fixed = header.get(at..)?.first_chunk::<IPV4>()?;
    let header_len = usize::from(fixed[0] & 15) * 4;
    if fixed[0] >> 4 != 4 || header_len < IPV4 {
        return None;
    }
    let from = Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]);
    let to = Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]);
    let later_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff != 0;
    let one_host =
        !(from.is_unspecified() || from.is_multicast() || from.is_broadcast() || from.is_loopback());
    let group = to.is_multicast() || to.is_broadcast() || header[0] & 1 == 1;
    if later_fragment || !one_host || group {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let mut quoted = header[at..].to_vec();
    let limit = if labels > 0 { QUOTED } else { LONGEST - IPV4 - 8 };
    if quoted.len() < limit.min(total) {
        frame.body().slice(0, (limit - quoted.len()) as u32).write_to(&mut quoted);
    }
    quoted.truncate(limit.min(total.max(header_len)));
    if fixed[9] == 1 && !is_query(quoted.get(header_len).copied()) {
        return None;
    }
    let (kind, code, mtu) = match error {
        IcmpError::TimeExceeded => (11, 0, 0),
        IcmpError::NetworkUnreachable => (3, 0, 0),
        IcmpError::HostUnreachable => (3, 1, 0),
        IcmpError::ProtocolUnreachable => (3, 2, 0),
        IcmpError::PortUnreachable => (3, 3, 0),
        IcmpError::FragmentationNeeded { mtu } => (3, 4, u16::try_from(mtu).unwrap_or(u16::MAX)),
    };
    let mut icmp = vec![kind, code, 0, 0, 0, 0];
    icmp.extend(mtu.to_be_bytes());
    if labels > 0 {
        // RFC 4884, 4.1 and 4.2: the length of the padded quotation, in words, in the second byte of the rest.
        icmp[5] = (QUOTED / 4) as u8;
        quoted.resize(QUOTED, 0);
    }
    icmp.extend_from_slice(&quoted);
    if labels > 0 {
        icmp.extend(extension(&header[ETHERNET..at]));
    }
    let sum = !ones_sum(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    Some(ipv4(source, from, &icmp))
}

/// The extension structure with the label stack (RFC 4884, 7; RFC 4950, 3).
///
/// ```text
///  |Version|      (Reserved)       |           Checksum            |
///  |             Length            |   Class-Num   |   C-Type      |
///  |              Label                    | EXP |S|       TTL     |  ...
/// ```
fn extension(stack: &[u8]) -> Vec<u8> {
    let mut out = vec![0x20, 0, 0, 0];
    out.extend((stack.len() as u16 + 4).to_be_bytes());
    out.extend([1, 1]);
    out.extend_from_slice(stack);
    let sum = !ones_sum(&out);
    out[2..4].copy_from_slice(&sum.to_be_bytes());
    out
}

/// An ICMP message that is not an error (RFC 1122, 3.2.2). What has no type byte, or one not known, counts as an error.
fn is_query(kind: Option<u8>) -> bool {
    matches!(kind, Some(0 | 8 | 9 | 10 | 13..=18))
}

fn ipv4(from: Ipv4Addr, to: Ipv4Addr, icmp: &[u8]) -> Vec<u8> {
    let total = (IPV4 + icmp.len()) as u16;
    // RFC 1812, 4.3.2.5: precedence 6. An atomic datagram, which needs no identification (RFC 6864, 4).
    let mut out = vec![0x45, 0xc0];
    out.extend(total.to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, 1, 0, 0]);
    out.extend(from.octets());
    out.extend(to.octets());
    set_ipv4_checksum(&mut out);
    out.extend_from_slice(icmp);
    out
}

/// Sends an ICMP error about the labelled packet in `frame` on along its LSP (RFC 3032, 2.3.2): the same label stack with
/// all its times to live renewed, in front of `packet`. The end of the LSP, which can route, sends it back.
///
/// The result is a frame as if received on the same port: give it to [`crate::Forwarding::forward_again`]. Nothing if
/// `frame` has no label.
pub fn along_lsp(frame: &Frame, packet: &[u8]) -> Option<Frame> {
    let header = frame.header();
    let labels = labels_in(header);
    let mut bytes = header.get(..ETHERNET + labels * LABEL)?.to_vec();
    u32_at(&bytes, ETHERNET)?;
    bytes[ETHERNET..].chunks_exact_mut(LABEL).for_each(|entry| entry[3] = 255);
    bytes.extend_from_slice(packet);
    Some(Frame::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Body;
    use proptest::prelude::*;

    const US: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

    fn udp(labels: &[[u8; 4]], payload: u32) -> Frame {
        let mut bytes = vec![2; 12];
        bytes.extend(if labels.is_empty() { [8, 0] } else { [0x88, 0x47] });
        labels.iter().for_each(|l| bytes.extend(l));
        let at = bytes.len();
        bytes.extend([0x45, 0]);
        bytes.extend((28 + payload as u16).to_be_bytes());
        bytes.extend([0, 7, 0, 0, 1, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 7, 0, 8, 0, 0, 0, 0]);
        set_ipv4_checksum(&mut bytes[at..at + 20]);
        Frame::new(&bytes, Body::Pattern { start: 0, len: payload })
    }

    #[test]
    fn a_labelled_packet_is_quoted_with_its_stack() {
        let frame = udp(&[[0, 1, 0x20, 5], [0, 2, 0x31, 1]], 300);
        let packet = icmp_error(&frame, IcmpError::TimeExceeded, US).expect("an error may be sent");
        assert_eq!(packet.len(), 20 + 8 + 128 + 4 + 4 + 8);
        assert_eq!((ones_sum(&packet[..20]), ones_sum(&packet[20..])), (0xffff, 0xffff));
        assert_eq!(packet[20..28][..2], [11, 0]);
        assert_eq!(packet[25], 32);
        assert_eq!(packet[28..56], frame.to_vec()[22..50]);
        let extension = &packet[156..];
        assert_eq!(ones_sum(extension), 0xffff);
        assert_eq!(extension[0], 0x20);
        assert_eq!(extension[4..], [0, 12, 1, 1, 0, 1, 0x20, 5, 0, 2, 0x31, 1]);
        assert_eq!((&packet[12..16], &packet[16..20]), (&[10, 9, 9, 9][..], &[10, 0, 0, 1][..]));
    }

    #[test]
    fn a_plain_packet_is_quoted_up_to_576_bytes() {
        let error = IcmpError::FragmentationNeeded { mtu: 1400 };
        let packet = icmp_error(&udp(&[], 2000), error, US).expect("an error may be sent");
        assert_eq!((packet.len(), packet[25], &packet[26..28]), (576, 0, &1400u16.to_be_bytes()[..]));
        let short = icmp_error(&udp(&[], 4), error, US).expect("an error may be sent");
        assert_eq!(short.len(), 20 + 8 + 32);
    }

    #[test]
    fn no_error_is_sent_about_an_error() {
        let plain = udp(&[], 4).to_vec();
        let change = |at: usize, byte: u8| {
            let mut bytes = plain.clone();
            bytes[at] = byte;
            icmp_error(&Frame::from_bytes(&bytes), IcmpError::TimeExceeded, US)
        };
        assert!(change(14 + 9, 6).is_some());
        assert!(change(14 + 7, 1).is_none(), "a later fragment");
        assert!(change(14 + 16, 224).is_none(), "to a group");
        assert!(change(14 + 12, 127).is_none(), "from the loopback network");
        assert!(change(0, 3).is_none(), "to a group on the link");
        let mut icmp = plain.clone();
        (icmp[14 + 9], icmp[34]) = (1, 8);
        assert!(icmp_error(&Frame::from_bytes(&icmp), IcmpError::TimeExceeded, US).is_some(), "about a ping");
        icmp[34] = 11;
        assert!(
            icmp_error(&Frame::from_bytes(&icmp), IcmpError::TimeExceeded, US).is_none(),
            "about an error"
        );
    }

    #[test]
    fn along_the_lsp_times_to_live_begin_again() {
        let frame = udp(&[[0, 1, 0x20, 1], [0, 2, 0x31, 1]], 10);
        let sent = along_lsp(&frame, &[0x45, 1, 2, 3]).expect("a labelled frame").to_vec();
        assert_eq!(sent[..14], frame.to_vec()[..14]);
        assert_eq!(sent[14..], [0, 1, 0x20, 255, 0, 2, 0x31, 255, 0x45, 1, 2, 3]);
        assert_eq!(along_lsp(&udp(&[], 10), &[]), None);
    }

    proptest! {
        #[test]
        fn anything_is_answered_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..250)) {
            let frame = Frame::from_bytes(&bytes);
            let _ = (icmp_error(&frame, IcmpError::TimeExceeded, US), along_lsp(&frame, &bytes));
        }
    }
}
