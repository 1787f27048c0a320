//! Labels and the fields that say how a packet is to be treated.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A 20-bit MPLS label (RFC 3032, 2.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(u32);

impl Label {
    /// IPv4 explicit null (RFC 3032, 2.1).
    pub const EXPLICIT_NULL: Label = Label(0);
    /// Router alert (RFC 3032, 2.1).
    pub const ROUTER_ALERT: Label = Label(1);
    /// IPv6 explicit null (RFC 3032, 2.1).
    pub const EXPLICIT_NULL_V6: Label = Label(2);
    /// Implicit null: signalled, never on the wire (RFC 3032, 2.1).
    pub const IMPLICIT_NULL: Label = Label(3);
    /// The first label that is not reserved (RFC 3032, 2.1).
    pub const FIRST_UNRESERVED: Label = Label(16);
    /// The greatest label that fits in the 20 bits: 1048575.
    pub const MAX: Label = Label(0xf_ffff);

    /// The label, if it fits in 20 bits.
    pub const fn new(value: u32) -> Option<Label> {
        if value <= 0xf_ffff { Some(Label(value)) } else { None }
    }
    /// The lowest 20 bits of `value` as a label.
    pub const fn truncate(value: u32) -> Label {
        Label(value & 0xf_ffff)
    }
    /// The label as a number.
    pub const fn value(self) -> u32 {
        self.0
    }
    /// Labels 0 to 15 are reserved (RFC 3032, 2.1).
    pub const fn is_reserved(self) -> bool {
        self.0 < 16
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label({})", self.0)
    }
}

/// TC: the three traffic-class bits of a label stack entry. RFC 5462 renamed them; RFC 3032 and RFC 3270 call them EXP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// The class, if it fits in three bits.
    pub const fn new(value: u8) -> Option<TrafficClass> {
        if value < 8 { Some(TrafficClass(value)) } else { None }
    }
    /// The lowest three bits of `value` as a class.
    pub const fn truncate(value: u8) -> TrafficClass {
        TrafficClass(value & 7)
    }
    /// The class as a number.
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// A differentiated-services code point: the upper six bits of the former TOS byte (RFC 2474).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Dscp(u8);

impl TryFrom<u8> for Dscp {
    type Error = String;
    fn try_from(value: u8) -> Result<Dscp, String> {
        Dscp::new(value).ok_or_else(|| format!("DSCP {value}: a code point is at most 63"))
    }
}
impl From<Dscp> for u8 {
    fn from(dscp: Dscp) -> u8 {
        dscp.0
    }
}

impl Dscp {
    /// Default forwarding (RFC 2474, 4.1).
    pub const DEFAULT: Dscp = Dscp(0);
    /// Class selector 6, which routing protocols use (RFC 4594, 3.2).
    pub const CS6: Dscp = Dscp(48);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Dscp = Dscp(46);

    /// The code point, if it fits in six bits.
    pub const fn new(value: u8) -> Option<Dscp> {
        if value < 64 { Some(Dscp(value)) } else { None }
    }
    /// The code point in a TOS byte; the two ECN bits are left out.
    pub const fn of_tos(tos: u8) -> Dscp {
        Dscp(tos >> 2)
    }
    /// The TOS byte with these six bits and the two given ECN bits.
    pub const fn to_tos(self, ecn: u8) -> u8 {
        self.0 << 2 | ecn & 3
    }
    /// The code point as a number.
    pub const fn value(self) -> u8 {
        self.0
    }
}
