//! Every counter that a device, a protocol, a link or a sink keeps and no other table shows.

use super::Network;
use super::error::NetworkError;
use base::device::DropCounters;
use base::table::{Counts, Rows, Table, word};
use control::rsvp::transport::Malformed;
use node::Router;
use wire::rsvp::MessageType;

base::table! {
    /// What became of the frames that each router received: received and fragments together are forwarded, delivered, dropped or waiting.
    pub struct BalanceRow<'a> in "balance" key ["node"] {
        /// The router.
        node: &'a str,
        /// Frames received.
        received: u64 = "frames",
        /// Frames more that came of fragmenting packets.
        fragments: u64 = "frames",
        /// Frames sent on.
        forwarded: u64 = "frames",
        /// Frames that were for the router itself.
        delivered: u64 = "frames",
        /// Frames dropped.
        dropped: u64 = "frames",
        /// The same by reason; reasons that did not occur are left out.
        drops: DropCounters = "frames",
        /// Frames that wait for the Ethernet address of their next hop.
        waiting: u64 = "frames",
        /// Messages that table `signals` has no room for.
        signals_forgotten: u64 = "messages",
    }
}

base::table! {
    /// What RSVP-TE counted at each router.
    pub struct RsvpRow<'a> in "rsvp" key ["node"] {
        /// The router.
        node: &'a str,
        /// Messages sent, by type.
        sent: Counts = "messages",
        /// Messages received, by type.
        received: Counts = "messages",
        /// Messages, or parts of them, that had no effect, by reason.
        discarded: Counts = "messages",
        /// State that timed out.
        expired: u64 = "LSPs",
        /// Reservations preempted here.
        preempted: u64 = "reservations",
        /// ResvConfs that reached this router as the receiver that asked.
        confirmed: u64 = "messages",
        /// Messages that were never acknowledged, however often they were sent.
        unacknowledged: u64 = "messages",
    }
}

base::table! {
    /// PathErr and ResvErr messages of each router by error code and value; of more than 1024 kinds the others count as code 255.
    pub struct RsvpErrorRow<'a> in "rsvp_errors" key ["node", "direction", "code", "value"] {
        /// The router.
        node: &'a str,
        /// `tx` for errors that began here, `rx` for those received.
        direction: &'static str,
        /// Error code (RFC 2205, appendix B).
        code: u8,
        /// Error value.
        value: u16,
        /// What they mean.
        meaning: &'static str,
        /// How many.
        count: u64 = "messages",
    }
}

base::table! {
    /// What the transport of RSVP counted at each router: acknowledgements, bundles, summary refreshes, Hellos, integrity (RFC 2961, 2747).
    pub struct TransportRow<'a> in "rsvp_transport" key ["node"] {
        /// The router.
        node: &'a str,
        /// Datagrams sent.
        datagrams_sent: u64 = "datagrams",
        /// Datagrams received.
        datagrams_received: u64 = "datagrams",
        /// Bytes of RSVP sent.
        bytes_sent: u64 = "bytes",
        /// Bytes of RSVP received.
        bytes_received: u64 = "bytes",
        /// Messages sent, those in Bundles counted one by one.
        messages_sent: u64 = "messages",
        /// Messages received, those in Bundles counted one by one.
        messages_received: u64 = "messages",
        /// Messages sent again for want of an acknowledgement.
        retransmitted: u64 = "messages",
        /// Messages given up after the rapid retry limit.
        given_up: u64 = "messages",
        /// Messages sent without MESSAGE_ID because too many await acknowledgement.
        outstanding_full: u64 = "messages",
        /// Acknowledgements sent.
        acks_sent: u64 = "acknowledgements",
        /// Acknowledgements received.
        acks_received: u64 = "acknowledgements",
        /// Acknowledgements received of what is not awaited.
        acks_unknown: u64 = "acknowledgements",
        /// Acknowledgements not sent because too many wait.
        acks_dropped: u64 = "acknowledgements",
        /// Negative acknowledgements sent.
        nacks_sent: u64 = "acknowledgements",
        /// Negative acknowledgements received.
        nacks_received: u64 = "acknowledgements",
        /// Bundles sent.
        bundles_sent: u64 = "messages",
        /// Bundles received.
        bundles_received: u64 = "messages",
        /// Srefresh messages sent.
        summaries_sent: u64 = "messages",
        /// Srefresh messages received.
        summaries_received: u64 = "messages",
        /// States refreshed by Srefresh messages sent.
        summary_ids_sent: u64 = "states",
        /// States refreshed by Srefresh messages received.
        summary_ids_received: u64 = "states",
        /// Path and Resv messages that repeated what was known, and did no more than refresh.
        repeats: u64 = "messages",
        /// Late copies that were dropped.
        duplicates: u64 = "messages",
        /// Changes of a neighbour's epoch.
        epoch_changes: u64 = "changes",
        /// Hellos sent, both kinds.
        hellos_sent: u64 = "messages",
        /// Hellos received, both kinds.
        hellos_received: u64 = "messages",
        /// Integrity challenges sent.
        challenges_sent: u64 = "messages",
        /// Integrity challenges received.
        challenges_received: u64 = "messages",
        /// Neighbours not remembered because there are too many.
        neighbors_full: u64 = "neighbours",
        /// Messages that could not be emitted: longer than 65,535 bytes.
        unsendable: u64 = "messages",
        /// Messages discarded, by reason; reasons that did not occur are left out.
        malformed: Counts = "messages",
    }
}

