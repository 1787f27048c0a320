//! Point-to-multipoint LSPs as users write them.

use super::lsp::lowered_route;
use super::path::PathSpec;
use super::problem::NetworkProblem;
use super::protection::{ProtectionMethod, ProtectionSpec};
use super::reference::{Endpoint, HopSpec, Names, NodeRef};
use super::resolve_hop;
use crate::description;
use base::describe::{Name, Several};
use base::diagnostic::{At, Diagnostic};
use base::flow_spec::FilterSpec;
use base::plane::{Prefix, is_link_local_group};
use base::{Rate, Span};
use control::rsvp::command::ReservationStyle;
use control::rsvp::{Signalling, TreeShape};
use control::services::WatchSpec;
use core::net::IpAddr;
use std::collections::BTreeSet;

base::words! {
    /// The protocol that sets a point-to-multipoint LSP up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TreeProtocol {
        /// RSVP-TE (RFC 4875): the root signals leaves, along routes that it chooses, and reserves bandwidth.
        RsvpTe = "rsvp-te",
        /// LDP (RFC 6388): leaves join along the routes to the root.
        Ldp = "ldp",
    }
    default RsvpTe;
}

base::record! {
    /// A point-to-multipoint LSP (RFC 4875, RFC 6388): a tree from one router to several, along which packets are
    /// copied where it branches.
    #[derive(Clone, Debug, PartialEq)]
    pub struct P2mpSpec {
        /// What people call it; no other LSP of the network has it.
        pub name: Name;
        /// Router where it begins.
        pub root: NodeRef;
        /// Routers where it ends, each once.
        pub leaves: Vec<NodeRef>;
        /// The protocol that sets it up. What says of routes, bandwidth, priorities and retries is of RSVP-TE only.
        pub protocol: TreeProtocol = TreeProtocol::RsvpTe;
        /// With LDP: its generic LSP identifier, unique at the root (RFC 6388, 2.3.1).
        pub lsp_id: Option<u32>, absent "its place in this list, from 1 on";
        /// Explicit routes, by leaf: routers after the root, each the next one on the way; NODE:INTERFACE if links are
        /// parallel.
        pub routes: Vec<(Name, Vec<HopSpec>)> = Vec::new(), absent "the root computes the tree if it knows of traffic engineering, else routers decide hop by hop";
        /// Other routers may be between those of the routes.
        pub loose: bool = false;
        /// What is asked of computed paths (OSPF with `te`).
        pub path: Option<PathSpec>, absent "nothing beside bandwidth and priority";
        /// Which tree is computed.
        pub tree: TreeShape = TreeShape::Shortest;
        /// How leaves are spread over Path messages.
        pub signalling: Signalling = Signalling::Together;
        /// Bandwidth to reserve on each link of the tree, once.
        pub bandwidth: Rate = Rate(0);
        /// Groups whose packets take it that hosts at the root send, one or several; at leaves they go to hosts that
        /// have joined (IGMP, or MLD for groups of IPv6).
        pub group: Option<Several<IpAddr>>, absent "none";
        /// Destinations whose packets take it, one prefix or several; every leaf gets them.
        pub carries: Option<Several<Prefix>>, absent "none";
        /// Packets that take it wherever they go.
        pub filters: Vec<FilterSpec> = Vec::new();
        /// Setup priority (RFC 3209, 4.7): 0 is the highest.
        pub setup_priority: u8 = 7, in 0..=7;
        /// Holding priority: 0 is the highest.
        pub holding_priority: Option<u8>, in 0..=7, absent "the setup priority";
        /// Reservation style that leaves are asked for.
        pub style: ReservationStyle = ReservationStyle::SharedExplicit;
        /// Record the route to each leaf (RFC 4875, 6.3).
        pub record_route: bool = true;
        /// What is asked of routers on the way, for the case that something fails (RFC 4875, 15).
        pub protection: Option<ProtectionSpec>, absent "it is not protected";
        /// Have leaves watch the root by BFD (RFC 8562): true, or how closely. The root and the leaves speak BFD then.
        /// What a leaf finds stands in its table `bfd_multipoint` and its events; nobody tells the root.
        pub bfd: WatchSpec, absent "false";
        /// Time before a leaf is tried again after a failure; it doubles with each up to `retry_max`.
        pub retry_first: Span = Span::from_secs(1);
        /// Longest time between retries.
        pub retry_max: Span = Span::from_secs(60);
    }
    check P2mpSpec::check;
}

impl P2mpSpec {
    /// Its holding priority, said or not.
    pub fn holding_priority(&self) -> u8 {
        self.holding_priority.unwrap_or(self.setup_priority)
    }

