//! S2L_SUB_LSP: one leaf of a point-to-multipoint LSP (RFC 4875, 19.3).
//!
//! P2MP_SECONDARY_EXPLICIT_ROUTE and P2MP_SECONDARY_RECORD_ROUTE (RFC 4875, 19.5 and 19.6) have the formats of
//! [`super::explicit_route`] and [`super::record_route`].

use super::basic::address_and;
use super::class::S2L_SUB_LSP;
use super::error::Fault;
use super::field::{Put, family};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// S2L_SUB_LSP: the address of a leaf; its family decides the C-Type (1 or 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct S2lSubLsp(pub IpAddr);

impl S2lSubLsp {
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<S2lSubLsp, Fault> {
        Ok(S2lSubLsp(address_and(c_type, body, 0)?.1))
    }

    pub(crate) fn emit(&self, out: &mut impl Put) {
        let (c_type, bytes) = family(self.0);
        out.object(S2L_SUB_LSP, c_type, bytes);
        out.ip(self.0);
    }
}
