//! Kinds of nodes that only a program with instruments has, beside those of crate `network`.

mod edge;
mod host;
mod openflow;

pub use edge::EDGE;
pub use host::{HOST, STATION};
pub use openflow::OPENFLOW_TESTER;
pub(crate) use openflow::ports as tester_ports;

use network::NodeKind;
use network::kind::{ATM_LSR, ATM_SWITCH, BIRD, BRIDGE, EXTERNAL, FRR, OVS, PEER, REFLECTOR, ROUTER, SWITCH};
use network::spec::placed::Ports;

/// All kinds that a testbed is built with.
pub const KINDS: &[NodeKind] = &with_host(HOST);

/// The same in files: a host of a lab has the kernel's own stack, and its port is the kernel's.
pub const FILE_KINDS: &[NodeKind] = &with_host(HOST.with_ports(Ports { queue: false, ingress: false }));

const fn with_host(host: NodeKind) -> [NodeKind; 15] {
    [
        ROUTER,
        host,
        STATION,
        EDGE,
        EXTERNAL,
        PEER,
        BRIDGE,
        SWITCH,
        OVS,
        ATM_LSR,
        ATM_SWITCH,
        FRR,
        BIRD,
        REFLECTOR,
        OPENFLOW_TESTER,
    ]
}
