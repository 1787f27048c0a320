//! How far a head end has come with the standby of a tunnel.

crate::machine! {
    /// The standby of a tunnel: an LSP that is set up beside the one that carries traffic, along a path that is
    /// disjoint from that one's, and carries nothing.
    machine "Standby LSP of a tunnel";
    /// How far the standby of a tunnel has come.
    pub(in crate::rsvp) enum StandbyState {
        /// There is none, or no path for one; or none is wanted.
        Absent,
        /// Its Path has been sent.
        Signalling,
        /// It is reserved, and can take the traffic at once.
        Ready,
    }
    /// What happens to the standby of a tunnel.
    pub(in crate::rsvp) enum StandbyEvent {
        /// Its Path has been sent.
        Signalled,
        /// A Resv has come, for the first time or with another label.
        Reserved,
        /// It is given up: an error, no Resv in time, torn down.
        Failed,
        /// It is not wanted any more, or not disjoint any more.
        Withdrawn,
        /// It becomes the LSP to which the traffic moves.
        Promoted,
    }
    begins { Absent }
    steps {
        Absent: Signalled => Signalling;
        Signalling: Reserved => Ready, Failed | Withdrawn | Promoted => Absent;
        Ready: Reserved => Ready, Failed | Withdrawn | Promoted => Absent;
    }
}
