//! Error codes and values of ERROR_SPEC (RFC 2205, B; RFC 2750; RFC 3209, 7.3; RFC 3270, 5.5).

/// Confirmation: the ERROR_SPEC of a ResvConf.
pub const CONFIRMATION: u8 = 0;
/// Admission control failure.
pub const ADMISSION: u8 = 1;
/// Policy control failure.
pub const POLICY: u8 = 2;
/// No path information for this Resv.
pub const NO_PATH: u8 = 3;
/// No sender information for this Resv.
pub const NO_SENDER: u8 = 4;
/// Conflicting reservation style; the value is the option vector of the other.
pub const CONFLICTING_STYLE: u8 = 5;
/// Unknown reservation style.
pub const UNKNOWN_STYLE: u8 = 6;
/// Conflicting destination ports.
pub const CONFLICTING_DEST_PORTS: u8 = 7;
/// Conflicting sender ports.
pub const CONFLICTING_SENDER_PORTS: u8 = 8;
/// Service preempted.
pub const SERVICE_PREEMPTED: u8 = 12;
/// Unknown object class; the value is Class-Num and C-Type.
pub const UNKNOWN_CLASS: u8 = 13;
/// Unknown object C-Type; the value is Class-Num and C-Type.
pub const UNKNOWN_C_TYPE: u8 = 14;
/// Reserved for an application's interface.
pub const API: u8 = 20;
/// Traffic control error.
pub const TRAFFIC_CONTROL: u8 = 21;
/// Traffic control system error.
pub const TRAFFIC_CONTROL_SYSTEM: u8 = 22;
/// RSVP system error.
pub const RSVP_SYSTEM: u8 = 23;
/// Routing problem (RFC 3209, 7.3).
pub const ROUTING: u8 = 24;
/// Notify (RFC 3209, 7.3).
pub const NOTIFY: u8 = 25;

/// Diff-Serv error (RFC 3270, 5.5).
pub const DIFFSERV: u8 = 27;

/// Values of [`ADMISSION`]: `ssur cccc cccc cccc`, globally defined ones.
pub mod admission {
    /// The delay bound cannot be met.
    pub const DELAY_BOUND: u16 = 1;
    /// The bandwidth is not available.
    pub const BANDWIDTH: u16 = 2;
    /// The MTU of the FLOWSPEC is larger than the interface's.
    pub const MTU: u16 = 3;
}

/// Values of [`POLICY`] (RFC 2750, the ERR_ list).
pub mod policy {
    /// Information reporting (ERR_INFO).
    pub const INFO: u16 = 0;
    /// Warning: the state stays (ERR_WARN).
    pub const WARNING: u16 = 1;
    /// Reason unknown (ERR_UNKNOWN).
    pub const UNKNOWN: u16 = 2;
    /// Generic policy rejection (ERR_REJECT).
    pub const REJECTED: u16 = 3;
    /// Quota or accounting violation (ERR_EXCEED).
    pub const EXCEEDED: u16 = 4;
    /// The flow was preempted (ERR_PREEMPT).
    pub const PREEMPTED: u16 = 5;
    /// A policy installed earlier expired (ERR_EXPIRED).
    pub const EXPIRED: u16 = 6;
}

/// Values of [`TRAFFIC_CONTROL`].
pub mod traffic_control {
    /// Two receivers ask for services that do not merge.
    pub const SERVICE_CONFLICT: u16 = 1;
    /// The service is not offered.
    pub const SERVICE_UNSUPPORTED: u16 = 2;
    /// Bad FLOWSPEC value.
    pub const BAD_FLOWSPEC: u16 = 3;
    /// Bad SENDER_TSPEC value.
    pub const BAD_TSPEC: u16 = 4;
    /// Bad ADSPEC value.
    pub const BAD_ADSPEC: u16 = 5;
}

/// Values of [`ROUTING`] (RFC 3209, 7.3).
pub mod routing {
    /// Bad EXPLICIT_ROUTE object.
    pub const BAD_EXPLICIT_ROUTE: u16 = 1;
    /// Bad strict node.
    pub const BAD_STRICT_NODE: u16 = 2;
    /// Bad loose node.
    pub const BAD_LOOSE_NODE: u16 = 3;
    /// Bad initial subobject.
    pub const BAD_INITIAL_SUBOBJECT: u16 = 4;
    /// No route available toward destination.
    pub const NO_ROUTE: u16 = 5;
    /// Unacceptable label value.
    pub const UNACCEPTABLE_LABEL: u16 = 6;
    /// RRO indicated routing loops.
    pub const LOOP: u16 = 7;
    /// MPLS being negotiated, but a non-RSVP-capable router stands in the path.
    pub const NON_RSVP_ROUTER: u16 = 8;
    /// MPLS label allocation failure.
    pub const LABEL_ALLOCATION: u16 = 9;
    /// Unsupported L3PID.
    pub const UNSUPPORTED_L3PID: u16 = 10;
}

/// Values of [`NOTIFY`] (RFC 3209, 7.3).
pub mod notify {
    /// RRO too large for MTU.
    pub const RRO_TOO_LARGE: u16 = 1;
    /// RRO notification.
    pub const RRO: u16 = 2;
    /// Tunnel locally repaired.
    pub const LOCALLY_REPAIRED: u16 = 3;
}

