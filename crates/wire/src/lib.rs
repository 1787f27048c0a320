//! Wire formats: a checked view over bytes and a Repr that parses and emits, one file per protocol.

pub mod rsvp;
