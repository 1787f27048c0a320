//! What the protocols of a node share.

mod interfaces;

pub use interfaces::{Interface, Interfaces};

use base::Streams;

/// The services of one node.
#[derive(Clone, Debug)]
pub struct Services {
    /// The node and its interfaces.
    pub interfaces: Interfaces,
    /// Random streams of the run; a protocol names its own after the node.
    pub streams: Streams,
}
