//! How far the head end has come with a tunnel.

crate::machine! {
    /// A tunnel at its head end. At most one of its LSPs carries traffic, and at most one is being set up: make before
    /// break (RFC 3209, 2.5).
    machine "Tunnel";
    /// How far a tunnel has come.
    pub(in crate::rsvp) enum TunnelState {
        /// No LSP, and none is being set up: the next attempt waits for its time, or there is none.
        Down,
        /// No LSP carries traffic; one is being signalled.
        Signalling,
        /// No LSP carries traffic; one is reserved, and the tables are being written.
        Mapping,
        /// An LSP carries the traffic.
        Up,
        /// An LSP carries the traffic; another one is being signalled.
        Rerouting,
        /// An LSP carries the traffic; another one is reserved, and the tables are being written.
        Moving,
    }
    /// What happens to a tunnel.
    pub(in crate::rsvp) enum TunnelEvent {
        /// The Path of a new LSP has been sent.
        Signalled,
        /// The new LSP is reserved, or has another label: what the tunnel carries is being mapped to it.
        Mapped,
        /// The tables send the traffic along the new LSP; or the tunnel carries nothing, so nothing is written.
        Moved,
        /// The new LSP is given up: an error, no Resv in time, tables without room, or it is not wanted any more.
        Abandoned,
        /// The LSP that carries traffic is gone, or not wanted any more.
        Dropped,
    }
    begins { Down }
    steps {
        Down: Signalled => Signalling;
        Signalling: Mapped => Mapping, Moved => Up, Abandoned => Down;
        Mapping: Mapped => Mapping, Moved => Up, Abandoned => Down;
        Up: Signalled => Rerouting, Dropped => Down;
        Rerouting: Mapped => Moving, Moved => Up, Abandoned => Up, Dropped => Signalling;
        Moving: Mapped => Moving, Moved => Up, Abandoned => Up, Dropped => Mapping;
    }
}

impl TunnelState {
    /// Does an LSP carry the traffic?
    pub(in crate::rsvp) const fn has_active(self) -> bool {
        matches!(self, TunnelState::Up | TunnelState::Rerouting | TunnelState::Moving)
    }

    /// Is an LSP being set up?
    pub(in crate::rsvp) const fn has_candidate(self) -> bool {
        !matches!(self, TunnelState::Down | TunnelState::Up)
    }

    /// Are the tables being written to send the traffic along the LSP that is being set up?
    pub(in crate::rsvp) const fn is_mapping(self) -> bool {
        matches!(self, TunnelState::Mapping | TunnelState::Moving)
    }
}
