//! What RSVP-TE counts and holds, as tables.

use super::p2mp::protected_shown::ProtectedTreeRow;
use super::p2mp::shown::{P2mpLspRow, S2lRow};
use super::protection::detours_shown::DetourRow;
use super::protection::shown::{BypassRow, ProtectedLspRow};
use super::selector_shown::SelectorRow;
use super::shown_paths::LspPathRow;
use super::transport::{self, Malformed};
use super::{Audit, Counters, Rsvp, Unreadable};
use base::table::{Counts, RowsOf, Table, View, word};
use base::{PortId, Time};
use core::net::Ipv4Addr;
use wire::rsvp::MessageType;

/// The tables of RSVP-TE that show nothing else.
pub(super) const VIEWS: &[View] = &[
    View::of::<Rsvp, RsvpRow<'static>>(),
    View::of::<Rsvp, RsvpErrorRow<'static>>(),
    View::of::<Rsvp, RsvpFaultRow<'static>>(),
    View::of::<Rsvp, UnreadableRow<'static>>(),
    View::of::<Rsvp, TransportRow<'static>>(),
    View::of::<Rsvp, RsvpStateRow<'static>>(),
    View::of::<Rsvp, BypassRow<'static>>(),
    View::of::<Rsvp, ProtectedLspRow<'static>>(),
    View::of::<Rsvp, ProtectedTreeRow<'static>>(),
    View::of::<Rsvp, DetourRow<'static>>(),
    View::of::<Rsvp, LspPathRow<'static>>(),
    View::of::<Rsvp, SelectorRow<'static>>(),
    View::of::<Rsvp, P2mpLspRow<'static>>(),
    View::of::<Rsvp, S2lRow<'static>>(),
];

base::table! {
    /// What RSVP-TE counted at each router.
    pub struct RsvpRow<'a> in "rsvp" key ["node"]
    of (node: &'a str) from c: &Counters {
        /// The router.
        node: &'a str => node,
        /// Messages sent, by type.
        sent: Counts = "messages" => by_type(|kind| c.messages_sent(kind)),
        /// Messages received, by type.
        received: Counts = "messages" => by_type(|kind| c.messages_received(kind)),
        /// Messages, or parts of them, that had no effect, by reason.
        discarded: Counts = "messages" => Counts(c.discarded().map(|(why, count)| (word(&why), count)).collect()),
        /// State that timed out.
        expired: u64 = "LSPs",
        /// Reservations preempted here for more urgent ones.
        preempted: u64 = "reservations",
        /// ResvConfs that reached this router as the receiver that asked.
        confirmed: u64 = "messages",
        /// Messages that were never acknowledged, however often they were sent.
        unacknowledged: u64 = "messages",
    }
}

base::table! {
    /// PathErr and ResvErr messages of each router by error code and value; of more than 1024 kinds the others count as
    /// code 255.
    pub struct RsvpErrorRow<'a> in "rsvp_errors" key ["node", "direction", "code", "value"] {
        /// The router.
        node: &'a str,
        /// `tx` for errors that began here, `rx` for those received.
        direction: &'static str,
        /// Error code (RFC 2205, appendix B).
        code: u8,
        /// Error value, which refines the code.
        value: u16,
        /// What code and value mean, in the RFC's words.
        meaning: &'static str,
        /// Messages with this code and value.
        count: u64 = "messages",
    }
}

base::table! {
    /// Invariants of RSVP-TE that did not hold at each router, by kind. There are none unless the program has a fault;
    /// what such a router did is not to be relied on.
    pub struct RsvpFaultRow<'a> in "rsvp_faults" key ["node", "fault"] {
        /// The router.
        node: &'a str,
        /// What did not hold, such as `no-step`: something happened in a state that has no step for it.
        fault: String,
        /// How often.
        count: u64 = "faults",
    }
}

base::table! {
    /// The last 64 RSVP messages that each router discarded because of their bytes, oldest first.
    pub struct UnreadableRow<'a> in "rsvp_unreadable" key [] of (node: &'a str) from m: &Unreadable {
        /// The router.
        node: &'a str => node,
        /// When the message came.
        time_s: Time = "s" => m.at,
        /// The port that it came by.
        port: PortId,
        /// IP source of the message.
        source: Ipv4Addr => m.src,
        /// The check that it did not pass, as in column `malformed` of table `rsvp_transport`.
        reason: String => word(&m.reason),
        /// The layer that found the fault: `rsvp` for the message as a whole, or the class of an object; absent if all
        /// bytes could be read.
        layer: Option<String> => m.error.map(|error| error.layer()),
        /// Byte after the IP header at which the fault is, in a Bundle counted from its beginning.
        byte: Option<usize> => m.error.map(|error| error.offset),
        /// What is wrong there, in words.
        fault: Option<String> => m.error.map(|error| error.reason.to_string()),
    }
}

