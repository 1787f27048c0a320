//! Kinds of nodes. A network is built with an explicit array of them: [`KINDS`] are those that need nothing but crate `node`; the tester
//! adds its own.
//!
//! Nobody asks a node which kind it is of: what others have to know of it are its [`Facts`].

mod external;
mod facts;
mod peer;
mod placeholder;
mod resolve;
mod router;

pub use external::EXTERNAL;
pub use facts::{Facts, HostFacts, Tests};
pub use peer::PEER;
pub use resolve::write_facts;
pub(crate) use resolve::{Resolved, resolve};
pub use router::ROUTER;

use crate::Network;
use crate::problem::BuildProblem;
use crate::spec::KindSpec;
use base::command::TunnelSpec;
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::{Device, NodeId};
use engine::World;
use node::{Host, Router};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The kinds that need nothing but devices of crate `node`.
pub const KINDS: &[NodeKind] = &[ROUTER, PEER, EXTERNAL];

/// What a description says of one node for its kind alone, not read yet.
pub type OwnPart = Map<String, Value>;

/// A kind of nodes: its name in descriptions, and what makes a node of what a description says.
#[derive(Clone, Copy, Debug)]
pub struct NodeKind {
    /// What `kind` of a node says in a description.
    pub name: &'static str,
    /// What users may write of such a node.
    pub spec: KindSpec,
    /// Reads what the description says for this kind alone. Paths of errors begin at the node.
    pub read: fn(OwnPart) -> Result<Box<dyn Node>, Diagnostic>,
}

/// A node of some kind, as a description has it.
pub trait Node: Send + Sync {
    /// What others have to know of it.
    fn facts(&self) -> Facts;

    /// Its device, made when addresses, ports and routes of the whole network are known. Only for a node of this process.
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
    /// What is signalled.
    pub spec: TunnelSpec,
    /// The group that it belongs to, by its place in the network.
    pub group: u32,
    /// Its place in the group.
    pub index: u32,
}

/// Reads the part of a description that belongs to a kind alone, of which every key must be known.
pub fn read_own<T: DeserializeOwned>(own: OwnPart) -> Result<T, Diagnostic> {
    let read = serde_json::from_value(Value::Object(own));
    read.map_err(|error| BuildProblem::OwnPart { error: error.to_string() }.into())
}

/// Refuses any part of its own, for kinds that have none.
pub fn nothing_of_its_own(own: &OwnPart) -> Result<(), Diagnostic> {
    match own.keys().next() {
        None => Ok(()),
        Some(key) => {
            let unknown = BuildProblem::NothingOwn { key: key.clone() };
            Err(Diagnostic::new(unknown).at(key.clone()).on_key())
        }
    }
}
