//! What runs but is surprising.

#[cfg(test)]
mod tests;

use super::classify::shadowed;
use super::spec::*;
use super::{Facts, TreeSpec};
use base::Rate;
use std::collections::{BTreeMap, BTreeSet};

/// A packet of an Ethernet with its usual limit, when it is not known at which port a tree is.
const USUAL: Facts = Facts { rate: Rate(0), mtu: 1500 };

/// Says what is surprising about a tree that can be built: a sentence each, with the place that it is about.
pub fn warnings(spec: &TreeSpec) -> Vec<String> {
    warnings_at(spec, &USUAL)
}

/// The same for a tree at a port of which `facts` are known (a rate of zero: not known).
pub fn warnings_at(spec: &TreeSpec, facts: &Facts) -> Vec<String> {
    let mut adviser = Adviser { facts, said: Vec::new() };
    if let Some(conditioner) = &spec.conditioner {
        adviser.said.extend(crate::conditioner::warnings(conditioner, "conditioner"));
    }
    adviser.queue(&spec.root, "root");
    adviser.said
}

struct Adviser<'a> {
    facts: &'a Facts,
    said: Vec<String>,
}

impl Adviser<'_> {
    fn say(&mut self, path: &str, text: impl AsRef<str>) {
        self.said.push(format!("{path}: {}", text.as_ref()));
    }

    fn queue(&mut self, spec: &QueueSpec, path: &str) {
        match spec {
            QueueSpec::Pfifo(_) => {}
            QueueSpec::Bfifo(spec) => self.one_packet(spec.limit_bytes, "limit_bytes", path),
            QueueSpec::Tbf(spec) => self.tbf(spec, path),
            QueueSpec::Prio(spec) => self.prio(spec, path),
            QueueSpec::Red(spec) => self.red(spec, path),
            QueueSpec::Gred(spec) => self.gred(spec, path),
            QueueSpec::Cbq(spec) => self.cbq(spec, path),
            QueueSpec::Htb(spec) => self.htb(spec, path),
            QueueSpec::Drr(spec) => self.drr(spec, path),
            QueueSpec::FqCodel(spec) => self.fq_codel(spec, path),
        }
    }

    /// What can't hold the longest packet drops it.
    fn one_packet(&mut self, bytes: u64, field: &str, path: &str) {
        let longest = self.facts.longest();
        if bytes < u64::from(longest) {
            let text = format!(
                "{field}={bytes} is less than the longest packet ({longest} B): longer ones than that are dropped"
            );
            self.say(path, text);
        }
    }

    fn tbf(&mut self, spec: &TbfSpec, path: &str) {
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
        if let Some(queue) = &spec.queue {
            self.queue(queue, &format!("{path}/queue"));
        }
    }

    fn prio(&mut self, spec: &PrioSpec, path: &str) {
        let last = spec.classes.last().map(|class| class.name.as_str());
        let names = spec.classes.iter().map(|class| class.name.as_str());
        self.filters(&spec.filters, spec.default.as_deref().or(last), names, path);
        for class in &spec.classes {
            self.queue(&class.queue, &format!("{path}/{}", class.name));
        }
    }

    fn drr(&mut self, spec: &DrrSpec, path: &str) {
        let names = spec.classes.iter().map(|class| class.name.as_str());
        self.filters(&spec.filters, spec.default.as_deref(), names, path);
        let longest = self.facts.longest();
        for class in &spec.classes {
            let path = format!("{path}/{}", class.name);
            if let Some(quantum) = class.quantum_bytes.filter(|quantum| *quantum < longest) {
                let text = format!(
                    "quantum_bytes={quantum} is less than the longest packet ({longest} B): one takes several turns"
                );
                self.say(&path, text);
            }
            self.queue(&class.queue, &path);
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

    fn gred(&mut self, spec: &GredSpec, path: &str) {
        for queue in &spec.queues {
            let below = format!("{path}/{}", queue.name);
            if queue.phb.is_empty() && spec.default.as_deref() != Some(&queue.name) {
                self.say(&below, "it takes no behaviour and is not the default: no packet gets here");
            }
            self.red(&queue.red, &below);
        }
        let priorities: BTreeSet<u8> = spec.queues.iter().map(|queue| queue.priority).collect();
        if spec.rio && priorities.len() < spec.queues.len() {
            self.say(path, "rio with two queues of the same priority: all share one average, as in Linux");
        }
    }

    fn cbq(&mut self, spec: &CbqSpec, path: &str) {
        let shape = |class: &CbqClass| (class.name.clone(), class.parent.clone(), class.rate_bps);
        let classes: Vec<_> = spec.classes.iter().map(shape).collect();
        let top = spec.bandwidth_bps.unwrap_or(self.facts.rate);
        self.hierarchy(&classes, &spec.filters, spec.default.as_deref(), top, path);
        for class in &spec.classes {
            if let Some(queue) = &class.queue {
                self.queue(queue, &format!("{path}/{}", class.name));
            }
        }
    }

    fn htb(&mut self, spec: &HtbSpec, path: &str) {
        let shape = |class: &HtbClass| (class.name.clone(), class.parent.clone(), class.rate_bps);
        let classes: Vec<_> = spec.classes.iter().map(shape).collect();
        self.hierarchy(&classes, &spec.filters, spec.default.as_deref(), self.facts.rate, path);
        let ceil = |class: &HtbClass| class.ceil_bps.unwrap_or(class.rate_bps);
        let ceilings: BTreeMap<&str, Rate> =
            spec.classes.iter().map(|c| (c.name.as_str(), ceil(c))).collect();
        for class in &spec.classes {
            let below = format!("{path}/{}", class.name);
            for (bytes, field) in [(class.burst_bytes, "burst_bytes"), (class.cburst_bytes, "cburst_bytes")] {
                let longest = self.facts.longest();
                if let Some(bytes) = bytes.filter(|bytes| *bytes < u64::from(longest)) {
                    self.say(&below, format!("{field}={bytes} is less than the longest packet ({longest} B): it is sent all the same, and waits for longer afterwards"));
                }
            }
            let above = class.parent.as_deref().and_then(|parent| ceilings.get(parent));
            if let Some(above) = above.filter(|above| ceil(class) > **above) {
                let (own, above) = (Bits(ceil(class).0), Bits(above.0));
                self.say(
                    &below,
                    format!(
                        "its ceiling of {own} is above that of its parent, {above}, which it can't exceed"
                    ),
                );
            }
            if let Some(queue) = &class.queue {
                self.queue(queue, &below);
            }
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

    /// Classes (name, parent, rate) in each other; those without a parent share `top`, zero if that is not known.
    fn hierarchy(
        &mut self,
        classes: &[(String, Option<String>, Rate)],
        filters: &[FilterSpec],
        default: Option<&str>,
        top: Rate,
        path: &str,
    ) {
        let mut below: BTreeMap<Option<&str>, Vec<(&str, u128)>> = BTreeMap::new();
        for (name, parent, rate) in classes {
            below.entry(parent.as_deref()).or_default().push((name, u128::from(rate.0)));
        }
        let of_parent =
            |parent: &str| classes.iter().find(|(name, ..)| name == parent).map(|(.., rate)| *rate);
        for (parent, children) in &below {
            let (rate, whose) = match parent {
                Some(parent) => {
                    (of_parent(parent).unwrap_or_default(), format!("'{parent}', which they are in"))
                }
                None => (top, "the port".into()),
            };
            let sum: u128 = children.iter().map(|(_, rate)| rate).sum();
            if rate.0 > 0 && sum > u128::from(rate.0) {
                let names: Vec<&str> = children.iter().map(|(name, _)| *name).collect();
                let (more, sum, rate) = (Wide(sum - u128::from(rate.0)), Wide(sum), Bits(rate.0));
                self.say(
                    path,
                    format!(
                        "the rates of {} add up to {sum}, {more} more than the {rate} of {whose}",
                        list(&names)
                    ),
                );
            }
        }
        let leaves =
            classes.iter().map(|(name, ..)| name.as_str()).filter(|name| !below.contains_key(&Some(*name)));
        self.filters(filters, default, leaves, path);
    }

    /// Filters that take nothing, and classes to which none leads.
    fn filters<'n>(
        &mut self,
        filters: &[FilterSpec],
        default: Option<&str>,
        leaves: impl Iterator<Item = &'n str>,
        path: &str,
    ) {
        for hidden in shadowed(filters.iter().map(|filter| &filter.matches)) {
            let by: Vec<String> = hidden.by.iter().map(|place| format!("filter {}", place + 1)).collect();
            let by: Vec<&str> = by.iter().map(String::as_str).collect();
            let verb = if by.len() == 1 { "takes" } else { "take" };
            let text = format!(
                "filter {} can match nothing: {} {verb} all that it would",
                hidden.filter + 1,
                list(&by)
            );
            self.say(path, text);
        }
        let reached: BTreeSet<&str> = filters.iter().map(|f| f.class.as_str()).chain(default).collect();
        let alone: Vec<&str> = leaves.filter(|name| !reached.contains(name)).collect();
        if !alone.is_empty() {
            self.say(path, format!("no packet gets to {}: no filter leads there", list(&alone)));
        }
    }
}

/// `a, b and c`; of many, the first few.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [all @ .., last] if all.len() < 8 => format!("{} and {last}", all.join(", ")),
        [a, b, c, rest @ ..] => format!("{a}, {b}, {c} and {} others", rest.len()),
        [a, ..] => (*a).to_string(),
    }
}

/// A rate as people write it.
struct Bits(u64);

impl core::fmt::Display for Bits {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        Wide(u128::from(self.0)).fmt(f)
    }
}

/// A sum of rates, exactly, in the largest unit that leaves at least one before the point.
struct Wide(u128);

impl core::fmt::Display for Wide {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let units = [(1_000_000_000, "Gbit/s", 9), (1_000_000, "Mbit/s", 6), (1000, "kbit/s", 3)];
        let Some((unit, name, digits)) = units.into_iter().find(|(unit, ..)| self.0 >= *unit) else {
            return write!(f, "{} bit/s", self.0);
        };
        let fraction = format!("{:0digits$}", self.0 % unit);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{} {name}", self.0 / unit),
            fraction => write!(f, "{}.{fraction} {name}", self.0 / unit),
        }
    }
}
