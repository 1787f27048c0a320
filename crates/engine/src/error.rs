//! What can go wrong when a network is built or run.

use crate::capture::CaptureError;
use base::{LinkId, NodeId, PortId, Time};
use thiserror::Error;

/// Why the engine can't do as asked. The network is as it was before, unless the variant says otherwise.
#[derive(Debug, Error)]
pub enum EngineError {
    /// No device has this number.
    #[error("no node {}: the network has {count}", .node.0)]
    UnknownNode {
        /// The number asked for, not below `count`.
        node: NodeId,
        /// Devices of the network; their numbers begin at 0.
        count: usize,
    },
    /// No link has this number.
    #[error("no link {}: the network has {count}", .link.0)]
    UnknownLink {
        /// The number asked for, not below `count`.
        link: LinkId,
        /// Links of the network; their numbers begin at 0.
        count: usize,
    },
    /// The device has no such port.
    #[error("node {} has no port {}: it has {count}", .node.0, .port.0)]
    UnknownPort {
        /// The device that was asked for the port.
        node: NodeId,
        /// The number asked for, not below `count`.
        port: PortId,
        /// Ports of the device; their numbers begin at 0.
        count: usize,
    },
    /// The device has as many ports as can be numbered.
    #[error("node {} has 65536 ports already", .node.0)]
    TooManyPorts {
        /// The device that was to get one more port.
        node: NodeId,
    },
    /// Something was asked for at a time that has passed.
    #[error("{what} at {at}: it is {now} already")]
    TimePassed {
        /// What was asked for, in the words of the message.
        what: &'static str,
        /// The time asked for, before `now`.
        at: Time,
        /// The time that the run has reached.
        now: Time,
    },
    /// A parameter outside its range.
    #[error("{what} is {value}: it must be {range}")]
    OutOfRange {
        /// The parameter, in the words of the message.
        what: &'static str,
        /// The value that was given.
        value: String,
        /// The range of the parameter, in the words of the message.
        range: &'static str,
    },
    /// The medium of a link can't be changed once the link has carried frames.
    #[error("link {}: it has carried frames, and keeps its medium", .link.0)]
    LinkInUse {
        /// The link that was to get another medium.
        link: LinkId,
    },
    /// Queue disciplines can't be put at a port that is in use.
    #[error("node {} port {}: it has sent frames, or has queue disciplines already", .node.0, .port.0)]
    QueueInUse {
        /// The device whose port it is.
        node: NodeId,
        /// The port, which has sent a frame or has queue disciplines already.
        port: PortId,
    },
    /// A device panicked. It takes part no more, as if switched off; the rest of the network can run on.
    #[error("node {} panicked at {at}: {message}", .node.0)]
    DevicePanicked {
        /// The device; its number, not its name.
        node: NodeId,
        /// The time of the call in which it panicked.
        at: Time,
        /// The text of the panic.
        message: String,
    },
    /// A capture failed; the run can go on without it.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A recording can't be written; the run can go on without it.
    #[error("recording: {0}")]
    Recording(std::io::Error),
    /// An interface of an external port failed; its own error says which and how.
    #[error(transparent)]
    Port(#[from] crate::external::PortError),
    /// A device asks again and again to be called at the same time. It takes part no more.
    #[error("node {} does not let time pass: {calls} timeouts at {at}", .node.0)]
    Livelock {
        /// The device; its number, not its name.
        node: NodeId,
        /// The time at which it stands.
        at: Time,
        /// How often it was called without time passing.
        calls: u32,
    },
}

/// An error unless `holds`.
pub(crate) fn check(
    holds: bool,
    what: &'static str,
    value: impl core::fmt::Debug,
    range: &'static str,
) -> Result<(), EngineError> {
    if holds { Ok(()) } else { Err(EngineError::OutOfRange { what, value: format!("{value:?}"), range }) }
}
