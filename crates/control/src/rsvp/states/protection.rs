//! How an LSP is protected at its point of local repair.

crate::machine! {
    /// The protection of an LSP by a bypass tunnel or a detour of its own, at a router on its way that could repair it
    /// (RFC 4090, 6).
    machine "Protection";
    /// How an LSP is protected.
    pub(in crate::rsvp) enum ProtectionState {
        /// Nothing protects it, or what does is not up.
        Unprotected,
        /// A bypass is the backup of its entries, or a detour is ready for it.
        Available,
        /// The next hop failed: traffic takes the backup. Paths go through the bypass; a detour has Paths of its own.
        InUse,
        /// The link is back: Paths go there, too, and traffic takes the backup until a Resv comes by the link.
        Reverting,
    }
    /// What happens to the protection of an LSP.
    pub(in crate::rsvp) enum ProtectionEvent {
        /// There is a backup, for the first time or in the place of another.
        Chosen,
        /// The backup is gone, or the LSP is.
        Withdrawn,
        /// The next hop can't be reached any more.
        Failed,
        /// The link to the next hop is back, and has been for long enough.
        Restored,
        /// A Resv came by the link that was back.
        Reverted,
    }
    begins { Unprotected }
    steps {
        Unprotected: Chosen => Available, Withdrawn => Unprotected;
        Available: Chosen => Available, Withdrawn => Unprotected, Failed => InUse;
        InUse: Chosen | Failed => InUse, Withdrawn => Unprotected, Restored => Reverting;
        Reverting: Chosen | Restored => Reverting, Withdrawn => Unprotected, Failed => InUse, Reverted => Available;
    }
}

impl ProtectionState {
    /// Does traffic take the backup?
    pub(in crate::rsvp) const fn is_diverted(self) -> bool {
        matches!(self, ProtectionState::InUse | ProtectionState::Reverting)
    }
}
