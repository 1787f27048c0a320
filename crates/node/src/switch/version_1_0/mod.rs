//! Messages of version 1.0. Its entries stand in the first table, with the actions of version 1.3 that do the same.

mod actions;
mod stats;

pub(super) use stats::send_queues;

use super::flows::{Change, age};
use super::{Agent, Switch};
use base::Time;
use forwarding::openflow::{NewEntry, Pattern, Refusal, Removed, port_config};
use wire::openflow::v1_0::{
    Body, Command, Fault, Features, FlowMod, FlowRemoved, Match, Message, PacketIn, PacketInReason,
    PacketOut, QueueConfig, RemovedReason, SwitchConfig, flow_flags, ports, wildcards,
};
use wire::openflow::{Code, NO_BUFFER, Rest, v1_3};

/// What it can do (OFPC): counts entries, tables, ports and queues, and matches the addresses of ARP.
const CAPABILITIES: u32 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7;
/// The types of actions that are done: all.
const ACTIONS: u32 = 0xfff;

/// The number of a port of this version in 32 bits: those that stand for something else keep their meaning.
fn wide(port: u16) -> u32 {
    match port {
        ports::NONE => v1_3::ports::ANY,
        port if port > ports::MAX => 0xffff_0000 | u32::from(port),
        port => port.into(),
    }
}

/// A packet for a controller.
pub(super) fn packet_in(
    id: u32,
    reason: v1_3::PacketInReason,
    in_port: u32,
    len: usize,
    data: &[u8],
) -> Body {
    let reason = match reason {
        v1_3::PacketInReason::NoMatch => PacketInReason::NoMatch,
        _ => PacketInReason::Action,
    };
    Body::PacketIn(PacketIn {
        buffer_id: id,
        total_len: len.min(0xffff) as u16,
        in_port: in_port as u16,
        reason,
        data: Rest::from(data),
    })
}

/// An entry is gone; nothing if this version has no such reason.
pub(super) fn flow_removed(now: Time, gone: &Removed) -> Option<Body> {
    let reason = match gone.reason {
        v1_3::RemovedReason::IdleTimeout => RemovedReason::IdleTimeout,
        v1_3::RemovedReason::HardTimeout => RemovedReason::HardTimeout,
        v1_3::RemovedReason::Delete => RemovedReason::Delete,
        v1_3::RemovedReason::GroupDelete => return None,
    };
    let (duration_s, duration_ns) = age(now, gone.entry.created);
    Some(Body::FlowRemoved(FlowRemoved {
        matching: Match::from(&gone.pattern),
        cookie: gone.entry.cookie,
        priority: gone.priority,
        reason,
        duration_s,
        duration_ns,
        idle_timeout: gone.entry.idle_timeout,
        packets: gone.entry.packets,
        bytes: gone.entry.bytes,
    }))
}

impl Switch {
    /// A message of version 1.0: what is wrong with it is answered by whoever called this.
    pub(super) fn handle_1_0(&mut self, now: Time, from: u32, message: Message) -> Result<(), Code> {
        let Message { xid, body } = message;
        let answer = match body {
            Body::FeaturesRequest => Body::FeaturesReply(self.features_1_0()),
            Body::GetConfigRequest => {
                let (flags, miss_send_len) = self.set_up(from);
                Body::GetConfigReply(SwitchConfig { flags, miss_send_len })
            }
            Body::SetConfig(config) => {
                self.set_config(from, config.flags, config.miss_send_len);
                return Ok(());
            }
            Body::PacketOut(out) => return self.packet_out_1_0(now, out),
            Body::FlowMod(change) => return self.flow_mod_1_0(now, change),
            Body::PortMod(change) => {
                let faults = [Fault::BadPort.numbers(), Fault::BadHwAddr.numbers()];
                let (config, mask) = (change.config & port_config::V1_0, change.mask & port_config::V1_0);
                return self.modify_port(from, change.number.into(), change.address, config, mask, faults);
            }
            Body::StatsRequest(request) => return self.stats_1_0(now, from, xid, request.body),
            Body::BarrierRequest => Body::BarrierReply,
            Body::QueueGetConfigRequest(request) => {
                if !self.datapath.ports().contains_key(&request.port.into()) {
                    return Err(Fault::QueueBadPort.numbers());
                }
                let queues = self.queues_of(Some(request.port.into())).map(stats::queue_1_0).collect();
                Body::QueueGetConfigReply(QueueConfig { port: request.port, queues })
            }
            Body::Vendor(_) => return Err(Fault::BadVendor.numbers()),
            // What a controller says about messages of the switch, and answers to questions that it was not asked.
            Body::Error(_) | Body::Hello(_) | Body::EchoReply(_) => return Ok(()),
            Body::EchoRequest(data) => Body::EchoReply(data),
            // Of switches only.
            Body::FeaturesReply(_)
            | Body::GetConfigReply(_)
            | Body::PacketIn(_)
            | Body::FlowRemoved(_)
            | Body::PortStatus(_)
            | Body::StatsReply(_)
            | Body::BarrierReply
            | Body::QueueGetConfigReply(_) => return Err(Fault::BadType.numbers()),
        };
        self.agent.send_1_0(from, xid, answer);
        Ok(())
    }

