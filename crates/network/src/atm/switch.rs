//! How the switches of a network are set up: their ports, and tables from the circuits and virtual paths that pass
//! them.

use super::{Circuit, VirtualPath};
use crate::kind::atm_switch::AtmSwitchSpec;
use crate::spec::lc_atm::LcAtmSpec;
use crate::{Link, Network};
use base::{PortId, Rate};
use node::atm::{
    AtmConfig, Channel, Cross, EndConfig, Map, Path, PathCross, PortConfig, Service, Station, Traffic,
};
use std::collections::BTreeMap;
use wire::atm::{Encapsulation, Format};

/// The configuration of the switch at a node.
pub(crate) fn switch_config(network: &Network, node: usize, spec: &AtmSwitchSpec) -> AtmConfig {
    let mut ports: BTreeMap<PortId, PortConfig> = BTreeMap::new();
    let (mut crosses, mut paths) = (Vec::new(), Vec::new());
    for link in network.links() {
        if let Some(path) = &link.path {
            let ends = path_ports(link, path);
            if let Some(place) = path.through.iter().position(|&switch| switch == node) {
                let hops = [place, place + 1].map(|hop| path_at(network, path, &ends, hop, node));
                let is_access = [place == 0, place + 1 == path.through.len()];
                paths.extend(path_crosses(path, hops, is_access));
                let access = is_access.into_iter().zip(hops).filter(|(is_access, _)| *is_access);
                ports.extend(access.map(|(_, end)| (end.port, access_port(link))));
            }
        }
        let Some(circuit) = &link.circuit else {
            if let Some(port) = link.port_at(node) {
                ports.insert(port, cell_port(link, link.side(node)));
            }
            continue;
        };
        let Some(place) = circuit.through.iter().position(|&switch| switch == node) else { continue };
        let last = circuit.through.len() - 1;
        if place == 0 {
            ports.insert(circuit.access[0], PortConfig::Packets(end(network, link, circuit, 0)));
        } else if place == last {
            ports.insert(circuit.access[1], PortConfig::Packets(end(network, link, circuit, 1)));
        } else {
            let [before, after] = [place - 1, place].map(|hop| channel(network, circuit, hop, node));
            // What an end shapes is policed where it comes from there; other cells are policed at the end itself.
            let shaped = circuit.spec.shaped;
            let is_second = [place == 1, place == last - 1].map(|second| second && shaped);
            crosses.push(Cross { from: before, to: after, traffic: traffic(circuit, is_second[0]) });
            crosses.push(Cross { from: after, to: before, traffic: traffic(circuit, is_second[1]) });
        }
    }
    AtmConfig {
        ports: ports.into_values().collect(),
        crosses,
        paths,
        cbr_cells: spec.cbr_cells,
        ubr_cells: spec.ubr_cells,
        epd_cells: spec.epd_cells,
    }
}

/// The configuration of the switch that a router or an ATM-LSR has behind its ports, if one of them carries cells. Each
/// port is there twice: with its link, and then with the router.
pub(crate) fn label_config(
    network: &Network,
    node: usize,
    ubr_cells: u32,
    epd_cells: Option<u32>,
) -> Option<AtmConfig> {
    let (mut outside, mut beside) = (Vec::new(), Vec::new());
    for (link, side) in network.ports_of(node) {
        let Some(labels) = link.lc_atm_at(side) else {
            outside.push(PortConfig::None);
            beside.push(PortConfig::None);
            continue;
        };
        outside.push(cell_port(link, side));
        let station = |side: usize| Station {
            mac: Network::mac_of(link.ends()[side], link.ports[side]),
            address: link.addresses[side],
        };
        let (vpi, vci) = labels.control();
        beside.push(PortConfig::Packets(EndConfig {
            channel: Channel { port: link.ports[side], vpi, vci },
            traffic: Traffic { service: Service::Ubr, peak: None, tolerance: None },
            shaped: false,
            // RFC 3035, 7: on the channel of unlabelled packets.
            encapsulation: Encapsulation::LlcSnap,
            mtu: link.spec.mtu.min(u32::from(u16::MAX)) as u16,
            own: station(side),
            peer: station(1 - side),
            map: Map::Static,
        }));
    }
    if network.facts(node).has_port_beside() {
        outside.push(PortConfig::None);
        beside.push(PortConfig::None);
    }
    let has_cells = outside.iter().any(|port| matches!(port, PortConfig::Cells { .. }));
    outside.extend(beside);
    let (crosses, paths) = (Vec::new(), Vec::new());
    let config = AtmConfig { ports: outside, crosses, paths, cbr_cells: 0, ubr_cells, epd_cells };
    has_cells.then_some(config)
}

