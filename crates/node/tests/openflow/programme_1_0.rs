//! Random messages of version 1.0.

use super::dice::Dice;
use super::packet::{Network, Packet, Transport, mac};
use super::programme::priority;
use super::subject::PORTS;
use base::MacAddr;
use wire::openflow::v1_0::{Action, Body, Command, FlowMod, Match, VLAN_NONE, flow_flags, ports, wildcards};

fn address(number: u64) -> MacAddr {
    let [_, _, a, b, c, d, e, f] = number.to_be_bytes();
    MacAddr([a, b, c, d, e, f])
}

/// All that can be said of a packet; fields that it does not have are left out.
fn of(packet: &Packet) -> Match {
    let fields = packet.fields();
    let has = |wanted| fields.iter().find(|(field, _)| *field == wanted).map(|(_, value)| *value);
    let mut found = Match {
        wildcards: wildcards::NW_PROTO
            | wildcards::TP_SRC
            | wildcards::TP_DST
            | wildcards::NW_TOS
            | wildcards::DL_VLAN_PCP
            | 32 << wildcards::NW_SRC_SHIFT
            | 32 << wildcards::NW_DST_SHIFT,
        in_port: packet.port as u16,
        dl_src: address(packet.src),
        dl_dst: address(packet.dst),
        dl_vlan: VLAN_NONE,
        dl_type: has(wire::openflow::v1_3::OxmField::EthType).unwrap_or(0) as u16,
        ..Match::ANY
    };
    if let Some((_, tag)) = packet.tags.first() {
        (found.dl_vlan, found.dl_vlan_pcp) = (tag & 0xfff, (tag >> 13) as u8);
        found.wildcards &= !wildcards::DL_VLAN_PCP;
    }
    let addresses = !(63 << wildcards::NW_SRC_SHIFT | 63 << wildcards::NW_DST_SHIFT);
    match packet.network {
        _ if !packet.labels.is_empty() => {}
        Network::Ipv4 { src, dst, .. } => {
            (found.nw_src, found.nw_dst, found.nw_tos) = (src, dst, packet.dscp << 2);
            found.wildcards &= addresses & !(wildcards::NW_TOS | wildcards::NW_PROTO);
            found.nw_proto = match packet.transport {
                Transport::Ports { protocol, src, dst } if protocol != 132 => {
                    (found.tp_src, found.tp_dst) = (src, dst);
                    found.wildcards &= !(wildcards::TP_SRC | wildcards::TP_DST);
                    protocol
                }
                Transport::Icmp { kind, code } => {
                    (found.tp_src, found.tp_dst) = (kind.into(), code.into());
                    found.wildcards &= !(wildcards::TP_SRC | wildcards::TP_DST);
                    1
                }
                Transport::Ports { protocol, .. } | Transport::Other(protocol) => protocol,
                Transport::Solicitation { .. } => 58,
            };
        }
        Network::Arp { operation, spa, tpa, .. } => {
            (found.nw_src, found.nw_dst, found.nw_proto) = (spa, tpa, operation as u8);
            found.wildcards &= addresses & !wildcards::NW_PROTO;
        }
        _ => {}
    }
    found
}

fn matching(dice: &mut Dice, packet: &Packet) -> Match {
    let mut found = of(packet);
    let left_out = dice.pick(&[10, 50, 85]);
    for bit in [0, 1, 2, 3, 4, 5, 6, 7, 20, 21] {
        if dice.chance(left_out) {
            found.wildcards |= 1 << bit;
        }
    }
    for shift in [wildcards::NW_SRC_SHIFT, wildcards::NW_DST_SHIFT] {
        if dice.chance(left_out) {
            found.wildcards |= dice.pick(&[1, 8, 24, 32, 63]) << shift;
        }
    }
    found
}

