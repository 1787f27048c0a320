//! A network as it is built: what users wrote, with every reference resolved and every default filled in.

use crate::kind::{Facts, NodeKind, Resolved, resolve};
use crate::routes::{self, StaticRoute};
use crate::spec::ReadNetwork;
use crate::spec::address::InterfaceAddress;
use crate::spec::address6::InterfaceAddress6;
use crate::spec::lc_atm::LcAtmSpec;
use crate::spec::link::Driver;
use crate::spec::p2mp::TreeProtocol;
use crate::spec::protocols::Protocols;
use crate::spec::pvc::PvcSpec;
use crate::spec::reference::{Endpoint, Names};
use crate::spec::route::RouteSpec;
use crate::spec::routing::RoutingSpec;
use crate::spec::rsvp::RsvpSpec;
use crate::spec::table_driver::TableDriver;
use crate::spec::vp::VpSpec;
use base::diagnostic::{Diagnostic, Step};
use base::flow::FlowFilter;
use base::plane::{Prefix, Prefix6};
use base::{DiffServConfig, LspDiffServ, PhbSet, Rate, Span};
use control::rsvp::command::{ReservationStyle, SelectorSpec, WhenDown};
use control::rsvp::{ProtectionRequest, Signalling, TreeShape};
use control::services::Pace;
use control::services::te::{Affinities, Disjoint, Metric};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use engine::Medium;
use engine::discipline::TreeSpec;
use node::Advertise;
use node::DeviceProfile;
use node::conditioner::ConditionerSpec;

/// A network in numbers and indices, with all defaults filled in: what it is built from.
#[derive(Clone, Debug)]
pub struct Description {
    /// Seed of all random streams.
    pub seed: u64,
    /// Nodes; others refer to them by place.
    pub nodes: Vec<NodeSpec>,
    /// Links, in the order that gives them their numbers.
    pub links: Vec<LinkSpec>,
    /// Groups of LSPs that are alike.
    pub lsps: Vec<LspSpec>,
    /// Point-to-multipoint LSPs, whose P2MP IDs (or generic LSP identifiers) are their places here, from 1 on.
    pub p2mp: Vec<P2mpSpec>,
    /// Width of the bins of the series that queues keep of their backlogs, of the first 4,194,304 bins; none are kept
    /// if absent.
    pub queue_bin: Option<Span>,
    /// How routes follow failures; they stay as they were at the beginning if absent.
    pub routing: Option<RoutingSpec>,
    /// The names of nodes, by which commands refer to them.
    pub names: Names,
    /// The ends of links, each with the name of its interface.
    pub ends: Vec<[Endpoint; 2]>,
}

impl Description {
    /// Reads every node by its kind, and fills in what was left out.
    pub fn of(read: &ReadNetwork, kinds: &[NodeKind]) -> Result<(Description, Vec<Resolved>), Diagnostic> {
        let (nodes, resolved) = resolve(&read.nodes, kinds)?;
        let links = read.spec.links.iter().enumerate();
        let links = links.map(|(index, link)| {
            Ok(LinkSpec {
                a_queue: read.queue_at(index, 0, kinds)?,
                b_queue: read.queue_at(index, 1, kinds)?,
                a_ingress: read.ingress_at(index, 0, kinds)?,
                b_ingress: read.ingress_at(index, 1, kinds)?,
                ..link.lowered(&nodes).map_err(|error| {
                    let [a, b] = link.endpoints.each_ref().map(|end| &end.node.name);
                    error.at(Step::Called(index, format!("link {a} - {b}"))).at("links")
                })?
            })
        });
        let mut description = Description {
            seed: read.spec.seed,
            links: links.collect::<Result<_, Diagnostic>>()?,
            lsps: read.spec.lsps.iter().map(|lsp| lsp.lowered()).collect(),
            p2mp: read.spec.p2mp.iter().map(|tree| tree.lowered()).collect(),
            queue_bin: read.spec.queue_bin,
            routing: read.spec.routes,
            names: Names::new(read.nodes.iter().map(|node| node.0.clone())),
            ends: read.spec.links.iter().map(|link| link.endpoints.clone()).collect(),
            nodes,
        };
        routes::resolve(&mut description)?;
        Ok((description, resolved))
    }
}

