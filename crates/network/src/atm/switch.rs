//! How the switches of a network are set up: their ports, and tables from the circuits that pass them.

use super::Circuit;
use crate::description::LinkSpec;
use crate::kind::atm_switch::AtmSwitchSpec;
use crate::spec::lc_atm::LcAtmSpec;
use crate::{Link, Network};
use base::PortId;
use node::atm::{AtmConfig, Channel, Cross, EndConfig, Map, PortConfig, Service, Station, Traffic};
use std::collections::BTreeMap;
use wire::atm::{Encapsulation, Format};

/// The configuration of the switch at a node.
pub(crate) fn switch_config(network: &Network, node: usize, spec: &AtmSwitchSpec) -> AtmConfig {
    let mut ports: BTreeMap<PortId, PortConfig> = BTreeMap::new();
    let mut crosses = Vec::new();
    for link in network.links() {
        let Some(circuit) = &link.circuit else {
            if let Some(port) = link.port_at(node) {
                ports.insert(port, cell_port(&link.spec, node));
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
        let Some(labels) = &link.spec.lc_atm else {
            outside.push(PortConfig::None);
            beside.push(PortConfig::None);
            continue;
        };
        outside.push(cell_port(&link.spec, node));
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
    let config = AtmConfig { ports: outside, crosses: Vec::new(), cbr_cells: 0, ubr_cells, epd_cells };
    has_cells.then_some(config)
}

fn cell_port(spec: &LinkSpec, node: usize) -> PortConfig {
    PortConfig::Cells {
        rate: spec.rate,
        clock_ppb: if spec.a == node { spec.a_clock_ppb } else { spec.b_clock_ppb },
        format: Format::Nni,
        ubr_cells: super::buffer_cells(spec),
        labels: spec.lc_atm.as_ref().map(LcAtmSpec::labels),
    }
}

/// The channel of a circuit on a link of its way, at one of the switches there.
fn channel(network: &Network, circuit: &Circuit, hop: usize, node: usize) -> Channel {
    let link = &network.links()[circuit.links[hop]];
    let (vpi, vci) = circuit.channels[hop];
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
