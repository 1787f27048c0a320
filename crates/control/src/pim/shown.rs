//! The tables of PIM.

use super::Pim;
use super::machines::{AssertState, DownstreamState, UpstreamState};
use super::tree::Leg;
use base::table::{RowsOf, Table, View};
use base::{PortId, Time};
use core::net::Ipv4Addr;

/// The tables of PIM.
pub(super) const VIEWS: &[View] = &[
    View::of::<Pim, LinkRow<'static>>(),
    View::of::<Pim, NeighborRow<'static>>(),
    View::of::<Pim, TreeRow<'static>>(),
    View::of::<Pim, JoinRow<'static>>(),
    View::of::<Pim, DiscardRow<'static>>(),
];

base::table! {
    /// The links on which routers speak PIM, and who speaks for the hosts there.
    pub struct LinkRow<'a> in "pim_links" key ["node", "port"] {
        /// The router.
        node: &'a str,
        /// The port of the link.
        port: PortId,
        /// The router's own address there.
        address: Ipv4Addr,
        /// The designated router: it joins trees for the hosts of the link.
        designated: Ipv4Addr,
        /// Is it this router?
        is_designated: bool,
        /// Routers that speak PIM there, this one not counted.
        neighbors: u32 = "routers",
        /// The number that this router has drawn when it began to speak there.
        generation_id: u32,
        /// Within so long routers override a Prune of another.
        override_interval_s: base::Span = "s",
    }
}

base::table! {
    /// The routers that have said to others by PIM that they are there.
    pub struct NeighborRow<'a> in "pim_neighbors" key ["node", "port", "neighbor"] {
        /// The router that has heard so.
        node: &'a str,
        /// The port of the link.
        port: PortId,
        /// The address of the neighbour's Hellos.
        neighbor: Ipv4Addr,
        /// Its priority in the election of the designated router; absent if it says none.
        dr_priority: Option<u32>,
        /// The number that it draws when it begins anew; absent if it says none.
        generation_id: Option<u32>,
        /// Its further addresses on the link; absent if it has none.
        addresses: Option<String>,
        /// When it is gone unless it is heard again; absent for never.
        expires_s: Option<Time> = "s",
    }
}

base::table! {
    /// The trees of named senders that routers are on, or know of.
    pub struct TreeRow<'a> in "pim_trees" key ["node", "group", "source"] {
        /// The router.
        node: &'a str,
        /// The group.
        group: Ipv4Addr,
        /// The sender.
        source: Ipv4Addr,
        /// `joined` if packets would leave by any port, else `not-joined`.
        state: &'static str,
        /// The port towards the sender, which packets are taken from; absent if no route leads there.
        rpf_port: Option<PortId>,
        /// The router that is joined; absent if the sender is on that link, or the next hop does not speak PIM.
        upstream: Option<Ipv4Addr>,
        /// Ports that packets leave by.
        outgoing: u32 = "ports",
        /// When the next Join is sent; absent if none is.
        join_s: Option<Time> = "s",
    }
}

base::table! {
    /// What routers know of ports for the trees of named senders: who wants packets there, and who sends them.
    pub struct JoinRow<'a> in "pim_joins" key ["node", "group", "source", "port"] {
        /// The router.
        node: &'a str,
        /// The group.
        group: Ipv4Addr,
        /// The sender.
        source: Ipv4Addr,
        /// The port.
        port: PortId,
        /// What routers beyond it have asked for: `no-info`, `join` or `prune-pending`.
        state: &'static str,
        /// When what they have joined is forgotten; absent if there is nothing to forget.
        expires_s: Option<Time> = "s",
        /// Do hosts there want the packets?
        hosts: bool,
        /// Who was elected to send packets there: `no-info` if nobody, `winner` if this router, `loser` if another.
        assert: &'static str,
        /// The router that was elected; absent if none was.
        winner: Option<Ipv4Addr>,
        /// Do packets leave by the port?
        forwards: bool,
    }
}