/// A point-to-multipoint LSP whose nodes are named by their places.
#[derive(Clone, Debug)]
pub struct P2mpSpec {
    /// What people call it; signalled in SESSION_ATTRIBUTE.
    pub name: String,
    /// Place of the router where it begins.
    pub root: usize,
    /// Places of its leaves, each with its explicit route, if it has one.
    pub leaves: Vec<(usize, Vec<HopSpec>)>,
    /// The protocol that sets it up.
    pub protocol: TreeProtocol,
    /// Its generic LSP identifier, if users say one.
    pub lsp_id: Option<u32>,
    /// Hops of the routes are loose.
    pub loose: bool,
    /// What is asked of computed paths.
    pub path: Option<PathSpec>,
    /// Which tree is computed.
    pub tree: TreeShape,
    /// How leaves are spread over messages.
    pub signalling: Signalling,
    /// Bandwidth to reserve on each link.
    pub bandwidth: Rate,
    /// Groups whose packets take it.
    pub groups: Vec<IpAddr>,
    /// Destinations whose packets take it.
    pub carries: Vec<Prefix>,
    /// Packets that take it wherever they go.
    pub filters: Vec<FlowFilter>,
    /// Setup priority, 0 the most urgent.
    pub setup_priority: u8,
    /// Holding priority, 0 the most tenacious.
    pub holding_priority: u8,
    /// Reservation style that leaves are asked for.
    pub style: ReservationStyle,
    /// Record the route to each leaf.
    pub record_route: bool,
    /// What is asked of the routers on its way for the case that something fails (RFC 4875, 15).
    pub protection: Option<ProtectionRequest>,
    /// Its ends watch the root by BFD, so closely.
    pub watch: Option<Pace>,
    /// Time before the first retry.
    pub retry_first: Span,
    /// Longest time between retries.
    pub retry_max: Span,
}

/// A number by which others know a node; they can't tell two nodes with the same one apart.
#[derive(Clone, Copy, Debug)]
pub struct NodeNumber {
    /// The field of the description that says it.
    pub key: &'static str,
    /// What a sentence calls it.
    pub called: &'static str,
    /// What the description says; its place among the nodes, counted from 1, if it says nothing.
    pub said: Option<u64>,
}

impl NodeNumber {
    /// That of the node at a place among the nodes, counted from 0.
    pub fn at(&self, place: usize) -> u64 {
        self.said.unwrap_or(place as u64 + 1)
    }
}

/// A node of a network, whatever its kind.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Name, unique within the network.
    pub name: String,
    /// The name of its kind.
    pub kind: String,
    /// What others have to know of it.
    facts: Facts,
    /// How long it takes for what it does.
    pub profile: DeviceProfile,
    /// What its RSVP-TE is configured with.
    pub rsvp: RsvpSpec,
    /// What the other protocols that it speaks are configured with.
    pub protocols: Protocols,
    /// Its DiffServ over MPLS (RFC 3270); a router without copies traffic classes, and refuses LSPs that signal some.
    pub diffserv: Option<DiffServConfig>,
    /// Router id, instead of the one that the builder gives.
    pub router_id: Option<Ipv4Addr>,
    /// A number that no other node of its kind may have, beside its name and its router id.
    pub number: Option<NodeNumber>,
    /// IPv6 loopback address of a router, beside its router id.
    pub ipv6: Option<Ipv6Addr>,
    /// How many signalling messages are kept for table `signals`; none unless asked for.
    pub log_signals: u32,
    /// How its process opens interfaces, where that was said.
    pub driver: Option<Driver>,
    /// What writes its forwarding tables, where that was said.
    pub table_driver: Option<TableDriver>,
    /// Static routes, as they were written.
    pub routes: Vec<RouteSpec>,
    /// The same with the links that they lead by.
    pub static_routes: Vec<StaticRoute>,
}

