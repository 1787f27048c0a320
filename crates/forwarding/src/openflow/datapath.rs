//! A datapath: its tables, groups, meters and ports, and the one function that moves packets through them.

use super::actions::{ActionSet, BUCKETS_MAX, Doer, Taken, finish};
use super::normal::Stations;
use super::packet::Packet;
use super::ports::{PortSetting, Ports, port_config};
use super::{Fields, FlowTable, GroupTable, MeterTable, Metered};
use crate::hash::Seed;
use base::device::DropReason;
use base::{Frame, Time};
use wire::openflow::v1_3::{Action, Instruction, PacketInReason, ports};

/// What leaves the tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaving {
    /// A frame to send.
    Port {
        /// By which port.
        port: u32,
        /// Through which queue of it; its own if nothing is said.
        queue: Option<u32>,
        /// With its Ethernet header.
        frame: Frame,
    },
    /// A packet for the controllers.
    Controller {
        /// Why it is sent.
        reason: PacketInReason,
        /// The table that sent it.
        table: u8,
        /// The cookie of the entry that sent it; nothing if no entry matched, or for a packet of a controller's own.
        cookie: Option<u64>,
        /// Bytes of it that they want, if it is buffered.
        max_len: u16,
        /// What could be matched of it: where it came in, and its metadata.
        fields: Box<Fields>,
        /// The packet as it is now.
        frame: Frame,
    },
}

/// What is done with fragments of IP: OFPC_FRAG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fragments {
    /// They are looked up, without ports.
    #[default]
    Normal,
    /// They are dropped.
    Drop,
}

/// Tables, groups, meters and ports. All that is in it may be looked at and changed; [`Datapath::process`] moves
/// packets.
#[derive(Clone, Debug)]
pub struct Datapath {
    /// The flow tables, the first of which all packets begin at.
    pub tables: Vec<FlowTable>,
    /// The groups.
    pub groups: GroupTable,
    /// The meters.
    pub meters: MeterTable,
    /// What is done with fragments.
    pub fragments: Fragments,
    ports: Ports,
    stations: Stations,
    seed: Seed,
}

impl Datapath {
    /// So many tables with room for `max_entries` each, and no port.
    pub fn new(tables: u8, max_entries: usize, seed: Seed) -> Datapath {
        Datapath {
            tables: (0..tables).map(|_| FlowTable::new(max_entries, seed)).collect(),
            groups: GroupTable::default(),
            meters: MeterTable::default(),
            fragments: Fragments::default(),
            ports: Ports::new(),
            stations: Stations::default(),
            seed,
        }
    }

    /// The ports by their numbers.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Gives a port another setting, or makes it.
    pub fn set_port(&mut self, port: u32, setting: PortSetting) {
        if !setting.is_live() {
            self.stations.forget(port);
        }
        self.ports.insert(port, setting);
    }

    /// Forgets tables, groups and meters, as a switch that starts.
    pub fn clear(&mut self, max_entries: usize) {
        let ports = core::mem::take(&mut self.ports);
        *self = Datapath { ports, ..Datapath::new(self.tables.len() as u8, max_entries, self.seed) };
    }

    /// Takes a frame that came by a port through the tables. What leaves is appended to `out`; the result says why
    /// nothing ever would.
    pub fn process(
        &mut self,
        now: Time,
        in_port: u32,
        frame: Frame,
        out: &mut Vec<Leaving>,
    ) -> Result<(), DropReason> {
        self.admit(in_port, &frame)?;
        let mut packet = Packet::new(frame, in_port);
        self.takes_fragment(&packet)?;
        let (start, mut buckets_left) = (out.len(), Some(BUCKETS_MAX));
        self.search(now, &mut packet, &mut buckets_left, out);
        finish(packet, out);
        dropped_if_too_many(buckets_left, start, out)
    }

    /// Takes a frame that came by a port past the tables, as NORMAL does.
    pub fn process_normal(
        &mut self,
        now: Time,
        in_port: u32,
        frame: Frame,
        out: &mut Vec<Leaving>,
    ) -> Result<(), DropReason> {
        self.admit(in_port, &frame)?;
        let packet = Packet::new(frame, in_port);
        self.takes_fragment(&packet)?;
        self.do_actions(now, packet, &[Action::Output { port: ports::NORMAL, max_len: 0 }], out)
    }

    /// Does a port take a frame that came by it?
    #[inline]
    fn admit(&self, in_port: u32, frame: &Frame) -> Result<(), DropReason> {
        let setting = self.ports.get(&in_port).copied().unwrap_or_default();
        if !setting.receives(is_of_spanning_tree(frame)) {
            return Err(DropReason::PortDown);
        }
        Ok(())
    }

    /// Does the switch take a packet that may be a fragment?
    #[inline]
    fn takes_fragment(&self, packet: &Packet) -> Result<(), DropReason> {
        if packet.layout().is_fragment && self.fragments == Fragments::Drop {
            return Err(DropReason::Filtered);
        }
        Ok(())
    }

    /// Does actions with a packet that a controller sends. TABLE is the first table. What leaves is appended to `out`;
    /// the result says why nothing does.
    pub fn execute(
        &mut self,
        now: Time,
        in_port: u32,
        actions: &[Action],
        frame: Frame,
        out: &mut Vec<Leaving>,
    ) -> Result<(), DropReason> {
        self.do_actions(now, Packet::new(frame, in_port), actions, out)
    }

