//! How long a device takes for what it does. A profile is data: it changes timing, never behaviour.

use base::plane::Table;
use base::{Span, Time};
use control::cost::{Cost, Costs, OTHER};
use control::protocol::Known;
use control::rsvp::Rsvp;
use forwarding::WriteTime;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A device profile, as read from its TOML file. What is absent costs nothing and has no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceProfile {
    /// Name that users give.
    pub name: String,
    /// One sentence on what the profile describes.
    pub description: String,
    /// Latency and greatest packet rate of the forwarding plane.
    pub forwarding: ForwardingProfile,
    /// Times and queue lengths of the control processor.
    pub control: ControlProfile,
    /// How long writing an entry of a forwarding table takes.
    pub tables: TableProfile,
    /// Buffer of an egress port in bytes; without limit if absent.
    pub buffer_bytes: Option<u64>,
    /// How much faster than nominal the device's clock runs, in parts per 10^9.
    pub clock_offset_ppb: i64,
}

/// Timing of the forwarding plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForwardingProfile {
    /// From the arrival of the last bit to the earliest departure of the first, in ns.
    pub latency_ns: f64,
    /// As much again for each byte of the frame (with its frame check sequence), in ns.
    pub latency_ns_per_byte: f64,
    /// The most packets forwarded per second, all ports together; without limit if absent.
    pub packets_per_s_max: Option<f64>,
    /// Time that the processor which forwards takes to receive a packet, in us. It does one thing at a time: packets
    /// wait for it, as long as it takes. Without this and the two that follow the forwarding plane is no processor.
    #[serde(skip_serializing_if = "is_zero")]
    pub packet_us: f64,
    /// As much again for each table that it looks into, in us: one for a packet by its route or by its label, two for a
    /// packet that gets its first label (its route and its label).
    #[serde(skip_serializing_if = "is_zero")]
    pub lookup_us: f64,
    /// As much again for each copy that it sends, in us; a packet that is not replicated is one copy.
    #[serde(skip_serializing_if = "is_zero")]
    pub copy_us: f64,
}

/// Timing and limits of the control processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ControlProfile {
    /// Time to handle a Path message of RSVP-TE, in us; `costs` goes before this and the four that follow.
    pub path_us: f64,
    /// Time to handle a Resv message, in us.
    pub resv_us: f64,
    /// Time to handle a PathTear or ResvTear message, in us.
    pub tear_us: f64,
    /// Time to handle any other message, in us.
    pub other_us: f64,
    /// As much again of a Path or Resv message for each LSP held, in ns: what sets up has to look at what is there.
    pub per_state_ns: f64,
    /// What messages cost, by the name of the protocol (`rsvp-te`) and of the kind of message (`Path`); of kinds that
    /// are not there, what `other` costs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, BTreeMap<String, Cost>>,
    /// Messages addressed to the router (Resv, errors, acknowledgements) that wait at most; one more is lost. 262,144
    /// if absent.
    pub queue_messages: Option<u32>,
    /// Messages with the Router Alert option (Path, PathTear, ResvConf) that wait at most; one more is lost. 262,144 if
    /// absent.
    pub alert_queue_messages: Option<u32>,
}

/// Timing, limits and failures of table writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableProfile {
    /// Time to write an entry of ILM or FTN, filters included, in us; `costs` goes before this and the next.
    pub write_us: f64,
    /// As much again for each entry in the table, in ns.
    pub per_entry_ns: f64,
    /// What an operation costs by the table that it writes (`fib`, `neighbors`, `ports`, `groups`, `replications`,
    /// `multicast`, `ilm`, `ftn`, `filters`). What costs nothing is in force at once and never queues.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<Table, WriteCost>,
    /// The most labels in the ILM; without limit if absent, as those that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels_max: Option<u32>,
    /// The most prefixes in FIB and FTN together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes_max: Option<u32>,
    /// The most filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters_max: Option<u32>,
    /// The most groups of next hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups_max: Option<u32>,
    /// The most replication lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications_max: Option<u32>,
    /// The most entries for groups, by key and way of arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multicast_max: Option<u32>,
    /// Share of the writes that put something in and that the device refuses, 0 to 1; ports and neighbours never fail.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: f64,
}

/// What an operation on a table costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCost {
    /// Time for each operation, in us.
    pub us: f64,
    /// As much again for each entry in the table, in ns.
    pub per_entry_ns: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl TableProfile {
    /// How long an operation on `table` takes.
    pub fn time(&self, table: Table) -> WriteTime {
        let entries = WriteCost { us: self.write_us, per_entry_ns: self.per_entry_ns };
        let cost = match self.costs.get(&table) {
            Some(cost) => *cost,
            None if matches!(table, Table::Ilm | Table::Ftn | Table::Filters) => entries,
            None => WriteCost::default(),
        };
        WriteTime {
            fixed: Span::from_secs_f64(cost.us.max(0.0) / 1e6),
            per_entry: Span::from_secs_f64(cost.per_entry_ns.max(0.0) / 1e9),
        }
    }
}

