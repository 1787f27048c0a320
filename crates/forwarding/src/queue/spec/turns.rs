//! Disciplines that only say whose turn it is: by priority (prio), in rounds (DRR), in rounds over flows (fq_codel).

use super::{FilterSpec, QueueSpec};
use base::Span;
use serde::{Deserialize, Serialize};

/// Strict priority, as Linux's tc-prio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrioSpec {
    /// Bands, the most urgent first.
    pub classes: Vec<PrioClass>,
    /// Which packets go where; the first that takes a packet wins.
    #[serde(default)]
    pub filters: Vec<FilterSpec>,
    /// Where those go that no filter takes; the last band if absent.
    #[serde(default)]
    pub default: Option<String>,
}

/// A band of [`PrioSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrioClass {
    /// Name by which filters and tables mean it; no two of one discipline share one.
    pub name: String,
    /// What waits in it.
    #[serde(default)]
    pub queue: Box<QueueSpec>,
}

/// tc-drr (Shreedhar and Varghese 1995).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrrSpec {
    /// Turns go round in this order among those with packets that wait.
    pub classes: Vec<DrrClass>,
    /// Which packets go where.
    #[serde(default)]
    pub filters: Vec<FilterSpec>,
    /// Where those go that no filter takes; they are dropped if absent, as in Linux.
    #[serde(default)]
    pub default: Option<String>,
}

/// A class of [`DrrSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrrClass {
    /// Name by which filters and tables mean it; no two of one discipline share one.
    pub name: String,
    /// Bytes of a turn; the longest frame of the port if absent.
    #[serde(default)]
    pub quantum_bytes: Option<u32>,
    /// Queue for its packets; a pfifo if absent.
    #[serde(default)]
    pub queue: Box<QueueSpec>,
}

/// Fair queueing with CoDel, as Linux's tc-fq_codel (RFC 8290).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSpec {
    /// Packets that may wait in all.
    pub limit: u64,
    /// Queues that flows are hashed to.
    pub flows: u32,
    /// Bytes of a turn; the longest frame of the port if absent.
    pub quantum_bytes: Option<u32>,
    /// Time in the queue that is acceptable.
    #[serde(rename = "target_ps")]
    pub target: Span,
    /// For how long it may be exceeded.
    #[serde(rename = "interval_ps")]
    pub interval: Span,
    /// Mark packets of ECN-capable transports instead of dropping them.
    pub ecn: bool,
    /// Mark whatever has waited for longer than this.
    #[serde(rename = "ce_threshold_ps")]
    pub ce_threshold: Option<Span>,
    /// Bytes that may wait in all.
    pub memory_bytes: u64,
}

impl Default for FqCodelSpec {
    /// RFC 8290, 5.2: the defaults of Linux.
    fn default() -> FqCodelSpec {
        FqCodelSpec {
            limit: 10_240,
            flows: 1024,
            quantum_bytes: None,
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            ecn: true,
            ce_threshold: None,
            memory_bytes: 32 << 20,
        }
    }
}
