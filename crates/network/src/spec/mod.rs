//! A network as users write it, in a file or by calls: what may stand there is declared here once.
//!
//! - here: the whole, and the references from one part to another
//! - [`draft`]: a network that is described piece by piece, by calls
//! - [`link`], [`lsp`], [`route`], [`rsvp`], [`address`]: its parts; what a node may say is declared beside its kind
//! - [`routing`]: how the routes of the whole network come about
//! - [`placed`]: queues and conditioners at the ends of links
//! - [`reference`]: names of nodes, ends of links, hops
//! - [`protocols`], [`table_driver`]: what protocols and drivers declare in their folders
//! - [`problem`]: what can be wrong, with its words

pub mod address;
pub mod address6;
pub mod advertise;
pub mod draft;
pub mod labels;
pub mod lc_atm;
pub mod link;
pub mod lsp;
pub mod medium;
pub mod membership;
pub mod p2mp;
pub mod path;
pub mod placed;
pub mod problem;
pub mod profile;
pub mod protection;
pub mod protocols;
pub mod pvc;
pub mod reference;
pub mod route;
pub mod routing;
pub mod rsvp;
pub mod table_driver;
pub mod vp;
pub mod written;

use crate::kind::{Facts, NodeKind};
use crate::problem::BuildProblem;
use base::Span;
use base::describe::{
    Describe, DescribeProblem, Name, Named, Record, Schema, Schemas, Value, Variant, malformed, unknown_word,
    wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use engine::discipline::TreeSpec;
use link::LinkSpec;
use lsp::LspSpec;
use node::conditioner::ConditionerSpec;
use p2mp::P2mpSpec;
use problem::NetworkProblem;
use reference::{Endpoint, HopSpec, Names};
use routing::RoutingSpec;
use std::collections::BTreeSet;

/// A node as it was written, read by its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeWritten {
    /// Which of the kinds it is of, by its name.
    pub kind: Name,
    /// All of its fields, defaults filled in.
    pub fields: Value,
    /// What others have to know of it, where its kind may be one that this program does not have.
    pub facts: Option<Facts>,
}

base::record! {
    /// A network: nodes, links, queues, LSPs and flows.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NetworkSpec {
        /// Its namespaces are called tp-NAME-NODE.
        pub name: Name;
        /// Seed of all random streams.
        pub seed: u64 = 1, in 0..=9_223_372_036_854_775_807;
        /// Nodes by name; the order counts for addresses.
        pub nodes: Vec<(Name, Value)> = Vec::new();
        /// All links; the order counts for ports and addresses.
        pub links: Vec<LinkSpec> = Vec::new();
        /// Signalled when the network comes up.
        pub lsps: Vec<LspSpec> = Vec::new();
        /// Point-to-multipoint LSPs, signalled in the same way.
        pub p2mp: Vec<P2mpSpec> = Vec::new();
        /// Measured traffic, for `twinplane run FILE`; a lab that is up has none.
        pub flows: Vec<Value> = Vec::new();
        /// Programs at two hosts that talk over TCP, in the same way.
        pub tcp: Vec<Value> = Vec::new();
        /// What is done to the network while it runs, for `twinplane run FILE`; a lab that is up has none.
        pub events: Vec<Value> = Vec::new();
        /// Measured traffic by a matrix of rates between nodes, in the same way.
        pub demands: Option<Value>, absent "there are none";
        /// Trees of queue disciplines, by name, for `queue` of links.
        pub queues: Vec<(Name, TreeSpec)> = Vec::new();
        /// Meters and markers, by name, for `ingress` of links and for trees.
        pub conditioners: Vec<(Name, ConditionerSpec)> = Vec::new();
        /// Nodes and links, as containerlab has them, instead of those above.
        pub topology: Option<Topology>;
        /// Width of the bins in which the backlog of every queue is kept over time, for table `queue_series`.
        pub queue_bin: Option<Span>, in 1..=9_223_372_036_854_775_807, absent "none is kept";
        /// Routes that follow failures: `shortest`, or a mapping with its delays. Static routes of routers stay.
        pub routes: Option<RoutingSpec>, absent "routes stay as they were when the network came up";
        /// When phases of the measurement begin, and how delays are measured.
        pub measuring: Option<Value>, absent "one phase, from the start";
    }
    read by hand;
}

