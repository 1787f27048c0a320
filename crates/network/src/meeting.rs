//! Where routers speak a protocol and do not meet by it: settings that differ between the ends of a link, numbers that
//! two routers have, and parts that nothing joins.

use super::parts::Parts;
use super::place::Place;
use super::problem::{AdviceProblem, BuildProblem};
use super::queues::SIDES;
use super::regions::Ways;
use super::segment;
use super::spec::protocols::Spoken;
use super::ways::some_names;
use super::{Link, Network};
use base::describe::Describe;
use base::diagnostic::Diagnostic;
use base::{ProtocolId, Time};
use control::lifetimes::{Lifetime, SharedKey, Untaken, first_untaken};
use control::protocol::Agreement;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, BTreeSet};

/// A router that speaks a protocol, at an end of a link.
pub(super) struct End<'a> {
    pub node: usize,
    pub link: usize,
    /// What it wants to have in common; nothing if it is passive there.
    pub wants: Option<Vec<Agreement>>,
    pub name: &'a str,
}

/// Of each router that speaks a protocol: whom it expects to meet, by which name or address, and which node that is.
pub(super) type Expected<'a> = BTreeMap<usize, Vec<(&'a str, usize)>>;

/// Does a router expect another one?
pub(super) fn expects(expected: &Expected<'_>, node: usize, other: usize) -> bool {
    expected.get(&node).is_some_and(|names| names.iter().any(|(_, known)| *known == other))
}

impl End<'_> {
    /// What it wants something to be that both ends have to agree on.
    pub fn wanted(&self, what: &str) -> Option<&str> {
        let found = self.wants.as_ref()?.iter().find(|one| one.what == what);
        found.map(|one| one.value.as_str())
    }
}

impl Network {
    /// Of each protocol: links whose ends do not agree, router ids that two have, routers that nothing joins, and what
    /// can never work.
    pub fn meeting_warnings(&self) -> Vec<Diagnostic> {
        let mut all: BTreeMap<ProtocolId, Vec<(usize, Spoken)>> = BTreeMap::new();
        for (node, spec) in self.description.nodes.iter().enumerate() {
            for spoken in spec.protocols.spoken() {
                let setup = self.in_mesh(node, spoken.protocol, spoken.setup.clone());
                all.entry(spoken.protocol).or_default().push((node, spoken.with_setup(setup)));
            }
        }
        let mut said = Vec::new();
        for (protocol, speakers) in &all {
            let protocol = *protocol;
            let speakers: Vec<(usize, &Spoken)> =
                speakers.iter().map(|(node, spoken)| (*node, spoken)).collect();
            let expected = self.expected(&speakers);
            said.extend(self.same_ids(protocol, &speakers));
            said.extend(self.disagreements(protocol, &speakers, &expected));
            said.extend(self.cut_costs(protocol, &speakers));
            said.extend(self.labels_dropped(protocol, &speakers));
            said.extend(self.second_labels_dropped(protocol, &speakers));
            said.extend(self.one_sided(protocol, &speakers));
            said.extend(self.not_expected(protocol, &expected));
            said.extend(self.far_disagreements(protocol, &speakers, &expected));
            said.extend(self.nowhere(protocol, &speakers));
            said.extend(self.undesignated(protocol, &speakers));
            said.extend(self.wrong_targets(&speakers));
            said.extend(self.nothing_passes(protocol, &speakers, &expected));
            said.extend(self.unreached(protocol, &speakers));
            said.extend(self.next_hops_astray(protocol, &speakers, &expected));
        }
        said.extend(self.bfd_key_warnings());
        said.extend(self.watching_alone());
        said
    }

    /// Refuses members of a mesh among the neighbours by a name or an IPv4 address that is not that of the session of
    /// the mesh: one end would have that session, and the other end another one in its place or besides. A session
    /// between IPv6 addresses may stand beside it.
    pub(super) fn check_meshes(&self) -> Result<(), Diagnostic> {
        for (node, spec) in self.description.nodes.iter().enumerate() {
            for spoken in spec.protocols.spoken() {
                let mesh = self.mesh_of(node, spoken.protocol, &*spoken.setup);
                let names = spoken.setup.expected().into_iter();
                for name in names.filter(|name| !mesh.is_empty() && name.parse::<Ipv6Addr>().is_err()) {
                    let found = self.named_or_owning(name).filter(|other| mesh.contains(other));
                    let Some(other) = found.filter(|other| name.parse() != Ok(self.loopback(*other))) else {
                        continue;
                    };
                    let (name, router) = (name.to_string(), self.node_name(other).to_string());
                    let address = self.loopback(other).to_string();
                    let problem = BuildProblem::MeshMember { name, router, address };
                    return Err(Diagnostic::new(problem)
                        .at(spoken.protocol.name())
                        .of_node(&self.description, node));
                }
            }
        }
        Ok(())
    }

