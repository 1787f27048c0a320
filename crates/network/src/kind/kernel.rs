//! Routers that a lab makes of a kernel and the daemons of somebody else.

use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::description::NodeSpec;
use crate::spec::labels::Labels;
use base::Device;
use base::describe::{Describe, Value};
use base::diagnostic::Diagnostic;
use core::net::Ipv4Addr;
use node::Peer;

/// A router of FRRouting. It exists in labs only.
pub const FRR: NodeKind = NodeKind::of::<FrrSpec>("frr", "A router of FRRouting's daemons, in labs.");

/// A router of BIRD. It exists in labs only.
pub const BIRD: NodeKind = NodeKind::of::<BirdSpec>("bird", "A router of BIRD 2, in labs.");

base::record! {
    /// A router of FRRouting: in a lab a network namespace whose kernel forwards, with the daemons in it. Without a
    /// configuration it is set up to be a neighbour of the routers on its links.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FrrSpec {
        /// Its configuration (`frr.conf`), a file beside this one. What is in it says which daemons are started.
        pub config: Option<String>, absent "made of what its neighbours say";
        /// Its address on `lo`, and the number that others know it by.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

base::record! {
    /// A router of BIRD 2: in a lab a network namespace whose kernel forwards, with BIRD in it. Without a configuration
    /// it is set up to be a neighbour of the routers on its links.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BirdSpec {
        /// Its configuration (`bird.conf`), a file beside this one.
        pub config: Option<String>, absent "made of what its neighbours say";
        /// Its address on `lo`, and the number that others know it by.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

/// What is the same of all of them. None signals with RSVP-TE.
fn facts(called: &'static str, configured: bool) -> Facts {
    Facts { router: true, foreign: true, kernel: true, configured, transit: true, ..Facts::of(called) }
}

impl Node for FrrSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.router_id = self.router_id;
        Ok(())
    }

    fn facts(&self) -> Facts {
        facts("a router of FRR", self.config.is_some())
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}

impl Node for BirdSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.router_id = self.router_id;
        Ok(())
    }

    fn facts(&self) -> Facts {
        facts("a router of BIRD", self.config.is_some())
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
