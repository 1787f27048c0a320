//! What users write at a protocol that is to have its neighbours watched.

use super::{Pace, Watcher};
use base::Span;
use base::describe::{Describe, Named, Record, RecordSchema, Schema, Schemas, Value, wrong_type};
use base::diagnostic::Diagnostic;

base::record! {
    /// How closely a protocol wants neighbours watched by BFD (RFC 5882). Of protocols that share a neighbour the one
    /// that wants it most closely counts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WatchPaceSpec called "BfdPace" {
        /// From a packet to the next.
        pub interval: Option<Span>, in 1_000_000_000..=4_000_000_000_000_000, absent "as in the router's 'bfd'";
        /// After so many packets that are missing a neighbour is gone.
        pub multiplier: Option<u8>, in 1..=255, absent "as in the router's 'bfd'";
    }
}

/// Are neighbours to be watched: `true`, or how closely?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchSpec(pub Option<Pace>);

impl Describe for WatchSpec {
    fn read(value: &Value) -> Result<WatchSpec, Diagnostic> {
        match value {
            Value::Bool(true) => Ok(WatchSpec(Some(Pace::default()))),
            Value::Bool(false) | Value::Null => Ok(WatchSpec(None)),
            Value::Map(_) => {
                let WatchPaceSpec { interval, multiplier } = WatchPaceSpec::read_record(value, "")?;
                Ok(WatchSpec(Some(Pace { interval, multiplier, by: Watcher::Bfd })))
            }
            other => Err(wrong_type(other, "true, false, or a mapping")),
        }
    }
    fn write(&self) -> Value {
        match self.0 {
            None => Value::Bool(false),
            Some(pace) if pace == Pace::default() => Value::Bool(true),
            Some(Pace { interval, multiplier, .. }) => WatchPaceSpec { interval, multiplier }.write_record(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("BfdPace", |known| {
            Named::Record(RecordSchema { short: vec![Schema::Bool], ..WatchPaceSpec::record_schema(known) })
        })
    }
    fn absent() -> Option<WatchSpec> {
        Some(WatchSpec(None))
    }
}
