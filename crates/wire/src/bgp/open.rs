//! What a speaker says of itself (RFC 4271, 4.2), with its capabilities (RFC 5492).

use super::notification::Code;
use super::{AS_TRANS, LAYER, Malformed, VERSION};
use crate::error::Error;
use crate::hex::Hex;
use core::net::Ipv4Addr;

/// The optional parameter that has capabilities (RFC 5492, 4).
const CAPABILITIES: u8 = 2;

mod code {
    pub(super) const MULTIPROTOCOL: u8 = 1;
    pub(super) const ROUTE_REFRESH: u8 = 2;
    pub(super) const MULTIPLE_LABELS: u8 = 8;
    pub(super) const GRACEFUL_RESTART: u8 = 64;
    pub(super) const FOUR_OCTET: u8 = 65;
    pub(super) const ADD_PATH: u8 = 69;
}

/// OPEN (RFC 4271, 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The AS in two octets: [`AS_TRANS`] if it has no such number. [`Open::asn`] is the one to use.
    pub short_asn: u16,
    /// Seconds without a message until the session is given up; zero is never, and the lesser of both ends counts.
    pub hold_s: u16,
    /// Who the sender is.
    pub id: Ipv4Addr,
    /// What the sender can do.
    pub capabilities: Vec<Capability>,
}

/// Which way several paths to a destination go (RFC 7911, 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddPathMode {
    /// The sender of the capability takes them.
    Receive,
    /// The sender of the capability tells them.
    Send,
    /// Both.
    Both,
}

/// Something that a speaker can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capability {
    /// It has routes of this family (RFC 4760, 8).
    Multiprotocol {
        /// Address family identifier.
        afi: u16,
        /// Subsequent address family identifier.
        safi: u8,
    },
    /// It tells all routes again when asked (RFC 2918, 2).
    RouteRefresh,
    /// It takes several labels of a destination: families, each with how many at most; 255 is no limit (RFC 8277, 2.1).
    MultipleLabels(Vec<(u16, u8, u8)>),
    /// It reads AS numbers of four octets, and has this one (RFC 6793, 3).
    FourOctet(u32),
    /// What it keeps over a restart (RFC 4724, 3).
    GracefulRestart {
        /// Four bits, of which the first says that it has restarted.
        flags: u8,
        /// Seconds that a restart takes at most.
        time_s: u16,
        /// Families, each with flags of which the first says that forwarding went on.
        families: Vec<(u16, u8, u8)>,
    },
    /// It takes or tells several paths to a destination (RFC 7911, 4).
    AddPath(Vec<(u16, u8, AddPathMode)>),
    /// Anything else: a receiver ignores it (RFC 5492, 3).
    Unknown {
        /// Its number.
        code: u8,
        /// Its value.
        value: Hex,
    },
}

impl Capability {
    fn parse(code: u8, value: &[u8]) -> Option<Capability> {
        Some(match (code, value) {
            (code::MULTIPROTOCOL, &[a, b, _, safi]) => {
                Capability::Multiprotocol { afi: u16::from_be_bytes([a, b]), safi }
            }
            (code::ROUTE_REFRESH, []) => Capability::RouteRefresh,
            (code::MULTIPLE_LABELS, all) => {
                // RFC 8277, 2.1: a length that is no multiple of four is malformed.
                let (all, []) = all.as_chunks::<4>() else { return None };
                let counts = all.iter().map(|&[a, b, safi, count]| (u16::from_be_bytes([a, b]), safi, count));
                Capability::MultipleLabels(counts.collect())
            }
            (code::FOUR_OCTET, &[a, b, c, d]) => Capability::FourOctet(u32::from_be_bytes([a, b, c, d])),
            (code::GRACEFUL_RESTART, &[high, low, ref rest @ ..]) => {
                let (all, []) = rest.as_chunks::<4>() else { return None };
                let families =
                    all.iter().map(|&[a, b, safi, flags]| (u16::from_be_bytes([a, b]), safi, flags));
                let time_s = u16::from_be_bytes([high & 0xf, low]);
                Capability::GracefulRestart { flags: high >> 4, time_s, families: families.collect() }
            }
            (code::ADD_PATH, all) => {
                let (all, []) = all.as_chunks::<4>() else { return None };
                // RFC 7911, 4: a tuple with another value is ignored.
                let modes = all.iter().filter_map(|&[a, b, safi, mode]| {
                    let mode = match mode {
                        1 => AddPathMode::Receive,
                        2 => AddPathMode::Send,
                        3 => AddPathMode::Both,
                        _ => return None,
                    };
                    Some((u16::from_be_bytes([a, b]), safi, mode))
                });
                Capability::AddPath(modes.collect())
            }
            (code::MULTIPROTOCOL | code::ROUTE_REFRESH | code::FOUR_OCTET | code::GRACEFUL_RESTART, _) => {
                return None;
            }
            (code, value) => Capability::Unknown { code, value: Hex(value.to_vec()) },
        })
    }

