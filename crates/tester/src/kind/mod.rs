//! Kinds of nodes that only a program with instruments has, beside those of crate `network`.

mod edge;
mod host;

pub use edge::EDGE;
pub use host::{HOST, STATION};

use network::NodeKind;
use network::kind::{EXTERNAL, PEER, ROUTER};

/// All kinds that a testbed is built with.
pub const KINDS: &[NodeKind] = &[ROUTER, HOST, STATION, EDGE, EXTERNAL, PEER];
