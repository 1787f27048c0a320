//! What runs but is surprising.
//!
//! - here: bursts, limits and thresholds
//! - `rates`: rates that add up to more than there is, and that nothing gets
//! - `filters`: what filters take, and what they leave over
//! - `words`: lists and rates as people write them

mod filters;
mod rates;
#[cfg(test)]
mod tests;
mod words;

use super::TreeSpec;
use super::accounting::Accounting;
use super::classify::{Match, Packets};
use super::problem::QueueAdvice;
use super::spec::*;
use crate::conditioner::{ActionSpec, ConditionerSpec};
use base::Rate;
use base::diagnostic::Diagnostic;
use base::frame::Framing;
use filters::DROPPED;
use rates::Top;
use std::collections::BTreeSet;

/// What is known of where a tree stands.
#[derive(Clone, Debug)]
pub struct Around {
    /// How fast the port sends; zero if that is not known, or it sends in no time.
    pub rate: Rate,
    /// The longest packet that is to be expected.
    pub longest: Longest,
    /// Marks that conditioners at the node's ports put on packets; nothing if they are not known.
    pub marks: Option<BTreeSet<u32>>,
}

impl Default for Around {
    /// Nothing but that the port is one of an Ethernet.
    fn default() -> Around {
        Around { rate: Rate(0), longest: Longest::default(), marks: None }
    }
}

/// The longest packet that is to be expected.
#[derive(Clone, Debug)]
pub struct Longest {
    /// Bytes from the IP header on, without labels and Ethernet.
    pub bytes: u32,
    /// Labels in front of it.
    pub labels: u32,
    /// Whose packet it is, if it is not the longest that the link takes.
    pub whose: Option<String>,
    /// Of the link's medium.
    pub framing: Framing,
}

impl Default for Longest {
    /// That of an Ethernet with its usual limit.
    fn default() -> Longest {
        Longest { bytes: 1500, labels: 0, whose: None, framing: Framing::ETHERNET }
    }
}

impl Longest {
    /// What it counts for, and the same in words.
    pub(crate) fn counted(&self, accounting: &Accounting) -> (u64, String) {
        let bytes = accounting.of_packet(self.bytes, self.labels, &self.framing);
        let words = match &self.whose {
            Some(whose) => format!("{bytes} B, of {whose}"),
            None => format!("{bytes} B"),
        };
        (u64::from(bytes), words)
    }
}

/// The marks that a conditioner puts on packets.
pub fn marks_of(spec: &ConditionerSpec) -> impl Iterator<Item = u32> {
    let actions = spec.rules.iter().flat_map(|rule| [rule.green, rule.yellow, rule.red]);
    actions.filter_map(|action| match action {
        ActionSpec::Mark { mark } => Some(mark),
        _ => None,
    })
}

/// What is surprising about a tree that can be built. Paths begin at its root discipline, or at what stands beside it.
pub fn warnings(spec: &TreeSpec) -> Vec<Diagnostic> {
    warnings_at(spec, &Around::default())
}

/// The same for a tree of which it is known where it stands.
pub fn warnings_at(spec: &TreeSpec, around: &Around) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    let vanishing = spec.accounting.vanishing();
    if vanishing > 0 {
        let overhead = spec.accounting.overhead;
        let overhead = i64::from(overhead);
        let short = QueueAdvice::Vanishing { overhead, bytes: vanishing };
        said.push(Diagnostic::new(short).at("accounting"));
    }
    let mut packets = Packets::all();
    let mut around = around.clone();
    if let Some(conditioner) = spec.conditioner() {
        let found = crate::conditioner::warnings(conditioner, &around);
        said.extend(found.into_iter().map(|found| found.at("conditioner")));
        packets = filters::behind(conditioner, packets);
        if let Some(marks) = &mut around.marks {
            marks.extend(marks_of(conditioner));
        }
    }
    let top = Top { rate: around.rate, whose: "the port".into() };
    let mut adviser = Adviser { accounting: spec.accounting, around, said };
    adviser.queue(&spec.root, &[], &top, packets);
    adviser.said
}

struct Adviser {
    accounting: Accounting,
    around: Around,
    said: Vec<Diagnostic>,
}

impl Adviser {
    /// About all of the discipline or class at a path.
    fn say(&mut self, path: &[&str], found: QueueAdvice) {
        self.said.push(Diagnostic::new(found).below(path.iter().copied()));
    }

    /// About one of its fields, which the words name.
    fn say_of(&mut self, path: &[&str], field: &str, found: QueueAdvice) {
        self.said.push(Diagnostic::new(found).at(field).on_key().below(path.iter().copied()));
    }