    /// The first field that was said and that its protocol has nothing to do with.
    fn of_the_other_protocol(&self) -> Option<&'static str> {
        if self.protocol == TreeProtocol::RsvpTe {
            return self.lsp_id.map(|_| "lsp_id");
        }
        let said = [
            ("routes", !self.routes.is_empty()),
            ("loose", self.loose),
            ("path", self.path.is_some()),
            ("tree", self.tree != TreeShape::default()),
            ("signalling", self.signalling != Signalling::default()),
            ("bandwidth", self.bandwidth != Rate(0)),
            ("setup_priority", self.setup_priority != 7),
            ("holding_priority", self.holding_priority.is_some()),
            ("style", self.style != ReservationStyle::SharedExplicit),
            ("record_route", !self.record_route),
            ("protection", self.protection.is_some()),
            ("retry_first", self.retry_first != Span::from_secs(1)),
            ("retry_max", self.retry_max != Span::from_secs(60)),
        ];
        said.into_iter().find(|(_, is_said)| *is_said).map(|(key, _)| key)
    }

    /// What can be seen without the rest of the network.
    fn check(&self) -> Result<(), Diagnostic> {
        if let Some(key) = self.of_the_other_protocol() {
            let problem = match self.protocol {
                TreeProtocol::RsvpTe => NetworkProblem::TreeOfLdp { key },
                TreeProtocol::Ldp => NetworkProblem::TreeOfRsvp { key },
            };
            return Err(Diagnostic::new(problem).at(key).on_key());
        }
        if self.leaves.is_empty() {
            return Err(Diagnostic::new(NetworkProblem::NoLeaves {}).at("leaves"));
        }
        let mut seen = BTreeSet::new();
        for (place, leaf) in self.leaves.iter().enumerate() {
            let node = leaf.name.to_string();
            if leaf.name == self.root.name {
                return Err(Diagnostic::new(NetworkProblem::RootAsLeaf { node }).at(place).at("leaves"));
            }
            if !seen.insert(&leaf.name) {
                return Err(Diagnostic::new(NetworkProblem::LeafTwice { node }).at(place).at("leaves"));
            }
        }
        if let Some(key) = self.path.as_ref().and_then(PathSpec::of_several) {
            return Err(Diagnostic::new(NetworkProblem::OneTree { key }).at(key).at("path"));
        }
        for (leaf, _) in &self.routes {
            if !seen.contains(leaf) {
                let node = leaf.to_string();
                return Err(NetworkProblem::RouteToNoLeaf { node }.into());
            }
        }
        if self.protection.is_some_and(|asked| asked.method != ProtectionMethod::Facility) {
            return Err(Diagnostic::new(NetworkProblem::TreeByBypass {}).at("method").at("protection"));
        }
        let (setup, holding) = (self.setup_priority, self.holding_priority());
        // RFC 3209, 4.7.3: the setup priority should never be higher than the holding priority.
        if holding > setup {
            let weak = NetworkProblem::WeakHolding { setup, holding };
            return Err(Diagnostic::new(weak).at("holding_priority"));
        }
        // RFC 5771, 4, and RFC 4291, 2.7: groups of a single link are not forwarded.
        let is_forwarded = |group: IpAddr| group.is_multicast() && !is_link_local_group(group);
        if let Some(group) = self.groups().iter().find(|group| !is_forwarded(**group)) {
            return Err(Diagnostic::new(NetworkProblem::NotAGroup { group: group.to_string() }).at("group"));
        }
        Ok(())
    }

    fn groups(&self) -> &[IpAddr] {
        self.group.as_ref().map_or(&[], |several| &several.0)
    }

    /// Finds the nodes and links that it names.
    pub fn resolve(&mut self, names: &Names, ends: &[[Endpoint; 2]]) -> Result<(), Diagnostic> {
        self.root.resolve(names).at("root")?;
        for (place, leaf) in self.leaves.iter_mut().enumerate() {
            leaf.resolve(names).at(place).at("leaves")?;
        }
        for (leaf, route) in &mut self.routes {
            for (place, hop) in route.iter_mut().enumerate() {
                resolve_hop(hop, names, ends).at(place).at(&**leaf).at("routes")?;
            }
        }
        for (place, hop) in self.path.iter_mut().flat_map(|path| path.exclude.iter_mut().enumerate()) {
            resolve_hop(hop, names, ends).at(place).at("exclude").at("path")?;
        }
        Ok(())
    }

    /// The same as it is built; its names lead somewhere.
    pub fn lowered(&self) -> description::P2mpSpec {
        let route = |leaf: &NodeRef| {
            let known = self.routes.iter().find(|(name, _)| *name == leaf.name);
            known.map_or_else(Vec::new, |(_, route)| lowered_route(route))
        };
        description::P2mpSpec {
            name: self.name.to_string(),
            root: self.root.index(),
            leaves: self.leaves.iter().map(|leaf| (leaf.index(), route(leaf))).collect(),
            protocol: self.protocol,
            lsp_id: self.lsp_id,
            loose: self.loose,
            path: self.path.as_ref().map(PathSpec::lowered),
            tree: self.tree,
            signalling: self.signalling,
            bandwidth: self.bandwidth,
            groups: self.groups().to_vec(),
            carries: self.carries.as_ref().map_or_else(Vec::new, |several| several.0.clone()),
            filters: self.filters.iter().map(|filter| (*filter).into()).collect(),
            setup_priority: self.setup_priority,
            holding_priority: self.holding_priority(),
            style: self.style,
            record_route: self.record_route,
            protection: self.protection.and_then(ProtectionSpec::lowered),
            watch: self.bfd.0,
            retry_first: self.retry_first,
            retry_max: self.retry_max,
        }
    }
}
