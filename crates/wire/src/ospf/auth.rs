//! Authentication of packets: none, a password, keyed MD5 (RFC 2328, D) and HMAC-SHA (RFC 5709).

use super::header::packet_checksum;
use super::{AU_CRYPTOGRAPHIC, AU_NULL, AU_SIMPLE, HEADER_LEN, Header, LAYER, word};
use crate::error::{Error, Reason, need};
use hmac::digest::Digest;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

/// What makes a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// MD5 over the packet and the key (RFC 2328, D.4.3).
    Md5,
    /// HMAC-SHA-1 (RFC 5709, 3.3).
    HmacSha1,
    /// HMAC-SHA-256 (RFC 5709, 3.3).
    HmacSha256,
    /// HMAC-SHA-384 (RFC 5709, 3.3).
    HmacSha384,
    /// HMAC-SHA-512 (RFC 5709, 3.3).
    HmacSha512,
}

impl Algorithm {
    /// Bytes of its digest.
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Md5 => 16,
            Algorithm::HmacSha1 => 20,
            Algorithm::HmacSha256 => 32,
            Algorithm::HmacSha384 => 48,
            Algorithm::HmacSha512 => 64,
        }
    }
}

/// A key that both ends of a link have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// By which number packets name it.
    pub id: u8,
    /// What makes the digest.
    pub algorithm: Algorithm,
    /// What nobody else knows.
    pub secret: Vec<u8>,
}

/// How the packets of a link are authenticated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// Not at all; the checksum finds accidents.
    #[default]
    Null,
    /// By a password that everybody on the link can read.
    Simple([u8; 8]),
    /// By a digest behind the packet.
    Cryptographic(Key),
}

/// RFC 5709, 3.3: what stands in the place of the digest while it is made.
const APAD: [u8; 4] = [0x87, 0x8f, 0xe1, 0xf3];

impl Auth {
    /// How many bytes it appends to a packet.
    pub fn trailer_len(&self) -> usize {
        match self {
            Auth::Null | Auth::Simple(_) => 0,
            Auth::Cryptographic(key) => key.algorithm.digest_len(),
        }
    }

    /// Authenticates a whole packet whose checksum and authentication are not filled in (RFC 2328, D.4). The sequence
    /// number is that of cryptographic authentication and never goes back.
    pub fn seal(&self, packet: &mut Vec<u8>, sequence: u32) {
        if packet.len() < HEADER_LEN {
            return;
        }
        packet[12..HEADER_LEN].fill(0);
        match self {
            Auth::Null | Auth::Simple(_) => {
                let au_type = if *self == Auth::Null { AU_NULL } else { AU_SIMPLE };
                packet[14..16].copy_from_slice(&au_type.to_be_bytes());
                let checksum = packet_checksum(packet);
                packet[12..14].copy_from_slice(&checksum.to_be_bytes());
                if let Auth::Simple(password) = self {
                    packet[16..HEADER_LEN].copy_from_slice(password);
                }
            }
            Auth::Cryptographic(key) => {
                packet[14..16].copy_from_slice(&AU_CRYPTOGRAPHIC.to_be_bytes());
                packet[18..20].copy_from_slice(&[key.id, key.algorithm.digest_len() as u8]);
                packet[20..HEADER_LEN].copy_from_slice(&sequence.to_be_bytes());
                let digest = key.digest(packet);
                packet.extend(digest);
            }
        }
    }

    /// Checks a packet, with what is behind it, against what is expected on its link (RFC 2328, D.5). The result is the
    /// sequence number of cryptographic authentication, which the caller compares with the last one.
    pub fn verify(&self, header: &Header, data: &[u8]) -> Result<Option<u32>, Error> {
        let (found, expected) = (header.au_type, self.au_type());
        if found != expected {
            let (found, expected) = (found.into(), expected.into());
            return Err(Error::new(LAYER, 14, Reason::Unexpected { field: "AuType", found, expected }));
        }
        let length = usize::from(header.length);
        need(LAYER, length, data.len())?;
        let packet = &data[..length];
        let Auth::Cryptographic(key) = self else {
            let computed = packet_checksum(packet);
            if header.checksum != computed {
                return Err(Error::new(LAYER, 12, Reason::Checksum { found: header.checksum, computed }));
            }
            return match self {
                Auth::Simple(password) if *password != header.authentication => {
                    Err(Error::invalid(LAYER, 16, "the password is another"))
                }
                _ => Ok(None),
            };
        };
        let [_, _, id, len, ..] = header.authentication;
        if id != key.id {
            let (found, expected) = (id.into(), key.id.into());
            return Err(Error::new(LAYER, 18, Reason::Unexpected { field: "Key ID", found, expected }));
        }
        let wanted = key.algorithm.digest_len();
        if usize::from(len) != wanted {
            let (found, expected) = (len.into(), wanted as u64);
            let reason = Reason::Unexpected { field: "authentication length", found, expected };
            return Err(Error::new(LAYER, 19, reason));
        }
        need(LAYER, length + wanted, data.len())?;
        let differ = key.digest(packet).iter().zip(&data[length..]).fold(0, |all, (a, b)| all | (a ^ b));
        if differ != 0 {
            let clause = "the digest is not that of the packet under this key";
            return Err(Error::invalid(LAYER, length, clause));
        }
        Ok(Some(word(&header.authentication, 4)))
    }

    /// Its number in the header.
    pub const fn au_type(&self) -> u16 {
        match self {
            Auth::Null => AU_NULL,
            Auth::Simple(_) => AU_SIMPLE,
            Auth::Cryptographic(_) => AU_CRYPTOGRAPHIC,
        }
    }
}

impl Key {
    fn digest(&self, packet: &[u8]) -> Vec<u8> {
        match self.algorithm {
            Algorithm::Md5 => {
                // RFC 2328, D.4.3: the key is padded to sixteen bytes and stands behind the packet.
                let mut padded = [0; 16];
                let len = self.secret.len().min(padded.len());
                padded[..len].copy_from_slice(&self.secret[..len]);
                Md5::new().chain_update(packet).chain_update(padded).finalize().to_vec()
            }
            Algorithm::HmacSha1 => self.hmac::<Hmac<Sha1>, Sha1>(packet),
            Algorithm::HmacSha256 => self.hmac::<Hmac<Sha256>, Sha256>(packet),
            Algorithm::HmacSha384 => self.hmac::<Hmac<Sha384>, Sha384>(packet),
            Algorithm::HmacSha512 => self.hmac::<Hmac<Sha512>, Sha512>(packet),
        }
    }

    /// RFC 5709, 3.3: a key longer than the digest is hashed first.
    fn hmac<M: Mac + KeyInit, H: Digest>(&self, packet: &[u8]) -> Vec<u8> {
        let len = self.algorithm.digest_len();
        let hashed: Vec<u8>;
        let secret = if self.secret.len() > len {
            hashed = H::digest(&self.secret).to_vec();
            &hashed
        } else {
            &self.secret
        };
        // HMAC takes a key of any length.
        let Ok(mut mac) = <M as KeyInit>::new_from_slice(secret) else { return vec![0; len] };
        mac.update(packet);
        mac.update(&APAD.repeat(len / APAD.len()));
        mac.finalize().into_bytes().to_vec()
    }
}
