//! The control plane: signalling protocols as sans-I/O state machines, and what composes them.
//!
//! - [`protocol`]: the contract that every protocol keeps
//! - [`plane`]: [`ControlPlane`], the protocols of a node with their services and the control processor
//! - [`services`]: what the protocols of a node share
//! - [`cost`]: what messages cost the control processor; [`processor`]: the queues in front of it
//! - [`messages`]: messages counted over time
//! - [`lifetimes`]: when keys are good, and which of several is used
//! - [`machine`]: state machines as tables
//! - [`static_routes`]: those whose next hops are watched
//! - [`unheard`]: what reaches a node and nobody listens to
//! - [`inquiry`]: what both planes say of labels and FECs, for whoever tests LSPs
//! - [`owner`]: whom of the protocols something belongs to
//! - [`greet`]: a made-up protocol, an example for developers
//! - [`bfd`]: BFD, whether neighbours can be reached
//! - [`bgp`]: BGP-4, routes between and within autonomous systems
//! - [`cbt`]: CBT, core-based trees of groups
//! - [`igmp`]: IGMP, which groups hosts want
//! - [`ldp`]: LDP, labels for the routes of a router
//! - [`lsp_ping`]: LSP ping and traceroute, whether both planes agree on an LSP
//! - [`mld`]: MLD, which groups of IPv6 hosts want
//! - [`openflow`]: the channel of a switch to its controllers
//! - [`ospf`]: OSPF version 2, routes inside an area
//! - [`pim`]: PIM, trees of groups with named senders
//! - [`probing`]: probes of links, as in a published study
//! - [`tdp`]: TDP, the tag-switching dialect that LDP came from
//! - [`rsvp`]: RSVP-TE, a label-switching and label-edge router for point-to-point tunnels
//!
//! A protocol takes messages, commands, acknowledgements, changes and the time; it gives messages, table writes and
//! events. It opens no socket, reads no clock and sees no forwarding table.

pub mod bfd;
pub mod bgp;
#[cfg(test)]
mod cases;
pub mod cbt;
pub mod cost;
pub mod greet;
pub mod igmp;
pub mod inquiry;
pub mod ldp;
pub mod lifetimes;
pub mod lsp_ping;
pub mod machine;
pub mod messages;
pub mod mld;
pub mod openflow;
pub mod ospf;
pub mod owner;
pub mod pim;
pub mod plane;
#[cfg(test)]
mod plane_tests;
pub mod probing;
pub mod processor;
pub mod protocol;
pub mod rsvp;
pub mod services;
pub mod static_routes;
pub mod tdp;
pub mod unheard;

/// The protocols that there are, a line for each.
pub const PROTOCOLS: &[protocol::Known] = &[
    rsvp::Rsvp::KNOWN,
    greet::Greet::KNOWN,
    ospf::Ospf::KNOWN,
    ldp::Ldp::KNOWN,
    bgp::Bgp::KNOWN,
    tdp::Tdp::KNOWN,
    bfd::Bfd::KNOWN,
    lsp_ping::LspPing::KNOWN,
    igmp::Igmp::KNOWN,
    mld::Mld::KNOWN,
    cbt::Cbt::KNOWN,
    pim::Pim::KNOWN,
    probing::Probing::KNOWN,
];

/// The state machines that protocols let the documentation draw, by the name of the protocol.
pub const CHARTS: &[(&str, &[machine::Chart])] = &[
    ("rsvp-te", rsvp::CHARTS),
    ("ospf", ospf::CHARTS),
    ("ldp", ldp::CHARTS),
    ("bgp", bgp::CHARTS),
    ("tdp", tdp::CHARTS),
    ("bfd", bfd::CHARTS),
    ("lspping", lsp_ping::CHARTS),
    ("igmp", igmp::CHARTS),
    ("cbt", cbt::CHARTS),
    ("pim", pim::CHARTS),
    ("openflow", openflow::CHARTS),
    ("probing", probing::CHARTS),
];

pub use plane::ControlPlane;
pub use protocol::{Protocol, Setup};
