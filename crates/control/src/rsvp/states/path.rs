//! How far a path state block has come.

crate::machine! {
    /// A path state block (PSB; RFC 2209, 1) says where the Path of an LSP came from and where it goes. It lives as
    /// long as Paths refresh it.
    machine "Path state block";
    /// How far a path state block has come.
    pub(in crate::rsvp) enum PathState {
        /// A Path has come, and its way on is not chosen yet.
        New,
        /// The LSP begins here: Paths go to the next hop.
        Ingress,
        /// Paths go on to the next hop.
        Transit,
        /// The LSP ends here.
        Egress,
        /// The next hop is gone, and there is no other: the next Path may bring another way.
        Stranded,
        /// The block is given back.
        Gone,
    }
    /// What happens to path state.
    pub(in crate::rsvp) enum PathEvent {
        /// A next hop is chosen, for the first time or in the place of another.
        Forwarded,
        /// The way ends at this router.
        Terminated,
        /// The next hop can't be reached, and the routing table knows no other (RFC 2205, 3.6).
        NextHopLost,
        /// The previous hop can't be reached any more.
        PreviousHopLost,
        /// A PathTear came from the previous hop (RFC 2205, 3.1.5).
        Torn,
        /// No Path came within the lifetime (RFC 2205, 3.7).
        Expired,
        /// The egress has no label for the LSP.
        LabelRefused,
        /// The head end does not want the LSP any more.
        Withdrawn,
    }
    begins { New, Ingress }
    steps {
        New: Forwarded => Transit, Terminated => Egress;
        Ingress: Withdrawn => Gone;
        Transit: Forwarded => Transit, Terminated => Egress, NextHopLost => Stranded,
            PreviousHopLost | Torn | Expired => Gone;
        Egress: Forwarded => Transit, Terminated => Egress, PreviousHopLost | Torn | Expired | LabelRefused => Gone;
        Stranded: Forwarded => Transit, Terminated => Egress, PreviousHopLost | Torn | Expired => Gone;
    }
}
