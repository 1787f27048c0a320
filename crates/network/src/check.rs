//! What must be true of a description before anything is built from it.

use super::addressing;
use super::description::{Description, LinkSpec, LspSpec, NodeSpec};
use super::place::Place;
use super::plan;
use super::problem::{BuildProblem, LspProblem};
use super::spec::problem::{NetworkProblem, unknown_node};
use super::spec::protocols::Spoken;
use base::describe::{Describe, Name, listed, near};
use base::diagnostic::{At, Diagnostic};
use control::protocol::Join;
use core::net::Ipv4Addr;
use engine::medium::Carries;
use node::profile::WrongCost;
use std::collections::BTreeMap;

type Checked = Result<(), Diagnostic>;

/// Refuses what can't be built; addresses are looked at when they are given.
pub fn check(description: &Description) -> Checked {
    check_nodes(description)?;
    check_numbers(description)?;
    check_links(description)?;
    check_neighbors(description)?;
    check_joins(description)?;
    check_loads(description)
}

/// Refuses two nodes with one number, by which others know them.
fn check_numbers(description: &Description) -> Checked {
    let mut known = BTreeMap::new();
    for (index, node) in description.nodes.iter().enumerate() {
        let Some(number) = node.number else { continue };
        let id = number.at(index);
        if let Some(other) = known.insert((number.key, id), index) {
            // Whichever of the two says so is to say something else.
            let (at, other) = if number.said.is_some() { (index, other) } else { (other, index) };
            let (called, other) = (number.called, description.nodes[other].name.clone());
            let problem = Diagnostic::new(BuildProblem::NumberTwice { id, called, other });
            return Err(problem.at(number.key).of_node(description, at));
        }
    }
    Ok(())
}

/// Refuses protocols that send more by a link of their own accord than it can carry.
fn check_loads(description: &Description) -> Checked {
    for (index, node) in description.nodes.iter().enumerate() {
        for spoken in node.protocols.spoken() {
            let Some(load) = spoken.setup.load() else { continue };
            let is_full =
                |link: &&LinkSpec| [link.a, link.b].contains(&index) && link.rate.0 > 0 && link.rate < load;
            if let Some(link) = description.links.iter().find(is_full) {
                let [a, b] = [link.a, link.b].map(|end| description.nodes[end].name.clone());
                let [load, rate] = [load, link.rate].map(|rate| rate.write().shown());
                let protocol = spoken.protocol.name().to_string();
                let problem = BuildProblem::LinkOverloaded { protocol, load, a, b, rate };
                return Err(Diagnostic::new(problem).at(spoken.protocol.name()).of_node(description, index));
            }
        }
    }
    Ok(())
}

/// The nodes at the other ends of a node's links, by their names.
fn far_names(description: &Description, index: usize) -> impl Iterator<Item = &str> {
    let far = move |link: &LinkSpec| match [link.a, link.b] {
        [a, b] if a == index => Some(b),
        [a, b] if b == index => Some(a),
        _ => None,
    };
    description.links.iter().filter_map(far).map(|other| description.nodes[other].name.as_str())
}

/// Refuses settings of protocols for neighbours that are none.
fn check_neighbors(description: &Description) -> Checked {
    for (index, node) in description.nodes.iter().enumerate() {
        for spoken in node.protocols.spoken() {
            let (key, named) = spoken.setup.neighbors();
            if named.is_empty() {
                continue;
            }
            let known: Vec<&str> = far_names(description, index).collect();
            if let Some(name) = named.into_iter().find(|name| !known.contains(name)) {
                let known = match near(name, &known) {
                    hint if hint.is_empty() && !known.is_empty() => {
                        format!(": its links lead to {}", listed(&known))
                    }
                    hint => hint,
                };
                let problem = BuildProblem::NoNeighbor { name: name.into(), known };
                let none = Diagnostic::new(problem).at(name).on_key();
                return Err(none.at(key).at(spoken.protocol.name()).of_node(description, index));
            }
        }
    }
    Ok(())
}