base::table! {
    /// What RSVP-TE holds at each router, beyond table `state`: after everything is torn down only neighbours and Hellos.
    pub struct RsvpStateRow<'a> in "rsvp_state" key ["node"] {
        /// The router.
        node: &'a str,
        /// Prefixes mapped to LSPs.
        mappings: usize,
        /// Ports that still list a holder of bandwidth.
        holders: usize,
        /// Batches of table writes that were not acknowledged.
        transactions: usize,
        /// Outputs that were not polled.
        outputs: usize,
        /// Of the transport: neighbours remembered.
        transport_neighbors: usize,
        /// Of the transport: neighbours that Hellos are sent to: each holds a timer.
        transport_hellos: usize,
        /// Of the transport: outgoing handles.
        transport_outgoing: usize,
        /// Of the transport: incoming handles.
        transport_incoming: usize,
        /// Of the transport: identifiers of ours that stand for something.
        transport_identifiers: usize,
        /// Of the transport: copies that await acknowledgement.
        transport_copies: usize,
        /// Of the transport: acknowledgements that wait to be sent.
        transport_acks: usize,
        /// Of the transport: identifiers that wait for a summary refresh.
        transport_summary_ids: usize,
        /// Of the transport: bytes that wait to be bundled.
        transport_bundle_bytes: usize,
        /// Of the transport: datagrams not yet polled.
        transport_datagrams: usize,
        /// Of the transport: timers, without those of Hellos.
        transport_timers: usize,
    }
}

base::table! {
    /// What went through the queue disciplines of each port, conditioner before them included; what each queue did is in `queues`.
    pub struct TreeRow<'a> in "queue_trees" key ["node", "link"] {
        /// The node that sends.
        node: &'a str,
        /// The link, by its place in the description.
        link: usize,
        /// The node at the link's other end.
        neighbor: &'a str,
        /// Packets offered.
        offered_packets: u64 = "packets",
        /// Their bytes, as the tree accounts them.
        offered_bytes: u64 = "bytes",
        /// Packets taken to be sent.
        taken_packets: u64 = "packets",
        /// Their bytes.
        taken_bytes: u64 = "bytes",
        /// Bytes dropped.
        dropped_bytes: u64 = "bytes",
        /// Packets dropped by reason; reasons that did not occur are left out.
        drops: DropCounters = "packets",
    }
}

