//! Tables of a whole network: its LSPs, its links, what its nodes said and did.

use crate::{Network, NetworkError, Part, signals, tunnels};
use base::device::{DropCounters, DropReason};
use base::table::{Fields, Rows, Table};
use base::{Event, Label, Time};
use control::messages::MessageBin;
use control::rsvp::{Audit, Rsvp};
use engine::DirectionCounters;
use node::Router;
use std::collections::BTreeSet;

base::table! {
    /// All LSPs of all head ends that are in this process.
    pub struct LspGroupRow<'a> in "lsps" key ["lsps", "index"] {
        /// The group of LSPs, by its place in the description.
        lsps: usize,
        /// Its place in the group, from 0.
        index: usize,
        /// Its name: that of the group, with its number from 1 if there are several.
        name: String,
        /// The head end, where the LSPs begin.
        from: &'a str,
        /// The egress, where they end.
        to: &'a str,
        /// `up`, `down`, or `not signalled`.
        state: &'static str,
        /// LSP id of the LSP that carries traffic; absent while it is down.
        lsp: Option<u16>,
        /// The label that the next hop gave; absent while it is down.
        label: Option<Label>,
        /// Links of its route; absent if the route is not known here.
        hops: Option<usize> = "links",
    }
}

base::table! {
    /// How many RSVP messages each router sent and received, in bins of time.
    pub struct MessageRow<'a> in "messages" key ["node", "start_s", "direction", "type"] {
        /// The router.
        node: &'a str,
        /// When the bin begins.
        start_s: Time = "s",
        /// `rx` for messages received, `tx` for those sent.
        direction: &'static str,
        /// The type of the messages: `Path`, `Resv` and so on.
        r#type: &'static str,
        /// Messages of the type in the bin.
        count: u32 = "messages",
    }
}

base::table! {
    /// What both ends of each link sent, what arrived, and what was lost on the way.
    pub struct PortTableRow<'a> in "ports" key ["link", "from"]
    of (link: usize, from: &'a str, to: &'a str) from c: DirectionCounters {
        /// The link, by its place in the description.
        link: usize => link,
        /// The node that sends.
        from: &'a str => from,
        /// The node at the other end.
        to: &'a str => to,
        /// Frames that the port took, whether or not they have left yet.
        sent_frames: u64 = "frames",
        /// Their bytes, without preamble and gap.
        sent_bytes: u64 = "bytes",
        /// Frames that reached the other end.
        received_frames: u64 = "frames",
        /// Their bytes, without preamble and gap.
        received_bytes: u64 = "bytes",
        /// Frames refused by the port, dropped by its queues, or lost behind it.
        dropped: u64 = "frames" => c.drops.total(),
        /// The same by reason; reasons that did not occur are left out.
        drops: DropCounters = "frames",
        /// The most bytes that ever waited for their first bit to leave.
        waiting_bytes_max: u64 = "bytes",
    }
}

base::table! {
    /// What nodes told, in order of time.
    pub struct EventRow<'a> in "events" key [] {
        /// When it happened.
        time_s: Time = "s",
        /// The node that told it; `tester` for one outside the network.
        node: &'a str,
        /// The group of LSPs that it is about, by its place in the description; absent if it is about none.
        lsps: Option<u32>,
        /// The LSP's place in the group, from 0; absent with the group.
        index: Option<u32>,
        /// What happened, under `event`, and what belongs to it.
        event: Fields<&'a Event>,
    }
}

base::table! {
    /// The control processor of each router.
    pub struct ProcessorRow<'a> in "processors" key ["node"] {
        /// The router.
        node: &'a str,
        /// The most messages that ever waited.
        queue_peak: usize = "messages",
        /// How long it has worked.
        busy_s: f64 = "s",
        /// Messages dropped since too many waited.
        queue_drops: u64 = "messages",
    }
}

base::table! {
    /// What is held anywhere: after everything is torn down, nothing.
    pub struct StateRow<'a> in "state" key ["node"]
    of (node: &'a str, router: &Router) from audit: Audit {
        /// The router.
        node: &'a str => node,
        /// State blocks of LSPs.
        lsps: usize = "LSPs",
        /// Sessions (RSVP): tunnels with at least one LSP here.
        sessions: usize = "sessions",
        /// Tunnels that begin here.
        tunnels: usize = "tunnels",
        /// Labels handed out and not given back.
        labels: usize = "labels",
        /// Bandwidth reserved, all ports together.
        reserved_bps: u64 = "bit/s" => audit.reserved.iter().map(|reserved| reserved.1.0).sum(),
        /// Timers that have neither expired nor been taken back.
        timers: usize = "timers",
        /// Entries of the incoming label map.
        ilm: usize = "entries" => router.forwarding().ilm_len(),
        /// Entries of the FTN map, those with a filter included.
        ftn: usize = "entries" => router.forwarding().ftn().count() + router.forwarding().filters().count(),
        /// Table writes and messages that are not done yet.
        waiting: usize => router.backlog().0 + router.backlog().1 + audit.transactions,
    }
}

