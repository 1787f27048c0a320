//! Deficit round robin (Shreedhar and Varghese 1995; tc-drr).

use super::classify::Classifier;
use super::counters::QueueRow;
use super::parking::Parking;
use super::spec::{DrrClass, DrrSpec};
use super::{Backlog, Context, Discipline, Facts, Inner, Packet, build};
use base::describe::ClassName;
use base::device::DropReason;
use base::diagnostic::{At, Diagnostic};
use base::{Frame, Span, Time};
use std::collections::VecDeque;

/// Classes that take turns; each may send its quantum in a turn, and keeps what it could not use since the next
/// packet was too long.
///
/// Over any time in which two classes have packets all along, what they sent differs by little, measured in their
/// quanta: `|S_i / q_i - S_j / q_j| <= 1 + L/q_i + L/q_j` with `L` the longest packet.
///
/// A class that goes empty forgets its deficit (figure 4 of the paper). So does one whose own queue holds its packets
/// back, and gets a fresh quantum when it comes back. (Linux asks for classes that never hold back and stops at one
/// that does.)
#[derive(Debug)]
pub struct Drr {
    classifier: Classifier,
    classes: Vec<Class>,
    /// Classes that may have something to send, in order of their turns.
    active: VecDeque<u32>,
    parking: Parking,
    inner: Inner,
}

#[derive(Debug)]
struct Class {
    name: String,
    quantum: u64,
    deficit: u64,
    /// Is it in the list of active classes?
    active: bool,
    queue: Box<dyn Discipline>,
}

impl Drr {
    /// What a user described, with the queues below.
    pub fn new(spec: &DrrSpec, facts: &Facts) -> Result<Drr, Diagnostic> {
        spec.check()?;
        let names: Vec<&str> = spec.classes.iter().map(|class| &*class.0).collect();
        let classifier = Classifier::new(&spec.filters, spec.default.as_deref(), &names)?;
        let class = |(name, class): &(ClassName, DrrClass)| {
            let quantum = class.quantum.map_or(u64::from(facts.longest()), |quantum| quantum.0);
            let queue = build(&class.queue, facts).at("queue").at(&**name).at("classes")?;
            Ok(Class { name: name.to_string(), quantum, deficit: 0, active: false, queue })
        };
        let classes = spec.classes.iter().map(class).collect::<Result<Vec<_>, Diagnostic>>()?;
        let (active, parking) = (VecDeque::with_capacity(classes.len()), Parking::new(classes.len()));
        Ok(Drr { classifier, classes, active, parking, inner: Inner::default() })
    }

    /// Puts a class at the end of the list, with a quantum for its first turn.
    #[inline]
    fn activate(&mut self, place: u32) {
        let Some(class) = self.classes.get_mut(place as usize) else { return };
        self.parking.release(place);
        if !class.active {
            class.active = true;
            class.deficit = class.quantum;
            self.active.push_back(place);
        }
    }

    /// Turns the list until a class is at its head that may send its first packet, and says how long that is.
    fn turn(&mut self, cx: &mut Context<'_>) -> Option<(u32, u32)> {
        // How many classes in a row could not send, and how many more rounds the first of them has to wait for.
        let (mut passed, mut missing) = (0, u64::MAX);
        while let Some(place) = self.parking.due(cx.now) {
            self.activate(place);
        }
        while let Some(&place) = self.active.front() {
            let class = self.classes.get_mut(place as usize)?;
            let (inner, queue) = (&mut self.inner, &mut *class.queue);
            let (head, until) = cx.ask(|cx| inner.peek(queue, cx));
            match head {
                Some(len) if u64::from(len) <= class.deficit => return Some((place, len)),
                Some(len) => {
                    class.deficit += class.quantum;
                    let short = u64::from(len).saturating_sub(class.deficit);
                    missing = missing.min(if short > 0 { short.div_ceil(class.quantum) } else { 0 });
                    self.active.rotate_left(1);
                    passed += 1;
                    if passed == self.active.len() {
                        self.grant(missing);
                        (passed, missing) = (0, u64::MAX);
                    }
                }
                None => {
                    let waits = class.queue.backlog().packets > 0;
                    self.retire();
                    (passed, missing) = (0, u64::MAX);
                    if waits {
                        self.parking.park(place, until);
                    }
                }
            }
        }
        if let Some(next) = self.parking.next() {
            cx.wake_at(next);
        }
        None
    }

    /// Gives every class its quanta of rounds in which nobody could send, however small they are beside packets.
    fn grant(&mut self, rounds: u64) {
        for place in self.active.iter().filter(|_| rounds > 0) {
            if let Some(class) = self.classes.get_mut(*place as usize) {
                class.deficit += rounds * class.quantum;
            }
        }
    }

    /// Takes the class at the head out of the list.
    fn retire(&mut self) {
        let place = self.active.pop_front();
        if let Some(class) = place.and_then(|place| self.classes.get_mut(place as usize)) {
            class.active = false;
            class.deficit = 0;
        }
    }
}

