//! Messages of version 1.3.

mod multipart;
mod tables;

pub(super) use multipart::send_queues;

use super::Switch;
use super::checks::Place;
use super::flows::{Change, age};
use super::setting::ALL_TABLES;
use base::Time;
use forwarding::openflow::{Fields, NewEntry, Pattern, Refusal, Removed, port_config};
use wire::openflow::v1_3::{
    Body, Command, Experimenter, Fault, Features, FlowMod, FlowRemoved, GroupCommand, GroupMod, Match,
    Message, MeterCommand, MeterMod, ONF, Oxm, OxmField, PacketIn, PacketInReason, PacketOut, QueueConfig,
    Role, RoleMessage, SwitchConfig, groups, meters, ports,
};
use wire::openflow::{Code, NO_BUFFER, Rest};

/// What it can do (OFPC): counts entries, tables, ports, groups and queues.
const CAPABILITIES: u32 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;
/// Bits of OFPC_FRAG_MASK; others are refused.
const KNOWN_FLAGS: u16 = 3;

/// A packet for a controller.
pub(super) fn packet_in(
    id: u32,
    reason: PacketInReason,
    table: u8,
    cookie: Option<u64>,
    fields: &Fields,
    len: usize,
    data: &[u8],
) -> Body {
    let known = [OxmField::InPort, OxmField::Metadata, OxmField::TunnelId];
    let is_told = |field: &OxmField| *field == OxmField::InPort || fields.get(*field) != 0;
    let told = known.into_iter().filter(is_told).map(|field| Oxm::exact(field, fields.get(field)));
    Body::PacketIn(PacketIn {
        buffer_id: id,
        total_len: len.min(0xffff) as u16,
        reason,
        table,
        cookie: cookie.unwrap_or(u64::MAX),
        matching: Match { fields: told.collect() },
        data: Rest::from(data),
    })
}

/// An entry is gone.
pub(super) fn flow_removed(now: Time, table: u8, gone: &Removed) -> Body {
    let (duration_s, duration_ns) = age(now, gone.entry.created);
    Body::FlowRemoved(FlowRemoved {
        cookie: gone.entry.cookie,
        priority: gone.priority,
        reason: gone.reason,
        table,
        duration_s,
        duration_ns,
        idle_timeout: gone.entry.idle_timeout,
        hard_timeout: gone.entry.hard_timeout,
        packets: gone.entry.packets,
        bytes: gone.entry.bytes,
        matching: Match::from(&gone.pattern),
    })
}

/// A filter by a number that may stand for "any".
fn unless(number: u32, any: u32) -> Option<u32> {
    (number != any).then_some(number)
}

