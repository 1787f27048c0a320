//! Conditioners: what is metered, marked and policed at an ingress port, or before an egress queue (RFC 2475, 2.3.3).

pub mod spec;

pub use spec::{ActionSpec, ConditionerSpec, MeterSpec, RuleSpec};
