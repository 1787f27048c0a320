//! What users write at an LSP, or at a protocol that gives labels, that is to have LSPs watched by LSP ping.

use super::{Pace, Watcher};
use base::Span;
use base::describe::{Describe, Named, Record, RecordSchema, Schema, Schemas, Value, wrong_type};
use base::diagnostic::Diagnostic;

base::problems! {
    /// Problems of LSPs that are watched.
    pub enum WatchProblem {
        /// Two who would watch one LSP.
        Twice { bfd: &'static str } is Conflict, "lsp-watched-twice", "'lsp_ping' and '{bfd}' are both there: one of them would be right, since BFD has LSP ping verify its LSPs already";
    }
}

base::record! {
    /// How closely LSP ping watches an LSP (RFC 8029).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LspPingPaceSpec called "LspPingPace" {
        /// From a request to the next. A reply that comes later is missing.
        pub interval: Span = Span::from_secs(1), in 10_000_000_000..=4_000_000_000_000_000;
        /// After so many requests in a row without a reply the LSP is down.
        pub misses: u8 = 3, in 1..=255;
    }
}

/// Is an LSP to be watched by LSP ping: `true`, or how closely?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PingSpec(pub Option<LspPingPaceSpec>);

impl PingSpec {
    const USUAL: LspPingPaceSpec = LspPingPaceSpec { interval: Span::from_secs(1), misses: 3 };

    /// For the service, beside what is said of BFD under the name `bfd`: by one of them an LSP is watched, or by none.
    pub fn or_bfd(self, other: Option<Pace>) -> Option<Pace> {
        let ping = self.0.map(|LspPingPaceSpec { interval, misses }| Pace {
            interval: Some(interval),
            multiplier: Some(misses),
            by: Watcher::LspPing,
        });
        other.or(ping)
    }

    /// Refuses a description that asks for LSP ping and BFD at once: one of them watches.
    pub fn check_alone(self, bfd: &'static str, other: Option<Pace>) -> Result<(), Diagnostic> {
        match (self.0, other) {
            (Some(_), Some(_)) => Err(Diagnostic::new(WatchProblem::Twice { bfd }).at("lsp_ping").on_key()),
            _ => Ok(()),
        }
    }
}

impl Describe for PingSpec {
    fn read(value: &Value) -> Result<PingSpec, Diagnostic> {
        match value {
            Value::Bool(true) => Ok(PingSpec(Some(PingSpec::USUAL))),
            Value::Bool(false) | Value::Null => Ok(PingSpec(None)),
            Value::Map(_) => Ok(PingSpec(Some(LspPingPaceSpec::read_record(value, "")?))),
            other => Err(wrong_type(other, "true, false, or a mapping")),
        }
    }
    fn write(&self) -> Value {
        match self.0 {
            None => Value::Bool(false),
            Some(PingSpec::USUAL) => Value::Bool(true),
            Some(pace) => pace.write_record(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("LspPingPace", |known| {
            Named::Record(RecordSchema { short: vec![Schema::Bool], ..LspPingPaceSpec::record_schema(known) })
        })
    }
    fn absent() -> Option<PingSpec> {
        Some(PingSpec(None))
    }
}
