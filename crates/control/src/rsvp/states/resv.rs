//! How far a reservation state block has come.

crate::machine! {
    /// A reservation state block (RSB; RFC 2209, 1) holds bandwidth and a label. The previous hop gets the label only
    /// when the table entry that it stands for is in force. At the head end the entries are those of what the tunnel
    /// carries, and there is no previous hop.
    machine "Reservation state block";
    /// How far a reservation state block has come.
    pub(in crate::rsvp) enum ResvState {
        /// There is no reservation.
        Absent,
        /// Bandwidth is reserved; the table entry is being written.
        Writing,
        /// The entry is in force; the previous hop does not know it.
        Installed,
        /// The entry is in force, and a Resv has told the previous hop the label.
        Announced,
        /// The previous hop has been told a label, and an entry is being written: that of another label, or along
        /// another way.
        Rewriting,
        /// The next hop has changed before the previous hop was told: bandwidth is given back, the label is kept until
        /// a Resv comes along the new way.
        Suspended,
        /// The same, while the previous hop goes on to use the label; what comes with it is discarded (RFC 2205, 3.6).
        Parked,
    }
    /// What happens to a reservation.
    pub(in crate::rsvp) enum ResvEvent {
        /// A Resv, or the egress itself, has reserved bandwidth, for the first time or in another way than before.
        Reserved,
        /// The egress takes another label, whose entry is not there yet.
        Relabelled,
        /// The driver has acknowledged the entry; or the label is a reserved one, which needs none.
        Written,
        /// A Resv has gone to the previous hop.
        Announced,
        /// The previous hop is another one, or a ResvTear has gone to it.
        Unannounced,
        /// The next hop has changed.
        Rerouted,
        /// Torn down, timed out, preempted, refused by the tables, or its path state is gone.
        Released,
    }
    begins { Absent }
    steps {
        Absent: Reserved => Writing, Unannounced => Absent;
        Writing: Reserved | Relabelled | Unannounced => Writing, Written => Installed, Rerouted => Suspended,
            Released => Absent;
        Installed: Reserved | Written | Unannounced => Installed, Relabelled => Writing, Announced => Announced,
            Rerouted => Suspended, Released => Absent;
        Announced: Reserved | Written | Announced => Announced, Relabelled => Rewriting, Unannounced => Installed,
            Rerouted => Parked, Released => Absent;
        Rewriting: Reserved | Relabelled => Rewriting, Written => Announced, Unannounced => Writing,
            Rerouted => Parked, Released => Absent;
        Suspended: Reserved => Writing, Unannounced => Suspended, Released => Absent;
        Parked: Reserved => Rewriting, Unannounced => Suspended, Released => Absent;
    }
}

impl ResvState {
    /// Is the table entry in force?
    pub(in crate::rsvp) const fn is_installed(self) -> bool {
        matches!(self, ResvState::Installed | ResvState::Announced)
    }

    /// Has the previous hop been told a label, which it may use?
    pub(in crate::rsvp) const fn is_announced(self) -> bool {
        matches!(self, ResvState::Announced | ResvState::Rewriting | ResvState::Parked)
    }
}
