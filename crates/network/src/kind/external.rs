//! Somebody else's router, beyond an interface.

use super::{Facts, Node, NodeKind, OwnPart, Tests, nothing_of_its_own};
use crate::Network;
use base::Device;
use node::Peer;

/// Somebody else's router. It exists in real time only.
pub const EXTERNAL: NodeKind = NodeKind { name: "external", read };

fn read(own: OwnPart) -> Result<Box<dyn Node>, String> {
    nothing_of_its_own(&own)?;
    Ok(Box::new(ExternalNode))
}

struct ExternalNode;

impl Node for ExternalNode {
    fn facts(&self) -> Facts {
        Facts {
            called: "external".into(),
            router: true,
            foreign: true,
            transit: true,
            signals: true,
            links_min: 0,
            links_max: None,
            host: None,
            tests: Tests::Nowhere,
        }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
