//! Queues that drop or mark before they are full: RED, and GRED with a virtual queue per drop precedence.

use base::{PhbSet, Rate};
use serde::{Deserialize, Serialize};

/// The parameters of a RED queue (Floyd and Jacobson 1993; tc-red).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Bytes that may wait, whatever the average is.
    pub limit_bytes: u64,
    /// Average queue, in bytes, at which dropping begins.
    pub min_bytes: u64,
    /// Average queue, in bytes, at which the probability has reached `probability`.
    pub max_bytes: u64,
    /// Average size of packets in bytes: it says how fast the average queue falls while the port is idle.
    pub avpkt_bytes: u32,
    /// Packets that may come at once before the average follows: fixes the weight of the average.
    pub burst_packets: u32,
    /// Greatest probability of an early drop.
    #[serde(default = "red_probability")]
    pub probability: f64,
    /// Rate at which the queue drains when it is idle, for the decay of the average; that of the port if absent.
    #[serde(default)]
    pub bandwidth_bps: Option<Rate>,
    /// Mark packets of ECN-capable transports instead of dropping them (RFC 3168).
    #[serde(default)]
    pub ecn: bool,
    /// With `ecn`, drop beyond `max_bytes` nevertheless.
    #[serde(default)]
    pub hard_drop: bool,
}

fn red_probability() -> f64 {
    0.02
}

/// tc-gred: virtual queues that share one real one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GredSpec {
    /// Bytes that may wait, of all virtual queues together.
    pub limit_bytes: u64,
    /// With RIO (tc's `grio`): a virtual queue's average counts its own packets and those of better priority.
    #[serde(default)]
    pub rio: bool,
    /// Each takes the packets of its PHBs and has thresholds of its own.
    pub queues: Vec<GredQueue>,
    /// Name of the virtual queue for packets that belong to none; they are dropped if absent.
    #[serde(default)]
    pub default: Option<String>,
}

/// A virtual queue of [`GredSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GredQueue {
    /// Name in tables and for `default`; no two virtual queues share one.
    pub name: String,
    /// PHBs whose packets it takes.
    pub phb: PhbSet,
    /// Priority with RIO, 1 is the best.
    #[serde(default = "gred_priority")]
    pub priority: u8,
    /// Thresholds and so on; its `limit_bytes` is the virtual queue's own.
    pub red: RedSpec,
}

fn gred_priority() -> u8 {
    8
}
