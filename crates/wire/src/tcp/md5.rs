//! The signature of segments by MD5 (RFC 2385).
//!
//! Some functions here panic if a segment has no whole header: callers have checked it.

use super::{HEADER_LEN, Packet};
use core::net::IpAddr;
use md5::{Digest, Md5};

/// Kind of the option (RFC 2385, 3.0).
const KIND: u8 = 19;
/// Bytes of the option.
const LEN: u8 = 18;
/// Bytes of the option with what fills its words.
pub const SIGNATURE_LEN: usize = 20;
/// Options that a header has room for.
const OPTIONS_MAX: usize = 40;
/// Bytes of a key at most (RFC 2385, 4.5).
pub const KEY_MAX: usize = 80;

/// The digest of a segment, which has the option already, whatever stands in it (RFC 2385, 2.0).
fn digest(segment: &[u8], src: IpAddr, dst: IpAddr, key: &[u8]) -> [u8; 16] {
    let header = usize::from(segment[12] >> 4) * 4;
    let (len, mut hash) = (segment.len() as u32, Md5::new());
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            hash.update(src.octets());
            hash.update(dst.octets());
            hash.update([0, 6]);
            hash.update((len as u16).to_be_bytes());
        }
        // RFC 8200, 8.1: the pseudo-header of IPv6, which RFC 2385 does not know yet.
        _ => {
            for address in [src, dst] {
                match address {
                    IpAddr::V4(address) => hash.update(address.to_ipv6_mapped().octets()),
                    IpAddr::V6(address) => hash.update(address.octets()),
                }
            }
            hash.update(len.to_be_bytes());
            hash.update([0, 0, 0, 6]);
        }
    }
    hash.update(&segment[..16]);
    // The checksum counts as zero.
    hash.update([0, 0]);
    hash.update(&segment[18..HEADER_LEN]);
    hash.update(&segment[header..]);
    hash.update(key);
    hash.finalize().into()
}

/// Puts a signature into a segment whose header is whole. Options that find no room beside it are left out: they are
/// selective acknowledgments, which nobody depends on. The checksum is to be made anew.
pub fn sign(segment: &mut Vec<u8>, src: IpAddr, dst: IpAddr, key: &[u8]) {
    let header = usize::from(segment[12] >> 4) * 4;
    if header - HEADER_LEN + SIGNATURE_LEN > OPTIONS_MAX {
        segment.drain(HEADER_LEN..header);
        segment[12] = (segment[12] & 0x0f) | ((HEADER_LEN / 4) as u8) << 4;
    }
    let mut option = [0; SIGNATURE_LEN];
    // Two that do nothing, so that words are filled.
    option[..4].copy_from_slice(&[1, 1, KIND, LEN]);
    segment.splice(HEADER_LEN..HEADER_LEN, option);
    segment[12] += ((SIGNATURE_LEN / 4) as u8) << 4;
    let made = digest(segment, src, dst, key);
    segment[HEADER_LEN + 4..HEADER_LEN + SIGNATURE_LEN].copy_from_slice(&made);
}

/// The signature of a segment, if it has one.
fn found(segment: &[u8]) -> Option<&[u8]> {
    let header = usize::from(segment[12] >> 4) * 4;
    let mut rest = segment.get(HEADER_LEN..header)?;
    loop {
        match *rest {
            [1, ..] => rest = &rest[1..],
            [KIND, LEN, ..] => return rest.get(2..usize::from(LEN)),
            [0, ..] | [] | [_] => return None,
            [_, len, ..] => rest = rest.get(usize::from(len.max(2))..)?,
        }
    }
}

/// Is a segment signed as it has to be: with this key, or not at all?
pub fn is_signed(segment: &[u8], src: IpAddr, dst: IpAddr, key: Option<&[u8]>) -> bool {
    if Packet::new_checked(segment).is_err() {
        return false;
    }
    match (found(segment), key) {
        (Some(found), Some(key)) => *found == digest(segment, src, dst, key),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    const ENDS: (IpAddr, IpAddr) =
        (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));

    fn segment(options: &[u8], data: &[u8]) -> Vec<u8> {
        let mut all =
            vec![0xc0, 0, 2, 0x86, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0xff, 0xff, 0x12, 0x34, 0, 0];
        all[12] += (options.len() as u8 / 4) << 4;
        all.extend(options);
        all.extend(data);
        all
    }

    #[test]
    fn a_signature_depends_on_everything_but_checksum_and_options() {
        let mut signed = segment(&[2, 4, 5, 0xb4], b"data");
        sign(&mut signed, ENDS.0, ENDS.1, b"key");
        assert_eq!(signed.len(), 20 + 4 + 20 + 4);
        assert_eq!((signed[12] >> 4, &signed[20..24]), (11, &[1, 1, 19, 18][..]));
        let is_signed = |bytes: &[u8], key| super::is_signed(bytes, ENDS.0, ENDS.1, key);
        assert!(is_signed(&signed, Some(b"key")));
        assert!(!is_signed(&signed, Some(b"other")) && !is_signed(&signed, None));
        assert!(!super::is_signed(&signed, ENDS.1, ENDS.0, Some(b"key")));
        for at in 0..signed.len() {
            let mut wrong = signed.clone();
            wrong[at] ^= 1;
            // RFC 2385, 2.0: the checksum counts as zero, and options do not count.
            let is_free = (16..18).contains(&at) || (40..44).contains(&at);
            assert_eq!(is_signed(&wrong, Some(b"key")), is_free, "byte {at}");
        }
        let plain = segment(&[], b"data");
        assert!(is_signed(&plain, None) && !is_signed(&plain, Some(b"key")));
    }

    /// RFC 2385, 2.0: the digest written out, of a SYN without data.
    #[test]
    fn the_digest_is_over_header_pseudo_header_and_key() {
        let mut signed = segment(&[], &[]);
        sign(&mut signed, ENDS.0, ENDS.1, b"secret");
        let mut all = vec![10, 0, 0, 1, 10, 0, 0, 2, 0, 6, 0, 40];
        all.extend(&signed[..16]);
        all.extend([0, 0]);
        all.extend(&signed[18..20]);
        all.extend(b"secret");
        let expected: [u8; 16] = Md5::digest(&all).into();
        assert_eq!(signed[24..40], expected);
    }

    #[test]
    fn options_without_room_are_left_out_and_nothing_panics() {
        let mut signed = segment(&[1; 24], b"x");
        sign(&mut signed, ENDS.0, ENDS.1, b"key");
        assert_eq!(signed.len(), 41);
        assert!(is_signed(&signed, ENDS.0, ENDS.1, Some(b"key")));
        for options in [&[19, 18, 0, 0][..], &[19, 0, 0, 0], &[3, 0, 19, 18], &[2, 99, 0, 0], &[1, 1, 1, 19]]
        {
            assert!(!is_signed(&segment(options, b""), ENDS.0, ENDS.1, Some(b"key")));
        }
    }
}
