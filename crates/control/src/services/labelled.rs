//! Packets that get a label for a far router, and go to it by the LSPs there: routes with labels, and labels of this
//! node that stand for such (RFC 8277, 4). Whoever learns them says which; the entries follow the LSPs and need no more
//! doing. All entries by one far router share a group of next hops: they move in one write.
//!
//! A label has a meaning at the far router only. So packets need an LSP that ends there, or it is a neighbour. Without
//! either there is no entry. The far router is known by an address of either family.

use super::groups::RouteWrites;
use super::rib::Below;
use super::{After, Binder, Bindings, Interfaces, Rib, Services};
use base::plane::{
    Fec, GroupId, IpPrefix, LabelStack, Leg, Member, NextHop, Nhlfe, Prefix6, TableOp, TcSource, TtlModel,
};
use base::{Label, PortId, ProtocolId};
use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet};

/// How packets get to a far router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beneath {
    /// An address of the far router.
    pub gateway: IpAddr,
    /// Labels that have a meaning there, the last of them outermost.
    pub push: LabelStack,
}

/// What becomes of packets with a label of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// The label comes off, and what is below decides.
    Pop,
    /// The label comes off, and they go to a far router.
    Swap(Beneath),
}

/// What packets of an entry have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Prefix(IpPrefix),
    Label(Label),
}

/// What is wanted for an entry, and what is written.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Whose it is; its preference counts among bindings of a prefix.
    binder: Binder,
    wanted: Option<Incoming>,
    /// The entry, and whose it was then.
    written: Option<(Binder, Nhlfe)>,
}

/// A far router.
#[derive(Clone, Debug)]
struct Far {
    users: BTreeSet<Key>,
    /// The group of the ways there, as long as there are any.
    group: Option<(GroupId, Box<[Member]>)>,
    /// Whose entries these are: LSPs of its own do not carry them.
    owner: ProtocolId,
}

/// The entries of a node that are by far routers.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    entries: BTreeMap<Key, Entry>,
    far: BTreeMap<IpAddr, Far>,
    /// Entries that may have to be written.
    changed: BTreeSet<Key>,
    /// Far routers to which ways may be others than before.
    moved: BTreeSet<IpAddr>,
}

