//! CoDel, the state machine of one queue (RFC 8289).

use super::super::Packet;
use base::{Span, Time};

/// What all queues of a discipline have in common.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Time in the queue that is acceptable (RFC 8289, 4.3).
    pub target: Span,
    /// For how long it may be exceeded (RFC 8289, 4.3).
    pub interval: Span,
    /// The longest packet: a queue of no more bytes than that is never too long (RFC 8289, 5.3).
    pub longest: u32,
    /// Mark instead of dropping (RFC 8290, 5.2.6).
    pub ecn: bool,
}

/// The queue that CoDel works on, and what becomes of packets.
pub trait Source {
    /// Takes the packet at the head.
    fn pop(&mut self) -> Option<Packet>;
    /// Bytes that wait in the queue: CoDel does not drop while they are no more than one longest packet (RFC 8289,
    /// 4.4).
    fn bytes(&self) -> u64;
    /// The packet is dropped.
    fn drop(&mut self, packet: Packet);
    /// Marks a packet if its transport is capable of that, and returns whether it is marked.
    fn mark(&mut self, packet: &mut Packet) -> bool;
}

/// CoDel's variables (RFC 8289, 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codel {
    /// When the time in the queue will have been too long for an interval; nothing as long as it is acceptable.
    first_above: Option<Time>,
    /// When the next packet is to be dropped.
    drop_next: Time,
    /// Packets dropped since dropping began.
    pub count: u32,
    /// What that was when dropping began last.
    last_count: u32,
    /// Is it in the dropping state (RFC 8289, 4.4): has the delay been too long for an interval?
    pub dropping: bool,
}

impl Codel {
    /// A packet from the queue, and whether it may be dropped: packets have been in the queue for too long for an
    /// interval (RFC 8289, 5.6).
    fn pop(&mut self, now: Time, params: &Params, source: &mut impl Source) -> (Option<Packet>, bool) {
        let Some(packet) = source.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let sojourn = now.0.saturating_sub(packet.entered.0);
        if sojourn < params.target.0 as u64 || source.bytes() <= u64::from(params.longest) {
            // It went below: it must stay above for an interval from now on.
            self.first_above = None;
            return (Some(packet), false);
        }
        let since = *self.first_above.get_or_insert(now.saturating_add(params.interval));
        (Some(packet), now >= since && params.interval > Span::ZERO)
    }

    /// When to drop after a drop at `t`: intervals get shorter with the square root of the number of drops (RFC 8289,
    /// 5.6).
    #[inline]
    fn control_law(&self, t: Time, params: &Params) -> Time {
        // The greatest whole number that is not above interval / sqrt(count).
        let square = (params.interval.0 as u128).pow(2) / u128::from(self.count.max(1));
        t.saturating_add(Span(square.isqrt() as i64))
    }

    /// The next packet to be sent (RFC 8289, 5.5). Packets may be dropped on the way.
    pub fn dequeue(&mut self, now: Time, params: &Params, source: &mut impl Source) -> Option<Packet> {
        let (mut packet, mut may_drop) = self.pop(now, params, source);
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let mut head = packet?;
                self.count = self.count.saturating_add(1);
                if params.ecn && source.mark(&mut head) {
                    // A marked packet is a signal as a dropped one is; one is enough now.
                    self.drop_next = self.control_law(self.drop_next, params);
                    return Some(head);
                }
                source.drop(head);
                (packet, may_drop) = self.pop(now, params, source);
                if may_drop {
                    self.drop_next = self.control_law(self.drop_next, params);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            let mut head = packet?;
            if params.ecn && source.mark(&mut head) {
                packet = Some(head);
            } else {
                source.drop(head);
                packet = self.pop(now, params, source).0;
            }
            self.dropping = true;
            // If it was dropping a short time ago, the rate of drops that was right then is a good start (RFC 8289,
            // 5.5).
            let delta = self.count.wrapping_sub(self.last_count);
            let recent = now.0.saturating_sub(self.drop_next.0) / 16 < params.interval.0 as u64;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(now, params);
            self.last_count = self.count;
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::frame;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Default)]
    struct Queue {
        packets: VecDeque<(u64, u32)>,
        dropped: Vec<u64>,
        marked: Vec<u64>,
        /// Packets that entered at times of which this is a divisor can be marked.
        capable: u64,
    }

    impl Source for Queue {
        fn pop(&mut self) -> Option<Packet> {
            let (entered, len) = self.packets.pop_front()?;
            Some(Packet { frame: frame(0, 60), len, entered: Time(entered) })
        }
        fn bytes(&self) -> u64 {
            self.packets.iter().map(|(_, len)| u64::from(*len)).sum()
        }
        fn drop(&mut self, packet: Packet) {
            self.dropped.push(packet.entered.0);
        }
        fn mark(&mut self, packet: &mut Packet) -> bool {
            let capable = self.capable > 0 && packet.entered.0.is_multiple_of(self.capable);
            if capable {
                self.marked.push(packet.entered.0);
            }
            capable
        }
    }

