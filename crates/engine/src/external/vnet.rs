//! The header with which a packet socket says what is left undone on a frame: `virtio_net_hdr` (OASIS virtio 1.3,
//! 5.1.6), in the machine's byte order.
//!
//! ```text
//!  0               1               2                               4
//!  +---------------+---------------+-------------------------------+
//!  |     flags     |   gso type    |         header length         |
//!  +---------------+---------------+-------------------------------+
//!  |         segment size          |        checksum start         |
//!  +-------------------------------+-------------------------------+
//!  |        checksum offset        |
//!  +-------------------------------+
//! ```

use base::frame::{Offload, Segment};

/// Bytes of the header.
pub const LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP_L4: u8 = 5;
/// Beside TCP: congestion is being signalled, so the CWR flag belongs to the first segment only.
const ECN: u8 = 0x80;

/// Bytes of header of a super-frame that begins with `frame`. The kernel's own number is that of the bytes which it has
/// in one piece, often more.
pub fn header_len(offload: &Offload, frame: &[u8]) -> u16 {
    let transport = usize::from(offload.checksum_start);
    let len = match offload.segment {
        Segment::UdpL4 => Some(8),
        _ => frame.get(transport + 12).map(|offset| u16::from(offset >> 4) * 4),
    };
    len.map_or(offload.header_len, |len| offload.checksum_start.saturating_add(len))
}

/// What the kernel left undone on a frame that begins with `frame`; `Err` if it is of a kind that nobody here can do,
/// such as a checksum that lies far from where it begins.
pub fn parse(header: &[u8; LEN], frame: &[u8]) -> Result<Option<Offload>, Unknown> {
    let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
    let segment = match header[1] & !ECN {
        0 => Segment::None,
        TCP_V4 => Segment::TcpV4,
        TCP_V6 => Segment::TcpV6,
        UDP_L4 => Segment::UdpL4,
        kind => return Err(Unknown(kind)),
    };
    let needs_checksum = header[0] & NEEDS_CHECKSUM != 0;
    if !needs_checksum && segment == Segment::None {
        return Ok(None);
    }
    let mut offload = Offload {
        needs_checksum,
        checksum_start: if needs_checksum { word(6) } else { 0 },
        checksum_offset: if needs_checksum {
            u8::try_from(word(8)).map_err(|_| Unknown(header[1]))?
        } else {
            0
        },
        segment,
        segment_size: if segment == Segment::None { 0 } else { word(4) },
        header_len: word(2),
    };
    if needs_checksum && segment != Segment::None {
        offload.header_len = header_len(&offload, frame);
    }
    Ok(Some(offload))
}

/// A kind of segmentation that is not known, or a checksum in an impossible place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown(pub u8);

/// The header of a frame of which `offload` is left to the kernel, and of which it keeps `linear` bytes in one piece;
/// `ecn` if it is a TCP super-frame with the CWR flag.
pub fn emit(offload: Option<Offload>, linear: u16, ecn: bool) -> [u8; LEN] {
    let mut header = [0; LEN];
    header[2..4].copy_from_slice(&linear.to_ne_bytes());
    let Some(offload) = offload else { return header };
    if offload.needs_checksum {
        header[0] = NEEDS_CHECKSUM;
        header[6..8].copy_from_slice(&offload.checksum_start.to_ne_bytes());
        header[8..10].copy_from_slice(&u16::from(offload.checksum_offset).to_ne_bytes());
    }
    header[1] = match offload.segment {
        Segment::None => 0,
        Segment::TcpV4 => TCP_V4,
        Segment::TcpV6 => TCP_V6,
        Segment::UdpL4 => UDP_L4,
    };
    if offload.segment != Segment::None {
        header[4..6].copy_from_slice(&offload.segment_size.to_ne_bytes());
        if ecn && offload.segment != Segment::UdpL4 {
            header[1] |= ECN;
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_frame_there_and_back() {
        let offload = Offload {
            needs_checksum: true,
            checksum_start: 38,
            checksum_offset: 16,
            segment: Segment::TcpV4,
            segment_size: 1460,
            header_len: 58,
        };
        let bytes = emit(Some(offload), 58, false);
        let mut frame = [0; 88];
        frame[38 + 12] = 0x50;
        assert_eq!(parse(&bytes, &frame), Ok(Some(offload)));
        // The kernel says how much it has in one piece.
        assert_eq!(parse(&emit(Some(offload), 600, false), &frame), Ok(Some(offload)));
        assert_eq!(bytes[..2], [1, 1]);
        assert_eq!(emit(Some(offload), 58, true)[..2], [1, 0x81]);
        assert_eq!(u16::from_ne_bytes([bytes[4], bytes[5]]), 1460);
    }

    #[test]
    fn nothing_left_undone_is_nothing() {
        assert_eq!(parse(&emit(None, 60, false), &[]), Ok(None));
        assert_eq!(
            parse(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
            Ok(None),
            "a checksum that is known to be right"
        );
    }

    #[test]
    fn ecn_is_part_of_tcp_and_the_rest_is_unknown() {
        let mut bytes = emit(None, 0, false);
        bytes[1] = TCP_V6 | ECN;
        assert!(matches!(parse(&bytes, &[]), Ok(Some(o)) if o.segment == Segment::TcpV6));
        bytes[1] = 3;
        assert_eq!(parse(&bytes, &[]), Err(Unknown(3)));
    }
}