impl NodeSpec {
    /// A node of which nothing else is said.
    pub fn new(name: &str, kind: &str, facts: Facts) -> NodeSpec {
        NodeSpec {
            name: name.into(),
            kind: kind.into(),
            facts,
            profile: DeviceProfile::default(),
            rsvp: RsvpSpec::default(),
            protocols: Protocols::default(),
            diffserv: None,
            router_id: None,
            number: None,
            ipv6: None,
            log_signals: 0,
            driver: None,
            table_driver: None,
            routes: Vec::new(),
            static_routes: Vec::new(),
        }
    }

    /// What others have to know of it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }
}

/// A link between two ports.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Node at one end.
    pub a: usize,
    /// Node at the other.
    pub b: usize,
    /// Rate of both ports; zero sends in no time. Of a virtual path its peak rate.
    pub rate: Rate,
    /// What frames are on it.
    pub medium: &'static Medium,
    /// The circuit of ATM that is in the place of a wire, if there is one.
    pub pvc: Option<PvcSpec>,
    /// The virtual path of ATM that is in the place of a wire of cells, if there is one.
    pub vp: Option<VpSpec>,
    /// Do cells have headers of a user-network interface?
    pub uni: bool,
    /// How labels are channels of the link, where routers are at both ends of cells.
    pub lc_atm: Option<LcAtmSpec>,
    /// Propagation delay, the same both ways.
    pub delay: Span,
    /// Bandwidth that LSPs may reserve, each way; the rate if absent.
    pub reservable: Option<Rate>,
    /// Buffer of both ports; that of the devices' profiles if absent.
    pub buffer_bytes: Option<u64>,
    /// Longest packet in bytes.
    pub mtu: u32,
    /// Has the user said how long packets may be? Otherwise hardly any is so long, and nobody is warned of what only
    /// those would meet.
    pub mtu_said: bool,
    /// Time until the devices notice that the link went down or came up.
    pub detection: Span,
    /// How much faster than nominal the clock of the port at `a` runs, in parts per 10^9, beside the device's own
    /// offset.
    pub a_clock_ppb: i64,
    /// The same at `b`.
    pub b_clock_ppb: i64,
    /// Shared-risk link groups that it is in: what can fail together with it.
    pub srlg: Vec<String>,
    /// Cost of the link for shortest paths.
    pub metric: u64,
    /// Addresses at `a` and at `b`, instead of those that the builder gives. A host with several links has its
    /// addresses here.
    pub addresses: Option<[InterfaceAddress; 2]>,
    /// IPv6 addresses at `a` and at `b`; the link has no IPv6 if absent.
    pub ipv6: Option<[InterfaceAddress6; 2]>,
    /// Are IPv6 addresses used only after a look whether somebody has them (RFC 4862, 5.4)?
    pub dad: bool,
    /// What routers at its ends say of themselves (RFC 4861, 6.2); nothing if absent.
    pub advertise: Option<Advertise>,
    /// Queue disciplines of the port at `a`: what waits there to be sent over the link; one queue of the port's buffer
    /// if absent.
    pub a_queue: Option<TreeSpec>,
    /// The same at `b`.
    pub b_queue: Option<TreeSpec>,
    /// What packets go through that arrive at the port at `a`, which is a router's.
    pub a_ingress: Option<ConditionerSpec>,
    /// The same at `b`.
    pub b_ingress: Option<ConditionerSpec>,
}

/// A hop of an explicit route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopSpec {
    /// The next node; the best of the links to it.
    Node(usize),
    /// The link that the route takes next.
    Link {
        /// Place of the link.
        link: usize,
    },
}

