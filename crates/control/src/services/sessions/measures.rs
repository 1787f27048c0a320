//! What an instrument wants to know of a connection, taken from the segments that it sends and receives.
//!
//! smoltcp estimates round-trip times in milliseconds and tells nobody. Here each acknowledgement gives one sample: the
//! time since the newest segment that it covers was sent, unless anything has been sent again since (Karn's algorithm,
//! RFC 6298, 3).

use super::offers::shift_of;
use base::{Span, Time};
use std::collections::VecDeque;
use wire::tcp::{Flags, Packet};

/// Round-trip times of a connection's segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// How many were taken.
    pub count: u64,
    /// Their sum, in picoseconds.
    pub sum_ps: u128,
    /// The least.
    pub min: Span,
    /// The greatest.
    pub max: Span,
    /// The smoothed one of RFC 6298, 2: each takes an eighth.
    pub smoothed: Span,
    /// The last one.
    pub last: Span,
}

impl RoundTrips {
    fn take(&mut self, sample: Span) {
        let first = self.count == 0;
        self.count += 1;
        self.sum_ps += sample.0.max(0) as u128;
        self.min = if first { sample } else { self.min.min(sample) };
        self.max = self.max.max(sample);
        self.smoothed = if first { sample } else { Span((self.smoothed.0 * 7 + sample.0) / 8) };
        self.last = sample;
    }
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Round-trip times.
    pub round_trips: RoundTrips,
    /// How much the other end takes beyond what it has acknowledged, as it last said: bytes.
    pub window: u32,
    /// Bytes sent and not acknowledged, SYN and FIN included.
    pub in_flight: u32,
    /// The most that ever were.
    pub in_flight_max: u32,
    /// Bytes acknowledged, SYN and FIN included.
    pub acknowledged: u64,
    /// Segments sent with data.
    pub data_segments: u64,
    /// Segments sent that did nothing but acknowledge.
    pub pure_acks: u64,
}

/// The same, and what it is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Measures {
    pub(super) measured: Measured,
    /// Segments that were sent, by the sequence number behind them, and when.
    timed: VecDeque<(u32, Time)>,
    /// The first sequence number that has not been acknowledged, and the one behind the last that was sent.
    span: Option<(u32, u32)>,
    /// By how many bits each end offers to shift its windows.
    own_shift: Option<u8>,
    other_shift: Option<u8>,
}

