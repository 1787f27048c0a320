//! Fragmentation of an IPv4 packet below its labels (RFC 791, 3.2; RFC 3032, 3).

use crate::packet::{ETHERNET, IPV4, LABEL, labels_in, set_ipv4_checksum};
use base::device::DropReason;
use base::{Body, Frame};

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;

/// Cuts the IPv4 packet in `frame` into fragments of at most `mtu` bytes each. Every fragment is a frame with the Ethernet
/// header and the label stack of the original (RFC 3032, 3.1: the label stack entries are put before each fragment), so
/// that [`crate::Forwarding::forward_again`] takes each of them.
///
/// Refuses with [`DropReason::TooBig`] if the packet forbids fragmentation or `mtu` leaves no room for eight bytes of
/// payload, and with the fitting reason if there is no whole IPv4 packet below the labels.
pub fn fragment(frame: &Frame, mtu: u32) -> Result<Vec<Frame>, DropReason> {
    let header = frame.header();
    let at = ETHERNET + LABEL * labels_in(header);
    let ip = header.get(at..).unwrap_or_default();
    let fixed = ip.first_chunk::<IPV4>().ok_or(DropReason::Truncated)?;
    if fixed[0] >> 4 != 4 {
        return Err(DropReason::UnknownProtocol);
    }
    let header_len = usize::from(fixed[0] & 15) * 4;
    let total = u32::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let flags = u16::from_be_bytes([fixed[6], fixed[7]]);
    if header_len < IPV4 || (total as usize) < header_len {
        return Err(DropReason::Malformed);
    }
    if ip.len() < header_len || total > frame.len() - at as u32 {
        return Err(DropReason::Truncated);
    }
    if flags & DONT_FRAGMENT != 0 {
        return Err(DropReason::TooBig);
    }
    let first_header = &ip[..header_len];
    let later_header = copied_options(first_header);
    let payload_len = total - header_len as u32;
    let offset = u32::from(flags & OFFSET);
    let mut frames = Vec::new();
    let mut from = 0;
    while from < payload_len || frames.is_empty() {
        let ip_header = if from == 0 { first_header } else { &later_header };
        let room = mtu.saturating_sub(ip_header.len() as u32);
        let rest = payload_len - from;
        // Every fragment but the last carries whole units of eight bytes (RFC 791, 3.2).
        let len = if rest <= room { rest } else { room & !7 };
        if len == 0 && rest > 0 {
            return Err(DropReason::TooBig);
        }
        let last = from + len == payload_len;
        let more = if last { flags & MORE_FRAGMENTS } else { MORE_FRAGMENTS };
        let place = offset + from / 8;
        if place > u32::from(OFFSET) {
            return Err(DropReason::Malformed);
        }
        let mut bytes = header[..at].to_vec();
        let mut new = ip_header.to_vec();
        new[0] = 0x40 | (new.len() / 4) as u8;
        let new_total = new.len() as u32 + len;
        new[2..4].copy_from_slice(&(new_total as u16).to_be_bytes());
        new[6..8].copy_from_slice(&(flags & 0x8000 | more | place as u16).to_be_bytes());
        set_ipv4_checksum(&mut new);
        bytes.extend_from_slice(&new);
        // The payload lies partly among the header bytes, partly in the body, which is not copied.
        let inline = &ip[header_len..];
        let inline_len = inline.len() as u32;
        let end = from + len;
        bytes.extend_from_slice(&inline[from.min(inline_len) as usize..end.min(inline_len) as usize]);
        let skip = from.saturating_sub(inline_len);
        let take = end.saturating_sub(inline_len.max(from));
        let body = if take == 0 { Body::Empty } else { frame.body().slice(skip, take) };
        frames.push(Frame::new(&bytes, body));
        from = end;
        if last {
            break;
        }
    }
    Ok(frames)
}

/// The header of fragments after the first: only options with the copied flag (RFC 791, 3.1), padded to whole words.
fn copied_options(header: &[u8]) -> Vec<u8> {
    let mut out = header[..IPV4].to_vec();
    let mut options = &header[IPV4..];
    while let [kind, ..] = options {
        let len = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(options.get(1).copied().unwrap_or(0)).max(2),
        };
        let Some((option, rest)) = options.split_at_checked(len) else { break };
        if kind & 0x80 != 0 {
            out.extend_from_slice(option);
        }
        options = rest;
    }
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ones_sum;
    use proptest::prelude::*;

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
        set_ipv4_checksum(&mut bytes[at..]);
        let inline = inline.min(payload as usize).min(88 - bytes.len());
        bytes.extend((0..inline).map(|i| i as u8));
        Frame::new(&bytes, Body::Pattern { start: inline as u32, len: payload - inline as u32 })
    }

    proptest! {
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
                prop_assert_eq!(ones_sum(&bytes[at..at + header_len]), 0xffff);
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
