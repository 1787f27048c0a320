//! What the forwarding plane is told of routes: those with several next hops share a group for each set of next hops,
//! and those through one gateway share its group, whose members follow routes and LSPs to the gateway: however many
//! routes there are, they move in one write.

use super::{Bindings, Rib, RoutePrefix};
use base::Map;
use base::plane::{GroupId, IpPrefix, LabelStack, Leg, MEMBERS_MAX, Member, NextHop, Prefix6, TableOp};
use base::queue::take_first;
use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};

/// The number of the first group of routes: those below are for users to choose.
const FIRST: u32 = 1 << 31;
/// The number of the first group of tunnels: there are half as many as those of a protocol that gives labels to
/// prefixes.
pub const FIRST_OF_TUNNELS: u32 = 15 << 28;
/// The number of the first group of next hops whose backups are bypass tunnels, behind those of tunnels.
pub const FIRST_OF_PROTECTION: u32 = 31 << 27;

/// The groups that routes use, and the writes of routes and groups that nobody has taken yet.
#[derive(Clone, Debug, Default)]
pub struct RouteWrites {
    by_members: Map<Box<[Member]>, GroupId>,
    groups: BTreeMap<GroupId, Group>,
    /// The group of each prefix that has one.
    used: BTreeMap<IpPrefix, GroupId>,
    /// The group of each gateway, and its members.
    gateways: BTreeMap<IpAddr, (GroupId, Box<[Member]>)>,
    made: u32,
    ops: VecDeque<TableOp>,
}

#[derive(Clone, Debug)]
struct Group {
    members: Box<[Member]>,
    /// How many prefixes use it.
    users: u32,
}

impl RouteWrites {
    /// Has the tables follow the routes to a prefix. A group is written before the first route that uses it, and
    /// removed behind the last.
    pub fn follow<P: RoutePrefix>(&mut self, rib: &Rib<P>, bindings: &Bindings, prefix: P) {
        let before = self.used.remove(&prefix.into());
        let through = rib.gateway(prefix).and_then(|gateway| self.shared_through(rib, bindings, gateway));
        let op = match (through, rib.next_hops(prefix)) {
            (Some(group), _) => prefix.set(NextHop::Group(group)),
            (None, []) => prefix.unset(),
            (None, [next_hop]) => prefix.set(*next_hop),
            (None, all) => prefix.set(self.shared(prefix.into(), all)),
        };
        self.ops.push_back(op);
        if let Some(group) = before {
            self.release(group);
        }
    }

    /// Has the group of a gateway follow the routes and LSPs to it, if there is one.
    pub fn follow_gateway<P: RoutePrefix>(&mut self, rib: &Rib<P>, bindings: &Bindings, gateway: P::Address) {
        let Some((group, before)) = self.gateways.get_mut(&gateway.into()) else { return };
        let members = members(rib.legs(gateway, bindings));
        if !members.is_empty() && *before != members {
            *before = members.clone();
            self.ops.push_back(TableOp::GroupSet { group: *group, members });
        }
    }

    /// Has the groups of all gateways of a family follow, since LSPs have changed.
    pub fn follow_gateways<P: RoutePrefix>(&mut self, rib: &Rib<P>, bindings: &Bindings) {
        for gateway in rib.gateways().collect::<Vec<_>>() {
            self.follow_gateway(rib, bindings, gateway);
        }
    }

    /// No route names a gateway any more: its group goes.
    pub fn forget_gateway(&mut self, gateway: IpAddr) {
        if let Some((group, _)) = self.gateways.remove(&gateway) {
            self.ops.push_back(TableOp::GroupRemove { group });
        }
    }

    /// Do routes follow gateways, so that changes of LSPs are to be told?
    pub fn has_gateways(&self) -> bool {
        !self.gateways.is_empty()
    }

    /// The group of a gateway; nothing if it leads to no neighbours.
    fn shared_through<P: RoutePrefix>(
        &mut self,
        rib: &Rib<P>,
        bindings: &Bindings,
        gateway: P::Address,
    ) -> Option<GroupId> {
        if let Some((group, _)) = self.gateways.get(&gateway.into()) {
            return Some(*group);
        }
        let members = members(rib.legs(gateway, bindings));
        if members.is_empty() {
            return None;
        }
        let group = self.number();
        self.ops.push_back(TableOp::GroupSet { group, members: members.clone() });
        self.gateways.insert(gateway.into(), (group, members));
        Some(group)
    }

    /// The number of a group that is not there yet.
    pub(super) fn number(&mut self) -> GroupId {
        let id = GroupId(FIRST + self.made);
        self.made = (self.made + 1) % FIRST;
        id
    }

