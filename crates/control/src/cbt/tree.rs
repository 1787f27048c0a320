//! The tree of a group as one router has it: its state, its parent, its children, and what the tables have of it.

use base::plane::{Incoming, LabelStack, NextHop, Nhlfe, ReplicationId, TcSource, TtlModel};
use base::{Label, PortId, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

crate::machine! {
    /// A router joins when somebody behind it wants the group, and leaves when nobody does. The core is on its tree as
    /// soon as it is wanted.
    machine "Membership in a core-based tree";
    /// How far the router has come.
    pub enum TreeState {
        /// It has no part in the tree.
        Off,
        /// It has asked its parent, and waits: transient join state.
        Joining,
        /// Packets of the group pass it.
        OnTree,
    }
    /// What happens to it.
    pub enum TreeEvent {
        /// A host or a child wants the group, and the core is beyond a neighbour.
        Wanted,
        /// The same at the core itself.
        WantedAtCore,
        /// The parent has acknowledged.
        Acknowledged,
        /// Nobody has acknowledged in time.
        TimedOut,
        /// Nobody wants the group any more.
        Unwanted,
        /// The parent is gone, or has lost the tree itself.
        Lost,
    }
    begins { Off }
    steps {
        Off: Wanted => Joining, WantedAtCore => OnTree;
        Joining: Acknowledged => OnTree, TimedOut | Unwanted | Lost => Off;
        OnTree: Unwanted | Lost => Off;
    }
}

/// A neighbour on the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limb {
    pub port: PortId,
    pub address: Ipv4Addr,
    /// The label with which packets come from it; without one they come as they are.
    pub mine: Option<Label>,
    /// The label with which packets go to it.
    pub theirs: Option<Label>,
}

/// How packets come in: from a neighbour on the tree, or from hosts at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Label(Label),
    Plain(PortId),
}

/// What the tables have of a labelled way.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub list: ReplicationId,
    pub branches: Vec<Nhlfe>,
}

/// The tree of a group.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub state: TreeState,
    pub core: Ipv4Addr,
    /// The router that made the join which is under way; this one if it has hosts that want the group.
    pub origin: Ipv4Addr,
    pub parent: Option<Limb>,
    pub children: BTreeMap<PortId, Limb>,
    /// Children that wait for the parent's answer, each with the router that made its join.
    pub waiting: BTreeMap<PortId, (Limb, Ipv4Addr)>,
    /// Ports with hosts that want the group.
    pub hosts: Vec<PortId>,
    /// When the join is repeated, and when it has failed.
    pub again: Option<(Time, Time)>,
    /// When the parent is gone unless it answers.
    pub expires: Option<Time>,
    pub written: BTreeMap<Label, Written>,
}

impl Tree {
    pub(super) fn new(core: Ipv4Addr) -> Tree {
        Tree {
            state: TreeState::Off,
            core,
            origin: Ipv4Addr::UNSPECIFIED,
            parent: None,
            children: BTreeMap::new(),
            waiting: BTreeMap::new(),
            hosts: Vec::new(),
            again: None,
            expires: None,
            written: BTreeMap::new(),
        }
    }

    /// Is anybody there who wants the group?
    pub(super) fn is_wanted(&self) -> bool {
        !self.hosts.is_empty() || !self.children.is_empty() || !self.waiting.is_empty()
    }

    /// The neighbours that packets go to and come from.
    pub(super) fn limbs(&self) -> impl Iterator<Item = &Limb> {
        let is_on = self.state == TreeState::OnTree;
        self.parent.iter().filter(move |_| is_on).chain(self.children.values())
    }

    /// Labels on which packets may come, those of neighbours that are not on the tree yet among them.
    pub(super) fn labels(&self) -> impl Iterator<Item = Label> {
        let waiting = self.waiting.values().map(|(limb, _)| limb);
        self.parent.iter().chain(self.children.values()).chain(waiting).filter_map(|limb| limb.mine)
    }

    /// What each way of arrival leads to: all of the tree but where the packet comes from.
    pub(super) fn ways(&self, group: Ipv4Addr) -> Vec<(Way, Vec<Nhlfe>)> {
        let mut ways: BTreeMap<Way, PortId> = BTreeMap::new();
        let from_limb = |limb: &Limb| match limb.mine {
            Some(label) => (Way::Label(label), limb.port),
            None => (Way::Plain(limb.port), limb.port),
        };
        ways.extend(self.limbs().map(from_limb));
        ways.extend(self.hosts.iter().map(|port| (Way::Plain(*port), *port)));
        let out = |from: PortId| {
            let limbs = self.limbs().filter(|limb| limb.port != from).map(|limb| branch_to(limb, group));
            let hosts = self.hosts.iter().filter(|port| **port != from);
            limbs.chain(hosts.map(|port| plain(*port, group))).collect::<Vec<_>>()
        };
        ways.into_iter().map(|(way, from)| (way, out(from))).collect()
    }
}

fn nhlfe(push: LabelStack, port: PortId, gateway: Ipv4Addr) -> Nhlfe {
    let next_hop = NextHop::Via { port, gateway: gateway.into() };
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

/// To the hosts at a port, and to neighbours that take no labels: to the group's own Ethernet address.
fn plain(port: PortId, group: Ipv4Addr) -> Nhlfe {
    nhlfe(LabelStack::EMPTY, port, group)
}

fn branch_to(limb: &Limb, group: Ipv4Addr) -> Nhlfe {
    match limb.theirs {
        Some(label) => nhlfe(LabelStack::one(label), limb.port, limb.address),
        None => plain(limb.port, group),
    }
}

/// The way in which packets without labels arrive by a port.
pub(super) const fn incoming(port: PortId) -> Incoming {
    Incoming::Port(port)
}
