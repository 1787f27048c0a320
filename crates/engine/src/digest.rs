//! The digest of a run: every frame's bytes and time on every link, whether captured or not.
//!
//! Each direction of a link has a 128-bit state `(lo, hi)`, zero at first. With `K[i]` the `i`-th output of
//! SplitMix64 from zero, `mum(x, y)` the xor of both halves of the 128-bit product, and a frame's header of `n` bytes
//! read as little-endian 64-bit words, the content of a frame is
//!
//! ```text
//! c = len + body + sum over blocks b of 16 bytes  mum(word[2b] ^ K[2b], word[2b+1] ^ K[2b+1])
//! ```
//!
//! modulo 2^64, where the last block is the last 16 bytes of the header (overlapping the one before it; a header
//! shorter than 16 bytes is filled up with zeros), `len` is the length on the wire plus `n << 32`, and `body` is zero
//! for an empty body, `mum(start ^ K[16], len ^ K[17])` for a pattern, and for bytes their blocks chained as `h =
//! mum(h ^ word, word' ^ K[18])` from their length on. A body of 4,096 bytes or more has eight such chains, the
//! `j`-th from its length `^ K[j]` on, which take its whole rows of eight blocks in turn; they are folded from zero
//! as `h = mum(h ^ chain, K[18])`, and the rest is chained from there. (A pattern and bytes that equal it have
//! different digests: generated traffic is never made real for a digest.) A frame whose last bit leaves the port at
//! `t` changes the state to
//!
//! ```text
//! p = (lo ^ c) * (hi ^ t ^ K[19])      128 bits
//! lo = low half of p ^ t,  hi = high half of p ^ c
//! ```
//!
//! What a fault does to a frame, and frames taken off a link, are folded in the same way into a second state of the
//! direction, with a code in place of the content. The digest of the run folds the states in order of ports, `lo ^
//! K[0]` as time and `hi ^ K[1]` as content. It is for comparing runs, not for security.

use base::{Body, Frame, Time};
use core::fmt;

