//! The STYLE object (RFC 2205, A.7).

use super::class::STYLE;
use super::error::Fault;
use super::field::{Get, Put};
use serde::{Deserialize, Serialize};

/// How a reservation is shared between senders (RFC 2205, 1.3).
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// |   Flags     |              Option Vector              |
/// +-------------+-------------+-------------+-------------+
///                                        sharing ^^ ^^^ sender control
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Style {
    /// Fixed filter: a distinct reservation for each sender.
    #[serde(rename = "FF")]
    FixedFilter,
    /// Shared explicit: one reservation for a list of senders.
    #[serde(rename = "SE")]
    SharedExplicit,
    /// Wildcard filter: one reservation for whoever sends.
    #[serde(rename = "WF")]
    WildcardFilter,
}

impl Style {
    /// The option vector (RFC 2205, A.7): two bits of sharing, three bits of sender selection.
    pub const fn option_vector(self) -> u32 {
        match self {
            Style::WildcardFilter => 0b10001,
            Style::FixedFilter => 0b01010,
            Style::SharedExplicit => 0b10010,
        }
    }

    /// The style with this option vector.
    pub const fn of_option_vector(options: u32) -> Option<Style> {
        match options {
            0b10001 => Some(Style::WildcardFilter),
            0b01010 => Some(Style::FixedFilter),
            0b10010 => Some(Style::SharedExplicit),
            _ => None,
        }
    }

    /// FF, SE or WF.
    pub const fn name(self) -> &'static str {
        match self {
            Style::FixedFilter => "FF",
            Style::SharedExplicit => "SE",
            Style::WildcardFilter => "WF",
        }
    }
}

impl Style {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Style, Fault> {
        if c_type != 1 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::exact(body, 4)?;
        get.u8();
        Style::of_option_vector(get.u24()).ok_or(Fault::invalid(1, "the option vector is no style"))
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(STYLE, 1, 4);
        out.u32(self.option_vector());
    }
}
