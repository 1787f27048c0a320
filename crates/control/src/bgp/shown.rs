//! What BGP knows, as tables.

use super::Bgp;
use super::table::Path;
use crate::services::policy::Community;
use base::plane::IpPrefix;
use base::table::{RowsOf, Shown, Table, View};
use base::{Label, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::bgp::{Attributes, Origin, Segment};

/// The tables of BGP.
pub(super) const VIEWS: &[View] =
    &[View::of::<Bgp, BgpNeighborRow<'static>>(), View::of::<Bgp, BgpRouteRow<'static>>()];

base::table! {
    /// Neighbours of BGP, those without a session included.
    pub struct BgpNeighborRow<'a> in "bgp_neighbors" key ["node", "address"] {
        /// The router.
        node: &'a str,
        /// The neighbour's address.
        address: Shown<IpAddr>,
        /// The neighbour's name, if it is at the other end of a link; else its address.
        neighbor: String,
        /// Its AS, as it is set up.
        asn: u32,
        /// `internal` if it is in the same AS, else `external`.
        kind: &'static str,
        /// `idle`, `connect`, `active`, `open-sent`, `open-confirm` or `established`: how far a session has come.
        state: &'static str,
        /// Since when it is in this state.
        since_s: Time = "s",
        /// The number that it knows itself by; absent without a session.
        router_id: Option<Ipv4Addr>,
        /// Seconds without a message until it is given up: the smaller of what both say; zero is never, or not agreed
        /// on yet.
        hold_s: u64 = "s",
        /// Are its routes taken? From another AS only where the settings say so (RFC 8212).
        imports: bool,
        /// Is it told routes? In another AS only where the settings say so (RFC 8212).
        exports: bool,
        /// Routes that it has told.
        received: usize = "routes",
        /// Routes that it was told.
        sent: usize = "routes",
        /// UPDATEs that have come.
        updates_received: u64 = "messages",
        /// UPDATEs that were sent.
        updates_sent: u64 = "messages",
        /// Attributes that were malformed (RFC 7606).
        malformed: u64 = "attributes",
        /// Routes of it that the policy did not let pass, however often they were told, and prefixes that are no
        /// destinations, such as those of groups.
        refused: u64 = "routes",
        /// Has this router's BGP restarted, and does it wait until the neighbour has told all its routes, before it
        /// chooses any (RFC 4724, 4.1)?
        is_awaited: bool,
        /// How the last session ended, or why the last attempt at one failed, as other routers show the reason of the
        /// last reset. It stays while another one is being set up, and is empty as soon as `state` is `established`, or
        /// if there was none.
        last_end: String,
    }
}

base::table! {
    /// Routes that neighbours have told, and the router's own.
    pub struct BgpRouteRow<'a> in "bgp_routes" key ["node", "prefix", "from", "label", "path_id"] {
        /// The router.
        node: &'a str,
        /// Destinations.
        prefix: Shown<IpPrefix>,
        /// Address of the neighbour that told it; absent for the router's own.
        from: Option<Shown<IpAddr>>,
        /// Is it the one that is taken?
        is_best: bool,
        /// Does a route lead to its next hop? The router's own have none.
        is_reached: bool,
        /// Where packets go; absent for the router's own.
        next_hop: Option<Shown<IpAddr>>,
        /// The ASes that it has passed, the nearest first; numbers in no order are in braces.
        as_path: String,
        /// `igp`, `egp` or `incomplete`: how it came into BGP.
        origin: &'static str,
        /// How much it is preferred within the AS; absent where nobody has said.
        local_pref: Option<u32>,
        /// Which of several ways into an AS that AS prefers: the least.
        med: Option<u32>,
        /// Its communities, as policies write them (RFC 1997, RFC 4360, RFC 8092).
        communities: Vec<String>,
        /// The router of this AS that told it first, if reflectors have passed it on.
        originator: Option<Ipv4Addr>,
        /// The label that packets get for its next hop (RFC 8277): 3, implicit null, stands for none. Absent if it was
        /// told without a label. Of several it is the outermost.
        label: Option<Label>,
        /// The labels that packets get below that one, the outermost first; mostly there are none.
        labels_below: Vec<Label>,
        /// The label by which neighbours reach the destinations through this router; absent if none was told one.
        local_label: Option<Label>,
        /// The number by which the neighbour tells it from its other paths to the prefix (RFC 7911); absent where it
        /// tells one path, without a number.
        path_id: Option<u32>,
    }
}

