//! The clock on the wall: the same [`crate::World`], driven by time that passes by itself.
//!
//! Events happen at the times at which they are due, as in virtual time; only that they do so a little later than
//! that is new, and is measured ([`Lateness`]). Ports that lead out of the world are attached to interfaces
//! ([`crate::external`]).

mod attached_port;
mod lateness;
mod runner;

pub use crate::external::Clock;
pub use lateness::Lateness;
pub use runner::{Control, PortChange, PortState, PortView, Runner, pin};