    /// Links between two routers of ours of which only one speaks a protocol that takes two.
    fn one_sided(&self, protocol: ProtocolId, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &Spoken> = speakers.iter().copied().collect();
        let mut said = Vec::new();
        for &(node, spoken) in speakers {
            let spec = &self.description.nodes[node];
            if spoken.setup.lacks_alone().is_some() && !spec.protocols.find_routes() {
                let none = AdviceProblem::NoExactRoutes { protocol: protocol.to_string() };
                said.push(Diagnostic::new(none).at(protocol.name()).of_node(&self.description, node));
            }
        }
        for (index, link) in self.links.iter().enumerate() {
            for [one, other] in [link.ends(), [link.ends()[1], link.ends()[0]]] {
                let lacks = by_node.get(&one).and_then(|spoken| spoken.setup.lacks_alone());
                let Some(lacks) = lacks.filter(|_| !by_node.contains_key(&other)) else { continue };
                if self.facts(other).is_own_router() {
                    let [a, b] = [one, other].map(|node| self.node_name(node).to_string());
                    let alone = AdviceProblem::OneSided { protocol: protocol.to_string(), a, b, lacks };
                    said.push(alone.of_link(&self.description, index));
                }
            }
        }
        said
    }

    /// Links that cost more at an end than messages of the protocol can say.
    fn cut_costs(&self, protocol: ProtocolId, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &Spoken> = speakers.iter().copied().collect();
        let mut said = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            let mut ends: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
            for side in SIDES {
                let Some(spoken) = by_node.get(&link.ends()[side]) else { continue };
                let cut = spoken.setup.cost_cut(&self.attached_at(link, side), link.spec.metric);
                let Some(cut) = cut else { continue };
                ends.entry(cut).or_default().push(format!("'{}'", self.node_name(link.ends()[side])));
            }
            for ((cost, most), ends) in ends {
                let (protocol, ends) = (protocol.to_string(), ends.join(" and "));
                let cut = AdviceProblem::CostCut { protocol, ends, cost, most };
                said.push(cut.of_link(&self.description, index));
            }
        }
        said
    }

    /// Routers that expect others of ours which do not expect them.
    fn not_expected(&self, protocol: ProtocolId, expected: &Expected<'_>) -> Vec<Diagnostic> {
        let mut said = Vec::new();
        for (&node, names) in expected {
            for other in names.iter().map(|(_, other)| *other).collect::<BTreeSet<_>>() {
                if self.facts(other).is_own_router() && !expects(expected, other, node) {
                    let [a, b] = [node, other].map(|node| self.node_name(node).to_string());
                    let alone = AdviceProblem::NotExpected { a, b };
                    said.push(Diagnostic::new(alone).at(protocol.name()).of_node(&self.description, node));
                }
            }
        }
        said
    }

    /// The nodes that routers expect to meet, wherever they are.
    fn expected<'a>(&self, speakers: &[(usize, &'a Spoken)]) -> Expected<'a> {
        let of = |spoken: &'a Spoken| {
            let names = spoken.setup.expected().into_iter();
            names.filter_map(|name| Some((name, self.named_or_owning(name)?))).collect()
        };
        speakers.iter().map(|(node, spoken)| (*node, of(spoken))).collect()
    }

    /// The node with a name or an address; nothing if it is not one of this network.
    pub(super) fn named_or_owning(&self, name: &str) -> Option<usize> {
        match name.parse::<IpAddr>() {
            Ok(address) => self.owner(address),
            Err(_) => (0..self.description.nodes.len()).find(|node| self.node_name(*node) == name),
        }
    }

    /// The node that has an address.
    pub(super) fn owner(&self, address: IpAddr) -> Option<usize> {
        let mut nodes = 0..self.description.nodes.len();
        let of_link = self.links.iter().find_map(|link| {
            let side = match address {
                IpAddr::V4(address) => link.addresses.iter().position(|own| *own == address)?,
                IpAddr::V6(address) => link.spec.ipv6?.iter().position(|own| own.address == address)?,
            };
            Some(link.ends()[side])
        });
        of_link.or_else(|| {
            nodes.find(|node| match address {
                IpAddr::V4(address) => self.loopback(*node) == address,
                IpAddr::V6(address) => self.description.nodes[*node].ipv6 == Some(address),
            })
        })
    }

    /// Is all known of a node here, as it is not of those of others?
    pub(super) fn is_known(&self, node: usize) -> bool {
        let facts = self.facts(node);
        !facts.foreign && (facts.router || facts.host.is_some() || facts.segment.is_some())
    }

    /// Is every node one of which all is known?
    pub(super) fn is_known_in_full(&self) -> bool {
        (0..self.description.nodes.len()).all(|node| self.is_known(node))
    }

    /// Routers that expect others by addresses that no node has. Where a node is not known in full, as one of others is
    /// not, it may be there.
    fn nowhere(&self, protocol: ProtocolId, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        if !self.is_known_in_full() {
            return Vec::new();
        }
        let mut said = Vec::new();
        for &(node, spoken) in speakers {
            let addresses = spoken.setup.expected().into_iter().filter(|name| name.parse::<IpAddr>().is_ok());
            for name in addresses.filter(|name| self.named_or_owning(name).is_none()) {
                let (a, address) = (self.node_name(node).to_string(), name.to_string());
                let none = AdviceProblem::NoSuchNeighbor { a, address };
                said.push(Diagnostic::new(none).at(protocol.name()).of_node(&self.description, node));
            }
        }
        said
    }

    /// Routers of ours that expect each other, one of them at least by address, and do not agree. (Of those that expect
    /// each other by their links, these say it.)
    fn far_disagreements(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
        expected: &Expected<'_>,
    ) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &Spoken> = speakers.iter().copied().collect();
        let mut said = Vec::new();
        for &(node, spoken) in speakers {
            for &(name, other) in expected[&node].iter().filter(|(_, other)| *other != node) {
                let Some(theirs) = by_node.get(&other) else { continue };
                let Some(&(back, _)) = expected[&other].iter().find(|(_, back)| *back == node) else {
                    continue;
                };
                let by_address = [name, back].map(|one| one.parse::<IpAddr>().is_ok());
                // Each pair once: by whom it is said who expects the other by address, the first of both.
                if !by_address[0] || (by_address[1] && other < node) {
                    continue;
                }
                let wants = [spoken.setup.agreements_with(name), theirs.setup.agreements_with(back)];
                let [first, second] = wants.map(Some);
                let ends = [(node, first), (other, second)].map(|(node, wants)| End {
                    node,
                    link: 0,
                    wants,
                    name: self.node_name(node),
                });
                let found = differences(protocol, &ends[0], &ends[1]).into_iter();
                let at = |problem| Diagnostic::new(problem).at(name).at(protocol.name());
                said.extend(found.map(|problem| at(problem).of_node(&self.description, node)));
            }
        }
        said
    }

    fn same_ids(&self, protocol: ProtocolId, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        let mut known: BTreeMap<Ipv4Addr, usize> = BTreeMap::new();
        let mut said = Vec::new();
        for &(node, _) in speakers {
            let Some(id) = self.router_id(protocol, node) else { continue };
            if let Some(other) = known.insert(id, node) {
                let (id, other) = (id.to_string(), self.node_name(other).to_string());
                let same = AdviceProblem::SameRouterId { id, other };
                said.push(Diagnostic::new(same).at(protocol.name()).of_node(&self.description, node));
            }
        }
        said
    }

    fn disagreements(
        &self,
        protocol: ProtocolId,
        speakers: &[(usize, &Spoken)],
        expected: &Expected<'_>,
    ) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &Spoken> = speakers.iter().copied().collect();
        let end = |index: usize, link: &Link, side: usize| -> Option<End<'_>> {
            let node = link.ends()[side];
            let spoken = by_node.get(&node)?;
            let wants = spoken.setup.agreements(&self.attached_at(link, side), link.spec.mtu);
            Some(End { node, link: index, wants, name: self.node_name(node) })
        };
        let places = self.meeting_places();
        let at = |&(index, side): &(usize, usize)| end(index, &self.links[index], side);
        let meetings: Vec<Vec<End<'_>>> =
            places.iter().map(|ends| ends.iter().filter_map(at).collect()).collect();
        let mut parts = Parts::new(speakers.iter().map(|(node, _)| *node));
        let mut said = Vec::new();
        for ends in &meetings {
            let Some(first) = ends.iter().find(|end| end.wants.is_some()) else { continue };
            for other in ends.iter().filter(|other| !core::ptr::eq(*other, first)) {
                // What keeps the two apart is said; that they are is not said once more.
                parts.join(first.node, other.node);
                let of_link = |problem: AdviceProblem| problem.of_link(&self.description, other.link);
                said.extend(differences(protocol, first, other).into_iter().map(of_link));
            }
        }
        let around = self.around_foreign(&places);
        around.iter().for_each(|one| parts.join_known(&one.nodes));
        // Sessions between routers that expect each other reach beyond links.
        for &(node, _) in speakers {
            for &(_, other) in &expected[&node] {
                if expects(expected, other, node) {
                    parts.join(node, other);
                }
            }
        }
        // Routers that others find routes between need not be joined.
        if speakers.iter().any(|(_, spoken)| spoken.setup.finds_routes()) {
            said.extend(self.parted(protocol, &parts));
        }
        let center = speakers.iter().find_map(|(_, spoken)| spoken.setup.center());
        if let Some((what, center)) = center {
            let mut joined = self.joined(protocol, what, speakers);
            said.append(&mut joined.said);
            let ways = Ways { meetings: &meetings, joined: &joined, around: &around };
            said.extend(self.regions(protocol, what, &center, ways));
        }
        said
    }

    /// Where routers meet: each link with both ends, and each segment with the ends of all of its links. An end is a
    /// link and a side of it.
    pub(super) fn meeting_places(&self) -> Vec<Vec<(usize, usize)>> {
        let mut places = Vec::new();
        let mut segments: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        let standing = segment::joined(&self.description);
        for (index, link) in self.links.iter().enumerate() {
            let ends = SIDES.map(|side| (index, side));
            match link.ends().into_iter().find(|&node| self.facts(node).segment.is_some()) {
                Some(segment) => segments.entry(standing[segment]).or_default().extend(ends),
                None => places.push(ends.to_vec()),
            }
        }
        places.extend(segments.into_values());
        places
    }

    fn parted(&self, protocol: ProtocolId, parts: &Parts) -> Option<Diagnostic> {
        let (some, others) = self.two_parts(parts)?;
        Some(Diagnostic::new(AdviceProblem::Parted { protocol: protocol.to_string(), some, others }))
    }

    /// The routers of the first two parts, if there are several, and how many more there are.
    pub(super) fn two_parts(&self, parts: &Parts) -> Option<(String, String)> {
        let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in parts.above.keys() {
            all.entry(parts.top(*node)).or_default().push(*node);
        }
        let mut all = all.into_values();
        let (some, others) = (all.next()?, all.next()?);
        let names = |nodes: &[usize]| some_names(nodes.iter().map(|node| self.node_name(*node)));
        let more = all.count();
        let others = match more {
            0 => names(&others),
            more => format!("{} (and {more} more parts)", names(&others)),
        };
        Some((names(&some), others))
    }
}

