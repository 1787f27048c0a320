//! What LDP knows, as tables.

use super::Ldp;
use super::cells::VcCount;
use super::multipoint::shown::{LdpP2mpLabelRow, LdpP2mpLspRow};
use super::said::key_of;
use super::session::Session;
use crate::services::distribution::{Binding, Peer};
use crate::services::label_vcs::LabelVcs;
use base::plane::{ChannelRange, Prefix};
use base::table::{RowsOf, Shown, Table, View};
use base::{Label, PortId, Time};
use core::net::Ipv4Addr;

/// The tables of LDP.
pub(super) const VIEWS: &[View] = &[
    View::of::<Ldp, LdpNeighborRow<'static>>(),
    View::of::<Ldp, LdpSessionRow<'static>>(),
    View::of::<Ldp, LdpBindingRow<'static>>(),
    View::of::<Ldp, LdpGivenRow<'static>>(),
    View::of::<Ldp, LdpMalformedRow<'static>>(),
    View::of::<Ldp, LdpP2mpLspRow<'static>>(),
    View::of::<Ldp, LdpP2mpLabelRow<'static>>(),
    View::of::<Ldp, LdpStaleRow<'static>>(),
    View::of::<Ldp, LabelVcRow<'static>>(),
    View::of::<Ldp, LabelRangeRow<'static>>(),
];

base::table! {
    /// Routers that are heard by Hellos of LDP, a row for each link.
    pub struct LdpNeighborRow<'a> in "ldp_neighbors" key ["node", "port", "router_id"] {
        /// The router that hears it.
        node: &'a str,
        /// The port by which it is heard.
        port: PortId,
        /// Its router id.
        router_id: Ipv4Addr,
        /// The source of its Hellos.
        address: Ipv4Addr,
        /// Its end of a session.
        transport: Ipv4Addr,
        /// Seconds without a Hello until it is gone.
        hold_s: u16 = "s",
        /// When it is gone if nothing is heard of it until then.
        expires_s: Time = "s",
        /// How far a session with it has come, as in `ldp_sessions`; `non-existent` if there is none.
        session: &'static str,
    }
}

base::table! {
    /// Sessions of LDP, those that are not established yet included.
    pub struct LdpSessionRow<'a> in "ldp_sessions" key ["node", "remote"] of (node: &'a str, labels: Option<&Peer>, vcs: VcCount) from one: &Session {
        /// The router.
        node: &'a str => node,
        /// The other end of the connection.
        remote: Ipv4Addr,
        /// Router id of the other router; absent as long as it has not said it.
        router_id: Option<Ipv4Addr> => one.peer.map(|peer| peer.router),
        /// `active` if this router has begun the connection, else `passive`.
        role: &'static str => if one.is_active { "active" } else { "passive" },
        /// `non-existent`, `initialized`, `open-sent`, `open-rec` or `operational`: how far it has come.
        state: &'static str => one.state.word(),
        /// Since when it is in this state.
        since_s: Time = "s" => one.since,
        /// Seconds without a PDU until it ends; zero before both have agreed.
        keepalive_s: u64 = "s" => (one.keepalive.0 / base::Span::from_secs(1).0) as u64,
        /// Labels that the other router has given.
        received: usize = "labels" => labels.map_or(0, |labels| labels.given.len()) + vcs.received,
        /// Labels that this router has given.
        sent: usize = "labels" => labels.map_or(0, |labels| labels.sent.len()) + vcs.sent,
        /// `unsolicited` if both are told all labels, else `on-demand`.
        advertise: &'static str => if one.on_demand { "on-demand" } else { "unsolicited" },
        /// Requests that wait for an answer of the other router.
        asked: usize = "requests" => labels.map_or(0, |labels| labels.asked.len()) + vcs.asked,
        /// Labels and requests of the other router that had gone in a circle.
        loops: u64 => labels.map_or(0, |labels| labels.loops),
    }
}

base::table! {
    /// Prefixes with a label: what the router tells its neighbours, and what it does with it.
    pub struct LdpBindingRow<'a> in "ldp_bindings" key ["node", "prefix"] {
        /// The router.
        node: &'a str,
        /// Destinations whose packets get the label.
        prefix: Shown<Prefix>,
        /// The label with which packets are to come; 3 (implicit null) where they are to come without, and absent where
        /// none was left.
        label: Option<Label>,
        /// Neighbours that were told it.
        told: usize = "neighbours",
        /// Ports by which packets leave with the labels of neighbours; none where they leave without a label, or not at
        /// all.
        ports: Vec<PortId>,
        /// Addresses of these neighbours.
        next_hops: Vec<Ipv4Addr>,
        /// Labels with which they leave; 3 stands for none.
        out_labels: Vec<Label>,
    }
}

