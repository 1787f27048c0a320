//! LABEL_REQUEST in its three forms (RFC 3209, 4.2); LABEL itself is a [`base::Label`] (RFC 3209, 4.1).

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
        /// 12 bits.
        min_vpi: u16,
        /// 16 bits.
        min_vci: u16,
        /// 12 bits.
        max_vpi: u16,
        /// 16 bits.
        max_vci: u16,
    },
    /// C-Type 3: a label in a range of frame-relay connections (RFC 3209, 4.2.3).
    #[serde(rename = "Label Request with Frame Relay Label Range")]
    FrameRelay {
        /// EtherType of what the LSP carries.
        l3pid: u16,
        /// DLCI length indicator: 0 is 10 bits, 2 is 23 bits.
        dli: u8,
        /// 23 bits.
        min_dlci: u32,
        /// 23 bits.
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