    fn emit(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        let mut value = Vec::new();
        let code = match self {
            Capability::Multiprotocol { afi, safi } => {
                value.extend(afi.to_be_bytes());
                value.extend([0, *safi]);
                code::MULTIPROTOCOL
            }
            Capability::RouteRefresh => code::ROUTE_REFRESH,
            Capability::MultipleLabels(all) => {
                for (afi, safi, count) in all {
                    value.extend(afi.to_be_bytes());
                    value.extend([*safi, *count]);
                }
                code::MULTIPLE_LABELS
            }
            Capability::FourOctet(asn) => {
                value.extend(asn.to_be_bytes());
                code::FOUR_OCTET
            }
            Capability::GracefulRestart { flags, time_s, families } => {
                value.extend((u16::from(*flags) << 12 | time_s & 0xfff).to_be_bytes());
                for (afi, safi, flags) in families {
                    value.extend(afi.to_be_bytes());
                    value.extend([*safi, *flags]);
                }
                code::GRACEFUL_RESTART
            }
            Capability::AddPath(all) => {
                for (afi, safi, mode) in all {
                    value.extend(afi.to_be_bytes());
                    value.extend([*safi, *mode as u8 + 1]);
                }
                code::ADD_PATH
            }
            Capability::Unknown { code, value: bytes } => {
                value.extend(&bytes.0);
                *code
            }
        };
        to.extend([code, short_len(value.len())?]);
        to.extend(value);
        Ok(())
    }
}

/// A length that has one byte.
fn short_len(len: usize) -> Result<u8, Error> {
    u8::try_from(len).map_err(|_| Error::invalid(LAYER, 28, "more than 255 bytes of capabilities"))
}

impl Open {
    /// An OPEN of a speaker of an AS, which says so in four octets (RFC 6793, 4.1).
    pub fn new(asn: u32, hold_s: u16, id: Ipv4Addr, mut capabilities: Vec<Capability>) -> Open {
        capabilities.push(Capability::FourOctet(asn));
        Open { short_asn: u16::try_from(asn).unwrap_or(AS_TRANS), hold_s, id, capabilities }
    }

    /// The sender's AS: in four octets if it says so, else in two.
    pub fn asn(&self) -> u32 {
        let long = self.capabilities.iter().find_map(|capability| match capability {
            Capability::FourOctet(asn) => Some(*asn),
            _ => None,
        });
        long.unwrap_or(u32::from(self.short_asn))
    }

    /// Does the sender read AS numbers of four octets?
    pub fn has_four_octets(&self) -> bool {
        self.capabilities.iter().any(|capability| matches!(capability, Capability::FourOctet(_)))
    }

    pub(super) fn parse(body: &[u8]) -> Result<Open, Malformed> {
        let Some((&[version, a, b, h, i, w, x, y, z, len], rest)) = body.split_first_chunk::<10>() else {
            return Err(Malformed::new(Code::Open, &[], 19, "an OPEN that ends too early"));
        };
        if version != VERSION {
            let data = u16::from(VERSION).to_be_bytes();
            return Err(Malformed::new(Code::BadVersion, &data, 19, "a version that is not spoken"));
        }
        let mut open = Open {
            short_asn: u16::from_be_bytes([a, b]),
            hold_s: u16::from_be_bytes([h, i]),
            id: Ipv4Addr::new(w, x, y, z),
            capabilities: Vec::new(),
        };
        if open.hold_s == 1 || open.hold_s == 2 {
            let clause = "a hold time of one or two seconds";
            return Err(Malformed::new(Code::BadHoldTime, &[], 22, clause));
        }
        // RFC 6286, 2.1: any number but zero.
        if open.id.is_unspecified() {
            return Err(Malformed::new(Code::BadIdentifier, &[], 24, "a BGP identifier of zero"));
        }
        if usize::from(len) != rest.len() {
            let clause = "optional parameters whose length is not that of the message";
            return Err(Malformed::new(Code::Open, &[], 28, clause));
        }
        let mut left = rest;
        while !left.is_empty() {
            let at = super::HEADER_LEN + body.len() - left.len();
            let ends = || Malformed::new(Code::Open, &[], at, "an optional parameter that ends too early");
            let (&[kind, len], after) = left.split_first_chunk::<2>().ok_or_else(ends)?;
            let (value, after) = after.split_at_checked(usize::from(len)).ok_or_else(ends)?;
            if kind != CAPABILITIES {
                let clause = "an optional parameter that is not known";
                return Err(Malformed::new(Code::UnsupportedParameter, &[], at, clause));
            }
            open.read_capabilities(value, at + 2)?;
            left = after;
        }
        // RFC 7607, 2: nobody has AS zero.
        if open.asn() == 0 {
            return Err(Malformed::new(Code::BadPeerAs, &[], 20, "an AS number of zero"));
        }
        Ok(open)
    }

    fn read_capabilities(&mut self, mut left: &[u8], mut at: usize) -> Result<(), Malformed> {
        let wrong = |at, clause| Malformed::new(Code::Open, &[], at, clause);
        while !left.is_empty() {
            let ends = || wrong(at, "a capability that ends too early");
            let (&[code, len], after) = left.split_first_chunk::<2>().ok_or_else(ends)?;
            let (value, after) = after.split_at_checked(usize::from(len)).ok_or_else(ends)?;
            let capability = Capability::parse(code, value);
            self.capabilities
                .push(capability.ok_or_else(|| wrong(at, "a capability of a length that it can't have"))?);
            at += 2 + usize::from(len);
            left = after;
        }
        Ok(())
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        to.push(VERSION);
        to.extend(self.short_asn.to_be_bytes());
        to.extend(self.hold_s.to_be_bytes());
        to.extend(self.id.octets());
        let mut all = Vec::new();
        for capability in &self.capabilities {
            // One parameter for each: what all speakers read, also those that know RFC 5492's forerunners only.
            let begin = all.len();
            all.extend([CAPABILITIES, 0]);
            capability.emit(&mut all)?;
            all[begin + 1] = short_len(all.len() - begin - 2)?;
        }
        to.push(short_len(all.len())?);
        to.extend(all);
        Ok(())
    }
}