base::table! {
    /// What each direction of a link counted beyond table `ports`. Sent, queued and duplicated together are received, lost or in flight.
    pub struct DirectionRow<'a> in "directions" key ["link", "from"] {
        /// The link, by its place in the description.
        link: usize,
        /// The node that sends.
        from: &'a str,
        /// The node at the other end.
        to: &'a str,
        /// Frames handed to the port: sent, refused, or still in queue disciplines.
        offered: u64 = "frames",
        /// Frames that the port refused or its queue disciplines dropped; they don't count as sent.
        refused: u64 = "frames",
        /// Frames lost after the port had taken them.
        lost: u64 = "frames",
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

/// The routers of this process, or one of them: name and router.
fn routers(network: &Network, only: Option<usize>) -> impl Iterator<Item = (&str, &Router)> {
    let nodes = network.ids().map(base::NodeId::index).filter(move |n| only.is_none_or(|m| m == *n));
    nodes.filter_map(|node| Some((network.node_name(node), network.router(node)?)))
}

/// Table `balance`.
pub fn balance(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(routers(network, only).map(|(node, router)| {
        let balance = router.balance();
        BalanceRow {
            node,
            received: balance.received,
            fragments: balance.fragments,
            forwarded: balance.forwarded,
            delivered: balance.delivered,
            dropped: balance.dropped.total(),
            drops: balance.dropped,
            waiting: balance.waiting,
            signals_forgotten: router.signals().1,
        }
    }));
    table.finish()
}

/// Table `rsvp`.
pub fn rsvp(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(routers(network, only).map(|(node, router)| {
        let c = router.rsvp().counters();
        let by_type = |count: &dyn Fn(MessageType) -> u64| {
            let kinds = (0..32).filter_map(MessageType::of);
            Counts(kinds.map(|kind| (kind.name().to_string(), count(kind))).collect())
        };
        RsvpRow {
            node,
            sent: by_type(&|kind| c.messages_sent(kind)),
            received: by_type(&|kind| c.messages_received(kind)),
            discarded: Counts(c.discarded().map(|(why, count)| (word(&why), count)).collect()),
            expired: c.expired,
            preempted: c.preempted,
            confirmed: c.confirmed,
            unacknowledged: c.unacknowledged,
        }
    }));
    table.finish()
}

/// Table `rsvp_errors`.
pub fn rsvp_errors(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (node, router) in routers(network, only) {
        let counters = router.rsvp().counters();
        let row = |direction| {
            move |((code, value), meaning, count)| RsvpErrorRow {
                node,
                direction,
                code,
                value,
                meaning,
                count,
            }
        };
        table.extend(counters.errors_sent().map(row("tx")));
        table.extend(counters.errors_received().map(row("rx")));
    }
    table.finish()
}

/// Table `rsvp_transport`.
pub fn transport(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(routers(network, only).map(|(node, router)| {
        let c = router.rsvp().transport_counters();
        TransportRow {
            node,
            datagrams_sent: c.datagrams_sent,
            datagrams_received: c.datagrams_received,
            bytes_sent: c.bytes_sent,
            bytes_received: c.bytes_received,
            messages_sent: c.messages_sent,
            messages_received: c.messages_received,
            retransmitted: c.retransmitted,
            given_up: c.given_up,
            outstanding_full: c.outstanding_full,
            acks_sent: c.acks_sent,
            acks_received: c.acks_received,
            acks_unknown: c.acks_unknown,
            acks_dropped: c.acks_dropped,
            nacks_sent: c.nacks_sent,
            nacks_received: c.nacks_received,
            bundles_sent: c.bundles_sent,
            bundles_received: c.bundles_received,
            summaries_sent: c.summaries_sent,
            summaries_received: c.summaries_received,
            summary_ids_sent: c.summary_ids_sent,
            summary_ids_received: c.summary_ids_received,
            repeats: c.repeats,
            duplicates: c.duplicates,
            epoch_changes: c.epoch_changes,
            hellos_sent: c.hellos_sent,
            hellos_received: c.hellos_received,
            challenges_sent: c.challenges_sent,
            challenges_received: c.challenges_received,
            neighbors_full: c.neighbors_full,
            unsendable: c.unsendable,
            malformed: Counts(Malformed::ALL.map(|why| (word(&why), c.malformed(why))).into()),
        }
    }));
    table.finish()
}

/// Table `rsvp_state`.
pub fn rsvp_state(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(routers(network, only).map(|(node, router)| {
        let audit = router.rsvp().audit();
        RsvpStateRow {
            node,
            mappings: audit.mappings,
            holders: audit.holders,
            transactions: audit.transactions,
            outputs: audit.outputs,
            transport_neighbors: audit.transport.neighbors,
            transport_hellos: audit.transport.hellos,
            transport_outgoing: audit.transport.outgoing,
            transport_incoming: audit.transport.incoming,
            transport_identifiers: audit.transport.identifiers,
            transport_copies: audit.transport.copies,
            transport_acks: audit.transport.acks,
            transport_summary_ids: audit.transport.summary_ids,
            transport_bundle_bytes: audit.transport.bundle_bytes,
            transport_datagrams: audit.transport.datagrams,
            transport_timers: audit.transport.timers,
        }
    }));
    table.finish()
}

/// Table `queue_trees`.
pub fn trees(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    table.extend(network.trees(only).map(|(node, link, tree)| {
        let totals = tree.totals();
        TreeRow {
            node: network.node_name(node),
            link,
            neighbor: network.far_name(node, link),
            offered_packets: totals.offered.packets,
            offered_bytes: totals.offered.bytes,
            taken_packets: totals.taken.packets,
            taken_bytes: totals.taken.bytes,
            dropped_bytes: totals.dropped.bytes,
            drops: totals.dropped.packets.clone(),
        }
    }));
    table.finish()
}

/// Table `directions`.
pub fn directions(network: &Network) -> Result<Table, NetworkError> {
    let mut table = Rows::new();
    table.extend(network.directions()?.into_iter().map(|(link, from, to, c)| DirectionRow {
        link,
        from: network.node_name(from),
        to: network.node_name(to),
        offered: c.offered(),
        refused: c.refused(),
        lost: c.lost(),
        duplicated: c.duplicated,
        queued: c.queued,
        in_flight: c.in_flight,
        waiting_bytes: c.waiting_bytes,
        queue_drops: c.queue_drops,
    }));
    Ok(table.finish())
}
