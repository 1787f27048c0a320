//! OSPF version 2 (RFC 2328): packets, link-state advertisements, checksums and authentication.
//!
//! - [`header`](Header): the 24 bytes in front of every packet; [`body`](Body): what follows them, for each type
//! - [`lsa`](Lsa): advertisements, with bodies of types 1 to 5, 7 and 9 to 11 (RFC 2328, RFC 3101, RFC 5250)
//! - [`te`]: what traffic engineering advertisements say (RFC 3630)
//! - [`auth`](Auth): null, simple password, keyed MD5 (RFC 2328, D) and HMAC-SHA (RFC 5709)
//! - [`layer`](Ospf): a packet as a layer of a tree
//!
//! A speaker reads with [`Header::parse`], [`Auth::verify`] and [`Body::parse`], and keeps advertisements as the bytes
//! that came ([`Lsas`]), since they are flooded as they are. It writes with [`Body::packet`] and [`Auth::seal`].

mod auth;
mod body;
mod header;
mod layer;
mod lsa;
pub mod te;
#[cfg(test)]
mod tests;

pub use auth::{Algorithm, Auth, Key};
pub use body::{Body, Description, Hello, Request};
pub use header::{AU_CRYPTOGRAPHIC, AU_NULL, AU_SIMPLE, HEADER_LEN, Header, Kind, options};
pub use layer::Ospf;
pub use lsa::{
    External, INITIAL_SEQUENCE, LS_INFINITY, LSA_HEADER_LEN, Lsa, LsaBody, LsaHeader, LsaKey, LsaKind, Lsas,
    MAX_AGE, MAX_AGE_DIFF, MAX_SEQUENCE, Network, Newer, Router, RouterLink, Summary, TosMetric, link, newer,
    router_flags, set_age,
};

use core::net::Ipv4Addr;

/// All OSPF routers of a link (RFC 2328, A.1).
pub const ALL_SPF_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 5);
/// The designated router of a link and its backup (RFC 2328, A.1).
pub const ALL_D_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 6);
/// The protocol's name in errors.
pub(crate) const LAYER: &str = "ospf";

/// The four bytes at a place that was checked before.
pub(crate) fn word(data: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
}

/// The two bytes at a place that was checked before.
pub(crate) fn short(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

/// The address at a place that was checked before.
pub(crate) fn address(data: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(word(data, at))
}
