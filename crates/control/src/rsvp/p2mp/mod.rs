//! Point-to-multipoint LSPs (RFC 4875): root, branch node, transit and leaf.
//!
//! A tree is one P2MP LSP as this router has it. Path state comes in sub-groups, each with some of the leaves; what
//! of a sub-group goes on to one neighbour is a branch, which has the reservation that comes back. All of it lies
//! apart from the state of point-to-point LSPs, which neither grows nor waits for it; transport, links, labels and
//! services are shared.
//!
//! - state: `tree`; how far each has come, as tables: `states`
//! - messages: `path`, `place`, `path_send`, `resv`, `resv_send`, `tear`, `error`, `confirm`; branches that meet again:
//!   `remerge`
//! - tables and bandwidth: `feed`, `admission`
//! - fast reroute: `protect`, `divert`, at the merge point `around`
//! - soft state and failures: `soft`
//! - the root: `command`, `root`, `make_before_break`, `loss`, `compute`, `carry`; groups at leaves: `groups`
//! - what can be seen: `shown`, `protected_shown`

mod admission;
mod alarm;
mod around;
mod carry;
pub mod command;
mod compute;
mod confirm;
mod divert;
mod error;
mod fec;
mod feed;
mod groups;
mod loss;
mod make_before_break;
mod path;
mod path_send;
mod place;
mod protect;
pub(super) mod protected_shown;
mod recorded;
mod remerge;
mod resv;
mod resv_send;
mod root;
mod shares;
pub(super) mod shown;
mod soft;
pub(super) mod states;
mod tear;
mod tree;
mod watch;

pub use command::{Leaf, LeafRoute, P2mpId, P2mpSpec, Signalling, TreeShape};
pub(super) use loss::Lost;

use super::Rsvp;
use super::counters::Discard;
use super::slab::Slab;
use super::transport::{Arrival, Handle, Neighbor};
use crate::rsvp::lsp::SenderKey;
use alarm::Alarm;
use base::PortId;
use core::net::Ipv4Addr;
use root::Root;
use std::collections::{BTreeMap, BTreeSet};
use tree::{Branch, Sub, Tree};
use wire::rsvp::{FilterSpec, Message, SenderTemplate, Session};

base::words! {
    /// What a router does where branches of a tree meet again (RFC 4875, 18.1.1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Remerge {
        /// It has the branch removed that came later, by a PathErr.
        Refuse = "refuse",
        /// The branch stays, and what comes by all but one is dropped.
        Allow = "allow",
    }
    default Refuse;
}

/// A P2MP session (RFC 4875, 19.1.1): all LSPs of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct P2mpKey {
    pub p2mp_id: u32,
    pub tunnel_id: u16,
    pub extended: Ipv4Addr,
}

/// A P2MP LSP (RFC 4875, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TreeKey {
    pub session: P2mpKey,
    pub sender: SenderKey,
}

/// A sub-group of its leaves (RFC 4875, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SubKey {
    pub originator: Ipv4Addr,
    pub id: u16,
}

impl P2mpKey {
    pub(super) const fn of(session: &Session) -> Option<P2mpKey> {
        match *session {
            Session::P2mpLspTunnelIpv4 { p2mp_id, tunnel_id, extended_tunnel_id } => {
                Some(P2mpKey { p2mp_id, tunnel_id, extended: extended_tunnel_id })
            }
            _ => None,
        }
    }
    const fn to_wire(self) -> Session {
        Session::P2mpLspTunnelIpv4 {
            p2mp_id: self.p2mp_id,
            tunnel_id: self.tunnel_id,
            extended_tunnel_id: self.extended,
        }
    }
}

/// LSP and sub-group of a SENDER_TEMPLATE or FILTER_SPEC.
const fn keys(sender: &SenderTemplate) -> Option<(SenderKey, SubKey)> {
    match *sender {
        SenderTemplate::P2mpLspTunnelIpv4 { sender, lsp_id, subgroup_originator, subgroup_id } => Some((
            SenderKey { address: sender, lsp_id },
            SubKey { originator: subgroup_originator, id: subgroup_id },
        )),
        _ => None,
    }
}

