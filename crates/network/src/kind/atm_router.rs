//! Routers with ports of cells, whatever kind of nodes they are: the device, and what it has within.

use crate::Network;
use crate::atm::label_config;
use base::{Device, NodeId};
use engine::World;
use node::{AtmRouter, AtmSwitch, Router};

/// The router at a node, with a switch if it has links of cells.
pub fn device(network: &Network, node: usize, ubr_cells: u32, epd_cells: Option<u32>) -> Box<dyn Device> {
    let router = network.fresh_router(node);
    match label_config(network, node, ubr_cells, epd_cells) {
        Some(config) => Box::new(AtmRouter::new(router, &config)),
        None => Box::new(router),
    }
}

/// The router that such a device is, or has within.
pub fn router(world: &World, id: NodeId) -> Option<&Router> {
    world.device(id).or_else(|| world.device::<AtmRouter>(id).map(AtmRouter::router))
}

/// The same router, to be changed.
pub fn router_mut(world: &mut World, id: NodeId) -> Option<&mut Router> {
    match world.device::<Router>(id).is_some() {
        true => world.device_mut(id),
        false => world.device_mut::<AtmRouter>(id).map(AtmRouter::router_mut),
    }
}

/// The switch that such a device has within.
pub fn switch(world: &World, id: NodeId) -> Option<&AtmSwitch> {
    world.device::<AtmRouter>(id).map(AtmRouter::switch)
}