impl DeviceProfile {
    /// The device that takes no time and has no limit.
    pub fn ideal() -> DeviceProfile {
        DeviceProfile {
            name: "ideal".into(),
            description: "Takes no time and has no limit.".into(),
            ..DeviceProfile::default()
        }
    }
}

impl ControlProfile {
    /// What messages cost, by protocol and kind. A name that no protocol has is left out:
    /// [`ControlProfile::wrong_cost`] finds it.
    pub fn costs(&self) -> Costs {
        let cost = |us, per_state_ns| Cost { us, per_state_ns };
        let rsvp = [
            ("Path", cost(self.path_us, self.per_state_ns)),
            ("Resv", cost(self.resv_us, self.per_state_ns)),
            ("PathTear", cost(self.tear_us, 0.0)),
            ("ResvTear", cost(self.tear_us, 0.0)),
            (OTHER, cost(self.other_us, 0.0)),
        ];
        let fields = [(Rsvp::ID, rsvp.map(|(kind, cost)| (kind.to_string(), cost)).into())];
        let mut costs = Costs(fields.into());
        for (name, kinds) in &self.costs {
            let Ok(id) = name.parse() else { continue };
            costs.0.entry(id).or_default().extend(kinds.iter().map(|(kind, cost)| (kind.clone(), *cost)));
        }
        costs
    }

    /// The first name in `costs` that none of these protocols has.
    pub fn wrong_cost(&self, protocols: &[Known]) -> Option<WrongCost> {
        for (name, kinds) in &self.costs {
            let Some(known) = protocols.iter().find(|known| known.id.name() == name) else {
                let known = protocols.iter().map(|known| known.id.to_string()).collect();
                return Some(WrongCost { protocol: name.clone(), kind: None, known });
            };
            let wrong = kinds.keys().find(|kind| *kind != OTHER && known.kinds().all(|one| one != *kind));
            if let Some(kind) = wrong.cloned() {
                let known = known.kinds().chain([OTHER]).map(String::from).collect();
                return Some(WrongCost { protocol: name.clone(), kind: Some(kind), known });
            }
        }
        None
    }
}

/// A name in the costs of a profile that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCost {
    /// The protocol under which it stands; it is the wrong name itself if there is no kind.
    pub protocol: String,
    /// The kind of message that the protocol does not have.
    pub kind: Option<String>,
    /// The names that would have been right.
    pub known: Vec<String>,
}

impl ForwardingProfile {
    fn processor(&self) -> Option<Processor> {
        let [packet, lookup, copy] = [self.packet_us, self.lookup_us, self.copy_us];
        let span = |us: f64| Span::from_secs_f64(us.max(0.0) / 1e6);
        let busy = Time::ZERO;
        let processor = Processor { packet: span(packet), lookup: span(lookup), copy: span(copy), busy };
        (packet + lookup + copy > 0.0).then_some(processor)
    }

    /// The profile in the units of the engine.
    pub fn pipeline(&self) -> Pipeline {
        let interval = self.packets_per_s_max.filter(|rate| *rate > 0.0).map(|rate| 1e12 / rate);
        let fixed = (self.latency_ns.max(0.0) * 1e3) as u64;
        let per_byte = (self.latency_ns_per_byte.max(0.0) * 1e3) as u64;
        let interval = Span::from_ps(interval.map_or(0, |ps| libm::round(ps) as i64));
        let processor = self.processor();
        let takes_time = fixed | per_byte | interval.0 as u64 != 0 || processor.is_some();
        Pipeline { takes_time, fixed, per_byte, interval, free: Time::ZERO, processor }
    }
}

/// The forwarding plane as a pipeline: one packet enters at a time, and each leaves after its latency.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    takes_time: bool,
    fixed: u64,
    per_byte: u64,
    interval: Span,
    free: Time,
    processor: Option<Processor>,
}

/// A processor that forwards packets one after the other.
#[derive(Clone, Debug)]
struct Processor {
    packet: Span,
    lookup: Span,
    copy: Span,
    /// When it has done all that it was given.
    busy: Time,
}

impl Pipeline {
    /// Does the pipeline take no time at all?
    #[inline]
    pub fn is_ideal(&self) -> bool {
        !self.takes_time
    }

    /// Does a processor forward, whose work is to be told?
    #[inline]
    pub fn has_processor(&self) -> bool {
        self.processor.is_some()
    }

