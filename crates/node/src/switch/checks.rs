//! What is refused of actions and instructions of version 1.3, beside what can't be read.

use super::Switch;
use wire::openflow::v1_3::{
    Action, Fault, Instruction, Match, Oxm, OxmField, VLAN_PRESENT, groups, meters, ports,
};

/// Where actions stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In an entry.
    Entry,
    /// In a bucket, whose packets nobody knows.
    Bucket,
    /// In a message with a packet, which alone may go through the tables.
    PacketOut,
}

/// What is known of packets at an action: the fields that their entry matches, and what actions before it have changed.
struct Known(Match);

impl Known {
    fn set(&mut self, field: OxmField, value: Option<u128>) {
        self.0.fields.retain(|oxm| oxm.field != field);
        if let Some(value) = value {
            // In front, since what needs it stands behind it.
            self.0.fields.insert(0, Oxm::exact(field, value));
        }
    }

    fn kind(&self) -> Option<u128> {
        let found = self.0.fields.iter().find(|oxm| oxm.field == OxmField::EthType)?;
        found.mask.is_none().then_some(found.value)
    }

    fn has_tag(&self) -> bool {
        self.0.allows(OxmField::VlanPcp)
    }

    fn is_mpls(&self) -> bool {
        matches!(self.kind(), Some(0x8847 | 0x8848))
    }

    fn is_ip(&self) -> bool {
        matches!(self.kind(), Some(0x0800 | 0x86dd))
    }

    fn become_kind(&mut self, kind: u16) {
        self.set(OxmField::EthType, Some(kind.into()));
        self.set(OxmField::IpProto, None);
    }

    /// Can packets have the action? It changes what is known of them.
    fn admits(&mut self, action: &Action) -> bool {
        match action {
            Action::SetField { set } if set.0.field == OxmField::VlanVid => return self.has_tag(),
            Action::SetField { set } => return self.0.allows(set.0.field),
            Action::PopVlan if !self.has_tag() => return false,
            // There may be another tag behind it, of which nothing is known.
            Action::PopVlan => self.set(OxmField::VlanVid, None),
            Action::PushVlan { .. } => self.set(OxmField::VlanVid, Some(VLAN_PRESENT.into())),
            Action::PushMpls { ethertype } | Action::PushPbb { ethertype } => self.become_kind(*ethertype),
            Action::PopMpls { ethertype } if self.is_mpls() => self.become_kind(*ethertype),
            Action::PopPbb => self.set(OxmField::EthType, None),
            Action::PopMpls { .. } => return false,
            Action::SetMplsTtl { .. } | Action::DecMplsTtl => return self.is_mpls(),
            Action::SetNwTtl { .. } | Action::DecNwTtl => return self.is_ip(),
            _ => {}
        }
        true
    }
}

impl Switch {
    /// Actions of an entry, bucket or packet.
    pub(super) fn check_actions(
        &self,
        actions: &[Action],
        place: Place,
        matching: &Match,
    ) -> Result<(), Fault> {
        let mut known = Known(matching.clone());
        for action in actions {
            self.check_action(action, place)?;
            if place == Place::Entry && !known.admits(action) {
                return Err(Fault::MatchInconsistent);
            }
        }
        Ok(())
    }

    fn check_action(&self, action: &Action, place: Place) -> Result<(), Fault> {
        match action {
            Action::Output { port, .. } => {
                let is_known = match *port {
                    ports::TABLE => place == Place::PacketOut,
                    ports::IN_PORT | ports::NORMAL | ports::FLOOD | ports::ALL | ports::CONTROLLER => true,
                    // There is no network stack behind this switch.
                    ports::LOCAL | ports::ANY => false,
                    port => (1..=ports::MAX).contains(&port),
                };
                is_known.then_some(()).ok_or(Fault::BadOutPort)
            }
            Action::Group { group } => {
                let is_there = *group <= groups::MAX && self.datapath.groups.get(*group).is_some();
                // What buckets may give to is the group table's to say.
                (is_there || place == Place::Bucket).then_some(()).ok_or(Fault::BadOutGroup)
            }
            Action::SetQueue { queue } => self.has_queue(*queue).then_some(()).ok_or(Fault::BadActionQueue),
            Action::PushVlan { ethertype } => among(*ethertype, &[0x8100, 0x88a8]),
            Action::PushMpls { ethertype } => among(*ethertype, &[0x8847, 0x8848]),
            Action::PushPbb { ethertype } => among(*ethertype, &[0x88e7]),
            Action::SetField { set } if set.0.field == OxmField::VlanVid => {
                let has_bit = set.0.value & u128::from(VLAN_PRESENT) != 0;
                has_bit.then_some(()).ok_or(Fault::BadSetArgument)
            }
            Action::Experimenter { .. } => Err(Fault::BadActionExperimenter),
            _ => Ok(()),
        }
    }

    /// Instructions of an entry of a table.
    pub(super) fn check_instructions(
        &self,
        table: u8,
        instructions: &[Instruction],
        matching: &Match,
    ) -> Result<(), Fault> {
        let mut known = matching.clone();
        for instruction in instructions {
            match instruction {
                Instruction::GotoTable { table: next } => {
                    if *next <= table || usize::from(*next) >= self.datapath.tables.len() {
                        return Err(Fault::BadInstTableId);
                    }
                }
                Instruction::ApplyActions { actions } => {
                    self.check_actions(actions, Place::Entry, &known)?;
                    // A second list is done to what the first has made of the packet.
                    let mut after = Known(known);
                    for action in actions {
                        let _ = after.admits(action);
                    }
                    known = after.0;
                }
                Instruction::WriteActions { actions } => {
                    actions.iter().try_for_each(|action| self.check_action(action, Place::Entry))?;
                }
                Instruction::Meter { meter } => {
                    if *meter == 0 || *meter > meters::MAX {
                        return Err(Fault::InvalidMeter);
                    }
                    self.datapath.meters.get(*meter).ok_or(Fault::UnknownMeter)?;
                }
                Instruction::Experimenter { .. } => return Err(Fault::BadInstExperimenter),
                Instruction::WriteMetadata { .. } | Instruction::ClearActions => {}
            }
        }
        Ok(())
    }
}

fn among(kind: u16, kinds: &[u16]) -> Result<(), Fault> {
    if kinds.contains(&kind) { Ok(()) } else { Err(Fault::BadArgument) }
}
