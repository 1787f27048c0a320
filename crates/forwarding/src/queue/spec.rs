//! Queue disciplines as a user describes them, with the parameters of Linux's tc under their usual names.
//!
//! Rates are bits per second, sizes bytes (or packets, where it says so), times picoseconds.

use super::accounting::Accounting;
use super::classify::Match;
use crate::conditioner::ConditionerSpec;
use base::{PhbSet, Rate, Span};
use serde::{Deserialize, Serialize};

/// A tree of disciplines at an egress port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// What packets count for.
    #[serde(default)]
    pub accounting: Accounting,
    /// What packets go through before they are queued.
    #[serde(default)]
    pub conditioner: Option<ConditionerSpec>,
    /// The discipline that the port asks.
    pub root: QueueSpec,
}

/// A discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
pub enum QueueSpec {
    /// First in, first out, limited in packets.
    Pfifo(PfifoSpec),
    /// First in, first out, limited in bytes.
    Bfifo(BfifoSpec),
    /// Token-bucket filter.
    Tbf(TbfSpec),
    /// Strict priority.
    Prio(PrioSpec),
    /// Random early detection.
    Red(RedSpec),
    /// Generic RED: a virtual queue per drop precedence.
    Gred(GredSpec),
    /// Class-based queueing.
    Cbq(CbqSpec),
    /// Hierarchical token bucket.
    Htb(HtbSpec),
    /// Deficit round robin.
    Drr(DrrSpec),
    /// Fair queueing with CoDel.
    FqCodel(FqCodelSpec),
}

impl QueueSpec {
    /// The name of the discipline.
    pub fn name(&self) -> &'static str {
        match self {
            QueueSpec::Pfifo(_) => "pfifo",
            QueueSpec::Bfifo(_) => "bfifo",
            QueueSpec::Tbf(_) => "tbf",
            QueueSpec::Prio(_) => "prio",
            QueueSpec::Red(_) => "red",
            QueueSpec::Gred(_) => "gred",
            QueueSpec::Cbq(_) => "cbq",
            QueueSpec::Htb(_) => "htb",
            QueueSpec::Drr(_) => "drr",
            QueueSpec::FqCodel(_) => "fq-codel",
        }
    }
}

impl Default for QueueSpec {
    fn default() -> QueueSpec {
        QueueSpec::Pfifo(PfifoSpec::default())
    }
}

/// tc-pfifo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PfifoSpec {
    /// Packets that may wait.
    pub limit: u64,
}

impl Default for PfifoSpec {
    /// Linux's usual length of a transmit queue.
    fn default() -> PfifoSpec {
        PfifoSpec { limit: 1000 }
    }
}

/// tc-bfifo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BfifoSpec {
    /// Bytes that may wait.
    pub limit_bytes: u64,
}

/// tc-tbf.
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

/// tc-prio.
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
    /// Name.
    pub name: String,
    /// What waits in it.
    #[serde(default)]
    pub queue: Box<QueueSpec>,
}

/// Which packets go to which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterSpec {
    /// Which packets.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// The class's name.
    pub class: String,
}

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
    /// Average size of packets.
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
    /// The virtual queues.
    pub queues: Vec<GredQueue>,
    /// Name of the virtual queue for packets that belong to none; they are dropped if absent.
    #[serde(default)]
    pub default: Option<String>,
}

/// A virtual queue of [`GredSpec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GredQueue {
    /// Name.
    pub name: String,
    /// Behaviours whose packets it takes.
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

/// tc-cbq (Linux 2.2 to 6.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbqSpec {
    /// What the device under it really does; that of the port if absent.
    #[serde(default)]
    pub bandwidth_bps: Option<Rate>,
    /// Average size of packets.
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
    /// Name.
    pub name: String,
    /// Name of the class that it is in; the root class if absent.
    #[serde(default)]
    pub parent: Option<String>,
    /// Rate allotted.
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
    /// It never borrows.
    #[serde(default)]
    pub bounded: bool,
    /// It never lends.
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

/// tc-htb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HtbSpec {
    /// Rate by this is the quantum of classes that give none.
    #[serde(default = "htb_r2q")]
    pub r2q: u32,
    /// Classes.
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
    /// Name.
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

/// tc-drr (Shreedhar and Varghese 1995).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrrSpec {
    /// Classes.
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
    /// Name.
    pub name: String,
    /// Bytes of a turn; the longest frame of the port if absent.
    #[serde(default)]
    pub quantum_bytes: Option<u32>,
    /// What waits.
    #[serde(default)]
    pub queue: Box<QueueSpec>,
}

/// tc-fq_codel (RFC 8290).
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

/// Why a tree can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {text}")]
pub struct SpecError {
    /// Where: `root/gold`, say.
    pub path: String,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl SpecError {
    /// An error at `path`.
    pub fn new(path: &str, text: impl Into<String>) -> SpecError {
        SpecError { path: path.to_string(), text: text.into() }
    }
}
