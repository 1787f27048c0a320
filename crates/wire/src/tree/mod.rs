//! Frames for people: a list of layers with named fields that serialises, and back to the same bytes.
//!
//! ```
//! use twinplane_wire::tree;
//! let frame = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x47, 0x00, 0x40, 0x11, 0xff, 0x45];
//! let tree = tree::decode(&frame);
//! assert_eq!(tree.layers.len(), 4);
//! assert_eq!(
//!     tree::summary(&tree),
//!     "MPLS 1025 ttl 255, [malformed ipv4: 20 bytes needed, 1 there (at byte 19)]"
//! );
//! assert_eq!(tree::encode(&tree).unwrap(), frame);
//! ```
//!
//! [`decode`] never fails: a layer that can't be read becomes [`Layer::Malformed`], and its bytes a
//! [`Layer::Payload`]. [`encode`] of what [`decode`] gave is the same bytes, whatever they were. What is left out of
//! a tree (checksums, lengths, the type of the next layer) is computed; what is given is kept, right or wrong.

mod decode;
mod encode;
mod icmp;
mod icmpv6;
mod ipv6;
mod layers;
mod layers6;
mod openflow;
mod summary;
mod summary6;
mod tcp;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests6;

pub use crate::ldp::{Ldp, LdpFec, LdpMessage, LdpParameter, LdpPdu, MessageType};
pub use crate::link::{Cell, Chdlc, Erf, Null, Ppp, Sll, Sll2, SunAtm};
pub use crate::llc::{Llc, Snap};
pub use crate::lsp_ping::{Fec, LspPing, Tlv};
pub use crate::ospf::Ospf;
pub use crate::pim::Pim;
pub use crate::pseudowire::{Ach, Pseudowire};
pub use decode::{decode, decode_link};
pub use encode::encode;
pub use layers::{
    Arp, Entry, Ethernet, Extension, Icmp, IcmpMessage, IpOption, Ipv4, Layer, Measurement, Mpls, Quote, Tcp,
    TcpOption, Tree, Udp,
};
pub use layers6::{
    Discovery, ExtensionHeader, Icmpv6, Icmpv6Message, Ipv6, Ipv6Option, LinkPrefix, NeighborOption,
};
pub use openflow::{OpenFlow, OpenFlowMessage};
pub use summary::summary;
