//! What OSPF knows, as tables.

use super::Ospf;
use super::areas::BACKBONE;
use super::database::{Instance, Scope};
use super::interface::{Interface, InterfaceName, VirtualLink};
use super::neighbor::{Neighbor, NeighborState};
use base::plane::Prefix;
use base::table::{RowsOf, Shown, Table, View};
use base::{PortId, Rate, Time};
use core::net::Ipv4Addr;
use wire::ospf::te::{Te, TeLink, link_type};
use wire::ospf::{LsaBody, LsaKind, MAX_AGE};

/// The tables of OSPF.
pub(super) const VIEWS: &[View] = &[
    View::of::<Ospf, OspfRow<'static>>(),
    View::of::<Ospf, OspfInterfaceRow<'static>>(),
    View::of::<Ospf, OspfNeighborRow<'static>>(),
    View::of::<Ospf, OspfVirtualLinkRow<'static>>(),
    View::of::<Ospf, OspfDatabaseRow<'static>>(),
    View::of::<Ospf, OspfRouteRow<'static>>(),
    View::of::<Ospf, OspfTeLinkRow<'static>>(),
];

base::table! {
    /// Routers that speak OSPF, with a row for each of their areas. Routers of an area that know the same of it have
    /// the same sum of checksums.
    pub struct OspfRow<'a> in "ospf" key ["node", "area"] of (node: &'a str, area: Ipv4Addr) from ospf: &Ospf {
        /// The router.
        node: &'a str => node,
        /// The number that neighbours know it by.
        router_id: Ipv4Addr => ospf.router_id(),
        /// An area that it is in.
        area: Ipv4Addr => area,
        /// `normal` or `stub`: what the area hears of what is outside.
        kind: &'static str => ospf.config.area(area).kind.word(),
        /// `internal` in one area, `border` in several, or `stray`: in several of which none is the backbone, so that
        /// it finds no routes to other areas.
        role: &'static str => ospf.role(),
        /// Does it announce networks outside?
        boundary: bool => ospf.is_boundary(),
        /// When another router has last seemed to have the same router id: for the third time or more an advertisement
        /// came that is newer than the router's own (RFC 2328, 13.4). Absent if that never was.
        contested_s: Option<Time> = "s" => ospf.contested(),
        /// Neighbours in the area whose databases are the same.
        adjacent: usize = "neighbours" => ospf.of_area(area).map(|one| one.count(NeighborState::Full)).sum::<usize>(),
        /// Advertisements in its database, with those that all areas share.
        advertisements: usize => ospf.known_of(area).map(super::database::Database::len).sum::<usize>(),
        /// The sum of their checksums.
        checksum: u64 => ospf.known_of(area).map(super::database::Database::checksum).sum::<u64>(),
        /// How often it has computed paths.
        computations: u64 => ospf.computations().0,
        /// How often of these it computed no tree, since only networks of other areas or outside were others.
        partial: u64 => ospf.computations().1,
        /// When it computed paths last; absent if it has not yet.
        computed_s: Option<Time> => ospf.computed()[0],
        /// When the routing table was last given another route by it; absent if it was not yet.
        changed_s: Option<Time> => ospf.computed()[1],
        /// Routes by the area that it has given to the routing table; those that lead outside are counted in the first
        /// area.
        routes: usize => ospf.routes_by(area),
    }
}

