//! Small objects that most messages carry: RSVP_HOP, TIME_VALUES, ERROR_SPEC and SCOPE (RFC 2205, A.2 to A.6).

use super::class::{ERROR_SPEC, RESV_CONFIRM, RSVP_HOP, SCOPE, TIME_VALUES};
use super::error::Fault;
use super::field::{Get, Put, family};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// RSVP_HOP: who sent this message, and through which logical interface (RFC 2205, A.2).
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// |          IPv4 or IPv6 Next/Previous Hop Address       |
/// +-------------+-------------+-------------+-------------+
/// |                 Logical Interface Handle              |
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RsvpHop {
    /// Address of the interface; its family decides the C-Type (1 or 2).
    pub address: IpAddr,
    /// Chosen by the sender of a Path, returned untouched in the Resv.
    pub lih: u32,
}

/// TIME_VALUES: how often the sender refreshes (RFC 2205, A.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeValues {
    /// Refresh period R in milliseconds.
    pub refresh_ms: u32,
}

/// ERROR_SPEC: what went wrong, and at which node (RFC 2205, A.5).
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// |          IPv4 or IPv6 Error Node Address              |
/// +-------------+-------------+-------------+-------------+
/// |    Flags    |  Error Code |        Error Value        |
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ErrorSpec {
    /// The node that found the error; its family decides the C-Type (1 or 2).
    pub node: IpAddr,
    /// Any of [`ErrorSpec::IN_PLACE`], [`ErrorSpec::NOT_GUILTY`] and [`ErrorSpec::PATH_STATE_REMOVED`].
    pub flags: u8,
    /// The kind of error: one of [`super::error_code`].
    pub code: u8,
    /// The error within its kind: one of the value modules of [`super::error_code`], where the code has one.
    pub value: u16,
}

impl ErrorSpec {
    /// A reservation is, and still is, in place at the failure point (ResvErr only).
    pub const IN_PLACE: u8 = 0x01;
    /// The flow descriptor that failed was greater than the receiver's (ResvErr only).
    pub const NOT_GUILTY: u8 = 0x02;
    /// The sender of the PathErr has removed its path state (RFC 3473, 4.4).
    pub const PATH_STATE_REMOVED: u8 = 0x04;
}

/// SCOPE: the senders to which a wildcard reservation is to be forwarded (RFC 2205, A.6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Addresses of IPv4 senders: C-Type 1.
    #[serde(rename = "IPv4")]
    Ipv4(Vec<Ipv4Addr>),
    /// Addresses of IPv6 senders: C-Type 2.
    #[serde(rename = "IPv6")]
    Ipv6(Vec<Ipv6Addr>),
}

impl RsvpHop {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<RsvpHop, Fault> {
        let (mut get, address) = address_and(c_type, body, 4)?;
        Ok(RsvpHop { address, lih: get.u32() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        let (c_type, bytes) = family(self.address);
        out.object(RSVP_HOP, c_type, bytes + 4);
        out.ip(self.address);
        out.u32(self.lih);
    }
}

impl TimeValues {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<TimeValues, Fault> {
        if c_type != 1 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        Ok(TimeValues { refresh_ms: Get::exact(body, 4)?.u32() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(TIME_VALUES, 1, 4);
        out.u32(self.refresh_ms);
    }
}

impl ErrorSpec {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<ErrorSpec, Fault> {
        let (mut get, node) = address_and(c_type, body, 4)?;
        Ok(ErrorSpec { node, flags: get.u8(), code: get.u8(), value: get.u16() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        let (c_type, bytes) = family(self.node);
        out.object(ERROR_SPEC, c_type, bytes + 4);
        out.ip(self.node);
        out.bytes(&[self.flags, self.code]);
        out.u16(self.value);
    }
}

impl Scope {
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Scope, Fault> {
        match c_type {
            1 => Ok(Scope::Ipv4(each(body, 4, |get| get.v4())?)),
            2 => Ok(Scope::Ipv6(each(body, 16, |get| get.v6())?)),
            _ => Err(Fault::UNKNOWN_C_TYPE),
        }
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let at = match self {
            Scope::Ipv4(addresses) => {
                let at = out.begin(SCOPE, 1);
                addresses.iter().for_each(|&address| out.v4(address));
                at
            }
            Scope::Ipv6(addresses) => {
                let at = out.begin(SCOPE, 2);
                addresses.iter().for_each(|&address| out.v6(address));
                at
            }
        };
        out.end(at)
    }
}

/// RESV_CONFIRM is a receiver's address and nothing else (RFC 2205, A.14).
#[inline]
pub(crate) fn parse_resv_confirm(c_type: u8, body: &[u8]) -> Result<IpAddr, Fault> {
    Ok(address_and(c_type, body, 0)?.1)
}

#[inline]
pub(crate) fn emit_resv_confirm(receiver: IpAddr, out: &mut impl Put) {
    let (c_type, bytes) = family(receiver);
    out.object(RESV_CONFIRM, c_type, bytes);
    out.ip(receiver);
}

/// An address of the family that the C-Type says, and `more` bytes after it.
#[inline]
pub(crate) fn address_and(c_type: u8, body: &[u8], more: usize) -> Result<(Get<'_>, IpAddr), Fault> {
    match c_type {
        1 => {
            let mut get = Get::exact(body, 4 + more)?;
            let address = get.v4().into();
            Ok((get, address))
        }
        2 => {
            let mut get = Get::exact(body, 16 + more)?;
            let address = get.v6().into();
            Ok((get, address))
        }
        _ => Err(Fault::UNKNOWN_C_TYPE),
    }
}

/// A list of things of `size` bytes each.
pub(crate) fn each<T>(body: &[u8], size: usize, read: impl Fn(&mut Get<'_>) -> T) -> Result<Vec<T>, Fault> {
    let chunks = body.chunks_exact(size);
    if !chunks.remainder().is_empty() {
        return Err(Fault::invalid(body.len() - chunks.remainder().len(), "the list ends within an element"));
    }
    Ok(chunks.map(|chunk| read(&mut Get(chunk))).collect())
}