/// What keeps two routers from being neighbours.
pub(super) fn differences(protocol: ProtocolId, first: &End<'_>, other: &End<'_>) -> Vec<AdviceProblem> {
    let protocol = protocol.to_string();
    let [a, b] = [first.name, other.name].map(str::to_string);
    let (Some(here), Some(there)) = (&first.wants, &other.wants) else {
        return vec![AdviceProblem::HalfPassive { protocol, a, b }];
    };
    let pairs = here.iter().zip(there).filter(|(one, two)| one.what == two.what);
    let found = pairs.flat_map(|(one, two)| {
        if let ([_, ..], [_, ..]) = (one.keys.as_slice(), two.keys.as_slice())
            && (takes_turns(one) || takes_turns(two))
        {
            return untaken(&protocol, (&a, &one.keys), (&b, &two.keys));
        }
        if one.value == two.value {
            return Vec::new();
        }
        let (protocol, what, a, b) = (protocol.clone(), one.what, a.clone(), b.clone());
        vec![match one.is_secret {
            true => AdviceProblem::DisagreeSecretly { protocol, what, a, b },
            false => {
                let (here, there) = (one.value.clone(), two.value.clone());
                AdviceProblem::Disagree { protocol, what, here, a, there, b }
            }
        }]
    });
    found.collect()
}

/// Is it authentication by keys with times?
fn takes_turns(agreement: &Agreement) -> bool {
    agreement.keys.iter().any(|key| agreement.keys.len() > 1 || key.life != Lifetime::ALWAYS)
}

/// The first keys that an end sends with and the other does not take, in both directions.
fn untaken(protocol: &str, one: (&str, &[SharedKey]), two: (&str, &[SharedKey])) -> Vec<AdviceProblem> {
    let found = [(one, two), (two, one)].into_iter().filter_map(|(sender, receiver)| {
        let Untaken { since, name: key, is_secret } = first_untaken(sender.1, receiver.1)?;
        let at = (since - Time::ZERO).write().as_text().unwrap_or_default().to_string();
        let (protocol, a, b) = (protocol.to_string(), sender.0.to_string(), receiver.0.to_string());
        Some(match is_secret {
            true => AdviceProblem::KeySecret { protocol, key, a, at, b },
            false => AdviceProblem::KeyUntaken { protocol, key, a, at, b },
        })
    });
    found.collect()
}
