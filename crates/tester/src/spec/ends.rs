//! Where flows begin and end: nodes, LSPs and links by their names.

use super::flow::FlowSpec;
use super::problem::FlowProblem;
use base::describe::near;
use base::diagnostic::{At, Diagnostic, Step};
use network::spec::link_of;
use network::spec::reference::{Endpoint, Names, NodeRef};

/// The LSPs of a network, however many, by their names.
pub trait Lsps {
    /// Is there one of this name?
    fn has(&self, name: &str) -> bool;
    /// All names, for a hint.
    fn names(&self) -> Vec<&str>;
}

impl Lsps for network::spec::draft::Draft {
    fn has(&self, name: &str) -> bool {
        self.has_lsp(name)
    }
    fn names(&self) -> Vec<&str> {
        self.network().spec.lsps.iter().map(|lsp| &*lsp.name).collect()
    }
}

impl Lsps for network::Network {
    fn has(&self, name: &str) -> bool {
        self.find_lsp(name).is_some()
    }
    fn names(&self) -> Vec<&str> {
        self.lsps().iter().map(|group| group.spec.name.as_str()).collect()
    }
}

impl Lsps for std::collections::BTreeSet<&str> {
    fn has(&self, name: &str) -> bool {
        self.contains(name)
    }
    fn names(&self) -> Vec<&str> {
        self.iter().copied().collect()
    }
}

/// Finds what a flow names: nodes, its LSP, and the links by which it leaves a host and comes to one.
pub fn resolve(
    flow: &mut FlowSpec,
    names: &Names,
    ends: &[[Endpoint; 2]],
    lsps: &impl Lsps,
) -> Result<(), Diagnostic> {
    flow.from.resolve(names).at("from")?;
    flow.to.resolve(names).at("to")?;
    for (place, node) in flow.receivers.iter_mut().enumerate() {
        node.resolve(names).at(Step::Index(place)).at("receivers")?;
    }
    if let Some(over) = flow.over.as_ref().filter(|over| !lsps.has(over)) {
        let hint = near(over, lsps.names());
        return Err(Diagnostic::new(FlowProblem::UnknownLsp { name: over.to_string(), hint }).at("over"));
    }
    for (key, node, link) in
        [("from_link", &flow.from, &mut flow.from_link), ("to_link", &flow.to, &mut flow.to_link)]
    {
        if let Some(link) = link {
            link.resolve(names).at(key)?;
            place_of(node, link, ends).at(key)?;
        }
    }
    Ok(())
}

/// The link that a flow says it leaves a node by: to a neighbour, or one that has an interface of this name at either
/// end.
pub fn place_of(node: &NodeRef, said: &Endpoint, ends: &[[Endpoint; 2]]) -> Result<usize, Diagnostic> {
    if said.interface.is_some() {
        return link_of(said, ends);
    }
    let pair = [node.index(), said.node.index()];
    let joins = |link: &[Endpoint; 2]| {
        let own = link.each_ref().map(|end| end.node.index());
        own == pair || own == [pair[1], pair[0]]
    };
    let mut found = ends.iter().enumerate().filter(|(_, link)| joins(link)).map(|(place, _)| place);
    let (node, other) = (node.name.to_string(), said.node.name.to_string());
    match (found.next(), found.count()) {
        (Some(link), 0) => Ok(link),
        (Some(_), more) => Err(FlowProblem::WhichLink { node, other, count: more + 1 }.into()),
        (None, _) => Err(FlowProblem::NoLinkTo { node, other }.into()),
    }
}
