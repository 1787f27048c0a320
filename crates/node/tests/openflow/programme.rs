//! Programmes: messages of a controller and frames, in their order. Those that [`differences`](super::differences) are
//! named for are left out of random ones, and have tests of their own.

use super::actions::{GROUPS, Known, actions, output, set_of_actions, setting};
use super::dice::Dice;
use super::packet::Packet;
use wire::openflow::v1_3::{
    Action, Band, Body, Bucket, Buckets, Command, FlowFlags, FlowMod, GroupCommand, GroupMod, GroupType,
    Instruction, Match, MeterCommand, MeterFlags, MeterMod, Oxm, OxmField, PacketOut, VLAN_PRESENT,
    flow_flags, groups, meter_flags, ports,
};
use wire::openflow::{NO_BUFFER, Rest, Version, v1_0};

/// What happens to a switch.
#[derive(Clone, Debug)]
pub enum Step {
    /// Its controller says something, in version 1.0 or 1.3.
    Say10(v1_0::Body),
    Say13(Body),
    /// A frame comes by a port.
    Frame(u32, Vec<u8>),
}

/// What happens to a switch, in its order, while a controller of one version is connected.
#[derive(Clone, Debug)]
pub struct Programme {
    pub version: Version,
    pub steps: Vec<Step>,
    /// Bytes are compared although packets change their lengths (difference `bytes-as-they-came`), and Open vSwitch may
    /// take what it remembers of packets although labels are set (`label-of-another-packet`).
    pub is_exact: bool,
}

/// Tables that random entries stand in.
const TABLES: [u8; 4] = [0, 1, 2, 253];
const METERS: u64 = 3;

impl Programme {
    /// The programme of a number: the same each time.
    pub fn random(number: u64) -> Programme {
        let mut dice = Dice::new(number);
        let packets: Vec<Packet> = (0..5).map(|_| Packet::random(&mut dice)).collect();
        let version = if dice.chance(25) { Version::V1_0 } else { Version::V1_3 };
        let mut steps = match version {
            Version::V1_0 => Vec::new(),
            Version::V1_3 => misses().into_iter().map(Step::Say13).collect(),
        };
        for round in 0..3 + dice.below(3) {
            let changes = if round == 0 { 6 } else { 2 };
            for _ in 0..=dice.below(changes) {
                let packet = dice.pick(&packets);
                match version {
                    Version::V1_0 => {
                        steps.push(Step::Say10(super::programme_1_0::change(&mut dice, &packet)))
                    }
                    Version::V1_3 => {
                        steps.extend(changes_13(&mut dice, &packet).into_iter().map(Step::Say13))
                    }
                }
            }
            for _ in 0..=dice.below(4) {
                let packet = if dice.chance(85) { dice.pick(&packets) } else { Packet::random(&mut dice) };
                steps.push(Step::Frame(packet.port, packet.bytes()));
            }
        }
        Programme { version, steps, is_exact: false }
    }

    /// Is a label set? (Difference `label-of-another-packet`.)
    pub fn sets_labels(&self) -> bool {
        let is_set = |action: &Action| {
            matches!(action, Action::SetField { set } if matches!(set.0.field, OxmField::MplsLabel | OxmField::MplsTc))
                || matches!(action, Action::SetMplsTtl { .. } | Action::DecMplsTtl)
        };
        self.does(is_set)
    }

    /// May packets be longer or shorter than they came when they come to a later table or a group?
    pub fn changes_lengths(&self) -> bool {
        self.does(changes_length)
    }

    /// Has an entry of version 1.3 such an action?
    fn does(&self, is_meant: impl Fn(&Action) -> bool) -> bool {
        let changes = |instruction: &Instruction| match instruction {
            Instruction::ApplyActions { actions } | Instruction::WriteActions { actions } => {
                actions.iter().any(&is_meant)
            }
            _ => false,
        };
        self.steps.iter().any(
            |step| matches!(step, Step::Say13(Body::FlowMod(change)) if change.instructions.iter().any(changes)),
        )
    }
}

/// Does an action put a header on a packet, or take one off?
fn changes_length(action: &Action) -> bool {
    use Action::*;
    matches!(action, PushVlan { .. } | PopVlan | PushMpls { .. } | PopMpls { .. } | PushPbb { .. } | PopPbb)
}

