//! What the protocols of a node share.

mod interfaces;
pub mod sessions;

pub use interfaces::{Interface, Interfaces};
pub use sessions::Sessions;

use base::Streams;

/// The services of one node.
#[derive(Debug)]
pub struct Services {
    /// The node and its interfaces.
    pub interfaces: Interfaces,
    /// Random streams of the run; a protocol names its own after the node.
    pub streams: Streams,
    /// TCP connections, and UDP datagrams that the tables route.
    pub sessions: Sessions,
}

impl Services {
    /// The services of a node with these interfaces, as it starts.
    pub fn new(interfaces: Interfaces, streams: Streams) -> Services {
        let sessions = Sessions::new(&interfaces.node, streams);
        Services { interfaces, streams, sessions }
    }
}