/// Fields of a protocol that is not named are ignored: they are left out where entries are looked for (difference
/// `ignored-fields-of-a-change`).
fn leave_out_what_is_ignored(matching: &mut Match) {
    use wildcards::{DL_TYPE, NW_DST_SHIFT, NW_PROTO, NW_SRC_SHIFT, NW_TOS, TP_DST, TP_SRC};
    if matching.wildcards & DL_TYPE != 0 {
        matching.wildcards |= NW_PROTO | NW_TOS | 63 << NW_SRC_SHIFT | 63 << NW_DST_SHIFT;
    }
    if matching.wildcards & NW_PROTO != 0 {
        matching.wildcards |= TP_SRC | TP_DST;
    }
}

fn output(dice: &mut Dice) -> Action {
    let port = match dice.below(20) {
        0..=13 => 1 + dice.below(PORTS as u64) as u16,
        14 => ports::IN_PORT,
        15 => ports::FLOOD,
        16 => ports::ALL,
        17..=18 => ports::CONTROLLER,
        _ => dice.pick(&[77, ports::NONE]),
    };
    Action::Output { port, max_len: 0xffff }
}

fn action(dice: &mut Dice, packet: &Packet, matching: &Match) -> Action {
    let drawn = Packet::random(dice);
    let ip = match drawn.network {
        Network::Ipv4 { src, .. } => src,
        _ => [10, 0, 1, 2].into(),
    };
    let is_ip = matching.wildcards & wildcards::DL_TYPE == 0 && matching.dl_type == 0x0800;
    let has_ports =
        is_ip && matching.wildcards & wildcards::NW_PROTO == 0 && matches!(matching.nw_proto, 6 | 17);
    match dice.below(16) {
        // Open vSwitch looks at two tags.
        0 if packet.tags.len() < 2 => Action::SetVlanVid { vid: dice.pick(&[1, 2, 3]) },
        1 if packet.tags.len() < 2 => Action::SetVlanPcp { pcp: dice.pick(&[0, 1, 5]) },
        2 => Action::StripVlan,
        3 => Action::SetDlSrc { address: address(mac(dice)) },
        4 => Action::SetDlDst { address: address(mac(dice)) },
        5 => Action::SetNwSrc { address: ip },
        6 => Action::SetNwDst { address: ip },
        7 => Action::SetNwTos { tos: drawn.dscp << 2 },
        // What this does to ICMP is another matter (difference `ports-of-icmp`).
        8 if has_ports => Action::SetTpSrc { port: dice.pick(&[1, 2, 80]) },
        9 if has_ports => Action::SetTpDst { port: dice.pick(&[1, 2, 443]) },
        _ => output(dice),
    }
}

/// A change of the table, often of an entry that takes `packet`.
pub fn change(dice: &mut Dice, packet: &Packet) -> Body {
    let command = match dice.below(12) {
        0..=6 => Command::Add,
        7 => Command::Modify,
        8 => Command::ModifyStrict,
        9..=10 => Command::Delete,
        _ => Command::DeleteStrict,
    };
    let deletes = matches!(command, Command::Delete | Command::DeleteStrict);
    let mut flags = 0;
    for (flag, percent) in [(flow_flags::CHECK_OVERLAP, 10), (flow_flags::SEND_FLOW_REM, 20)] {
        flags |= if dice.chance(percent) { flag } else { 0 };
    }
    let mut matching = if deletes && dice.chance(40) { Match::ANY } else { matching(dice, packet) };
    if command != Command::Add {
        leave_out_what_is_ignored(&mut matching);
    }
    Body::FlowMod(FlowMod {
        priority: priority(dice, &matching, flags & flow_flags::CHECK_OVERLAP != 0),
        cookie: dice.below(4),
        out_port: if deletes && dice.chance(20) { 1 + dice.below(4) as u16 } else { ports::NONE },
        flags,
        actions: (0..if deletes { 0 } else { dice.below(5) })
            .map(|_| action(dice, packet, &matching))
            .collect(),
        ..FlowMod::new(command, matching)
    })
}
