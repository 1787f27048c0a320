//! What LSPs know of differentiated services (RFC 3270).

use crate::label::{Dscp, TrafficClass};
use crate::phb::{Phb, PhbSet, SchedulingClass};
use core::fmt;
use serde::{Deserialize, Serialize};

mod described;

pub use described::{DiffServConfig, DiffServProblem, ELsp, LLsp, LspDiffServ};

crate::words! {
    /// How the markings of a packet inside an LSP and of the LSP around it have to do with each other (RFC 3270, 2.6).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TunnelModel {
        /// The LSP has its own marking, by which the egress forwards, too; the marking inside comes out as it went in
        /// (2.6.2).
        Pipe = "pipe",
        /// As pipe, but the egress forwards by the marking inside (2.6.2.1).
        ShortPipe = "short-pipe",
        /// There is one marking: what the LSP changed shows in the packet that leaves it (2.6.3).
        Uniform = "uniform",
    }
    default Pipe;
}

/// The PHB of each TC: the mapping of an E-LSP (RFC 3270, 3.1). In JSON a list of eight PHBs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TcMap([Phb; 8]);

impl TcMap {
    /// What a node uses that has been told of no other: default, AF11, AF12, AF21, AF31, EF, CS6, CS7.
    pub const PRECONFIGURED: TcMap = TcMap([
        Phb::DEFAULT,
        Phb::of_dscp(dscp(10)),
        Phb::of_dscp(dscp(12)),
        Phb::of_dscp(dscp(18)),
        Phb::of_dscp(dscp(26)),
        Phb::EF,
        Phb::of_dscp(dscp(48)),
        Phb::of_dscp(dscp(56)),
    ]);
    /// Every value means default forwarding.
    pub const ALL_DEFAULT: TcMap = TcMap([Phb::DEFAULT; 8]);

    /// The mapping of TC 0 to 7 to these.
    pub const fn new(phbs: [Phb; 8]) -> TcMap {
        TcMap(phbs)
    }
    /// The PHBs of TC 0 to 7.
    pub const fn as_array(&self) -> &[Phb; 8] {
        &self.0
    }
    /// The PHB that `tc` means.
    #[inline]
    pub fn phb(&self, tc: TrafficClass) -> Phb {
        self.0[usize::from(tc.value() & 7)]
    }
    /// The lowest value that means `phb`, if one does.
    #[inline]
    pub fn tc(&self, phb: Phb) -> Option<TrafficClass> {
        self.0.iter().position(|p| *p == phb).map(|tc| TrafficClass::truncate(tc as u8))
    }
    /// All that it maps to.
    pub fn phbs(&self) -> PhbSet {
        self.0.into_iter().collect()
    }
}

/// A code point in a constant.
const fn dscp(value: u8) -> Dscp {
    match Dscp::new(value) {
        Some(dscp) => dscp,
        None => Dscp::DEFAULT,
    }
}

impl Default for TcMap {
    fn default() -> TcMap {
        TcMap::PRECONFIGURED
    }
}
impl fmt::Debug for TcMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// What the label and the TC of an LSP say about a packet's PHB (RFC 3270, 1.2 and 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encaps {
    /// EXP-inferred (RFC 3270, 1.2): TC identifies scheduling class and drop precedence.
    ELsp(TcMap),
    /// Label-only-inferred (RFC 3270, 1.3): the label identifies the scheduling class, TC the drop precedence.
    LLsp(SchedulingClass),
}

impl Encaps {
    /// The PHB of a packet that has `tc`, if the mapping knows it.
    #[inline]
    pub fn phb(&self, tc: TrafficClass) -> Option<Phb> {
        match self {
            Encaps::ELsp(map) => Some(map.phb(tc)),
            // RFC 3270, 4.2.1: of a group with drop precedences TC 1, 2 and 3 are those; of others TC 0 is the PHB.
            Encaps::LLsp(class) => match (class.is_group(), tc.value()) {
                (true, precedence @ 1..=3) => Some(class.with_precedence(precedence)),
                (false, 0) => Some(class.first()),
                _ => None,
            },
        }
    }

