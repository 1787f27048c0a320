//! FAST_REROUTE and DETOUR (RFC 4090, 4.1 and 4.2).

use super::basic::each;
use super::class::{DETOUR, FAST_REROUTE};
use super::error::Fault;
use super::field::{Get, Put};
use super::text;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// FAST_REROUTE: the backup that the ingress wants.
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// | Setup Prio  | Hold Prio   | Hop-limit   |    Flags    |
/// |                  Bandwidth                            |
/// |                  Include-any                          |
/// |                  Exclude-any                          |
/// |                  Include-all                          |   C-Type 1 only
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FastReroute {
    /// Setup priority of the backup, 0 (highest) to 7, as in SESSION_ATTRIBUTE.
    pub setup_priority: u8,
    /// Holding priority of the backup, 0 (highest) to 7, as in SESSION_ATTRIBUTE.
    pub holding_priority: u8,
    /// Hops that the backup may add.
    pub hop_limit: u8,
    /// [`FastReroute::ONE_TO_ONE`], [`FastReroute::FACILITY`], or both.
    pub flags: u8,
    /// Bandwidth of the backup in bytes per second.
    #[serde(with = "text::float")]
    pub bandwidth: f32,
    /// A link of the backup needs one of these colours, unless zero.
    pub include_any: u32,
    /// A link of the backup must not have any of these colours.
    pub exclude_any: u32,
    /// A link of the backup needs all of these; absent in the old form (C-Type 7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_all: Option<u32>,
}

impl FastReroute {
    /// A detour LSP for each protected LSP.
    pub const ONE_TO_ONE: u8 = 0x01;
    /// A bypass tunnel for many protected LSPs.
    pub const FACILITY: u8 = 0x02;
}

impl PartialEq for FastReroute {
    fn eq(&self, other: &FastReroute) -> bool {
        let priorities = |f: &FastReroute| (f.setup_priority, f.holding_priority, f.hop_limit, f.flags);
        let colours = |f: &FastReroute| (f.include_any, f.exclude_any, f.include_all);
        priorities(self) == priorities(other)
            && self.bandwidth.to_bits() == other.bandwidth.to_bits()
            && colours(self) == colours(other)
    }
}
impl Eq for FastReroute {}

/// DETOUR: who repairs locally, and what it avoids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detour {
    /// C-Type 7: pairs of PLR_ID and Avoid_Node_ID.
    #[serde(rename = "IPv4")]
    Ipv4(Vec<(Ipv4Addr, Ipv4Addr)>),
    /// C-Type 8: pairs of PLR_ID and Avoid_Node_ID.
    #[serde(rename = "IPv6")]
    Ipv6(Vec<(Ipv6Addr, Ipv6Addr)>),
}

impl FastReroute {
    /// Bytes of the contents of a C-Type; nothing if RFC 4090 does not know it.
    pub const fn length(c_type: u8) -> Option<usize> {
        match c_type {
            1 => Some(20),
            7 => Some(16),
            _ => None,
        }
    }

    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<FastReroute, Fault> {
        let length = FastReroute::length(c_type).ok_or(Fault::UNKNOWN_C_TYPE)?;
        let mut get = Get::exact(body, length)?;
        Ok(FastReroute {
            setup_priority: get.u8(),
            holding_priority: get.u8(),
            hop_limit: get.u8(),
            flags: get.u8(),
            bandwidth: get.f32(),
            include_any: get.u32(),
            exclude_any: get.u32(),
            include_all: (c_type == 1).then(|| get.u32()),
        })
    }

    pub(crate) fn emit(&self, out: &mut impl Put) {
        match self.include_all {
            Some(_) => out.object(FAST_REROUTE, 1, 20),
            None => out.object(FAST_REROUTE, 7, 16),
        }
        out.bytes(&[self.setup_priority, self.holding_priority, self.hop_limit, self.flags]);
        out.f32(self.bandwidth);
        out.u32(self.include_any);
        out.u32(self.exclude_any);
        if let Some(include_all) = self.include_all {
            out.u32(include_all);
        }
    }
}

impl Detour {
    /// The C-Type of the form with IPv4 addresses (RFC 4090, 4.2.1).
    pub const C_TYPE_IPV4: u8 = 7;

    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Detour, Fault> {
        match c_type {
            7 => Ok(Detour::Ipv4(each(body, 8, |get| (get.v4(), get.v4()))?)),
            8 => Ok(Detour::Ipv6(each(body, 32, |get| (get.v6(), get.v6()))?)),
            _ => Err(Fault::UNKNOWN_C_TYPE),
        }
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let at = match self {
            Detour::Ipv4(pairs) => {
                let at = out.begin(DETOUR, 7);
                pairs.iter().for_each(|&(plr, avoid)| {
                    out.v4(plr);
                    out.v4(avoid);
                });
                at
            }
            Detour::Ipv6(pairs) => {
                let at = out.begin(DETOUR, 8);
                pairs.iter().for_each(|&(plr, avoid)| {
                    out.v6(plr);
                    out.v6(avoid);
                });
                at
            }
        };
        out.end(at)
    }
}
