//! LSP ping: MPLS echo requests and replies in UDP (RFC 8029), as a layer of a tree. Field names are what users see in
//! Python and JSON.

#[cfg(test)]
mod tests;

use crate::error::{Error, Reason, need};
use crate::hex::Hex;
use core::fmt::{self, Write};
use core::net::{Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

const LAYER: &str = "lspping";
/// The UDP port that requests are for, and that replies come from (RFC 8029, 4.3 and 4.5).
pub const PORT: u16 = 3503;
/// Bytes in front of the TLVs.
const HEADER_LEN: usize = 32;
/// Bytes of type and length of a TLV.
const TLV_HEADER_LEN: usize = 4;
/// The type of the TLV that holds a stack of FECs.
const TARGET_FEC_STACK: u16 = 1;

/// An echo request or reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LspPing {
    /// The version number, 1 (RFC 8029, 3).
    pub version: u16,
    /// Bits: 1 validate the FEC stack, 2 respond only if the TTL expired, 4 validate the reverse path.
    #[serde(default)]
    pub flags: u16,
    /// 1 is a request, 2 a reply.
    pub message_type: u8,
    /// How the reply comes: 1 not at all, 2 as a UDP packet, 3 with Router Alert, 4 by a control channel.
    pub reply_mode: u8,
    /// What became of the request (RFC 8029, 3.1), 0 in a request.
    #[serde(default)]
    pub return_code: u8,
    /// The depth in the label stack that the return code is about.
    #[serde(default)]
    pub return_subcode: u8,
    /// Chosen by who asks, and sent back.
    pub handle: u32,
    /// Chosen by who asks, and sent back.
    pub sequence: u32,
    /// When the request was sent, as an NTP timestamp: seconds since 1900 in units of 2^-32.
    #[serde(default)]
    pub sent: u64,
    /// When it was received, likewise; 0 in a request.
    #[serde(default)]
    pub received: u64,
    /// What else it says, in order.
    #[serde(default)]
    pub tlvs: Vec<Tlv>,
}

