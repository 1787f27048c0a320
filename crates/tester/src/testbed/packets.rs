//! Table `packets`: every packet of the flows that keep them, those that were lost included.

use super::{Flow, Testbed};
use crate::sink::Kept;
use base::table::{Rows, Table};
use base::{Span, StreamId, Time};

base::table! {
    /// Every packet of the flows that keep them, those that were lost included: flow by flow, stream by stream, in
    /// order of sequence numbers.
    pub struct PacketRow in "packets" key ["flow", "stream", "sequence"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// The stream, counted over all flows.
        stream: u32,
        /// Sequence number in the stream, from 0.
        sequence: u64,
        /// When it was due to leave.
        departure_s: Time = "s",
        /// When its last bit arrived; absent if it was lost, is on its way, or its sink is in another process.
        arrival_s: Option<Time> = "s",
        /// From departure to arrival; absent with the arrival.
        delay_s: Option<Span> = "s",
    }
}

/// Flow by flow, stream by stream, in order of sequence numbers. An arrival is absent of a packet that is lost, or
/// still on its way, or whose sink is in another process; if its source is, only what arrived is known.
pub fn table(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (number, flow) in testbed.asked_flows(only).filter(|(_, flow)| flow.spec.log) {
        for stream in streams_of(testbed, number, flow) {
            let arrived = arrivals(testbed, flow, stream);
            let mut push = |sequence: u64, departure: Time, kept: Option<&Kept>| {
                table.push(PacketRow {
                    flow: number,
                    stream: stream.0,
                    sequence,
                    departure_s: departure,
                    arrival_s: kept.map(|kept| kept.arrival),
                    delay_s: kept.map(|kept| kept.delay),
                });
            };
            let Some(departures) = departures(testbed, flow, stream) else {
                arrived.iter().for_each(|kept| push(kept.sequence, kept.departure, Some(kept)));
                continue;
            };
            let mut arrived = arrived.iter().peekable();
            for (sequence, departure) in (0u64..).zip(departures) {
                let kept = arrived.next_if(|kept| kept.sequence == sequence);
                push(sequence, *departure, kept);
            }
        }
    }
    table.finish()
}

/// The streams of a flow, in order.
pub(super) fn streams_of(testbed: &Testbed, number: usize, flow: &Flow) -> impl Iterator<Item = StreamId> {
    let is_own = move |stream: &StreamId| {
        testbed.streams.get(stream.index()).is_some_and(|flow| *flow as usize == number)
    };
    (flow.first_stream..).map(StreamId).take_while(is_own)
}

/// What arrived, by sequence number.
fn arrivals(testbed: &Testbed, flow: &Flow, stream: StreamId) -> Vec<Kept> {
    let sink = testbed.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
    let mut kept = sink.and_then(|stream| stream.kept()).map(<[Kept]>::to_vec).unwrap_or_default();
    kept.sort_unstable_by_key(|kept| kept.sequence);
    kept
}

/// When the packets were due, if the source is here.
fn departures<'a>(testbed: &'a Testbed, flow: &Flow, stream: StreamId) -> Option<&'a [Time]> {
    let source = testbed.generator(flow.spec.from)?.sources().get(flow.source)?;
    source.departures().find(|(id, _)| *id == stream).map(|found| found.1)
}
