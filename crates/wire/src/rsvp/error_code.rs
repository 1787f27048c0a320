//! Error codes and values of ERROR_SPEC (RFC 2205, B; RFC 2750; RFC 3209, 7.3; RFC 3270, 5.5), each with its words.

use super::class::class_name;

macro_rules! errors {
    ($(
        $(#[$doc:meta])* $code:ident = $number:literal, $words:literal
        $($module:ident { $($(#[$value_doc:meta])* $value:ident = $value_number:literal, $value_words:literal;)* })?;
    )*) => {
        $($(#[$doc])* pub const $code: u8 = $number;)*
        $($(
            #[doc = concat!("Values of [`", stringify!($code), "`].")]
            pub mod $module {
                $($(#[$value_doc])* pub const $value: u16 = $value_number;)*
            }
        )?)*

        /// Every code, and every value that has words of its own.
        #[cfg(test)]
        const ALL: &[(u8, &[u16])] = &[$(($number, &[$($($value_number),*)?])),*];

        /// What a code and a value mean, in the RFC's words.
        pub const fn describe(code: u8, value: u16) -> &'static str {
            match (code, global(code, value)) {
                $(
                    $($(($number, Some($value_number)) => concat!($words, ": ", $value_words),)*)?
                    ($number, _) => $words,
                )*
                _ => UNKNOWN,
            }
        }
    };
}

const UNKNOWN: &str = "unknown error";

errors! {
    /// Confirmation: the ERROR_SPEC of a ResvConf.
    CONFIRMATION = 0, "confirmation";
    /// Admission control failure; of values `ssur cccc cccc cccc` those that are globally defined.
    ADMISSION = 1, "admission control failure" admission {
        /// The delay bound cannot be met.
        DELAY_BOUND = 1, "delay bound cannot be met";
        /// The bandwidth is not available.
        BANDWIDTH = 2, "requested bandwidth unavailable";
        /// The MTU of the FLOWSPEC is larger than the interface's.
        MTU = 3, "MTU in FLOWSPEC larger than interface MTU";
    };
    /// Policy control failure (RFC 2750, the ERR_ list).
    POLICY = 2, "policy control failure" policy {
        /// For information only; the state stays (ERR_INFO).
        INFO = 0, "information reporting";
        /// Warning: the state stays (ERR_WARN).
        WARNING = 1, "warning";
        /// Policy control gives no reason (ERR_UNKNOWN).
        UNKNOWN = 2, "reason unknown";
        /// Policy control refuses, for a reason that it does not give in a code (ERR_REJECT).
        REJECTED = 3, "generic policy rejection";
        /// Quota or accounting violation (ERR_EXCEED).
        EXCEEDED = 4, "quota or accounting violation";
        /// The flow was preempted (ERR_PREEMPT).
        PREEMPTED = 5, "flow was preempted";
        /// A policy installed earlier expired (ERR_EXPIRED).
        EXPIRED = 6, "previously installed policy expired";
    };
    /// No path information for this Resv.
    NO_PATH = 3, "no path information for this Resv";
    /// No sender information for this Resv.
    NO_SENDER = 4, "no sender information for this Resv";
    /// Conflicting reservation style; the value is the option vector of the other.
    CONFLICTING_STYLE = 5, "conflicting reservation style";
    /// The style is none that the node knows.
    UNKNOWN_STYLE = 6, "unknown reservation style";
    /// Sessions to one destination and protocol have both zero and non-zero destination ports.
    CONFLICTING_DEST_PORTS = 7, "conflicting destination ports";
    /// Paths of one session have both zero and non-zero sender ports.
    CONFLICTING_SENDER_PORTS = 8, "conflicting sender ports";
    /// The reservation was preempted by administration.
    SERVICE_PREEMPTED = 12, "service preempted";
    /// Unknown object class; the value is Class-Num and C-Type.
    UNKNOWN_CLASS = 13, "unknown object class";
    /// Unknown object C-Type; the value is Class-Num and C-Type.
    UNKNOWN_C_TYPE = 14, "unknown object C-Type";
    /// Reserved for an application's interface.
    API = 20, "error of an application's interface";
    /// Traffic control error; of values `ssur cccc cccc cccc` those that are globally defined.
    TRAFFIC_CONTROL = 21, "traffic control error" traffic_control {
        /// Two receivers ask for services that do not merge.
        SERVICE_CONFLICT = 1, "service conflict";
        /// The service is not offered.
        SERVICE_UNSUPPORTED = 2, "service unsupported";
        /// A FLOWSPEC has values that are not allowed.
        BAD_FLOWSPEC = 3, "bad FLOWSPEC value";
        /// A SENDER_TSPEC has values that are not allowed.
        BAD_TSPEC = 4, "bad SENDER_TSPEC value";
        /// An ADSPEC has values that are not allowed.
        BAD_ADSPEC = 5, "bad ADSPEC value";
    };
    /// Traffic control failed at the node; the value is the node's own.
    TRAFFIC_CONTROL_SYSTEM = 22, "traffic control system error";
    /// RSVP itself failed at the node; the value is the node's own.
    RSVP_SYSTEM = 23, "RSVP system error";
    /// Routing problem (RFC 3209, 7.3).
    ROUTING = 24, "routing problem" routing {
        /// The EXPLICIT_ROUTE object can't be used.
        BAD_EXPLICIT_ROUTE = 1, "bad EXPLICIT_ROUTE object";
        /// No path leads to the next hop of the route, which is strict (RFC 3209, 4.3.4.1, step 5a).
        BAD_STRICT_NODE = 2, "bad strict node";
        /// No path leads to the next hop of the route, which is loose (RFC 3209, 4.3.4.1, step 5b).
        BAD_LOOSE_NODE = 3, "bad loose node";
        /// The node that got the Path is not part of the first subobject's abstract node (RFC 3209, 4.3.4.1).
        BAD_INITIAL_SUBOBJECT = 4, "bad initial subobject";
        /// No route available toward destination.
        NO_ROUTE = 5, "no route available toward destination";
        /// The label of a Resv can't be used by its receiver.
        UNACCEPTABLE_LABEL = 6, "unacceptable label value";
        /// The recorded route shows that the Path has come round to a node it had passed.
        LOOP = 7, "RRO indicated routing loops";
        /// MPLS being negotiated, but a non-RSVP-capable router stands in the path.
        NON_RSVP_ROUTER = 8, "MPLS being negotiated, but a non-RSVP-capable router stands in the path";
        /// The node has no label left for the LSP.
        LABEL_ALLOCATION = 9, "MPLS label allocation failure";
        /// The receiver does not support the protocol (L3PID) of the LABEL_REQUEST.
        UNSUPPORTED_L3PID = 10, "unsupported L3PID";
        /// The node can't send on to several next hops (RFC 4875, 20.3, as all that follow).
        UNABLE_TO_BRANCH = 23, "unable to branch";
        /// The node can't let all branches fail with one of them, as the LSP asks.
        UNSUPPORTED_LSP_INTEGRITY = 24, "unsupported LSP integrity";
        /// Two branches of the LSP meet at the node.
        RE_MERGE = 25, "P2MP re-merge detected";
        /// Branches that meet at the node differ in what has to be the same.
        RE_MERGE_MISMATCH = 26, "P2MP re-merge parameter mismatch";
        /// The explicit route makes branches meet at the node.
        ERO_RE_MERGE = 27, "ERO resulted in re-merge";
    };
    /// Notify (RFC 3209, 7.3).
    NOTIFY = 25, "notify" notify {
        /// RRO too large for MTU.
        RRO_TOO_LARGE = 1, "RRO too large for MTU";
        /// The recorded route of a Resv no longer fits; the sender should stop recording (RFC 3209, 4.4.3).
        RRO = 2, "RRO notification";
        /// A node has repaired the LSP around a failure.
        LOCALLY_REPAIRED = 3, "tunnel locally repaired";
    };
    /// Diff-Serv error (RFC 3270, 5.5).
    DIFFSERV = 27, "Diff-Serv error" diffserv {
        /// Unexpected DIFFSERV object: not for an LSP tunnel, or without LABEL_REQUEST.
        UNEXPECTED_OBJECT = 1, "unexpected DIFFSERV object";
        /// A map entry has a PHB that the node does not support.
        UNSUPPORTED_PHB = 2, "unsupported PHB";
        /// A signalled mapping of TC to PHB that RFC 3270, 5.3 calls invalid; there TC is called EXP.
        INVALID_MAPPING = 3, "invalid EXP-PHB mapping";
        /// The scheduling class (PSC) of an L-LSP is not supported by the node.
        UNSUPPORTED_PSC = 4, "unsupported PSC";
        /// The node has no room left for the DiffServ context of one more LSP.
        CONTEXT_ALLOCATION = 5, "per-LSP context allocation failure";
    };
}

/// The value without what only says who defined it; nothing if that is an organization or a service.
const fn global(code: u8, value: u16) -> Option<u16> {
    match code {
        // RFC 2205, B: ssur cccc cccc cccc, where ss = 00 is defined globally; u says that the message may be
        // forwarded.
        ADMISSION | TRAFFIC_CONTROL if value & 0xc000 != 0 => None,
        ADMISSION | TRAFFIC_CONTROL => Some(value & 0x0fff),
        _ => Some(value),
    }
}

/// The same with the object that is not known, and with a value that has no words as a number; nothing of a code that
/// is not known.
pub fn words(code: u8, value: u16) -> Option<String> {
    let known = describe(code, value);
    Some(match code {
        _ if known == UNKNOWN => return None,
        UNKNOWN_CLASS | UNKNOWN_C_TYPE => {
            let [class, c_type] = value.to_be_bytes();
            let name = class_name(class).map_or_else(|| class.to_string(), str::to_string);
            format!("{known}: {name} (C-Type {c_type})")
        }
        _ if value == 0 || known.contains(": ") => known.to_string(),
        _ => format!("{known}: value {value}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_value_has_words_of_its_own() {
        let mut said: Vec<String> = Vec::new();
        for (code, values) in ALL {
            assert_ne!(describe(*code, 0xbfff), UNKNOWN, "{code}");
            said.push(describe(*code, 0xbfff).to_string());
            for value in *values {
                let words = words(*code, *value).expect("words");
                assert_eq!(words, describe(*code, *value));
                assert!(words.starts_with(&format!("{}: ", describe(*code, 0xbfff))), "{words}");
                said.push(words);
            }
        }
        let count = said.len();
        assert!(count > 40, "{count}");
        said.sort_unstable();
        said.dedup();
        assert_eq!(said.len(), count);
        assert_eq!((describe(99, 0), words(99, 0)), (UNKNOWN, None));
    }

    #[test]
    fn values_are_named_or_numbered() {
        let said = |code, value| words(code, value).expect("words");
        assert_eq!(said(DIFFSERV, 4), "Diff-Serv error: unsupported PSC");
        assert_eq!(said(DIFFSERV, 9), "Diff-Serv error: value 9");
        assert_eq!(said(RSVP_SYSTEM, 0), "RSVP system error");
        assert_eq!(said(UNKNOWN_CLASS, 0x4102), "unknown object class: DIFFSERV (C-Type 2)");
        assert_eq!(said(UNKNOWN_C_TYPE, 0x0108), "unknown object C-Type: SESSION (C-Type 8)");
        assert_eq!(said(UNKNOWN_CLASS, 0x7d01), "unknown object class: 125 (C-Type 1)");
        // RFC 2205, B: the u bit says nothing of what is wrong; an organization has values of its own.
        assert_eq!(said(ADMISSION, 0x2002), "admission control failure: requested bandwidth unavailable");
        assert_eq!(said(ADMISSION, 0x8002), "admission control failure: value 32770");
    }
}
