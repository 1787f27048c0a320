//! DIFFSERV: what an LSP is to know of PHBs, per-hop behaviours (RFC 3270, 5.2), and how PHBs are encoded (RFC 3140).

use super::class::DIFFSERV;
use super::error::Fault;
use super::field::{Get, Put};
use base::{Phb, PhbSet, SchedulingClass};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Identifies a PHB, or a set of PHBs, in 16 bits: PHBID (RFC 3140, 2).
///
/// ```text
///   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15
/// +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
/// |          DSCP         | 0   0   0   0   0   0   0   0 |  S  0 |   of standards: S says that it is a set
/// |                    PHB id code                | 0   0 |  S  1 |   of others
/// +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PhbId(pub u16);

impl PhbId {
    /// The bit that says that it identifies a set of PHBs.
    pub const SET: u16 = 0x0002;

    /// The identifier of one PHB: its recommended code point.
    pub const fn of(phb: Phb) -> PhbId {
        PhbId((phb.code() as u16) << 10)
    }

    /// The identifier of the PHBs of a scheduling class: the lowest code point among them, with [`PhbId::SET`] if there
    /// are several.
    pub const fn of_class(class: SchedulingClass) -> PhbId {
        let PhbId(first) = PhbId::of(class.first());
        PhbId(if class.is_group() { first | PhbId::SET } else { first })
    }

    /// The PHB, if it is one with a recommended code point.
    pub fn phb(self) -> Option<Phb> {
        if self.0 & 0x3ff == 0 { Phb::new((self.0 >> 10) as u8) } else { None }
    }

    /// The scheduling class, if it is one of the standard ones: a set for assured forwarding, else one PHB.
    pub fn scheduling_class(self) -> Option<SchedulingClass> {
        let class = PhbId(self.0 & !PhbId::SET).phb()?.scheduling_class();
        (PhbId::of_class(class) == self).then_some(class)
    }
}

/// `AF12`, `set AF11`, or `0x1001` if it is none of the standard ones.
impl fmt::Display for PhbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.phb(), PhbId(self.0 & !PhbId::SET).phb()) {
            (Some(phb), _) => fmt::Display::fmt(&phb, f),
            (None, Some(phb)) => write!(f, "set {phb}"),
            (None, None) => write!(f, "{:#06x}", self.0),
        }
    }
}
impl fmt::Debug for PhbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl FromStr for PhbId {
    type Err = String;
    fn from_str(text: &str) -> Result<PhbId, String> {
        if let Some(hex) = text.strip_prefix("0x") {
            let value = u16::from_str_radix(hex, 16).map_err(|error| format!("'{text}': {error}"))?;
            return Ok(PhbId(value));
        }
        match text.strip_prefix("set ") {
            Some(name) => Ok(PhbId(PhbId::of(name.parse()?).0 | PhbId::SET)),
            None => Ok(PhbId::of(text.parse()?)),
        }
    }
}
impl TryFrom<String> for PhbId {
    type Error = String;
    fn try_from(text: String) -> Result<PhbId, String> {
        text.parse()
    }
}
impl From<PhbId> for String {
    fn from(id: PhbId) -> String {
        id.to_string()
    }
}

/// An entry of a TC-to-PHB mapping, the EXP<-->PHB mapping of RFC 3270.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "GivenEntry")]
pub struct MapEntry {
    /// TC bits of a label stack entry, 0 to 7; RFC 3270, 5.2.1 calls them EXP, as they were named before RFC 5462.
    pub tc: u8,
    /// The PHB of a packet whose label carries these bits.
    pub phb: PhbId,
}

/// A [`MapEntry`] as a user writes it, perhaps under the name that `tc` had before.
#[derive(Deserialize)]
struct GivenEntry {
    tc: Option<u8>,
    exp: Option<IgnoredAny>,
    phb: PhbId,
}

impl TryFrom<GivenEntry> for MapEntry {
    type Error = &'static str;
    fn try_from(given: GivenEntry) -> Result<MapEntry, &'static str> {
        match given {
            GivenEntry { exp: Some(_), .. } => {
                Err("E-LSP: 'exp' of a map entry is now called 'tc' (RFC 5462)")
            }
            GivenEntry { tc: Some(tc), phb, .. } => Ok(MapEntry { tc, phb }),
            GivenEntry { tc: None, .. } => Err("missing field `tc`"),
        }
    }
}

