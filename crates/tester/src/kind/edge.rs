//! The tester's emulated label edge router as a node.

use crate::edge::Edge;
use crate::programme::Step;
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::{Device, NodeId};
use core::net::Ipv4Addr;
use engine::World;
use network::Network;
use network::kind::{Facts, Node, NodeKind, OwnPart, Tests, Tunnel, read_own};
use network::spec::link::Driver;
use network::spec::placed::Ports;
use network::spec::rsvp::RsvpSpec;
use network::spec::{KindSpec, labels::Labels};
use node::Router;
use serde::Deserialize;

/// The tester's emulated label edge router, on one link: it signals the LSPs that begin there by its programme.
pub const EDGE: NodeKind = NodeKind {
    name: "edge",
    spec: KindSpec::of::<EdgeSpec>("An emulated edge router of the tester.")
        .with_ports(Ports { queue: true, ingress: false }),
    read,
};

base::record! {
    /// The tester's emulated edge router, on one link: in a lab a namespace with a bare interface for the measuring process.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EdgeSpec {
        /// Its signalling.
        pub rsvp: RsvpSpec = RsvpSpec::default();
        /// Router id.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// How the tester opens the interface in a lab.
        pub driver: Option<Driver>, absent "packet";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

/// What a description says of an edge alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeNode {
    /// Test programme.
    #[serde(default)]
    programme: Vec<Step>,
}

fn read(own: OwnPart) -> Result<Box<dyn Node>, Diagnostic> {
    Ok(Box::new(read_own::<EdgeNode>(own)?))
}

impl Node for EdgeNode {
    fn facts(&self) -> Facts {
        Facts {
            called: "an edge".into(),
            router: true,
            foreign: false,
            transit: false,
            signals: true,
            links_min: 1,
            links_max: Some(1),
            host: None,
            tests: Tests::Labelled,
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        Box::new(Edge::new(network.fresh_router(node), self.programme.clone()))
    }

    fn router<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Router> {
        Some(world.device::<Edge>(id)?.router())
    }

    fn router_mut<'a>(&self, world: &'a mut World, id: NodeId) -> Option<&'a mut Router> {
        Some(world.device_mut::<Edge>(id)?.router_mut())
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        Some(world.device::<Edge>(id)?.drops().clone())
    }

    fn keep_tunnel(&self, world: &mut World, id: NodeId, tunnel: Tunnel) -> Option<Tunnel> {
        match world.device_mut::<Edge>(id) {
            Some(edge) => {
                edge.add_tunnel(tunnel);
                None
            }
            None => Some(tunnel),
        }
    }
}
