//! Token-bucket filter (tc-tbf): nothing leaves faster than a rate with a burst, and on request a peak rate.

use super::bucket::Bucket;
use super::counters::QueueRow;
use super::spec::{BfifoSpec, QueueSpec, TbfSpec};
use super::{Backlog, Context, Discipline, Facts, Inner, Packet, build};
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::{Frame, Span, Time};

/// A queue that is emptied at a rate.
///
/// In any `t` seconds it sends at most `burst + rate t` bytes (and `peak_burst + peak t`), to the bit; see
/// [`Bucket`]. A packet that is longer than a bucket could never be sent and is dropped as
/// [`DropReason::BeyondBurst`].
#[derive(Debug)]
pub struct Tbf {
    rate: Bucket,
    peak: Option<Bucket>,
    /// The longest packet that ever finds enough tokens.
    longest: u64,
    queue: Box<dyn Discipline>,
    /// Has the user said what waits? Otherwise the queue below is but a limit and has no row.
    visible: bool,
    inner: Inner,
}

impl Tbf {
    /// What a user described, with the queue below.
    pub fn new(spec: &TbfSpec, facts: &Facts) -> Result<Tbf, Diagnostic> {
        spec.check()?;
        let (rate, burst) = (spec.rate, spec.burst.0);
        let peak = spec.peakrate.zip(spec.mtu.map(|mtu| mtu.0));
        let queue = match (&spec.queue, spec.limit()) {
            (Some(queue), _) => build(queue, facts).at("queue")?,
            (None, limit) => build(&QueueSpec::Bfifo(BfifoSpec { limit: limit.unwrap_or_default() }), facts)?,
        };
        Ok(Tbf {
            rate: Bucket::new(rate, burst),
            peak: peak.map(|(rate, bytes)| Bucket::new(rate, bytes)),
            longest: peak.map_or(burst, |(_, bytes)| bytes.min(burst)),
            queue,
            visible: spec.queue.is_some(),
            inner: Inner::default(),
        })
    }
}

