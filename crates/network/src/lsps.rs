//! LSPs: from names and nodes to tunnels with explicit routes.

use super::actions::{Action, Target};
use super::addressing;
use super::check::{check_carried, check_diffserv};
use super::description::{HopSpec, LspSpec, PathSpec};
use super::error::NetworkError;
use super::kind::Tunnel;
use super::place::Place;
use super::problem::LspProblem;
use super::tunnels::TunnelKey;
use super::{LspGroup, Network};
use base::diagnostic::{At, Diagnostic};
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{Command, NodeId, Time};
use control::rsvp;
use control::rsvp::command::{PathRequest, RouteHop, TunnelId, TunnelSpec};
use std::sync::Arc;

/// Where an explicit route begins and ends, and how it is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub from: usize,
    pub to: usize,
    pub loose: bool,
}

impl Ends {
    fn of(spec: &LspSpec) -> Ends {
        Ends { from: spec.from, to: spec.to, loose: spec.loose }
    }
}

impl Network {
    /// Adds a group of LSPs; they are signalled at once if asked for, those that their head end keeps (an edge, for its
    /// programme) when it likes.
    pub fn add_lsp(&mut self, spec: LspSpec) -> Result<usize, NetworkError> {
        let place = self.lsps.len();
        let of = |error: Diagnostic| error.of_lsp(place, &spec);
        self.check_lsp(&spec).map_err(of)?;
        self.check_bypass(&spec).map_err(of)?;
        let mut routes = Vec::new();
        let mut links = None;
        for (index, route) in spec.routes.iter().enumerate() {
            let along = self.resolve(&spec, index, route).map_err(of)?;
            routes.push(self.hops(&spec, route, along.as_deref()));
            if let Some(along) = &along {
                self.check_risk(&spec, along).map_err(of)?;
            }
            if index == 0 {
                links = along;
            }
        }
        if spec.shortest {
            let along = self.graph.search(spec.from).links_to(spec.to);
            let Some(along) = along else { return Err(of(self.no_path(&spec)).into()) };
            self.check_links(&along).map_err(of)?;
            routes.push(self.hops(&spec, &[], Some(&along)));
            links = Some(along);
        }
        if routes.is_empty() {
            match self.graph.search(spec.from).links_to(spec.to) {
                Some(along) => self.check_links(&along).map_err(of)?,
                None => return Err(of(self.no_path(&spec)).into()),
            }
        }
        self.add_group(spec, routes, links)
    }

    fn add_group(
        &mut self,
        spec: LspSpec,
        routes: Vec<Vec<RouteHop>>,
        links: Option<Vec<usize>>,
    ) -> Result<usize, NetworkError> {
        let group = self.lsps.len();
        let first = self.lsps_used;
        let mut tunnels = Vec::with_capacity(spec.count as usize);
        let to = self.loopback(spec.to);
        for index in 0..spec.count {
            let before = self.tunnels_from;
            let used = self.tunnels_used.get_or_insert_with((spec.from as u32, spec.to as u32), || before);
            *used += 1;
            let id = TunnelId { to, id: *used };
            let key = TunnelKey::from(id);
            tunnels.push(id);
            self.by_tunnel.insert((spec.from as u32, key), (group as u32, index));
            let tunnel = self.tunnel_spec(&spec, id, index, first, &routes);
            self.tell_model(&spec, id)?;
            self.tell_selector(&spec, id)?;
            if !self.is_local(spec.from) {
                continue;
            }
            let head = NodeId(spec.from as u32);
            let tunnel = Tunnel {
                key,
                carries: carried(&tunnel),
                set: rsvp::Command::TunnelSet(Arc::new(tunnel)).into(),
                remove: rsvp::Command::TunnelRemove(id).into(),
                group: group as u32,
                index,
            };
            let left = self.nodes[spec.from].keep_tunnel(&mut self.world, head, tunnel);
            if let Some(tunnel) = left.filter(|_| spec.auto) {
                self.world.command(self.now(), head, tunnel.set)?;
            }
        }
        self.use_tests(spec.count)?;
        self.groups.entry(spec.name.clone()).or_insert(group as u32);
        self.lsps.push(LspGroup { spec, tunnels, first, links });
        Ok(group)
    }