const fn splitmix(index: u64) -> u64 {
    let mut z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

const K: [u64; 20] = {
    let mut k = [0; 20];
    let mut i = 0;
    while i < 20 {
        k[i] = splitmix(i as u64);
        i += 1;
    }
    k
};

#[inline]
fn mum(x: u64, y: u64) -> u64 {
    let p = u128::from(x) * u128::from(y);
    p as u64 ^ (p >> 64) as u64
}

#[inline]
fn words(block: &[u8; 16]) -> (u64, u64) {
    let all = u128::from_le_bytes(*block);
    (all as u64, (all >> 64) as u64)
}

/// The content of a frame, as defined above.
#[inline(always)]
pub fn content(frame: &Frame, wire_len: u32) -> u64 {
    let header = frame.header();
    let n = header.len();
    let mut sum = u64::from(wire_len).wrapping_add((n as u64) << 32);
    match frame.pattern() {
        (len, Some(start)) => {
            sum = sum.wrapping_add(mum(u64::from(start) ^ K[16], u64::from(len) ^ K[17]));
        }
        (0, None) => {}
        (_, None) => sum = sum.wrapping_add(owned(frame.body())),
    }
    if let ([a, b, c, ..], Some(last), 49..=64) = (header.as_chunks().0, header.last_chunk(), n) {
        // The length of nearly every header: what follows, without a loop.
        let first = block(a, 0).wrapping_add(block(b, 1)).wrapping_add(block(c, 2));
        return sum.wrapping_add(first).wrapping_add(block(last, 3));
    }
    sum.wrapping_add(any_header(header))
}

/// What a header of any length adds.
#[inline(never)]
fn any_header(header: &[u8]) -> u64 {
    let (Some(last), n) = (header.last_chunk(), header.len()) else {
        return short(header);
    };
    let blocks = header.as_chunks().0;
    let mut sum = 0u64;
    let whole = (n - 1) / 16;
    for (i, bytes) in blocks[..whole].iter().enumerate() {
        sum = sum.wrapping_add(block(bytes, i));
    }
    sum.wrapping_add(block(last, whole))
}

/// What the `i`-th block of a header adds.
#[inline(always)]
fn block(bytes: &[u8; 16], i: usize) -> u64 {
    let (x, y) = words(bytes);
    let k = 2 * (i & 7);
    mum(x ^ K[k], y ^ K[k + 1])
}

#[cold]
#[inline(never)]
fn owned(body: &Body) -> u64 {
    bytes(body.as_slice().unwrap_or_default())
}

/// A header of less than 16 bytes: no Ethernet header that carries anything.
#[cold]
fn short(header: &[u8]) -> u64 {
    let mut block = [0u8; 16];
    block[..header.len()].copy_from_slice(header);
    let (x, y) = words(&block);
    mum(x ^ K[0], y ^ K[1])
}

/// The hash of a body that consists of bytes, as defined above.
pub fn bytes(bytes: &[u8]) -> u64 {
    if bytes.len() >= LONG {
        return long(bytes);
    }
    let (blocks, rest) = bytes.as_chunks();
    let hash = blocks.iter().fold(bytes.len() as u64, chain);
    if rest.is_empty() { hash } else { chain(hash, &filled(rest)) }
}

/// Bytes from which on a body has several chains.
const LONG: usize = 4096;
/// How many chains those are: as many as the processor multiplies at once.
const CHAINS: usize = 8;

/// The hash of a long body: super-frames of hosts have 64 KiB, and one chain would wait for itself.
fn long(bytes: &[u8]) -> u64 {
    let mut chains: [u64; CHAINS] = core::array::from_fn(|i| bytes.len() as u64 ^ K[i]);
    let (rows, rest) = bytes.as_chunks::<{ 16 * CHAINS }>();
    for row in rows {
        for (hash, block) in chains.iter_mut().zip(row.as_chunks().0) {
            *hash = chain(*hash, block);
        }
    }
    let hash = chains.iter().fold(0, |hash, chain| mum(hash ^ chain, K[18]));
    rest.chunks(16).fold(hash, |hash, block| chain(hash, &filled(block)))
}

#[inline(always)]
fn chain(hash: u64, block: &[u8; 16]) -> u64 {
    let (x, y) = words(block);
    mum(hash ^ x, y ^ K[18])
}

/// A block of fewer than 16 bytes, filled up with zeros.
fn filled(bytes: &[u8]) -> [u8; 16] {
    let mut block = [0u8; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

/// The running digest of one direction of a link, or of anything that happens in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    lo: u64,
    hi: u64,
}

impl Digest {
    /// Folds a content and a time in.
    #[inline]
    pub fn fold(&mut self, time: Time, content: u64) {
        let p = u128::from(self.lo ^ content) * u128::from(self.hi ^ time.0 ^ K[19]);
        self.lo = p as u64 ^ time.0;
        self.hi = (p >> 64) as u64 ^ content;
    }

    /// The digest so far.
    pub fn finish(self) -> RunDigest {
        RunDigest(u128::from(self.hi) << 64 | u128::from(self.lo))
    }

    /// The digest of digests, in order.
    pub fn all(parts: impl Iterator<Item = Digest>) -> RunDigest {
        let mut all = Digest::default();
        for part in parts {
            // Keys, so that the state of an idle direction, zero, mixes like any other.
            all.fold(Time(part.lo ^ K[0]), part.hi ^ K[1]);
        }
        all.finish()
    }
}

/// The digest of a run: prints as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunDigest(pub u128);

impl fmt::Display for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
impl fmt::Debug for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// Any changed byte, length or time changes the digest.
        #[test]
        fn sees_every_bit(bytes in proptest::collection::vec(any::<u8>(), 1..200), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut other = bytes.clone();
            other[at.index(bytes.len())] ^= 1 << bit;
            let (a, b) = (Frame::from_bytes(&bytes), Frame::from_bytes(&other));
            prop_assert_ne!(content(&a, a.wire_len()), content(&b, b.wire_len()));
            other = bytes.clone();
            other.push(0);
            let longer = Frame::from_bytes(&other);
            prop_assert_ne!(content(&a, 64), content(&longer, 64));
        }
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// So it does in a long body, and two blocks of it that change places.
        #[test]
        fn sees_every_bit_of_a_long_body(len in LONG..LONG + 300, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let body: Vec<u8> = (0..len).map(|i| (i * i / 7) as u8).collect();
            let mut other = body.clone();
            other[at.index(len)] ^= 1 << bit;
            prop_assert_ne!(bytes(&body), bytes(&other));
            let mut swapped = body.clone();
            let (from, to) = (at.index(LONG / 32) * 16, LONG / 2 + 16);
            (0..16).for_each(|i| swapped.swap(from + i, to + i));
            prop_assert!(swapped == body || bytes(&swapped) != bytes(&body));
            prop_assert_ne!(bytes(&body), bytes(&body[..len - 1]));
        }
    }

    #[test]
    fn order_and_time_matter() {
        let run = |steps: &[(u64, u64)]| {
            let mut d = Digest::default();
            steps.iter().for_each(|&(t, c)| d.fold(Time(t), c));
            d.finish()
        };
        let base = run(&[(1, 2), (3, 4)]);
        assert_eq!(base, run(&[(1, 2), (3, 4)]));
        for other in [&[(3, 4), (1, 2)][..], &[(1, 2), (4, 4)], &[(1, 2)], &[(1, 4), (3, 2)]] {
            assert_ne!(base, run(other));
        }
        assert_eq!(base.to_string().len(), 32);
    }

    #[test]
    fn the_function_stays_the_same() {
        // Digests are kept in manifests and compared across versions.
        let frame = Frame::new(&[7; 60], Body::Pattern { start: 3, len: 400 });
        let mut d = Digest::default();
        d.fold(Time(1_000), content(&frame, frame.wire_len()));
        d.fold(Time(2_000), content(&Frame::from_bytes(&[1; 120]), 124));
        d.fold(Time(3_000), content(&Frame::from_bytes(&[1; 9]), 64));
        assert_eq!(d.finish().to_string(), "bd1aca822c0fbdb4f1ee92cd45b9affc");
    }
}
