//! INTEGRITY and CHALLENGE objects, and the keyed digest over a message (RFC 2747).

use super::class::{CHALLENGE, INTEGRITY};
use super::error::{Error, Fault, Reason};
use super::field::{Get, Put};
use super::header::{HEADER_LEN, Header, Objects};
use super::text;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use serde::{Deserialize, Serialize};

/// INTEGRITY (RFC 2747, 2.1), with the sixteen bytes of an HMAC-MD5 digest.
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
    /// [`Integrity::HANDSHAKE`], or zero.
    pub flags: u8,
    /// Which key; unique for a sender.
    pub key_id: KeyId,
    /// Rises with every message.
    pub sequence: u64,
    /// Filled in by signing; zero while the digest is computed.
    #[serde(with = "text::hex")]
    pub digest: [u8; 16],
}

/// 48 bits that identify a key of a sender (RFC 2747, 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(#[serde(with = "text::hex")] pub [u8; 6]);

impl Integrity {
    /// The sender answers integrity challenges.
    pub const HANDSHAKE: u8 = 0x01;

    /// Does the sender answer integrity challenges? RFC 2747, 2.1 calls the flag bit 0 and draws it leftmost: some take
    /// the lowest bit for it, others the highest. All other flags are zero, so either will do.
    pub const fn handshake(&self) -> bool {
        self.flags & (Integrity::HANDSHAKE | Integrity::HANDSHAKE.reverse_bits()) != 0
    }

    /// Ready to be signed.
    pub const fn new(key_id: KeyId, sequence: u64) -> Integrity {
        Integrity { flags: 0, key_id, sequence, digest: [0; 16] }
    }
}

/// CHALLENGE (RFC 2747, 4): a cookie to be returned under the key.
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

/// Fills in the digest of the INTEGRITY object in `message`, one whole message as emitted.
///
/// The checksum is set to zero, which is to say that there is none: the digest does more (RFC 2747, 3.1).
pub fn sign(key: &[u8], message: &mut [u8]) -> Result<(), Error> {
    let (_, at) = find(message)?;
    if let Some(checksum) = message.get_mut(2..4) {
        checksum.fill(0);
    }
    let digest = mac(key, message, at, false)?.finalize().into_bytes();
    if let Some(field) = message.get_mut(at..at + DIGEST) {
        field.copy_from_slice(&digest);
    }
    Ok(())
}

/// Checks the digest of the INTEGRITY object in `message` in constant time, and returns the object: that its sequence
/// number is greater than the last one is for the caller to check (RFC 2747, 3.2).
///
/// A checksum that a sender has put in after the digest is accepted, and so is one that the digest covers.
pub fn verify(key: &[u8], message: &[u8]) -> Result<Integrity, Error> {
    let (integrity, at) = find(message)?;
    let matches = |checksum| Ok(mac(key, message, at, checksum)?.verify_slice(&integrity.digest).is_ok());
    if matches(false)? || (message.get(2..4) != Some(&[0, 0]) && matches(true)?) {
        return Ok(integrity);
    }
    let reason = Reason::Invalid("the digest is not that of the message under this key");
    Err(Error { offset: at, object: Some((INTEGRITY, 1)), reason })
}

const DIGEST: usize = 16;

/// The INTEGRITY object of a whole message, and the byte at which its digest begins.
fn find(message: &[u8]) -> Result<(Integrity, usize), Error> {
    let header = Header::parse(message)?;
    let available = message.len();
    if usize::from(header.length) != available {
        let reason = Reason::Truncated { needed: header.length.into(), available };
        return Err(Error::of_message(6, reason));
    }
    for object in Objects::of(message) {
        let object = object?;
        if object.class == INTEGRITY {
            let at = |fault: Fault| Error {
                offset: object.offset + 4 + fault.at,
                object: Some((INTEGRITY, object.c_type)),
                reason: fault.reason,
            };
            let integrity = Integrity::parse(object.c_type, object.body).map_err(at)?;
            return Ok((integrity, object.offset + 4 + object.body.len() - DIGEST));
        }
    }
    Err(Error::missing(INTEGRITY, available))
}

/// The keyed digest of `message`, with zeros for the digest at `at` and, unless it is covered, for the checksum.
fn mac(key: &[u8], message: &[u8], at: usize, with_checksum: bool) -> Result<Hmac<Md5>, Error> {
    let no_key = |_| Error::of_message(0, Reason::Invalid("the key cannot be used"));
    let mut mac = Hmac::<Md5>::new_from_slice(key).map_err(no_key)?;
    let mut header = [0; HEADER_LEN];
    for (to, from) in header.iter_mut().zip(message) {
        *to = *from;
    }
    if !with_checksum {
        header[2] = 0;
        header[3] = 0;
    }
    mac.update(&header);
    mac.update(message.get(HEADER_LEN..at).unwrap_or(&[]));
    mac.update(&[0; DIGEST]);
    mac.update(message.get(at + DIGEST..).unwrap_or(&[]));
    Ok(mac)
}
