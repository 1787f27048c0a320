//! Which of the LSPs of a session the end of a tunnel takes packets of.

crate::machine! {
    /// The selector at the end of a tunnel whose LSPs carry the same packets (1+1). One of them is the working LSP: the
    /// first, and after its end the next that comes. Each of the others protects it.
    machine "Selector of a tunnel";
    /// Where the selector of a tunnel stands.
    pub(in crate::rsvp) enum SelectorState {
        /// No LSP has come.
        Idle,
        /// It takes the packets of the working LSP.
        Working,
        /// It takes those of another.
        Protecting,
        /// It takes those of another, and the working LSP could be taken again: that is so for shorter than the wait to
        /// restore.
        Restoring,
    }
    /// What happens to the selector of a tunnel.
    pub(in crate::rsvp) enum SelectorEvent {
        /// The working LSP is selected: it is the first, the other one has failed, the wait to restore is over, or the
        /// one that is selected has become the working LSP.
        SelectedWorking,
        /// Another LSP is selected: the one that was has failed.
        SelectedOther,
        /// The working LSP can be taken again, and is to be after a while.
        Mended,
        /// The working LSP has failed, or is gone, while another is selected.
        Failed,
        /// The last LSP has gone.
        Emptied,
    }
    begins { Idle }
    steps {
        Idle: SelectedWorking => Working;
        Working: SelectedWorking => Working, SelectedOther => Protecting, Emptied => Idle;
        Protecting: SelectedWorking => Working, SelectedOther => Protecting, Mended => Restoring, Emptied => Idle;
        Restoring: SelectedWorking => Working, Failed => Protecting, Emptied => Idle;
    }
}
