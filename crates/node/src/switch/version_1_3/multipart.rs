//! Multipart messages of version 1.3.

use super::unless;
use crate::switch::Switch;
use crate::switch::connection::Connection;
use crate::switch::flows::{age, summed};
use crate::switch::queues::{Counted, thousandths};
use crate::switch::setting::ALL_TABLES;
use base::Time;
use forwarding::openflow::{BANDS_MAX, Filter, GROUPS_MAX, Group, METERS_MAX, Meter, Pattern};
use forwarding::queue::spec::MarkedClass;
use std::collections::{BTreeMap, BTreeSet};
use wire::openflow::v1_3::{
    AggregateStats, Body, Buckets, Description, Fault, FlowFlags, FlowStats, FlowStatsRequest,
    GroupDescription, GroupFeatures, GroupStats, Match, Message, MeterConfig, MeterFeatures, MeterFlags,
    MeterStats, MultipartReply, MultipartRequest, PacketQueue, PortStats, QueueProperty, QueueStats,
    ReplyBody, RequestBody, TableStats, groups, meter_flags, meters, ports,
};
use wire::openflow::{Code, Name};

/// What groups can do (OFPGFC): weights, liveness, chaining, checks of loops.
const GROUP_CAPABILITIES: u32 = 0b1111;
/// Types of groups: all four.
const GROUP_TYPES: u32 = 0b1111;
/// Types of bands: drop, and remark.
const BANDS: u32 = 0b110;
/// Actions that are done: bit n stands for type n.
pub(super) const ACTIONS: [u16; 16] = [0, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

fn send_rows<T: Clone>(connection: &mut Connection, xid: u32, rows: &[T], body: fn(Vec<T>) -> ReplyBody) {
    connection.send_rows(rows, |out, more, part| {
        let reply = MultipartReply { more, body: body(part.to_vec()) };
        Message { xid, body: Body::MultipartReply(reply) }.emit(out).is_ok()
    });
}

/// Answers what queues have counted; `age` says for how long there has been a port.
pub(in crate::switch) fn send_queues(
    connection: &mut Connection,
    xid: u32,
    counted: &[Counted],
    age: impl Fn(u32) -> (u32, u32),
) {
    let row = |one: &Counted| {
        let (duration_s, duration_ns) = age(one.port);
        QueueStats {
            port: one.port,
            queue: one.queue,
            tx_bytes: one.bytes,
            tx_packets: one.packets,
            tx_errors: one.errors,
            duration_s,
            duration_ns,
        }
    };
    let rows: Vec<QueueStats> = counted.iter().map(row).collect();
    send_rows(connection, xid, &rows, ReplyBody::Queue);
}

/// What controllers are told of a queue at a port of a rate.
pub(super) fn queue_1_3((port, rate, queue): (u32, u64, &MarkedClass)) -> PacketQueue {
    let least = thousandths(queue.min_rate, rate).map(|rate| QueueProperty::MinRate { rate });
    let most = thousandths(queue.max_rate, rate).map(|rate| QueueProperty::MaxRate { rate });
    PacketQueue { id: queue.mark, port, properties: least.into_iter().chain(most).collect() }
}

impl Switch {
    pub(super) fn multipart(
        &mut self,
        now: Time,
        to: u32,
        xid: u32,
        ask: MultipartRequest,
    ) -> Result<(), Code> {
        let fail = |fault: Fault| Err(fault.numbers());
        match ask.body {
            RequestBody::Description => self.reply(to, xid, ReplyBody::Description(self.description())),
            RequestBody::Flow(ask) => {
                let rows = self.rows_of_flows_1_3(now, &ask)?;
                self.reply_rows(to, xid, &rows, ReplyBody::Flow);
            }
            RequestBody::Aggregate(ask) => {
                let (table, filter) = self.meant(&ask)?;
                let (packets, bytes, flows) = summed(self.flows(table, &filter));
                self.reply(to, xid, ReplyBody::Aggregate(AggregateStats { packets, bytes, flows }));
            }
            RequestBody::Table => {
                let tables = (0u8..).zip(&self.datapath.tables);
                let rows: Vec<TableStats> = tables
                    .map(|(table, flows)| {
                        let ((lookups, matched), active) = (flows.counters(), flows.active() as u32);
                        TableStats { table, active, lookups, matched }
                    })
                    .collect();
                self.reply_rows(to, xid, &rows, ReplyBody::Table);
            }
            RequestBody::PortStats(ask) => {
                let rows: Vec<PortStats> = self.port_rows(now, ask.port);
                if rows.is_empty() && ask.port != ports::ANY {
                    return fail(Fault::RequestBadPort);
                }
                self.reply_rows(to, xid, &rows, ReplyBody::PortStats);
            }
            RequestBody::Queue(ask) => {
                let faults = [Fault::QueueBadPort.numbers(), Fault::BadQueue.numbers()];
                return self.ask_queues(now, (to, xid), unless(ask.port, ports::ANY), ask.queue, faults);
            }
            RequestBody::Group(ask) => {
                let wanted = unless(ask.group, groups::ALL);
                let all = self.datapath.groups.iter().filter(|(id, _)| wanted.is_none_or(|one| one == *id));
                let used = self.uses_of_groups();
                let row = |(id, group)| group_row(now, id, group, used.get(&id).copied().unwrap_or(0));
                let rows: Vec<GroupStats> = all.map(row).collect();
                self.reply_rows(to, xid, &rows, ReplyBody::Group);
            }
            RequestBody::GroupDescription => {
                let all = self.datapath.groups.iter();
                let rows: Vec<GroupDescription> = all
                    .map(|(id, group)| {
                        let buckets = Buckets(group.buckets.clone());
                        GroupDescription { kind: group.kind, group: id, buckets }
                    })
                    .collect();
                self.reply_rows(to, xid, &rows, ReplyBody::GroupDescription);
            }
            RequestBody::GroupFeatures => {
                let actions = ACTIONS.iter().fold(0, |bits, kind| bits | 1 << kind);
                let features = GroupFeatures {
                    types: GROUP_TYPES,
                    capabilities: GROUP_CAPABILITIES,
                    max_groups: [GROUPS_MAX as u32; 4],
                    actions: [actions; 4],
                };
                self.reply(to, xid, ReplyBody::GroupFeatures(features));
            }
            RequestBody::Meter(ask) => {
                let all = self.wanted_meters(ask.meter)?;
                let used = self.uses_of_meters();
                let row = |(id, one)| meter_row(now, id, one, used.get(&id).copied().unwrap_or(0));
                let rows: Vec<MeterStats> = all.into_iter().map(row).collect();
                self.reply_rows(to, xid, &rows, ReplyBody::Meter);
            }
            RequestBody::MeterConfig(ask) => {
                let all = self.wanted_meters(ask.meter)?.into_iter();
                let rows: Vec<MeterConfig> = all
                    .map(|(meter, one)| {
                        let flags = MeterFlags(one.flags);
                        MeterConfig { flags, meter, bands: one.bands.clone() }
                    })
                    .collect();
                self.reply_rows(to, xid, &rows, ReplyBody::MeterConfig);
            }
            RequestBody::MeterFeatures => {
                let features = MeterFeatures {
                    max_meters: METERS_MAX as u32,
                    bands: BANDS,
                    capabilities: meter_flags::ALL.into(),
                    max_bands: BANDS_MAX,
                    max_colors: 0,
                };
                self.reply(to, xid, ReplyBody::MeterFeatures(features));
            }
            RequestBody::TableFeatures(wanted) => {
                // What tables can do is not to be changed.
                if !wanted.is_empty() || ask.more {
                    return fail(Fault::TableFeaturesEperm);
                }
                let rows = self.table_features();
                self.reply_rows(to, xid, &rows, ReplyBody::TableFeatures);
            }
            RequestBody::PortDescription => {
                let all = self.all_ports();
                let rows: Vec<_> = all.map(|(number, port, setting)| port.of_1_3(number, setting)).collect();
                self.reply_rows(to, xid, &rows, ReplyBody::PortDescription);
            }
            RequestBody::Experimenter(_) => return fail(Fault::BadExperimenter),
        }
        Ok(())
    }

    /// Who made the switch: the same in both versions.
    pub(in crate::switch) fn description(&self) -> Description {
        Description {
            manufacturer: Name::new("Twinplane"),
            hardware: Name::new("Twinplane switch"),
            software: Name::new(env!("CARGO_PKG_VERSION")),
            serial_number: Name::new("None"),
            datapath: Name::new(&self.config.name),
        }
    }

    fn reply(&mut self, to: u32, xid: u32, body: ReplyBody) {
        self.agent.send_1_3(to, xid, Body::MultipartReply(MultipartReply { more: false, body }));
    }

    fn reply_rows<T: Clone>(&mut self, to: u32, xid: u32, rows: &[T], body: fn(Vec<T>) -> ReplyBody) {
        if let Some(connection) = self.agent.connections.get_mut(&to) {
            send_rows(connection, xid, rows, body);
        }
    }

    /// The table that is asked about, or all, and which of its entries.
    fn meant(&self, ask: &FlowStatsRequest) -> Result<(Option<u8>, Filter), Code> {
        let table = (ask.table != ALL_TABLES).then_some(ask.table);
        if table.is_some_and(|table| usize::from(table) >= self.datapath.tables.len()) {
            return Err(Fault::RequestBadTableId.numbers());
        }
        let filter = Filter {
            cookie: ask.cookie,
            cookie_mask: ask.cookie_mask,
            out_port: unless(ask.out_port, ports::ANY),
            out_group: unless(ask.out_group, groups::ANY),
            ..Filter::covered(Pattern::from(&ask.matching))
        };
        Ok((table, filter))
    }

    fn rows_of_flows_1_3(&self, now: Time, ask: &FlowStatsRequest) -> Result<Vec<FlowStats>, Code> {
        let (table, filter) = self.meant(ask)?;
        let rows = self.flows(table, &filter).map(|(table, pattern, priority, entry)| {
            let (duration_s, duration_ns) = age(now, entry.created);
            FlowStats {
                table,
                duration_s,
                duration_ns,
                priority,
                idle_timeout: entry.idle_timeout,
                hard_timeout: entry.hard_timeout,
                flags: FlowFlags(entry.flags),
                cookie: entry.cookie,
                packets: entry.packets,
                bytes: entry.bytes,
                matching: Match::from(&pattern),
                instructions: entry.instructions.to_vec(),
            }
        });
        Ok(rows.collect())
    }

    fn port_rows(&self, now: Time, wanted: u32) -> Vec<PortStats> {
        let ports = self.all_ports().filter(|(number, ..)| wanted == ports::ANY || *number == wanted);
        ports
            .map(|(number, port, _)| {
                let (duration_s, duration_ns) = age(now, port.created);
                PortStats {
                    port: number,
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
                    duration_s,
                    duration_ns,
                }
            })
            .collect()
    }

    /// How many entries and buckets give to each group.
    fn uses_of_groups(&self) -> BTreeMap<u32, u32> {
        let mut used = BTreeMap::new();
        for (.., entry) in self.flows(None, &Filter::default()) {
            entry
                .groups()
                .collect::<BTreeSet<u32>>()
                .into_iter()
                .for_each(|id| *used.entry(id).or_default() += 1);
        }
        for (_, group) in self.datapath.groups.iter() {
            group.next_groups().for_each(|id| *used.entry(id).or_default() += 1);
        }
        used
    }

    /// How many entries pass each meter.
    fn uses_of_meters(&self) -> BTreeMap<u32, u32> {
        let mut used = BTreeMap::new();
        for id in self.flows(None, &Filter::default()).filter_map(|(.., entry)| entry.meter()) {
            *used.entry(id).or_default() += 1;
        }
        used
    }

    /// One meter, which has to be there, or all.
    fn wanted_meters(&self, wanted: u32) -> Result<Vec<(u32, &Meter)>, Code> {
        if wanted == meters::ALL {
            return Ok(self.datapath.meters.iter().collect());
        }
        let one = self.datapath.meters.get(wanted).ok_or(Fault::UnknownMeter.numbers())?;
        Ok(vec![(wanted, one)])
    }
}

fn group_row(now: Time, id: u32, group: &Group, references: u32) -> GroupStats {
    let (duration_s, duration_ns) = age(now, group.created);
    GroupStats {
        group: id,
        references,
        packets: group.total.packets,
        bytes: group.total.bytes,
        duration_s,
        duration_ns,
        buckets: group.counters.clone(),
    }
}

fn meter_row(now: Time, id: u32, meter: &Meter, flows: u32) -> MeterStats {
    let (duration_s, duration_ns) = age(now, meter.created);
    MeterStats {
        meter: id,
        flows,
        packets: meter.total.packets,
        bytes: meter.total.bytes,
        duration_s,
        duration_ns,
        bands: meter.counters.clone(),
    }
}
