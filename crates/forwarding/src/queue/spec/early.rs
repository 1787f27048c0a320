//! Queues that drop or mark before they are full: RED, and GRED with a virtual queue per drop precedence.

use crate::queue::check;
use crate::queue::problem::QueueProblem;
use crate::queue::red::average::weight_log;
use base::describe::{ClassName, Describe, Schema, Schemas, Size, Value};
use base::diagnostic::{At, Diagnostic};
use base::{Phb, PhbSet, Rate};

/// How much may come at once before an average follows: packets from a number, bytes from a text with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedBurst {
    /// So many packets of average size.
    Packets(u64),
    /// So many bytes; divided by the average size and rounded up.
    Bytes(Size),
}

impl Describe for RedBurst {
    fn read(value: &Value) -> Result<RedBurst, Diagnostic> {
        let size = Size::read(value)?;
        base::describe::Ranged::check_range(&size, 1, 0x7fff_ffff_ffff_ffff)?;
        let is_plain = value.as_text().is_none_or(|text| text.trim().bytes().all(|b| b.is_ascii_digit()));
        Ok(if is_plain { RedBurst::Packets(size.0) } else { RedBurst::Bytes(size) })
    }
    fn write(&self) -> Value {
        match self {
            RedBurst::Packets(count) => (*count).into(),
            RedBurst::Bytes(size) => format!("{} B", size.0).into(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        Size::schema(known)
    }
}

base::record! {
    /// The parameters of random early detection.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct EarlySpec {
        /// Bytes that may wait, whatever the average is.
        pub limit: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "of a virtual queue: that of the gred; a red needs it";
        /// Average queue, in bytes, at which dropping begins.
        pub min: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "max / 3";
        /// Average queue, in bytes, at which the probability has reached `probability`.
        pub max: Option<Size>, in 1..=0x7fff_ffff_ffff_ffff, absent "3 min, or else limit / 4";
        /// Average size of packets.
        pub avpkt: Option<Size>, in 1..=0xffff_ffff, absent "1000 B";
        /// Packets that may come at once before the average follows, which fixes its weight; with a unit bytes, divided
        /// by avpkt and rounded up.
        pub burst: Option<RedBurst>, absent "(2 min + max) / (3 avpkt)";
        /// Greatest probability of an early drop, above 0 and at most 1.
        pub probability: Option<f64>, absent "0.02";
        /// Rate at which an idle queue drains, for the decay of its average.
        pub bandwidth: Option<Rate>, in 1..=0x7fff_ffff_ffff_ffff, absent "the rate of the port";
        /// Mark packets of ECN-capable transports instead of dropping them (RFC 3168).
        pub ecn: Option<bool>, absent "false";
        /// With ecn, drop beyond max nevertheless.
        pub harddrop: Option<bool>, absent "false";
    }
    check EarlySpec::check_probability;
}

/// The parameters of RED with all defaults worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Early {
    /// Bytes that may wait.
    pub limit: u64,
    /// Average at which dropping begins, in bytes.
    pub min: u64,
    /// Average at which the probability is reached, in bytes.
    pub max: u64,
    /// Average size of packets in bytes.
    pub avpkt: u32,
    /// Packets that may come at once.
    pub burst: u32,
    /// Greatest probability of an early drop.
    pub probability: f64,
    /// Rate at which an idle queue drains; that of the port if absent.
    pub bandwidth: Option<Rate>,
    /// Are packets marked?
    pub ecn: bool,
    /// Are they dropped beyond `max` nevertheless?
    pub harddrop: bool,
}

impl EarlySpec {
    fn check_probability(&self) -> Result<(), Diagnostic> {
        match self.probability.filter(|probability| !(*probability > 0.0 && *probability <= 1.0)) {
            Some(value) => Err(Diagnostic::new(QueueProblem::Probability { value }).at("probability")),
            None => Ok(()),
        }
    }

    /// What is said here, and where nothing is what `outer` says.
    fn over(&self, outer: &EarlySpec) -> EarlySpec {
        EarlySpec {
            limit: self.limit.or(outer.limit),
            min: self.min.or(outer.min),
            max: self.max.or(outer.max),
            avpkt: self.avpkt.or(outer.avpkt),
            burst: self.burst.or(outer.burst),
            probability: self.probability.or(outer.probability),
            bandwidth: self.bandwidth.or(outer.bandwidth),
            ecn: self.ecn.or(outer.ecn),
            harddrop: self.harddrop.or(outer.harddrop),
        }
    }