/// DIFFSERV (RFC 3270, 5.2): how the packets of an LSP get their PHB. In the figure EXP is what is now called TC.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Reserved                        | MAPnb |   C-Type 1
/// |        Reserved         | EXP |             PHBID             |   MAPnb times
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Reserved            |              PSC              |   C-Type 2
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DiffServ {
    /// C-Type 1: an E-LSP, with its TC-to-PHB mapping; without entries, that of every node itself, as it is
    /// preconfigured (RFC 3270, 5.2.1).
    #[serde(rename = "E-LSP")]
    ELsp(Vec<MapEntry>),
    /// C-Type 2: an L-LSP, with its scheduling class (RFC 3270, 5.2.2).
    #[serde(rename = "L-LSP")]
    LLsp(PhbId),
}

impl DiffServ {
    /// The most entries that MAPnb can count.
    const MAX: usize = 15;

    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<DiffServ, Fault> {
        match c_type {
            1 => {
                let count = Get::at_least(body, 4)?.u32() & 15;
                let mut get = Get::exact(body, 4 + 4 * count as usize)?;
                get.u32();
                let entry = |_| {
                    let tc = get.u16() as u8 & 7;
                    MapEntry { tc, phb: PhbId(get.u16()) }
                };
                Ok(DiffServ::ELsp((0..count).map(entry).collect()))
            }
            2 => {
                let mut get = Get::exact(body, 4)?;
                get.u16();
                Ok(DiffServ::LLsp(PhbId(get.u16())))
            }
            _ => Err(Fault::UNKNOWN_C_TYPE),
        }
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        match self {
            DiffServ::ELsp(map) => {
                if map.len() > DiffServ::MAX {
                    return Err(Fault::TOO_LONG);
                }
                out.object(DIFFSERV, 1, 4 + 4 * map.len() as u16);
                out.u32(map.len() as u32);
                for entry in map {
                    out.u16(u16::from(entry.tc & 7));
                    out.u16(entry.phb.0);
                }
            }
            DiffServ::LLsp(class) => {
                out.object(DIFFSERV, 2, 4);
                out.u32(u32::from(class.0));
            }
        }
        Ok(())
    }

    /// The PHBs that it identifies, as far as they are standard ones.
    pub fn phbs(&self) -> PhbSet {
        match self {
            DiffServ::ELsp(map) => map.iter().filter_map(|entry| entry.phb.phb()).collect(),
            DiffServ::LLsp(class) => class.scheduling_class().map(|c| c.phbs()).unwrap_or_default(),
        }
    }
}

impl fmt::Display for DiffServ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffServ::ELsp(map) => {
                f.write_str("E-LSP")?;
                map.iter().try_for_each(|entry| write!(f, " {}={}", entry.tc, entry.phb))
            }
            DiffServ::LLsp(class) => write!(f, "L-LSP {class}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phb_ids_are_written_as_rfc_3140_says() {
        let phb = |name: &str| name.parse::<Phb>().expect(name);
        for (id, text, bits) in [
            (PhbId::of(Phb::EF), "EF", 0xb800),
            (PhbId::of(phb("AF12")), "AF12", 0x3000),
            (PhbId::of_class(phb("AF12").scheduling_class()), "set AF11", 0x2802),
            (PhbId::of_class(Phb::EF.scheduling_class()), "EF", 0xb800),
            (PhbId(0x1235), "0x1235", 0x1235),
        ] {
            assert_eq!((id.0, id.to_string().as_str(), text.parse()), (bits, text, Ok(id)));
        }
        assert_eq!(PhbId(0x2802).scheduling_class().map(|c| c.first()), Some(phb("AF11")));
        assert_eq!(PhbId(0x2802).phb(), None);
        // One PHB of a group is no scheduling class, and neither is a set that is none.
        assert_eq!(PhbId::of(phb("AF11")).scheduling_class(), None);
        assert_eq!(PhbId(0xb802).scheduling_class(), None);
        assert!("set XF".parse::<PhbId>().is_err() && "0xg".parse::<PhbId>().is_err());
    }
    #[test]
    fn the_old_name_of_tc_is_refused_with_the_new_one() {
        let read = |text: &str| serde_json::from_str::<DiffServ>(text).map_err(|error| error.to_string());
        let entry = MapEntry { tc: 5, phb: PhbId::of(Phb::EF) };
        assert_eq!(read(r#"{"E-LSP": [{"tc": 5, "phb": "EF"}]}"#), Ok(DiffServ::ELsp(vec![entry])));
        for (text, refusal) in [
            (r#"{"E-LSP": [{"exp": 5, "phb": "EF"}]}"#, "'exp' of a map entry is now called 'tc'"),
            (r#"{"E-LSP": [{"phb": "EF"}]}"#, "missing field `tc`"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(refusal), "{error}");
        }
    }
}
