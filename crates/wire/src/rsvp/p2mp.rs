//! S2L_SUB_LSP: one leaf of a point-to-multipoint LSP (RFC 4875, 19.3).
//!
//! P2MP_SECONDARY_EXPLICIT_ROUTE and P2MP_SECONDARY_RECORD_ROUTE (RFC 4875, 19.4 and 19.5) have the formats of
//! [`super::explicit_route`] and [`super::record_route`].

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// S2L_SUB_LSP: the address of a leaf; its family decides the C-Type (1 or 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct S2lSubLsp(pub IpAddr);
