//! Statistics of version 1.0.

use super::{actions, wide};
use crate::switch::Switch;
use crate::switch::connection::Connection;
use crate::switch::flows::{age, summed};
use crate::switch::queues::{Counted, thousandths};
use crate::switch::setting::ALL_TABLES;
use base::Time;
use forwarding::openflow::{Filter, Pattern};
use forwarding::queue::spec::MarkedClass;
use wire::openflow::v1_0::{
    AggregateStats, Body, Fault, FlowStats, FlowStatsRequest, Match, Message, PacketQueue, PortStats,
    QueueProperty, QueueStats, StatsReply, StatsReplyBody, StatsRequestBody, TableStats, ports, wildcards,
};
use wire::openflow::{Code, Name};

/// The table that is asked about, or all, and which of its entries.
fn meant(ask: &FlowStatsRequest) -> (Option<u8>, Filter) {
    let out_port = (ask.out_port != ports::NONE).then(|| wide(ask.out_port));
    let filter = Filter { out_port, ..Filter::covered(Pattern::from(&ask.matching)) };
    ((ask.table != ALL_TABLES).then_some(ask.table), filter)
}

fn send_rows<T: Clone>(
    connection: &mut Connection,
    xid: u32,
    rows: &[T],
    body: fn(Vec<T>) -> StatsReplyBody,
) {
    connection.send_rows(rows, |out, more, part| {
        let reply = StatsReply { more, body: body(part.to_vec()) };
        Message { xid, body: Body::StatsReply(reply) }.emit(out).is_ok()
    });
}

/// Answers what queues have counted.
pub(in crate::switch) fn send_queues(connection: &mut Connection, xid: u32, counted: &[Counted]) {
    let rows: Vec<QueueStats> = counted
        .iter()
        .map(|one| QueueStats {
            port: one.port as u16,
            queue: one.queue,
            tx_bytes: one.bytes,
            tx_packets: one.packets,
            tx_errors: one.errors,
        })
        .collect();
    send_rows(connection, xid, &rows, StatsReplyBody::Queue);
}

/// What controllers are told of a queue at a port of a rate.
pub(super) fn queue_1_0((_, rate, queue): (u32, u64, &MarkedClass)) -> PacketQueue {
    let least = thousandths(queue.min_rate, rate).map(|rate| QueueProperty::MinRate { rate });
    PacketQueue { id: queue.mark, properties: least.into_iter().collect() }
}

impl Switch {
    pub(super) fn stats_1_0(
        &mut self,
        now: Time,
        to: u32,
        xid: u32,
        ask: StatsRequestBody,
    ) -> Result<(), Code> {
        let body = match ask {
            StatsRequestBody::Description => StatsReplyBody::Description(self.description()),
            StatsRequestBody::Flow(ask) => {
                let rows = self.rows_of_flows_1_0(now, &ask);
                self.rows_1_0(to, xid, &rows, StatsReplyBody::Flow);
                return Ok(());
            }
            StatsRequestBody::Aggregate(ask) => {
                let (table, filter) = meant(&ask);
                let (packets, bytes, flows) = summed(self.flows(table, &filter));
                StatsReplyBody::Aggregate(AggregateStats { packets, bytes, flows })
            }
            StatsRequestBody::Table => {
                let rows = self.tables_1_0();
                self.rows_1_0(to, xid, &rows, StatsReplyBody::Table);
                return Ok(());
            }
            StatsRequestBody::Port(ask) => {
                let is_wanted = |number: u32| ask.port == ports::NONE || number == u32::from(ask.port);
                let rows: Vec<PortStats> = self.port_stats_1_0(is_wanted);
                if rows.is_empty() && ask.port != ports::NONE {
                    return Err(Fault::BadPort.numbers());
                }
                self.rows_1_0(to, xid, &rows, StatsReplyBody::Port);
                return Ok(());
            }
            StatsRequestBody::Queue(ask) => {
                let port = (ask.port != ports::ALL).then(|| ask.port.into());
                let faults = [Fault::QueueBadPort.numbers(), Fault::BadQueue.numbers()];
                return self.ask_queues(now, (to, xid), port, ask.queue, faults);
            }
            StatsRequestBody::Vendor(_) => return Err(Fault::BadVendor.numbers()),
        };
        self.agent.send_1_0(to, xid, Body::StatsReply(StatsReply { more: false, body }));
        Ok(())
    }

    fn rows_1_0<T: Clone>(&mut self, to: u32, xid: u32, rows: &[T], body: fn(Vec<T>) -> StatsReplyBody) {
        if let Some(connection) = self.agent.connections.get_mut(&to) {
            send_rows(connection, xid, rows, body);
        }
    }

    fn rows_of_flows_1_0(&self, now: Time, ask: &FlowStatsRequest) -> Vec<FlowStats> {
        let (table, filter) = meant(ask);
        let rows = self.flows(table, &filter).map(|(table, pattern, priority, entry)| {
            let (duration_s, duration_ns) = age(now, entry.created);
            FlowStats {
                table,
                matching: Match::from(&pattern),
                duration_s,
                duration_ns,
                priority,
                idle_timeout: entry.idle_timeout,
                hard_timeout: entry.hard_timeout,
                cookie: entry.cookie,
                packets: entry.packets,
                bytes: entry.bytes,
                actions: actions::written(&entry.instructions),
            }
        });
        rows.collect()
    }

    fn tables_1_0(&self) -> Vec<TableStats> {
        let tables = (0u8..).zip(&self.datapath.tables);
        tables
            .map(|(table, flows)| {
                let (lookups, matched) = flows.counters();
                TableStats {
                    table,
                    name: Name::new(&format!("table{table}")),
                    wildcards: wildcards::ALL,
                    max_entries: self.config.max_entries as u32,
                    active: flows.active() as u32,
                    lookups,
                    matched,
                }
            })
            .collect()
    }

    fn port_stats_1_0(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<PortStats> {
        let ports = self.all_ports().filter(|(number, ..)| is_wanted(*number));
        ports
            .map(|(number, port, _)| PortStats {
                port: number as u16,
                rx_packets: port.counters.rx_packets,
                tx_packets: port.counters.tx_packets,
                rx_bytes: port.counters.rx_bytes,
                tx_bytes: port.counters.tx_bytes,
                rx_dropped: port.counters.rx_dropped,
                tx_dropped: 0,
                rx_errors: 0,
                tx_errors: 0,
                rx_frame_errors: 0,
                rx_over_errors: 0,
                rx_crc_errors: 0,
                collisions: 0,
            })
            .collect()
    }
}
