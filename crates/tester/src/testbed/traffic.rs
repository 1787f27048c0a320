//! Tables of test traffic: streams by phase, delay over time, and the links that traced packets crossed.

use super::Testbed;
use crate::delay::DelayStats;
use crate::generator::Generator;
use crate::sink::PhaseStats;
use base::{LinkId, StreamId};
use network::columns::Columns;
use serde_json::{Value, json};

/// What one process knows of a stream in a phase.
#[derive(Default)]
struct Row<'a> {
    sent: Option<u64>,
    lost: Option<u64>,
    stats: Option<&'a PhaseStats>,
}

/// Per stream and phase; phase -1 is before the first. Where only the source or only the sink is in this process, what the other
/// would know is absent: what was sent less what was received is lost.
pub fn streams(testbed: &Testbed) -> Value {
    let mut table = Columns::new(&[
        "flow",
        "lsp",
        "stream",
        "phase",
        "sent",
        "received",
        "lost",
        "duplicated",
        "reordered",
        "delay_mean_s",
        "delay_sd_s",
        "delay_min_s",
        "delay_max_s",
        "delay_p50_s",
        "delay_p90_s",
        "delay_p99_s",
        "delay_p999_s",
        "jitter_s",
    ]);
    for node in testbed.ids() {
        let sources = testbed.generator(node.index()).into_iter().flat_map(Generator::sources);
        for (stream, marks) in sources.flat_map(|source| source.sent()) {
            let Some(flow) = testbed.flow_of(stream) else { continue };
            let sink = testbed.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
            // Sequence numbers from the start of a phase to the start of the next.
            let starts = core::iter::once(0).chain(marks.iter().copied());
            for (phase, (from, to)) in starts.zip(marks.iter().copied()).enumerate() {
                let stats = sink.and_then(|sink| sink.phases.get(phase));
                if phase == 0 && to == from {
                    continue;
                }
                let lost = sink.map(|sink| sink.sequence.missing(from, to));
                push(&mut table, testbed, stream, phase, Row { sent: Some(to - from), lost, stats });
            }
        }
    }
    for number in 0..testbed.streams.len() as u32 {
        let stream = StreamId(number);
        let Some(flow) = testbed.flow_of(stream) else { continue };
        if testbed.generator(flow.spec.from).is_some() {
            continue;
        }
        let sink = testbed.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
        for (phase, stats) in sink.into_iter().flat_map(|sink| sink.phases.iter().enumerate()) {
            if phase > 0 || stats.received > 0 {
                push(&mut table, testbed, stream, phase, Row { stats: Some(stats), ..Row::default() });
            }
        }
    }
    table.finish()
}

/// The delays of each flow and phase, all its streams together: moments, quantiles, and the histogram as two lists.
pub fn delays(testbed: &Testbed) -> Value {
    let names = [
        "flow", "phase", "received", "mean_s", "sd_s", "min_s", "p50_s", "p90_s", "p99_s", "p999_s", "max_s",
        "upper_s", "count",
    ];
    let mut table = Columns::new(&names);
    for (number, flow) in testbed.flows.iter().enumerate() {
        let Some(sink) = testbed.sink(flow.spec.to) else { continue };
        let streams = (flow.first_stream..).map(StreamId).take_while(|stream| {
            testbed.streams.get(stream.index()).is_some_and(|flow| *flow as usize == number)
        });
        let mut phases: Vec<DelayStats> = Vec::new();
        for stats in streams.filter_map(|stream| sink.stream(stream)) {
            phases.resize_with(phases.len().max(stats.phases.len()), DelayStats::new);
            phases.iter_mut().zip(&stats.phases).for_each(|(all, one)| all.merge(&one.delay));
        }
        for (phase, delay) in phases.iter().enumerate().filter(|(_, delay)| delay.count() > 0) {
            let (upper, count): (Vec<f64>, Vec<u32>) = delay.bins().unzip();
            table.push([
                json!(number),
                json!(phase as i64 - 1),
                json!(delay.count()),
                json!(delay.mean_s()),
                json!(delay.sd_s()),
                json!(delay.min_s()),
                json!(delay.quantile_s(0.5)),
                json!(delay.quantile_s(0.9)),
                json!(delay.quantile_s(0.99)),
                json!(delay.quantile_s(0.999)),
                json!(delay.max_s()),
                json!(upper),
                json!(count),
            ]);
        }
    }
    table.finish()
}

