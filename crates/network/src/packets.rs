//! Table `packets`: every packet of the flows that keep them, those that were lost included.

use super::columns::Columns;
use super::{Flow, Network};
use base::{StreamId, Time};
use serde_json::{Value, json};
use tester::sink::Kept;

/// Flow by flow, stream by stream, in order of sequence numbers. An arrival is absent of a packet that is lost, or still on its way, or
/// whose sink is in another process; if its source is, only what arrived is known.
pub fn table(network: &Network) -> Value {
    let mut table = Columns::new(&["flow", "stream", "sequence", "departure_ps", "arrival_ps", "delay_ps"]);
    for (number, flow) in network.flows.iter().enumerate().filter(|(_, flow)| flow.spec.log) {
        for stream in streams_of(network, number, flow) {
            let arrived = arrivals(network, flow, stream);
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
            let Some(departures) = departures(network, flow, stream) else {
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

fn streams_of(network: &Network, number: usize, flow: &Flow) -> impl Iterator<Item = StreamId> {
    let is_own = move |stream: &StreamId| {
        network.streams.get(stream.index()).is_some_and(|flow| *flow as usize == number)
    };
    (flow.first_stream..).map(StreamId).take_while(is_own)
}

/// What arrived, by sequence number.
fn arrivals(network: &Network, flow: &Flow, stream: StreamId) -> Vec<Kept> {
    let sink = network.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
    let mut kept = sink.and_then(|stream| stream.kept()).map(<[Kept]>::to_vec).unwrap_or_default();
    kept.sort_unstable_by_key(|kept| kept.sequence);
    kept
}

/// When the packets were due, if the source is here.
fn departures<'a>(network: &'a Network, flow: &Flow, stream: StreamId) -> Option<&'a [Time]> {
    let mut sources = network.generator(flow.spec.from)?.sources().iter();
    sources.find_map(|source| source.departures().find(|(id, _)| *id == stream).map(|found| found.1))
}
