//! Doing actions: those of a list in their order, those of a set in the order of the specification.

use super::normal::{Stations, Way};
use super::packet::Packet;
use super::ports::{PortSetting, Ports, port_config};
use super::{GroupTable, Leaving};
use crate::hash::{Seed, mix};
use base::{MacAddr, Time};
use wire::openflow::v1_3::{Action, GroupType, OxmField, PacketInReason, ports};

/// The queue that stands for a port's own.
pub const DEFAULT_QUEUE: u32 = u32::MAX;
/// Groups that give to groups are followed so far; a loop is refused before.
const DEPTH_MAX: usize = 16;
/// Buckets that are done for one packet at most. Groups of type ALL that give to each other multiply their copies, so
/// that a few short messages could otherwise hold the switch up for ever.
pub(super) const BUCKETS_MAX: usize = 4096;

/// The entry that a packet has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) table: u8,
    /// Of an entry; nothing for a packet that a controller sends.
    pub(super) cookie: Option<u64>,
    /// Why a controller gets what is sent to it.
    pub(super) reason: PacketInReason,
}

/// What actions need beside the packet.
pub(super) struct Doer<'a> {
    pub(super) now: Time,
    pub(super) seed: Seed,
    pub(super) groups: &'a mut GroupTable,
    pub(super) ports: &'a Ports,
    pub(super) stations: &'a mut Stations,
    pub(super) out: &'a mut Vec<Leaving>,
    /// How many buckets may still be done for this packet; nothing if there were more than that, and the packet is to
    /// be dropped.
    pub(super) buckets_left: &'a mut Option<usize>,
}

/// The action set of a packet: one action of each kind, done in the order of the specification. Each is there with the
/// entry that wrote it, of which a controller is told.
#[derive(Clone, Debug, Default)]
pub(super) struct ActionSet(Vec<(Action, Taken)>);

/// Where the order of the specification has an action. Of actions with the same place one takes the place of the other;
/// each field that is set has a place of its own.
fn place(action: &Action) -> (u8, u8) {
    match action {
        Action::CopyTtlIn => (1, 0),
        Action::PopVlan => (2, 0),
        Action::PopMpls { .. } => (2, 1),
        Action::PopPbb => (2, 2),
        Action::PushMpls { .. } => (3, 0),
        Action::PushPbb { .. } => (4, 0),
        Action::PushVlan { .. } => (5, 0),
        Action::CopyTtlOut => (6, 0),
        Action::DecMplsTtl => (7, 0),
        Action::DecNwTtl => (7, 1),
        Action::SetField { set } => (8, set.0.field as u8),
        Action::SetMplsTtl { .. } => (8, 0xfe),
        Action::SetNwTtl { .. } => (8, 0xff),
        Action::SetQueue { .. } => (9, 0),
        Action::Experimenter { .. } => (10, 0),
        Action::Group { .. } => (11, 0),
        Action::Output { .. } => (12, 0),
    }
}