    /// About a queue that gets `packets`, and has no more than the rate of `top`.
    fn queue(&mut self, spec: &QueueSpec, path: &[&str], top: &Top, packets: Packets) {
        match spec {
            QueueSpec::Pfifo(_) => {}
            QueueSpec::Bfifo(spec) => self.one_packet(spec.limit.0, "limit", path),
            QueueSpec::Tbf(spec) => self.tbf(spec, path, top, packets),
            QueueSpec::Prio(spec) => self.prio(spec, path, top, packets),
            QueueSpec::Red(spec) => {
                if let Ok(early) = spec.early.early() {
                    self.red(&early, path);
                }
            }
            QueueSpec::Gred(spec) => self.gred(spec, path, packets),
            QueueSpec::Cbq(spec) => self.cbq(spec, path, top, packets),
            QueueSpec::Htb(spec) => self.htb(spec, path, top, packets),
            QueueSpec::Drr(spec) => self.drr(spec, path, top, packets),
            QueueSpec::FqCodel(spec) => self.fq_codel(spec, path),
        }
    }

    /// What can't hold the longest packet drops it.
    fn one_packet(&mut self, bytes: u64, field: &str, path: &[&str]) {
        let (longest, words) = self.around.longest.counted(&self.accounting);
        if bytes < longest {
            let small = QueueAdvice::OnePacket { field: field.into(), bytes, longest: words };
            self.say_of(path, field, small);
        }
    }

    fn tbf(&mut self, spec: &TbfSpec, path: &[&str], top: &Top, packets: Packets) {
        self.one_packet(spec.burst.0, "burst", path);
        if let Some(bytes) = spec.mtu {
            self.one_packet(bytes.0, "mtu", path);
        }
        if let Some(bytes) = spec.limit() {
            self.one_packet(bytes.0, "limit", path);
        }
        let own = Top::of("the tbf that it is in", spec.rate);
        self.above(&own, top, "rate", path);
        if let Some(queue) = &spec.queue {
            self.queue(queue, &[path, &["queue"]].concat(), &own.within(top), packets);
        }
    }

    fn prio(&mut self, spec: &PrioSpec, path: &[&str], top: &Top, packets: Packets) {
        let last = spec.classes.last().map(|class| &*class.0);
        let names = spec.classes.iter().map(|class| &*class.0);
        let mut shares =
            self.filters(&spec.filters, spec.default.as_deref().or(last), names, path, packets, DROPPED);
        for class in &spec.classes {
            let packets = shares.remove(&*class.0).unwrap_or_default();
            self.queue(&class.1.queue, &[path, &["classes", &class.0, "queue"]].concat(), top, packets);
        }
    }

    fn drr(&mut self, spec: &DrrSpec, path: &[&str], top: &Top, packets: Packets) {
        let names = spec.classes.iter().map(|class| &*class.0);
        let mut shares = self.filters(&spec.filters, spec.default.as_deref(), names, path, packets, DROPPED);
        let (longest, words) = self.around.longest.counted(&self.accounting);
        for class in &spec.classes {
            let path = [path, &["classes", &*class.0]].concat();
            if let Some(quantum) =
                class.1.quantum.map(|quantum| quantum.0).filter(|quantum| *quantum < longest)
            {
                let small = QueueAdvice::SmallQuantum { quantum, longest: words.clone() };
                self.say_of(&path, "quantum", small);
            }
            let packets = shares.remove(&*class.0).unwrap_or_default();
            self.queue(&class.1.queue, &[&path[..], &["queue"]].concat(), top, packets);
        }
    }

    fn red(&mut self, spec: &Early, path: &[&str]) {
        let Early { limit, min, max, .. } = *spec;
        let times = max as f64 / (min as f64).max(1.0);
        if max < min.saturating_mul(2) {
            self.say_of(path, "max", QueueAdvice::CloseThresholds { min, max });
        } else if max > min.saturating_mul(10) {
            let times = format!("{times:.0}");
            self.say_of(path, "max", QueueAdvice::FarThresholds { min, max, times });
        }
        let burst = u64::from(spec.burst) * u64::from(spec.avpkt);
        if burst > limit {
            let beyond = QueueAdvice::BurstBeyond { burst: spec.burst, avpkt: spec.avpkt, limit };
            self.say_of(path, "burst", beyond);
        }
        if spec.harddrop && !spec.ecn {
            self.say_of(path, "harddrop", QueueAdvice::HarddropAlone {});
        }
    }

    fn gred(&mut self, spec: &GredSpec, path: &[&str], packets: Packets) {
        let takes = |place| spec.takes(place).unwrap_or_default();
        let matches: Vec<Match> = (0..spec.queues.len())
            .map(|place| Match { phb: Some(takes(place)), ..Match::default() })
            .collect();
        let (_, left) = packets.split(&matches);
        self.left_over(&left, spec.default.is_some(), "queue", DROPPED, path);
        for (name, queue) in &spec.queues {
            if let Ok(early) = spec.early(queue) {
                self.red(&early, &[path, &["queues", name]].concat());
            }
        }
        let priorities: BTreeSet<u8> = spec.queues.iter().map(|queue| queue.1.prio).collect();
        if spec.grio && priorities.len() < spec.queues.len() {
            self.say_of(path, "grio", QueueAdvice::SharedAverage {});
        }
    }

    fn fq_codel(&mut self, spec: &FqCodelSpec, path: &[&str]) {
        if let Some(quantum) = spec.quantum.map(|quantum| quantum.0).filter(|quantum| *quantum < 256) {
            self.say_of(path, "quantum", QueueAdvice::TinyQuantum { quantum });
        }
    }
}
