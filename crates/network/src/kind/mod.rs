//! Kinds of nodes. A network is built with an explicit array of them: [`KINDS`] are those that need nothing but crate
//! `node`; the tester adds its own.
//!
//! Nobody asks a node which kind it is of: what others have to know of it are its [`Facts`].

mod atm_lsr;
mod atm_router;
pub mod atm_switch;
mod bridge;
mod external;
mod facts;
mod kernel;
mod peer;
mod placeholder;
mod reflector;
mod resolve;
mod router;
pub(crate) mod switch;

pub use atm_lsr::ATM_LSR;
pub use atm_switch::ATM_SWITCH;
pub use bridge::BRIDGE;
pub use external::EXTERNAL;
pub use facts::{CellFacts, Facts, HostFacts, LsrFacts, Tests};
pub use kernel::{BIRD, FRR};
pub use peer::PEER;
pub use reflector::{REFLECTOR, Reflector};
pub use resolve::write_facts;
pub(crate) use resolve::{Resolved, resolve};
pub use router::ROUTER;
pub use switch::{OVS, SWITCH};

use crate::Network;
use crate::description::NodeSpec;
use crate::spec::placed::Ports;
use crate::tunnels::TunnelKey;
use base::Command;
use base::describe::{Record, Schemas, Value};
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::plane::IpPrefix;
use base::{Device, NodeId};
use engine::World;
use node::{AtmSwitch, Host, Router};

/// The kinds that need nothing but devices of crate `node`.
pub const KINDS: &[NodeKind] =
    &[ROUTER, PEER, EXTERNAL, BRIDGE, SWITCH, OVS, ATM_SWITCH, ATM_LSR, FRR, BIRD, REFLECTOR];

/// A kind of nodes: its name in descriptions, and what reads a node of it.
#[derive(Clone, Copy, Debug)]
pub struct NodeKind {
    /// What `kind` of a node says in a description.
    pub name: &'static str,
    /// What a node of this kind is, for people.
    pub meaning: &'static str,
    /// Reads what a description says of such a node, `kind` among it.
    pub read: fn(&Value) -> Result<Box<dyn Node>, Diagnostic>,
    /// The name of its record among the schemas.
    pub schema: fn(&mut Schemas) -> &'static str,
    /// What may stand at its ports.
    pub ports: Ports,
}

impl NodeKind {
    /// A kind whose nodes are described by this record.
    pub const fn of<R: Record + Node + 'static>(name: &'static str, meaning: &'static str) -> NodeKind {
        NodeKind {
            name,
            meaning,
            read: |value| Ok(Box::new(R::read_record(value, "kind")?)),
            schema: base::describe::named_of::<R>,
            ports: Ports { queue: false, ingress: false },
        }
    }

    /// The same kind, with queues in front of the links of its nodes; at those of routers with conditioners, too.
    pub const fn with_ports(self, ports: Ports) -> NodeKind {
        NodeKind { ports, ..self }
    }
}

/// A node of some kind, as a description has it.
pub trait Node: Send + Sync {
    /// What the description says of it, without its kind, with defaults filled in.
    fn described(&self) -> Value;

    /// What others have to know of it.
    fn facts(&self) -> Facts;

    /// Enters into the network's list of nodes what the network asks of such a node.
    fn enter(&self, _entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Its device, made when addresses, ports and routes of the whole network are known. Only for a node of this
    /// process.
    fn device(&self, network: &Network, node: usize) -> Box<dyn Device>;

    /// The router that its device is, or has within.
    fn router<'a>(&self, _world: &'a World, _id: NodeId) -> Option<&'a Router> {
        None
    }

    /// The same router, to be changed.
    fn router_mut<'a>(&self, _world: &'a mut World, _id: NodeId) -> Option<&'a mut Router> {
        None
    }

    /// The IP host that its device is, or has within.
    fn host<'a>(&self, _world: &'a World, _id: NodeId) -> Option<&'a Host> {
        None
    }

    /// The ATM switch that its device is, or has within.
    fn atm_switch<'a>(&self, _world: &'a World, _id: NodeId) -> Option<&'a AtmSwitch> {
        None
    }

    /// What its device discarded, beside what the router within did.
    fn drops(&self, _world: &World, _id: NodeId) -> Option<DropCounters> {
        None
    }

    /// Takes a tunnel that begins here, to signal it when it likes; gives it back if that is left to the network.
    fn keep_tunnel(&self, _world: &mut World, _id: NodeId, tunnel: Tunnel) -> Option<Tunnel> {
        Some(tunnel)
    }
}

/// A tunnel of a group of LSPs.
#[derive(Clone, Debug)]
pub struct Tunnel {
    /// By what events of its head end identify it.
    pub key: TunnelKey,
    /// Has it signalled; the head end is given it.
    pub set: Command,
    /// Has it torn down.
    pub remove: Command,
    /// Destinations whose packets take it.
    pub carries: Vec<IpPrefix>,
    /// The group that it belongs to, by its place in the network.
    pub group: u32,
    /// Its place in the group.
    pub index: u32,
}