impl Discipline for Drr {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let found = self.classifier.find(&packet.frame);
        let Some((place, class)) = found.and_then(|at| Some((at, self.classes.get_mut(at as usize)?))) else {
            self.inner.refuse(packet, cx, DropReason::NoClass);
            return false;
        };
        let queued = self.inner.enqueue(&mut *class.queue, packet, cx);
        if class.queue.backlog().packets > 0 {
            self.activate(place);
        }
        queued
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let (place, _) = self.turn(cx)?;
        let class = self.classes.get_mut(place as usize)?;
        let packet = self.inner.dequeue(&mut *class.queue, cx)?;
        class.deficit = class.deficit.saturating_sub(u64::from(packet.len));
        if class.queue.backlog().packets == 0 {
            self.retire();
        }
        Some(packet)
    }

    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        self.turn(cx).map(|(_, len)| len)
    }

    fn backlog(&self) -> Backlog {
        self.inner.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        for class in &mut self.classes {
            self.inner.clear(&mut *class.queue, cx, reason);
            (class.active, class.deficit) = (false, 0);
        }
        self.active.clear();
        self.parking.clear();
    }

    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>) {
        let counters = self.inner.counters.clone();
        rows.push(QueueRow::new(path, "drr", counters));
        for class in &self.classes {
            let at = rows.len();
            class.queue.report(&format!("{path}/{}", class.name), now, rows);
            if let Some(row) = rows.get_mut(at) {
                row.extra.push(("quantum_bytes", class.quantum as f64));
                row.extra.push(("deficit_bytes", class.deficit as f64));
            }
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.classes.iter().for_each(|class| class.queue.show_held(see));
    }

    fn watch(&mut self, bin: Span) {
        self.inner.counters.watch(bin);
        self.classes.iter_mut().for_each(|class| class.queue.watch(bin));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{extra, facts, offer, take_all, tree};
    use super::super::{Tree, TreeSpec};
    use base::random::Streams;

    const TWO: &str = r#"{"discipline": "drr", "default": "b",
        "classes": {"a": {"quantum": 500}, "b": {"quantum": 1000}},
        "filters": [{"dscp": [10], "class": "a"}]}"#;

    #[test]
    fn a_turn_is_a_quantum_and_what_was_left_of_the_last() {
        let mut tree = tree(TWO).expect("a tree");
        offer(&mut tree, 0, &[(10, 400), (10, 400), (10, 400), (10, 400), (10, 100)]);
        offer(&mut tree, 0, &[(0, 800), (0, 800), (0, 800), (0, 400)]);
        // a: 500, 400 sent, 100 left; 600, 400 sent, 200 left; 700; 800, two sent, then 500 of a last turn.
        // b: 1000, 800 sent, 200 left; 1200, 800 sent, 400 left; 1400, 800 and 400 sent.
        assert_eq!(take_all(&mut tree, 0), [10, 0, 10, 0, 10, 0, 0, 10, 10]);
        assert_eq!(extra(&tree, 0, "root/a", "deficit_bytes"), 0.0);
    }

    #[test]
    fn without_a_class_there_is_no_place() {
        let json = r#"{"discipline": "drr", "classes": {"a": {}}}"#;
        let mut tree = tree(json).expect("a tree");
        offer(&mut tree, 0, &[(10, 400)]);
        assert_eq!(tree.totals().dropped.packets.get(base::device::DropReason::NoClass), 1);
        assert_eq!(extra(&tree, 0, "root/a", "quantum_bytes"), 1514.0);
    }

    #[test]
    fn quanta_far_below_a_packet_take_no_longer_and_share_as_ever() {
        let json = r#"{"discipline": "drr", "default": "b",
            "classes": {"a": {"quantum": 1}, "b": {"quantum": 3}},
            "filters": [{"dscp": [10], "class": "a"}]}"#;
        let mut tree = tree(json).expect("a tree");
        offer(&mut tree, 0, &[(10, 1000), (10, 1000), (0, 600), (0, 600), (0, 1400), (0, 600), (0, 600)]);
        // b has sent 600 after 200 rounds, 1200 after 400, 2600 after 867, 3200 after 1067; a sends after 1000 and
        // 2000.
        assert_eq!(take_all(&mut tree, 0), [0, 0, 0, 10, 0, 0, 10]);
        let spec = format!(r#"{{"accounting": {{"minimum": 65535}}, "root": {json}}}"#);
        let spec: TreeSpec = crate::queue::testing::spec(&spec).expect("a description");
        let mut tree = Tree::new(&spec, &facts(), Streams::new(1).stream("queue")).expect("a tree");
        offer(&mut tree, 0, &[(10, 60), (0, 60), (0, 60)]);
        assert_eq!(take_all(&mut tree, 0), [0, 0, 10]);
    }

    #[test]
    fn a_quantum_of_nothing_is_refused() {
        let json = r#"{"discipline": "drr", "classes": {"a": {"quantum": 0}}}"#;
        assert_eq!(tree(json).expect_err("an error"), "classes/a/quantum: 0: it is not above zero");
    }
}