base::record! {
    /// Nodes and links where containerlab has them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Topology {
        /// By name.
        pub nodes: Vec<(Name, Value)> = Vec::new();
        /// All links.
        pub links: Vec<LinkSpec> = Vec::new();
    }
}

/// A network that was read, and whose references all lead somewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadNetwork {
    /// The description; nodes and links of `topology` stand where others have them.
    pub spec: NetworkSpec,
    /// Nodes, read by their kinds.
    pub nodes: Vec<(Name, NodeWritten)>,
    /// The nodes and links were written under `topology`.
    pub has_topology: bool,
}

/// One that says nothing yet, for calls that add to it.
impl Default for NetworkSpec {
    fn default() -> NetworkSpec {
        NetworkSpec {
            name: "network".into(),
            seed: 1,
            nodes: Vec::new(),
            links: Vec::new(),
            lsps: Vec::new(),
            p2mp: Vec::new(),
            flows: Vec::new(),
            tcp: Vec::new(),
            events: Vec::new(),
            demands: None,
            queues: Vec::new(),
            conditioners: Vec::new(),
            topology: None,
            queue_bin: None,
            routes: None,
            measuring: None,
        }
    }
}

impl Describe for NetworkSpec {
    fn read(value: &Value) -> Result<NetworkSpec, Diagnostic> {
        NetworkSpec::read_record(value, "")
    }
    fn write(&self) -> Value {
        self.write_record()
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("NetworkSpec", |known| Named::Record(NetworkSpec::record_schema(known)))
    }
}

impl NetworkSpec {
    /// In files names are such that they can become part of names of other files, and of network namespaces.
    fn check_names(&self) -> Result<(), Diagnostic> {
        self.name.check().at("name")?;
        let topology = self.topology.as_ref().map(|topology| &topology.nodes);
        for (nodes, is_within) in [(Some(&self.nodes), false), (topology, true)] {
            for (name, _) in nodes.into_iter().flatten() {
                let found = name.check().map_err(Diagnostic::on_key).at(&**name).at("nodes");
                found.map_err(|error| if is_within { error.at("topology") } else { error })?;
            }
        }
        let queues = self.queues.iter().map(|entry| ("queues", &entry.0));
        let conditioners = self.conditioners.iter().map(|entry| ("conditioners", &entry.0));
        for (key, name) in queues.chain(conditioners) {
            name.check().map_err(Diagnostic::on_key).at(&**name).at(key)?;
        }
        let mut lsps = self.lsps.iter().enumerate();
        lsps.try_for_each(|(index, lsp)| lsp.name.check().at("name").at(index).at("lsps"))?;
        let mut trees = self.p2mp.iter().enumerate();
        trees.try_for_each(|(index, tree)| tree.name.check().at("name").at(index).at("p2mp"))
    }
}

impl ReadNetwork {
    /// Reads a network whose nodes are of these kinds.
    pub fn read(value: &Value, kinds: &[NodeKind]) -> Result<ReadNetwork, Diagnostic> {
        let read = NetworkSpec::read(value).and_then(|spec| {
            spec.check_names()?;
            ReadNetwork::of(spec, kinds, |value| read_node(value, kinds))
        });
        let read = read.and_then(|read| read.check_external().map(|()| read));
        read.map_err(|error| problem::for_containerlab(written::as_written(error, value)))
    }

    /// Reads what a program wrote, for a process that may not have all kinds of nodes: names are as in the program, and
    /// facts may stand beside nodes.
    pub fn read_part(value: &Value, kinds: &[NodeKind]) -> Result<ReadNetwork, Diagnostic> {
        ReadNetwork::of(NetworkSpec::read(value)?, kinds, |value| read_known(value, kinds))
    }

