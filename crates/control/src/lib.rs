//! Signalling protocols as sans-I/O state machines.
//!
//! - [`rsvp`]: RSVP-TE, a label-switching and label-edge router for point-to-point tunnels
//! - [`rib`]: the control plane's own routing table
//!
//! A protocol takes messages, commands, acknowledgements and the time; it gives messages, table writes and events. It
//! opens no socket, reads no clock and sees no forwarding table.

pub mod rib;
pub mod rsvp;
