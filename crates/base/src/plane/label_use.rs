//! What the tables in force do with a label, as whoever tests them is told.

use super::Leg;

/// What is done with packets that come with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelUse {
    /// There is no entry: they are dropped.
    Unknown,
    /// The label is taken off, and what is below is looked at: the next label, or the packet.
    Below,
    /// They are dropped because an entry says so.
    Discarded,
    /// They leave by one of these ways, or by each, with other labels: those that are put on, the last of them
    /// outermost. A way without labels takes the label off.
    Switched(Vec<Leg>),
    /// They are copied.
    Copied {
        /// The ways by which copies leave, as above.
        legs: Vec<Leg>,
        /// Does one copy end here: is the label taken off, and what is below looked at?
        here: bool,
    },
}
