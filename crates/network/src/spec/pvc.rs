//! A permanent virtual circuit of ATM, as users write it: a link whose packets go as cells through ATM switches.

use super::reference::{Names, NodeRef};
use crate::atm::payload;
use base::describe::Several;
use base::diagnostic::{At, Diagnostic};
use base::{Rate, Span};
use node::atm::{Map, Service};
use wire::atm::Encapsulation;

base::words! {
    /// What stands between a packet and AAL5.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EncapsulationWord {
        /// LLC and SNAP, 8 bytes (RFC 2684, 5.1).
        LlcSnap = "llc-snap",
        /// Nothing: the circuit carries IPv4 alone (RFC 2684, 6.1).
        VcMux = "vc-mux",
        /// A label stack entry, 4 bytes (RFC 3035, 9).
        Shim = "shim",
    }
    default LlcSnap;
}

base::words! {
    /// What is agreed about its cells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ServiceWord {
        /// Unspecified bit rate: what is left.
        Ubr = "ubr",
        /// Constant bit rate: its cells leave first, and links have room for its peak rate.
        Cbr = "cbr",
    }
    default Ubr;
}

impl ServiceWord {
    /// What switches know it as.
    pub fn service(self) -> Service {
        match self {
            ServiceWord::Ubr => Service::Ubr,
            ServiceWord::Cbr => Service::Cbr,
        }
    }
}

base::words! {
    /// How an end of a circuit knows which address is at the other one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MapWord {
        /// By configuration: that of the node there on this link.
        Static = "static",
        /// It asks: InATMARP (RFC 2390), on circuits with LLC and SNAP.
        InAtmArp = "inatmarp",
    }
    default Static;
}

base::record! {
    /// A permanent virtual circuit of ATM.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PvcSpec {
        /// ATM switches that it passes, those at its ends among them: two or more, joined by links of medium atm.
        pub through: Vec<NodeRef>;
        /// Its virtual path on each of these links. On one that is a virtual path itself (`vp`), it is in that.
        pub vpi: u16 = 0, in 0..=4_095;
        /// Its virtual channel there: one for all links, or one for each.
        pub vci: Option<Several<u32>>, absent "the lowest that is free on each link, from 32 on";
        /// What stands between a packet and AAL5.
        pub encapsulation: EncapsulationWord = EncapsulationWord::default();
        /// How each end knows which address is at the other one.
        pub map: MapWord = MapWord::default();
        /// What is agreed about its cells.
        pub service: ServiceWord = ServiceWord::default();
        /// Peak cell rate: the most that is sent, such as 4750 cells/s.
        pub pcr: Option<Rate>, absent "as much as the links carry; cbr needs one", was "peak";
        /// Cells leave at the peak rate at most; otherwise as they come.
        pub shaped: bool = true;
        /// Cells that are earlier by more than this are dropped (GCRA): by the second switch, or by the end if that
        /// does not shape.
        pub tolerance: Option<Span>, absent "no cell is too early";
    }
}

impl PvcSpec {
    /// Finds the switches that are meant.
    pub fn resolve(&mut self, names: &Names) -> Result<(), Diagnostic> {
        for (place, node) in self.through.iter_mut().enumerate() {
            node.resolve(names).at(place).at("through")?;
        }
        Ok(())
    }

    /// What its peak rate leaves for payloads of cells.
    pub fn payload_rate(&self) -> Option<Rate> {
        self.pcr.map(payload)
    }

    /// What stands between its packets and AAL5.
    pub fn encapsulation(&self) -> Encapsulation {
        match self.encapsulation {
            EncapsulationWord::LlcSnap => Encapsulation::LlcSnap,
            EncapsulationWord::VcMux => Encapsulation::VcMultiplexed,
            EncapsulationWord::Shim => Encapsulation::Shim,
        }
    }

    /// How each end knows the other one.
    pub fn map(&self) -> Map {
        match self.map {
            MapWord::Static => Map::Static,
            MapWord::InAtmArp => Map::Learned,
        }
    }

    /// What is agreed about its cells.
    pub fn service(&self) -> Service {
        self.service.service()
    }
}
