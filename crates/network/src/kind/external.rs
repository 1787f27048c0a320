//! Somebody else's router, beyond an interface.

use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::description::NodeSpec;
use crate::spec::labels::Labels;
use crate::spec::reference::InterfaceName;
use base::Device;
use base::describe::{Describe, Value};
use base::diagnostic::Diagnostic;
use core::net::Ipv4Addr;
use node::Peer;

/// Somebody else's router. It exists in real time only.
pub const EXTERNAL: NodeKind =
    NodeKind::of::<ExternalSpec>("external", "What is beyond an interface that exists already.");

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

impl Node for ExternalSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.router_id = self.router_id;
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts { router: true, foreign: true, transit: true, signals: true, ..Facts::of("external") }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