fn push(table: &mut Columns, testbed: &Testbed, stream: StreamId, phase: usize, row: Row<'_>) {
    let first = testbed.flow_of(stream).map_or(0, |flow| flow.first_stream);
    let delay = row.stats.map(|stats| &stats.delay);
    let of = |value: fn(&DelayStats) -> Option<f64>| json!(delay.and_then(value));
    table.push([
        json!(testbed.streams[stream.index()]),
        json!(stream.0 - first),
        json!(stream.0),
        json!(phase as i64 - 1),
        json!(row.sent),
        json!(row.stats.map(|stats| stats.received)),
        json!(row.lost),
        json!(row.stats.map(|stats| stats.duplicated)),
        json!(row.stats.map(|stats| stats.reordered)),
        of(DelayStats::mean_s),
        of(DelayStats::sd_s),
        of(DelayStats::min_s),
        of(DelayStats::max_s),
        of(|delay| delay.quantile_s(0.5)),
        of(|delay| delay.quantile_s(0.9)),
        of(|delay| delay.quantile_s(0.99)),
        of(|delay| delay.quantile_s(0.999)),
        of(DelayStats::jitter_s),
    ]);
}

/// Delay over time at each sink.
pub fn series(testbed: &Testbed) -> Value {
    let names = ["node", "start_ps", "packets", "mean_s", "min_s", "p50_s", "p99_s", "max_s"];
    let mut table = Columns::new(&names);
    for node in testbed.ids() {
        for bin in testbed.sink(node.index()).into_iter().flat_map(|sink| sink.series().bins()) {
            table.push([
                json!(testbed.node_name(node.index())),
                json!(bin.start.0),
                json!(bin.packets),
                json!(bin.mean_s),
                json!(bin.min_s),
                json!(bin.p50_s),
                json!(bin.p99_s),
                json!(bin.max_s),
            ]);
        }
    }
    table.finish()
}

/// Delay over time of each flow that is followed.
pub fn flow_series(testbed: &Testbed) -> Value {
    let names = ["flow", "start_ps", "packets", "mean_s", "min_s", "max_s"];
    let mut table = Columns::new(&names);
    for (number, flow) in testbed.flows.iter().enumerate() {
        let course = testbed.sink(flow.spec.to).and_then(|sink| sink.course(number as u32));
        for bin in course.into_iter().flat_map(|course| course.bins()) {
            table.push([
                json!(number),
                json!(bin.start.0),
                json!(bin.packets),
                json!(bin.mean_s()),
                json!(bin.min.as_secs_f64()),
                json!(bin.max.as_secs_f64()),
            ]);
        }
    }
    table.finish()
}

/// Compares the links that traced packets crossed with the routes of their LSPs.
pub fn check_routes(testbed: &mut Testbed) {
    for node in testbed.ids() {
        let Some(probe) = testbed.probe_mut(node.index()) else { continue };
        for (stream, links) in probe.take_traces() {
            check_trace(testbed, stream, &links);
        }
    }
}

fn check_trace(testbed: &mut Testbed, stream: StreamId, links: &[LinkId]) {
    let Some(flow) = testbed.flow_of(stream).cloned() else { return };
    let Some(group) = flow.spec.over.and_then(|group| testbed.lsps().get(group)) else { return };
    let Some(route) = &group.links else { return };
    let probe = |node: usize| testbed.beside(node).map(|p| p.1);
    let along = route.iter().map(|&link| testbed.links()[link].id);
    let expected = probe(flow.spec.from).into_iter().chain(along).chain(probe(flow.spec.to));
    let right = expected.eq(links.iter().copied());
    if let Some(group) = flow.spec.over {
        let traced = testbed.traced.entry(group).or_default();
        traced.all += 1;
        traced.wrong += u64::from(!right);
    }
}

/// What the comparison found, for each group of LSPs with traced packets.
pub fn routes(testbed: &Testbed) -> Value {
    let mut table = Columns::new(&["lsps", "hops", "traced", "wrong"]);
    for (number, traced) in &testbed.traced {
        let links = testbed.lsps().get(*number).and_then(|group| group.links.as_ref());
        let hops = json!(links.map(Vec::len));
        table.push([json!(number), hops, json!(traced.all), json!(traced.wrong)]);
    }
    table.finish()
}
