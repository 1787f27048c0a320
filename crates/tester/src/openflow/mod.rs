//! A tester of OpenFlow switches: a controller that also has two data ports, as the published study of switches behind
//! a hardware abstraction layer has it.
//!
//! - [`settings`]: what is tested, and with what
//! - [`packets`]: test packets, and the entries that they match; [`messages`]: what the controller sends
//! - [`Machine`]: the tests, without any I/O; [`report`]: what they found
//! - [`device`]: the machine at a node, with a network stack for its channel
//!
//! Drain order of the machine: after each call that takes a time, [`Machine::poll`] until it returns nothing, then
//! [`Machine::poll_timeout`].

pub mod device;
mod input;
mod machine;
mod messages;
mod packets;
pub mod report;
pub mod settings;
#[cfg(test)]
mod tests;

pub use device::OpenFlowTester;
pub use machine::{Action, Machine};
pub use report::{Report, Round};
pub use settings::{Settings, Spoken, Test};
