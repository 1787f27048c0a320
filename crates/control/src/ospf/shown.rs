//! What OSPF knows, as tables.

use super::Ospf;
use super::database::Instance;
use super::interface::Interface;
use super::neighbor::{Neighbor, NeighborState};
use base::plane::Prefix;
use base::table::{RowsOf, Shown, Table, View};
use base::{PortId, Time};
use core::net::Ipv4Addr;

/// The tables of OSPF.
pub(super) const VIEWS: &[View] = &[
    View::of::<Ospf, OspfRow<'static>>(),
    View::of::<Ospf, OspfInterfaceRow<'static>>(),
    View::of::<Ospf, OspfNeighborRow<'static>>(),
    View::of::<Ospf, OspfDatabaseRow<'static>>(),
    View::of::<Ospf, OspfRouteRow<'static>>(),
];

base::table! {
    /// Routers that speak OSPF. Routers of an area that know the same have the same sum of checksums.
    pub struct OspfRow<'a> in "ospf" key ["node"] of (node: &'a str) from ospf: &Ospf {
        /// The router.
        node: &'a str => node,
        /// The number that neighbours know it by.
        router_id: Ipv4Addr => ospf.router_id(),
        /// The area that it is in.
        area: Ipv4Addr => ospf.area(),
        /// Neighbours whose databases are the same.
        adjacent: usize = "neighbours" => ospf.interfaces().map(|one| one.count(NeighborState::Full)).sum::<usize>(),
        /// Advertisements in its database.
        advertisements: usize => ospf.database().len(),
        /// The sum of their checksums.
        checksum: u64 => ospf.database().checksum(),
        /// How often it has computed paths.
        computations: u64 => ospf.computations(),
        /// Routes that it has given to the routing table.
        routes: usize => ospf.routes.len(),
    }
}

base::table! {
    /// Interfaces of routers that speak OSPF, passive ones among them.
    pub struct OspfInterfaceRow<'a> in "ospf_interfaces" key ["node", "port"]
    of (node: &'a str) from one: &'a Interface {
        /// The router.
        node: &'a str => node,
        /// The port.
        port: PortId,
        /// The node at the other end of its link; absent of the port beside the router.
        towards: Option<&'a str> => Some(&*one.towards).filter(|name| !name.is_empty()),
        /// The router's own address on it.
        address: Ipv4Addr,
        /// `point-to-point` or `broadcast`: what the link is to OSPF.
        network: &'static str => one.config.network.word(),
        /// Is it announced only, so that nothing is sent and heard?
        passive: bool => one.config.passive,
        /// `down`, `waiting`, `point-to-point`, `dr-other`, `backup` or `dr`: what the router is to the link.
        state: &'static str => one.state.word(),
        /// What it costs to send by it.
        cost: u16 => one.config.cost,
        /// From a Hello to the next.
        hello_s: u16 = "s" => one.config.hello_s,
        /// A neighbour that is silent for so long is gone.
        dead_s: u32 = "s" => one.config.dead_s,
        /// Address of the designated router; absent where there is none.
        designated: Option<Ipv4Addr> => Some(one.designated).filter(|address| !address.is_unspecified()),
        /// Address of its backup; absent where there is none.
        backup: Option<Ipv4Addr> => Some(one.backup).filter(|address| !address.is_unspecified()),
        /// Neighbours that are heard.
        neighbors: usize = "neighbours" => one.neighbors.len(),
        /// Neighbours whose databases are the same: routes lead by them.
        adjacent: usize = "neighbours" => one.count(NeighborState::Full),
        /// Packets that were not taken.
        refused: u64 = "packets" => one.refusals,
        /// Whose packet was the last of them; absent if all were taken.
        refused_from: Option<Ipv4Addr> => one.refused.as_ref().map(|(source, _)| *source),
        /// Why it was not taken.
        refused_why: Option<&'a str> => one.refused.as_ref().map(|(_, why)| &**why),
    }
}

base::table! {
    /// Neighbours that routers hear by OSPF.
    pub struct OspfNeighborRow<'a> in "ospf_neighbors" key ["node", "port", "address"]
    of (node: &'a str, at: &'a Interface) from one: &'a Neighbor {
        /// The router that hears it.
        node: &'a str => node,
        /// The port by which it is heard.
        port: PortId => at.port,
        /// The node at the other end of the link: the neighbour, or a bridge between the two.
        towards: &'a str => &at.towards,
        /// Its router id.
        router_id: Ipv4Addr,
        /// The source of its packets.
        address: Ipv4Addr,
        /// From `init`, which it is as long as it does not say that it hears this router, to `full`: the databases are
        /// the same. Routes lead by neighbours in state `full` only.
        state: &'static str => one.state.word(),
        /// Since when it is in this state.
        since_s: Time = "s" => one.since,
        /// When it is lost if nothing is heard of it until then.
        expires_s: Time = "s" => one.expires,
        /// How much it wants to be the designated router.
        priority: u8,
        /// Advertisements that it has not acknowledged.
        unacknowledged: usize = "advertisements" => one.retransmit.len(),
        /// Advertisements that it was asked for and has not sent.
        requested: usize = "advertisements" => one.requests.len(),
    }
}

