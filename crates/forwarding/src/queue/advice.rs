//! What runs but is surprising.

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
        if spec.default.is_none() {
            self.say(path, "without a default, packets of other behaviours are dropped");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Vec<String> {
        let spec = serde_json::from_str(&format!(r#"{{"root": {json}}}"#)).expect("a tree");
        warnings(&spec)
    }

    #[test]
    fn rates_that_do_not_add_up_say_by_how_much() {
        let json = r#"{"discipline": "cbq", "bandwidth_bps": 100000000, "avpkt_bytes": 1000, "default": "de",
            "filters": [{"match": {"phb": ["EF"]}, "class": "ef"}, {"match": {"phb": ["AF11"]}, "class": "af1"}],
            "classes": [{"name": "all", "rate_bps": 2800000, "bounded": true}, {"name": "ef", "parent": "all", "rate_bps": 800000},
                {"name": "af1", "parent": "all", "rate_bps": 2000000}, {"name": "de", "parent": "all", "rate_bps": 1000000}]}"#;
        let expected = "root: the rates of ef, af1 and de add up to 3.8 Mbit/s, 1 Mbit/s more than the 2.8 Mbit/s of 'all', which they are in";
        assert_eq!(of(json), [expected]);
        let facts = Facts { rate: Rate(2_000_000), mtu: 1500 };
        let spec = serde_json::from_str(&format!(
            r#"{{"root": {}}}"#,
            json.replace("\"bandwidth_bps\": 100000000, ", "")
        ))
        .expect("a tree");
        assert_eq!(
            warnings_at(&spec, &facts)[0],
            "root: the rates of all add up to 2.8 Mbit/s, 800 kbit/s more than the 2 Mbit/s of the port"
        );
    }

    #[test]
    fn thresholds_and_bursts_are_looked_at() {
        let red = |min, max, limit| {
            of(&format!(
                r#"{{"discipline": "red", "limit_bytes": {limit}, "min_bytes": {min}, "max_bytes": {max}, "avpkt_bytes": 1000, "burst_packets": 40}}"#
            ))
        };
        assert_eq!(red(30_000, 100_000, 120_000), [""; 0]);
        assert_eq!(
            red(1000, 100_000, 120_000),
            ["root: max_bytes=100000 is 100 times min_bytes=1000: two to three times are usual"]
        );
        assert_eq!(red(30_000, 50_000, 30_000).len(), 3);
        let tbf = r#"{"discipline": "tbf", "rate_bps": 9, "burst_bytes": 500, "limit_bytes": 9000, "peak_bps": 9, "peak_burst_bytes": 1600}"#;
        assert_eq!(
            of(tbf),
            [
                "root: burst_bytes=500 is less than the longest packet (1514 B): longer ones than that are dropped",
                "root: peak_bps=9 bit/s is not above rate_bps=9 bit/s: the peak rate alone counts"
            ]
        );
    }

    #[test]
    fn classes_that_nothing_reaches_are_named() {
        let json = r#"{"discipline": "prio", "classes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
            "filters": [{"match": {"dscp": [1, 2]}, "class": "b"}, {"match": {"dscp": [2]}, "class": "b"}]}"#;
        assert_eq!(
            of(json),
            [
                "root: filter 2 can match nothing: filter 1 takes all that it would",
                "root: no packet gets to a: no filter leads there"
            ]
        );
    }

    #[test]
    fn ceilings_are_those_of_the_parent() {
        let json = r#"{"discipline": "htb", "default": "b", "classes": [{"name": "a", "rate_bps": 1000}, {"name": "b", "parent": "a", "rate_bps": 500, "ceil_bps": 1500}]}"#;
        assert_eq!(
            of(json),
            [
                "root/b: its ceiling of 1.5 kbit/s is above that of its parent, 1 kbit/s, which it can't exceed"
            ]
        );
    }

    #[test]
    fn rates_are_written_exactly() {
        for (bits, text) in [
            (999, "999 bit/s"),
            (1500, "1.5 kbit/s"),
            (1_000_001, "1.000001 Mbit/s"),
            (40_000_000_000, "40 Gbit/s"),
        ] {
            assert_eq!(Bits(bits).to_string(), text);
        }
    }
}
