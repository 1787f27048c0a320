//! Open vSwitch as a switch of a lab.

use super::{ControllerSpec, FailWord, TlsSpec, VersionWord, check_tls, number};
use crate::Network;
use crate::description::NodeSpec;
use crate::kind::{Facts, Node, NodeKind};
use crate::spec::labels::Labels;
use base::Device;
use base::describe::{Describe, Value};
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use node::Peer;

/// An Open vSwitch; routers and hosts on links to it are in one network. It exists in labs only.
pub const OVS: NodeKind = NodeKind::of::<OvsSpec>(
    "ovs",
    "An Open vSwitch, in labs: routers and hosts on links to it are in one network.",
);

base::record! {
    /// An Open vSwitch of the lab's own: a network namespace with its database and its daemon, whose bridge `br0` has
    /// the userspace datapath. Its ports have the numbers 1, 2 and so on, in the order of links. A link with
    /// `addresses` is none of them: by it the kernel of the namespace talks to controllers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OvsSpec {
        /// The network that all its members are in, such as `10.1.0.0/24`.
        pub prefix: Prefix;
        /// Its controllers: `tcp:ADDRESS:PORT` to connect to, `ptcp:PORT` to listen for; `ssl:ADDRESS:PORT` and
        /// `pssl:PORT` are the same over TLS.
        pub controllers: Vec<ControllerSpec> = Vec::new();
        /// By what it and its controllers know each other over TLS.
        pub tls: Option<TlsSpec>, absent "none of them is over TLS";
        /// What controllers know it by, beyond zero.
        pub datapath_id: Option<u64>, in 1..=9_223_372_036_854_775_807, absent "its place among the nodes";
        /// Versions of OpenFlow that it speaks.
        pub version: VersionWord = VersionWord::default();
        /// What it does while no controller is connected.
        pub fail: FailWord = FailWord::default();
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    check OvsSpec::check;
}

impl OvsSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        check_tls(&self.controllers, self.tls.as_ref())
    }
}

impl Node for OvsSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.number = Some(number(self.datapath_id));
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts { foreign: true, managed: true, ..Facts::segment("an Open vSwitch", self.prefix) }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
