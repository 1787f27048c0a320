//! Disciplines that hold what they send to rates: tbf, and the link-sharing hierarchies HTB and CBQ.

use super::{ClassFilter, QueueSpec};
use crate::queue::bits::BitSet;
use crate::queue::check;
use crate::queue::hierarchy::{Declared, Hierarchy};
use crate::queue::problem::QueueProblem;
use base::describe::{ClassName, Size};
use base::diagnostic::{At, Diagnostic};
use base::time::PS_PER_S;
use base::{Rate, Span};

base::record! {
    /// Token-bucket filter (tc-tbf): never more than `burst` beyond `rate`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TbfSpec called "Tbf" {
        /// Rate at which tokens come.
        pub rate: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Bytes that the bucket holds.
        pub burst: Size, in 1..=0x7fff_ffff_ffff_ffff;
        /// Bytes that may wait.
        pub limit: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "as latency or queue say";
        /// The longest time that a packet may wait for tokens: as tc does, it becomes a limit in bytes.
        pub latency: Option<Span>, in 1..=0x7fff_ffff_ffff_ffff, absent "as limit or queue say";
        /// Rate of a second bucket, which limits bursts.
        pub peakrate: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "there is none";
        /// Bytes that the second bucket holds: at least the longest packet.
        pub mtu: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "there is no second bucket";
        /// What waits.
        pub queue: Option<Box<QueueSpec>>, absent "a bfifo of limit";
    }
    check TbfSpec::check;
}

impl TbfSpec {
    /// Refuses what can't be.
    pub(in crate::queue) fn check(&self) -> Result<(), Diagnostic> {
        let given = [
            ("limit", self.limit.is_some()),
            ("latency", self.latency.is_some()),
            ("queue", self.queue.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|given| given.1).map(|given| given.0).collect();
        match given[..] {
            [_] => {}
            [] => return Err(QueueProblem::NoLimit {}.into()),
            _ => return Err(QueueProblem::Limits { given: given.join(" and ") }.into()),
        }
        match (self.peakrate, self.mtu) {
            (Some(peak), _) if peak <= self.rate => {
                let (peak, rate) = (check::shown(&peak), check::shown(&self.rate));
                Err(Diagnostic::new(QueueProblem::PeakTooLow { peak, rate }).at("peakrate"))
            }
            (Some(_), Some(_)) | (None, None) => Ok(()),
            _ => Err(QueueProblem::PeakHalf {}.into()),
        }
    }

    /// Bytes that may wait, if no queue says it: for a latency what comes within it beyond the burst, of both buckets
    /// (tc-tbf).
    pub(in crate::queue) fn limit(&self) -> Option<Size> {
        let within = |rate: Rate, burst: Size, span: Span| {
            let bytes = u128::from(rate.0) * span.0.max(0) as u128 / (8 * u128::from(PS_PER_S));
            u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(burst.0)
        };
        self.limit.or_else(|| {
            let span = self.latency?;
            let first = within(self.rate, self.burst, span);
            let peak = self.peakrate.zip(self.mtu).map(|(rate, bytes)| within(rate, bytes, span));
            Some(Size(peak.map_or(first, |peak| peak.min(first))))
        })
    }
}

base::record! {
    /// A class of a cbq.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CbqClass {
        /// The class that it is in.
        pub parent: Option<ClassName>, absent "the root class, which has the whole bandwidth";
        /// Rate allotted to it.
        pub rate: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// 1 (asked first) to 8.
        pub prio: u8 = 8, in 1..=8;
        /// Weight in its round.
        pub weight: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "its rate";
        /// Bytes of a round.
        pub allot: Option<Size>, in 1..=0xffff_ffff, absent "as the discipline says";
        /// It never borrows.
        pub bounded: bool = false;
        /// It never lends.
        pub isolated: bool = false;
        /// Packets that may be sent at once after idleness: fixes maxidle.
        pub maxburst: u32 = 20, in 1..=0xffff_ffff;
        /// Packets that are sent at once after having waited: fixes offtime.
        pub minburst: u32 = 0;
        /// How far the average idle time may fall below zero.
        pub minidle: Option<Span>, in 1..=0x7fff_ffff_ffff_ffff, absent "unlimited, as tc has it";
        /// Average size of its packets.
        pub avpkt: Option<Size>, in 1..=0xffff_ffff, absent "as the discipline says";
        /// log2 of the length of its average.
        pub ewma: Option<u8>, in 1..=31, absent "as the discipline says";
        /// What waits; leaves only.
        pub queue: Option<Box<QueueSpec>>, absent "a pfifo of 1000";
    }
}