    /// The TC for a packet of PHB `phb`, if the LSP has a place for it.
    #[inline]
    pub fn tc(&self, phb: Phb) -> Option<TrafficClass> {
        match self {
            Encaps::ELsp(map) => map.tc(phb),
            // RFC 3270, 4.4.1.
            Encaps::LLsp(class) => {
                (phb.scheduling_class() == *class).then(|| TrafficClass::truncate(phb.drop_precedence()))
            }
        }
    }

    /// The PHBs that packets in the LSP can have.
    pub fn phbs(&self) -> PhbSet {
        match self {
            Encaps::ELsp(map) => map.phbs(),
            Encaps::LLsp(class) => class.phbs(),
        }
    }
}

/// What a label of an LSP means for PHBs, incoming or outgoing: its DiffServ context (RFC 3270, 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LspClasses {
    /// How the marking around has to do with the marking inside.
    pub model: TunnelModel,
    /// What label and TC mean: E-LSP or L-LSP.
    pub encaps: Encaps,
}

impl fmt::Display for Encaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Encaps::ELsp(map) => {
                f.write_str("E-LSP")?;
                map.as_array().iter().try_for_each(|phb| write!(f, " {phb}"))
            }
            Encaps::LLsp(class) => write!(f, "L-LSP {class}"),
        }
    }
}

/// Such as `pipe L-LSP AF1`, and `uniform E-LSP default AF11 ...` with the PHBs of TC 0 to 7.
impl fmt::Display for LspClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.model, self.encaps)
    }
}

impl LspDiffServ {
    /// What TC means in the LSP at a node whose preconfigured mapping is `preconfigured`.
    pub fn encaps(&self, preconfigured: TcMap) -> Encaps {
        match *self {
            LspDiffServ::ELsp(ELsp { map, .. }) => Encaps::ELsp(map.unwrap_or(preconfigured)),
            LspDiffServ::LLsp(LLsp { class, .. }) => Encaps::LLsp(class),
        }
    }

    /// Its tunnelling model, if it has one of its own. Nothing signals it: the nodes that it passes are told by a
    /// command.
    pub const fn model(&self) -> Option<TunnelModel> {
        match *self {
            LspDiffServ::ELsp(ELsp { model, .. }) | LspDiffServ::LLsp(LLsp { model, .. }) => model,
        }
    }
}

impl DiffServConfig {
    /// The PHBs that LSPs may ask for.
    pub fn supported(&self) -> PhbSet {
        self.supported.unwrap_or(PhbSet::ALL)
    }
}

/// Which PHB packets of each code point get, and by which code point a PHB is marked (RFC 2474, 3). In JSON a list of
/// pairs of code point and PHB, of those that differ from the recommended ones.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Dscp, Phb)>", into = "Vec<(Dscp, Phb)>")]
pub struct DscpMap([Phb; 64]);

impl DscpMap {
    /// The PHB of packets with `dscp`.
    #[inline]
    pub fn phb(&self, dscp: Dscp) -> Phb {
        self.0[usize::from(dscp.value() & 63)]
    }
    /// The code point that marks `phb`: the recommended one if it means that here, else the lowest that does, else the
    /// recommended one.
    pub fn dscp(&self, phb: Phb) -> Dscp {
        if self.phb(phb.dscp()) == phb {
            return phb.dscp();
        }
        let other = self.0.iter().position(|p| *p == phb).and_then(|dscp| Dscp::new(dscp as u8));
        other.unwrap_or(phb.dscp())
    }
    /// Gives packets with `dscp` the PHB `phb`.
    pub fn set(&mut self, dscp: Dscp, phb: Phb) {
        self.0[usize::from(dscp.value() & 63)] = phb;
    }
    fn recommended() -> impl Iterator<Item = (Dscp, Phb)> {
        (0..64).filter_map(Dscp::new).map(|dscp| (dscp, Phb::of_dscp(dscp)))
    }
}