/// An entry below a label.
const fn entry(push: LabelStack, next_hop: NextHop) -> Nhlfe {
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

/// The routing tables of both families.
type Ribs<'a> = (&'a mut Rib, &'a mut Rib<Prefix6>);

/// Somebody wants to know where a gateway leads, or nobody does any more.
fn hold((rib, rib6): Ribs<'_>, gateway: IpAddr, is_held: bool) {
    match (gateway, is_held) {
        (IpAddr::V4(gateway), true) => rib.hold_gateway(gateway),
        (IpAddr::V4(gateway), false) => rib.release_gateway(gateway),
        (IpAddr::V6(gateway), true) => rib6.hold_gateway(gateway),
        (IpAddr::V6(gateway), false) => rib6.release_gateway(gateway),
    }
}

/// How packets with a label that has a meaning at a far router alone get there, by LSPs that are not of an owner.
pub(crate) fn ways_to(
    gateway: IpAddr,
    owner: ProtocolId,
    interfaces: &Interfaces,
    (rib, rib6): (&Rib, &Rib<Prefix6>),
    bindings: &Bindings,
) -> Vec<Leg> {
    match gateway {
        IpAddr::V4(gateway) => {
            let is_beside =
                |port: PortId| interfaces.of_port(port).is_some_and(|one| one.neighbor_id == Some(gateway));
            rib.legs_below(gateway, bindings, Below { owner, is_beside: &is_beside })
        }
        // Of neighbours no other IPv6 address is known than those on their links, to which no route leads.
        IpAddr::V6(gateway) => rib6.legs_below(gateway, bindings, Below { owner, is_beside: &|_| false }),
    }
}

impl Services {
    /// Packets to a prefix go this way from now on; without one it is not for those with labels to decide.
    pub fn label_prefix(&mut self, binder: Binder, prefix: IpPrefix, way: Option<Beneath>) {
        let ribs = (&mut self.rib, &mut self.rib6);
        self.labelled.set(ribs, binder, Key::Prefix(prefix), way.map(Incoming::Swap));
    }

    /// This becomes of packets with a label from now on; without anything they are dropped.
    pub fn label_arriving(&mut self, owner: ProtocolId, label: Label, what: Option<Incoming>) {
        let (ribs, binder) = ((&mut self.rib, &mut self.rib6), Binder { preference: 0, owner, rank: 0 });
        self.labelled.set(ribs, binder, Key::Label(label), what);
    }

    /// Has entries below labels written as far as they are due.
    pub(crate) fn write_labelled(&mut self, routes: &mut RouteWrites) {
        let Services { interfaces, rib, rib6, bindings, labelled, .. } = self;
        labelled.write(interfaces, (rib, rib6), bindings, routes);
    }
}

impl Labelled {
    fn set(&mut self, ribs: Ribs<'_>, binder: Binder, key: Key, wanted: Option<Incoming>) {
        if wanted.is_none() && !self.entries.contains_key(&key) {
            return;
        }
        let known = self.entries.entry(key).or_insert(Entry { binder, wanted: None, written: None });
        if (known.binder, known.wanted) == (binder, wanted) {
            return;
        }
        let gateway = |wanted: Option<Incoming>| match wanted {
            Some(Incoming::Swap(way)) => Some(way.gateway),
            _ => None,
        };
        let (old, new) = (gateway(known.wanted), gateway(wanted));
        (known.binder, known.wanted) = (binder, wanted);
        self.changed.insert(key);
        if let Some(gateway) = new {
            let far = self.far.entry(gateway).or_insert_with(|| {
                hold(ribs, gateway, true);
                self.moved.insert(gateway);
                Far { users: BTreeSet::new(), group: None, owner: binder.owner }
            });
            far.users.insert(key);
        }
        if let Some(far) = old.filter(|_| old != new).and_then(|old| self.far.get_mut(&old)) {
            far.users.remove(&key);
        }
    }

    /// Ways to an address may be others than before.
    pub(crate) fn follow(&mut self, gateway: IpAddr) {
        if self.far.contains_key(&gateway) {
            self.moved.insert(gateway);
        }
    }

    /// The same for all.
    pub(crate) fn follow_all(&mut self) {
        self.moved.extend(self.far.keys());
    }

    /// Does any entry follow LSPs?
    pub(crate) fn is_used(&self) -> bool {
        !self.far.is_empty()
    }

    /// Is anything to be found out or written?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.moved.is_empty()
    }

    /// Has written what is due: groups before the entries that use them, and gone behind the last.
    fn write(
        &mut self,
        interfaces: &Interfaces,
        (rib, rib6): Ribs<'_>,
        bindings: &mut Bindings,
        routes: &mut RouteWrites,
    ) {
        let mut gone = Vec::new();
        for gateway in core::mem::take(&mut self.moved) {
            let Some(far) = self.far.get_mut(&gateway) else { continue };
            let legs = ways_to(gateway, far.owner, interfaces, (&*rib, &*rib6), bindings);
            let members: Box<[Member]> = legs.into_iter().map(|leg| Member { leg, backup: None }).collect();
            match &mut far.group {
                Some((_, before)) if *before == members => {}
                Some((group, before)) if !members.is_empty() => {
                    routes.push(TableOp::GroupSet { group: *group, members: members.clone() });
                    let bound = far.users.iter().find_map(|key| match key {
                        Key::Prefix(prefix) => Some(*prefix),
                        Key::Label(_) => None,
                    });
                    if let Some(prefix) = bound {
                        bindings.set_members(prefix, *group, Some(members.clone()));
                    }
                    *before = members;
                }
                Some(_) => {
                    gone.extend(far.group.take());
                    self.changed.extend(&far.users);
                }
                None if members.is_empty() => {}
                None => {
                    let group = routes.number();
                    routes.push(TableOp::GroupSet { group, members: members.clone() });
                    far.group = Some((group, members));
                    self.changed.extend(&far.users);
                }
            }
        }
        for key in core::mem::take(&mut self.changed) {
            self.write_one(key, bindings, routes);
        }
        let unused: Vec<IpAddr> =
            self.far.iter().filter(|(_, far)| far.users.is_empty()).map(|(gateway, _)| *gateway).collect();
        for gateway in unused {
            gone.extend(self.far.remove(&gateway).and_then(|far| far.group));
            hold((&mut *rib, &mut *rib6), gateway, false);
        }
        for (group, _) in gone {
            bindings.forget_group(group);
            routes.push(TableOp::GroupRemove { group });
        }
    }

    fn write_one(&mut self, key: Key, bindings: &mut Bindings, routes: &mut RouteWrites) {
        let Some(known) = self.entries.get_mut(&key) else { return };
        let target = match known.wanted {
            None => None,
            Some(Incoming::Pop) => Some(entry(LabelStack::EMPTY, NextHop::Local)),
            Some(Incoming::Swap(way)) => {
                let group = self.far.get(&way.gateway).and_then(|far| far.group.as_ref());
                group.map(|(group, _)| entry(way.push, NextHop::Group(*group)))
            }
        };
        let target = target.map(|nhlfe| (known.binder, nhlfe));
        if target != known.written {
            match key {
                Key::Label(label) => routes.push(match target {
                    Some((_, nhlfe)) => TableOp::IlmSet { label, nhlfe },
                    None => TableOp::IlmRemove { label },
                }),
                Key::Prefix(prefix) => {
                    let fec = match prefix {
                        IpPrefix::V4(prefix) => Fec::Prefix(prefix),
                        IpPrefix::V6(prefix) => Fec::Prefix6(prefix),
                    };
                    if let Some((binder, nhlfe)) = target
                        && bindings.bind(prefix, binder, nhlfe).in_force
                    {
                        routes.push(TableOp::FtnSet { fec, nhlfe });
                    }
                    // What it was bound by before goes behind the new, so that there is always one.
                    let before = known.written.map(|(binder, _)| binder);
                    let gone = before.filter(|before| target.is_none_or(|(binder, _)| binder != *before));
                    match gone.map_or(After::Absent, |binder| bindings.withdraw(prefix, binder)) {
                        After::Next(nhlfe) => routes.push(TableOp::FtnSet { fec, nhlfe }),
                        After::Nothing => routes.push(TableOp::FtnRemove { fec }),
                        After::Absent | After::Same => {}
                    }
                }
            }
            known.written = target;
        }
        if let (Key::Prefix(prefix), Some(Incoming::Swap(way))) = (key, known.wanted)
            && let Some((group, members)) = self.far.get(&way.gateway).and_then(|far| far.group.as_ref())
            && target.is_some()
        {
            bindings.set_members(prefix, *group, Some(members.clone()));
        }
        if known.wanted.is_none() && known.written.is_none() {
            self.entries.remove(&key);
        }
    }

    /// The node restarts: there are none.
    pub(crate) fn restart(&mut self, rib: &mut Rib, rib6: &mut Rib<Prefix6>) {
        let far = core::mem::take(self).far;
        far.into_keys().for_each(|gateway| hold((&mut *rib, &mut *rib6), gateway, false));
    }
}
