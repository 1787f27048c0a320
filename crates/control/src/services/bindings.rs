//! Who carries the packets of an FEC: several protocols, and several tunnels of one, may; one of them has the entry.
//!
//! Among the bindings of a prefix the one with the least preference wins; then the protocol that comes first by name;
//! then the one with the least rank, by which a protocol orders its own. When that one is withdrawn, the next takes
//! over in the same batch of writes, whoever writes it.
//!
//! Routes whose next hop is an address that is bound take its LSP ([`Bindings::legs`]). A binding by several next hops
//! is to a group of its binder's, who says here what is in it.

use base::plane::{
    GroupId, IpPrefix, LabelStack, Leg, Member, NextHop, Nhlfe, Prefix, Prefix6, TcSource, TtlModel,
};
use base::queue::take_first;
use base::{Label, Map, PortId, ProtocolId, TrafficClass};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, VecDeque};

/// Whose a binding is, and how good. In their order bindings win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binder {
    /// The least wins, as among routes.
    pub preference: u8,
    /// The protocol that asked for the binding and alone may withdraw it.
    pub owner: ProtocolId,
    /// Of several bindings of one protocol the least wins.
    pub rank: u64,
}

/// What a binding that was made changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// There was none of this binder.
    pub new: bool,
    /// It is the one in force: the binder writes its entry.
    pub in_force: bool,
}

/// What is left of a prefix after a binding was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// There was none of this binder.
    Absent,
    /// Another was in force, and still is.
    Same,
    /// The next takes over by this entry.
    Next(Nhlfe),
    /// There is none any more.
    Nothing,
}

/// A binding in force. Nearly all lead to an IPv4 neighbour by one label at most, and take a third of the memory of an
/// entry that can be anything; a head end keeps one for each LSP.
#[derive(Clone, Debug)]
enum InForce {
    Plain {
        rank: u64,
        /// Implicit null, which no entry pushes, stands for no label.
        label: Label,
        gateway: Ipv4Addr,
        port: PortId,
        ttl: TtlModel,
        /// The traffic class that is pushed; absent: that of the packet is copied.
        tc: Option<TrafficClass>,
        source: Place,
    },
    Other(Box<(Place, u64, Nhlfe)>),
}

/// Index of a preference and a protocol in [`Bindings::sources`]. There are at most as many preferences as a byte has
/// values, for each protocol that is linked.
type Place = u16;

const _: () = assert!(size_of::<InForce>() == 24);

impl InForce {
    fn new(source: Place, rank: u64, nhlfe: Nhlfe) -> InForce {
        let label = match nhlfe.push.as_slice() {
            [] => Some(Label::IMPLICIT_NULL),
            [one] if *one != Label::IMPLICIT_NULL => Some(*one),
            _ => None,
        };
        let tc = match nhlfe.tc {
            TcSource::Copy => Some(None),
            TcSource::Set(tc) => Some(Some(tc)),
            TcSource::DiffServ(_) => None,
        };
        match (label, tc, nhlfe.next_hop) {
            (Some(label), Some(tc), NextHop::Via { port, gateway: IpAddr::V4(gateway) }) => {
                InForce::Plain { rank, label, gateway, port, ttl: nhlfe.ttl, tc, source }
            }
            _ => InForce::Other(Box::new((source, rank, nhlfe))),
        }
    }

    fn name(&self) -> (Place, u64) {
        match self {
            InForce::Plain { source, rank, .. } => (*source, *rank),
            InForce::Other(other) => (other.0, other.1),
        }
    }

    fn nhlfe(&self) -> Nhlfe {
        match *self {
            InForce::Plain { label, gateway, port, ttl, tc, .. } => {
                let labelled = label != Label::IMPLICIT_NULL;
                let push = if labelled { LabelStack::one(label) } else { LabelStack::EMPTY };
                let next_hop = NextHop::Via { port, gateway: IpAddr::V4(gateway) };
                Nhlfe { push, next_hop, ttl, tc: tc.map_or(TcSource::Copy, TcSource::Set) }
            }
            InForce::Other(ref other) => other.2,
        }
    }
}

/// The bindings of a node, each with its entry.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Of each prefix the best, by family.
    v4: Map<Prefix, InForce>,
    v6: Map<Prefix6, InForce>,
    /// The others, which wait until those before them are withdrawn.
    behind: BTreeMap<(IpPrefix, Binder), Nhlfe>,
    /// Preferences and protocols that there have ever been: a handful.
    sources: Vec<(u8, ProtocolId)>,
    /// What is in the groups that bindings lead to.
    groups: BTreeMap<GroupId, Box<[Member]>>,
    /// Does anybody want to know of changes?
    is_watched: bool,
    /// Prefixes that packets take another LSP to than before, and nobody has been told yet.
    changed: VecDeque<IpPrefix>,
}