fn is_behind(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Measures {
    /// A segment leaves.
    pub(super) fn sent<T: AsRef<[u8]>>(&mut self, now: Time, segment: &Packet<T>) {
        let (first, len) = (segment.sequence(), segment.sequence_len());
        let behind = first.wrapping_add(len);
        if segment.flags().has(Flags::SYN) {
            self.own_shift = shift_of(segment);
        }
        self.measured.data_segments += u64::from(!segment.payload().is_empty());
        self.measured.pure_acks += u64::from(len == 0 && !segment.flags().has(Flags::RST));
        let (una, next) = self.span.unwrap_or((first, first));
        if len > 0 && is_behind(next, first) {
            // Sent again: whose acknowledgement comes next can't be told.
            self.timed.clear();
        } else if len > 0 {
            self.timed.push_back((behind, now));
        }
        let next = if is_behind(behind, next) { behind } else { next };
        self.span = Some((una, next));
        self.count(una, next);
    }

    /// A segment has come.
    pub(super) fn heard<T: AsRef<[u8]>>(&mut self, now: Time, segment: &Packet<T>) {
        let flags = segment.flags();
        if flags.has(Flags::SYN) {
            self.other_shift = shift_of(segment);
        }
        // RFC 7323, 2.2: windows are shifted if both ends offer it, and that of a SYN never is.
        let shift = match (self.own_shift, self.other_shift) {
            (Some(_), Some(shift)) if !flags.has(Flags::SYN) => shift,
            _ => 0,
        };
        // RFC 9293, 3.10.7.4: a segment without ACK is dropped, and a reset ends the connection: neither opens a
        // window.
        if flags.has(Flags::ACK) && !flags.has(Flags::RST) {
            self.measured.window = u32::from(segment.window()) << shift;
        }
        let Some((una, next)) = self.span.filter(|_| flags.has(Flags::ACK)) else { return };
        let acknowledged = segment.acknowledgment();
        if !is_behind(acknowledged, una) || is_behind(acknowledged, next) {
            return;
        }
        let mut newest = None;
        while let Some((_, at)) = self.timed.front().filter(|(behind, _)| !is_behind(*behind, acknowledged)) {
            newest = Some(*at);
            self.timed.pop_front();
        }
        if let Some(at) = newest {
            self.measured.round_trips.take(now - at);
        }
        self.measured.acknowledged += u64::from(acknowledged.wrapping_sub(una));
        self.span = Some((acknowledged, next));
        self.count(acknowledged, next);
    }

    fn count(&mut self, una: u32, next: u32) {
        let measured = &mut self.measured;
        measured.in_flight = next.wrapping_sub(una);
        measured.in_flight_max = measured.in_flight_max.max(measured.in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::tcp::{Options, Repr};

    fn segment(sequence: u32, acknowledgment: u32, payload: usize) -> Packet<Vec<u8>> {
        let repr = Repr {
            src_port: 1,
            dst_port: 2,
            sequence,
            acknowledgment,
            reserved: 0,
            flags: Flags::ACK,
            window: 1_000,
            urgent: 0,
            options: Options::NONE,
        };
        let mut bytes = vec![0; repr.buffer_len() + payload];
        repr.emit(&mut bytes);
        Packet::new_unchecked(bytes)
    }

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }

    #[test]
    fn an_acknowledgement_times_the_newest_segment_that_it_covers() {
        let mut measures = Measures::default();
        measures.sent(ms(0), &segment(u32::MAX - 99, 0, 100));
        measures.sent(ms(4), &segment(0, 0, 100));
        assert_eq!(
            (measures.measured.in_flight, measures.measured.data_segments),
            (200, 2),
            "across the wrap"
        );
        measures.heard(ms(10), &segment(0, 100, 0));
        let trips = measures.measured.round_trips;
        assert_eq!((trips.count, trips.last, measures.measured.in_flight), (1, Span::from_ms(6), 0));
        assert_eq!(measures.measured.window, 1_000);
    }

    #[test]
    fn a_reset_says_nothing_of_the_window() {
        let mut measures = Measures::default();
        measures.sent(ms(0), &segment(0, 0, 100));
        for (flags, window) in [(Flags::SYN, 0), (Flags::ACK, 1_000), (Flags::RST, 1_000)] {
            let repr = Repr {
                src_port: 1,
                dst_port: 2,
                sequence: 0,
                acknowledgment: 0,
                reserved: 0,
                flags,
                window: if flags == Flags::ACK { 1_000 } else { 7 },
                urgent: 0,
                options: Options::NONE,
            };
            let mut bytes = vec![0; repr.buffer_len()];
            repr.emit(&mut bytes);
            measures.heard(ms(1), &Packet::new_unchecked(bytes));
            assert_eq!(measures.measured.window, window);
        }
    }

    #[test]
    fn what_was_sent_again_is_not_timed() {
        let mut measures = Measures::default();
        measures.sent(ms(0), &segment(0, 0, 100));
        measures.sent(ms(1_000), &segment(0, 0, 100));
        measures.heard(ms(1_001), &segment(0, 100, 0));
        assert_eq!((measures.measured.round_trips.count, measures.measured.in_flight), (0, 0));
        measures.heard(ms(1_002), &segment(0, 5_000, 0));
        assert_eq!(measures.measured.in_flight, 0, "of what was never sent nothing is acknowledged");
    }
}
