//! What users write of the authentication of OSPF packets.

use super::keys::{Keys, TimedAuth};
use crate::lifetimes::{Lifetime, SharedKey, first_gap, keep_last};
use crate::protocol::Agreement;
use base::describe::Describe;
use base::diagnostic::Diagnostic;
use base::{Span, Time};
use wire::ospf::{Algorithm, Auth, Key};

base::problems! {
    /// Problems of the authentication of OSPF.
    pub enum OspfAuthProblem {
        /// A way of authentication that is nothing without a key.
        NoKey { kind: &'static str } is WrongType, "ospf-no-key", "kind={kind}: a 'key' is missing";
        /// A key that nobody uses.
        UnusedKey {} is Conflict, "ospf-unused-key", "kind=none uses no key";
        /// One key beside a list of keys.
        OneAndMany { field: &'static str } is Conflict, "ospf-one-and-many-keys", "'{field}' and 'keys' are both there: one key, or a list of them, would be right";
        /// A key of a list that makes no digests.
        NoDigest { kind: &'static str } is Conflict, "ospf-key-without-digest", "kind={kind} has no numbered keys: md5, sha1, sha256, sha384 or sha512 would be right in a list";
        /// Two keys with one number.
        KeyTwice { key_id: u8 } is Conflict, "ospf-key-twice", "key {key_id} stands in the list already: each key of a link has its own number (RFC 2328, D.3)";
        /// Times of a key that are not in their order.
        KeyTimes { sooner: &'static str, sooner_at: String, later: &'static str, later_at: String } is Conflict, "ospf-key-times", "{later}={later_at} is too early beside {sooner}={sooner_at}: packets with a key are taken before, while and after they are sent with it (RFC 2328, D.3)";
        /// Nothing to send with at the start.
        NoKeyAtStart {} is Conflict, "ospf-no-key-at-start", "no key is there to send with at 0 s: one of them has to have no 'start_generate' and no 'start_accept', or 0 s";
        /// Nothing to send with from the end of a key on.
        KeyGap { at: String } is Conflict, "ospf-key-gap", "no key is there to send with from {at} on: the 'start_generate' of the next key has to be {at} or earlier (RFC 2328, D.3)";
        /// A password that is longer than its field.
        LongPassword { length: usize } is OutOfRange, "ospf-long-password", "{length} bytes: a simple password has 8 at most (RFC 2328, D.2)";
    }
}

base::words! {
    /// How packets are authenticated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AuthKind {
        /// Not at all.
        None = "none",
        /// By a password of up to 8 bytes that everybody on the link can read (RFC 2328, D.2).
        Simple = "simple",
        /// By keyed MD5 (RFC 2328, D.3).
        Md5 = "md5",
        /// By HMAC-SHA-1 (RFC 5709).
        Sha1 = "sha1",
        /// By HMAC-SHA-256 (RFC 5709).
        Sha256 = "sha256",
        /// By HMAC-SHA-384 (RFC 5709).
        Sha384 = "sha384",
        /// By HMAC-SHA-512 (RFC 5709).
        Sha512 = "sha512",
    }
    default None;
}

base::record! {
    /// One of several keys, one after the other (RFC 2328, D.3). Times are those of the run, or of the lab.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OspfKeySpec called "OspfKey" {
        /// Its number, which no other key of the list has.
        pub key_id: u8, in 0..=255;
        /// What makes digests with it: `md5`, `sha1`, `sha256`, `sha384` or `sha512`.
        pub kind: AuthKind;
        /// The secret, as text.
        pub key: String;
        /// From then on packets with it are taken: KeyStartAccept.
        pub start_accept: Option<Span>, in 0..=9_000_000_000_000_000_000, absent "0 s";
        /// From then on packets are sent with it, if no key has begun later: KeyStartGenerate.
        pub start_generate: Option<Span>, in 0..=9_000_000_000_000_000_000, absent "its 'start_accept'";
        /// From then on packets are not sent with it any more: KeyStopGenerate.
        pub stop_generate: Option<Span>, in 0..=9_000_000_000_000_000_000, absent "its 'stop_accept'";
        /// From then on packets with it are not taken any more: KeyStopAccept. The last key is used on when its time is
        /// over.
        pub stop_accept: Option<Span>, in 0..=9_000_000_000_000_000_000, absent "never";
    }
    check OspfKeySpec::check;
}

impl OspfKeySpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if matches!(self.kind, AuthKind::None | AuthKind::Simple) {
            return Err(Diagnostic::new(OspfAuthProblem::NoDigest { kind: self.kind.word() }).at("kind"));
        }
        let Lifetime { start_accept, start_generate, stop_generate, stop_accept } = self.life();
        let times = [
            ("start_accept", start_accept),
            ("start_generate", start_generate),
            ("stop_generate", stop_generate),
            ("stop_accept", stop_accept),
        ];
        // Times that are not said follow from the others: first those that are said are compared.
        let pairs = [(0, 3), (0, 2), (1, 3), (0, 1), (1, 2), (2, 3)];
        let pairs = pairs.map(|(one, other)| {
            let (sooner, later) = (times[one], times[other]);
            // A key may send from the first moment on, and to the last, at which it is taken.
            let may_be_equal = matches!((one, other), (0, 1) | (2, 3));
            (sooner.1 < later.1 || may_be_equal && sooner.1 == later.1, sooner, later)
        });
        let wrong = pairs.into_iter().find(|(is_right, ..)| !is_right);
        let Some((_, (sooner, before), (later, after))) = wrong else { return Ok(()) };
        let (sooner_at, later_at) = (shown(before), shown(after));
        let problem = OspfAuthProblem::KeyTimes { sooner, sooner_at, later, later_at };
        Err(Diagnostic::new(problem).at(if self.says(later) { later } else { sooner }))
    }

    /// Has the user said this time, so that it can be pointed at?
    fn says(&self, field: &str) -> bool {
        match field {
            "start_generate" => self.start_generate.is_some(),
            "stop_generate" => self.stop_generate.is_some(),
            _ => self.stop_accept.is_some(),
        }
    }

    fn life(&self) -> Lifetime {
        let time = |span: Span| Time::ZERO + span;
        let start_accept = self.start_accept.map_or(Time::ZERO, time);
        let stop_accept = self.stop_accept.map_or(Time::MAX, time);
        Lifetime {
            start_accept,
            start_generate: self.start_generate.map_or(start_accept, time),
            stop_generate: self.stop_generate.map_or(stop_accept, time),
            stop_accept,
        }
    }

    /// The same as if it was the only one.
    fn alone(&self) -> OspfAuthSpec {
        let Self { kind, key_id, key, .. } = self.clone();
        OspfAuthSpec { kind, key: Some(key), key_id, keys: Vec::new() }
    }
}

