//! A network that is described piece by piece: what a call adds is read and checked as what a file says.
//!
//! Names lead somewhere from the beginning: a link is added behind its nodes, an LSP behind the links of its route.

use super::link::LinkSpec;
use super::lsp::LspSpec;
use super::p2mp::P2mpSpec;
use super::problem::NetworkProblem;
use super::reference::{Endpoint, HopSpec, Names};
use super::{NetworkSpec, ReadNetwork, read_node, resolve_lsp};
use crate::kind::NodeKind;
use base::describe::{Describe, DescribeProblem, Name, Value};
use base::diagnostic::{At, Diagnostic};
use std::collections::{BTreeMap, BTreeSet};

/// A network as far as it has been described.
#[derive(Clone, Debug)]
pub struct Draft {
    read: ReadNetwork,
    kinds: &'static [NodeKind],
    names: Names,
    ends: Vec<[Endpoint; 2]>,
    /// Interfaces by node: how many were counted, and those that have a name of their own.
    interfaces: Vec<(usize, BTreeSet<String>)>,
    /// The links between two nodes, the one that comes first in front.
    between: BTreeMap<(usize, usize), Vec<usize>>,
    lsps: BTreeSet<Name>,
}

impl Draft {
    /// Nothing yet. What is not said by node, link or LSP is as in a file that does not say it.
    pub fn new(kinds: &'static [NodeKind]) -> Draft {
        Draft::of(ReadNetwork::default(), kinds)
    }

    /// What a file says, to be added to.
    pub fn of(read: ReadNetwork, kinds: &'static [NodeKind]) -> Draft {
        let names = Names::new(read.nodes.iter().map(|node| node.0.clone()));
        let trees = read.spec.p2mp.iter().map(|tree| tree.name.clone());
        let lsps = read.spec.lsps.iter().map(|lsp| lsp.name.clone()).chain(trees).collect();
        let interfaces = vec![Default::default(); read.nodes.len()];
        let ends: Vec<[Endpoint; 2]> = read.spec.links.iter().map(|link| link.endpoints.clone()).collect();
        let mut draft =
            Draft { read, kinds, names, ends: Vec::new(), interfaces, between: BTreeMap::new(), lsps };
        ends.into_iter().for_each(|ends| draft.note_link(ends));
        draft
    }

    /// All of it so far.
    pub fn network(&self) -> &ReadNetwork {
        &self.read
    }

    /// What is said of the whole, to be changed.
    pub fn whole(&mut self) -> &mut NetworkSpec {
        &mut self.read.spec
    }

    /// The names of its nodes.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The ends of its links, each with the name of an interface.
    pub fn ends(&self) -> &[[Endpoint; 2]] {
        &self.ends
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: &str, value: &Value) -> Result<(), Diagnostic> {
        let name = Name::read(&name.into()).map_err(Diagnostic::on_key).at(name).at("nodes")?;
        if self.names.has(&name) {
            let twice = Diagnostic::new(DescribeProblem::Twice { name: name.to_string() });
            return Err(twice.at(&*name).at("nodes"));
        }
        let node = read_node(value, self.kinds).at(&*name).at("nodes")?;
        self.names.push(name.clone());
        self.interfaces.push(Default::default());
        self.read.nodes.push((name, node));
        Ok(())
    }

    /// Describes a node anew.
    pub fn set_node(&mut self, place: usize, value: &Value) -> Result<(), Diagnostic> {
        let Some((name, node)) = self.read.nodes.get_mut(place) else { return Ok(()) };
        *node = read_node(value, self.kinds).at(&**name).at("nodes")?;
        Ok(())
    }

