//! Virtual paths: links of cells that lead through switches which look at no channel of theirs.

use super::way::{links_between, switches};
use super::{AtmProblem, between, vpi_max};
use crate::description::{Description, LinkSpec};
use crate::place::{Place, node_name};
use crate::spec::vp::VpSpec;
use base::diagnostic::Diagnostic;
use base::{LinkId, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// Path 0 is that of channels which are switched one by one.
const VPI_MIN: u32 = 1;

/// A virtual path as it is built: a link of cells between two nodes, by way of switches.
#[derive(Clone, Debug)]
pub struct VirtualPath {
    /// What was asked for.
    pub spec: VpSpec,
    /// The switches, by their places among the nodes.
    pub through: Vec<usize>,
    /// The links between them, by their places.
    pub links: Vec<usize>,
    /// Its VPI on each link of its way: that to the first switch, those between switches, that from the last one.
    pub vpis: Vec<u16>,
    /// Ports of the first and the last switch, to which the nodes at its ends are joined.
    pub access: [PortId; 2],
    /// The engine's link at its other end: that of the description is at its first.
    pub second: LinkId,
}

impl VirtualPath {
    /// Its VPI at the node at an end.
    pub fn vpi_at(&self, side: usize) -> u16 {
        let end = if side == 0 { self.vpis.first() } else { self.vpis.last() };
        end.copied().unwrap_or_default()
    }

    /// The link between switches that is a hop of its way; none at its ends, where nodes are joined to switches.
    fn link_of(&self, hop: usize) -> Option<usize> {
        self.links.get(hop.checked_sub(1)?).copied()
    }
}

/// Whose the paths of links between switches are: by link and VPI, the link that is a virtual path.
pub type Owners = BTreeMap<(usize, u16), usize>;

/// The way of a virtual path, whose VPIs are not known yet.
pub fn way(description: &Description, link: &LinkSpec, vp: &VpSpec) -> Result<VirtualPath, Diagnostic> {
    let is_switch = |node: usize| description.nodes[node].facts().cells.is_some();
    let ends = [link.a, link.b];
    if link.lc_atm.is_none()
        && let Some(node) = ends.into_iter().find(|&node| !is_switch(node))
    {
        let called = description.nodes[node].facts().called.to_string();
        let node = node_name(description, node).to_string();
        return Err(AtmProblem::NoPathEnd { node, called }.into());
    }
    let through: Vec<usize> = vp.through.iter().map(|node| node.index()).collect();
    if through.is_empty() {
        return Err(Diagnostic::new(AtmProblem::ShortPath {}).at("through").at("vp"));
    }
    switches(description, &through, &ends).map_err(|problem| problem.at("vp"))?;
    let is_wire = |link: &LinkSpec| link.pvc.is_none() && link.vp.is_none();
    let links = links_between(description, &through, is_wire).map_err(|problem| problem.at("vp"))?;
    Ok(VirtualPath {
        spec: vp.clone(),
        through,
        links,
        vpis: Vec::new(),
        access: [PortId(0); 2],
        second: LinkId(0),
    })
}

/// Gives virtual paths their VPIs, those that users say first. On links between switches none is given that channels of
/// circuits are in.
pub fn give_vpis(
    description: &Description,
    paths: &mut BTreeMap<usize, VirtualPath>,
    of_circuits: &BTreeSet<(usize, u16)>,
) -> Result<Owners, Diagnostic> {
    let mut owners = Owners::new();
    for said in [true, false] {
        for (&index, path) in paths.iter_mut().filter(|(_, path)| path.spec.vpi.is_some() == said) {
            path.vpis = vpis(description, index, path, &owners, of_circuits)
                .map_err(|problem| problem.at("vpi").on_key().at("vp").of_link(description, index))?;
            for (hop, &vpi) in path.vpis.iter().enumerate() {
                owners.extend(path.link_of(hop).map(|link| ((link, vpi), index)));
            }
        }
    }
    Ok(owners)
}

fn vpis(
    description: &Description,
    index: usize,
    path: &VirtualPath,
    owners: &Owners,
    of_circuits: &BTreeSet<(usize, u16)>,
) -> Result<Vec<u16>, Diagnostic> {
    let hops = path.through.len() + 1;
    let said = path.spec.vpi.as_ref().map(|vpi| &vpi.0);
    if let Some(said) = said.filter(|said| ![1, hops].contains(&said.len())) {
        return Err(AtmProblem::VpiCount { count: said.len(), links: hops }.into());
    }
    let mut given = Vec::new();
    for hop in 0..hops {
        let link = path.link_of(hop);
        let max = u32::from(vpi_max(&description.links[link.unwrap_or(index)]));
        let called = || between(description, link.unwrap_or(index));
        let owner = |vpi: u32| owners.get(&(link?, vpi as u16));
        let vpi = match said {
            Some(said) => said[if said.len() == 1 { 0 } else { hop }],
            None => {
                let is_free = |vpi: &u32| {
                    owner(*vpi).is_none()
                        && link.is_none_or(|link| !of_circuits.contains(&(link, *vpi as u16)))
                };
                let free = (VPI_MIN..=max).find(is_free);
                free.ok_or_else(|| AtmProblem::NoVpiLeft { between: called() })?
            }
        };
        if !(VPI_MIN..=max).contains(&vpi) {
            let between = called();
            return Err(AtmProblem::VpiRange { vpi, min: VPI_MIN, max, between }.into());
        }
        if let Some(&other) = owner(vpi) {
            let (between, other) = (called(), between(description, other));
            return Err(AtmProblem::TwoPathOwners { vpi, between, other }.into());
        }
        given.push(vpi as u16);
    }
    Ok(given)
}