    /// The processor receives a packet at `now` and looks into so many tables.
    pub fn receive(&mut self, now: Time, lookups: u32) {
        if let Some(processor) = &mut self.processor {
            let work = processor.packet.0 + processor.lookup.0 * i64::from(lookups);
            processor.busy = processor.busy.max(now) + Span(work);
        }
    }

    /// The processor makes and sends a packet of the router itself: as much work as to receive one.
    pub fn send_own(&mut self, now: Time) {
        if let Some(processor) = &mut self.processor {
            processor.busy = processor.busy.max(now) + processor.packet;
        }
    }

    /// The processor sends a packet, or a copy of one.
    pub fn send(&mut self, now: Time) {
        if let Some(processor) = &mut self.processor {
            processor.busy = processor.busy.max(now) + processor.copy;
        }
    }

    /// When a frame of `bytes` that arrived at `now` may leave.
    #[inline]
    pub fn ready(&mut self, now: Time, bytes: u32) -> Time {
        let now = self.processor.as_ref().map_or(now, |processor| processor.busy.max(now));
        let start = now.max(self.free);
        self.free = start + self.interval;
        Time(start.0 + self.fixed + self.per_byte * u64::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_does_one_thing_after_the_other() {
        let profile = ForwardingProfile {
            packet_us: 10.0,
            lookup_us: 1.0,
            copy_us: 2.0,
            ..ForwardingProfile::default()
        };
        let mut pipeline = profile.pipeline();
        assert!(pipeline.has_processor() && !pipeline.is_ideal());
        pipeline.receive(Time(0), 2);
        let mut copies = [0; 2].map(|_| {
            pipeline.send(Time(0));
            pipeline.ready(Time(0), 100).0
        });
        assert_eq!(copies, [14_000_000, 16_000_000]);
        // A packet that comes meanwhile waits.
        pipeline.receive(Time(1_000_000), 1);
        pipeline.send(Time(1_000_000));
        copies[0] = pipeline.ready(Time(1_000_000), 100).0;
        assert_eq!(copies[0], 29_000_000);
    }

    #[test]
    fn a_pipeline_delays_and_limits() {
        let profile = ForwardingProfile {
            latency_ns: 5_000.0,
            latency_ns_per_byte: 8.0,
            packets_per_s_max: Some(1e6),
            ..ForwardingProfile::default()
        };
        let mut pipeline = profile.pipeline();
        assert_eq!(pipeline.ready(Time(0), 100), Time(5_800_000));
        // The second may only enter a microsecond after the first.
        assert_eq!(pipeline.ready(Time(0), 100), Time(6_800_000));
        assert_eq!(pipeline.ready(Time(9_000_000), 0), Time(14_000_000));
        assert!(DeviceProfile::ideal().forwarding.pipeline().is_ideal());
    }

    #[test]
    fn costs_by_kind_go_before_the_fields() {
        let cost = |us, per_state_ns| Cost { us, per_state_ns };
        let costs = |protocol: &str, kind: &str| {
            let kinds: BTreeMap<_, _> = [(kind.to_string(), cost(7.0, 1.0))].into();
            BTreeMap::from([(protocol.to_string(), kinds)])
        };
        let profile =
            ControlProfile { path_us: 5.0, tear_us: 3.0, per_state_ns: 2.0, ..ControlProfile::default() };
        let of = |profile: &ControlProfile, kind: &str| profile.costs().0[&Rsvp::ID].get(kind).copied();
        let fields = [("Path", cost(5.0, 2.0)), ("Resv", cost(0.0, 2.0)), ("ResvTear", cost(3.0, 0.0))];
        for (kind, expected) in fields {
            assert_eq!(of(&profile, kind), Some(expected), "{kind}");
        }
        let profile = ControlProfile { costs: costs("rsvp-te", "Path"), ..profile };
        assert_eq!(
            (of(&profile, "Path"), of(&profile, "Resv")),
            (Some(cost(7.0, 1.0)), Some(cost(0.0, 2.0)))
        );
        assert_eq!(profile.wrong_cost(control::PROTOCOLS), None);
        let wrong =
            |costs| ControlProfile { costs, ..ControlProfile::default() }.wrong_cost(control::PROTOCOLS);
        let unknown = wrong(costs("rsvp", "Path")).expect("no such protocol");
        let known: Vec<&str> = control::PROTOCOLS.iter().map(|protocol| protocol.id.name()).collect();
        assert_eq!((unknown.kind, unknown.known.iter().map(String::as_str).collect()), (None, known));
        let unknown = wrong(costs("rsvp-te", "Pth")).expect("no such kind");
        assert_eq!((unknown.kind.as_deref(), &*unknown.known[0]), (Some("Pth"), "Path"));
    }
}