/// A moment as users write it.
fn shown(at: Time) -> String {
    if at == Time::MAX {
        return "never".to_string();
    }
    (at - Time::ZERO).write().as_text().unwrap_or_default().to_string()
}

base::record! {
    /// How OSPF packets are authenticated: with one key, or with a list of them. All routers of a link have to say the
    /// same.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct OspfAuthSpec called "OspfAuthentication" {
        /// By what.
        pub kind: AuthKind = AuthKind::None;
        /// The secret, as text.
        pub key: Option<String>, absent "none";
        /// Number of the key, with MD5 and SHA.
        pub key_id: u8 = OspfAuthSpec::USUAL_ID, in 0..=255;
        /// Several keys with their times, instead of `kind`, `key` and `key_id`: each takes over from the one before,
        /// and no neighbour is lost as long as both ends take both of them meanwhile.
        pub keys: Vec<OspfKeySpec> = Vec::new();
    }
    check OspfAuthSpec::check;
}

impl OspfAuthSpec {
    const USUAL_ID: u8 = 1;

    fn check(&self) -> Result<(), Diagnostic> {
        if !self.keys.is_empty() {
            return self.check_keys();
        }
        match (self.kind, &self.key) {
            (AuthKind::None, None) => Ok(()),
            (AuthKind::None, Some(_)) => {
                Err(Diagnostic::new(OspfAuthProblem::UnusedKey {}).at("key").on_key())
            }
            (kind, None) => Err(OspfAuthProblem::NoKey { kind: kind.word() }.into()),
            (AuthKind::Simple, Some(key)) if key.len() > 8 => {
                Err(Diagnostic::new(OspfAuthProblem::LongPassword { length: key.len() }).at("key"))
            }
            _ => Ok(()),
        }
    }

