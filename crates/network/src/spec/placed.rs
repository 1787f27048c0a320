//! Queues and conditioners at the ends of links: from names to what they stand for, and from neighbours to ports.

use super::ReadNetwork;
use super::problem::NetworkProblem;
use crate::kind::NodeKind;
use base::PortId;
use base::describe::{AtEnds, Describe, Name, NamedOr, near};
use base::diagnostic::{At, Diagnostic, Step};
use engine::discipline::TreeSpec;
use node::conditioner::ConditionerSpec;

/// What may stand at the ports of nodes of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Queues in front of their links.
    pub queue: bool,
    /// A conditioner for what arrives.
    pub ingress: bool,
}

impl ReadNetwork {
    /// Sees that what stands at the ends of links may stand there, and that every name in it leads somewhere.
    pub(super) fn check_placed(&self, kinds: &[NodeKind]) -> Result<(), Diagnostic> {
        for (name, tree) in &self.spec.queues {
            self.conditioner_of(tree).at(&*name.0).at("queues")?;
        }
        for (index, link) in self.spec.links.iter().enumerate() {
            let place = |error: Diagnostic| self.at_link(index, error);
            self.check_ends(index, &link.queue, "queue", kinds, |ports| ports.queue).map_err(place)?;
            self.check_ends(index, &link.ingress, "ingress", kinds, |ports| ports.ingress).map_err(place)?;
            for side in [0, 1] {
                self.queue_at(index, side, kinds)?;
                self.ingress_at(index, side, kinds)?;
            }
        }
        Ok(())
    }

    /// The queues in front of a link at one of its ends, with their conditioner and with ports in the place of names.
    pub fn queue_at(
        &self,
        link: usize,
        side: usize,
        kinds: &[NodeKind],
    ) -> Result<Option<TreeSpec>, Diagnostic> {
        let node = self.spec.links[link].endpoints[side].node.index();
        if !self.ports(node, kinds).queue {
            return Ok(None);
        }
        let found = self.stands(link, side, &self.spec.links[link].queue, "queue", &self.spec.queues)?;
        let Some((tree, place)) = found else { return Ok(None) };
        let mut tree = tree.clone();
        let conditioner = self.conditioner_of(&tree).map_err(|error| error.below(place.iter().cloned()))?;
        if let Some((spec, named)) = conditioner {
            let mut spec = spec.clone();
            let place = named.map_or_else(
                || [&place[..], &["conditioner".into()]].concat(),
                |name| vec!["conditioners".into(), (&**name).into()],
            );
            spec.resolve_inputs(&mut |name| self.towards(node, name))
                .map_err(|error| error.below(place.iter().cloned()))?;
            tree.conditioner = Some(NamedOr::Inline(spec));
        }
        tree.resolve_inputs(&mut |name| self.towards(node, name))
            .map_err(|error| error.below(place.iter().cloned()))?;
        Ok(Some(tree))
    }

    /// What packets go through that arrive by a link at one of its ends, with ports in the place of names.
    pub fn ingress_at(
        &self,
        link: usize,
        side: usize,
        kinds: &[NodeKind],
    ) -> Result<Option<ConditionerSpec>, Diagnostic> {
        let node = self.spec.links[link].endpoints[side].node.index();
        if !self.ports(node, kinds).ingress {
            return Ok(None);
        }
        let given = &self.spec.links[link].ingress;
        let Some((spec, place)) = self.stands(link, side, given, "ingress", &self.spec.conditioners)? else {
            return Ok(None);
        };
        let mut spec = spec.clone();
        spec.resolve_inputs(&mut |name| self.towards(node, name))
            .map_err(|error| error.below(place.iter().cloned()))?;
        Ok(Some(spec))
    }

