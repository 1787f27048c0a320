//! A label-switching router.

use super::{Facts, Node, NodeKind, OwnPart, Tests, nothing_of_its_own};
use crate::Network;
use base::{Device, NodeId};
use engine::World;
use node::Router;

/// A label-switching router, with a port beside it for test packets.
pub const ROUTER: NodeKind = NodeKind { name: "router", read };

fn read(own: OwnPart) -> Result<Box<dyn Node>, String> {
    nothing_of_its_own(&own)?;
    Ok(Box::new(RouterNode))
}

struct RouterNode;

impl Node for RouterNode {
    fn facts(&self) -> Facts {
        Facts {
            called: "a router".into(),
            router: true,
            foreign: false,
            transit: true,
            signals: true,
            links_min: 0,
            links_max: None,
            host: None,
            tests: Tests::Beside,
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        Box::new(network.fresh_router(node))
    }

    fn router<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Router> {
        world.device(id)
    }

    fn router_mut<'a>(&self, world: &'a mut World, id: NodeId) -> Option<&'a mut Router> {
        world.device_mut(id)
    }
}
