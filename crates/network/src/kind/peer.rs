//! A raw port: whoever uses the network sends frames there and reads those that come.

use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::spec::labels::Labels;
use base::Device;
use base::describe::{Describe, Value};
use node::Peer;

/// A raw port, on one link.
pub const PEER: NodeKind = NodeKind::of::<PeerSpec>("peer", "A raw port for frames made by hand.");

base::record! {
    /// A raw port, on one link.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PeerSpec {
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl Node for PeerSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts {
            // Whoever uses the port may answer as a router does.
            signals: true,
            links_min: 1,
            links_max: Some(1),
            ..Facts::of("a raw port")
        }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
