//! What users write of BFD at a router.

use super::session::Terms;
use super::{Bfd, Config, Key};
use crate::protocol::{Agreement, Protocol, Setup};
use crate::services::Services;
use base::Span;
use base::describe::Section;
use base::diagnostic::Diagnostic;
use std::sync::Arc;
use wire::Hex;
use wire::bfd::Algorithm;

base::problems! {
    /// Problems of the settings of BFD.
    pub enum BfdProblem {
        /// A way of authentication that is nothing without a key.
        NoKey { kind: &'static str } is WrongType, "bfd-no-key", "kind={kind}: a 'key' is missing";
        /// A key that is said twice.
        TwoKeys {} is Conflict, "bfd-two-keys", "'key' and 'key_hex' are both there: one of them would be right";
        /// A key in digits that are none.
        KeyDigits {} is WrongType, "bfd-key-digits", "pairs of hexadecimal digits would be right, such as 00ff12";
        /// A key that nobody uses.
        UnusedKey {} is Conflict, "bfd-unused-key", "kind=none uses no key";
        /// A key that is longer than its field, or empty.
        KeyLength { length: usize, most: usize, kind: &'static str } is OutOfRange, "bfd-key-length", "{length} bytes: a key of kind={kind} has 1 to {most} (RFC 5880, 6.7)";
    }
}

base::words! {
    /// How packets are authenticated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BfdAuthKind {
        /// Not at all.
        None = "none",
        /// By a password that everybody on the way can read (RFC 5880, 6.7.2).
        Simple = "simple",
        /// By MD5 (RFC 5880, 6.7.3).
        Md5 = "md5",
        /// The same, with a new sequence number in every packet.
        MeticulousMd5 = "meticulous-md5",
        /// By SHA1 (RFC 5880, 6.7.4).
        Sha1 = "sha1",
        /// The same, with a new sequence number in every packet.
        MeticulousSha1 = "meticulous-sha1",
    }
    default None;
}

base::record! {
    /// How packets of BFD are authenticated. Both ends have to say the same.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct BfdAuthSpec called "BfdAuthentication" {
        /// By what.
        pub kind: BfdAuthKind = BfdAuthKind::None;
        /// The secret, as text.
        pub key: Option<String>, absent "none";
        /// The secret as pairs of hexadecimal digits, instead of `key`.
        pub key_hex: Option<String>, absent "none";
        /// Number of the key.
        pub key_id: u8 = 1, in 0..=255;
    }
    check BfdAuthSpec::check;
}

impl BfdAuthSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let most = match self.kind {
            BfdAuthKind::Sha1 | BfdAuthKind::MeticulousSha1 => 20,
            _ => 16,
        };
        let field = if self.key_hex.is_some() { "key_hex" } else { "key" };
        if self.key.is_some() && self.key_hex.is_some() {
            return Err(Diagnostic::new(BfdProblem::TwoKeys {}).at(field).on_key());
        }
        if self.key_hex.is_some() && self.secret().is_none() {
            return Err(Diagnostic::new(BfdProblem::KeyDigits {}).at(field));
        }
        match (self.kind, self.secret()) {
            (BfdAuthKind::None, None) => Ok(()),
            (BfdAuthKind::None, Some(_)) => Err(Diagnostic::new(BfdProblem::UnusedKey {}).at(field).on_key()),
            (kind, None) => Err(BfdProblem::NoKey { kind: kind.word() }.into()),
            (kind, Some(key)) if !(1..=most).contains(&key.len()) => {
                let (length, kind) = (key.len(), kind.word());
                Err(Diagnostic::new(BfdProblem::KeyLength { length, most, kind }).at(field))
            }
            _ => Ok(()),
        }
    }

    /// The secret, if there is one: RFC 5880, 6.7.2 to 6.7.4, has it as text and as hexadecimal digits.
    fn secret(&self) -> Option<Vec<u8>> {
        let text = self.key.as_ref().map(|key| key.clone().into_bytes());
        let digits = self.key_hex.as_ref().and_then(|digits| digits.parse::<Hex>().ok());
        text.or(digits.map(|hex| hex.0))
    }

    fn key(&self) -> Option<Key> {
        let (id, secret) = (self.key_id, self.secret().unwrap_or_default());
        let keyed = |algorithm, meticulous, secret| Key::Keyed { algorithm, meticulous, id, secret };
        match self.kind {
            BfdAuthKind::None => None,
            BfdAuthKind::Simple => Some(Key::Simple { id, password: secret }),
            BfdAuthKind::Md5 => Some(keyed(Algorithm::Md5, false, secret)),
            BfdAuthKind::MeticulousMd5 => Some(keyed(Algorithm::Md5, true, secret)),
            BfdAuthKind::Sha1 => Some(keyed(Algorithm::Sha1, false, secret)),
            BfdAuthKind::MeticulousSha1 => Some(keyed(Algorithm::Sha1, true, secret)),
        }
    }
}

base::record! {
    /// BFD (RFC 5880): true, or how. It watches the neighbours of those protocols of the router that say `bfd`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BfdSpec called "Bfd" {
        /// From a packet to the next, in both directions; the slower of what both ends say. Packets come up to a
        /// quarter earlier. In whole microseconds.
        pub interval: Span = Span::from_ms(300), in 1_000_000_000..=4_000_000_000_000_000;
        /// How often the neighbour may send. Where an LSP ends that another router watches, that router says how often,
        /// and not more often than is said here.
        pub receive_interval: Option<Span>, in 1_000_000_000..=4_000_000_000_000_000, absent "'interval'";
        /// After so many packets that are missing a neighbour is gone.
        pub multiplier: u8 = 3, in 1..=255;
        /// How packets are authenticated.
        pub authentication: BfdAuthSpec = BfdAuthSpec::default();
        /// BFD is part of the forwarding plane, as on a line card: its packets do not wait for the control processor
        /// and cost it nothing, and say that BFD goes on while protocols of the router restart (bit C of RFC 5880,
        /// 4.1). If both ends say so, a neighbour that is lost by BFD while it restarts is not waited for (RFC 5882,
        /// 4.3).
        pub independent: bool = false;
        /// Keep all sessions down. Neighbours are told so, and nobody takes it for a failure.
        pub shutdown: bool = false;
    }
    read by switch;
}

/// A time as packets have it: what is less than a microsecond counts as one.
pub(super) fn microseconds(span: Span) -> u32 {
    u32::try_from(span.0 / Span::from_us(1).0).unwrap_or(u32::MAX).max(1)
}

impl Setup for BfdSpec {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        let config = Config {
            terms: Terms {
                send_us: microseconds(self.interval),
                receive_us: microseconds(self.receive_interval.unwrap_or(self.interval)),
                multiplier: self.multiplier,
            },
            least_us: self.receive_interval.map_or(1, microseconds),
            key: self.authentication.key(),
            is_independent: self.independent,
            is_shut: self.shutdown,
        };
        Box::new(Bfd::new(config))
    }

    /// The same with everybody (RFC 5880, 6.8.6).
    fn agreements_with(&self, _: &str) -> Vec<Agreement> {
        let said = &self.authentication;
        let way = match said.kind {
            BfdAuthKind::None => said.kind.word().to_string(),
            kind => format!("{} with key {}", kind.word(), said.key_id),
        };
        let secret = said.secret().map_or_else(String::new, |secret| Hex(secret).to_string());
        vec![Agreement::open("authentication", way), Agreement::secret("secret of the key", secret)]
    }
}

impl Section<dyn Setup> for BfdSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
