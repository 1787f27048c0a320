//! Wire formats: a checked view over bytes and a `Repr` that parses and emits, one file (or folder) per protocol.
//!
//! Every protocol has the same skeleton:
//!
//! - `Packet<T>`: a view over bytes. `new_checked` makes sure that the accessors can't panic; `new_unchecked`
//!   leaves that to the caller. Views are inlined, never allocate, and are what the forwarding path uses.
//! - `Repr`: the same as a value. `parse` reads it from a view, `emit` writes it to a buffer of `buffer_len()` bytes.
//! - errors are [`Error`]: the layer, the offset of the byte at fault, and the reason.
//!
//! [`tree`] is for people: a frame as a list of layers that serialise, and back to the same bytes.

pub mod arp;
pub mod atm;
pub mod bfd;
pub mod bgp;
pub mod cbt;
pub mod checksum;
pub mod error;
pub mod ethernet;
pub mod greet;
pub mod hex;
pub mod icmp;
pub mod icmpv6;
pub mod igmp;
pub mod ipv4;
pub mod ipv6;
pub mod ldp;
pub mod link;
pub mod llc;
pub mod lsp_ping;
pub mod measurement;
pub mod membership;
pub mod mld;
pub mod mpls;
pub mod nd;
pub mod openflow;
pub mod ospf;
pub mod pim;
pub mod probing;
pub mod pseudowire;
pub mod rsvp;
pub mod tcp;
pub mod tdp;
pub mod tree;
pub mod udp;

pub use error::{Error, Reason};
pub use hex::Hex;
