//! How packets of a session are authenticated (RFC 5880, 6.7).

use super::Discard;
use base::Time;
use wire::bfd::{Algorithm, Auth, Repr, seal, verify};

/// What both ends of a session share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A password that is in every packet (RFC 5880, 6.7.2).
    Simple {
        /// By which number it goes.
        id: u8,
        /// 1 to 16 bytes.
        password: Vec<u8>,
    },
    /// A key of digests (RFC 5880, 6.7.3 and 6.7.4).
    Keyed {
        /// What makes them.
        algorithm: Algorithm,
        /// Does every packet have a sequence number of its own?
        meticulous: bool,
        /// By which number it goes.
        id: u8,
        /// As many bytes as a digest at most.
        secret: Vec<u8>,
    },
}

/// The authentication of one session.
#[derive(Clone, Debug)]
pub(super) struct Authentication {
    key: Option<Key>,
    /// bfd.XmitAuthSeq.
    sent: u32,
    /// bfd.RcvAuthSeq; nothing while bfd.AuthSeqKnown is 0.
    received: Option<u32>,
    /// When that is forgotten.
    pub(super) forget: Option<Time>,
}

impl Authentication {
    /// Numbers begin at a random one (RFC 5880, 6.8.1).
    pub(super) fn new(key: Option<Key>, first: u32) -> Authentication {
        Authentication { key, sent: first, received: None, forget: None }
    }

    /// Is a packet authentic? `bytes` are all of it.
    pub(super) fn take(&mut self, packet: &Repr, bytes: &[u8]) -> Result<(), Discard> {
        match (&self.key, &packet.auth) {
            (None, None) => Ok(()),
            // RFC 5880, 6.8.6: both ends use it, or neither.
            (None, Some(_)) => Err(Discard::Authenticated),
            (Some(_), None) => Err(Discard::Unauthenticated),
            (Some(Key::Simple { id, password }), Some(Auth::Simple { key_id, password: said })) => {
                if key_id == id && said == password { Ok(()) } else { Err(Discard::WrongKey) }
            }
            (
                Some(Key::Keyed { algorithm, meticulous, id, secret }),
                Some(Auth::Keyed { algorithm: their, meticulous: strict, key_id, sequence, .. }),
            ) if (their, strict) == (algorithm, meticulous) => {
                if key_id != id {
                    return Err(Discard::WrongKey);
                }
                // RFC 5880, 6.7.3: circular, three times Detect Mult ahead at most.
                let least = u32::from(*meticulous);
                let most = 3 * u32::from(packet.detect_mult);
                if let Some(last) = self.received
                    && !(least..=most).contains(&sequence.wrapping_sub(last))
                {
                    return Err(Discard::Replayed);
                }
                if !verify(bytes, secret) {
                    return Err(Discard::WrongKey);
                }
                // The RFC believes the first number before the digest; here nobody without the key sets it.
                self.received = Some(*sequence);
                Ok(())
            }
            _ => Err(Discard::WrongType),
        }
    }

    /// The neighbour's numbers are taken from where it begins again (RFC 5880, 6.8.1).
    pub(super) fn expire(&mut self, now: Time) {
        if self.forget.is_some_and(|at| at <= now) {
            (self.received, self.forget) = (None, None);
        }
    }

    /// The bytes of a packet; `is_new` if it does not say the same as the last one.
    pub(super) fn emit(&mut self, mut packet: Repr, is_new: bool) -> Vec<u8> {
        match &self.key {
            None => packet.emit(),
            Some(Key::Simple { id, password }) => {
                packet.auth = Some(Auth::Simple { key_id: *id, password: password.clone() });
                packet.emit()
            }
            Some(Key::Keyed { algorithm, meticulous, id, secret }) => {
                if *meticulous || is_new {
                    self.sent = self.sent.wrapping_add(1);
                }
                packet.auth = Some(Auth::Keyed {
                    algorithm: *algorithm,
                    meticulous: *meticulous,
                    key_id: *id,
                    sequence: self.sent,
                    digest: vec![0; algorithm.digest_len()],
                });
                let mut bytes = packet.emit();
                seal(&mut bytes, secret);
                bytes
            }
        }
    }
}
