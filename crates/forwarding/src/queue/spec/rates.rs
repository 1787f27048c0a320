//! Disciplines that hold what they send to rates: tbf, and the link-sharing hierarchies HTB and CBQ.

use super::{FilterSpec, QueueSpec};
use base::{Rate, Span};
use serde::{Deserialize, Serialize};

/// Token-bucket filter, as Linux's tc-tbf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TbfSpec {
    /// Rate at which tokens come.
    pub rate_bps: Rate,
    /// Bytes that the bucket holds.
    pub burst_bytes: u64,
    /// Bytes that may wait; not together with `queue`.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
    /// Rate of a second bucket that limits bursts.
    #[serde(default)]
    pub peak_bps: Option<Rate>,
    /// Bytes that the second bucket holds (tc's `minburst`/`mtu`).
    #[serde(default)]
    pub peak_burst_bytes: Option<u64>,
    /// What waits; a bfifo of `limit_bytes` if absent.
    #[serde(default)]
    pub queue: Option<Box<QueueSpec>>,
}

/// tc-cbq (Linux 2.2 to 6.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbqSpec {
    /// What the device under it really does; that of the port if absent.
    #[serde(default)]
    pub bandwidth_bps: Option<Rate>,
    /// Average size of packets in bytes: idle times are counted in packets of this size.
    pub avpkt_bytes: u32,
    /// Least size that a packet counts for when times are computed.
    #[serde(default)]
    pub mpu_bytes: u32,
    /// log2 of the length of the average of idle times.
    #[serde(default = "cbq_ewma_log")]
    pub ewma_log: u8,
    /// Bytes of a round, by default for classes.
    #[serde(default = "cbq_allot")]
    pub allot_bytes: u32,
    /// Classes; those without a parent are below the root class, which has the whole bandwidth.
    pub classes: Vec<CbqClass>,
    /// Which packets go where.
    #[serde(default)]
    pub filters: Vec<FilterSpec>,
    /// Where those go that no filter takes; they are dropped if absent.
    #[serde(default)]
    pub default: Option<String>,
}

fn cbq_ewma_log() -> u8 {
    5
}

fn cbq_allot() -> u32 {
    1514
}

fn cbq_priority() -> u8 {
    8
}

fn cbq_maxburst() -> u32 {
    20
}

/// A class of [`CbqSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbqClass {
    /// Name by which filters, children and tables mean the class; no two classes share one.
    pub name: String,
    /// Name of the class that it is in; the root class if absent.
    #[serde(default)]
    pub parent: Option<String>,
    /// Rate that the class has before it borrows.
    pub rate_bps: Rate,
    /// 1 (asked first) to 8.
    #[serde(default = "cbq_priority")]
    pub priority: u8,
    /// Weight in its round; its rate if absent.
    #[serde(default)]
    pub weight: Option<u64>,
    /// Bytes of a round.
    #[serde(default)]
    pub allot_bytes: Option<u32>,
    /// It never borrows from its parent: it sends at its own rate at most.
    #[serde(default)]
    pub bounded: bool,
    /// It never lends to its siblings what it does not use itself.
    #[serde(default)]
    pub isolated: bool,
    /// Packets that may be sent at once after idleness: fixes maxidle.
    #[serde(default = "cbq_maxburst")]
    pub maxburst_packets: u32,
    /// Packets that are sent at once after having waited: fixes offtime.
    #[serde(default)]
    pub minburst_packets: u32,
    /// How far the average may fall below zero (tc's `minidle`); unlimited, as tc has it, if absent.
    #[serde(default)]
    pub minidle: Option<Span>,
    /// Average size of its packets; that of the discipline if absent.
    #[serde(default)]
    pub avpkt_bytes: Option<u32>,
    /// log2 of the length of its average; that of the discipline if absent.
    #[serde(default)]
    pub ewma_log: Option<u8>,
    /// What waits; leaves only.
    #[serde(default)]
    pub queue: Option<Box<QueueSpec>>,
}

/// Hierarchical token bucket, as Linux's tc-htb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtbSpec {
    /// Rate by this is the quantum of classes that give none.
    #[serde(default = "htb_r2q")]
    pub r2q: u32,
    /// Inner classes and leaves, in any order; `parent` makes the tree.
    pub classes: Vec<HtbClass>,
    /// Which packets go where.
    #[serde(default)]
    pub filters: Vec<FilterSpec>,
    /// Where those go that no filter takes; if absent they leave first and at the rate of the port, as in Linux.
    #[serde(default)]
    pub default: Option<String>,
    /// Packets that may wait in that direct queue.
    #[serde(default = "htb_direct")]
    pub direct_packets: u64,
}

fn htb_r2q() -> u32 {
    10
}

fn htb_direct() -> u64 {
    1000
}

/// A class of [`HtbSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtbClass {
    /// Name by which filters, children and tables mean the class; no two classes share one.
    pub name: String,
    /// Name of the class that it is in, if any.
    #[serde(default)]
    pub parent: Option<String>,
    /// Rate that it has for certain.
    pub rate_bps: Rate,
    /// Rate up to which it may borrow; `rate_bps` if absent.
    #[serde(default)]
    pub ceil_bps: Option<Rate>,
    /// Bytes that may go at once at `rate_bps`' expense; what tc computes if absent.
    #[serde(default)]
    pub burst_bytes: Option<u64>,
    /// The same for the ceiling.
    #[serde(default)]
    pub cburst_bytes: Option<u64>,
    /// 0 (borrows first) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Bytes of a turn when it borrows.
    #[serde(default)]
    pub quantum_bytes: Option<u32>,
    /// What waits; leaves only.
    #[serde(default)]
    pub queue: Option<Box<QueueSpec>>,
}
