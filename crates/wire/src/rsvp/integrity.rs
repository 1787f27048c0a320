//! INTEGRITY and CHALLENGE objects, and the keyed digest over a message (RFC 2747).

use super::class::{CHALLENGE, INTEGRITY};
use super::error::Fault;
use super::field::{Get, Put};
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

impl Integrity {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Integrity, Fault> {
        if c_type != 1 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::exact(body, 32)?;
        let [flags, _] = get.take();
        Ok(Integrity { flags, key_id: KeyId(get.take()), sequence: get.u64(), digest: get.take() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(INTEGRITY, 1, 32);
        out.bytes(&[self.flags, 0]);
        out.bytes(&self.key_id.0);
        out.u64(self.sequence);
        out.bytes(&self.digest);
    }
}

impl Challenge {
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Challenge, Fault> {
        if c_type != 1 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::at_least(body, 12)?;
        get.u16();
        let key_id = KeyId(get.take());
        Ok(Challenge { key_id, cookie: get.0.to_vec() })
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let at = out.begin(CHALLENGE, 1);
        out.u16(0);
        out.bytes(&self.key_id.0);
        out.bytes(&self.cookie);
        out.end(at)
    }
}
