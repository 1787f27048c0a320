//! The internet checksum (RFC 1071) and its incremental update (RFC 1624).
//!
//! Sums are 16-bit ones' complement sums in host order, not yet complemented; the checksum field holds `!sum`.

use core::net::{Ipv4Addr, Ipv6Addr};

/// Folds a wide sum of 16-bit words into 16 bits.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    sum as u16
}

/// The ones' complement sum of `data`, padded with a zero byte if its length is odd. Eight bytes at a time.
#[inline]
pub fn sum(data: &[u8]) -> u16 {
    // The sum does not depend on the order of the bytes in a word (RFC 1071, 2.B): sum in the machine's order and
    // swap once. Halves of 32 bits leave room for 2^31 chunks without a carry.
    let mut total = 0u64;
    let mut chunks = data.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_ne_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]);
        total += (word >> 32) + (word & 0xffff_ffff);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut last = [0u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        let word = u64::from_ne_bytes(last);
        total += (word >> 32) + (word & 0xffff_ffff);
    }
    u16::from_be(fold(total))
}

/// The same of an IPv4 header without options, which routers check for every packet: no loop.
#[inline(always)]
pub const fn sum_header(header: &[u8; 20]) -> u16 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = *header;
    let words = [u64::from_ne_bytes([a, b, c, d, e, f, g, h]), u64::from_ne_bytes([i, j, k, l, m, n, o, p])];
    let last = u32::from_ne_bytes([q, r, s, t]) as u64;
    let total =
        (words[0] >> 32) + (words[0] & 0xffff_ffff) + (words[1] >> 32) + (words[1] & 0xffff_ffff) + last;
    u16::from_be(fold(total))
}

/// The ones' complement sum of sums. All but the last must be of data of even length.
#[inline]
pub fn combine(sums: &[u16]) -> u16 {
    fold(sums.iter().map(|&s| u64::from(s)).sum())
}

/// The sum of the IPv4 pseudo header of UDP and TCP (RFC 768).
#[inline]
pub fn pseudo_header(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, length: u32) -> u16 {
    let (src, dst) = (u64::from(src.to_bits()), u64::from(dst.to_bits()));
    fold(src + dst + u64::from(protocol) + u64::from(length))
}

/// The sum of the IPv6 pseudo header of UDP, TCP and ICMPv6 (RFC 8200, 8.1).
#[inline]
pub fn pseudo_header_v6(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, length: u32) -> u16 {
    let numbers = fold(u64::from(protocol) + u64::from(length));
    combine(&[sum(&src.octets()), sum(&dst.octets()), numbers])
}

/// The addresses of one family, as checksums of what they carry need them.
pub trait Addresses: Copy {
    /// May a UDP datagram go without a checksum? Over IPv6 it may not (RFC 8200, 8.1).
    const MAY_LEAVE_OUT: bool;

    /// The sum of the pseudo header between two addresses.
    fn pseudo_header(src: Self, dst: Self, protocol: u8, length: u32) -> u16;
}

impl Addresses for Ipv4Addr {
    const MAY_LEAVE_OUT: bool = true;

    #[inline]
    fn pseudo_header(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, length: u32) -> u16 {
        pseudo_header(src, dst, protocol, length)
    }
}

impl Addresses for Ipv6Addr {
    const MAY_LEAVE_OUT: bool = false;

    #[inline]
    fn pseudo_header(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, length: u32) -> u16 {
        pseudo_header_v6(src, dst, protocol, length)
    }
}

/// The checksum after a 16-bit word that it covers changed from `old` to `new` (RFC 1624, 3, equation 3).
#[inline]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum >> 16) + (sum & 0xffff);
    !((sum >> 16) + (sum & 0xffff)) as u16
}

/// The checksum after a 32-bit word that it covers, such as an address, changed from `old` to `new`.
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let high = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(high, old as u16, new as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071, 4.1, in the plainest words.
    fn plain(data: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in data.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum >> 16) + (sum & 0xffff);
        }
        sum as u16
    }

    #[test]
    fn rfc_1071_numerical_example() {
        // RFC 1071, 3: 0001 f203 f4f5 f6f7 sums to ddf2.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn rfc_1624_example() {
        // RFC 1624, 4: checksum DD2F, 5555 becomes 3285, checksum 0000 (and not FFFF).
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn fast_equals_plain(data in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(sum(&data), plain(&data));
        }

        #[test]
        fn a_header_has_the_sum_of_its_bytes(header: [u8; 20]) {
            prop_assert_eq!(sum_header(&header), sum(&header));
        }

        #[test]
        fn update_equals_computing_anew(
            mut data in proptest::collection::vec(any::<u8>(), 4..60), at in 0usize..60, new: u32,
        ) {
            let at = (at % (data.len() - 3)) & !1;
            let before = !sum(&data);
            let old = u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
            data[at..at + 4].copy_from_slice(&new.to_be_bytes());
            // Zero has two forms; a header is never all zero, so compare modulo ffff.
            let (got, want) = (update_u32(before, old, new), !sum(&data));
            prop_assert!(got == want || (got ^ want == 0xffff && (got == 0 || want == 0)));
        }

        #[test]
        fn parts_combine(a in proptest::collection::vec(any::<u8>(), 0..40), b: Vec<u8>) {
            let a = &a[..a.len() & !1];
            prop_assert_eq!(combine(&[sum(a), sum(&b)]), sum(&[a, &b].concat()));
        }

        #[test]
        fn pseudo_header_is_its_bytes(src: u32, dst: u32, protocol: u8, length: u16) {
            let mut bytes = [0u8; 12];
            bytes[..4].copy_from_slice(&src.to_be_bytes());
            bytes[4..8].copy_from_slice(&dst.to_be_bytes());
            bytes[9] = protocol;
            bytes[10..].copy_from_slice(&length.to_be_bytes());
            prop_assert_eq!(pseudo_header(src.into(), dst.into(), protocol, length.into()), sum(&bytes));
        }

        #[test]
        fn the_pseudo_header_of_ipv6_is_its_bytes(src: u128, dst: u128, protocol: u8, length: u32) {
            let mut bytes = [0u8; 40];
            bytes[..16].copy_from_slice(&src.to_be_bytes());
            bytes[16..32].copy_from_slice(&dst.to_be_bytes());
            bytes[32..36].copy_from_slice(&length.to_be_bytes());
            bytes[39] = protocol;
            prop_assert_eq!(pseudo_header_v6(src.into(), dst.into(), protocol, length), sum(&bytes));
        }
    }
}
