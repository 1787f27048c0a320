//! Tables `tcp_flows` and `tcp_series`: what flows over TCP did.

use super::Testbed;
use crate::programs::end::{End, Transactions};
use crate::programs::series::TcpBin;
use crate::programs::settings::Work;
use crate::station::Station;
use base::table::{Rows, Table};
use base::{Span, Time};
use std::collections::BTreeMap;

base::table! {
    /// Flows over TCP: each direction in which data goes on each connection.
    pub struct TcpFlowRow<'a> in "tcp_flows" key ["flow", "connection", "direction"]
    of (name: &'a str, at: Connection<'a>, direction: &'static str, ends: [&'a str; 2],
        receiver: Option<&'a End>) from sender: &End {
        /// The flow, by its place among those over TCP.
        flow: usize => at.flow,
        /// Its name.
        name: &'a str => name,
        /// The connection, by the order in which the flow begins them, from 0.
        connection: usize => at.number,
        /// `forward`: from the host that began the connection; `back`: to it.
        direction: &'static str => direction,
        /// The host that sends.
        from: &'a str => ends[0],
        /// The host that receives.
        to: &'a str => ends[1],
        /// `connecting`, `open`, `done` (both ends have closed it), `reset`, `refused` (nobody listens, or no way leads
        /// there), `timed-out`, or `lost` (the host began anew), as the host has it that began the connection.
        state: &'static str => at.client.standing.word(),
        /// When it was begun.
        start_s: Time = "s" => at.client.begun,
        /// From then until it was established; absent if it was not.
        connect_s: Option<f64> = "s" => at.client.connected.map(|up| (up - at.client.begun).as_secs_f64()),
        /// Bytes that the receiving program has read; absent if its host is in another process.
        bytes: Option<u64> = "bytes" => receiver.map(|end| end.read),
        /// Bytes read that are not those that were sent.
        wrong: Option<u64> = "bytes" => receiver.map(|end| end.wrong),
        /// Bits read, over the time from the beginning of the connection to the last byte; absent if none was.
        goodput_bps: Option<f64> = "bit/s" => receiver.and_then(|end| goodput(end, at.client.begun)),
        /// From the beginning of the connection until the receiving program had read all, and the end of it; absent
        /// before.
        completion_s: Option<f64> = "s" => receiver
            .and_then(|end| Some((end.peer_closed? - at.client.begun).as_secs_f64())),
        /// Segments that the sender sent, those sent again included.
        segments: u64 = "segments" => sender.last.counters.segments_sent,
        /// Those of them with data.
        data_segments: u64 = "segments" => sender.last.measured.data_segments,
        /// Those of them that did nothing but acknowledge.
        pure_acks: u64 = "segments" => sender.last.measured.pure_acks,
        /// Segments with data, SYN or FIN that were sent again.
        retransmitted: u64 = "segments" => sender.last.counters.retransmitted,
        /// Round-trip times that were taken: one of each acknowledgement of something new that was sent once.
        rtt_samples: u64 => sender.last.measured.round_trips.count,
        /// Least round-trip time; absent, like the next two, if none was taken.
        rtt_min_s: Option<f64> = "s" => trip(sender, sender.last.measured.round_trips.min.as_secs_f64()),
        /// Mean round-trip time.
        rtt_mean_s: Option<f64> = "s" => trip(sender, sender.last.measured.round_trips.sum_ps as f64
            / sender.last.measured.round_trips.count as f64 / 1e12),
        /// Greatest round-trip time.
        rtt_max_s: Option<f64> = "s" => trip(sender, sender.last.measured.round_trips.max.as_secs_f64()),
        /// The most bytes that were in flight: sent and not acknowledged.
        in_flight_max: u32 = "bytes" => sender.last.measured.in_flight_max,
        /// Requests that were answered; absent of flows in bulk, like the three that follow.
        transactions: Option<u64> => exchanged(at.client, |all| all.count as f64).map(|count| count as u64),
        /// Shortest time from a request to the end of its answer.
        response_min_s: Option<f64> = "s" => answered(at.client, |all| all.min.as_secs_f64()),
        /// Mean time from a request to the end of its answer.
        response_mean_s: Option<f64> = "s" => answered(at.client, |all| all.sum_ps as f64 / all.count as f64 / 1e12),
        /// Longest time from a request to the end of its answer.
        response_max_s: Option<f64> = "s" => answered(at.client, |all| all.max.as_secs_f64()),
    }
}

