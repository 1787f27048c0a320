//! Explicit congestion notification (RFC 3168).

use crate::packet::{ETHERNET, ETHERTYPE_IPV4, IPV4, u16_at};
use base::Frame;
use wire::checksum;

const ECN: u8 = 0b11;

/// Marks the frame as having met congestion, and returns whether it says so now. Otherwise it has to be dropped
/// instead.
///
/// Only the header of an IPv4 packet without labels is marked. RFC 5129 defines how a labelled packet would be; this
/// node does not do it, so that such a packet counts as one whose transport knows nothing of ECN.
///
/// ```text
///    6       7
/// +-------+-------+   second byte of the IPv4 header
/// |   ECN field   |   00 not capable, 01 ECT(1), 10 ECT(0), 11 CE
/// +-------+-------+
/// ```
pub fn mark(frame: &mut Frame) -> bool {
    let header = frame.header_mut();
    if u16_at(header, 12) != Some(ETHERTYPE_IPV4) {
        return false;
    }
    let ip = header.get_mut(ETHERNET..).and_then(|ip| ip.first_chunk_mut::<IPV4>());
    let Some(ip) = ip.filter(|ip| ip[0] >> 4 == 4) else { return false };
    match ip[1] & ECN {
        // RFC 3168, 5: the sender has not said that the transport is capable.
        0 => false,
        ECN => true,
        _ => {
            let old = u16::from_be_bytes([ip[0], ip[1]]);
            ip[1] |= ECN;
            let check = checksum::update(
                u16::from_be_bytes([ip[10], ip[11]]),
                old,
                u16::from_be_bytes([ip[0], ip[1]]),
            );
            ip[10..12].copy_from_slice(&check.to_be_bytes());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn capable_packets_are_marked_with_a_right_checksum() {
        for (ecn, after) in [(0u8, None), (1, Some(3)), (2, Some(3)), (3, Some(3))] {
            let mut frame = testing::frame(46 << 2 | ecn, 100);
            assert_eq!(mark(&mut frame), after.is_some());
            let ip = &frame.header()[ETHERNET..ETHERNET + IPV4];
            assert_eq!(ip[1], 46 << 2 | after.unwrap_or(0));
            assert_eq!(checksum::sum(ip), 0xffff, "ones' complement sum of a header with its checksum");
        }
    }

    #[test]
    fn labelled_and_short_packets_are_not() {
        let mut labelled = testing::frame(2, 100);
        labelled.header_mut()[12..14].copy_from_slice(&[0x88, 0x47]);
        assert!(!mark(&mut labelled));
        assert!(!mark(&mut Frame::from_bytes(&testing::frame(2, 100).header()[..20])));
    }
}
