//! What a user tells the root and the leaves of point-to-multipoint LSPs.

use crate::ldp::Ldp;
use crate::services::Pace;
use base::flow::FlowFilter;
use base::plane::{GroupKey, Prefix};
use base::{ProtocolId, ProtocolType, ProtocolValue};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A point-to-multipoint LSP as its root is told of it. Leaves join by themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSpec {
    /// What people call it.
    pub name: String,
    /// Generic LSP identifier, unique at the root (RFC 6388, 2.3.1).
    pub lsp_id: u32,
    /// Groups whose packets go to all leaves.
    pub groups: Vec<GroupKey>,
    /// Destinations whose packets go to all leaves.
    pub carries: Vec<Prefix>,
    /// Packets that go to all leaves, whatever their destination's route.
    pub filters: Vec<FlowFilter>,
    /// Have its ends watch the root by BFD (RFC 8562), so closely.
    pub watch: Option<Pace>,
}

/// What LDP is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// This router is the root of an LSP: what packets take it.
    TreeSet(Arc<TreeSpec>),
    /// This router is a leaf of an LSP from now on.
    Join {
        /// What people call it.
        name: String,
        /// Address of the root.
        root: Ipv4Addr,
        /// Generic LSP identifier.
        lsp_id: u32,
    },
    /// This router is no leaf of an LSP any more.
    Leave {
        /// Address of the root.
        root: Ipv4Addr,
        /// Generic LSP identifier.
        lsp_id: u32,
    },
}

impl ProtocolType for Command {
    const PROTOCOL: ProtocolId = Ldp::ID;
}

impl From<Command> for base::Command {
    fn from(command: Command) -> base::Command {
        base::Command::Protocol(ProtocolValue::new(command))
    }
}