    fn of(
        mut spec: NetworkSpec,
        kinds: &[NodeKind],
        read_node: impl Fn(&Value) -> Result<NodeWritten, Diagnostic>,
    ) -> Result<ReadNetwork, Diagnostic> {
        let topology = spec.topology.take();
        let has_topology = topology.is_some();
        if let Some(topology) = topology {
            for (key, is_there) in [("nodes", !spec.nodes.is_empty()), ("links", !spec.links.is_empty())] {
                if is_there {
                    return Err(Diagnostic::new(NetworkProblem::TopologyTwice { key: key.into() }).at(key));
                }
            }
            (spec.nodes, spec.links) = (topology.nodes, topology.links);
        }
        let mut read = ReadNetwork { spec, nodes: Vec::new(), has_topology };
        let inner = read.read_nodes(read_node).and_then(|()| read.resolve_links());
        inner.map_err(|error| if has_topology { error.at("topology") } else { error })?;
        read.resolve_lsps()?;
        read.check_placed(kinds)?;
        Ok(read)
    }

    fn read_nodes(
        &mut self,
        read_node: impl Fn(&Value) -> Result<NodeWritten, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        for (name, value) in core::mem::take(&mut self.spec.nodes) {
            let node = read_node(&value).at(&*name).at("nodes")?;
            self.nodes.push((name, node));
        }
        Ok(())
    }

    /// Somebody else's router is behind an interface, and a file says which.
    fn check_external(&self) -> Result<(), Diagnostic> {
        for (index, link) in self.spec.links.iter().enumerate() {
            for (side, end) in link.endpoints.iter().enumerate() {
                let is_external = &*self.nodes[end.node.index()].1.kind == "external";
                if is_external && end.interface.is_none() {
                    let which = NetworkProblem::WhichInterface { node: end.node.name.to_string() };
                    let error = Diagnostic::new(which).at(side).at("endpoints").at(index).at("links");
                    return Err(if self.has_topology { error.at("topology") } else { error });
                }
            }
        }
        Ok(())
    }

    fn resolve_links(&mut self) -> Result<(), Diagnostic> {
        let names = Names::new(self.nodes.iter().map(|node| node.0.clone()));
        let mut used: BTreeSet<(usize, String)> = BTreeSet::new();
        for (index, link) in self.spec.links.iter_mut().enumerate() {
            if let Some(pvc) = &mut link.pvc {
                pvc.resolve(&names).at("pvc").at(index).at("links")?;
            }
            if let Some(vp) = &mut link.vp {
                vp.resolve(&names).at("vp").at(index).at("links")?;
            }
            for (side, end) in link.endpoints.iter_mut().enumerate() {
                let place = |error: Diagnostic| error.at(side).at("endpoints").at(index).at("links");
                end.resolve(&names).map_err(place)?;
                let written = &self.nodes[end.node.index()].1;
                if &*written.kind == "external" {
                    external_interface(end, written).map_err(place)?;
                }
                let Some(interface) = &end.interface else { continue };
                let node = end.node.name.to_string();
                if interface == "lo" {
                    return Err(place(NetworkProblem::Loopback { node }.into()));
                }
                if !used.insert((end.node.index(), interface.clone())) {
                    let twice = NetworkProblem::InterfaceTwice { node, interface: interface.clone() };
                    return Err(place(twice.into()));
                }
            }
            if link.endpoints[0].node == link.endpoints[1].node {
                return Err(Diagnostic::new(NetworkProblem::LinkToItself {}).at(index).at("links"));
            }
        }
        // Names that were given come first; the others count up from e0.
        for (index, link) in self.spec.links.iter_mut().enumerate() {
            for end in &mut link.endpoints {
                let node = end.node.index();
                if end.interface.is_some() || &*self.nodes[node].1.kind == "external" {
                    continue;
                }
                let free =
                    (0..).map(|count| format!("e{count}")).find(|name| !used.contains(&(node, name.clone())));
                let name = free.unwrap_or_else(|| format!("l{index}"));
                used.insert((node, name.clone()));
                end.interface = Some(name);
            }
        }
        Ok(())
    }

