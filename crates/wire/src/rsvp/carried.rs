//! Objects that other routers send, and that this one carries or refuses by the two high bits of their class: CLASSTYPE
//! (RFC 4124), ADMIN_STATUS and NOTIFY_REQUEST (RFC 3473), LSP_ATTRIBUTES and LSP_REQUIRED_ATTRIBUTES (RFC 5420).

use super::basic::address_and;
use super::class::{ADMIN_STATUS, CLASSTYPE, NOTIFY_REQUEST};
use super::error::{Fault, Reason};
use super::field::{Get, Put, family};
use super::text;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// CLASSTYPE: the class-type of a DiffServ-aware tunnel (RFC 4124, 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClassType {
    /// 1 to 7; a tunnel of class-type 0 sends no such object.
    pub class_type: u8,
}

/// ADMIN_STATUS: what an end of the LSP wants to do with it (RFC 3473, 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AdminStatus {
    /// The other end is to send the object back.
    pub reflect: bool,
    /// The LSP is being tested.
    pub testing: bool,
    /// The LSP is taken out of service by an administrator.
    pub down: bool,
    /// The LSP is being deleted.
    pub deletion: bool,
}

/// A part of LSP_ATTRIBUTES or LSP_REQUIRED_ATTRIBUTES (RFC 5420, 3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AttributeTlv {
    /// 1 for attribute flags.
    #[serde(rename = "type")]
    pub kind: u16,
    /// The value, without padding.
    #[serde(with = "text::hex")]
    pub value: Vec<u8>,
}

impl ClassType {
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<ClassType, Fault> {
        only(c_type)?;
        Ok(ClassType { class_type: (Get::exact(body, 4)?.u32() & 7) as u8 })
    }

    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(CLASSTYPE, 1, 4);
        out.u32(u32::from(self.class_type & 7));
    }
}

impl AdminStatus {
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<AdminStatus, Fault> {
        only(c_type)?;
        let flags = Get::exact(body, 4)?.u32();
        Ok(AdminStatus {
            reflect: flags & 1 << 31 != 0,
            testing: flags & 4 != 0,
            down: flags & 2 != 0,
            deletion: flags & 1 != 0,
        })
    }

    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(ADMIN_STATUS, 1, 4);
        let low = u32::from(self.testing) << 2 | u32::from(self.down) << 1 | u32::from(self.deletion);
        out.u32(u32::from(self.reflect) << 31 | low);
    }
}

/// NOTIFY_REQUEST is the address of a node and nothing else (RFC 3473, 4.2.1).
pub(crate) fn parse_notify_request(c_type: u8, body: &[u8]) -> Result<IpAddr, Fault> {
    Ok(address_and(c_type, body, 0)?.1)
}

pub(crate) fn emit_notify_request(node: IpAddr, out: &mut impl Put) {
    let (c_type, bytes) = family(node);
    out.object(NOTIFY_REQUEST, c_type, bytes);
    out.ip(node);
}

pub(crate) fn parse_attributes(c_type: u8, mut body: &[u8]) -> Result<Vec<AttributeTlv>, Fault> {
    only(c_type)?;
    let (whole, mut tlvs) = (body.len(), Vec::new());
    while !body.is_empty() {
        let at = whole - body.len();
        let mut get = Get(body);
        let (kind, length) = (get.u16(), usize::from(get.u16()));
        // RFC 5420, 3: the length counts type and length, too, but not the padding.
        let Some(value) = body.get(4..length).filter(|_| length.next_multiple_of(4) <= body.len()) else {
            return Err(Fault { at, reason: Reason::Invalid("a TLV is longer than the object") });
        };
        tlvs.push(AttributeTlv { kind, value: value.to_vec() });
        body = &body[length.next_multiple_of(4)..];
    }
    Ok(tlvs)
}

pub(crate) fn emit_attributes(tlvs: &[AttributeTlv], class: u8, out: &mut impl Put) -> Result<(), Fault> {
    let at = out.begin(class, 1);
    for tlv in tlvs {
        out.u16(tlv.kind);
        out.u16(u16::try_from(tlv.value.len() + 4).map_err(|_| Fault::TOO_LONG)?);
        out.bytes(&tlv.value);
        out.bytes(&[0; 3][..tlv.value.len().wrapping_neg() & 3]);
    }
    out.end(at)
}

fn only(c_type: u8) -> Result<(), Fault> {
    if c_type == 1 { Ok(()) } else { Err(Fault::UNKNOWN_C_TYPE) }
}