impl Bindings {
    fn get(&self, prefix: IpPrefix) -> Option<&InForce> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.get(&prefix),
            IpPrefix::V6(prefix) => self.v6.get(&prefix),
        }
    }

    fn note(&mut self, prefix: IpPrefix) {
        if self.is_watched {
            self.changed.push_back(prefix);
        }
    }

    fn remove(&mut self, prefix: IpPrefix) {
        self.note(prefix);
        match prefix {
            IpPrefix::V4(prefix) => self.v4.remove(&prefix),
            IpPrefix::V6(prefix) => self.v6.remove(&prefix),
        };
    }

    /// Puts a binding in force, and returns the one that was.
    fn put(&mut self, prefix: IpPrefix, binder: Binder, nhlfe: Nhlfe) -> Option<InForce> {
        let source = (binder.preference, binder.owner);
        let place = self.sources.iter().position(|known| *known == source).unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        let binding = InForce::new(place as Place, binder.rank, nhlfe);
        self.note(prefix);
        match prefix {
            IpPrefix::V4(prefix) => self.v4.insert(prefix, binding),
            IpPrefix::V6(prefix) => self.v6.insert(prefix, binding),
        }
    }

    fn binder_of(&self, binding: &InForce) -> Binder {
        let (source, rank) = binding.name();
        let (preference, owner) = self.sources[usize::from(source)];
        Binder { preference, owner, rank }
    }

    /// Whose the binding of a prefix is that is in force.
    pub fn binder(&self, prefix: IpPrefix) -> Option<Binder> {
        self.get(prefix).map(|binding| self.binder_of(binding))
    }

    /// Whose the bindings of a prefix are, the one in force first.
    pub fn binders(&self, prefix: IpPrefix) -> impl Iterator<Item = Binder> {
        let least = Binder { preference: 0, owner: ProtocolId::LEAST, rank: 0 };
        let waiting = self.behind.range((prefix, least)..).take_while(move |((of, _), _)| *of == prefix);
        self.binder(prefix).into_iter().chain(waiting.map(|((_, binder), _)| *binder))
    }

    /// Binds a prefix to an entry, or to another than before.
    pub fn bind(&mut self, prefix: IpPrefix, binder: Binder, nhlfe: Nhlfe) -> Bound {
        let first = self.get(prefix).map(|first| self.binder_of(first));
        if first.is_some_and(|first| first < binder) {
            let new = self.behind.insert((prefix, binder), nhlfe).is_none();
            return Bound { new, in_force: false };
        }
        let before = self.put(prefix, binder, nhlfe);
        if first == Some(binder) {
            return Bound { new: false, in_force: true };
        }
        let moved_up = self.behind.remove(&(prefix, binder)).is_some();
        debug_assert!(!moved_up, "a better binding of {prefix} waited behind another");
        if let (Some(first), Some(before)) = (first, before) {
            self.behind.insert((prefix, first), before.nhlfe());
        }
        Bound { new: true, in_force: true }
    }

    /// Withdraws a binding.
    pub fn withdraw(&mut self, prefix: IpPrefix, binder: Binder) -> After {
        let Some(first) = self.get(prefix) else { return After::Absent };
        if self.binder_of(first) != binder {
            let waited = self.behind.remove(&(prefix, binder)).is_some();
            return if waited { After::Same } else { After::Absent };
        }
        let least = Binder { preference: 0, owner: ProtocolId::LEAST, rank: 0 };
        let next =
            self.behind.range((prefix, least)..).next().map(|(&(of, binder), nhlfe)| (of, binder, *nhlfe));
        match next.filter(|(of, ..)| *of == prefix) {
            Some((_, binder, nhlfe)) => {
                self.behind.remove(&(prefix, binder));
                self.put(prefix, binder, nhlfe);
                After::Next(nhlfe)
            }
            None => {
                self.remove(prefix);
                After::Nothing
            }
        }
    }

    /// Says what is in a group that the binding of a prefix leads to, or that it is no more.
    pub fn set_members(&mut self, prefix: IpPrefix, group: GroupId, members: Option<Box<[Member]>>) {
        match members {
            Some(members) => self.groups.insert(group, members),
            None => self.groups.remove(&group),
        };
        self.note(prefix);
    }

    /// No binding leads to a group any more: those that did have been written before.
    pub(crate) fn forget_group(&mut self, group: GroupId) {
        self.groups.remove(&group);
    }

    /// How packets leave by the LSP to a prefix: the labels put on, those of the entry below those of a group's member.
    /// Nothing if it has none, or one that a group of next hops can't lead to.
    pub(crate) fn legs(&self, prefix: IpPrefix) -> Option<Vec<Leg>> {
        self.legs_of(self.get(prefix)?.nhlfe())
    }

    /// The same by the best LSP that is not of an owner.
    pub(crate) fn legs_without(&self, prefix: IpPrefix, owner: ProtocolId) -> Option<Vec<Leg>> {
        self.best_without(prefix, owner).and_then(|(_, nhlfe)| self.legs_of(nhlfe))
    }

    /// Whose the best LSP to a prefix is that is not of an owner.
    pub(crate) fn binder_without(&self, prefix: IpPrefix, owner: ProtocolId) -> Option<Binder> {
        self.best_without(prefix, owner).map(|(binder, _)| binder)
    }

    fn best_without(&self, prefix: IpPrefix, owner: ProtocolId) -> Option<(Binder, Nhlfe)> {
        let first = self.get(prefix)?;
        let binder = self.binder_of(first);
        if binder.owner != owner {
            return Some((binder, first.nhlfe()));
        }
        let least = Binder { preference: 0, owner: ProtocolId::LEAST, rank: 0 };
        let waiting = self.behind.range((prefix, least)..).take_while(|((of, _), _)| *of == prefix);
        let mut others = waiting.filter(|((_, binder), _)| binder.owner != owner);
        others.next().map(|((_, binder), nhlfe)| (*binder, *nhlfe))
    }

    fn legs_of(&self, nhlfe: Nhlfe) -> Option<Vec<Leg>> {
        match nhlfe.next_hop {
            NextHop::Via { port, gateway } => Some(vec![Leg { labels: nhlfe.push, port, gateway }]),
            NextHop::Group(group) => {
                let leg = |member: &Member| {
                    let labels = [nhlfe.push.as_slice(), member.leg.labels.as_slice()].concat();
                    Some(Leg { labels: LabelStack::new(&labels)?, ..member.leg })
                };
                self.groups.get(&group)?.iter().map(leg).collect()
            }
            NextHop::Replicate(_)
            | NextHop::Standby(_)
            | NextHop::Local
            | NextHop::Unlabelled
            | NextHop::Discard
            | NextHop::Selected(_) => None,
        }
    }

    /// Has changes told from now on.
    pub(crate) fn watch(&mut self) {
        self.is_watched = true;
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A prefix that packets take another LSP to than at the last call, or none any more.
    pub(crate) fn poll_change(&mut self) -> Option<IpPrefix> {
        take_first(&mut self.changed)
    }

    /// How many bindings there are, those in force and those behind them.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len() + self.behind.len()
    }

    /// Is nothing bound?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// There are none after a restart.
    pub(crate) fn restart(&mut self) {
        *self = Bindings { is_watched: self.is_watched, ..Bindings::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(label: u32) -> Nhlfe {
        Nhlfe {
            push: LabelStack::one(Label::truncate(label)),
            next_hop: NextHop::Via { port: PortId(0), gateway: Ipv4Addr::LOCALHOST.into() },
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        }
    }

    #[test]
    fn the_best_carries_and_the_next_takes_over() {
        let (mut bindings, prefix) = (Bindings::default(), IpPrefix::V4(Prefix::host([10, 0, 0, 1].into())));
        let of = |name, preference, rank| Binder { preference, owner: ProtocolId::new(name), rank };
        // From the worst to the best: preference before name before rank.
        let order = [of("a", 9, 0), of("c", 7, 9), of("b", 7, 8), of("b", 7, 3), of("z", 5, 99)];
        for (label, binder) in (16..).zip(order) {
            assert_eq!(bindings.bind(prefix, binder, entry(label)), Bound { new: true, in_force: true });
        }
        bindings.bind(IpPrefix::V4(Prefix::host([10, 0, 0, 2].into())), of("a", 0, 0), entry(99));
        // One further down gets another label, which nobody writes until its turn comes.
        assert_eq!(bindings.bind(prefix, order[3], entry(100)), Bound { new: false, in_force: false });
        let all = [order[4], order[3], order[2], order[1], order[0]];
        assert!(bindings.binders(prefix).eq(all));
        assert_eq!(bindings.withdraw(prefix, order[2]), After::Same);
        assert_eq!(bindings.withdraw(prefix, order[2]), After::Absent, "twice");
        assert_eq!(bindings.withdraw(prefix, order[4]), After::Next(entry(100)));
        assert_eq!(bindings.withdraw(prefix, order[3]), After::Next(entry(17)));
        assert_eq!(bindings.withdraw(prefix, order[1]), After::Next(entry(16)));
        assert_eq!(bindings.withdraw(prefix, order[0]), After::Nothing);
        assert_eq!((bindings.len(), bindings.is_empty()), (1, false));
        bindings.restart();
        assert_eq!((bindings.len(), bindings.is_empty()), (0, true));
    }

    #[test]
    fn entries_are_kept_whole() {
        let two = LabelStack::new(&[Label::truncate(16), Label::truncate(17)]).expect("two");
        let local = Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Local, ..entry(16) };
        let all = [
            entry(16),
            Nhlfe { push: LabelStack::EMPTY, ttl: TtlModel::Pipe, ..entry(16) },
            Nhlfe { tc: TcSource::Set(TrafficClass::truncate(5)), ttl: TtlModel::ShortPipe, ..entry(16) },
            Nhlfe { push: two, ..entry(16) },
            local,
            Nhlfe { next_hop: NextHop::Group(GroupId(7)), ..local },
            Nhlfe {
                next_hop: NextHop::Via { port: PortId(1), gateway: core::net::Ipv6Addr::LOCALHOST.into() },
                ..local
            },
        ];
        for nhlfe in all {
            assert_eq!(InForce::new(3, 4, nhlfe).nhlfe(), nhlfe);
        }
    }
}
