//! Somebody else's router, beyond an interface.

use super::{Facts, Node, NodeKind, OwnPart, Tests, nothing_of_its_own};
use crate::Network;
use crate::spec::reference::InterfaceName;
use crate::spec::{KindSpec, labels::Labels};
use base::Device;
use base::diagnostic::Diagnostic;
use core::net::Ipv4Addr;
use node::Peer;

/// Somebody else's router. It exists in real time only.
pub const EXTERNAL: NodeKind = NodeKind {
    name: "external",
    spec: KindSpec::of::<ExternalSpec>("What is beyond an interface that exists already."),
    read,
};

base::record! {
    /// Somebody else's router beyond an interface that exists already, or beyond several.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExternalSpec {
        /// The interface, used where it is.
        pub interface: Option<InterfaceName>, absent "the one that the endpoint names";
        /// Its router id: an LSP to it needs one.
        pub router_id: Option<Ipv4Addr>;
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

fn read(own: OwnPart) -> Result<Box<dyn Node>, Diagnostic> {
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
