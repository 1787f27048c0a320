//! RSVP-TE of a node as users write it. What is absent is as the RFCs recommend.

use super::protection::ProtectionMode;
use base::Span;
use base::describe::{Describe, Ranged, Schema, Schemas, Value};
use base::diagnostic::Diagnostic;
use base::plane::TtlModel;
use control::rsvp::Remerge;
use control::services::WatchSpec;

base::words! {
    /// Which label an egress asks for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EgressLabel {
        /// A label of its own, which it pops.
        Real = "real",
        /// Implicit null: penultimate-hop popping.
        ImplicitNull = "implicit-null",
        /// Explicit null.
        ExplicitNull = "explicit-null",
    }
    default Real;
}

/// Interval of Hellos, or none are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloSpec(pub Option<Span>);

impl Describe for HelloSpec {
    fn read(value: &Value) -> Result<HelloSpec, Diagnostic> {
        if value.as_text() == Some("none") {
            return Ok(HelloSpec(None));
        }
        let interval = Span::read(value)?;
        interval.check_range(1, i128::from(i64::MAX))?;
        Ok(HelloSpec(Some(interval)))
    }
    fn write(&self) -> Value {
        self.0.map_or_else(|| "none".into(), |interval| interval.write())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Schema::Text { form: "none", pattern: Some("^none$") }, Span::schema(known)])
    }
}

base::record! {
    /// Signalling of a router.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RsvpSpec {
        /// Refresh period R (RFC 2205, 3.7).
        pub refresh: Option<Span>, in 1..=9_000_000_000_000_000_000, absent "30 s";
        /// Interval of Hellos (RFC 3209, 5), or `none`: by them neighbours see at once that a router came back without
        /// its state.
        pub hello: Option<HelloSpec>, absent "9 s in a lab, else none", was "hello_interval";
        /// Have neighbours watched by BFD (RFC 5882): true, or how closely. LSPs over one that does not answer any more
        /// are given up, as without Hellos.
        pub bfd: WatchSpec, absent "false";
        /// How it protects LSPs that ask for it: by bypass tunnels that it makes itself (`facility`), or by those only
        /// that are `declared`.
        pub protection: ProtectionMode = ProtectionMode::Declared;
        /// How long a link has to be back before LSPs that went around it are signalled along it again by this router
        /// (local reversion; RFC 4090, 6.5.2).
        pub reversion: Option<Span>, in 1..=9_000_000_000_000_000_000, absent "head ends move them";
        /// Summary refresh and message ids (RFC 2961).
        pub refresh_reduction: bool = false;
        /// Send ADSPEC, what the way has to offer (RFC 2210, 3.3), with LSPs that begin here. Other routers may refuse
        /// LSPs without it.
        pub adspec: bool = true;
        /// Give LSPs that begin here different LSP ids, whatever tunnel they belong to: for routers on the way that
        /// take LSPs of one sender with the same LSP id for one.
        pub distinct_lsp_ids: bool = false;
        /// What it does where branches of a point-to-multipoint LSP meet again (RFC 4875, 18.1.1).
        pub remerge: Remerge = Remerge::Refuse;
        /// How long a head end waits for the first Resv.
        pub setup_timeout: Option<Span>, in 1..=9_000_000_000_000_000_000, absent "90 s";
        /// Which label it asks for where an LSP ends.
        pub egress_label: EgressLabel = EgressLabel::Real;
        /// TTL model (RFC 3443).
        pub ttl: TtlModel = TtlModel::Uniform;
        /// Secret of INTEGRITY objects (RFC 2747) on all interfaces, as text.
        pub key: Option<String>, absent "no INTEGRITY objects", was "rsvp_key";
        /// Number of that key, 48 bits (RFC 2747, 2).
        pub key_id: u64 = 0, in 0..=281_474_976_710_655, was "rsvp_key_id";
        /// Ask senders for their sequence number before believing one (RFC 2747, 4.3).
        pub handshake: bool = false, was "rsvp_handshake";
    }
}

impl Default for RsvpSpec {
    fn default() -> RsvpSpec {
        RsvpSpec {
            refresh: None,
            hello: None,
            bfd: WatchSpec::default(),
            protection: ProtectionMode::Declared,
            reversion: None,
            refresh_reduction: false,
            adspec: true,
            distinct_lsp_ids: false,
            remerge: Remerge::Refuse,
            setup_timeout: None,
            egress_label: EgressLabel::Real,
            ttl: TtlModel::Uniform,
            key: None,
            key_id: 0,
            handshake: false,
        }
    }
}
