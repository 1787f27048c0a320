//! How far parts of a point-to-multipoint LSP have come.

crate::machine! {
    /// Path state of a sub-group of leaves, as a neighbour, or this router as the root, has it (RFC 4875, 4.3).
    machine "Sub-group of a P2MP LSP";
    /// How far a sub-group has come.
    pub(in crate::rsvp) enum SubState {
        /// No leaf of it is reserved, or the previous hop does not know it.
        Waiting,
        /// The previous hop has been told which leaves are reserved, and the label.
        Announced,
        /// It is being given up.
        Gone,
    }
    /// What happens to a sub-group.
    pub(in crate::rsvp) enum SubEvent {
        /// A Resv has gone to the previous hop.
        Announced,
        /// No leaf is reserved any more: a ResvTear has gone to the previous hop.
        Unannounced,
        /// A PathTear, or all leaves are gone from its Path, or are refused.
        Torn,
        /// It was not refreshed in time.
        Expired,
        /// The previous hop can't be reached.
        PreviousHopLost,
    }
    begins { Waiting }
    steps {
        Waiting: Announced => Announced, Unannounced => Waiting, Torn | Expired | PreviousHopLost => Gone;
        Announced: Announced => Announced, Unannounced => Waiting, Torn | Expired | PreviousHopLost => Gone;
    }
}

crate::machine! {
    /// What of a sub-group goes on to one neighbour, and the reservation that comes back.
    machine "Branch of a P2MP LSP";
    /// How far a branch has come.
    pub(in crate::rsvp) enum BranchState {
        /// A Path has gone to the neighbour.
        Signalled,
        /// The neighbour has reserved for one leaf at least.
        Reserved,
        /// It is being given up.
        Gone,
    }
    /// What happens to a branch.
    pub(in crate::rsvp) enum BranchEvent {
        /// A Resv has come.
        Reserved,
        /// A ResvTear has come for all leaves, or the reservation was not refreshed in time.
        Released,
        /// No leaf is left, or the neighbour can't be reached.
        Emptied,
    }
    begins { Signalled }
    steps {
        Signalled: Reserved => Reserved, Released => Signalled, Emptied => Gone;
        Reserved: Reserved => Reserved, Released => Signalled, Emptied => Gone;
    }
}

crate::machine! {
    /// The label by which a previous hop sends packets of a P2MP LSP, and what they are replicated to.
    machine "Label of a P2MP LSP";
    /// How far a label has come.
    pub(in crate::rsvp) enum FeedState {
        /// No label has been given, and the tables have no entry.
        Absent,
        /// Its entry is being written for the first time.
        Writing,
        /// Its entry is in force; changes of branches are written in one step.
        InForce,
    }
    /// What happens to a label.
    pub(in crate::rsvp) enum FeedEvent {
        /// There are other branches than before.
        Fed,
        /// The driver has acknowledged the entry.
        Written,
        /// There are no branches any more.
        Emptied,
    }
    begins { Absent }
    steps {
        Absent: Fed => Writing;
        Writing: Fed => Writing, Written => InForce, Emptied => Absent;
        InForce: Fed | Written => InForce, Emptied => Absent;
    }
}

crate::machine! {
    /// A leaf at the root: its S2L sub-LSP.
    machine "S2L sub-LSP at the root";
    /// How far an S2L sub-LSP has come.
    pub(in crate::rsvp) enum LeafState {
        /// It is not signalled: there is no path, or the last attempt has failed.
        Down,
        /// A Path has gone.
        Signalling,
        /// It is reserved, and packets go to the leaf.
        Up,
    }
    /// What happens to it.
    pub(in crate::rsvp) enum LeafEvent {
        /// A Path goes out.
        Signalled,
        /// A Resv names it.
        Reserved,
        /// An error, a ResvTear, no answer in time, or its way is gone.
        Failed,
        /// The tunnel is changed, and it is taken out to be signalled anew.
        Withdrawn,
    }
    begins { Down }
    steps {
        Down: Signalled => Signalling, Failed | Withdrawn => Down;
        Signalling: Reserved => Up, Failed | Withdrawn => Down;
        Up: Reserved => Up, Failed | Withdrawn => Down;
    }
}

crate::machine! {
    /// An LSP of a P2MP tunnel at its root. One carries the tunnel's traffic; while another is to take its place, there
    /// are two (make before break: RFC 4875, 14.1).
    machine "P2MP LSP at the root";
    /// What an LSP is to its tunnel.
    pub(in crate::rsvp) enum RootState {
        /// It is being signalled beside the one that carries the traffic.
        Making,
        /// What the tunnel carries takes it, as far as its leaves are up.
        Carrying,
        /// Another one carries the traffic; what is on its way has time to arrive.
        Retiring,
    }
    /// What happens to it.
    pub(in crate::rsvp) enum RootEvent {
        /// All leaves that the other LSP reaches are up: the tables are to send the traffic along this one.
        Moved,
        /// The tables are to send the traffic along another one.
        Replaced,
        /// The tables have no room for that: the traffic has stayed here.
        Stayed,
        /// The tables have no room for this one.
        Refused,
    }
    begins { Making, Carrying }
    steps {
        Making: Moved => Carrying;
        Carrying: Replaced => Retiring, Refused => Making;
        Retiring: Stayed => Carrying;
    }
}
