//! Signalling protocols as sans-I/O state machines.

pub mod rsvp;
