//! Tables of test traffic: streams by phase, delay over time, and the links that traced packets crossed.

use super::Testbed;
use crate::delay::DelayStats;
use crate::generator::Generator;
use crate::sink::PhaseStats;
use base::table::{Rows, Table};
use base::{LinkId, StreamId, Time};

base::table! {
    /// What became of each stream in each phase. Where only the source or only the sink is in this process, what the other would know is absent.
    pub struct StreamRow in "streams" key ["stream", "phase"] {
        /// The flow, by its place in the description.
        flow: u32,
        /// Which LSP of its group the stream takes, from 0.
        lsp: u32,
        /// The stream, counted over all flows.
        stream: u32,
        /// The phase by time of departure, from 0; -1 is before the first.
        phase: i64,
        /// Packets sent.
        sent: Option<u64> = "packets",
        /// Packets received, duplicates left out.
        received: Option<u64> = "packets",
        /// Packets sent that did not arrive, those on their way included.
        lost: Option<u64> = "packets",
        /// Packets that had arrived before.
        duplicated: Option<u64> = "packets",
        /// Packets that arrived after later ones (RFC 4737).
        reordered: Option<u64> = "packets",
        /// Mean delay; absent, like all that follow, if nothing arrived.
        delay_mean_s: Option<f64> = "s",
        /// Standard deviation of the delay; absent of fewer than two packets.
        delay_sd_s: Option<f64> = "s",
        /// Least delay.
        delay_min_s: Option<f64> = "s",
        /// Greatest delay.
        delay_max_s: Option<f64> = "s",
        /// Delay that half of the packets do not exceed.
        delay_p50_s: Option<f64> = "s",
        /// Delay that 90 % of the packets do not exceed.
        delay_p90_s: Option<f64> = "s",
        /// Delay that 99 % of the packets do not exceed.
        delay_p99_s: Option<f64> = "s",
        /// Delay that 99.9 % of the packets do not exceed.
        delay_p999_s: Option<f64> = "s",
        /// Jitter: how much the delays of packets in succession differ.
        jitter_s: Option<f64> = "s",
    }
}

base::table! {
    /// The delays of each flow in each phase, all its streams together; rows without packets are left out.
    pub struct DelayRow in "delays" key ["flow", "phase"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// The phase by time of departure, from 0; -1 is before the first.
        phase: i64,
        /// Packets received, duplicates left out.
        received: u64 = "packets",
        /// Mean delay.
        mean_s: Option<f64> = "s",
        /// Standard deviation; absent of fewer than two packets.
        sd_s: Option<f64> = "s",
        /// Least delay.
        min_s: Option<f64> = "s",
        /// Delay that half of the packets do not exceed.
        p50_s: Option<f64> = "s",
        /// Delay that 90 % of the packets do not exceed.
        p90_s: Option<f64> = "s",
        /// Delay that 99 % of the packets do not exceed.
        p99_s: Option<f64> = "s",
        /// Delay that 99.9 % of the packets do not exceed.
        p999_s: Option<f64> = "s",
        /// Greatest delay.
        max_s: Option<f64> = "s",
        /// Upper bounds of the bins of the histogram; empty bins are left out.
        upper_s: Vec<f64> = "s",
        /// Packets in each bin.
        count: Vec<u32> = "packets",
    }
}

base::table! {
    /// Delay over time at each sink, in bins by time of arrival.
    pub struct SeriesRow<'a> in "series" key ["node", "start_s"] {
        /// The node where the packets arrived.
        node: &'a str,
        /// When the bin begins.
        start_s: Time = "s",
        /// Packets that arrived in the bin.
        packets: u64 = "packets",
        /// Mean delay.
        mean_s: f64 = "s",
        /// Least delay.
        min_s: f64 = "s",
        /// Delay that half of the packets do not exceed.
        p50_s: f64 = "s",
        /// Delay that 99 % of the packets do not exceed.
        p99_s: f64 = "s",
        /// Greatest delay.
        max_s: f64 = "s",
    }
}

base::table! {
    /// Delay over time of each flow that is followed, in bins by time of arrival.
    pub struct FlowSeriesRow in "flow_series" key ["flow", "start_s"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// When the bin begins.
        start_s: Time = "s",
        /// Packets that arrived in the bin.
        packets: u64 = "packets",
        /// Mean delay.
        mean_s: f64 = "s",
        /// Least delay.
        min_s: f64 = "s",
        /// Greatest delay.
        max_s: f64 = "s",
    }
}