fn format(link: &Link) -> Format {
    if link.spec.uni { Format::Uni } else { Format::Nni }
}

/// The port of an end of a link of cells. At that of a virtual path cells are shaped, and the link itself takes no
/// time.
fn cell_port(link: &Link, side: usize) -> PortConfig {
    let spec = &link.spec;
    let shaped = link.path.as_ref().map(|path| path.spec.shaped);
    PortConfig::Cells {
        rate: if shaped == Some(false) { Rate(0) } else { spec.rate },
        is_shaped: shaped == Some(true) && spec.rate > Rate(0),
        clock_ppb: [spec.a_clock_ppb, spec.b_clock_ppb][side],
        format: format(link),
        ubr_cells: super::buffer_cells(spec),
        labels: link.lc_atm_at(side).as_ref().map(LcAtmSpec::labels),
    }
}

/// The port of a switch to which a node at the end of a virtual path is joined.
fn access_port(link: &Link) -> PortConfig {
    PortConfig::Cells {
        rate: Rate(0),
        is_shaped: false,
        clock_ppb: 0,
        format: format(link),
        ubr_cells: None,
        labels: None,
    }
}

/// A virtual path where it comes into its first and its last switch from outside.
fn path_ports(link: &Link, path: &VirtualPath) -> [Path; 2] {
    debug_assert_eq!(path.vpis.len(), path.through.len() + 1, "{:?}", link.ends());
    [0, 1].map(|side| Path { port: path.access[side], vpi: path.vpi_at(side) })
}

/// A virtual path at a switch on its way, on one of its links there.
fn path_at(network: &Network, path: &VirtualPath, ends: &[Path; 2], hop: usize, node: usize) -> Path {
    if hop == 0 {
        return ends[0];
    }
    match path.links.get(hop - 1) {
        Some(&link) => {
            let port = network.links()[link].port_at(node).unwrap_or(PortId(0));
            Path { port, vpi: path.vpis[hop] }
        }
        None => ends[1],
    }
}

/// Both directions of a virtual path at a switch between two of its links. What comes from its ends is policed there.
fn path_crosses(
    path: &VirtualPath,
    [before, after]: [Path; 2],
    [is_first, is_last]: [bool; 2],
) -> [PathCross; 2] {
    let spec = &path.spec;
    let cross = |from: Path, to: Path, policed: bool| {
        let tolerance = spec.tolerance.filter(|_| policed);
        PathCross { from, to, traffic: Traffic { service: spec.service(), peak: spec.pcr, tolerance } }
    };
    [cross(before, after, is_first), cross(after, before, is_last)]
}

/// The channel of a circuit on a link of its way, at one of the switches there.
fn channel(network: &Network, circuit: &Circuit, hop: usize, node: usize) -> Channel {
    let link = &network.links()[circuit.links[hop]];
    let (vpi, vci) = circuit.channel_at(link, hop, node);
    Channel { port: link.port_at(node).unwrap_or(PortId(0)), vpi, vci }
}

fn traffic(circuit: &Circuit, policed: bool) -> Traffic {
    let spec = &circuit.spec;
    Traffic { service: spec.service(), peak: spec.pcr, tolerance: spec.tolerance.filter(|_| policed) }
}

fn end(network: &Network, link: &Link, circuit: &Circuit, side: usize) -> EndConfig {
    let (switch, hop) = match side {
        0 => (circuit.through[0], 0),
        _ => (circuit.through[circuit.through.len() - 1], circuit.links.len() - 1),
    };
    let station = |side: usize| Station {
        mac: Network::mac_of(link.ends()[side], link.ports[side]),
        address: link.addresses[side],
    };
    let spec = &circuit.spec;
    EndConfig {
        channel: channel(network, circuit, hop, switch),
        traffic: traffic(circuit, !spec.shaped),
        shaped: spec.shaped,
        encapsulation: spec.encapsulation(),
        mtu: link.spec.mtu.min(u32::from(u16::MAX)) as u16,
        own: station(side),
        peer: station(1 - side),
        map: spec.map(),
    }
}
