//! Every counter that a device or a link keeps and no other table shows.

use crate::{Network, NetworkError};
use base::device::DropCounters;
use base::plane::Table as Written;
use base::table::{Rows, Table, word};
use control::rsvp::Rsvp;
use engine::DirectionCounters;
use engine::discipline::Totals;
use node::Router;
use node::router::Balance;

base::table! {
    /// What became of the frames that each router received: received, fragments and copies together are forwarded,
    /// delivered, dropped or waiting.
    pub struct BalanceRow<'a> in "balance" key ["node"]
    of (node: &'a str, router: &Router) from c: Balance {
        /// The router.
        node: &'a str => node,
        /// Frames that came in by any port.
        received: u64 = "frames",
        /// Frames more that came of fragmenting packets.
        fragments: u64 = "frames",
        /// Frames more that came of replicating packets.
        copies: u64 = "frames",
        /// Frames sent on to another node.
        forwarded: u64 = "frames",
        /// Frames that were for the router itself.
        delivered: u64 = "frames",
        /// Frames dropped, for any reason.
        dropped: u64 = "frames" => c.dropped.total(),
        /// The same by reason; reasons that did not occur are left out.
        drops: DropCounters = "frames" => c.dropped,
        /// Frames that wait for the Ethernet address of their next hop.
        waiting: u64 = "frames",
        /// Messages that table `signals` has no room for.
        signals_forgotten: u64 = "messages" => router.control().protocol::<Rsvp>().map_or(0, |rsvp| rsvp.signals().1),
    }
}

base::table! {
    /// What was written to the forwarding plane of each router, by table and result; what did not occur has no row. A
    /// restart begins anew.
    pub struct WriteRow<'a> in "writes" key ["node", "table", "result"] {
        /// The router.
        node: &'a str,
        /// `ports`, `neighbors`, `groups`, `replications`, `ilm`, `ftn`, `filters` or `fib`.
        table: String,
        /// `done`, or why the operation failed, such as `full`, `no-entry` or `refused`.
        result: String,
        /// How many.
        count: u64 = "operations",
    }
}

base::table! {
    /// Packets that reached each router and that nobody there listens to, by reason; reasons that did not occur have no
    /// row. Table `drops` has them as `no-listener`.
    pub struct UnheardRow<'a> in "unheard" key ["node", "reason"] {
        /// The router.
        node: &'a str,
        /// `ip-protocol`, `udp-port`, `tcp-port`: no protocol listens to it; `group`: not if it is sent to a group;
        /// `fragment`: nothing that protocols listen to comes in fragments; `icmp`: it answers nothing that was asked;
        /// `llc`: no protocol listens to the service access point; `ttl`: a TCP segment's time to live is lower than
        /// its connection takes (RFC 5082); `command`: a command to a protocol that the router does not speak, or that
        /// has no such command; `not-spoken`: the protocol does not speak on the port.
        reason: &'static str,
        /// How many.
        count: u64 = "packets",
    }
}

base::table! {
    /// What went through the queue disciplines of each port, conditioner before them included; what each queue did is
    /// in `queues`.
    pub struct TreeRow<'a> in "queue_trees" key ["node", "link"]
    of (node: &'a str, link: usize, neighbor: &'a str) from totals: &Totals {
        /// The node that sends.
        node: &'a str => node,
        /// The link, by its place in the description.
        link: usize => link,
        /// The node at the link's other end.
        neighbor: &'a str => neighbor,
        /// Packets offered, those included that were dropped.
        offered_packets: u64 = "packets" => totals.offered.packets,
        /// Their bytes, as the tree accounts them.
        offered_bytes: u64 = "bytes" => totals.offered.bytes,
        /// Packets taken to be sent.
        taken_packets: u64 = "packets" => totals.taken.packets,
        /// Their bytes, as the tree accounts them.
        taken_bytes: u64 = "bytes" => totals.taken.bytes,
        /// Bytes of the packets dropped.
        dropped_bytes: u64 = "bytes" => totals.dropped.bytes,
        /// Packets dropped by reason; reasons that did not occur are left out.
        drops: DropCounters = "packets" => totals.dropped.packets.clone(),
    }
}

base::table! {
    /// What each direction of a link counted beyond table `ports`. Sent, queued and duplicated together are received,
    /// lost or in flight.
    pub struct DirectionRow<'a> in "directions" key ["link", "from"]
    of (link: usize, from: &'a str, to: &'a str) from c: DirectionCounters {
        /// The link, by its place in the description.
        link: usize => link,
        /// The node that sends.
        from: &'a str => from,
        /// The node at the other end.
        to: &'a str => to,
        /// Frames handed to the port: sent, refused, or still in queue disciplines.
        offered: u64 = "frames" => c.offered(),
        /// Frames that the port refused or its queue disciplines dropped; they don't count as sent.
        refused: u64 = "frames" => c.refused(),
        /// Frames lost after the port had taken them.
        lost: u64 = "frames" => c.lost(),
        /// Copies made by a fault.
        duplicated: u64 = "frames",
        /// Frames that wait in queue disciplines, and don't count as sent yet.
        queued: u64 = "frames",
        /// Frames queued or on their way.
        in_flight: u64 = "frames",
        /// Bytes of frames whose first bit has not left yet.
        waiting_bytes: u64 = "bytes",
        /// Frames that queue disciplines dropped or refused, by reason.
        queue_drops: DropCounters = "frames",
    }
}

pub fn balance(network: &Network, only: Option<usize>) -> Table {
    network.routers(only).map(|(_, node, router)| BalanceRow::of(node, router, router.balance())).collect()
}

pub fn writes(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (_, node, router) in network.routers(only) {
        let written = router.written();
        let done = Written::ALL.iter().map(|table| (*table, written.done[table.index()]));
        table.extend(done.filter(|(_, count)| *count > 0).map(|(table, count)| WriteRow {
            node,
            table: word(&table),
            result: "done".into(),
            count,
        }));
        table.extend(written.failed.iter().map(|((table, error), count)| WriteRow {
            node,
            table: word(table),
            result: word(error),
            count: *count,
        }));
    }
    table.finish()
}

pub fn unheard(network: &Network, only: Option<usize>) -> Table {
    let row = |(_, node, router)| {
        let counts = Router::control(router).unheard().iter();
        counts.map(move |(why, count)| UnheardRow { node, reason: why.word(), count })
    };
    network.routers(only).flat_map(row).collect()
}

pub fn trees(network: &Network, only: Option<usize>) -> Table {
    network
        .trees(only)
        .map(|(node, link, tree)| {
            TreeRow::of(network.node_name(node), link, network.far_name(node, link), tree.totals())
        })
        .collect()
}

pub fn directions(network: &Network) -> Result<Table, NetworkError> {
    let name = |node| network.node_name(node);
    let all = network.directions()?.into_iter();
    Ok(all.map(|(link, from, to, c)| DirectionRow::of(link, name(from), name(to), c)).collect())
}