    /// Tells the routers of this process which tunnelling model the LSPs of a tunnel have. Its head end knows.
    fn tell_model(&mut self, spec: &LspSpec, tunnel: TunnelId) -> Result<(), NetworkError> {
        let Some(model) = spec.diffserv.and_then(|diffserv| diffserv.model()) else { return Ok(()) };
        let from = self.loopback(spec.from);
        for node in (0..self.description.nodes.len()).filter(|&node| node != spec.from) {
            if self.router(node).is_some() {
                let command = rsvp::Command::TunnelModel { from, tunnel, model: Some(model) };
                self.world.command(self.now(), NodeId(node as u32), command.into())?;
            }
        }
        Ok(())
    }

    /// Tells the tail end of a tunnel, if it is in this process, that its LSPs carry the same packets.
    fn tell_selector(&mut self, spec: &LspSpec, tunnel: TunnelId) -> Result<(), NetworkError> {
        let selector = spec.path.as_ref().and_then(|path| path.one_plus_one);
        if selector.is_none() || self.router(spec.to).is_none() {
            return Ok(());
        }
        let command = rsvp::Command::Selector { from: self.loopback(spec.from), tunnel, selector };
        Ok(self.world.command(self.now(), NodeId(spec.to as u32), command.into())?)
    }

    /// A prefix or router id that the description gives and that overlaps `prefix`.
    fn given_in(&self, prefix: Prefix) -> Option<Prefix> {
        let links = self.links.iter().filter(|link| self.is_outside_blocks(link));
        let links = links.map(|link| Prefix::new(link.addresses[0], link.prefix_len));
        let ids = self.description.nodes.iter().filter_map(|node| node.router_id.map(Prefix::host));
        links.chain(ids).find(|given| addressing::overlap(*given, prefix))
    }

    /// As many more LSPs have test addresses; the network that these lie in may be new to the routers.
    fn use_tests(&mut self, more: u32) -> Result<(), NetworkError> {
        let routed = addressing::test_networks_of(self.lsps_used.max(self.lsps_planned)).count();
        self.lsps_used += more;
        for prefix in addressing::test_networks_of(self.lsps_used).skip(routed) {
            for node in 0..self.description.nodes.len() {
                if self.router(node).is_none() {
                    continue;
                }
                let command = Command::RouteSet { prefix, next_hop: self.tests_of(node) };
                self.world.command(self.now(), NodeId(node as u32), command)?;
            }
        }
        Ok(())
    }

    /// Signals a group again, perhaps along other routes (make before break), or tears it down, and writes it down.
    pub fn lsp_command(
        &mut self,
        group: usize,
        command: &str,
        routes: Option<Vec<Vec<HopSpec>>>,
    ) -> Result<(), NetworkError> {
        self.lsp_command_at(self.now(), group, command, routes)
    }

    /// The same at a time; one that has passed means now.
    pub fn lsp_command_at(
        &mut self,
        at: Time,
        group: usize,
        command: &str,
        routes: Option<Vec<Vec<HopSpec>>>,
    ) -> Result<(), NetworkError> {
        let at = at.max(self.now());
        self.order_lsps(at, group, command, routes)?;
        let what = match command {
            "signal" => "signal",
            "tear" => "tear",
            "reoptimise" => "reoptimise",
            _ => "reroute",
        };
        let target = Target::Lsp(self.lsps[group].spec.name.clone());
        self.note(Action::new(at, what, target));
        Ok(())
    }

