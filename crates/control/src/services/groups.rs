//! What the forwarding plane is told of routes: those with several next hops share a group for each set of next hops.

use super::{Rib, RoutePrefix};
use base::Map;
use base::plane::{GroupId, IpPrefix, LabelStack, Leg, MEMBERS_MAX, Member, NextHop, Prefix6, TableOp};
use std::collections::{BTreeMap, VecDeque};

/// The number of the first group of routes: those below are for users to choose.
const FIRST: u32 = 1 << 31;

/// The groups that routes use, and the writes of routes and groups that nobody has taken yet.
#[derive(Clone, Debug, Default)]
pub struct RouteWrites {
    by_members: Map<Box<[Member]>, GroupId>,
    groups: BTreeMap<GroupId, Group>,
    /// The group of each prefix that has one.
    used: BTreeMap<IpPrefix, GroupId>,
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
    pub fn follow<P: RoutePrefix>(&mut self, rib: &Rib<P>, prefix: P) {
        let before = self.used.remove(&prefix.into());
        let op = match rib.next_hops(prefix) {
            [] => prefix.unset(),
            [next_hop] => prefix.set(*next_hop),
            all => prefix.set(self.shared(prefix.into(), all)),
        };
        self.ops.push_back(op);
        if let Some(group) = before {
            self.release(group);
        }
    }

    /// The tables are empty: all routes are written again.
    pub fn again(&mut self, rib: &Rib, rib6: &Rib<Prefix6>) {
        *self = RouteWrites { made: self.made, ..RouteWrites::default() };
        for (prefix, _) in rib.active() {
            self.follow(rib, prefix);
        }
        for (prefix, _) in rib6.active() {
            self.follow(rib6, prefix);
        }
    }

    /// The next write that the forwarding tables are to be given, if one is due.
    pub fn poll(&mut self) -> Option<TableOp> {
        self.ops.pop_front()
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
        let id = self.by_members.get(&members).copied().unwrap_or_else(|| {
            let id = GroupId(FIRST + self.made);
            self.made = (self.made + 1) % FIRST;
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

#[cfg(test)]
mod tests {
    use super::super::{Route, RouteHop, Source};
    use super::*;
    use base::plane::Prefix;
    use base::{PortId, ProtocolId};

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
                writes.follow(rib, prefix);
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
}