/// A message, and what has to follow it.
fn changes_13(dice: &mut Dice, packet: &Packet) -> Vec<Body> {
    match dice.below(20) {
        0..=1 => vec![Body::GroupMod(group_mod(dice, packet))],
        2 => vec![Body::MeterMod(meter_mod(dice))],
        3 => vec![packet_out(dice, packet)],
        _ => {
            let change = flow_mod(dice, packet);
            let deletes = matches!(change.command, Command::Delete | Command::DeleteStrict);
            let again = if deletes { misses() } else { Vec::new() };
            core::iter::once(Body::FlowMod(change)).chain(again).collect()
        }
    }
}

/// Entries for packets that no other entry of a later table matches (difference `action-set-after-a-miss`).
fn misses() -> Vec<Body> {
    let miss = |table| FlowMod { cookie: 9, table, ..FlowMod::new(Command::Add, Match::default()) };
    TABLES[1..].iter().map(|table| Body::FlowMod(miss(*table))).collect()
}

/// A match that a packet has, or nearly: most fields that it takes are those of the packet.
pub fn matching(dice: &mut Dice, packet: &Packet) -> Match {
    let mut found = Match::default();
    let is_wrong = dice.chance(3);
    let how_many = dice.pick(&[15, 50, 90]);
    for (field, value) in packet.fields() {
        // Others hang on these.
        let is_key = matches!(field, OxmField::EthType | OxmField::IpProto | OxmField::Icmpv6Type);
        if !dice.chance(if is_key { 80 } else { how_many }) || !(found.allows(field) || is_wrong) {
            continue;
        }
        let value = if dice.chance(6) { value ^ 1 } else { value };
        let mask = (field.has_mask() && dice.chance(35)).then(|| match dice.below(4) {
            0 => field.ones() & !0xff,
            1 => field.ones() & !1,
            2 => field.ones() >> 1 & !3,
            _ => 0x103 & field.ones(),
        });
        // It is said whether there is a tag, or nothing of it.
        let mask =
            mask.map(|mask| if field == OxmField::VlanVid { mask | u128::from(VLAN_PRESENT) } else { mask });
        let value = if is_wrong { value } else { value & mask.unwrap_or(u128::MAX) };
        found.fields.push(Oxm { field, value, mask });
    }
    if is_wrong && dice.chance(30) {
        let again = found.fields.first().copied();
        found.fields.extend(again);
    }
    found
}

fn flow_mod(dice: &mut Dice, packet: &Packet) -> FlowMod {
    let command = match dice.below(12) {
        0..=6 => Command::Add,
        7 => Command::Modify,
        8 => Command::ModifyStrict,
        9..=10 => Command::Delete,
        _ => Command::DeleteStrict,
    };
    let deletes = matches!(command, Command::Delete | Command::DeleteStrict);
    let table = match dice.below(10) {
        0..=5 => 0,
        6 if deletes => 0xff,
        _ => dice.pick(&TABLES),
    };
    let matching = if deletes && dice.chance(40) { Match::default() } else { matching(dice, packet) };
    let mut flags = 0;
    for (flag, percent) in
        [(flow_flags::CHECK_OVERLAP, 10), (flow_flags::RESET_COUNTS, 20), (flow_flags::SEND_FLOW_REM, 20)]
    {
        flags |= if dice.chance(percent) { flag } else { 0 };
    }
    FlowMod {
        // See `cookie-zero-in-all-tables`.
        cookie: dice.below(4).max(u64::from(table == 0xff)),
        cookie_mask: if dice.chance(25) { dice.pick(&[1, 2, u64::MAX]) } else { 0 },
        table,
        priority: priority(dice, &matching, flags & flow_flags::CHECK_OVERLAP != 0),
        out_port: if deletes && dice.chance(20) { 1 + dice.below(4) as u32 } else { ports::ANY },
        out_group: if deletes && dice.chance(10) { 1 + dice.below(GROUPS) as u32 } else { groups::ANY },
        flags: FlowFlags(flags),
        instructions: if deletes { Vec::new() } else { instructions(dice, packet, &matching, table) },
        ..FlowMod::new(command, matching)
    }
}

/// The priority of an entry follows from its match: which of two with the same priority a packet takes is open
/// (difference `entries-of-one-priority`). Where overlaps are refused, there are few priorities.
pub fn priority(dice: &mut Dice, matching: &impl core::fmt::Debug, has_check: bool) -> u16 {
    if has_check {
        return dice.pick(&[0x8001, 0x8002]);
    }
    let hash = base::random::fnv1a(format!("{matching:?}").as_bytes());
    (hash >> 8) as u16 & 0x7fff
}