base::table! {
    /// The link-state databases of routers that speak OSPF: an advertisement a row.
    pub struct OspfDatabaseRow<'a> in "ospf_database" key ["node", "type", "id", "router"]
    of (node: &'a str) from one: &Instance {
        /// The router whose database it is.
        node: &'a str => node,
        /// `router`, `network`, `summary`, `external` and so on: what it is about.
        r#type: &'static str => one.header.key.kind.name(),
        /// Link state id: which one of its router's and its type.
        id: Ipv4Addr => one.header.key.id,
        /// The router that made it.
        router: Ipv4Addr => one.header.key.router,
        /// Which instance it is: the first is 80000001, and numbers go up.
        sequence: String => format!("{:08x}", one.header.sequence),
        /// Fletcher's checksum of all but the age.
        checksum: String => format!("{:04x}", one.header.checksum),
        /// Seconds since it was made, as it came here; 3600 means that it counts no more.
        age_s: u16 = "s" => one.header.age,
        /// When it came here, or was made.
        since_s: Time = "s" => one.installed,
        /// Bytes of it.
        length: u16 = "bytes" => one.header.length,
    }
}

base::table! {
    /// The routes that OSPF has found and given to the routing table; there another source may have a better one.
    pub struct OspfRouteRow<'a> in "ospf_routes" key ["node", "prefix"] {
        /// The router.
        node: &'a str,
        /// Destinations that take the route.
        prefix: Shown<Prefix>,
        /// What the path costs.
        cost: u32,
        /// Addresses of the next routers; 0.0.0.0 where the destination is on a link of the router.
        next_hops: Vec<Ipv4Addr>,
        /// The ports by which they lead.
        ports: Vec<PortId>,
    }
}

impl RowsOf<Ospf> for OspfRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        to.push(OspfRow::of(node, ospf));
    }
}

impl RowsOf<Ospf> for OspfInterfaceRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        ospf.interfaces().for_each(|one| to.push(OspfInterfaceRow::of(node, one)));
    }
}

impl RowsOf<Ospf> for OspfNeighborRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for at in ospf.interfaces() {
            at.neighbors.values().for_each(|one| to.push(OspfNeighborRow::of(node, at, one)));
        }
    }
}

impl RowsOf<Ospf> for OspfDatabaseRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        ospf.database().iter().for_each(|one| to.push(OspfDatabaseRow::of(node, one)));
    }
}

impl RowsOf<Ospf> for OspfRouteRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for (prefix, (cost, hops)) in &ospf.routes {
            let next_hops = hops.iter().map(|hop| hop.gateway).collect();
            let ports = hops.iter().map(|hop| hop.port).collect();
            to.push(OspfRouteRow { node, prefix: Shown(*prefix), cost: *cost, next_hops, ports });
        }
    }
}