    /// Adds an element to a list that is said of a node. That costs as much as the element, and not as the list.
    pub fn extend_node(&mut self, place: usize, key: &str, element: &Value) -> Result<(), Diagnostic> {
        let Some((_, node)) = self.read.nodes.get_mut(place) else { return Ok(()) };
        let alone = Value::Map(vec![
            ("kind".into(), (&*node.kind).into()),
            (key.into(), Value::List(vec![element.clone()])),
        ]);
        let read = read_node(&alone, self.kinds).ok();
        let added = read.as_ref().and_then(|read| read.fields.get(key)?.element(0));
        if let (Some(added), Some(Value::List(known))) = (added, node.fields.get_mut(key)) {
            known.push(added.clone());
            return Ok(());
        }
        // It is wrong, or the list can't be told from what else is said: all of the node tells what is to be told.
        let mut whole = node.fields.clone();
        match whole.get_mut(key) {
            Some(Value::List(known)) => known.push(element.clone()),
            _ => whole.set(key, Value::List(vec![element.clone()])),
        }
        self.set_node(place, &whole)
    }

    /// Lends what has been described: until it is given back, nothing is.
    pub fn lend(&mut self) -> ReadNetwork {
        core::mem::take(&mut self.read)
    }

    /// Takes back what was lent, as it was.
    pub fn take_back(&mut self, read: ReadNetwork) {
        self.read = read;
    }

    /// Adds a link. Interfaces that have no name of their own count up from e0 at each node.
    pub fn add_link(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.ends.len();
        let link = self.link(value).at(place).at("links")?;
        self.note_link(link.endpoints.clone());
        self.read.spec.links.push(link);
        Ok(())
    }

    /// Describes a link anew; its ends are those that it has.
    pub fn set_link(&mut self, place: usize, value: &Value) -> Result<(), Diagnostic> {
        let Some(ends) = self.ends.get(place) else { return Ok(()) };
        let mut link = LinkSpec::read(value).at(place).at("links")?;
        self.resolve_ways(&mut link).at(place).at("links")?;
        self.read.spec.links[place] = LinkSpec { endpoints: ends.clone(), ..link };
        Ok(())
    }

    /// Finds the switches that a circuit or a virtual path passes.
    fn resolve_ways(&self, link: &mut LinkSpec) -> Result<(), Diagnostic> {
        if let Some(pvc) = &mut link.pvc {
            pvc.resolve(&self.names).at("pvc")?;
        }
        if let Some(vp) = &mut link.vp {
            vp.resolve(&self.names).at("vp")?;
        }
        Ok(())
    }

    fn link(&mut self, value: &Value) -> Result<LinkSpec, Diagnostic> {
        let mut link = LinkSpec::read(value)?;
        for (side, end) in link.endpoints.iter_mut().enumerate() {
            end.resolve(&self.names).at(side).at("endpoints")?;
        }
        self.resolve_ways(&mut link)?;
        if link.endpoints[0].node == link.endpoints[1].node {
            return Err(NetworkProblem::LinkToItself {}.into());
        }
        for (side, end) in link.endpoints.iter_mut().enumerate() {
            let (count, named) = &mut self.interfaces[end.node.index()];
            let interface = match &end.interface {
                Some(interface) if named.contains(interface) => {
                    let (node, interface) = (end.node.name.to_string(), interface.clone());
                    let twice = NetworkProblem::InterfaceTwice { node, interface };
                    return Err(Diagnostic::new(twice).at(side).at("endpoints"));
                }
                Some(interface) => interface.clone(),
                // What is behind an interface of this machine is said where that is attached.
                None if &*self.read.nodes[end.node.index()].1.kind == "external" => continue,
                None => {
                    let mut free = (*count..).map(|count| (count, format!("e{count}")));
                    let (next, name) = free.find(|free| !named.contains(&free.1)).unwrap_or_default();
                    *count = next + 1;
                    name
                }
            };
            end.interface = Some(interface);
        }
        Ok(link)
    }

    fn note_link(&mut self, ends: [Endpoint; 2]) {
        let link = self.ends.len();
        let [a, b] = [ends[0].node.index(), ends[1].node.index()];
        self.between.entry((a.min(b), a.max(b))).or_default().push(link);
        for end in &ends {
            self.interfaces[end.node.index()].1.extend(end.interface.clone());
        }
        self.ends.push(ends);
    }