    fn do_actions(
        &mut self,
        now: Time,
        mut packet: Packet,
        actions: &[Action],
        out: &mut Vec<Leaving>,
    ) -> Result<(), DropReason> {
        let (start, mut buckets_left) = (out.len(), Some(BUCKETS_MAX));
        let is_table = |action: &Action| matches!(action, Action::Output { port: ports::TABLE, .. });
        for list in actions.split_inclusive(is_table) {
            let (list, to_table) = match list.split_last() {
                Some((last, list)) if is_table(last) => (list, true),
                _ => (list, false),
            };
            let Datapath { groups, ports, stations, seed, .. } = self;
            let buckets_left = &mut buckets_left;
            let mut doer = Doer { now, seed: *seed, groups, ports, stations, out, buckets_left };
            let taken = Taken { table: 0, cookie: None, reason: PacketInReason::Action };
            if !doer.do_list(list, &mut packet, taken) {
                break;
            }
            if to_table {
                doer.settle(&mut packet);
                let mut copy = packet.clone();
                self.search(now, &mut copy, buckets_left, out);
                finish(copy, out);
            }
        }
        finish(packet, out);
        dropped_if_too_many(buckets_left, start, out)
    }

    /// Looks a packet up in one table after another, as entries say.
    fn search(
        &mut self,
        now: Time,
        packet: &mut Packet,
        buckets_left: &mut Option<usize>,
        out: &mut Vec<Leaving>,
    ) {
        let mut table = 0u8;
        let mut set = ActionSet::default();
        let Datapath { tables, groups, meters, ports, stations, seed, .. } = self;
        let mut doer = Doer { now, seed: *seed, groups, ports, stations, out, buckets_left };
        loop {
            let Some(flows) = tables.get_mut(usize::from(table)) else { return };
            let len = packet.frame().len();
            let Some(id) = flows.take(packet.fields(), len, now) else {
                let taken = Taken { table, cookie: None, reason: PacketInReason::NoMatch };
                let setting = doer.ports.get(&packet.in_port()).copied().unwrap_or_default();
                if setting.config & port_config::NO_PACKET_IN == 0 {
                    doer.punt(0, packet, taken);
                }
                return;
            };
            let is_miss = flows.is_miss(id);
            let Some(entry) = flows.entry(id) else { return };
            let reason = if is_miss { PacketInReason::NoMatch } else { PacketInReason::Action };
            let taken = Taken { table, cookie: Some(entry.cookie), reason };
            let mut next = None;
            for instruction in by_order(&entry.instructions) {
                match instruction {
                    Instruction::Meter { meter } => match meters.take(*meter, len, now) {
                        Metered::Passes => {}
                        Metered::Drops => return,
                        Metered::Remarks(levels) => {
                            doer.settle(packet);
                            packet.remark(levels);
                        }
                    },
                    Instruction::ApplyActions { actions } => {
                        if !doer.do_list(actions, packet, taken) {
                            return;
                        }
                    }
                    Instruction::ClearActions => set.clear(),
                    Instruction::WriteActions { actions } => set.write(actions, taken),
                    Instruction::WriteMetadata { metadata, mask } => packet.write_metadata(*metadata, *mask),
                    Instruction::GotoTable { table } => next = Some(*table),
                    Instruction::Experimenter { .. } => {}
                }
            }
            match next {
                // Tables are only gone through forwards: the agent refuses other entries.
                Some(later) if later > table => table = later,
                _ => {
                    if !set.is_empty() {
                        doer.do_set(&set, packet, 0);
                    }
                    return;
                }
            }
        }
    }
}

/// A packet that more buckets were to be done for than may be leaves nowhere.
fn dropped_if_too_many(
    buckets_left: Option<usize>,
    start: usize,
    out: &mut Vec<Leaving>,
) -> Result<(), DropReason> {
    if buckets_left.is_none() {
        out.truncate(start);
        return Err(DropReason::RateLimited);
    }
    Ok(())
}

/// Instructions in the order in which they are done, whatever theirs is: meter, apply, clear, write, metadata, goto.
#[inline]
fn by_order(instructions: &[Instruction]) -> impl Iterator<Item = &Instruction> {
    let rank = |instruction: &Instruction| match instruction {
        Instruction::Meter { .. } => 0,
        Instruction::ApplyActions { .. } => 1,
        Instruction::ClearActions => 2,
        Instruction::WriteActions { .. } => 3,
        Instruction::WriteMetadata { .. } => 4,
        Instruction::GotoTable { .. } => 5,
        Instruction::Experimenter { .. } => 6,
    };
    // Most entries have one, and need no order.
    let last = if instructions.len() == 1 { 0 } else { 5 };
    (0..=last).flat_map(move |wanted| instructions.iter().filter(move |one| last == 0 || rank(one) == wanted))
}

/// Is it for the group of bridges, to which spanning trees are told (IEEE 802.1D-2004, 7.12.3)?
fn is_of_spanning_tree(frame: &Frame) -> bool {
    frame.header().starts_with(&[0x01, 0x80, 0xc2, 0, 0, 0])
}
