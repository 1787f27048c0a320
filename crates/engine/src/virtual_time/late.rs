//! Frames that a fault delayed or copied: they arrive out of their lane's order.

use super::World;
use super::keys::Due;
use crate::digest;
use crate::impair::Fate;
use base::{Frame, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Frames ordered by arrival, then by receiving port, then as they were held back.
#[derive(Default)]
pub(super) struct LateFrames {
    heap: BinaryHeap<Reverse<Late>>,
    order: u64,
}

struct Late {
    at: Time,
    port: u32,
    order: u64,
    frame: Frame,
}

impl LateFrames {
    pub(super) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse(late)| late.at)
    }
    /// When the next one arrives, and by which port.
    pub(super) fn next_port(&self) -> Option<(Time, u32)> {
        self.heap.peek().map(|Reverse(late)| (late.at, late.port))
    }
    fn push(&mut self, at: Time, port: u32, frame: Frame) {
        self.heap.push(Reverse(Late { at, port, order: self.order, frame }));
        self.order += 1;
    }
    /// Takes out what was to arrive by `port`.
    pub(super) fn clear(&mut self, port: u32) -> Vec<Frame> {
        let all = core::mem::take(&mut self.heap).into_vec();
        let (gone, stays): (Vec<_>, Vec<_>) = all.into_iter().partition(|Reverse(late)| late.port == port);
        self.heap = stays.into();
        gone.into_iter().map(|Reverse(late)| late.frame).collect()
    }
    /// Takes out those that are to arrive by ports of which this is true. They keep their places among all.
    pub(super) fn part(&mut self, is_wanted: impl Fn(u32) -> bool) -> LateFrames {
        let all = core::mem::take(&mut self.heap).into_vec();
        let (wanted, stays): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|Reverse(late)| is_wanted(late.port));
        self.heap = stays.into();
        LateFrames { heap: wanted.into(), order: self.order }
    }
    /// Takes back what another one has.
    pub(super) fn join(&mut self, mut other: LateFrames) {
        self.heap.append(&mut other.heap);
        self.order = self.order.max(other.order);
    }
    /// Each frame, with the port that it is to arrive by, in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Frame)> {
        self.heap.iter().map(|Reverse(late)| (late.port, &late.frame))
    }
}

/// What faults do is folded into a digest with one of these codes in place of a content.
const LOST: u64 = 0x6c6f_7374;
const LATE: u64 = 0x6c61_7465;
const COPIED: u64 = 0x636f_7079;

impl World {
    /// A frame reaches the end of lane `g`, which faults act on.
    pub(super) fn arrive_impaired(&mut self, g: u32, frame: Frame) {
        let (now, wire_len) = (self.now, frame.wire_len());
        let port = &mut self.ports[g as usize];
        let Some(impairments) = &mut port.impairments else { return };
        let fate = impairments.decide(now, wire_len, frame);
        match fate {
            Fate::Lost(reason, frame) => {
                port.drops.count(reason);
                port.fates.fold(now, LOST ^ (reason as u64) << 32);
                self.lanes[g as usize].lost_on_link(now, frame, reason);
            }
            Fate::Arrives { at, frame, corrupted, copied } => {
                let lane = &mut self.lanes[g as usize];
                if let Some(before) = corrupted {
                    port.fates.fold(at, digest::content(&frame, wire_len));
                    lane.altered_on_link(now, before, &frame);
                }
                if copied {
                    port.fates.fold(at, COPIED);
                    port.duplicated += 1;
                    lane.copied_on_link(&frame, 1);
                }
                let copies = if copied { 2 } else { 1 };
                if at > now {
                    port.fates.fold(at, LATE);
                    port.late += copies;
                    for _ in 1..copies {
                        self.late.push(at, g ^ 1, frame.clone());
                    }
                    self.late.push(at, g ^ 1, frame);
                } else {
                    if copied {
                        port.late += 1;
                        self.late.push(at, g ^ 1, frame.clone());
                    }
                    self.arrive_at(g, frame, false);
                }
            }
        }
        self.attend(g);
        self.look_ahead();
    }

    /// The next late frame arrives.
    pub(super) fn arrive_late(&mut self) {
        if let Some(Reverse(late)) = self.late.heap.pop() {
            let g = late.port ^ 1;
            self.ports[g as usize].late -= 1;
            self.look_ahead();
            self.begin_turn(Due::Arrival(g));
            self.arrive_at(g, late.frame, false);
        }
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Late) -> bool {
        self.order == other.order
    }
}
impl Eq for Late {}
impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Late {
    fn cmp(&self, other: &Late) -> core::cmp::Ordering {
        (self.at, self.port, self.order).cmp(&(other.at, other.port, other.order))
    }
}
