//! How labels are channels of a link of ATM (RFC 3035), as users write it.

use base::diagnostic::Diagnostic;
use base::plane::ChannelRange;
use node::atm::LabelConfig;
use wire::atm::{Encapsulation, Format};

base::words! {
    /// What stands between AAL5 and a packet whose label is its channel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LabelEncapsulation {
        /// An entry for each label, of which the first is null (RFC 3035, 9).
        Shim = "shim",
        /// Nothing: packets have one label and are IPv4.
        Bare = "bare",
    }
    default Shim;
}

base::problems! {
    /// What is refused of labels that are channels.
    pub enum LcAtmProblem {
        /// A range that ends before it begins.
        Backwards { key: &'static str, first: u32, last: u32 } is OutOfRange, "lc-atm-backwards", "{key} from {first} to {last}: the first is the lesser one";
        /// Paths beyond what exists, or more than labels count.
        Paths { last: u32, most: u16 } is OutOfRange, "lc-atm-paths", "virtual paths up to {last}: they end at 4095, and at most {most} of them have labels";
        /// Channels that are no labels.
        Vci { vci: u32, min: u16 } is OutOfRange, "lc-atm-vci", "VCI {vci}: {min} to 65535, since those below are no labels (RFC 3035, 7.1)";
        /// A label that would be the channel of packets without one.
        ControlWithin { vpi: u16, vci: u32 } is Conflict, "lc-atm-control-within", "VPI {vpi}, VCI {vci} carries packets without a label, and can't be a label too: give labels another range";
        /// Channels that are labels elsewhere than where routers are at both ends of cells.
        Elsewhere {} is Conflict, "lc-atm-elsewhere", "labels are channels on links of medium atm between routers or ATM-LSRs";
        /// What a link of cells between routers does not have.
        NotThere { key: &'static str } is Conflict, "lc-atm-not-there", "a link of medium atm between routers has no '{key}'";
        /// Paths on a link that is one itself.
        OtherPath { key: &'static str } is Conflict, "lc-atm-other-path", "a virtual path has one VPI, which 'vp' says, and labels are its VCIs (RFC 3035, 7.2): leave '{key}' out";
        /// A path that no header of a user's interface has.
        PathOfUni { vpi: u32 } is OutOfRange, "lc-atm-path-of-uni", "VPI {vpi}: 0 to 255, since cells have headers of a user-network interface ('uni')";
        /// Ends of one network of cells that understand packets differently.
        OtherEncapsulation { node: String, one: &'static str, other: &'static str } is Conflict, "lc-atm-other-encapsulation", "'{node}' has links of medium atm with encapsulation {one} and {other}: packets pass cells unchanged, so it is the same on all";
    }
}

base::record! {
    /// How labels are channels of a link of medium atm between routers and ATM-LSRs (RFC 3035).
    #[derive(Clone, Debug, PartialEq)]
    pub struct LcAtmSpec {
        /// The first and the last virtual path with labels, 16 at most.
        pub vpi: [u32; 2] = [0, 0];
        /// The first and the last virtual channel there that may be a label, from 33 on.
        pub vci: [u32; 2] = [33, 65_535];
        /// Virtual path of packets without a label: those of protocols, and those to where no label is known.
        pub control_vpi: u16 = 0, in 0..=4_095;
        /// Virtual channel of these packets.
        pub control_vci: u32 = 32, in 32..=65_535;
        /// What stands between AAL5 and a labelled packet.
        pub encapsulation: LabelEncapsulation = LabelEncapsulation::default();
        /// A channel is a label in one direction of the link alone (RFC 5036, 3.5.3).
        pub unidirectional: bool = false;
    }
    check LcAtmSpec::check;
}

impl LcAtmSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let at = |key: &'static str| move |problem: LcAtmProblem| Diagnostic::new(problem).at(key).on_key();
        for (key, [first, last]) in [("vpi", self.vpi), ("vci", self.vci)] {
            if first > last {
                return Err(at(key)(LcAtmProblem::Backwards { key, first, last }));
            }
        }
        let most = ChannelRange::PATHS_MAX;
        if self.vpi[1] > 4_095 || self.vpi[1] - self.vpi[0] >= u32::from(most) {
            return Err(at("vpi")(LcAtmProblem::Paths { last: self.vpi[1], most }));
        }
        let min = ChannelRange::VCI_MIN;
        if let Some(vci) = self.vci.into_iter().find(|vci| !(u32::from(min)..=65_535).contains(vci)) {
            return Err(at("vci")(LcAtmProblem::Vci { vci, min }));
        }
        if self.range().contains(self.control()) {
            let (vpi, vci) = (self.control_vpi, self.control_vci);
            return Err(at("control_vci")(LcAtmProblem::ControlWithin { vpi, vci }));
        }
        Ok(())
    }

    /// Refuses what does not fit the link: paths beside that which it is, or that its headers can't say.
    pub fn check_on(&self, is_path: bool, uni: bool) -> Result<(), Diagnostic> {
        let usual = LcAtmSpec::usual();
        let said = [("vpi", self.vpi != usual.vpi), ("control_vpi", self.control_vpi != usual.control_vpi)];
        if let Some((key, _)) = said.into_iter().find(|(_, said)| is_path && *said) {
            return Err(Diagnostic::new(LcAtmProblem::OtherPath { key }).at(key).on_key());
        }
        let most = u32::from(Format::Uni.vpi_max());
        let paths = [("vpi", self.vpi[1]), ("control_vpi", u32::from(self.control_vpi))];
        match paths.into_iter().find(|(_, vpi)| uni && *vpi > most) {
            Some((key, vpi)) => Err(Diagnostic::new(LcAtmProblem::PathOfUni { vpi }).at(key).on_key()),
            None => Ok(()),
        }
    }

    /// What is meant where nothing is said.
    pub fn usual() -> LcAtmSpec {
        LcAtmSpec {
            vpi: [0, 0],
            vci: [33, 65_535],
            control_vpi: 0,
            control_vci: 32,
            encapsulation: LabelEncapsulation::default(),
            unidirectional: false,
        }
    }

    /// Channels that may be labels.
    pub fn range(&self) -> ChannelRange {
        let both = |[first, last]: [u32; 2]| (first as u16, last as u16);
        ChannelRange { vpi: both(self.vpi), vci: both(self.vci) }
    }

    /// Path and channel of packets without a label.
    pub fn control(&self) -> (u16, u16) {
        (self.control_vpi, self.control_vci as u16)
    }

    /// How the switch at an end deals with labels.
    pub fn labels(&self) -> LabelConfig {
        let encapsulation = match self.encapsulation {
            LabelEncapsulation::Shim => Encapsulation::Shim,
            LabelEncapsulation::Bare => Encapsulation::VcMultiplexed,
        };
        LabelConfig { first: self.vpi[0] as u16, encapsulation }
    }

    /// How users write what stands in front of packets.
    pub fn word(&self) -> &'static str {
        self.encapsulation.word()
    }
}
