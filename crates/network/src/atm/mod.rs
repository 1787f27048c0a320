//! Circuits of ATM: which channels they have on which links, and that nobody else has them.

mod problem;
mod switch;

pub use problem::AtmProblem;
pub(crate) use switch::{label_config, switch_config};

use crate::description::{Description, LinkSpec};
use crate::place::{Place, node_name};
use crate::spec::lc_atm::LcAtmProblem;
use crate::spec::pvc::PvcSpec;
use base::describe::Describe;
use base::diagnostic::Diagnostic;
use base::{LinkId, PortId, Rate};
use engine::medium::Carries;
use node::atm::{Map, Service};
use std::collections::{BTreeMap, BTreeSet};
use wire::atm::{CELL_LEN, Encapsulation, PAYLOAD_LEN};

/// Channels below this are set apart for the network's own use on every path (RFC 3035, 7.1, has the first of others).
pub const VCI_MIN: u32 = 32;
/// A VCI has 16 bits.
pub const VCI_MAX: u32 = 65_535;

/// A circuit as it is built: a link of packets between two nodes, by way of switches.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// What was asked for.
    pub spec: PvcSpec,
    /// The switches, by their places among the nodes.
    pub through: Vec<usize>,
    /// The links between them, by their places.
    pub links: Vec<usize>,
    /// Path and channel on each of these.
    pub channels: Vec<(u16, u16)>,
    /// Ports of the first and the last switch, to which the nodes at its ends are joined.
    pub access: [PortId; 2],
    /// The engine's link at its other end: that of the description is at its first.
    pub second: LinkId,
}

/// The circuits of a description, by their links.
pub fn circuits(description: &Description) -> Result<BTreeMap<usize, Circuit>, Diagnostic> {
    let mut found = BTreeMap::new();
    // Of each link between switches: whose its channels are, and how much of its rate is promised.
    let mut owners: BTreeMap<(usize, u16, u16), usize> = BTreeMap::new();
    // And below which channel all of a path there are taken.
    let mut taken: BTreeMap<(usize, u16), u32> = BTreeMap::new();
    let mut promised: BTreeMap<usize, u64> = BTreeMap::new();
    for (index, link) in description.links.iter().enumerate() {
        match &link.pvc {
            Some(pvc) => {
                let circuit =
                    way(description, link, pvc).map_err(|problem| problem.of_link(description, index))?;
                found.insert(index, circuit);
            }
            None => check_wire(description, link).map_err(|problem| problem.of_link(description, index))?,
        }
    }
    check_single(description)?;
    check_alike(description)?;
    // Channels that users name come first, so that those that are given do not take them.
    for said in [true, false] {
        for (index, circuit) in found.iter_mut().filter(|(_, circuit)| circuit.spec.vci.is_some() == said) {
            give_channels(description, *index, circuit, &mut owners, &mut taken)
                .map_err(|problem| problem.at("pvc").of_link(description, *index))?;
        }
    }
    for (index, circuit) in &found {
        check_rate(description, circuit, &mut promised)
            .map_err(|problem| problem.at("pcr").on_key().at("pvc").of_link(description, *index))?;
        let at = |key: &'static str| {
            move |problem: AtmProblem| {
                Diagnostic::new(problem).at(key).on_key().at("pvc").of_link(description, *index)
            }
        };
        check_policing(circuit).map_err(at("tolerance"))?;
        check_room(description, *index, circuit).map_err(at("through"))?;
    }
    Ok(found)
}

/// Refuses a link of another medium at a switch, and cells at what is none.
fn check_wire(description: &Description, link: &LinkSpec) -> Result<(), Diagnostic> {
    let ends = [link.a, link.b];
    let is_switch = |node: &usize| description.nodes[*node].facts().cells.is_some();
    let carries_cells = link.medium.carries == Carries::Cells;
    let name = |node: usize| node_name(description, node).to_string();
    if link.lc_atm.is_some() {
        return Ok(());
    }
    if carries_cells && let Some(other) = ends.into_iter().find(|node| !is_switch(node)) {
        return Err(Diagnostic::new(AtmProblem::CellsAtOthers { node: name(other) }).at("medium").on_key());
    }
    if !carries_cells && let Some(switch) = ends.into_iter().find(is_switch) {
        return Err(AtmProblem::PacketsAtSwitch { node: name(switch) }.into());
    }
    Ok(())
}