impl Switch {
    /// A message of version 1.3: what is wrong with it is answered by whoever called this.
    pub(super) fn handle_1_3(&mut self, now: Time, from: u32, message: Message) -> Result<(), Code> {
        let Message { xid, body } = message;
        let is_slave = self.agent.connections.get(&from).is_some_and(|one| one.role == Role::Slave);
        let changes = matches!(
            body,
            Body::PacketOut(_)
                | Body::FlowMod(_)
                | Body::GroupMod(_)
                | Body::PortMod(_)
                | Body::TableMod(_)
                | Body::MeterMod(_)
                | Body::Experimenter(Experimenter { experimenter: ONF, .. })
        );
        if is_slave && changes {
            return Err(Fault::IsSlave.numbers());
        }
        let answer = match body {
            Body::FeaturesRequest => Body::FeaturesReply(Features {
                datapath_id: self.config.datapath_id,
                buffers: self.config.buffers,
                tables: self.datapath.tables.len() as u8,
                auxiliary: 0,
                capabilities: CAPABILITIES,
                reserved: 0,
            }),
            Body::GetConfigRequest => {
                let (flags, miss_send_len) = self.set_up(from);
                Body::GetConfigReply(SwitchConfig { flags, miss_send_len })
            }
            Body::SetConfig(config) => {
                if config.flags & !KNOWN_FLAGS != 0 {
                    return Err(Fault::ConfigBadFlags.numbers());
                }
                self.set_config(from, config.flags, config.miss_send_len);
                return Ok(());
            }
            Body::PacketOut(out) => return self.packet_out_1_3(now, out),
            Body::FlowMod(change) => return self.flow_mod_1_3(now, change),
            Body::GroupMod(change) => return self.group_mod(now, change).map_err(Fault::numbers),
            Body::MeterMod(change) => return self.meter_mod(now, change).map_err(Fault::numbers),
            Body::PortMod(change) => {
                if (change.config | change.mask) & !port_config::V1_3 != 0 {
                    return Err(Fault::BadPortConfig.numbers());
                }
                let faults = [Fault::BadPort.numbers(), Fault::BadHwAddr.numbers()];
                return self.modify_port(
                    from,
                    change.number,
                    change.address,
                    port_config::widened(change.config),
                    port_config::widened(change.mask),
                    faults,
                );
            }
            Body::TableMod(change) => {
                let is_known = usize::from(change.table) < self.datapath.tables.len();
                let known = if is_known || change.table == ALL_TABLES {
                    Ok(())
                } else {
                    Err(Fault::TableModBadTable)
                };
                return known.map_err(Fault::numbers);
            }
            Body::MultipartRequest(ask) => return self.multipart(now, from, xid, ask),
            Body::BarrierRequest => Body::BarrierReply,
            Body::QueueGetConfigRequest(ask) => {
                if ask.port != ports::ANY && !self.datapath.ports().contains_key(&ask.port) {
                    return Err(Fault::QueueBadPort.numbers());
                }
                let queues = self.queues_of(unless(ask.port, ports::ANY)).map(multipart::queue_1_3).collect();
                Body::QueueGetConfigReply(QueueConfig { port: ask.port, queues })
            }
            Body::RoleRequest(ask) => Body::RoleReply(self.change_role(from, &ask).map_err(Fault::numbers)?),
            Body::GetAsyncRequest => {
                let Some(connection) = self.agent.connections.get(&from) else { return Ok(()) };
                Body::GetAsyncReply(connection.told.clone())
            }
            Body::SetAsync(told) => {
                if let Some(connection) = self.agent.connections.get_mut(&from) {
                    connection.told = told;
                }
                return Ok(());
            }
            Body::Experimenter(message) if message.experimenter == ONF => {
                match self.handle_bundle(now, (from, xid), &message)? {
                    Some(answer) => Body::Experimenter(answer),
                    None => return Ok(()),
                }
            }
            Body::Experimenter(_) => return Err(Fault::BadExperimenter.numbers()),
            // What a controller says about messages of the switch, and answers to questions that it was not asked.
            Body::Error(_) | Body::Hello(_) | Body::EchoReply(_) => return Ok(()),
            Body::EchoRequest(data) => Body::EchoReply(data),
            // Of switches only.
            Body::FeaturesReply(_)
            | Body::GetConfigReply(_)
            | Body::PacketIn(_)
            | Body::FlowRemoved(_)
            | Body::PortStatus(_)
            | Body::MultipartReply(_)
            | Body::BarrierReply
            | Body::QueueGetConfigReply(_)
            | Body::RoleReply(_)
            | Body::GetAsyncReply(_) => return Err(Fault::BadType.numbers()),
        };
        self.agent.send_1_3(from, xid, answer);
        Ok(())
    }

    /// A controller wants another role. There is one master: who was it becomes a slave. An older generation than the
    /// last is refused; generations wrap round.
    fn change_role(&mut self, from: u32, ask: &RoleMessage) -> Result<RoleMessage, Fault> {
        if matches!(ask.role, Role::Master | Role::Slave) {
            let is_stale =
                self.agent.generation.is_some_and(|last| (ask.generation.wrapping_sub(last) as i64) < 0);
            if is_stale {
                return Err(Fault::RoleStale);
            }
            self.agent.generation = Some(ask.generation);
        }
        if ask.role == Role::Master {
            let masters = self.agent.connections.values_mut().filter(|one| one.role == Role::Master);
            masters.for_each(|one| one.role = Role::Slave);
        }
        let Some(connection) = self.agent.connections.get_mut(&from) else { return Err(Fault::RoleUnsup) };
        if ask.role != Role::NoChange {
            connection.role = ask.role;
        }
        Ok(RoleMessage { role: connection.role, generation: self.agent.generation.unwrap_or(u64::MAX) })
    }