/// Refuses ways through regions to other routers which cannot come to be.
fn check_joins(description: &Description) -> Checked {
    for (index, node) in description.nodes.iter().enumerate() {
        for spoken in node.protocols.spoken() {
            let (key, joins) = spoken.setup.joins();
            let protocol = spoken.protocol.name();
            let own =
                spoken.setup.router_id().unwrap_or_else(|| plan::loopback(description, index)).to_string();
            for (place, join) in joins.iter().enumerate() {
                let found = description.nodes.iter().position(|node| node.name == join.router);
                let is_silent =
                    |other: &NodeSpec| !other.protocols.spoken().any(|one| one.protocol == spoken.protocol);
                let problem: Diagnostic = match found {
                    _ if join.router == own => BuildProblem::JoinsItself {}.into(),
                    None if join.router.parse::<Ipv4Addr>().is_err() => {
                        let known: Vec<Name> =
                            description.nodes.iter().map(|node| node.name.as_str().into()).collect();
                        unknown_node(&Name::from(join.router), &known)
                    }
                    Some(other) if other == index => BuildProblem::JoinsItself {}.into(),
                    Some(other) if is_silent(&description.nodes[other]) => {
                        let name = join.router.to_string();
                        match &description.nodes[other] {
                            foreign if !foreign.facts().foreign => {
                                BuildProblem::JoinsSilent { name, protocol: protocol.to_string() }.into()
                            }
                            foreign if foreign.router_id.is_none() => {
                                LspProblem::ForeignTail { node: name }.into()
                            }
                            _ => continue,
                        }
                    }
                    _ => continue,
                };
                return Err(problem.at("router").at(place).at(key).at(protocol).of_node(description, index));
            }
            if let Some((place, problem)) = joined_twice(description, spoken, &joins) {
                let problem = Diagnostic::new(problem).at("router").at(place).at(key).at(protocol);
                return Err(problem.of_node(description, index));
            }
            if !joins.is_empty() {
                let far: Vec<&str> = far_names(description, index).collect();
                let checked = spoken.setup.check_links(&far).at(protocol);
                checked.map_err(|problem| problem.of_node(description, index))?;
            }
        }
    }
    Ok(())
}

/// The first way through a region to a router that one before it leads to, too: one of them by the name of the node,
/// the other by its router id.
fn joined_twice(description: &Description, of: &Spoken, joins: &[Join<'_>]) -> Option<(usize, BuildProblem)> {
    let id_of = |router: &str| {
        let Some(node) = description.nodes.iter().position(|node| node.name == router) else {
            return router.to_string();
        };
        let mut spoken = description.nodes[node].protocols.spoken();
        let own = spoken.find(|one| one.protocol == of.protocol).and_then(|own| own.setup.router_id());
        own.unwrap_or_else(|| plan::loopback(description, node)).to_string()
    };
    let mut known: BTreeMap<(&str, String), &str> = BTreeMap::new();
    joins.iter().enumerate().find_map(|(place, join)| {
        let other = known.insert((&join.region, id_of(join.router)), join.router)?;
        let what = of.setup.center().map_or("region", |(what, _)| what);
        let (router, other) = (join.router.to_string(), other.to_string());
        let region = format!("{what} {}", join.region);
        Some((place, BuildProblem::JoinsTwice { router, other, region }))
    })
}

fn check_nodes(description: &Description) -> Checked {
    let nodes = &description.nodes;
    if nodes.len() > addressing::NODES_MAX {
        let many = BuildProblem::TooManyNodes { count: nodes.len(), most: addressing::NODES_MAX };
        return Err(Diagnostic::new(many).at("nodes").on_key());
    }
    let mut names: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
        return Err(Diagnostic::new(BuildProblem::SameName {}).at(twice[0]).at("nodes"));
    }
    for (index, node) in nodes.iter().enumerate() {
        let facts = node.facts();
        let refused = |problem: BuildProblem, key: &str| {
            Err(Diagnostic::new(problem).at(key).on_key().of_node(description, index))
        };
        let called = facts.called.to_string();
        if node.diffserv.is_some() && !facts.router {
            return refused(BuildProblem::NoDiffServ { called }, "diffserv");
        }
        if let Some(wrong) = node.profile.control.wrong_cost(control::PROTOCOLS) {
            return refused(cost_problem(node.profile.name.clone(), wrong), "profile");
        }
        if node.router_id.is_some() && !facts.router {
            return refused(BuildProblem::NoRouterId { called }, "router_id");
        }
    }
    Ok(())
}

fn cost_problem(profile: String, wrong: WrongCost) -> BuildProblem {
    let WrongCost { protocol, kind, known } = wrong;
    let hint = match near(kind.as_ref().unwrap_or(&protocol), &known) {
        hint if hint.is_empty() => format!(": one of {}", known.join(", ")),
        hint => hint,
    };
    match kind {
        None => BuildProblem::CostOfNobody { profile, protocol, hint },
        Some(kind) => BuildProblem::CostOfNothing { profile, protocol, kind, hint },
    }
}