base::table! {
    /// Interfaces of routers that speak OSPF, passive ones among them.
    pub struct OspfInterfaceRow<'a> in "ospf_interfaces" key ["node", "port"]
    of (node: &'a str, area: Ipv4Addr, port: PortId) from one: &'a Interface {
        /// The router.
        node: &'a str => node,
        /// The port.
        port: PortId => port,
        /// The node at the other end of its link; absent of the port beside the router.
        towards: Option<&'a str> => Some(&*one.towards).filter(|name| !name.is_empty()),
        /// The router's own address on it.
        address: Ipv4Addr,
        /// The area that it is in.
        area: Ipv4Addr => area,
        /// `point-to-point` or `broadcast`: what the link is to OSPF.
        network: &'static str => one.config.network.word(),
        /// Is it announced only, so that nothing is sent and heard?
        passive: bool => one.config.passive,
        /// `down`, `waiting`, `point-to-point`, `dr-other`, `backup` or `dr`: what the router is to the link.
        state: &'static str => one.state.word(),
        /// What it costs to send by it.
        cost: u16 => one.config.cost,
        /// The longest IP packet that it takes.
        mtu: u16 = "bytes" => one.mtu,
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
        /// Number of the key that packets are sent with; absent without MD5 or SHA.
        key_id: Option<u8> => one.keys.id,
        /// Since when the last key has been used though its time is over; absent if it is not.
        key_expired_s: Option<Time> = "s" => one.keys.expired,
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
    of (node: &'a str, port: PortId, at: &'a Interface, unacknowledged: usize) from one: &'a Neighbor {
        /// The router that hears it.
        node: &'a str => node,
        /// The port by which it is heard.
        port: PortId => port,
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
        /// The longest IP packet that it takes, as it says itself; absent if it has not said that yet. A neighbour that
        /// takes shorter ones than this router does not become adjacent (RFC 2328, 10.6).
        mtu: Option<u16> = "bytes" => Some(one.mtu).filter(|mtu| *mtu > 0),
        /// How much it wants to be the designated router.
        priority: u8,
        /// Advertisements that it has not acknowledged.
        unacknowledged: usize = "advertisements" => unacknowledged,
        /// Advertisements that it was asked for and has not sent.
        requested: usize = "advertisements" => one.requests.len(),
    }
}

base::table! {
    /// Virtual links of routers that speak OSPF, each with the router at its other end.
    pub struct OspfVirtualLinkRow<'a> in "ospf_virtual_links" key ["node", "area", "router_id"]
    of (node: &'a str, link: VirtualLink, far: Option<&'a Neighbor>, unacknowledged: usize) from one: &'a Interface {
        /// The router at this end.
        node: &'a str => node,
        /// The area that it leads through.
        area: Ipv4Addr => link.area,
        /// Router id of the other end.
        router_id: Ipv4Addr => link.router,
        /// `down` as long as no way through the area leads to the other end, then `point-to-point`.
        state: &'static str => one.state.word(),
        /// The source of this router's packets by it; absent while it is down.
        address: Option<Ipv4Addr> => Some(one.address).filter(|address| !address.is_unspecified()),
        /// Where they go: an address of the other end; absent while it is down.
        peer: Option<Ipv4Addr> => Some(one.peer).filter(|address| !address.is_unspecified()),
        /// What the way through the area costs; absent while it is down.
        cost: Option<u16> => (!one.peer.is_unspecified()).then_some(one.config.cost),
        /// The state of the router at the other end, from `down` to `full`: the two pieces of the backbone are joined.
        neighbor: &'static str => far.map_or(NeighborState::Down, |far| far.state).word(),
        /// Since when the other end is in this state; absent if it has not been heard yet, or is gone.
        since_s: Option<Time> = "s" => far.map(|far| far.since),
        /// When the other end is lost if nothing is heard of it until then; absent if it is not heard.
        expires_s: Option<Time> = "s" => far.map(|far| far.expires),
        /// From a Hello to the next.
        hello_s: u16 = "s" => one.config.hello_s,
        /// The other end is gone if it is silent for so long.
        dead_s: u32 = "s" => one.config.dead_s,
        /// Advertisements that the other end has not acknowledged.
        unacknowledged: usize = "advertisements" => unacknowledged,
        /// Advertisements that it was asked for and has not sent.
        requested: usize = "advertisements" => far.map_or(0, |far| far.requests.len()),
        /// Number of the key that packets are sent with; absent without MD5 or SHA.
        key_id: Option<u8> => one.keys.id,
        /// Since when the last key has been used though its time is over; absent if it is not.
        key_expired_s: Option<Time> = "s" => one.keys.expired,
        /// Packets that were not taken.
        refused: u64 = "packets" => one.refusals,
        /// Why the last of them was not taken; absent if all were.
        refused_why: Option<&'a str> => one.refused.as_ref().map(|(_, why)| &**why),
    }
}