base::table! {
    /// What each sender of a flow over TCP did over time. Bins in which nothing happened are left out; of a long run
    /// they are wider.
    pub struct TcpSeriesRow in "tcp_series" key ["flow", "connection", "direction", "start_s"]
    of (flow: usize, connection: usize, direction: &'static str) from bin: &TcpBin {
        /// The flow, by its place among those over TCP.
        flow: usize => flow,
        /// The connection, by the order in which the flow begins them, from 0.
        connection: usize => connection,
        /// `forward`: from the host that began the connection; `back`: to it.
        direction: &'static str => direction,
        /// When the bin begins.
        start_s: Time = "s" => bin.start,
        /// Segments sent in it, those sent again included.
        segments: u64 = "segments",
        /// Segments sent again in it.
        retransmitted: u64 = "segments",
        /// Bytes that were acknowledged in it, of which SYN and FIN count as one each.
        acknowledged: u64 = "bytes",
        /// The window of the receiver at its end: how many bytes it takes beyond those that it has acknowledged.
        window: u32 = "bytes",
        /// The most bytes that were in flight in it. The congestion window is not known; while this is below `window`
        /// and data waits, it is about that large.
        in_flight: u32 = "bytes",
        /// Smoothed round-trip time at its end (RFC 6298, 2); absent before the first.
        rtt_s: Option<f64> = "s" => bin.round_trip.map(Span::as_secs_f64),
    }
}

fn goodput(end: &End, begun: Time) -> Option<f64> {
    let [_, last] = end.read_at?;
    let took = (last - begun).as_secs_f64();
    (took > 0.0).then(|| end.read as f64 * 8.0 / took)
}

fn trip(end: &End, value: f64) -> Option<f64> {
    (end.last.measured.round_trips.count > 0).then_some(value)
}

fn exchanged(client: &End, value: impl Fn(&Transactions) -> f64) -> Option<f64> {
    matches!(client.program.work, Work::Exchange { .. }).then(|| value(&client.transactions))
}

fn answered(client: &End, value: impl Fn(&Transactions) -> f64) -> Option<f64> {
    exchanged(client, value).filter(|_| client.transactions.count > 0)
}

/// A connection: its number among those of its flow, and its ends.
#[derive(Clone, Copy)]
pub struct Connection<'a> {
    flow: usize,
    number: usize,
    client: &'a End,
    server: Option<&'a End>,
}

impl<'a> Connection<'a> {
    /// The directions in which data goes: what it is called, who sends, and who receives.
    fn directions(&self) -> Vec<(&'static str, &'a End, Option<&'a End>)> {
        let mut all = vec![("forward", self.client, self.server)];
        let back = !matches!(self.client.program.work, Work::Bulk { both: false, .. });
        if let Some(server) = self.server.filter(|_| back) {
            all.push(("back", server, Some(self.client)));
        }
        all
    }
}

/// All connections whose beginning is in this process, flow by flow; or those of one flow.
fn connections(testbed: &Testbed, only: Option<usize>) -> Vec<Connection<'_>> {
    let ends = |node: usize| {
        let programs = testbed.station(node).and_then(Station::programs);
        programs.map_or(&[][..], |programs| programs.ends())
    };
    let mut all = Vec::new();
    for (flow, built) in
        testbed.tcp.iter().enumerate().filter(|(flow, _)| only.is_none_or(|one| one == *flow))
    {
        let own = |end: &&End| end.program.flow as usize == flow;
        let servers = ends(built.spec.ends[1]).iter().filter(|end| own(end) && !end.client);
        let servers: BTreeMap<_, &End> = servers.filter_map(|end| Some((end.ends?, end))).collect();
        let clients = ends(built.spec.ends[0]).iter().filter(|end| own(end) && end.client);
        for (number, client) in clients.enumerate() {
            let server = client.ends.and_then(|[own, other]| servers.get(&[other, own]).copied());
            all.push(Connection { flow, number, client, server });
        }
    }
    all
}

/// Flow by flow, connection by connection.
pub(super) fn flows(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for connection in connections(testbed, only) {
        let spec = &testbed.tcp[connection.flow].spec;
        let names = spec.ends.map(|node| testbed.node_name(node));
        for (direction, sender, receiver) in connection.directions() {
            let ends = if direction == "forward" { names } else { [names[1], names[0]] };
            table.push(TcpFlowRow::of(&spec.name, connection, direction, ends, receiver, sender));
        }
    }
    table.finish()
}

/// The same over time.
pub(super) fn series(testbed: &Testbed, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for connection in connections(testbed, only) {
        for (direction, sender, _) in connection.directions() {
            for bin in sender.series.bins() {
                table.push(TcpSeriesRow::of(connection.flow, connection.number, direction, bin));
            }
        }
    }
    table.finish()
}
