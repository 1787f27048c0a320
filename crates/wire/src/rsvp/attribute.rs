//! SESSION_ATTRIBUTE in both forms (RFC 3209, 4.7).

use super::text;
use serde::{Deserialize, Serialize};

/// SESSION_ATTRIBUTE: priorities, wishes and the name of a tunnel.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Exclude-any                           |
/// |                         Include-any                           |   C-Type 1 only
/// |                         Include-all                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Setup Prio  | Holding Prio  |     Flags     |  Name Length  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// //          Session Name      (NULL padded display string)      //
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionAttribute {
    /// Link colours; present makes it C-Type 1, absent C-Type 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinities: Option<Affinities>,
    /// Priority in taking resources, 0 (best) to 7.
    pub setup_priority: u8,
    /// Priority in keeping resources, 0 (best) to 7; not worse than the setup priority.
    pub holding_priority: u8,
    /// [`SessionAttribute::SE_STYLE`] and the like.
    pub flags: u8,
    /// Display string, at most 255 bytes.
    #[serde(with = "text::name")]
    pub name: Vec<u8>,
}

/// Resource affinities: bit masks over the colours of links (RFC 3209, 4.7.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Affinities {
    /// A link with any of these is out.
    pub exclude_any: u32,
    /// A link needs one of these, unless zero.
    pub include_any: u32,
    /// A link needs all of these.
    pub include_all: u32,
}

impl SessionAttribute {
    /// Transit routers may repair locally (RFC 3209, 4.7.1).
    pub const LOCAL_PROTECTION: u8 = 0x01;
    /// Labels are to be recorded (RFC 3209, 4.7.1).
    pub const LABEL_RECORDING: u8 = 0x02;
    /// The ingress may re-route without tearing down: reserve with SE style (RFC 3209, 4.7.1).
    pub const SE_STYLE: u8 = 0x04;
    /// A backup with the same bandwidth is wanted (RFC 4090, 4.3).
    pub const BANDWIDTH_PROTECTION: u8 = 0x08;
    /// A backup that avoids the next node is wanted (RFC 4090, 4.3).
    pub const NODE_PROTECTION: u8 = 0x10;

    /// Without colours (C-Type 7).
    pub fn new(setup_priority: u8, holding_priority: u8, flags: u8, name: &str) -> SessionAttribute {
        let name = name.as_bytes();
        let name = name[..name.len().min(255)].to_vec();
        SessionAttribute { affinities: None, setup_priority, holding_priority, flags, name }
    }
}
