//! RSVP-TE (RFC 2205, 3209).
//!
//! - [`transport`]: what lies below the LSP state machine, for each neighbour

pub mod transport;