base::table! {
    /// Messages of PIM, and parts of them, that routers have not used, by reason.
    pub struct DiscardRow<'a> in "pim_discards" key ["node", "reason"] {
        /// The router.
        node: &'a str,
        /// Why: `version`, `kind`, `checksum`, `malformed`, `destination`, `own-address`, `not-neighbor`, `not-spoken`
        /// (registers and bootstrap messages), `outside-range` or `not-specific` (trees for all senders).
        reason: &'static str,
        /// How many there were.
        count: u64,
    }
}

impl RowsOf<Pim> for LinkRow<'static> {
    fn rows(pim: &Pim, node: &str, to: &mut Table) {
        for (port, link) in pim.links.iter().filter(|(_, link)| link.up) {
            let designated = link.designated(&pim.spec);
            to.push(LinkRow {
                node,
                port: *port,
                address: link.own,
                designated,
                is_designated: designated == link.own,
                neighbors: link.neighbors.len() as u32,
                generation_id: link.generation_id,
                override_interval_s: link.override_interval(&pim.spec),
            });
        }
    }
}

impl RowsOf<Pim> for NeighborRow<'static> {
    fn rows(pim: &Pim, node: &str, to: &mut Table) {
        for (port, link) in &pim.links {
            for (address, neighbor) in &link.neighbors {
                let all: Vec<String> = neighbor.addresses.iter().map(|one| one.to_string()).collect();
                to.push(NeighborRow {
                    node,
                    port: *port,
                    neighbor: *address,
                    dr_priority: neighbor.dr_priority,
                    generation_id: neighbor.generation_id,
                    addresses: (!all.is_empty()).then(|| all.join(" ")),
                    expires_s: neighbor.expires,
                });
            }
        }
    }
}

impl RowsOf<Pim> for TreeRow<'static> {
    fn rows(pim: &Pim, node: &str, to: &mut Table) {
        for (id, tree) in &pim.trees {
            to.push(TreeRow {
                node,
                group: id.group,
                source: id.source,
                state: match tree.state {
                    UpstreamState::NotJoined => "not-joined",
                    UpstreamState::Joined => "joined",
                },
                rpf_port: tree.rpf.map(|rpf| rpf.port),
                upstream: tree.upstream.map(|(_, address)| address),
                outgoing: tree.rpf.map_or(0, |_| tree.branches(&pim.around(), id.group).len()) as u32,
                join_s: tree.join_timer,
            });
        }
    }
}

impl RowsOf<Pim> for JoinRow<'static> {
    fn rows(pim: &Pim, node: &str, to: &mut Table) {
        for (id, tree) in &pim.trees {
            let around = pim.around();
            let out: Vec<PortId> = tree.outgoing(&around).filter(|port| !tree.is_rpf(*port)).collect();
            for (port, leg) in &tree.legs {
                to.push(JoinRow {
                    node,
                    group: id.group,
                    source: id.source,
                    port: *port,
                    state: match leg.state {
                        DownstreamState::NoInfo => "no-info",
                        DownstreamState::Join => "join",
                        DownstreamState::PrunePending => "prune-pending",
                    },
                    expires_s: leg.expires.filter(|end| *end != Time::MAX),
                    hosts: leg.local,
                    assert: word(leg),
                    winner: leg.winner.map(|metric| metric.address),
                    forwards: tree.rpf.is_some() && out.contains(port),
                });
            }
        }
    }
}

const fn word(leg: &Leg) -> &'static str {
    match leg.assert {
        AssertState::NoInfo => "no-info",
        AssertState::Winner => "winner",
        AssertState::Loser => "loser",
    }
}

impl RowsOf<Pim> for DiscardRow<'static> {
    fn rows(pim: &Pim, node: &str, to: &mut Table) {
        for (reason, count) in pim.discards.iter() {
            to.push(DiscardRow { node, reason: reason.word(), count });
        }
    }
}