    /// The tables are empty: all routes are written again.
    pub fn again(&mut self, rib: &Rib, rib6: &Rib<Prefix6>, bindings: &Bindings) {
        *self = RouteWrites { made: self.made, ..RouteWrites::default() };
        for (prefix, _) in rib.active() {
            self.follow(rib, bindings, prefix);
        }
        for (prefix, _) in rib6.active() {
            self.follow(rib6, bindings, prefix);
        }
    }

    /// Has something else written behind what waits.
    pub(crate) fn push(&mut self, op: TableOp) {
        self.ops.push_back(op);
    }

    /// The next write that the forwarding tables are to be given, if one is due.
    pub fn poll(&mut self) -> Option<TableOp> {
        take_first(&mut self.ops)
    }

    /// The group of several next hops; the first of them where they can't share: one of them is no neighbour.
    fn shared(&mut self, prefix: IpPrefix, hops: &[NextHop]) -> NextHop {
        let member = |hop: &NextHop| match *hop {
            NextHop::Via { port, gateway } if !gateway.is_unspecified() => {
                Some(Member { leg: Leg { labels: LabelStack::EMPTY, port, gateway }, backup: None })
            }
            _ => None,
        };
        let members: Option<Box<[Member]>> = hops.iter().take(MEMBERS_MAX).map(member).collect();
        let Some(members) = members else { return hops[0] };
        let known = self.by_members.get(&members).copied();
        let id = known.unwrap_or_else(|| {
            let id = self.number();
            self.ops.push_back(TableOp::GroupSet { group: id, members: members.clone() });
            self.by_members.insert(members.clone(), id);
            self.groups.insert(id, Group { members, users: 0 });
            id
        });
        if let Some(group) = self.groups.get_mut(&id) {
            group.users += 1;
        }
        self.used.insert(prefix, id);
        NextHop::Group(id)
    }

    fn release(&mut self, id: GroupId) {
        let Some(group) = self.groups.get_mut(&id) else {
            debug_assert!(false, "a prefix uses a group that is not there");
            return;
        };
        group.users -= 1;
        if group.users == 0
            && let Some(group) = self.groups.remove(&id)
        {
            self.by_members.remove(&group.members);
            self.ops.push_back(TableOp::GroupRemove { group: id });
        }
    }
}

