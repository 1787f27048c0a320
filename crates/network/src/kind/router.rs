//! A label-switching router.

use super::{Facts, Node, NodeKind, Tests, atm_router};
use crate::Network;
use crate::description::NodeSpec;
use crate::spec::labels::Labels;
use crate::spec::link::Driver;
use crate::spec::placed::Ports;
use crate::spec::profile::ProfileSpec;
use crate::spec::protocols::Protocols;
use crate::spec::route::RouteSpec;
use crate::spec::rsvp::RsvpSpec;
use crate::spec::table_driver::TableDriver;
use base::describe::{Describe, Schema, Schemas, Value};
use base::device::DropCounters;
use base::diagnostic::{At, Diagnostic};
use base::{Device, DiffServConfig, NodeId};
use core::net::{Ipv4Addr, Ipv6Addr};
use engine::World;
use node::{AtmSwitch, Router};

/// Cells that wait at a port of medium atm whose link says no `buffer`: as many as at an ATM-LSR.
const UBR_CELLS: u32 = 8_192;

/// A label-switching router, with a port beside it for test packets.
pub const ROUTER: NodeKind = NodeKind::of::<RouterSpec>("router", "A Twinplane router.")
    .with_ports(Ports { queue: true, ingress: true });

base::record! {
    /// A Twinplane router: in a lab a process in a network namespace whose kernel stays silent.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RouterSpec {
        /// Device profile, by name, by file (*.toml), or what it says.
        pub profile: ProfileSpec = ProfileSpec::default();
        /// Its signalling.
        pub rsvp: RsvpSpec = RsvpSpec::default();
        /// DiffServ over MPLS (RFC 3270): true, or how.
        pub diffserv: RouterDiffServ, absent "traffic classes are copied";
        /// Router id.
        pub router_id: Option<Ipv4Addr>, absent "given by the network";
        /// IPv6 loopback address.
        pub ipv6: Option<Ipv6Addr>, absent "none";
        /// Static routes, beside those that lead to every node by the shortest path or that its protocols find.
        pub routes: Vec<RouteSpec> = Vec::new();
        /// How many signalling messages are kept for table `signals`.
        pub log_signals: u32 = 0;
        /// What writes its forwarding tables: the name of a driver, or the name with settings.
        pub table_driver: Option<TableDriver>, absent "model";
        /// How it opens its interfaces in a lab.
        pub driver: Option<Driver>, absent "packet";
        /// Take large segments and unfinished checksums of the kernel's.
        pub offload: Option<bool>, absent "with driver packet";
        /// File to which all of its inputs are recorded, beside this one.
        pub record: Option<String>;
        /// Keep the process on this processor.
        pub cpu: Option<u32>;
        /// Poll without sleeping: a processor of its own is used up.
        pub busy: bool = false;
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    beside {
        /// Protocols that it speaks besides RSVP-TE.
        pub protocols: Protocols
    }
}

/// How a router supports DiffServ over MPLS, if it does: `true` is as usual, `false` says that it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouterDiffServ(pub Option<DiffServConfig>);

impl Describe for RouterDiffServ {
    fn read(value: &Value) -> Result<RouterDiffServ, Diagnostic> {
        match value {
            Value::Bool(false) | Value::Null => Ok(RouterDiffServ(None)),
            _ => DiffServConfig::read(value).map(|config| RouterDiffServ(Some(config))),
        }
    }
    fn write(&self) -> Value {
        self.0.write()
    }
    fn schema(known: &mut Schemas) -> Schema {
        DiffServConfig::schema(known)
    }
    fn absent() -> Option<RouterDiffServ> {
        Some(RouterDiffServ(None))
    }
}

impl Node for RouterSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.profile = self.profile.resolved().at("profile")?;
        entry.rsvp = self.rsvp.clone();
        entry.protocols = self.protocols.clone();
        entry.diffserv = self.diffserv.0;
        entry.router_id = self.router_id;
        entry.ipv6 = self.ipv6;
        entry.log_signals = self.log_signals;
        entry.routes = self.routes.clone();
        entry.driver = self.driver;
        entry.table_driver = self.table_driver.clone();
        Ok(())
    }

    fn facts(&self) -> Facts {
        let listens = self.table_driver.as_ref().is_some_and(|driver| driver.setup().listens().is_some());
        let own = Facts::of("a router");
        Facts { router: true, transit: true, signals: true, tests: Tests::Beside, elsewhere: listens, ..own }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        atm_router::device(network, node, UBR_CELLS, None)
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