base::table! {
    /// Labels that neighbours have given; with liberal retention whether they are used or not.
    pub struct LdpGivenRow<'a> in "ldp_labels" key ["node", "prefix", "router_id"] {
        /// The router that keeps the label.
        node: &'a str,
        /// Destinations that it is for.
        prefix: Shown<Prefix>,
        /// The router that has given it.
        router_id: Ipv4Addr,
        /// The label; 3 (implicit null) where packets are to come without one.
        label: Label,
        /// Do packets leave with it?
        is_used: bool,
    }
}

base::table! {
    /// Labels and entries that are kept over a restart of LDP (RFC 3478), as long as they are not confirmed.
    pub struct LdpStaleRow<'a> in "ldp_stale" key ["node", "router_id"] {
        /// The router that keeps them.
        node: &'a str,
        /// The neighbour that has given the labels; absent where LDP of the router itself has restarted, and its own
        /// entries are kept.
        router_id: Option<Ipv4Addr>,
        /// How many labels, or prefixes with entries.
        kept: usize = "labels",
        /// They go then.
        until_s: Time = "s",
    }
}

base::table! {
    /// What came by sessions of LDP and could not be read, or not be kept, by reason.
    pub struct LdpMalformedRow<'a> in "ldp_malformed" key ["node", "reason"] {
        /// The router that could not read it.
        node: &'a str,
        /// What was wrong with it.
        reason: &'static str,
        /// The status code that it was answered by (RFC 5036, 3.5.1.2); absent of labels for point-to-multipoint LSPs
        /// beyond what is kept, which are released, or beyond what the next router takes, which is not told of them.
        status: Option<&'static str>,
        /// How often that was so.
        count: u64 = "messages",
    }
}

base::table! {
    /// Labels that are channels of ATM (RFC 3035): what neighbours have asked a router or an ATM-LSR for, a row for
    /// each request.
    pub struct LabelVcRow<'a> in "label_vcs" key ["node", "port", "vpi", "vci"] {
        /// The router or ATM-LSR that has given the label.
        node: &'a str,
        /// The port by which cells come with it.
        port: PortId,
        /// Virtual path of the label.
        vpi: u16,
        /// Virtual channel of the label.
        vci: u16,
        /// Destinations of the packets.
        prefix: Shown<Prefix>,
        /// The neighbour that asked.
        from_id: Ipv4Addr,
        /// `waiting`, `writing`, `given`, `broken` or `withdrawn`: what has become of the request.
        state: &'static str,
        /// How many routers are still to come, as the neighbour was told; 0 if that is not known, absent as long as it
        /// was told nothing.
        hops: Option<u8> = "routers",
        /// The next router or ATM-LSR; absent where the LSP ends here, or has no way.
        to_id: Option<Ipv4Addr>,
        /// The port by which cells leave.
        to_port: Option<PortId>,
        /// Virtual path of the label that the next one has given.
        to_vpi: Option<u16>,
        /// Virtual channel of that label.
        to_vci: Option<u16>,
    }
}

base::table! {
    /// Channels that the ends of links of ATM give as labels (RFC 5036, 3.5.3), once there is a session.
    pub struct LabelRangeRow<'a> in "label_ranges" key ["node", "port", "vpi_min", "vci_min"] {
        /// The router or ATM-LSR.
        node: &'a str,
        /// The port to the link.
        port: PortId,
        /// The router at the other end.
        router_id: Ipv4Addr,
        /// The first virtual path that both can do with.
        vpi_min: u16,
        /// The last one.
        vpi_max: u16,
        /// The first virtual channel on each of these paths.
        vci_min: u16,
        /// The last one.
        vci_max: u16,
        /// Which of them this end gives: `all`, or `odd` or `even` where a channel is a label in one direction alone.
        gives: &'static str,
        /// Labels that neighbours have asked this end for.
        used: usize = "labels",
    }
}

impl RowsOf<Ldp> for LdpMalformedRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for (reason, (status, count)) in &ldp.malformed {
            to.push(LdpMalformedRow { node, reason, status: Some(status.words()), count: *count });
        }
        for (reason, count) in &ldp.multipoint.declined {
            to.push(LdpMalformedRow { node, reason, status: None, count: *count });
        }
    }
}