    /// The pseudo-code of RFC 8289, section 5, as it is written there.
    #[derive(Default)]
    struct Naive {
        first_above_time: u64,
        drop_next: u64,
        count: u32,
        lastcount: u32,
        dropping: bool,
    }

    const TARGET: u64 = 5_000;
    const INTERVAL: u64 = 100_000;
    const LONGEST: u64 = 1514;

    impl Naive {
        fn dodequeue(&mut self, now: u64, queue: &mut Queue) -> (Option<(u64, u32)>, bool) {
            let Some(p) = queue.packets.pop_front() else {
                self.first_above_time = 0;
                return (None, false);
            };
            let mut ok_to_drop = false;
            let sojourn_time = now - p.0;
            if sojourn_time < TARGET || queue.bytes() <= LONGEST {
                self.first_above_time = 0;
            } else if self.first_above_time == 0 {
                self.first_above_time = now + INTERVAL;
            } else if now >= self.first_above_time {
                ok_to_drop = true;
            }
            (Some(p), ok_to_drop)
        }

        fn control_law(t: u64, count: u32) -> u64 {
            let fits = |step: u64| step * step * u64::from(count) <= INTERVAL * INTERVAL;
            t + (0..=INTERVAL).rev().find(|step| fits(*step)).unwrap_or(0)
        }

        fn dequeue(&mut self, now: u64, queue: &mut Queue) -> Option<(u64, u32)> {
            let mut r = self.dodequeue(now, queue);
            if self.dropping {
                if !r.1 {
                    self.dropping = false;
                }
                while now >= self.drop_next && self.dropping {
                    queue.dropped.extend(r.0.map(|p| p.0));
                    self.count += 1;
                    r = self.dodequeue(now, queue);
                    if !r.1 {
                        self.dropping = false;
                    } else {
                        self.drop_next = Naive::control_law(self.drop_next, self.count);
                    }
                }
            } else if r.1 {
                queue.dropped.extend(r.0.map(|p| p.0));
                r = self.dodequeue(now, queue);
                self.dropping = true;
                let delta = self.count.wrapping_sub(self.lastcount);
                self.count = 1;
                if delta > 1 && now.saturating_sub(self.drop_next) < 16 * INTERVAL {
                    self.count = delta;
                }
                self.drop_next = Naive::control_law(now, self.count);
                self.lastcount = self.count;
            }
            r.0
        }
    }

    fn params(ecn: bool) -> Params {
        Params { target: Span(TARGET as i64), interval: Span(INTERVAL as i64), longest: LONGEST as u32, ecn }
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn it_does_what_the_pseudo_code_does(
            steps in prop::collection::vec((1u64..3_000, 64u32..1500, 0u8..3, 0u8..40), 50..600),
        ) {
            let (mut codel, mut naive) = (Codel::default(), Naive::default());
            let (mut ours, mut theirs) = (Queue::default(), Queue::default());
            let (mut now, mut at) = (1, 0);
            // Phases of more arrivals than departures, and the other way round.
            for (step, (gap, len, arrivals, phase)) in steps.into_iter().enumerate() {
                now += gap;
                for i in 0..u64::from(arrivals) * u64::from(phase < 30 || step % 100 < 50) {
                    at = now.max(at + i);
                    ours.packets.push_back((now, len));
                    theirs.packets.push_back((now, len));
                }
                let sent = codel.dequeue(Time(now), &params(false), &mut ours).map(|p| (p.entered.0, p.len));
                prop_assert_eq!(sent, naive.dequeue(now, &mut theirs));
                prop_assert_eq!(&ours.dropped, &theirs.dropped);
                prop_assert_eq!(&ours.packets, &theirs.packets);
                prop_assert_eq!((codel.count, codel.dropping), (naive.count, naive.dropping));
            }
        }
    }

    /// A queue that gets a packet and a half for each that it sends.
    fn overload(capable: u64) -> Queue {
        let (mut codel, mut queue) = (Codel::default(), Queue { capable, ..Queue::default() });
        for step in 0..2000 {
            let now = 1000 * (step + 1);
            (0..1 + step % 2).for_each(|_| queue.packets.push_back((now, 1000)));
            codel.dequeue(Time(now), &params(capable > 0), &mut queue);
        }
        queue
    }

    #[test]
    fn capable_packets_are_marked_instead() {
        let (dropped, marked, mixed) = (overload(0), overload(1000), overload(3000));
        assert!(dropped.dropped.len() > 20 && dropped.marked.is_empty());
        assert!(marked.dropped.is_empty() && marked.marked.len() > 20);
        assert!(!mixed.dropped.is_empty() && !mixed.marked.is_empty());
    }

    #[test]
    fn intervals_get_shorter_with_the_square_root() {
        for (count, expected) in [(0, 100_000), (1, 100_000), (2, 70_710), (4, 50_000), (u32::MAX, 1)] {
            let codel = Codel { count, ..Codel::default() };
            assert_eq!(codel.control_law(Time(7), &params(false)), Time(7 + expected));
        }
    }
}
