//! What users write of the authentication of OSPF packets.

use base::diagnostic::Diagnostic;
use wire::ospf::{Algorithm, Auth, Key};

base::problems! {
    /// Problems of the authentication of OSPF.
    pub enum OspfAuthProblem {
        /// A way of authentication that is nothing without a key.
        NoKey { kind: &'static str } is WrongType, "ospf-no-key", "kind={kind}: a 'key' is missing";
        /// A key that nobody uses.
        UnusedKey {} is Conflict, "ospf-unused-key", "kind=none uses no key";
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
    /// How OSPF packets are authenticated. All routers of a link have to say the same.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct OspfAuthSpec called "OspfAuthentication" {
        /// By what.
        pub kind: AuthKind = AuthKind::None;
        /// The secret, as text.
        pub key: Option<String>, absent "none";
        /// Number of the key, with MD5 and SHA.
        pub key_id: u8 = 1, in 0..=255;
    }
    check OspfAuthSpec::check;
}

impl OspfAuthSpec {
    fn check(&self) -> Result<(), Diagnostic> {
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

    /// What both ends of a link have to have in common, the secret apart, for people.
    pub(super) fn kind_and_number(&self) -> String {
        match self.kind {
            AuthKind::None | AuthKind::Simple => self.kind.word().to_string(),
            kind => format!("{} with key {}", kind.word(), self.key_id),
        }
    }

    pub(super) fn auth(&self) -> Auth {
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
