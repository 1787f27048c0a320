//! What the tables do with a label or an address, for whoever tests and measures them.

use crate::tables::Forwarding;
use base::Label;
use base::plane::{LabelStack, LabelUse, Leg, NextHop, Nhlfe};
use core::net::{Ipv4Addr, Ipv6Addr};

impl Forwarding {
    /// What is done with packets that come with a label.
    pub fn label_use(&self, label: Label) -> LabelUse {
        match label {
            Label::EXPLICIT_NULL | Label::EXPLICIT_NULL_V6 | Label::ROUTER_ALERT => return LabelUse::Below,
            label if label.is_reserved() => return LabelUse::Unknown,
            _ => {}
        }
        let Some(row) = self.ilm_row(label) else { return LabelUse::Unknown };
        match row.nhlfe.next_hop {
            NextHop::Local | NextHop::Unlabelled | NextHop::Selected(_) => LabelUse::Below,
            NextHop::Discard | NextHop::Standby(_) => LabelUse::Discarded,
            NextHop::Replicate(list) => {
                let branches = || self.replications().filter(|branch| branch.list == list);
                let is_here = |to: NextHop| matches!(to, NextHop::Local | NextHop::Unlabelled);
                LabelUse::Copied {
                    legs: branches().flat_map(|branch| self.legs(&branch.nhlfe)).collect(),
                    here: branches().any(|branch| is_here(branch.nhlfe.next_hop)),
                }
            }
            NextHop::Via { .. } | NextHop::Group(_) => LabelUse::Switched(self.legs(&row.nhlfe)),
        }
    }

    /// The longest prefixes of many addresses, looked up together: for each the number of what is known of its prefix,
    /// from 1 on, and 0 where nothing is known. `found` is as long as `to`.
    pub fn find_prefixes(&self, to: &[Ipv4Addr], found: &mut [u32]) {
        self.fib.find_all(to, found);
    }

    /// The same of one address; none where nothing is known.
    pub fn find_prefix(&self, to: Ipv4Addr) -> Option<u32> {
        self.fib.find(to)
    }

    /// The same as [`Forwarding::find_prefixes`] of IPv6.
    pub fn find_prefixes6(&self, to: &[Ipv6Addr], found: &mut [u32]) {
        match &self.fib6 {
            Some(fib) => fib.find_all(to, found),
            None => found.fill(0),
        }
    }

    /// The ways by which an entry may send a packet, with all labels that it puts on.
    fn legs(&self, nhlfe: &Nhlfe) -> Vec<Leg> {
        match nhlfe.next_hop {
            NextHop::Via { port, gateway } => vec![Leg { labels: nhlfe.push, port, gateway }],
            NextHop::Group(group) => {
                let members = self.groups().filter(|row| row.group == group);
                let leg = |leg: Leg| {
                    let labels = [nhlfe.push.as_slice(), leg.labels.as_slice()].concat();
                    Some(Leg { labels: LabelStack::new(&labels)?, ..leg })
                };
                members.filter_map(|row| leg(row.member.leg)).collect()
            }
            // Nothing leaves by one that stands by.
            NextHop::Standby(_)
            | NextHop::Replicate(_)
            | NextHop::Local
            | NextHop::Unlabelled
            | NextHop::Discard
            | NextHop::Selected(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use base::plane::{GroupId, Member, TableOp, TcSource, TtlModel};
    use base::{MacAddr, PortId};

    #[test]
    fn labels_and_what_they_are_for() {
        let mut tables = Forwarding::new(Config::default());
        let config = base::plane::PortConfig { mac: MacAddr([2; 6]), mtu: 1500, up: true };
        let port = PortId(0);
        tables.apply(&TableOp::PortSet { port, config }).expect("a port");
        let label = Label::truncate;
        let via = |n: u8| NextHop::Via { port, gateway: Ipv4Addr::new(10, 0, 0, n).into() };
        let leg = |n: u8, labels: &[Label]| {
            let labels = LabelStack::new(labels).expect("few");
            Leg { labels, port, gateway: Ipv4Addr::new(10, 0, 0, n).into() }
        };
        let members = [2, 3].map(|n| Member { leg: leg(n, &[label(90 + u32::from(n))]), backup: None });
        tables.apply(&TableOp::GroupSet { group: GroupId(1), members: members.into() }).expect("a group");
        let entries = [
            (16, LabelStack::one(label(40)), via(2)),
            (17, LabelStack::EMPTY, NextHop::Local),
            (18, LabelStack::EMPTY, NextHop::Discard),
            (19, LabelStack::one(label(50)), NextHop::Group(GroupId(1))),
        ];
        for (from, push, next_hop) in entries {
            let nhlfe = Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy };
            tables.apply(&TableOp::IlmSet { label: label(from), nhlfe }).expect("an entry");
        }
        let uses: Vec<LabelUse> = [0, 3, 16, 17, 18, 19, 20].map(|n| tables.label_use(label(n))).into();
        let group = vec![leg(2, &[label(50), label(92)]), leg(3, &[label(50), label(93)])];
        let expected = [
            LabelUse::Below,
            LabelUse::Unknown,
            LabelUse::Switched(vec![leg(2, &[label(40)])]),
            LabelUse::Below,
            LabelUse::Discarded,
            LabelUse::Switched(group),
            LabelUse::Unknown,
        ];
        assert_eq!(uses, expected);
    }
}
