//! An IP host as a node: in virtual time a device that answers ARP and ping and sends and takes flows; in real time a real host beyond an
//! interface, unless it is asked for in the process too.

use crate::station::Station;
use base::device::DropCounters;
use base::{Device, NodeId};
use engine::World;
use network::Network;
use network::kind::{Facts, HostFacts, Node, NodeKind, OwnPart, Tests, read_own};
use node::Host;

/// An IP host, on one link or several, to routers.
pub const HOST: NodeKind = NodeKind { name: "host", read };

fn read(own: OwnPart) -> Result<Box<dyn Node>, String> {
    Ok(Box::new(HostNode(read_own(own)?)))
}

/// The host with the addresses that a description gives it, which is all that it says of a host alone.
struct HostNode(HostFacts);

impl Node for HostNode {
    fn facts(&self) -> Facts {
        Facts {
            called: "a host".into(),
            router: false,
            foreign: false,
            transit: false,
            signals: false,
            links_min: 1,
            links_max: None,
            host: Some(self.0),
            tests: Tests::Within,
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        Box::new(Station::new(Host::new(network.host_config(node))))
    }

    fn host<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Host> {
        Some(world.device::<Station>(id)?.host())
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        Some(world.device::<Station>(id)?.drops())
    }
}