base::table! {
    /// The link-state databases of routers that speak OSPF: an advertisement a row.
    pub struct OspfDatabaseRow<'a> in "ospf_database" key ["node", "area", "type", "id", "router"]
    of (node: &'a str, area: Option<Ipv4Addr>) from one: &Instance {
        /// The router whose database it is.
        node: &'a str => node,
        /// The area in which it is flooded; absent if in all.
        area: Option<Ipv4Addr> => area,
        /// `router`, `network`, `summary`, `external` and so on: what it is about.
        r#type: &'static str => one.header().key.kind.name(),
        /// Link state id: which one of its router's and its type.
        id: Ipv4Addr => one.header().key.id,
        /// The router that made it.
        router: Ipv4Addr => one.header().key.router,
        /// Which instance it is: the first is 80000001, and numbers go up.
        sequence: String => format!("{:08x}", one.header().sequence),
        /// Fletcher's checksum of all but the age.
        checksum: String => format!("{:04x}", one.header().checksum),
        /// Seconds since it was made, as it came here; 3600 means that it counts no more.
        age_s: u16 = "s" => one.header().age,
        /// When it came here, or was made.
        since_s: Time = "s" => one.installed,
        /// Bytes of it.
        length: u16 = "bytes" => one.header().length,
    }
}

base::table! {
    /// The routes that OSPF has found and given to the routing table; there another source may have a better one.
    pub struct OspfRouteRow<'a> in "ospf_routes" key ["node", "prefix"] {
        /// The router.
        node: &'a str,
        /// Destinations that take the route.
        prefix: Shown<Prefix>,
        /// `intra-area`, `inter-area`, `external-1`, `external-2`, or `discard`: a range of networks of which no closer
        /// one is known.
        r#type: &'static str,
        /// The area by which it is found; absent outside.
        area: Option<Ipv4Addr>,
        /// What the path costs; of `external-2` the metric outside.
        cost: u32,
        /// Addresses of the next routers; 0.0.0.0 where the destination is on a link of the router.
        next_hops: Vec<Ipv4Addr>,
        /// The ports by which they lead.
        ports: Vec<PortId>,
    }
}

base::table! {
    /// The databases of traffic engineering (RFC 3630): what routers with `te` have heard of links in their areas, one
    /// direction of a link a row.
    pub struct OspfTeLinkRow<'a> in "ospf_te_links" key ["node", "area", "router", "id"] {
        /// The router whose database it is.
        node: &'a str,
        /// The area in which it is flooded.
        area: Ipv4Addr,
        /// The router at the near end, which made it.
        router: Ipv4Addr,
        /// An address of that router that can always be reached; absent if it has said none.
        router_address: Option<Ipv4Addr>,
        /// Link state id: which one of its router's.
        id: Ipv4Addr,
        /// `point-to-point` or `multi-access`: what the link is.
        r#type: &'static str,
        /// The neighbour's router id, or the address of the designated router.
        link: Ipv4Addr,
        /// The router's own addresses on it.
        local: Vec<Ipv4Addr>,
        /// The neighbour's addresses on it; empty if there may be several neighbours.
        remote: Vec<Ipv4Addr>,
        /// What it costs to traffic engineering; absent if nothing is said.
        metric: Option<u32>,
        /// What it carries; absent if nothing is said.
        maximum: Option<Rate> = "bit/s",
        /// What may be reserved of it; absent if nothing is said.
        reservable: Option<Rate> = "bit/s",
        /// What is left for each setup priority, from 0 to 7; empty if nothing is said.
        unreserved: Vec<Rate> = "bit/s",
        /// Administrative groups, one a bit; absent if nothing is said.
        groups: Option<u32>,
        /// Shared risk link groups.
        srlgs: Vec<u32>,
    }
}