    fn buffered_1_3(&mut self, id: u32) -> Result<(u32, base::Frame), Code> {
        self.agent.buffered(id, [Fault::BufferEmpty.numbers(), Fault::BufferUnknown.numbers()])
    }

    fn packet_out_1_3(&mut self, now: Time, out: PacketOut) -> Result<(), Code> {
        let is_port = (1..=ports::MAX).contains(&out.in_port);
        // A controller that has no port in mind says one or the other of these.
        if !is_port && !matches!(out.in_port, ports::CONTROLLER | ports::ANY) {
            return Err(Fault::RequestBadPort.numbers());
        }
        let checked = self.check_actions(&out.actions, Place::PacketOut, &Match::default());
        checked.map_err(Fault::numbers)?;
        let frame = match out.buffer_id {
            NO_BUFFER => base::Frame::from_bytes(&out.data.0),
            id => self.buffered_1_3(id)?.1,
        };
        self.execute(now, out.in_port, &out.actions, frame);
        Ok(())
    }

    fn flow_mod_1_3(&mut self, now: Time, change: FlowMod) -> Result<(), Code> {
        let deletes = matches!(change.command, Command::Delete | Command::DeleteStrict);
        let is_known = usize::from(change.table) < self.datapath.tables.len();
        let means_all = deletes && change.table == ALL_TABLES;
        if !(is_known || means_all) {
            return Err(Fault::BadTableId.numbers());
        }
        if !deletes {
            let checked = self.check_instructions(change.table, &change.instructions, &change.matching);
            checked.map_err(Fault::numbers)?;
        }
        let is_add = change.command == Command::Add;
        let changed = Change {
            command: change.command,
            table: is_known.then_some(change.table),
            entry: NewEntry {
                pattern: Pattern::from(&change.matching),
                priority: change.priority,
                cookie: change.cookie,
                idle_timeout: change.idle_timeout,
                hard_timeout: change.hard_timeout,
                flags: change.flags.0,
                instructions: change.instructions.into(),
            },
            // An addition does not ask who was there.
            cookie_mask: if is_add { 0 } else { change.cookie_mask },
            out_port: unless(change.out_port, ports::ANY).filter(|_| deletes),
            out_group: unless(change.out_group, groups::ANY).filter(|_| deletes),
            is_of_1_0: false,
        };
        self.change_flows(now, changed).map_err(|refusal| {
            match refusal {
                Refusal::Overlap => Fault::Overlap,
                Refusal::Full => Fault::TableFull,
            }
            .numbers()
        })?;
        if !deletes && change.buffer_id != NO_BUFFER {
            let (in_port, frame) = self.buffered_1_3(change.buffer_id)?;
            let through = [wire::openflow::v1_3::Action::Output { port: ports::TABLE, max_len: 0 }];
            self.execute(now, in_port, &through, frame);
        }
        Ok(())
    }

    fn group_mod(&mut self, now: Time, change: GroupMod) -> Result<(), Fault> {
        let GroupMod { command, kind, group, buckets } = change;
        if command != GroupCommand::Delete {
            for bucket in &buckets.0 {
                self.check_actions(&bucket.actions, Place::Bucket, &Match::default())?;
            }
        }
        match command {
            GroupCommand::Add => self.datapath.groups.add(group, kind, buckets.0, now),
            GroupCommand::Modify => self.datapath.groups.modify(group, kind, buckets.0),
            GroupCommand::Delete => {
                let gone = self.datapath.groups.delete(group)?.into_iter().collect();
                self.delete_users_of_groups(now, &gone);
                Ok(())
            }
        }
    }

    fn meter_mod(&mut self, now: Time, change: MeterMod) -> Result<(), Fault> {
        let MeterMod { command, flags, meter, bands } = change;
        match command {
            MeterCommand::Add => self.datapath.meters.add(meter, flags.0, bands, now),
            MeterCommand::Modify => self.datapath.meters.modify(meter, flags.0, bands, now),
            MeterCommand::Delete => {
                if meter == 0 || meter > meters::MAX && !matches!(meter, meters::SLOWPATH..=meters::ALL) {
                    return Err(Fault::InvalidMeter);
                }
                let gone = self.datapath.meters.delete(meter).into_iter().collect();
                self.delete_users_of_meters(now, &gone);
                Ok(())
            }
        }
    }
}
