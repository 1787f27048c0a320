//! An ATM switch.

use super::{CellFacts, Facts, Node, NodeKind};
use crate::Network;
use crate::atm::switch_config;
use crate::spec::labels::Labels;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::{Device, NodeId};
use engine::World;
use node::AtmSwitch;

/// An ATM switch; circuits of routers and hosts go through it.
pub const ATM_SWITCH: NodeKind = NodeKind::of::<AtmSwitchSpec>(
    "atm-switch",
    "An ATM switch: circuits (`pvc`) between routers and hosts begin and end at it, and pass it.",
);

base::record! {
    /// An ATM switch. It is joined to others by links of medium atm, and its table follows from the circuits of the
    /// network. The port of a circuit's end makes cells of packets, so that one beside a router may stand for the
    /// router's own ATM interface.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AtmSwitchSpec {
        /// Cells of constant bit rate that wait at a port at most.
        pub cbr_cells: u32 = 256, in 1..=16_777_216;
        /// The same of unspecified bit rate, at ports whose link says no `buffer`.
        pub ubr_cells: u32 = 8_192, in 1..=16_777_216;
        /// From so many waiting cells on, packets of unspecified bit rate are dropped whole (early packet discard).
        pub epd_cells: Option<u32>, in 1..=16_777_216, absent "cells are dropped one by one";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl Node for AtmSwitchSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts {
            cells: Some(CellFacts { cbr: self.cbr_cells, ubr: self.ubr_cells }),
            ..Facts::of("an ATM switch")
        }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        Box::new(AtmSwitch::new(&switch_config(network, node, self)))
    }

    fn atm_switch<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a AtmSwitch> {
        world.device(id)
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        world.device::<AtmSwitch>(id).map(|switch| switch.drops().clone())
    }
}
