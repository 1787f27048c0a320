//! ICMPv6 errors that quote the label stack (RFC 4443, RFC 4884, RFC 4950).

use crate::addresses6::is_single_node;
use crate::offload;
use crate::packet::{ETHERNET, LABEL, labels_in};
use base::{Dscp, Frame};
use core::net::Ipv6Addr;
use wire::icmp::extension::{self, EXTENSION_HEADER_LEN};
use wire::icmpv6::{MAX_QUOTE_LEN, Quote, Repr, Type, parameter_problem, time_exceeded, unreachable};
use wire::ipv6;

/// An error about a packet, with the ICMPv6 type and code that its sender gets (RFC 4443, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icmpv6Error {
    /// Hop limit exceeded in transit (type 3, code 0).
    TimeExceeded,
    /// Packet too big (type 2).
    PacketTooBig {
        /// The longest IPv6 packet that fits, in bytes.
        mtu: u32,
    },
    /// No route to the destination (type 1, code 0).
    NoRoute,
    /// Address unreachable (type 1, code 3).
    AddressUnreachable,
    /// Port unreachable (type 1, code 4).
    PortUnreachable,
    /// A next header that is not known here (type 4, code 1).
    UnknownNextHeader {
        /// Where its number stands, in bytes from the start of the IPv6 header.
        pointer: u32,
    },
}

/// The hop limit of the message.
const HOP_LIMIT: u8 = 64;

/// The IPv6 packet, without Ethernet, that reports `error` on the packet in `frame` to its sender, from `source`.
///
/// Quotes the label stack, as it was received, if there is one. Nothing if the packet is one that no error may be sent
/// for: RFC 4443, 2.4 (e).
pub fn icmpv6_error(frame: &Frame, error: Icmpv6Error, source: Ipv6Addr) -> Option<Vec<u8>> {
    let finished = if offload::is_to_be_cut(frame) { None } else { offload::finished(frame) };
    let frame = finished.as_ref().unwrap_or(frame);
    let header = frame.header();
    let at = ETHERNET + labels_in(header) * LABEL;
    let stack = header.get(ETHERNET..at)?;
    let mut original = header.get(at..)?.to_vec();
    if original.len() < MAX_QUOTE_LEN {
        frame.body().slice(0, (MAX_QUOTE_LEN - original.len()) as u32).write_to(&mut original);
    }
    let packet = ipv6::Packet::new_header_checked(&original[..]).ok()?;
    let (from, to) = (packet.src(), packet.dst());
    // RFC 4443, 2.4 (e.3) to (e.5): what goes to many is answered only if it is too big.
    let group = to.is_multicast() || header[0] & 1 == 1;
    let about_group = matches!(error, Icmpv6Error::PacketTooBig { .. });
    if !is_single_node(from) || (group && !about_group) || about_error(&packet, &original) {
        return None;
    }
    let objects = if stack.is_empty() { Vec::new() } else { extension::mpls_stack_object(stack) };
    let structure = if objects.is_empty() { 0 } else { EXTENSION_HEADER_LEN + objects.len() };
    // RFC 4443, 2.4 (c); RFC 4884, 5: in front of a structure whole words only.
    let room = match structure {
        0 => MAX_QUOTE_LEN,
        _ => (MAX_QUOTE_LEN - structure) & !7,
    };
    let end = original.len().min(room).min(packet.total_len());
    let original = &original[..end];
    let quote = Quote { original, objects: &objects, without_length: false };
    let unreachable = |code| Repr::DestinationUnreachable { code, quote };
    let message = match error {
        Icmpv6Error::TimeExceeded => Repr::TimeExceeded { code: time_exceeded::HOP_LIMIT, quote },
        Icmpv6Error::PacketTooBig { mtu } => Repr::PacketTooBig { mtu, quote: original },
        Icmpv6Error::NoRoute => unreachable(unreachable::NO_ROUTE),
        Icmpv6Error::AddressUnreachable => unreachable(unreachable::ADDRESS),
        Icmpv6Error::PortUnreachable => unreachable(unreachable::PORT),
        Icmpv6Error::UnknownNextHeader { pointer } => {
            Repr::ParameterProblem { code: parameter_problem::NEXT_HEADER, pointer, quote: original }
        }
    };
    let payload_len = message.buffer_len() as u16;
    let ip = ipv6::Repr {
        hop_limit: HOP_LIMIT,
        // As ICMP errors of IPv4 have it (RFC 1812, 4.3.2.5).
        dscp: Dscp::CS6,
        ..ipv6::Repr::new(source, from, ipv6::Protocol::ICMPV6, payload_len)
    };
    let mut out = vec![0; ip.total_len()];
    let (head, rest) = out.split_at_mut(ip.buffer_len());
    ip.emit(head);
    message.emit(source, from, rest);
    Some(out)
}