    /// Works out the defaults as tc does, and refuses what can't be.
    pub fn early(&self) -> Result<Early, Diagnostic> {
        self.check_probability()?;
        let Some(Size(limit)) = self.limit else {
            return Err(QueueProblem::RedLimit {}.into());
        };
        let max = match (self.max, self.min) {
            (Some(max), _) => max.0,
            (None, Some(min)) => min.0.saturating_mul(3),
            (None, None) => limit / 4,
        };
        let min = self.min.map_or(max / 3, |min| min.0);
        let avpkt = self.avpkt.map_or(1000, |avpkt| avpkt.0).max(1);
        if min == 0 || min >= max {
            return Err(Diagnostic::new(QueueProblem::MinMax { min, max }).at("min"));
        }
        if max > limit {
            return Err(Diagnostic::new(QueueProblem::MaxLimit { max, limit }).at("max"));
        }
        if min < avpkt {
            return Err(Diagnostic::new(QueueProblem::MinPacket { min, avpkt }).at("min"));
        }
        let usual = (2 * u128::from(min) + u128::from(max)).div_ceil(3 * u128::from(avpkt));
        let burst = match self.burst {
            None => u64::try_from(usual).unwrap_or(u64::MAX),
            Some(RedBurst::Packets(packets)) => packets,
            Some(RedBurst::Bytes(Size(bytes))) => bytes.div_ceil(avpkt),
        };
        let least = min.div_ceil(avpkt);
        if burst < least {
            let best = u64::try_from(usual).unwrap_or(u64::MAX);
            return Err(
                Diagnostic::new(QueueProblem::BurstShort { burst, avpkt, min, least, best }).at("burst")
            );
        }
        let long = || Diagnostic::new(QueueProblem::BurstLong { burst, min }).at("burst");
        let avpkt = u32::try_from(avpkt).unwrap_or(u32::MAX);
        let packets = u32::try_from(burst).map_err(|_| long())?;
        weight_log(min, avpkt, packets).ok_or_else(long)?;
        Ok(Early {
            limit,
            min,
            max,
            avpkt,
            burst: packets,
            probability: self.probability.unwrap_or(0.02),
            bandwidth: self.bandwidth,
            ecn: self.ecn.unwrap_or(false),
            harddrop: self.harddrop.unwrap_or(false),
        })
    }
}

base::record! {
    /// Random early detection (Floyd and Jacobson 1993; tc-red).
    #[derive(Clone, Debug, PartialEq)]
    pub struct RedSpec called "Red" {}
    beside {
        /// Limit, thresholds and so on.
        pub early: EarlySpec
    }
    check RedSpec::check;
}

impl RedSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        self.early.early().map(|_| ())
    }
}

base::record! {
    /// A virtual queue of a gred; what it does not say is as the discipline says.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GredQueue {
        /// PHBs whose packets it takes.
        pub phb: Option<PhbSet>, absent "the one that it is named after";
        /// Priority with grio, 1 is the best.
        pub prio: u8 = 8, in 1..=16;
    }
    beside {
        /// Thresholds and so on; its limit is the virtual queue's own.
        pub early: EarlySpec
    }
}

base::record! {
    /// Generic RED (tc-gred): a virtual queue for each drop precedence, all in one real queue, whose limit is that of
    /// the discipline.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GredSpec called "Gred" {
        /// RIO: the average of a virtual queue counts its own packets and those of better priority.
        pub grio: bool = false;
        /// The virtual queues by name.
        pub queues: Vec<(ClassName, GredQueue)>;
        /// The virtual queue of packets that belong to none.
        pub default: Option<ClassName>, absent "they are dropped";
    }
    beside {
        /// What the virtual queues do not say themselves, and the limit of all together.
        pub early: EarlySpec
    }
    check GredSpec::check;
}

impl GredSpec {
    /// The most virtual queues.
    pub const QUEUES_MAX: usize = 16;

    /// Bytes that may wait in all virtual queues together.
    pub fn limit(&self) -> Result<u64, Diagnostic> {
        self.early.limit.map(|limit| limit.0).ok_or_else(|| QueueProblem::GredLimit {}.into())
    }

    /// The PHBs that a virtual queue takes.
    pub fn takes(&self, place: usize) -> Result<PhbSet, Diagnostic> {
        let Some((name, queue)) = self.queues.get(place) else { return Ok(PhbSet::default()) };
        let by_name = || PhbSet::read(&(&**name).into());
        queue
            .phb
            .map_or_else(by_name, Ok)
            .map_err(|_| Diagnostic::new(QueueProblem::NoPhb {}).at(&**name).at("queues"))
    }

    /// The parameters of a virtual queue.
    pub fn early(&self, queue: &GredQueue) -> Result<Early, Diagnostic> {
        queue.early.over(&self.early).early()
    }

    /// Refuses what can't be.
    pub(in crate::queue) fn check(&self) -> Result<(), Diagnostic> {
        check::some(self.queues.len(), "queues")?;
        let count = self.queues.len();
        if count > GredSpec::QUEUES_MAX {
            let most = GredSpec::QUEUES_MAX;
            return Err(QueueProblem::TooMany { count, what: "queues", discipline: "gred", most }.into())
                .at("queues");
        }
        self.limit()?;
        let mut taken: [Option<&ClassName>; 64] = [None; 64];
        for (place, (name, queue)) in self.queues.iter().enumerate() {
            for phb in self.takes(place)?.iter() {
                let taken = &mut taken[usize::from(Phb::code(phb) & 63)];
                if let Some(other) = taken {
                    let problem = QueueProblem::PhbTaken { phb: phb.to_string(), other: other.to_string() };
                    return Err(Diagnostic::new(problem).at("phb").at(&**name).at("queues"));
                }
                *taken = Some(name);
            }
            self.early(queue).at(&**name).at("queues")?;
        }
        let Some(default) = &self.default else { return Ok(()) };
        check::known(default, self.queues.iter().map(|queue| &*queue.0), "queue").at("default")
    }
}
