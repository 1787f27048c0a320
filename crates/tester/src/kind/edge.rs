//! The tester's emulated label edge router as a node.

use crate::edge::Edge;
use crate::spec::programme::StepSpec;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::{Device, NodeId};
use core::net::Ipv4Addr;
use engine::World;
use network::Network;
use network::NodeSpec;
use network::kind::{Facts, Node, NodeKind, Tests, Tunnel};
use network::spec::labels::Labels;
use network::spec::link::Driver;
use network::spec::placed::Ports;
use network::spec::rsvp::RsvpSpec;
use node::Router;

/// The tester's emulated label edge router, on one link: it signals the LSPs that begin there by its programme.
pub const EDGE: NodeKind = NodeKind::of::<EdgeSpec>("edge", "An emulated edge router of the tester.")
    .with_ports(Ports { queue: true, ingress: false });

base::record! {
    /// The tester's emulated edge router, on one link: in a lab a namespace with a bare interface for the measuring
    /// process.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EdgeSpec {
        /// Its signalling.
        pub rsvp: RsvpSpec = RsvpSpec::default();
        /// Router id.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// What is done to LSPs that begin there, and when; without it nothing is signalled, but in a file what
        /// `signal` of the LSPs says.
        pub programme: Vec<StepSpec> = Vec::new(), absent "LSPs are signalled at once, 1000 a second";
        /// How many signalling messages are kept for table `signals`.
        pub log_signals: u32 = 0;
        /// How the tester opens the interface in a lab.
        pub driver: Option<Driver>, absent "packet";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl Node for EdgeSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.rsvp = self.rsvp.clone();
        entry.router_id = self.router_id;
        entry.log_signals = self.log_signals;
        entry.driver = self.driver;
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts {
            router: true,
            signals: true,
            links_min: 1,
            links_max: Some(1),
            tests: Tests::Labelled,
            ..Facts::of("an edge")
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        let step = |step: &StepSpec| step.lowered(network.planned_group(&step.lsps)?);
        Box::new(Edge::new(network.fresh_router(node), self.programme.iter().filter_map(step).collect()))
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