const fn template(sender: SenderKey, sub: SubKey) -> FilterSpec {
    SenderTemplate::P2mpLspTunnelIpv4 {
        sender: sender.address,
        lsp_id: sender.lsp_id,
        subgroup_originator: sub.originator,
        subgroup_id: sub.id,
    }
}

/// Handles from here on are those of P2MP LSPs.
const HANDLES: u32 = 1 << 31;

/// Is it the handle of a P2MP LSP?
pub(super) const fn is_handle(handle: u32) -> bool {
    handle & HANDLES != 0
}

/// What a handle of the transport stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Sub(u32),
    Branch(u32),
}

const fn named(handle: u32) -> Named {
    let index = (handle & !HANDLES) >> 2;
    if handle & 2 == 0 { Named::Sub(index) } else { Named::Branch(index) }
}

/// The Path that came for a sub-group.
const fn path_in(sub: u32) -> Handle {
    Handle(HANDLES | sub << 2)
}
/// The Resv that goes back for it.
const fn resv_out(sub: u32) -> Handle {
    Handle(HANDLES | sub << 2 | 1)
}
/// The Path that goes on by a branch.
const fn path_out(branch: u32) -> Handle {
    Handle(HANDLES | branch << 2 | 2)
}
/// The Resv that came by a branch.
const fn resv_in(branch: u32) -> Handle {
    Handle(HANDLES | branch << 2 | 3)
}

/// The previous hop of what begins here.
const fn here(router_id: Ipv4Addr) -> Neighbor {
    Neighbor { port: PortId(u16::MAX), address: router_id }
}

/// Point-to-multipoint LSPs of a router.
#[derive(Debug, Default)]
pub(super) struct P2mp {
    trees: Slab<Tree>,
    index: BTreeMap<TreeKey, u32>,
    subs: Slab<Sub>,
    branches: Slab<Branch>,
    roots: Slab<Root>,
    by_id: BTreeMap<P2mpId, u32>,
    /// Tunnels whose LSP may be replaced now, or never: looked at when all state is consistent.
    changing: BTreeSet<u32>,
    /// Sub-groups as they came, so that the first of several ways is known.
    order: u64,
    /// Sub-group ids that this router has given out.
    sub_ids: u16,
    /// All ids have been given out once: those that are in use are to be left out from now on.
    ids_used_up: bool,
    /// Trees of which this router is a leaf.
    leaves: usize,
    declared: u64,
    /// Leaves of all sub-groups.
    s2ls: usize,
}

