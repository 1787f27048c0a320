//! A virtual path of ATM in the place of a wire, as users write it: a link whose cells go through ATM switches that
//! look at no channel.

use super::pvc::ServiceWord;
use super::reference::{Names, NodeRef};
use base::describe::Several;
use base::diagnostic::{At, Diagnostic};
use base::{Rate, Span};
use node::atm::Service;

base::record! {
    /// A virtual path of ATM in the place of a wire of cells (a VP tunnel): between two routers or ATM-LSRs, whose
    /// labels are channels of it, or between two ATM switches, whose circuits are.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VpSpec {
        /// ATM switches that it passes, in their order, joined by links of medium atm. They switch it as a whole.
        pub through: Vec<NodeRef>;
        /// Its virtual path identifier: one for all of its way, or one for each link: that to the first switch, those
        /// between switches, that from the last one.
        pub vpi: Option<Several<u32>>, absent "the lowest that is free on each link, from 1 on";
        /// What is agreed about its cells.
        pub service: ServiceWord = ServiceWord::Cbr;
        /// Peak cell rate: the most that is sent, such as 4750 cells/s.
        pub pcr: Option<Rate>, absent "as much as the links carry; cbr needs one";
        /// Its ends send cells at the peak rate at most; otherwise as they come.
        pub shaped: bool = true;
        /// Cells that come to the first switch earlier by more than this are dropped (GCRA).
        pub tolerance: Option<Span>, absent "no cell is too early";
    }
}

impl VpSpec {
    /// Finds the switches that are meant.
    pub fn resolve(&mut self, names: &Names) -> Result<(), Diagnostic> {
        for (place, node) in self.through.iter_mut().enumerate() {
            node.resolve(names).at(place).at("through")?;
        }
        Ok(())
    }

    /// What is agreed about its cells.
    pub fn service(&self) -> Service {
        self.service.service()
    }
}
