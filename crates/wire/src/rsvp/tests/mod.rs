//! Tests of the RSVP formats.

mod messages;
