//! Why a session ends (RFC 4271, 4.5), by code and subcode.

use crate::hex::Hex;

/// A NOTIFICATION (RFC 4271, 4.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Which kind of error.
    pub code: u8,
    /// Which error of that kind; zero if none is defined.
    pub subcode: u8,
    /// More about it, as the error has it.
    pub data: Hex,
}

impl Notification {
    /// Without more about it.
    pub fn new(code: Code) -> Notification {
        Notification::with(code, &[])
    }

    /// With more about it.
    pub fn with(code: Code, data: &[u8]) -> Notification {
        let (number, subcode) = code.numbers();
        Notification { code: number, subcode, data: Hex(data.to_vec()) }
    }

    /// Which of the errors that are known it is.
    pub fn known(&self) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.numbers() == (self.code, self.subcode))
    }

    /// What it says, in words: for an error that is not known, its numbers.
    pub fn words(&self) -> String {
        let known = self.known().map(|code| code.words().to_owned());
        known.unwrap_or_else(|| format!("error {}, subcode {}", self.code, self.subcode))
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $subcode:literal, $words:literal;)*) => {
        /// An error that a NOTIFICATION can be about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])* $name),* }

        impl Code {
            /// All that are known.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// Its code and its subcode.
            pub const fn numbers(self) -> (u8, u8) {
                match self { $(Code::$name => ($code, $subcode)),* }
            }

            /// What it means, in a few words.
            pub const fn words(self) -> &'static str {
                match self { $(Code::$name => $words),* }
            }
        }
    };
}

codes! {
    /// The marker of a header is not all ones (RFC 4271, 6.1).
    NotSynchronized = 1, 1, "connection not synchronized";
    /// A message that is too short, too long, or not as long as its type is (6.1).
    BadLength = 1, 2, "bad message length";
    /// A type that is not known (6.1).
    BadType = 1, 3, "bad message type";
    /// An OPEN with an error that has no number of its own (6.2).
    Open = 2, 0, "OPEN message error";
    /// A version that is not spoken (6.2).
    BadVersion = 2, 1, "unsupported version number";
    /// An AS that was not expected (6.2), or zero (RFC 7607).
    BadPeerAs = 2, 2, "bad peer AS";
    /// An identifier that can't be one (6.2).
    BadIdentifier = 2, 3, "bad BGP identifier";
    /// An optional parameter of an OPEN that is not known (6.2).
    UnsupportedParameter = 2, 4, "unsupported optional parameter";
    /// A hold time of one or two seconds (6.2).
    BadHoldTime = 2, 6, "unacceptable hold time";
    /// A capability without which there is to be no session (RFC 5492, 5).
    UnsupportedCapability = 2, 7, "unsupported capability";
    /// Attributes that can't be told from each other (6.3).
    AttributeList = 3, 1, "malformed attribute list";
    /// A well-known attribute that nobody knows (6.3).
    UnknownWellKnown = 3, 2, "unrecognized well-known attribute";
    /// A mandatory attribute that is not there (6.3).
    MissingWellKnown = 3, 3, "missing well-known attribute";
    /// Flags that an attribute can't have (6.3).
    AttributeFlags = 3, 4, "attribute flags error";
    /// A length that an attribute can't have (6.3).
    AttributeLength = 3, 5, "attribute length error";
    /// An origin that is not defined (6.3).
    InvalidOrigin = 3, 6, "invalid ORIGIN attribute";
    /// A next hop that can't be one (6.3).
    InvalidNextHop = 3, 8, "invalid NEXT_HOP attribute";
    /// An optional attribute that can't be read (6.3).
    OptionalAttribute = 3, 9, "optional attribute error";
    /// Destinations that can't be read (6.3).
    InvalidNetwork = 3, 10, "invalid network field";
    /// An AS path that can't be read (6.3).
    MalformedAsPath = 3, 11, "malformed AS_PATH";
    /// Nothing has come for as long as both had agreed on (6.5).
    HoldTimerExpired = 4, 0, "hold timer expired";
    /// A message that the state of the session does not expect (6.6).
    StateMachine = 5, 0, "finite state machine error";
    /// The session is not wanted any more (6.7).
    Cease = 6, 0, "cease";
    /// More prefixes than the receiver takes (RFC 4486, 4).
    TooManyPrefixes = 6, 1, "maximum number of prefixes reached";
    /// Somebody has shut the session down (RFC 4486, 4).
    Shutdown = 6, 2, "administrative shutdown";
    /// The neighbour is not set up any more (RFC 4486, 4).
    Deconfigured = 6, 3, "peer de-configured";
    /// Somebody has reset the session (RFC 4486, 4).
    Reset = 6, 4, "administrative reset";
    /// The connection is refused (RFC 4486, 4).
    Rejected = 6, 5, "connection rejected";
    /// Settings have changed (RFC 4486, 4).
    ConfigurationChange = 6, 6, "other configuration change";
    /// Both ends had begun a connection, and the other one stays (RFC 4486, 4).
    Collision = 6, 7, "connection collision resolution";
    /// There is not enough of something (RFC 4486, 4).
    OutOfResources = 6, 8, "out of resources";
}
