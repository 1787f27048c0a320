//! Generic RED (tc-gred): virtual queues, each with thresholds of its own, that share one real FIFO; so packets of
//! different drop precedence are never reordered (RFC 2597, 2).
//!
//! Without RIO each virtual queue averages its own packets. With it (Clark and Fang, "Explicit Allocation of
//! Best-Effort Packet Delivery Service", 1998) what a packet meets is that average and those of all virtual queues of
//! better priority that are not idle. As in Linux, when two of them have the same priority, all share one average:
//! that of the real queue ("WRED").

use super::classify::phb_of;
use super::counters::{QueueCounters, QueueRow};
use super::red::average::Average;
use super::red::{Decider, Parameters};
use super::spec::{GredQueue, GredSpec};
use super::{Backlog, Context, Discipline, Facts, Packet};
use base::describe::ClassName;
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::{Frame, Span, Time};
use std::collections::VecDeque;

/// Stands for the place of a virtual queue where there is none.
const NONE: u8 = u8::MAX;

/// Virtual queues over one FIFO.
#[derive(Debug)]
pub struct Gred {
    /// The virtual queue of each PHB, or [`NONE`].
    place_of: [u8; 64],
    /// That of packets that belong to none.
    default: u8,
    limit: u64,
    rio: bool,
    /// The average that all share, if they do.
    shared: Option<Average>,
    virtuals: Vec<Virtual>,
    packets: VecDeque<(Packet, u8)>,
    counters: QueueCounters,
}

#[derive(Debug)]
struct Virtual {
    name: String,
    priority: u8,
    decider: Decider,
    average: Average,
    counters: QueueCounters,
}

impl Gred {
    /// What a user described.
    pub fn new(spec: &GredSpec, facts: &Facts) -> Result<Gred, Diagnostic> {
        spec.check()?;
        let limit = spec.limit()?;
        let place = |name: &ClassName| spec.queues.iter().position(|queue| queue.0 == *name);
        let default = spec.default.as_ref().and_then(place).map_or(NONE, |place| place as u8);
        let mut place_of = [NONE; 64];
        for place in 0..spec.queues.len() {
            for phb in spec.takes(place)?.iter() {
                place_of[usize::from(phb.code() & 63)] = place as u8;
            }
        }
        let build = |(name, queue): &(ClassName, GredQueue)| {
            let parameters = Parameters::new(&spec.early(queue).at(&**name).at("queues")?, facts);
            let (average, decider) = (parameters.average(), Decider::new(parameters));
            let (name, priority) = (name.to_string(), queue.prio);
            Ok(Virtual { name, priority, decider, average, counters: QueueCounters::default() })
        };
        let virtuals = spec.queues.iter().map(build).collect::<Result<Vec<_>, Diagnostic>>()?;
        let alike = |(at, one): (usize, &Virtual)| virtuals[..at].iter().any(|v| v.priority == one.priority);
        let shares = spec.grio && virtuals.iter().enumerate().any(alike);
        let shared = virtuals.first().filter(|_| shares).map(|v| v.average.clone());
        let (packets, counters) = (VecDeque::new(), QueueCounters::default());
        Ok(Gred { place_of, default, limit, rio: spec.grio, shared, virtuals, packets, counters })
    }

    /// The virtual queue that takes the frame.
    #[inline]
    fn place(&self, frame: &Frame) -> Option<usize> {
        let own = self.place_of[usize::from(phb_of(frame).code() & 63)];
        let place = usize::from(if own == NONE { self.default } else { own });
        (place < self.virtuals.len()).then_some(place)
    }

    /// The average that a packet of virtual queue `at` meets that comes now.
    #[inline]
    fn meet(&mut self, at: usize, now: Time) -> f64 {
        if let Some(shared) = &mut self.shared {
            shared.arrive(now, self.counters.backlog.bytes);
            return shared.settle();
        }
        let mut average = 0.0;
        if self.rio {
            let priority = self.virtuals[at].priority;
            let better = self.virtuals.iter().filter(|v| v.priority < priority && !v.average.is_idle());
            average = better.map(|v| v.average.bytes()).sum();
        }
        let own = &mut self.virtuals[at];
        own.average.arrive(now, own.counters.backlog.bytes);
        average + own.average.settle()
    }

    fn refuse(
        &mut self,
        at: Option<usize>,
        packet: Packet,
        cx: &mut Context<'_>,
        reason: DropReason,
    ) -> bool {
        if let Some(own) = at.and_then(|at| self.virtuals.get_mut(at)) {
            own.counters.refuse(packet.len, reason);
        }
        self.counters.refuse(packet.len, reason);
        cx.drop(packet, reason);
        false
    }

    /// Takes the first packet out and notes which queues are empty then.
    fn pop(&mut self, now: Time) -> Option<(Packet, &mut QueueCounters)> {
        let (packet, at) = self.packets.pop_front()?;
        let own = self.virtuals.get_mut(usize::from(at))?;
        if own.counters.backlog.packets == 1 {
            own.average.rest(now);
        }
        if let Some(shared) = self.shared.as_mut().filter(|_| self.packets.is_empty()) {
            shared.rest(now);
        }
        Some((packet, &mut own.counters))
    }
}