fn check_links(description: &Description) -> Checked {
    let nodes = &description.nodes;
    let (mut links_of, mut is_managed) = (vec![0; nodes.len()], vec![false; nodes.len()]);
    for (index, link) in description.links.iter().enumerate() {
        let refused = |problem: BuildProblem| Err(problem.of_link(description, index));
        let field = |key: &str, problem: BuildProblem| {
            Err(Diagnostic::new(problem).at(key).on_key().of_link(description, index))
        };
        if link.a >= nodes.len() || link.b >= nodes.len() {
            return refused(BuildProblem::NodeNumber { node: link.a.max(link.b), count: nodes.len() });
        }
        if link.a == link.b {
            return refused(BuildProblem::BothEnds { node: nodes[link.a].name.clone() });
        }
        for (key, span) in [("delay", link.delay), ("detection", link.detection)] {
            if span.0 < 0 {
                return field(key, BuildProblem::NegativeDelay {});
            }
        }
        if !(68..=65_535).contains(&link.mtu) {
            return field("mtu", BuildProblem::Mtu { mtu: link.mtu });
        }
        let (medium, most) = (link.medium.name, link.medium.mtu());
        if link.mtu > most {
            return field("mtu", BuildProblem::MediumMtu { mtu: link.mtu, medium, most });
        }
        let bridge = [link.a, link.b].into_iter().find(|&node| nodes[node].facts().segment.is_some());
        if let Some(bridge) =
            bridge.filter(|_| link.medium.carries == Carries::Packets && !link.medium.has_addresses)
        {
            let node = nodes[bridge].name.clone();
            return field("medium", BuildProblem::MediumOfSegment { medium, node });
        }
        for (near, far) in [(link.a, link.b), (link.b, link.a)] {
            let gateway = nodes[far].facts().is_gateway() || nodes[far].facts().segment.is_some();
            if nodes[near].facts().host.is_some() && !gateway {
                let (host, other) = (nodes[near].name.clone(), nodes[far].name.clone());
                return refused(BuildProblem::NobodysGateway { host, other });
            }
            links_of[near] += 1;
            is_managed[near] |= nodes[near].facts().managed && link.addresses.is_some();
        }
    }
    for (index, (node, links)) in nodes.iter().zip(links_of).enumerate() {
        let facts = node.facts();
        let (least, most) = (facts.links_min, facts.links_max);
        let refused = |problem: BuildProblem| Err(problem.of_node(description, index));
        let called = facts.called.to_string();
        if facts.profiled && !is_managed[index] {
            return refused(BuildProblem::ProfileUnmanaged {});
        }
        if facts.secured && is_managed[index] {
            let problem = BuildProblem::TlsManaged {};
            return Err(Diagnostic::new(problem).at("controllers").of_node(description, index));
        }
        match (facts.host, most) {
            (Some(_), _) if links < least => {
                return refused(BuildProblem::Alone {});
            }
            (_, Some(most)) if most == least && links != most => {
                return refused(BuildProblem::ExactLinks { called, links: words(most), count: links });
            }
            (_, Some(most)) if links > most => {
                return refused(BuildProblem::ManyLinks { called, links: words(most), count: links });
            }
            _ if links < least => {
                return refused(BuildProblem::FewLinks { called, links: words(least), count: links });
            }
            (Some(_), _) => plan::check_host(description, index)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// So many links.
fn words(links: usize) -> String {
    if links == 1 { "one link".into() } else { format!("{links} links") }
}

/// Refuses what an LSP can't carry. Paths begin at the LSP.
pub fn check_carried(spec: &LspSpec) -> Checked {
    let on = |key: &str, problem: Diagnostic| Err(problem.at(key).on_key());
    if spec.classes.is_some_and(|classes| classes.is_empty()) {
        return on("classes", LspProblem::NoClasses {}.into());
    }
    if spec.classes.is_some() && spec.carries.is_empty() {
        return on("classes", LspProblem::ClassesAlone {}.into());
    }
    for (key, given) in [
        ("carries", !(spec.carries.is_empty() && spec.carries6.is_empty())),
        ("filters", !spec.filters.is_empty()),
    ] {
        if spec.count != 1 && given {
            return on(key, NetworkProblem::GroupCarries { count: spec.count, key: key.into() }.into());
        }
    }
    for (index, filter) in spec.filters.iter().enumerate() {
        let checked = filter.check().map_err(|error| LspProblem::Filter { error: error.to_string() }.into());
        checked.at(index).at("filters")?;
    }
    Ok(())
}

/// Refuses an LSP that says something of behaviours and begins, or should end, where nobody knows of them.
pub fn check_diffserv(spec: &LspSpec, [head, tail]: [&NodeSpec; 2]) -> Checked {
    let refused = |problem: LspProblem| Err(Diagnostic::new(problem).at("diffserv").on_key());
    if spec.diffserv.and_then(|diffserv| diffserv.model()).is_some()
        && tail.facts().is_own_transit()
        && tail.diffserv.is_none()
    {
        return refused(LspProblem::TailWithoutDiffServ { node: tail.name.clone() });
    }
    match (&spec.diffserv, &head.diffserv) {
        (Some(_), None) => refused(LspProblem::HeadWithoutDiffServ { node: head.name.clone() }),
        (Some(wanted), Some(known)) => {
            let wanted = wanted.encaps(known.tc_map).phbs();
            let missing: Vec<String> =
                wanted.iter().filter(|p| !known.supported().contains(*p)).map(|p| p.to_string()).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let missing = missing.join(", ");
            refused(LspProblem::UnsupportedPhbs { node: head.name.clone(), missing })
        }
        (None, _) => Ok(()),
    }
}