impl RowsOf<Ospf> for OspfTeLinkRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        let said = |one: &Instance| match one.body() {
            LsaBody::Other { bytes } if Te::is_meant(&one.key()) && one.header().age < MAX_AGE => {
                Te::parse(&bytes.0).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let mut all = Vec::new();
        for (scope, one) in ospf.databases().iter() {
            let Some(area) = scope.area() else { continue };
            all.extend(said(one).into_iter().map(|te| (area, one.header().key, te)));
        }
        let address = |area, router| {
            all.iter().find_map(|(own, key, te)| match te {
                Te::RouterAddress(address) if (*own, key.router) == (area, router) => Some(*address),
                _ => None,
            })
        };
        for (area, key, te) in &all {
            let Te::Link(link) = te else { continue };
            let TeLink { local, remote, metric, groups, srlgs, .. } = link.clone();
            to.push(OspfTeLinkRow {
                node,
                area: *area,
                router: key.router,
                router_address: address(*area, key.router),
                id: key.id,
                r#type: if link.kind == link_type::MULTI_ACCESS { "multi-access" } else { "point-to-point" },
                link: link.id,
                local,
                remote,
                metric,
                maximum: link.maximum.map(Rate::from_bytes_per_s),
                reservable: link.reservable.map(Rate::from_bytes_per_s),
                unreserved: link.unreserved.iter().flatten().copied().map(Rate::from_bytes_per_s).collect(),
                groups,
                srlgs,
            });
        }
    }
}

impl Ospf {
    /// What it is to its areas, as tables have it.
    fn role(&self) -> &'static str {
        match (self.is_border(), self.active_areas().contains(&BACKBONE)) {
            (false, _) => "internal",
            (true, true) => "border",
            (true, false) => "stray",
        }
    }

    /// Its interfaces in an area.
    fn of_area(&self, area: Ipv4Addr) -> impl Iterator<Item = &Interface> {
        self.interfaces().filter(move |one| self.area_of(one) == area)
    }

    /// The databases that routers of an area share.
    fn known_of(&self, area: Ipv4Addr) -> impl Iterator<Item = &super::database::Database> {
        let outside = self.config.area(area).takes(LsaKind::EXTERNAL).then_some(Scope::As);
        [Some(Scope::Area(area)), outside]
            .into_iter()
            .flatten()
            .filter_map(|scope| self.databases().of(scope))
    }

    fn routes_by(&self, area: Ipv4Addr) -> usize {
        let first = self.areas().first().copied();
        let paths = self.table().values().filter(|path| path.route().is_some());
        paths.filter(|path| path.area.or(first) == Some(area)).count()
    }
}

impl RowsOf<Ospf> for OspfRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        ospf.areas().into_iter().for_each(|area| to.push(OspfRow::of(node, area, ospf)));
    }
}

impl RowsOf<Ospf> for OspfInterfaceRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for one in ospf.interfaces() {
            let Some(port) = one.name.port() else { continue };
            to.push(OspfInterfaceRow::of(node, ospf.area_of(one), port, one));
        }
    }
}

impl RowsOf<Ospf> for OspfNeighborRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for at in ospf.interfaces() {
            let Some(port) = at.name.port() else { continue };
            let row = |one| OspfNeighborRow::of(node, port, at, ospf.unacknowledged(one), one);
            at.neighbors.values().for_each(|one| to.push(row(one)));
        }
    }
}

impl RowsOf<Ospf> for OspfVirtualLinkRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for one in ospf.interfaces() {
            let InterfaceName::Virtual(link) = one.name else { continue };
            let far = one.neighbors.values().next();
            let unacknowledged = far.map_or(0, |far| ospf.unacknowledged(far));
            to.push(OspfVirtualLinkRow::of(node, link, far, unacknowledged, one));
        }
    }
}

impl RowsOf<Ospf> for OspfDatabaseRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        ospf.databases()
            .iter()
            .for_each(|(scope, one)| to.push(OspfDatabaseRow::of(node, scope.area(), one)));
    }
}

impl RowsOf<Ospf> for OspfRouteRow<'static> {
    fn rows(ospf: &Ospf, node: &str, to: &mut Table) {
        for (prefix, path) in ospf.table().iter().filter(|(_, path)| path.route().is_some()) {
            let next_hops = path.hops.iter().map(|hop| hop.gateway).collect();
            let ports = path.hops.iter().map(|hop| hop.port).collect();
            let (r#type, area, cost) = (path.kind.word(), path.area, path.cost);
            to.push(OspfRouteRow { node, prefix: Shown(*prefix), r#type, area, cost, next_hops, ports });
        }
    }
}