    /// What nothing refers to, at its place in the description.
    pub fn unused(&self) -> Vec<Diagnostic> {
        let links = &self.spec.links;
        let queues: Vec<&Name> = links.iter().flat_map(|link| names(&link.queue)).collect();
        let trees = self.spec.queues.iter().map(|entry| &entry.1);
        let inline = links.iter().flat_map(|link| inline(&link.queue));
        let conditioners: Vec<&Name> = links
            .iter()
            .flat_map(|link| names(&link.ingress))
            .chain(trees.chain(inline).filter_map(|tree| match &tree.conditioner {
                Some(NamedOr::Named(name)) => Some(name),
                _ => None,
            }))
            .collect();
        let unused = |name: &Name, group: &'static str, why: &'static str| {
            Diagnostic::new(NetworkProblem::Unused { why }).at(&**name).at(group)
        };
        let of_queues = self.spec.queues.iter().map(|entry| &entry.0).filter(|name| !queues.contains(name));
        let of_conditioners =
            self.spec.conditioners.iter().map(|entry| &entry.0).filter(|name| !conditioners.contains(name));
        of_queues
            .map(|name| unused(name, "queues", "no link names it in 'queue'"))
            .chain(of_conditioners.map(|name| {
                unused(name, "conditioners", "no link names it in 'ingress', and no queue in 'conditioner'")
            }))
            .collect()
    }

    /// Puts the place of a link in front of an error's.
    fn at_link(&self, index: usize, error: Diagnostic) -> Diagnostic {
        let error = error.at(index).at("links");
        if self.has_topology { error.at("topology") } else { error }
    }

    /// What may stand at the ports of a node.
    pub fn ports(&self, node: usize, kinds: &[NodeKind]) -> Ports {
        let kind = kinds.iter().find(|kind| kind.name == &*self.nodes[node].1.kind);
        // A process that does not have the kind leaves the question to those that do.
        kind.map_or(Ports { queue: true, ingress: true }, |kind| kind.ports)
    }

    /// Refuses what stands at no end of the link, or at a port that is not ours.
    fn check_ends<T>(
        &self,
        link: usize,
        given: &Option<AtEnds<T>>,
        key: &'static str,
        kinds: &[NodeKind],
        takes: fn(Ports) -> bool,
    ) -> Result<(), Diagnostic> {
        let Some(AtEnds::Each(entries)) = given else { return Ok(()) };
        let ends = &self.spec.links[link].endpoints;
        for (name, _) in entries {
            let [a, b] = [0, 1].map(|side| ends[side].node.name.to_string());
            let Some(end) = ends.iter().find(|end| end.node.name == *name) else {
                let hint = near(name, [&a, &b]);
                let problem = NetworkProblem::NoEnd { name: name.to_string(), a, b, hint };
                return Err(Diagnostic::new(problem).at(&*name.0).on_key()).at(key);
            };
            let node = end.node.index();
            if !takes(self.ports(node, kinds)) {
                let kind = self.nodes[node].1.kind.to_string();
                let problem = NetworkProblem::NotOurPort { node: name.to_string(), kind };
                return Err(Diagnostic::new(problem).at(&*name.0).on_key()).at(key);
            }
        }
        Ok(())
    }

