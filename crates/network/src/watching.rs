//! Keys of BFD: two routers that watch each other, or the ends of an LSP that is watched, have to have the same one, or
//! their sessions do not come up (RFC 5880, 6.8.6).

use super::place::Place;
use super::problem::AdviceProblem;
use super::{Network, segment};
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use control::bfd::Bfd;
use control::bfd::section::BfdSpec;
use control::protocol::{Agreement, Setup};
use std::collections::{BTreeMap, BTreeSet};

/// On whose behalf neighbours are watched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    /// A protocol whose neighbours they are.
    Protocol(ProtocolId),
    /// A static route.
    Route,
    /// RSVP-TE, which all routers of ours speak.
    Rsvp,
}

/// Where two routers watch each other.
#[derive(Clone, Copy)]
enum Where {
    Link(usize),
    /// From further away, as this node says.
    Node(usize),
    Lsp(usize),
}

impl Network {
    /// Each pair of routers whose keys of BFD differ, once.
    pub(super) fn bfd_key_warnings(&self) -> Vec<Diagnostic> {
        let keys: Vec<Option<Vec<Agreement>>> =
            (0..self.description.nodes.len()).map(|node| self.bfd_key(node)).collect();
        let mut different = keys.iter().flatten();
        let first = different.next();
        if different.all(|key| Some(key) == first) {
            return Vec::new();
        }
        let (mut known, mut said) = (BTreeSet::new(), Vec::new());
        for ([one, other], place) in self.watching_pairs() {
            let (Some(here), Some(there)) = (&keys[one], &keys[other]) else { continue };
            let pair = [one.min(other), one.max(other)];
            let differ = here.iter().zip(there).find(|(here, there)| here.value != there.value);
            let Some((here, there)) = differ.filter(|_| known.insert(pair)) else { continue };
            let [a, b] = [one, other].map(|node| self.node_name(node).to_string());
            let problem = match here.is_secret {
                true => AdviceProblem::BfdSecrets { a, b },
                false => {
                    AdviceProblem::BfdKeys { a, here: here.value.clone(), b, there: there.value.clone() }
                }
            };
            said.push(match place {
                Where::Link(link) => problem.of_link(&self.description, link),
                Where::Node(node) => {
                    Diagnostic::new(problem).at(Bfd::ID.name()).on_key().of_node(&self.description, node)
                }
                Where::Lsp(index) => {
                    Diagnostic::new(problem).at("bfd").on_key().of_lsp(index, &self.lsps[index].spec)
                }
            });
        }
        said
    }

    /// How a router of ours authenticates BFD; nothing for others, whose settings are not known here.
    fn bfd_key(&self, node: usize) -> Option<Vec<Agreement>> {
        self.facts(node).is_own_router().then(|| {
            let mut spoken = self.description.nodes[node].protocols.spoken();
            match spoken.find(|spoken| spoken.protocol == Bfd::ID) {
                Some(own) => own.setup.agreements_with(""),
                None => BfdSpec::default().agreements_with(""),
            }
        })
    }

    /// Routers that watch each other on a link or from further away, and the ends of LSPs that are watched.
    fn watching_pairs(&self) -> Vec<([usize; 2], Where)> {
        let mut pairs = Vec::new();
        let mut segments: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        let standing = segment::joined(&self.description);
        for (index, link) in self.links.iter().enumerate() {
            let watching = [0, 1].into_iter().filter(|side| self.watches_at(index, *side));
            let ends: Vec<usize> = watching.map(|side| link.ends()[side]).collect();
            match link.ends().into_iter().find(|node| self.facts(*node).segment.is_some()) {
                Some(segment) => segments
                    .entry(standing[segment])
                    .or_default()
                    .extend(ends.into_iter().map(|node| (node, index))),
                None => pairs.extend(<[usize; 2]>::try_from(ends).map(|ends| (ends, Where::Link(index)))),
            }
        }
        for all in segments.values() {
            let of = |place: usize| {
                move |&(other, link): &(usize, usize)| ([all[place].0, other], Where::Link(link))
            };
            pairs.extend((0..all.len()).flat_map(|place| all[place + 1..].iter().map(of(place))));
        }
        let far: Vec<BTreeSet<usize>> =
            (0..self.description.nodes.len()).map(|node| self.watched_afar(node)).collect();
        for (node, others) in far.iter().enumerate() {
            let mutual = others.iter().filter(|other| **other > node && far[**other].contains(&node));
            pairs.extend(mutual.map(|other| ([node, *other], Where::Node(node))));
        }
        let lsps = self.lsps.iter().map(|group| &group.spec).enumerate();
        let watched = lsps.filter(|(_, spec)| spec.watch.is_some_and(|pace| pace.is_of_bfd()));
        pairs.extend(watched.map(|(index, spec)| ([spec.from, spec.to], Where::Lsp(index))));
        for tree in self.p2mp.iter().filter(|tree| tree.watch.is_some()) {
            let of = |leaf: usize| ([tree.root, leaf], Where::Node(tree.root));
            pairs.extend(tree.leaves.iter().map(|(leaf, _)| of(*leaf)));
        }
        // LSPs to what lies at other speakers of a protocol: any of them may be an end.
        for (node, spec) in self.description.nodes.iter().enumerate() {
            for protocol in spec.protocols.setups().filter_map(|setup| setup.watches_lsps()) {
                let speaks = |other: usize| {
                    let mut spoken = self.description.nodes[other].protocols.spoken();
                    other != node && spoken.any(|one| one.protocol == protocol)
                };
                let others = (0..self.description.nodes.len()).filter(|other| speaks(*other));
                pairs.extend(others.map(|other| ([node, other], Where::Node(node))));
            }
        }
        pairs
    }

    /// Does the node at an end of a link have its neighbours there watched?
    pub(super) fn watches_at(&self, index: usize, side: usize) -> bool {
        !self.watching_at(index, side).is_empty()
    }

    /// On whose behalf a router of ours has its neighbours at an end of a link watched.
    pub(super) fn watching_at(&self, index: usize, side: usize) -> Vec<Client> {
        let link = &self.links[index];
        let (node, attached) = (link.ends()[side], self.attached_at(link, side));
        let spec = &self.description.nodes[node];
        if !self.facts(node).is_own_router() {
            return Vec::new();
        }
        let watching = spec.protocols.spoken().filter(|spoken| spoken.setup.watches_at(&attached));
        let mut all: Vec<Client> = watching.map(|spoken| Client::Protocol(spoken.protocol)).collect();
        if spec.static_routes.iter().any(|route| route.bfd.is_some() && route.links.contains(&index)) {
            all.push(Client::Route);
        }
        if spec.rsvp.bfd.0.is_some() {
            all.push(Client::Rsvp);
        }
        all
    }

    /// Those whom a node has watched by name, address or router id, wherever they are.
    pub(super) fn watched_afar(&self, node: usize) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for spoken in self.description.nodes[node].protocols.spoken() {
            let setup = self.in_mesh(node, spoken.protocol, spoken.setup.clone());
            let names = setup.watches_afar();
            let has_id = |name: &str| {
                (0..self.description.nodes.len()).find(|other| {
                    self.router_id(spoken.protocol, *other).is_some_and(|id| id.to_string() == name)
                })
            };
            all.extend(
                names.into_iter().filter_map(|name| self.named_or_owning(name).or_else(|| has_id(name))),
            );
        }
        all
    }
}
