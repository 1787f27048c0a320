//! Conditioners as a user describes them: rules, meters, actions.
//!
//! Rates are bits per second, sizes bytes.

use crate::queue::Accounting;
use crate::queue::classify::Match;
use base::{Phb, Rate};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Rules in order; the first that takes a packet decides on it. A packet that no rule takes passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionerSpec {
    /// What packets count for.
    #[serde(default)]
    pub accounting: Accounting,
    /// Looked at in this order.
    pub rules: Vec<RuleSpec>,
}

/// Which packets, how they are metered, and what becomes of each colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Name, unlike that of any other rule.
    pub name: String,
    /// Packets that the rule takes; all if absent.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// What gives packets their colours; all are green if absent.
    #[serde(default)]
    pub meter: Option<MeterSpec>,
    /// What becomes of green packets.
    #[serde(default)]
    pub green: ActionSpec,
    /// What becomes of yellow packets.
    #[serde(default)]
    pub yellow: ActionSpec,
    /// What becomes of red packets.
    #[serde(default = "drop")]
    pub red: ActionSpec,
}

fn drop() -> ActionSpec {
    ActionSpec::Drop
}

/// A meter. Buckets are full at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MeterSpec {
    /// A token bucket, and a second one for the peak rate if there is one: what finds room in both is green, all else
    /// red.
    TokenBucket {
        /// Rate at which tokens come.
        rate_bps: Rate,
        /// Bytes that the bucket holds.
        burst_bytes: u64,
        /// Rate of the second bucket.
        #[serde(default)]
        peak_bps: Option<Rate>,
        /// Bytes that the second bucket holds; 2047 if absent.
        #[serde(default)]
        mtu_bytes: Option<u64>,
    },
    /// Single-rate three-colour marker (RFC 2697).
    SingleRate {
        /// Committed information rate: tokens of the committed bucket per second.
        cir_bps: Rate,
        /// Committed burst size: depth of the committed bucket; what finds tokens there is green.
        cbs_bytes: u64,
        /// Excess burst size: depth of the excess bucket; what finds tokens only there is yellow.
        ebs_bytes: u64,
        /// Does it look at the colour that a packet has, by its drop precedence?
        #[serde(default)]
        aware: bool,
    },
    /// Two-rate three-colour marker (RFC 2698).
    TwoRate {
        /// Committed information rate: tokens of the committed bucket per second.
        cir_bps: Rate,
        /// Committed burst size: depth of the committed bucket; what finds tokens there is green.
        cbs_bytes: u64,
        /// Peak information rate: at least the committed one; what exceeds it is red.
        pir_bps: Rate,
        /// Peak burst size: depth of the peak bucket.
        pbs_bytes: u64,
        /// Does it look at the colour that a packet has, by its drop precedence?
        #[serde(default)]
        aware: bool,
    },
}

/// What becomes of packets of a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ActionSpec {
    /// They go on as they are.
    #[default]
    Pass,
    /// They are dropped and counted as policed.
    Drop,
    /// They get another PHB: in TC of the outermost label if there is one, else in the code point of the IP
    /// header.
    Remark {
        /// PHB that the packet gets, at this node and beyond it.
        phb: Phb,
        /// Also in the IP header below the labels: then the packet keeps the PHB when its tunnel ends, whatever its
        /// model.
        #[serde(default)]
        below_labels: bool,
        /// TC of the label. If absent the one that means the PHB: before an egress queue in the LSP of the label,
        /// if that has a DiffServ context (RFC 3270, 2.5), else in the node's map of TC values.
        #[serde(default)]
        tc: Option<u8>,
    },
    /// They get a mark, which filters of this node's queues can look at; it does not leave the node.
    Mark {
        /// Any number; filters compare it for equality. Packets that nobody marked have 0.
        mark: u32,
    },
}

/// In a few words, for tables.
impl fmt::Display for ActionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActionSpec::Pass => f.write_str("pass"),
            ActionSpec::Drop => f.write_str("drop"),
            ActionSpec::Remark { phb, below_labels, tc } => {
                write!(f, "remark {phb}")?;
                tc.map_or(Ok(()), |tc| write!(f, " as TC {tc}"))?;
                if *below_labels { f.write_str(", below labels too") } else { Ok(()) }
            }
            ActionSpec::Mark { mark } => write!(f, "mark {mark}"),
        }
    }
}