/// Values of [`DIFFSERV`] (RFC 3270, 5.5).
pub mod diffserv {
    /// Unexpected DIFFSERV object: not for an LSP tunnel, or without LABEL_REQUEST.
    pub const UNEXPECTED_OBJECT: u16 = 1;
    /// Unsupported PHB.
    pub const UNSUPPORTED_PHB: u16 = 2;
    /// Invalid EXP-PHB mapping.
    pub const INVALID_MAPPING: u16 = 3;
    /// Unsupported PSC.
    pub const UNSUPPORTED_PSC: u16 = 4;
    /// Per-LSP context allocation failure.
    pub const CONTEXT_ALLOCATION: u16 = 5;
}

/// What a code and a value mean, in the RFC's words.
pub const fn describe(code: u8, value: u16) -> &'static str {
    match (code, value) {
        (CONFIRMATION, _) => "confirmation",
        (ADMISSION, admission::DELAY_BOUND) => "admission control failure: delay bound cannot be met",
        (ADMISSION, admission::BANDWIDTH) => "admission control failure: requested bandwidth unavailable",
        (ADMISSION, admission::MTU) => "admission control failure: MTU in FLOWSPEC larger than interface MTU",
        (ADMISSION, _) => "admission control failure",
        (POLICY, policy::WARNING) => "policy control failure: warning",
        (POLICY, policy::REJECTED) => "policy control failure: generic policy rejection",
        (POLICY, policy::PREEMPTED) => "policy control failure: flow was preempted",
        (POLICY, _) => "policy control failure",
        (NO_PATH, _) => "no path information for this Resv",
        (NO_SENDER, _) => "no sender information for this Resv",
        (CONFLICTING_STYLE, _) => "conflicting reservation style",
        (UNKNOWN_STYLE, _) => "unknown reservation style",
        (CONFLICTING_DEST_PORTS, _) => "conflicting destination ports",
        (CONFLICTING_SENDER_PORTS, _) => "conflicting sender ports",
        (SERVICE_PREEMPTED, _) => "service preempted",
        (UNKNOWN_CLASS, _) => "unknown object class",
        (UNKNOWN_C_TYPE, _) => "unknown object C-Type",
        (TRAFFIC_CONTROL, traffic_control::SERVICE_CONFLICT) => "traffic control error: service conflict",
        (TRAFFIC_CONTROL, traffic_control::SERVICE_UNSUPPORTED) => {
            "traffic control error: service unsupported"
        }
        (TRAFFIC_CONTROL, traffic_control::BAD_FLOWSPEC) => "traffic control error: bad FLOWSPEC value",
        (TRAFFIC_CONTROL, traffic_control::BAD_TSPEC) => "traffic control error: bad SENDER_TSPEC value",
        (TRAFFIC_CONTROL, traffic_control::BAD_ADSPEC) => "traffic control error: bad ADSPEC value",
        (TRAFFIC_CONTROL, _) => "traffic control error",
        (TRAFFIC_CONTROL_SYSTEM, _) => "traffic control system error",
        (RSVP_SYSTEM, _) => "RSVP system error",
        (ROUTING, routing::BAD_EXPLICIT_ROUTE) => "routing problem: bad EXPLICIT_ROUTE object",
        (ROUTING, routing::BAD_STRICT_NODE) => "routing problem: bad strict node",
        (ROUTING, routing::BAD_LOOSE_NODE) => "routing problem: bad loose node",
        (ROUTING, routing::BAD_INITIAL_SUBOBJECT) => "routing problem: bad initial subobject",
        (ROUTING, routing::NO_ROUTE) => "routing problem: no route available toward destination",
        (ROUTING, routing::UNACCEPTABLE_LABEL) => "routing problem: unacceptable label value",
        (ROUTING, routing::LOOP) => "routing problem: RRO indicated routing loops",
        (ROUTING, routing::NON_RSVP_ROUTER) => {
            "routing problem: MPLS being negotiated, but a non-RSVP-capable router stands in the path"
        }
        (ROUTING, routing::LABEL_ALLOCATION) => "routing problem: MPLS label allocation failure",
        (ROUTING, routing::UNSUPPORTED_L3PID) => "routing problem: unsupported L3PID",
        (ROUTING, _) => "routing problem",
        (NOTIFY, notify::RRO_TOO_LARGE) => "notify: RRO too large for MTU",
        (NOTIFY, notify::RRO) => "notify: RRO notification",
        (NOTIFY, notify::LOCALLY_REPAIRED) => "notify: tunnel locally repaired",
        (NOTIFY, _) => "notify",
        (DIFFSERV, diffserv::UNEXPECTED_OBJECT) => "Diff-Serv error: unexpected DIFFSERV object",
        (DIFFSERV, diffserv::UNSUPPORTED_PHB) => "Diff-Serv error: unsupported PHB",
        (DIFFSERV, diffserv::INVALID_MAPPING) => "Diff-Serv error: invalid EXP-PHB mapping",
        (DIFFSERV, diffserv::UNSUPPORTED_PSC) => "Diff-Serv error: unsupported PSC",
        (DIFFSERV, diffserv::CONTEXT_ALLOCATION) => "Diff-Serv error: per-LSP context allocation failure",
        (DIFFSERV, _) => "Diff-Serv error",
        _ => "unknown error",
    }
}
