//! Per-hop behaviours (PHBs, RFC 2475), and the groups of them that share a queue.
//!
//! A PHB is named by its recommended code point (RFC 3140, 2): so DSCP 46 and the expedited-forwarding PHB have the
//! same number here, though a network may mark the PHB by another code point.

use crate::label::Dscp;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// A per-hop behaviour (PHB, RFC 2475), by its recommended code point.
///
/// Reads from JSON as a name such as `"AF11"` or as that number, and is written as a name.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub struct Phb(u8);

impl Phb {
    /// Default forwarding, the same as CS0 (RFC 2474, 4.1).
    pub const DEFAULT: Phb = Phb(0);
    /// Lower effort (RFC 8622).
    pub const LE: Phb = Phb(1);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Phb = Phb(46);
    /// Voice admit (RFC 5865).
    pub const VOICE_ADMIT: Phb = Phb(44);

    /// The PHB whose recommended code point is `dscp`.
    pub const fn of_dscp(dscp: Dscp) -> Phb {
        Phb(dscp.value())
    }
    /// The recommended code point.
    pub fn dscp(self) -> Dscp {
        Dscp::new(self.0).unwrap_or_default()
    }
    /// The PHB as the number of its recommended code point, at most 63.
    pub const fn code(self) -> u8 {
        self.0
    }
    /// The PHB of that number, if it is one.
    pub const fn new(code: u8) -> Option<Phb> {
        if code < 64 { Some(Phb(code)) } else { None }
    }
    /// Class selector 0 to 7 (RFC 2474, 4.2.2).
    pub const fn class_selector(class: u8) -> Option<Phb> {
        if class < 8 { Some(Phb(class << 3)) } else { None }
    }
    /// Assured forwarding, class 1 to 4, drop precedence 1 to 3 (RFC 2597, 6).
    pub const fn assured(class: u8, precedence: u8) -> Option<Phb> {
        if matches!((class, precedence), (1..=4, 1..=3)) {
            Some(Phb(class << 3 | precedence << 1))
        } else {
            None
        }
    }
    /// Class and drop precedence if this is an assured-forwarding PHB.
    pub const fn as_assured(self) -> Option<(u8, u8)> {
        match (self.0 >> 3, (self.0 & 7) >> 1) {
            (class @ 1..=4, precedence @ 1..=3) if self.0 & 1 == 0 => Some((class, precedence)),
            _ => None,
        }
    }
    /// Its drop precedence: 1 to 3 of assured forwarding, 0 of others.
    pub const fn drop_precedence(self) -> u8 {
        match self.as_assured() {
            Some((_, precedence)) => precedence,
            None => 0,
        }
    }
    /// The PHBs that share a queue with this one.
    pub const fn scheduling_class(self) -> SchedulingClass {
        SchedulingClass(match self.as_assured() {
            Some((class, _)) => class << 3 | 2,
            None => self.0,
        })
    }
}

impl From<Phb> for String {
    fn from(phb: Phb) -> String {
        phb.to_string()
    }
}

/// A PHB as people write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Code(u8),
    Name(String),
}

impl TryFrom<Written> for Phb {
    type Error = String;
    fn try_from(written: Written) -> Result<Phb, String> {
        match written {
            Written::Code(code) => {
                Phb::new(code).ok_or_else(|| format!("PHB {code}: a code point is at most 63"))
            }
            Written::Name(name) => name.parse(),
        }
    }
}

/// The usual name, or `DSCP n` if there is none.
impl fmt::Display for Phb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.as_assured()) {
            (Phb::DEFAULT, _) => f.write_str("default"),
            (Phb::EF, _) => f.write_str("EF"),
            (Phb::LE, _) => f.write_str("LE"),
            (Phb::VOICE_ADMIT, _) => f.write_str("VA"),
            (_, Some((class, precedence))) => write!(f, "AF{class}{precedence}"),
            (Phb(code), _) if code & 7 == 0 => write!(f, "CS{}", code >> 3),
            (Phb(code), _) => write!(f, "DSCP {code}"),
        }
    }
}
impl fmt::Debug for Phb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Phb {
    type Err = String;
    fn from_str(text: &str) -> Result<Phb, String> {
        let name = text.trim().to_ascii_uppercase();
        let digit = |at: usize| name.as_bytes().get(at).map_or(99, |b| b.wrapping_sub(b'0'));
        let found = match name.as_str() {
            "DEFAULT" | "DF" | "DE" | "BE" => Some(Phb::DEFAULT),
            "EF" => Some(Phb::EF),
            "LE" => Some(Phb::LE),
            "VA" => Some(Phb::VOICE_ADMIT),
            _ if name.len() == 4 && name.starts_with("AF") => Phb::assured(digit(2), digit(3)),
            _ if name.len() == 3 && name.starts_with("CS") => Phb::class_selector(digit(2)),
            _ => name.strip_prefix("DSCP ").unwrap_or(&name).parse().ok().and_then(Phb::new),
        };
        found.ok_or_else(|| {
            format!(
                "'{text}' is no per-hop behaviour: EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63"
            )
        })
    }
}