impl Default for DscpMap {
    fn default() -> DscpMap {
        let mut map = DscpMap([Phb::DEFAULT; 64]);
        DscpMap::recommended().for_each(|(dscp, phb)| map.set(dscp, phb));
        map
    }
}
impl From<Vec<(Dscp, Phb)>> for DscpMap {
    fn from(pairs: Vec<(Dscp, Phb)>) -> DscpMap {
        let mut map = DscpMap::default();
        pairs.into_iter().for_each(|(dscp, phb)| map.set(dscp, phb));
        map
    }
}
impl From<DscpMap> for Vec<(Dscp, Phb)> {
    fn from(map: DscpMap) -> Vec<(Dscp, Phb)> {
        let all = DscpMap::recommended().map(|(dscp, phb)| (dscp, phb, map.phb(dscp)));
        all.filter(|(_, usual, here)| usual != here).map(|(dscp, _, here)| (dscp, here)).collect()
    }
}
impl fmt::Debug for DscpMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(Vec::from(*self)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tc(value: u8) -> TrafficClass {
        TrafficClass::truncate(value)
    }

    #[test]
    fn every_mapped_phb_comes_back_from_its_tc() {
        let lsps = Phb::class_selector(0).into_iter().chain((0..64).filter_map(Phb::new));
        let lsps = lsps.map(|phb| Encaps::LLsp(phb.scheduling_class()));
        for encaps in lsps.chain([Encaps::ELsp(TcMap::PRECONFIGURED), Encaps::ELsp(TcMap::ALL_DEFAULT)]) {
            for phb in (0..64).filter_map(Phb::new) {
                let there = encaps.tc(phb);
                assert_eq!(there.is_some(), encaps.phbs().contains(phb), "{encaps:?} {phb}");
                if let Some(there) = there {
                    assert_eq!(encaps.phb(there), Some(phb), "{encaps:?}");
                }
            }
        }
    }

    #[test]
    fn exp_bits_of_label_only_inferred_lsps_are_those_of_the_rfc() {
        // RFC 3270, 4.2.1 and 4.4.1.
        let af2 = Encaps::LLsp(Phb::assured(2, 1).expect("AF21").scheduling_class());
        for precedence in 1..=3 {
            let phb = Phb::assured(2, precedence).expect("AF2x");
            assert_eq!((af2.tc(phb), af2.phb(tc(precedence))), (Some(tc(precedence)), Some(phb)));
        }
        assert_eq!((af2.phb(tc(0)), af2.phb(tc(4)), af2.tc(Phb::EF)), (None, None, None));
        let ef = Encaps::LLsp(Phb::EF.scheduling_class());
        assert_eq!((ef.phb(tc(0)), ef.tc(Phb::EF), ef.phb(tc(1))), (Some(Phb::EF), Some(tc(0)), None));
    }

    #[test]
    fn a_configuration_reads_what_it_writes() {
        let text = r#"{"tc_map":["default","AF11","AF12","AF13","EF","EF","CS6","CS7"],"model":"short-pipe",
            "supported":["EF","default"],"dscp":[[63,"EF"]]}"#;
        let config: DiffServConfig = serde_json::from_str(text).expect("well formed");
        assert_eq!(config.tc_map.phb(tc(3)).to_string(), "AF13");
        assert_eq!(config.dscp.phb(Dscp::new(63).expect("six bits")), Phb::EF);
        assert_eq!(config.dscp.dscp(Phb::EF), Dscp::EF);
        assert!(config.supported().contains(Phb::EF) && !config.supported().contains(Phb::LE));
        let again = serde_json::to_string(&config).expect("writes");
        assert_eq!(serde_json::from_str::<DiffServConfig>(&again).expect("reads"), config);
        assert_eq!(
            serde_json::from_str::<DiffServConfig>("{}").expect("all by default"),
            DiffServConfig::default()
        );
    }
}