base::table! {
    /// What the transport of RSVP counted at each router: acknowledgements, bundles, summary refreshes, Hellos,
    /// integrity (RFC 2961, 2747).
    pub struct TransportRow<'a> in "rsvp_transport" key ["node"]
    of (node: &'a str) from c: &transport::Counters {
        /// The router.
        node: &'a str => node,
        /// Datagrams sent; a Bundle is one.
        datagrams_sent: u64 = "datagrams",
        /// Datagrams received; a Bundle is one.
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
        /// MESSAGE_ID_ACK objects sent (RFC 2961, 4.3).
        acks_sent: u64 = "acknowledgements",
        /// MESSAGE_ID_ACK objects received.
        acks_received: u64 = "acknowledgements",
        /// Acknowledgements received of what is not awaited.
        acks_unknown: u64 = "acknowledgements",
        /// Acknowledgements not sent because too many wait.
        acks_dropped: u64 = "acknowledgements",
        /// MESSAGE_ID_NACK objects sent, for summaries of unknown state.
        nacks_sent: u64 = "acknowledgements",
        /// MESSAGE_ID_NACK objects received.
        nacks_received: u64 = "acknowledgements",
        /// Bundle messages sent (RFC 2961, 3).
        bundles_sent: u64 = "messages",
        /// Bundle messages received.
        bundles_received: u64 = "messages",
        /// Srefresh messages sent (RFC 2961, 5).
        summaries_sent: u64 = "messages",
        /// Srefresh messages received from neighbours.
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
        /// Integrity challenges sent (RFC 2747, 4.3).
        challenges_sent: u64 = "messages",
        /// Integrity challenges received from neighbours.
        challenges_received: u64 = "messages",
        /// Neighbours not remembered because there are too many.
        neighbors_full: u64 = "neighbours",
        /// Messages that could not be emitted: longer than 65,535 bytes.
        unsendable: u64 = "messages",
        /// Messages discarded, by reason; reasons that did not occur are left out.
        malformed: Counts = "messages" => Counts(Malformed::ALL.map(|why| (word(&why), c.malformed(why))).into()),
    }
}

base::table! {
    /// What RSVP-TE holds at each router, beyond table `state`: after everything is torn down only neighbours and
    /// Hellos.
    pub struct RsvpStateRow<'a> in "rsvp_state" key ["node"]
    of (node: &'a str) from audit: Audit {
        /// The router.
        node: &'a str => node,
        /// Prefixes mapped to LSPs.
        mappings: usize,
        /// Ports that still list a holder of bandwidth.
        holders: usize,
        /// Batches of table writes that were not acknowledged.
        transactions: usize,
        /// Outputs that were not polled.
        outputs: usize,
        /// Of the transport: neighbours remembered.
        transport_neighbors: usize => audit.transport.neighbors,
        /// Of the transport: neighbours that Hellos are sent to: each holds a timer.
        transport_hellos: usize => audit.transport.hellos,
        /// Of the transport: outgoing handles.
        transport_outgoing: usize => audit.transport.outgoing,
        /// Of the transport: incoming handles.
        transport_incoming: usize => audit.transport.incoming,
        /// Of the transport: identifiers of ours that stand for something.
        transport_identifiers: usize => audit.transport.identifiers,
        /// Of the transport: copies that await acknowledgement.
        transport_copies: usize => audit.transport.copies,
        /// Of the transport: acknowledgements that wait to be sent.
        transport_acks: usize => audit.transport.acks,
        /// Of the transport: identifiers that wait for a summary refresh.
        transport_summary_ids: usize => audit.transport.summary_ids,
        /// Of the transport: bytes that wait to be bundled.
        transport_bundle_bytes: usize => audit.transport.bundle_bytes,
        /// Of the transport: datagrams not yet polled.
        transport_datagrams: usize => audit.transport.datagrams,
        /// Of the transport: timers, without those of Hellos.
        transport_timers: usize => audit.transport.timers,
    }
}

/// Messages by type, of all types that there are.
fn by_type(count: impl Fn(MessageType) -> u64) -> Counts {
    let kinds = (0..32).filter_map(MessageType::of);
    Counts(kinds.map(|kind| (kind.name().to_string(), count(kind))).collect())
}

impl RowsOf<Rsvp> for RsvpRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        to.push(RsvpRow::of(node, rsvp.counters()));
    }
}

impl RowsOf<Rsvp> for RsvpErrorRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let counters = rsvp.counters();
        let sent = counters.errors_sent().map(|error| ("tx", error));
        let received = counters.errors_received().map(|error| ("rx", error));
        for (direction, ((code, value), meaning, count)) in sent.chain(received) {
            to.push(RsvpErrorRow { node, direction, code, value, meaning, count });
        }
    }
}

impl RowsOf<Rsvp> for RsvpFaultRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        for (fault, count) in rsvp.faults().iter() {
            to.push(RsvpFaultRow { node, fault: word(&fault), count });
        }
    }
}

impl RowsOf<Rsvp> for UnreadableRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        rsvp.unreadable().for_each(|message| to.push(UnreadableRow::of(node, message)));
    }
}

impl RowsOf<Rsvp> for TransportRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        to.push(TransportRow::of(node, rsvp.transport_counters()));
    }
}

impl RowsOf<Rsvp> for RsvpStateRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        to.push(RsvpStateRow::of(node, rsvp.audit()));
    }
}
