//! Actions of version 1.0 as those of version 1.3 that do the same, and back.

use super::wide;
use crate::switch::Switch;
use forwarding::openflow::DEFAULT_QUEUE;
use wire::openflow::v1_0::{Action, Fault, ports};
use wire::openflow::v1_3::{self, Oxm, OxmField, Setting, VLAN_PRESENT};

fn set(field: OxmField, value: impl Into<u128>) -> v1_3::Action {
    v1_3::Action::SetField { set: Setting(Oxm::exact(field, value.into())) }
}

/// Actions of an entry, or those with a packet, which alone may go through the table.
pub(super) fn read(actions: &[Action], is_packet: bool, switch: &Switch) -> Result<Vec<v1_3::Action>, Fault> {
    let mut all = Vec::with_capacity(actions.len());
    for action in actions {
        let one = read_one(action, is_packet)?;
        match action {
            Action::Enqueue { port, queue } => {
                check_queue(switch, *port, *queue)?;
                let chosen = |queue| v1_3::Action::SetQueue { queue };
                // What is sent later goes through no queue in particular.
                all.extend([chosen(*queue), one, chosen(DEFAULT_QUEUE)]);
            }
            _ => all.push(one),
        }
    }
    Ok(all)
}

/// A queue of a port, or of the one that the packet came by, which any may be.
fn check_queue(switch: &Switch, port: u16, queue: u32) -> Result<(), Fault> {
    let is_there = match port {
        ports::IN_PORT => switch.has_queue(queue),
        port => {
            let place = usize::from(port).checked_sub(1).ok_or(Fault::BadOutPort)?;
            switch.ports.get(place).ok_or(Fault::BadOutPort)?.queue(queue).is_some()
        }
    };
    is_there.then_some(()).ok_or(Fault::BadActionQueue)
}

/// What an action does, without the queue that it names.
fn read_one(action: &Action, is_packet: bool) -> Result<v1_3::Action, Fault> {
    let number = |bytes: [u8; 6]| bytes.iter().fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    Ok(match action {
        Action::Output { port, max_len } => {
            let is_known = match *port {
                ports::TABLE => is_packet,
                // There is no network stack behind this switch.
                ports::LOCAL | ports::NONE => false,
                port => (1..ports::MAX).contains(&port) || port >= ports::IN_PORT,
            };
            if !is_known {
                return Err(Fault::BadOutPort);
            }
            v1_3::Action::Output { port: wide(*port), max_len: *max_len }
        }
        Action::SetVlanVid { vid } if *vid < 0x1000 => set(OxmField::VlanVid, VLAN_PRESENT | *vid),
        Action::SetVlanPcp { pcp } if *pcp < 8 => set(OxmField::VlanPcp, *pcp),
        Action::SetNwTos { tos } if tos & 3 == 0 => set(OxmField::IpDscp, tos >> 2),
        Action::SetVlanVid { .. } | Action::SetVlanPcp { .. } | Action::SetNwTos { .. } => {
            return Err(Fault::BadArgument);
        }
        Action::StripVlan => v1_3::Action::PopVlan,
        Action::SetDlSrc { address } => set(OxmField::EthSrc, number(address.0)),
        Action::SetDlDst { address } => set(OxmField::EthDst, number(address.0)),
        Action::SetNwSrc { address } => set(OxmField::Ipv4Src, address.to_bits()),
        Action::SetNwDst { address } => set(OxmField::Ipv4Dst, address.to_bits()),
        Action::SetTpSrc { port } => set(OxmField::TcpSrc, *port),
        Action::SetTpDst { port } => set(OxmField::TcpDst, *port),
        Action::Enqueue { port, .. } => v1_3::Action::Output { port: wide(*port), max_len: 0 },
        Action::Vendor { .. } => return Err(Fault::BadActionVendor),
    })
}

/// The actions of an entry. Those that this version does not have are left out.
pub(super) fn written(instructions: &[v1_3::Instruction]) -> Vec<Action> {
    let lists = instructions.iter().filter_map(|instruction| match instruction {
        v1_3::Instruction::ApplyActions { actions } => Some(actions),
        _ => None,
    });
    let mut queue = DEFAULT_QUEUE;
    let mut all = Vec::new();
    for action in lists.flatten() {
        match action {
            v1_3::Action::SetQueue { queue: next } => queue = *next,
            v1_3::Action::Output { port, .. } if queue != DEFAULT_QUEUE => {
                all.push(Action::Enqueue { port: *port as u16, queue });
            }
            action => all.extend(write(action)),
        }
    }
    all
}

fn write(action: &v1_3::Action) -> Option<Action> {
    Some(match action {
        v1_3::Action::Output { port, max_len } => Action::Output { port: *port as u16, max_len: *max_len },
        v1_3::Action::PopVlan => Action::StripVlan,
        v1_3::Action::SetField { set } => {
            let value = set.0.value;
            let [.., a, b, c, d, e, f] = value.to_be_bytes();
            let (address, ip) = (base::MacAddr([a, b, c, d, e, f]), [c, d, e, f].into());
            match set.0.field {
                OxmField::VlanVid => Action::SetVlanVid { vid: value as u16 & 0xfff },
                OxmField::VlanPcp => Action::SetVlanPcp { pcp: value as u8 },
                OxmField::IpDscp => Action::SetNwTos { tos: (value as u8) << 2 },
                OxmField::EthSrc => Action::SetDlSrc { address },
                OxmField::EthDst => Action::SetDlDst { address },
                OxmField::Ipv4Src => Action::SetNwSrc { address: ip },
                OxmField::Ipv4Dst => Action::SetNwDst { address: ip },
                OxmField::TcpSrc | OxmField::UdpSrc => Action::SetTpSrc { port: value as u16 },
                OxmField::TcpDst | OxmField::UdpDst => Action::SetTpDst { port: value as u16 },
                _ => return None,
            }
        }
        _ => return None,
    })
}