impl Discipline for Gred {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Context<'_>) -> bool {
        let Some(at) = self.place(&packet.frame) else {
            return self.refuse(None, packet, cx, DropReason::NoClass);
        };
        let average = self.meet(at, cx.now);
        let own = &mut self.virtuals[at];
        let marked = match own.decider.decide(average, cx).apply(&mut packet.frame) {
            Ok(marked) => marked,
            Err(reason) => return self.refuse(Some(at), packet, cx, reason),
        };
        let len = u64::from(packet.len);
        // In WRED mode a virtual queue's limit holds for the real one, as in Linux.
        let waiting = if self.shared.is_some() { self.counters.backlog } else { own.counters.backlog };
        if waiting.bytes + len > own.decider.parameters().limit
            || self.counters.backlog.bytes + len > self.limit
        {
            return self.refuse(Some(at), packet, cx, DropReason::BufferFull);
        }
        own.average.wake();
        if let Some(shared) = &mut self.shared {
            shared.wake();
        }
        for counters in [&mut own.counters, &mut self.counters] {
            counters.marked += u64::from(marked);
            counters.enter(cx.now, packet.len);
        }
        self.packets.push_back((packet, at as u8));
        true
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let (packet, own) = self.pop(cx.now)?;
        own.leave(cx.now, &packet);
        self.counters.leave(cx.now, &packet);
        Some(packet)
    }

    fn peek(&mut self, _: &mut Context<'_>) -> Option<u32> {
        self.packets.front().map(|(packet, _)| packet.len)
    }

    fn backlog(&self) -> Backlog {
        self.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        while let Some((packet, own)) = self.pop(cx.now) {
            own.lose(cx.now, &packet, reason);
            self.counters.lose(cx.now, &packet, reason);
            cx.drop(packet, reason);
        }
    }

    fn report(&self, path: &str, _: Time, rows: &mut Vec<QueueRow>) {
        let extra = self.shared.iter().map(|shared| ("average_bytes", shared.bytes())).collect();
        rows.push(QueueRow::new(path, "gred", self.counters.clone()).with(extra));
        for v in &self.virtuals {
            let average = self.shared.as_ref().unwrap_or(&v.average).bytes();
            let log = -f64::from(v.decider.parameters().weight_log);
            let priority = f64::from(v.priority);
            let extra = vec![("average_bytes", average), ("weight_log2", log), ("priority", priority)];
            let path = format!("{path}/{}", v.name);
            rows.push(QueueRow::new(path, "virtual-queue", v.counters.clone()).with(extra));
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.packets.iter().for_each(|(packet, _)| see(&packet.frame));
    }

    fn watch(&mut self, bin: Span) {
        self.counters.watch(bin);
        self.virtuals.iter_mut().for_each(|v| v.counters.watch(bin));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{US, extra, offer, take_all, tree};
    use base::Time;
    use base::device::DropReason;

    const AF11: u8 = 10;
    const AF12: u8 = 12;

    fn gred(rio: bool, priorities: [u8; 2]) -> String {
        let queue = |name, phb, priority, min| {
            format!(
                r#"{{"name": "{name}", "phb": ["{phb}"], "prio": {priority}, "red": {{"limit": 60000, "min": {min},
                    "max": 50000, "avpkt": 1000, "burst": 20, "probability": 1.0}}}}"#
            )
        };
        let (one, two) =
            (queue("low", "AF11", priorities[0], 20_000), queue("high", "AF12", priorities[1], 5000));
        format!(r#"{{"discipline": "gred", "limit": 80000, "grio": {rio}, "queues": [{one}, {two}]}}"#)
    }

    #[test]
    fn order_is_kept_between_virtual_queues() {
        let mut tree = tree(&gred(false, [1, 2])).expect("a tree");
        offer(&mut tree, 0, &[(AF11, 1000), (AF12, 100), (AF11, 1000), (46, 100)]);
        assert_eq!(tree.totals().dropped.packets.get(DropReason::NoClass), 1);
        assert_eq!(take_all(&mut tree, US), [AF11, AF12, AF11]);
        let rows = tree.report(Time(US));
        let paths: Vec<_> = rows.iter().map(|r| (r.path.as_str(), r.counters.sent.packets)).collect();
        assert_eq!(paths, [("root", 3), ("root/low", 2), ("root/high", 1)]);
    }

    #[test]
    fn averages_are_apart_unless_rio_adds_those_of_better_priority() {
        let average = |rio, priorities| {
            let mut tree = tree(&gred(rio, priorities)).expect("a tree");
            offer(&mut tree, 0, &[(AF11, 1000); 18]);
            offer(&mut tree, 0, &[(AF12, 1000); 40]);
            let of = |name| extra(&tree, 0, name, "average_bytes");
            (of("root/low"), of("root/high"), tree.totals().dropped.packets.get(DropReason::EarlyDrop))
        };
        let (low, high, dropped) = average(false, [1, 2]);
        assert!(low > 5000.0 && high > 5000.0 && dropped > 0, "{low} {high} {dropped}");
        let (_, with_rio, more) = average(true, [1, 2]);
        assert!(with_rio < high && more > dropped, "what it meets is more, so less is let in");
        let (shared, same, _) = average(true, [3, 3]);
        assert_eq!(shared, same, "all share one average");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let json = gred(false, [1, 2]);
        for (from, to, expected) in [
            ("AF12", "AF11", "queues/high/phb: AF11 belongs to 'low' already"),
            ("\"name\": \"high\"", "\"name\": \"low\"", "queues/low: 'low' is given twice"),
            ("80000", "80000, \"default\": \"none\"", "default: there is no queue 'none' (one of low, high)"),
            (
                "\"probability\": 1.0",
                "\"probability\": 7",
                "queues/low/probability: 7: it has to be above 0 and at most 1",
            ),
        ] {
            assert_eq!(tree(&json.replace(from, to)).expect_err("an error"), expected);
        }
    }
}
