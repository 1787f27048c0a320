//! How far the one-to-one backup of an LSP has come at its point of local repair.

crate::machine! {
    /// The detour of an LSP that asks for one-to-one backup, at a router on its way that could repair it (RFC 4090,
    /// 3.1 and 6.3).
    machine "Detour";
    /// How far a detour has come.
    pub(in crate::rsvp) enum DetourState {
        /// Nothing leads around what may fail, or the last attempt failed: it is tried again.
        Waiting,
        /// A Path has gone along a way that was found.
        Signalled,
        /// A Resv has come: the LSP can be switched over.
        Ready,
    }
    /// What happens to a detour.
    pub(in crate::rsvp) enum DetourEvent {
        /// A way was found, and a Path sent along it.
        Signalled,
        /// A Resv has come, the first or with another label.
        Reserved,
        /// It was refused, torn down, or not answered in time; or it leads around something else than it should.
        Lost,
    }
    begins { Waiting }
    steps {
        Waiting: Signalled => Signalled, Lost => Waiting;
        Signalled: Reserved => Ready, Lost => Waiting;
        Ready: Reserved => Ready, Lost => Waiting;
    }
}
