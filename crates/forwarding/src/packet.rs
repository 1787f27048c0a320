//! Offsets and arithmetic on raw bytes that the fast path needs. Slow paths use the views of `wire`.

use base::Dscp;
use core::net::Ipv6Addr;
use wire::checksum;

/// Bytes of an Ethernet II header.
pub(crate) const ETHERNET: usize = 14;
/// Bytes of a label stack entry (RFC 3032, 2.1).
pub(crate) const LABEL: usize = 4;
/// Bytes of an IPv4 header without options.
pub(crate) const IPV4: usize = 20;

/// Bytes of an IPv6 header.
pub(crate) const IPV6: usize = 40;

pub(crate) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(crate) const ETHERTYPE_IPV6: u16 = 0x86dd;
pub(crate) const ETHERTYPE_ARP: u16 = 0x0806;
pub(crate) const ETHERTYPE_MPLS: u16 = 0x8847;

/// The big-endian number of two bytes at `at`.
#[inline(always)]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// The big-endian number of four bytes at `at`.
#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// Writes `ttl` into an IPv4 header and updates its checksum by the difference (RFC 1624, equation 3).
pub(crate) fn set_ipv4_ttl(ip: &mut [u8], ttl: u8) {
    let Some(ip) = ip.first_chunk_mut::<IPV4>() else { return };
    let old = u16::from_be_bytes([ip[8], ip[9]]);
    let new = u16::from_be_bytes([ttl, ip[9]]);
    let check = checksum::update(u16::from_be_bytes([ip[10], ip[11]]), old, new);
    ip[8] = ttl;
    ip[10..12].copy_from_slice(&check.to_be_bytes());
}

/// Takes one off the time to live of an IPv4 header, which is not zero. The complement of the old word and the new one
/// are 0xfeff together, whatever they are. Their sum with the checksum is the same in any order of bytes (RFC 1071,
/// 2.B).
#[inline(always)]
pub(crate) fn lower_ttl(ip: &mut [u8; IPV4]) {
    const BOTH: u32 = u16::from_ne_bytes([0xfe, 0xff]) as u32;
    let sum = u32::from(!u16::from_ne_bytes([ip[10], ip[11]])) + BOTH;
    let check = !((sum >> 16) + sum) as u16;
    ip[8] = ip[8].wrapping_sub(1);
    ip[10..12].copy_from_slice(&check.to_ne_bytes());
}

/// Is the checksum of an IPv4 header without options right? The ones' complement sum of its words is 0xffff then, which
/// is to say that their sum is a multiple of that; it is not zero, since the version is not.
#[inline(always)]
pub(crate) fn is_intact(ip: &[u8; IPV4]) -> bool {
    let (words, _) = ip.as_chunks::<4>();
    words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum::<u64>() % 0xffff == 0
}

/// Writes `dscp` into an IPv4 header, leaves its ECN bits, and updates its checksum by the difference (RFC 1624,
/// equation 3).
pub(crate) fn set_ipv4_dscp(ip: &mut [u8], dscp: Dscp) {
    let Some(ip) = ip.first_chunk_mut::<IPV4>() else { return };
    let old = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] = dscp.to_tos(ip[1]);
    let check =
        checksum::update(u16::from_be_bytes([ip[10], ip[11]]), old, u16::from_be_bytes([ip[0], ip[1]]));
    ip[10..12].copy_from_slice(&check.to_be_bytes());
}

/// The traffic class of an IPv6 header, as the second byte of an IPv4 header has it (RFC 8200, 3).
#[inline(always)]
pub(crate) const fn class6(ip: &[u8; IPV6]) -> u8 {
    ip[0] << 4 | ip[1] >> 4
}

/// The address in the sixteen bytes of an IPv6 header at `at`: 8 is the source, 24 the destination.
#[inline(always)]
pub(crate) fn address6(ip: &[u8; IPV6], at: usize) -> Ipv6Addr {
    ip.get(at..)
        .and_then(|rest| rest.first_chunk::<16>())
        .map_or(Ipv6Addr::UNSPECIFIED, |a| Ipv6Addr::from(*a))
}

/// Writes `dscp` into an IPv6 header and leaves its ECN bits.
pub(crate) fn set_ipv6_dscp(ip: &mut [u8], dscp: Dscp) {
    let Some(ip) = ip.first_chunk_mut::<IPV6>() else { return };
    let class = dscp.to_tos(class6(ip));
    ip[0] = ip[0] & 0xf0 | class >> 4;
    ip[1] = ip[1] & 0x0f | class << 4;
}

/// How many label stack entries a frame's header holds, up to the bottom of the stack or the end of the bytes.
pub(crate) fn labels_in(header: &[u8]) -> usize {
    if u16_at(header, 12) != Some(ETHERTYPE_MPLS) {
        return 0;
    }
    let entries = header.get(ETHERNET..).unwrap_or_default().chunks_exact(LABEL);
    let all = entries.len();
    entries.into_iter().position(|e| e[2] & 1 == 1).map_or(all, |bottom| bottom + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_is_lowered_as_it_is_set() {
        for (ttl, protocol) in [(1, 0), (2, 17), (64, 255), (65, 0), (128, 6), (255, 255)] {
            for check in 0..=u16::MAX {
                let mut one = [0; IPV4];
                (one[8], one[9]) = (ttl, protocol);
                one[10..12].copy_from_slice(&check.to_be_bytes());
                let mut other = one;
                lower_ttl(&mut one);
                set_ipv4_ttl(&mut other, ttl - 1);
                assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn a_header_is_intact_with_its_checksum_alone() {
        for start in 0..=u8::MAX {
            let mut ip: [u8; IPV4] = core::array::from_fn(|at| start.wrapping_mul(at as u8 | 3) ^ at as u8);
            (ip[0], ip[10], ip[11]) = (0x45, 0, 0);
            let right = !checksum::sum(&ip);
            for check in [right, right ^ 1, right ^ 0x100, right.wrapping_add(1), 0, u16::MAX] {
                ip[10..12].copy_from_slice(&check.to_be_bytes());
                assert_eq!(is_intact(&ip), checksum::sum(&ip) == u16::MAX);
            }
            ip[10..12].copy_from_slice(&right.to_be_bytes());
            assert!(is_intact(&ip));
        }
    }
}
