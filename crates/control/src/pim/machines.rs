//! The state machines of source-specific trees, as RFC 7761 prints them.

crate::machine! {
    /// Whether a router is on the tree of a sender and a group, towards the sender (RFC 7761, figure 6). It joins while
    /// packets would leave by any of its interfaces. Within the joined state events say when the next Join is sent.
    machine "A router on a source-specific tree";
    /// Is the router on the tree?
    pub enum UpstreamState {
        /// Nobody here wants the packets.
        NotJoined,
        /// The neighbour towards the sender is asked for them again and again.
        Joined,
    }
    /// What changes that, or when the next Join is sent.
    pub enum UpstreamEvent {
        /// Packets would leave by an interface from now on.
        Desired,
        /// They would leave by none any more.
        Undesired,
        /// It is time for the next Join.
        TimerEnds,
        /// Another router on the link has sent the same Join: the own one can wait.
        JoinSeen,
        /// Another router on the link has sent a Prune: it is overridden by a Join soon.
        PruneSeen,
        /// The neighbour towards the sender is another: it is joined, and the old one pruned.
        RpfChanged,
        /// The neighbour towards the sender is another since an Assert said so: a Join follows soon.
        RpfAsserted,
        /// The neighbour towards the sender has restarted: a Join follows soon.
        RpfRestarted,
    }
    begins { NotJoined }
    steps {
        NotJoined: Desired => Joined;
        Joined: Undesired => NotJoined,
            TimerEnds | JoinSeen | PruneSeen | RpfChanged | RpfAsserted | RpfRestarted => Joined;
    }
}

crate::machine! {
    /// What the routers beyond an interface want of a sender and a group (RFC 7761, figure 3). A Prune waits on shared
    /// links until others could have overridden it; packets go on until then.
    machine "An interface of a source-specific tree";
    /// What is wanted beyond the interface.
    pub enum DownstreamState {
        /// Nothing.
        NoInfo,
        /// The packets.
        Join,
        /// Perhaps nothing any more.
        PrunePending,
    }
    /// What is heard on the interface, and timers.
    pub enum DownstreamEvent {
        /// A Join for this router.
        Join,
        /// A Prune for this router.
        Prune,
        /// Nobody has overridden the Prune in time.
        PrunePendingEnds,
        /// No Join has come in time.
        Expires,
    }
    begins { NoInfo }
    steps {
        NoInfo: Join => Join, Prune => NoInfo;
        Join: Join => Join, Prune => PrunePending, Expires => NoInfo;
        PrunePending: Join => Join, Prune => PrunePending, PrunePendingEnds | Expires => NoInfo;
    }
}

crate::machine! {
    /// Which of several routers forwards packets of a sender and a group onto a shared link (RFC 7761, figure 8).
    machine "An election of the router that forwards onto a link";
    /// Who forwards onto the link.
    pub enum AssertState {
        /// Nobody was elected: each router that has been asked.
        NoInfo,
        /// This router.
        Winner,
        /// Another router.
        Loser,
    }
    /// What is heard on the link, timers, and changes that make an election void.
    pub enum AssertEvent {
        /// Packets came by the interface that this router sends them to.
        DataArrives,
        /// An Assert with a worse metric than this router's own.
        InferiorHeard,
        /// An Assert about a tree for all senders: a source-specific tree goes first.
        RptHeard,
        /// An Assert with a better metric than this router's own, from the winner if there is one.
        AcceptableHeard,
        /// An Assert with a better metric than the winner's.
        PreferredHeard,
        /// The winner has a worse metric than this router now, or forwards no more.
        WinnerWorse,
        /// The winner is gone, or has restarted.
        WinnerGone,
        /// The time of the election is over: a winner says again that it is.
        TimerEnds,
        /// This router does not send packets to the interface any more.
        CannotAssert,
        /// It does not matter any more to this router who forwards.
        Untracked,
        /// This router's own metric is better than the winner's now.
        MetricBetter,
        /// The way to the sender leads elsewhere.
        RpfElsewhere,
        /// A router on the link asks this router for the packets.
        JoinHeard,
    }
    begins { NoInfo }
    steps {
        NoInfo: DataArrives | InferiorHeard | RptHeard => Winner, AcceptableHeard => Loser;
        Winner: TimerEnds | InferiorHeard => Winner, PreferredHeard => Loser, CannotAssert => NoInfo;
        Loser: PreferredHeard | AcceptableHeard => Loser,
            WinnerWorse | WinnerGone | TimerEnds | Untracked | MetricBetter | RpfElsewhere | JoinHeard => NoInfo;
    }
}
