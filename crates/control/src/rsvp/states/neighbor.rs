//! How far a router has come with a neighbour: by Hellos, and in what the neighbour takes of refresh reduction.

crate::machine! {
    /// Hellos show whether the neighbour is there, and whether it is the same instance as before (RFC 3209, 5.3). Each
    /// side sends its instance and returns the other's.
    machine "Hellos with a neighbour";
    /// How far Hellos with a neighbour have come.
    pub(in crate::rsvp) enum HelloState {
        /// No instance of the neighbour is known.
        Unknown,
        /// Its instance is known, but it has not returned ours.
        Heard,
        /// Both sides return each other's instance.
        Up,
    }
    /// What Hellos, or the lack of them, show.
    pub(in crate::rsvp) enum HelloEvent {
        /// A Hello returns our instance.
        Reflected,
        /// A Hello does not return our instance; a request may return none, or another one a few times in a row.
        NotReflected,
        /// An answer does not return our instance, or requests return another one once too often.
        Mismatched,
        /// A Hello says that its sender has no instance: the field is never to be zero.
        Unidentified,
        /// A Hello comes from another instance than those before: the neighbour has restarted.
        Restarted,
        /// No Hello came in time.
        Silent,
    }
    begins { Unknown }
    steps {
        Unknown: Reflected => Up, NotReflected => Heard, Unidentified => Unknown;
        Heard: Reflected => Up, NotReflected | Restarted => Heard, Unidentified => Unknown;
        Up: Reflected | NotReflected => Up, Restarted => Heard, Mismatched | Silent | Unidentified => Unknown;
    }
}

crate::machine! {
    /// Whether a neighbour takes the messages and objects of RFC 2961. Where refresh reduction is not configured,
    /// nothing happens here.
    machine "Refresh reduction with a neighbour";
    /// What a neighbour takes of refresh reduction.
    pub(in crate::rsvp) enum ReductionState {
        /// Messages as RFC 2205 has them, without MESSAGE_ID.
        Plain,
        /// Identifiers, acknowledgements, Bundles and summaries.
        Capable,
        /// It says that it is capable, or said so, but answered MESSAGE_ID with an error: it gets plain messages from
        /// then on.
        Refusing,
    }
    /// What messages of the neighbour show.
    pub(in crate::rsvp) enum ReductionEvent {
        /// A message has the Refresh-Reduction-Capable bit, or the configuration takes it as set (RFC 2961, 2).
        Offered,
        /// A message lacks that bit.
        NotOffered,
        /// An error says that the class MESSAGE_ID is not known (RFC 2961, 4.8).
        Refused,
    }
    begins { Plain, Capable }
    steps {
        Plain: Offered => Capable, NotOffered => Plain, Refused => Refusing;
        Capable: Offered => Capable, NotOffered => Plain, Refused => Refusing;
        Refusing: Offered | NotOffered | Refused => Refusing;
    }
}