impl RowsOf<Bgp> for BgpNeighborRow<'static> {
    fn rows(bgp: &Bgp, node: &str, to: &mut Table) {
        for (place, peer) in bgp.peers.iter().enumerate() {
            let foremost = peer.foremost();
            to.push(BgpNeighborRow {
                node,
                address: Shown(peer.config.address),
                neighbor: peer.config.name.clone(),
                asn: peer.config.asn,
                kind: if bgp.is_external(place) { "external" } else { "internal" },
                state: foremost.state.word(),
                since_s: foremost.since,
                router_id: peer.id,
                hold_s: (foremost.hold.0 / base::Span::from_secs(1).0) as u64,
                imports: peer.config.import.is_any(),
                exports: peer.config.export.is_any(),
                received: peer.received,
                sent: peer.sent,
                updates_received: peer.updates_received,
                updates_sent: peer.updates_sent,
                malformed: peer.malformed,
                refused: peer.refused,
                is_awaited: bgp.awaits(place),
                last_end: peer.last_end.clone(),
            });
        }
    }
}

/// Communities of all kinds as people write them.
fn communities(attributes: &Attributes) -> Vec<String> {
    let plain = attributes.communities.iter().map(|one| Community::Plain(*one));
    let extended = attributes.extended_communities.iter().map(|one| Community::Extended(*one));
    let large = attributes.large_communities.iter().map(|one| Community::Large(*one));
    plain.chain(extended).chain(large).map(|one| one.to_string()).collect()
}

/// An AS path as people write it.
fn as_path(attributes: &Attributes) -> String {
    let segments = attributes.as_path.iter().flat_map(|path| &path.0);
    let words = segments.map(|segment| {
        let numbers: Vec<String> = segment.numbers().iter().map(u32::to_string).collect();
        match segment {
            Segment::Sequence(_) => numbers.join(" "),
            Segment::Set(_) => format!("{{{}}}", numbers.join(",")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

impl RowsOf<Bgp> for BgpRouteRow<'static> {
    fn rows(bgp: &Bgp, node: &str, to: &mut Table) {
        for (prefix, entry) in bgp.prefixes.iter() {
            let mut paths: Vec<(usize, &Path)> = entry.paths.as_slice().iter().enumerate().collect();
            // The router's own stands first.
            paths.sort_by_key(|(_, path)| (path.place(), path.key()));
            for (at, path) in paths {
                let (set, place) = (bgp.sets.get(path.set), path.place());
                let labels = bgp.sets.sequences.get(path.label);
                let reached = bgp.sets.hops.known(bgp.sets.brief(path.set).gateway);
                to.push(BgpRouteRow {
                    node,
                    prefix: Shown(prefix),
                    from: place.map(|place| Shown(bgp.peers[place].config.address)),
                    is_best: entry.best_at() == Some(at),
                    is_reached: place.is_none() || reached.is_some(),
                    next_hop: set.gateway().map(Shown),
                    as_path: as_path(&set),
                    origin: match set.origin.unwrap_or_default() {
                        Origin::Igp => "igp",
                        Origin::Egp => "egp",
                        Origin::Incomplete => "incomplete",
                    },
                    local_pref: set.local_pref,
                    med: set.med,
                    communities: communities(&set),
                    originator: set.originator,
                    label: labels.first(),
                    labels_below: labels.iter().skip(1).collect(),
                    local_label: bgp.label_of(prefix),
                    path_id: (path.id != 0).then_some(path.id),
                });
            }
        }
    }
}