/// Part of a message, by its name under `tlv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tlv", rename_all = "kebab-case")]
pub enum Tlv {
    /// What the label stack that is tested stands for, the top first.
    TargetFecStack {
        /// One for each label.
        fecs: Vec<Fec>,
    },
    /// A TLV of a type that is not read here.
    Other {
        /// Its type (RFC 8029, 3).
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

/// What a label stands for, by its name under `fec`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fec", rename_all = "kebab-case")]
pub enum Fec {
    /// A prefix of LDP.
    LdpIpv4 {
        /// The lowest address of the prefix.
        prefix: Ipv4Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A prefix of LDP.
    LdpIpv6 {
        /// The lowest address of the prefix.
        prefix: Ipv6Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// An LSP of RSVP-TE.
    RsvpIpv4 {
        /// The address of the tail end.
        endpoint: Ipv4Addr,
        /// Tunnel id of the session.
        tunnel_id: u16,
        /// Extended tunnel id of the session.
        extended_tunnel_id: u32,
        /// The address of the head end.
        sender: Ipv4Addr,
        /// Which LSP of the tunnel.
        lsp_id: u16,
    },
    /// A sub-TLV of a type that is not read here.
    Other {
        /// Its type (RFC 8029, 3.2).
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

impl LspPing {
    /// Reads a message. What can't be written again as it is, such as padding that is not zero, is refused.
    pub(crate) fn read(data: &[u8]) -> Result<LspPing, Error> {
        need(LAYER, HEADER_LEN, data.len())?;
        let short = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let time = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        let mut message = LspPing {
            version: short(0),
            flags: short(2),
            message_type: data[4],
            reply_mode: data[5],
            return_code: data[6],
            return_subcode: data[7],
            handle: word(8),
            sequence: word(12),
            sent: time(16),
            received: time(24),
            tlvs: Vec::new(),
        };
        for (kind, value) in parts(&data[HEADER_LEN..]).map_err(|error| error.at(HEADER_LEN))? {
            message.tlvs.push(Tlv::read(kind, value));
        }
        match message.write() {
            Ok(again) if again == data => Ok(message),
            _ => Err(Error::invalid(LAYER, HEADER_LEN, "the padding of a TLV is not zero")),
        }
    }

    /// The message as it is on the wire.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        bytes.extend(self.version.to_be_bytes());
        bytes.extend(self.flags.to_be_bytes());
        bytes.extend([self.message_type, self.reply_mode, self.return_code, self.return_subcode]);
        bytes.extend(self.handle.to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.sent.to_be_bytes());
        bytes.extend(self.received.to_be_bytes());
        for tlv in &self.tlvs {
            tlv.write(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        match self.message_type {
            1 => out.push_str("LSP ping request"),
            2 => write!(out, "LSP ping reply, return code {}", self.return_code)?,
            other => write!(out, "LSP ping type {other}")?,
        }
        write!(out, ", sequence {}", self.sequence)?;
        for tlv in &self.tlvs {
            if let Tlv::TargetFecStack { fecs } = tlv {
                fecs.iter().try_for_each(|fec| fec.summarise(out))?;
            }
        }
        Ok(())
    }
}

impl Tlv {
    fn read(kind: u16, value: &[u8]) -> Tlv {
        let other = || Tlv::Other { kind, value: value.into() };
        if kind != TARGET_FEC_STACK {
            return other();
        }
        let Ok(parts) = parts(value) else { return other() };
        let stack = Tlv::TargetFecStack {
            fecs: parts.into_iter().map(|(kind, value)| Fec::read(kind, value)).collect(),
        };
        // Something is set that has no name: show it as it is.
        let mut again = Vec::new();
        match stack.write(&mut again) {
            Ok(()) if again.get(TLV_HEADER_LEN..).is_some_and(|again| again == value) => stack,
            _ => other(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Tlv::TargetFecStack { fecs } => {
                let mut value = Vec::new();
                for fec in fecs {
                    let (kind, bytes) = fec.value();
                    append(&mut value, kind, &bytes)?;
                }
                append(out, TARGET_FEC_STACK, &value)
            }
            Tlv::Other { kind, value } => append(out, *kind, &value.0),
        }
    }
}

impl Fec {
    fn read(kind: u16, value: &[u8]) -> Fec {
        match (kind, value) {
            (1, &[a, b, c, d, length]) => Fec::LdpIpv4 { prefix: Ipv4Addr::new(a, b, c, d), length },
            (2, [prefix @ .., length]) if prefix.len() == 16 => {
                let mut bytes = [0; 16];
                bytes.copy_from_slice(prefix);
                Fec::LdpIpv6 { prefix: bytes.into(), length: *length }
            }
            (3, &[a, b, c, d, 0, 0, t, u, w, x, y, z, h, i, j, k, 0, 0, l, m]) => Fec::RsvpIpv4 {
                endpoint: Ipv4Addr::new(a, b, c, d),
                tunnel_id: u16::from_be_bytes([t, u]),
                extended_tunnel_id: u32::from_be_bytes([w, x, y, z]),
                sender: Ipv4Addr::new(h, i, j, k),
                lsp_id: u16::from_be_bytes([l, m]),
            },
            _ => Fec::Other { kind, value: value.into() },
        }
    }

    /// Its type and value.
    fn value(&self) -> (u16, Vec<u8>) {
        match self {
            Fec::LdpIpv4 { prefix, length } => (1, [&prefix.octets()[..], &[*length]].concat()),
            Fec::LdpIpv6 { prefix, length } => (2, [&prefix.octets()[..], &[*length]].concat()),
            Fec::RsvpIpv4 { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let mut bytes = endpoint.octets().to_vec();
                bytes.extend(u32::from(*tunnel_id).to_be_bytes());
                bytes.extend(extended_tunnel_id.to_be_bytes());
                bytes.extend(sender.octets());
                bytes.extend(u32::from(*lsp_id).to_be_bytes());
                (3, bytes)
            }
            Fec::Other { kind, value } => (*kind, value.0.clone()),
        }
    }

    fn summarise(&self, out: &mut String) -> fmt::Result {
        match self {
            Fec::LdpIpv4 { prefix, length } => write!(out, ", LDP {prefix}/{length}"),
            Fec::LdpIpv6 { prefix, length } => write!(out, ", LDP {prefix}/{length}"),
            Fec::RsvpIpv4 { endpoint, tunnel_id, sender, lsp_id, .. } => {
                write!(out, ", RSVP {sender} > {endpoint} tunnel {tunnel_id} LSP {lsp_id}")
            }
            Fec::Other { kind, .. } => write!(out, ", FEC type {kind}"),
        }
    }
}

/// TLVs one behind the other, each with its type and its value without padding.
fn parts(data: &[u8]) -> Result<Vec<(u16, &[u8])>, Error> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let rest = &data[at..];
        need(LAYER, TLV_HEADER_LEN, rest.len()).map_err(|error| error.at(at))?;
        let kind = u16::from_be_bytes([rest[0], rest[1]]);
        let len = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        let padded = TLV_HEADER_LEN + len.next_multiple_of(4);
        let Some(value) = rest.get(TLV_HEADER_LEN..TLV_HEADER_LEN + len).filter(|_| padded <= rest.len())
        else {
            let (found, max) = (len as u64, rest.len().saturating_sub(TLV_HEADER_LEN) as u64);
            let reason = Reason::OutOfRange { field: "TLV length", found, min: 0, max };
            return Err(Error::new(LAYER, at + 2, reason));
        };
        parts.push((kind, value));
        at += padded;
    }
    Ok(parts)
}

fn append(out: &mut Vec<u8>, kind: u16, value: &[u8]) -> Result<(), Error> {
    let max = u16::MAX;
    let len = u16::try_from(value.len()).map_err(|_| {
        let reason =
            Reason::OutOfRange { field: "TLV length", found: value.len() as u64, min: 0, max: max.into() };
        Error::new(LAYER, 0, reason)
    })?;
    out.extend(kind.to_be_bytes());
    out.extend(len.to_be_bytes());
    out.extend(value);
    out.resize(out.len() + (value.len().next_multiple_of(4) - value.len()), 0);
    Ok(())
}
