//! Tables of test traffic: streams by phase, delay over time, and the links that traced packets crossed.

use super::checked::{Astray, astray};
use super::loops;
use super::{FlowSpec, Testbed};
use crate::batches::NoInterval;
use crate::course::CourseBin;
use crate::delay::DelayStats;
use crate::generator::Generator;
use crate::series::Bin;
use crate::sink::{PhaseStats, Sink};
use base::table::{Rows, Table};
use base::{LinkId, NodeId, StreamId, Time};

base::table! {
    /// What became of each stream in each phase; demands are in table `demands`. Where only the source or only the sink
    /// is in this process, what the other would know is absent.
    pub struct StreamRow in "streams" key ["stream", "phase"]
    of (flow: u32, lsp: u32, stream: u32, phase: usize) from known: Known<'_> {
        /// The flow, by its place in the description.
        flow: u32 => flow,
        /// Which LSP of its group the stream takes, from 0.
        lsp: u32 => lsp,
        /// The stream, counted over all flows.
        stream: u32 => stream,
        /// The phase by time of departure, from 0; -1 is before the first.
        phase: i64 => phase as i64 - 1,
        /// Packets sent.
        sent: Option<u64> = "packets",
        /// Packets received, duplicates left out.
        received: Option<u64> = "packets" => known.stats.map(PhaseStats::received),
        /// Packets sent that did not arrive, those on their way included.
        lost: Option<u64> = "packets",
        /// Packets that came with the label of another LSP, or to a sink that does not expect them. They are lost, too.
        misdelivered: Option<u64> = "packets",
        /// Packets that had arrived before.
        duplicated: Option<u64> = "packets" => known.stats.map(|stats| stats.duplicated),
        /// Packets that arrived after later ones (RFC 4737).
        reordered: Option<u64> = "packets" => known.stats.map(|stats| stats.reordered),
        /// Mean delay; absent, like all that follow, if nothing arrived.
        delay_mean_s: Option<f64> = "s" => known.delay(DelayStats::mean_s),
        /// Standard deviation of the delay; absent of fewer than two packets.
        delay_sd_s: Option<f64> = "s" => known.delay(DelayStats::sd_s),
        /// Least delay.
        delay_min_s: Option<f64> = "s" => known.delay(DelayStats::min_s),
        /// Greatest delay.
        delay_max_s: Option<f64> = "s" => known.delay(DelayStats::max_s),
        /// Delay that half of the packets do not exceed; absent of fewer than 6 packets.
        delay_p50_s: Option<f64> = "s" => known.delay(|delay| delay.bounded_quantile_s(0.5)),
        /// Delay that 90 % of the packets do not exceed; absent of fewer than 36 packets.
        delay_p90_s: Option<f64> = "s" => known.delay(|delay| delay.bounded_quantile_s(0.9)),
        /// Delay that 99 % of the packets do not exceed; absent of fewer than 368 packets.
        delay_p99_s: Option<f64> = "s" => known.delay(|delay| delay.bounded_quantile_s(0.99)),
        /// Delay that 99.9 % of the packets do not exceed; absent of fewer than 3,688 packets.
        delay_p999_s: Option<f64> = "s" => known.delay(|delay| delay.bounded_quantile_s(0.999)),
        /// Mean IPDV: how much the delays of consecutive packets differ that both arrived (RFC 3393).
        ipdv_mean_s: Option<f64> = "s" => known.delay(DelayStats::ipdv_mean_s),
    }
}

base::table! {
    /// The delays of each flow in each phase, all its streams together; rows without packets are left out, and demands
    /// are in table `demands`.
    pub struct DelayRow in "delays" key ["flow", "phase"]
    of (flow: usize, phase: usize, bins: (Vec<f64>, Vec<u32>), interval: Result<[f64; 2], NoInterval>) from delay: &DelayStats {
        /// The flow, by its place in the description.
        flow: usize => flow,
        /// The phase by time of departure, from 0; -1 is before the first.
        phase: i64 => phase as i64 - 1,
        /// Packets received, duplicates left out.
        received: u64 = "packets" => delay.count(),
        /// Mean delay.
        mean_s: Option<f64> = "s" => delay.mean_s(),
        /// Below this the expected mean lies with a probability of 2.5 %; absent if that can't be said.
        low_s: Option<f64> = "s" => interval.ok().map(|[low, _]| low),
        /// Above this the expected mean lies with a probability of 2.5 %; absent if that can't be said.
        high_s: Option<f64> = "s" => interval.ok().map(|[_, high]| high),
        /// Why the mean has no interval; absent if it has one.
        no_interval: Option<&'static str> => interval.err().map(NoInterval::word),
        /// Standard deviation; absent of fewer than two packets.
        sd_s: Option<f64> = "s" => delay.sd_s(),
        /// Least delay.
        min_s: Option<f64> = "s" => delay.min_s(),
        /// Delay that half of the packets do not exceed; absent of fewer than 6 packets.
        p50_s: Option<f64> = "s" => delay.bounded_quantile_s(0.5),
        /// Delay that 90 % of the packets do not exceed; absent of fewer than 36 packets.
        p90_s: Option<f64> = "s" => delay.bounded_quantile_s(0.9),
        /// Delay that 99 % of the packets do not exceed; absent of fewer than 368 packets.
        p99_s: Option<f64> = "s" => delay.bounded_quantile_s(0.99),
        /// Delay that 99.9 % of the packets do not exceed; absent of fewer than 3,688 packets.
        p999_s: Option<f64> = "s" => delay.bounded_quantile_s(0.999),
        /// Greatest delay.
        max_s: Option<f64> = "s" => delay.max_s(),
        /// Mean IPDV: how much the delays of a stream's consecutive packets differ that both arrived (RFC 3393).
        ipdv_mean_s: Option<f64> = "s" => delay.ipdv_mean_s(),
        /// Upper bounds of the bins of the histogram; empty bins are left out.
        upper_s: Vec<f64> = "s" => bins.0,
        /// Packets in each bin.
        count: Vec<u32> = "packets" => bins.1,
    }
}