    /// Adds a group of LSPs.
    pub fn add_lsp(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.read.spec.lsps.len();
        let lsp = self.lsp(value).at(place).at("lsps")?;
        self.lsps.insert(lsp.name.clone());
        self.read.spec.lsps.push(lsp);
        Ok(())
    }

    /// Adds a point-to-multipoint LSP.
    pub fn add_p2mp(&mut self, value: &Value) -> Result<(), Diagnostic> {
        let place = self.read.spec.p2mp.len();
        let tree = self.tree(value).at(place).at("p2mp")?;
        self.lsps.insert(tree.name.clone());
        self.read.spec.p2mp.push(tree);
        Ok(())
    }

    /// Describes a point-to-multipoint LSP anew.
    pub fn set_p2mp(&mut self, place: usize, value: &Value) -> Result<(), Diagnostic> {
        let Some(known) = self.read.spec.p2mp.get(place) else { return Ok(()) };
        self.lsps.remove(&known.name);
        let tree = self.tree(value).at(place).at("p2mp");
        self.lsps.insert(tree.as_ref().map_or_else(|_| known.name.clone(), |tree| tree.name.clone()));
        self.read.spec.p2mp[place] = tree?;
        Ok(())
    }

    fn tree(&self, value: &Value) -> Result<P2mpSpec, Diagnostic> {
        let mut tree = P2mpSpec::read(value)?;
        if self.lsps.contains(&tree.name) {
            let twice = DescribeProblem::Twice { name: tree.name.to_string() };
            return Err(Diagnostic::new(twice).at("name"));
        }
        tree.resolve(&self.names, &self.ends)?;
        Ok(tree)
    }

    fn lsp(&self, value: &Value) -> Result<LspSpec, Diagnostic> {
        let mut lsp = LspSpec::read(value)?;
        if self.lsps.contains(&lsp.name) {
            let twice = DescribeProblem::Twice { name: lsp.name.to_string() };
            return Err(Diagnostic::new(twice).at("name"));
        }
        resolve_lsp(&mut lsp, &self.names, &self.ends)?;
        for (key, route) in [("route", &lsp.route), ("fallback", &lsp.fallback)] {
            self.check_route(&lsp, route).at(key)?;
        }
        Ok(lsp)
    }

    /// A route is a way over links, and a strict one ends where the LSP does.
    fn check_route(&self, lsp: &LspSpec, route: &[HopSpec]) -> Result<(), Diagnostic> {
        let name =
            |node: usize| self.read.nodes.get(node).map_or_else(String::new, |node| node.0.to_string());
        let mut here = lsp.from.index();
        for (index, hop) in route.iter().enumerate() {
            let next = match hop {
                HopSpec::Link(link) => {
                    let ends = self.ends[*link].each_ref().map(|end| end.node.index());
                    let side = ends.iter().position(|end| *end == here);
                    side.map(|side| ends[1 - side])
                        .ok_or_else(|| format!("{} - {}", name(ends[0]), name(ends[1])))
                }
                HopSpec::Node(node) if lsp.loose => Ok(node.index()),
                HopSpec::Node(node) => {
                    let pair = (here.min(node.index()), here.max(node.index()));
                    let found = self.between.contains_key(&pair);
                    found.then(|| node.index()).ok_or_else(|| node.name.to_string())
                }
                HopSpec::Interface(_) => return Ok(()),
            };
            here = next
                .map_err(|to| Diagnostic::new(NetworkProblem::NoWayOn { from: name(here), to }))
                .at(index)?;
        }
        if route.is_empty() || lsp.loose || here == lsp.to.index() {
            return Ok(());
        }
        let (end, to) = (name(here), lsp.to.name.to_string());
        Err(NetworkProblem::RouteEnds { end, to }.into())
    }

    /// Is there a group of LSPs of this name?
    pub fn has_lsp(&self, name: &str) -> bool {
        self.lsps.contains(&Name(name.into()))
    }

    /// The links between two nodes.
    pub fn between(&self, a: usize, b: usize) -> &[usize] {
        self.between.get(&(a.min(b), a.max(b))).map_or(&[], Vec::as_slice)
    }
}
