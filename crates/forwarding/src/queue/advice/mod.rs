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
use super::spec::*;
use crate::conditioner::{ActionSpec, ConditionerSpec};
use base::Rate;
use filters::DROPPED;
use rates::Top;
use std::collections::BTreeSet;
use words::Bits;

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
}

impl Default for Longest {
    /// That of an Ethernet with its usual limit.
    fn default() -> Longest {
        Longest { bytes: 1500, labels: 0, whose: None }
    }
}

impl Longest {
    /// What it counts for, and the same in words.
    pub(crate) fn counted(&self, accounting: &Accounting) -> (u64, String) {
        let bytes = accounting.of_packet(self.bytes, self.labels);
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

/// Says what is surprising about a tree that can be built: a sentence each, with the place that it is about.
pub fn warnings(spec: &TreeSpec) -> Vec<String> {
    warnings_at(spec, &Around::default())
}

/// The same for a tree of which it is known where it stands.
pub fn warnings_at(spec: &TreeSpec, around: &Around) -> Vec<String> {
    let mut said = Vec::new();
    let vanishing = spec.accounting.vanishing();
    if vanishing > 0 {
        let overhead = spec.accounting.overhead;
        said.push(format!(
            "accounting: with overhead={overhead} packets of up to {vanishing} B of IP count for 1 byte: give a 'minimum'"
        ));
    }
    let mut packets = Packets::all();
    let mut around = around.clone();
    if let Some(conditioner) = &spec.conditioner {
        said.extend(crate::conditioner::warnings(conditioner, "conditioner", &around));
        packets = filters::behind(conditioner, packets);
        if let Some(marks) = &mut around.marks {
            marks.extend(marks_of(conditioner));
        }
    }
    let top = Top { rate: around.rate, whose: "the port".into() };
    let mut adviser = Adviser { accounting: spec.accounting, around, said };
    adviser.queue(&spec.root, "root", &top, packets);
    adviser.said
}

struct Adviser {
    accounting: Accounting,
    around: Around,
    said: Vec<String>,
}

impl Adviser {
    fn say(&mut self, path: &str, text: impl AsRef<str>) {
        self.said.push(format!("{path}: {}", text.as_ref()));
    }

    /// About a queue that gets `packets`, and has no more than the rate of `top`.
    fn queue(&mut self, spec: &QueueSpec, path: &str, top: &Top, packets: Packets) {
        match spec {
            QueueSpec::Pfifo(_) => {}
            QueueSpec::Bfifo(spec) => self.one_packet(spec.limit_bytes, "limit_bytes", path),
            QueueSpec::Tbf(spec) => self.tbf(spec, path, top, packets),
            QueueSpec::Prio(spec) => self.prio(spec, path, top, packets),
            QueueSpec::Red(spec) => self.red(spec, path),
            QueueSpec::Gred(spec) => self.gred(spec, path, packets),
            QueueSpec::Cbq(spec) => self.cbq(spec, path, top, packets),
            QueueSpec::Htb(spec) => self.htb(spec, path, top, packets),
            QueueSpec::Drr(spec) => self.drr(spec, path, top, packets),
            QueueSpec::FqCodel(spec) => self.fq_codel(spec, path),
        }
    }

    /// What can't hold the longest packet drops it.
    fn one_packet(&mut self, bytes: u64, field: &str, path: &str) {
        let (longest, words) = self.around.longest.counted(&self.accounting);
        if bytes < longest {
            let text = format!(
                "{field}={bytes} is less than the longest packet ({words}): longer ones than that are dropped"
            );
            self.say(path, text);
        }
    }

    fn tbf(&mut self, spec: &TbfSpec, path: &str, top: &Top, packets: Packets) {
        self.one_packet(spec.burst_bytes, "burst_bytes", path);
        if let Some(bytes) = spec.peak_burst_bytes {
            self.one_packet(bytes, "peak_burst_bytes", path);
        }
        if let Some(bytes) = spec.limit_bytes {
            self.one_packet(bytes, "limit_bytes", path);
        }
        if let Some(peak) = spec.peak_bps.filter(|peak| *peak <= spec.rate_bps) {
            let (peak, rate) = (Bits(peak.0), Bits(spec.rate_bps.0));
            self.say(
                path,
                format!("peak_bps={peak} is not above rate_bps={rate}: the peak rate alone counts"),
            );
        }
        let own = Top::of("the tbf that it is in", spec.rate_bps);
        self.above(&own, top, "rate_bps", path);
        if let Some(queue) = &spec.queue {
            self.queue(queue, &format!("{path}/queue"), &own.within(top), packets);
        }
    }

    fn prio(&mut self, spec: &PrioSpec, path: &str, top: &Top, packets: Packets) {
        let last = spec.classes.last().map(|class| class.name.as_str());
        let names = spec.classes.iter().map(|class| class.name.as_str());
        let mut shares =
            self.filters(&spec.filters, spec.default.as_deref().or(last), names, path, packets, DROPPED);
        for class in &spec.classes {
            let packets = shares.remove(&class.name).unwrap_or_default();
            self.queue(&class.queue, &format!("{path}/{}", class.name), top, packets);
        }
    }

    fn drr(&mut self, spec: &DrrSpec, path: &str, top: &Top, packets: Packets) {
        let names = spec.classes.iter().map(|class| class.name.as_str());
        let mut shares = self.filters(&spec.filters, spec.default.as_deref(), names, path, packets, DROPPED);
        let (longest, words) = self.around.longest.counted(&self.accounting);
        for class in &spec.classes {
            let path = format!("{path}/{}", class.name);
            if let Some(quantum) = class.quantum_bytes.filter(|quantum| u64::from(*quantum) < longest) {
                let text = format!(
                    "quantum_bytes={quantum} is less than the longest packet ({words}): one takes several turns"
                );
                self.say(&path, text);
            }
            let packets = shares.remove(&class.name).unwrap_or_default();
            self.queue(&class.queue, &path, top, packets);
        }
    }

    fn red(&mut self, spec: &RedSpec, path: &str) {
        let RedSpec { limit_bytes: limit, min_bytes: min, max_bytes: max, .. } = *spec;
        let times = max as f64 / (min as f64).max(1.0);
        if max < min.saturating_mul(2) {
            let text = format!(
                "max_bytes={max} is less than twice min_bytes={min}: the average may jump from below one to above the other (Floyd and Jacobson 1993, section 4)"
            );
            self.say(path, text);
        } else if max > min.saturating_mul(10) {
            let text =
                format!("max_bytes={max} is {times:.0} times min_bytes={min}: two to three times are usual");
            self.say(path, text);
        }
        if limit < max {
            let text = format!(
                "limit_bytes={limit} is below max_bytes={max}: the queue is full before the average gets there"
            );
            self.say(path, text);
        }
        let burst = u64::from(spec.burst_packets) * u64::from(spec.avpkt_bytes);
        if burst > limit {
            let text = format!(
                "a burst of {} packets of {} B does not fit in limit_bytes={limit}",
                spec.burst_packets, spec.avpkt_bytes
            );
            self.say(path, text);
        }
        if spec.hard_drop && !spec.ecn {
            self.say(path, "hard_drop has no meaning without ecn");
        }
    }

    fn gred(&mut self, spec: &GredSpec, path: &str, packets: Packets) {
        let matches: Vec<Match> =
            spec.queues.iter().map(|queue| Match { phb: Some(queue.phb), ..Match::default() }).collect();
        let (_, left) = packets.split(&matches);
        self.left_over(&left, spec.default.is_some(), "queue", DROPPED, path);
        for queue in &spec.queues {
            let below = format!("{path}/{}", queue.name);
            if queue.phb.is_empty() && spec.default.as_deref() != Some(&queue.name) {
                self.say(&below, "it takes no PHB and is not the default: no packet gets here");
            }
            self.red(&queue.red, &below);
        }
        let priorities: BTreeSet<u8> = spec.queues.iter().map(|queue| queue.priority).collect();
        if spec.rio && priorities.len() < spec.queues.len() {
            self.say(path, "RIO with two queues of the same priority: all share one average, as in Linux");
        }
    }

    fn fq_codel(&mut self, spec: &FqCodelSpec, path: &str) {
        if spec.target >= spec.interval {
            self.say(path, "the target is not below the interval: RFC 8289, 4.3 has it at 5 to 10 % of it");
        }
        if let Some(quantum) = spec.quantum_bytes.filter(|quantum| *quantum < 256) {
            self.say(
                path,
                format!(
                    "quantum_bytes={quantum}: below 256 a turn costs more than it is worth (RFC 8290, 5.2.4)"
                ),
            );
        }
    }
}
