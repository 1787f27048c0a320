//! Frames on which a kernel left something undone: a checksum, or the cutting into segments.
//!
//! In transit they are left as they are: the last interface does what is left, and only their length is looked at
//! ([`base::Frame::segment_len`]). What has to be done earlier is here: before a packet is fragmented or looked at,
//! and where one is quoted.

use base::Frame;
use base::frame::Offload;
use wire::{checksum, ipv4};

/// Finishes the checksum in `bytes`, the whole frame. Nothing is changed if there is nothing to finish, or no room
/// for it.
///
/// The field holds the sum of the pseudo header; what it covers begins at `checksum_start`.
pub fn finish_checksum(bytes: &mut [u8], offload: &Offload) {
    let start = usize::from(offload.checksum_start);
    let field = start + usize::from(offload.checksum_offset);
    if !offload.needs_checksum || bytes.len() < field + 2 {
        return;
    }
    let sum = !checksum::sum(&bytes[start..]);
    // RFC 768: a checksum of zero is sent as ones; for TCP both mean the same.
    let sum = if sum == 0 { 0xffff } else { sum };
    bytes[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}

/// The frame with its checksum finished, if that was left undone.
pub(crate) fn finished(frame: &Frame) -> Option<Frame> {
    let offload = frame.offload().filter(|o| o.needs_checksum)?;
    let mut bytes = frame.to_vec();
    finish_checksum(&mut bytes, &offload);
    Some(Frame::from_bytes(&bytes))
}

/// Is the frame to be cut into several?
pub(crate) fn is_to_be_cut(frame: &Frame) -> bool {
    frame.segment_len() < frame.len()
}

/// Gives the IPv4 packet at the start of `quoted`, which begins `at` bytes into `frame`, the length of the first of the
/// segments that the frame is to be cut into: that is the packet which did not get through.
pub(crate) fn quote_one(frame: &Frame, at: usize, quoted: &mut [u8]) {
    let Ok(packet) = ipv4::Packet::new_header_checked(&quoted[..]) else { return };
    let len = (frame.segment_len() as usize).saturating_sub(at);
    let (header_len, Ok(len)) = (packet.header_len(), u16::try_from(len)) else { return };
    if usize::from(len) < header_len {
        return;
    }
    quoted[2..4].copy_from_slice(&len.to_be_bytes());
    ipv4::Packet::new_unchecked(&mut quoted[..header_len]).fill_checksum();
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn a_finished_checksum_is_right(payload in proptest::collection::vec(any::<u8>(), 0..80), at in 0usize..30) {
            // UDP behind `at` bytes of anything.
            let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
            let len = 8 + payload.len();
            let pseudo = checksum::pseudo_header(src, dst, 17, len as u32);
            let mut bytes = vec![7; at];
            bytes.extend([0, 5, 0, 6]);
            bytes.extend((len as u16).to_be_bytes());
            bytes.extend(pseudo.to_be_bytes());
            bytes.extend(&payload);
            let offload = Offload {
                needs_checksum: true,
                checksum_start: at as u16,
                checksum_offset: 6,
                ..Offload::default()
            };
            finish_checksum(&mut bytes, &offload);
            prop_assert_eq!(checksum::combine(&[pseudo, checksum::sum(&bytes[at..])]), 0xffff);
            // No room: nothing happens.
            finish_checksum(&mut bytes[..at + 7], &offload);
        }
    }
}
