//! Numbers of messages and object classes, and what to do with classes that are not known (RFC 2205, 3.10).

use serde::{Deserialize, Serialize};

macro_rules! message_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// Type of a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum MessageType {
            $($(#[$doc])* #[serde(rename = $text)] $name = $number,)*
        }
        impl MessageType {
            /// Every type, in the order of the numbers.
            pub const ALL: &[MessageType] = &[$(MessageType::$name),*];

            /// The type with this number.
            pub const fn of(number: u8) -> Option<MessageType> {
                match number {
                    $($number => Some(MessageType::$name),)*
                    _ => None,
                }
            }
            /// The name as the RFC spells it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MessageType::$name => $text,)*
                }
            }
            /// The number on the wire.
            pub const fn number(self) -> u8 {
                self as u8
            }
        }
    };
}

message_types! {
    /// Announces a sender, and leaves path state on its way to the receiver (RFC 2205, 3.1.3).
    Path = 1, "Path";
    /// Reserves, hop by hop from the receiver to the sender (RFC 2205, 3.1.4).
    Resv = 2, "Resv";
    /// Reports an error of a Path to its sender (RFC 2205, 3.1.7).
    PathErr = 3, "PathErr";
    /// Reports an error of a Resv to its receivers (RFC 2205, 3.1.8).
    ResvErr = 4, "ResvErr";
    /// Deletes path state towards the receiver (RFC 2205, 3.1.5).
    PathTear = 5, "PathTear";
    /// Deletes reservations towards the sender (RFC 2205, 3.1.6).
    ResvTear = 6, "ResvTear";
    /// Confirms a reservation to the receiver that asked (RFC 2205, 3.1.9).
    ResvConf = 7, "ResvConf";
    /// Carries several messages to one neighbour (RFC 2961, 3).
    Bundle = 12, "Bundle";
    /// Carries acknowledgements alone (RFC 2961, 4.4).
    Ack = 13, "Ack";
    /// Refreshes states by their message identifiers (RFC 2961, 5.2).
    Srefresh = 15, "Srefresh";
    /// Asks whether a neighbour lives, or answers (RFC 3209, 5.1).
    Hello = 20, "Hello";
    /// RFC 2747, 4; the number is that of RFC 3097.
    IntegrityChallenge = 25, "Integrity Challenge";
    /// RFC 2747, 4; the number is that of RFC 3097.
    IntegrityResponse = 26, "Integrity Response";
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        $($(#[$doc])* pub const $name: u8 = $number;)*

        /// The name of a class as the RFC spells it.
        pub const fn class_name(class: u8) -> Option<&'static str> {
            match class {
                $($number => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

classes! {
    /// To be ignored by receivers (RFC 2205, A).
    NULL = 0;
    /// The flow, or the LSP tunnel, that a message is about (RFC 2205, A.1).
    SESSION = 1;
    /// Address and interface of the neighbour that sent the message (RFC 2205, A.2).
    RSVP_HOP = 3;
    /// Key, sequence number and digest (RFC 2747, 2.1).
    INTEGRITY = 4;
    /// The refresh period of the sender (RFC 2205, A.4).
    TIME_VALUES = 5;
    /// Code, value and place of an error (RFC 2205, A.5).
    ERROR_SPEC = 6;
    /// Senders to which a wildcard reservation goes (RFC 2205, A.6).
    SCOPE = 7;
    /// How reservations share bandwidth (RFC 2205, A.7).
    STYLE = 8;
    /// RFC 2205, A.8; RFC 2210.
    FLOWSPEC = 9;
    /// A sender to which a reservation applies (RFC 2205, A.9).
    FILTER_SPEC = 10;
    /// The sender of a Path (RFC 2205, A.10).
    SENDER_TEMPLATE = 11;
    /// RFC 2205, A.11; RFC 2210.
    SENDER_TSPEC = 12;
    /// RFC 2205, A.12; RFC 2210.
    ADSPEC = 13;
    /// Contents for policy control, opaque here (RFC 2205, A.13).
    POLICY_DATA = 14;
    /// The receiver that asks for a confirmation (RFC 2205, A.14).
    RESV_CONFIRM = 15;
    /// The label for the packets of an LSP (RFC 3209, 4.1).
    LABEL = 16;
    /// Asks for a label (RFC 3209, 4.2).
    LABEL_REQUEST = 19;
    /// The route that a Path is to take (RFC 3209, 4.3).
    EXPLICIT_ROUTE = 20;
    /// The route that a Path or Resv has taken (RFC 3209, 4.4).
    RECORD_ROUTE = 21;
    /// A sign of life between neighbours (RFC 3209, 5.2).
    HELLO = 22;
    /// Identifies a message (RFC 2961, 4.2).
    MESSAGE_ID = 23;
    /// Acknowledges a message, or asks for it in full (RFC 2961, 4.3).
    MESSAGE_ID_ACK = 24;
    /// Messages whose states a Srefresh refreshes (RFC 2961, 5.1).
    MESSAGE_ID_LIST = 25;
    /// A leaf of a point-to-multipoint LSP (RFC 4875, 19.3).
    S2L_SUB_LSP = 50;
    /// The detour of a protected LSP (RFC 4090, 4.2).
    DETOUR = 63;
    /// The number that an integrity handshake has to return (RFC 2747, 4).
    CHALLENGE = 64;
    /// How the packets of an LSP get their PHB (RFC 3270, 5.2).
    DIFFSERV = 65;
    /// The class-type of a DiffServ-aware tunnel (RFC 4124, 6.2.1).
    CLASSTYPE = 66;
    /// Attributes that every router on the way has to support (RFC 5420, 5).
    LSP_REQUIRED_ATTRIBUTES = 67;
    /// Whom to tell of errors (RFC 3473, 4.2).
    NOTIFY_REQUEST = 195;
    /// What an end of the LSP wants to do with it (RFC 3473, 7.1).
    ADMIN_STATUS = 196;
    /// Attributes of an LSP (RFC 5420, 4).
    LSP_ATTRIBUTES = 197;
    /// RFC 4873; RFC 4875, 19.5.
    SECONDARY_EXPLICIT_ROUTE = 200;
    /// RFC 4873; RFC 4875, 19.6.
    SECONDARY_RECORD_ROUTE = 201;
    /// The protection that an LSP asks for (RFC 4090, 4.1).
    FAST_REROUTE = 205;
    /// Priorities, flags and name of an LSP (RFC 3209, 4.7).
    SESSION_ATTRIBUTE = 207;
}

/// What a node does with an object of a class that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UnknownAction {
    /// Reject the whole message and return error 13, Unknown Object Class.
    Reject,
    /// Ignore the object, neither forwarding it nor sending an error.
    Ignore,
    /// Ignore the object, but forward it, unexamined and unmodified.
    Forward,
}

/// The two high bits of a class number say what to do when it is not known (RFC 2205, 3.10).
pub const fn unknown_action(class: u8) -> UnknownAction {
    match class >> 6 {
        0 | 1 => UnknownAction::Reject,
        2 => UnknownAction::Ignore,
        _ => UnknownAction::Forward,
    }
}

/// Do the typed messages have a field for objects of this class?
pub const fn in_typed_messages(class: u8) -> bool {
    matches!(class, NULL..=SESSION | RSVP_HOP..=LABEL | LABEL_REQUEST..=MESSAGE_ID_LIST | CHALLENGE | DIFFSERV | SESSION_ATTRIBUTE)
}
