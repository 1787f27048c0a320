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
    /// A type of question that is not known.
    BadMultipart = 1, 2, "multipart type not supported";
    /// An experimenter that is not known.
    BadExperimenter = 1, 3, "experimenter not supported";
    /// A message of an experimenter that is not known.
    BadExpType = 1, 4, "experimenter type not supported";
    /// A request that is not allowed.
    RequestEperm = 1, 5, "request not permitted";
    /// A length that messages of this type don't have.
    RequestBadLen = 1, 6, "wrong request length for type";
    /// A buffer that has been used before.
    BufferEmpty = 1, 7, "buffer has already been used";
    /// A buffer that there is not.
    BufferUnknown = 1, 8, "buffer does not exist";
    /// A table that there is not.
    RequestBadTableId = 1, 9, "table in request does not exist";
    /// A change that a slave wants.
    IsSlave = 1, 10, "controller is slave";
    /// A port that there is not.
    RequestBadPort = 1, 11, "port in request does not exist";
    /// A packet that can't be sent.
    BadPacket = 1, 12, "invalid packet in packet-out";
    /// A question of more messages than there is room for.
    MultipartOverflow = 1, 13, "multipart request overflowed its buffer";
    /// A type of action that is not known.
    BadActionType = 2, 0, "unknown action type";
    /// A length that the action does not have.
    BadActionLen = 2, 1, "length problem in actions";
    /// An action of an experimenter that is not known.
    BadActionExperimenter = 2, 2, "unknown experimenter in action";
    /// A type of action that the experimenter does not know.
    BadActionExpType = 2, 3, "unknown experimenter action type";
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
    /// A group that there is not.
    BadOutGroup = 2, 9, "invalid group in action";
    /// An action that packets of this match can't have.
    MatchInconsistent = 2, 10, "action can't apply for this match";
    /// Actions that can't be done in their order.
    UnsupportedOrder = 2, 11, "action order unsupported";
    /// A tag that is not known.
    BadActionTag = 2, 12, "unsupported tag in action";
    /// A field that can't be set.
    BadSetType = 2, 13, "unsupported type in set-field";
    /// A length that the field does not have.
    BadSetLen = 2, 14, "length problem in set-field";
    /// A value that the field can't have.
    BadSetArgument = 2, 15, "bad argument in set-field";
    /// A type of instruction that is not known.
    UnknownInst = 3, 0, "unknown instruction";
    /// An instruction that the table does not have.
    UnsupInst = 3, 1, "unsupported instruction";
    /// A table that can't come next.
    BadInstTableId = 3, 2, "invalid table in instruction";
    /// Metadata that can't be written.
    UnsupMetadata = 3, 3, "unsupported metadata";
    /// A mask of metadata that can't be had.
    UnsupMetadataMask = 3, 4, "unsupported metadata mask";
    /// An instruction of an experimenter that is not known.
    BadInstExperimenter = 3, 5, "unknown experimenter in instruction";
    /// A type of instruction that the experimenter does not know.
    BadInstExpType = 3, 6, "unknown experimenter instruction";
    /// A length that the instruction does not have.
    BadInstLen = 3, 7, "length problem in instructions";
    /// An instruction that is not allowed.
    InstEperm = 3, 8, "instruction not permitted";
    /// A match of another form.
    BadMatchType = 4, 0, "unsupported match type";
    /// A length that the match or a field does not have.
    BadMatchLen = 4, 1, "length problem in match";
    /// A tag that is not known.
    BadMatchTag = 4, 2, "unsupported tag in match";
    /// A mask of an Ethernet address that can't be had.
    BadDlAddrMask = 4, 3, "unsupported Ethernet address mask";
    /// A mask of an IP address that can't be had.
    BadNwAddrMask = 4, 4, "unsupported network address mask";
    /// Fields that can't be masked or left out together.
    BadWildcards = 4, 5, "unsupported combination of wildcards";
    /// A field that is not known.
    BadField = 4, 6, "unsupported field in match";
    /// A value that the field can't have.
    BadValue = 4, 7, "unsupported value in match";
    /// A mask that the field can't have.
    BadMask = 4, 8, "unsupported mask in match";
    /// A field whose prerequisite is not there.
    BadPrereq = 4, 9, "prerequisite not met";
    /// A field that is there twice.
    DupField = 4, 10, "duplicate field";
    /// A match that is not allowed.
    MatchEperm = 4, 11, "match not permitted";
    /// An error that has no number of its own.
    FlowModUnknown = 5, 0, "flow mod failed";
    /// The table is full.
    TableFull = 5, 1, "table is full";
    /// A table that there is not.
    BadTableId = 5, 2, "table does not exist";
    /// An entry overlaps another, and the check was asked for.
    Overlap = 5, 3, "overlapping entry";
    /// A change of entries that is not allowed.
    FlowModEperm = 5, 4, "flow mod not permitted";
    /// A timeout that can't be had.
    BadTimeout = 5, 5, "unsupported timeout";
    /// A command that is not known.
    BadFlowCommand = 5, 6, "unknown flow mod command";
    /// A flag that is not known.
    BadFlowFlags = 5, 7, "unknown flow mod flags";
    /// A group that is there already.
    GroupExists = 6, 0, "group exists";
    /// A group that can't be.
    InvalidGroup = 6, 1, "invalid group";
    /// Weights that can't be had.
    WeightUnsupported = 6, 2, "unequal weights unsupported";
    /// No room for a group.
    OutOfGroups = 6, 3, "group table is full";
    /// No room for a bucket.
    OutOfBuckets = 6, 4, "too many buckets";
    /// Groups that give to groups can't be had.
    ChainingUnsupported = 6, 5, "chaining unsupported";
    /// A port or group that can't be watched.
    WatchUnsupported = 6, 6, "watch unsupported";
    /// Groups that give to each other in a circle.
    Loop = 6, 7, "groups in a loop";
    /// A group that there is not.
    UnknownGroup = 6, 8, "unknown group";
    /// A group that another gives to.
    ChainedGroup = 6, 9, "another group forwards to the group";
    /// A type of group that is not known.
    BadGroupType = 6, 10, "unknown group type";
    /// A command that is not known.
    BadGroupCommand = 6, 11, "unknown group mod command";
    /// A bucket that can't be.
    BadBucket = 6, 12, "error in bucket";
    /// A port or group that can't be watched here.
    BadWatch = 6, 13, "error in watch port or group";
    /// A change of groups that is not allowed.
    GroupModEperm = 6, 14, "group mod not permitted";
    /// A port that there is not.
    BadPort = 7, 0, "port does not exist";
    /// An address that is not that of the port.
    BadHwAddr = 7, 1, "wrong hardware address";
    /// A bit that ports can't have.
    BadPortConfig = 7, 2, "invalid port configuration";
    /// A bit that ports can't offer.
    BadAdvertise = 7, 3, "invalid advertisement";
    /// A change of ports that is not allowed.
    PortModEperm = 7, 4, "port mod not permitted";
    /// A table that there is not, of a TABLE_MOD.
    TableModBadTable = 8, 0, "table of table mod does not exist";
    /// A bit that tables can't have.
    TableModBadConfig = 8, 1, "invalid table configuration";
    /// A change of tables that is not allowed.
    TableModEperm = 8, 2, "table mod not permitted";
    /// A port that there is not, in a question about queues.
    QueueBadPort = 9, 0, "port of queue does not exist";
    /// A queue that there is not.
    BadQueue = 9, 1, "queue does not exist";
    /// A question about queues that is not allowed.
    QueueEperm = 9, 2, "queue operation not permitted";
    /// Flags that a switch can't have.
    ConfigBadFlags = 10, 0, "invalid switch flags";
    /// A length of packets for the controller that can't be had.
    ConfigBadLen = 10, 1, "invalid miss send length";
    /// A change of the switch that is not allowed.
    ConfigEperm = 10, 2, "switch configuration not permitted";
    /// An old generation of masters.
    RoleStale = 11, 0, "stale generation";
    /// Roles can't be changed.
    RoleUnsup = 11, 1, "role change unsupported";
    /// A role that is not known.
    BadRole = 11, 2, "invalid role";
    /// An error that has no number of its own.
    MeterUnknown = 12, 0, "meter mod failed";
    /// A meter that is there already.
    MeterExists = 12, 1, "meter exists";
    /// A meter that can't be.
    InvalidMeter = 12, 2, "invalid meter";
    /// A meter that there is not.
    UnknownMeter = 12, 3, "unknown meter";
    /// A command that is not known.
    BadMeterCommand = 12, 4, "unknown meter mod command";
    /// Flags that meters can't have.
    BadMeterFlags = 12, 5, "unsupported meter flags";
    /// A rate that can't be had.
    BadRate = 12, 6, "unsupported rate";
    /// A burst that can't be had.
    BadBurst = 12, 7, "unsupported burst";
    /// A type of band that is not known.
    BadBand = 12, 8, "unsupported band";
    /// A value that the band can't have.
    BadBandValue = 12, 9, "unsupported band value";
    /// No room for a meter.
    OutOfMeters = 12, 10, "no more meters";
    /// No room for a band.
    OutOfBands = 12, 11, "too many bands";
    /// A table that there is not, among features.
    TableFeaturesBadTable = 13, 0, "table of table features does not exist";
    /// A mask of metadata that tables can't have.
    TableFeaturesBadMetadata = 13, 1, "invalid metadata mask";
    /// A property that is not known.
    TableFeaturesBadType = 13, 2, "unknown table property";
    /// A length that the property does not have.
    TableFeaturesBadLen = 13, 3, "length problem in table properties";
    /// A value that the property can't have.
    TableFeaturesBadArgument = 13, 4, "unsupported property value";
    /// A change of features that is not allowed.
    TableFeaturesEperm = 13, 5, "table features not permitted";
}