fn members(legs: Vec<Leg>) -> Box<[Member]> {
    legs.into_iter().map(|leg| Member { leg, backup: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Binder, Route, RouteHop, Source};
    use super::*;
    use base::plane::{Nhlfe, Prefix, TcSource, TtlModel};
    use base::{PortId, ProtocolId};
    use core::net::Ipv4Addr;

    fn via(port: u16) -> NextHop {
        NextHop::Via { port: PortId(port), gateway: [10, 0, port as u8, 1].into() }
    }
    fn several(ports: &[u16]) -> Route {
        let source = Source::Protocol(ProtocolId::new("igp"));
        let hops: Vec<_> = ports.iter().map(|&port| RouteHop::Direct(via(port))).collect();
        Route { source, preference: 110, metric: 0, tag: 0, hops: hops.into() }
    }

    #[test]
    fn routes_with_the_same_next_hops_share_a_group() {
        let (mut rib, mut writes) = (Rib::default(), RouteWrites::default());
        let [a, b] = [1, 2].map(|n| Prefix::new([20, n, 0, 0].into(), 16));
        let mut told = |rib: &mut Rib, prefix, route: Option<Route>| {
            match route {
                Some(route) => rib.set(prefix, route),
                None => drop(rib.remove(prefix, Source::Protocol(ProtocolId::new("igp")))),
            }
            while let Some(prefix) = rib.poll_change() {
                writes.follow(rib, &Bindings::default(), prefix);
            }
            core::iter::from_fn(|| writes.poll()).collect::<Vec<_>>()
        };
        let set = |prefix, next_hop| TableOp::RouteSet { prefix, next_hop };
        let [first, second] = [0, 1].map(|n| GroupId(FIRST + n));
        let group = told(&mut rib, a, Some(several(&[1, 2])));
        assert!(
            matches!(&group[0], TableOp::GroupSet { group, members } if *group == first && members.len() == 2)
        );
        assert_eq!(group[1..], [set(a, NextHop::Group(first))]);
        assert_eq!(told(&mut rib, b, Some(several(&[1, 2]))), [set(b, NextHop::Group(first))]);
        assert_eq!(told(&mut rib, a, Some(several(&[3]))), [set(a, via(3))]);
        let other = told(&mut rib, b, Some(several(&[1, 3])));
        assert!(matches!(&other[0], TableOp::GroupSet { group, .. } if *group == second));
        assert_eq!(other[1..], [set(b, NextHop::Group(second)), TableOp::GroupRemove { group: first }]);
        let gone = [TableOp::RouteRemove { prefix: b }, TableOp::GroupRemove { group: second }];
        assert_eq!(told(&mut rib, b, None), gone);
        assert_eq!(told(&mut rib, a, None), [TableOp::RouteRemove { prefix: a }]);
    }

    #[test]
    fn routes_through_one_gateway_move_together() {
        let (mut rib, mut bindings, mut writes) =
            (Rib::default(), Bindings::default(), RouteWrites::default());
        let (edge, bgp) = (Ipv4Addr::new(10, 250, 0, 4), ProtocolId::new("bgp"));
        let to_edge = |ports: &[u16]| Route { metric: ports.len() as u32, ..several(ports) };
        rib.set(Prefix::host(edge), to_edge(&[1]));
        // A million in a campaign of 5,000.
        let runs = testing::runs(200);
        let count = (runs.end - runs.start) as usize;
        let prefix = |n: usize| Prefix::new(Ipv4Addr::from_bits((20 << 24) + ((n as u32) << 8)), 24);
        for n in 0..count {
            let hops = super::super::Hops::One(RouteHop::Through(edge));
            let route = Route { source: Source::Protocol(bgp), preference: 200, metric: 0, tag: 0, hops };
            rib.set(prefix(n), route);
        }
        let first = written(&mut rib, &mut bindings, &mut writes);
        let group = GroupId(FIRST);
        let sets = |op: &&TableOp| matches!(op, TableOp::RouteSet { next_hop: NextHop::Group(of), .. } if *of == group);
        assert_eq!(
            (first.len(), first.iter().filter(sets).count()),
            (count + 2, count),
            "a group, all routes, the edge's"
        );
        let leg = |port: u16, label: Option<u32>| Member {
            leg: Leg {
                labels: label
                    .map_or(LabelStack::EMPTY, |label| LabelStack::one(base::Label::truncate(label))),
                port: PortId(port),
                gateway: [10, 0, port as u8, 1].into(),
            },
            backup: None,
        };
        let is = |members: &[Member]| TableOp::GroupSet { group, members: members.into() };
        // An LSP to the edge: one write. Another label, and a group of two: one each.
        let binder = Binder { preference: 9, owner: ProtocolId::new("lsp"), rank: 0 };
        let lsp = |port, label| Nhlfe {
            push: LabelStack::one(base::Label::truncate(label)),
            next_hop: via(port),
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        };
        let fec = IpPrefix::V4(Prefix::host(edge));
        bindings.bind(fec, binder, lsp(1, 100));
        assert_eq!(written(&mut rib, &mut bindings, &mut writes), [is(&[leg(1, Some(100))])]);
        bindings.bind(fec, binder, lsp(2, 200));
        assert_eq!(written(&mut rib, &mut bindings, &mut writes), [is(&[leg(2, Some(200))])]);
        let two = [leg(1, Some(7)), leg(2, Some(8))];
        bindings.set_members(fec, GroupId(5), Some(two.into()));
        bindings.bind(
            fec,
            binder,
            Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Group(GroupId(5)), ..lsp(1, 0) },
        );
        assert_eq!(written(&mut rib, &mut bindings, &mut writes), [is(&two)]);
        // Without an LSP they go by the route; when that moves, it and the group are written.
        bindings.withdraw(fec, binder);
        assert_eq!(written(&mut rib, &mut bindings, &mut writes), [is(&[leg(1, None)])]);
        rib.set(Prefix::host(edge), to_edge(&[2]));
        let moved = written(&mut rib, &mut bindings, &mut writes);
        assert_eq!((moved.len(), &moved[0]), (2, &is(&[leg(2, None)])));
        // The edge is gone: every route goes, and at last the group.
        rib.remove(Prefix::host(edge), Source::Protocol(ProtocolId::new("igp")));
        let gone = written(&mut rib, &mut bindings, &mut writes);
        let removes = |op: &&TableOp| matches!(op, TableOp::RouteRemove { .. });
        assert_eq!(gone.iter().filter(removes).count(), count + 1);
        for n in 0..count {
            rib.remove(prefix(n), Source::Protocol(bgp));
        }
        let last = written(&mut rib, &mut bindings, &mut writes);
        assert_eq!(last.last(), Some(&TableOp::GroupRemove { group }));
    }

    /// The writes that a change of routes or LSPs takes, as the control plane asks for them.
    fn written(rib: &mut Rib, bindings: &mut Bindings, writes: &mut RouteWrites) -> Vec<TableOp> {
        bindings.watch();
        while bindings.poll_change().is_some() {}
        writes.follow_gateways(rib, bindings);
        let moved: Vec<_> = core::iter::from_fn(|| rib.poll_gateway()).collect();
        while let Some(prefix) = rib.poll_change() {
            writes.follow(rib, bindings, prefix);
        }
        for gateway in moved.into_iter().filter(|gateway| !rib.has_gateway(*gateway)) {
            writes.forget_gateway(gateway.into());
        }
        core::iter::from_fn(|| writes.poll()).collect()
    }
}