/// Is the packet an ICMPv6 error or redirect (RFC 4443, 2.4 (e.1), (e.2)), or can nobody tell?
fn about_error(packet: &ipv6::Packet<&[u8]>, original: &[u8]) -> bool {
    let payload = original.get(ipv6::HEADER_LEN..).unwrap_or_default();
    let Ok(upper) = ipv6::upper(packet.next_header(), payload) else { return true };
    if upper.protocol != ipv6::Protocol::ICMPV6 {
        return false;
    }
    if upper.fragment.is_some_and(|fragment| fragment.offset != 0) {
        return true;
    }
    payload.get(upper.offset).is_none_or(|kind| Type(*kind).forbids_errors())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Body;
    use proptest::prelude::*;
    use wire::icmpv6::Packet;

    const US: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9);
    const FROM: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
    const TO: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, 2);

    fn udp(labels: &[[u8; 4]], payload: u16) -> Frame {
        let mut bytes = vec![2; 12];
        bytes.extend(if labels.is_empty() { [0x86, 0xdd] } else { [0x88, 0x47] });
        labels.iter().for_each(|l| bytes.extend(l));
        let at = bytes.len();
        bytes.resize(at + 40, 0);
        let ip = ipv6::Repr::new(FROM, TO, ipv6::Protocol::UDP, payload);
        ipv6::Repr { hop_limit: 1, ..ip }.emit(&mut bytes[at..]);
        Frame::new(&bytes, Body::Pattern { start: 0, len: payload.into() })
    }

    #[test]
    fn an_error_quotes_as_much_as_fits_in_the_least_mtu() {
        let packet =
            icmpv6_error(&udp(&[], 2000), Icmpv6Error::PacketTooBig { mtu: 1400 }, US).expect("an error");
        assert_eq!(packet.len(), 1280);
        let short = icmpv6_error(&udp(&[], 4), Icmpv6Error::TimeExceeded, US).expect("an error");
        assert_eq!(short.len(), 40 + 8 + 44);
        let ip = ipv6::Packet::new_checked(&short[..]).expect("a packet");
        assert_eq!((ip.src(), ip.dst(), ip.next_header()), (US, FROM, ipv6::Protocol::ICMPV6));
        let message = Packet::new_checked(ip.payload()).expect("a message");
        let read = Repr::parse(&message, US, FROM).expect("a message");
        assert!(
            matches!(read, Repr::TimeExceeded { code: 0, quote } if quote.original == &udp(&[], 4).to_vec()[14..])
        );
    }

    #[test]
    fn a_labelled_packet_is_quoted_with_its_stack() {
        let frame = udp(&[[0, 1, 0x20, 5], [0, 0, 0x21, 1]], 2000);
        let packet = icmpv6_error(&frame, Icmpv6Error::TimeExceeded, US).expect("an error");
        assert!(packet.len() <= 1280 && packet.len() > 1264, "{}", packet.len());
        let ip = ipv6::Packet::new_checked(&packet[..]).expect("a packet");
        let read =
            Repr::parse(&Packet::new_checked(ip.payload()).expect("a message"), US, FROM).expect("a message");
        let labels: Vec<_> = read
            .quote()
            .and_then(|q| q.mpls_stack())
            .expect("labels")
            .map(|e| e.expect("one").label.value())
            .collect();
        assert_eq!(labels, [18, 2]);
    }

    #[test]
    fn no_error_is_sent_about_an_error_or_to_nobody() {
        let plain = udp(&[], 8).to_vec();
        let change = |changes: &[(usize, u8)], error| {
            let mut bytes = plain.clone();
            changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
            icmpv6_error(&Frame::from_bytes(&bytes), error, US).is_some()
        };
        let expired = Icmpv6Error::TimeExceeded;
        assert!(change(&[], expired) && change(&[(20, 6)], expired));
        assert!(!change(&[(14 + 24, 0xff)], expired), "to a group");
        assert!(change(&[(14 + 24, 0xff)], Icmpv6Error::PacketTooBig { mtu: 1280 }), "too big for a group");
        assert!(!change(&[(0, 0x33)], expired), "to a group on the link");
        assert!(!change(&[(14 + 8, 0xff)], expired), "from a group");
        assert!(change(&[(20, 58), (54, 128)], expired), "about a ping");
        assert!(!change(&[(20, 58), (54, 1)], expired), "about an error");
        assert!(!change(&[(20, 58), (54, 137)], expired), "about a redirect");
        assert!(!change(&[(20, 0), (54, 58), (55, 9)], expired), "about what nobody can read");
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn anything_is_answered_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..250), likely: bool) {
            let mut bytes = bytes;
            if likely && bytes.len() > 54 {
                bytes[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
            }
            let _ = icmpv6_error(&Frame::from_bytes(&bytes), Icmpv6Error::TimeExceeded, US);
        }
    }
}