    fn resolve_lsps(&mut self) -> Result<(), Diagnostic> {
        let names = Names::new(self.nodes.iter().map(|node| node.0.clone()));
        let ends: Vec<[Endpoint; 2]> = self.spec.links.iter().map(|link| link.endpoints.clone()).collect();
        let mut seen = BTreeSet::new();
        for (index, lsp) in self.spec.lsps.iter_mut().enumerate() {
            let place = |error: Diagnostic| error.at(index).at("lsps");
            if !seen.insert(lsp.name.clone()) {
                let twice = DescribeProblem::Twice { name: lsp.name.to_string() };
                return Err(place(Diagnostic::new(twice).at("name")));
            }
            resolve_lsp(lsp, &names, &ends).map_err(place)?;
        }
        for (index, tree) in self.spec.p2mp.iter_mut().enumerate() {
            let place = |error: Diagnostic| error.at(index).at("p2mp");
            if !seen.insert(tree.name.clone()) {
                let twice = DescribeProblem::Twice { name: tree.name.to_string() };
                return Err(place(Diagnostic::new(twice).at("name")));
            }
            tree.resolve(&names, &ends).map_err(place)?;
        }
        Ok(())
    }

    /// All of it with defaults filled in, as it could have been written.
    pub fn write(&self) -> Value {
        let mut value = self.spec.write();
        let nodes = self.nodes.iter().map(|(name, node)| (name.to_string(), node.fields.clone()));
        value.set("nodes", Value::Map(nodes.collect()));
        value
    }
}

