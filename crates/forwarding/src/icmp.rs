//! ICMP errors that quote the label stack (RFC 792, RFC 1812, RFC 4884, RFC 4950).

use crate::offload;
use crate::packet::{ETHERNET, LABEL, labels_in};
use base::{Dscp, Frame};
use core::net::Ipv4Addr;
use wire::icmp::{Quote, Repr, Type, extension, time_exceeded, unreachable};
use wire::ipv4;

/// An error about a packet, with the ICMP type and code that its sender gets (RFC 792, RFC 1812).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// Time to live exceeded in transit (type 11, code 0).
    TimeExceeded,
    /// Fragmentation needed (type 3, code 4); `mtu` is the longest IP packet that fits (RFC 1191, 4).
    FragmentationNeeded {
        /// Length in bytes, IP header included.
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

/// Bytes of a labelled packet that are quoted: as many as receivers from before the extensions were defined expect in
/// front of one (RFC 4884, 5).
const QUOTED: usize = extension::MIN_ORIGINAL_LEN;
/// Bytes of a plain packet that are quoted (RFC 1812, 4.3.2.3).
const QUOTED_PLAIN: usize = 576 - 20 - 8;
/// The time to live of the message.
const TTL: u8 = 64;

/// The IPv4 packet, without Ethernet, that reports `error` on the packet in `frame` to its sender, from `source`.
///
/// Quotes the label stack, as it was received, if there is one. Nothing if the packet is one that no error may be sent
/// for: RFC 1812, 4.3.2.7.
pub fn icmp_error(frame: &Frame, error: IcmpError, source: Ipv4Addr) -> Option<Vec<u8>> {
    let to_be_cut = offload::is_to_be_cut(frame);
    // What is quoted is the packet as it would have been on a wire. A checksum of several packets is none of theirs.
    let finished = if to_be_cut { None } else { offload::finished(frame) };
    let frame = finished.as_ref().unwrap_or(frame);
    let header = frame.header();
    let at = ETHERNET + labels_in(header) * LABEL;
    let stack = header.get(ETHERNET..at)?;
    let limit = if stack.is_empty() { QUOTED_PLAIN } else { QUOTED };
    let mut original = header.get(at..)?.to_vec();
    if original.len() < limit {
        frame.body().slice(0, (limit - original.len()) as u32).write_to(&mut original);
    }
    if to_be_cut {
        offload::quote_one(frame, at, &mut original);
    }
    let packet = ipv4::Packet::new_header_checked(&original[..]).ok()?;
    let (from, to) = (packet.src(), packet.dst());
    // RFC 1812, 4.3.2.7: networks 0 and 127, groups, and what is reserved.
    let no_host = matches!(from.octets()[0], 0 | 127 | 224..);
    let group = to.is_multicast() || to.is_broadcast() || header[0] & 1 == 1;
    if packet.fragment_offset() != 0 || no_host || group {
        return None;
    }
    let icmp_type = original.get(packet.header_len()).map(|kind| Type(*kind));
    if packet.protocol() == ipv4::Protocol::ICMP && icmp_type.is_none_or(Type::is_error) {
        return None;
    }
    let end = original.len().min(limit).min(usize::from(packet.total_len()));
    let objects = if stack.is_empty() { Vec::new() } else { extension::mpls_stack_object(stack) };
    let quote = Quote { original: &original[..end], objects: &objects, without_length: false };
    let unreachable = |code| Repr::DestinationUnreachable { code, next_hop_mtu: 0, quote };
    let icmp = match error {
        IcmpError::TimeExceeded => Repr::TimeExceeded { code: time_exceeded::TTL, quote },
        IcmpError::NetworkUnreachable => unreachable(unreachable::NET),
        IcmpError::HostUnreachable => unreachable(unreachable::HOST),
        IcmpError::ProtocolUnreachable => unreachable(unreachable::PROTOCOL),
        IcmpError::PortUnreachable => unreachable(unreachable::PORT),
        IcmpError::FragmentationNeeded { mtu } => {
            let next_hop_mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
            Repr::DestinationUnreachable { code: unreachable::FRAGMENTATION_NEEDED, next_hop_mtu, quote }
        }
    };
    let ip = ipv4::Repr {
        src: source,
        dst: from,
        protocol: ipv4::Protocol::ICMP,
        ttl: TTL,
        dscp: Dscp::CS6, // RFC 1812, 4.3.2.5: precedence 6
        ecn: 0,
        // An atomic datagram, which needs no identification (RFC 6864, 4.1).
        ident: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        payload_len: icmp.buffer_len() as u16,
        options: ipv4::Options::NONE,
    };
    let mut out = vec![0; ip.buffer_len() + icmp.buffer_len()];
    let (head, rest) = out.split_at_mut(ip.buffer_len());
    ip.emit(head);
    icmp.emit(rest);
    Some(out)
}

/// Sends an ICMP error about the labelled packet in `frame` on along its LSP (RFC 3032, 2.3.2): the same label stack
/// with all its times to live renewed, in front of `packet`. The end of the LSP, which can route, sends it back.
///
/// The result is a frame as if received on the same port: give it to [`crate::Forwarding::forward_again`]. Nothing if
/// `frame` has no label.
pub fn along_lsp(frame: &Frame, packet: &[u8]) -> Option<Frame> {
    let header = frame.header();
    let labels = labels_in(header);
    let mut bytes = header.get(..ETHERNET + labels * LABEL)?.to_vec();
    if labels == 0 {
        return None;
    }
    bytes[ETHERNET..].chunks_exact_mut(LABEL).for_each(|entry| entry[3] = 255);
    bytes.extend_from_slice(packet);
    Some(Frame::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Body;
    use proptest::prelude::*;
    use wire::checksum;

    const US: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

    fn udp(labels: &[[u8; 4]], payload: u32) -> Frame {
        let mut bytes = vec![2; 12];
        bytes.extend(if labels.is_empty() { [8, 0] } else { [0x88, 0x47] });
        labels.iter().for_each(|l| bytes.extend(l));
        let at = bytes.len();
        bytes.extend([0x45, 0]);
        bytes.extend((28 + payload as u16).to_be_bytes());
        bytes.extend([0, 7, 0, 0, 1, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 7, 0, 8, 0, 0, 0, 0]);
        ipv4::Packet::new_unchecked(&mut bytes[at..at + 20]).fill_checksum();
        Frame::new(&bytes, Body::Pattern { start: 0, len: payload })
    }

    #[test]
    fn a_labelled_packet_is_quoted_with_its_stack() {
        let frame = udp(&[[0, 1, 0x20, 5], [0, 2, 0x31, 1]], 300);
        let packet = icmp_error(&frame, IcmpError::TimeExceeded, US).expect("an error may be sent");
        assert_eq!(packet.len(), 20 + 8 + 128 + 4 + 4 + 8);
        assert_eq!((checksum::sum(&packet[..20]), checksum::sum(&packet[20..])), (0xffff, 0xffff));
        assert_eq!(packet[20..28][..2], [11, 0]);
        assert_eq!(packet[25], 32);
        assert_eq!(packet[28..56], frame.to_vec()[22..50]);
        let extension = &packet[156..];
        assert_eq!(checksum::sum(extension), 0xffff);
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
        #![proptest_config(testing::cases(256))]
        #[test]
        fn anything_is_answered_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..250)) {
            let frame = Frame::from_bytes(&bytes);
            let _ = (icmp_error(&frame, IcmpError::TimeExceeded, US), along_lsp(&frame, &bytes));
        }
    }
}
