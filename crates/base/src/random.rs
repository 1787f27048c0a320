//! Named random streams: each user of randomness draws from a stream of its own, so that adding one does not
//! disturb the others, and the same seed means the same bytes on every machine.

pub use rand_chacha::ChaCha8Rng as Stream;
pub use rand_chacha::rand_core::Rng;
use rand_chacha::rand_core::SeedableRng;

/// All the random streams of a run, derived from one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of `seed`.
    pub const fn new(seed: u64) -> Streams {
        Streams { seed }
    }
    /// The number that the stream was made from; the same seed and names give the same draws.
    pub const fn seed(self) -> u64 {
        self.seed
    }
    /// The stream called `name`, from its beginning. The generator is ChaCha with eight rounds; the name selects
    /// one of its 2^64 streams by the FNV-1a hash.
    pub fn stream(self, name: &str) -> Stream {
        let mut generator = Stream::seed_from_u64(self.seed);
        generator.set_stream(fnv1a(name.as_bytes()));
        generator
    }
}

/// The 64-bit FNV-1a hash.
pub const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::Rng;

    #[test]
    fn streams_are_repeatable_and_apart() {
        let draw = |seed, name| Streams::new(seed).stream(name).next_u64();
        assert_eq!(draw(7, "a"), draw(7, "a"));
        assert_ne!(draw(7, "a"), draw(7, "b"));
        assert_ne!(draw(7, "a"), draw(8, "a"));
    }

    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }
}
