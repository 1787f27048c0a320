//! An ATM-LSR: a switch of cells that is a router, too.

use super::atm_router;
use super::{Facts, LsrFacts, Node, NodeKind, Tests};
use crate::Network;
use crate::description::NodeSpec;
use crate::spec::labels::Labels;
use crate::spec::profile::ProfileSpec;
use crate::spec::protocols::Protocols;
use crate::spec::route::RouteSpec;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::diagnostic::{At, Diagnostic};
use base::{Device, NodeId};
use core::net::Ipv4Addr;
use engine::World;
use node::{AtmSwitch, Router};

/// An ATM-LSR (RFC 3035, 3), with a port beside it for test packets.
pub const ATM_LSR: NodeKind = NodeKind::of::<AtmLsrSpec>(
    "atm-lsr",
    "An ATM-LSR (RFC 3035): it passes on cells whose channels are labels, and speaks LDP and routing protocols.",
);

base::record! {
    /// An ATM-LSR: its links of medium atm lead to others of its kind and to routers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AtmLsrSpec {
        /// VC merge: packets to one prefix leave by one channel, whichever they came by. Their cells wait for the last
        /// one of their packet.
        pub merge: bool = false;
        /// Cells that wait at a port at most whose link says no `buffer`.
        pub ubr_cells: u32 = 8_192, in 1..=16_777_216;
        /// From so many waiting cells on, packets are dropped whole (early packet discard).
        pub epd_cells: Option<u32>, in 1..=16_777_216, absent "a packet is dropped from the first cell on that finds no room";
        /// Device profile, by name, by file (*.toml), or what it says.
        pub profile: ProfileSpec = ProfileSpec::default();
        /// Router id.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// Static routes, beside those that lead to every node by the shortest path or that its protocols find.
        pub routes: Vec<RouteSpec> = Vec::new();
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    beside {
        /// Protocols that it speaks.
        pub protocols: Protocols
    }
}

impl Node for AtmLsrSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.profile = self.profile.resolved().at("profile")?;
        entry.protocols = self.protocols.clone();
        entry.router_id = self.router_id;
        entry.routes = self.routes.clone();
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts {
            router: true,
            transit: true,
            signals: true,
            tests: Tests::Beside,
            lsr: Some(LsrFacts { merges: self.merge }),
            ..Facts::of("an ATM-LSR")
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        atm_router::device(network, node, self.ubr_cells, self.epd_cells)
    }

    fn router<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Router> {
        atm_router::router(world, id)
    }

    fn router_mut<'a>(&self, world: &'a mut World, id: NodeId) -> Option<&'a mut Router> {
        atm_router::router_mut(world, id)
    }

    fn atm_switch<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a AtmSwitch> {
        atm_router::switch(world, id)
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        atm_router::switch(world, id).map(|switch| switch.drops().clone())
    }
}
