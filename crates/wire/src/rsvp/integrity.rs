//! INTEGRITY and CHALLENGE objects, and the keyed digest over a message (RFC 2747).

use super::text;
use serde::{Deserialize, Serialize};

/// INTEGRITY (RFC 2747, 2.2), with the sixteen bytes of an HMAC-MD5 digest.
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// |    Flags    | 0 (Reserved)|                           |
/// +-------------+-------------+                           +
/// |                    Key Identifier                     |
/// +-------------+-------------+-------------+-------------+
/// |                    Sequence Number                    |
/// |                                                       |
/// +-------------+-------------+-------------+-------------+
/// |                 Keyed Message Digest                  |
/// |                  (four words)                         |
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Integrity {
    /// [`Integrity::HANDSHAKE`].
    pub flags: u8,
    /// Which key; unique for a sender.
    pub key_id: KeyId,
    /// Rises with every message.
    pub sequence: u64,
    /// Filled in by signing; zero while the digest is computed.
    #[serde(with = "text::hex")]
    pub digest: [u8; 16],
}

/// 48 bits that name a key of a sender (RFC 2747, 2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(#[serde(with = "text::hex")] pub [u8; 6]);

impl Integrity {
    /// The sender answers integrity challenges.
    pub const HANDSHAKE: u8 = 0x01;

    /// Ready to be signed.
    pub const fn new(key_id: KeyId, sequence: u64) -> Integrity {
        Integrity { flags: 0, key_id, sequence, digest: [0; 16] }
    }
}

/// CHALLENGE (RFC 2747, 4.3): a cookie to be returned under the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Challenge {
    /// The key under which the challenged node is to answer.
    pub key_id: KeyId,
    /// Not to be guessed; whole words.
    #[serde(with = "text::hex")]
    pub cookie: Vec<u8>,
}
