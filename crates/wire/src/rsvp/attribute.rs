//! SESSION_ATTRIBUTE in both forms (RFC 3209, 4.7).

use super::class::SESSION_ATTRIBUTE;
use super::error::Fault;
use super::field::{Get, Put};
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

impl SessionAttribute {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<SessionAttribute, Fault> {
        let (mut get, affinities) = match c_type {
            1 => {
                let mut get = Get::at_least(body, 16)?;
                let [exclude_any, include_any, include_all] = [get.u32(), get.u32(), get.u32()];
                (get, Some(Affinities { exclude_any, include_any, include_all }))
            }
            7 => (Get::at_least(body, 4)?, None),
            _ => return Err(Fault::UNKNOWN_C_TYPE),
        };
        let (setup_priority, holding_priority, flags) = (get.u8(), get.u8(), get.u8());
        let length = usize::from(get.u8());
        let at = body.len() - get.0.len();
        let name =
            get.0.get(..length).ok_or(Fault::invalid(at, "the session name goes beyond the object"))?;
        Ok(SessionAttribute { affinities, setup_priority, holding_priority, flags, name: name.to_vec() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let length = u8::try_from(self.name.len()).map_err(|_| Fault::TOO_LONG)?;
        let at = out.begin(SESSION_ATTRIBUTE, if self.affinities.is_some() { 1 } else { 7 });
        if let Some(affinities) = self.affinities {
            out.u32(affinities.exclude_any);
            out.u32(affinities.include_any);
            out.u32(affinities.include_all);
        }
        out.bytes(&[self.setup_priority, self.holding_priority, self.flags, length]);
        out.bytes(&self.name);
        out.end(at)
    }
}