base::table! {
    /// Delay over time at each sink, in bins by time of arrival.
    pub struct SeriesRow<'a> in "series" key ["node", "start_s"]
    of (node: &'a str) from bin: Bin {
        /// The node where the packets arrived.
        node: &'a str => node,
        /// When the bin begins.
        start_s: Time = "s" => bin.start,
        /// Packets that arrived in the bin.
        packets: u64 = "packets",
        /// Mean delay.
        mean_s: f64 = "s",
        /// Least delay.
        min_s: f64 = "s",
        /// Delay that half of the packets of the bin do not exceed, however few they are.
        p50_s: f64 = "s",
        /// Delay that 99 % of the packets of the bin do not exceed, however few they are.
        p99_s: f64 = "s",
        /// Greatest delay.
        max_s: f64 = "s",
    }
}

base::table! {
    /// Delay over time of each flow that is followed, in bins by time of arrival.
    pub struct FlowSeriesRow in "flow_series" key ["flow", "start_s"]
    of (flow: usize) from bin: &CourseBin {
        /// The flow, by its place in the description.
        flow: usize => flow,
        /// When the bin begins.
        start_s: Time = "s" => bin.start,
        /// Packets that arrived in the bin.
        packets: u64 = "packets",
        /// Mean delay.
        mean_s: f64 = "s" => bin.mean_s(),
        /// Least delay.
        min_s: f64 = "s" => bin.min.as_secs_f64(),
        /// Greatest delay.
        max_s: f64 = "s" => bin.max.as_secs_f64(),
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
struct Known<'a> {
    sent: Option<u64>,
    lost: Option<u64>,
    misdelivered: Option<u64>,
    stats: Option<&'a PhaseStats>,
}

impl Known<'_> {
    fn delay(&self, value: fn(&DelayStats) -> Option<f64>) -> Option<f64> {
        value(&self.stats?.delay)
    }
}

/// Per stream and phase; phase -1 is before the first. Where only the source or only the sink is in this process, what
/// the other would know is absent: what was sent less what was received is lost. All streams, or those of one flow.
pub fn streams(testbed: &Testbed, only: Option<usize>) -> Table {
    let (mut table, astray) = (Rows::new(), astray(testbed));
    let one = only.map(|flow| testbed.flows.get(flow));
    let nodes: Vec<usize> = match one {
        None => testbed.ids().map(NodeId::index).collect(),
        Some(flow) => flow.into_iter().map(|flow| flow.spec.from).collect(),
    };
    for node in nodes {
        let sources = testbed.generator(node).map_or(&[][..], Generator::sources);
        let sources = match one.flatten() {
            None => sources,
            Some(flow) => sources.get(flow.source..=flow.source).unwrap_or_default(),
        };
        for (stream, marks) in sources.iter().flat_map(|source| source.sent()) {
            testbed.ask_stream();
            let Some(flow) = testbed.single_flow(stream) else { continue };
            let sink = testbed.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
            // Sequence numbers from the start of a phase to the start of the next.
            let starts = core::iter::once(0).chain(marks.iter().copied());
            for (phase, (from, to)) in starts.zip(marks.iter().copied()).enumerate() {
                let stats = sink.and_then(|sink| sink.phases.get(phase));
                if phase == 0 && to == from {
                    continue;
                }
                let lost = sink.map(|sink| sink.sequence.missing(from, to));
                let misdelivered = misdelivered(&astray, stream, phase, stats);
                let known = Known { sent: Some(to - from), lost, misdelivered, stats };
                push(&mut table, testbed, stream, phase, known);
            }
        }
    }
    let (all, first) = (testbed.streams.len() as u32, one.flatten().map_or(0, |flow| flow.first_stream));
    let is_asked = |number: &u32| only.is_none_or(|one| testbed.streams[*number as usize] as usize == one);
    for number in (first..all).take_while(is_asked) {
        let stream = StreamId(number);
        testbed.ask_stream();
        let Some(flow) = testbed.single_flow(stream) else { continue };
        if testbed.generator(flow.spec.from).is_some() {
            continue;
        }
        let sink = testbed.sink(flow.spec.to).and_then(|sink| sink.stream(stream));
        for (phase, stats) in sink.into_iter().flat_map(|sink| sink.phases.iter().enumerate()) {
            let misdelivered = misdelivered(&astray, stream, phase, Some(stats));
            if phase > 0 || stats.received() > 0 || misdelivered.is_some_and(|packets| packets > 0) {
                let known = Known { stats: Some(stats), misdelivered, ..Known::default() };
                push(&mut table, testbed, stream, phase, known);
            }
        }
    }
    table.finish()
}

