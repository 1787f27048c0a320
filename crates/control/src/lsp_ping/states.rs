//! What is known of an LSP that is verified.

use crate::machine;
use wire::lsp_ping::code;

machine! {
    /// Replies say where packets of the LSP come out (RFC 8029, 3.1). That none come says something of an LSP that is
    /// watched by these requests alone; where BFD watches it too (RFC 5884, 4) only BFD says whether packets get
    /// through.
    machine "An LSP that is verified";
    /// What the replies so far have shown.
    pub enum Standing {
        /// No reply has said anything about it.
        Unknown,
        /// It ends where it is to end.
        Sound,
        /// Replies came, and do not any more.
        Silent,
        /// It ends somewhere else, or not at all.
        Misled,
    }
    /// What a reply says, or that none comes.
    pub enum Finding {
        /// It ends where it is to end.
        Egress,
        /// It does not.
        Elsewhere,
        /// As many replies in a row are missing as are to be, and nobody else watches the LSP.
        Missing,
        /// The same of an LSP that BFD watches.
        MissingBesideBfd,
    }
    begins { Unknown }
    steps {
        Unknown: Egress => Sound, Elsewhere => Misled, Missing | MissingBesideBfd => Unknown;
        Sound: Egress => Sound, Elsewhere => Misled, Missing => Silent, MissingBesideBfd => Sound;
        Silent: Egress => Sound, Elsewhere => Misled, Missing | MissingBesideBfd => Silent;
        Misled: Egress => Sound, Elsewhere => Misled, Missing => Silent, MissingBesideBfd => Unknown;
    }
}

impl Standing {
    /// As tables have it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Standing::Unknown => "unknown",
            Standing::Sound => "sound",
            Standing::Silent => "silent",
            Standing::Misled => "misled",
        }
    }
}

impl Finding {
    /// What a return code (RFC 8029, 3.1) says of the LSP; nothing if it is about the request or a trace.
    pub(super) const fn of(replied: u8) -> Option<Finding> {
        match replied {
            code::EGRESS => Some(Finding::Egress),
            code::NO_MAPPING
            | code::SWITCHED
            | code::SWITCHED_WITHOUT_MPLS
            | code::OTHER_LABEL
            | code::NO_LABEL_ENTRY
            | code::OTHER_PROTOCOL
            | code::SHRUNK
            | code::FEC_CHANGE => Some(Finding::Elsewhere),
            _ => None,
        }
    }
}
