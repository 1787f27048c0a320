//! Random actions, most of which the packets of an entry can have.

use super::dice::Dice;
use super::packet::{Network, Packet, mac};
use super::subject::PORTS;
use wire::openflow::v1_3::{Action, Match, Oxm, OxmField, Setting, VLAN_PRESENT, ports};

/// Groups have numbers up to this one.
pub const GROUPS: u64 = 4;

/// What is known of packets: enough to leave most actions out that they can't have.
#[derive(Clone)]
pub struct Known {
    kind: Option<u16>,
    protocol: Option<u8>,
    /// How many tags there are, if it is known; one stands for more.
    tags: Option<usize>,
    labels: usize,
    /// Is the top label the last one, if that is known?
    is_last: Option<bool>,
    packet: Packet,
    /// Actions that the packets can't have are not left out.
    is_wrong: bool,
}

impl Known {
    pub fn new(packet: &Packet, matching: &Match) -> Known {
        let exact = |field| {
            let found = matching.fields.iter().find(|oxm| oxm.field == field)?;
            found.mask.is_none().then_some(found.value)
        };
        let tags = match exact(OxmField::VlanVid) {
            Some(0) => Some(0),
            _ => matching.allows(OxmField::VlanPcp).then_some(1),
        };
        let kind = exact(OxmField::EthType).map(|kind| kind as u16);
        Known {
            kind,
            protocol: exact(OxmField::IpProto).map(|protocol| protocol as u8),
            tags,
            labels: usize::from(kind == Some(0x8847)),
            is_last: exact(OxmField::MplsBos).map(|is_last| is_last == 1),
            packet: packet.clone(),
            is_wrong: false,
        }
    }

    fn has_tag(&self) -> bool {
        self.tags == Some(1)
    }

    fn is_ip(&self) -> bool {
        matches!(self.kind, Some(0x0800 | 0x86dd))
    }

    /// Fields that may be set.
    fn settable(&self) -> Vec<OxmField> {
        use OxmField::*;
        let mut all = vec![EthDst, EthSrc];
        if self.has_tag() {
            all.extend([VlanVid, VlanPcp]);
        }
        match self.kind {
            Some(0x8847) => all.extend([MplsLabel, MplsTc]),
            Some(0x0800) => all.extend([Ipv4Src, Ipv4Dst, IpDscp, IpEcn]),
            Some(0x86dd) => all.extend([Ipv6Src, Ipv6Dst, Ipv6Flabel, IpDscp, IpEcn]),
            Some(0x0806) => all.extend([ArpOp, ArpSpa, ArpTpa, ArpSha, ArpTha]),
            _ => {}
        }
        match self.protocol {
            Some(6) => all.extend([TcpSrc, TcpDst]),
            Some(17) => all.extend([UdpSrc, UdpDst]),
            Some(132) => all.extend([SctpSrc, SctpDst]),
            _ => {}
        }
        all
    }
}

pub fn output(dice: &mut Dice) -> Action {
    let port = match dice.below(20) {
        0..=13 => 1 + dice.below(PORTS as u64) as u32,
        14 => ports::IN_PORT,
        15 => ports::FLOOD,
        16 => ports::ALL,
        17..=18 => ports::CONTROLLER,
        _ => dice.pick(&[77, ports::ANY]),
    };
    Action::Output { port, max_len: 0xffff }
}

pub fn setting(dice: &mut Dice, known: &Known) -> Action {
    let field = dice.pick(&known.settable());
    let drawn = Packet::random(dice);
    let own = drawn.fields().into_iter().find(|(own, _)| *own == field).map(|(_, value)| value);
    let value = match field {
        OxmField::EthDst | OxmField::EthSrc => mac(dice).into(),
        OxmField::VlanVid => (VLAN_PRESENT | dice.pick(&[1, 2, 3])).into(),
        // See `first-label`.
        OxmField::IpDscp => dice.pick(&[0, 8, 40]),
        _ => own.unwrap_or_else(|| u128::from(dice.pick(&[1u8, 2, 3]))),
    };
    Action::SetField { set: Setting(Oxm::exact(field, value & field.ones())) }
}

/// An action that changes the packet, and what is known of it from then on.
fn changing(dice: &mut Dice, known: &mut Known) -> Action {
    let behind = |known: &Known| match known.packet.network {
        Network::Ipv4 { .. } => 0x0800,
        Network::Ipv6 { .. } => 0x86dd,
        Network::Arp { .. } => 0x0806,
        Network::Other(kind) => kind,
    };
    match dice.below(14) {
        // Open vSwitch looks at two tags and three labels (`two-tags`, `three-labels`), and a tag does not begin with
        // what the one before says (`tag-on-a-tag`).
        0 if known.tags == Some(0) => {
            known.tags = Some(1);
            Action::PushVlan { ethertype: 0x8100 }
        }
        1 if known.has_tag() => {
            known.tags = None;
            Action::PopVlan
        }
        // What a label begins with that stands on something else is another matter (`first-label`).
        2..=3 if known.kind == Some(0x0800) || known.is_last == Some(true) && known.labels < 3 => {
            known.is_last = Some(true).filter(|_| known.is_ip() || known.labels > 0);
            known.labels += 1;
            (known.kind, known.protocol) = (Some(0x8847), None);
            Action::PushMpls { ethertype: 0x8847 }
        }
        4..=5 if known.labels > 0 && known.is_last.is_some() => {
            let next = if known.is_last == Some(true) { behind(known) } else { 0x8847 };
            known.labels = usize::from(next == 0x8847);
            (known.kind, known.protocol, known.is_last) = (Some(next), None, None);
            Action::PopMpls { ethertype: next }
        }
        6 if known.labels > 0 => Action::SetMplsTtl { ttl: dice.pick(&[1, 9]) },
        7 if known.labels > 0 => Action::DecMplsTtl,
        8 if known.is_ip() => Action::SetNwTtl { ttl: dice.pick(&[1, 9]) },
        9 if known.is_ip() => Action::DecNwTtl,
        _ if known.is_wrong => dice.pick(&[
            Action::PopVlan,
            Action::DecMplsTtl,
            Action::DecNwTtl,
            Action::PopMpls { ethertype: 0x0800 },
            Action::PushVlan { ethertype: 0x1234 },
            Action::PushMpls { ethertype: 0x0800 },
        ]),
        _ => setting(dice, known),
    }
}

pub fn actions(dice: &mut Dice, known: &mut Known, most: u64) -> Vec<Action> {
    known.is_wrong = dice.chance(4);
    (0..=dice.below(most))
        .map(|_| match dice.below(10) {
            0..=4 => output(dice),
            5 => Action::Group { group: 1 + dice.below(GROUPS) as u32 },
            _ => changing(dice, known),
        })
        .collect()
}

/// Actions of an action set: one of each kind.
pub fn set_of_actions(dice: &mut Dice, known: &Known, table: u8) -> Vec<Action> {
    let mut all = Vec::new();
    if dice.chance(85) {
        let to = output(dice);
        // Which table sends a packet of an action set to the controller is told in another way (difference
        // `packet-in-of-an-action-set`).
        if table == 0 || !matches!(to, Action::Output { port: ports::CONTROLLER, .. }) {
            all.push(to);
        }
    }
    if table == 0 && dice.chance(15) {
        all.push(Action::Group { group: 1 + dice.below(GROUPS) as u32 });
    }
    for _ in 0..dice.below(3) {
        all.push(setting(dice, known));
    }
    all
}