/// Finds the links that a circuit passes.
fn way(description: &Description, link: &LinkSpec, pvc: &PvcSpec) -> Result<Circuit, Diagnostic> {
    let name = |node: usize| node_name(description, node).to_string();
    let is_switch = |node: usize| description.nodes[node].facts().cells.is_some();
    if let Some(node) = [link.a, link.b].into_iter().find(|&node| is_switch(node)) {
        return Err(AtmProblem::CircuitOfSwitch { node: name(node) }.into());
    }
    let is_station = |node: usize| {
        let facts = description.nodes[node].facts();
        facts.router || facts.host.is_some()
    };
    if let Some(node) = [link.a, link.b].into_iter().find(|&node| !is_station(node)) {
        let called = description.nodes[node].facts().called.to_string();
        return Err(AtmProblem::NoStation { node: name(node), called }.into());
    }
    if pvc.map() == Map::Learned && pvc.encapsulation() != Encapsulation::LlcSnap {
        return Err(Diagnostic::new(AtmProblem::MapWithoutSnap {}).at("map").on_key().at("pvc"));
    }
    let through: Vec<usize> = pvc.through.iter().map(|node| node.index()).collect();
    if through.len() < 2 {
        return Err(Diagnostic::new(AtmProblem::ShortCircuit { count: through.len() })
            .at("through")
            .at("pvc"));
    }
    for (place, &node) in through.iter().enumerate() {
        let refused = |problem: AtmProblem| Err(Diagnostic::new(problem).at(place).at("through").at("pvc"));
        if !is_switch(node) {
            return refused(AtmProblem::NoSwitch { node: name(node) });
        }
        if through[..place].contains(&node) {
            return refused(AtmProblem::SwitchTwice { node: name(node) });
        }
    }
    let mut links = Vec::new();
    for (place, pair) in through.windows(2).enumerate() {
        let joins = |link: &LinkSpec| [[link.a, link.b], [link.b, link.a]].contains(&[pair[0], pair[1]]);
        let Some(found) = description.links.iter().position(|link| link.pvc.is_none() && joins(link)) else {
            let none = AtmProblem::NoCellLink { from: name(pair[0]), to: name(pair[1]) };
            return Err(Diagnostic::new(none).at(place + 1).at("through").at("pvc"));
        };
        links.push(found);
    }
    Ok(Circuit {
        spec: pvc.clone(),
        through,
        links,
        channels: Vec::new(),
        access: [PortId(0); 2],
        second: LinkId(0),
    })
}

/// Gives a circuit its channel on each link.
fn give_channels(
    description: &Description,
    index: usize,
    circuit: &mut Circuit,
    owners: &mut BTreeMap<(usize, u16, u16), usize>,
    taken: &mut BTreeMap<(usize, u16), u32>,
) -> Result<(), Diagnostic> {
    let said = circuit.spec.vci.as_ref().map(|vci| vci.0.clone());
    let (vpi, links) = (circuit.spec.vpi, circuit.links.len());
    if let Some(said) = &said {
        if ![1, links].contains(&said.len()) {
            return Err(Diagnostic::new(AtmProblem::VciCount { count: said.len(), links })
                .at("vci")
                .on_key());
        }
        if let Some(vci) = said.iter().find(|vci| !(VCI_MIN..=VCI_MAX).contains(*vci)) {
            let outside = AtmProblem::VciRange { vci: *vci, min: VCI_MIN, max: VCI_MAX };
            return Err(Diagnostic::new(outside).at("vci").on_key());
        }
    }
    for (hop, &link) in circuit.links.iter().enumerate() {
        let vci = match &said {
            Some(said) => said[if said.len() == 1 { 0 } else { hop }] as u16,
            None => {
                let below = taken.entry((link, vpi)).or_insert(VCI_MIN);
                let is_free = |vci: &u32| !owners.contains_key(&(link, vpi, *vci as u16));
                let vci = (*below..=VCI_MAX)
                    .find(is_free)
                    .ok_or(AtmProblem::NoVciLeft { between: between(description, link), vpi })?;
                *below = vci + 1;
                vci as u16
            }
        };
        if let Some(other) = owners.insert((link, vpi, vci), index) {
            let other = between(description, other);
            let twice = AtmProblem::TwoOwners { vpi, vci, between: between(description, link), other };
            return Err(Diagnostic::new(twice).at("vci").on_key());
        }
        circuit.channels.push((vpi, vci));
    }
    Ok(())
}

/// Refuses a peak rate that a link does not have, or has promised to others.
fn check_rate(
    description: &Description,
    circuit: &Circuit,
    promised: &mut BTreeMap<usize, u64>,
) -> Result<(), Diagnostic> {
    let spec = &circuit.spec;
    let service = spec.service();
    if spec.pcr == Some(Rate(0)) {
        return Err(AtmProblem::PeakOfNothing {}.into());
    }
    let Some(peak) = spec.pcr else {
        return match (service, spec.tolerance) {
            (Service::Cbr, _) => Err(AtmProblem::CbrWithoutPeak {}.into()),
            (Service::Ubr, Some(_)) => Err(AtmProblem::ToleranceWithoutPeak {}.into()),
            (Service::Ubr, None) => Ok(()),
        };
    };
    for &link in &circuit.links {
        let rate = description.links[link].rate;
        let before = promised.get(&link).copied().unwrap_or(0);
        let sum = if service == Service::Cbr { before.saturating_add(peak.0) } else { peak.0 };
        if rate > Rate(0) && sum > rate.0 {
            let (pcr, rate) = (peak.write().shown(), rate.write().shown());
            let between = between(description, link);
            return Err(match (service, before) {
                (Service::Cbr, 1..) => {
                    let promised = Rate(before).write().shown();
                    AtmProblem::Oversold { pcr, between, rate, promised }.into()
                }
                _ => AtmProblem::PeakAboveLink { pcr, between, rate }.into(),
            });
        }
        if service == Service::Cbr {
            promised.insert(link, sum);
        }
    }
    Ok(())
}

