//! Authentication sections (RFC 5880, 4.2 to 4.4): a password, or a digest of packet and key.

use super::{LAYER, LEN as HEADER_LEN, word};
use crate::error::{Error, Reason, need};
use md5::Md5;
use sha1::{Digest, Sha1};

/// Bytes of type and length, with which every section begins.
pub(super) const LEN: usize = 2;
/// Where the digest begins, in the section.
const DIGEST: usize = 8;
/// RFC 5880, 4.2: the longest password.
pub const PASSWORD_MAX: usize = 16;

/// What makes a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Keyed MD5 (RFC 5880, 6.7.3).
    Md5,
    /// Keyed SHA1 (RFC 5880, 6.7.4).
    Sha1,
}

impl Algorithm {
    /// Bytes of its digest, and of its key with the zeros behind it.
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::Sha1 => 20,
        }
    }

    fn digest(self, packet: &[u8]) -> Vec<u8> {
        match self {
            Algorithm::Md5 => Md5::digest(packet).to_vec(),
            Algorithm::Sha1 => Sha1::digest(packet).to_vec(),
        }
    }
}

/// The authentication section of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// A password, which everybody on the way can read.
    Simple {
        /// By which number the password goes.
        key_id: u8,
        /// 1 to [`PASSWORD_MAX`] bytes.
        password: Vec<u8>,
    },
    /// A digest.
    Keyed {
        /// What makes it.
        algorithm: Algorithm,
        /// The sequence number is a new one in every packet.
        meticulous: bool,
        /// By which number the key goes.
        key_id: u8,
        /// Never goes back.
        sequence: u32,
        /// As many bytes as the algorithm gives.
        digest: Vec<u8>,
    },
    /// A type without a meaning yet.
    Other {
        /// Its number.
        kind: u8,
        /// What is behind type and length.
        data: Vec<u8>,
    },
}

/// Algorithm, and whether each packet has a new sequence number, of the types that have a digest.
const fn keyed(kind: u8) -> Option<(Algorithm, bool)> {
    match kind {
        2 => Some((Algorithm::Md5, false)),
        3 => Some((Algorithm::Md5, true)),
        4 => Some((Algorithm::Sha1, false)),
        5 => Some((Algorithm::Sha1, true)),
        _ => None,
    }
}

impl Auth {
    /// Reads a section: it may be shorter than what is left of the packet.
    pub(super) fn parse(bytes: &[u8]) -> Result<Auth, Error> {
        need(LAYER, LEN, bytes.len())?;
        let (kind, length) = (bytes[0], usize::from(bytes[1]));
        let (min, max) = match (kind, keyed(kind)) {
            (_, Some((algorithm, _))) => (DIGEST + algorithm.digest_len(), DIGEST + algorithm.digest_len()),
            (1, _) => (4, 3 + PASSWORD_MAX),
            _ => (LEN, 255),
        };
        let found = length as u64;
        let Some(section) = bytes.get(..length).filter(|_| (min..=max).contains(&length)) else {
            let (min, max) = (min as u64, max.min(bytes.len()) as u64);
            return Err(Error::new(LAYER, 1, Reason::OutOfRange { field: "auth len", found, min, max }));
        };
        Ok(match keyed(kind) {
            Some((algorithm, meticulous)) => Auth::Keyed {
                algorithm,
                meticulous,
                key_id: section[2],
                sequence: word(section, 4),
                digest: section[DIGEST..].to_vec(),
            },
            None if kind == 1 => Auth::Simple { key_id: section[2], password: section[3..].to_vec() },
            None => Auth::Other { kind, data: section[LEN..].to_vec() },
        })
    }

    /// The number of its type.
    pub const fn kind(&self) -> u8 {
        match self {
            Auth::Simple { .. } => 1,
            Auth::Keyed { algorithm: Algorithm::Md5, meticulous: false, .. } => 2,
            Auth::Keyed { algorithm: Algorithm::Md5, .. } => 3,
            Auth::Keyed { algorithm: Algorithm::Sha1, meticulous: false, .. } => 4,
            Auth::Keyed { .. } => 5,
            Auth::Other { kind, .. } => *kind,
        }
    }

    /// How many bytes it has.
    pub fn buffer_len(&self) -> usize {
        match self {
            Auth::Simple { password, .. } => 3 + password.len(),
            Auth::Keyed { digest, .. } => DIGEST + digest.len(),
            Auth::Other { data, .. } => LEN + data.len(),
        }
    }

    pub(super) fn emit(&self, packet: &mut Vec<u8>) {
        packet.extend([self.kind(), u8::try_from(self.buffer_len()).unwrap_or(u8::MAX)]);
        match self {
            Auth::Simple { key_id, password } => {
                packet.push(*key_id);
                packet.extend(password);
            }
            Auth::Keyed { key_id, sequence, digest, .. } => {
                packet.extend([*key_id, 0]);
                packet.extend(sequence.to_be_bytes());
                packet.extend(digest);
            }
            Auth::Other { data, .. } => packet.extend(data),
        }
    }
}

/// The digest that a packet should have, if it has one: that of the packet with the key, and zeros behind it, in the
/// place of the digest (RFC 5880, 6.7.3 and 6.7.4).
fn expected(packet: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let packet = packet.get(..usize::from(*packet.get(3)?))?;
    let (algorithm, _) = keyed(*packet.get(HEADER_LEN)?)?;
    let mut keyed = packet.to_vec();
    let place = keyed.get_mut(HEADER_LEN + DIGEST..)?.get_mut(..algorithm.digest_len())?;
    place.fill(0);
    place.iter_mut().zip(secret).for_each(|(to, from)| *to = *from);
    Some(algorithm.digest(&keyed))
}

/// Puts the digest of a key into a packet that has room for one; a key that is longer than the digest is cut.
pub fn seal(packet: &mut [u8], secret: &[u8]) {
    let Some(digest) = expected(packet, secret) else { return };
    if let Some(place) = packet.get_mut(HEADER_LEN + DIGEST..).and_then(|rest| rest.get_mut(..digest.len())) {
        place.copy_from_slice(&digest);
    }
}

/// Is the digest of a packet, as it came, that of the key? Sequence numbers are for who has the session.
pub fn verify(packet: &[u8], secret: &[u8]) -> bool {
    expected(packet, secret).is_some_and(|digest| {
        packet.get(HEADER_LEN + DIGEST..).and_then(|rest| rest.get(..digest.len())) == Some(&digest[..])
    })
}