impl Network {
    /// All LSPs of all head ends, or those of one group.
    pub(super) fn lsp_groups(&self, only: Option<usize>) -> Table {
        let mut table = Rows::new();
        let mut active = base::Map::new();
        let mut labels = base::Map::new();
        let groups =
            || self.lsps.iter().enumerate().filter(|(number, _)| only.is_none_or(|one| one == *number));
        let heads: BTreeSet<usize> = groups().map(|(_, group)| group.spec.from).collect();
        for head in heads {
            let Some(rsvp) = self.protocol::<Rsvp>(head) else { continue };
            for tunnel in rsvp.tunnels() {
                active.insert((head, tunnel.id), tunnel.active);
            }
            for lsp in rsvp.lsps() {
                let tunnel = control::rsvp::command::TunnelId { to: lsp.end_point, id: lsp.tunnel_id };
                labels.insert((head, tunnel, lsp.lsp_id), lsp.out_label);
            }
        }
        for (number, group) in groups() {
            let spec = &group.spec;
            if !self.is_local(spec.from) {
                continue;
            }
            for (index, id) in group.tunnels.iter().enumerate() {
                let known = active.get(&(spec.from, *id)).copied();
                let lsp = known.flatten();
                let state = match (known, lsp) {
                    (Some(_), Some(_)) => "up",
                    (Some(_), None) => "down",
                    (None, _) => "not signalled",
                };
                table.push(LspGroupRow {
                    lsps: number,
                    index,
                    name: if spec.count == 1 {
                        spec.name.clone()
                    } else {
                        format!("{}-{}", spec.name, index + 1)
                    },
                    from: self.node_name(spec.from),
                    to: self.node_name(spec.to),
                    state,
                    lsp,
                    label: lsp.and_then(|lsp| labels.get(&(spec.from, *id, lsp)).copied().flatten()),
                    hops: group.links.as_ref().map(Vec::len),
                });
            }
        }
        table.finish()
    }

    pub(super) fn messages(&self) -> Table {
        let bins = self
            .routers(None)
            .flat_map(|(_, node, router)| router.control().messages().map(move |bin| (node, bin)));
        let row = |(node, (bin, r#type)): (_, (MessageBin, _))| {
            let direction = signals::word(bin.direction);
            MessageRow { node, start_s: bin.start, direction, r#type, count: bin.count }
        };
        bins.map(row).collect()
    }

    pub(super) fn port_table(&self) -> Result<Table, NetworkError> {
        let name = |node| self.node_name(node);
        let all = self.directions()?.into_iter();
        Ok(all.map(|(link, from, to, c)| PortTableRow::of(link, name(from), name(to), c)).collect())
    }

    /// Both directions of the links of nodes that are here: link, sender, receiver, counters.
    pub(super) fn directions(&self) -> Result<Vec<(usize, usize, usize, DirectionCounters)>, NetworkError> {
        let mut found = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            if !link.ends().iter().any(|&node| self.is_local(node)) {
                continue;
            }
            let ends = [(link.spec.a, link.spec.b), (link.spec.b, link.spec.a)];
            let counters = self.world.link_counters(link.id)?;
            found.extend(ends.into_iter().zip(counters).map(|((from, to), c)| (index, from, to, c)));
        }
        Ok(found)
    }

    /// What happened: all of it, or what is asked for.
    pub(super) fn event_table(&mut self, part: &Part) -> Table {
        self.events();
        let mut table = Rows::new();
        // They stand in order of time.
        let place = |time: Time| self.events.partition_point(|record| record.at < time);
        let (from, until) = (part.from.map_or(0, place), part.until.map_or(self.events.len(), place));
        for record in self.events.get(from..until).unwrap_or_default() {
            let is_of_node = part.node.is_none_or(|node| record.node.index() == node);
            if !is_of_node || part.event.as_ref().is_some_and(|name| !name.is_of(&record.event)) {
                continue;
            }
            let known = tunnels::change(&record.event)
                .and_then(|(tunnel, _)| self.by_tunnel.get(&(record.node.0, tunnel)).copied());
            if part.of.is_some_and(|group| known.is_none_or(|(known, _)| known as usize != group)) {
                continue;
            }
            let node = record.node.index();
            table.push(EventRow {
                time_s: record.at,
                node: if node < self.description.nodes.len() { self.node_name(node) } else { "tester" },
                lsps: known.map(|k| k.0),
                index: known.map(|k| k.1),
                event: Fields(&record.event),
            });
        }
        table.finish()
    }

    pub(super) fn processors(&self) -> Table {
        let row = |(_, node, router): (_, _, &Router)| {
            let (queue_peak, busy_s) = router.control().processor_load();
            let queue_drops = router.drops().get(DropReason::ControlQueueFull);
            ProcessorRow { node, queue_peak, busy_s, queue_drops }
        };
        self.routers(None).map(row).collect()
    }

    /// What is left anywhere: after everything is torn down, nothing.
    pub(super) fn state(&self) -> Table {
        let row = |(_, node, router): (_, _, &Router)| {
            let rsvp = router.control().protocol::<Rsvp>()?;
            Some(StateRow::of(node, router, rsvp.audit()))
        };
        self.routers(None).filter_map(row).collect()
    }
}