/// What is asked of computed paths, beside bandwidth and priority.
#[derive(Clone, Debug)]
pub struct PathSpec {
    /// The cost that paths are compared by.
    pub metric: Metric,
    /// Which administrative groups links must have.
    pub affinities: Affinities,
    /// Most links on the path.
    pub hop_limit: Option<u32>,
    /// Links of these shared risk link groups are not used.
    pub exclude_srlgs: Vec<u32>,
    /// Routers that it does not touch, and links that it does not take.
    pub exclude: Vec<HopSpec>,
    /// How often a better path is looked for; by command and after failures only if absent.
    pub reoptimise: Option<Span>,
    /// Look for a better path whenever something else is known of links, too.
    pub follow: bool,
    /// How many paths are looked for at once.
    pub k: u32,
    /// An LSP stands by along a path that has not these in common; none if absent.
    pub standby: Option<Disjoint>,
    /// Both LSPs carry each packet, and the tail end chooses so; absent if one stands by without traffic.
    pub one_plus_one: Option<SelectorSpec>,
    /// Go back to the best path when nothing has changed of links for so long.
    pub revert_after: Option<Span>,
}

/// A group of LSPs that differ only by number.
#[derive(Clone, Debug)]
pub struct LspSpec {
    /// Name; in a group of several each gets its number behind.
    pub name: String,
    /// Index of the head end in the list of nodes.
    pub from: usize,
    /// Index of the tail end in the list of nodes.
    pub to: usize,
    /// How many LSPs alike the group has.
    pub count: u32,
    /// Explicit routes in order of preference, without the head.
    pub routes: Vec<Vec<HopSpec>>,
    /// Are the hops of the routes loose?
    pub loose: bool,
    /// Use the shortest path as explicit route.
    pub shortest: bool,
    /// What is asked of a path that the head end computes.
    pub path: Option<PathSpec>,
    /// What is asked of the routers on its way for the case that something fails (RFC 4090).
    pub protection: Option<ProtectionRequest>,
    /// The link at the head end that it protects: it is a bypass tunnel.
    pub bypass: Option<HopSpec>,
    /// Bandwidth to reserve for each.
    pub bandwidth: Rate,
    /// Setup priority, 0 (most important) to 7 (RFC 3209, 4.7).
    pub setup_priority: u8,
    /// Holding priority, 0 (most important) to 7; never weaker than that of setup.
    pub holding_priority: u8,
    /// Reservation style that the tail end answers with.
    pub style: ReservationStyle,
    /// Whether Path and Resv carry a RECORD_ROUTE.
    pub record_route: bool,
    /// Whether labels are recorded there, too.
    pub record_labels: bool,
    /// Time before the first retry.
    pub retry_first: Span,
    /// Longest time between retries.
    pub retry_max: Span,
    /// How many retries; without limit if absent.
    pub retry_limit: Option<u32>,
    /// Signal at once; an edge leaves it to its programme.
    pub auto: bool,
    /// Destinations whose packets take the LSP at its head end, beside its test packets. For one LSP, not for a group
    /// of several.
    pub carries: Vec<Prefix>,
    /// The same of IPv6: below the label IPv6 explicit null.
    pub carries6: Vec<Prefix6>,
    /// Routes to what lies behind its end lead through it.
    pub autoroute: bool,
    /// Of the packets to the destinations in `carries` only those of these behaviours take the LSP; all if absent.
    pub classes: Option<PhbSet>,
    /// What is signalled of behaviours (RFC 3270).
    pub diffserv: Option<LspDiffServ>,
    /// Packets that take the LSP wherever they go. For one LSP, not for a group of several.
    pub filters: Vec<FlowFilter>,
    /// What becomes of those packets while it is down.
    pub when_down: WhenDown,
    /// It is watched by BFD (RFC 5884), or by LSP ping (RFC 8029), and how closely.
    pub watch: Option<Pace>,
}
