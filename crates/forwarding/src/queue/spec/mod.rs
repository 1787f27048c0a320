//! Queue disciplines as users describe them, with the parameters of Linux's tc under their usual names.
//!
//! - here: which discipline a node of a tree is, the filters of all that have classes
//! - `tree`: a tree with what packets count for, and a conditioner in front of it
//! - `marked`: the classes that marks lead to
//! - `fifo`, `early`, `rates`, `turns`: the parameters of each discipline, by what it does

mod early;
mod fifo;
mod marked;
mod rates;
mod tree;
mod turns;

pub use early::{Early, EarlySpec, GredQueue, GredSpec, RedBurst, RedSpec};
pub use fifo::{BfifoSpec, PfifoSpec};
pub use marked::MarkedClass;
pub use rates::{CbqClass, CbqSpec, DIRECT, HtbClass, HtbSpec, TbfSpec};
pub use tree::{NamedConditioner, TreeSpec};
pub use turns::{DrrClass, DrrSpec, FqCodelSpec, PrioClass, PrioSpec};

use super::classify::Match;
use base::describe::ClassName;

base::choice! {
    /// A queue discipline.
    #[derive(Clone, Debug, PartialEq)]
    pub enum QueueSpec called "Queue" by "discipline" {
        /// First in, first out, limited in packets.
        Pfifo(PfifoSpec) = "pfifo",
        /// First in, first out, limited in bytes.
        Bfifo(BfifoSpec) = "bfifo",
        /// Token-bucket filter.
        Tbf(TbfSpec) = "tbf",
        /// Strict priority.
        Prio(PrioSpec) = "prio",
        /// Random early detection.
        Red(RedSpec) = "red",
        /// Generic RED: a virtual queue per drop precedence.
        Gred(GredSpec) = "gred",
        /// Class-based queueing.
        Cbq(CbqSpec) = "cbq",
        /// Hierarchical token bucket.
        Htb(HtbSpec) = "htb",
        /// Deficit round robin.
        Drr(DrrSpec) = "drr",
        /// Fair queueing with CoDel.
        FqCodel(FqCodelSpec) = "fq-codel" or "fq_codel",
    }
}

impl Default for QueueSpec {
    fn default() -> QueueSpec {
        QueueSpec::Pfifo(PfifoSpec::default())
    }
}

base::record! {
    /// Packets that go to a class; the first filter that takes a packet decides.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ClassFilter called "Filter" {
        /// The class that takes them.
        pub class: ClassName;
    }
    beside {
        /// Which packets.
        pub matches: Match
    }
}

base::described!(QueueSpec, ClassFilter);
