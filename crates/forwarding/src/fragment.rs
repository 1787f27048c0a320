//! Fragmentation of an IPv4 packet below its labels (RFC 791, 3.2; RFC 3032, 3).

use crate::offload;
use crate::packet::{ETHERNET, LABEL, labels_in};
use base::device::DropReason;
use base::{Body, Frame};
use wire::ipv4::{self, fragment::Refusal};

/// Cuts the IPv4 packet in `frame` into fragments of at most `mtu` bytes each. Every fragment is a frame with the
/// Ethernet header and the label stack of the original (RFC 3032, 3.1: the label stack entries are put before each
/// fragment), so that [`crate::Forwarding::forward_again`] takes each of them.
///
/// A checksum that a kernel left undone is finished first. A frame that is to be cut into segments is not fragmented:
/// whoever hands such frames down finds the path's MTU, and is told it as for one segment.
///
/// Refuses with [`DropReason::TooBig`] if the packet forbids fragmentation, or is to be cut, or `mtu` leaves no room
/// for eight bytes of payload, and with the fitting reason if there is no whole IPv4 packet below the labels.
pub fn fragment(frame: &Frame, mtu: u32) -> Result<Vec<Frame>, DropReason> {
    if offload::is_to_be_cut(frame) {
        return Err(DropReason::TooBig);
    }
    if let Some(finished) = offload::finished(frame) {
        return fragment(&finished, mtu);
    }
    let header = frame.header();
    let at = ETHERNET + LABEL * labels_in(header);
    let ip = header.get(at..).unwrap_or_default();
    if ip.first().is_some_and(|first| first >> 4 != 4) {
        return Err(DropReason::UnknownProtocol);
    }
    let packet = ipv4::Packet::new_header_checked(ip).map_err(|_| DropReason::Truncated)?;
    let (header_len, total) = (packet.header_len(), u32::from(packet.total_len()));
    if total > frame.len() - at as u32 {
        return Err(DropReason::Truncated);
    }
    let repr = ipv4::Repr::parse(&packet).map_err(|_| DropReason::Malformed)?;
    let fragments = ipv4::fragment::fragments(&repr, mtu as usize).map_err(|refusal| match refusal {
        Refusal::DontFragment | Refusal::MtuTooSmall => DropReason::TooBig,
    })?;
    // The payload lies partly among the header bytes, partly in the body, which is not copied.
    let inline = ip.get(header_len..).unwrap_or_default();
    let make = |fragment: ipv4::fragment::Fragment| {
        let (from, to) = (fragment.payload.start, fragment.payload.end);
        let mut bytes = header[..at].to_vec();
        bytes.resize(at + fragment.header.buffer_len(), 0);
        fragment.header.emit(&mut bytes[at..]);
        bytes.extend_from_slice(&inline[from.min(inline.len())..to.min(inline.len())]);
        let skip = from.saturating_sub(inline.len());
        let take = to.saturating_sub(from.max(inline.len()));
        let body = if take == 0 { Body::Empty } else { frame.body().slice(skip as u32, take as u32) };
        Frame::new(&bytes, body)
    };
    Ok(fragments.map(make).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::checksum;

    const IPV4: usize = ipv4::MIN_HEADER_LEN;
    const DONT_FRAGMENT: u16 = 0x4000;
    const MORE_FRAGMENTS: u16 = 0x2000;
    const OFFSET: u16 = 0x1fff;

    /// Labelled or plain IPv4 with `payload` bytes and options of `options` bytes, a pattern as body.
    fn packet(labels: usize, options: &[u8], inline: usize, payload: u32, flags: u16) -> Frame {
        let mut bytes = vec![2; 12];
        bytes.extend(if labels > 0 { [0x88, 0x47] } else { [8, 0] });
        for i in 0..labels {
            bytes.extend([0, 1, (i + 1 == labels) as u8, 9]);
        }
        let at = bytes.len();
        let header_len = IPV4 + options.len();
        let total = (header_len as u32 + payload) as u16;
        bytes.extend([0x40 | (header_len / 4) as u8, 0]);
        bytes.extend(total.to_be_bytes());
        bytes.extend([0, 7]);
        bytes.extend(flags.to_be_bytes());
        bytes.extend([9, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(options);
        ipv4::Packet::new_unchecked(&mut bytes[at..]).fill_checksum();
        let inline = inline.min(payload as usize).min(base::frame::HEADER_ROOM.saturating_sub(bytes.len()));
        bytes.extend((0..inline).map(|i| i as u8));
        Frame::new(&bytes, Body::Pattern { start: inline as u32, len: payload - inline as u32 })
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn fragments_put_together_are_the_packet(
            labels in 0usize..3, inline in 0usize..40, payload in 0u32..4000, mtu in 60u32..1500, copied in any::<bool>(),
            more in any::<bool>(), first in 0u16..100,
        ) {
            let options: &[u8] = if copied { &[148, 4, 0, 0] } else { &[7, 7, 4, 0, 0, 0, 0, 1] };
            let flags = first | if more { MORE_FRAGMENTS } else { 0 };
            let original = packet(labels, options, inline, payload, flags);
            let at = ETHERNET + labels * LABEL;
            let fragments = fragment(&original, mtu).map_err(|e| TestCaseError::fail(format!("{e:?}")))?;
            let mut payload_back = Vec::new();
            for (i, f) in fragments.iter().enumerate() {
                let bytes = f.to_vec();
                prop_assert_eq!(&bytes[..at], &original.to_vec()[..at]);
                let header_len = usize::from(bytes[at] & 15) * 4;
                prop_assert_eq!(header_len, IPV4 + if i == 0 || copied { options.len() } else { 0 });
                prop_assert!(bytes.len() - at <= mtu as usize);
                prop_assert_eq!(checksum::sum(&bytes[at..at + header_len]), 0xffff);
                let total = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
                prop_assert_eq!(total, bytes.len() - at);
                let word = u16::from_be_bytes([bytes[at + 6], bytes[at + 7]]);
                prop_assert_eq!(usize::from(word & OFFSET), usize::from(first) + payload_back.len() / 8);
                prop_assert_eq!(word & MORE_FRAGMENTS != 0, more || i + 1 < fragments.len());
                payload_back.extend_from_slice(&bytes[at + header_len..]);
            }
            prop_assert_eq!(&payload_back[..], &original.to_vec()[at + IPV4 + options.len()..]);
        }

        #[test]
        fn anything_is_cut_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), mtu in any::<u32>()) {
            let _ = fragment(&Frame::from_bytes(&bytes), mtu);
        }
    }

    #[test]
    fn a_packet_that_forbids_it_is_not_cut() {
        assert_eq!(fragment(&packet(1, &[], 20, 100, DONT_FRAGMENT), 60), Err(DropReason::TooBig));
        assert_eq!(fragment(&packet(1, &[], 20, 100, 0), 27), Err(DropReason::TooBig));
    }
}
