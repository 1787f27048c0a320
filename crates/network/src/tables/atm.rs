//! What ATM switches show: ports, channels that they pass on, and ends of circuits.

use crate::Network;
use base::table::Table;
use node::AtmSwitch;
use node::atm::{CrossShown, EndShown, PathShown, PortShown, Service};

base::table! {
    /// Ports of ATM switches that carry cells. Received here and `cells_sent` of `atm_ends` are together, over all
    /// switches: sent, `header_errors`, `unknown`, `refused` and `dropped` here, `dropped` of `atm_channels` and of
    /// `atm_paths`, `cells_received` and `cells_dropped` of `atm_ends`, and every `waiting`.
    pub struct AtmPortRow<'a> in "atm_ports" key ["node", "port"]
    of (node: &'a str) from row: &PortShown<'_> {
        /// Switch that has it.
        node: &'a str => node,
        /// Number of the port, in the order of links.
        port: u16 => row.port.0,
        /// Cells that came, those with wrong headers among them.
        received: u64 = "cells" => row.input.cells,
        /// Cells of which a bit of the header was put right.
        corrected: u64 = "cells" => row.headers.0,
        /// Cells dropped for their header.
        header_errors: u64 = "cells" => row.headers.1,
        /// Cells of channels that nobody has.
        unknown: u64 = "cells" => row.input.unknown,
        /// Frames that were no cells.
        refused: u64 = "frames" => row.input.refused,
        /// Cells of constant bit rate that were sent.
        sent_cbr: u64 = "cells" => row.output.sent[Service::Cbr as usize],
        /// The same of unspecified bit rate.
        sent_ubr: u64 = "cells" => row.output.sent[Service::Ubr as usize],
        /// Cells that found no room here, or a port that was down, or waited when it went down.
        dropped: u64 = "cells" => row.output.dropped.total(),
        /// The most that waited here.
        waiting_max: u64 = "cells" => row.output.waiting_max,
        /// Cells that wait for the port, where it has cells of both services or shapes a virtual path; others wait in
        /// the link.
        waiting: u64 = "cells" => row.held,
    }
}

base::table! {
    /// The tables of ATM switches: channels that they pass on, one way each.
    pub struct AtmChannelRow<'a> in "atm_channels" key ["node", "port", "vpi", "vci"]
    of (node: &'a str) from row: &CrossShown<'_> {
        /// Switch that has it.
        node: &'a str => node,
        /// By which port cells come.
        port: u16 => row.config.from.port.0,
        /// Virtual path that they come with.
        vpi: u16 => row.config.from.vpi,
        /// Virtual channel that they come with.
        vci: u16 => row.config.from.vci,
        /// By which port they leave; nothing of a channel that is no label any more, as its cells are dropped.
        to_port: Option<u16> => row.is_used.then_some(row.config.to.port.0),
        /// Virtual path that they leave with.
        to_vpi: u16 => row.config.to.vpi,
        /// Virtual channel that they leave with.
        to_vci: u16 => row.config.to.vci,
        /// What is agreed about them: `cbr`, which leave first, or `ubr`.
        service: &'static str => row.config.traffic.service.name(),
        /// Cells that came by it, whatever became of them.
        received: u64 = "cells" => row.counters.received,
        /// Cells that were passed on.
        passed: u64 = "cells" => row.counters.passed,
        /// Cells that were dropped before they came to that port: early ones, and those of packets dropped whole.
        dropped: u64 = "cells" => row.counters.dropped.total(),
        /// Cells that the port did not take; they are among those that it dropped.
        refused: u64 = "cells" => row.counters.refused,
        /// Cells that wait for the last one of their packet (VC merge).
        waiting: u64 = "cells" => row.held,
    }
}

base::table! {
    /// The tables of ATM switches: virtual paths that they pass on as a whole, one way each.
    pub struct AtmPathRow<'a> in "atm_paths" key ["node", "port", "vpi"]
    of (node: &'a str) from row: &PathShown<'_> {
        /// Switch that has it.
        node: &'a str => node,
        /// By which port cells come.
        port: u16 => row.config.from.port.0,
        /// Virtual path that they come with.
        vpi: u16 => row.config.from.vpi,
        /// By which port they leave.
        to_port: u16 => row.config.to.port.0,
        /// Virtual path that they leave with; their virtual channel is what it was.
        to_vpi: u16 => row.config.to.vpi,
        /// What is agreed about them: `cbr`, which leave first, or `ubr`.
        service: &'static str => row.config.traffic.service.name(),
        /// Cells that came by it, whatever became of them.
        received: u64 = "cells" => row.counters.received,
        /// Cells that were passed on.
        passed: u64 = "cells" => row.counters.passed,
        /// Cells that were dropped before they came to that port: those that came too early.
        dropped: u64 = "cells" => row.counters.dropped.total(),
        /// Cells that the port did not take; they are among those that it dropped.
        refused: u64 = "cells" => row.counters.refused,
    }
}

base::table! {
    /// Ends of circuits at ATM switches.
    pub struct AtmEndRow<'a> in "atm_ends" key ["node", "port"]
    of (node: &'a str) from row: &EndShown<'_> {
        /// Switch that has it.
        node: &'a str => node,
        /// Number of the port to the router or host, in the order of links.
        port: u16 => row.port.0,
        /// By which port its cells go.
        cell_port: u16 => row.config.channel.port.0,
        /// Virtual path of the circuit at that port.
        vpi: u16 => row.config.channel.vpi,
        /// Virtual channel of the circuit at that port.
        vci: u16 => row.config.channel.vci,
        /// Packets that became cells.
        packets_sent: u64 = "packets" => row.counters.packets_sent,
        /// Cells made of them.
        cells_sent: u64 = "cells" => row.counters.cells_sent,
        /// Cells of user data that came for it.
        cells_received: u64 = "cells" => row.counters.cells_received,
        /// Packets that they became.
        packets_received: u64 = "packets" => row.counters.packets_received,
        /// Packets, and PDUs of AAL5, that were dropped here.
        dropped: u64 = "packets" => row.counters.dropped.total(),
        /// Cells that were dropped here: early ones, those that no packet has, and those that a restart forgot.
        cells_dropped: u64 = "cells" => row.counters.cells_dropped.total(),
        /// Cells that wait for their time, of a circuit that is shaped.
        waiting: u64 = "cells" => row.waiting_cells,
    }
}

fn switches(network: &Network) -> impl Iterator<Item = (&str, &AtmSwitch)> {
    (0..network.description().nodes.len()).filter_map(|node| {
        let switch = network.atm_switch(node)?;
        Some((network.node_name(node), switch))
    })
}

/// Table `atm_ports`, in the order of nodes and ports.
pub fn ports(network: &Network, _: Option<usize>) -> Table {
    switches(network)
        .flat_map(|(node, switch)| switch.cell_ports().map(move |row| AtmPortRow::of(node, &row)))
        .collect()
}

/// Table `atm_channels`, in the order of nodes and circuits.
pub fn channels(network: &Network, _: Option<usize>) -> Table {
    switches(network)
        .flat_map(|(node, switch)| switch.crosses().map(move |row| AtmChannelRow::of(node, &row)))
        .collect()
}

/// Table `atm_paths`, in the order of nodes and virtual paths.
pub fn paths(network: &Network, _: Option<usize>) -> Table {
    switches(network)
        .flat_map(|(node, switch)| switch.paths().map(move |row| AtmPathRow::of(node, &row)))
        .collect()
}

/// Table `atm_ends`, in the order of nodes and ports.
pub fn ends(network: &Network, _: Option<usize>) -> Table {
    switches(network)
        .flat_map(|(node, switch)| switch.ends().map(move |row| AtmEndRow::of(node, &row)))
        .collect()
}