impl P2mp {
    /// Is there nothing at all? So it is where no P2MP LSP is.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.index.is_empty() && self.by_id.is_empty()
    }

    /// What there is: tunnels that begin here, LSPs, sub-groups, branches.
    pub(super) fn held(&self) -> [usize; 4] {
        [self.by_id.len(), self.index.len(), self.subs.indices().len(), self.branches.indices().len()]
    }

    fn tree(&self, key: &TreeKey) -> Option<u32> {
        self.index.get(key).copied()
    }

    /// The trees of a tunnel.
    fn session(&self, session: P2mpKey) -> impl Iterator<Item = u32> + '_ {
        let first = TreeKey { session, sender: SenderKey { address: Ipv4Addr::UNSPECIFIED, lsp_id: 0 } };
        self.index.range(first..).take_while(move |(key, _)| key.session == session).map(|(_, tree)| *tree)
    }

    /// The branches of a tree.
    fn branches_of(&self, tree: &Tree) -> impl Iterator<Item = &Branch> {
        tree.branches.iter().filter_map(|&branch| self.branches.get(branch))
    }

    /// The path state of a tree, in the order in which it came.
    fn subs_of(&self, tree: &Tree) -> impl Iterator<Item = &Sub> {
        tree.subs.iter().filter_map(|&sub| self.subs.get(sub))
    }

    /// Where the path state of a tree is, for who changes it in turn.
    fn sub_indices(&self, tree: u32) -> Vec<u32> {
        self.trees.get(tree).map(|tree| tree.subs.clone()).unwrap_or_default()
    }

    /// The branch of a tree that a message from a neighbour is about.
    fn branch(&self, tree: u32, key: SubKey, from: Neighbor) -> Option<u32> {
        let all = &self.trees.get(tree)?.branches;
        let is = |branch: &Branch| branch.key == key && branch.to == from;
        all.iter().copied().find(|&index| self.branches.get(index).is_some_and(is))
    }

    /// The path state of a tree that a message from a neighbour is about.
    fn sub(&self, tree: u32, key: SubKey, from: Neighbor) -> Option<u32> {
        let all = &self.trees.get(tree)?.subs;
        let is = |sub: &Sub| sub.key == key && sub.prev_hop == from;
        all.iter().copied().find(|&index| self.subs.get(index).is_some_and(is))
    }

    /// A sub-group id that no Path of this router for a tree has, as long as there is one.
    fn take_id(&mut self, tree: u32) -> u16 {
        for _ in 0..=u16::MAX {
            self.ids_used_up |= self.sub_ids == u16::MAX;
            self.sub_ids = self.sub_ids.wrapping_add(1).max(1);
            if !self.ids_used_up || !self.has_id(tree, self.sub_ids) {
                break;
            }
        }
        self.sub_ids
    }

    /// Does a Path of a tree, that has come or that goes on, have this sub-group id?
    fn has_id(&self, tree: u32, id: u16) -> bool {
        let Some(tree) = self.trees.get(tree) else { return false };
        let around = |branch: &Branch| branch.around.iter().any(|known| known.key.id == id);
        self.branches_of(tree).any(|branch| branch.key.id == id || around(branch))
            || self.subs_of(tree).any(|sub| sub.key.id == id)
    }
}

impl Rsvp {
    /// Hands a message to whoever it is for.
    pub(super) fn p2mp_dispatch(&mut self, arrival: &Arrival, mut message: Box<Message>) {
        match &mut *message {
            Message::Path(path) => return self.p2mp_path(arrival, path),
            Message::Resv(resv) => return self.p2mp_resv(arrival, resv),
            _ => {}
        }
        match *message {
            Message::PathErr(error) => self.p2mp_path_error(arrival, error),
            Message::ResvErr(error) => self.p2mp_resv_error(arrival, &error),
            Message::PathTear(tear) => self.p2mp_path_tear(arrival, &tear),
            Message::ResvTear(tear) => self.p2mp_resv_tear(arrival, &tear),
            Message::ResvConf(confirmation) => self.p2mp_resv_conf(arrival, &confirmation),
            _ => self.counters.discard(Discard::UnexpectedType),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rsvp::Config;

    #[test]
    fn ids_in_use_are_not_given_out_again() {
        let mut rsvp = Rsvp::new(Config::default());
        let own = Ipv4Addr::new(10, 0, 0, 1);
        let session = P2mpKey { p2mp_id: 1, tunnel_id: 1, extended: own };
        let key = TreeKey { session, sender: SenderKey { address: own, lsp_id: 1 } };
        let attributes = tree::Attributes {
            tspec: wire::rsvp::SenderTspec(wire::rsvp::TokenBucket::constant(0.0, 1500)),
            session_attribute: None,
            l3pid: 0x800,
        };
        let tree = rsvp.p2mp_tree(key, attributes);
        let first = rsvp.p2mp.take_id(tree);
        rsvp.p2mp_sub(tree, SubKey { originator: own, id: first }, here(own));
        let later: Vec<u16> = (0..u32::from(u16::MAX)).map(|_| rsvp.p2mp.take_id(tree)).collect();
        assert!(!later.contains(&first) && !later.contains(&0));
    }
}
