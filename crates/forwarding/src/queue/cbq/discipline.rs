//! CBQ as a discipline: packets in and out, and what it reports.

use super::super::counters::QueueRow;
use super::super::{Backlog, Context, Discipline, Packet};
use super::{Cbq, NO_CUTOFF, Node, build};
use base::device::DropReason;
use base::{Frame, Span, Time};

impl Discipline for Cbq {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let found = self.classifier.find(&packet.frame).map(|at| at as usize);
        let Some((at, leaf)) = found.and_then(|at| Some((at, self.leaves.get_mut(at)?))) else {
            self.inner.refuse(packet, cx, DropReason::NoClass);
            return false;
        };
        let queued = self.inner.enqueue(&mut *leaf.queue, packet, cx);
        leaf.waits = leaf.queue.backlog().packets;
        let (waits, band) = (leaf.waits > 0, leaf.band);
        self.lower_cutoff(at, cx.now);
        self.sets.set_backlogged(at, band, waits);
        if self.sets.stalled(at) {
            self.stalled.release(at as u32);
            self.sets.set_stalled(at, false);
        }
        queued
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = match self.held.take() {
            // It goes now, not when it was looked for.
            Some(packet) => {
                if let Some(sent) = &mut self.transmitting {
                    sent.at = cx.now;
                }
                Some(packet)
            }
            None => self.next(cx),
        }?;
        self.inner.counters.leave(cx.now, &packet);
        Some(packet)
    }

    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        if self.held.is_empty() {
            let packet = self.next(cx);
            self.held.put(packet);
        }
        self.held.len()
    }

    fn backlog(&self) -> Backlog {
        self.inner.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        if let Some(packet) = self.held.take() {
            self.inner.counters.lose(cx.now, &packet, reason);
            cx.drop(packet, reason);
        }
        for leaf in &mut self.leaves {
            self.inner.clear(&mut *leaf.queue, cx, reason);
            (leaf.waits, leaf.deficit) = (0, 0);
        }
        self.nodes.iter_mut().for_each(|node| node.estimator.reset());
        (self.transmitting, self.toplevel) = (None, NO_CUTOFF);
        self.sets.reset();
        self.parking.clear();
        self.stalled.clear();
        self.open_all();
    }

    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>) {
        let seconds = |ps: i64| ps as f64 / 1e12;
        let extra = |node: &Node| {
            let estimator = &node.estimator;
            let scale = node.estimator.scale();
            vec![
                ("rate_bps", estimator.rate().0 as f64),
                ("borrowed_packets", node.borrowed as f64),
                ("average_idle_s", seconds(estimator.avgidle) / scale),
                ("over_for_s", seconds(estimator.undertime.saturating_sub(now.0) as i64)),
            ]
        };
        let counters = self.inner.counters.clone();
        rows.push(QueueRow::new(path, "cbq", counters).with(extra(&self.nodes[self.root()])));
        for (at, (name, node)) in self.names.iter().zip(&self.nodes).enumerate() {
            let parent = self.parents[at].map(|parent| format!("{path}/{}", self.names[parent as usize]));
            let (path, first) = (format!("{path}/{name}"), rows.len());
            let mut extra = extra(node);
            if let Some(leaf) = self.leaves.get(at) {
                leaf.queue.report(&path, now, rows);
                extra.push(("quantum_bytes", leaf.quantum as f64 / build::BYTE as f64));
            } else {
                extra.extend([
                    ("sent_packets", node.sent_packets as f64),
                    ("sent_bytes", node.sent_bytes as f64),
                ]);
                rows.push(QueueRow::new(path, "class", Default::default()));
            }
            if let Some(row) = rows.get_mut(first) {
                row.parent = parent;
                row.counters.overlimits += node.overlimits;
                row.extra.extend(extra);
            }
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.held.get().into_iter().for_each(|packet| see(&packet.frame));
        self.leaves.iter().for_each(|leaf| leaf.queue.show_held(see));
    }

    fn watch(&mut self, bin: Span) {
        self.inner.counters.watch(bin);
        self.leaves.iter_mut().for_each(|leaf| leaf.queue.watch(bin));
    }
}