/// Refuses policing that would never find a cell early, and constant bit rate that nothing bounds.
fn check_policing(circuit: &Circuit) -> Result<(), AtmProblem> {
    let spec = &circuit.spec;
    match (spec.tolerance, spec.shaped) {
        (Some(_), true) if circuit.links.len() < 2 => Err(AtmProblem::NobodyPolices {}),
        (None, false) if spec.service() == Service::Cbr => Err(AtmProblem::CbrUnbounded {}),
        _ => Ok(()),
    }
}

/// How many cells of unspecified bit rate the buffer of a link holds, if it says.
fn buffer_cells(link: &LinkSpec) -> Option<u32> {
    link.buffer_bytes.map(|bytes| (bytes / CELL_LEN as u64).min(u64::from(u32::MAX)) as u32)
}

/// Refuses a circuit whose longest packets would never find room at its ends. A shaped end has room for one.
fn check_room(description: &Description, index: usize, circuit: &Circuit) -> Result<(), AtmProblem> {
    let (spec, mtu) = (&circuit.spec, description.links[index].mtu);
    let cells = spec.encapsulation().cells_for(mtu as usize) as u64;
    if spec.shaped && spec.pcr.is_some() {
        return Ok(());
    }
    let ends =
        [(circuit.through.first(), circuit.links.first()), (circuit.through.last(), circuit.links.last())];
    for (switch, link) in ends {
        let (Some(&switch), Some(&link)) = (switch, link) else { continue };
        let Some(room) = description.nodes[switch].facts().cells else { continue };
        let link = &description.links[link];
        let (key, waiting) = match spec.service() {
            Service::Cbr => ("cbr_cells", room.cbr),
            Service::Ubr => ("ubr_cells", buffer_cells(link).unwrap_or(room.ubr)),
        };
        // The first cell leaves at once.
        if cells > u64::from(waiting) + 1 && link.rate > Rate(0) {
            let node = node_name(description, switch).to_string();
            return Err(AtmProblem::NoRoomForPacket { node, key, waiting, mtu, cells });
        }
    }
    Ok(())
}

/// Refuses two links of cells between the same switches: a circuit could not say which it takes.
fn check_single(description: &Description) -> Result<(), Diagnostic> {
    let mut known = BTreeSet::new();
    for (index, link) in description.links.iter().enumerate() {
        let pair = (link.a.min(link.b), link.a.max(link.b));
        let is_switched = link.pvc.is_none() && link.lc_atm.is_none();
        if link.medium.carries == Carries::Cells && is_switched && !known.insert(pair) {
            let between = between(description, index);
            return Err(Diagnostic::from(AtmProblem::TwoCellLinks { between }).of_link(description, index));
        }
    }
    Ok(())
}

/// Refuses nodes that would pass on packets as cells which the other end takes for something else.
fn check_alike(description: &Description) -> Result<(), Diagnostic> {
    let mut known: BTreeMap<usize, &'static str> = BTreeMap::new();
    for (index, link) in description.links.iter().enumerate() {
        let Some(labels) = &link.lc_atm else { continue };
        for end in [link.a, link.b] {
            let (one, is_lsr) = (labels.word(), description.nodes[end].facts().lsr.is_some());
            let before = *known.entry(end).or_insert(one);
            if is_lsr && before != one {
                let node = node_name(description, end).to_string();
                let other = LcAtmProblem::OtherEncapsulation { node, one: before, other: one };
                return Err(Diagnostic::new(other)
                    .at("encapsulation")
                    .at("lc_atm")
                    .of_link(description, index));
            }
        }
    }
    Ok(())
}

/// What the slowest of a circuit's links leaves for payloads of its cells; nothing if none has a rate.
pub fn payload_rate(description: &Description, circuit: &Circuit) -> Option<Rate> {
    let rates = circuit.links.iter().map(|&link| description.links[link].rate).filter(|rate| *rate > Rate(0));
    rates.min().map(|rate| Rate(rate.0 / CELL_LEN as u64 * PAYLOAD_LEN as u64))
}

/// The ends of a link, as sentences name it.
fn between(description: &Description, link: usize) -> String {
    let link = &description.links[link];
    format!("{} - {}", node_name(description, link.a), node_name(description, link.b))
}
