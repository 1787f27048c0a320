//! Ways through ATM switches: which links circuits and virtual paths take.

use super::{AtmProblem, Circuit};
use crate::description::{Description, LinkSpec};
use crate::place::node_name;
use crate::spec::pvc::PvcSpec;
use base::diagnostic::Diagnostic;
use base::{LinkId, PortId};
use node::atm::Map;
use wire::atm::Encapsulation;

/// The way of a circuit, whose channels are not known yet.
pub fn circuit(description: &Description, link: &LinkSpec, pvc: &PvcSpec) -> Result<Circuit, Diagnostic> {
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
    switches(description, &through, &[]).map_err(|problem| problem.at("pvc"))?;
    let links = links_between(description, &through, |link| link.pvc.is_none())
        .map_err(|problem| problem.at("pvc"))?;
    Ok(Circuit {
        spec: pvc.clone(),
        through,
        links,
        channels: Vec::new(),
        access: [PortId(0); 2],
        second: LinkId(0),
    })
}

/// Refuses nodes on a way through switches that are none, that are on it already, or that are its own ends.
pub fn switches(description: &Description, through: &[usize], ends: &[usize]) -> Result<(), Diagnostic> {
    for (place, &node) in through.iter().enumerate() {
        let name = || node_name(description, node).to_string();
        let refused = |problem: AtmProblem| Err(Diagnostic::new(problem).at(place).at("through"));
        if description.nodes[node].facts().cells.is_none() {
            return refused(AtmProblem::NoSwitch { node: name() });
        }
        if through[..place].contains(&node) || ends.contains(&node) {
            return refused(AtmProblem::SwitchTwice { node: name() });
        }
    }
    Ok(())
}

/// The links of cells that join the switches of a way, of those that may.
pub fn links_between(
    description: &Description,
    through: &[usize],
    may: impl Fn(&LinkSpec) -> bool,
) -> Result<Vec<usize>, Diagnostic> {
    let name = |node: usize| node_name(description, node).to_string();
    let mut links = Vec::new();
    for (place, pair) in through.windows(2).enumerate() {
        let joins = |link: &LinkSpec| [[link.a, link.b], [link.b, link.a]].contains(&[pair[0], pair[1]]);
        let Some(found) = description.links.iter().position(|link| may(link) && joins(link)) else {
            let none = AtmProblem::NoCellLink { from: name(pair[0]), to: name(pair[1]) };
            return Err(Diagnostic::new(none).at(place + 1).at("through"));
        };
        links.push(found);
    }
    Ok(links)
}