    fn check_keys(&self) -> Result<(), Diagnostic> {
        let said = [
            ("kind", self.kind != AuthKind::None),
            ("key", self.key.is_some()),
            ("key_id", self.key_id != OspfAuthSpec::USUAL_ID),
        ];
        if let Some((field, _)) = said.into_iter().find(|(_, is_said)| *is_said) {
            return Err(Diagnostic::new(OspfAuthProblem::OneAndMany { field }).at(field).on_key());
        }
        for (place, one) in self.keys.iter().enumerate() {
            let key_id = one.key_id;
            if self.keys[..place].iter().any(|other| other.key_id == key_id) {
                let twice = Diagnostic::new(OspfAuthProblem::KeyTwice { key_id });
                return Err(twice.at("key_id").at(place).at("keys"));
            }
        }
        let lives: Vec<Lifetime> = self.keys.iter().map(OspfKeySpec::life).collect();
        match first_gap(&lives) {
            None => Ok(()),
            Some(Time::ZERO) => Err(Diagnostic::new(OspfAuthProblem::NoKeyAtStart {}).at("keys")),
            Some(at) => Err(Diagnostic::new(OspfAuthProblem::KeyGap { at: shown(at) }).at("keys")),
        }
    }

    /// What both ends of a link have to agree on: the one of a link, or of a virtual link, in these words.
    pub(super) fn agreements(&self, what: [&'static str; 2]) -> Vec<Agreement> {
        let [way, secret] = what;
        let keys = self.shared_keys();
        let mut all = vec![Agreement { what: way, value: self.kind_and_number(), is_secret: false, keys }];
        // Of several, each is compared when it is used.
        let only = match self.keys.as_slice() {
            [only] => Some(&only.key),
            _ => self.key.as_ref(),
        };
        all.extend(only.map(|value| Agreement::secret(secret, value.clone())));
        all
    }

    /// Its keys as the other end has to know them.
    fn shared_keys(&self) -> Vec<SharedKey> {
        let shared = |one: &OspfAuthSpec, life: Lifetime| SharedKey {
            name: one.kind_and_number(),
            secret: one.key.clone().unwrap_or_default(),
            life,
        };
        if matches!(self.auth(), Auth::Cryptographic(_)) {
            return vec![shared(self, Lifetime::ALWAYS)];
        }
        let mut all: Vec<SharedKey> = self.keys.iter().map(|one| shared(&one.alone(), one.life())).collect();
        keep_last(all.iter_mut().map(|one| &mut one.life));
        all
    }

    /// What both ends of a link have to have in common, the secret apart, for people.
    pub(super) fn kind_and_number(&self) -> String {
        if !self.keys.is_empty() {
            let named = self.keys.iter().map(|one| one.alone().kind_and_number());
            return named.collect::<Vec<_>>().join(", then ");
        }
        match self.kind {
            AuthKind::None | AuthKind::Simple => self.kind.word().to_string(),
            kind => format!("{} with key {}", kind.word(), self.key_id),
        }
    }

    /// What interfaces make of it.
    pub(super) fn keys(&self) -> Keys {
        let timed = |one: &OspfKeySpec| TimedAuth { auth: one.alone().auth(), life: one.life() };
        match self.keys.as_slice() {
            [] => Keys::from(self.auth()),
            several => Keys::new(several.iter().map(timed).collect()),
        }
    }

    fn auth(&self) -> Auth {
        let secret = self.key.clone().unwrap_or_default().into_bytes();
        let keyed =
            |algorithm| Auth::Cryptographic(Key { id: self.key_id, algorithm, secret: secret.clone() });
        match self.kind {
            AuthKind::None => Auth::Null,
            AuthKind::Simple => {
                let mut password = [0; 8];
                password.iter_mut().zip(&secret).for_each(|(to, from)| *to = *from);
                Auth::Simple(password)
            }
            AuthKind::Md5 => keyed(Algorithm::Md5),
            AuthKind::Sha1 => keyed(Algorithm::HmacSha1),
            AuthKind::Sha256 => keyed(Algorithm::HmacSha256),
            AuthKind::Sha384 => keyed(Algorithm::HmacSha384),
            AuthKind::Sha512 => keyed(Algorithm::HmacSha512),
        }
    }
}
