//! Circuits and virtual paths of ATM: which channels and paths they have on which links, and that nobody else has them.

mod path;
mod problem;
mod rate;
mod switch;
mod way;

pub use path::VirtualPath;
pub use problem::AtmProblem;
pub(crate) use switch::{label_config, switch_config};

use self::rate::{Agreed, Promises};
use crate::Link;
use crate::description::{Description, LinkSpec};
use crate::place::{Place, node_name};
use crate::spec::lc_atm::LcAtmProblem;
use crate::spec::pvc::PvcSpec;
use base::diagnostic::Diagnostic;
use base::{LinkId, PortId, Rate};
use engine::medium::Carries;
use node::atm::Service;
use std::collections::{BTreeMap, BTreeSet};
use wire::atm::{CELL_LEN, Format, PAYLOAD_LEN};

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
    /// Path and channel on each of these; of a virtual path, where it begins.
    pub channels: Vec<(u16, u16)>,
    /// Ports of the first and the last switch, to which the nodes at its ends are joined.
    pub access: [PortId; 2],
    /// The engine's link at its other end: that of the description is at its first.
    pub second: LinkId,
}

impl Circuit {
    /// Path and channel on a link of its way, at one of the switches there.
    pub fn channel_at(&self, link: &Link, hop: usize, node: usize) -> (u16, u16) {
        let (vpi, vci) = self.channels[hop];
        (link.path.as_ref().map_or(vpi, |path| path.vpi_at(link.side(node))), vci)
    }
}

/// The circuits and virtual paths of a description, by their links.
#[derive(Debug, Default)]
pub struct Planned {
    /// Links that are circuits.
    pub circuits: BTreeMap<usize, Circuit>,
    /// Links that are virtual paths.
    pub paths: BTreeMap<usize, VirtualPath>,
}

/// Finds the ways of all circuits and virtual paths, and gives them their channels.
pub fn plan(description: &Description) -> Result<Planned, Diagnostic> {
    let Planned { mut circuits, mut paths } = ways(description)?;
    check_single(description)?;
    check_alike(description)?;
    let vpis =
        |circuit: &Circuit| circuit.links.iter().map(|&link| (link, circuit.spec.vpi)).collect::<Vec<_>>();
    let of_circuits: BTreeSet<(usize, u16)> = circuits.values().flat_map(vpis).collect();
    let path_owners = path::give_vpis(description, &mut paths, &of_circuits)?;
    // Of each link between switches: whose its channels are.
    let mut owners: BTreeMap<(usize, u16, u16), usize> = BTreeMap::new();
    // And below which channel all of a path there are taken.
    let mut taken: BTreeMap<(usize, u16), u32> = BTreeMap::new();
    // Channels that users name come first, so that those that are given do not take them.
    for said in [true, false] {
        for (index, circuit) in circuits.iter_mut().filter(|(_, circuit)| circuit.spec.vci.is_some() == said)
        {
            check_paths(description, circuit, &path_owners)
                .and_then(|()| give_channels(description, *index, circuit, &paths, &mut owners, &mut taken))
                .map_err(|problem| problem.at("pvc").of_link(description, *index))?;
        }
    }
    let mut promises = Promises::default();
    for (&index, path) in &paths {
        let spec = &path.spec;
        let agreed = Agreed { service: spec.service(), pcr: spec.pcr, tolerance: spec.tolerance };
        let at = |key: &'static str| {
            move |problem: AtmProblem| {
                Diagnostic::new(problem).at(key).on_key().at("vp").of_link(description, index)
            }
        };
        promises.promise(description, &path.links, agreed).map_err(at("pcr"))?;
        check_bounded(agreed, spec.shaped).map_err(at("tolerance"))?;
    }
    for (index, circuit) in &circuits {
        let spec = &circuit.spec;
        let agreed = Agreed { service: spec.service(), pcr: spec.pcr, tolerance: spec.tolerance };
        let at = |key: &'static str| {
            move |problem: AtmProblem| {
                Diagnostic::new(problem).at(key).on_key().at("pvc").of_link(description, *index)
            }
        };
        promises.promise(description, &circuit.links, agreed).map_err(at("pcr"))?;
        check_policing(circuit, agreed).map_err(at("tolerance"))?;
        check_room(description, *index, circuit).map_err(at("through"))?;
    }
    Ok(Planned { circuits, paths })
}