    fn features_1_0(&self) -> Features {
        Features {
            datapath_id: self.config.datapath_id,
            buffers: self.config.buffers,
            tables: self.datapath.tables.len() as u8,
            capabilities: CAPABILITIES,
            actions: ACTIONS,
            ports: self.all_ports().map(|(number, port, setting)| port.of_1_0(number, setting)).collect(),
        }
    }

    fn packet_out_1_0(&mut self, now: Time, out: PacketOut) -> Result<(), Code> {
        let actions = actions::read(&out.actions, true, self).map_err(Fault::numbers)?;
        let (in_port, frame) = match out.buffer_id {
            NO_BUFFER => (wide(out.in_port), base::Frame::from_bytes(&out.data.0)),
            id => {
                let (_, frame) = buffered(&mut self.agent, id)?;
                (wide(out.in_port), frame)
            }
        };
        self.execute(now, in_port, &actions, frame);
        Ok(())
    }

    fn flow_mod_1_0(&mut self, now: Time, change: FlowMod) -> Result<(), Code> {
        let deletes = matches!(change.command, Command::Delete | Command::DeleteStrict);
        let actions = if deletes {
            Vec::new()
        } else {
            actions::read(&change.actions, false, self).map_err(Fault::numbers)?
        };
        // There is no table of emergency entries, which may have no room at all.
        if change.flags & flow_flags::EMERG != 0 {
            let has_timeout = change.idle_timeout != 0 || change.hard_timeout != 0;
            return Err(if has_timeout { Fault::BadEmergTimeout } else { Fault::AllTablesFull }.numbers());
        }
        let flags = change.flags & (flow_flags::SEND_FLOW_REM | flow_flags::CHECK_OVERLAP);
        let is_add = change.command == Command::Add;
        let entry = NewEntry {
            pattern: Pattern::from(&change.matching),
            // Entries that leave out nothing have the highest priority, whatever theirs says.
            priority: if change.matching.wildcards & wildcards::ALL == 0 {
                u16::MAX
            } else {
                change.priority
            },
            cookie: change.cookie,
            idle_timeout: change.idle_timeout,
            hard_timeout: change.hard_timeout,
            // An entry that takes the place of another counts anew; one that is changed goes on counting.
            flags: if is_add { flags | v1_3::flow_flags::RESET_COUNTS } else { flags },
            instructions: instructions(actions.clone()),
        };
        let changed = Change {
            command: command(change.command),
            table: Some(0),
            entry,
            cookie_mask: 0,
            out_port: (deletes && change.out_port != ports::NONE).then(|| wide(change.out_port)),
            out_group: None,
            is_of_1_0: true,
        };
        self.change_flows(now, changed).map_err(|refusal| {
            match refusal {
                Refusal::Overlap => Fault::Overlap,
                Refusal::Full => Fault::AllTablesFull,
            }
            .numbers()
        })?;
        if !deletes && change.buffer_id != NO_BUFFER {
            let (in_port, frame) = buffered(&mut self.agent, change.buffer_id)?;
            self.execute(now, in_port, &actions, frame);
        }
        Ok(())
    }
}

fn buffered(agent: &mut Agent, id: u32) -> Result<(u32, base::Frame), Code> {
    agent.buffered(id, [Fault::BufferEmpty.numbers(), Fault::BufferUnknown.numbers()])
}

/// Without actions a packet is dropped, which an entry says by having no instruction.
fn instructions(actions: Vec<v1_3::Action>) -> Box<[v1_3::Instruction]> {
    match actions.is_empty() {
        true => Box::new([]),
        false => Box::new([v1_3::Instruction::ApplyActions { actions }]),
    }
}

const fn command(command: Command) -> v1_3::Command {
    match command {
        Command::Add => v1_3::Command::Add,
        Command::Modify => v1_3::Command::Modify,
        Command::ModifyStrict => v1_3::Command::ModifyStrict,
        Command::Delete => v1_3::Command::Delete,
        Command::DeleteStrict => v1_3::Command::DeleteStrict,
    }
}