impl Discipline for Tbf {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        if u64::from(packet.len) > self.longest {
            self.inner.refuse(packet, cx, DropReason::BeyondBurst);
            return false;
        }
        self.inner.enqueue(&mut *self.queue, packet, cx)
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        self.peek(cx)?;
        let packet = self.inner.dequeue(&mut *self.queue, cx)?;
        self.rate.take(cx.now, packet.len);
        if let Some(peak) = &mut self.peak {
            peak.take(cx.now, packet.len);
        }
        Some(packet)
    }

    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        let len = self.inner.peek(&mut *self.queue, cx)?;
        let mut ready = self.rate.ready_at(cx.now, len);
        if let Some(peak) = &self.peak {
            ready = ready.max(peak.ready_at(cx.now, len));
        }
        if ready > cx.now {
            self.inner.counters.overlimits += 1;
            cx.wake_at(ready);
            return None;
        }
        Some(len)
    }

    fn backlog(&self) -> Backlog {
        self.inner.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        self.inner.clear(&mut *self.queue, cx, reason);
    }

    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>) {
        let mut extra = vec![("tokens_bytes", self.rate.bytes_at(now))];
        extra.extend(self.peak.as_ref().map(|peak| ("peak_tokens_bytes", peak.bytes_at(now))));
        let counters = self.inner.counters.clone();
        rows.push(QueueRow::new(path, "tbf", counters).with(extra));
        if self.visible {
            self.queue.report(&format!("{path}/queue"), now, rows);
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.queue.show_held(see);
    }

    fn watch(&mut self, bin: Span) {
        self.inner.counters.watch(bin);
        self.queue.watch(bin);
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::QueueSpec;
    use super::super::testing::{US, extra, offer, take_all, tree, wait};
    use base::device::DropReason;

    fn tbf(fields: &str) -> String {
        format!(r#"{{"discipline": "tbf", "rate": 8000000, "burst": 1000, {fields}}}"#)
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let mut tree = tree(&tbf(r#""limit": 5000"#)).expect("a tree");
        offer(&mut tree, 0, &[(1, 600), (2, 400), (3, 300), (4, 1000), (5, 1001)]);
        assert_eq!(tree.totals().dropped.packets.get(DropReason::BeyondBurst), 1);
        assert_eq!(take_all(&mut tree, 0), [1, 2]);
        assert_eq!(wait(&mut tree, US), Some(300 * US));
        assert_eq!(take_all(&mut tree, 300 * US), [3]);
        assert_eq!(wait(&mut tree, 300 * US), Some(1300 * US));
        assert_eq!(take_all(&mut tree, 1300 * US), [4]);
        assert_eq!(extra(&tree, 1800 * US, "root", "tokens_bytes"), 500.0);
    }

    /// tc-tbf: the limit is what comes at the rate within the latency, and the burst; of two buckets the smaller.
    #[test]
    fn a_latency_becomes_a_limit_in_bytes() {
        let limit = |fields: &str| {
            let spec = serde_json::from_str(&tbf(fields)).expect("a tbf");
            let QueueSpec::Tbf(spec) = spec else { panic!("no tbf") };
            spec.limit().map(|limit| limit.0)
        };
        assert_eq!(limit(r#""limit": 5000"#), Some(5000));
        assert_eq!(limit(r#""latency": "50 ms""#), Some(51_000));
        assert_eq!(limit(r#""latency": "50 ms", "peakrate": 16000000, "mtu": 400"#), Some(51_000));
        assert_eq!(limit(r#""latency": 0.0001, "peakrate": 16000000, "mtu": 400"#), Some(600));
        assert_eq!(limit(r#""queue": {"discipline": "pfifo"}"#), None);
        let mut tree = tree(&tbf(r#""latency": "1 ms""#)).expect("a tree");
        offer(&mut tree, 0, &[(1, 1000), (2, 1000), (3, 100)]);
        assert_eq!(tree.totals().dropped.packets.get(DropReason::BufferFull), 1, "2000 bytes may wait");
    }

    #[test]
    fn the_peak_spreads_a_burst() {
        let json = tbf(r#""limit": 5000, "peakrate": 16000000, "mtu": 400"#);
        let mut tree = tree(&json).expect("a tree");
        offer(&mut tree, 0, &[(1, 400), (2, 400), (3, 400), (4, 401)]);
        assert_eq!(take_all(&mut tree, 0), [1]);
        assert_eq!(wait(&mut tree, 0), Some(200 * US));
        assert_eq!(take_all(&mut tree, 200 * US), [2]);
        // 1000 - 800 + 200 by now; the peak bucket is full at 400, the other at the same time.
        assert_eq!(wait(&mut tree, 200 * US), Some(400 * US));
        assert_eq!(tree.totals().dropped.packets.get(DropReason::BeyondBurst), 1);
    }

    #[test]
    fn the_limit_is_in_bytes() {
        let mut tree = tree(&tbf(r#""limit": 1500"#)).expect("a tree");
        offer(&mut tree, 0, &[(1, 1000), (2, 400), (3, 101), (4, 100)]);
        assert_eq!(tree.totals().dropped.packets.get(DropReason::BufferFull), 1);
        assert_eq!(tree.report(base::Time(0)).len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (fields, expected) in [
            (r#""mtu": 1, "limit": 1"#, "peakrate and mtu go together: the second bucket's rate and size"),
            (
                r#""peakrate": 99000000000, "limit": 1"#,
                "peakrate and mtu go together: the second bucket's rate and size",
            ),
            (r#""queue": {"discipline": "bfifo", "limit": 0}"#, "queue/limit: 0: it is not above zero"),
            (
                r#""queue": null"#,
                "how much may wait is said by one of limit, latency and queue: none is given",
            ),
        ] {
            assert_eq!(tree(&tbf(fields)).expect_err("an error"), expected);
        }
    }
}