fn instructions(dice: &mut Dice, packet: &Packet, matching: &Match, table: u8) -> Vec<Instruction> {
    let mut all = Vec::new();
    let mut known = Known::new(packet, matching);
    if dice.chance(12) {
        all.push(Instruction::Meter { meter: 1 + dice.below(METERS) as u32 });
    }
    if dice.chance(75) {
        all.push(Instruction::ApplyActions { actions: actions(dice, &mut known, 4) });
    }
    if dice.chance(5) {
        all.push(Instruction::ClearActions);
    }
    if dice.chance(35) {
        all.push(Instruction::WriteActions { actions: set_of_actions(dice, &known, table) });
    }
    leave_out_repetitions(&mut all);
    if dice.chance(20) {
        let (metadata, mask) = (dice.pick(&[1, 2, 3]), dice.pick(&[u64::MAX, 1, 3]));
        all.push(Instruction::WriteMetadata { metadata: metadata & mask, mask });
    }
    if dice.chance(35) {
        let next = dice.pick(&[1, 1, 2, 2, 253, 0]);
        if next > table || dice.chance(10) {
            all.push(Instruction::GotoTable { table: next });
        }
    }
    all
}

/// An entry gives to a group once (difference `references-of-a-group`).
fn leave_out_repetitions(instructions: &mut [Instruction]) {
    let mut seen = Vec::new();
    for instruction in instructions {
        if let Instruction::ApplyActions { actions } | Instruction::WriteActions { actions } = instruction {
            actions.retain(|action| match action {
                Action::Group { group } if seen.contains(group) => false,
                Action::Group { group } => {
                    seen.push(*group);
                    true
                }
                _ => true,
            });
        }
    }
}

fn group_mod(dice: &mut Dice, packet: &Packet) -> GroupMod {
    let command =
        dice.pick(&[GroupCommand::Add, GroupCommand::Add, GroupCommand::Modify, GroupCommand::Delete]);
    let kind = dice.pick(&[GroupType::All, GroupType::Indirect, GroupType::FastFailover, GroupType::Select]);
    let count = match kind {
        // Which of several is taken is the switch's to choose.
        GroupType::Select => 1,
        GroupType::Indirect if !dice.chance(10) => 1,
        // See `packets-of-a-group-without-buckets`.
        _ => 1 + dice.below(3),
    };
    let known = Known::new(packet, &Match::default());
    let buckets = (0..count).map(|_| Bucket {
        weight: u16::from(kind == GroupType::Select),
        watch_port: if kind == GroupType::FastFailover { 1 + dice.below(4) as u32 } else { ports::ANY },
        watch_group: groups::ANY,
        actions: {
            let mut actions = vec![output(dice)];
            if dice.chance(40) {
                actions.insert(0, setting(dice, &known));
            }
            actions
        },
    });
    let buckets = if command == GroupCommand::Delete { Vec::new() } else { buckets.collect() };
    GroupMod { command, kind, group: 1 + dice.below(GROUPS) as u32, buckets: Buckets(buckets) }
}

fn meter_mod(dice: &mut Dice) -> MeterMod {
    let command =
        dice.pick(&[MeterCommand::Add, MeterCommand::Add, MeterCommand::Modify, MeterCommand::Delete]);
    // A rate that no programme reaches: what is beyond a rate depends on time.
    let bands = vec![Band::Drop { rate: 1_000_000, burst: 1_000_000 }];
    let flags = dice.pick(&[meter_flags::KBPS, meter_flags::PKTPS]) | meter_flags::BURST | meter_flags::STATS;
    let meter = 1 + dice.below(METERS) as u32;
    let bands = if command == MeterCommand::Delete { Vec::new() } else { bands };
    MeterMod { command, flags: MeterFlags(flags), meter, bands }
}

fn packet_out(dice: &mut Dice, packet: &Packet) -> Body {
    let to_tables = Action::Output { port: ports::TABLE, max_len: 0 };
    let actions = if dice.chance(50) { vec![to_tables] } else { vec![output(dice), output(dice)] };
    Body::PacketOut(PacketOut {
        buffer_id: NO_BUFFER,
        in_port: dice.pick(&[packet.port, packet.port, ports::CONTROLLER]),
        actions,
        data: Rest::from(&packet.bytes()[..]),
    })
}