base::table! {
    /// Whether traced packets took the links of their LSP's route; groups without traced packets have no row.
    pub struct RouteRow in "routes" key ["lsps"] {
        /// The group of LSPs, by its place in the description.
        lsps: usize,
        /// Links of its route; absent if it has none that is known here.
        hops: Option<usize> = "links",
        /// Packets whose links were noted.
        traced: u64 = "packets",
        /// Those of them that crossed other links than the route's.
        wrong: u64 = "packets",
    }
}

base::table! {
    /// What sinks counted that belongs to no stream.
    pub struct SinkRow<'a> in "sinks" key ["node"] {
        /// The node with the sink.
        node: &'a str,
        /// Test packets of streams that the sink does not know.
        unknown: u64 = "packets",
    }
}

/// What one process knows of a stream in a phase.
#[derive(Default)]
struct Row<'a> {
    sent: Option<u64>,
    lost: Option<u64>,
    stats: Option<&'a PhaseStats>,
}

/// Per stream and phase; phase -1 is before the first. Where only the source or only the sink is in this process, what the other
/// would know is absent: what was sent less what was received is lost.
pub fn streams(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
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
pub fn delays(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
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
            table.push(DelayRow {
                flow: number,
                phase: phase as i64 - 1,
                received: delay.count(),
                mean_s: delay.mean_s(),
                sd_s: delay.sd_s(),
                min_s: delay.min_s(),
                p50_s: delay.quantile_s(0.5),
                p90_s: delay.quantile_s(0.9),
                p99_s: delay.quantile_s(0.99),
                p999_s: delay.quantile_s(0.999),
                max_s: delay.max_s(),
                upper_s: upper,
                count,
            });
        }
    }
    table.finish()
}

fn push(table: &mut Rows<StreamRow>, testbed: &Testbed, stream: StreamId, phase: usize, row: Row<'_>) {
    let first = testbed.flow_of(stream).map_or(0, |flow| flow.first_stream);
    let delay = row.stats.map(|stats| &stats.delay);
    let of = |value: fn(&DelayStats) -> Option<f64>| delay.and_then(value);
    table.push(StreamRow {
        flow: testbed.streams[stream.index()],
        lsp: stream.0 - first,
        stream: stream.0,
        phase: phase as i64 - 1,
        sent: row.sent,
        received: row.stats.map(|stats| stats.received),
        lost: row.lost,
        duplicated: row.stats.map(|stats| stats.duplicated),
        reordered: row.stats.map(|stats| stats.reordered),
        delay_mean_s: of(DelayStats::mean_s),
        delay_sd_s: of(DelayStats::sd_s),
        delay_min_s: of(DelayStats::min_s),
        delay_max_s: of(DelayStats::max_s),
        delay_p50_s: of(|delay| delay.quantile_s(0.5)),
        delay_p90_s: of(|delay| delay.quantile_s(0.9)),
        delay_p99_s: of(|delay| delay.quantile_s(0.99)),
        delay_p999_s: of(|delay| delay.quantile_s(0.999)),
        jitter_s: of(DelayStats::jitter_s),
    });
}

/// Delay over time at each sink.
pub fn series(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for node in testbed.ids() {
        for bin in testbed.sink(node.index()).into_iter().flat_map(|sink| sink.series().bins()) {
            table.push(SeriesRow {
                node: testbed.node_name(node.index()),
                start_s: bin.start,
                packets: bin.packets,
                mean_s: bin.mean_s,
                min_s: bin.min_s,
                p50_s: bin.p50_s,
                p99_s: bin.p99_s,
                max_s: bin.max_s,
            });
        }
    }
    table.finish()
}

/// Delay over time of each flow that is followed.
pub fn flow_series(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (number, flow) in testbed.flows.iter().enumerate() {
        let course = testbed.sink(flow.spec.to).and_then(|sink| sink.course(number as u32));
        for bin in course.into_iter().flat_map(|course| course.bins()) {
            table.push(FlowSeriesRow {
                flow: number,
                start_s: bin.start,
                packets: bin.packets,
                mean_s: bin.mean_s(),
                min_s: bin.min.as_secs_f64(),
                max_s: bin.max.as_secs_f64(),
            });
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
pub fn routes(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (number, traced) in &testbed.traced {
        let links = testbed.lsps().get(*number).and_then(|group| group.links.as_ref());
        let hops = links.map(Vec::len);
        table.push(RouteRow { lsps: *number, hops, traced: traced.all, wrong: traced.wrong });
    }
    table.finish()
}

/// What belongs to no stream, for each sink.
pub fn sinks(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    let nodes = testbed.ids().map(base::NodeId::index);
    table.extend(nodes.filter_map(|node| {
        let unknown = testbed.sink(node)?.unknown();
        Some(SinkRow { node: testbed.node_name(node), unknown })
    }));
    table.finish()
}