    /// The same without writing it down.
    pub fn order_lsps(
        &mut self,
        at: Time,
        group: usize,
        command: &str,
        routes: Option<Vec<Vec<HopSpec>>>,
    ) -> Result<(), NetworkError> {
        let Some(known) = self.lsps.get(group) else {
            return Err(Diagnostic::new(LspProblem::GroupNumber { group, count: self.lsps.len() }).into());
        };
        let (mut spec, first, tunnels) = (known.spec.clone(), known.first, known.tunnels.clone());
        self.check_local(spec.from).map_err(|error| error.of_lsp(group, &spec))?;
        if let Some(routes) = routes {
            spec.routes = routes;
            spec.shortest = false;
        }
        let mut hops = Vec::new();
        let mut links = None;
        for (index, route) in spec.routes.iter().enumerate() {
            let along = self.resolve(&spec, index, route).map_err(|error| error.of_lsp(group, &spec))?;
            hops.push(self.hops(&spec, route, along.as_deref()));
            if index == 0 {
                links = along;
            }
        }
        if spec.shortest {
            links = self.graph.search(spec.from).links_to(spec.to);
            hops.push(self.hops(&spec, &[], links.as_deref()));
        }
        for (index, &id) in tunnels.iter().enumerate() {
            let command = match command {
                "signal" | "route" => {
                    let tunnel = self.tunnel_spec(&spec, id, index as u32, first, &hops);
                    rsvp::Command::TunnelSet(Arc::new(tunnel))
                }
                "tear" => rsvp::Command::TunnelRemove(id),
                "reoptimise" => rsvp::Command::TunnelReoptimise(id),
                other => {
                    return Err(Diagnostic::new(LspProblem::UnknownCommand { command: other.into() }).into());
                }
            };
            self.world.command(at, NodeId(spec.from as u32), command.into())?;
        }
        let known = &mut self.lsps[group];
        (known.spec, known.links) = (spec, links);
        Ok(())
    }

    /// The tunnel of an LSP of a group; it takes test packets of IPv6 as well where both ends have IPv6.
    fn tunnel_spec(
        &self,
        spec: &LspSpec,
        id: TunnelId,
        index: u32,
        first: u32,
        routes: &[Vec<RouteHop>],
    ) -> TunnelSpec {
        let mut tunnel = tunnel_spec(spec, id, index, first, routes);
        tunnel.path = spec.path.as_ref().map(|path| Box::new(self.path_request(path)));
        if let Some(guarded) = self.guarded_link(spec) {
            self.make_bypass(&mut tunnel, spec, guarded);
        }
        if self.has_ipv6(spec.from) && self.has_ipv6(spec.to) {
            tunnel.carries6.insert(0, Prefix6::host(addressing::test_address6(first + index)));
        }
        tunnel
    }

    /// What a head end is asked to keep to, with addresses for names.
    pub(super) fn path_request(&self, path: &PathSpec) -> PathRequest {
        let address = |hop: &HopSpec| match *hop {
            HopSpec::Node(node) => self.loopback(node),
            // Either end means both directions.
            HopSpec::Link { link } => self.links[link].addresses[0],
        };
        PathRequest {
            metric: path.metric,
            affinities: path.affinities,
            hop_limit: path.hop_limit,
            exclude_srlgs: path.exclude_srlgs.clone(),
            exclude: path.exclude.iter().map(address).collect(),
            reoptimise: path.reoptimise,
            follow: path.follow,
            k: path.k,
            standby: path.standby,
            one_plus_one: path.one_plus_one.is_some(),
            revert_after: path.revert_after,
        }
    }

    fn no_path(&self, spec: &LspSpec) -> Diagnostic {
        let [from, to] = [spec.from, spec.to].map(|node| self.node_name(node).to_string());
        LspProblem::NoPath { from, to }.into()
    }

