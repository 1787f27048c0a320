//! Strict priority (tc-prio): a band is asked only when all more urgent ones have nothing to send.

use super::bits::BitSet;
use super::classify::Classifier;
use super::counters::QueueRow;
use super::parking::Parking;
use super::spec::{PrioClass, PrioSpec};
use super::{Backlog, Context, Discipline, Facts, Inner, Packet, build};
use base::describe::ClassName;
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::{Frame, Span, Time};

/// Bands, the most urgent first.
///
/// A band that has packets but whose own queue holds them back does not stand in the way of others. Unlike Linux,
/// which has at most sixteen bands and asks one after the other, a decision takes the same time with thousands.
#[derive(Debug)]
pub struct Prio {
    classifier: Classifier,
    bands: Vec<Band>,
    /// Bands that may have something to send now.
    active: BitSet,
    parking: Parking,
    inner: Inner,
}

#[derive(Debug)]
struct Band {
    name: String,
    queue: Box<dyn Discipline>,
}

impl Prio {
    /// What a user described, with the queues below.
    pub fn new(spec: &PrioSpec, facts: &Facts) -> Result<Prio, Diagnostic> {
        spec.check()?;
        let names: Vec<&str> = spec.classes.iter().map(|class| &*class.0).collect();
        let default = spec.default.as_deref().or(names.last().copied());
        let classifier = Classifier::new(&spec.filters, default, &names)?;
        let band = |(name, class): &(ClassName, PrioClass)| {
            let queue = build(&class.queue, facts).at("queue").at(&**name).at("classes")?;
            Ok(Band { name: name.to_string(), queue })
        };
        let bands = spec.classes.iter().map(band).collect::<Result<Vec<_>, Diagnostic>>()?;
        let (active, parking) = (BitSet::new(bands.len()), Parking::new(bands.len()));
        Ok(Prio { classifier, bands, active, parking, inner: Inner::default() })
    }

    /// Asks bands in order until one has an answer.
    #[inline]
    fn first<T>(
        &mut self,
        cx: &mut Context<'_>,
        question: impl Fn(&mut Inner, &mut dyn Discipline, &mut Context<'_>) -> Option<T>,
    ) -> Option<T> {
        while let Some(band) = self.parking.due(cx.now) {
            self.active.insert(band as usize);
        }
        while let Some(band) = self.active.first() {
            let queue = &mut *self.bands.get_mut(band)?.queue;
            let (answer, until) = cx.ask(|cx| question(&mut self.inner, queue, cx));
            let empty = queue.backlog().packets == 0;
            if empty || answer.is_none() {
                self.active.remove(band);
            }
            if answer.is_some() {
                return answer;
            }
            if !empty {
                self.parking.park(band as u32, until);
            }
        }
        if let Some(next) = self.parking.next() {
            cx.wake_at(next);
        }
        None
    }
}

impl Discipline for Prio {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let found = self.classifier.find(&packet.frame).map(|at| at as usize);
        let Some((place, band)) = found.and_then(|at| Some((at, self.bands.get_mut(at)?))) else {
            self.inner.refuse(packet, cx, DropReason::NoClass);
            return false;
        };
        let queued = self.inner.enqueue(&mut *band.queue, packet, cx);
        if band.queue.backlog().packets > 0 {
            self.parking.release(place as u32);
            self.active.insert(place);
        }
        queued
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        self.first(cx, |inner, queue, cx| inner.dequeue(queue, cx))
    }

    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        self.first(cx, |inner, queue, cx| inner.peek(queue, cx))
    }

    fn backlog(&self) -> Backlog {
        self.inner.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        for band in &mut self.bands {
            self.inner.clear(&mut *band.queue, cx, reason);
        }
        self.active.clear();
        self.parking.clear();
    }

    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>) {
        let counters = self.inner.counters.clone();
        rows.push(QueueRow::new(path, "prio", counters));
        for (place, band) in self.bands.iter().enumerate() {
            let at = rows.len();
            band.queue.report(&format!("{path}/{}", band.name), now, rows);
            if let Some(row) = rows.get_mut(at) {
                row.extra.push(("band", place as f64));
            }
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.bands.iter().for_each(|band| band.queue.show_held(see));
    }

    fn watch(&mut self, bin: Span) {
        self.inner.counters.watch(bin);
        self.bands.iter_mut().for_each(|band| band.queue.watch(bin));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{offer, take_all, tree, wait};

    const THREE: &str = r#"{"discipline": "prio",
        "classes": {"ef": {}, "af": {"queue": {"discipline": "tbf", "rate": 8000000, "burst": 1000, "limit": 9000}}, "rest": {}},
        "filters": [{"dscp": [46], "class": "ef"}, {"dscp": [10], "class": "af"}]}"#;

    #[test]
    fn urgent_packets_leave_first() {
        let mut tree = tree(THREE).expect("a tree");
        offer(&mut tree, 0, &[(0, 500), (10, 500), (46, 500), (0, 100), (46, 100)]);
        assert_eq!(take_all(&mut tree, 0), [46, 46, 10, 0, 0]);
        assert_eq!(wait(&mut tree, 0), None);
    }

    #[test]
    fn a_band_that_is_held_back_lets_others_pass() {
        let mut tree = tree(THREE).expect("a tree");
        offer(&mut tree, 0, &[(10, 1000), (10, 400), (0, 500)]);
        assert_eq!(take_all(&mut tree, 0), [10, 0]);
        assert_eq!(wait(&mut tree, 100), Some(400_000_000));
        offer(&mut tree, 200, &[(46, 60)]);
        assert_eq!(take_all(&mut tree, 300), [46]);
        assert_eq!(take_all(&mut tree, 399_999_999), [0; 0]);
        assert_eq!(take_all(&mut tree, 400_000_000), [10]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let of = |classes: &str| {
            tree(&format!(r#"{{"discipline": "prio", "classes": {classes}}}"#)).expect_err("an error")
        };
        assert_eq!(of("[]"), "classes: there is none: at least one is needed");
        assert_eq!(of(r#"[{"name": "a"}, {"name": "a"}]"#), "classes/a: 'a' is given twice");
        assert_eq!(
            of(r#"[{"name": "a", "queue": {"discipline": "pfifo", "limit": 0}}]"#),
            "classes/a/queue/limit: 0: it should be 1 to 4294967295"
        );
    }
}