/// A PHB scheduling class (RFC 3270, 1.2): PHBs whose packets must not be reordered among each other, so that they
/// share a queue. The assured-forwarding PHBs of a class are one; every other PHB is one by itself.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Phb", into = "Phb")]
pub struct SchedulingClass(u8);

impl SchedulingClass {
    /// The PHB with the lowest number among them.
    pub const fn first(self) -> Phb {
        Phb(self.0)
    }
    /// The PHB with this drop precedence (1 to 3); of a class with one PHB, that one.
    pub const fn with_precedence(self, precedence: u8) -> Phb {
        match (Phb(self.0).as_assured(), precedence) {
            (Some(_), 1..=3) => Phb((self.0 & !7) | precedence << 1),
            _ => Phb(self.0),
        }
    }
    /// Are there several PHBs in it?
    pub const fn is_group(self) -> bool {
        Phb(self.0).as_assured().is_some()
    }
    /// All PHBs of the class: three of assured forwarding, else one.
    pub fn phbs(self) -> PhbSet {
        let count = if self.is_group() { 3 } else { 1 };
        (1..=count).map(|precedence| self.with_precedence(precedence)).collect()
    }
}

impl From<Phb> for SchedulingClass {
    fn from(phb: Phb) -> SchedulingClass {
        phb.scheduling_class()
    }
}
impl From<SchedulingClass> for Phb {
    fn from(class: SchedulingClass) -> Phb {
        class.first()
    }
}
impl fmt::Display for SchedulingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first().as_assured() {
            Some((class, _)) => write!(f, "AF{class}"),
            None => fmt::Display::fmt(&self.first(), f),
        }
    }
}
impl fmt::Debug for SchedulingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of PHBs. In JSON a list of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Phb>", into = "Vec<Phb>")]
pub struct PhbSet(u64);

impl PhbSet {
    /// All 64, those without a name too.
    pub const ALL: PhbSet = PhbSet(u64::MAX);
    /// Is the PHB in it?
    pub const fn contains(self, phb: Phb) -> bool {
        self.0 >> phb.0 & 1 == 1
    }
    /// Is nothing in it?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Puts a PHB in.
    pub fn insert(&mut self, phb: Phb) {
        self.0 |= 1 << phb.0;
    }
    /// Those that are in both.
    pub const fn intersection(self, other: PhbSet) -> PhbSet {
        PhbSet(self.0 & other.0)
    }
    /// Those that are in either.
    pub const fn union(self, other: PhbSet) -> PhbSet {
        PhbSet(self.0 | other.0)
    }
    /// Its PHBs, by number.
    pub fn iter(self) -> impl Iterator<Item = Phb> {
        (0..64).map(Phb).filter(move |phb| self.contains(*phb))
    }
}

impl FromIterator<Phb> for PhbSet {
    fn from_iter<I: IntoIterator<Item = Phb>>(phbs: I) -> PhbSet {
        let mut set = PhbSet::default();
        phbs.into_iter().for_each(|phb| set.insert(phb));
        set
    }
}
impl From<Vec<Phb>> for PhbSet {
    fn from(phbs: Vec<Phb>) -> PhbSet {
        phbs.into_iter().collect()
    }
}
impl From<PhbSet> for Vec<Phb> {
    fn from(set: PhbSet) -> Vec<Phb> {
        set.iter().collect()
    }
}
impl fmt::Debug for PhbSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_code_points() {
        for (name, code) in [
            ("EF", 46),
            ("AF11", 10),
            ("AF12", 12),
            ("AF13", 14),
            ("AF21", 18),
            ("AF43", 38),
            ("CS1", 8),
            ("CS7", 56),
            ("default", 0),
            ("LE", 1),
            ("DSCP 63", 63),
        ] {
            let phb: Phb = name.parse().expect(name);
            assert_eq!((phb.code(), phb.to_string()), (code, name.to_string()));
        }
        for bad in ["AF10", "AF51", "AF14", "CS8", "64", "", "-1", "XF", "AF1"] {
            assert!(bad.parse::<Phb>().is_err(), "{bad}");
        }
        assert!("af41".parse::<Phb>().is_ok() && "BE".parse() == Ok(Phb::DEFAULT));
    }

    #[test]
    fn assured_forwarding_phbs_of_a_class_share_a_queue() {
        let af12 = Phb::assured(1, 2).expect("AF12");
        let class = af12.scheduling_class();
        assert_eq!((class.first().to_string(), class.to_string()), ("AF11".into(), "AF1".into()));
        assert_eq!(class.phbs().iter().map(|p| p.drop_precedence()).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(class.with_precedence(3), Phb::assured(1, 3).expect("AF13"));
        assert_eq!(Phb::EF.scheduling_class().phbs(), [Phb::EF].into_iter().collect());
        assert_eq!(Phb::EF.scheduling_class().with_precedence(2), Phb::EF);
    }
}