    /// Refuses what can't be signalled. Paths begin at the LSP.
    fn check_lsp(&self, spec: &LspSpec) -> Result<(), Diagnostic> {
        let refused = |problem: LspProblem| Err(Diagnostic::new(problem));
        let on = |key: &str, problem: LspProblem| Err(Diagnostic::new(problem).at(key).on_key());
        self.check_node(spec.from).at("from")?;
        self.check_node(spec.to).at("to")?;
        let (from, to) = (&self.description.nodes[spec.from], &self.description.nodes[spec.to]);
        if from.facts().foreign {
            let called = from.facts().called.to_string();
            return on("from", LspProblem::ForeignHead { node: from.name.clone(), called });
        }
        if !from.facts().router {
            let called = from.facts().called.to_string();
            return on("from", LspProblem::NoHead { node: from.name.clone(), called });
        }
        // It may end at a raw port: whoever is there answers.
        if !to.facts().signals {
            let (node, called) = (to.name.clone(), to.facts().called.to_string());
            return on(
                "to",
                match to.facts().router {
                    true => LspProblem::SilentTail { node, called },
                    false => LspProblem::NoTail { node, called },
                },
            );
        }
        let is_of_bfd = spec.watch.map(|pace| pace.is_of_bfd());
        if is_of_bfd == Some(false) && !to.facts().is_own_transit() && !to.facts().foreign {
            return on("lsp_ping", LspProblem::NoLspPing { node: to.name.clone() });
        }
        for node in [spec.from, spec.to].into_iter().filter(|_| is_of_bfd == Some(true)) {
            let end = &self.description.nodes[node];
            let is_willing =
                end.facts().is_own_transit() && self.watched_ends.needs_bfd(&self.description, node);
            if !is_willing && !end.facts().foreign {
                return on("bfd", LspProblem::NoBfd { node: end.name.clone() });
            }
        }
        if to.facts().foreign && to.router_id.is_none() {
            return on("to", LspProblem::ForeignTail { node: to.name.clone() });
        }
        let is_twice = spec.path.as_ref().is_some_and(|path| path.one_plus_one.is_some());
        if is_twice && !to.facts().is_own_router() {
            let (node, called) = (to.name.clone(), to.facts().called.to_string());
            return on("to", LspProblem::NoSelector { node, called });
        }
        check_carried(spec)?;
        check_diffserv(spec, [spec.from, spec.to].map(|node| &self.description.nodes[node]))?;
        if spec.from == spec.to {
            return refused(LspProblem::SameEnds { node: self.node_name(spec.from).into() });
        }
        if spec.setup_priority > 7 || spec.holding_priority > 7 {
            let key = if spec.setup_priority > 7 { "setup_priority" } else { "holding_priority" };
            return on(key, LspProblem::Priority {});
        }
        if spec.setup_priority < spec.holding_priority {
            let (setup, holding) = (spec.setup_priority, spec.holding_priority);
            return on("holding_priority", LspProblem::Preempting { setup, holding });
        }
        let pair =
            self.tunnels_used.get(&(spec.from as u32, spec.to as u32)).copied().unwrap_or(self.tunnels_from);
        if u32::from(pair).saturating_add(spec.count) > u32::from(u16::MAX) {
            return on("count", LspProblem::TooManyTunnels { most: u16::MAX });
        }
        let lsps = self.lsps_used.saturating_add(spec.count);
        if lsps > addressing::LSPS_MAX {
            return on("count", LspProblem::TooManyLsps { most: addressing::LSPS_MAX });
        }
        for prefix in addressing::test_networks_of(lsps) {
            if let Some(taken) = self.given_in(prefix) {
                let (prefix, taken) = (prefix.to_string(), taken.to_string());
                return refused(LspProblem::TestsTaken { lsps, prefix, taken });
            }
        }
        Ok(())
    }

    /// The links of the explicit route at a place among those of an LSP; nothing if its hops are loose. Paths begin at
    /// the LSP.
    pub(super) fn resolve(
        &self,
        spec: &LspSpec,
        place: usize,
        route: &[HopSpec],
    ) -> Result<Option<Vec<usize>>, Diagnostic> {
        let key = if place == 0 { "route" } else { "fallback" };
        self.resolve_way(Ends::of(spec), route).map_err(|error| error.at(key).on_key())
    }

    /// The links of an explicit route; nothing if its hops are loose. Paths begin at the route.
    pub(super) fn resolve_way(
        &self,
        spec: Ends,
        route: &[HopSpec],
    ) -> Result<Option<Vec<usize>>, Diagnostic> {
        let refused = |problem: LspProblem| Err(Diagnostic::new(problem));
        let mut at = spec.from;
        let mut links = Vec::with_capacity(route.len());
        for hop in route {
            let link = match *hop {
                HopSpec::Node(node) => {
                    self.check_node(node)?;
                    if spec.loose {
                        // A loose hop is named by its router id.
                        let hop = &self.description.nodes[node];
                        if hop.facts().foreign && hop.router_id.is_none() {
                            return refused(LspProblem::ForeignHop { node: hop.name.clone() });
                        }
                        continue;
                    }
                    self.graph.link_between(at, node)
                }
                HopSpec::Link { link } => Some(link),
            };
            let beyond = link.and_then(|link| Some((link, self.graph.beyond(link, at)?)));
            let Some((link, next)) = beyond else {
                let to = match *hop {
                    HopSpec::Node(node) => format!("'{}'", self.node_name(node)),
                    HopSpec::Link { link } => format!("the far end of link {link}"),
                };
                return refused(LspProblem::NoSuchHop { here: self.node_name(at).into(), to });
            };
            links.push(link);
            at = next;
        }
        if spec.loose {
            return Ok(None);
        }
        if at != spec.to {
            let [end, to] = [at, spec.to].map(|node| self.node_name(node).to_string());
            return refused(LspProblem::RouteEnds { end, to });
        }
        self.check_links(&links)?;
        Ok(Some(links))
    }

