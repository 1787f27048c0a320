//! LABEL_REQUEST in its three forms (RFC 3209, 4.2); LABEL itself is a [`base::Label`] (RFC 3209, 4.1).

use super::class::{LABEL, LABEL_REQUEST};
use super::error::Fault;
use super::field::{Get, Put};
use base::Label;
use serde::{Deserialize, Serialize};

/// LABEL_REQUEST: bind a label to this path.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Reserved            |             L3PID             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |M| Res |    Minimum VPI        |      Minimum VCI              |   C-Type 2
/// |  Res  |    Maximum VPI        |      Maximum VCI              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Reserved    |DLI|                     Minimum DLCI            |   C-Type 3
/// | Reserved        |                     Maximum DLCI            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelRequest {
    /// C-Type 1: any label (RFC 3209, 4.2.1).
    #[serde(rename = "Label Request without Label Range")]
    Generic {
        /// EtherType of what the LSP carries.
        l3pid: u16,
    },
    /// C-Type 2: a label in a range of ATM channels (RFC 3209, 4.2.2).
    #[serde(rename = "Label Request with ATM Label Range")]
    Atm {
        /// EtherType of what the LSP carries.
        l3pid: u16,
        /// The node can merge in the data plane.
        merge: bool,
        /// Least virtual path identifier, 12 bits.
        min_vpi: u16,
        /// Least virtual channel identifier, 16 bits.
        min_vci: u16,
        /// Greatest virtual path identifier, 12 bits.
        max_vpi: u16,
        /// Greatest virtual channel identifier, 16 bits.
        max_vci: u16,
    },
    /// C-Type 3: a label in a range of frame-relay connections (RFC 3209, 4.2.3).
    #[serde(rename = "Label Request with Frame Relay Label Range")]
    FrameRelay {
        /// EtherType of what the LSP carries.
        l3pid: u16,
        /// DLCI length indicator: 0 is 10 bits, 2 is 23 bits.
        dli: u8,
        /// Least data-link connection identifier, 23 bits.
        min_dlci: u32,
        /// Greatest data-link connection identifier, 23 bits.
        max_dlci: u32,
    },
}

impl LabelRequest {
    /// EtherType of IPv4, the usual L3PID.
    pub const IPV4: u16 = 0x0800;

    /// Any label, for an LSP that carries IPv4.
    pub const fn ipv4() -> LabelRequest {
        LabelRequest::Generic { l3pid: LabelRequest::IPV4 }
    }

    /// EtherType of what the LSP carries.
    pub const fn l3pid(&self) -> u16 {
        match *self {
            LabelRequest::Generic { l3pid }
            | LabelRequest::Atm { l3pid, .. }
            | LabelRequest::FrameRelay { l3pid, .. } => l3pid,
        }
    }
}

impl LabelRequest {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<LabelRequest, Fault> {
        let length = match c_type {
            1 => 4,
            2 | 3 => 12,
            _ => return Err(Fault::UNKNOWN_C_TYPE),
        };
        let mut get = Get::exact(body, length)?;
        get.u16();
        let l3pid = get.u16();
        Ok(match c_type {
            1 => LabelRequest::Generic { l3pid },
            2 => {
                let [min_vpi, min_vci, max_vpi, max_vci] = [get.u16(), get.u16(), get.u16(), get.u16()];
                let merge = min_vpi & 0x8000 != 0;
                let (min_vpi, max_vpi) = (min_vpi & 0xfff, max_vpi & 0xfff);
                LabelRequest::Atm { l3pid, merge, min_vpi, min_vci, max_vpi, max_vci }
            }
            _ => {
                let (min, max) = (get.u32(), get.u32());
                let dli = (min >> 23 & 3) as u8;
                LabelRequest::FrameRelay { l3pid, dli, min_dlci: min & DLCI, max_dlci: max & DLCI }
            }
        })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        match *self {
            LabelRequest::Generic { l3pid } => {
                out.object(LABEL_REQUEST, 1, 4);
                out.u32(l3pid.into());
            }
            LabelRequest::Atm { l3pid, merge, min_vpi, min_vci, max_vpi, max_vci } => {
                out.object(LABEL_REQUEST, 2, 12);
                out.u32(l3pid.into());
                out.u16(u16::from(merge) << 15 | min_vpi & 0xfff);
                out.u16(min_vci);
                out.u16(max_vpi & 0xfff);
                out.u16(max_vci);
            }
            LabelRequest::FrameRelay { l3pid, dli, min_dlci, max_dlci } => {
                out.object(LABEL_REQUEST, 3, 12);
                out.u32(l3pid.into());
                out.u32(u32::from(dli & 3) << 23 | min_dlci & DLCI);
                out.u32(max_dlci & DLCI);
            }
        }
    }
}

const DLCI: u32 = 0x7f_ffff;

/// A generic label, right-aligned in a word (RFC 3209, 4.1).
#[inline]
pub(crate) fn parse_label(c_type: u8, body: &[u8]) -> Result<Label, Fault> {
    parse_word(c_type, body)?.ok_or(Fault::invalid(0, "the label has more than 20 bits"))
}

/// The same; nothing if the word holds more than a label of MPLS can have (RFC 3032, 2.1): the object can be read, and
/// who is offered the label has to refuse it (RFC 3209, 4.1.1.2).
#[inline]
pub(crate) fn parse_word(c_type: u8, body: &[u8]) -> Result<Option<Label>, Fault> {
    if c_type != 1 {
        return Err(Fault::UNKNOWN_C_TYPE);
    }
    Ok(Label::new(Get::exact(body, 4)?.u32()))
}

#[inline]
pub(crate) fn emit_label(label: Label, out: &mut impl Put) {
    out.object(LABEL, 1, 4);
    out.u32(label.value());
}