/// The interface of this machine behind which somebody else's router is: the endpoint says it, or the node does.
fn external_interface(end: &mut Endpoint, node: &NodeWritten) -> Result<(), Diagnostic> {
    let own = node.fields.get("interface").and_then(Value::as_text);
    let name = end.node.name.to_string();
    match (&end.interface, own) {
        (Some(given), Some(own)) if given != own => {
            Err(NetworkProblem::OtherInterface { node: name, own: own.into(), given: given.clone() }.into())
        }
        (None, Some(own)) => {
            end.interface = Some(own.into());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Finds the nodes and links that an LSP names.
pub fn resolve_lsp(lsp: &mut LspSpec, names: &Names, ends: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
    lsp.from.resolve(names).at("from")?;
    lsp.to.resolve(names).at("to")?;
    for (key, route) in [("route", &mut lsp.route), ("fallback", &mut lsp.fallback)] {
        for (hop, spec) in route.iter_mut().enumerate() {
            resolve_hop(spec, names, ends).at(hop).at(key)?;
        }
    }
    for (place, spec) in lsp.path.iter_mut().flat_map(|path| path.exclude.iter_mut().enumerate()) {
        resolve_hop(spec, names, ends).at(place).at("exclude").at("path")?;
    }
    if let Some(bypass) = &mut lsp.bypass {
        resolve_hop(bypass, names, ends).at("bypass")?;
    }
    Ok(())
}

/// The node at the end of a hop, or the link that it names.
pub fn resolve_hop(hop: &mut HopSpec, names: &Names, ends: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
    match hop {
        HopSpec::Node(node) => node.resolve(names),
        HopSpec::Link(link) if *link < ends.len() => Ok(()),
        HopSpec::Link(link) => Err(NetworkProblem::NoLink { link: *link, count: ends.len() }.into()),
        HopSpec::Interface(end) => {
            end.resolve(names)?;
            *hop = match end.interface {
                Some(_) => HopSpec::Link(link_of(end, ends)?),
                None => HopSpec::Node(end.node.clone()),
            };
            Ok(())
        }
    }
}

/// The link that has this end.
pub fn link_of(end: &Endpoint, ends: &[[Endpoint; 2]]) -> Result<usize, Diagnostic> {
    let of_node = |link: &[Endpoint; 2]| link.iter().any(|other| other.node == end.node);
    let at_node = || ends.iter().enumerate().filter(|(_, link)| of_node(link));
    if let Some((link, _)) = at_node().find(|(_, link)| link.contains(end)) {
        return Ok(link);
    }
    let own = at_node().flat_map(|(_, link)| link.iter()).filter(|other| other.node == end.node);
    let known: Vec<&str> = own.filter_map(|end| end.interface.as_deref()).collect();
    let interface = end.interface.clone().unwrap_or_default();
    let hint = base::describe::near(&interface, &known);
    Err(NetworkProblem::NoInterface { node: end.node.name.to_string(), interface, hint }.into())
}

/// Reads a node by its kind.
pub fn read_node(value: &Value, kinds: &[NodeKind]) -> Result<NodeWritten, Diagnostic> {
    let known: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    let Value::Map(_) = value else { return Err(wrong_type(value, "a mapping with a kind")) };
    let Some(word) = value.get("kind") else {
        let example = format!(": {}", base::describe::listed(&known));
        return Err(DescribeProblem::Missing { field: "kind".into(), example }.into());
    };
    let Some(kind) = kinds.iter().find(|kind| word.as_text() == Some(kind.name)) else {
        let renamed = word.as_text().and_then(problem::former_kind);
        return Err(match renamed {
            Some(problem) => Diagnostic::new(problem),
            None => unknown_word(word, &known),
        })
        .at("kind");
    };
    let mut fields = Value::Map(vec![("kind".into(), kind.name.into())]);
    if let Value::Map(entries) = (kind.read)(value)?.described() {
        entries.into_iter().for_each(|(key, value)| fields.set(&key, value));
    }
    Ok(NodeWritten { kind: kind.name.into(), fields, facts: None })
}

/// Reads a node whose kind this program may not have: then its facts stand beside it ([`crate::kind::write_facts`]).
pub fn read_known(value: &Value, kinds: &[NodeKind]) -> Result<NodeWritten, Diagnostic> {
    let Some(facts) = value.get("facts") else { return read_node(value, kinds) };
    let parsed: Result<Facts, _> = serde_json::to_value(facts).and_then(serde_json::from_value);
    let facts = parsed.map_err(|error| malformed(facts, format!("what others know of a node: {error}")));
    let facts = facts.at("facts")?;
    let mut fields = value.clone();
    if let Value::Map(entries) = &mut fields {
        entries.retain(|entry| entry.0 != "facts");
    }
    let kind = value.get("kind").and_then(Value::as_text).unwrap_or_default();
    let Some(known) = kinds.iter().find(|known| known.name == kind) else {
        return Ok(NodeWritten { kind: kind.into(), fields, facts: Some(facts) });
    };
    if (known.read)(&fields)?.facts() != facts {
        return Err(BuildProblem::OtherFacts { kind: kind.into() }.into());
    }
    read_node(&fields, kinds)
}

/// The schema of a network with these kinds of nodes: `nodes` are a choice by `kind`.
pub fn schema(known: &mut Schemas, kinds: &[NodeKind]) {
    NetworkSpec::schema(known);
    let node = known.named("NodeSpec", |known| {
        Named::Choice(base::describe::Choice {
            meaning: "A node, by its kind.".into(),
            tag: "kind",
            variants: kinds
                .iter()
                .map(|kind| Variant {
                    word: kind.name,
                    meaning: kind.meaning.into(),
                    record: (kind.schema)(known),
                })
                .collect(),
            short: Vec::new(),
        })
    });
    for record in ["NetworkSpec", "Topology"] {
        known.amend(record, |field| {
            if field.key == "nodes" {
                field.schema = Schema::Map(Box::new(node.clone()));
            }
        });
    }
}

#[cfg(test)]
mod tests;
