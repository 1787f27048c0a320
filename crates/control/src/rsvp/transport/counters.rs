//! What the transport counts, and what it holds.

use super::super::faults::Faults;
use serde::{Deserialize, Serialize};

/// Why a message was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Malformed {
    /// Its bytes are not a message: the wire layer says where and why.
    Parse,
    /// A Bundle without sub-messages, with one that is cut off, or with a Bundle in it (RFC 2961, 3.2).
    Bundle,
    /// The port has keys, and the message has no INTEGRITY object (RFC 2747, 4.2).
    IntegrityMissing,
    /// No valid key has the identifier that the message names.
    KeyUnknown,
    /// The digest is not that of the message.
    Digest,
    /// The sequence number was received before, or is too old (RFC 2747, 4.2).
    Replay,
    /// The sender's sequence number is not known yet; it was challenged (RFC 2747, 4.3).
    Unsynchronised,
    /// The cookie of an Integrity Response is not that of the last challenge.
    Cookie,
    /// A HELLO whose Src_Instance is zero (RFC 3209, 5.2).
    HelloInstance,
}

impl Malformed {
    /// All of them, in the order of [`Counters::malformed`].
    pub const ALL: [Malformed; 9] = [
        Malformed::Parse,
        Malformed::Bundle,
        Malformed::IntegrityMissing,
        Malformed::KeyUnknown,
        Malformed::Digest,
        Malformed::Replay,
        Malformed::Unsynchronised,
        Malformed::Cookie,
        Malformed::HelloInstance,
    ];
}

/// What happened since the transport was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// IP packets of RSVP sent; a Bundle counts as one.
    pub datagrams_sent: u64,
    /// IP packets of RSVP received; a Bundle counts as one.
    pub datagrams_received: u64,
    /// Bytes sent, from the common header on, without IP headers.
    pub bytes_sent: u64,
    /// Bytes received, from the common header on, without IP headers.
    pub bytes_received: u64,
    /// Messages sent, those in Bundles counted one by one.
    pub messages_sent: u64,
    /// Messages received, those in Bundles counted one by one.
    pub messages_received: u64,
    /// Messages sent again for want of an acknowledgement.
    pub retransmitted: u64,
    /// Messages given up after the rapid retry limit.
    pub given_up: u64,
    /// Messages sent without MESSAGE_ID because too many await acknowledgement.
    pub outstanding_full: u64,
    /// MESSAGE_ID_ACK objects sent, in messages of their own or of others.
    pub acks_sent: u64,
    /// MESSAGE_ID_ACK objects received, of messages that were awaited or not.
    pub acks_received: u64,
    /// Acknowledgements received of what is not awaited.
    pub acks_unknown: u64,
    /// Acknowledgements not sent because too many wait.
    pub acks_dropped: u64,
    /// MESSAGE_ID_NACK objects sent: identifiers in a summary that are not known here (RFC 2961, 5.4).
    pub nacks_sent: u64,
    /// MESSAGE_ID_NACK objects received: the neighbour asks for messages in full.
    pub nacks_received: u64,
    /// Bundle messages sent (RFC 2961, 3).
    pub bundles_sent: u64,
    /// Bundle messages received (RFC 2961, 3).
    pub bundles_received: u64,
    /// Srefresh messages sent (RFC 2961, 5.2).
    pub summaries_sent: u64,
    /// Srefresh messages received (RFC 2961, 5.2).
    pub summaries_received: u64,
    /// States refreshed by Srefresh messages sent.
    pub summary_ids_sent: u64,
    /// States refreshed by Srefresh messages received.
    pub summary_ids_received: u64,
    /// Path and Resv messages that repeated what was known, and did no more than refresh.
    pub repeats: u64,
    /// Late copies that were dropped.
    pub duplicates: u64,
    /// Changes of a neighbour's epoch.
    pub epoch_changes: u64,
    /// Hellos sent, both kinds.
    pub hellos_sent: u64,
    /// Hellos received, both kinds.
    pub hellos_received: u64,
    /// Integrity Challenge messages sent: the sequence number of a neighbour is not known yet (RFC 2747, 4.3).
    pub challenges_sent: u64,
    /// Integrity Challenge messages received from neighbours that don't know our sequence number (RFC 2747, 4.3).
    pub challenges_received: u64,
    /// Neighbours not remembered because there are too many.
    pub neighbors_full: u64,
    /// Messages that could not be emitted: longer than 65,535 bytes.
    pub unsendable: u64,
    /// Messages discarded, by [`Malformed`].
    pub malformed: [u64; Malformed::ALL.len()],
    /// Invariants that did not hold.
    pub faults: Faults,
}

impl Counters {
    /// How many messages were discarded for `reason`.
    pub const fn malformed(&self, reason: Malformed) -> u64 {
        self.malformed[reason as usize]
    }
}

/// What the transport holds now. All but the neighbours and the Hellos is zero after everything was forgotten, unbound
/// and acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Neighbours whose epoch, capabilities and acknowledgements are remembered.
    pub neighbors: usize,
    /// Neighbours that Hellos are sent to: each holds a timer.
    pub hellos: usize,
    /// States that this router advertises to neighbours under identifiers of its own.
    pub outgoing: usize,
    /// States of neighbours that are bound to identifiers of theirs.
    pub incoming: usize,
    /// Identifiers of ours that stand for something.
    pub identifiers: usize,
    /// Copies that await acknowledgement.
    pub copies: usize,
    /// Acknowledgements that wait to be sent.
    pub acks: usize,
    /// Identifiers that wait for a summary refresh.
    pub summary_ids: usize,
    /// Bytes that wait to be bundled.
    pub bundle_bytes: usize,
    /// Datagrams not yet polled.
    pub datagrams: usize,
    /// Timers, without those of Hellos.
    pub timers: usize,
}

impl Audit {
    /// Is nothing left but neighbours and their Hellos?
    pub const fn is_empty(&self) -> bool {
        self.outgoing
            + self.incoming
            + self.identifiers
            + self.copies
            + self.acks
            + self.summary_ids
            + self.bundle_bytes
            + self.datagrams
            + self.timers
            == 0
    }
}