base::record! {
    /// Class-based queueing (Floyd and Jacobson 1995; tc-cbq, as Linux had it up to 6.2).
    #[derive(Clone, Debug, PartialEq)]
    pub struct CbqSpec called "Cbq" {
        /// Which packets go where; the first that takes a packet decides.
        pub filters: Vec<ClassFilter> = Vec::new();
        /// What the device under it really does.
        pub bandwidth: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "the rate of the port";
        /// Average size of packets.
        pub avpkt: Size, in 1..=0xffff_ffff;
        /// Least size that a packet counts for when times are computed.
        pub mpu: Size = Size(0), in 0..=0xffff_ffff;
        /// log2 of the length of the average of idle times.
        pub ewma: u8 = 5, in 1..=31;
        /// Bytes of a round, by default for classes.
        pub allot: Size = Size(1514), in 1..=0xffff_ffff;
        /// Classes by name.
        pub classes: Vec<(ClassName, CbqClass)>;
        /// Where the others go.
        pub default: Option<ClassName>, absent "they are dropped";
    }
    check CbqSpec::described;
}

impl CbqSpec {
    /// Refuses what can't be, and puts the classes in order.
    pub(in crate::queue) fn arranged(&self) -> Result<(Vec<Declared<'_>>, Hierarchy), Diagnostic> {
        let declared: Vec<Declared<'_>> = self.classes.iter().map(Declared::from).collect();
        let hierarchy = Hierarchy::new(&declared, &self.filters, self.default.as_ref())?;
        Ok((declared, hierarchy))
    }

    fn described(&self) -> Result<(), Diagnostic> {
        self.arranged()?;
        check::order(&self.filters)
    }
}

base::record! {
    /// A class of an htb.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HtbClass {
        /// The class that it is in.
        pub parent: Option<ClassName>, absent "none";
        /// Rate that it has for certain.
        pub rate: Rate, in 1..=0x7fff_ffff_ffff_ffff;
        /// Rate up to which it may borrow.
        pub ceil: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "rate";
        /// Bytes that may go at once at the rate's expense.
        pub burst: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "as tc computes it: a millisecond of rate, and 1600 B";
        /// The same for the ceiling.
        pub cburst: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "as tc computes it, by ceil";
        /// 0 (borrows first) to 7.
        pub prio: u8 = 0, in 0..=7;
        /// Bytes of a turn when it borrows.
        pub quantum: Option<Size>, in 1..=0xffff_ffff, absent "rate / r2q, within the longest frame and 200 kB";
        /// What waits; leaves only.
        pub queue: Option<Box<QueueSpec>>, absent "a pfifo of 1000";
    }
    check HtbClass::check;
}

impl HtbClass {
    fn check(&self) -> Result<(), Diagnostic> {
        let Some(ceil) = self.ceil.filter(|ceil| *ceil < self.rate) else { return Ok(()) };
        let problem = QueueProblem::CeilTooLow { ceil: check::shown(&ceil), rate: check::shown(&self.rate) };
        Err(Diagnostic::new(problem).at("ceil"))
    }
}

base::record! {
    /// Hierarchical token bucket (tc-htb): classes lend what they do not use to those in the same class.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HtbSpec called "Htb" {
        /// Which packets go where; the first that takes a packet decides.
        pub filters: Vec<ClassFilter> = Vec::new();
        /// Rate in bytes per second by this is the quantum of classes that give none.
        pub r2q: u32 = 10, in 1..=0xffff_ffff;
        /// Classes by name.
        pub classes: Vec<(ClassName, HtbClass)>;
        /// Where the others go.
        pub default: Option<ClassName>, absent "they leave first, at the rate of the port, as in Linux";
        /// Packets that may wait in that direct queue.
        pub direct_qlen: u64 = 1000, in 1..=0xffff_ffff;
    }
    check HtbSpec::described;
}

/// What the queue of packets without a class is called.
pub const DIRECT: &str = "direct";

impl HtbSpec {
    /// Refuses what can't be, and puts the classes in order.
    pub(in crate::queue) fn arranged(&self) -> Result<(Vec<Declared<'_>>, Hierarchy), Diagnostic> {
        let declared: Vec<Declared<'_>> = self.classes.iter().map(Declared::from).collect();
        let hierarchy = Hierarchy::new(&declared, &self.filters, self.default.as_ref())?;
        let count = declared.len();
        if count > BitSet::CAPACITY {
            let most = BitSet::CAPACITY;
            return Err(QueueProblem::TooMany { count, what: "classes", discipline: "htb", most }.into())
                .at("classes");
        }
        if self.default.is_none() && declared.iter().any(|class| class.name == DIRECT) {
            return Err(Diagnostic::new(QueueProblem::Direct {}).at(DIRECT).at("classes").on_key());
        }
        for (name, class) in &self.classes {
            class.check().at(&**name).at("classes")?;
        }
        Ok((declared, hierarchy))
    }

    fn described(&self) -> Result<(), Diagnostic> {
        self.arranged()?;
        check::order(&self.filters)
    }
}