    /// What stands at an end of a link, and where that is written.
    fn stands<'a, T: Describe>(
        &self,
        link: usize,
        side: usize,
        given: &'a Option<AtEnds<T>>,
        key: &'static str,
        known: &'a [(Name, T)],
    ) -> Result<Option<(&'a T, Vec<Step>)>, Diagnostic> {
        let node = &self.spec.links[link].endpoints[side].node.name;
        let Some((end, one)) = given.as_ref().and_then(|given| given.at(node)) else { return Ok(None) };
        let group = if key == "queue" { "queues" } else { "conditioners" };
        match one {
            NamedOr::Named(name) => {
                let found = look_up(name, known, group).map_err(|error| {
                    let error = end.into_iter().fold(error, Diagnostic::at).at(key);
                    self.at_link(link, error)
                })?;
                Ok(Some((found, vec![group.into(), (&**name).into()])))
            }
            NamedOr::Inline(inline) => {
                let top = self.has_topology.then(|| "topology".into());
                let inner = [Some("links".into()), Some(link.into()), Some(key.into()), end.map(Step::from)];
                Ok(Some((inline, top.into_iter().chain(inner.into_iter().flatten()).collect())))
            }
        }
    }

    /// The conditioner in front of a tree, with its name if it has one.
    fn conditioner_of<'a>(
        &'a self,
        tree: &'a TreeSpec,
    ) -> Result<Option<(&'a ConditionerSpec, Option<&'a Name>)>, Diagnostic> {
        match &tree.conditioner {
            None => Ok(None),
            Some(NamedOr::Inline(spec)) => Ok(Some((spec, None))),
            Some(NamedOr::Named(name)) => {
                let found = look_up(name, &self.spec.conditioners, "conditioners").at("conditioner")?;
                Ok(Some((found, Some(name))))
            }
        }
    }

    /// The ports of a node towards a neighbour, or towards an interface of either as `NODE:INTERFACE`.
    fn towards(&self, node: usize, input: &str) -> Result<Vec<PortId>, Diagnostic> {
        let own = |link: &&super::link::LinkSpec| link.endpoints.iter().any(|end| end.node.index() == node);
        let links: Vec<_> = self.spec.links.iter().filter(own).collect();
        let ports = |leads: &dyn Fn(&super::link::LinkSpec) -> bool| -> Vec<PortId> {
            let places = links.iter().enumerate().filter(|(_, link)| leads(link));
            places.map(|(place, _)| PortId(place as u16)).collect()
        };
        let other = |link: &super::link::LinkSpec| {
            let end = link.endpoints.iter().find(|end| end.node.index() != node);
            end.map_or_else(String::new, |end| end.node.name.to_string())
        };
        let found = ports(&|link| other(link) == input);
        if !found.is_empty() {
            return Ok(found);
        }
        let name = input.to_string();
        let here = self.nodes[node].0.to_string();
        if input.contains(':') {
            let text = |end: &super::reference::Endpoint| match end.write() {
                base::describe::Value::Text(text) => text,
                _ => String::new(),
            };
            let found = ports(&|link| link.endpoints.iter().any(|end| text(end) == input));
            if !found.is_empty() {
                return Ok(found);
            }
            let ends: Vec<String> = links.iter().flat_map(|link| link.endpoints.iter().map(text)).collect();
            let hint = near(input, ends.iter().map(String::as_str));
            return Err(NetworkProblem::NoLinkEnd { node: here, name, hint }.into());
        }
        let mut neighbours: Vec<String> = Vec::new();
        for neighbour in links.iter().map(|link| other(link)) {
            if !neighbours.contains(&neighbour) {
                neighbours.push(neighbour);
            }
        }
        let known: Vec<&str> = neighbours.iter().map(String::as_str).collect();
        let hint = match near(input, &known) {
            hint if hint.is_empty() => format!(" (one of {})", neighbours.join(", ")),
            hint => hint,
        };
        Err(NetworkProblem::NoNeighbour { node: here, name, hint }.into())
    }
}

fn look_up<'a, T>(name: &Name, known: &'a [(Name, T)], group: &'static str) -> Result<&'a T, Diagnostic> {
    if let Some(entry) = known.iter().find(|entry| entry.0 == *name) {
        return Ok(&entry.1);
    }
    let names: Vec<&str> = known.iter().map(|entry| &*entry.0).collect();
    let hint = match near(name, &names) {
        hint if hint.is_empty() && !names.is_empty() => format!(" (one of {})", names.join(", ")),
        hint => hint,
    };
    Err(NetworkProblem::UnknownNamed { name: name.to_string(), group, hint }.into())
}

fn each<T>(given: &Option<AtEnds<T>>) -> impl Iterator<Item = &NamedOr<T>> {
    let both = match given {
        Some(AtEnds::Both(one)) => Some(one),
        _ => None,
    };
    let entries = match given {
        Some(AtEnds::Each(entries)) => &entries[..],
        _ => &[],
    };
    both.into_iter().chain(entries.iter().map(|entry| &entry.1))
}

fn names<T>(given: &Option<AtEnds<T>>) -> impl Iterator<Item = &Name> {
    each(given).filter_map(|one| match one {
        NamedOr::Named(name) => Some(name),
        NamedOr::Inline(_) => None,
    })
}

fn inline<T>(given: &Option<AtEnds<T>>) -> impl Iterator<Item = &T> {
    each(given).filter_map(|one| match one {
        NamedOr::Named(_) => None,
        NamedOr::Inline(inline) => Some(inline),
    })
}
