//! Queue disciplines as a user describes them, with the parameters of Linux's tc under their usual names.
//!
//! Rates are bits per second, sizes bytes (or packets, where it says so), times picoseconds.
//!
//! - here: the tree, which discipline a node of it is, the filters of all that have classes, what may be wrong
//! - `fifo`, `early`, `rates`, `turns`: the parameters of each discipline, by what it does

mod early;
mod fifo;
mod rates;
mod turns;

pub use early::{GredQueue, GredSpec, RedSpec};
pub use fifo::{BfifoSpec, PfifoSpec};
pub use rates::{CbqClass, CbqSpec, HtbClass, HtbSpec, TbfSpec};
pub use turns::{DrrClass, DrrSpec, FqCodelSpec, PrioClass, PrioSpec};

use super::accounting::Accounting;
use super::classify::Match;
use crate::conditioner::ConditionerSpec;
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

/// A queue, or a scheduler with queues below it, as its user describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
pub enum QueueSpec {
    /// First in, first out, limited in packets.
    Pfifo(PfifoSpec),
    /// First in, first out, limited in bytes.
    Bfifo(BfifoSpec),
    /// Token-bucket filter: sends at a rate and no faster (tc-tbf).
    Tbf(TbfSpec),
    /// Strict priority: a band sends only when all bands before it are empty (tc-prio).
    Prio(PrioSpec),
    /// Random early detection: drops by chance before the queue is full (tc-red).
    Red(RedSpec),
    /// Generic RED: a virtual queue per drop precedence.
    Gred(GredSpec),
    /// Class-based queueing: rates by an estimate of idle time (tc-cbq).
    Cbq(CbqSpec),
    /// Hierarchical token bucket: rates that are certain, and borrowing up to a ceiling (tc-htb).
    Htb(HtbSpec),
    /// Deficit round robin: classes take turns of a number of bytes (tc-drr).
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

/// Which packets go to which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterSpec {
    /// Packets that the filter takes; all if absent.
    #[serde(default, rename = "match")]
    pub matches: Match,
    /// Name of the class of the same discipline that the packets go to.
    pub class: String,
}

/// Why a tree can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {text}")]
pub struct SpecError {
    /// Path of the discipline or class that is wrong, such as `root/gold`.
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
