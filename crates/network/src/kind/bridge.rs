//! A shared segment: a bridge, of which each member has a link.

use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::spec::labels::Labels;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::plane::Prefix;
use base::{Device, NodeId, Span};
use engine::World;
use node::{Bridge, BridgeConfig, bridge};

/// A bridge; routers and hosts on links to it are in one network.
pub const BRIDGE: NodeKind = NodeKind::of::<BridgeSpec>(
    "bridge",
    "A shared segment: routers and hosts on links to it are in one network.",
);

base::record! {
    /// A shared segment: a learning bridge without spanning tree (IEEE 802.1D). Routers on links to it have the lowest
    /// free addresses of its prefix, in the order of links; hosts have those that they say.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BridgeSpec {
        /// The network that all its members are in, such as `10.1.0.0/24`.
        pub prefix: Prefix;
        /// How long it remembers by which port a silent station is.
        pub ageing: Span = bridge::AGEING;
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl Node for BridgeSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts::segment("a bridge", self.prefix)
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        let ports = network.links().iter().filter(|link| link.ends().contains(&node)).count() as u16;
        Box::new(Bridge::new(BridgeConfig { ports, ageing: self.ageing }))
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        world.device::<Bridge>(id).map(|bridge| bridge.drops().clone())
    }
}
