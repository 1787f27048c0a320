//! What a Notification says (RFC 5036, 3.9).

macro_rules! statuses {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal, $fatal:literal, $words:literal;)*) => {
        /// A status code of RFC 5036, 3.9, without the bit that asks to pass it on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Status { $($(#[doc = $doc])* $name),* }

        impl Status {
            /// All that there are.
            pub const ALL: &'static [Status] = &[$(Status::$name),*];

            /// Its number, the 30 bits of status data.
            pub const fn number(self) -> u32 {
                match self { $(Status::$name => $number),* }
            }

            /// Does it end the session?
            pub const fn is_fatal(self) -> bool {
                match self { $(Status::$name => $fatal),* }
            }

            /// Its name in the RFC.
            pub const fn words(self) -> &'static str {
                match self { $(Status::$name => $words),* }
            }
        }
    };
}

statuses! {
    /// Nothing is wrong.
    Success = 0x00, false, "Success";
    /// A PDU of somebody else than the peer of the session (3.5.1.2.1).
    BadLdpIdentifier = 0x01, true, "Bad LDP Identifier";
    /// A version that is not spoken.
    BadProtocolVersion = 0x02, true, "Bad Protocol Version";
    /// A PDU that is too short or too long.
    BadPduLength = 0x03, true, "Bad PDU Length";
    /// A message that nobody knows and nobody may leave out.
    UnknownMessageType = 0x04, false, "Unknown Message Type";
    /// A message that ends behind its PDU, or is too short.
    BadMessageLength = 0x05, true, "Bad Message Length";
    /// A parameter that nobody knows and nobody may leave out (3.5.1.2.2).
    UnknownTlv = 0x06, false, "Unknown TLV";
    /// A parameter that ends behind its message.
    BadTlvLength = 0x07, true, "Bad TLV Length";
    /// A parameter whose value makes no sense.
    MalformedTlvValue = 0x08, true, "Malformed TLV Value";
    /// No Hello came in time (2.5.5).
    HoldTimerExpired = 0x09, true, "Hold Timer Expired";
    /// One end wants no session any more (3.5.1.2.4).
    Shutdown = 0x0a, true, "Shutdown";
    /// A message went in a circle (2.8).
    LoopDetected = 0x0b, false, "Loop Detected";
    /// An element of an FEC that nobody knows (3.4.1.1).
    UnknownFec = 0x0c, false, "Unknown FEC";
    /// There is no route to what was asked for (3.5.8.1).
    NoRoute = 0x0d, false, "No Route";
    /// There is no label left.
    NoLabelResources = 0x0e, false, "No Label Resources";
    /// There are labels again.
    LabelResourcesAvailable = 0x0f, false, "Label Resources / Available";
    /// A session with somebody who sends no Hellos (2.5.3).
    RejectedNoHello = 0x10, true, "Session Rejected/No Hello";
    /// No agreement on who asks for labels (3.5.3).
    RejectedAdvertisementMode = 0x11, true, "Session Rejected/Parameters Advertisement Mode";
    /// No agreement on the longest PDU (3.5.3).
    RejectedMaxPduLength = 0x12, true, "Session Rejected/Parameters Max PDU Length";
    /// No label that both have (3.5.3).
    RejectedLabelRange = 0x13, true, "Session Rejected/Parameters Label Range";
    /// Nothing came in time (3.5.1.2.3).
    KeepAliveTimerExpired = 0x14, true, "KeepAlive Timer Expired";
    /// A request was taken back (3.5.9.1).
    LabelRequestAborted = 0x15, false, "Label Request Aborted";
    /// A message lacks a parameter.
    MissingMessageParameters = 0x16, false, "Missing Message Parameters";
    /// Addresses of a family that is not spoken (3.4.1.1).
    UnsupportedAddressFamily = 0x17, false, "Unsupported Address Family";
    /// A KeepAlive time of zero (3.5.3).
    RejectedBadKeepAliveTime = 0x18, true, "Session Rejected/Bad KeepAlive Time";
    /// Something is wrong at one end (3.5.1.2.7).
    InternalError = 0x19, true, "Internal Error";
    /// A capability that the other end cannot do without (RFC 5561, 8).
    UnsupportedCapability = 0x2e, false, "Unsupported Capability";
    /// All labels of a kind of FECs have been told (RFC 5919, 4).
    EndOfLib = 0x2f, false, "End-of-LIB";
}

/// The bit of a status code that ends the session (3.4.6).
pub const FATAL: u32 = 1 << 31;
/// The bit of a status code that asks to pass the notification on (3.4.6).
pub const FORWARD: u32 = 1 << 30;

impl Status {
    /// The status of a code, whose upper two bits do not count.
    pub fn of(code: u32) -> Option<Status> {
        let number = code & !(FATAL | FORWARD);
        Status::ALL.iter().copied().find(|status| status.number() == number)
    }

    /// The code as it is sent.
    pub const fn code(self) -> u32 {
        if self.is_fatal() { self.number() | FATAL } else { self.number() }
    }
}