impl ActionSet {
    /// Writes actions of an entry into it.
    pub(super) fn write(&mut self, actions: &[Action], taken: Taken) {
        for action in actions {
            match self.0.binary_search_by_key(&place(action), |(action, _)| place(action)) {
                Ok(at) => self.0[at] = (action.clone(), taken),
                Err(at) => self.0.insert(at, (action.clone(), taken)),
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Doer<'_> {
    /// Does the action set. A group takes precedence of the port; without both the packet is dropped.
    pub(super) fn do_set(&mut self, set: &ActionSet, packet: &mut Packet, depth: usize) {
        let has_group = set.0.iter().any(|(action, _)| matches!(action, Action::Group { .. }));
        for (action, taken) in &set.0 {
            if has_group && matches!(action, Action::Output { .. }) {
                continue;
            }
            if !self.do_one(action, packet, *taken, depth) {
                return;
            }
        }
    }

    /// Does actions in their order; false if one of them has ended the packet.
    pub(super) fn do_list(&mut self, actions: &[Action], packet: &mut Packet, taken: Taken) -> bool {
        actions.iter().all(|action| self.do_one(action, packet, taken, 0))
    }

    /// A packet leaves by the port that it owes, as it is now; a copy of it goes on.
    #[inline]
    pub(super) fn settle(&mut self, packet: &mut Packet) {
        if let Some((port, queue)) = packet.owed.take() {
            self.out.push(Leaving::Port { port, queue, frame: packet.frame().clone() });
        }
    }

    fn do_one(&mut self, action: &Action, packet: &mut Packet, taken: Taken, depth: usize) -> bool {
        self.settle(packet);
        let mut is_valid = true;
        match action {
            Action::Output { port, max_len } => self.output(*port, *max_len, packet, taken),
            Action::Group { group } => return self.group(*group, packet, taken, depth),
            Action::SetQueue { queue } => packet.queue = Some(*queue).filter(|queue| *queue != DEFAULT_QUEUE),
            Action::SetField { set } => packet.set(set.0.field, set.0.value),
            Action::PushVlan { ethertype } => packet.push_vlan(*ethertype),
            Action::PopVlan => packet.pop_vlan(),
            Action::PushMpls { ethertype } => packet.push_mpls(*ethertype),
            Action::PopMpls { ethertype } => packet.pop_mpls(*ethertype),
            Action::PushPbb { ethertype } => packet.push_pbb(*ethertype),
            Action::PopPbb => packet.pop_pbb(),
            Action::SetMplsTtl { ttl } => packet.set_mpls_ttl(*ttl),
            Action::DecMplsTtl => is_valid = packet.dec_mpls_ttl(),
            Action::SetNwTtl { ttl } => packet.set_ip_ttl(*ttl),
            Action::DecNwTtl => is_valid = packet.dec_ip_ttl(),
            Action::CopyTtlOut => packet.copy_ttl_out(),
            Action::CopyTtlIn => packet.copy_ttl_in(),
            // Refused where entries are made.
            Action::Experimenter { .. } => {}
        }
        if !is_valid {
            let taken = Taken { reason: PacketInReason::InvalidTtl, ..taken };
            self.punt(u16::MAX, packet, taken);
        }
        is_valid
    }

    /// Gives copies to the buckets of a group; false if the packet has had too many of them.
    fn group(&mut self, id: u32, packet: &mut Packet, taken: Taken, depth: usize) -> bool {
        if depth >= DEPTH_MAX {
            return true;
        }
        let flow = match self.groups.get(id).map(|group| group.kind) {
            Some(GroupType::Select) => flow_of(self.seed, packet),
            _ => 0,
        };
        let ports = self.ports;
        let is_live = |port: u32| ports.get(&port).is_some_and(PortSetting::is_live);
        let chosen = self.groups.take(id, packet.frame().len(), flow, &is_live);
        *self.buckets_left = self.buckets_left.and_then(|left| left.checked_sub(chosen.len()));
        for bucket in chosen {
            let Some(group) = self.groups.get(id).filter(|_| self.buckets_left.is_some()) else { break };
            let mut set = ActionSet::default();
            set.write(&group.buckets[bucket].actions, taken);
            let mut copy = packet.clone();
            self.do_set(&set, &mut copy, depth + 1);
            finish(copy, self.out);
        }
        self.buckets_left.is_some()
    }

    /// Sends to a port or to what stands for one. A packet leaves by its port of ingress only if IN_PORT says so.
    fn output(&mut self, port: u32, max_len: u16, packet: &mut Packet, taken: Taken) {
        let in_port = packet.in_port();
        match port {
            ports::IN_PORT => self.send(in_port, packet),
            ports::ALL => self.send_everywhere(packet, 0),
            ports::FLOOD => self.send_everywhere(packet, port_config::NO_FLOOD),
            ports::CONTROLLER => self.punt(max_len, packet, taken),
            ports::NORMAL => {
                let fields = packet.fields();
                let address = |field| {
                    let [.., a, b, c, d, e, f] = u128::to_be_bytes(fields.get(field));
                    MacAddr([a, b, c, d, e, f])
                };
                let vlan = fields.get(OxmField::VlanVid) as u16 & 0xfff;
                let (from, to) = (address(OxmField::EthSrc), address(OxmField::EthDst));
                // A controller can give a frame any port of ingress.
                let in_port = Some(in_port).filter(|port| self.ports.contains_key(port));
                match self.stations.way(self.now, vlan, from, to, in_port) {
                    Way::To(port) => self.send(port, packet),
                    Way::Everywhere => self.send_everywhere(packet, port_config::NO_FLOOD),
                    Way::Nowhere => {}
                }
            }
            port if port != in_port => self.send(port, packet),
            _ => {}
        }
    }

    fn send_everywhere(&mut self, packet: &Packet, left_out: u32) {
        let in_port = packet.in_port();
        let others =
            self.ports.iter().filter(|(port, setting)| **port != in_port && setting.config & left_out == 0);
        for (port, _) in others.filter(|(_, setting)| setting.sends()) {
            self.out.push(Leaving::Port { port: *port, queue: packet.queue, frame: packet.frame().clone() });
        }
    }

    fn send(&mut self, port: u32, packet: &mut Packet) {
        if self.ports.get(&port).is_some_and(PortSetting::sends) {
            packet.owed = Some((port, packet.queue));
        }
    }

    pub(super) fn punt(&mut self, max_len: u16, packet: &mut Packet, taken: Taken) {
        self.settle(packet);
        let fields = *packet.fields();
        self.out.push(Leaving::Controller {
            reason: taken.reason,
            table: taken.table,
            cookie: taken.cookie,
            max_len,
            fields: Box::new(fields),
            frame: packet.frame().clone(),
        });
    }
}

/// Nothing more happens to a packet: it leaves by the port that it owes.
#[inline(always)]
pub(super) fn finish(packet: Packet, out: &mut Vec<Leaving>) {
    let Packet { frame, owed, .. } = packet;
    if let Some((port, queue)) = owed {
        out.push(Leaving::Port { port, queue, frame });
    }
}

/// What all packets of a flow have in common. Classes and marks of congestion change from one to the next.
const OF_FLOWS: [OxmField; 16] = [
    OxmField::EthSrc,
    OxmField::EthDst,
    OxmField::EthType,
    OxmField::VlanVid,
    OxmField::MplsLabel,
    OxmField::Ipv4Src,
    OxmField::Ipv4Dst,
    OxmField::Ipv6Src,
    OxmField::Ipv6Dst,
    OxmField::IpProto,
    OxmField::TcpSrc,
    OxmField::TcpDst,
    OxmField::UdpSrc,
    OxmField::UdpDst,
    OxmField::SctpSrc,
    OxmField::SctpDst,
];

/// The same number for all packets of a flow.
fn flow_of(seed: Seed, packet: &mut Packet) -> u64 {
    let fields = packet.fields();
    let words = OF_FLOWS
        .into_iter()
        .map(|field| fields.get(field))
        .flat_map(|value| [value as u64, (value >> 64) as u64]);
    let hash = words.fold(seed.0, |hash, word| mix(hash ^ word, seed.1 | 1) ^ hash.rotate_left(29));
    mix(hash, 0x9e37_79b9_7f4a_7c15)
}
