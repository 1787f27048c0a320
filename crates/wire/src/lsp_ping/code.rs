//! What became of a request (RFC 8029, 3.1): the numbers of return codes, and their meaning.

/// Who asks says nothing.
pub const NONE: u8 = 0;
/// The request is malformed.
pub const MALFORMED: u8 = 1;
/// A TLV that has to be understood is not.
pub const NOT_UNDERSTOOD: u8 = 2;
/// The router is an egress of the FEC.
pub const EGRESS: u8 = 3;
/// The router has given the FEC no label.
pub const NO_MAPPING: u8 = 4;
/// The mapping in the request is not how it came.
pub const MAPPING_MISMATCH: u8 = 5;
/// The request does not say by which interface it is to come.
pub const UPSTREAM_UNKNOWN: u8 = 6;
/// The label is swapped or taken off.
pub const SWITCHED: u8 = 8;
/// The same, and the interface beyond has no MPLS.
pub const SWITCHED_WITHOUT_MPLS: u8 = 9;
/// The label with which the request came is another than the one that the FEC was given.
pub const OTHER_LABEL: u8 = 10;
/// The label means nothing to the router.
pub const NO_LABEL_ENTRY: u8 = 11;
/// No protocol on the interface would have announced the FEC.
pub const OTHER_PROTOCOL: u8 = 12;
/// The label stack has shrunk to one too early.
pub const SHRUNK: u8 = 13;
/// Each mapping has a code of its own.
pub const SEE_MAPPING: u8 = 14;
/// The label is switched, and stands for another FEC from there on.
pub const FEC_CHANGE: u8 = 15;

/// A return code in words, in front of the depth that it is about.
pub const fn words(code: u8) -> &'static str {
    match code {
        NONE => "no return code",
        MALFORMED => "malformed request",
        NOT_UNDERSTOOD => "a TLV was not understood",
        EGRESS => "egress for the FEC",
        NO_MAPPING => "no mapping for the FEC",
        MAPPING_MISMATCH => "downstream mapping mismatch",
        UPSTREAM_UNKNOWN => "upstream interface index unknown",
        SWITCHED => "label switched",
        SWITCHED_WITHOUT_MPLS => "label switched but no MPLS forwarding",
        OTHER_LABEL => "mapping for the FEC is not the given label",
        NO_LABEL_ENTRY => "no label entry",
        OTHER_PROTOCOL => "protocol not associated with the interface",
        SHRUNK => "premature termination, label stack shrunk to one label",
        SEE_MAPPING => "see the downstream mapping",
        FEC_CHANGE => "label switched with FEC change",
        _ => "unassigned",
    }
}
