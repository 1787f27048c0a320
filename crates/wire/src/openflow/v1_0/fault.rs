//! Errors, by type and code.

use crate::openflow::macros::faults;

faults! {
    /// No version that both speak.
    Incompatible = 0, 0, "no compatible version";
    /// The connection is not allowed.
    HelloEperm = 0, 1, "hello not permitted";
    /// A version in the header that is not the one agreed on.
    BadVersion = 1, 0, "version not supported";
    /// A type of message that is not known.
    BadType = 1, 1, "message type not supported";
    /// A type of statistics that is not known.
    BadStat = 1, 2, "statistics type not supported";
    /// A vendor that is not known.
    BadVendor = 1, 3, "vendor not supported";
    /// A message of a vendor that is not known.
    BadSubtype = 1, 4, "vendor subtype not supported";
    /// A request that is not allowed.
    RequestEperm = 1, 5, "request not permitted";
    /// A length that messages of this type don't have.
    BadLen = 1, 6, "wrong request length for type";
    /// A buffer that has been used before.
    BufferEmpty = 1, 7, "buffer has already been used";
    /// A buffer that there is not.
    BufferUnknown = 1, 8, "buffer does not exist";
    /// A type of action that is not known.
    BadActionType = 2, 0, "unknown action type";
    /// A length that the action does not have.
    BadActionLen = 2, 1, "length problem in actions";
    /// An action of a vendor that is not known.
    BadActionVendor = 2, 2, "unknown vendor in action";
    /// A type of action that the vendor does not know.
    BadActionVendorType = 2, 3, "unknown vendor action type";
    /// A port that can't be sent to.
    BadOutPort = 2, 4, "problem validating output action";
    /// A value that the action can't have.
    BadArgument = 2, 5, "bad action argument";
    /// An action that is not allowed.
    ActionEperm = 2, 6, "action not permitted";
    /// More actions than can be done.
    TooMany = 2, 7, "too many actions";
    /// A queue that there is not.
    BadActionQueue = 2, 8, "problem validating output queue";
    /// All tables are full.
    AllTablesFull = 3, 0, "tables are full";
    /// An entry overlaps another, and the check was asked for.
    Overlap = 3, 1, "overlapping entry";
    /// A change of entries that is not allowed.
    FlowModEperm = 3, 2, "flow mod not permitted";
    /// An emergency entry with a timeout.
    BadEmergTimeout = 3, 3, "emergency entry with a timeout";
    /// A command that is not known.
    BadCommand = 3, 4, "unknown command";
    /// Actions that can't be done in their order.
    Unsupported = 3, 5, "unsupported action list";
    /// A port that there is not.
    BadPort = 4, 0, "port does not exist";
    /// An address that is not that of the port.
    BadHwAddr = 4, 1, "wrong hardware address";
    /// A port that there is not, in a question about queues.
    QueueBadPort = 5, 0, "port of queue does not exist";
    /// A queue that there is not.
    BadQueue = 5, 1, "queue does not exist";
    /// A question about queues that is not allowed.
    QueueEperm = 5, 2, "queue operation not permitted";
}
