//! Table `packets`: every packet of the flows that keep them, those that were lost included.

use super::{Flow, Testbed};
use crate::sink::Kept;
use base::{StreamId, Time};
use network::columns::Columns;
use serde_json::{Value, json};

/// Flow by flow, stream by stream, in order of sequence numbers. An arrival is absent of a packet that is lost, or still on its way, or
/// whose sink is in another process; if its source is, only what arrived is known.
pub fn table(testbed: &Testbed) -> Value {
    let mut table = Columns::new(&["flow", "stream", "sequence", "departure_ps", "arrival_ps", "delay_ps"]);
    for (number, flow) in testbed.flows.iter().enumerate().filter(|(_, flow)| flow.spec.log) {
        for stream in streams_of(testbed, number, flow) {
            let arrived = arrivals(testbed, flow, stream);
            let mut push = |sequence: u64, departure: Time, kept: Option<&Kept>| {
                table.push([
                    json!(number),
                    json!(stream.0),
                    json!(sequence),
                    json!(departure.0),
                    json!(kept.map(|kept| kept.arrival.0)),
                    json!(kept.map(|kept| kept.delay.0)),
                ]);
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

fn streams_of(testbed: &Testbed, number: usize, flow: &Flow) -> impl Iterator<Item = StreamId> {
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
    let mut sources = testbed.generator(flow.spec.from)?.sources().iter();
    sources.find_map(|source| source.departures().find(|(id, _)| *id == stream).map(|found| found.1))
}