/// The switches that all circuits and virtual paths pass.
fn ways(description: &Description) -> Result<Planned, Diagnostic> {
    let mut found = Planned::default();
    for (index, link) in description.links.iter().enumerate() {
        let of_link = |problem: Diagnostic| problem.of_link(description, index);
        match (&link.pvc, &link.vp) {
            (Some(pvc), _) => {
                let circuit = way::circuit(description, link, pvc).map_err(of_link)?;
                found.circuits.insert(index, circuit);
            }
            (None, Some(vp)) => {
                let path = path::way(description, link, vp).map_err(of_link)?;
                found.paths.insert(index, path);
            }
            (None, None) => check_wire(description, link).map_err(of_link)?,
        }
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

/// The greatest VPI that headers of a link can say.
fn vpi_max(link: &LinkSpec) -> u16 {
    if link.uni { Format::Uni.vpi_max() } else { Format::Nni.vpi_max() }
}

/// Refuses a VPI that a link does not have, or that is a path which is switched as a whole.
fn check_paths(
    description: &Description,
    circuit: &Circuit,
    owners: &path::Owners,
) -> Result<(), Diagnostic> {
    let vpi = circuit.spec.vpi;
    for &link in circuit.links.iter().filter(|&&link| description.links[link].vp.is_none()) {
        let max = vpi_max(&description.links[link]);
        let called = || between(description, link);
        let refused = |problem: AtmProblem| Err(Diagnostic::new(problem).at("vpi").on_key());
        if vpi > max {
            let (vpi, max) = (u32::from(vpi), u32::from(max));
            return refused(AtmProblem::VpiRange { vpi, min: 0, max, between: called() });
        }
        if let Some(&path) = owners.get(&(link, vpi)) {
            let other = between(description, path);
            return refused(AtmProblem::ChannelInPath { vpi, between: called(), other });
        }
    }
    Ok(())
}

/// Gives a circuit its channel on each link.
fn give_channels(
    description: &Description,
    index: usize,
    circuit: &mut Circuit,
    paths: &BTreeMap<usize, VirtualPath>,
    owners: &mut BTreeMap<(usize, u16, u16), usize>,
    taken: &mut BTreeMap<(usize, u16), u32>,
) -> Result<(), Diagnostic> {
    let said = circuit.spec.vci.as_ref().map(|vci| vci.0.clone());
    let links = circuit.links.len();
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
        // On a virtual path all channels are in that; at its other end it may be called otherwise.
        let vpi = paths.get(&link).map_or(circuit.spec.vpi, |path| path.vpi_at(0));
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

/// Refuses constant bit rate that nothing bounds.
fn check_bounded(agreed: Agreed, shaped: bool) -> Result<(), AtmProblem> {
    match agreed.tolerance {
        None if !shaped && agreed.service == Service::Cbr => Err(AtmProblem::CbrUnbounded {}),
        _ => Ok(()),
    }
}

/// The same of a circuit, and policing that would never find a cell early.
fn check_policing(circuit: &Circuit, agreed: Agreed) -> Result<(), AtmProblem> {
    let shaped = circuit.spec.shaped;
    if agreed.tolerance.is_some() && shaped && circuit.links.len() < 2 {
        return Err(AtmProblem::NobodyPolices {});
    }
    check_bounded(agreed, shaped)
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
    rates.min().map(payload)
}

/// What a rate of cells leaves for their payloads.
pub fn payload(rate: Rate) -> Rate {
    Rate(rate.0 / CELL_LEN as u64 * PAYLOAD_LEN as u64)
}

/// The ends of a link, as sentences name it.
fn between(description: &Description, link: usize) -> String {
    let link = &description.links[link];
    format!("{} - {}", node_name(description, link.a), node_name(description, link.b))
}