/// Packets of a stream that came in a phase as if they were another's; nothing if its sink is in another process.
fn misdelivered(astray: &Astray, stream: StreamId, phase: usize, stats: Option<&PhaseStats>) -> Option<u64> {
    Some(stats?.checks.misdelivered + astray.get(&(stream, phase)).copied().unwrap_or(0))
}

/// The delays of each flow and phase, or of one flow, all its streams together: moments, quantiles, and the histogram
/// as two lists.
pub fn delays(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (number, flow) in testbed.asked_flows(only) {
        if testbed.demands.has(number) {
            continue;
        }
        let Some(sink) = testbed.sink(flow.spec.to) else { continue };
        let streams = (flow.first_stream..).map(StreamId).take_while(|stream| {
            testbed.streams.get(stream.index()).is_some_and(|flow| *flow as usize == number)
        });
        let mut phases: Vec<DelayStats> = Vec::new();
        for stats in streams.inspect(|_| testbed.ask_stream()).filter_map(|stream| sink.stream(stream)) {
            phases.resize_with(phases.len().max(stats.phases.len()), DelayStats::new);
            phases.iter_mut().zip(&stats.phases).for_each(|(all, one)| all.merge(&one.delay));
        }
        for (phase, delay) in phases.iter().enumerate().filter(|(_, delay)| delay.count() > 0) {
            let batches = sink.batches(number as u32).get(phase);
            let interval = batches.zip(delay.mean_s()).map(|(batches, mean_s)| batches.interval_s(mean_s));
            let interval = interval.unwrap_or(Err(NoInterval::TooFew));
            table.push(DelayRow::of(number, phase, delay.bins().unzip(), interval, delay));
        }
    }
    table.finish()
}

fn push(table: &mut Rows<StreamRow>, testbed: &Testbed, stream: StreamId, phase: usize, known: Known<'_>) {
    let first = testbed.flow_of(stream).map_or(0, |flow| flow.first_stream);
    let flow = testbed.streams[stream.index()];
    table.push(StreamRow::of(flow, stream.0 - first, stream.0, phase, known));
}

/// The sinks of this process: name of the node, and sink.
fn all_sinks(testbed: &Testbed) -> impl Iterator<Item = (&str, &Sink)> {
    let nodes = testbed.ids().map(base::NodeId::index);
    nodes.filter_map(|node| Some((testbed.node_name(node), testbed.sink(node)?)))
}

/// Delay over time at each sink.
pub fn series(testbed: &Testbed) -> Table {
    let bins = all_sinks(testbed).flat_map(|(node, sink)| sink.series().bins().map(move |bin| (node, bin)));
    bins.map(|(node, bin)| SeriesRow::of(node, bin)).collect()
}

/// Delay over time of each flow that is followed.
pub fn flow_series(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (number, flow) in testbed.asked_flows(only) {
        let course = testbed.sink(flow.spec.to).and_then(|sink| sink.course(number as u32));
        let bins = course.into_iter().flat_map(|course| course.bins());
        table.extend(bins.map(|bin| FlowSeriesRow::of(number, bin)));
    }
    table.finish()
}

/// Compares the links that traced packets crossed with the routes of their LSPs, and looks for nodes that they came to
/// twice.
pub fn check_routes(testbed: &mut Testbed) {
    let ends = loops::ends(testbed);
    for node in testbed.ids() {
        let Some(probe) = testbed.probe_mut(node.index()) else { continue };
        for (stream, links) in probe.take_traces() {
            if let Some(&flow) = testbed.streams.get(stream.index()) {
                loops::note(testbed, flow, &links, &ends);
            }
            check_trace(testbed, stream, &links);
        }
    }
}

fn check_trace(testbed: &mut Testbed, stream: StreamId, links: &[LinkId]) {
    let Some(FlowSpec { over: Some(over), from, to, .. }) = testbed.flow_of(stream).map(|flow| &flow.spec)
    else {
        return;
    };
    let (over, from, to) = (*over, *from, *to);
    let Some(route) = testbed.lsps().get(over).and_then(|group| group.links.as_ref()) else { return };
    let probe = |node: usize| testbed.beside(node).map(|p| p.1);
    let along = route.iter().map(|&link| testbed.links()[link].id);
    let expected = probe(from).into_iter().chain(along).chain(probe(to));
    let right = expected.eq(links.iter().copied());
    let traced = testbed.traced.entry(over).or_default();
    traced.all += 1;
    traced.wrong += u64::from(!right);
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
    all_sinks(testbed).map(|(node, sink)| SinkRow { node, unknown: sink.unknown() }).collect()
}
