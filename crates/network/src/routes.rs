//! Static routes that the description gives: by which links they lead, and how routers are told.

use super::Network;
use super::description::Description;
use super::place::Place;
use super::segment;
use super::spec::problem::NetworkProblem;
use super::spec::reference::HopSpec;
use super::spec::resolve_hop;
use base::describe::DescribeProblem;
use base::diagnostic::{At, Diagnostic};
use base::plane::{GroupId, Leg, MEMBERS_MAX, Member, NextHop, Prefix};
use base::{Command, Device, Time};
use control::services::Pace;
use control::static_routes::WatchedRoute;
use node::Router;
use std::collections::{BTreeMap, BTreeSet};

/// A route as it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// Places of the links by which it leads, in order.
    pub links: Vec<usize>,
    /// Its next hop is watched, and how closely.
    pub bfd: Option<Pace>,
}

/// Finds the links that the routes of every node lead by.
pub fn resolve(description: &mut Description) -> Result<(), Diagnostic> {
    for node in 0..description.nodes.len() {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (index, route) in description.nodes[node].routes.iter().enumerate() {
            let place = |error: Diagnostic| error.at(index).at("routes").of_node(description, node);
            if !seen.insert(route.prefix) {
                let twice = DescribeProblem::Twice { name: route.prefix.to_string() };
                return Err(place(Diagnostic::new(twice).at("prefix")));
            }
            let links = links_of(description, node, &route.via.0).map_err(|error| place(error.at("via")))?;
            let bfd = route.bfd.0;
            if bfd.is_some() && links.len() > 1 {
                let several = NetworkProblem::WatchedSeveral { count: links.len() };
                return Err(place(Diagnostic::new(several).at("bfd").on_key()));
            }
            found.push(StaticRoute { prefix: route.prefix, links, bfd });
        }
        description.nodes[node].static_routes = found;
    }
    Ok(())
}

fn links_of(description: &Description, node: usize, via: &[HopSpec]) -> Result<Vec<usize>, Diagnostic> {
    let mut links = BTreeSet::new();
    if via.len() > MEMBERS_MAX {
        return Err(NetworkProblem::ManyNextHops { count: via.len(), most: MEMBERS_MAX }.into());
    }
    for (index, hop) in via.iter().enumerate() {
        let mut hop = hop.clone();
        resolve_hop(&mut hop, &description.names, &description.ends).at(index)?;
        let link = link_of(description, node, &hop).at(index)?;
        if let Some(segment) = segment::at(description, &description.links[link]) {
            let from = description.nodes[node].name.clone();
            let to = description.nodes[segment].name.clone();
            return Err(Diagnostic::new(NetworkProblem::ViaSegment { from, to })).at(index);
        }
        if !links.insert(link) {
            let ends = description.ends[link].each_ref().map(|end| end.node.name.to_string());
            let twice = DescribeProblem::Twice { name: ends.join(" - ") };
            return Err(Diagnostic::new(twice).at(index));
        }
    }
    Ok(links.into_iter().collect())
}

/// The link that a hop of `node` is: of those to the next node the best.
fn link_of(description: &Description, node: usize, hop: &HopSpec) -> Result<usize, Diagnostic> {
    let far = |link: usize| {
        let ends = [description.links[link].a, description.links[link].b];
        ends.iter().position(|end| *end == node).map(|side| ends[1 - side])
    };
    let no_way = |to: String| {
        let from = description.nodes[node].name.clone();
        Diagnostic::new(NetworkProblem::NoWayOn { from, to })
    };
    match hop {
        HopSpec::Link(link) if far(*link).is_some() => Ok(*link),
        HopSpec::Link(link) => {
            let ends = description.ends[*link].each_ref().map(|end| end.node.name.to_string());
            Err(no_way(ends.join(" - ")))
        }
        HopSpec::Node(next) => {
            let between = (0..description.links.len()).filter(|link| far(*link) == Some(next.index()));
            let best = between.min_by_key(|link| description.links[*link].metric);
            best.ok_or_else(|| no_way(next.name.to_string()))
        }
        HopSpec::Interface(end) => Err(no_way(end.node.name.to_string())),
    }
}

impl Network {
    /// The static routes of a node whose next hops are watched.
    pub(super) fn watched_routes(&self, node: usize) -> Vec<WatchedRoute> {
        let watched = |route: &StaticRoute| {
            let link = &self.links[*route.links.first()?];
            let side = link.side(node);
            let (port, gateway) = (link.ports[side], link.addresses[1 - side]);
            Some(WatchedRoute { prefix: route.prefix, port, gateway, pace: route.bfd? })
        };
        self.description.nodes[node].static_routes.iter().filter_map(watched).collect()
    }

    /// Tells a router its static routes. Those with the same next hops share a group.
    pub(super) fn set_static_routes(&self, node: usize, router: &mut Router) {
        let mut groups: BTreeMap<&[usize], GroupId> = BTreeMap::new();
        for route in &self.description.nodes[node].static_routes {
            let leg = |link: &usize| {
                let link = &self.links[*link];
                let side = link.side(node);
                Leg {
                    labels: Default::default(),
                    port: link.ports[side],
                    gateway: link.addresses[1 - side].into(),
                }
            };
            let next_hop = match &*route.links {
                [only] => {
                    let Leg { port, gateway, .. } = leg(only);
                    NextHop::Via { port, gateway }
                }
                several => {
                    let next = GroupId(groups.len() as u32 + 1);
                    let group = *groups.entry(several).or_insert(next);
                    if group == next {
                        let members =
                            several.iter().map(|link| Member { leg: leg(link), backup: None }).collect();
                        router.handle_command(Time::ZERO, Command::GroupSet { group, members });
                    }
                    NextHop::Group(group)
                }
            };
            router.handle_command(Time::ZERO, Command::RouteSet { prefix: route.prefix, next_hop });
        }
    }
}
