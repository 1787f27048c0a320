//! What makes packets one flow where several next hops share traffic: a number of 64 bits, the same for all packets of
//! a flow and the same on every machine.
//!
//! - of IPv4: both addresses, the protocol, and the ports of protocols that have such; of fragments no ports, so that
//!   all fragments of a packet go one way
//! - of IPv6: both addresses, the flow label, the next header, and ports that follow the header at once
//! - of MPLS: all labels that are not reserved, and what is below if it begins as IP does; where the stack has an
//!   entropy label, that label alone (RFC 6790, 4.3)
//!
//! Every node has a seed of its own, so that those in a row don't choose alike.

use crate::entry::BOTTOM;
use crate::flow::four_at;
use crate::packet::{ETHERNET, IPV4, LABEL, u32_at};
use base::Frame;

/// Entropy label indicator (RFC 6790, 3).
const ELI: u32 = 7;
/// Labels up to this one are reserved: they are no keys (RFC 6790, 4.3).
const RESERVED: u32 = 15;
/// More fragments, and the fragment offset (RFC 791, 3.1).
const FRAGMENT: u16 = 0x3fff;
/// Bytes of an IPv6 header (RFC 8200, 3).
const IPV6: usize = 40;

/// What a node's hash begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64, pub u64);

/// Digits of pi, for nodes that were given no seed.
impl Default for Seed {
    fn default() -> Seed {
        Seed(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }
}

/// Both halves of a product, one upon the other: each bit of the result depends on all bits of both factors.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn eight(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()).map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// Have packets of this protocol ports at their beginning? The same as `FlowFilter::WITH_PORTS`, without a search.
#[inline(always)]
const fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}

/// The flow of a frame with the label stack entry `word` on top and `below` behind it. Nothing if `whole` is not given
/// and more than the header bytes are needed.
#[inline]
pub(crate) fn labelled(seed: Seed, mut word: u32, below: &[u8], whole: Option<&Frame>) -> Option<u64> {
    let (mut at, mut labels) = (0, seed.1);
    loop {
        let label = word >> 12;
        if label > RESERVED {
            labels = (labels ^ u64::from(label)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
        if word & BOTTOM != 0 {
            let ip = ip(seed, below.get(at..).unwrap_or_default(), ETHERNET + LABEL + at, whole)?;
            return Some(mix(labels ^ ip, seed.0));
        }
        let Some(next) = u32_at(below, at) else { return Some(mix(labels, seed.0)) };
        if label == ELI {
            return Some(mix(u64::from(next >> 12) ^ seed.0, seed.1));
        }
        word = next;
        at += LABEL;
    }
}

/// The flow of an IP packet whose header bytes are `ip` and begin at `at` of the frame; of anything else always the
/// same. Nothing if `whole` is not given and more than the header bytes are needed.
#[inline]
pub(crate) fn ip(seed: Seed, ip: &[u8], at: usize, whole: Option<&Frame>) -> Option<u64> {
    match ip.split_first_chunk::<IPV4>() {
        Some((header, rest)) if header[0] >> 4 == 4 => {
            let options = (usize::from(header[0] & 15) * 4).saturating_sub(IPV4);
            v4(seed, header, || ports_at(rest, options, at + IPV4, whole))
        }
        Some((header, _)) if header[0] >> 4 == 6 => v6(seed, ip, at, whole),
        _ => Some(seed.0),
    }
}

/// The flow of an IPv4 packet; `ports` gives the first four bytes behind its header.
#[inline(always)]
pub(crate) fn v4(seed: Seed, ip: &[u8; IPV4], ports: impl FnOnce() -> Option<u32>) -> Option<u64> {
    let whole = u16::from_be_bytes([ip[6], ip[7]]) & FRAGMENT == 0;
    let ports = if whole && has_ports(ip[9]) { ports()? } else { 0 };
    Some(mix(eight(ip, 12) ^ seed.0, (u64::from(ip[9]) << 32 | u64::from(ports)) ^ seed.1))
}

fn v6(seed: Seed, ip: &[u8], at: usize, whole: Option<&Frame>) -> Option<u64> {
    let Some((header, rest)) = ip.split_first_chunk::<IPV6>() else { return Some(seed.0) };
    let flow_label = u64::from(u32::from_be_bytes([0, header[1] & 15, header[2], header[3]]));
    let next = header[6];
    let ports = if has_ports(next) { ports_at(rest, 0, at + IPV6, whole)? } else { 0 };
    let source = mix(eight(header, 8) ^ seed.0, eight(header, 16) ^ seed.1);
    let both = mix(eight(header, 24) ^ source, eight(header, 32) ^ seed.0);
    Some(mix(both ^ flow_label << 40, (u64::from(next) << 32 | u64::from(ports)) ^ seed.1))
}

/// Source and destination port, `skip` bytes into `rest`, which begins at `at` of the frame.
#[inline(always)]
fn ports_at(rest: &[u8], skip: usize, at: usize, whole: Option<&Frame>) -> Option<u32> {
    match rest.get(skip..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(ports) => Some(u32::from_le_bytes(*ports)),
        None => Some(four_at(whole?, at + skip).map_or(0, u32::from_le_bytes)),
    }
}
