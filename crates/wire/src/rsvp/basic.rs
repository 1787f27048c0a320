//! Small objects that most messages carry: RSVP_HOP, TIME_VALUES, ERROR_SPEC and SCOPE (RFC 2205, A.2 to A.6).

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
    /// [`ErrorSpec::IN_PLACE`], [`ErrorSpec::NOT_GUILTY`], [`ErrorSpec::PATH_STATE_REMOVED`].
    pub flags: u8,
    /// See [`super::error_code`].
    pub code: u8,
    /// See [`super::error_code`].
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
    /// C-Type 1.
    #[serde(rename = "IPv4")]
    Ipv4(Vec<Ipv4Addr>),
    /// C-Type 2.
    #[serde(rename = "IPv6")]
    Ipv6(Vec<Ipv6Addr>),
}