    /// Refuses a way over a shared segment, and one through a router that does not signal.
    pub(super) fn check_links(&self, links: &[usize]) -> Result<(), Diagnostic> {
        for end in links.iter().flat_map(|&link| self.links[link].ends()) {
            let (node, facts) = (self.node_name(end).to_string(), self.facts(end));
            if facts.segment.is_some() {
                return Err(LspProblem::OverSegment { segment: node }.into());
            }
            if facts.router && !facts.signals {
                return Err(LspProblem::ThroughSilent { node, called: facts.called.to_string() }.into());
            }
        }
        Ok(())
    }

    fn hops(&self, spec: &LspSpec, route: &[HopSpec], links: Option<&[usize]>) -> Vec<RouteHop> {
        self.hops_of(Ends::of(spec), route, links)
    }

    /// The hops of an explicit route, with addresses for names.
    pub(super) fn hops_of(&self, spec: Ends, route: &[HopSpec], links: Option<&[usize]>) -> Vec<RouteHop> {
        let mut at = spec.from;
        let Some(links) = links else {
            // RFC 3209, 4.3.4.1: whoever gets the Path has to find itself in the first hop, so a route that is loose
            // later begins strictly, with the far end of a link.
            let hop = |hop: &HopSpec| match *hop {
                HopSpec::Node(node) => RouteHop { prefix: Prefix::host(self.loopback(node)), loose: true },
                HopSpec::Link { link } => {
                    let far = 1 - self.links[link].side(at);
                    at = self.links[link].ends()[far];
                    RouteHop { prefix: Prefix::host(self.links[link].addresses[far]), loose: false }
                }
            };
            return route.iter().map(hop).collect();
        };
        let mut hops = Vec::with_capacity(links.len());
        for &link in links {
            let link = &self.links[link];
            let far = 1 - link.side(at);
            hops.push(RouteHop { prefix: Prefix::host(link.addresses[far]), loose: false });
            at = if far == 0 { link.spec.a } else { link.spec.b };
        }
        hops
    }
}

/// All destinations whose packets take a tunnel.
fn carried(tunnel: &TunnelSpec) -> Vec<IpPrefix> {
    let carries6 = tunnel.carries6.iter().copied().map(IpPrefix::from);
    tunnel.carries.iter().copied().map(IpPrefix::from).chain(carries6).collect()
}

fn tunnel_spec(spec: &LspSpec, id: TunnelId, index: u32, first: u32, routes: &[Vec<RouteHop>]) -> TunnelSpec {
    let name = if spec.count == 1 { spec.name.clone() } else { format!("{}-{}", spec.name, index + 1) };
    let tests = core::iter::once(Prefix::host(addressing::test_address(first + index)));
    let (plain, classed) = match spec.classes {
        None => (&spec.carries[..], Vec::new()),
        Some(classes) => (&[][..], spec.carries.iter().map(|prefix| (*prefix, classes)).collect()),
    };
    TunnelSpec {
        name,
        tunnel_id: id.id,
        to: id.to,
        routes: routes.to_vec(),
        path: None,
        protection: spec.protection,
        bypass: None,
        bandwidth: spec.bandwidth,
        setup_priority: spec.setup_priority,
        holding_priority: spec.holding_priority,
        style: spec.style,
        record_route: spec.record_route,
        record_labels: spec.record_labels,
        carries: tests.chain(plain.iter().copied()).collect(),
        autoroute: spec.autoroute,
        carries6: spec.carries6.clone(),
        classed,
        diffserv: spec.diffserv,
        filters: spec.filters.clone(),
        when_down: spec.when_down,
        watch: spec.watch,
        retry_limit: spec.retry_limit,
        retry_first: spec.retry_first,
        retry_max: spec.retry_max,
    }
}
