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
    /// RFC 2205, 3.1.3.
    Path = 1, "Path";
    /// RFC 2205, 3.1.4.
    Resv = 2, "Resv";
    /// RFC 2205, 3.1.7.
    PathErr = 3, "PathErr";
    /// RFC 2205, 3.1.8.
    ResvErr = 4, "ResvErr";
    /// RFC 2205, 3.1.5.
    PathTear = 5, "PathTear";
    /// RFC 2205, 3.1.6.
    ResvTear = 6, "ResvTear";
    /// RFC 2205, 3.1.9.
    ResvConf = 7, "ResvConf";
    /// RFC 2961, 3.
    Bundle = 12, "Bundle";
    /// RFC 2961, 4.4.
    Ack = 13, "Ack";
    /// RFC 2961, 5.2.
    Srefresh = 15, "Srefresh";
    /// RFC 3209, 5.1.
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
    /// RFC 2205, A.
    NULL = 0;
    /// RFC 2205, A.1.
    SESSION = 1;
    /// RFC 2205, A.2.
    RSVP_HOP = 3;
    /// RFC 2747, 2.1.
    INTEGRITY = 4;
    /// RFC 2205, A.4.
    TIME_VALUES = 5;
    /// RFC 2205, A.5.
    ERROR_SPEC = 6;
    /// RFC 2205, A.6.
    SCOPE = 7;
    /// RFC 2205, A.7.
    STYLE = 8;
    /// RFC 2205, A.8; RFC 2210.
    FLOWSPEC = 9;
    /// RFC 2205, A.9.
    FILTER_SPEC = 10;
    /// RFC 2205, A.10.
    SENDER_TEMPLATE = 11;
    /// RFC 2205, A.11; RFC 2210.
    SENDER_TSPEC = 12;
    /// RFC 2205, A.12; RFC 2210.
    ADSPEC = 13;
    /// RFC 2205, A.13.
    POLICY_DATA = 14;
    /// RFC 2205, A.14.
    RESV_CONFIRM = 15;
    /// RFC 3209, 4.1.
    LABEL = 16;
    /// RFC 3209, 4.2.
    LABEL_REQUEST = 19;
    /// RFC 3209, 4.3.
    EXPLICIT_ROUTE = 20;
    /// RFC 3209, 4.4.
    RECORD_ROUTE = 21;
    /// RFC 3209, 5.2.
    HELLO = 22;
    /// RFC 2961, 4.2.
    MESSAGE_ID = 23;
    /// RFC 2961, 4.3.
    MESSAGE_ID_ACK = 24;
    /// RFC 2961, 5.1.
    MESSAGE_ID_LIST = 25;
    /// RFC 4875, 19.3.
    S2L_SUB_LSP = 50;
    /// RFC 4090, 4.2.
    DETOUR = 63;
    /// RFC 2747, 4.
    CHALLENGE = 64;
    /// RFC 3270, 5.2.
    DIFFSERV = 65;
    /// RFC 4873; RFC 4875, 19.5.
    SECONDARY_EXPLICIT_ROUTE = 200;
    /// RFC 4873; RFC 4875, 19.6.
    SECONDARY_RECORD_ROUTE = 201;
    /// RFC 4090, 4.1.
    FAST_REROUTE = 205;
    /// RFC 3209, 4.7.
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
