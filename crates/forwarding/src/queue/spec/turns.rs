//! Disciplines that only say whose turn it is: by priority (prio), in rounds (DRR), in rounds over flows (fq_codel).

use super::{ClassFilter, QueueSpec};
use crate::queue::bits::BitSet;
use crate::queue::check;
use crate::queue::problem::QueueProblem;
use base::Span;
use base::describe::{ClassName, Size};
use base::diagnostic::{At, Diagnostic};

base::record! {
    /// A band of a prio.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub struct PrioClass {
        /// What waits in it.
        pub queue: Box<QueueSpec> = Box::default();
    }
}

base::record! {
    /// Strict priority (tc-prio): a band sends only when those before it have nothing to send.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PrioSpec called "Prio" {
        /// Which packets go where; the first that takes a packet decides.
        pub filters: Vec<ClassFilter> = Vec::new();
        /// Bands by name, the most urgent first.
        pub classes: Vec<(ClassName, PrioClass)>;
        /// Where the others go.
        pub default: Option<ClassName>, absent "the last band";
    }
    check PrioSpec::described;
}

impl PrioSpec {
    /// Refuses what can't be, wherever it stands.
    pub(in crate::queue) fn check(&self) -> Result<(), Diagnostic> {
        check::some(self.classes.len(), "classes")?;
        let count = self.classes.len();
        if count > BitSet::CAPACITY {
            let most = BitSet::CAPACITY;
            return Err(QueueProblem::TooMany { count, what: "classes", discipline: "prio", most }.into())
                .at("classes");
        }
        check::flat(&self.classes, &self.filters, self.default.as_ref())
    }

    fn described(&self) -> Result<(), Diagnostic> {
        self.check()?;
        check::order(&self.filters)
    }
}

base::record! {
    /// A class of a drr.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub struct DrrClass {
        /// Bytes of a turn.
        pub quantum: Option<Size>, in 1..=0xffff_ffff, absent "the longest frame of the port";
        /// What waits in it.
        pub queue: Box<QueueSpec> = Box::default();
    }
}

base::record! {
    /// Deficit round robin (Shreedhar and Varghese 1995; tc-drr).
    #[derive(Clone, Debug, PartialEq)]
    pub struct DrrSpec called "Drr" {
        /// Which packets go where; the first that takes a packet decides.
        pub filters: Vec<ClassFilter> = Vec::new();
        /// Classes by name.
        pub classes: Vec<(ClassName, DrrClass)>;
        /// Where the others go.
        pub default: Option<ClassName>, absent "they are dropped";
    }
    check DrrSpec::described;
}

impl DrrSpec {
    /// Refuses what can't be, wherever it stands.
    pub(in crate::queue) fn check(&self) -> Result<(), Diagnostic> {
        check::some(self.classes.len(), "classes")?;
        check::flat(&self.classes, &self.filters, self.default.as_ref())
    }

    fn described(&self) -> Result<(), Diagnostic> {
        self.check()?;
        check::order(&self.filters)
    }
}

base::record! {
    /// Fair queueing with CoDel (RFC 8290; tc-fq_codel).
    #[derive(Clone, Debug, PartialEq)]
    pub struct FqCodelSpec called "FqCodel" {
        /// Packets that may wait in all.
        pub limit: u64 = 10_240, in 1..=0xffff_ffff;
        /// Queues that flows are hashed to.
        pub flows: u32 = 1024, in 1..=65_536;
        /// Bytes of a turn.
        pub quantum: Option<Size>, in 1..=0xffff_ffff, absent "the longest frame of the port";
        /// Time in the queue that is acceptable.
        pub target: Span = Span::from_ms(5), in 1..=0x7fff_ffff_ffff_ffff;
        /// For how long it may be exceeded.
        pub interval: Span = Span::from_ms(100), in 1..=0x7fff_ffff_ffff_ffff;
        /// Mark packets of ECN-capable transports instead of dropping them.
        pub ecn: bool = true;
        /// Mark whatever has waited for longer than this.
        pub ce_threshold: Option<Span>, in 1..=0x7fff_ffff_ffff_ffff, absent "nothing is marked for that";
        /// Bytes that may wait in all.
        pub memory_limit: Size = Size(32 << 20), in 1..=0x7fff_ffff_ffff_ffff;
    }
    check FqCodelSpec::described;
}

impl Default for FqCodelSpec {
    /// RFC 8290, 5.2: the defaults of Linux.
    fn default() -> FqCodelSpec {
        FqCodelSpec {
            limit: 10_240,
            flows: 1024,
            quantum: None,
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            ecn: true,
            ce_threshold: None,
            memory_limit: Size(32 << 20),
        }
    }
}

impl FqCodelSpec {
    fn described(&self) -> Result<(), Diagnostic> {
        if self.target < self.interval {
            return Ok(());
        }
        Err(Diagnostic::new(QueueProblem::TargetTooLong {}).at("target"))
    }
}