impl RowsOf<Ldp> for LabelVcRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        let Some(vcs) = &ldp.vcs else { return };
        for up in vcs.ups() {
            let channel = |port: PortId, label: Label| {
                let first = ldp.config.cells.get(&port).map_or(0, |cells| cells.range.vpi.0);
                ChannelRange::channel(first, label)
            };
            let (vpi, vci) = channel(up.port, up.label);
            let onward = vcs.onward(up);
            let on = onward.map(|(_, port, label, _)| channel(port, label));
            to.push(LabelVcRow {
                node,
                port: up.port,
                vpi,
                vci,
                prefix: Shown(up.prefix),
                from_id: up.key.0,
                state: up.state.word(),
                hops: up.told,
                to_id: onward.map(|(key, ..)| key.0),
                to_port: onward.map(|(_, port, ..)| port),
                to_vpi: on.map(|(vpi, _)| vpi),
                to_vci: on.map(|(_, vci)| vci),
            });
        }
    }
}

impl RowsOf<Ldp> for LabelRangeRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for session in ldp.sessions().filter(|session| session.is_operational()) {
            let (Some(peer), Some(channels)) = (session.peer, &session.channels) else { continue };
            let Some((port, _)) = ldp.cells_of(peer) else { continue };
            let used = ldp.vcs.iter().flat_map(LabelVcs::ups).filter(|up| up.port == port).count();
            for range in &channels.ranges {
                to.push(LabelRangeRow {
                    node,
                    port,
                    router_id: peer.router,
                    vpi_min: range.vpi.0,
                    vpi_max: range.vpi.1,
                    vci_min: range.vci.0,
                    vci_max: range.vci.1,
                    gives: channels.gives(),
                    used,
                });
            }
        }
    }
}

impl RowsOf<Ldp> for LdpStaleRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        if let Some(until_s) = ldp.holding_until {
            to.push(LdpStaleRow { node, router_id: None, kept: ldp.labels().stale(), until_s });
        }
        for (id, until) in &ldp.stale_until {
            let (router_id, kept) = (Some(id.router), ldp.labels().stale_of(key_of(*id)));
            to.push(LdpStaleRow { node, router_id, kept, until_s: *until });
        }
    }
}

impl RowsOf<Ldp> for LdpNeighborRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for ((port, id), one) in &ldp.adjacencies {
            let of = ldp.sessions().filter(|session| session.peer == Some(*id));
            let session = of.map(|session| session.state.word()).next().unwrap_or("non-existent");
            to.push(LdpNeighborRow {
                node,
                port: *port,
                router_id: id.router,
                address: one.address,
                transport: one.transport,
                hold_s: one.hold_s,
                expires_s: one.expires,
                session,
            });
        }
    }
}

impl RowsOf<Ldp> for LdpSessionRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        ldp.sessions()
            .for_each(|one| to.push(LdpSessionRow::of(node, one.labels(ldp), ldp.vc_count(one), one)));
    }
}

impl RowsOf<Ldp> for LdpBindingRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for (prefix, known) in ldp.labels().fecs() {
            let label = match known.binding {
                Some(Binding::Here) => Some(Label::IMPLICIT_NULL),
                Some(Binding::Label { label, .. }) => Some(label),
                None => None,
            };
            to.push(LdpBindingRow {
                node,
                prefix: Shown(prefix),
                label,
                told: ldp.labels().peers().filter(|(_, peer)| peer.sent.contains(&prefix)).count(),
                ports: known.used.iter().map(|used| used.0).collect(),
                next_hops: known.used.iter().map(|used| used.1).collect(),
                out_labels: known.used.iter().map(|used| used.2).collect(),
            });
        }
    }
}

impl RowsOf<Ldp> for LdpGivenRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for (key, peer) in ldp.labels().peers() {
            for (prefix, label) in peer.given.iter() {
                let of = |used: &(PortId, Ipv4Addr, Label)| {
                    peer.ports.contains(&used.0) && peer.addresses.contains(&used.1)
                };
                let is_used = ldp.labels().fec(prefix).is_some_and(|known| known.used.iter().any(of));
                to.push(LdpGivenRow {
                    node,
                    prefix: Shown(prefix),
                    router_id: key.0,
                    label: *label,
                    is_used,
                });
            }
        }
    }
}
