//! A raw port: whoever uses the network sends frames there and reads those that come.

use super::{Facts, Node, NodeKind, OwnPart, Tests, nothing_of_its_own};
use crate::Network;
use crate::spec::{KindSpec, labels::Labels};
use base::Device;
use base::diagnostic::Diagnostic;
use node::Peer;

/// A raw port, on one link.
pub const PEER: NodeKind =
    NodeKind { name: "peer", spec: KindSpec::of::<PeerSpec>("A raw port for frames made by hand."), read };

base::record! {
    /// A raw port, on one link.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PeerSpec {
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

fn read(own: OwnPart) -> Result<Box<dyn Node>, Diagnostic> {
    nothing_of_its_own(&own)?;
    Ok(Box::new(PeerNode))
}

struct PeerNode;

impl Node for PeerNode {
    fn facts(&self) -> Facts {
        Facts {
            called: "a raw port".into(),
            router: false,
            foreign: false,
            transit: false,
            // Whoever uses the port may answer as a router does.
            signals: true,
            links_min: 1,
            links_max: Some(1),
            host: None,
            tests: Tests::Nowhere,
        }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
