//! What becomes of the labels that are given for point-to-multipoint LSPs.

use crate::machine;

machine! {
    /// The label that a router gives its upstream LSR for a point-to-multipoint LSP (RFC 6388, 2.4). There is one at a
    /// time; those that were taken back before may still wait for their release.
    machine "A label of a point-to-multipoint LSP";
    /// How far a label is.
    pub enum LabelState {
        /// Its entry is being written, and nobody knows it yet.
        Writing,
        /// The upstream LSR was told it.
        Told,
        /// The upstream LSR has released it unasked: it sends no packets.
        Declined,
        /// It was taken back, its entry is gone, and its release is awaited.
        Withdrawn,
        /// It can be given for something else when its entry is gone.
        Free,
    }
    /// What happens to a label.
    pub enum LabelStep {
        /// Its entry is in force.
        Written,
        /// The tables took no entry for it.
        Failed,
        /// Nobody needs it any more, or another neighbour is the upstream LSR now.
        TakenBack,
        /// The upstream LSR has released it.
        Released,
        /// The upstream LSR asks for it again.
        Requested,
        /// There is no session with the upstream LSR any more.
        PeerLost,
    }
    begins { Writing }
    steps {
        Writing: Written => Told, Failed | TakenBack | PeerLost => Free;
        Told: Released => Declined, Requested => Told, Failed | TakenBack => Withdrawn, PeerLost => Free;
        Declined: Requested => Told, Failed | TakenBack | PeerLost => Free;
        Withdrawn: Released | PeerLost => Free;
    }
}

impl LabelState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            LabelState::Writing => "writing",
            LabelState::Told => "told",
            LabelState::Declined => "declined",
            LabelState::Withdrawn => "withdrawn",
            LabelState::Free => "free",
        }
    }
}
